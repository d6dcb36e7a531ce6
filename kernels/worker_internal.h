/*
 * The worker thread: reads frames, calls a function on each, publishes the results. Independent of
 * OpenCL, so that the exchange of data can be tested with any function. Not installed.
 */
#ifndef TACT_KERNELS_WORKER_INTERNAL_H
#define TACT_KERNELS_WORKER_INTERNAL_H

#include <stdint.h>

#include "contact/error.h"
#include "kernels/source.h"

/* Computes one frame. Returns 0, or negative on failure (out is published in either case). */
typedef int (*tact_worker_compute)(void *user, const struct tact_pose *poses, const uint8_t *active,
                                   const double *directions, struct tact_source_moments *out);

struct tact_moments_worker;

/* Starts the thread. Returns 0, -ENOMEM, -EAGAIN, -EPERM or -EINVAL; sets err. */
int tact_worker_create(const struct tact_source_scene *scene,
                       const struct tact_opencl_options *options, tact_worker_compute compute_frame,
                       void *user, struct tact_moments_worker **out, struct tact_error *err);

/* Stops the thread, frees the worker and returns 0. If it does not stop within options.close_ns,
 * detaches it, frees nothing (the thread may still use *user) and returns -ETIMEDOUT. */
int tact_worker_destroy(struct tact_moments_worker *worker);

/* Submit a frame, get the latest result, wait for a result: as in struct tact_source_ops. */
void tact_worker_submit(struct tact_moments_worker *worker, uint64_t tick,
                        const struct tact_pose *poses, const uint8_t *active,
                        const double *directions);
int tact_worker_latest(struct tact_moments_worker *worker, struct tact_source_result *out);
int tact_worker_wait(struct tact_moments_worker *worker, uint64_t tick, int64_t timeout_ns);

void tact_worker_statistics(struct tact_moments_worker *worker, struct tact_opencl_statistics *out);

#endif
