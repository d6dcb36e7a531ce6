/* A force-torque sensor on comedi_test, whose inputs are wired to its outputs: a device of the
 * test outputs the gauges' voltages, the board's sensor computes the wrench, the session logs it,
 * and a replay is equal. */
#include "sensor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "board.h"
#include "devices/comedi/comedi.h"
#include "rt/log/log_reader.h"
#include "rt/session/replay.h"
#include "rt/session/session.h"
#include "unit/support/device_config.h"
#include "unit/support/run_scene.h"
#include "unit/support/script_device.h"

#define BOARD_NODE "/dev/comedi1"
#define LOG "/dev/shm/sensor.mcap"

enum { TICKS = 400, SATURATED = 200, OVERLOADED = 300, LASTING = 8, GAUGES = 6 };

static const double lsb = 20.0 / 65535.0; /* [V] */

/* Solves wrench = matrix volts for the gauges' voltages: the matrix has a block for each pair of
 * gauges, inverted by hand. */
static const double matrix[6][6] = {{10, 10, 0, 0, 0, 0}, {10, -10, 0, 0, 0, 0},
                                    {0, 0, 8, 4, 0, 0},   {0, 0, 0.1, -0.2, 0, 0},
                                    {0, 0, 0, 0, 0.5, 0}, {0, 0, 0, 0, 0.1, 0.25}};

static void gauge_voltages_for_wrench(const double w[6], double volts[6])
{
    volts[0] = (w[0] + w[1]) / 20.0;
    volts[1] = (w[0] - w[1]) / 20.0;
    volts[2] = (w[2] + 20.0 * w[3]) / 10.0;
    volts[3] = (w[2] - 80.0 * w[3]) / 20.0;
    volts[4] = w[4] / 0.5;
    volts[5] = (w[5] - 0.2 * w[4]) / 0.25;
}

static void applied_wrench_at_tick(uint64_t tick, double wrench[6])
{
    const double most[6] = {20, -15, 25, 0.2, -1.5, 0.8};
    for (int k = 0; k < 6; k++) {
        wrench[k] = most[k] * sin(0.02 * (double)tick * (k + 1));
    }
    if (tick >= OVERLOADED && tick < OVERLOADED + LASTING) {
        wrench[2] = 45.0;
    }
}

static comedi_t *plant;

static void write_gauge_voltages_of_wrench(const double wrench[6], int saturated)
{
    double volts[6];
    gauge_voltages_for_wrench(wrench, volts);
    for (unsigned int i = 0; i < GAUGES; i++) {
        lsampl_t raw = (int)i == saturated ? LARGEST_BOARD_RAW_VALUE
                                           : (lsampl_t)lrint((volts[i] + 10.0) / lsb);
        comedi_data_write(plant, 1, i, 0, AREF_GROUND, raw);
    }
}

static void read_plant_device(void *self, uint64_t tick, double t, int64_t now,
                              struct tact_device_input *in)
{
    double wrench[6];
    (void)self, (void)t;
    applied_wrench_at_tick(tick, wrench);
    write_gauge_voltages_of_wrench(wrench,
                                   tick >= SATURATED && tick < SATURATED + LASTING ? 3 : -1);
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
}

static int open_plant_device(const struct tact_device_config *config, struct tact_device *out,
                             struct tact_error *err)
{
    (void)config, (void)err;
    return open_script_device(read_plant_device, NULL, out);
}

static const char scene_text[] =
    "name: sensor\n"
    "devices:\n"
    "  - {name: plant, type: plant}\n"
    "  - name: board\n"
    "    type: comedi\n"
    "    settings:\n"
    "      board: " BOARD_NODE "\n"
    "      inputs: g0=ai0 g1=ai1 g2=ai2 g3=ai3 g4=ai4 g5=ai5\n"
    "      recover: 0.02\n"
    "      wrenches:\n"
    "        - name: wrist\n"
    "          channels: g0 g1 g2 g3 g4 g5\n"
    "          units: N Nm\n"
    "          limits: [100, 100, 40, 5, 5, 5]\n"
    "          matrix:\n"
    "            - [10, 10, 0, 0, 0, 0]\n"
    "            - [10, -10, 0, 0, 0, 0]\n"
    "            - [0, 0, 8, 4, 0, 0]\n"
    "            - [0, 0, 0.1, -0.2, 0, 0]\n"
    "            - [0, 0, 0, 0, 0.5, 0]\n"
    "            - [0, 0, 0, 0, 0.1, 0.25]\n"
    "hands:\n"
    "  - name: robot\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 0.1\n"
    "        inertia: [2e-3, 2e-3, 2e-3, 0, 0, 0]\n"
    "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 8, damping: 0.2}\n"
    "inputs:\n"
    "  - {from: board.wrist_fz, to: robot.tip, scale: 0.01}\n";

static void record_sensor_session(struct device_config *reported)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "plant",
                                                 "puts voltages", open_plant_device, NULL};
    static const struct tact_device_type *const types[] = {&type, &tact_comedi_type};
    static struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    options.types = types;
    options.type_count = 2;
    options.ticks = TICKS;
    options.record = LOG;
    options.replace = 1;
    options.messages = reported->config.messages;
    run_session_of_scene_text(scene_text, &options, &report);
}

