#include "kernels/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/batch_internal.h"
#include "kernels/opencl_internal.h"
#include "kernels/worker_internal.h"

struct opencl_source {
    struct tact_cl_opened_device cl;
    struct tact_opencl_moments_batch *batch;
    struct tact_moments_worker *worker;
    struct tact_messages messages;
};

struct tact_opencl_options tact_opencl_options_default(void)
{
    return (struct tact_opencl_options){
        .capacity = 65536,
        .cpu = -1,
        .period_ns = 1000000,
        .poll_ns = 30000,
        .close_ns = 2000000000,
    };
}

static int compute_frame_moments(void *user, const struct tact_pose *poses, const uint8_t *active,
                                 const double *directions, struct tact_source_moments *out)
{
    return tact_batch_run(user, poses, active, directions, out);
}

static void submit_opencl_frame(void *self, uint64_t tick, const struct tact_pose *poses,
                                const uint8_t *active, const double *directions)
{
    tact_worker_submit(((struct opencl_source *)self)->worker, tick, poses, active, directions);
}

static int read_latest_opencl_result(void *self, struct tact_source_result *out)
{
    return tact_worker_latest(((struct opencl_source *)self)->worker, out);
}

static int wait_for_opencl_result(void *self, uint64_t tick, int64_t timeout_ns)
{
    return tact_worker_wait(((struct opencl_source *)self)->worker, tick, timeout_ns);
}

static void free_opencl_source(struct opencl_source *source)
{
    tact_batch_destroy(source->batch);
    tact_cl_close(&source->cl);
    free(source);
}

static void close_opencl_source(void *self)
{
    struct opencl_source *source = self;
    if (tact_worker_destroy(source->worker) < 0) {
        tact_message(source->messages, TACT_MESSAGE_ERROR,
                     "the thread of the OpenCL worker does not stop: it is detached and its memory "
                     "is not freed");
        return;
    }
    free_opencl_source(source);
}

static const struct tact_source_ops opencl_source_ops = {
    TACT_ABI(struct tact_source_ops), submit_opencl_frame, read_latest_opencl_result,
    wait_for_opencl_result, close_opencl_source};

static int check_opencl_options(const struct tact_opencl_options *o, struct tact_error *err)
{
    if (o->period_ns <= 0 || o->poll_ns <= 0 || o->close_ns < 0 || o->capacity == 0 ||
        o->capacity > (1u << 26) || o->fifo_priority < 0 || o->fifo_priority > 98 || o->cpu < -1 ||
        o->cpu > 1023) {
        return tact_error_set(err, -EINVAL,
                              "an OpenCL option is out of range: capacity must be 1 to 67108864, "
                              "fifo_priority 0 to 98, cpu -1 to 1023, times above 0");
    }
    return 0;
}

static int open_opencl_device(struct opencl_source *source, const struct tact_opencl_options *o,
                              struct tact_error *err)
{
    struct tact_cl_device_request request = {
        .device = o->device,
        .precision = o->precision,
        .fault = o->fault.wrong_kernels,
    };
    int rc = tact_cl_open(&request, &source->cl, err);
    return rc < 0 ? rc : tact_cl_selftest(&source->cl, err);
}

int tact_opencl_source_create(const struct tact_source_scene *scene,
                              const struct tact_opencl_options *options, struct tact_source *out,
                              struct tact_error *err)
{
    struct tact_opencl_options o = options ? *options : tact_opencl_options_default();
    int rc = check_opencl_options(&o, err);
    if (rc < 0) {
        return rc;
    }
    struct opencl_source *source = calloc(1, sizeof *source);
    if (!source) {
        return tact_error_set(err, -ENOMEM, "no memory");
    }
    source->messages = o.messages;
    rc = open_opencl_device(source, &o, err);
    if (rc == 0) {
        rc = tact_batch_create(&source->cl, scene, o.capacity, &source->batch, err);
    }
    if (rc == 0) {
        rc = tact_worker_create(scene, &o, compute_frame_moments, source->batch, &source->worker,
                                err);
    }
    if (rc < 0) {
        free_opencl_source(source);
        return rc;
    }
    const struct tact_opencl_device *info = &source->cl.info;
    out->ops = &opencl_source_ops;
    out->self = source;
    snprintf(out->name, sizeof out->name, "opencl: %.55s", info->name);
    tact_message(o.messages, TACT_MESSAGE_INFO, "OpenCL: %s (%s, driver %s), %s: %s", info->name,
                 info->platform, info->driver,
                 source->cl.bytes_per_real == 8 ? "double precision" : "single precision",
                 info->verdict);
    return 0;
}

void tact_opencl_statistics(const struct tact_source *source, struct tact_opencl_statistics *out)
{
    tact_worker_statistics(((struct opencl_source *)source->self)->worker, out);
}

int tact_opencl_source_factory(void *user, const struct tact_source_scene *scene,
                               const char *device, int64_t period_ns, struct tact_messages messages,
                               struct tact_source *out, struct tact_error *err)
{
    struct tact_opencl_options options = tact_opencl_options_default();
    /* SCHED_FIFO priority 1: above SCHED_OTHER, below that of any loop */
    options.fifo_priority = 1;
    if (user) {
        options = *(const struct tact_opencl_options *)user;
    }
    options.device = device;
    options.period_ns = period_ns;
    options.messages = messages;
    return tact_opencl_source_create(scene, &options, out, err);
}
