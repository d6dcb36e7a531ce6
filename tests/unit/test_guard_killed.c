/*
 * The command presses a haptic device against a wall and dies, is stopped, or loses the device, 50
 * times each in .ci/long: the force is gone within 5 ms, as the library's stand-in sees it, and
 * returns without a jump. It stays away where the guard was stopped meanwhile.
 */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "rt/clock.h"
#include "support/campaign.h"
#include "unit/haptic/folder.h"

#define STIFFNESS 400.0              /* [N/m] of the coupling */
#define PRESSED 2.0                  /* [N] the force at which it is pressed */
#define MOST_JUMP (STIFFNESS * 1e-3) /* [N] K times 1 mm */
#define MOST_GONE_MS 5.0
static const double pressed_to = 0.028;       /* [m] 8 mm into the wall */
static const double full = STIFFNESS * 0.008; /* [N] the force there, after the ramp of 0.2 s */
static const int64_t ms = 1000000;

static const char scene[] =
    "name: press\n"
    "duration: 3600\n"
    "materials: [{name: steel}]\n"
    "pairs: [{materials: [steel, steel], friction: 0.3}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    position: [0.06, 0, 0]\n"
    "    shapes: [{type: box, size: [0.06, 0.1, 0.1], material: steel}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: finger\n"
    "        joint: {type: slide, axis: [1, 0, 0], coupling: {stiffness: 400, damping: 4}}\n"
    "        mass: 0.05\n"
    "        inertia: [1e-5, 1e-5, 1e-5, 0, 0, 0]\n"
    "        shapes: [{type: sphere, radius: 0.01, material: steel}]\n"
    "devices: [{name: device, type: force_dimension}]\n"
    "inputs: [{from: device.x, to: hand.finger}]\n"
    "outputs: [{from: hand.finger, to: device.fx, limit: 8, rate: 1e4}]\n"
    "deadman: device.button_0\n";

