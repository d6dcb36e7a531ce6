/* The comedi device on the drivers comedi_test and comedi_parport: its values, its number of system
 * calls, its reports of faults, and that outputs are zeroed.
 *
 * comedi_test's inputs are wired to its outputs; the device locks its outputs, so these tests drive
 * channels through the device's own open file. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>
#include "board.h"
#include "devices/comedi/comedi.h"
#include "rt/clock.h"
#include "sensor.h"
#include "unit/support/device_config.h"

#define BOARD_NODE "/dev/comedi0"
static const double lsb = 20.0 / 65535.0; /* [V] */

static struct device_config config;
static struct tact_device device;
static struct tact_device_input in;
static uint64_t tick;
static int ioctl_call_count; /* number of calls of ioctl(2) by this process */

int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    void *arg = va_arg(args, void *);
    va_end(args);
    ioctl_call_count++;
    return (int)syscall(SYS_ioctl, fd, request, arg);
}

int count_ioctl_calls(void)
{
    return ioctl_call_count;
}

/* Opens the device without the guard, which has a test of its own. */
static int open_board_device(const struct tact_device_setting *settings, int count)
{
    const struct tact_device_setting setting_without_guard = SETTING("guard", "false");
    struct tact_device_setting all[8];
    memcpy(all, settings, (size_t)count * sizeof *settings);
    all[count] = setting_without_guard;
    device_config_init(&config, all, count + 1);
    return tact_comedi_type.open(&config.config, &device, &config.err);
}

/* Runs one tick of 1 ms: reads and writes the board. */
static void run_device_tick(const double *out)
{
    int64_t now = tact_clock_now();
    device.ops->read(device.self, tick, (double)tick * 1e-3, now, &in);
    device.ops->write(device.self, out, now);
    tick++;
    tact_clock_sleep_until(now + 1000000);
}

static void read_and_write_board_in_ticks(int n, const double *out)
{
    for (int i = 0; i < n; i++) {
        run_device_tick(out);
    }
}

static const double zeros[TACT_DEVICE_CHANNELS];

static void write_board_output(const char *node, unsigned int channel, lsampl_t raw)
{
    comedi_t *dev = comedi_open(node);
    assert_non_null(dev);
    assert_true(comedi_data_write(dev, 1, channel, 0, AREF_GROUND, raw) >= 0);
    comedi_close(dev);
}

static void board_values_are_written_and_read(void **unused)
{
    (void)unused;
    const double output_to_volts_matrix[] = {0, 2, 1, 0.5};
    const double volts_to_input_matrix[] = {0, 0.5, 0, -2, 2, 0.25};
    const struct tact_device_setting settings[] = {
        SETTING("outputs", "current=ao0 force=ao3"), SETTING("inputs", "angle=ai0 load=ai3"),
        NUMBERS("output_map", 2, 2, output_to_volts_matrix),
        NUMBERS("input_map", 2, 3, volts_to_input_matrix), SETTING("input_units", "rad N")};
    const double out[] = {1.25, -4.0};
    write_board_output(BOARD_NODE, 0, 12345);
    write_board_output(BOARD_NODE, 3, 54321);
    assert_int_equal(open_board_device(settings, 5), 0);
    assert_string_equal(device.info.input[1].unit, "N");
    /* outputs are zeroed on opening, before the first tick */
    assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    assert_int_equal(read_board_output(BOARD_NODE, 3), lrint((1.0 + 10.0) / lsb));
    run_device_tick(out);
    run_device_tick(out);
    assert_int_equal(in.state, TACT_DEVICE_OK);
    assert_true(fabs(in.channel[0] - 0.5 * 2.5) <= 0.5 * lsb);
    double volts = 1.0 + 0.5 * -4.0;
    double load = -2.0 + 2.0 * volts + 0.25 * volts * volts;
    assert_true(fabs(in.channel[1] - load) <= 2.5 * lsb);
    const double volts_beyond_range[] = {
        1e9, NAN}; /* a value beyond the range is clamped to it, NaN is treated as 0 */
    run_device_tick(volts_beyond_range);
    assert_int_equal(read_board_output(BOARD_NODE, 0), LARGEST_BOARD_RAW_VALUE);
    assert_int_equal(read_board_output(BOARD_NODE, 3), lrint((1.0 + 10.0) / lsb));
    device.ops->close(device.self);
    assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    assert_int_equal(read_board_output(BOARD_NODE, 3), lrint((1.0 + 10.0) / lsb));
}

