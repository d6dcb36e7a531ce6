/* Recordings of input devices: those of tact, those of evemu, and files that are neither. */
#include <errno.h>
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
#include "devices/evdev/evdev.h"
#include "devices/common/capture_internal.h"
#include "support/device_config.h"

static const double period = 1e-3;

/* A puck with a stick, a button and a relative axis, read by a loop of 1 ms. */
#define RECORDING_FILE_HEAD                                                                        \
    "# EVEMU 1.3\n"                                                                                \
    "N: Test puck\n"                                                                               \
    "I: 0003 046d c626 0110\n"                                                                     \
    "P: 00 00 00 00 00 00 00 00\n"                                                                 \
    "B: 00 0f 00 00 00 00 00 00 00\n"                                                              \
    "B: 01 00 00 00 00 00 00 00 00\n"                                                              \
    "B: 01 00 00 00 00 00 00 00 00\n"                                                              \
    "B: 01 00 00 00 00 00 00 00 00\n"                                                              \
    "B: 01 00 00 00 00 00 00 00 00\n"                                                              \
    "B: 01 00 00 00 00 00 00 03 00\n"                                                              \
    "B: 02 09 00 00 00 00 00 00 00\n"                                                              \
    "B: 03 03 00 00 00 00 00 00 00\n"                                                              \
    "A: 00 -100 100 0 0 0\n"                                                                       \
    "A: 01 0 200 0 0 0\n"
#define TACT_RECORDING_HEADER "# tact device puck, period 0.001, clock monotonic\n"

static const char recording_text_by_tact[] =
    RECORDING_FILE_HEAD TACT_RECORDING_HEADER "E: 50.000000 0003 0001 0150\t# start\n"
                                              "E: 50.000000 0001 0130 0001\t# start\n"
                                              "# tick 0 at 50.500000250\n"
                                              "E: 50.509100 0003 0000 0050\t# tick 10\n"
                                              "E: 50.519000 0002 0003 0175\t# tick 20\n"
                                              "E: 50.519000 0002 0000 0007\t# tick 20\n"
                                              "E: 50.519000 0002 0000 -0002\t# tick 20\n"
                                              "# lost tick 30\n"
                                              "# back tick 40\n"
                                              "E: 50.540000 0003 0000 -0100\t# tick 40 state\n"
                                              "E: 50.548000 0001 0130 0001\t# tick 50\n"
                                              "# end tick 60\n";

/* A recording as evemu-record writes it: with time stamps, without tick numbers. */
static const char recording_text_by_evemu[] =
    RECORDING_FILE_HEAD "E: 1234.500000 0003 0000 0100\t# EV_ABS / ABS_X 100\n"
                        "E: 1234.500000 0000 0000 0000\t# ------ SYN_REPORT (0)\n"
                        "E: 1234.510400 0001 0130 0001\n"
                        "E: 1234.510400 0000 0000 0000\n"
                        "E: 1234.530000 0003 0000 -0050\n";

static char path[] = "/tmp/tact_capture_XXXXXX";

