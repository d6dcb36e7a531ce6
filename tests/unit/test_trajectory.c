/* The trajectory device: resampling compared with exact curves and real data; invalid files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/number.h"
#include "devices/scripted/trajectory.h"
#include "support/campaign.h"
#include "support/data.h"
#include "support/device_config.h"

static char folder[64] = "/tmp/tact_trajectory_XXXXXX";

static void write_file(const char *text, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/motion.csv", folder);
    unlink(path); /* removes the file, as truncating it would make some file systems flush it */
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int try_to_open_trajectory_device(struct device_config *c,
                                         const struct tact_device_setting *settings, int count,
                                         struct tact_device *device)
{
    device_config_init(c, settings, count);
    c->config.directory = folder;
    memset(device, 0, sizeof *device);
    return tact_trajectory_type.open(&c->config, device, &c->err);
}

static struct tact_device open_trajectory_device(const char *csv,
                                                 const struct tact_device_setting *settings,
                                                 int count, struct device_config *c)
{
    struct tact_device device;
    write_file(csv, strlen(csv));
    if (try_to_open_trajectory_device(c, settings, count, &device)) {
        fail_msg("%s: %s", c->err.key, c->err.text);
    }
    return device;
}

static double read_channel_value(struct tact_device *device, double t, int channel, int *state)
{
    struct tact_device_input in;
    device->ops->read(device->self, 0, t, 5, &in);
    assert_int_equal(in.stamp_ns, 5);
    if (state) {
        *state = in.state;
    }
    return in.channel[channel];
}

/* Catmull-Rom is exact for parabolas inside the first and last interval, linear for lines only. */
static void cubic_interpolation_is_exact_for_a_parabola(void **state)
{
    (void)state;
    char csv[4096] = "line, parabola\r\n";
    for (int i = 0; i < 50; i++) {
        double t = i / 10.0;
        size_t used = strlen(csv);
        tact_number_print(csv + used, sizeof csv - used, "%.17g , %.17g\r\n", 3.0 - 2.0 * t,
                          1.0 + t - 0.5 * t * t);
    }
    const struct tact_device_setting s[] = {SETTING("file", "motion.csv"), SETTING("rate", "10"),
                                            SETTING("interpolation", "cubic")};
    const struct tact_device_setting l[] = {SETTING("file", "motion.csv"), SETTING("rate", "10"),
                                            SETTING("interpolation", "linear")};
    struct device_config c;
    struct tact_device device = open_trajectory_device(csv, s, 3, &c);
    struct tact_device device_with_linear_interpolation = open_trajectory_device(csv, l, 3, &c);
    double worst = 0.0;
    double sag = 0.0;
    assert_string_equal(device.info.input[1].name, "parabola");
    for (int i = 100; i < 4800; i++) {
        double t = i / 1000.0;
        double exact = 1.0 + t - 0.5 * t * t;
        worst = fmax(worst, fabs(read_channel_value(&device, t, 0, NULL) - (3.0 - 2.0 * t)));
        worst = fmax(worst, fabs(read_channel_value(&device, t, 1, NULL) - exact));
        sag = fmax(sag, exact - read_channel_value(&device_with_linear_interpolation, t, 1, NULL));
    }
    assert_true(worst < 1e-14);
    /* A chord deviates from a parabola by |x''| h^2 / 8. */
    assert_true(fabs(sag - 0.00125) < 1e-12);
    device.ops->close(device.self);
    device_with_linear_interpolation.ops->close(device_with_linear_interpolation.self);
}