static pid_t start_command(void)
{
    char path[512], messages[512];
    haptic_path(path, sizeof path, "scene.yaml");
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves none behind */
        const int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        haptic_path(messages, sizeof messages, "messages");
        dup2(open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        execl(TACT_BINARY_DIR "/examples/tact", "tact", "run", path, "--quiet", (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    return child;
}

static double force_of(unsigned int index)
{
    return atomic_load(&stand_in->sent[index % STAND_IN_SENT].wrench[0]);
}

/* Largest step between two forces that were sent one after the other from an index on, the largest
 * force, and how often it fell to 0 on the way: on a busy machine the command may be late once
 * more, for longer than the guard waits. */
struct course {
    double step, most;
    int trips;
};

/* Fails with what the command has written. */
static void fail_with_messages(const char *what)
{
    char path[512], line[512];
    haptic_path(path, sizeof path, "messages");
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        print_error("%s", line);
    }
    if (file) {
        fclose(file);
    }
    fail_msg("%s", what);
}

/* Waits until the device is pressed again, and follows the force from the index on. */
static struct course wait_until_pressed(unsigned int from)
{
    struct course course = {.step = 0.0};
    const int64_t until = tact_clock_now() + 20000 * ms;
    double last = 0.0;
    for (unsigned int i = from; fabs(last) < PRESSED;) {
        if (i == atomic_load(&stand_in->count) && tact_clock_now() < until) {
            stand_in_wait_us(2000);
            continue;
        }
        if (tact_clock_now() > until) {
            fail_with_messages("not pressed within 20 s");
        }
        const double force = force_of(i++);
        const int is_trip = force == 0.0 && last != 0.0;
        course.trips += is_trip;
        course.step = fmax(course.step, is_trip ? 0.0 : fabs(force - last));
        course.most = fmax(course.most, fabs(force));
        last = force;
    }
    return course;
}

/* Time from `since` to the first force of zero that was sent, after which there is no other for
 * 20 ms [ms]. */
static double wait_until_gone(unsigned int from, int64_t since)
{
    const int64_t until = since + 2000 * ms;
    for (unsigned int i = from;; i++) {
        while (i == atomic_load(&stand_in->count)) {
            assert_true(tact_clock_now() < until);
            stand_in_wait_us(500);
        }
        if (force_of(i) == 0.0) {
            const int64_t gone = atomic_load(&stand_in->sent[i % STAND_IN_SENT].ns);
            stand_in_wait_us(20000);
            for (unsigned int k = i; k != atomic_load(&stand_in->count); k++) {
                assert_true(force_of(k) == 0.0);
            }
            return (double)(gone - since) * 1e-6;
        }
    }
}

/* Signals the command; returns when. With real-time priority, where it is granted: nothing comes
 * between clock and signal. */
static int64_t signal_command(pid_t command, int number)
{
    const struct sched_param priority = {.sched_priority = 95}, normal = {0};
    sched_setscheduler(0, SCHED_FIFO, &priority);
    const int64_t now = tact_clock_now();
    const int rc = kill(command, number);
    sched_setscheduler(0, SCHED_OTHER, &normal);
    assert_int_equal(rc, 0);
    return now;
}

/* Figures of one kind of event. */
struct figures {
    double gone_ms, step, most;
    int late, trips;
};

static void add_figures(struct figures *all, double gone_ms, struct course back)
{
    all->gone_ms = fmax(all->gone_ms, gone_ms);
    all->late += gone_ms > MOST_GONE_MS;
    all->step = fmax(all->step, back.step);
    all->most = fmax(all->most, back.most);
    all->trips += back.trips;
}

/* Without real-time priority, as the guard has none then, a busy machine may be late at times;
 * under a sanitizer a process that is killed takes longer to end. */
static void check_figures(const char *what, const struct figures *all, int times)
{
    const struct sched_param priority = {.sched_priority = 1}, normal = {0};
    const int is_real_time = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
    sched_setscheduler(0, SCHED_OTHER, &normal);
    print_message("%s: %d times: gone in %.2f ms at most (%d over 5 ms), largest step on return "
                  "%.3f N, largest force %.2f N, %d times late again%s\n",
                  what, times, all->gone_ms, all->late, all->step, all->most, all->trips,
                  is_real_time ? "" : ", without real-time priority");
    if (SANITIZED) {
        assert_true(all->gone_ms < 20 * MOST_GONE_MS);
    } else {
        assert_true(is_real_time ? all->late == 0 : 2 * all->late <= times);
    }
    assert_true(all->step < MOST_JUMP);
    assert_true(all->most < full + MOST_JUMP);
}

static void wait_until_closed(void)
{
    const int64_t until = tact_clock_now() + 5000 * ms;
    while (atomic_load(&stand_in->open) && tact_clock_now() < until) {
        stand_in_wait_us(1000);
    }
    assert_int_equal(atomic_load(&stand_in->open), 0);
    assert_int_equal(atomic_load(&stand_in->enabled), 0);
}

static void end_command(pid_t command)
{
    assert_int_equal(kill(command, SIGTERM), 0);
    assert_int_equal(waitpid(command, NULL, 0), command);
}

static void a_killed_command_leaves_no_force(void **state)
{
    const int times = campaign_trial_count(2, 50);
    struct figures all = {0};
    (void)state;
    for (int i = 0; i < times; i++) {
        const unsigned int begin = atomic_load(&stand_in->count);
        const pid_t command = start_command();
        const struct course back = wait_until_pressed(begin);
        stand_in_wait_us(1000 + 137 * i);
        const unsigned int from = atomic_load(&stand_in->count);
        const int64_t now = signal_command(command, SIGKILL);
        assert_int_equal(waitpid(command, NULL, 0), command);
        add_figures(&all, wait_until_gone(from, now), back);
        wait_until_closed();
    }
    check_figures("kill -9", &all, times);
}

static void a_stopped_command_returns_softly(void **state)
{
    const int times = campaign_trial_count(2, 50);
    struct figures all = {0};
    (void)state;
    const pid_t command = start_command();
    wait_until_pressed(atomic_load(&stand_in->count));
    for (int i = 0; i < times; i++) {
        stand_in_wait_us(1000 + 137 * i);
        unsigned int from = atomic_load(&stand_in->count);
        const int64_t now = signal_command(command, SIGSTOP);
        const double gone = wait_until_gone(from, now);
        from = atomic_load(&stand_in->count);
        assert_int_equal(kill(command, SIGCONT), 0);
        add_figures(&all, gone, wait_until_pressed(from));
    }
    end_command(command);
    wait_until_closed();
    check_figures("SIGSTOP", &all, times);
}

/* An unplugged device takes no force; what counts is how it is taken up again. */
static void an_unplugged_device_returns_softly(void **state)
{
    const int times = campaign_trial_count(2, 50);
    struct figures all = {0};
    (void)state;
    const pid_t command = start_command();
    wait_until_pressed(atomic_load(&stand_in->count));
    for (int i = 0; i < times; i++) {
        stand_in_wait_us(1000 + 137 * i);
        const int64_t now = tact_clock_now();
        atomic_store(&stand_in->present, 0);
        wait_until_closed();
        const double gone = (double)(tact_clock_now() - now) * 1e-6;
        const unsigned int from = atomic_load(&stand_in->count);
        stand_in_wait_us(100000);
        assert_int_equal(atomic_load(&stand_in->count), from);
        atomic_store(&stand_in->present, 1);
        add_figures(&all, gone, wait_until_pressed(from));
    }
    end_command(command);
    wait_until_closed();
    check_figures("unplug", &all, times);
}

/* The guard process of a command, its only child. */
static pid_t guard_of(pid_t command)
{
    char path[64];
    int guard = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)command, (int)command);
    FILE *file = fopen(path, "r");
    if (file) {
        assert_int_equal(fscanf(file, "%d", &guard), 1);
        fclose(file);
    }
    return guard;
}

