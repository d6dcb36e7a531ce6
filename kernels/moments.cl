/*
 * Moments of the overlap of two solids, in OpenCL C 1.2.
 *
 * One work-item per triangle pair or triangle ("item") writes TACT_SUMS_PER_PAIR partial sums; a
 * second kernel adds them in a fixed order, without atomics, so that the same frame yields the same
 * bits.
 *
 * Built with TACT_DOUBLE (double precision) or without (single), and with TACT_SUMS_PER_PAIR,
 * TACT_PAIR_VALUES and the like from kernels/batch_internal.h. Written for PoCL's scalar "loops"
 * work-group method.
 */
#ifdef TACT_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double3 real3;
typedef double4 real4;
#else
typedef float real;
typedef float3 real3;
typedef float4 real4;
#endif
#pragma OPENCL FP_CONTRACT OFF

#define TO_REAL(x) ((real)(x))
/* Capacity of a polygon: a triangle clipped by three edges and a plane has at most 7 corners. */
#define MAX_CLIPPED_TRIANGLE_CORNERS 8
/* Bound on the slope of a triangle; equals the host's TACT_MAX_FACE_SLOPE. */
#define MAX_TRIANGLE_SLOPE TO_REAL(1e8)

/* Partial sums of one work item in the summation frame of its pair: moments about the frame's
 * origin. */
typedef struct {
    real volume;
    real3 first;    /* integral of r dV */
    real3 diagonal; /* xx yy zz of the integral of r r^T dV */
    real3 mixed;    /* xy xz yz */
    real3 force;    /* integral of n dS over the surface of the first solid inside the second */
    real3 torque;   /* integral of r x n dS */
    real size;      /* sum of |volume|, the scale of the cancellation in volume */
} sums_t;

static void zero_sums(sums_t *s)
{
    real3 zero = (real3)(TO_REAL(0), TO_REAL(0), TO_REAL(0));
    s->volume = s->size = TO_REAL(0);
    s->first = s->diagonal = s->mixed = s->force = s->torque = zero;
}

