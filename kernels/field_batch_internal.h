/* Polygons of pairs of cells by OpenCL: the program, and the buffers for some fields. Not
 * installed. */
#ifndef TACT_KERNELS_FIELD_BATCH_INTERNAL_H
#define TACT_KERNELS_FIELD_BATCH_INTERNAL_H

#include "contact/pair/field/field_cuts_internal.h"
#include "kernels/opencl_internal.h"
#include "rt/field_cutter.h"

struct tact_field_program {
    struct tact_cl_opened_device cl;
    cl_kernel cut_cells;
};

/* Opens a device with double precision and builds the program. 0, -ENODEV, -ENOTSUP or -EIO; sets
 * err. Then it is closed. */
int tact_field_program_open(const struct tact_cl_device_request *request,
                            struct tact_field_program *program, struct tact_error *err);
void tact_field_program_close(struct tact_field_program *program);

struct tact_field_batch;

/* Uploads the fields and allocates the buffers of a frame. 0, -ENOMEM, -EINVAL (too many cells) or
 * -EIO. */
int tact_field_batch_create(struct tact_field_program *program,
                            const struct tact_field_cutter_scene *scene,
                            struct tact_field_batch **out, struct tact_error *err);
void tact_field_batch_destroy(struct tact_field_batch *batch);

/* Computes the candidates of `count` pairs of fields and sets their results, which are valid until
 * the next run. Pairs and candidates without room have none. 0, or -EIO: no pair has results. */
int tact_field_batch_run(struct tact_field_batch *batch, struct tact_field_cuts *const *cuts,
                         size_t count);

/* Compares polygons of the device with the host's, bit for bit, in random and degenerate poses of
 * several kinds of fields. 0, -EDOM (a wrong result), or the error of setting the test up; sets
 * err.
 */
int tact_field_selftest(struct tact_field_program *program, struct tact_error *err);

#endif
