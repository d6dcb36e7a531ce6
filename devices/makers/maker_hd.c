/*
 * Haptic devices by OpenHaptics' library (Touch, Touch X, Phantom): lengths in mm, torques in mN m.
 * Each cycle is a frame in the library's own loop of 1 kHz, for which hdScheduleSynchronous()
 * waits: the frame sets the wrench and reads the pose.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "devices/makers/maker_internal.h"

/* Parameter codes of libHD, from its programmer's guide. */
enum {
    HD_BUTTONS = 0x2000,
    HD_TRANSFORM = 0x2052,
    HD_MODEL = 0x2501,
    HD_INPUT_DOF = 0x2553,
    HD_OUTPUT_DOF = 0x2554,
    HD_FORCE = 0x2700,
    HD_TORQUE = 0x2701,
    HD_FORCE_OUTPUT = 0x4000,
    HD_PRIORITY = 0xffff,
    HD_DONE = 0
};
enum { MAX_ERRORS = 16 }; /* maximum number of errors read from the library's queue at a time */
/* number of frames with errors in a row after which the device is taken as failed */
enum { MAX_BAD_FRAMES = 3 };
static const unsigned int invalid_device_handle = 0xffffffffU;
/* factors from mm to m, and from N m to mN m */
static const double metres_per_millimetre = 1e-3, millinewton_metres_per_newton_metre = 1e3;

#define LIBRARY_SYMBOL(name, member)                                                               \
    {                                                                                              \
        name, offsetof(struct tact_libhd_functions, member), false                                 \
    }
static const struct tact_haptic_library_symbol symbols[] = {
    LIBRARY_SYMBOL("hdInitDevice", init),
    LIBRARY_SYMBOL("hdDisableDevice", disable_device),
    LIBRARY_SYMBOL("hdMakeCurrentDevice", make_current),
    LIBRARY_SYMBOL("hdEnable", enable),
    LIBRARY_SYMBOL("hdDisable", disable),
    LIBRARY_SYMBOL("hdStartScheduler", start),
    LIBRARY_SYMBOL("hdStopScheduler", stop),
    LIBRARY_SYMBOL("hdBeginFrame", begin_frame),
    LIBRARY_SYMBOL("hdEndFrame", end_frame),
    LIBRARY_SYMBOL("hdGetDoublev", get_doubles),
    LIBRARY_SYMBOL("hdGetIntegerv", get_integers),
    LIBRARY_SYMBOL("hdSetDoublev", set_doubles),
    LIBRARY_SYMBOL("hdGetString", get_string),
    LIBRARY_SYMBOL("hdGetError", last_error),
    LIBRARY_SYMBOL("hdGetErrorString", error_text),
    LIBRARY_SYMBOL("hdScheduleSynchronous", run),
};
static const char *const files[] = {"libHD.so", "libHD.so.3.4", NULL};

/* Empties the library's queue of errors. Returns the oldest one; code 0: there was none. */
static struct tact_libhd_error clear_error_queue(const struct tact_libhd_functions *hd)
{
    const struct tact_libhd_error oldest_libhd_error = hd->last_error();
    for (int i = 1; i < MAX_ERRORS && oldest_libhd_error.code && hd->last_error().code; i++) {
    }
    return oldest_libhd_error;
}

/* Runs a frame in the library's loop: sets the wrench, reads the pose. The transform is a 4x4
 * matrix stored by columns. */
