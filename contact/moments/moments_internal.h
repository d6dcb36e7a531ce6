/* Shared by the files of the moments folder; not installed. */
#ifndef TACT_CONTACT_MOMENTS_INTERNAL_H
#define TACT_CONTACT_MOMENTS_INTERNAL_H

#include "moments.h"

/* Sums over an overlap, in some frame about that frame's origin. Zero initially. */
struct tact_moment_sums {
    double volume;      /* [m^3] */
    double first[3];    /* integral of r dV [m^4] */
    double second[6];   /* second moment about the frame's origin, integral of r r^T dV [m^5]: xx yy
                           zz xy xz yz */
    double gradient[3]; /* gradient of the volume: integral of n_A dS over A's surface inside B
                           [m^2] */
    double torque[3];   /* integral of r x n_A dS [m^3] */
    double volume_term_magnitude; /* sum of the magnitudes of the terms of the volume, the scale of
                         its rounding [m^3] */
};

/* Working memory of the search for triangle pairs: moments_pairs.c. */
struct tact_prism_work *tact_prism_work_create(void);

struct tact_moments_scratch {
    size_t capacity;
    uint64_t counts[TACT_MOMENTS_COUNTS];
    struct tact_prism_work *work; /* working memory for pairs of prisms, released by free() alone */
    struct tact_pair_list_cache *cache; /* cached lists of triangles; they do not change a result */
    struct tact_rim *rim;
    struct tact_prism_pair pairs[];
};

/* Capacity for the corners of an overlap, by face and cap: of boxes on boxes there are 13 to 39.
 */
enum { TACT_OVERLAP_CORNERS = 40 };

/* Corners of the faces of the overlap of two solids with facets, in the order in which the one was
 * cut by the other: its outline is their hull. */
struct tact_overlap_corners {
    int count; /* number of corners of the overlap; 0: not known, or more than the capacity */
    int was_solid_b_cut_by_a; /* 1: solid b was cut by a, 0: a was cut by b */
    /* corners of the overlap in the frame of the solid that was cut [m] */
    double at[TACT_OVERLAP_CORNERS][3];
};

/* As tact_moments_pair(), and measures how planar the overlap is, where it cuts a solid that is
 * not convex by one that is. planarity: may be NULL; norm of the vector sum of areas over the sum
 * of their norms, the larger value of the faces cut out of the one and of the caps that the other
 * leaves; 1 for two convex solids; NAN for other methods. corners: may be NULL. */
int tact_moments_measure(const struct tact_shape *a, const struct tact_pose *pa,
                         const struct tact_shape *b, const struct tact_pose *pb,
                         const double direction[3], struct tact_moments_scratch *scratch,
                         struct tact_moments *out, double *planarity,
                         struct tact_overlap_corners *corners);

struct tact_leaf_pairing;

/* Working memory of the method of the overlap's rim: moments_rim_sum.c. */
struct tact_rim *tact_rim_create(void);

/* Moments of two meshes from the surface of their overlap. Returns as tact_moments_pair(), with
 * -ENOSPC where too much is near in the projection along the frame's z, or -EAGAIN where too much
 * meets, or rounding leaves the surface open. */
int tact_moments_by_overlap_surface(const struct tact_mesh *a, const struct tact_pose *pa,
                                    const struct tact_mesh *b, const struct tact_pose *pb,
                                    const struct tact_prism_frame *frame,
                                    struct tact_moments_scratch *scratch, struct tact_moments *out);

/* Memory of the cached lists of triangle pairs: moments_prism.c. */
struct tact_pair_list_cache *tact_prism_cache_create(void);

/* Places two meshes in the frame, for tact_pairing_expand_to_leaves(). */
struct tact_leaf_pairing *tact_pairing_place_meshes(const struct tact_mesh *a,
                                                    const struct tact_pose *pa,
                                                    const struct tact_mesh *b,
                                                    const struct tact_pose *pb,
                                                    const struct tact_prism_frame *frame,
                                                    struct tact_moments_scratch *scratch);

/* Moments of two meshes whose overlap is small, without a list of pairs. Returns as
 * tact_moments_pair(), or -EAGAIN where it is large. */