static void write_recording_file(const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

static struct tact_device
open_device_that_plays_text(const char *text, const struct tact_device_setting *more, int count)
{
    struct device_config c;
    struct tact_device device = {0};
    struct tact_device_setting s[8] = {SETTING("recording", path)};
    write_recording_file(text, strlen(text));
    for (int i = 0; i < count; i++) {
        s[1 + i] = more[i];
    }
    device_config_init(&c, s, 1 + count);
    if (tact_evdev_type.open(&c.config, &device, &c.err)) {
        fail_msg("%s:%d: %s", c.err.file, c.err.line, c.err.text);
    }
    return device;
}

static const int64_t start_ns = 7000000000;

static struct tact_device_input read_device_at_tick(struct tact_device *device, uint64_t tick)
{
    struct tact_device_input in = {.state = -1};
    device->ops->read(device->self, tick, (double)tick * period, start_ns + 1000000 * (int64_t)tick,
                      &in);
    return in;
}

static int device_channel_index(const struct tact_device *device, const char *name)
{
    for (int i = 0; i < device->info.input_count; i++) {
        if (!strcmp(device->info.input[i].name, name)) {
            return i;
        }
    }
    fail_msg("no channel %s", name);
    return -1;
}

/* The played recording has the ticks, stamps, increments, loss of the device and end that were
 * recorded. */
static void recording_by_tact_is_played_as_recorded(void **state)
{
    (void)state;
    struct tact_device device = open_device_that_plays_text(recording_text_by_tact, NULL, 0);
    const int x = device_channel_index(&device, "abs_x"),
              y = device_channel_index(&device, "abs_y");
    const int rx = device_channel_index(&device, "rel_rx"),
              south = device_channel_index(&device, "btn_south");
    assert_string_equal(device.info.type, "evdev");
    for (uint64_t tick = 0; tick < 80; tick++) {
        struct tact_device_input in = read_device_at_tick(&device, tick);
        assert_int_equal(in.state, tick >= 30 && tick < 40 ? TACT_DEVICE_LOST
                                   : tick > 60             ? TACT_DEVICE_ENDED
                                                           : TACT_DEVICE_OK);
        assert_true(in.channel[x] == (tick < 10 ? 0.0 : tick < 40 ? 0.5 : -1.0));
        assert_true(in.channel[y] == 0.5);
        /* rel_rx is a displacement: 175 of 350 is 0.5, and 0 once the device is unplugged. */
        assert_true(in.channel[rx] == (tick >= 20 && tick < 30 ? 0.5 : 0.0));
        assert_true(in.channel[south] == (tick < 30 || tick >= 50 ? 1.0 : 0.0));
        if (tick >= 10 && tick < 20) { /* the event's stamp is as recorded, 0.9 ms before tick 10 */
            assert_int_equal(in.stamp_ns, start_ns + 9099750);
        } else if (tick >= 40 && tick < 50) {
            assert_int_equal(in.stamp_ns, start_ns + 40000000);
        }
    }
    device.ops->close(device.self);
}

/* A device without axes returns with no button pressed: the recording has no event of its state,
 * and the played stamp is that of the return. */
static void played_device_that_returns_has_a_new_stamp(void **state)
{
    (void)state;
    struct tact_device device = open_device_that_plays_text(
        RECORDING_FILE_HEAD TACT_RECORDING_HEADER "# tick 0 at 50.500000000\n"
                                                  "E: 50.509100 0002 0000 0050\t# tick 10\n"
                                                  "# lost tick 30\n"
                                                  "# back tick 40\n"
                                                  "# end tick 60\n",
        NULL, 0);
    for (uint64_t tick = 0; tick < 60; tick++) {
        struct tact_device_input in = read_device_at_tick(&device, tick);
        if (tick >= 10) {
            assert_int_equal(in.stamp_ns, start_ns + (tick < 40 ? 9100000 : 40000000));
        }
    }
    device.ops->close(device.self);
}

/* The same recording is played with other settings of channels, scales and timeout. */
static void recording_is_played_with_other_settings(void **state)
{
    (void)state;
    const struct tact_device_setting more[] = {
        SETTING("inverted", "abs_x"),        SETTING("unsigned", "abs_y"),
        SETTING("relative", "increment"),    SETTING("channels", "abs_x abs_y rel_x rel_rx"),
        SETTING("forces", "force_x strong"), SETTING("deadzone", "0.25")};
    struct tact_device device = open_device_that_plays_text(recording_text_by_tact, more, 6);
    const int y = device_channel_index(&device, "abs_y"),
              rel = device_channel_index(&device, "rel_x");
    assert_int_equal(device.info.output_count, 2);
    assert_string_equal(device.info.output[1].name, "strong");
    struct tact_device_input in = read_device_at_tick(&device, 25);
    assert_null(device.ops->write);
    assert_true(fabs(in.channel[0] + 1.0 / 3.0) < 1e-15);
    assert_true(fabs(in.channel[y] - 2.0 / 3.0) < 1e-15);
    assert_true(in.channel[rel] == 5.0);
    assert_true(in.channel[device_channel_index(&device, "rel_rx")] == 175.0);
    assert_true(in.channel[device_channel_index(&device, "force_age")] == 0.0);
    device.ops->close(device.self);
}

static void recording_by_evemu_is_played_as_recorded(void **state)
{
    (void)state;
    struct tact_device device = open_device_that_plays_text(recording_text_by_evemu, NULL, 0);
    const int x = device_channel_index(&device, "abs_x"),
              south = device_channel_index(&device, "btn_south");
    for (uint64_t tick = 0; tick < 50; tick++) {
        struct tact_device_input in = read_device_at_tick(&device, tick);
        assert_true(in.channel[x] == (tick < 30 ? 1.0 : -0.5));
        assert_true(in.channel[south] == (tick < 11 ? 0.0 : 1.0)); /* at 10.4 ms */
        assert_int_equal(in.state, tick > 30 ? TACT_DEVICE_ENDED : TACT_DEVICE_OK);
        assert_int_equal(in.stamp_ns, start_ns + (tick < 11 ? 0 : tick < 30 ? 11000000 : 30000000));
    }
    device.ops->close(device.self);
}

static void expect_recording_refused(const char *text, int line, const char *word)
{
    struct device_config c;
    struct tact_device device = {0};
    const struct tact_device_setting s[] = {SETTING("recording", path)};
    write_recording_file(text, strlen(text));
    device_config_init(&c, s, 1);
    assert_int_equal(tact_evdev_type.open(&c.config, &device, &c.err), -22);
    assert_string_equal(c.err.file, path);
    assert_int_equal(c.err.line, line);
    if (!strstr(c.err.text, word)) {
        fail_msg("'%s' lacks '%s'", c.err.text, word);
    }
}

static void expect_long_line_refused(void)
{
    char text[4000];
    snprintf(text, sizeof text, "%sN: %*s\n", RECORDING_FILE_HEAD, 2000, "name");
    expect_recording_refused(text, 15, "recording by evemu-record");
}

static void files_that_are_no_recording_are_refused(void **state)
{
    (void)state;
    struct device_config c;
    struct tact_device device = {0};
    const struct tact_device_setting absent[] = {SETTING("recording", "/nowhere/at/all.evemu")};
    expect_recording_refused("", 0, "no event");
    expect_recording_refused(RECORDING_FILE_HEAD, 0, "no event");
    expect_recording_refused("name: scene\n", 1, "recording by evemu-record");
    expect_recording_refused(RECORDING_FILE_HEAD "E: 1.0 0003\n", 15, "recording by evemu-record");
    expect_recording_refused(RECORDING_FILE_HEAD "A: 44 0 1 0 0\nE: 1.000000 0003 0000 0001\n", 15,
                             "recording by evemu-record");
    expect_recording_refused("# tact device puck, period -1, clock real\n", 1,
                             "recording by evemu-record");
    /* Refused lines of a recording: numbers over 32 bits, a stamp without six decimals, a line
     * without an end. */
    expect_recording_refused(RECORDING_FILE_HEAD "E: 1.000000 0003 0000 4294967297\n", 15,
                             "recording by evemu-record");
    expect_recording_refused(RECORDING_FILE_HEAD "E: 1.000000 0003 0000 12x\n", 15,
                             "recording by evemu-record");
    expect_recording_refused(RECORDING_FILE_HEAD "E: 1.5 0003 0000 0001\n", 15,
                             "recording by evemu-record");
    expect_recording_refused(RECORDING_FILE_HEAD "A: 02 0 4294967551 0 0 0\n", 15,
                             "recording by evemu-record");
    expect_recording_refused("# EVEMU 1.3\n#   Event type 3 (EV_ABS)\n#     Event code 0 (ABS_X)\n"
                             "#       Value 99999999999\n",
                             4, "recording by evemu-record");
    expect_long_line_refused();
    device_config_init(&c, absent, 1);
    assert_int_equal(tact_evdev_type.open(&c.config, &device, &c.err), -2);
    assert_string_equal(c.err.file, "/nowhere/at/all.evemu");
}

/* The header that evemu-record writes before the events: the device's capabilities, and its axes
 * and buttons at the start. */
#define EVEMU_HEADER_WITH_START_STATE                                                              \
    "# EVEMU 1.3\n# Kernel: 4.8.6-1-ARCH\n# Supported events:\n"                                   \
    "#   Event type 1 (EV_KEY)\n#     Event code 304 (BTN_SOUTH)\n"                                \
    "#   Event type 3 (EV_ABS)\n"                                                                  \
    "#     Event code 0 (ABS_X)\n#       Value    -42\n#       Min     -100\n#       Max      "    \
    "100\n"                                                                                        \
    "#       Fuzz       0\n#       Flat       0\n#       Resolution 0\n"                           \
    "#     Event code 2 (ABS_Z)\n#       Value      0\n#       Min        0\n#       Max      "    \
    "255\n"                                                                                        \
    "#     Event code 5 (ABS_RZ)\n#       Value    255\n#       Min        0\n#       Max      "   \
    "255\n"                                                                                        \
    "#   Event type 21 (EV_FF)\n#     Event code 1 (FF_?)\n#       Value     77\n# Properties:\n"
#define EVEMU_DEVICE_AND_EVENT_LINES                                                               \
    "N: Test stick\nI: 0003 046d c626 0110\n"                                                      \
    "B: 03 27 00 00 00 00 00 00 00\n"                                                              \
    "A: 00 -100 100 0 0 0\nA: 01 0 200 0 0\nA: 02 0 255 0 0 0\nA: 05 0 255 0 0 0\n"                \
    "E: 0.000001 0003 0000 0050\n"

/* Axes of a played recording begin at the recorded state, and an axis that rests at an end of its
 * range is one-sided. A message names axes whose start value is absent and therefore guessed. */
static void played_axes_begin_at_the_recorded_values(void **state)
{
    (void)state;
    struct device_config c;
    struct tact_device device = {0};
    const struct tact_device_setting s[] = {SETTING("recording", path), SETTING("raw", "true")};
    const char text[] = EVEMU_HEADER_WITH_START_STATE EVEMU_DEVICE_AND_EVENT_LINES;
    write_recording_file(text, strlen(text));
    for (int raw = 0; raw < 2; raw++) {
        device_config_init(&c, s, 1 + raw);
        if (tact_evdev_type.open(&c.config, &device, &c.err)) {
            fail_msg("%d: %s", c.err.line, c.err.text);
        }
        if (!strstr(c.messages, "initial position") || !strstr(c.messages, "ABS_Y") ||
            strstr(c.messages, "ABS_X") || strstr(c.messages, "ABS_RZ")) {
            fail_msg("%s", c.messages);
        }
        struct tact_device_input in = {.state = -1};
        /* read before the first event of the recording */
        device.ops->read(device.self, 0, -1e-3, start_ns, &in);
        const double *v = in.channel;
        const int x = device_channel_index(&device, "abs_x"),
                  y = device_channel_index(&device, "abs_y");
        const int z = device_channel_index(&device, "abs_z"),
                  rz = device_channel_index(&device, "abs_rz");
        assert_true(v[x] == (raw ? -42.0 : -0.42));
        assert_true(v[y] == (raw ? 100.0 : 0.0));
        assert_true(v[z] == 0.0); /* the axis begins at the end of its range, not in the middle */
        assert_true(v[rz] == (raw ? 255.0 : 0.0));
        device.ops->read(device.self, 1, 1e-3, start_ns, &in);
        assert_true(v[x] == (raw ? 50.0 : 0.5));
        device.ops->close(device.self);
    }
}

/* A byte order mark and comments of any length are accepted. */
static void recording_with_byte_order_mark_and_long_comments_is_read(void **state)
{
    (void)state;
    char *text = malloc(1 << 20);
    snprintf(text, 1 << 20, "\xEF\xBB\xBF%s# %*s\n%s# %*s", RECORDING_FILE_HEAD, 70000, "long",
             EVEMU_DEVICE_AND_EVENT_LINES, 1021, "");
    struct tact_device device = open_device_that_plays_text(text, NULL, 0);
    assert_true(read_device_at_tick(&device, 0).channel[device_channel_index(&device, "abs_x")] ==
                0.5);
    device.ops->close(device.self);
    free(text);
}

static uint64_t next_random_bits(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s * 2685821657736338717ull >> 20;
}

/* Whatever the file contains, it is played or refused; what is played is finite. */
static void damaged_recordings_are_played_or_refused(void **state)
{
    (void)state;
    uint64_t random_state = 20261121;
    int accepted_recording_count = 0;
    for (int i = 0; i < 3000; i++) {
        char text[sizeof recording_text_by_tact + sizeof recording_text_by_evemu];
        struct device_config c;
        struct tact_device device = {0};
        const struct tact_device_setting s[] = {SETTING("recording", path)};
        const size_t size =
            i % 2 ? sizeof recording_text_by_tact - 1 : sizeof recording_text_by_evemu - 1;
        memcpy(text, i % 2 ? recording_text_by_tact : recording_text_by_evemu, size);
        for (uint64_t k = next_random_bits(&random_state) % 4 + 1; k > 0; k--) {
            static const char bytes[] = "0123456789-ABENPIS:# .tf\n\xff";
            text[next_random_bits(&random_state) % size] =
                bytes[next_random_bits(&random_state) % (sizeof bytes - 1)];
        }
        write_recording_file(text, size);
        device_config_init(&c, s, 1);
        if (tact_evdev_type.open(&c.config, &device, &c.err) == 0) {
            accepted_recording_count++;
            for (uint64_t tick = 0; tick < 100; tick += 3) {
                struct tact_device_input in = read_device_at_tick(&device, tick);
                for (int k = 0; k < device.info.input_count; k++) {
                    assert_true(isfinite(in.channel[k]));
                }
            }
            device.ops->close(device.self);
        }
    }
    print_message("3000 damaged files: %d played\n", accepted_recording_count);
    assert_true(accepted_recording_count > 500 && accepted_recording_count < 2900);
}

static int make_recording_file(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_capture_file(void **state)
{
    (void)state;
    return unlink(path);
}

static int start_capture_of_device(struct tact_capture_file *capture, const struct device_config *c,
                                   const char *recording_file_ending, struct tact_error *err)
{
    memset(capture, 0, sizeof *capture);
    return tact_capture_open(capture, &c->config, recording_file_ending, "events", 4, sizeof(int),
                             err);
}

/* A recording can be read by its owner alone, as it may contain typed keys, and no existing file is
 * overwritten unless that is asked for. */
static void recording_file_is_private_and_not_overwritten(void **state)
{
    (void)state;
    const struct tact_messages no_messages = {NULL, NULL};
    char folder[] = "/tmp/tact_capture_dir_XXXXXX", name[64], link[64], other[64];
    struct device_config c;
    struct tact_error err = {0};
    struct tact_capture_file capture, second;
    struct stat st;
    assert_non_null(mkdtemp(folder));
    device_config_init(&c, NULL, 0);
    c.config.record = folder;
    snprintf(name, sizeof name, "%s/device.evemu", folder);
    mode_t file_mode_mask = umask(0);
    assert_int_equal(start_capture_of_device(&capture, &c, "evemu", &err), 0);
    umask(file_mode_mask);
    assert_int_equal(stat(name, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    fputs("kept", capture.file);
    tact_capture_close(&capture, "device", no_messages);
    assert_int_equal(start_capture_of_device(&capture, &c, "evemu", &err), -EEXIST);
    assert_non_null(strstr(err.text, name));
    assert_int_equal(stat(name, &st), 0);
    assert_int_equal(st.st_size, 4);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(link, sizeof link, "%s/device.csv", folder);
    assert_int_equal(symlink(other, link), 0);
    for (int replace = 0; replace < 2; replace++) {
        c.config.replace = replace;
        assert_int_equal(start_capture_of_device(&capture, &c, "csv", &err), -EEXIST);
        assert_int_equal(access(other, F_OK), -1);
    }
    /* A recording replaces an existing file where that is asked for, but not while another
     * recording writes the file. */
    assert_int_equal(start_capture_of_device(&capture, &c, "evemu", &err), 0);
    assert_int_equal(stat(name, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(start_capture_of_device(&second, &c, "evemu", &err), -EBUSY);
    assert_non_null(strstr(err.text, name));
    tact_capture_close(&capture, "device", no_messages);
    unlink(link);
    unlink(name);
    rmdir(folder);
}

static void write_captured_number(FILE *file, const void *kept, void *user)
{
    (void)user;
    fprintf(file, "%d\n", *(const int *)kept);
}

static void keep_last_message(void *user, enum tact_message_level level, const char *text)
{
    (void)level;
    snprintf(user, 256, "%s", text);
}

/* Events for which the recording's ring has no room are counted, and reported once. */
static void dropped_events_of_a_recording_are_counted(void **state)
{
    (void)state;
    char folder[] = "/tmp/tact_capture_dir_XXXXXX", text[256] = "", name[64], line[32] = "";
    struct tact_messages messages = {keep_last_message, text};
    struct device_config c;
    struct tact_error err = {0};
    struct tact_capture_file capture;
    int lost = 0;
    assert_non_null(mkdtemp(folder));
    device_config_init(&c, NULL, 0);
    c.config.record = folder;
    assert_int_equal(start_capture_of_device(&capture, &c, "evemu", &err), 0);
    for (int i = 0; i < 10; i++) {
        int *kept = tact_capture_reserve_entry(&capture);
        lost += !kept;
        if (kept) {
            *kept = i;
            tact_ring_commit(capture.ring);
        }
    }
    assert_true(lost > 0);
    tact_capture_write_queued_entries(&capture, write_captured_number, NULL, "device", messages);
    snprintf(line, sizeof line, "%d events", lost);
    assert_non_null(strstr(text, line));
    text[0] = 0;
    tact_capture_write_queued_entries(&capture, write_captured_number, NULL, "device", messages);
    assert_string_equal(text, "");
    tact_capture_close(&capture, "device", messages);
    snprintf(name, sizeof name, "%s/device.evemu", folder);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "0\n");
    fclose(file);
    unlink(name);
    rmdir(folder);
}

/* Opening a pipe would wait for a program that writes to it. */
static void pipe_or_folder_is_refused_at_once(void **state)
{
    (void)state;
    char pipe[] = "/tmp/tact_capture_pipe_XXXXXX", folder[] = "/tmp";
    struct tact_device device = {0};
    struct device_config c;
    close(mkstemp(pipe));
    assert_int_equal(unlink(pipe), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    alarm(10);
    const struct tact_device_setting setting_with_pipe_as_recording[] = {
        SETTING("recording", pipe)};
    device_config_init(&c, setting_with_pipe_as_recording, 1);
    assert_int_equal(tact_evdev_type.open(&c.config, &device, &c.err), -22);
    assert_string_equal(c.err.file, pipe);
    assert_string_equal(c.err.text, "not a regular file");
    const struct tact_device_setting setting_with_folder_as_recording[] = {
        SETTING("recording", folder)};
    device_config_init(&c, setting_with_folder_as_recording, 1);
    assert_true(tact_evdev_type.open(&c.config, &device, &c.err) < 0);
    assert_string_equal(c.err.text, "this path is a folder: expected a file");
    alarm(0);
    unlink(pipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recording_by_tact_is_played_as_recorded),
        cmocka_unit_test(played_device_that_returns_has_a_new_stamp),
        cmocka_unit_test(recording_is_played_with_other_settings),
        cmocka_unit_test(recording_by_evemu_is_played_as_recorded),
        cmocka_unit_test(files_that_are_no_recording_are_refused),
        cmocka_unit_test(pipe_or_folder_is_refused_at_once),
        cmocka_unit_test(played_axes_begin_at_the_recorded_values),
        cmocka_unit_test(recording_with_byte_order_mark_and_long_comments_is_read),
        cmocka_unit_test(damaged_recordings_are_played_or_refused),
        cmocka_unit_test(recording_file_is_private_and_not_overwritten),
        cmocka_unit_test(dropped_events_of_a_recording_are_counted),
    };
    return cmocka_run_group_tests(tests, make_recording_file, remove_capture_file);
}