/* A guard that was stopped while the command was killed finds a last force that it has not read:
 * it does not send that. */
static void a_stopped_guard_sends_no_old_force(void **state)
{
    const int times = campaign_trial_count(2, 10);
    (void)state;
    for (int i = 0; i < times; i++) {
        const unsigned int begin = atomic_load(&stand_in->count);
        const pid_t command = start_command();
        wait_until_pressed(begin);
        const pid_t guard = guard_of(command);
        if (guard <= 0) { /* a kernel without lists of children */
            end_command(command);
            skip();
        }
        assert_int_equal(kill(guard, SIGSTOP), 0);
        stand_in_wait_us(5000);
        const unsigned int from = atomic_load(&stand_in->count);
        assert_int_equal(kill(command, SIGKILL), 0);
        assert_int_equal(waitpid(command, NULL, 0), command);
        stand_in_wait_us(50000);
        assert_int_equal(kill(guard, SIGCONT), 0);
        wait_until_closed();
        assert_true(atomic_load(&stand_in->count) - from > 1);
        for (unsigned int k = from + 1; k != atomic_load(&stand_in->count); k++) {
            assert_true(force_of(k) == 0.0); /* the first may have been under way */
        }
    }
}

static int set_up(void **state)
{
    char path[512];
    if (make_haptic_folder(state)) {
        return -1;
    }
    haptic_path(path, sizeof path, "scene.yaml");
    FILE *file = fopen(path, "w");
    if (!file || fputs(scene, file) < 0 || fclose(file)) {
        return -1;
    }
    atomic_store(&stand_in->present, 1);
    atomic_store(&stand_in->call_us, 300);
    atomic_store(&stand_in->buttons, 1U);
    atomic_store(&stand_in->x, pressed_to);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_command_leaves_no_force),
        cmocka_unit_test(a_stopped_command_returns_softly),
        cmocka_unit_test(an_unplugged_device_returns_softly),
        cmocka_unit_test(a_stopped_guard_sends_no_old_force),
    };
    return cmocka_run_group_tests(tests, set_up, remove_haptic_folder);
}
