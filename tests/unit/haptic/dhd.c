/* A stand-in of Force Dimension's library. */
#include <math.h>
#include <stdbool.h>
#include "unit/haptic/stand_in.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int dhdOpenSerial(int serial)
{
    struct stand_in *device = stand_in_own();
    if (!device || serial > 1000 || stand_in_call(device)) {
        return -1;
    }
    atomic_store(&device->open, 1);
    return 0;
}

EXPORT int dhdOpen(void)
{
    return dhdOpenSerial(0);
}

EXPORT int dhdClose(char id)
{
    (void)id;
    atomic_store(&stand_in_own()->open, 0);
    return 0;
}

EXPORT int dhdEnableForce(unsigned char on, char id)
{
    (void)id;
    atomic_store(&stand_in_own()->enabled, on);
    return stand_in_call(stand_in_own());
}

EXPORT const char *dhdGetSystemName(char id)
{
    (void)id;
    return "stand-in";
}

EXPORT const char *dhdErrorGetLastStr(void)
{
    return "no device found";
}

EXPORT bool dhdHasWrist(char id)
{
    (void)id;
    return true;
}

EXPORT bool dhdHasActiveWrist(char id)
{
    (void)id;
    return true;
}

EXPORT int dhdSetGravityCompensation(int on, char id)
{
    (void)on;
    (void)id;
    return 0;
}

EXPORT int dhdGetPosition(double *x, double *y, double *z, char id)
{
    struct stand_in *device = stand_in_own();
    (void)id;
    *x = atomic_load(&device->x);
    *y = atomic_load(&device->y);
    *z = atomic_load(&device->z);
    return stand_in_call(device);
}

EXPORT int dhdGetOrientationFrame(double matrix[3][3], char id)
{
    const double turn = atomic_load(&stand_in_own()->turn);
    const double rows[3][3] = {
        {cos(turn), -sin(turn), 0.0}, {sin(turn), cos(turn), 0.0}, {0.0, 0.0, 1.0}};
    (void)id;
    memcpy(matrix, rows, sizeof rows);
    return 1; /* of the time guard: as before */
}

EXPORT unsigned int dhdGetButtonMask(char id)
{
    (void)id;
    return atomic_load(&stand_in_own()->buttons);
}

EXPORT int dhdSetForceAndTorque(double fx, double fy, double fz, double tx, double ty, double tz,
                                char id)
{
    struct stand_in *device = stand_in_own();
    const double wrench[6] = {fx, fy, fz, tx, ty, tz};
    (void)id;
    if (stand_in_call(device)) {
        return -1;
    }
    stand_in_keep(device, wrench);
    return 0;
}
