/* The evdev device on the kernel's own driver, with a pad made with uinput: values, events that
 * the kernel drops, unplugging and return; and a session with the pad that releases a board's
 * output. */
#include <dirent.h>
#include <linux/input.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "board.h"
#include "devices/evdev/evdev.h"
#include "devices/registry.h"
#include "events.h"
#include "pad.h"
#include "rt/clock.h"
#include "rt/session/session.h"
#include "unit/support/device_config.h"
#include "unit/support/run_scene.h"

#define BOARD_NODE "/dev/comedi0"
enum { X, Y, RX, SOUTH };

static struct device_config config;
static struct tact_device device;
static struct tact_device_input in;
static uint64_t tick;

static void run_device_tick(void)
{
    int64_t now = tact_clock_now();
    device.ops->read(device.self, tick, (double)tick * 1e-3, now, &in);
    tick++;
    tact_clock_sleep_until(now + 1000000);
}

static void open_pad_device(void)
{
    const struct tact_device_setting settings[] = {SETTING("match", PAD_NAME),
                                                   SETTING("channels", "abs_x abs_y abs_rx "
                                                                       "btn_south")};
    device_config_init(&config, settings, 2);
    if (tact_evdev_type.open(&config.config, &device, &config.err)) {
        fail_msg("%s: %s", config.err.key, config.err.text);
    }
}

static int open_descriptor_count(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(dir)) {
        count++;
    }
    closedir(dir);
    return count;
}

static void pad_values_are_scaled(void **unused)
{
    (void)unused;
    int pad = plug_in_pad();
    open_pad_device();
    run_device_tick();
    assert_int_equal(in.state, TACT_DEVICE_OK);
    send_pad_event(pad, EV_ABS, ABS_X, 500);
    send_pad_event(pad, EV_ABS, ABS_Y, -1000);
    send_pad_event(pad, EV_KEY, BTN_SOUTH, 1);
    end_pad_report(pad);
    int64_t before = tact_clock_now();
    run_device_tick();
    assert_true(fabs(in.channel[X] - 0.5) < 1e-12);
    assert_true(fabs(in.channel[Y] + 1.0) < 1e-12);
    assert_true(in.channel[SOUTH] == 1.0);
    assert_true(in.stamp_ns <= before && in.stamp_ns > before - 10000000);
    /* an axis value beyond its range, which the kernel does not clamp */
    send_pad_event(pad, EV_ABS, ABS_X, 999999);
    end_pad_report(pad);
    run_device_tick();
    assert_true(in.channel[X] == 1.0);
    device.ops->close(device.self);
    unplug_pad(pad);
}

/* Between two ticks the pad sends many more events than the kernel's buffer can store. */
static void pad_values_are_exact_after_lost_events(void **unused)
{
    (void)unused;
    int pad = plug_in_pad();
    open_pad_device();
    for (int round = 0; round < 10; round++) {
        send_pad_event(pad, EV_KEY, BTN_SOUTH, round % 2);
        for (int i = 0; i < 500; i++) {
            send_pad_event(pad, EV_ABS, ABS_X, i + round);
            send_pad_event(pad, EV_ABS, ABS_Y, -2 * i + 10 * round);
            end_pad_report(pad);
        }
        run_device_tick();
        run_device_tick();
        assert_int_equal(in.state, TACT_DEVICE_OK);
        assert_true(fabs(in.channel[X] - (499 + round) / 1000.0) < 1e-12);
        assert_true(fabs(in.channel[Y] - (-998 + 10 * round) / 1000.0) < 1e-12);
        assert_true(in.channel[SOUTH] == round % 2);
    }
    tact_clock_sleep_until(tact_clock_now() + 300000000);
    device.ops->close(device.self);
    unplug_pad(pad);
    assert_non_null(strstr(config.messages, "the kernel lost events"));
}

static void unplugged_pad_is_found_again(void **unused)
{
    (void)unused;
    int pad = plug_in_pad();
    open_pad_device();
    run_device_tick();
    int before = 0;
    for (int round = 0; round < 20; round++) {
        send_pad_event(pad, EV_ABS, ABS_X, 700);
        send_pad_event(pad, EV_KEY, BTN_SOUTH, 1);
        end_pad_report(pad);
        run_device_tick();
        assert_true(in.channel[SOUTH] == 1.0);
        before = round == 0 ? open_descriptor_count() : before;
        unplug_pad(pad);
        run_device_tick(); /* the unplugged pad is detected in the same tick */
        assert_int_equal(in.state, TACT_DEVICE_LOST);
        assert_true(in.channel[SOUTH] == 0.0);
        assert_true(fabs(in.channel[X] - 0.7) < 1e-12);
        pad = plug_in_pad();
        int waited_ms = 0;
        while (in.state != TACT_DEVICE_OK && waited_ms < 1000) {
            run_device_tick();
            waited_ms++;
        }
        assert_in_range(waited_ms, 1, 700);
    }
    assert_int_equal(open_descriptor_count(), before);
    device.ops->close(device.self);
    unplug_pad(pad);
}

