/**
 * Moments of the overlap of two solids, in OpenCL C 1.2.
 *
 * One work-item a triangle pair, triangle or lens ("item") writes TACT_SUMS partial sums; two further
 * kernels add them up in a fixed order, so that the same frame gives the same bits: no atomics.
 *
 * Built with TACT_DOUBLE (double precision) or without (single), and with TACT_SUMS, TACT_CONTACT
 * and the like from kernels/batch_internal.h. Written for PoCL's scalar "loops" work-group method.
 */
#ifdef TACT_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double3 real3;
typedef double4 real4;
typedef double2 real2;
#else
typedef float real;
typedef float3 real3;
typedef float4 real4;
typedef float2 real2;
#endif
#pragma OPENCL FP_CONTRACT OFF

#define REAL(x) ((real)(x))
/* Of a polygon: a triangle clipped by three edges and a plane has at most 7. */
#define CORNERS 8
/* TACT_STEEPEST of the host. */
#define STEEPEST REAL(1e8)
#define PI REAL(3.14159265358979323846)

/* The sums of one item, in the frame of its contact: moments about the frame's origin. */
typedef struct {
    real volume;
    real3 first;    /* integral of r dV */
    real3 diagonal; /* xx yy zz of the integral of r r^T dV */
    real3 mixed;    /* xy xz yz */
    real3 force;    /* integral of n dS over the surface of the first solid inside the second */
    real3 torque;   /* integral of r x n dS */
    real size;      /* sum of |volume|, against which cancellation is judged */
} sums_t;

static void sums_zero(sums_t *s)
{
    real3 zero = (real3)(REAL(0), REAL(0), REAL(0));
    s->volume = s->size = REAL(0);
    s->first = s->diagonal = s->mixed = s->force = s->torque = zero;
}

