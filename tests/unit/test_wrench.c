/* Force-torque sensors: wrenches of known loads; calibration files, also those that are refused. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/comedi/comedi_internal.h"
#include "devices/comedi/wrench_internal.h"
#include "support/campaign.h"
#include "support/device_config.h"

enum { SENSORS = 300, WRENCHES = 20 };

static uint64_t seed; /* 0: not yet seeded */

/* Uniform between -1 and 1. */
static double random_signed_unit(void)
{
    seed = seed ? seed : 1 ^ campaign_seed_offset();
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (double)(seed >> 11) / 4503599627370496.0 - 1.0;
}

/* Solves an n x n linear system in place, with pivots. */
static void solve_linear_system(int n, double a[8][8], double b[8][6], int columns)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) {
            p = fabs(a[i][k]) > fabs(a[p][k]) ? i : p;
        }
        for (int j = 0; j < n; j++) {
            double t = a[k][j];
            a[k][j] = a[p][j];
            a[p][j] = t;
        }
        for (int j = 0; j < columns; j++) {
            double t = b[k][j];
            b[k][j] = b[p][j];
            b[p][j] = t;
        }
        for (int i = 0; i < n; i++) {
            double f = i == k ? 0.0 : a[i][k] / a[k][k];
            for (int j = 0; j < n; j++) {
                a[i][j] -= f * a[k][j];
            }
            for (int j = 0; j < columns; j++) {
                b[i][j] -= f * b[k][j];
            }
        }
    }
    for (int k = 0; k < n; k++) {
        for (int j = 0; j < columns; j++) {
            b[k][j] /= a[k][k];
        }
    }
}

/* A sensor whose gauges give volts = bias + sensitivity wrench, about 9 V at 50 N and 2 N m, and
 * its calibration: the (pseudo-)inverse. */
static void make_gauge_sensor(int gauges, double sensitivity[8][6], struct tact_gauge_map *map)
{
    const double full[6] = {50, 50, 50, 2, 2, 2};
    double normal[8][8];
    double inverse[8][6];
    memset(map, 0, sizeof *map);
    map->gauges = gauges;
    for (int i = 0; i < gauges; i++) {
        map->gauge_bias[i] = 0.5 * random_signed_unit();
        for (int k = 0; k < 6; k++) {
            sensitivity[i][k] = (0.3 * random_signed_unit() + (i % 6 == k ? 1.2 : 0.0)) / full[k];
        }
    }
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) {
            normal[r][c] = 0.0;
            inverse[r][c] = r == c;
            for (int i = 0; i < gauges; i++) {
                normal[r][c] += sensitivity[i][r] * sensitivity[i][c];
            }
        }
    }
    solve_linear_system(6, normal, inverse, 6);
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < gauges; i++) {
            for (int j = 0; j < 6; j++) {
                map->matrix[k][i] += inverse[k][j] * sensitivity[i][j];
            }
        }
    }
}

static void apply_wrench_to_gauges(const struct tact_gauge_map *map, double sensitivity[8][6],
                                   const double wrench[6], double volts[8])
{
    for (int i = 0; i < map->gauges; i++) {
        volts[i] = map->gauge_bias[i];
        for (int k = 0; k < 6; k++) {
            volts[i] += sensitivity[i][k] * wrench[k];
        }
    }
}

static void make_random_wrench(double wrench[6])
{
    for (int k = 0; k < 6; k++) {
        wrench[k] = random_signed_unit() * (k < 3 ? 50.0 : 2.0);
    }
}

static void wrenches_are_recovered_from_gauge_voltages(void **unused)
{
    (void)unused;
    double worst = 0.0;
    for (int n = 0; n < SENSORS; n++) {
        double sensitivity[8][6];
        struct tact_gauge_map map;
        make_gauge_sensor(6 + n % 3, sensitivity, &map);
        for (int m = 0; m < WRENCHES; m++) {
            double wrench[6];
            double volts[8];
            double found[6];
            make_random_wrench(wrench);
            apply_wrench_to_gauges(&map, sensitivity, wrench, volts);
            tact_wrench_from_gauges(&map, volts, found);
            for (int k = 0; k < 6; k++) {
                worst = fmax(worst, fabs(found[k] - wrench[k]));
            }
        }
    }
    print_message("wrenches of up to 50 N and 2 N m come back within %.1e\n", worst);
    assert_true(worst < 1e-9);
}