static void trajectory_holds_its_end_values_outside(void **state)
{
    (void)state;
    const double scale[] = {2.0, -1.0};
    const struct tact_device_setting s[] = {
        SETTING("file", "motion.csv"), SETTING("rate", "10"),   SETTING("columns", "b 1"),
        NUMBERS("scale", 1, 2, scale), SETTING("start", "1.0"), SETTING("speed", "0.5"),
        SETTING("center", "true"),
    };
    struct device_config c;
    int now;
    struct tact_device device = open_trajectory_device("a;b\n5;1\n6;2\n\n8;4\n", s, 7, &c);
    assert_int_equal(device.info.input_count, 2);
    assert_string_equal(device.info.input[0].name, "b");
    assert_string_equal(device.info.input[1].name, "a");
    assert_true(read_channel_value(&device, 0.0, 0, &now) == 0.0);
    assert_int_equal(now, TACT_DEVICE_OK);
    assert_true(fabs(read_channel_value(&device, 1.2, 0, &now) - 2.0) < 1e-14);
    assert_true(fabs(read_channel_value(&device, 1.2, 1, &now) + 1.0) < 1e-14);
    assert_int_equal(now, TACT_DEVICE_OK);
    assert_true(read_channel_value(&device, 1.5, 0, &now) == 6.0);
    assert_true(read_channel_value(&device, 100.0, 1, &now) == -3.0);
    assert_int_equal(now, TACT_DEVICE_ENDED);
    device.ops->close(device.self);
}

static void start_of_a_trajectory_is_blended_in(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {SETTING("file", "motion.csv"), SETTING("rate", "1"),
                                            SETTING("ramp", "0.5")};
    struct device_config c;
    struct tact_device device = open_trajectory_device("x\n1\n3\n5\n", s, 3, &c);
    assert_true(read_channel_value(&device, 0.0, 0, NULL) == 1.0);
    assert_true(fabs(read_channel_value(&device, 0.25, 0, NULL) - (1.0 + 0.5 * 0.5)) < 1e-15);
    assert_true(fabs(read_channel_value(&device, 0.5, 0, NULL) - 2.0) < 1e-15);
    assert_true(fabs(read_channel_value(&device, 1e-3, 0, NULL) - 1.0) < 1e-9);
    device.ops->close(device.self);
}

static void time_column_of_a_trajectory_is_used(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {SETTING("file", "motion.csv"), SETTING("time", "t"),
                                            SETTING("columns", "x")};
    struct device_config c;
    struct tact_device device = open_trajectory_device(
        "\xef\xbb\xbf# a log\n\"x\"\tt\n0\t100\n1\t101\n9\t101\n3\t103\n4\t104\n"
        "5\t105\n6\t106\n7\t107\n10\t110\n",
        s, 3, &c);
    for (int i = 0; i <= 1000; i++) {
        double t = i / 100.0;
        assert_true(fabs(read_channel_value(&device, t, 0, NULL) - t) < 1e-14);
    }
    assert_string_equal(
        strstr(c.messages, "motion.csv: "),
        "motion.csv: 8 rows, 0.7 Hz, 10.00 s, 2 gaps, 0 rows with the values of "
        "the row before, 1 rows dropped, as their time is that of the row before\n");
    device.ops->close(device.self);
}

static void trajectory_files_without_header_are_read(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {SETTING("file", "motion.csv"), SETTING("rate", "1"),
                                            SETTING("scale", "10")};
    struct device_config c;
    struct tact_device device = open_trajectory_device(" 1.5  2\n3 -4e-1", s, 3, &c);
    assert_int_equal(device.info.input_count, 2);
    assert_string_equal(device.info.input[1].name, "column_2");
    assert_true(read_channel_value(&device, 0.0, 0, NULL) == 15.0);
    assert_true(read_channel_value(&device, 1.0, 1, NULL) == -4.0);
    device.ops->close(device.self);
}

/* Compares every row at its time, and checks that no step between ticks exceeds the arm's largest
 * speed (1.5 m/s). */
