/* Force Dimension's library (omega, delta, sigma, lambda, Falcon): lengths in m, forces in N. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include "devices/makers/maker_internal.h"

/* Longest timeout of the firmware's watchdog [1/8 ms], which switches the forces off if no command
 * comes for that time. */
enum { MAX_WATCHDOG = 255, WATCHDOG_STEP_NS = 125000 };

#define LIBRARY_SYMBOL(name, member)                                                               \
    {                                                                                              \
        name, offsetof(struct tact_libdhd_functions, member), false                                \
    }
#define OPTIONAL_LIBRARY_SYMBOL(name, member)                                                      \
    {                                                                                              \
        name, offsetof(struct tact_libdhd_functions, member), true                                 \
    }
static const struct tact_haptic_library_symbol symbols[] = {
    LIBRARY_SYMBOL("dhdOpen", open_first),
    LIBRARY_SYMBOL("dhdOpenSerial", open_serial),
    LIBRARY_SYMBOL("dhdClose", close),
    LIBRARY_SYMBOL("dhdEnableForce", enable_force),
    LIBRARY_SYMBOL("dhdGetSystemName", system_name),
    LIBRARY_SYMBOL("dhdErrorGetLastStr", last_error),
    LIBRARY_SYMBOL("dhdHasWrist", has_wrist),
    LIBRARY_SYMBOL("dhdHasActiveWrist", has_active_wrist),
    LIBRARY_SYMBOL("dhdSetGravityCompensation", set_gravity),
    LIBRARY_SYMBOL("dhdGetPosition", read_position),
    LIBRARY_SYMBOL("dhdGetOrientationFrame", read_orientation),
    LIBRARY_SYMBOL("dhdGetButtonMask", buttons),
    LIBRARY_SYMBOL("dhdSetForceAndTorque", set_wrench),
    OPTIONAL_LIBRARY_SYMBOL("dhdEnableExpertMode", enable_expert),
    OPTIONAL_LIBRARY_SYMBOL("dhdDisableExpertMode", disable_expert),
    OPTIONAL_LIBRARY_SYMBOL("dhdSetWatchdog", set_watchdog),
};
static const char *const files[] = {"libdhd.so", "libdhd.so.3", "libdrd.so", "libdrd.so.3", NULL};

/* Sets the firmware's own watchdog, where there is one: it works even if this process is stopped.
 */
static void set_force_watchdog(const struct tact_haptic_device *device, int64_t timeout_ns)
{
    const struct tact_libdhd_functions *dhd = &device->call.dhd;
    const int64_t all = 2 * timeout_ns / WATCHDOG_STEP_NS;
    const int64_t steps = all < 1 ? 1 : all; /* at least 1, as 0 would switch the watchdog off */
    if (dhd->set_watchdog && dhd->enable_expert && dhd->disable_expert) {
        dhd->enable_expert();
        dhd->set_watchdog((unsigned char)(steps < MAX_WATCHDOG ? steps : MAX_WATCHDOG),
                          (char)device->id);
        dhd->disable_expert();
    }
}

static int dhd_open(struct tact_haptic_device *device,
                    const struct tact_haptic_device_choice *haptic_device_choice, char *why,
                    size_t size)
{
    const struct tact_libdhd_functions *dhd = &device->call.dhd;
    device->id = haptic_device_choice->serial < 0 ? dhd->open_first()
                                                  : dhd->open_serial(haptic_device_choice->serial);
    if (device->id < 0) {
        const char *text = dhd->last_error();
        snprintf(why, size, "the manufacturer's library cannot open a haptic device: %.100s",
                 text ? text : "");
        return -ENODEV;
    }
    const char id = (char)device->id;
    const char *name = dhd->system_name(id);
    snprintf(device->model, sizeof device->model, "%s", name ? name : "");
    device->measures_attitude = dhd->has_wrist(id);
    device->renders_torques = dhd->has_active_wrist(id);
    set_force_watchdog(device, haptic_device_choice->timeout_ns);
    if (dhd->set_gravity(haptic_device_choice->gravity != 0, id) < 0 ||
        dhd->set_wrench(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, id) < 0 || dhd->enable_force(1, id) < 0) {
        snprintf(why, size,
                 "the manufacturer's library cannot switch the forces of the device on: %.100s",
                 dhd->last_error());
        dhd->close(id);
        return -EIO;
    }
    return 0;
}

static int dhd_read(struct tact_haptic_device *device)
{
    const struct tact_libdhd_functions *dhd = &device->call.dhd;
    double rows[3][3], *value = device->pose.value;
    const char id = (char)device->id;
    if (dhd->read_position(&value[0], &value[1], &value[2], id) < 0) {
        return -EIO;
    }
    value[3] = 1.0;
    value[4] = value[5] = value[6] = 0.0;
    if (device->measures_attitude &&
        (dhd->read_orientation(rows, id) < 0 ||
         !tact_haptic_rotation_to_quaternion((const double(*)[3])rows, value + 3))) {
        return -EIO;
    }
    device->pose.buttons = dhd->buttons(id);
    return isfinite(value[0]) && isfinite(value[1]) && isfinite(value[2]) ? 0 : -EIO;
}

static int dhd_write(struct tact_haptic_device *device, const double *w)
{
    const double on = device->renders_torques ? 1.0 : 0.0;
    const int rc = device->call.dhd.set_wrench(w[0], w[1], w[2], on * w[3], on * w[4], on * w[5],
                                               (char)device->id);
    return rc < 0 ? -EIO : 0;
}

static void dhd_close(struct tact_haptic_device *device)
{
    const struct tact_libdhd_functions *dhd = &device->call.dhd;
    const char id = (char)device->id;
    dhd->set_wrench(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, id);
    dhd->enable_force(0, id);
    dhd->close(id);
}

const struct tact_haptic_ops tact_haptic_ops_of_libdhd = {
    files,     symbols,  (int)(sizeof symbols / sizeof *symbols), dhd_open, dhd_read,
    dhd_write, dhd_close};