/* With a converter of 16 bits the error of an axis is at most that of half a step in each gauge. */
static void wrench_errors_by_quantisation_are_bounded(void **unused)
{
    (void)unused;
    struct tact_comedi_channel gauge = {.maxdata = 65535, .map = {0, 1}};
    const double lsb = 20.0 / 65535.0;
    double largest_error_ratio = 0.0;
    gauge.volts.order = 1;
    gauge.volts.coefficients[0] = -10.0;
    gauge.volts.coefficients[1] = lsb;
    for (int n = 0; n < SENSORS; n++) {
        double sensitivity[8][6];
        struct tact_gauge_map map;
        make_gauge_sensor(6, sensitivity, &map);
        for (int m = 0; m < WRENCHES; m++) {
            double wrench[6];
            double volts[8];
            double found[6];
            make_random_wrench(wrench);
            apply_wrench_to_gauges(&map, sensitivity, wrench, volts);
            for (int i = 0; i < 6; i++) {
                volts[i] =
                    tact_comedi_scaled_value(&gauge, (lsampl_t)lrint((volts[i] + 10.0) / lsb), 0);
            }
            tact_wrench_from_gauges(&map, volts, found);
            for (int k = 0; k < 6; k++) {
                double most = 1e-9;
                for (int i = 0; i < 6; i++) {
                    most += 0.5 * lsb * fabs(map.matrix[k][i]);
                }
                largest_error_ratio = fmax(largest_error_ratio, fabs(found[k] - wrench[k]) / most);
            }
        }
    }
    print_message("quantised: up to %.2f of the bound\n", largest_error_ratio);
    assert_true(largest_error_ratio < 1.0);
    assert_true(largest_error_ratio > 0.3);
}

/* Forces at points, as wrenches in two frames. */
static void measured_wrenches_move_to_another_frame(void **unused)
{
    (void)unused;
    for (int n = 0; n < SENSORS; n++) {
        double sensitivity[8][6];
        struct tact_gauge_map map;
        struct tact_pose pose;
        double here[6] = {0};
        double there[6] = {0};
        double volts[8];
        double found[6];
        for (int k = 0; k < 4; k++) {
            pose.quat_wxyz[k] = random_signed_unit();
            pose.position[k % 3] = 0.1 * random_signed_unit();
        }
        tact_quat_normalize(pose.quat_wxyz);
        for (int p = 0; p < 3; p++) {
            const double at[3] = {0.1 * random_signed_unit(), 0.1 * random_signed_unit(),
                                  0.1 * random_signed_unit()};
            const double force[3] = {9 * random_signed_unit(), 9 * random_signed_unit(),
                                     9 * random_signed_unit()};
            double moved[3];
            double turned[3];
            double moment[3];
            tact_v3_cross(moment, at, force);
            tact_v3_add(here, here, force);
            tact_v3_add(here + 3, here + 3, moment);
            tact_pose_point(moved, &pose, at);
            tact_quat_rotate(turned, pose.quat_wxyz, force);
            tact_v3_cross(moment, moved, turned);
            tact_v3_add(there, there, turned);
            tact_v3_add(there + 3, there + 3, moment);
        }
        make_gauge_sensor(8, sensitivity, &map);
        apply_wrench_to_gauges(&map, sensitivity, here, volts);
        tact_wrench_transform_map(&map, &pose);
        tact_wrench_from_gauges(&map, volts, found);
        for (int k = 0; k < 6; k++) {
            assert_true(fabs(found[k] - there[k]) < 1e-10);
        }
    }
}

