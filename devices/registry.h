/**
 * The device types that are built into tact.
 *
 * Real-time safe.
 */
#ifndef TACT_DEVICES_REGISTRY_H
#define TACT_DEVICES_REGISTRY_H

#include <stddef.h>
#include "../contact/api.h"
#include "../rt/device.h"

TACT_BEGIN_DECLS

/** The built-in types, in a fixed order; *count receives how many. Valid until the program ends. */
TACT_API const struct tact_device_type *const *tact_devices_builtin(size_t *count);

/** The type of that name among `count` of `types`, or NULL. */
TACT_API const struct tact_device_type *
tact_device_type_find(const struct tact_device_type *const *types, size_t count, const char *name);

TACT_END_DECLS

#endif
