#include "devices/registry.h"

#include <string.h>

/* The device types of the library, in the order of the table: each is a folder beside this source
 * and a line here. */
#define DEVICE_TYPE_LIST(TYPE)                                                                     \
    TYPE(operator)                                                                                 \
    TYPE(trajectory)                                                                               \
    TYPE(evdev)                                                                                    \
    TYPE(comedi)                                                                                   \
    TYPE(twin)                                                                                     \
    TYPE(force_dimension)                                                                          \
    TYPE(openhaptics)                                                                              \
    TYPE(network)                                                                                  \
    TYPE(spacenav)                                                                                 \
    TYPE(recording)

#define DECLARE_DEVICE_TYPE(word) extern const struct tact_device_type tact_##word##_type;
DEVICE_TYPE_LIST(DECLARE_DEVICE_TYPE)
#define DEVICE_TYPE_ENTRY(word) &tact_##word##_type,
static const struct tact_device_type *const builtin[] = {DEVICE_TYPE_LIST(DEVICE_TYPE_ENTRY)};

const struct tact_device_type *const *tact_devices_builtin(size_t *count)
{
    *count = sizeof builtin / sizeof *builtin;
    return builtin;
}

const struct tact_device_type *tact_device_type_find(const struct tact_device_type *const *types,
                                                     size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(types[i]->name, name) == 0) {
            return types[i];
        }
    }
    return NULL;
}
