/**
 * Moments of the overlap of two solids, in OpenCL C 1.2.
 *
 * One work-item a triangle pair or triangle ("item") writes TACT_SUMS partial sums; two further
 * kernels add them up in a fixed order, so that the same frame gives the same bits: no atomics.
 *
 * Built with TACT_DOUBLE (double precision) or without (single), and with TACT_SUMS, TACT_PAIR_VALUES
 * and the like from kernels/batch_internal.h. Written for PoCL's scalar "loops" work-group method.
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

#define REAL(x) ((real)(x))
/* Of a polygon: a triangle clipped by three edges and a plane has at most 7. */
#define CORNERS 8
/* TACT_STEEPEST of the host. */
#define STEEPEST REAL(1e8)

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
    __global const real *frame = contacts + (size_t)item.z * TACT_PAIR_VALUES;
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
    __global const real *frame = contacts + (size_t)item.z * TACT_PAIR_VALUES;
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
