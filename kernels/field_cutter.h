/**
 * Polygons of contacts of pressure fields by OpenCL: a field cutter (rt/field_cutter.h).
 *
 * The device needs double precision. Its results must have the bits of the host's: it is compared
 * with the host when a cutter is created, in random and degenerate poses of several kinds of
 * fields, and refused where a bit differs.
 */
#ifndef TACT_KERNELS_FIELD_CUTTER_H
#define TACT_KERNELS_FIELD_CUTTER_H

#include "../contact/api.h"
#include "../contact/error.h"
#include "../rt/field_cutter.h"
#include "../rt/message.h"
#include "source.h"

TACT_BEGIN_DECLS

/**
 * Opens a device, builds and tests the kernel, and uploads the fields. user: NULL, or a struct
 * tact_opencl_options, of which `fault.wrong_kernels` counts. Takes 0.1 s, or seconds where PoCL's
 * cache is cold; not real-time safe.
 * @retval 0
 * @retval -ENODEV   no OpenCL device; err names the packages to install
 * @retval -ENOTSUP  the device has no double precision
 * @retval -EDOM     the device computes other bits than the host
 * @retval -EIO      the driver failed
 * @retval -EINVAL   more cells than 32-bit indices allow
 * @retval -ENOMEM
 */
TACT_API int tact_opencl_field_cutter_factory(void *user,
                                              const struct tact_field_cutter_scene *scene,
                                              const char *device, struct tact_messages messages,
                                              struct tact_field_cutter *out,
                                              struct tact_error *err);

TACT_END_DECLS

#endif
