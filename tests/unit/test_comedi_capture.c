/* Recordings of measurement cards, played without a card: the inputs are those of the recorded raw
 * words, converted by the present settings. The writing of recordings is tested in tests/vm. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/comedi/comedi.h"
#include "support/campaign.h"
#include "support/device_config.h"

enum { TICKS = 60, SATURATED = 20, UNPLUG_TICK = 30, REPLUG_TICK = 40 };

/* A card of 12 bits, 8 V above and below zero: a step of 1/256 V. */
#define RECORDING_HEADER                                                                           \
    "# tact raw words of a measurement card\n"                                                     \
    "# device board, period 0.001\n"                                                               \
    "# driver a_driver\n"                                                                          \
    "# board a board\n"                                                                            \
    "# channel ai4@0 angle maxdata 4096 range 1 from -8 to 8 volts 0 -8 0.00390625\n"              \
    "# channel ai5@0 load maxdata 4096 range 1 from -8 to 8 volts 0 -8 0.00390625\n"               \
    "# channel di2@3 pedal maxdata 1\n"                                                            \
    "# channel counter0@5 turn maxdata 65535\n"                                                    \
    "# tick,error,held,before_ns,age_ns,restarts,new,angle,load,pedal,turn\n"                      \
    "-2,0,0,0,0,0,1,2048,2304,0,65530\n"                                                           \
    "-2,0,0,0,0,0,1,2048,2560,0,65530\n"                                                           \
    "-1,0,0,0,0,0,1,2048,2048,0,65530\n"

static char path[] = "/tmp/tact_card_XXXXXX";
static struct device_config config;