static unsigned int run_frame_of_libhd(void *data)
{
    struct tact_haptic_device *device = data;
    const struct tact_libhd_functions *hd = &device->call.hd;
    const unsigned int id = (unsigned int)device->id;
    double m[16] = {0.0}, torque[3];
    int buttons = 0;
    hd->begin_frame(id);
    hd->get_doubles(HD_TRANSFORM, m);
    hd->get_integers(HD_BUTTONS, &buttons);
    hd->set_doubles(HD_FORCE, device->wrench);
    if (device->renders_torques) {
        for (int i = 0; i < 3; i++) {
            torque[i] = millinewton_metres_per_newton_metre * device->wrench[3 + i];
        }
        hd->set_doubles(HD_TORQUE, torque);
    }
    hd->end_frame(id);
    const double rows[3][3] = {{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}};
    double *value = device->pose.value;
    for (int i = 0; i < 3; i++) {
        value[i] = metres_per_millimetre * m[12 + i];
    }
    device->pose.buttons = (uint32_t)buttons;
    device->is_last_frame_valid = clear_error_queue(hd).code == 0 && isfinite(value[0]) &&
                                  isfinite(value[1]) && isfinite(value[2]) &&
                                  tact_haptic_rotation_to_quaternion(rows, value + 3);
    return HD_DONE;
}

/* Sets the wrench for the next frame. After a frame with an error, frames have no force. */
static int hd_write(struct tact_haptic_device *device, const double *wrench)
{
    memcpy(device->wrench, wrench, sizeof device->wrench);
    device->is_last_frame_valid = false;
    for (int i = 0; !device->is_last_frame_valid && i < MAX_BAD_FRAMES; i++) {
        device->call.hd.run(run_frame_of_libhd, device, HD_PRIORITY);
        if (!device->is_last_frame_valid) {
            memset(device->wrench, 0, sizeof device->wrench);
        }
    }
    return device->is_last_frame_valid ? 0 : -EIO;
}

/* Gets the pose that the last frame has read. */
static int hd_read(struct tact_haptic_device *device)
{
    return device->is_last_frame_valid ? 0 : -EIO;
}

static void hd_close(struct tact_haptic_device *device)
{
    const struct tact_libhd_functions *hd = &device->call.hd;
    const double none[TACT_HAPTIC_NUMBERS_PER_WRENCH] = {0.0};
    hd_write(device, none);
    hd->disable(HD_FORCE_OUTPUT);
    hd->stop();
    hd->disable_device((unsigned int)device->id);
}

static int hd_open(struct tact_haptic_device *device,
                   const struct tact_haptic_device_choice *haptic_device_choice, char *why,
                   size_t size)
{
    const struct tact_libhd_functions *hd = &device->call.hd;
    const double none[TACT_HAPTIC_NUMBERS_PER_WRENCH] = {0.0};
    int inputs = 0, outputs = 0;
    const unsigned int id =
        hd->init(haptic_device_choice->device[0] ? haptic_device_choice->device : NULL);
    struct tact_libhd_error error = clear_error_queue(hd);
    if (id == invalid_device_handle || error.code) {
        const char *text = hd->error_text(error.code);
        snprintf(why, size,
                 "the manufacturer's library cannot open a haptic device: %.90s (error 0x%04x)",
                 text ? text : "", error.code);
        return -ENODEV;
    }
    device->id = (int)id;
    hd->make_current(id);
    const char *name = hd->get_string(HD_MODEL);
    snprintf(device->model, sizeof device->model, "%s", name ? name : "");
    hd->get_integers(HD_INPUT_DOF, &inputs);
    hd->get_integers(HD_OUTPUT_DOF, &outputs);
    device->measures_attitude = inputs >= 6;
    device->renders_torques = outputs >= 6;
    clear_error_queue(hd); /* errors of reading the model's properties are ignored */
    hd->enable(HD_FORCE_OUTPUT);
    hd->start();
    error = clear_error_queue(hd);
    if (error.code || hd_write(device, none)) {
        snprintf(why, size,
                 "the 1 kHz loop of the manufacturer's library cannot be started: %.100s",
                 error.code ? hd->error_text(error.code) : "a frame failed");
        hd_close(device);
        return -EIO;
    }
    return 0;
}

const struct tact_haptic_ops tact_haptic_ops_of_libhd = {
    files, symbols, (int)(sizeof symbols / sizeof *symbols), hd_open, hd_read, hd_write, hd_close};
