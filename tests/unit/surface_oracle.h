/*
 * The overlap of two convex meshes from its surface, sharing no code with the library: every
 * triangle of either is clipped by the planes of all triangles of the other, in long double, and
 * integrals follow by the divergence theorem. Where a triangle of one lies in a face of the other,
 * half of it counts: both halves make a whole face of the overlap, and A's half makes the gradient
 * the mean of the volume's one-sided derivatives.
 */
#ifndef TACT_TESTS_SURFACE_ORACLE_H
#define TACT_TESTS_SURFACE_ORACLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/mesh/mesh.h"
#include "contact/vec.h"

typedef long double real;

/* Capacity for the corners of a triangle that many planes clip. */
enum { ORACLE_CORNERS = 512 };

/* Moments of an overlap, as the oracle computes them. */
struct oracle_moments {
    real volume, centroid[3], second[6];
    real gradient[3], torque[3]; /* torque of the gradient about the centroid */
    real surface;                /* area of the overlap's surface: A's part and B's part */
    int coplanar_triangle_count; /* number of triangles of A that lie in a face of B */
};

/* A convex mesh at its pose, in the world, with the planes of its triangles. */
struct oracle_mesh_body {
    size_t count;
    real (*corner)[3][3], (*plane)[4]; /* plane: unit normal n outward, n . r = d on it */
};

struct oracle_surface_sums {
    real o[3], v, f[3], s[6], g[3], q[3], area;
    real corners[3]; /* their sum */
    int count, coplanar_triangle_count;
};

static inline real oracle_height(const real n[4], const real *p)
{
    return n[0] * p[0] + n[1] * p[1] + n[2] * p[2] - n[3];
}

static inline void oracle_cross(const real *a, const real *b, real *r)
{
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        r[k] = a[y] * b[z] - a[z] * b[y];
    }
}

/* Rotates by r = q v q*; the quaternion is not normalised, as rounding of its norm only scales the
 * body. */
static inline void transform_oracle_point_to_world(const struct tact_pose *pose, const double *v,
                                                   real *r)
{
    const double *q = pose->quat_wxyz;
    real axis[3] = {q[1], q[2], q[3]}, local[3] = {v[0], v[1], v[2]}, t[3], u[3];
    oracle_cross(axis, local, t);
    oracle_cross(axis, t, u);
    for (int k = 0; k < 3; k++) {
        r[k] = local[k] + 2 * (q[0] * t[k] + u[k]) + pose->position[k];
    }
}

static inline struct oracle_mesh_body place_oracle_mesh_body(const struct tact_mesh *m,
                                                             const struct tact_pose *pose)
{
    struct oracle_mesh_body body = {.count = m->triangle_count};
    body.corner = malloc(m->triangle_count * sizeof *body.corner);
    body.plane = malloc(m->triangle_count * sizeof *body.plane);
    for (size_t t = 0; t < m->triangle_count && body.corner && body.plane; t++) {
        real(*p)[3] = body.corner[t], u[3], w[3], *plane = body.plane[t], size = 0;
        for (size_t k = 0; k < 3; k++) {
            transform_oracle_point_to_world(pose, m->vertices + 3 * (size_t)m->triangles[3 * t + k],
                                            p[k]);
        }
        for (int k = 0; k < 3; k++) {
            u[k] = p[1][k] - p[0][k];
            w[k] = p[2][k] - p[0][k];
        }
        oracle_cross(u, w, plane);
        for (int k = 0; k < 3; k++) {
            size += plane[k] * plane[k];
        }
        plane[3] = 0;
        for (int k = 0; k < 3; k++) {
            plane[k] /= sqrtl(size);
            plane[3] += plane[k] * p[0][k];
        }
    }
    return body;
}

static inline void free_oracle_mesh_body(struct oracle_mesh_body *body)
{
    free(body->corner);
    free(body->plane);
}

/* Clips a polygon to the part not above the plane; returns its number of corners. */
static inline int clip_oracle_polygon(real (*p)[3], int n, const real plane[4])
{
    real out[ORACLE_CORNERS][3];
    int m = 0;
    for (int i = 0; i < n; i++) {
        const real *a = p[i], *b = p[(i + 1) % n];
        real ha = oracle_height(plane, a), hb = oracle_height(plane, b);
        if (ha <= 0) {
            memcpy(out[m++], a, sizeof out[0]);
        }
        if ((ha < 0 && hb > 0) || (ha > 0 && hb < 0)) {
            for (int k = 0; k < 3; k++) {
                out[m][k] = a[k] + ha / (ha - hb) * (b[k] - a[k]);
            }
            m++;
        }
    }
    memcpy(p, out, (size_t)m * sizeof out[0]);
    return m;
}

