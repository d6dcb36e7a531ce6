/* A stand-in of OpenHaptics' library: mm and mN m, a transform by columns. */
#include <math.h>
#include "unit/haptic/stand_in.h"

#define EXPORT __attribute__((visibility("default")))

enum { BUTTONS = 0x2000, TRANSFORM = 0x2052, FORCE = 0x2700, TORQUE = 0x2701 };

struct error {
    unsigned int code;
    int internal;
    unsigned int device;
};

static struct error last;
static double wrench[6];

EXPORT unsigned int hdInitDevice(const char *name)
{
    last.code = name && strcmp(name, "Default Device") != 0 ? 0x0302 : 0;
    atomic_store(&stand_in_own()->open, last.code == 0);
    return last.code ? 0xffffffffU : 7;
}

EXPORT void hdDisableDevice(unsigned int device)
{
    (void)device;
    atomic_store(&stand_in_own()->open, 0);
}

EXPORT void hdMakeCurrentDevice(unsigned int device)
{
    (void)device;
}

EXPORT void hdEnable(unsigned int what)
{
    (void)what;
    atomic_store(&stand_in_own()->enabled, 1);
}

EXPORT void hdDisable(unsigned int what)
{
    (void)what;
    atomic_store(&stand_in_own()->enabled, 0);
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
    last.code = stand_in_call(stand_in_own()) ? 0x0302 : 0;
}

EXPORT void hdEndFrame(unsigned int device)
{
    (void)device;
    if (!last.code) {
        stand_in_keep(stand_in_own(), wrench);
    }
}

EXPORT void hdGetDoublev(unsigned int what, double *values)
{
    struct stand_in *device = stand_in_own();
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
    if (what == TRANSFORM) {
        memcpy(values, transform, sizeof transform);
    }
}

EXPORT void hdGetIntegerv(unsigned int what, int *values)
{
    *values = what == BUTTONS ? (int)atomic_load(&stand_in_own()->buttons) : 6;
}

EXPORT void hdSetDoublev(unsigned int what, const double *values)
{
    for (int i = 0; i < 3; i++) {
        wrench[what == TORQUE ? 3 + i : i] = what == TORQUE ? 1e-3 * values[i] : values[i];
    }
}

EXPORT const char *hdGetString(unsigned int what)
{
    (void)what;
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