static void compare_rows_with_csv(FILE *file, const char *path, int rate, int rows,
                                  const char *message)
{
    char rate_text[16];
    snprintf(rate_text, sizeof rate_text, "%d", rate);
    const struct tact_device_setting s[] = {SETTING("file", path), SETTING("rate", rate_text),
                                            SETTING("columns", "px_m py_m pz_m")};
    struct device_config c;
    struct tact_device device;
    int now;
    assert_int_equal(try_to_open_trajectory_device(&c, s, 3, &device), 0);
    assert_non_null(strstr(c.messages, message));
    assert_string_equal(device.info.input[2].name, "pz_m");
    void *saved_locale = tact_number_begin();
    assert_int_not_equal(fscanf(file, "%*[^\n]"), EOF);
    double worst = 0.0;
    for (int row = 0; row < rows; row++) {
        double x[3];
        assert_int_equal(fscanf(file, "%lf,%lf,%lf%*[^\n]", &x[0], &x[1], &x[2]), 3);
        for (int i = 0; i < 3; i++) {
            worst =
                fmax(worst, fabs(read_channel_value(&device, (double)row / rate, i, &now) - x[i]));
        }
        assert_int_equal(now, row < rows - 1 ? TACT_DEVICE_OK : TACT_DEVICE_ENDED);
    }
    tact_number_end(saved_locale);
    assert_true(worst < 1e-12);
    double before = read_channel_value(&device, 0.0, 0, NULL);
    for (int tick = 1; tick < 8000; tick++) {
        double x = read_channel_value(&device, tick * 0.001, 0, NULL);
        assert_true(fabs(x - before) < 1.5e-3);
        before = x;
    }
    device.ops->close(device.self);
}

static void recorded_trajectory_is_reproduced(void **state)
{
    (void)state;
    static const char *const path = TACT_SOURCE_DIR "/examples/imports/guiding.csv";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    compare_rows_with_csv(file, path, 100, 801, "801 rows, 100 Hz, 8.00 s, 0 gaps");
    fclose(file);
}

static void real_recorded_trajectory_is_reproduced(void **state)
{
    (void)state;
    char path[DATA_PATH];
    FILE *file = open_test_data_file("franka_guiding/rec0.csv", path);
    if (!file) {
        skip();
    }
    compare_rows_with_csv(file, path, 695, 5520, "5520 rows, 695 Hz, 7.94 s, 0 gaps");
    fclose(file);
}

static uint32_t next_mutation_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* Damaged files are refused with a message or play finite values. */
static void damaged_trajectory_files_are_refused_or_finite(void **state)
{
    static const char whole[] = "t,x,y\n0,1,2\n0.1,-1e3,4\n0.2,.5,6e-3\n0.3,0,0\n0.4,1,1\n";
    static const char bytes[] = ",;\t \n\r\"#.-+eE0123456789naifx\xef\0";
    const struct tact_device_setting settings_without_columns[] = {SETTING("file", "motion.csv"),
                                                                   SETTING("rate", "1e9")};
    const struct tact_device_setting settings_with_time_column[] = {
        SETTING("file", "motion.csv"), SETTING("time", "1"), SETTING("ramp", "0.1")};
    uint32_t seed = 20260101 ^ (uint32_t)(campaign_seed_offset() >> 32);
    int played_file_count = 0;
    (void)state;
    for (int i = 0; i < 4000; i++) {
        char text[sizeof whole];
        memcpy(text, whole, sizeof whole);
        for (uint32_t k = 1 + next_mutation_random(&seed) % 4; k > 0; k--) {
            uint32_t mutated_offset = next_mutation_random(&seed) % (sizeof whole - 1);
            text[mutated_offset] = bytes[next_mutation_random(&seed) % sizeof bytes];
        }
        write_file(text, i % 5 ? sizeof whole - 1 : next_mutation_random(&seed) % sizeof whole);
        struct device_config c;
        struct tact_device device;
        int rc = try_to_open_trajectory_device(
            &c, i % 2 ? settings_with_time_column : settings_without_columns, i % 2 ? 3 : 2,
            &device);
        if (rc < 0) {
            assert_true(c.err.text[0] != '\0');
            continue;
        }
        played_file_count++;
        for (double t = -0.1; t < 0.6; t += 0.013) {
            for (int k = 0; k < device.info.input_count; k++) {
                assert_true(isfinite(read_channel_value(&device, i % 2 ? t : t * 1e-8, k, NULL)));
            }
        }
        device.ops->close(device.self);
    }
    print_message("%d of 4000 damaged files could be played\n", played_file_count);
    assert_true(played_file_count > 100 && played_file_count < 3900);
}

