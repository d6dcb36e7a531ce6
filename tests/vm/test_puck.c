/* Six-axis pucks of both kinds on the kernel's own driver, made with uinput. On relative axes
 * silence means rest, on absolute ones an unchanged value: a session with a puck and a board
 * zeroes its output, or keeps it. And 5,000 reports a second, more than the kernel buffers for a
 * slow reader. */
#include <linux/input.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "board.h"
#include "devices/evdev/evdev.h"
#include "devices/registry.h"
#include "pad.h"
#include "rt/clock.h"
#include "rt/session/session.h"
#include "unit/support/device_config.h"
#include "unit/support/run_scene.h"

#define BOARD_NODE "/dev/comedi0"
#define MS INT64_C(1000000)

/* Scene of a joint whose measured angle is always 0, so that its drive torque is stiffness times
 * target. */
static const char scene_text[] =
    "name: puck\n"
    "duration: 100\n"
    "hands:\n"
    "  - name: robot\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 0.1\n"
    "        inertia: [1, 1, 1, 0, 0, 0]\n"
    "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 2, damping: 0.02}\n"
    "devices:\n"
    "  - name: puck\n"
    "    type: evdev\n"
    "    settings: {match: " PUCK_NAME "}\n"
    "  - name: board\n"
    "    type: comedi\n"
    "    settings: {inputs: angle=ai7, input_map: [0, 1e-6], outputs: motor=ao0,\n"
    "               output_map: [0, 4]}\n"
    "inputs:\n"
    "  - {from: board.angle, to: robot.tip, what: state}\n"
    "  - {from: puck.%s, to: robot.tip, scale: 0.25}\n"
    "outputs:\n"
    "  - {from: robot.tip, to: board.motor, what: drive, limit: 2, rate: 1e6}\n";
enum { PUSHED = 175 }; /* half way: 0.25 N m, 1 V */
static const long raw_board_output_of_pushed_puck = BOARD_RAW_VALUE_OF_ZERO_VOLTS + 3277;

static struct tact_scene *scene;
static struct tact_session *session;
static struct tact_session_report report;
static struct tact_stop stop;
static pthread_t thread;
static int result;
static int board_descriptor;
static atomic_int is_running; /* 1: the ramp of the session's outputs is over */

static void note_whether_output_ramp_is_over(void *user, const struct tact_session_status *status)
{
    (void)user;
    atomic_store(&is_running, status->tick > 300);
}

static void *run_session_in_thread(void *unused)
{
    (void)unused;
    result = tact_session_run(session, &report);
    return NULL;
}

static void start_session_with_puck(const char *axis)
{
    char text[sizeof scene_text + 16];
    struct tact_session_options options = tact_session_options_default();
    stop = (struct tact_stop){0};
    atomic_store(&is_running, 0);
    options.types = tact_devices_builtin(&options.type_count);
    options.ticks = 100000;
    options.stop = &stop;
    options.watch = note_whether_output_ramp_is_over;
    snprintf(text, sizeof text, scene_text, axis);
    open_session_of_scene_text(text, &options, &scene, &session);
    board_descriptor = open_channels_of_process(find_guard_process(), BOARD_NODE);
    assert_true(board_descriptor >= 0);
    assert_int_equal(pthread_create(&thread, NULL, run_session_in_thread, NULL), 0);
    for (int i = 0; i < 1000 && !atomic_load(&is_running); i++) {
        usleep(10000);
    }
    assert_true(atomic_load(&is_running));
}

