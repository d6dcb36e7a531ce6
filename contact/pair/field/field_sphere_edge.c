/*
 * Integrals along the part of a triangle's edge in a soft ball, by Gauss-Legendre quadrature, four
 * nodes at a time.
 *
 * With half the edge's length as unit and its middle as origin, the integrands are analytic in the
 * plane of complex numbers except where the line meets the ball, of a power that is not whole, and
 * where it passes the ball's centre. The largest ellipse with foci at both ends of the edge that
 * contains no such point, of semi-axes rho + 1 / rho and rho - 1 / rho over 2, bounds the error of
 * n nodes by a multiple of rho^(-2n) (Trefethen, Approximation Theory and Approximation Practice,
 * theorem 19.3), and so decides their number.
 */
#include <math.h>
#include <string.h>
#include "contact/pair/field/field_sphere_internal.h"
#include "contact/simd_internal.h"

enum { LANES = 4, MAX_NODES = 16 };

/* A quadrature rule on [-1, 1], and the semi-axes, along the edge and across it, of the ellipse
 * with the least rho at which its error is rounding. */
struct rule {
    double node[MAX_NODES], weight[MAX_NODES];
    int count;
    double least_semi_axis_along_edge, least_semi_axis_across_edge;
};

/* The semi-axes of the Bernstein ellipse of the parameter rho, along the edge and across it. */
#define SEMI_AXES_OF_BERNSTEIN_ELLIPSE(rho) 0.5 * ((rho) + 1.0 / (rho)), 0.5 * ((rho)-1.0 / (rho))

enum { RULES = 4 };
static const struct rule quadrature_rules[RULES] = {
    {{-0.86113631159405258, -0.33998104358485626, 0.33998104358485626, 0.86113631159405258},
     {0.34785484513745386, 0.65214515486254614, 0.65214515486254614, 0.34785484513745386},
     4,
     SEMI_AXES_OF_BERNSTEIN_ELLIPSE(50.0)},
    {{-0.96028985649753623, -0.79666647741362674, -0.52553240991632899, -0.1834346424956498,
      0.1834346424956498, 0.52553240991632899, 0.79666647741362674, 0.96028985649753623},
     {0.10122853629037626, 0.22238103445337447, 0.31370664587788729, 0.36268378337836198,
      0.36268378337836198, 0.31370664587788729, 0.22238103445337447, 0.10122853629037626},
     8,
     SEMI_AXES_OF_BERNSTEIN_ELLIPSE(7.0)},
    {{-0.98156063424671925, -0.90411725637047486, -0.76990267419430469, -0.58731795428661745,
      -0.36783149899818019, -0.12523340851146892, 0.12523340851146892, 0.36783149899818019,
      0.58731795428661745, 0.76990267419430469, 0.90411725637047486, 0.98156063424671925},
     {0.047175336386511827, 0.10693932599531843, 0.16007832854334623, 0.20316742672306592,
      0.23349253653835481, 0.24914704581340279, 0.24914704581340279, 0.23349253653835481,
      0.20316742672306592, 0.16007832854334623, 0.10693932599531843, 0.047175336386511827},
     12,
     SEMI_AXES_OF_BERNSTEIN_ELLIPSE(3.7)},
    {{-0.98940093499164993, -0.94457502307323258, -0.86563120238783174, -0.75540440835500303,
      -0.61787624440264375, -0.45801677765722739, -0.28160355077925891, -0.09501250983763744,
      0.09501250983763744, 0.28160355077925891, 0.45801677765722739, 0.61787624440264375,
      0.75540440835500303, 0.86563120238783174, 0.94457502307323258, 0.98940093499164993},
     {0.027152459411754095, 0.062253523938647893, 0.095158511682492785, 0.12462897125553387,
      0.14959598881657673, 0.16915651939500254, 0.18260341504492359, 0.1894506104550685,
      0.1894506104550685, 0.18260341504492359, 0.16915651939500254, 0.14959598881657673,
      0.12462897125553387, 0.095158511682492785, 0.062253523938647893, 0.027152459411754095},
     16,
     SEMI_AXES_OF_BERNSTEIN_ELLIPSE(2.7)}};

/* That of 16 nodes u, at (3 u - u^3) / 2: the substitution removes the roots of a pressure at an
 * end of the edge on the ball. */