static void store_vector3(__global real *to, real3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static void store_partial_sums(__global real *partial, uint item, const sums_t *s)
{
    __global real *to = partial + (size_t)item * TACT_SUMS_PER_PAIR;
#ifdef TACT_FAULT
    to[0] = s->volume * TO_REAL(1.001);
#else
    to[0] = s->volume;
#endif
    store_vector3(to + 1, s->first);
    store_vector3(to + 4, s->diagonal);
    store_vector3(to + 7, s->mixed);
    store_vector3(to + 10, s->force);
    store_vector3(to + 13, s->torque);
    to[16] = s->size;
}

static real3 load_vector(__global const real *from)
{
    return (real3)(from[0], from[1], from[2]);
}

/* Corner k of a triangle, in the summation frame; frame: rows of a rotation, then an origin. */
static real3 to_summation_frame(__global const real *frame, __global const real *vertices,
                                __global const uint *triangles, uint triangle, int k)
{
    real3 r = load_vector(vertices + 3 * (size_t)triangles[3 * (size_t)triangle + k]) -
              load_vector(frame + 9);
    return (real3)(dot(load_vector(frame), r), dot(load_vector(frame + 3), r),
                   dot(load_vector(frame + 6), r));
}

/* Clips the convex polygon p, whose corner i lies at the signed distance d[i], to d >= 0. q has
 * room for MAX_CLIPPED_TRIANGLE_CORNERS; only rounding on a sliver could exceed it. */
static int clip_polygon(const real4 *p, const real *d, int n, real4 *q)
{
    int m = 0;
    for (int i = 0; i < n; i++) {
        int j = i + 1 < n ? i + 1 : 0;
        int in = d[i] >= TO_REAL(0);
        if (in && m < MAX_CLIPPED_TRIANGLE_CORNERS) {
            q[m] = p[i];
            m = m + 1;
        }
        if (in != (d[j] >= TO_REAL(0)) && m < MAX_CLIPPED_TRIANGLE_CORNERS) {
            real t = d[i] / (d[i] - d[j]);
            q[m] = p[i] + t * (p[j] - p[i]);
            m = m + 1;
        }
    }
    return m;
}

/* Integral of f g k over a triangle of area 60, the three linear, given by their corner values. */
static real integrate_product(real3 f, real3 g, real3 k)
{
    real3 one = (real3)(TO_REAL(1), TO_REAL(1), TO_REAL(1));
    real sf = dot(f, one), sg = dot(g, one), sk = dot(k, one);
    return sf * sg * sk + sf * dot(g, k) + sg * dot(f, k) + sk * dot(f, g) +
           TO_REAL(2) * dot(f, g * k);
}

/* Adds the prism over a projected triangle with corners (x, y, z of its floor, height) and signed
 * area: the integrands are cubic, the sums exact. */
static void add_moments_of_triangular_prism(sums_t *s, real4 a, real4 b, real4 c, real area)
{
    real3 one = (real3)(TO_REAL(1), TO_REAL(1), TO_REAL(1));
    real3 x = (real3)(a.x, b.x, c.x);
    real3 y = (real3)(a.y, b.y, c.y);
    real3 h = (real3)(a.w, b.w, c.w);
    real3 m = (real3)(a.z, b.z, c.z) + TO_REAL(0.5) * h;
    real sh = dot(h, one);
    real v = area * sh / TO_REAL(3);
    s->volume += v;
    s->size += fabs(v);
    s->first += area / TO_REAL(12) *
                (real3)(sh * dot(x, one) + dot(h, x), sh * dot(y, one) + dot(h, y),
                        sh * dot(m, one) + dot(h, m));
    real w = area / TO_REAL(60);
    s->diagonal +=
        w * (real3)(integrate_product(h, x, x), integrate_product(h, y, y),
                    integrate_product(h, m, m) + integrate_product(h, h, h) / TO_REAL(12));
    s->mixed += w * (real3)(integrate_product(h, x, y), integrate_product(h, x, m),
                            integrate_product(h, y, m));
}

/* Adds the volume between a flat polygon of the first solid's surface, corners (x, y, z, height) in
 * its triangle's order, and the second's surface above it. tau: +1 if that faces up, else -1. */
static void add_moments_of_prism_column(sums_t *s, const real4 *p, int n, real tau)
{
    for (int k = 1; k + 1 < n; k++) {
        real3 area = TO_REAL(0.5) * tau * cross(p[k].xyz - p[0].xyz, p[k + 1].xyz - p[0].xyz);
        add_moments_of_triangular_prism(s, p[0], p[k], p[k + 1], -area.z);
        s->force += area;
        s->torque += cross((p[0].xyz + p[k].xyz + p[k + 1].xyz) / TO_REAL(3), area);
    }
}

/* Clips triangle s to the region below triangle t; the corners of out have the height of t above
 * them. nt: t's normal; up: whether it points up. out has room for MAX_CLIPPED_TRIANGLE_CORNERS. If the
 * region is coplanar with t within slack, all of it is returned with height 0 and *weight is 0.5,
 * else 1. */
static int clip_triangle_projections(const real3 *s, const real3 *t, real3 nt, int up, real slack,
                                     real4 *out, real *weight)
{
    real4 p[MAX_CLIPPED_TRIANGLE_CORNERS];
    real d[MAX_CLIPPED_TRIANGLE_CORNERS];
    int n = 3;
    for (int i = 0; i < 3; i++) {
        out[i] = (real4)(s[i], TO_REAL(0));
    }
    for (int e = 0; e < 3 && n >= 3; e++) {
        real3 from = t[up ? e : 2 - e];
        real3 to = t[up ? (e + 1) % 3 : (4 - e) % 3];
        for (int i = 0; i < n; i++) {
            p[i] = out[i];
            d[i] = (to.x - from.x) * (p[i].y - from.y) - (to.y - from.y) * (p[i].x - from.x);
        }
        n = clip_polygon(p, d, n, out);
    }
    real lowest = fmin(fmin(t[0].z, t[1].z), t[2].z), highest = fmax(fmax(t[0].z, t[1].z), t[2].z);
    real most = TO_REAL(0);
    for (int i = 0; i < n; i++) {
        real slope = nt.x * (out[i].x - t[0].x) + nt.y * (out[i].y - t[0].y);
        p[i] = out[i];
        /* z outside t's range is rounding error of a steep t */
        p[i].w = clamp(t[0].z - slope / nt.z, lowest, highest) - p[i].z;
        d[i] = p[i].w;
        most = fmax(most, fabs(d[i]));
    }
    /* bounded: the slope of a vertical plane is infinite */
    real steep = fmin((fabs(nt.x) + fabs(nt.y)) / fabs(nt.z), MAX_TRIANGLE_SLOPE);
    *weight = TO_REAL(1);
    if (most <= slack * (TO_REAL(1) + steep)) {
        for (int i = 0; i < n; i++) {
            out[i].w = TO_REAL(0);
        }
        *weight = TO_REAL(0.5);
        return n;
    }
    return clip_polygon(p, d, n, out);
}

/* 1 if the boxes of the projected triangles touch and t's top is not below s's bottom by more than
 * slack. */
static int may_projections_overlap(const real3 *s, const real3 *t, real slack)
{
    real3 sl = fmin(fmin(s[0], s[1]), s[2]), su = fmax(fmax(s[0], s[1]), s[2]);
    real3 tl = fmin(fmin(t[0], t[1]), t[2]), tu = fmax(fmax(t[0], t[1]), t[2]);
    return sl.x <= tu.x && tl.x <= su.x && sl.y <= tu.y && tl.y <= su.y && sl.z <= tu.z + slack;
}

/* Signed prism pairs: the overlap is the sum over triangles s of A and t of B of the signed volume
 * between s and t along the frame's z where t is above s. */
__kernel void prism_pairs(__global const uint4 *items, uint first, uint count,
                          __global const real *pairs, __global const real *vertices,
                          __global const uint *triangles, __global real *partial)
{
    uint i = (uint)get_global_id(0);
    if (i >= count) {
        return;
    }
    uint4 item = items[first + i];
    __global const real *frame = pairs + (size_t)item.z * TACT_PAIR_VALUES;
    real3 s[3], t[3];
    real4 p[MAX_CLIPPED_TRIANGLE_CORNERS];
    sums_t sum;
    zero_sums(&sum);
    for (int k = 0; k < 3; k++) {
        s[k] = to_summation_frame(frame, vertices, triangles, item.x, k);
        t[k] = to_summation_frame(frame + 12, vertices, triangles, item.y, k);
    }
    real3 nt = cross(t[1] - t[0], t[2] - t[0]);
    real slack = frame[24], weight;
    if (may_projections_overlap(s, t, MAX_TRIANGLE_SLOPE * slack) && nt.z != TO_REAL(0)) {
        int up = nt.z > TO_REAL(0);
        int n = clip_triangle_projections(s, t, nt, up, slack, p, &weight);
        add_moments_of_prism_column(&sum, p, n, up ? weight : -weight);
    }
    store_partial_sums(partial, first + i, &sum);
}

/* A mesh below the plane z = 0 of its frame: prisms between each triangle's part below the plane
 * and the plane. */
__kernel void plane_triangles(__global const uint4 *items, uint first, uint count,
                              __global const real *pairs, __global const real *vertices,
                              __global const uint *triangles, __global real *partial)
{
    uint i = (uint)get_global_id(0);
    if (i >= count) {
        return;
    }
    uint4 item = items[first + i];
    __global const real *frame = pairs + (size_t)item.z * TACT_PAIR_VALUES;
    real4 p[4], q[MAX_CLIPPED_TRIANGLE_CORNERS];
    real d[4], slack = frame[24];
    int is_region_coplanar_with_triangle = 1;
    sums_t sum;
    zero_sums(&sum);
    for (int k = 0; k < 3; k++) {
        real3 r = to_summation_frame(frame, vertices, triangles, item.x, k);
        if (fabs(r.z) <= slack) {
            r.z = TO_REAL(0);
        } else {
            is_region_coplanar_with_triangle = 0;
        }
        p[k] = (real4)(r, -r.z);
        d[k] = -r.z;
    }
    /* a coplanar face has weight one half */
    add_moments_of_prism_column(&sum, q, clip_polygon(p, d, 3, q), is_region_coplanar_with_triangle ? TO_REAL(0.5) : TO_REAL(1));
    store_partial_sums(partial, first + i, &sum);
}

/* Adds ranges of rows of TACT_SUMS_PER_PAIR values: output row i is the sum of ranges[first + i].y
 * input rows from ranges[first + i].x, in order. One work-item per output row and column. */
__kernel void sum_partial_rows(__global const uint2 *ranges, uint first, uint count,
                               __global const real *in, __global real *out)
{
    uint i = (uint)get_global_id(0);
    if (i >= count * TACT_SUMS_PER_PAIR) {
        return;
    }
    uint row = i / TACT_SUMS_PER_PAIR, column = i % TACT_SUMS_PER_PAIR;
    uint2 range = ranges[first + row];
    real sum = TO_REAL(0);
    for (uint k = 0; k < range.y; k++) {
        sum += in[((size_t)range.x + k) * TACT_SUMS_PER_PAIR + column];
    }
    out[i] = sum;
}