static void stop_session_with_puck(void)
{
    tact_stop_request(&stop);
    pthread_join(thread, NULL);
    assert_int_equal(result, 0);
    assert_int_equal(report.loop.missed, 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
    close(board_descriptor);
}

static long read_board_output_raw(void)
{
    return (long)read_board_channel(board_descriptor, 1, 0);
}

/* Checks until a given time that the board's output stays at `raw`, within two steps of the
 * converter. */
static void check_board_output_stays_at(long raw, int64_t until)
{
    while (tact_clock_now() < until) {
        long now = read_board_output_raw();
        if (labs(now - raw) > 2) {
            fail_msg("the output is at %ld, not at %ld", now, raw);
        }
        usleep(500);
    }
}

/* Time from `since` until the board's output is zero [s]; checks that it remains zero. */
static double time_to_zero_output(int64_t recorded_event_time_ns)
{
    while (labs(read_board_output_raw() - (long)BOARD_RAW_VALUE_OF_ZERO_VOLTS) > 1) {
        assert_true(tact_clock_now() < recorded_event_time_ns + 1000 * MS);
        usleep(200);
    }
    double zeroing_time = (double)(tact_clock_now() - recorded_event_time_ns) * 1e-9;
    check_board_output_stays_at(BOARD_RAW_VALUE_OF_ZERO_VOLTS, tact_clock_now() + 100 * MS);
    return zeroing_time;
}

static void send_axis_value(int puck, int type, int code, int value)
{
    send_pad_event(puck, type, code, value);
    end_pad_report(puck);
}

/* Reports as a SpaceNavigator's: X and RZ in turn, 8 ms apart; then nothing, since the kernel drops
 * the zeros. */
static void silent_relative_axis_zeroes_the_output(void **unused)
{
    double slowest_zeroing_time = 0.0;
    (void)unused;
    int puck = plug_in_puck(EV_REL);
    start_session_with_puck("rel_x");
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 20; i++) {
            send_axis_value(puck, EV_REL, REL_X, PUSHED);
            /* the report is sent at a random phase of the ticks */
            usleep(2000 + (unsigned int)round * 200);
            check_board_output_stays_at(raw_board_output_of_pushed_puck, tact_clock_now() + 6 * MS);
            send_axis_value(puck, EV_REL, REL_RZ, -30);
            check_board_output_stays_at(raw_board_output_of_pushed_puck, tact_clock_now() + 8 * MS);
        }
        send_axis_value(puck, EV_REL, REL_X, PUSHED);
        int64_t last = tact_clock_now();
        /* the value may be late by one report */
        check_board_output_stays_at(raw_board_output_of_pushed_puck, last + 33 * MS);
        for (int i = 0; i < 3; i++) {
            send_axis_value(puck, EV_REL, REL_X, 0);
        }
        double zeroing_time = time_to_zero_output(last);
        slowest_zeroing_time =
            zeroing_time > slowest_zeroing_time ? zeroing_time : slowest_zeroing_time;
    }
    stop_session_with_puck();
    unplug_pad(puck);
    print_message("relative puck: output at zero %.1f ms after the last report at the latest\n",
                  slowest_zeroing_time * 1e3);
    assert_true(slowest_zeroing_time < 0.05);
}

/* Absolute axes report only changes. */
static void silent_absolute_axes_keep_the_output(void **unused)
{
    double slowest_zeroing_time = 0.0;
    (void)unused;
    int puck = plug_in_puck(EV_ABS);
    start_session_with_puck("abs_x");
    for (int round = 0; round < 3; round++) {
        send_axis_value(puck, EV_ABS, ABS_X, PUSHED);
        usleep(4000 + (unsigned int)round * 200);
        check_board_output_stays_at(raw_board_output_of_pushed_puck, tact_clock_now() + 2000 * MS);
        send_axis_value(puck, EV_ABS, ABS_X, 0);
        double zeroing_time = time_to_zero_output(tact_clock_now());
        slowest_zeroing_time =
            zeroing_time > slowest_zeroing_time ? zeroing_time : slowest_zeroing_time;
    }
    stop_session_with_puck();
    unplug_pad(puck);
    print_message("absolute puck: held for 2 s; output at zero %.1f ms after the release\n",
                  slowest_zeroing_time * 1e3);
    assert_true(slowest_zeroing_time < 0.05);
}