static void units_of_wrench_calibrations_are_distinguished(void **unused)
{
    (void)unused;
    double si = 0.0;
    assert_int_equal(tact_wrench_force_unit("N", &si), 0);
    assert_true(si == 1.0);
    assert_int_equal(tact_wrench_force_unit("lbf", &si), 0);
    assert_true(fabs(si - 0.45359237 * 9.80665) < 1e-15);
    assert_int_equal(tact_wrench_torque_unit("N-mm", &si), 0);
    assert_true(si == 1e-3);
    assert_int_equal(tact_wrench_torque_unit("lbf-in", &si), 0);
    assert_true(fabs(si - 0.112984829027616) < 1e-14);
    assert_int_equal(tact_wrench_torque_unit("ft-lb", &si), 0);
    assert_true(fabs(si - 1.3558179483314) < 1e-12);
    assert_int_equal(tact_wrench_force_unit("mN", &si), 0);
    assert_true(si == 1e-3);
    assert_int_equal(tact_wrench_force_unit("MN", &si), 0);
    assert_true(si == 1e6); /* a meganewton */
    assert_int_equal(tact_wrench_torque_unit("MN-m", &si), 0);
    assert_true(si == 1e6);
    assert_int_equal(tact_wrench_torque_unit("mN-m", &si), 0);
    assert_true(si == 1e-3);
    assert_int_equal(tact_wrench_length_unit("MM", &si), -EINVAL);
    assert_int_equal(tact_wrench_force_unit("Nm", &si), -EINVAL);
    assert_int_equal(tact_wrench_torque_unit("", &si), -EINVAL);
}

static const char head[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- <UserAxis Name=\"Fx\" values=\"9\"/> -->\n"
    "<FTSensor Serial=\"FT1\" BodyStyle=\"Mini\" Family=\"DAQ\" NumGages=\"6\" "
    "CalFileVersion=\"1.0\">\n"
    "\t<Calibration PartNumber=\"SI-1-1\" CalDate=\"1/1/2020\" ForceUnits=\"N\" "
    "TorqueUnits=\"N-mm\" DistUnits=\"mm\" OutputMode=\"Ground Referenced Differential\" "
    "OutputRange=\"20\" HWTempComp=\"True\" GainMultiplier=\"1\" OutputBipolar=\"True\">\n";

static char folder[64];

static const char *write_ati_file(const char *calibration_head, const char *rows)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/sensor.cal", folder);
    FILE *file = fopen(path, "w");
    fprintf(file, "%s%s\t</Calibration>\n</FTSensor>\n", calibration_head, rows);
    fclose(file);
    return path;
}

/* Calibrations of one sensor with and without UserAxis rows, which are about a point 5 mm along z:
 * tx + 5 fy, ty - 5 fx. */
static void calibration_files_of_ati_are_read(void **unused)
{
    (void)unused;
    const char *axes = "<Axis Name=\"Fx\" values=\" 2 0 0 -4  0 6 \" max=\"50\" scale=\"2\"/>\n"
                       "<Axis Name=\"Fy\" values=\" 0 8 0  0  1 0 \" max=\"50\" scale=\"4\"/>\n"
                       "<Axis Name=\"Fz\" values=\" 1 1 1  0  0 0 \" max=\"70\" scale=\"0.5\"/>\n"
                       "<Axis Name=\"Tx\" values=\" 0 0 3  0 -3 1 \" max=\"500\" scale=\"1\"/>\n"
                       "<Axis Name=\"Ty\" values=\" 5 0 0  0  2 0 \" max=\"500\" scale=\"1\"/>\n"
                       "<Axis Name=\"Tz\" values=\" 0 1 0  1  0 1 \" max=\"500\" scale=\"1e-1\"/>\n"
                       "<BasicTransform Dx=\"0\" Dy=\"0\" Dz=\"5\" Rx=\"0\" Ry=\"0\" Rz=\"0\"/>\n";
    const char *user = "<UserAxis Name=\"Fx\" values=\" 1 0 0 -2 0 3 \" max=\"50\"/>\n"
                       "<UserAxis Name=\"Fy\" values=\" 0 2 0 0 0.25 0 \" max=\"50\"/>\n"
                       "<UserAxis Name=\"Fz\" values=\" 2 2 2 0 0 0 \" max=\"70\"/>\n"
                       "<UserAxis Name=\"Tx\" values=\" 0 10 3 0 -1.75 1 \" max=\"500\"/>\n"
                       "<UserAxis Name=\"Ty\" values=\" 0 0 0 10 2 -15 \" max=\"500\"/>\n"
                       "<UserAxis Name=\"Tz\" values=\" 0 10 0 10 0 10 \" max=\"500\"/>\n";
    const double expected[6][6] = {{1, 0, 0, -2, 0, 3},
                                   {0, 2, 0, 0, 0.25, 0},
                                   {2, 2, 2, 0, 0, 0},
                                   {0, 0.01, 0.003, 0, -0.00175, 0.001},
                                   {0, 0, 0, 0.01, 0.002, -0.015},
                                   {0, 0.01, 0, 0.01, 0, 0.01}};
    char both[2048];
    snprintf(both, sizeof both, "%s%s", axes, user);
    const char *rows[] = {axes, user, both};
    for (int n = 0; n < 3; n++) {
        struct tact_gauge_map map;
        struct tact_error err = {.line = 0};
        if (tact_wrench_read_ati(write_ati_file(head, rows[n]), 0, &map, &err)) {
            fail_msg("%s", err.text);
        }
        assert_int_equal(map.gauges, 6);
        for (int k = 0; k < 6; k++) {
            for (int i = 0; i < 6; i++) {
                assert_true(fabs(map.matrix[k][i] - expected[k][i]) < 1e-15);
            }
        }
    }
}