struct bad_file_case {
    const char *csv;
    const char *columns; /* or NULL */
    int line;            /* line of the file, or of scene.yaml where the error is there */
    int column;
    const char *key;
    const char *word;
};

static void malformed_trajectory_files_are_refused(void **state)
{
    (void)state;
    static const struct bad_file_case bad[] = {
        {"a,b\n1,2\n3,nan\n", NULL, 3, 3, "b", "finite"},
        {"a,b\n1,2\n3,-inf\n", NULL, 3, 3, "b", "finite"},
        {"a,b\n1,2\n1e101,4\n", NULL, 3, 1, "a", "finite"},
        {"a,b\n1,2\n3\n", NULL, 3, 0, "", "1 fields, expected 2"},
        {"a,b\n1,2\n3,4,5,6\n", NULL, 3, 0, "", "4 fields, expected 2"},
        {"a,b\n1,2\n3,\n", NULL, 3, 3, "b", "expected a number, not ''"},
        {"a,b\n1,2\n3,4x\n", NULL, 3, 3, "b", "'4x'"},
        {"a,2\n1,2\n", NULL, 1, 0, "", "expected a header line"},
        {"", NULL, 0, 0, "", "empty"},
        {"\n\n", NULL, 0, 0, "", "empty"},
        {"a,b\n", NULL, 1, 0, "", "no rows"},
        {"a,b\n1,2\n", "a c", 12, 5, "columns", "no column 'c'"},
        {"a,b\n1,2\n", "a 3", 12, 5, "columns", "no column '3'"},
        {"a,b\n1,2\n", "a 1", 12, 5, "columns", "twice"},
        {"a,a\n1,2\n", "a", 12, 5, "columns", "two columns"},
        {"1,2\nnan,4\n", NULL, 2, 1, "column_1", "finite"},
    };
    struct device_config c;
    struct tact_device device;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct tact_device_setting s[] = {SETTING("file", "motion.csv"),
                                                SETTING("rate", "100"),
                                                SETTING("columns", bad[i].columns)};
        write_file(bad[i].csv, strlen(bad[i].csv));
        assert_int_equal(try_to_open_trajectory_device(&c, s, bad[i].columns ? 3 : 2, &device),
                         -22);
        const char *file = bad[i].columns ? "scene.yaml" : "/motion.csv";
        if (!strstr(c.err.file, file) || !strstr(c.err.text, bad[i].word) ||
            c.err.line != bad[i].line || c.err.column != bad[i].column ||
            strcmp(c.err.key, bad[i].key) != 0) {
            fail_msg("case %zu: %s:%d:%d: %s: %s", i, c.err.file, c.err.line, c.err.column,
                     c.err.key, c.err.text);
        }
    }
    const struct tact_device_setting s[] = {SETTING("file", "motion.csv"), SETTING("rate", "100")};
    write_file("1\n2\0003\n", 6);
    assert_int_equal(try_to_open_trajectory_device(&c, s, 2, &device), -22);
    assert_int_equal(c.err.line, 2);
}

static void expect_trajectory_refused(const struct tact_device_setting *settings, int count, int rc,
                                      const char *key, const char *word)
{
    struct device_config c;
    struct tact_device device;
    write_file("t,x\n0,2\n1,3\n0.5,4\n", 18);
    assert_int_equal(try_to_open_trajectory_device(&c, settings, count, &device), rc);
    if (strcmp(c.err.key, key) != 0 || !strstr(c.err.text, word)) {
        fail_msg("%s: %s", c.err.key, c.err.text);
    }
}

