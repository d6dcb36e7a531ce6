/**
 * One frame of moments: the host finds what may overlap, the device integrates. Not installed.
 *
 * All pairs of a scene go in one batch: three uploads, at most two item kernels, two summations,
 * one read-back of TACT_SUMS values a pair. Everything is allocated at creation.
 */
#ifndef TACT_KERNELS_BATCH_INTERNAL_H
#define TACT_KERNELS_BATCH_INTERNAL_H

#include <stdint.h>

#include "contact/error.h"
#include "contact/moments/moments.h"
#include "rt/source.h"

#define TACT_SUMS                                                                                  \
    17 /* values that an item, a chunk and a pair sum up to: see sums_t in moments.cl */
#define TACT_PAIR_VALUES                                                                           \
    25                /* values that describe a pair to the device: see struct tact_batch_pair */
#define TACT_CHUNK 64 /* items summed by one work-item */

struct tact_cl;

/* What one work-item integrates; laid out as an OpenCL uint4. */
struct tact_item {
    uint32_t a, b;    /* triangles, counted over all meshes; b only for prism pairs */
    uint32_t contact; /* which pair of the scene */
    uint32_t zero;
};

struct tact_range {
    uint32_t first, count;
};

/* A pair in the frame at hand. */
struct tact_batch_pair {
    enum tact_moments_method method;
    int swapped;    /* the method's first shape is the scene's b */
    int on_host;    /* a ball is one of the two: computed by tact_moments_pair() */
    int32_t status; /* as tact_moments_pair() */
    const struct tact_shape *first, *second;
    uint32_t first_mesh, second_mesh; /* indices into tact_batch.meshes */
    const struct tact_pose *first_pose, *second_pose;
    double axes[9];                  /* rows: the axes of the frame that is summed in, world */
    double origin[3];                /* of that frame [m], world */
    double values[TACT_PAIR_VALUES]; /* 0-8: first shape's frame to this one; 9-11: this origin in
                                    the first shape's frame; 12-23: the same of the second shape;
                                    24: distance within which a face lies in another */
    struct tact_range items;
    double cost_ns; /* about what the host would take for this pair now */
};

struct tact_batch_mesh {
    const struct tact_mesh *mesh;
    uint32_t first_vertex, first_triangle;
};

/* Where items are collected. */
struct tact_items {
    struct tact_item *items;
    uint32_t count, capacity;
    struct tact_moments_scratch *scratch;
};

struct tact_batch;

/* Makes the buffers for a scene and `capacity` items, and warms up every kernel.
 * 0, -ENOMEM, -EIO, -EINVAL (a shape that needs a triangulation has none). */
int tact_batch_create(struct tact_cl *cl, const struct tact_source_scene *scene, uint32_t capacity,
                      struct tact_batch **out, struct tact_error *err);
void tact_batch_destroy(struct tact_batch *batch);

/* Moments of every active pair; out has one entry a pair. 0, or -EIO where the driver failed, with
 * that status in every entry. directions: 3 values a pair, zero where unknown. */
int tact_batch_run(struct tact_batch *batch, const struct tact_pose *poses, const uint8_t *active,
                   const double *directions, struct tact_source_moments *out);

/* Choose the frame of a pair and append its items; set status to 1 where there may be an overlap,
 * 0 where there is none, -ENOSPC where there is no room. In collect.c. */
void tact_collect_prisms(struct tact_batch_pair *c, const struct tact_batch_mesh *meshes,
                         const double direction[3], uint32_t contact, struct tact_items *to);
void tact_collect_plane(struct tact_batch_pair *c, const struct tact_batch_mesh *meshes,
                        uint32_t contact, struct tact_items *to);

/* Sums in the contact's frame (overwritten) to moments in the world. Returns 1, or 0 where the
 * volume is no more than the rounding of its terms. In finish.c. */
int tact_batch_pair_finish(const struct tact_batch_pair *c, double *sums, struct tact_moments *out);

#endif
