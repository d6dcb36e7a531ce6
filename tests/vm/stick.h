/* A force-feedback stick made with uinput: axes X and Y (-1000 to 1000), the button TRIGGER, and
 * the effects that a test selects. A thread acts as its driver: it answers uploads and records all
 * events. Effects end after their length, as on a real device. */
#ifndef TACT_TEST_VM_STICK_H
#define TACT_TEST_VM_STICK_H

#include <linux/input.h>
#include <stdbool.h>
#include <stdint.h>

#define JOYSTICK_NAME "tact test stick"
#define MAX_STORED_JOYSTICK_EVENTS 32768
#define JOYSTICK_EFFECT_COUNT 16

enum joystick_event_kind { STICK_UPLOAD, STICK_PLAY, STICK_STOP, STICK_GAIN, STICK_ERASE };

struct joystick_event {
    int64_t ns; /* CLOCK_MONOTONIC */
    enum joystick_event_kind kind;
    int id;    /* of the effect */
    int value; /* gain */
    struct ff_effect effect;
};

/* Plugs in a stick with these effect types (FF_CONSTANT, ..., ended by 0); one stick at a time. */
void plug_in_joystick(const int *effects);

/* Path of the stick's device node. */
const char *joystick_device_path(void);

/* Unplugs the stick; and the time at which the kernel removed it last [ns]. */
void unplug_joystick(void);
int64_t joystick_removal_time_ns(void);

/* Sets how long the stick's driver sleeps in each upload of an effect from now on [us]. */
void set_joystick_upload_delay(int us);

/* Number of effect uploads in progress. */
int pending_joystick_upload_count(void);

/* Sends an input event of the stick and the end of its report. */
void send_joystick_event(int type, int code, int value);

/* Number of driver events recorded since the stick was plugged in, and one of them. */
int joystick_event_count(void);
const struct joystick_event *get_joystick_event(int index);

/* The effect of this type that has been started and not stopped at a time, even if its length is
 * over; NULL where there is none. */
const struct ff_effect *joystick_effect_playing_at_time(int type, int64_t ns);

/* Force gain of the stick at a time, 0xffff where none was set. */
int joystick_gain_at_time(int64_t ns);

/* Level of the constant effect that the stick plays now; 0 where it plays none or its gain is 0.
 * Fast enough to poll. */
int current_joystick_force_level(void);

/* Force along x that the stick plays at a time: level of the constant effect times gain, in the
 * device's units. */
double joystick_force_at_time(int64_t ns);

#endif