static const char scene_text[] =
    "name: pad\n"
    "duration: 100\n"
    "hands:\n"
    "  - name: hand\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: finger\n"
    "        mass: 0.1\n"
    "        inertia: [1, 1, 1, 0, 0, 0]\n"
    "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 2, damping: 0.02, limit: 1}\n"
    "devices:\n"
    "  - name: pad\n"
    "    type: evdev\n"
    "    settings: {match: " PAD_NAME "}\n"
    "  - name: board\n"
    "    type: comedi\n"
    "    settings: {outputs: motor=ao0, inputs: back=ai7, output_map: [0, 4]}\n"
    "inputs:\n"
    "  - {from: pad.abs_x, to: hand.finger, scale: 1000}\n"
    "outputs:\n"
    "  - {from: hand.finger, to: board.motor, what: drive, limit: 1, rate: 1000}\n"
    "deadman: pad.btn_south\n";

static struct tact_session *session;
static struct tact_session_report report;

static atomic_int is_running; /* the session ticks */

static void store_status(void *user, const struct tact_session_status *status)
{
    (void)user;
    atomic_store(&is_running, status->tick > 100);
}

static void *run_session_in_thread(void *result)
{
    *(int *)result = tact_session_run(session, &report);
    return NULL;
}

/* Scene whose saturated drive exerts 1 N m, output as 4 V, while the pad's button is pressed. */
static void lost_pad_zeroes_the_drive_output(void **unused)
{
    (void)unused;
    struct tact_scene *scene;
    struct tact_stop stop = {0};
    struct tact_session_options options = tact_session_options_default();
    const long limit = lrint(14.0 * 65535.0 / 20.0);
    pthread_t thread;
    int result = -1;
    int pad = plug_in_pad();
    options.types = tact_devices_builtin(&options.type_count);
    options.ticks = 100000;
    options.stop = &stop;
    options.watch = store_status;
    open_session_of_scene_text(scene_text, &options, &scene, &session);
    assert_int_equal(pthread_create(&thread, NULL, run_session_in_thread, &result), 0);
    for (int i = 0; i < 1000 && !atomic_load(&is_running); i++) {
        usleep(10000);
    }
    assert_true(atomic_load(&is_running));
    for (int round = 0; round < 5; round++) {
        send_pad_event(pad, EV_KEY, BTN_SOUTH, 0);
        end_pad_report(pad);
        usleep(20000);
        send_pad_event(pad, EV_ABS, ABS_X, 900 - round);
        send_pad_event(pad, EV_KEY, BTN_SOUTH, 1);
        end_pad_report(pad);
        usleep(100000);
        /* ramping up */
        assert_in_range(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS + 1,
                        limit - 1);
        usleep(300000);
        assert_int_equal(read_board_output(BOARD_NODE, 0), limit);
        unplug_pad(pad);
        usleep(2000); /* two ticks */
        assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
        pad = plug_in_pad();
        usleep(500000);
        assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    }
    tact_stop_request(&stop);
    pthread_join(thread, NULL);
    assert_int_equal(result, 0);
    print_message(
        "session on pad and board: %llu ticks, %llu missed, wake max %.1f us, compute p99 "
        "%.1f us\n",
        (unsigned long long)report.loop.ticks, (unsigned long long)report.loop.missed,
        (double)report.loop.wake_latency.max / 1e3,
        (double)tact_histogram_quantile(&report.loop.compute, 0.99) / 1e3);
    assert_int_equal(report.loop.missed, 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
    unplug_pad(pad);
    assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    assert_int_equal(find_guard_process(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pad_values_are_scaled),
        cmocka_unit_test(pad_values_are_exact_after_lost_events),
        cmocka_unit_test(unplugged_pad_is_found_again),
        cmocka_unit_test(lost_pad_zeroes_the_drive_output),
        cmocka_unit_test(event_recordings_are_played_to_the_bit),
    };
    set_up_boards();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