static void write_file(const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

/* Text of a card's recording: the angle rises by one raw step a tick, the pedal is pressed from
 * tick 10 on, the counter increases by 2 a tick. */
static size_t make_recording_text(char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", RECORDING_HEADER);
    for (int tick = 0; tick < TICKS; tick++) {
        const int is_unplugged_at_tick = tick >= UNPLUG_TICK && tick < REPLUG_TICK;
        const int load = tick >= SATURATED && tick < SATURATED + 5 ? 4096 : 2048 + 256;
        n += (size_t)snprintf(text + n, size - n, "%d,%d,0,0,0,0,1,%d,%d,%d,%d\n", tick,
                              is_unplugged_at_tick ? 19 : 0, 2048 + tick, load, tick >= 10,
                              (65530 + 2 * tick) % 65536);
    }
    assert_true(n < size);
    return n;
}

static int open_device_with_settings(const struct tact_device_setting *settings, int count,
                                     double period, struct tact_device *device)
{
    struct tact_device_setting all[12] = {SETTING("recording", path)};
    for (int i = 0; i < count; i++) {
        all[1 + i] = settings[i];
    }
    device_config_init(&config, all, 1 + count);
    config.config.period = period;
    return tact_comedi_type.open(&config.config, device, &config.err);
}

static struct tact_device open_recording_of_card(const struct tact_device_setting *settings,
                                                 int count, double period)
{
    struct tact_device device = {0};
    if (open_device_with_settings(settings, count, period, &device)) {
        fail_msg("%s:%d: %s", config.err.file, config.err.line, config.err.text);
    }
    return device;
}

static const int64_t start_ns = 7000000000;

static struct tact_device_input read_card_at_tick(struct tact_device *device, uint64_t tick,
                                                  double period)
{
    struct tact_device_input in = {.state = -1};
    const double t = (double)tick * period;
    device->ops->read(device->self, tick, t, start_ns + llround(t * 1e9), &in);
    return in;
}

static void recorded_card_readings_are_played(void **state)
{
    const struct tact_device_setting settings[] = {
        SETTING("inputs", "angle=ai4 load=ai5 pedal=di2 turn=counter0"),
        SETTING("outputs", "motor=ao0 on=do1"), SETTING("recover", "0.003")};
    (void)state;
    struct tact_device device = open_recording_of_card(settings, 3, 1e-3);
    assert_null(device.ops->write);
    assert_string_equal(device.info.model, "a board");
    assert_int_equal(device.info.output_count, 2);
    for (uint64_t tick = 0; tick < TICKS + 5; tick++) {
        struct tact_device_input in = read_card_at_tick(&device, tick, 1e-3);
        const int is_unplugged_at_tick = tick >= UNPLUG_TICK && tick < REPLUG_TICK;
        const int has_capture_ended = tick >= TICKS;
        const double last = (double)(is_unplugged_at_tick ? UNPLUG_TICK - 1
                                     : has_capture_ended  ? TICKS - 1
                                                          : tick);
        /* three ticks of saturation make a fault; three ticks without it end a fault or a loss */
        const int is_card_stale = (tick >= SATURATED + 2 && tick < SATURATED + 7) ||
                                  (tick >= REPLUG_TICK && tick < REPLUG_TICK + 2);
        assert_int_equal(in.state, is_unplugged_at_tick ? TACT_DEVICE_LOST
                                   : has_capture_ended  ? TACT_DEVICE_ENDED
                                   : is_card_stale      ? TACT_DEVICE_STALE
                                                        : TACT_DEVICE_OK);
        assert_true(in.channel[0] == last / 256.0);
        assert_true(in.channel[1] == (tick >= SATURATED && tick < SATURATED + 2 ? 8.0 : 1.0) ||
                    (tick >= SATURATED + 2 && tick < SATURATED + 5 && in.channel[1] == 8.0));
        assert_true(in.channel[2] == (tick >= 10 && !is_unplugged_at_tick ? 1.0 : 0.0));
        /* counter increments while the board was unplugged are unknown */
        assert_true(in.channel[3] ==
                    2.0 * (last - (tick >= REPLUG_TICK ? REPLUG_TICK - UNPLUG_TICK + 1 : 0)));
        assert_int_equal(in.stamp_ns, start_ns + 1000000 * (int64_t)last);
    }
    device.ops->close(device.self);
    assert_non_null(strstr(config.messages, "input load is saturated"));
}

/* A card's recording is played with other settings, in a loop of another period. */
static void card_recording_is_played_with_other_settings(void **state)
{
    static const double map[] = {10, 2}, range[] = {-8, 8};
    const struct tact_device_setting settings[] = {
        SETTING("inputs", "pressed=!di2@3 way=ai4@0"), NUMBERS("input_map", 1, 2, map),
        NUMBERS("input_range", 1, 2, range), SETTING("input_units", "mm")};
    (void)state;
    for (int period_in_half_ms = 1; period_in_half_ms < 5; period_in_half_ms += 3) {
        const double period = 0.5e-3 * period_in_half_ms;
        struct tact_device device = open_recording_of_card(settings, 4, period);
        assert_string_equal(device.info.input[1].unit, "mm");
        for (uint64_t tick = 0; (double)tick * period < 0.0295; tick++) {
            struct tact_device_input in = read_card_at_tick(&device, tick, period);
            const double row_time_ms = floor((double)tick * period_in_half_ms / 2.0);
            assert_int_equal(in.state, TACT_DEVICE_OK);
            assert_true(in.channel[0] == (row_time_ms >= 10.0 ? 0.0 : 1.0));
            assert_true(in.channel[1] == 10.0 + 2.0 * row_time_ms / 256.0);
            assert_int_equal(in.stamp_ns, start_ns + llround(row_time_ms * 1e6));
        }
        device.ops->close(device.self);
    }
}

/* A sensor's tare is the mean of the recorded rows before tick 0. */
static void sensor_tare_is_computed_from_the_recording(void **state)
{
    static const double matrix[6][6] = {{1, 0, 0, 0, 0, 0}, {0, 3, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0},
                                        {0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 1}};
    static char text[4096];
    size_t n = 0;
    const struct tact_device_setting settings[] = {
        SETTING("inputs", "g0=ai0 g1=ai1 g2=ai2 g3=ai3 g4=ai4 g5=ai5"),
        SETTING("wrenches[0].name", "wrist"), SETTING("wrenches[0].channels", "g0 g1 g2 g3 g4 g5"),
        NUMBERS("wrenches[0].matrix", 6, 6, &matrix[0][0]), SETTING("wrenches[0].tare", "0.01")};
    (void)state;
    n += (size_t)snprintf(text, sizeof text,
                          "# device board, period 0.001\n# driver d\n# board b\n");
    for (int i = 0; i < 6; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "# channel ai%d@0 g%d maxdata 4096 range 0 from -8 to 8 volts 0 -8 "
                              "0.00390625\n",
                              i, i);
    }
    snprintf(text + n, sizeof text - n,
             "-2,0,0,0,0,0,1,2304,2304,2048,2048,2048,2048\n"
             "-2,0,0,0,0,0,1,2304,2816,2048,2048,2048,2048\n"
             "-1,0,0,0,0,0,1,2304,2560,2048,2048,2048,2048\n"
             "0,0,0,0,0,0,1,2304,3072,2048,2048,2048,2048\n");
    write_file(text, strlen(text));
    struct tact_device device = open_recording_of_card(settings, 5, 1e-3);
    struct tact_device_input in = read_card_at_tick(&device, 0, 1e-3);
    assert_true(in.channel[6] == 0.0 && in.channel[7] == 6.0 && in.channel[8] == 0.0);
    device.ops->close(device.self);
}

