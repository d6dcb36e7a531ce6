/** A force-feedback stick made with uinput: axes X and Y (-1000 to 1000), the button TRIGGER, and
 * the effects that a test selects. A thread acts as its driver: it answers uploads and records all
 * events. Effects end after their length, as on a real device. */
#ifndef TACT_TEST_VM_STICK_H
#define TACT_TEST_VM_STICK_H

#include <linux/input.h>
#include <stdbool.h>
#include <stdint.h>

#define STICK_NAME "tact test stick"
#define STICK_EVENTS 32768
#define STICK_EFFECTS 16

enum stick_kind { STICK_UPLOAD, STICK_PLAY, STICK_STOP, STICK_GAIN, STICK_ERASE };

struct stick_event {
    int64_t ns; /* CLOCK_MONOTONIC */
    enum stick_kind kind;
    int id;    /* of the effect */
    int value; /* gain */
    struct ff_effect effect;
};

/** Plugs it in with these effects (FF_CONSTANT, ..., ended by 0). One at a time. */
void plug_in_stick(const int *effects);

/** Path of its node. */
const char *stick_device_path(void);

/** Unplugs it; and the time at which the kernel had last removed it. */
void unplug_stick(void);
int64_t stick_removal_time(void);

/** How long the driver sleeps in each upload from now on [us]. */
void set_stick_upload_delay(int us);

/** Number of uploads in progress. */
int stick_pending_upload_count(void);

/** Sends an event and the end of the report. */
void send_stick_event(int type, int code, int value);

/** The events recorded since it was plugged in. */
int stick_event_count(void);
const struct stick_event *get_stick_event(int index);

/** The effect of this type that is started at a time, even if its length is over; NULL where there
 * is none. */
const struct ff_effect *stick_effect_playing_at(int type, int64_t ns);

/** Gain at that time, 0xffff where none was set. */
int stick_gain_at(int64_t ns);

/** Level of the constant effect that plays now, 0 where none does or the gain is 0. Quick. */
int current_stick_force_level(void);

/** Force along x that it plays at that time, in the device's units: that of the constant effect, by
 *  its gain. */
double stick_force_at(int64_t ns);

#endif
