/*
 * Parts of a plane within a capsule: triangles, and the segments between a conic and its chords.
 *
 * A plane cuts a ball or a cylinder in a circle or an ellipse, of which an arc from p to q is
 *
 *   r = m + S c + K b,  S = x (1 + Q) / (1 + Q x^2),  K = (1 - x^2) / (1 + Q x^2),  -1 <= x <= 1,
 *
 * with m the middle of the chord, c half of it, b from m to the arc's farthest point (along the
 * direction in the plane that is conjugate to c), and Q the squared tangent of a quarter of the
 * arc's angle: the rational quadratic form of a conic (Farin, Curves and Surfaces for CAGD, chapter
 * 12). Every integral of a polynomial over the segment between arc and chord, or along the arc, is
 * therefore a polynomial in products of c and b with factors that depend on Q only.
 */
#include "contact/moments/moments_capsule_internal.h"

/* Longer arcs are halved: a quarter of the angle is at most about pi / 16. */
static const double MAX_ARC_SQUARED_CHORD = 0.04;

enum { TERMS = 11 };

/* Coefficients of powers of Q in the integrals over a segment of S^i K^j dS dK for ij = 00, 01,
 * 02, 03, 20, 21, and along the arc of K^j dtheta / sqrt(Q), j = 0 to 3. At MAX_ARC_SQUARED_CHORD
 * the next term is 1e-16. */
static const double ARC_SERIES_COEFFICIENTS[TERMS][10] = {
    {1.3333333333333333, 0.53333333333333333, 0.30476190476190479, 0.20317460317460317,
     0.26666666666666666, 0.076190476190476197, 4, 2.6666666666666665, 2.1333333333333333,
     1.8285714285714285},
    {0.26666666666666666, 0.15238095238095239, 0.10158730158730159, 0.073881673881673882,
     0.11428571428571428, 0.050793650793650794, -1.3333333333333333, -1.0666666666666667,
     -0.91428571428571426, -0.8126984126984127},
    {-0.038095238095238099, -0.025396825396825397, -0.01847041847041847, -0.014208014208014208,
     0.012698412698412698, 0.0069264069264069264, 0.80000000000000004, 0.68571428571428572,
     0.60952380952380958, 0.55411255411255411},
    {0.012698412698412698, 0.0092352092352092352, 0.007104007104007104, 0.0056832056832056832,
     -0.0011544011544011544, -0.0007104007104007104, -0.5714285714285714, -0.50793650793650791,
     -0.46176046176046176, -0.42624042624042624},
    {-0.005772005772005772, -0.00444000444000444, -0.003552003552003552, -0.0029251793957676309,
     0.0002664002664002664, 0.0001776001776001776, 0.44444444444444442, 0.40404040404040403,
     0.37296037296037299, 0.3480963480963481},
    {0.003108003108003108, 0.0024864024864024864, 0.0020476255770373419, 0.0017243162753998668,
     -8.88000888000888e-05, -6.2682415623592096e-05, -0.36363636363636365, -0.33566433566433568,
     -0.31328671328671331, -0.29485808309337719},
    {-0.0018648018648018648, -0.0015357191827780063, -0.0012932372065499, -0.0011084890341856285,
     3.6564742447095391e-05, 2.6942441803122919e-05, 0.30769230769230771, 0.28717948717948716,
     0.27028657616892909, 0.25606096689688018},
    {0.0012066365007541479, 0.0010161149480034928, 0.00087095566971727965, 0.0007573527562758953,
     -1.7320141159150446e-05, -1.3196298026019389e-05, -0.26666666666666666, -0.25098039215686274,
     -0.23777089783281732, -0.22644847412649272},
    {-0.00082559339525283795, -0.00070765148164528974, -0.00061534911447416491,
     -0.00054150722073726515, 9.0724548928883303e-06, 7.1001820900865188e-06, 0.23529411764705882,
     0.22291021671826625, 0.21229544449358692, 0.20306520777647444},
    {0.00058970956803774141, 0.00051279092872847081, 0.00045125601728105428, 0.00040111645980538162,
     -5.1279092872847081e-06, -4.1023274298277663e-06, -0.21052631578947367, -0.20050125313283207,
     -0.19178380734444808, -0.18411245505067014},
    {-0.00043587228941920016, -0.00038356761468889616, -0.00034094899083457437,
     -0.00030567840557582529, 3.0767455723708249e-06, 2.5069778737836351e-06, 0.19047619047619047,
     0.18219461697722567, 0.17490683229813664, 0.16842880147227973},
};

/* Nodes and weights of Gauss and Legendre's rule of 8 points. */
static const tact_d4 NODE = {0.18343464249564980, 0.52553240991632899, 0.79666647741362674,
                             0.96028985649753623};
static const tact_d4 WEIGHT = {0.36268378337836198, 0.31370664587788729, 0.22238103445337447,
                               0.10122853629037626};

