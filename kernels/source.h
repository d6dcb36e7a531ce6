/**
 * Moments by OpenCL, beside the loop: a source (rt/source.h) whose worker thread owns the queue.
 *
 * The loop leaves the newest poses in a latest-value buffer and finds the newest results in
 * another; it makes no system call and takes no lock. The worker looks for frames by itself: it
 * knows the loop's period from the frames so far, sleeps until shortly before the next one is due
 * and then looks every few tens of microseconds, less and less often while nothing comes.
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

/** Faults on purpose, for tests; all 0 in use. */
struct tact_opencl_fault {
    uint64_t exit_after;  /**< the worker ends after this many frames */
    uint64_t hang_after;  /**< the worker takes no frame any more, and does not stop when told to */
    uint64_t delay_every; /**< every so many frames ... */
    int64_t delay_ns;     /**< ... the worker sleeps this long before it computes [ns] */
    int wrong_kernels;    /**< volumes are off by 0.1 %: the self-test must see it */
};

struct tact_opencl_options {
    const char *device; /**< part of the device's or platform's name; NULL: a GPU, else any */
    enum tact_opencl_precision precision;
    uint32_t capacity; /**< triangle pairs in one frame, over all pairs; more give -ENOSPC */
    int fifo_priority; /**< of the worker: 0 SCHED_OTHER, else SCHED_FIFO (keep it below the loop's)
                        */
    int cpu;           /**< the worker's, -1 any */
    int64_t period_ns; /**< expected time between frames, until two have been seen [ns] */
    int64_t poll_ns;   /**< between two looks for a frame that is due [ns] */
    int64_t close_ns;  /**< how long close() waits for the worker before it lets go of it [ns] */
    struct tact_messages messages;
    struct tact_opencl_fault fault;
};

/** Any device, automatic precision, 65536 triangle pairs, SCHED_OTHER, 1 ms, 30 us, 2 s. */
TACT_API struct tact_opencl_options tact_opencl_options_default(void);

/**
 * Opens a device, builds and warms up the kernels, checks each against the host's moments (to 1e-9
 * in double, 1e-4 in single precision), and starts the worker. Call it as SCHED_OTHER, before real
 * time starts: a driver's threads inherit the caller's priority. Takes 0.2 s, or seconds where
 * PoCL's cache is cold. scene's arrays must outlive the source. options may be NULL.
 *
 * out->name is "opencl: DEVICE". A pair's status is -EIO where the driver failed. A worker that
 * died or hangs gives no new frames; the loop sees the age of the last one. Pairs
 * with a sphere are computed by the host, in the worker. wait() returns -ETIMEDOUT early
 * where the worker has ended. close() never waits longer than close_ns; a worker that does not stop
 * by then is abandoned with its memory, and a message says so. With fifo_priority, RLIMIT_RTTIME is
 * set to 1 s where it was unlimited.
 * @retval 0
 * @retval -ENODEV   no OpenCL device, or none of that name
 * @retval -ENOTSUP  double precision asked of a device without
 * @retval -EIO      the driver failed, or the kernels do not build
 * @retval -EDOM     the self-test found wrong results
 * @retval -EINVAL   a shape without its triangulation, or an option out of range
 * @retval -ENOMEM, -EAGAIN  no memory, no thread
 */
TACT_API int tact_opencl_source_create(const struct tact_source_scene *scene,
                                       const struct tact_opencl_options *options,
                                       struct tact_source *out, struct tact_error *err);

/** The same as a session asks for it (a tact_source_factory): the scene's device, the loop's
 * period. user: a struct tact_opencl_options for the rest, or NULL for the default with
 * fifo_priority 1, which comes before everything ordinary and behind any loop. Same errors. */
TACT_API int tact_opencl_source_factory(void *user, const struct tact_source_scene *scene,
                                        const char *device, int64_t period_ns,
                                        struct tact_messages messages, struct tact_source *out,
                                        struct tact_error *err);

/** Counters of a source made by tact_opencl_source_create(), from any thread. Real-time safe. */
struct tact_opencl_statistics {
    uint64_t frames;   /**< finished */
    uint64_t replaced; /**< handed over, but replaced by a newer one before they were begun */
    uint64_t failed;   /**< the driver failed */
    int64_t
        frame_ns; /**< time that the last frame took, from being found to being published [ns] */
    int64_t found_ns; /**< time from its submission to being found [ns] */
    int64_t cpu_ns;   /**< CPU time of the worker so far, brought up to date with each frame [ns] */
    int running;      /**< 0 where the worker has ended */
};
TACT_API void tact_opencl_statistics(const struct tact_source *source,
                                     struct tact_opencl_statistics *out);

TACT_END_DECLS

#endif