enum {
    PUCK_AXIS_COUNT = 6,
    HZ = 5000,
    CYCLE = 701
}; /* the 701 raw values -350 .. 350 are cycled through; 701 is prime */
enum {
    RARELY_CHANGED_AXIS_CHANNEL = 5,
    RARELY_CHANGED_BUTTON_CHANNEL = 7,
    SLOW_MOTION_FRACTION = 100
}; /* axis 5 and button 7 change only every 20 ms */

static struct device_config config;
static struct tact_device device;
static struct tact_device_input in;
static atomic_int sent; /* number of reports sent */

static void open_puck(void)
{
    const struct tact_device_setting settings[] = {SETTING("match", PUCK_NAME)};
    device_config_init(&config, settings, 1);
    if (tact_evdev_type.open(&config.config, &device, &config.err)) {
        fail_msg("%s: %s", config.err.key, config.err.text);
    }
    assert_int_equal(device.info.input_count, PUCK_AXIS_COUNT + 2);
    atomic_store(&sent, 0);
}

/* Closes the puck once all events were read. Returns how often a loss of events was reported. */
static int close_puck(void)
{
    int reported = 0;
    tact_clock_sleep_until(tact_clock_now() + 200 * MS);
    device.ops->close(device.self);
    for (const char *at = config.messages; (at = strstr(at, "the kernel lost events")); at++) {
        reported++;
    }
    return reported;
}

static void read_puck(void)
{
    device.ops->read(device.self, 0, 0.0, tact_clock_now(), &in);
    assert_int_equal(in.state, TACT_DEVICE_OK);
}

/* Number of changes of a channel in the first n reports. Later reports of other channels do not
 * repeat a lost change of a slow channel. */
static int change_count_of_channel(int n, int channel)
{
    return channel == RARELY_CHANGED_AXIS_CHANNEL || channel == RARELY_CHANGED_BUTTON_CHANNEL
               ? n / SLOW_MOTION_FRACTION
               : n;
}

/* Raw value of an axis after the first n reports. */
static int raw_axis_value_after(int n, int axis)
{
    return (change_count_of_channel(n, axis) * 7 + axis * 50) % CYCLE - 350;
}

/* Whether the last reading of the axis equals its value in one of the reports `first` to `last`. */
static bool is_axis_value_in_reports(int axis, int first, int last)
{
    long raw = lrint(in.channel[axis] * 350.0);
    for (int n = first; n <= last; n++) {
        if (raw_axis_value_after(n, axis) == raw) {
            return true;
        }
    }
    return false;
}

struct writer {
    int puck;
    int type;
    int count;
};

/* Thread that sends reports at a fixed rate. Relative and absolute axes have the same codes. */
static void *send_puck_reports_periodically(void *data)
{
    const struct writer *writer = data;
    int64_t next = tact_clock_now();
    for (int i = 0; i < writer->count; i++, next += 1000000000 / HZ) {
        int n = atomic_load(&sent) + 1;
        tact_clock_sleep_until(next);
        for (int axis = 0; axis < PUCK_AXIS_COUNT; axis++) {
            send_pad_event(writer->puck, writer->type, axis, raw_axis_value_after(n, axis));
        }
        send_pad_event(writer->puck, EV_KEY, BTN_0, n % 2);
        send_pad_event(writer->puck, EV_KEY, BTN_1,
                       change_count_of_channel(n, RARELY_CHANGED_BUTTON_CHANNEL) % 2);
        end_pad_report(writer->puck);
        atomic_store(&sent, n);
    }
    return NULL;
}

/* Starts the thread that sends the reports of an emulated puck; those of its channels that change
 * rarely change for the last time 10 ms before the last report. */
static void start_puck_report_writer(struct writer *writer, pthread_t *writer_thread)
{
    writer->count += atomic_load(&sent) == 0 ? SLOW_MOTION_FRACTION / 2 : 0;
    assert_int_equal(pthread_create(writer_thread, NULL, send_puck_reports_periodically, writer),
                     0);
    usleep(2000);
}

