/* The overlap of two convex meshes, computed without any code of the library: one polyhedron
 * clipped by the face planes of the other in long double, integrals by the divergence theorem. */
#ifndef TACT_TESTS_CONVEX_ORACLE_H
#define TACT_TESTS_CONVEX_ORACLE_H

#include <math.h>
#include <string.h>

#include "contact/mesh/mesh.h"
#include "contact/vec.h"

typedef long double real;

enum { FACES = 160, CORNERS = 64 };

struct face {
    int n, of_a;
    real p[CORNERS][3];
};

struct polyhedron {
    int n;
    struct face face[FACES];
};

struct answer {
    real v, c[3], s[6], g[3], q[3]; /* q: torque of the gradient about the world origin */
};

static real height_above(const real n[4], const real *p)
{
    return n[0] * p[0] + n[1] * p[1] + n[2] * p[2] - n[3];
}

/* Adds the polygon in which a plane cuts the polyhedron: the cut's corners, ordered by angle about
 * their mean. */
static void add_face_of_cut_to_polyhedron(struct polyhedron *h, const real plane[4], real rim[][3],
                                          int rim_point_count, real tolerance)
{
    real middle[3] = {0}, u[3], w[3];
    for (int i = 0; i < rim_point_count; i++) {
        for (int k = 0; k < 3; k++) {
            middle[k] += rim[i][k] / rim_point_count;
        }
    }
    int least = 0;
    for (int k = 1; k < 3; k++) {
        least = fabsl(plane[k]) < fabsl(plane[least]) ? k : least;
    }
    real e[3] = {least == 0, least == 1, least == 2};
    u[0] = plane[1] * e[2] - plane[2] * e[1];
    u[1] = plane[2] * e[0] - plane[0] * e[2];
    u[2] = plane[0] * e[1] - plane[1] * e[0];
    w[0] = plane[1] * u[2] - plane[2] * u[1];
    w[1] = plane[2] * u[0] - plane[0] * u[2];
    w[2] = plane[0] * u[1] - plane[1] * u[0];
    real angle[2 * FACES];
    for (int i = 0; i < rim_point_count; i++) {
        real x = 0, y = 0;
        for (int k = 0; k < 3; k++) {
            x += (rim[i][k] - middle[k]) * u[k];
            y += (rim[i][k] - middle[k]) * w[k];
        }
        angle[i] = atan2l(y, x);
    }
    struct face *cap = &h->face[h->n++];
    cap->n = 0;
    cap->of_a = 0;
    for (int i = 0; i < rim_point_count && cap->n < CORNERS; i++) {
        int best = -1;
        for (int j = 0; j < rim_point_count; j++) {
            if (angle[j] < 10 && (best < 0 || angle[j] < angle[best])) {
                best = j;
            }
        }
        angle[best] = 100;
        const real *last = cap->n ? cap->p[cap->n - 1] : NULL;
        if (last && fabsl(last[0] - rim[best][0]) + fabsl(last[1] - rim[best][1]) +
                            fabsl(last[2] - rim[best][2]) <
                        tolerance) {
            continue;
        }
        memcpy(cap->p[cap->n++], rim[best], sizeof rim[0]);
    }
}

/* Clips the polyhedron: removes what is above the plane. */
static void clip_by_plane(struct polyhedron *h, const real plane[4], real tolerance)
{
    static real rim[2 * FACES][3];
    int rim_point_count = 0, kept = 0, any_above = 0, coplanar = 0;
    for (int f = 0; f < h->n; f++) {
        struct face *in = &h->face[f], out = {.n = 0, .of_a = in->of_a};
        int on = 0;
        for (int i = 0; i < in->n; i++) {
            const real *p = in->p[i], *q = in->p[(i + 1) % in->n];
            real hp = height_above(plane, p), hq = height_above(plane, q);
            hp = hp < tolerance && hp > -tolerance ? 0 : hp;
            hq = hq < tolerance && hq > -tolerance ? 0 : hq;
            any_above |= hp > 0;
            on += hp == 0;
            if (hp <= 0) {
                memcpy(out.p[out.n++], p, sizeof out.p[0]);
            }
            if (hp == 0) {
                memcpy(rim[rim_point_count++], p, sizeof rim[0]);
            }
            if ((hp < 0 && hq > 0) || (hp > 0 && hq < 0)) {
                for (int k = 0; k < 3; k++) {
                    out.p[out.n][k] = p[k] + hp / (hp - hq) * (q[k] - p[k]);
                }
                memcpy(rim[rim_point_count++], out.p[out.n], sizeof rim[0]);
                out.n++;
            }
        }
        coplanar |= on == in->n;
        if (out.n >= 3) {
            h->face[kept++] = out;
        }
    }
    h->n = kept;
    if (any_above && !coplanar && rim_point_count >= 3) {
        add_face_of_cut_to_polyhedron(h, plane, rim, rim_point_count, tolerance);
    }
}

