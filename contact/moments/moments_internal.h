/** What the files of the moments module share; not installed. */
#ifndef TACT_CONTACT_MOMENTS_INTERNAL_H
#define TACT_CONTACT_MOMENTS_INTERNAL_H

#include "moments.h"

/** Sums over an overlap, in some frame about that frame's origin. Zero to start with. */
struct tact_moment_sums {
    double volume;      /* [m^3] */
    double first[3];    /* integral of r dV [m^4] */
    double second[6];   /* integral of r r^T dV [m^5]: xx yy zz xy xz yz */
    double gradient[3]; /* integral of n_A dS over A's surface inside B [m^2] */
    double torque[3];   /* integral of r x n_A dS [m^3] */
    double magnitude; /* sum of the sizes of the terms of volume, the scale of its rounding [m^3] */
};

/** Working memory of the broad phase: moments_pairs.c. */
struct tact_prism_work *tact_prism_work_create(void);

struct tact_moments_scratch {
    size_t capacity;
    uint64_t counts[TACT_MOMENTS_COUNTS];
    struct tact_prism_work *work; /* freed by free(), as is the next */
    struct tact_cache *cache;     /* lists of triangles; a query's bits are the same without */
    struct tact_rim *rim;
    struct tact_prism_pair pairs[];
};

/** tact_moments_pair() that also finds how planar the overlap is where it cuts a solid that is not
 *  convex by one that is. planar: may be NULL; the sum of areas as vectors over that as numbers, of
 *  the faces that it cuts out of the one or of the caps that the other leaves, the greater of both;
 *  1 of two convex solids; NAN where it was found otherwise. */
int tact_moments_measure(const struct tact_shape *a, const struct tact_pose *pa,
                         const struct tact_shape *b, const struct tact_pose *pb,
                         const double direction[3], struct tact_moments_scratch *scratch,
                         struct tact_moments *out, double *planar);

struct tact_near;

/** Working memory of the rim: moments_rim_sum.c. */
struct tact_rim *tact_rim_create(void);

/** Moments of two meshes from the surface of their overlap. Returns as tact_moments_pair(), with
 *  -ENOSPC where too much is near as seen along the frame's z, or -EAGAIN where too much meets, or
 *  rounding leaves the surface open. */
int tact_moments_rim(const struct tact_mesh *a, const struct tact_pose *pa,
                     const struct tact_mesh *b, const struct tact_pose *pb,
                     const struct tact_prism_frame *frame, struct tact_moments_scratch *scratch,
                     struct tact_moments *out);

/** Working memory of kept lists: moments_prism.c. */
struct tact_cache *tact_prism_cache_create(void);

/** Puts two meshes in the frame, ready for tact_near_cut_trees(). */
struct tact_near *tact_near_place(const struct tact_mesh *a, const struct tact_pose *pa,
                                  const struct tact_mesh *b, const struct tact_pose *pb,
                                  const struct tact_prism_frame *frame,
                                  struct tact_moments_scratch *scratch);

/** Moments of two meshes whose overlap is small, without a list of pairs.
 *  Returns as tact_moments_pair(), or -EAGAIN where it is large. */
int tact_prism_near(const struct tact_mesh *a, const struct tact_pose *pa,
                    const struct tact_mesh *b, const struct tact_pose *pb,
                    const struct tact_prism_frame *frame, struct tact_moments_scratch *scratch,
                    struct tact_moments *out);

/** Brings sums in a frame (rows of axes: its axes in the world; origin in the world) to moments.
 *  Returns 1, or 0 with *out zeroed where the volume is no more than rounding. */
int tact_sums_finish(const struct tact_moment_sums *sums, const double axes[9],
                     const double origin[3], struct tact_moments *out);

/** Rotation and shift from the frame of pose to the prism frame: r_frame = rot r + shift. */
void tact_prism_place(const struct tact_prism_frame *frame, const struct tact_pose *pose,
                      double rot[9], double shift[3]);

/** Moments of two meshes of which one or both have facets; b may be NULL for the half-space of pb.
 *  planar: as in tact_moments_measure(). Returns 1, 0, or -ENOSPC where there are more edges or
 * triangles than there is room for. */
int tact_moments_convex(const struct tact_mesh *a, const struct tact_pose *pa,
                        const struct tact_mesh *b, const struct tact_pose *pb,
                        struct tact_moments *out, double *planar);

/** The same of the part of the overlap within planes of the world, n.r <= d. */
int tact_moments_within(const struct tact_mesh *a, const struct tact_pose *pa,
                        const struct tact_mesh *b, const struct tact_pose *pb,
                        const double (*plane)[4], int planes, struct tact_moments *out,
                        double *planar);

/** Slope past which a plane is taken for no steeper: seen edge-on, it has no heights. The greater,
 *  the fewer directions of projection take a common face for one that is not; but B's triangles are
 *  raised by as many slacks as they are tested. */
#define TACT_STEEPEST 1e8

/** tact_prism_slack() as a difference of height, over a plane of slopes x and y. */
#define TACT_HEIGHT_SLACK(slack, x, y)                                                             \
    ((slack) * (1.0 + tact_min(fabs(x) + fabs(y), TACT_STEEPEST)))

int tact_moments_sphere_sphere(double ra, const struct tact_pose *pa, double rb,
                               const struct tact_pose *pb, struct tact_moments *out);
int tact_moments_sphere_halfspace(double radius, const struct tact_pose *pa,
                                  const struct tact_pose *pb, struct tact_moments *out);
int tact_moments_sphere_mesh(double radius, const struct tact_pose *pa,
                             const struct tact_mesh *mesh, const struct tact_pose *pb,
                             struct tact_moments *out);
/** size: radius and half the length of the axis. */
int tact_moments_capsule_mesh(const double size[3], const struct tact_pose *pa,
                              const struct tact_mesh *mesh, const struct tact_pose *pb,
                              struct tact_moments *out);
/** a exactly, b by its triangulation. */
int tact_moments_capsule_capsule(const struct tact_shape *a, const struct tact_pose *pa,
                                 const struct tact_shape *b, const struct tact_pose *pb,
                                 struct tact_moments *out);
int tact_moments_capsule_halfspace(const double size[3], const struct tact_pose *pa,
                                   const struct tact_pose *pb, struct tact_moments *out);
int tact_moments_mesh_halfspace(const struct tact_mesh *mesh, const struct tact_pose *pa,
                                const struct tact_pose *pb, struct tact_moments *out);

#endif
