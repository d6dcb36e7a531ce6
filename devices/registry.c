#include "devices/registry.h"

#include <string.h>
#include "devices/comedi/comedi.h"
#include "devices/evdev/evdev.h"
#include "devices/scripted/operator.h"
#include "devices/recorded/recording.h"
#include "devices/scripted/trajectory.h"
#include "devices/twin/twin.h"

static const struct tact_device_type *const builtin[] = {
    &tact_operator_type, &tact_trajectory_type, &tact_evdev_type,
    &tact_comedi_type,   &tact_twin_type,       &tact_recording_type,
};

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
