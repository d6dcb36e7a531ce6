/* Streams of comedi_test, whose asynchronous commands yield a sawtooth (channel 0), a square wave
 * (1) in phase with it, and 0 V: scans are whole and recent, the tick makes no system call, and a
 * lost stream is restarted. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <comedilib.h>
#include "devices/comedi/comedi.h"
#include "rt/clock.h"
#include "sensor.h"
#include "unit/support/device_config.h"

#define BOARD_NODE "/dev/comedi1"

enum { SAW, SQUARE, FLAT, AGE, LOST, TICKS = 400 };

static const double amplitude = 2.0; /* [V] */
static struct device_config config;
static struct tact_device device;
static struct tact_device_input in;

static int open_board_stream_device(const char *rate, struct tact_device *out)
{
    const struct tact_device_setting settings[] = {SETTING("board", BOARD_NODE),
                                                   SETTING("inputs", "saw=ai0 square=ai1 flat=ai2"),
                                                   SETTING("stream", rate)};
    device_config_init(&config, settings, 3);
    return tact_comedi_type.open(&config.config, out, &config.err);
}

/* Checks one scan: sawtooth and square wave change sign together; the sawtooth advances slightly
 * between two channels. */
static void check_board_scan_consistency(void)
{
    double saw = in.channel[SAW];
    assert_true(fabs(saw) < amplitude * 1.001);
    assert_true(fabs(fabs(in.channel[SQUARE]) - amplitude) < 1e-3);
    assert_true(fabs(in.channel[FLAT]) < 1e-3);
    if (fabs(saw) > 0.05 && fabs(saw) < amplitude - 0.05) {
        assert_true((saw > 0.0) == (in.channel[SQUARE] > 0.0));
    }
}

void board_stream_is_read_beside_the_loop(void **state)
{
    double low = 9.0;
    double high = -9.0;
    double largest_board_scan_age_seconds = 0.0;
    int64_t time_spent_reading_board_ns = 0;
    int64_t stamp = 0;
    (void)state;
    assert_int_equal(open_board_stream_device("2000", &device), 0);
    assert_string_equal(device.info.input[AGE].name, "stream_age");
    assert_string_equal(device.info.input[LOST].name, "stream_lost");
    const char *reported = strstr(config.messages, "samples 3 analog inputs at ");
    assert_non_null(reported);
    double rate = strtod(reported + strlen("samples 3 analog inputs at "), NULL);
    assert_true(fabs(rate - 2000.0) < 20.0); /* whole microseconds a channel */
    int64_t start_time_ns = tact_clock_now();
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        tact_clock_sleep_until(start_time_ns + (int64_t)tick * 1000000);
        int before = count_ioctl_calls();
        int64_t now = tact_clock_now();
        device.ops->read(device.self, tick, 0.0, now, &in);
        time_spent_reading_board_ns += tact_clock_now() - now;
        assert_int_equal(count_ioctl_calls(), before);
        assert_int_equal(in.state, TACT_DEVICE_OK);
        assert_true(in.stamp_ns >= stamp && in.stamp_ns <= tact_clock_now());
        stamp = in.stamp_ns;
        check_board_scan_consistency();
        low = fmin(low, in.channel[SAW]);
        high = fmax(high, in.channel[SAW]);
        largest_board_scan_age_seconds = fmax(largest_board_scan_age_seconds, in.channel[AGE]);
        assert_true(in.channel[LOST] == 0.0);
    }
    print_message("stream of 3 channels: %.1f us a tick, scans at most %.1f ms old\n",
                  (double)time_spent_reading_board_ns / TICKS / 1e3,
                  1e3 * largest_board_scan_age_seconds);
    assert_true(low < -0.7 * amplitude && high > 0.7 * amplitude);
    assert_true(largest_board_scan_age_seconds <
                0.03); /* comedi_test's timer has a resolution of 4 ms */
    assert_true(time_spent_reading_board_ns < TICKS * INT64_C(5000));
    struct tact_device second;
    assert_int_equal(open_board_stream_device("2000", &second), -EBUSY);
    assert_non_null(strstr(config.err.text, "cannot stream"));
    device.ops->close(device.self);
    /* after close() the device can be opened again */
    assert_int_equal(open_board_stream_device("2000", &device), 0);
    device.ops->close(device.self);
}

/* Stops the whole process until the driver's buffer has overflowed. */
static void stop_process_until_board_buffer_overflows(void)
{
    const pid_t self = getpid();
    const pid_t child = fork();
    if (child == 0) {
        tact_clock_sleep_until(tact_clock_now() + 1500000000);
        kill(self, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    waitpid(child, NULL, 0);
}

void overflowing_board_stream_is_restarted(void **state)
{
    (void)state;
    comedi_t *dev = comedi_open(BOARD_NODE);
    assert_int_equal(comedi_set_buffer_size(dev, 0, 65536), 65536); /* half a second */
    comedi_close(dev);
    assert_int_equal(open_board_stream_device("20000", &device), 0);
    int64_t start_time_ns = tact_clock_now();
    int stale_tick_count = 0;
    stop_process_until_board_buffer_overflows();
    for (uint64_t tick = 0; tick < 300; tick++) {
        tact_clock_sleep_until(start_time_ns + 1500000000 + (int64_t)tick * 1000000);
        device.ops->read(device.self, tick, 0.0, tact_clock_now(), &in);
        stale_tick_count += in.state == TACT_DEVICE_STALE;
    }
    print_message("overflow: stale for %d ticks, lost %g time\n", stale_tick_count,
                  in.channel[LOST]);
    assert_int_equal(in.state, TACT_DEVICE_OK);
    assert_true(in.channel[LOST] == 1.0);
    assert_true(in.channel[AGE] < 0.03);
    check_board_scan_consistency();
    device.ops->close(device.self);
    assert_non_null(strstr(config.messages, "was lost (the driver's buffer was full), 1 so far"));
}
