/* A stand-in of OpenHaptics' library: lengths in mm, torques in mN m, the 4 x 4 transform by
 * columns. */
#include <math.h>
#include "unit/haptic/stand_in.h"

#define EXPORT __attribute__((visibility("default")))

enum { BUTTONS = 0x2000, TRANSFORM = 0x2052, FORCE = 0x2700, TORQUE = 0x2701 };

struct error {
    unsigned int code;
    int internal_code;
    unsigned int device;
};

static struct error last;
static double wrench[6];

EXPORT unsigned int hdInitDevice(const char *name)
{
    last.code = name && strcmp(name, "Default Device") != 0 ? 0x0302 : 0;
    atomic_store(&simulated_haptic_of_this_library()->open, last.code == 0);
    return last.code ? 0xffffffffU : 7;
}

EXPORT void hdDisableDevice(unsigned int device)
{
    (void)device;
    atomic_store(&simulated_haptic_of_this_library()->open, 0);
}

EXPORT void hdMakeCurrentDevice(unsigned int device)
{
    (void)device;
}

EXPORT void hdEnable(unsigned int parameter)
{
    (void)parameter;
    atomic_store(&simulated_haptic_of_this_library()->enabled, 1);
}

EXPORT void hdDisable(unsigned int parameter)
{
    (void)parameter;
    atomic_store(&simulated_haptic_of_this_library()->enabled, 0);
}

EXPORT void hdStartScheduler(void)
{
}

EXPORT void hdStopScheduler(void)
{
}

EXPORT void hdBeginFrame(unsigned int device)
{
    (void)device;
    last.code = simulate_haptic_library_call(simulated_haptic_of_this_library()) ? 0x0302 : 0;
}

EXPORT void hdEndFrame(unsigned int device)
{
    (void)device;
    if (!last.code) {
        store_sent_wrench(simulated_haptic_of_this_library(), wrench);
    }
}

EXPORT void hdGetDoublev(unsigned int parameter, double *values)
{
    struct simulated_haptic *device = simulated_haptic_of_this_library();
    const double turn = atomic_load(&device->turn);
    const double transform[16] = {cos(turn),
                                  sin(turn),
                                  0.0,
                                  0.0,
                                  -sin(turn),
                                  cos(turn),
                                  0.0,
                                  0.0,
                                  0.0,
                                  0.0,
                                  1.0,
                                  0.0,
                                  1e3 * atomic_load(&device->x),
                                  1e3 * atomic_load(&device->y),
                                  1e3 * atomic_load(&device->z),
                                  1.0};
    if (parameter == TRANSFORM) {
        memcpy(values, transform, sizeof transform);
    }
}

EXPORT void hdGetIntegerv(unsigned int parameter, int *values)
{
    *values =
        parameter == BUTTONS ? (int)atomic_load(&simulated_haptic_of_this_library()->buttons) : 6;
}

EXPORT void hdSetDoublev(unsigned int parameter, const double *values)
{
    for (int i = 0; i < 3; i++) {
        wrench[parameter == TORQUE ? 3 + i : i] =
            parameter == TORQUE ? 1e-3 * values[i] : values[i];
    }
}

EXPORT const char *hdGetString(unsigned int parameter)
{
    (void)parameter;
    return "stand-in";
}

EXPORT struct error hdGetError(void)
{
    return last;
}

EXPORT const char *hdGetErrorString(unsigned int code)
{
    return code ? "no communication with the device" : "";
}

EXPORT void hdScheduleSynchronous(unsigned int (*frame)(void *), void *data,
                                  unsigned short priority)
{
    (void)priority;
    frame(data);
}
