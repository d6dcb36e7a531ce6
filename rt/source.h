/**
 * The vtable of moment sources: pipelines that compute moments of overlap outside the loop's
 * thread.
 *
 * The loop submits the poses of tick k and reads, at tick k + 1 or later, the newest results. It
 * never waits: a late source costs accuracy (an older frame, whose age is logged) or makes the loop
 * compute on the host, never a deadline.
 */
#ifndef TACT_RT_SOURCE_H
#define TACT_RT_SOURCE_H

#include <stdint.h>
#include "../contact/api.h"
#include "../contact/moments/moments.h"
#include "../contact/version.h"
#include "message.h"

TACT_BEGIN_DECLS

/** A pair of shapes that a moment source may have to measure: indices into the source's shapes. */
struct tact_source_pair {
    uint32_t a; /**< index of the first shape */
    uint32_t b; /**< index of the second shape */
};

/** Shapes and candidate pairs of a source, fixed for its life. The arrays and the meshes must
 * outlive the source. */
struct tact_source_scene {
    const struct tact_shape *shapes;      /**< [shape_count] shapes */
    uint32_t shape_count;                 /**< number of shapes */
    const struct tact_source_pair *pairs; /**< [pair_count] pairs */
    uint32_t pair_count;                  /**< number of pairs */
};

/** Result for one pair. */
struct tact_source_moments {
    int32_t status;  /**< as tact_moments_pair(): 1 overlap, 0 none, negative errno: not computed */
    int32_t cost_ns; /**< estimated time that the host needs for tact_moments_pair() of this pair
                        [ns]; 0: unknown */
    struct tact_moments moments; /**< moments of the overlap */
};

/** Results of one frame: one entry per pair of the scene. */
struct tact_source_result {
    uint64_t tick; /**< tick whose poses were measured */
    /** [pair_count] results, in the order of the scene's pairs */
    const struct tact_source_moments *pairs;
};

/** Implementation of a source: what a session calls, with `self` of the source. */
struct tact_source_ops {
    struct tact_abi abi; /**< TACT_ABI(struct tact_source_ops) */
    /** Submits the pose of every shape at `tick`; active[i] != 0 for the pairs to be measured (the
     * others get status 0); direction: 3 doubles per pair, the last normal or zero. Everything is
     * copied; a frame not yet begun is replaced. Real-time safe, wait-free. */
    void (*submit)(void *self, uint64_t tick, const struct tact_pose *poses, const uint8_t *active,
                   const double *directions);
    /** The newest finished frame, valid until the next call. Returns 0, or -EAGAIN before the first
     * frame is finished. Real-time safe, wait-free. */
    int (*latest)(void *self, struct tact_source_result *out);
    /** Waits until the frame of `tick` is finished or timeout_ns has passed (0 or -ETIMEDOUT). Only
     * for a free-wheeling clock; never called in real time. */
    int (*wait)(void *self, uint64_t tick, int64_t timeout_ns);
    /** Stops the pipeline and frees it. Not real-time safe. */
    void (*close)(void *self);
};

/** An open source. */
struct tact_source {
    const struct tact_source_ops *ops; /**< its functions */
    void *self;                        /**< handed to them */
    char name[64]; /**< name of the source for reports, such as "opencl: pthread-..." */
};

TACT_END_DECLS

#endif