TACT_INLINE void sum_arc_series(double q, double f[10])
{
    int top = q < 1.0 / 1024.0 ? 5 : TERMS - 1;
    for (int i = 0; i < 10; i++) {
        f[i] = ARC_SERIES_COEFFICIENTS[top][i];
    }
    for (int k = top - 1; k >= 0; k--) {
        for (int i = 0; i < 10; i++) {
            f[i] = f[i] * q + ARC_SERIES_COEFFICIENTS[k][i];
        }
    }
}

/* Adds a b^T. */
TACT_INLINE void add_outer_product(tact_d4 to[4], const tact_d4 *a, const tact_d4 *b)
{
    for (int i = 0; i < 4; i++) {
        to[i] += (*a)[i] * *b;
    }
}

TACT_INLINE void append_scalar_to_vector(const double r[3], double one, tact_d4 *out)
{
    *out = (tact_d4){r[0], r[1], r[2], one};
}

void tact_capsule_add_triangle(struct tact_capsule_face_cut *c, const double *p, const double *q,
                               const double *r)
{
    double e[3], f[3], twice[3];
    const double *at[3] = {p, q, r};
    tact_v3_sub(e, q, p);
    tact_v3_sub(f, r, p);
    tact_v3_cross(twice, e, f);
    const double area = 0.5 * tact_v3_dot(twice, c->normal), share = area / 60.0;
    tact_d4 h[3], sum = {0.0}, weighted = {0.0};
    double w[3], all = 0.0;
    for (int i = 0; i < 3; i++) {
        append_scalar_to_vector(at[i], 1.0, &h[i]);
        w[i] = tact_capsule_dot_normal(c, at[i]);
        all += w[i];
        sum += h[i];
        weighted += w[i] * h[i];
    }
    c->first += area / 3.0 * sum;
    c->faces->volume_term_magnitude += fabs(area / 3.0 * all);
    /* Sum over the corners i, j, k of w_i h_j h_k^T, six times where all are equal, twice where two
     * are. */
    tact_d4 *to = c->faces->weighted, left = share * sum, right = all * sum + weighted;
    add_outer_product(to, &left, &right);
    left = share * weighted;
    add_outer_product(to, &left, &sum);
    for (int i = 0; i < 3; i++) {
        left = share * (all + 2.0 * w[i]) * h[i];
        add_outer_product(to, &left, &h[i]);
    }
}

/* Integrates powers along an arc of a conic, by the form given at the top of this file. */
struct arc {
    double m[3], c[3], b[3];
    double tangent_of_quarter_arc_angle; /* tangent of a quarter of the arc's angle */
};

/* Integrals of z^k / k dtheta along an arc of the cylinder, k = 1 to 3. */
TACT_INLINE void add_cylinder_contour_integrals(const struct tact_capsule_face_cut *cut,
                                                const struct arc *a, const double f[10])
{
    double z = a->m[2], b = a->b[2], cc = a->c[2] * a->c[2];
    double t =
        cut->normal[2] > 0.0 ? a->tangent_of_quarter_arc_angle : -a->tangent_of_quarter_arc_angle;
    /* along the arc the integral of S^2 dtheta equals that of K dS, and so on */
    double square = b * b * f[8] + cc * f[0];
    double *surface_contour_integrals = cut->faces->surface_contour_integrals,
           first = t * (z * f[6] + b * f[7]);
    surface_contour_integrals[0] += first;
    cut->faces->volume_term_magnitude += cut->radius * cut->radius * fabs(first);
    surface_contour_integrals[1] += t / 2.0 * (z * (z * f[6] + 2.0 * b * f[7]) + square);
    surface_contour_integrals[2] += t / 3.0 *
                                    (z * (z * (z * f[6] + 3.0 * b * f[7]) + 3.0 * square) +
                                     b * (b * b * f[9] + 3.0 * cc * f[1]));
}

TACT_INLINE double dot_product_across_capsule_axis(const double *p, const double *q)
{
    return p[0] * q[1] - p[1] * q[0];
}

/* Integral of (1 - |z|/R) dtheta along an arc of a half ball. In the form (x dy - y dx) / (R (R +
 * |z|)) it has no pole; its nearest singularity in the complex plane is 5 times as far as the ends.
 */
TACT_INLINE void add_ball_contour_integrals(const struct tact_capsule_face_cut *cut,
                                            const struct arc *a)
{
    const double q = a->tangent_of_quarter_arc_angle * a->tangent_of_quarter_arc_angle,
                 up = cut->part == TACT_CAPSULE_UPPER ? 1.0 : -1.0;
    const double mc = dot_product_across_capsule_axis(a->m, a->c),
                 mb = dot_product_across_capsule_axis(a->m, a->b),
                 cb = dot_product_across_capsule_axis(a->c, a->b);
    const double high = cut->radius + up * a->m[2], c = up * a->c[2], b = up * a->b[2];
    tact_d4 sum = {0.0};
    for (int half = 0; half < 2; half++) {
        const tact_d4 x = half ? NODE : -NODE, d = 1.0 / (1.0 + q * x * x);
        const tact_d4 s = x * (1.0 + q) * d, k = (1.0 - x * x) * d, dd = (1.0 + q) * d * d;
        const tact_d4 ds = dd * (1.0 - q * x * x), dk = -2.0 * x * dd;
        sum += WEIGHT * (mc * ds + mb * dk + cb * (s * dk - k * ds)) / (high + s * c + k * b);
    }
    const double arc_contour_integral = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    cut->faces->surface_contour_integrals[0] += up * arc_contour_integral / cut->radius;
    cut->faces->volume_term_magnitude += cut->radius * cut->radius * fabs(arc_contour_integral);
}