static void board_tick_makes_two_system_calls(void **unused)
{
    (void)unused;
    const struct tact_device_setting settings[] = {SETTING("outputs", "a=ao0 b=ao1 c=ao2 d=ao3"),
                                                   SETTING("inputs", "i=ai0 j=ai1 k=ai2 l=ai3")};
    assert_int_equal(open_board_device(settings, 2), 0);
    read_and_write_board_in_ticks(20, zeros);
    int before = ioctl_call_count;
    int64_t ticks_start_ns = tact_clock_now();
    for (int i = 0; i < 1000; i++) {
        device.ops->read(device.self, tick, 0.0, 0, &in);
        device.ops->write(device.self, zeros, 0);
        tick++;
    }
    int64_t ticks_duration_ns = tact_clock_now() - ticks_start_ns;
    assert_int_equal(ioctl_call_count - before, 2000);
    print_message("8 channels: %.1f us a tick\n", (double)ticks_duration_ns / 1e6);
    assert_true(ticks_duration_ns < 1000 * 15000);
    device.ops->close(device.self);
}

/* Another process cannot write locked outputs, nor can another device claim them. */
static void board_outputs_are_locked(void **unused)
{
    (void)unused;
    const struct tact_device_setting settings[] = {SETTING("outputs", "a=ao0")};
    assert_int_equal(open_board_device(settings, 1), 0);
    comedi_t *other = comedi_open(BOARD_NODE);
    assert_true(comedi_data_write(other, 1, 0, 0, AREF_GROUND, 1) < 0);
    assert_true(comedi_data_write(other, 1, 5, 0, AREF_GROUND, 1) < 0);
    comedi_close(other);
    struct tact_device first = device;
    assert_int_equal(open_board_device(settings, 1), -EBUSY);
    assert_non_null(strstr(config.err.text, "another process has locked the outputs"));
    assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    first.ops->close(first.self);
    write_board_output(BOARD_NODE, 0, BOARD_RAW_VALUE_OF_ZERO_VOLTS); /* unlocked */
}

/* Sets the output that is wired to an input to `raw` for n ticks, while the device writes `out`. */
static void set_output_wired_to_input(int descriptor_of_board, lsampl_t raw, int n,
                                      const double *out)
{
    write_board_channel(descriptor_of_board, 1, 4, raw);
    read_and_write_board_in_ticks(n, out);
}

static void board_input_faults_zero_the_outputs(void **unused)
{
    (void)unused;
    const double limits[] = {-5, 5};
    const struct tact_device_setting settings[] = {
        SETTING("outputs", "a=ao0"), SETTING("inputs", "x=ai4"), NUMBERS("limits", 1, 2, limits),
        SETTING("stuck", "400"), SETTING("recover", "0.02")};
    const double out[] = {2.0};
    const lsampl_t at_2 = (lsampl_t)lrint(12.0 / lsb);
    assert_int_equal(open_board_device(settings, 5), 0);
    int descriptor_of_board = open_channels_of_process(0, BOARD_NODE);
    set_output_wired_to_input(descriptor_of_board, 40000, 5, out);
    assert_int_equal(in.state, TACT_DEVICE_OK);
    assert_int_equal(read_board_output(BOARD_NODE, 0), at_2);
    double good = in.channel[0];

    /* two saturated ticks are not a fault yet, but their values are not used */
    set_output_wired_to_input(descriptor_of_board, LARGEST_BOARD_RAW_VALUE, 2, out);
    assert_int_equal(in.state, TACT_DEVICE_OK);
    assert_true(in.channel[0] == good);
    read_and_write_board_in_ticks(1, out);
    assert_int_equal(in.state, TACT_DEVICE_STALE);
    assert_true(in.channel[0] == good);
    assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);

    set_output_wired_to_input(descriptor_of_board, 40000, 15, out); /* not yet */
    assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    read_and_write_board_in_ticks(20, out); /* during the ramp */
    long raw_output_during_ramp = read_board_output(BOARD_NODE, 0);
    assert_in_range(raw_output_during_ramp, BOARD_RAW_VALUE_OF_ZERO_VOLTS + 1, at_2 - 1);
    read_and_write_board_in_ticks(220, out);
    assert_int_equal(read_board_output(BOARD_NODE, 0), at_2);

    /* 8.3 V is within the converter's range, but outside the channel's limits */
    set_output_wired_to_input(descriptor_of_board, 60000, 3, out);
    assert_int_equal(in.state, TACT_DEVICE_STALE);
    assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    for (int i = 0; i < 300; i++) {
        set_output_wired_to_input(descriptor_of_board, 40000U + (unsigned int)i % 2U, 1, out);
    }
    assert_int_equal(read_board_output(BOARD_NODE, 0), at_2);
    /* a reading that is constant for the whole timeout counts as stuck */
    read_and_write_board_in_ticks(401, out);
    assert_int_equal(in.state, TACT_DEVICE_STALE);
    assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    close(descriptor_of_board);
    device.ops->close(device.self);
    assert_non_null(strstr(config.messages, "warning: device: input x is saturated"));
    assert_non_null(strstr(config.messages, "warning: device: input x is outside its limits"));
    assert_non_null(strstr(config.messages, "warning: device: input x is stuck"));
}