static struct answer integrate_polyhedron(const struct polyhedron *h)
{
    struct answer a = {0};
    real f[3] = {0}, s[6] = {0};
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    if (h->n < 4) {
        return a;
    }
    real o[3];
    memcpy(o, h->face[0].p[0], sizeof o);
    for (int i = 0; i < h->n; i++) {
        for (int j = 1; j + 1 < h->face[i].n; j++) {
            real p[3][3], n[3];
            for (int k = 0; k < 3; k++) {
                p[0][k] = h->face[i].p[0][k] - o[k];
                p[1][k] = h->face[i].p[j][k] - o[k];
                p[2][k] = h->face[i].p[j + 1][k] - o[k];
            }
            for (int k = 0; k < 3; k++) {
                int y = (k + 1) % 3, z = (k + 2) % 3;
                n[k] = ((p[1][y] - p[0][y]) * (p[2][z] - p[0][z]) -
                        (p[1][z] - p[0][z]) * (p[2][y] - p[0][y])) /
                       2;
            }
            real v = (n[0] * p[0][0] + n[1] * p[0][1] + n[2] * p[0][2]) / 3;
            a.v += v;
            real t[3];
            for (int k = 0; k < 3; k++) {
                t[k] = p[0][k] + p[1][k] + p[2][k];
                f[k] += v * t[k] / 4;
            }
            for (int k = 0; k < 6; k++) {
                int x = row[k], y = column[k];
                s[k] += v / 20 *
                        (p[0][x] * p[0][y] + p[1][x] * p[1][y] + p[2][x] * p[2][y] + t[x] * t[y]);
            }
            for (int k = 0; k < 3 && h->face[i].of_a; k++) {
                int y = (k + 1) % 3, z = (k + 2) % 3;
                a.g[k] += n[k];
                a.q[k] += (t[y] / 3 + o[y]) * n[z] - (t[z] / 3 + o[z]) * n[y];
            }
        }
    }
    for (int k = 0; k < 6; k++) {
        a.s[k] = s[k] - f[row[k]] * f[column[k]] / a.v;
    }
    for (int k = 0; k < 3; k++) {
        a.c[k] = f[k] / a.v + o[k];
    }
    return a;
}

static void rotate_and_translate_to_world(const struct tact_pose *pose, const double *r,
                                          real out[3])
{
    real w = pose->quat_wxyz[0], x = pose->quat_wxyz[1], y = pose->quat_wxyz[2],
         z = pose->quat_wxyz[3];
    real tx = 2 * (y * r[2] - z * r[1]), ty = 2 * (z * r[0] - x * r[2]),
         tz = 2 * (x * r[1] - y * r[0]);
    out[0] = r[0] + w * tx + y * tz - z * ty + pose->position[0];
    out[1] = r[1] + w * ty + z * tx - x * tz + pose->position[1];
    out[2] = r[2] + w * tz + x * ty - y * tx + pose->position[2];
}

static void transform_triangle_to_world(const struct tact_mesh *m, const struct tact_pose *pose,
                                        size_t t, real p[3][3], real plane[4])
{
    for (size_t k = 0; k < 3; k++) {
        rotate_and_translate_to_world(pose, m->vertices + 3 * (size_t)m->triangles[3 * t + k],
                                      p[k]);
    }
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        plane[k] =
            (p[1][y] - p[0][y]) * (p[2][z] - p[0][z]) - (p[1][z] - p[0][z]) * (p[2][y] - p[0][y]);
    }
    real l = sqrtl(plane[0] * plane[0] + plane[1] * plane[1] + plane[2] * plane[2]);
    for (int k = 0; k < 3; k++) {
        plane[k] /= l;
    }
    plane[3] = plane[0] * p[0][0] + plane[1] * p[0][1] + plane[2] * p[0][2];
}

/* Moments of the overlap of two convex meshes, by clipping one with the faces of the other. */
static struct answer reference_overlap_by_clipping(const struct tact_mesh *a,
                                                   const struct tact_pose *pa,
                                                   const struct tact_mesh *b,
                                                   const struct tact_pose *pb)
{
    static struct polyhedron h;
    real plane[4], p[3][3], tolerance = 1e-17L;
    h.n = 0;
    for (size_t t = 0; t < a->triangle_count; t++) {
        struct face *f = &h.face[h.n++];
        transform_triangle_to_world(a, pa, t, f->p, plane);
        f->n = 3;
        f->of_a = 1;
    }
    for (size_t t = 0; t < b->triangle_count; t++) {
        transform_triangle_to_world(b, pb, t, p, plane);
        clip_by_plane(&h, plane, tolerance);
    }
    return integrate_polyhedron(&h);
}

#endif