/* Adds the segment between an arc and its chord. */
TACT_INLINE void add_circular_segment(struct tact_capsule_face_cut *cut, const struct arc *a)
{
    double f[10], normal[3], wc = 0.0, wb = 0.0;
    const double wm = tact_capsule_dot_normal(cut, a->m);
    sum_arc_series(a->tangent_of_quarter_arc_angle * a->tangent_of_quarter_arc_angle, f);
    tact_v3_cross(normal, a->b, a->c);
    const double j = tact_v3_dot(normal, cut->normal);
    if (cut->part == TACT_CAPSULE_MIDDLE) {
        wc = tact_capsule_dot_normal(cut, a->c);
        wb = tact_capsule_dot_normal(cut, a->b);
        add_cylinder_contour_integrals(cut, a, f);
    } else {
        add_ball_contour_integrals(cut, a);
    }
    const double all = j * (wm * f[0] + wb * f[1]), along = j * wc * f[4], both = j * wc * f[5];
    const double out = j * (wm * f[1] + wb * f[2]);
    tact_d4 m, c, b, right, *to = cut->faces->weighted;
    append_scalar_to_vector(a->m, 1.0, &m);
    append_scalar_to_vector(a->c, 0.0, &c);
    append_scalar_to_vector(a->b, 0.0, &b);
    cut->first += j * f[0] * m + j * f[1] * b;
    cut->faces->volume_term_magnitude += fabs(all);
    right = all * m + along * c + out * b;
    add_outer_product(to, &m, &right);
    right = along * m + j * (wm * f[4] + wb * f[5]) * c + both * b;
    add_outer_product(to, &c, &right);
    right = out * m + both * c + j * (wm * f[2] + wb * f[3]) * b;
    add_outer_product(to, &b, &right);
}

/* Slope to the axis below which the cylinder's conics count as straight lines: the width of the
 * omitted segments over their chords. */
static const double STRAIGHT_ARC_TOLERANCE = 1e-13;

void tact_capsule_add_arc(struct tact_capsule_face_cut *cut, const double *p, const double *q,
                          int is_major_arc)
{
    struct arc a;
    double scale = 1.0, *d = a.b, from[3];
    const double *n = cut->normal;
    for (int k = 0; k < 3; k++) {
        a.m[k] = 0.5 * (p[k] + q[k]);
        a.c[k] = 0.5 * (q[k] - p[k]);
    }
    double half_chord_squared = tact_capsule_dot(cut, a.c, a.c),
           face_conic_radius = cut->face_conic_radius;
    if (!(half_chord_squared > 0.0)) {
        return;
    }
    /* Distance of the chord from the centre of the conic. It is not computed from the lengths of
     * both, which would cancel where the chord is nearly a diameter, as in a half ball cut by a
     * plane along the axis. */
    tact_v3_copy(from, a.m);
    if (cut->part != TACT_CAPSULE_MIDDLE) {
        tact_v3_axpy(from, -cut->distance, n);
    }
    double half = sqrt(half_chord_squared), apart = sqrt(tact_capsule_dot(cut, from, from));
    a.tangent_of_quarter_arc_angle =
        is_major_arc ? (face_conic_radius + apart) / half : half / (face_conic_radius + apart);
    /* Direction in the plane conjugate to the half chord c: -n x c, in the cylinder with c without
     * its axial term. */
    if (cut->part == TACT_CAPSULE_MIDDLE) {
        scale = fabs(n[2]) > STRAIGHT_ARC_TOLERANCE ? 1.0 / fabs(n[2]) : 0.0;
        tact_v3_cross(d, (const double[3]){a.c[0], a.c[1], 0.0}, n);
    } else {
        tact_v3_cross(d, a.c, n);
    }
    tact_v3_scale(a.b, d, a.tangent_of_quarter_arc_angle * scale);
    if (a.tangent_of_quarter_arc_angle * a.tangent_of_quarter_arc_angle <= MAX_ARC_SQUARED_CHORD) {
        add_circular_segment(cut, &a);
        return;
    }
    double top[3];
    tact_v3_add(top, a.m, a.b);
    tact_capsule_add_triangle(cut, p, top, q);
    tact_capsule_add_arc(cut, p, top, 0);
    tact_capsule_add_arc(cut, top, q, 0);
}