/* A command of another process occupies the inputs: their values are stale and the outputs zero. */
static void busy_board_inputs_zero_the_outputs(void **unused)
{
    (void)unused;
    const struct tact_device_setting settings[] = {
        SETTING("outputs", "a=ao0"), SETTING("inputs", "x=ai1"), SETTING("recover", "0.01")};
    const double out[] = {3.0};
    unsigned int list = CR_PACK(0, 0, AREF_GROUND);
    comedi_cmd command = {0};
    assert_int_equal(open_board_device(settings, 3), 0);
    read_and_write_board_in_ticks(3, out);
    comedi_t *other = comedi_open(BOARD_NODE);
    comedi_get_cmd_generic_timed(other, 0, &command, 1, 1000000);
    command.chanlist = &list;
    command.chanlist_len = 1;
    command.stop_src = TRIG_NONE;
    command.stop_arg = 0;
    assert_int_equal(comedi_command(other, &command), 0);
    read_and_write_board_in_ticks(2, out);
    assert_int_equal(in.state, TACT_DEVICE_STALE);
    /* while another process uses them the inputs cannot be read */
    assert_int_equal(read_board_output(BOARD_NODE, 0), -1);
    read_and_write_board_in_ticks(60, out);
    comedi_cancel(other, 0);
    assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    read_and_write_board_in_ticks(300, out);
    assert_int_equal(in.state, TACT_DEVICE_OK);
    assert_int_equal(read_board_output(BOARD_NODE, 0), lrint(13.0 / lsb));
    comedi_close(other);
    device.ops->close(device.self);
    assert_non_null(strstr(config.messages, "cannot be read: Device or resource busy"));
}

