/**
 * The moment-source vtable: a pipeline that computes moments of overlap beside the loop.
 *
 * The loop hands over the poses of tick k and picks up, at tick k + 1 or later, what has been
 * computed. It never waits: a source that is late costs accuracy (an older frame, its age in the
 * log) or makes the loop compute on the host, never a deadline.
 */
#ifndef TACT_RT_SOURCE_H
#define TACT_RT_SOURCE_H

#include <stdint.h>
#include "../contact/api.h"
#include "../contact/moments/moments.h"
#include "../contact/version.h"
#include "message.h"

TACT_BEGIN_DECLS

/** A candidate pair: indices into the shapes the source was made for. */
struct tact_source_pair {
    uint32_t a;
    uint32_t b;
};

/** What a source is made for: shapes and candidate pairs, fixed for its life. The arrays and the
 *  meshes must outlive the source. */
struct tact_source_scene {
    const struct tact_shape *shapes;
    uint32_t shape_count;
    const struct tact_source_pair *pairs;
    uint32_t pair_count;
};

/** Result for one pair. */
struct tact_source_moments {
    int32_t status;  /**< as tact_moments_pair(): 1 overlap, 0 none, negative errno: not computed */
    int32_t cost_ns; /**< about what tact_moments_pair() would take for it here [ns]; 0: unknown */
    struct tact_moments moments;
};

/** Results of one frame: as many entries as the scene has pairs. */
struct tact_source_result {
    uint64_t tick; /**< tick whose poses were measured */
    const struct tact_source_moments *pairs;
};

/** Implementation of a source: what a session calls, with `self` of the source. */
struct tact_source_ops {
    struct tact_abi abi; /**< TACT_ABI(struct tact_source_ops) */
    /** Hands over the pose of every shape at `tick`; active[i] != 0 for the pairs worth measuring
     *  (the others give status 0); direction: 3 doubles a pair, the last normal or zero. Everything
     *  is copied; a frame not yet begun is replaced. Real-time safe, wait-free. */
    void (*submit)(void *self, uint64_t tick, const struct tact_pose *poses, const uint8_t *active,
                   const double *directions);
    /** The newest finished frame, valid until the next call; 0 where there is one, -EAGAIN where
     *  none was ever finished. Real-time safe, wait-free. */
    int (*latest)(void *self, struct tact_source_result *out);
    /** Waits until the frame of `tick` is finished or timeout_ns is over (0 or -ETIMEDOUT). Only
     * for a free-wheeling clock; never called in real time. */
    int (*wait)(void *self, uint64_t tick, int64_t timeout_ns);
    /** Stops the pipeline and frees it. Not real-time safe. */
    void (*close)(void *self);
};

/** An open source. */
struct tact_source {
    const struct tact_source_ops *ops;
    void *self;
    char name[64]; /**< "opencl: pthread-...", for reports */
};

TACT_END_DECLS

#endif
