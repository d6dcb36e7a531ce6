/* A leaf of a mesh's tree in the frame of prisms, four triangles at a time; not installed. */
#ifndef TACT_CONTACT_MOMENTS_LEAF_INTERNAL_H
#define TACT_CONTACT_MOMENTS_LEAF_INTERNAL_H

#include <math.h>
#include <string.h>

#include "../mesh/mesh_internal.h"
#include "../vec.h"
#include "../simd_internal.h"
#include "moments_internal.h"

/* A mesh placed in the frame. Boxes are in the unit of the pair. */
struct tact_placed_mesh {
    const struct tact_mesh *mesh;
    double rot[9], shift[3]; /* transform of the mesh's vertices to the frame [m] */
    tact_f4 column[3];       /* transform of the mesh's boxes to the frame: columns of the matrix */
    tact_f4 middle;          /* middle of the mesh's bounds in the frame */
    double slack;            /* slack of the pair of meshes, from tact_prism_slack() [m] */
    float margin;            /* margin by which the boxes are enlarged, in the unit of the pair */
};

/* Four points of a mesh at the pose of the body. */
TACT_INLINE void tact_leaf_place_corner(const struct tact_placed_mesh *body, const tact_d4 *x,
                                        const tact_d4 *y, const tact_d4 *z, tact_d4 p[3])
{
    const double *r = body->rot;
    for (int c = 0; c < 3; c++) {
        p[c] = r[3 * c] * *x + r[3 * c + 1] * *y + r[3 * c + 2] * *z + body->shift[c];
    }
}

/* Corners of a leaf's triangles at the pose of the body. */
TACT_INLINE void tact_leaf_corners(const struct tact_placed_mesh *body,
                                   const struct tact_mesh_leaf *from, tact_d4 p[3][3])
{
    for (uint32_t k = 0; k < 3; k++) {
        /* the corners are read in place: a copy would be written in half vectors, and reading whole
         * vectors from it stalls */
        const tact_d4 *r = (const tact_d4 *)from->corner[k];
        tact_leaf_place_corner(body, &r[0], &r[1], &r[2], p[k]);
    }
}

#endif