/* Checks the sensor's logged values of a tick: state, stamp, six gauges, six wrench components,
 * overload. Returns the largest error relative to its bound. */
static double check_wrenches_of_sensor_tick(uint64_t tick, const double *in)
{
    double wrench[6];
    double worst = 0.0;
    unsigned int gauge = tick >= SATURATED && tick < SATURATED + LASTING ? 1U << 3 : 0;
    unsigned int axis = tick >= OVERLOADED + 2 && tick < OVERLOADED + LASTING ? 256U << 2 : 0;
    /* while a gauge is saturated the wrench keeps its last value */
    applied_wrench_at_tick(gauge ? SATURATED - 1 : tick, wrench);
    for (int k = 0; k < 6; k++) {
        double bound = 0.0;
        for (int i = 0; i < GAUGES; i++) {
            bound += 0.5 * lsb * fabs(matrix[k][i]);
        }
        worst = fmax(worst, fabs(in[2 + GAUGES + k] - wrench[k]) / bound);
    }
    assert_int_equal((unsigned int)in[2 + GAUGES + 6], gauge | axis);
    if (tick == SATURATED - 1 || tick == SATURATED + 1 || tick == OVERLOADED + 1) {
        assert_int_equal((int)in[0], TACT_DEVICE_OK);
    }
    if (tick == SATURATED + 2 || tick == OVERLOADED + 2) {
        assert_int_equal((int)in[0], TACT_DEVICE_STALE);
    }
    return worst;
}

static void check_logged_wrenches(void)
{
    struct tact_log *log;
    struct tact_error err = {0};
    double worst = 0.0;
    uint64_t ticks = 0;
    assert_int_equal(tact_log_open(LOG, &log, &err), 0);
    const struct tact_layout *layout = tact_log_layout(log);
    const long at = tact_log_field(log, "board_input", NULL);
    assert_true(at >= 0);
    struct tact_record *r = test_malloc(tact_layout_bytes(layout));
    while (tact_log_next(log, r) > 0) {
        worst = fmax(worst, check_wrenches_of_sensor_tick(r->tick, r->values + at));
        ticks++;
    }
    test_free(r);
    tact_log_close(log);
    assert_int_equal(ticks, TICKS);
    print_message("wrench of 6 gauges: within %.2f of half a step of each\n", worst);
    assert_true(worst <= 1.0 + 1e-9);
}

void gauge_wrench_passes_through_a_session(void **state)
{
    const struct tact_messages no_messages = {NULL, NULL};
    struct tact_replay_report report;
    static struct device_config reported;
    (void)state;
    device_config_init(&reported, NULL, 0);
    plant = comedi_open(BOARD_NODE);
    assert_non_null(plant);
    record_sensor_session(&reported);
    comedi_close(plant);
    check_logged_wrenches();
    assert_non_null(strstr(reported.messages,
                           "input g3 is saturated; it is a strain gauge of the force-torque "
                           "sensor wrist, whose last wrench is used"));
    assert_non_null(strstr(reported.messages, "fz of wrist is over its limit of 40 N"));
    assert_int_equal(tact_replay_run(LOG, no_messages, &report, NULL), 0);
    assert_int_equal(report.ticks, TICKS);
    assert_int_equal(report.differing, 0);
    unlink(LOG);
}

void tare_measures_the_zero_of_a_wrench_sensor(void **state)
{
    const double before[6] = {3, -4, 5, 0.1, 0.2, -0.3};
    const double wrench_after_loading[6] = {8, 1, 7, -0.1, 0.4, -0.2};
    const struct tact_device_setting settings[] = {
        SETTING("board", BOARD_NODE),
        SETTING("inputs", "g0=ai0 g1=ai1 g2=ai2 g3=ai3 g4=ai4 g5=ai5"),
        SETTING("wrenches[0].name", "wrist"),
        SETTING("wrenches[0].channels", "g0 g1 g2 g3 g4 g5"),
        NUMBERS("wrenches[0].matrix", 6, 6, &matrix[0][0]),
        SETTING("wrenches[0].tare", "0.05")};
    static struct device_config config;
    struct tact_device device = {0};
    struct tact_device_input in;
    (void)state;
    plant = comedi_open(BOARD_NODE);
    write_gauge_voltages_of_wrench(before, 2);
    device_config_init(&config, settings, 6);
    assert_int_not_equal(tact_comedi_type.open(&config.config, &device, &config.err), 0);
    assert_non_null(strstr(config.err.text, "the zero of sensor wrist was not measured: input g2"));
    write_gauge_voltages_of_wrench(before, -1);
    assert_int_equal(tact_comedi_type.open(&config.config, &device, &config.err), 0);
    assert_true(device.info.input[0].raw && !device.info.wrench[0].untared);
    write_gauge_voltages_of_wrench(wrench_after_loading, -1);
    device.ops->read(device.self, 0, 0.0, 0, &in);
    for (int k = 0; k < 6; k++) {
        double bound = 0.0;
        for (int i = 0; i < GAUGES; i++) {
            bound += lsb * fabs(matrix[k][i]);
        }
        assert_true(fabs(in.channel[GAUGES + k] - (wrench_after_loading[k] - before[k])) <= bound);
    }
    device.ops->close(device.self);
    comedi_close(plant);
}