static void board_plugged_in_again_is_used(void **unused)
{
    (void)unused;
    const struct tact_device_setting settings[] = {
        SETTING("outputs", "a=ao0"), SETTING("inputs", "x=ai0"), SETTING("recover", "0.01")};
    const double out[] = {3.0};
    assert_int_equal(open_board_device(settings, 3), 0);
    read_and_write_board_in_ticks(5, out);
    for (int round = 0; round < 5; round++) {
        double held = in.channel[0];
        attach_board_driver(BOARD_NODE, NULL);
        run_device_tick(out);
        assert_int_equal(in.state, TACT_DEVICE_LOST);
        assert_true(in.channel[0] == held);
        read_and_write_board_in_ticks(120, out);
        attach_board_driver(BOARD_NODE, "comedi_test 2000000,50000");
        int ticks_until_reconnected = 0;
        while (in.state != TACT_DEVICE_OK && ticks_until_reconnected < 500) {
            assert_true(read_board_output(BOARD_NODE, 0) <= (long)BOARD_RAW_VALUE_OF_ZERO_VOLTS);
            run_device_tick(out);
            ticks_until_reconnected++;
        }
        assert_in_range(ticks_until_reconnected, 1, 200);
        assert_true(read_board_output(BOARD_NODE, 0) < lrint(13.0 / lsb)); /* ramps up */
        read_and_write_board_in_ticks(250, out);
        assert_int_equal(read_board_output(BOARD_NODE, 0), lrint(13.0 / lsb));
    }
    device.ops->close(device.self);
    assert_int_equal(read_board_output(BOARD_NODE, 0), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    assert_non_null(strstr(config.messages, "was disconnected"));
    assert_non_null(strstr(config.messages, "is connected again"));
}

/* Another board at the same node is not accepted after the loss, as the calibration is not for it.
 */
static void another_board_at_the_same_node_is_refused(void **unused)
{
    (void)unused;
    const struct tact_device_setting settings[] = {SETTING("board", "/dev/comedi2"),
                                                   SETTING("inputs", "x=ai0")};
    attach_board_driver("/dev/comedi2", "comedi_test 2000000,50000");
    assert_int_equal(open_board_device(settings, 2), 0);
    attach_board_driver("/dev/comedi2", NULL);
    run_device_tick(zeros);
    attach_board_driver("/dev/comedi2", "comedi_parport 0x378");
    read_and_write_board_in_ticks(200, zeros);
    assert_int_equal(in.state, TACT_DEVICE_LOST);
    device.ops->close(device.self);
    attach_board_driver("/dev/comedi2", NULL);
    assert_non_null(strstr(config.messages, "a board of another kind is at this path"));
}

static void digital_outputs_follow_channels(void **unused)
{
    (void)unused;
    const struct tact_device_setting settings[] = {
        SETTING("board", "/dev/comedi2"), SETTING("outputs", "enable=do0 brake=!do1 lamp=do2@2"),
        SETTING("inputs", "paper=di0@1 idle=!di0@1")};
    const struct tact_device_setting good[] = {settings[0], settings[1],
                                               SETTING("inputs", "paper=di2@1 idle=!di3@1")};
    const double on[] = {1.0, 1.0, 1.0};
    lsampl_t bits = 0;
    attach_board_driver("/dev/comedi2", "comedi_parport 0x378");
    assert_int_equal(open_board_device(settings, 3), -EINVAL);
    assert_non_null(strstr(config.err.text, "given twice"));
    assert_int_equal(open_board_device(good, 3), 0);
    lsampl_t expected[] = {2, 1, 2}; /* released, on, released */
    for (int i = 0; i < 3; i++) {
        unsigned int read = 0;
        if (i == 1) {
            run_device_tick(on);
        } else if (i == 2) {
            run_device_tick(zeros);
        }
        /* the outputs are read at the hardware port, as the subdevice is locked */
        int descriptor_of_board = open_channels_of_process(0, "/dev/comedi2");
        lsampl_t data[2] = {0, 0};
        comedi_insn insn = {.insn = INSN_BITS, .n = 2, .data = data, .subdev = 0};
        assert_true(ioctl(descriptor_of_board, COMEDI_INSN, &insn) >= 0);
        read = data[1];
        close(descriptor_of_board);
        assert_int_equal(read & 3U, expected[i]);
    }
    assert_true(in.channel[0] == 0.0 || in.channel[0] == 1.0);
    device.ops->close(device.self);
    comedi_t *reader = comedi_open("/dev/comedi2");
    assert_int_equal(comedi_dio_bitfield2(reader, 0, 0, &bits, 0), 0);
    assert_int_equal(bits & 3U, 2);
    comedi_close(reader);
    attach_board_driver("/dev/comedi2", NULL);
}

static void two_boards_run_at_once(void **unused)
{
    (void)unused;
    const struct tact_device_setting first[] = {SETTING("outputs", "a=ao0"),
                                                SETTING("inputs", "x=ai0")};
    const struct tact_device_setting second[] = {SETTING("board", "/dev/comedi1"), first[0],
                                                 first[1]};
    const double out[] = {1.0};
    const double other[] = {-1.0};
    assert_int_equal(open_board_device(first, 2), 0);
    struct tact_device one = device;
    assert_int_equal(open_board_device(second, 3), 0);
    struct tact_device two = device;
    for (int i = 0; i < 3; i++) {
        one.ops->write(one.self, out, 0);
        two.ops->write(two.self, other, 0);
    }
    one.ops->read(one.self, 0, 0.0, 0, &in);
    assert_true(fabs(in.channel[0] - 1.0) <= lsb);
    two.ops->read(two.self, 0, 0.0, 0, &in);
    assert_true(fabs(in.channel[0] + 1.0) <= lsb);
    one.ops->close(one.self);
    two.ops->close(two.self);
}

static void bad_board_settings_are_named(void **unused)
{
    (void)unused;
    const double range[] = {-3, 3};
    const double rows[] = {0, 1, 0, 1, 0, 1};
    const struct {
        struct tact_device_setting setting[3];
        int count;
        int rc;
        const char *text;
    } cases[] = {
        {{SETTING("board", "/dev/comedi3"), SETTING("inputs", "x=ai0")}, 2, -ENODEV, "no board"},
        {{SETTING("board", "/dev/nothing"), SETTING("inputs", "x=ai0")}, 2, -ENOENT, "driver"},
        {{SETTING("inputs", "x=ai8")}, 1, -EINVAL, "has only 8 channels"},
        {{SETTING("inputs", "x=ai1@1")}, 1, -EINVAL, "no subdevice with this number"},
        {{SETTING("inputs", "x=di0")}, 1, -EINVAL, "no subdevice with this number"},
        {{SETTING("inputs", "x=ao0")}, 1, -EINVAL, "ai0, di0"},
        {{SETTING("inputs", "ai0")}, 1, -EINVAL, "NAME=CHANNEL"},
        {{SETTING("inputs", "x=!ai0")}, 1, -EINVAL, "digital"},
        {{SETTING("inputs", "x=ai0 y=ai0")}, 1, -EINVAL, "given twice"},
        {{SETTING("outputs", "x=ai0")}, 1, -EINVAL, "ao0, do0"},
        {{SETTING("inputs", "x=ai0"), NUMBERS("input_range", 1, 2, range)},
         2,
         -EINVAL,
         "[-10, 10]"},
        {{SETTING("inputs", "x=ai0 y=ai1"), NUMBERS("input_map", 3, 2, rows)},
         2,
         -EINVAL,
         "each of the 2"},
        {{SETTING("inputs", "x=ai0"), SETTING("calibration", "none.cal")},
         2,
         -EINVAL,
         "cannot open"},
        {{SETTING("inputs", "x=ai0"), SETTING("saturated", "0.5")}, 2, -EINVAL, "ticks"},
        {{SETTING("board", BOARD_NODE)}, 1, -EINVAL, "\"inputs\" or \"outputs\""},
        {{SETTING("outputs", "x=ao0"), SETTING("stream", "1000")}, 2, -EINVAL, "lists none"},
        {{SETTING("inputs", "x=ai0"), NUMBERS("maps.y", 1, 2, rows)}, 2, -EINVAL, "named y"},
        {{SETTING("inputs", "x=ai0"), NUMBERS("maps.x", 1, 2, rows),
          NUMBERS("input_map", 1, 2, rows)},
         3,
         -EINVAL,
         "not the key input_map as well"},
        {{SETTING("inputs", "x=ai0"), SETTING("calibrated_for", "another")},
         2,
         -EINVAL,
         "the calibration is for"},
        {{SETTING("inputs", "x=ai0"), SETTING("stream", "0.1")}, 2, -EINVAL, "1 to 1e8 Hz"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(open_board_device(cases[i].setting, cases[i].count), cases[i].rc);
        if (!strstr(config.err.text, cases[i].text)) {
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, config.err.text, cases[i].text);
        }
        assert_string_equal(config.err.file, "scene.yaml");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(board_values_are_written_and_read),
        cmocka_unit_test(board_tick_makes_two_system_calls),
        cmocka_unit_test(board_outputs_are_locked),
        cmocka_unit_test(board_input_faults_zero_the_outputs),
        cmocka_unit_test(busy_board_inputs_zero_the_outputs),
        cmocka_unit_test(board_plugged_in_again_is_used),
        cmocka_unit_test(another_board_at_the_same_node_is_refused),
        cmocka_unit_test(digital_outputs_follow_channels),
        cmocka_unit_test(two_boards_run_at_once),
        cmocka_unit_test(gauge_wrench_passes_through_a_session),
        cmocka_unit_test(tare_measures_the_zero_of_a_wrench_sensor),
        cmocka_unit_test(board_stream_is_read_beside_the_loop),
        cmocka_unit_test(overflowing_board_stream_is_restarted),
        cmocka_unit_test(card_recordings_are_played_to_the_bit),
        cmocka_unit_test(bad_board_settings_are_named),
    };
    set_up_boards();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
