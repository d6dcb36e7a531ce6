/* A PD joint on hardware: the loop at 1 kHz on its real clock, the angle in through comedi, the
 * torque out as a voltage, and a plant process at the other end of the wires that is the joint.
 *
 * The same joint is computed without wires, converters and processes; what is left between the two
 * is the resolution of the board. Times are those of the virtual machine, which count instructions.
 */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "board.h"
#include "devices/comedi.h"
#include "rt/clock.h"
#include "rt/loop.h"
#include "unit/support/device_config.h"

#define NODE "/dev/comedi0"
enum { TICKS = 60000, LOADED_TICKS = 2000 };
enum { ANGLE = 4, TORQUE = 0 }; /* channels of the outputs, which the inputs read back */

static const double period = 1e-3;         /* [s] */
static const double rad_per_volt = 0.15;   /* [rad/V] */
static const double volt_per_torque = 4.0; /* [V/(N m)] */
static const double lsb = 20.0 / 65535.0;  /* [V] */
static const double inertia = 2e-3;        /* [kg m^2] */
static const double friction = 5e-3;       /* [N m s/rad] */
static const double stiffness = 8.0;       /* [N m/rad] */
static const double damping = 0.2;         /* [N m s/rad] */

/* What the processes share. */
struct shared {
    int64_t start_ns;
    int ticks;
    double angle[TICKS + 1]; /* of the plant, at each tick [rad] */
};

struct joint {
    double q; /* [rad] */
    double v; /* [rad/s] */
};

static double target(int tick)
{
    double t = tick * period;
    return 0.5 * sin(M_PI * t) * (t < 2.0 ? t / 2.0 : 1.0);
}

static void move(struct joint *joint, double torque)
{
    joint->v += period * (torque - friction * joint->v) / inertia;
    joint->q += period * joint->v;
}

static double control(double q, double before, int tick)
{
    double rate = (target(tick + 1) - target(tick)) / period;
    return stiffness * (target(tick) - q) + damping * (rate - (q - before) / period);
}

/* Half a period after each tick: takes the torque, moves, shows the angle. */
static void plant(struct shared *shared, int wire)
{
    struct sched_param priority = {.sched_priority = 85};
    struct joint joint = {0};
    mlockall(MCL_CURRENT | MCL_FUTURE);
    sched_setscheduler(0, SCHED_FIFO, &priority);
    for (int tick = 0; tick < shared->ticks; tick++) {
        tact_clock_sleep_until(shared->start_ns + tick * 1000000LL + 500000);
        double volts = -10.0 + lsb * board_wire_read(wire, 0, TORQUE);
        shared->angle[tick] = joint.q;
        move(&joint, volts / volt_per_torque);
        board_wire_write(wire, 1, ANGLE, (lsampl_t)lrint((joint.q / rad_per_volt + 10.0) / lsb));
    }
    _exit(0);
}

static struct tact_device device;
static double before; /* angle of the tick before [rad] */
static int not_ok;    /* ticks in which the device was not */

static void control_tick(void *user, uint64_t tick, int64_t planned_ns, int64_t woke_ns)
{
    struct tact_device_input in;
    (void)user, (void)planned_ns;
    device.ops->read(device.self, tick, (double)tick * period, woke_ns, &in);
    double out = control(in.channel[0], tick ? before : in.channel[0], (int)tick);
    before = in.channel[0];
    not_ok += in.state != TACT_DEVICE_OK;
    device.ops->write(device.self, &out, woke_ns);
}

/* Opens the board, with the joint at rest at 0. */
static void open_joint(struct device_config *config)
{
    const double in_map[] = {0, rad_per_volt};
    const double out_map[] = {0, volt_per_torque};
    const double limits[] = {-1.2, 1.2};
    const struct tact_device_setting settings[] = {
        SETTING("inputs", "angle=ai4"),     SETTING("outputs", "torque=ao0"),
        NUMBERS("input_map", 1, 2, in_map), NUMBERS("output_map", 1, 2, out_map),
        NUMBERS("limits", 1, 2, limits),    SETTING("input_units", "rad"),
        SETTING("output_units", "N m")};
    comedi_t *dev = comedi_open(NODE);
    comedi_data_write(dev, 1, ANGLE, 0, AREF_GROUND, BOARD_ZERO);
    comedi_close(dev);
    device_config_init(config, settings, 7);
    assert_int_equal(tact_comedi_type.open(&config->config, &device, &config->err), 0);
}

