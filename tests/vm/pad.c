#include "pad.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/uinput.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void fail_unless_success(int rc, const char *what)
{
    if (rc < 0) {
        fprintf(stderr, "pad: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static void set_axis_range(int fd, unsigned short code, int low, int high)
{
    struct uinput_abs_setup setup = {.code = code, .absinfo = {.minimum = low, .maximum = high}};
    fail_unless_success(ioctl(fd, UI_ABS_SETUP, &setup), "UI_ABS_SETUP");
}

/* Opens uinput for a device with keys and axes of one type; returns its descriptor. */
static int open_uinput_device(int type)
{
    static int loaded;
    if (!loaded) {
        fail_unless_success(system("modprobe uinput && modprobe evdev") ? -1 : 0, "modprobe");
        loaded = 1;
    }
    int fd = open("/dev/uinput", O_RDWR | O_CLOEXEC);
    fail_unless_success(fd, "/dev/uinput");
    fail_unless_success(ioctl(fd, UI_SET_EVBIT, EV_KEY), "EV_KEY");
    fail_unless_success(ioctl(fd, UI_SET_EVBIT, type), "UI_SET_EVBIT");
    return fd;
}

static void create_uinput_device(int fd, const char *name, unsigned short product)
{
    struct uinput_setup setup = {.id = {.bustype = BUS_USB, .vendor = 0x1209, .product = product}};
    snprintf(setup.name, sizeof setup.name, "%s", name);
    fail_unless_success(ioctl(fd, UI_DEV_SETUP, &setup), "UI_DEV_SETUP");
    fail_unless_success(ioctl(fd, UI_DEV_CREATE), "UI_DEV_CREATE");
}

int plug_in_pad(void)
{
    int fd = open_uinput_device(EV_ABS);
    fail_unless_success(ioctl(fd, UI_SET_KEYBIT, BTN_SOUTH), "BTN_SOUTH");
    set_axis_range(fd, ABS_X, -1000, 1000);
    set_axis_range(fd, ABS_Y, -1000, 1000);
    set_axis_range(fd, ABS_RX, 0, 255);
    create_uinput_device(fd, PAD_NAME, 1);
    return fd;
}

int plug_in_puck(int type)
{
    int fd = open_uinput_device(type);
    fail_unless_success(ioctl(fd, UI_SET_KEYBIT, BTN_0), "BTN_0");
    fail_unless_success(ioctl(fd, UI_SET_KEYBIT, BTN_1), "BTN_1");
    /* codes X to RZ, equal for relative and absolute axes */
    for (unsigned short code = 0; code < 6; code++) {
        if (type == EV_ABS) {
            set_axis_range(fd, code, -350, 350);
        } else {
            fail_unless_success(ioctl(fd, UI_SET_RELBIT, code), "UI_SET_RELBIT");
        }
    }
    create_uinput_device(fd, PUCK_NAME, 2);
    return fd;
}

void unplug_pad(int fd)
{
    fail_unless_success(ioctl(fd, UI_DEV_DESTROY), "UI_DEV_DESTROY");
    close(fd);
}

void send_pad_event(int fd, int type, int code, int value)
{
    const struct input_event event = {
        .type = (unsigned short)type, .code = (unsigned short)code, .value = value};
    fail_unless_success((int)write(fd, &event, sizeof event), "write");
}

void end_pad_report(int fd)
{
    send_pad_event(fd, EV_SYN, SYN_REPORT, 0);
}
