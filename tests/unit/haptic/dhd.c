/* A stand-in of Force Dimension's library libdhd: its functions act on a simulated device. */
#include <math.h>
#include <stdbool.h>
#include "unit/haptic/stand_in.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int dhdOpenSerial(int serial)
{
    struct simulated_haptic *device = simulated_haptic_of_this_library();
    if (!device || serial > 1000 || simulate_haptic_library_call(device)) {
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
    atomic_store(&simulated_haptic_of_this_library()->open, 0);
    return 0;
}

EXPORT int dhdEnableForce(unsigned char on, char id)
{
    (void)id;
    atomic_store(&simulated_haptic_of_this_library()->enabled, on);
    return simulate_haptic_library_call(simulated_haptic_of_this_library());
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
    struct simulated_haptic *device = simulated_haptic_of_this_library();
    (void)id;
    *x = count_pose_request_and_read_x(device);
    *y = atomic_load(&device->y);
    *z = atomic_load(&device->z);
    return simulate_haptic_library_call(device);
}

EXPORT int dhdGetOrientationFrame(double matrix[3][3], char id)
{
    const double turn = atomic_load(&simulated_haptic_of_this_library()->turn);
    const double rows[3][3] = {
        {cos(turn), -sin(turn), 0.0}, {sin(turn), cos(turn), 0.0}, {0.0, 0.0, 1.0}};
    (void)id;
    memcpy(matrix, rows, sizeof rows);
    return 1; /* result for the vendor's time guard: the pose has not changed since the last call */
}

EXPORT unsigned int dhdGetButtonMask(char id)
{
    (void)id;
    return atomic_load(&simulated_haptic_of_this_library()->buttons);
}

EXPORT int dhdSetForceAndTorque(double fx, double fy, double fz, double tx, double ty, double tz,
                                char id)
{
    struct simulated_haptic *device = simulated_haptic_of_this_library();
    const double wrench[6] = {fx, fy, fz, tx, ty, tz};
    (void)id;
    if (simulate_haptic_library_call(device)) {
        return -1;
    }
    store_sent_wrench(device, wrench);
    return 0;
}
