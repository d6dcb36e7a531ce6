/**
 * Moments by OpenCL: a moment source (rt/source.h) whose worker thread owns the command queue.
 *
 * The loop writes the newest poses to a latest-value buffer and reads the newest results from
 * another; it makes no system call and takes no lock. The worker polls for frames: it estimates the
 * loop's period from the frames so far, sleeps until shortly before the next one is due and then
 * polls every poll_ns, with longer intervals while no frame arrives.
 */
#ifndef TACT_KERNELS_SOURCE_H
#define TACT_KERNELS_SOURCE_H

#include <stdint.h>
#include "../contact/api.h"
#include "../contact/error.h"
#include "../rt/message.h"
#include "../rt/source.h"
#include "opencl.h"

TACT_BEGIN_DECLS

/** Injected faults, for tests; all 0 otherwise. */
struct tact_opencl_fault {
    uint64_t exit_after; /**< the worker ends after this many frames */
    uint64_t hang_after; /**< the worker blocks after this many frames and ignores a stop request */
    /** interval of delayed frames: every this many frames the worker sleeps for `delay_ns` */
    uint64_t delay_every;
    int64_t delay_ns;  /**< time that the worker sleeps before it computes such a frame [ns] */
    int wrong_kernels; /**< volumes are wrong by 0.1 %: the self-test must detect it */
};

/** How moments are computed by OpenCL. */
struct tact_opencl_options {
    const char *device; /**< substring of the device's or platform's name; NULL: a GPU, else any */
    enum tact_opencl_precision precision; /**< number format of the kernels */
    uint32_t capacity; /**< triangle pairs in one frame, over all pairs; else status -ENOSPC */
    int fifo_priority; /**< fifo priority of the worker: 0 SCHED_OTHER, else SCHED_FIFO, below the
                          loop's */
    int cpu;           /**< processor of the worker, -1: any */
    int64_t period_ns; /**< initial estimate of the time between frames [ns] */
    int64_t poll_ns;   /**< interval of polling for a frame that is due [ns] */
    int64_t close_ns;  /**< how long close() waits for the worker before it detaches it [ns] */
    struct tact_messages messages;  /**< callback for messages */
    struct tact_opencl_fault fault; /**< errors that tests provoke; all 0: none */
};

/** Any device, automatic precision, 65536 triangle pairs, SCHED_OTHER, 1 ms, 30 us, 2 s. Real-time
 * safe. */
TACT_API struct tact_opencl_options tact_opencl_options_default(void);

/**
 * Opens a device, builds and warms up the kernels, checks each against the host's moments (to 1e-9
 * in double, 1e-4 in single precision), and starts the worker. Call it as SCHED_OTHER, before real
 * time starts: a driver's threads inherit the caller's priority. Takes 0.2 s, or seconds where
 * PoCL's cache is cold. scene's arrays must outlive the source. options may be NULL.
 *
 * out->name is "opencl: DEVICE". A pair's status is -EIO if the driver failed. A worker that ended
 * or is blocked publishes no new frames; the age of the last one grows. Pairs with a sphere are
 * computed on the host, in the worker. wait() returns -ETIMEDOUT at once if the worker has ended.
 * close() waits at most close_ns; a worker that has not stopped by then is detached, its memory is
 * not freed, and a message reports it. With fifo_priority, an unlimited RLIMIT_RTTIME is set to
 * 1 s.
 * @retval 0
 * @retval -ENODEV   no OpenCL device, or none of that name
 * @retval -ENOTSUP  double precision requested of a device without it
 * @retval -EIO      the driver failed, or the kernels do not build
 * @retval -EDOM     the self-test found wrong results
 * @retval -EINVAL   a shape without its triangulation, or an option out of range
 * @retval -ENOMEM, -EAGAIN  no memory, no thread Not real-time safe. */
TACT_API int tact_opencl_source_create(const struct tact_source_scene *scene,
                                       const struct tact_opencl_options *options,
                                       struct tact_source *out, struct tact_error *err);

/** The tact_source_factory of this source, for a session: device of the scene, period of the loop.
 * user: a struct tact_opencl_options for the rest, or NULL for the default with fifo_priority 1,
 * above SCHED_OTHER and below any loop. Returns as tact_opencl_source_create(). Not real-time
 * safe. */
TACT_API int tact_opencl_source_factory(void *user, const struct tact_source_scene *scene,
                                        const char *device, int64_t period_ns,
                                        struct tact_messages messages, struct tact_source *out,
                                        struct tact_error *err);

/** Counters of a source made by tact_opencl_source_create(), from any thread. Real-time safe. */
struct tact_opencl_statistics {
    uint64_t frames; /**< finished */
    /** frames that were replaced by a newer one before the worker read them */
    uint64_t replaced;
    uint64_t failed;  /**< frames for which the driver failed */
    int64_t frame_ns; /**< last frame: time from being read to being published [ns] */
    int64_t found_ns; /**< last frame: time from submit() to being read by the worker [ns] */
    int64_t cpu_ns;   /**< CPU time of the worker up to its last frame [ns] */
    int running;      /**< 0 if the worker has ended */
};
/** Copies the counters of a source of this kind, from any thread. Real-time safe. */
TACT_API void tact_opencl_statistics(const struct tact_source *source,
                                     struct tact_opencl_statistics *out);

TACT_END_DECLS

#endif
