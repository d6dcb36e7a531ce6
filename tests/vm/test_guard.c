/* The guard: whatever stops the controller, every output is zero within 5 ms of its last
 * heartbeat, and what a resumed controller sends is not passed on. Outputs are the voltages of a
 * board, as the driver reads them back, an enable on a parallel port, and the push of a stick. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "board.h"
#include "devices/comedi/comedi.h"
#include "devices/evdev/evdev.h"
#include "rt/clock.h"
#include "stick.h"
#include "unit/support/campaign.h"
#include "unit/support/device_config.h"

#define BOARD_NODE "/dev/comedi0"
#define DIGITAL_PORT_NODE "/dev/comedi2"
#define CGROUP_FOLDER "/run/cgroup"
enum { PORT = 0x378 };
enum { BOARD, ENABLE, STICK, DEVICES };
enum { MOST_NS = 5000000, LOOP_PRIORITY = 80 };
#define KILL_ROUNDS campaign_trial_count(5, 50)
static const lsampl_t pushed = 49151; /* 5 V */

/* Memory shared by the test and the controller, a process of its own. */
struct shared {
    atomic_int_fast64_t heartbeat_ns; /* time just before the last heartbeat */
    atomic_int push;                  /* 1: the controller outputs 5 V and a full push; 0: zeros */
    atomic_int hang;                  /* 1: the controller's tick hangs in a busy loop */
    /* not 0: another thread, of this priority minus 1, allocates all memory */
    atomic_int use_memory;
    atomic_int state[DEVICES];
    atomic_int quit;
    char messages[DEVICES * 4096];
};

static struct shared *shared;
static comedi_t *reader;
static uint32_t seed = 1;

/* Sets the scheduling of this process to SCHED_FIFO with a priority; 0: to the ordinary scheduler.
 */
static void set_fifo_priority_of_process(int priority)
{
    const struct sched_param scheduling_parameters = {.sched_priority = priority};
    assert_int_equal(
        sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &scheduling_parameters), 0);
}

static void lock_memory_and_set_fifo_priority(int priority)
{
    mlockall(MCL_CURRENT | MCL_FUTURE);
    set_fifo_priority_of_process(priority);
}

static void sleep_ms(double ms)
{
    tact_clock_sleep_until(tact_clock_now() + (int64_t)(ms * 1e6));
}

static void *exhaust_memory(void *unused)
{
    (void)unused;
    while (!atomic_load(&shared->use_memory)) {
        usleep(1000);
    }
    set_fifo_priority_of_process(atomic_load(&shared->use_memory) - 1);
    for (;;) {
        size_t size = 1 << 20;
        char *block = malloc(size);
        if (block) {
            memset(block, 1, size);
        }
    }
    return NULL;
}

/* Opens the three devices and starts their guards. */
static void open_guarded_devices(struct tact_device *device, struct device_config *config)
{
    const struct tact_device_setting board[] = {
        SETTING("inputs", "x=ai5"), SETTING("outputs", "a=ao0 b=ao1"), SETTING("recover", "0.01")};
    const struct tact_device_setting output_enable_settings[] = {
        SETTING("board", DIGITAL_PORT_NODE), SETTING("outputs", "on=do0")};
    const struct tact_device_setting joystick_settings[] = {SETTING("match", JOYSTICK_NAME),
                                                            SETTING("forces", "force_x")};
    device_config_init(&config[BOARD], board, 3);
    device_config_init(&config[ENABLE], output_enable_settings, 2);
    device_config_init(&config[STICK], joystick_settings, 2);
    for (int i = 0; i < DEVICES; i++) {
        const struct tact_device_type *type = i == STICK ? &tact_evdev_type : &tact_comedi_type;
        if (type->open(&config[i].config, &device[i], &config[i].err)) {
            fprintf(stderr, "controller: %s\n", config[i].err.text);
            _exit(1);
        }
    }
}

