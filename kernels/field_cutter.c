#include "kernels/field_cutter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/field_batch_internal.h"

struct opencl_field_cutter {
    struct tact_field_program program;
    struct tact_field_batch *batch;
};

static int cut_fields_by_opencl(void *self, struct tact_field_cuts *const *cuts, size_t count)
{
    return tact_field_batch_run(((struct opencl_field_cutter *)self)->batch, cuts, count);
}

static void close_opencl_cutter(void *self)
{
    struct opencl_field_cutter *cutter = self;
    tact_field_batch_destroy(cutter->batch);
    tact_field_program_close(&cutter->program);
    free(cutter);
}

static const struct tact_field_cutter_ops opencl_cutter_ops = {
    TACT_ABI(struct tact_field_cutter_ops), cut_fields_by_opencl, close_opencl_cutter};

int tact_opencl_field_cutter_factory(void *user, const struct tact_field_cutter_scene *scene,
                                     const char *device, struct tact_messages messages,
                                     struct tact_field_cutter *out, struct tact_error *err)
{
    const struct tact_opencl_options *options = user;
    const struct tact_cl_device_request request = {
        .device = device,
        .precision = TACT_OPENCL_DOUBLE,
        .fault = options && options->fault.wrong_kernels,
    };
    struct opencl_field_cutter *cutter = calloc(1, sizeof *cutter);
    if (!cutter) {
        return tact_error_set(err, -ENOMEM, "no memory");
    }
    int rc = tact_field_program_open(&request, &cutter->program, err);
    if (rc) {
        free(cutter);
        return rc;
    }
    rc = tact_field_selftest(&cutter->program, err);
    rc = rc ? rc : tact_field_batch_create(&cutter->program, scene, &cutter->batch, err);
    if (rc) {
        close_opencl_cutter(cutter);
        return rc;
    }
    out->ops = &opencl_cutter_ops;
    out->self = cutter;
    snprintf(out->name, sizeof out->name, "opencl: %.55s", cutter->program.cl.info.name);
    tact_message(messages, TACT_MESSAGE_INFO, "OpenCL: %s: %s", cutter->program.cl.info.name,
                 cutter->program.cl.info.verdict);
    return 0;
}