int tact_prism_moments_without_list(const struct tact_mesh *a, const struct tact_pose *pa,
                                    const struct tact_mesh *b, const struct tact_pose *pb,
                                    const struct tact_prism_frame *frame,
                                    struct tact_moments_scratch *scratch, struct tact_moments *out);

/* Converts sums in a frame (rows of axes: its axes in the world; origin in the world) to moments.
 * Returns 1, or 0 with *out zero where the volume is no more than rounding. */
int tact_moment_sums_finish(const struct tact_moment_sums *sums, const double axes[9],
                            const double origin[3], struct tact_moments *out);

/* Transform from the frame of a pose to the prism frame: r_frame = rot r + shift. */
void tact_prism_transform_to_frame(const struct tact_prism_frame *frame,
                                   const struct tact_pose *pose, double rot[9], double shift[3]);

/* Moments of two meshes, at least one of which has facets; b may be NULL for the half-space of pb.
 * planar, corners: as in tact_moments_measure(). Returns 1, 0, or -ENOSPC where edges or triangles
 * exceed the capacity. */
int tact_moments_of_convex_and_mesh(const struct tact_mesh *a, const struct tact_pose *pa,
                                    const struct tact_mesh *b, const struct tact_pose *pb,
                                    struct tact_moments *out, double *planarity,
                                    struct tact_overlap_corners *corners);

/* Moments of two meshes, as tact_moments_of_convex_and_mesh(), of the part of their overlap within
 * planes in the world, n.r <= d. */
int tact_moments_of_overlap_in_planes(const struct tact_mesh *a, const struct tact_pose *pa,
                                      const struct tact_mesh *b, const struct tact_pose *pb,
                                      const double (*plane)[4], int plane_count,
                                      struct tact_moments *out, double *planarity,
                                      struct tact_overlap_corners *corners);

/* Slope to which steeper planes are reduced: a plane projected to a line has no heights. A
 * larger value means fewer directions of projection in which a common face is not recognised; but
 * B's triangles are raised in tests by as many slacks. */
#define TACT_MAX_FACE_SLOPE 1e8

/* tact_prism_slack() as a difference of height, over a plane of slopes x and y. */
#define TACT_HEIGHT_SLACK_OVER_PLANE(slack, x, y)                                                  \
    ((slack) * (1.0 + tact_min(fabs(x) + fabs(y), TACT_MAX_FACE_SLOPE)))

int tact_moments_sphere_sphere(double ra, const struct tact_pose *pa, double rb,
                               const struct tact_pose *pb, struct tact_moments *out);
int tact_moments_sphere_halfspace(double radius, const struct tact_pose *pa,
                                  const struct tact_pose *pb, struct tact_moments *out);
/* size: half axes of a. */
int tact_moments_ellipsoid_halfspace(const double size[3], const struct tact_pose *pa,
                                     const struct tact_pose *pb, struct tact_moments *out);
int tact_moments_sphere_mesh(double radius, const struct tact_pose *pa,
                             const struct tact_mesh *mesh, const struct tact_pose *pb,
                             struct tact_moments *out);
/* size: half axes of a. */
int tact_moments_ellipsoid_mesh(const double size[3], const struct tact_pose *pa,
                                const struct tact_mesh *mesh, const struct tact_pose *pb,
                                struct tact_moments *out);
/* Moments of a capsule a with a mesh b. size: radius of a and half the length of its axis. */ int
tact_moments_capsule_mesh(const double size[3], const struct tact_pose *pa,
                          const struct tact_mesh *mesh, const struct tact_pose *pb,
                          struct tact_moments *out);
/* Moments of two capsules: a exactly, b by its triangulation. */
int tact_moments_capsule_capsule(const struct tact_shape *a, const struct tact_pose *pa,
                                 const struct tact_shape *b, const struct tact_pose *pb,
                                 struct tact_moments *out);
int tact_moments_capsule_halfspace(const double size[3], const struct tact_pose *pa,
                                   const struct tact_pose *pb, struct tact_moments *out);
int tact_moments_mesh_halfspace(const struct tact_mesh *mesh, const struct tact_pose *pa,
                                const struct tact_pose *pb, struct tact_moments *out);

#endif