/* The controller's loop: 1 kHz until it is asked to quit or is killed. */
static void run_controller_loop(void)
{
    static struct device_config config[DEVICES];
    struct tact_device device[DEVICES];
    struct tact_device_input in;
    pthread_t thread;
    set_fifo_priority_of_process(0); /* the threads started here must not inherit the test's
                    priority, which is above the guard's */
    open_guarded_devices(device, config);
    pthread_create(&thread, NULL, exhaust_memory, NULL);
    lock_memory_and_set_fifo_priority(LOOP_PRIORITY);
    int64_t next = tact_clock_now();
    for (uint64_t tick = 0; !atomic_load(&shared->quit); tick++) {
        for (int i = 0; i < DEVICES; i++) {
            device[i].ops->read(device[i].self, tick, (double)tick * 1e-3, next, &in);
            atomic_store(&shared->state[i], in.state);
        }
        while (atomic_load(&shared->hang)) {
        }
        double push = atomic_load(&shared->push) ? 1.0 : 0.0;
        const double volts[] = {5.0 * push, -5.0 * push};
        int64_t now = tact_clock_now();
        atomic_store(&shared->heartbeat_ns, now);
        for (int i = 0; i < DEVICES; i++) {
            int lost = atomic_load(&shared->state[i]) == TACT_DEVICE_LOST;
            const double none[] = {0.0, 0.0};
            device[i].ops->write(device[i].self, lost ? none : i == BOARD ? volts : &push, now);
        }
        next += 1000000;
        next = next < tact_clock_now() ? tact_clock_now() : next;
        tact_clock_sleep_until(next);
    }
    for (int i = 0; i < DEVICES; i++) {
        device[i].ops->close(device[i].self);
        strcat(shared->messages, config[i].messages);
    }
    _exit(0);
}

static long read_board_output_raw(unsigned int channel)
{
    lsampl_t raw = 0;
    assert_true(comedi_data_read(reader, 0, channel, 0, AREF_GROUND, &raw) >= 0);
    return (long)raw;
}

static int are_outputs_enabled(void)
{
    return inb(PORT) & 1;
}

static int are_all_outputs_zero(void)
{
    return read_board_output_raw(0) == BOARD_RAW_VALUE_OF_ZERO_VOLTS &&
           read_board_output_raw(1) == BOARD_RAW_VALUE_OF_ZERO_VOLTS && !are_outputs_enabled() &&
           current_joystick_force_level() == 0;
}

static int are_all_outputs_pushing(void)
{
    return read_board_output_raw(0) == pushed && are_outputs_enabled() &&
           current_joystick_force_level() == -0x7fff;
}

/* Starts a controller process, in a control group or in none (NULL), and waits until its outputs
 * are non-zero. */
static pid_t start_in(const char *group)
{
    memset(shared, 0, sizeof *shared);
    atomic_store(&shared->push, 1);
    pid_t child = fork();
    if (child == 0) {
        FILE *file = group ? fopen(group, "we") : NULL;
        if (group && (!file || fprintf(file, "%d", getpid()) < 0 || fclose(file))) {
            _exit(2);
        }
        run_controller_loop();
    }
    for (int i = 0; i < 3000 && !are_all_outputs_pushing(); i++) {
        sleep_ms(1);
    }
    assert_true(are_all_outputs_pushing());
    assert_true(find_guard_process() > 0);
    return child;
}

static pid_t start_controller(void)
{
    return start_in(NULL);
}

