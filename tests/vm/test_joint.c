/* A robot's joint on hardware: a session at 1 kHz on its real clock, the measured angle in through
 * comedi, the drive's torque out as a voltage through guard and board, and a plant process at the
 * other end of the wires that is the joint.
 *
 * The same joint is computed without wires, converters and processes; the remaining difference is
 * due to the resolution of the board. Times are those of the virtual machine, which count
 * instructions.
 *
 * A second of hackbench takes ten of the host's, so that the suite has one of them and .ci/long
 * two; arguments are a filter and the ticks with it: `vm_test_joint
 * joint_motion_is_exact_under_load 60000` is the whole minute.
 */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "board.h"
#include "devices/comedi/comedi.h"
#include "rt/clock.h"
#include "rt/session/replay.h"
#include "rt/session/session.h"
#include "unit/support/campaign.h"
#include "unit/support/run_scene.h"
#include "unit/support/script_device.h"

#define BOARD_NODE "/dev/comedi0"
enum { MOST_TICKS = 60000, LOADED_TICKS = 1000, LONG_LOADED_TICKS = 2000, LOGGED_TICKS = 1000 };
enum {
    ANGLE_CHANNEL = 4,
    TORQUE_CHANNEL = 0
}; /* board channels of measured angle and drive torque: outputs, to which the inputs of the same
      number are wired */

static const double period = 1e-3;                 /* [s] */
static const double joint_radians_per_volt = 0.15; /* [rad/V] */
static const double volts_per_newton_metre = 4.0;  /* [V/(N m)] */
static const double lsb = 20.0 / 65535.0;          /* [V] */
static const double inertia = 2e-3;                /* [kg m^2] */
static const double friction = 5e-3;               /* [N m s/rad] */
static const double stiffness = 8.0;               /* [N m/rad] */
static const double damping = 0.2;                 /* [N m s/rad] */

/* Memory shared by the session's process and the simulated plant's. */
struct shared {
    atomic_bool is_plant_ready; /* 1: the plant process runs and has set its real-time priority */
    /* time of the session's first tick; 0: the session has not begun */
    atomic_int_fast64_t start_ns;
    int ticks;
    double angle[MOST_TICKS + 1]; /* angle of the plant, at each tick [rad] */
};

static struct shared *shared;

struct joint {
    double q; /* [rad] */
    double v; /* [rad/s] */
};

static double target_angle_at_tick(int tick)
{
    double t = tick * period;
    return 0.5 * sin(M_PI * t) * (t < 2.0 ? t / 2.0 : 1.0);
}

static void move_plant_joint(struct joint *joint, double torque)
{
    joint->v += period * (torque - friction * joint->v) / inertia;
    joint->q += period * joint->v;
}

/* Torque of the joint's drive, computed implicitly for the end of the tick. */
static double drive_torque(double q, double before, int tick)
{
    double spring_torque = stiffness * (target_angle_at_tick(tick) - q);
    double rate = (inertia * (q - before) / period + period * spring_torque) /
                  (inertia + period * damping + period * period * stiffness);
    return spring_torque - (period * stiffness + damping) * rate;
}

/* The plant's loop: half a period after each tick it reads the torque, moves the joint and outputs
 * the angle. */
static void run_simulated_joint_process(int board_descriptor)
{
    struct sched_param priority = {.sched_priority = 85};
    struct joint joint = {0};
    mlockall(MCL_CURRENT | MCL_FUTURE);
    sched_setscheduler(0, SCHED_FIFO, &priority);
    atomic_store(&shared->is_plant_ready, true);
    while (!atomic_load(&shared->start_ns)) {
        usleep(50);
    }
    for (int tick = 0; tick < shared->ticks; tick++) {
        tact_clock_sleep_until(atomic_load(&shared->start_ns) + tick * 1000000LL + 500000);
        double volts = -10.0 + lsb * read_board_channel(board_descriptor, 0, TORQUE_CHANNEL);
        shared->angle[tick] = joint.q;
        move_plant_joint(&joint, volts / volts_per_newton_metre);
        write_board_channel(board_descriptor, 1, ANGLE_CHANNEL,
                            (lsampl_t)lrint((joint.q / joint_radians_per_volt + 10.0) / lsb));
    }
    _exit(0);
}