static void bad_trajectory_settings_are_refused(void **state)
{
    (void)state;
#define TRAJECTORY_SETTINGS(...)                                                                   \
    (const struct tact_device_setting[])                                                           \
    {                                                                                              \
        SETTING("file", "motion.csv"), __VA_ARGS__                                                 \
    }
    const double settings_of_three_numbers[] = {1.0, 2.0, 3.0};
    expect_trajectory_refused(TRAJECTORY_SETTINGS(SETTING("time", "t")), 2, -22, "t", "before");
    expect_trajectory_refused(TRAJECTORY_SETTINGS(SETTING("time", "z")), 2, -22, "time",
                              "no column 'z'");
    expect_trajectory_refused(TRAJECTORY_SETTINGS(SETTING("rate", "0")), 2, -22, "rate", "above 0");
    expect_trajectory_refused(TRAJECTORY_SETTINGS(SETTING("rate", "fast")), 2, -22, "rate",
                              "a number");
    expect_trajectory_refused(TRAJECTORY_SETTINGS(SETTING("rate", "nan")), 2, -22, "rate",
                              "finite");
    expect_trajectory_refused(TRAJECTORY_SETTINGS(SETTING("ramp", "1")), 2, -22, "device",
                              "either the key rate");
    expect_trajectory_refused(TRAJECTORY_SETTINGS(SETTING("rate", "1"), SETTING("time", "t")), 3,
                              -22, "time", "either the key rate");
    expect_trajectory_refused(TRAJECTORY_SETTINGS(SETTING("rate", "1"), SETTING("speed", "-1")), 3,
                              -22, "speed", "above 0");
    expect_trajectory_refused(TRAJECTORY_SETTINGS(SETTING("rate", "1"), SETTING("ramp", "-1")), 3,
                              -22, "ramp", ">= 0");
    expect_trajectory_refused(
        TRAJECTORY_SETTINGS(SETTING("rate", "1"),
                            NUMBERS("scale", 1, 3, settings_of_three_numbers)),
        3, -22, "scale", "3 numbers for 2");
    expect_trajectory_refused(TRAJECTORY_SETTINGS(SETTING("rate", "1"), SETTING("center", "yes")),
                              3, -22, "center", "true");
    expect_trajectory_refused(
        TRAJECTORY_SETTINGS(SETTING("rate", "1"), SETTING("interpolation", "spline")), 3, -22,
        "interpolation", "linear, cubic");
    expect_trajectory_refused(TRAJECTORY_SETTINGS(SETTING("rate", "1"), SETTING("colums", "x")), 3,
                              -22, "colums", "unknown");
    const struct tact_device_setting absent[] = {SETTING("file", "no.csv"), SETTING("rate", "1")};
    expect_trajectory_refused(absent, 2, -2, "", "cannot open");
    const struct tact_device_setting directory[] = {SETTING("file", "."), SETTING("rate", "1")};
    expect_trajectory_refused(directory, 2, -22, "", "a folder");
    const struct tact_device_setting none[] = {SETTING("rate", "1")};
    expect_trajectory_refused(none, 1, -22, "device", "missing key \"file\"");
}

static int make_test_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_test_folder(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/motion.csv", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubic_interpolation_is_exact_for_a_parabola),
        cmocka_unit_test(trajectory_holds_its_end_values_outside),
        cmocka_unit_test(start_of_a_trajectory_is_blended_in),
        cmocka_unit_test(time_column_of_a_trajectory_is_used),
        cmocka_unit_test(trajectory_files_without_header_are_read),
        cmocka_unit_test(recorded_trajectory_is_reproduced),
        cmocka_unit_test(real_recorded_trajectory_is_reproduced),
        cmocka_unit_test(damaged_trajectory_files_are_refused_or_finite),
        cmocka_unit_test(malformed_trajectory_files_are_refused),
        cmocka_unit_test(bad_trajectory_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