static void stop_controller(pid_t child)
{
    int status = -1;
    atomic_store(&shared->quit, 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(find_guard_process(), 0);
    assert_true(are_all_outputs_zero());
}

/* Time from the last heartbeat until every output is zero [ns], polled every 50 us. */
static int64_t time_until_outputs_are_zero(void)
{
    int64_t now = tact_clock_now();
    int64_t zeroing_deadline_ns = now + 1000000000; /* allocating all memory takes time */
    while (!are_all_outputs_zero() && now < zeroing_deadline_ns) {
        sleep_ms(0.05);
        now = tact_clock_now();
    }
    assert_true(are_all_outputs_zero());
    return tact_clock_now() - atomic_load(&shared->heartbeat_ns);
}

static void sleep_random_duration(void)
{
    seed = seed * 1664525U + 1013904223U;
    sleep_ms(10.0 + (double)(seed >> 8) / (1 << 24) * 5.0);
}

static void print_worst_zeroing_time(const char *what, int64_t worst)
{
    print_message("%s: %d times, zero at most %.2f ms after the last heartbeat\n", what,
                  KILL_ROUNDS, (double)worst / 1e6);
    assert_true(worst <= MOST_NS);
}

/* Rounds of a controller that ends: killed, or in a control group of little memory, which is
 * exhausted alternately by another thread and by the loop itself. */
static void kill_controllers_repeatedly(const char *what, const char *group)
{
    int64_t worst = 0;
    for (int i = 0; i < KILL_ROUNDS; i++) {
        int status = 0;
        pid_t child = start_in(group);
        sleep_random_duration();
        if (group) {
            atomic_store(&shared->use_memory, i % 2 ? 1 + LOOP_PRIORITY : 1);
        } else {
            kill(child, SIGKILL);
        }
        int64_t zeroing_time_ns = time_until_outputs_are_zero();
        worst = zeroing_time_ns > worst ? zeroing_time_ns : worst;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        for (int k = 0; k < 100 && find_guard_process(); k++) {
            sleep_ms(10);
        }
        assert_int_equal(find_guard_process(), 0); /* the guard must end after its controller */
        assert_true(are_all_outputs_zero());
    }
    print_worst_zeroing_time(what, worst);
}

static void outputs_are_zero_after_killed_controller(void **unused)
{
    (void)unused;
    kill_controllers_repeatedly("kill -9", NULL);
}

/* A thread of the controller allocates memory until the kernel kills the process. */
static void outputs_are_zero_after_controller_oom(void **unused)
{
    (void)unused;
    assert_int_equal(system("mkdir -p " CGROUP_FOLDER " && mount -t cgroup2 none " CGROUP_FOLDER
                            " && echo +memory > " CGROUP_FOLDER
                            "/cgroup.subtree_control && mkdir " CGROUP_FOLDER
                            "/tact && echo 32M > " CGROUP_FOLDER "/tact/memory.max"),
                     0);
    kill_controllers_repeatedly("out of memory", CGROUP_FOLDER "/tact/cgroup.procs");
}

/* Sends zeros until the outputs are armed again, then a non-zero value; in some rounds the ramp is
 * checked in detail. */
static void rearm_and_wait_for_outputs(int round)
{
    if (round % 10 != 0) {
        atomic_store(&shared->push, 0);
        sleep_ms(60);
        atomic_store(&shared->push, 1);
        sleep_ms(20);
        assert_false(are_all_outputs_zero());
        return;
    }
    sleep_ms(30);
    assert_true(are_all_outputs_zero()); /* outputs stay zero: what a resumed controller sends is
                                            not passed on */
    assert_int_equal(atomic_load(&shared->state[BOARD]), TACT_DEVICE_STALE);
    atomic_store(&shared->push, 0);
    sleep_ms(60);
    atomic_store(&shared->push, 1);
    sleep_ms(20);
    assert_in_range(read_board_output_raw(0), BOARD_RAW_VALUE_OF_ZERO_VOLTS + 1,
                    pushed - 1); /* ramps up */
    sleep_ms(250);
    assert_true(are_all_outputs_pushing());
}

static void outputs_are_zero_after_stopped_controller(void **unused)
{
    int64_t worst = 0;
    (void)unused;
    pid_t child = start_controller();
    for (int i = 0; i < KILL_ROUNDS; i++) {
        sleep_random_duration();
        kill(child, SIGSTOP);
        int64_t zeroing_time_ns = time_until_outputs_are_zero();
        worst = zeroing_time_ns > worst ? zeroing_time_ns : worst;
        sleep_ms(20);
        assert_true(are_all_outputs_zero());
        kill(child, SIGCONT);
        rearm_and_wait_for_outputs(i);
    }
    stop_controller(child);
    assert_non_null(strstr(shared->messages, "the guard has set the outputs to zero"));
    print_worst_zeroing_time("SIGSTOP", worst);
}

static void outputs_are_zero_after_hung_controller(void **unused)
{
    int64_t worst = 0;
    (void)unused;
    pid_t child = start_controller();
    for (int i = 0; i < KILL_ROUNDS; i++) {
        sleep_random_duration();
        atomic_store(&shared->hang, 1);
        int64_t zeroing_time_ns = time_until_outputs_are_zero();
        worst = zeroing_time_ns > worst ? zeroing_time_ns : worst;
        atomic_store(&shared->hang, 0);
        rearm_and_wait_for_outputs(i);
    }
    stop_controller(child);
    print_worst_zeroing_time("a tick that spins", worst);
}

/* The guard itself is killed, terminated or stopped: outputs are zero, its state is LOST, and that
 * is reported. */
static void lost_guard_zeroes_outputs(void **unused)
{
    const int signals[] = {SIGKILL, SIGTERM, SIGSTOP};
    (void)unused;
    for (int i = 0; i < 6; i++) {
        int device = i < 3 ? BOARD : STICK;
        pid_t child = start_controller();
        int guard =
            find_guard_process_of_node(device == BOARD ? BOARD_NODE : joystick_device_path());
        assert_true(guard > 0);
        kill(guard, signals[i % 3]);
        int64_t zeroing_start_ns = tact_clock_now();
        while (device == BOARD ? read_board_output_raw(0) != BOARD_RAW_VALUE_OF_ZERO_VOLTS
                               : current_joystick_force_level() != 0) {
            sleep_ms(0.05);
            assert_true(tact_clock_now() - zeroing_start_ns < 100000000);
        }
        int64_t zeroing_time_ns = tact_clock_now() - zeroing_start_ns;
        print_message("the guard of the %s, signal %d: zero after %.2f ms\n",
                      device == BOARD ? "board" : "stick", signals[i % 3],
                      (double)zeroing_time_ns / 1e6);
        assert_true(zeroing_time_ns < 12000000);
        sleep_ms(120);
        assert_int_equal(atomic_load(&shared->state[device]), TACT_DEVICE_LOST);
        assert_true(device == BOARD ? read_board_output_raw(1) == BOARD_RAW_VALUE_OF_ZERO_VOLTS
                                    : current_joystick_force_level() == 0);
        stop_controller(child);
        assert_non_null(strstr(shared->messages, "the guard process has ended"));
    }
}

/* Outputs are zeroed by the signal that the system's suspend hook sends to the guard. */
static void outputs_are_zero_before_suspend(void **unused)
{
    (void)unused;
    pid_t child = start_controller();
    int64_t zeroing_start_ns = tact_clock_now();
    assert_int_equal(system("\"" TACT_SOURCE_DIR "/devices/guard/system-sleep\" pre suspend"), 0);
    assert_true(are_all_outputs_zero());
    print_message("suspend: zero when the hook returns, after %.0f ms\n",
                  (double)(tact_clock_now() - zeroing_start_ns) / 1e6);
    rearm_and_wait_for_outputs(0);
    stop_controller(child);
}

static void unplugged_board_is_found_again(void **unused)
{
    (void)unused;
    pid_t child = start_controller();
    for (int i = 0; i < 5; i++) {
        attach_board_driver(BOARD_NODE, NULL);
        sleep_ms(5);
        assert_int_equal(atomic_load(&shared->state[BOARD]), TACT_DEVICE_LOST);
        sleep_ms(100);
        attach_board_driver(BOARD_NODE, "comedi_test 2000000,50000");
        comedi_close(reader);
        reader = comedi_open(BOARD_NODE);
        sleep_ms(500);
        assert_int_equal(atomic_load(&shared->state[BOARD]), TACT_DEVICE_OK);
        assert_int_equal(read_board_output_raw(0), pushed);
    }
    stop_controller(child);
}

int main(int argc, char **argv)
{
    static const int effects[] = {FF_CONSTANT, FF_GAIN, 0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_zero_after_killed_controller),
        cmocka_unit_test(outputs_are_zero_after_controller_oom),
        cmocka_unit_test(outputs_are_zero_after_stopped_controller),
        cmocka_unit_test(outputs_are_zero_after_hung_controller),
        cmocka_unit_test(lost_guard_zeroes_outputs),
        cmocka_unit_test(unplugged_board_is_found_again),
        cmocka_unit_test(outputs_are_zero_before_suspend),
    };
    set_up_boards();
    attach_board_driver(DIGITAL_PORT_NODE, "comedi_parport 0x378");
    assert_int_equal(ioperm(PORT, 1, 1), 0);
    plug_in_joystick(effects);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    reader = comedi_open(BOARD_NODE);
    lock_memory_and_set_fifo_priority(95);
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