static const struct rule quadrature_rule_towards_rim = {
    {-0.99983208508185356, -0.99547723867012725, -0.97413055190070421, -0.91757620547461576,
     -0.80887073425664016, -0.63898393126971927, -0.41123966655803955, -0.14208990788222748,
     0.14208990788222748, 0.41123966655803955, 0.63898393126971927, 0.80887073425664016,
     0.91757620547461576, 0.97413055190070421, 0.99547723867012725, 0.99983208508185356},
    {0.00085879657909730825, 0.010064342862512318, 0.035781877743142256, 0.08026682404074678,
     0.13872685587313367, 0.20050645733868243, 0.25218429301255786, 0.28161055255012737,
     0.28161055255012737, 0.25218429301255786, 0.20050645733868243, 0.13872685587313367,
     0.08026682404074678, 0.035781877743142256, 0.010064342862512318, 0.00085879657909730825},
    16,
    SEMI_AXES_OF_BERNSTEIN_ELLIPSE(1.0)};

/* Square of a line's distance from the ball's centre, relative to the squared radius, below which
 * the line is divided. */
#define MAX_UNDIVIDED_LINE_DISTANCE_RATIO 0.25

/* The rule with the fewest nodes for the part of a line from t0 to t1;
 * squared_distance_of_line_from_ball_centre: of the line from the ball's centre. */
static const struct rule *
choose_edge_quadrature_rule(const struct field_sphere *ball,
                            double squared_distance_of_line_from_ball_centre, double t0, double t1)
{
    const double mean = 0.5 * (t0 + t1), half = 0.5 * (t1 - t0);
    const int is_pressure_power_integer = ball->power == floor(ball->power);
    /* distance from the middle of the part to the nearer end of the line in the ball */
    const double distance_to_line_end =
        is_pressure_power_integer
            ? INFINITY
            : sqrt(tact_max(ball->radius * ball->radius - squared_distance_of_line_from_ball_centre,
                            0.0)) -
                  fabs(mean);
    for (int i = 0; i < RULES; i++) {
        double min_ellipse_semi_axis = quadrature_rules[i].least_semi_axis_across_edge * half;
        if (distance_to_line_end >= quadrature_rules[i].least_semi_axis_along_edge * half &&
            squared_distance_of_line_from_ball_centre >=
                min_ellipse_semi_axis * min_ellipse_semi_axis) {
            return &quadrature_rules[i];
        }
    }
    return is_pressure_power_integer ? &quadrature_rules[RULES - 1] : &quadrature_rule_towards_rim;
}

/* Pressures of levels q, 0 or above. */
TACT_INLINE void compute_pressures_of_levels(double power, const tact_d4 *q, tact_d4 *out)
{
    if (power == 0.5) {
        tact_d4_sqrt(q, out);
    } else if (power == 1.0) {
        *out = *q;
    } else {
        for (int i = 0; i < LANES; i++) {
            (*out)[i] = tact_field_pressure_of_level(power, (*q)[i]);
        }
    }
}

/* Sums over nodes of the integrands, with their weights. */
struct edge_quadrature_sums {
    tact_d4 load, spring;           /* sums of the radial integrals F (rho) h / rho^2 of p and w */
    tact_d4 line_load, line_spring; /* sums of the potentials A and p */
    tact_d4 lever_spring;           /* sum of p times the position along the edge */
};

/* Adds four nodes of a rule, from `first` on. power: that of the ball, a compile-time constant
 * where its law is simple. */
TACT_INLINE void add_quadrature_nodes(const struct field_disc *disc,
                                      const struct field_potentials *middle,
                                      const struct rule *rule, int first, double h, double mean,
                                      double half, double power, struct edge_quadrature_sums *s)
{
    const struct field_sphere *ball = disc->ball;
    const double radial_load_integral_scale = ball->radius / (power + 1.0),
                 radial_load_integral_slope = 1.0 / (power + 2.0);
    const tact_d4 zero = {0.0};
    tact_d4 node, weight, r, p;
    memcpy(&node, rule->node + first, sizeof node);
    memcpy(&weight, rule->weight + first, sizeof weight);
    weight *= half;
    const tact_d4 t = mean + half * node, square = h * h + t * t;
    const tact_d4 squared_radius = disc->height * disc->height + square;
    tact_d4_sqrt(&squared_radius, &r);
    tact_d4 u = ball->radius - r;
    u = TACT_D4_MAX(u, zero);
    const tact_d4 q = ball->slope * u;
    compute_pressures_of_levels(power, &q, &p);
    const tact_d4 load = p * u * (radial_load_integral_scale - u * radial_load_integral_slope);
    tact_d4 radial_weight = weight * h / square;
    radial_weight = TACT_D4_SELECT(square > zero, radial_weight, zero);
    s->load += radial_weight * (middle->load - load);
    s->spring += radial_weight * (middle->spring - p);
    s->line_load += weight * load;
    s->line_spring += weight * p;
    s->lever_spring += weight * t * p;
}