/* A device whose channel is the joint's target, and which passes the plant the time of the first
 * tick. */
static void read_target_device(void *self, uint64_t tick, double t, int64_t now,
                               struct tact_device_input *in)
{
    (void)self, (void)t;
    if (tick == 0) {
        atomic_store(&shared->start_ns, now);
    }
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] = target_angle_at_tick((int)tick);
}

static int open_target_device(const struct tact_device_config *config, struct tact_device *out,
                              struct tact_error *err)
{
    (void)config, (void)err;
    return open_script_device(read_target_device, "angle", out);
}

static const char scene_text[] =
    "name: joint\n"
    "hands:\n"
    "  - name: robot\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 0.1\n"
    "        center_of_mass: [0, 0, 0]\n"
    "        inertia: [2e-3, 2e-3, 2e-3, 0, 0, 0]\n"
    "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 8, damping: 0.2}\n"
    "devices:\n"
    "  - {name: wish, type: wish}\n"
    "  - name: board\n"
    "    type: comedi\n"
    "    settings:\n"
    "      inputs: angle=ai4\n"
    "      outputs: motor=ao0\n"
    "      input_map: [0, 0.15]\n"
    "      input_units: rad\n"
    "      limits: [[-1.2, 1.2]]\n"
    "      output_map: [0, 4]\n"
    "      output_units: Nm\n"
    "inputs:\n"
    "  - {from: board.angle, to: robot.tip, what: state}\n"
    "  - {from: wish.angle, to: robot.tip}\n"
    "outputs:\n"
    "  - {from: robot.tip, to: board.motor, what: drive, limit: 2.4, rate: 1e6}\n";

static void open_session(int ticks, const char *log, struct tact_scene **scene,
                         struct tact_session **session)
{
    static const struct tact_device_type target_device_type = {TACT_ABI(struct tact_device_type),
                                                               "wish", "what the robot should do",
                                                               open_target_device, NULL};
    static const struct tact_device_type *const types[] = {&target_device_type, &tact_comedi_type};
    struct tact_session_options options = tact_session_options_default();
    options.types = types;
    options.type_count = 2;
    options.ticks = (uint64_t)ticks;
    options.require_realtime = 1;
    options.record = log;
    options.replace = 1;
    open_session_of_scene_text(scene_text, &options, scene, session);
}

static pid_t load;

static int stop_background_load(void **unused)
{
    (void)unused;
    if (load > 0) {
        kill(-load, SIGKILL);
        waitpid(load, NULL, 0);
    }
    load = 0;
    return 0;
}

static void start_background_load(void)
{
    load = fork();
    if (load == 0) {
        setpgid(0, 0);
        execlp("sh", "sh", "-c", "while :; do hackbench -g 1 -l 200 >/dev/null; done", NULL);
        _exit(127);
    }
    setpgid(load, load);
    usleep(200000);
    assert_int_equal(waitpid(load, NULL, WNOHANG), 0);
}

/* Runs the session with the board, on the real clock; the joint is at rest at 0. Hackbench runs
 * only during the ticks, as otherwise most of its time would go into opening and closing. */