/* Adds weight times a triangle of the overlap's surface; of_a: it is A's. */
static inline void add_oracle_triangle(struct oracle_surface_sums *s, const real *p0,
                                       const real *p1, const real *p2, real weight, int of_a)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    real p[3][3], u[3], w[3], n[3], t[3], v = 0, area = 0, moment[3];
    for (int k = 0; k < 3; k++) {
        p[0][k] = p0[k] - s->o[k];
        p[1][k] = p1[k] - s->o[k];
        p[2][k] = p2[k] - s->o[k];
        u[k] = p1[k] - p0[k];
        w[k] = p2[k] - p0[k];
        t[k] = p[0][k] + p[1][k] + p[2][k];
    }
    oracle_cross(u, w, n);
    for (int k = 0; k < 3; k++) {
        n[k] *= weight / 2;
        v += n[k] * p[0][k] / 3;
        area += n[k] * n[k];
    }
    s->area += sqrtl(area);
    s->v += v;
    for (int k = 0; k < 3; k++) {
        s->f[k] += v * t[k] / 4;
    }
    for (int k = 0; k < 6; k++) {
        int x = row[k], y = column[k];
        s->s[k] +=
            v / 20 * (p[0][x] * p[0][y] + p[1][x] * p[1][y] + p[2][x] * p[2][y] + t[x] * t[y]);
    }
    oracle_cross(t, n, moment);
    for (int k = 0; k < 3 && of_a; k++) {
        s->g[k] += n[k];
        s->q[k] += moment[k] / 3;
    }
}

/* Adds the surface integrals of the part of one body's surface that is inside the other body. */
static inline void add_oracle_surface_inside(const struct oracle_mesh_body *of,
                                             const struct oracle_mesh_body *in, int of_a, real near,
                                             struct oracle_surface_sums *s)
{
    for (size_t t = 0; t < of->count; t++) {
        real p[ORACLE_CORNERS][3];
        int n = 3, tied = 0;
        memcpy(p, of->corner[t], sizeof of->corner[t]);
        for (size_t u = 0; u < in->count && n >= 3; u++) {
            real most = 0;
            for (int k = 0; k < 3; k++) {
                most = fmaxl(most, fabsl(oracle_height(in->plane[u], of->corner[t][k])));
            }
            if (most <= near) {
                tied = 1;
            } else {
                n = clip_oracle_polygon(p, n, in->plane[u]);
            }
        }
        s->coplanar_triangle_count += n >= 3 && tied && of_a;
        for (int j = 0; n >= 3 && j < 3 * n; j++) {
            s->corners[j % 3] += p[j / 3][j % 3];
            s->count += j % 3 == 0;
        }
        for (int j = 1; j + 1 < n; j++) {
            add_oracle_triangle(s, p[0], p[j], p[j + 1], tied ? 0.5L : 1.0L, of_a);
        }
    }
}

static inline void finish_oracle_moments(const struct oracle_surface_sums *s,
                                         struct oracle_moments *out)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    real c[3], shift[3];
    out->volume = s->v;
    out->surface = s->area;
    out->coplanar_triangle_count = s->coplanar_triangle_count;
    for (int k = 0; k < 3; k++) {
        c[k] = s->v > 0 ? s->f[k] / s->v : 0;
        out->centroid[k] = s->o[k] + c[k];
        out->gradient[k] = s->g[k];
    }
    oracle_cross(c, s->g, shift);
    for (int k = 0; k < 3; k++) {
        out->torque[k] = s->q[k] - shift[k];
    }
    for (int k = 0; k < 6; k++) {
        out->second[k] = s->s[k] - s->v * c[row[k]] * c[column[k]];
    }
}

/* Moments of the overlap of two convex meshes. near [m]: distance within which a triangle counts
 * as lying in a plane. The integrals are taken about the mean of the overlap's corners, which a
 * first pass finds. */
static inline struct oracle_moments oracle_overlap(const struct tact_mesh *a,
                                                   const struct tact_pose *pa,
                                                   const struct tact_mesh *b,
                                                   const struct tact_pose *pb, double near)
{
    struct oracle_mesh_body body[2] = {place_oracle_mesh_body(a, pa),
                                       place_oracle_mesh_body(b, pb)};
    struct oracle_moments out;
    real o[3] = {pa->position[0], pa->position[1], pa->position[2]};
    for (int round = 0; round < 2; round++) {
        struct oracle_surface_sums sums = {.v = 0};
        memcpy(sums.o, o, sizeof o);
        add_oracle_surface_inside(&body[0], &body[1], 1, near, &sums);
        add_oracle_surface_inside(&body[1], &body[0], 0, near, &sums);
        finish_oracle_moments(&sums, &out);
        for (int k = 0; k < 3 && sums.count; k++) {
            o[k] = sums.corners[k] / sums.count;
        }
    }
    free_oracle_mesh_body(&body[0]);
    free_oracle_mesh_body(&body[1]);
    return out;
}

#endif