/* Checks that every axis has the value of a report sent around the time of the reading. */
static void check_axis_values_are_recent(void)
{
    int before = atomic_load(&sent);
    read_puck();
    int after = atomic_load(&sent) + 1; /* one report may be in progress */
    for (int axis = 0; axis < PUCK_AXIS_COUNT; axis++) {
        if (!is_axis_value_in_reports(axis, before, after)) {
            fail_msg("axis %d is not of the reports %d to %d", axis, before, after);
        }
    }
}

/* Checks that the puck has its final values: those of the last report, or rest for relative
 * axes. */
static void check_puck_has_final_values(int type)
{
    int n = atomic_load(&sent);
    for (int axis = 0; axis < PUCK_AXIS_COUNT; axis++) {
        double left = type == EV_ABS ? raw_axis_value_after(n, axis) / 350.0 : 0.0;
        assert_true(in.channel[axis] == left);
    }
    assert_true(in.channel[PUCK_AXIS_COUNT] == n % 2);
    assert_true(in.channel[RARELY_CHANGED_BUTTON_CHANNEL] ==
                change_count_of_channel(n, RARELY_CHANGED_BUTTON_CHANNEL) % 2);
}

/* A reader at 1 kHz that pauses every 20 ticks, also during the last reports. */
static void absolute_axes_are_exact_after_a_flood_of_reports(void **unused)
{
    int loop_pause_count = 0;
    (void)unused;
    int puck = plug_in_puck(EV_ABS);
    open_puck();
    for (int round = 0; round < 5; round++) {
        struct writer writer = {puck, EV_ABS, HZ / 2};
        pthread_t other;
        int64_t end = tact_clock_now() + 500 * MS;
        start_puck_report_writer(&writer, &other);
        for (int tick = 0; tact_clock_now() < end - 60 * MS; tick++) {
            int64_t now = tact_clock_now();
            check_axis_values_are_recent();
            int64_t pause_ms = tick % 20 == 19 ? 1 + loop_pause_count++ % 30 : 0; /* [ms] */
            tact_clock_sleep_until(now + (1 + pause_ms) * MS);
        }
        pthread_join(other, NULL);
        read_puck();
        check_puck_has_final_values(EV_ABS);
    }
    int reported = close_puck();
    unplug_pad(puck);
    print_message("%d reports at %d Hz, %d pauses, losses reported %d times\n", atomic_load(&sent),
                  HZ, loop_pause_count, reported);
    assert_in_range(reported, 5, 100);
}

/* The same reports on relative axes: 50 ms after the last of them, received or lost, the puck is
 * at rest, whenever it is read. */
static void flood_of_relative_reports_is_summed(void **unused)
{
    (void)unused;
    int puck = plug_in_puck(EV_REL);
    open_puck();
    for (int round = 0; round < 5; round++) {
        struct writer writer = {puck, EV_REL, HZ / 5};
        pthread_t other;
        start_puck_report_writer(&writer, &other);
        for (int tick = 0; tick < 100; tick++) {
            int64_t now = tact_clock_now();
            read_puck();
            tact_clock_sleep_until(now + MS);
        }
        assert_true(in.channel[0] != 0.0 || in.channel[1] != 0.0);
        pthread_join(other, NULL);
        int64_t end = tact_clock_now();
        tact_clock_sleep_until(end + round * 10 * MS);
        read_puck();
        tact_clock_sleep_until(end + 48 * MS);
        read_puck();
        check_puck_has_final_values(EV_REL);
    }
    int reported = close_puck();
    unplug_pad(puck);
    assert_in_range(reported, 5, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_relative_axis_zeroes_the_output),
        cmocka_unit_test(silent_absolute_axes_keep_the_output),
        cmocka_unit_test(absolute_axes_are_exact_after_a_flood_of_reports),
        cmocka_unit_test(flood_of_relative_reports_is_summed),
    };
    set_up_boards();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