static void expect_card_recording_refused(const char *text, int line, const char *word)
{
    struct tact_device device = {0};
    const struct tact_device_setting inputs[] = {SETTING("inputs", "angle=ai4")};
    write_file(text, strlen(text));
    assert_int_equal(open_device_with_settings(inputs, 1, 1e-3, &device), -22);
    assert_int_equal(config.err.line, line);
    if (!strstr(config.err.text, word)) {
        fail_msg("'%s' lacks '%s'", config.err.text, word);
    }
}

static void files_that_are_no_recording_are_refused(void **state)
{
    static const double range[] = {-10, 10};
    const struct tact_device_setting other[] = {SETTING("inputs", "angle=ai3")};
    const struct tact_device_setting wide[] = {SETTING("inputs", "angle=ai4"),
                                               NUMBERS("input_range", 1, 2, range)};
    const struct tact_device_setting settings_of_other_card[] = {
        SETTING("inputs", "angle=ai4"), SETTING("calibrated_for", "another")};
    struct tact_device device = {0};
    (void)state;
    expect_card_recording_refused("", 0, "no tick");
    expect_card_recording_refused(RECORDING_HEADER, 0, "no tick");
    expect_card_recording_refused("name: scene\n", 1, "recording of a measurement card");
    expect_card_recording_refused(RECORDING_HEADER "0,0,0,0,0,0,1,2048,2048,0\n", 13,
                                  "recording of a measurement card");
    expect_card_recording_refused(RECORDING_HEADER "0,0,0,0,0,0,1,2048,4097,0,0\n", 13,
                                  "recording of a measurement card");
    expect_card_recording_refused(RECORDING_HEADER "0,0,0,0,0,0,1,2048,2048,0,0,0\n", 13,
                                  "recording of a measurement card");
    expect_card_recording_refused(RECORDING_HEADER "0,0,3,0,0,0,1,2048,2048,0,0\n", 13,
                                  "recording of a measurement card");
    expect_card_recording_refused(RECORDING_HEADER "1,0,0,0,0,0,1,1,1,0,0\n1,0,0,0,0,0,1,1,1,0,0\n",
                                  14, "recording of a measurement card");
    write_file(RECORDING_HEADER "0,0,0,0,0,0,1,1,1,0,0\n1,0,0,0,0", strlen(RECORDING_HEADER) + 31);
    assert_int_equal(open_device_with_settings(other, 1, 1e-3, &device), -22);
    assert_non_null(strstr(config.err.text, "ai3 was not recorded; recorded are: ai4, ai5, di2"));
    assert_int_equal(open_device_with_settings(wide, 2, 1e-3, &device), -22);
    assert_non_null(strstr(config.err.text, "angle was recorded in [-8, 8]"));
    assert_int_equal(open_device_with_settings(settings_of_other_card, 2, 1e-3, &device), -22);
    assert_non_null(strstr(config.err.text, "for the board another, this board is a board"));
    /* the recording ends within a row, as its writer was killed */
    device = open_recording_of_card(wide, 1, 1e-3);
    device.ops->close(device.self);
}

