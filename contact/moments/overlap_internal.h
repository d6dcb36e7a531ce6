/**
 * The surface of the overlap of a solid A with a convex solid B, found by cutting A's faces by B's
 * planes one after the other; not installed.
 *
 * Each plane in its turn cuts every face: those of A, and the caps that earlier planes left. What a
 * cut opens in a face is closed by an edge in the plane, and the same edge turned round is one of
 * the plane's own cap. Edges that two faces share are cut between the same two ends in the same
 * order, so they stay the same to the bit: the surface is closed whatever rounding does. Planes are
 * moved outward by a few roundings, so that faces that coincide are not cut to slivers.
 *
 * Faces of A are polygons and leave as such, one by one; caps are edges in no order, which is
 * enough for integrals over them.
 */
#ifndef TACT_CONTACT_OVERLAP_INTERNAL_H
#define TACT_CONTACT_OVERLAP_INTERNAL_H

#include <errno.h>
#include <string.h>

#include "../mesh/mesh_internal.h"
#include "moments_internal.h"
#include "../shape/shape.h"
#include "../vec.h"
#include "../simd_internal.h"

/** Room for a polygon, and for the edges of all caps. */
enum { TACT_CUT_CORNERS = 192, TACT_CUT_EDGES = 512 };

/** B's planes in the frame of A, and the caps that they leave. */
struct tact_cutter {
    int planes, cutting;          /* all of B's; those that cut A, which come first */
    uint64_t shared;              /* a bit for each facet of A that lies in one of B */
    double plane[TACT_FACETS][4]; /* n.r <= d inside: n, d */
    double tolerance;             /* by which the planes are moved outward [m] */
    double size;                  /* of the coordinates [m] */
    int head[TACT_FACETS], tail[TACT_FACETS];
    int edges, full;
    int next[TACT_CUT_EDGES];
    tact_d4 from[TACT_CUT_EDGES], to[TACT_CUT_EDGES];
    tact_d4 room[2][TACT_CUT_CORNERS];
    double value[TACT_CUT_CORNERS];
    tact_d4 leaves[TACT_CUT_CORNERS], enters[TACT_CUT_CORNERS];
};

/** Areas of faces: as vectors, and as numbers [m^2]. */
struct tact_areas {
    double sum[3], all;
};

/** Adds a triangle's. area: out, its own along its normal, times share; returns its size. */
TACT_INLINE double tact_areas_add(struct tact_areas *areas, const tact_d4 *a, const tact_d4 *b,
                                  const tact_d4 *c, double share, double area[3])
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (*b)[k] - (*a)[k];
        v[k] = (*c)[k] - (*a)[k];
    }
    tact_v3_cross(area, u, v);
    tact_v3_scale(area, area, 0.5 * share);
    double size = tact_v3_norm(area);
    tact_v3_add(areas->sum, areas->sum, area);
    areas->all += size;
    return size;
}

/** How planar they are: 1 where all face the same way, 0 where they are closed. 1 of none. */
static inline double tact_areas_planar(const struct tact_areas *areas)
{
    return areas->all > 0.0 ? tact_v3_norm(areas->sum) / areas->all : 1.0;
}

/** How planar the caps are: what the convex solid's faces leave in the overlap. */
double tact_caps_planar(const struct tact_cutter *c);

/** Takes a face of the overlap: a polygon of A (share 1, or 1/2 where it lies in a face of B), or
 *  a triangle of a cap (share 0), which may be turned round. */
typedef void tact_cut_face(void *user, const tact_d4 *corner, int n, double share);

/** Puts the planes of b's facets (or of a half-space where NULL) in the frame of a. */
void tact_cutter_place(struct tact_cutter *c, double size_a, const struct tact_pose *pa,
                       const struct tact_mesh_facets *b, const struct tact_pose *pb);

/** Adds planes of the world, n.r <= d inside, to those that cut. -ENOSPC where there is no room. */
int tact_cutter_add(struct tact_cutter *c, const struct tact_pose *pa, const double (*plane)[4],
                    int count);

/**
 * Cuts a convex A by the cutter's planes and hands out the faces of the overlap.
 * @retval 1  done
 * @retval 0  they are apart
 * @retval -ENOSPC  too many edges
 */
int tact_cut_facets(struct tact_cutter *c, const struct tact_mesh_facets *a, tact_cut_face *face,
                    void *user);

/**
 * Cuts a mesh, convex or not, by the cutter's planes. What is wholly outside of the first two is
 * not looked at: the caps that it would have left are outside of them too, and nothing is cut
 * between.
 * @retval 1, 0, -ENOSPC  as tact_cut_facets(); also where too much of the mesh is near
 */
int tact_cut_mesh(struct tact_cutter *c, const struct tact_mesh *mesh, tact_cut_face *face,
                  void *user);

#define tact_cut_sums TACT_VARIANT(tact_cut_sums)

/** Cuts a mesh, as facets where it has them, and integrates over the overlap's surface, about the
 *  origin that it chooses. planar: as in tact_moments_measure(), or NULL. Returns as the others. */
int tact_cut_sums(struct tact_cutter *c, const struct tact_mesh *mesh, double origin[3],
                  struct tact_moment_sums *sums, double *planar);

#endif
