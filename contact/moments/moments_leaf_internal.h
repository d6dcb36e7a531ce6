/** A leaf of a mesh's tree seen in the frame of prisms, and the tests that rule pairs of triangles
 *  out, four triangles at a time; not installed. */
#ifndef TACT_CONTACT_MOMENTS_LEAF_INTERNAL_H
#define TACT_CONTACT_MOMENTS_LEAF_INTERNAL_H

#include <math.h>
#include <string.h>

#include "../mesh/mesh_internal.h"
#include "../vec.h"
#include "../simd_internal.h"
#include "moments_internal.h"

/** A mesh seen in the frame. Boxes are seen in the unit of the pair. */
struct tact_placed {
    const struct tact_mesh *mesh;
    double rot[9], shift[3]; /* vertices to the frame [m] */
    tact_f4 column[3];       /* boxes to the frame: columns of the matrix, */
    tact_f4 middle;          /* and the middle of the mesh */
    double slack;            /* tact_prism_slack() of the pair [m] */
    float margin;            /* by which boxes are taken larger, in the unit of the pair */
};

/** Triangles of a leaf, a lane each. Lanes without a triangle that can count have empty bounds. */
struct tact_leaf {
    tact_d4 p[3][3];    /* [corner][coordinate]; of B a little high */
    tact_d4 edge[3][3]; /* edge[k] . (x, y, 1) > 0 on the inner side of edge k */
    tact_d4 plane[3];   /* z = plane . (x, y, 1) */
    tact_d4 lower[3], upper[3];
};

/** f . (x, y, 1) */
#define TACT_AT(f, x, y) ((f)[0] * (x) + (f)[1] * (y) + (f)[2])

/** Raises triangles of B by what keeps those of A that lie in them below them. */
TACT_INLINE void tact_leaf_raise(double slack, struct tact_leaf *leaf)
{
    const tact_d4 steepest = {TACT_STEEPEST, TACT_STEEPEST, TACT_STEEPEST, TACT_STEEPEST};
    tact_d4 slope = TACT_D4_ABS(leaf->plane[0]) + TACT_D4_ABS(leaf->plane[1]);
    tact_d4 by = slack * (1.0 + TACT_D4_MIN(slope, steepest));
    leaf->plane[2] += by;
    leaf->lower[2] += by;
    leaf->upper[2] += by;
    for (int k = 0; k < 3; k++) {
        leaf->p[k][2] += by;
    }
}

/** Four points of a mesh where the body is. */
TACT_INLINE void tact_leaf_place_corner(const struct tact_placed *body, const tact_d4 *x,
                                        const tact_d4 *y, const tact_d4 *z, tact_d4 p[3])
{
    const double *r = body->rot;
    for (int c = 0; c < 3; c++) {
        p[c] = r[3 * c] * *x + r[3 * c + 1] * *y + r[3 * c + 2] * *z + body->shift[c];
    }
}

/** Corners of a leaf's triangles where the body is. */
TACT_INLINE void tact_leaf_corners(const struct tact_placed *body,
                                   const struct tact_mesh_leaf *from, tact_d4 p[3][3])
{
    for (uint32_t k = 0; k < 3; k++) {
        /* Read in place: a copy is made by halves of vectors, and to read them whole stalls. */
        const tact_d4 *r = (const tact_d4 *)from->corner[k];
        tact_leaf_place_corner(body, &r[0], &r[1], &r[2], p[k]);
    }
}

/** Makes a leaf ready for tests. Triangles seen edge-on have no edges and no plane: of A they still
 *  have a gradient; of B they stand above nothing. */