TACT_INLINE double sum_lanes(const tact_d4 *a)
{
    return ((*a)[0] + (*a)[1]) + ((*a)[2] + (*a)[3]);
}

/* Adds the integrals along a line at distance h from the foot, from t0 to t1. */
static void integrate_line_part(const struct field_disc *disc,
                                const struct field_potentials *middle, double h, double t0,
                                double t1, struct field_edge_sums *out)
{
    const double mean = 0.5 * (t0 + t1), half = 0.5 * (t1 - t0), power = disc->ball->power;
    const struct rule *rule =
        choose_edge_quadrature_rule(disc->ball, disc->height * disc->height + h * h, t0, t1);
    struct edge_quadrature_sums s;
    memset(&s, 0, sizeof s);
    for (int i = 0; i < rule->count; i += LANES) {
        if (power == 0.5) {
            add_quadrature_nodes(disc, middle, rule, i, h, mean, half, 0.5, &s);
        } else if (power == 1.0) {
            add_quadrature_nodes(disc, middle, rule, i, h, mean, half, 1.0, &s);
        } else {
            add_quadrature_nodes(disc, middle, rule, i, h, mean, half, power, &s);
        }
    }
    out->radial_edge_integrals.load += sum_lanes(&s.load);
    out->radial_edge_integrals.spring += sum_lanes(&s.spring);
    out->line.load += sum_lanes(&s.line_load);
    out->line.spring += sum_lanes(&s.line_spring);
    out->position_weighted_integrals.spring += sum_lanes(&s.lever_spring);
}

/* Integrals of polynomials along the line: h / 2 and h (2 rim - square) / 8 of the radial ones,
 * (rim
 * - square) / 2 and that times t, with square = h^2 + t^2. */
static void add_polynomial_edge_integrals(const struct field_disc *disc, double h,
                                          const double t[2], struct field_edge_sums *out)
{
    const double length = t[1] - t[0], sum = t[1] + t[0], rim = disc->rim - h * h;
    const double mean_squared_edge_position = (t[0] * t[0] + t[0] * t[1] + t[1] * t[1]) / 3.0,
                 squares = t[0] * t[0] + t[1] * t[1];
    out->radial_edge_integrals.area = 0.5 * h * length;
    out->radial_area_integral =
        0.25 * h * length * (disc->rim - 0.5 * (h * h + mean_squared_edge_position));
    out->line.area = 0.5 * length * (rim - mean_squared_edge_position);
    out->position_weighted_integrals.area = 0.25 * length * sum * (rim - 0.5 * squares);
}

TACT_DISPATCH_BY_CPU(void, tact_field_integrate_edge_in_disc,
                     (const struct field_disc *disc, const struct field_potentials *middle,
                      double h, const double t[2], struct field_edge_sums *out),
                     (disc, middle, h, t, out))
{
    const double squared_distance_of_line_from_ball_centre = disc->height * disc->height + h * h;
    memset(out, 0, sizeof *out);
    add_polynomial_edge_integrals(disc, h, t, out);
    /* an edge that passes near the ball's centre, where r has a root, is divided at its nearest
     * point */
    if (t[0] < 0.0 && t[1] > 0.0 &&
        squared_distance_of_line_from_ball_centre <
            MAX_UNDIVIDED_LINE_DISTANCE_RATIO * disc->ball->radius * disc->ball->radius) {
        integrate_line_part(disc, middle, h, t[0], 0.0, out);
        integrate_line_part(disc, middle, h, 0.0, t[1], out);
    } else {
        integrate_line_part(disc, middle, h, t[0], t[1], out);
    }
}
