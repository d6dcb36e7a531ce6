/*
 * The surface of the overlap of a solid A with a convex solid B, found by cutting A's faces by B's
 * planes one after the other; not installed.
 *
 * Each plane cuts every face: those of A, and the caps that earlier planes left. An opening that a
 * cut creates in a face is closed by an edge in the plane, and the reversed edge belongs to the cap
 * of the plane. Edges that two faces share are cut between the same two ends in the same order, so
 * that they stay bit for bit the same: the surface is closed regardless of rounding. Planes are
 * displaced outward by a few roundings, so that coincident faces are not cut to slivers.
 *
 * Faces of A are polygons and are passed on one by one; caps are unordered sets of edges, which is
 * sufficient for integrals over them.
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

/* Capacity of a polygon, and for the edges of all caps. */
enum { TACT_CUT_CORNERS = 192, TACT_CUT_EDGES = 512 };

/* B's planes in the frame of A, and their caps. */
struct tact_cutter {
    /* number of B's planes, and of those among them that cut A, which come first */
    int planes, cutting_plane_count;
    uint64_t facets_coplanar_with_b; /* bit set of the facets of A that lie in a plane of B */
    double plane[TACT_FACETS][4];    /* n.r <= d inside: n, d */
    double tolerance;                /* outward displacement of B's planes [m] */
    double size;                     /* magnitude of A's and B's coordinates [m] */
    int first_edge_of_cap[TACT_FACETS], last_edge_of_cap[TACT_FACETS];
    int edges, is_capacity_exceeded;
    int next[TACT_CUT_EDGES];
    tact_d4 from[TACT_CUT_EDGES], to[TACT_CUT_EDGES];
    tact_d4 buffers[2][TACT_CUT_CORNERS];
    double value[TACT_CUT_CORNERS];
    tact_d4 leaves[TACT_CUT_CORNERS], enters[TACT_CUT_CORNERS];
};

/* Areas of a set of faces: vector sum, and sum of magnitudes [m^2]. */
struct tact_face_areas {
    double sum[3], all;
};

/* Adds a triangle to the areas of faces. area: output, the triangle's area vector times share;
 * returns its magnitude. */
TACT_INLINE double tact_face_areas_add(struct tact_face_areas *face_area_sums, const tact_d4 *a,
                                       const tact_d4 *b, const tact_d4 *c, double share,
                                       double area[3])
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (*b)[k] - (*a)[k];
        v[k] = (*c)[k] - (*a)[k];
    }
    tact_v3_cross(area, u, v);
    tact_v3_scale(area, area, 0.5 * share);
    double size = tact_v3_norm(area);
    tact_v3_add(face_area_sums->sum, face_area_sums->sum, area);
    face_area_sums->all += size;
    return size;
}

/* Planarity of a set of faces: 1 where all face the same way, 0 where they form a closed surface;
 * 1 for no face. */
static inline double tact_areas_planarity(const struct tact_face_areas *face_area_sums)
{
    return face_area_sums->all > 0.0 ? tact_v3_norm(face_area_sums->sum) / face_area_sums->all
                                     : 1.0;
}

/* Planarity of the caps: of the convex solid's faces in the overlap. */
double tact_caps_planarity(const struct tact_cutter *c);

/* Receives a face of the overlap: a polygon of A (share 1, or 1/2 where it lies in a face of B),
 * or a triangle of a cap (share 0), which may be reversed. */
typedef void tact_cut_face_fn(void *user, const tact_d4 *corner, int n, double share);

/* Sets the planes of b's facets (or of a half-space where NULL) in the frame of a. */
void tact_cutter_init_frame(struct tact_cutter *c, double mesh_size_a, const struct tact_pose *pa,
                            const struct tact_mesh_facets *b, const struct tact_pose *pb);

/* Adds cutting planes given in the world, n.r <= d inside. -ENOSPC where the capacity is exceeded.
 */
int tact_cutter_add_world_planes(struct tact_cutter *c, const struct tact_pose *pa,
                                 const double (*plane)[4], int count);

/*
 * Cuts a convex A by the cutter's planes and passes on the faces of the overlap.
 * @retval 1  done
 * @retval 0  they do not overlap
 * @retval -ENOSPC  too many edges
 */
int tact_cut_convex_facets(struct tact_cutter *c, const struct tact_mesh_facets *a,
                           tact_cut_face_fn *face, void *user);

/*
 * Cuts a mesh, convex or not, by the cutter's planes. What is wholly outside of the first two is
 * skipped: its caps would be outside of them too, and would not be cut.
 * @retval 1, 0, -ENOSPC  as tact_cut_convex_facets(); also where too much of the mesh is near
 */
int tact_cut_mesh_by_cutter_planes(struct tact_cutter *c, const struct tact_mesh *mesh,
                                   tact_cut_face_fn *face, void *user);

#define tact_cutter_sum_moments TACT_CPU_VARIANT(tact_cutter_sum_moments)

/* Cuts a mesh, as facets where it has them, and integrates over the surface of the overlap, about
 * an origin that it chooses. planar, corners: as in tact_moments_measure(), or NULL. Returns as the
 * others. */
int tact_cutter_sum_moments(struct tact_cutter *c, const struct tact_mesh *mesh, double origin[3],
                            struct tact_moment_sums *sums, double *planarity,
                            struct tact_overlap_corners *corners);

#endif