TACT_INLINE void tact_leaf_place(const struct tact_placed *body, uint32_t index, int of_a,
                                 struct tact_leaf *leaf)
{
    const struct tact_mesh_leaf *from = &body->mesh->wide->leaves[index];
    uint32_t count = from->count;
    tact_leaf_corners(body, from, leaf->p);
    tact_d4 u[3], w[3], n[3];
    for (int c = 0; c < 3; c++) {
        const tact_d4 *a = &leaf->p[0][c], *b = &leaf->p[1][c], *d = &leaf->p[2][c];
        u[c] = *b - *a;
        w[c] = *d - *a;
        tact_d4 lower = TACT_D4_MIN(*b, *d), upper = TACT_D4_MAX(*b, *d);
        leaf->lower[c] = TACT_D4_MIN(*a, lower);
        leaf->upper[c] = TACT_D4_MAX(*a, upper);
    }
    n[0] = u[1] * w[2] - u[2] * w[1];
    n[1] = u[2] * w[0] - u[0] * w[2];
    n[2] = u[0] * w[1] - u[1] * w[0];
    const tact_d4 zero = {0}, one = zero + 1.0, never = zero - INFINITY;
    tact_l4 edge_on = n[2] == 0.0;
    tact_d4 turn = TACT_D4_SELECT(n[2] > 0.0, one, -one);
    tact_d4 nz = TACT_D4_SELECT(edge_on, one, n[2]);
    for (int k = 0; k < 3; k++) {
        tact_d4 *a = leaf->p[k], *b = leaf->p[(k + 1) % 3], *edge = leaf->edge[k];
        edge[0] = -turn * (b[1] - a[1]);
        edge[1] = turn * (b[0] - a[0]);
        edge[2] = -(edge[0] * a[0] + edge[1] * a[1]);
        edge[0] = TACT_D4_SELECT(edge_on, zero, edge[0]);
        edge[1] = TACT_D4_SELECT(edge_on, zero, edge[1]);
        edge[2] = TACT_D4_SELECT(edge_on, one, edge[2]);
    }
    leaf->plane[0] = TACT_D4_SELECT(edge_on, zero, -n[0] / nz);
    leaf->plane[1] = TACT_D4_SELECT(edge_on, zero, -n[1] / nz);
    tact_d4 z0 = leaf->p[0][2] - leaf->plane[0] * leaf->p[0][0] - leaf->plane[1] * leaf->p[0][1];
    leaf->plane[2] = TACT_D4_SELECT(edge_on, never, z0);
    if (!of_a) {
        tact_leaf_raise(body->slack, leaf);
    }
    tact_l4 lane = {0, 1, 2, 3}, empty = lane >= (int64_t)count;
    empty = of_a ? empty : empty | edge_on;
    for (int c = 0; c < 3; c++) {
        leaf->lower[c] = TACT_D4_SELECT(empty, -never, leaf->lower[c]);
        leaf->upper[c] = TACT_D4_SELECT(empty, never, leaf->upper[c]);
    }
}

/** Whether a triangle of the leaf (of A, or else of B) may count against something in a box of the
 *  given centre and half extents [m]. */
TACT_INLINE int tact_leaf_may_count(const struct tact_leaf *leaf, int of_a, const double centre[3],
                                    const double half[3])
{
    tact_l4 keep = leaf->lower[0] < centre[0] + half[0];
    keep &= leaf->upper[0] > centre[0] - half[0];
    keep &= leaf->lower[1] < centre[1] + half[1];
    keep &= leaf->upper[1] > centre[1] - half[1];
    const tact_d4 *f = leaf->plane;
    tact_d4 z = TACT_AT(f, centre[0], centre[1]);
    tact_d4 swing = TACT_D4_ABS(f[0]) * half[0] + TACT_D4_ABS(f[1]) * half[1];
    if (of_a) {
        keep &= leaf->lower[2] < centre[2] + half[2];
        keep &= z - swing < centre[2] + half[2];
    } else {
        keep &= leaf->upper[2] > centre[2] - half[2];
        keep &= z + swing > centre[2] - half[2];
    }
    for (int k = 0; k < 3; k++) {
        f = leaf->edge[k];
        swing = TACT_D4_ABS(f[0]) * half[0] + TACT_D4_ABS(f[1]) * half[1];
        keep &= TACT_AT(f, centre[0], centre[1]) + swing > 0.0;
    }
    return (keep[0] | keep[1] | keep[2] | keep[3]) != 0;
}

/** Bits of the lanes of t (of B) that may count against triangle i of s (of A): their bounds meet,
 *  neither's plane puts t nowhere above s, no edge of either parts their projections. */
TACT_INLINE uint32_t tact_leaf_pairs(const struct tact_leaf *s, int i, const struct tact_leaf *t)
{
    uint32_t bits;
    tact_l4 keep = (t->upper[2] > s->lower[2][i]) & (t->upper[0] > s->lower[0][i]) &
                   (t->lower[0] < s->upper[0][i]) & (t->upper[1] > s->lower[1][i]) &
                   (t->lower[1] < s->upper[1][i]);
    tact_l4_bits(&keep, &bits);
    if (!bits) {
        return 0;
    }
    double p[3][3], plane[3] = {s->plane[0][i], s->plane[1][i], s->plane[2][i]};
    tact_l4 above_t = {0}, below_s = {0};
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            p[k][c] = s->p[k][c][i];
        }
        above_t |= TACT_AT(t->plane, p[k][0], p[k][1]) > p[k][2];
        below_s |= TACT_AT(plane, t->p[k][0], t->p[k][1]) < t->p[k][2];
    }
    keep &= above_t & below_s;
    for (int k = 0; k < 3; k++) {
        double e[3] = {s->edge[k][0][i], s->edge[k][1][i], s->edge[k][2][i]};
        tact_l4 within_s = {0}, within_t = {0};
        for (int j = 0; j < 3; j++) {
            within_s |= TACT_AT(e, t->p[j][0], t->p[j][1]) > 0.0;
            within_t |= TACT_AT(t->edge[k], p[j][0], p[j][1]) > 0.0;
        }
        keep &= within_s & within_t;
    }
    tact_l4_bits(&keep, &bits);
    return bits;
}

#endif