static void invalid_wrench_calibration_files_are_refused(void **unused)
{
    (void)unused;
    const struct {
        const char *head, *rows, *text;
    } cases[] = {
        {"", "", "without an opening tag"},
        {"<Calibration ForceUnits=\"stone\" >", "", "ForceUnits stone"},
        {"<Calibration ForceUnits=\"N\" TorqueUnits=\"N\">", "", "TorqueUnits N"},
        {head, "", "no axis fx"},
        {head, "<Axis Name=\"Fx\" values=\"1 2 3 4 5 6\"/>", "attribute scale"},
        {head, "<Axis Name=\"Fx\" values=\"1 2 3 4 5 6\" scale=\"0\"/>", "scale of 0"},
        {head, "<UserAxis Name=\"Fx\" values=\"1 2 3 4 5\"/>", "too few values in the row of fx"},
        {head, "<UserAxis Name=\"Fx\" values=\"1 2 3 4 5 nan\"/>", "in the row of fx"},
        {head, "<UserAxis Name=\"Fx\" values=\"1 2 3 4 5 6 7 8 9\"/>", "more than 8 values"},
        {head,
         "<UserAxis Name=\"Fx\" values=\"1 2 3 4 5 6\"/><UserAxis Name=\"Fy\" "
         "values=\"1 2 3 4 5 6 7\"/>",
         "values in the row of fy"},
        {"<Calibration ForceUnits=\"N\" TorqueUnits=\"Nm\" GainMultiplier=\"2\">", "",
         "GainMultiplier"},
        {"<!-- <Calibration ForceUnits=\"N\" ", "", "no element Calibration"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct tact_gauge_map map;
        struct tact_error err = {.line = 0};
        assert_int_equal(
            tact_wrench_read_ati(write_ati_file(cases[n].head, cases[n].rows), 0, &map, &err),
            -EINVAL);
        if (!strstr(err.text, cases[n].text)) {
            fail_msg("case %zu: \"%s\" does not say \"%s\"", n, err.text, cases[n].text);
        }
    }
    struct tact_gauge_map map;
    assert_int_equal(tact_wrench_read_ati("/nowhere/x.cal", 0, &map, NULL), -ENOENT);
}

/* Six UserAxis rows, all equal to the first. */
#define ROW(name, values) "<UserAxis Name=\"" name "\" values=\"" values "\"/>\n"
#define ROWS(v) ROW("Fx", v) ROW("Fy", v) ROW("Fz", v) ROW("Tx", v) ROW("Ty", v) ROW("Tz", v)
#define SECOND_CALIBRATION_MATRIX_ROWS                                                             \
    "</Calibration>\n<Calibration ForceUnits=\"N\" TorqueUnits=\"N-m\">\n" ROWS("7 0 0 0 0 0")

/* Files that can be read in two ways are refused. */
static void ambiguous_wrench_calibration_files_are_refused(void **unused)
{
    (void)unused;
    const struct {
        const char *rows, *text;
        int line;
    } cases[] = {
        {ROWS("1 0 0 0 0 0") SECOND_CALIBRATION_MATRIX_ROWS, "several Calibration elements", 12},
        {ROWS("1 0 0 0 0 0") ROW("Fy", "2 0 0 0 0 0"), "given twice: Fy", 11},
        {"<Axis Name=\"Fx\" values=\"1 2 3 4 5 6\" scale=\"1\"/>\n" ROW("Fy", "1 2 3 4 5 6"),
         "no UserAxis fx", 4},
        {ROWS("1 2 3 4 5 6 7 8"), "NumGages states, 6", 3},
        {ROWS("1 2 3 4 5"), "too few values in the row of fx", 5},
        {ROWS("1 2 3 4 5 0x10"), "in the row of fx", 5},
        {ROWS("1 2 3 4 5 0x1p3"), "in the row of fx", 5},
        {ROWS("1 2 3 4 5 inf"), "in the row of fx", 5},
        {ROW("Fq", "1 2 3 4 5 6"), "none of Fx, Fy", 5},
        {"<UserAxis Name=\"Fx\" Name=\"Fy\" values=\"1 2 3 4 5 6\"/>", "given twice: Name", 5},
        {"<Calibration>", "Calibration element within another", 5},
        {"</Calibration>\n" ROWS("1 2 3 4 5 6") "<Calibration ForceUnits=\"N\">",
         "outside of a Calibration", 6},
        {ROWS("1 0 0 0 0 0") "<BasicTransform/><BasicTransform/>", "given twice: BasicTransform",
         11},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct tact_gauge_map map;
        struct tact_error err = {.line = 0};
        assert_int_equal(tact_wrench_read_ati(write_ati_file(head, cases[n].rows), 0, &map, &err),
                         -EINVAL);
        if (!strstr(err.text, cases[n].text) || err.line != cases[n].line) {
            fail_msg("case %zu: line %d: \"%s\", not line %d and \"%s\"", n, err.line, err.text,
                     cases[n].line, cases[n].text);
        }
    }
}

static void one_of_several_wrench_calibrations_is_selected(void **unused)
{
    (void)unused;
    const char *path = write_ati_file(head, ROWS("1 0 0 0 0 0") SECOND_CALIBRATION_MATRIX_ROWS);
    struct tact_gauge_map map;
    struct tact_error err = {.line = 0};
    assert_int_equal(tact_wrench_read_ati(path, 1, &map, &err), 0);
    assert_true(map.matrix[0][0] == 1.0 && map.matrix[3][0] == 1e-3);
    assert_int_equal(tact_wrench_read_ati(path, 2, &map, &err), 0);
    /* the whole matrix in the calibration's units */
    assert_true(map.matrix[0][0] == 7.0 && map.matrix[3][0] == 7.0);
    assert_int_equal(tact_wrench_read_ati(path, 3, &map, &err), -EINVAL);
    assert_non_null(strstr(err.text, "fewer calibrations"));
}

/* Data far back in a file is read, but a file of unlimited length is refused. */
static void long_calibration_files_are_read_to_a_limit(void **unused)
{
    (void)unused;
    struct tact_gauge_map map;
    struct tact_error err = {.line = 0};
    char *rows = malloc(2 << 20);
    const char *const last = ROWS("1 0 0 0 0 0") ROW("Fy", "2 0 0 0 0 0");
    snprintf(rows, 2 << 20, "<!--%*s-->\n%s", 100000, "", last);
    assert_int_equal(tact_wrench_read_ati(write_ati_file(head, rows), 0, &map, &err), -EINVAL);
    assert_non_null(strstr(err.text, "given twice: Fy"));
    snprintf(rows, 2 << 20, "<!--%*s-->\n%s", 1100000, "", last);
    assert_int_equal(tact_wrench_read_ati(write_ati_file(head, rows), 0, &map, &err), -EFBIG);
    assert_int_equal(tact_wrench_read_ati("/dev/zero", 0, &map, &err), -EISDIR);
    assert_non_null(strstr(err.text, "not a regular file"));
    free(rows);
    /* A calibration file may start with a byte order mark. */
    const char *path = write_ati_file("\xEF\xBB\xBF", head);
    FILE *file = fopen(path, "r+");
    fseek(file, (long)strlen(head) + 3, SEEK_SET);
    fputs(ROWS("1 0 0 0 0 0") "</Calibration>\n</FTSensor>\n", file);
    fclose(file);
    assert_string_equal(tact_wrench_read_ati(path, 0, &map, &err) ? err.text : "", "");
}

static const struct tact_device_channel inputs[] = {
    {.name = "g0"}, {.name = "g1"}, {.name = "g2"}, {.name = "g3"},
    {.name = "g4"}, {.name = "g5"}, {.name = ""},   {.name = "extra"}};
static const double unit_matrix[36] = {[0] = 1, [7] = 1, [14] = 1, [21] = 1, [28] = 1, [35] = 1};

static int read_settings(const struct tact_device_setting *settings, int count,
                         struct device_config *config, struct tact_force_torque_sensor *wrenches)
{
    device_config_init(config, settings, count);
    return tact_wrench_read_sensor_settings(&config->config, inputs, 8, wrenches, 2, &config->err);
}

static void settings_of_two_wrench_sensors_are_read(void **unused)
{
    (void)unused;
    const double gauge_bias[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    const double position[] = {0, 0, 0.5};
    const double limits[] = {10, 10, 20, 1, 1, 1};
    const struct tact_device_setting settings[] = {
        SETTING("inputs", "whatever"),
        SETTING("wrenches[0].name", "wrist"),
        SETTING("wrenches[0].channels", "g5 g4 g3 g2 g1 g0"),
        NUMBERS("wrenches[0].matrix", 6, 6, unit_matrix),
        SETTING("wrenches[0].units", "lbf N-mm"),
        NUMBERS("wrenches[0].bias", 1, 6, gauge_bias),
        NUMBERS("wrenches[0].limits", 6, 1, limits),
        SETTING("wrenches[1].name", "tip"),
        SETTING("wrenches[1].channels", "g0 g1 g2 g3 g4 extra"),
        NUMBERS("wrenches[1].matrix", 6, 6, unit_matrix),
        NUMBERS("wrenches[1].position", 1, 3, position),
        SETTING("wrenches[1].frame", "palm"),
    };
    struct device_config config;
    struct tact_force_torque_sensor w[2];
    struct tact_device_info info = {.input_count = 22};
    assert_int_equal(read_settings(settings, 12, &config, w), 2);
    assert_string_equal(w[0].frame, "wrist");
    assert_int_equal(w[0].gauge[0], 5);
    assert_true(fabs(w[0].map.matrix[2][2] - 4.4482216152605) < 1e-15);
    assert_true(w[0].map.matrix[4][4] == 1e-3 && w[0].map.gauge_bias[5] == 0.6);
    assert_true(w[0].limit[2] == 20 && w[1].limit[2] == (double)INFINITY);
    assert_string_equal(w[1].frame, "palm");
    assert_int_equal(w[1].gauge[5], 7);
    assert_true(w[1].map.matrix[3][1] == -0.5 && w[1].map.matrix[4][0] == 0.5);
    tact_wrench_describe_channels(&w[0], 8, &info);
    tact_wrench_describe_channels(&w[1], 15, &info);
    assert_int_equal(info.wrench_count, 2);
    assert_int_equal(info.wrench[1].channel, 15);
    assert_string_equal(info.input[8].name, "wrist_fx");
    assert_string_equal(info.input[20].name, "tip_tz");
    assert_string_equal(info.input[20].unit, "N m");
    assert_string_equal(info.input[21].name, "tip_overload");
}

static void bad_wrench_sensor_settings_are_named(void **unused)
{
    (void)unused;
#define WRIST SETTING("wrenches[0].name", "wrist")
#define WRENCH_CHANNELS_SETTING SETTING("wrenches[0].channels", "g0 g1 g2 g3 g4 g5")
#define FULL_MATRIX NUMBERS("wrenches[0].matrix", 6, 6, unit_matrix)
    const double zeros[36] = {0};
    const struct {
        struct tact_device_setting setting[4];
        int count, line;
        const char *text;
    } cases[] = {
        {{WRENCH_CHANNELS_SETTING, FULL_MATRIX}, 2, 10, "missing key \"name\""},
        {{SETTING("wrenches[0].name", "my-wrist"), WRENCH_CHANNELS_SETTING, FULL_MATRIX},
         3,
         10,
         "my-wrist"},
        {{WRIST, FULL_MATRIX}, 2, 10, "6 to 8 inputs"},
        {{WRIST, SETTING("wrenches[0].channels", "g0 g1 g2 g3 g4"), FULL_MATRIX}, 3, 11, "6 to 8"},
        {{WRIST, SETTING("wrenches[0].channels", "g0 g1 g2 g3 g4 g6"), FULL_MATRIX},
         3,
         11,
         "named g6"},
        {{WRIST, SETTING("wrenches[0].channels", "g0 g1 g2 g3 g4 g4"), FULL_MATRIX},
         3,
         11,
         "twice: g4"},
        {{WRIST, WRENCH_CHANNELS_SETTING}, 2, 10, "either matrix"},
        {{WRIST, WRENCH_CHANNELS_SETTING, FULL_MATRIX, SETTING("wrenches[0].file", "a.cal")},
         4,
         12,
         "either matrix"},
        {{WRIST, WRENCH_CHANNELS_SETTING, NUMBERS("wrenches[0].matrix", 3, 6, unit_matrix)},
         3,
         12,
         "6 rows"},
        {{WRIST, WRENCH_CHANNELS_SETTING, NUMBERS("wrenches[0].matrix", 6, 6, zeros)},
         3,
         12,
         "row of fx"},
        {{WRIST, WRENCH_CHANNELS_SETTING, SETTING("wrenches[0].file", "/nowhere/a.cal")},
         3,
         12,
         "cannot open"},
        {{WRIST, WRENCH_CHANNELS_SETTING, FULL_MATRIX, SETTING("wrenches[0].units", "N")},
         4,
         13,
         "units of force"},
        {{WRIST, WRENCH_CHANNELS_SETTING, FULL_MATRIX, NUMBERS("wrenches[0].bias", 1, 5, zeros)},
         4,
         13,
         "6 numbers"},
        {{WRIST, WRENCH_CHANNELS_SETTING, FULL_MATRIX, NUMBERS("wrenches[0].limits", 1, 6, zeros)},
         4,
         13,
         "above 0"},
        {{WRIST, WRENCH_CHANNELS_SETTING, FULL_MATRIX,
          NUMBERS("wrenches[0].quat_wxyz", 1, 4, zeros)},
         4,
         13,
         "length"},
        {{WRIST, WRENCH_CHANNELS_SETTING, FULL_MATRIX, SETTING("wrenches[0].tare", "11")},
         4,
         13,
         "0 to 10 s"},
        {{WRIST, WRENCH_CHANNELS_SETTING, FULL_MATRIX, SETTING("wrenches[0].tara", "1")},
         4,
         13,
         "unknown key"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct device_config config;
        struct tact_force_torque_sensor w[2];
        assert_int_equal(read_settings(cases[n].setting, cases[n].count, &config, w), -EINVAL);
        if (!strstr(config.err.text, cases[n].text) || config.err.line != cases[n].line) {
            fail_msg("case %zu: %d: \"%s\" does not say \"%s\"", n, config.err.line,
                     config.err.text, cases[n].text);
        }
    }
}

static int make_test_folder(void **unused)
{
    (void)unused;
    snprintf(folder, sizeof folder, "/tmp/tact-wrench-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_test_folder(void **unused)
{
    char path[96];
    (void)unused;
    snprintf(path, sizeof path, "%s/sensor.cal", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrenches_are_recovered_from_gauge_voltages),
        cmocka_unit_test(wrench_errors_by_quantisation_are_bounded),
        cmocka_unit_test(measured_wrenches_move_to_another_frame),
        cmocka_unit_test(units_of_wrench_calibrations_are_distinguished),
        cmocka_unit_test(calibration_files_of_ati_are_read),
        cmocka_unit_test(invalid_wrench_calibration_files_are_refused),
        cmocka_unit_test(ambiguous_wrench_calibration_files_are_refused),
        cmocka_unit_test(one_of_several_wrench_calibrations_is_selected),
        cmocka_unit_test(long_calibration_files_are_read_to_a_limit),
        cmocka_unit_test(settings_of_two_wrench_sensors_are_read),
        cmocka_unit_test(bad_wrench_sensor_settings_are_named),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