static void put3(__global real *to, real3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static void sums_put(__global real *partial, uint item, const sums_t *s)
{
    __global real *to = partial + (size_t)item * TACT_SUMS;
#ifdef TACT_FAULT
    to[0] = s->volume * REAL(1.001);
#else
    to[0] = s->volume;
#endif
    put3(to + 1, s->first);
    put3(to + 4, s->diagonal);
    put3(to + 7, s->mixed);
    put3(to + 10, s->force);
    put3(to + 13, s->torque);
    to[16] = s->size;
}

static real3 load3(__global const real *from)
{
    return (real3)(from[0], from[1], from[2]);
}

/* The corner of a triangle in the frame of its contact: rows of a rotation, then an origin. */
static real3 corner(__global const real *frame, __global const real *vertices,
                    __global const uint *triangles, uint triangle, int k)
{
    real3 r = load3(vertices + 3 * (size_t)triangles[3 * (size_t)triangle + k]) - load3(frame + 9);
    return (real3)(dot(load3(frame), r), dot(load3(frame + 3), r), dot(load3(frame + 6), r));
}

/* Clips the convex polygon p, whose corner i lies at the signed distance d[i], to d >= 0. q has room
 * for CORNERS, which only rounding on a sliver could exceed. */
static int clip(const real4 *p, const real *d, int n, real4 *q)
{
    int m = 0;
    for (int i = 0; i < n; i++) {
        int j = i + 1 < n ? i + 1 : 0;
        int in = d[i] >= REAL(0);
        if (in && m < CORNERS) {
            q[m] = p[i];
            m = m + 1;
        }
        if (in != (d[j] >= REAL(0)) && m < CORNERS) {
            real t = d[i] / (d[i] - d[j]);
            q[m] = p[i] + t * (p[j] - p[i]);
            m = m + 1;
        }
    }
    return m;
}

/* Integral of f g k over a triangle of area 60, the three linear, given by their corner values. */
static real cubic(real3 f, real3 g, real3 k)
{
    real3 one = (real3)(REAL(1), REAL(1), REAL(1));
    real sf = dot(f, one), sg = dot(g, one), sk = dot(k, one);
    return sf * sg * sk + sf * dot(g, k) + sg * dot(f, k) + sk * dot(f, g) +
           REAL(2) * dot(f, g * k);
}

/* Adds the prism over a projected triangle with corners (x, y, z of its floor, height) and signed
 * area: the integrands are cubic, the sums exact. */
static void add_prism(sums_t *s, real4 a, real4 b, real4 c, real area)
{
    real3 one = (real3)(REAL(1), REAL(1), REAL(1));
    real3 x = (real3)(a.x, b.x, c.x);
    real3 y = (real3)(a.y, b.y, c.y);
    real3 h = (real3)(a.w, b.w, c.w);
    real3 m = (real3)(a.z, b.z, c.z) + REAL(0.5) * h;
    real sh = dot(h, one);
    real v = area * sh / REAL(3);
    s->volume += v;
    s->size += fabs(v);
    s->first += area / REAL(12) *
                (real3)(sh * dot(x, one) + dot(h, x), sh * dot(y, one) + dot(h, y),
                        sh * dot(m, one) + dot(h, m));
    real w = area / REAL(60);
    s->diagonal += w * (real3)(cubic(h, x, x), cubic(h, y, y),
                               cubic(h, m, m) + cubic(h, h, h) / REAL(12));
    s->mixed += w * (real3)(cubic(h, x, y), cubic(h, x, m), cubic(h, y, m));
}

/* Adds what stands between a flat polygon of the first solid's surface, corners (x, y, z, height), in
 * the order of its triangle, and the second's surface above it. tau: +1 where that faces up. */
static void add_column(sums_t *s, const real4 *p, int n, real tau)
{
    for (int k = 1; k + 1 < n; k++) {
        real3 area = REAL(0.5) * tau * cross(p[k].xyz - p[0].xyz, p[k + 1].xyz - p[0].xyz);
        add_prism(s, p[0], p[k], p[k + 1], -area.z);
        s->force += area;
        s->torque += cross((p[0].xyz + p[k].xyz + p[k + 1].xyz) / REAL(3), area);
    }
}

/* The part of triangle s above which triangle t lies, with the height of t above it. nt: t's normal;
 * up: whether it points up. out has room for CORNERS. Where that part lies in t, within slack, it is
 * above and below alike: all of it is given, without height, and *share is one half, else 1. */
static int shadow(const real3 *s, const real3 *t, real3 nt, int up, real slack, real4 *out,
                  real *share)
{
    real4 p[CORNERS];
    real d[CORNERS];
    int n = 3;
    for (int i = 0; i < 3; i++) {
        out[i] = (real4)(s[i], REAL(0));
    }
    for (int e = 0; e < 3 && n >= 3; e++) {
        real3 from = t[up ? e : 2 - e];
        real3 to = t[up ? (e + 1) % 3 : (4 - e) % 3];
        for (int i = 0; i < n; i++) {
            p[i] = out[i];
            d[i] = (to.x - from.x) * (p[i].y - from.y) - (to.y - from.y) * (p[i].x - from.x);
        }
        n = clip(p, d, n, out);
    }
    real lowest = fmin(fmin(t[0].z, t[1].z), t[2].z), highest = fmax(fmax(t[0].z, t[1].z), t[2].z);
    real most = REAL(0);
    for (int i = 0; i < n; i++) {
        real slope = nt.x * (out[i].x - t[0].x) + nt.y * (out[i].y - t[0].y);
        p[i] = out[i];
        /* beyond t's corners, z is the rounding of a steep t */
        p[i].w = clamp(t[0].z - slope / nt.z, lowest, highest) - p[i].z;
        d[i] = p[i].w;
        most = fmax(most, fabs(d[i]));
    }
    /* bounded: a plane seen edge-on has no heights */
    real steep = fmin((fabs(nt.x) + fabs(nt.y)) / fabs(nt.z), STEEPEST);
    *share = REAL(1);
    if (most <= slack * (REAL(1) + steep)) {
        for (int i = 0; i < n; i++) {
            out[i].w = REAL(0);
        }
        *share = REAL(0.5);
        return n;
    }
    return clip(p, d, n, out);
}

/* 1 where the boxes about the two projected triangles touch and t reaches above s somewhere, or
 * nearly. */
static int may_shadow(const real3 *s, const real3 *t, real slack)
{
    real3 sl = fmin(fmin(s[0], s[1]), s[2]), su = fmax(fmax(s[0], s[1]), s[2]);
    real3 tl = fmin(fmin(t[0], t[1]), t[2]), tu = fmax(fmax(t[0], t[1]), t[2]);
    return sl.x <= tu.x && tl.x <= su.x && sl.y <= tu.y && tl.y <= su.y && sl.z <= tu.z + slack;
}

/* Signed prism pairs: with A's triangles casting shadows up and B's casting them down the frame's z,
 * the overlap is the signed sum, over pairs, of the solid between s and t where t is above s. */
__kernel void prism_pairs(__global const uint4 *items, uint first, uint count,
                          __global const real *contacts, __global const real *vertices,
                          __global const uint *triangles, __global real *partial)
{
    uint i = (uint)get_global_id(0);
    if (i >= count) {
        return;
    }
    uint4 item = items[first + i];
    __global const real *frame = contacts + (size_t)item.z * TACT_CONTACT;
    real3 s[3], t[3];
    real4 p[CORNERS];
    sums_t sum;
    sums_zero(&sum);
    for (int k = 0; k < 3; k++) {
        s[k] = corner(frame, vertices, triangles, item.x, k);
        t[k] = corner(frame + 12, vertices, triangles, item.y, k);
    }
    real3 nt = cross(t[1] - t[0], t[2] - t[0]);
    real slack = frame[24], share;
    if (may_shadow(s, t, STEEPEST * slack) && nt.z != REAL(0)) {
        int up = nt.z > REAL(0);
        int n = shadow(s, t, nt, up, slack, p, &share);
        add_column(&sum, p, n, up ? share : -share);
    }
    sums_put(partial, first + i, &sum);
}

/* A mesh below the plane z = 0 of its frame: prisms from each triangle's part below it up to it. */
__kernel void plane_triangles(__global const uint4 *items, uint first, uint count,
                              __global const real *contacts, __global const real *vertices,
                              __global const uint *triangles, __global real *partial)
{
    uint i = (uint)get_global_id(0);
    if (i >= count) {
        return;
    }
    uint4 item = items[first + i];
    __global const real *frame = contacts + (size_t)item.z * TACT_CONTACT;
    real4 p[4], q[CORNERS];
    real d[4], slack = frame[24];
    int within = 1;
    sums_t sum;
    sums_zero(&sum);
    for (int k = 0; k < 3; k++) {
        real3 r = corner(frame, vertices, triangles, item.x, k);
        if (fabs(r.z) <= slack) {
            r.z = REAL(0);
        } else {
            within = 0;
        }
        p[k] = (real4)(r, -r.z);
        d[k] = -r.z;
    }
    /* of a face that lies in the plane, one half counts */
    add_column(&sum, q, clip(p, d, 3, q), within ? REAL(0.5) : REAL(1));
    sums_put(partial, first + i, &sum);
}

/* Moments, in the plane of a triangle and about the foot of the ball's centre, of its part inside
 * the ball: area, first (x y), second (xx yy xy), and the solid angle it subtends. */
typedef struct {
    real area, x, y, xx, yy, xy, angle;
} disc_t;

/* The triangle (foot, p, q), p to q inside the disc; height: of the plane above the centre. */
static void add_inside(disc_t *d, real2 p, real2 q, real height)
{
    real c = p.x * q.y - p.y * q.x;
    real sx = p.x + q.x, sy = p.y + q.y;
    d->area += REAL(0.5) * c;
    d->x += c / REAL(6) * sx;
    d->y += c / REAL(6) * sy;
    d->xx += c / REAL(24) * (p.x * p.x + q.x * q.x + sx * sx);
    d->yy += c / REAL(24) * (p.y * p.y + q.y * q.y + sy * sy);
    d->xy += c / REAL(24) * (p.x * p.y + q.x * q.y + sx * sy);
    real h = fabs(height);
    real dp = sqrt(p.x * p.x + p.y * p.y + h * h), dq = sqrt(q.x * q.x + q.y * q.y + h * h);
    real below = dp * dq + h * (dp + dq) + h * h + p.x * q.x + p.y * q.y;
    /* van Oosterom & Strackee 1983, with the foot as one corner */
    d->angle += REAL(2) * atan2(c, below);
}

/* The sector between the directions of p and q, which lie outside the disc of radius rho. */
static void add_sector(disc_t *d, real2 p, real2 q, real rho, real height, real radius)
{
    real phi = atan2(p.x * q.y - p.y * q.x, p.x * q.x + p.y * q.y);
    p = p / sqrt(p.x * p.x + p.y * p.y);
    q = q / sqrt(q.x * q.x + q.y * q.y);
    real r3 = rho * rho * rho / REAL(3), r4 = rho * rho * rho * rho / REAL(8);
    real twice = q.x * q.y - p.x * p.y;
    d->area += REAL(0.5) * rho * rho * phi;
    d->x += r3 * (q.y - p.y);
    d->y += r3 * (p.x - q.x);
    d->xx += r4 * (phi + twice);
    d->yy += r4 * (phi - twice);
    d->xy += r4 * (q.y * q.y - p.y * p.y);
    d->angle += phi * (REAL(1) - fabs(height) / radius);
}

/* The edge from p to q, split where it crosses the circle; 1 where it does. */
static int add_edge(disc_t *d, real2 p, real2 q, real rho, real height, real radius)
{
    real2 e = q - p;
    real a = e.x * e.x + e.y * e.y, b = p.x * e.x + p.y * e.y;
    real c = p.x * p.x + p.y * p.y - rho * rho;
    real root = b * b - a * c;
    real t0 = REAL(1), t1 = REAL(1);
    if (root > REAL(0) && a > REAL(0)) {
        t0 = clamp((-b - sqrt(root)) / a, REAL(0), REAL(1));
        t1 = clamp((-b + sqrt(root)) / a, REAL(0), REAL(1));
    }
    if (t0 >= t1) {
        add_sector(d, p, q, rho, height, radius);
        return 0;
    }
    real2 in = p + t0 * e, out = p + t1 * e;
    if (t0 > REAL(0)) {
        add_sector(d, p, in, rho, height, radius);
    }
    add_inside(d, in, out, height);
    if (t1 < REAL(1)) {
        add_sector(d, out, q, rho, height, radius);
    }
    return 1;
}

/* 1 where the origin of the plane lies on the edge from p to q, give or take `near`. */
static int on_edge(real2 p, real2 q, real near)
{
    real2 e = q - p;
    real s = clamp(-(p.x * e.x + p.y * e.y) / (e.x * e.x + e.y * e.y), REAL(0), REAL(1));
    real2 r = p + s * e;
    return r.x * r.x + r.y * r.y < near * near;
}

/* A ball with a closed mesh, by the divergence theorem about the ball's centre: what the part of one
 * triangle inside the ball adds. Sums: volume = integral of h dA; first = h r - R^2 n; the second
 * moment of h r r^T - R^2 r n^T; force = n dA; torque.x = solid angle; torque.y > 0 where the ball's centre lies on an edge,
 * which has no solid angle. */
__kernel void ball_triangles(__global const uint4 *items, uint first, uint count,
                             __global const real *contacts, __global const real *vertices,
                             __global const uint *triangles, __global real *partial)
{
    uint i = (uint)get_global_id(0);
    if (i >= count) {
        return;
    }
    uint4 item = items[first + i];
    __global const real *frame = contacts + (size_t)item.z * TACT_CONTACT;
    real radius = frame[24];
    real3 r[3];
    sums_t sum;
    sums_zero(&sum);
    for (int k = 0; k < 3; k++) {
        r[k] = corner(frame, vertices, triangles, item.x, k);
    }
    real3 normal = cross(r[1] - r[0], r[2] - r[0]);
    real length_n = length(normal);
    normal = normal / length_n;
    real h = dot(normal, r[0]);
    if (length_n > REAL(0) && fabs(h) < radius) {
        real rho = sqrt((radius - h) * (radius + h));
        real3 ex = normalize(r[1] - r[0]), ey = cross(normal, ex), foot = h * normal;
        const disc_t none = {REAL(0), REAL(0), REAL(0), REAL(0), REAL(0), REAL(0), REAL(0)};
        disc_t d = none;
        int crossed = 0, edge = 0;
        real near = REAL(1e-8) * radius;
        for (int k = 0; k < 3; k++) {
            int l = k < 2 ? k + 1 : 0;
            real2 p = (real2)(dot(ex, r[k]), dot(ey, r[k]));
            real2 q = (real2)(dot(ex, r[l]), dot(ey, r[l]));
            crossed |= add_edge(&d, p, q, rho, h, radius);
            edge |= fabs(h) < near && on_edge(p, q, near);
        }
        if (!crossed && d.area < rho * rho) { /* a triangle beside the disc: rounding only */
            d = none;
        }
        real r2 = radius * radius;
        real3 in_plane = d.x * ex + d.y * ey;
        real3 m1 = d.area * foot + in_plane;
        sum.volume = h * d.area;
        sum.size = fabs(sum.volume);
        sum.force = d.area * normal;
        sum.torque.x = h < REAL(0) ? -d.angle : d.angle;
        sum.torque.y = edge ? REAL(1) : REAL(0);
        sum.first = h * m1 - r2 * sum.force;
        real3 m2 = foot * foot * d.area + REAL(2) * foot * in_plane + d.xx * ex * ex +
                   d.yy * ey * ey + REAL(2) * d.xy * ex * ey;
        real3 left = (real3)(foot.x, foot.x, foot.y), right = (real3)(foot.y, foot.z, foot.z);
        real3 il = (real3)(in_plane.x, in_plane.x, in_plane.y);
        real3 ir = (real3)(in_plane.y, in_plane.z, in_plane.z);
        real3 xl = (real3)(ex.x, ex.x, ex.y), xr = (real3)(ex.y, ex.z, ex.z);
        real3 yl = (real3)(ey.x, ey.x, ey.y), yr = (real3)(ey.y, ey.z, ey.z);
        real3 o2 = left * right * d.area + left * ir + il * right + d.xx * xl * xr +
                   d.yy * yl * yr + d.xy * (xl * yr + yl * xr);
        real3 nl = (real3)(normal.x, normal.x, normal.y), nr = (real3)(normal.y, normal.z, normal.z);
        real3 ml = (real3)(m1.x, m1.x, m1.y), mr = (real3)(m1.y, m1.z, m1.z);
        sum.diagonal = h * m2 - r2 * m1 * normal;
        sum.mixed = h * o2 - r2 * REAL(0.5) * (ml * nr + mr * nl);
    }
    sums_put(partial, first + i, &sum);
}

/* Adds the cap of height d of a ball of radius r; its rim lies in z = 0 and its apex at z = side d. */
static void add_cap(sums_t *s, real r, real d, real side)
{
    real d2 = d * d, d3 = d2 * d;
    real v = PI * d2 * (r - d / REAL(3));
    real u = PI * d3 * (r * REAL(2) / REAL(3) - d / REAL(4)); /* moment of the distance to the apex */
    real uu = PI * d2 * d2 * (r / REAL(2) - d / REAL(5));
    real xx = PI * d3 * (r * r / REAL(3) - r * d / REAL(4) + d2 / REAL(20));
    s->volume += v;
    s->size += v;
    s->first.z += side * (d * v - u);
    s->diagonal.x += xx;
    s->diagonal.y += xx;
    s->diagonal.z += d2 * v - REAL(2) * d * u + uu;
}

/* Ball with ball or with half-space: two caps back to back; z points from the first into the
 * second. */
__kernel void lenses(__global const uint4 *items, uint first, uint count,
                     __global const real *contacts, __global const real *vertices,
                     __global const uint *triangles, __global real *partial)
{
    uint i = (uint)get_global_id(0);
    if (i >= count) {
        return;
    }
    __global const real *frame = contacts + (size_t)items[first + i].z * TACT_CONTACT;
    sums_t sum;
    sums_zero(&sum);
    add_cap(&sum, frame[24], frame[25], REAL(1));
    add_cap(&sum, frame[26], frame[27], REAL(-1));
    sum.force.z = PI * frame[25] * (REAL(2) * frame[24] - frame[25]);
    sums_put(partial, first + i, &sum);
}

/* Adds up runs of rows of TACT_SUMS values: output row i is the sum of input rows
 * ranges[i].x .. + ranges[i].y - 1, in this order. One work-item a row and column. */
__kernel void sum_rows(__global const uint2 *ranges, uint first, uint count,
                       __global const real *in, __global real *out)
{
    uint i = (uint)get_global_id(0);
    if (i >= count * TACT_SUMS) {
        return;
    }
    uint row = i / TACT_SUMS, column = i % TACT_SUMS;
    uint2 range = ranges[first + row];
    real sum = REAL(0);
    for (uint k = 0; k < range.y; k++) {
        sum += in[((size_t)range.x + k) * TACT_SUMS + column];
    }
    out[i] = sum;
}