static void run_session(int ticks, int loaded, const char *log, struct tact_session_report *report)
{
    struct tact_scene *scene;
    struct tact_session *session;
    comedi_t *dev = comedi_open(BOARD_NODE);
    comedi_data_write(dev, 1, ANGLE_CHANNEL, 0, AREF_GROUND, BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    comedi_close(dev);
    open_session(ticks, log, &scene, &session);
    int board_descriptor = open_channels_of_process(find_guard_process(), BOARD_NODE);
    assert_true(board_descriptor >= 0);
    shared->ticks = ticks;
    atomic_store(&shared->start_ns, 0);
    atomic_store(&shared->is_plant_ready, false);
    pid_t child = fork();
    if (child == 0) {
        run_simulated_joint_process(board_descriptor);
    }
    while (!atomic_load(&shared->is_plant_ready)) {
        usleep(1000);
    }
    if (loaded) {
        start_background_load();
    }
    assert_int_equal(tact_session_run(session, report), 0);
    stop_background_load(NULL);
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
    close(board_descriptor);
    assert_int_equal(read_board_output(BOARD_NODE, TORQUE_CHANNEL), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
    assert_int_equal(report->trips, 0);
}

/* Largest difference between the plant and the same joint simulated without a board [rad]. */
static double largest_angle_error_of_plant(int ticks)
{
    struct joint joint = {0};
    double last = 0.0;
    double worst = 0.0;
    for (int tick = 0; tick < ticks; tick++) {
        double torque = fmin(1.0, (tick + 1) * period / 0.2) * drive_torque(joint.q, last, tick);
        last = joint.q;
        worst = fmax(worst, fabs(joint.q - shared->angle[tick]));
        move_plant_joint(&joint, torque);
    }
    return worst;
}

static void print_timing_report(const char *what, const struct tact_loop_stats *stats, double worst)
{
    print_message(
        "%s: %llu ticks, %llu missed, wake p50 %.1f p99 %.1f max %.1f us, compute p50 %.1f "
        "max %.1f us, joint within %.2f LSB (%.2e rad)\n",
        what, (unsigned long long)stats->ticks, (unsigned long long)stats->missed,
        (double)tact_histogram_quantile(&stats->wake_latency, 0.5) / 1e3,
        (double)tact_histogram_quantile(&stats->wake_latency, 0.99) / 1e3,
        (double)stats->wake_latency.max / 1e3,
        (double)tact_histogram_quantile(&stats->compute, 0.5) / 1e3,
        (double)stats->compute.max / 1e3, worst / (lsb * joint_radians_per_volt), worst);
}

/* Checks that each wake-up is within 20 us, and that the joint follows the expected motion. */
static void check_run_timing_and_motion(const char *what, int ticks, int loaded, const char *log)
{
    static struct tact_session_report result;
    run_session(ticks, loaded, log, &result);
    double worst = largest_angle_error_of_plant(ticks);
    print_timing_report(what, &result.loop, worst);
    assert_int_equal(result.loop.executed, ticks);
    assert_int_equal(result.loop.missed, 0);
    assert_true(result.loop.wake_latency.max < 20000);
    assert_true(worst < 3.0 * lsb * joint_radians_per_volt);
}

static void joint_motion_is_exact_on_idle_machine(void **unused)
{
    (void)unused;
    check_run_timing_and_motion("idle", campaign_trial_count(1000, MOST_TICKS), 0, NULL);
}

static int tick_count_under_load; /* 0: the number of the test campaign (LOADED_TICKS, or
                                     LONG_LOADED_TICKS) */

static void joint_motion_is_exact_under_load(void **unused)
{
    (void)unused;
    const int ticks = campaign_trial_count(LOADED_TICKS, LONG_LOADED_TICKS);
    check_run_timing_and_motion("hackbench", tick_count_under_load ? tick_count_under_load : ticks,
                                1, NULL);
}

/* The log contains the measured angle: a replay without the board is equal. */
static void joint_log_replays_exactly_without_the_board(void **unused)
{
    const struct tact_messages no_messages = {NULL, NULL};
    struct tact_replay_report report;
    (void)unused;
    check_run_timing_and_motion("recorded", LOGGED_TICKS, 0, "/dev/shm/joint.mcap");
    assert_int_equal(tact_replay_run("/dev/shm/joint.mcap", no_messages, &report, NULL), 0);
    assert_int_equal(report.ticks, LOGGED_TICKS);
    assert_int_equal(report.differing, 0);
}

struct played {
    int board_descriptor; /* the guard's descriptor of the board; -1: not yet known */
    int ticks;            /* compared */
    /* logged torque of the previous tick, which is now at the board's output [N m] */
    double before;
    double worst; /* largest difference between the board's output and the logged torque [LSB] */
    double most;  /* in the log [N m] */
};

/* After the ramp, checks that the board's output is the logged torque. */
static void check_board_output_is_logged(void *user, const struct tact_layout *layout,
                                         const struct tact_record *logged_record,
                                         const struct tact_record *replayed_record)
{
    struct played *p = user;
    (void)replayed_record;
    if (p->board_descriptor < 0) {
        p->board_descriptor = open_channels_of_process(find_guard_process(), BOARD_NODE);
    }
    for (uint32_t i = 0; i < layout->field_count && logged_record->tick >= 300; i++) {
        if (!strcmp(layout->fields[i].name, "outputs_sent")) {
            double torque = logged_record->values[layout->fields[i].offset];
            double volts = -10.0 + lsb * read_board_channel(p->board_descriptor, 0, TORQUE_CHANNEL);
            if (logged_record->tick > 300) {
                p->worst = fmax(p->worst, fabs(volts - p->before * volts_per_newton_metre) / lsb);
            }
            p->before = torque;
            p->most = fmax(p->most, fabs(torque));
            p->ticks++;
        }
    }
}

static void read_deadman_device(void *self, uint64_t tick, double t, int64_t now,
                                struct tact_device_input *in)
{
    (void)self, (void)tick, (void)t;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] = 1.0;
}

static int open_deadman_device(const struct tact_device_config *config, struct tact_device *out,
                               struct tact_error *err)
{
    (void)config, (void)err;
    return open_script_device(read_deadman_device, "held", out);
}

static void joint_log_is_played_onto_the_board(void **unused)
{
    static const struct tact_device_type held = {TACT_ABI(struct tact_device_type), "held",
                                                 "a switch that is held", open_deadman_device,
                                                 NULL};
    static const struct tact_device_type *const types[] = {&tact_comedi_type, &held};
    const char *const rest = strstr(scene_text, "\ninputs:\n") + 1;
    char text[sizeof scene_text + 100];
    struct tact_scene *scene = NULL;
    struct tact_replay_options options = tact_replay_options_default();
    struct played played = {.board_descriptor = -1};
    struct tact_replay_report report;
    struct tact_error err = {0};
    (void)unused;
    snprintf(text, sizeof text, "%.*s  - {name: switch, type: held}\n%sdeadman: switch.held\n",
             (int)(rest - scene_text), scene_text, rest);
    assert_int_equal(tact_scene_parse(text, strlen(text), "here.yaml", NULL, &scene, &err), 0);
    options.playback_device = "board";
    options.scene = scene;
    options.types = types;
    options.type_count = 2;
    options.compared = check_board_output_is_logged;
    options.user = &played;
    if (tact_replay_run_with("/dev/shm/joint.mcap", &options, &report, &err)) {
        fail_msg("%s: %s", err.file, err.text);
    }
    tact_scene_free(scene);
    close(played.board_descriptor);
    print_message("onto the board: %d ticks within %.2f LSB of the log, at most %.3f N m\n",
                  played.ticks, played.worst, played.most);
    assert_int_equal(report.differing, 0);
    assert_int_equal(played.ticks, LOGGED_TICKS - 300);
    assert_true(played.worst <= 0.51 && played.most > 0.01);
    assert_int_equal(read_board_output(BOARD_NODE, TORQUE_CHANNEL), BOARD_RAW_VALUE_OF_ZERO_VOLTS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joint_motion_is_exact_on_idle_machine),
        cmocka_unit_test_teardown(joint_motion_is_exact_under_load, stop_background_load),
        cmocka_unit_test(joint_log_replays_exactly_without_the_board),
        cmocka_unit_test(joint_log_is_played_onto_the_board),
    };
    set_up_boards();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(shared, 0, sizeof *shared);
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
        tick_count_under_load = argc > 2 ? atoi(argv[2]) : LONG_LOADED_TICKS;
        assert_in_range(tick_count_under_load, 1, MOST_TICKS);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