/* The loop with wires, at its real clock. */
static void run(struct shared *shared, int ticks, struct tact_loop_stats *stats)
{
    struct device_config config;
    struct tact_loop_options options = tact_loop_default();
    open_joint(&config);
    int wire = board_wire(board_guard(), NODE);
    assert_true(wire >= 0);
    shared->ticks = ticks;
    shared->start_ns = tact_clock_now() + 300000000;
    pid_t child = fork();
    if (child == 0) {
        plant(shared, wire);
    }
    options.ticks = (uint64_t)ticks;
    options.start_ns = shared->start_ns;
    options.tick = control_tick;
    not_ok = 0;
    assert_int_equal(tact_loop_run(&options, stats), 0);
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    device.ops->close(device.self);
    close(wire);
    assert_int_equal(board_output(NODE, TORQUE), BOARD_ZERO);
    assert_int_equal(not_ok, 0);
}

/* Largest difference between the plant and the same joint without wires [rad]. */
static double compare(const struct shared *shared, int ticks)
{
    struct joint joint = {0};
    double last = 0.0;
    double worst = 0.0;
    for (int tick = 0; tick < ticks; tick++) {
        double torque = control(joint.q, last, tick);
        last = joint.q;
        worst = fmax(worst, fabs(joint.q - shared->angle[tick]));
        move(&joint, torque);
    }
    return worst;
}

static void report(const char *what, const struct tact_loop_stats *stats, double worst)
{
    print_message(
        "%s: %llu ticks, %llu missed, wake p50 %.1f p99 %.1f max %.1f us, compute p50 %.1f "
        "max %.1f us, joint within %.2f LSB (%.2e rad)\n",
        what, (unsigned long long)stats->ticks, (unsigned long long)stats->missed,
        (double)tact_histogram_quantile(&stats->wake_latency, 0.5) / 1e3,
        (double)tact_histogram_quantile(&stats->wake_latency, 0.99) / 1e3,
        (double)stats->wake_latency.max / 1e3,
        (double)tact_histogram_quantile(&stats->compute, 0.5) / 1e3,
        (double)stats->compute.max / 1e3, worst / (lsb * rad_per_volt), worst);
}

static void check(const char *what, struct shared *shared, int ticks)
{
    static struct tact_loop_stats stats;
    run(shared, ticks, &stats);
    double worst = compare(shared, ticks);
    report(what, &stats, worst);
    assert_int_equal(stats.executed, ticks);
    assert_int_equal(stats.missed, 0);
    assert_true(stats.wake_latency.max < 20000);
    assert_true(worst < 3.0 * lsb * rad_per_volt);
}

static void sixty_seconds(void **state)
{
    check("idle", *state, TICKS);
}

static void with_hackbench(void **state)
{
    pid_t load = fork();
    if (load == 0) {
        setpgid(0, 0);
        execlp("sh", "sh", "-c", "while :; do hackbench -g 1 -l 200 >/dev/null; done", NULL);
        _exit(127);
    }
    setpgid(load, load);
    usleep(200000);
    assert_int_equal(waitpid(load, NULL, WNOHANG), 0);
    check("hackbench", *state, LOADED_TICKS);
    kill(-load, SIGKILL);
    waitpid(load, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sixty_seconds),
                                       cmocka_unit_test(with_hackbench)};
    board_setup();
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(shared, 0, sizeof *shared);
    const struct CMUnitTest with_state[] = {
        {tests[0].name, tests[0].test_func, NULL, NULL, shared},
        {tests[1].name, tests[1].test_func, NULL, NULL, shared}};
    return cmocka_run_group_tests(with_state, NULL, NULL);
}
