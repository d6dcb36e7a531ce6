/* Raw events of input devices, recorded beside a session and played into a second one without the
 * devices: all values have the same bits, with two devices that are unplugged while they send, and
 * a loop too late for the kernel's buffer. */
#include "events.h"

#include <linux/input.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/evdev/evdev.h"
#include "pad.h"
#include "rt/clock.h"
#include "rt/session/session.h"
#include "same.h"
#include "unit/support/run_scene.h"
#include "unit/support/script_device.h"

#define RECORDING_FOLDER "/dev/shm/events"
#define MS INT64_C(1000000)
enum { TICKS = 1500, BEGUN = 50, LATE = 300, LATE_MS = 60, PULLED = 500, PLUGGED = 650 };
enum {
    PAUSE_NS = 400000
}; /* pause between two reports of input events: 2500 reports a second from each device */

static atomic_int ticks; /* number of ticks of the session so far; negative: it has ended */
static int is_run_with_live_devices;
static atomic_int losses; /* number of reported losses of events */

/* The device's read: delays the session's loop once, beyond the kernel's event buffer. */
static void read_and_delay_loop_once(void *self, uint64_t tick, double t, int64_t now,
                                     struct tact_device_input *in)
{
    (void)self, (void)t;
    if (is_run_with_live_devices && tick == LATE) {
        tact_clock_sleep_until(now + LATE_MS * MS);
    }
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    atomic_store(&ticks, (int)tick);
}

static int open_device_that_delays_loop(const struct tact_device_config *config,
                                        struct tact_device *out, struct tact_error *err)
{
    (void)config, (void)err;
    return open_script_device(read_and_delay_loop_once, NULL, out);
}

/* Scene of a pad and a puck; %s: the setting that selects each device. */
static const char scene_text[] =
    "name: events\n"
    "devices:\n"
    "  - {name: late, type: late}\n"
    "  - {name: pad, type: evdev, settings: {%s, unsigned: abs_rx}}\n"
    "  - {name: puck, type: evdev, settings: {%s}}\n"
    "hands:\n"
    "  - name: hand\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: finger\n"
    "        mass: 0.1\n"
    "        inertia: [1, 1, 1, 0, 0, 0]\n"
    "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 2, damping: 0.02}\n"
    "inputs:\n"
    "  - {from: pad.abs_x, to: hand.finger}\n";

static void send_pad_and_puck_report(int pad, int puck, int n)
{
    if (pad >= 0) {
        send_pad_event(pad, EV_ABS, ABS_X, n * 7 % 1999 - 999);
        send_pad_event(pad, EV_ABS, ABS_RX, n % 256);
        send_pad_event(pad, EV_KEY, BTN_SOUTH, n / 20 % 2);
        end_pad_report(pad);
    }
    if (puck >= 0 && n / 200 % 2) {
        /* the puck moves in every other 200 reports and is at rest otherwise */
        send_pad_event(puck, EV_REL, n % 6, n * 5 % 349 + 1);
        send_pad_event(puck, EV_KEY, BTN_1, n / 30 % 2);
        end_pad_report(puck);
    }
}

/* Thread that moves both devices, and unplugs first one and then the other between two reports. */
static void *move_and_unplug_devices(void *unused)
{
    int pad = plug_in_pad(), puck = plug_in_puck(EV_REL), n = 0;
    atomic_store(&ticks, 0);
    for (int tick = 0; tick >= 0; tick = atomic_load(&ticks)) {
        if (tick >= BEGUN) {
            send_pad_and_puck_report(pad, puck, n++);
        }
        if (tick >= PULLED && tick < PLUGGED && pad >= 0) {
            unplug_pad(pad);
            pad = -1;
        } else if (tick >= PLUGGED && pad < 0) {
            pad = plug_in_pad();
        } else if (tick >= PULLED + 400 && tick < PLUGGED + 400 && puck >= 0) {
            unplug_pad(puck);
            puck = -1;
        } else if (tick >= PLUGGED + 400 && puck < 0) {
            puck = plug_in_puck(EV_REL);
        }
        tact_clock_sleep_until(tact_clock_now() + PAUSE_NS);
    }
    print_message("%d reports\n", n);
    unplug_pad(pad);
    unplug_pad(puck);
    return unused;
}

static void keep_message(void *unused, enum tact_message_level level, const char *text)
{
    (void)unused, (void)level;
    atomic_fetch_add(&losses, strstr(text, "the kernel lost events") != NULL);
}

static void run_session(const char *pad, const char *puck, const char *log)
{
    static const struct tact_device_type late = {TACT_ABI(struct tact_device_type), "late",
                                                 "comes late", open_device_that_delays_loop, NULL};
    static const struct tact_device_type *const types[] = {&late, &tact_evdev_type};
    static struct tact_session_report result;
    struct tact_session_options options = tact_session_options_default();
    char text[sizeof scene_text + 256];
    snprintf(text, sizeof text, scene_text, pad, puck);
    options.types = types;
    options.type_count = 2;
    options.ticks = TICKS;
    options.messages = (struct tact_messages){keep_message, NULL};
    options.record = log;
    options.replace = 1;
    options.record_devices = is_run_with_live_devices ? RECORDING_FOLDER : NULL;
    options.clock = is_run_with_live_devices ? TACT_LOOP_REAL : TACT_LOOP_FREE;
    run_session_of_scene_text(text, &options, &result);
}

void event_recordings_are_played_to_the_bit(void **state)
{
    static const char *const fields[] = {"pad_input", "puck_input"};
    pthread_t thread;
    (void)state;
    assert_int_equal(system("mkdir -p " RECORDING_FOLDER), 0);
    is_run_with_live_devices = 1;
    atomic_store(&ticks, -1);
    assert_int_equal(pthread_create(&thread, NULL, move_and_unplug_devices, NULL), 0);
    while (atomic_load(&ticks) < 0) {
        usleep(1000);
    }
    run_session("match: " PAD_NAME, "match: " PUCK_NAME, RECORDING_FOLDER "/live.mcap");
    atomic_store(&ticks, -1);
    pthread_join(thread, NULL);
    is_run_with_live_devices = 0;
    assert_true(atomic_load(&losses) > 0);
    run_session("recording: " RECORDING_FOLDER "/pad.evemu",
                "recording: " RECORDING_FOLDER "/puck.evemu", RECORDING_FOLDER "/again.mcap");
    for (int i = 0; i < 2; i++) {
        int tick_counts_by_device_state[4];
        int compared_tick_count =
            compare_replayed_device(RECORDING_FOLDER "/live.mcap", RECORDING_FOLDER "/again.mcap",
                                    fields[i], 3 * BEGUN, tick_counts_by_device_state);
        print_message("%s: %d ticks played to the bit, %d of them unplugged\n", fields[i],
                      compared_tick_count, tick_counts_by_device_state[TACT_DEVICE_LOST]);
        assert_true(compared_tick_count > TICKS / 2);
        assert_in_range(tick_counts_by_device_state[TACT_DEVICE_LOST], PLUGGED - PULLED - 20,
                        TICKS / 2);
    }
    assert_int_equal(system("rm -r " RECORDING_FOLDER), 0);
}