/* Opening a pipe would wait for a program that writes to it: as a recording, as a calibration. */
static void pipe_or_folder_is_refused_at_once(void **state)
{
    (void)state;
    char pipe[] = "/tmp/tact_card_pipe_XXXXXX", folder[] = "/tmp";
    struct tact_device device = {0};
    close(mkstemp(pipe));
    assert_int_equal(unlink(pipe), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    alarm(10);
    for (int i = 0; i < 2; i++) {
        const char *word = i ? "this path is a folder: expected a file" : "not a regular file";
        char *file = i ? folder : pipe;
        const struct tact_device_setting settings_with_invalid_recording[] = {
            SETTING("recording", file), SETTING("inputs", "angle=ai4")};
        device_config_init(&config, settings_with_invalid_recording, 2);
        config.config.period = 1e-3;
        assert_true(tact_comedi_type.open(&config.config, &device, &config.err) < 0);
        assert_string_equal(config.err.file, file);
        assert_string_equal(config.err.text, word);
        const struct tact_device_setting calibration[] = {SETTING("inputs", "angle=ai4"),
                                                          SETTING("calibration", file)};
        write_file(RECORDING_HEADER "0,0,0,0,0,0,1,1,1,0,0\n", strlen(RECORDING_HEADER) + 22);
        assert_int_equal(open_device_with_settings(calibration, 2, 1e-3, &device), -22);
        assert_string_equal(config.err.key, "calibration");
        assert_non_null(strstr(config.err.text, word));
    }
    alarm(0);
    unlink(pipe);
}

static uint32_t next_random_bits(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

/* Whatever the file contains, it is played or refused; what is played is finite. */
static void damaged_recordings_are_played_or_refused(void **state)
{
    static char text[8192];
    const struct tact_device_setting settings[] = {
        SETTING("inputs", "angle=ai4 load=ai5 pedal=di2 turn=counter0")};
    uint32_t seed = 20261122 ^ (uint32_t)(campaign_seed_offset() >> 32);
    int accepted_recording_count = 0;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        static const char bytes[] = "0123456789-,ace#@ .\n\xff";
        struct tact_device device = {0};
        const size_t size = make_recording_text(text, sizeof text);
        for (uint32_t k = next_random_bits(&seed) % 4 + 1; k > 0; k--) {
            text[next_random_bits(&seed) % (k % 2 ? size : sizeof RECORDING_HEADER)] =
                bytes[next_random_bits(&seed) % (sizeof bytes - 1)];
        }
        write_file(text, size);
        if (open_device_with_settings(settings, 1, 1e-3, &device) == 0) {
            accepted_recording_count++;
            for (uint64_t tick = 0; tick < TICKS; tick += 7) {
                struct tact_device_input in = read_card_at_tick(&device, tick, 1e-3);
                for (int k = 0; k < device.info.input_count; k++) {
                    assert_true(isfinite(in.channel[k]));
                }
            }
            device.ops->close(device.self);
        }
    }
    print_message("2000 damaged files: %d played\n", accepted_recording_count);
    assert_true(accepted_recording_count > 200 && accepted_recording_count < 1900);
}

static int make_recording_file(void **state)
{
    static char text[8192];
    (void)state;
    int file = mkstemp(path);
    if (file < 0 || close(file)) {
        return -1;
    }
    write_file(text, make_recording_text(text, sizeof text));
    return 0;
}

static int remove_recording_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_card_readings_are_played),
        cmocka_unit_test(card_recording_is_played_with_other_settings),
        cmocka_unit_test(sensor_tare_is_computed_from_the_recording),
        cmocka_unit_test(files_that_are_no_recording_are_refused),
        cmocka_unit_test(pipe_or_folder_is_refused_at_once),
        cmocka_unit_test(damaged_recordings_are_played_or_refused),
    };
    return cmocka_run_group_tests(tests, make_recording_file, remove_recording_file);
}
