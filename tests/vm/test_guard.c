/* The guard: whatever stops the controller, every output is zero within 5 ms of its last heartbeat,
 * and nothing that a revived controller sends passes. Outputs are the voltages of a board, as the
 * driver reads them back, an enable on a parallel port, and the push of a stick. */
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

#define NODE "/dev/comedi0"
#define PORT_NODE "/dev/comedi2"
#define CGROUP "/run/cgroup"
enum { PORT = 0x378 };
enum { BOARD, ENABLE, STICK, DEVICES };
enum { MOST_NS = 5000000, LOOP_PRIORITY = 80 };
#define ROUNDS campaign_size(15, 50)
static const lsampl_t pushed = 49151; /* 5 V */

/* Between the controller, a process of its own, and the test. */
struct shared {
    atomic_int_fast64_t beat_ns; /* just before the last heartbeat */
    atomic_int push;             /* 5 V is wanted, else 0 */
    atomic_int hang;             /* the tick spins while it is set */
    atomic_int hog;              /* another thread takes all memory, of the priority hog - 1 */
    atomic_int state[DEVICES];
    atomic_int quit;
    char messages[DEVICES * 4096];
};

static struct shared *shared;
static comedi_t *reader;
static uint32_t seed = 1;

/* 0: as any other program. */
static void schedule(int priority)
{
    const struct sched_param param = {.sched_priority = priority};
    assert_int_equal(sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &param), 0);
}

static void real_time(int priority)
{
    mlockall(MCL_CURRENT | MCL_FUTURE);
    schedule(priority);
}

static void rest(double ms)
{
    tact_clock_sleep_until(tact_clock_now() + (int64_t)(ms * 1e6));
}

static void *hog(void *unused)
{
    (void)unused;
    while (!atomic_load(&shared->hog)) {
        usleep(1000);
    }
    schedule(atomic_load(&shared->hog) - 1);
    for (;;) {
        size_t size = 1 << 20;
        char *block = malloc(size);
        if (block) {
            memset(block, 1, size);
        }
    }
    return NULL;
}

/* Opens the three devices, with their guards. */
static void open_devices(struct tact_device *device, struct device_config *config)
{
    const struct tact_device_setting board[] = {
        SETTING("inputs", "x=ai5"), SETTING("outputs", "a=ao0 b=ao1"), SETTING("recover", "0.01")};
    const struct tact_device_setting enable[] = {SETTING("board", PORT_NODE),
                                                 SETTING("outputs", "on=do0")};
    const struct tact_device_setting stick[] = {SETTING("match", STICK_NAME),
                                                SETTING("forces", "force_x")};
    device_config_init(&config[BOARD], board, 3);
    device_config_init(&config[ENABLE], enable, 2);
    device_config_init(&config[STICK], stick, 2);
    for (int i = 0; i < DEVICES; i++) {
        const struct tact_device_type *type = i == STICK ? &tact_evdev_type : &tact_comedi_type;
        if (type->open(&config[i].config, &device[i], &config[i].err)) {
            fprintf(stderr, "controller: %s\n", config[i].err.text);
            _exit(1);
        }
    }
}

/* 1 kHz until it is asked to quit, or ended from outside. */
static void control(void)
{
    static struct device_config config[DEVICES];
    struct tact_device device[DEVICES];
    struct tact_device_input in;
    pthread_t thread;
    schedule(0); /* not the test's, above the guard, for the threads that are started here */
    open_devices(device, config);
    pthread_create(&thread, NULL, hog, NULL);
    real_time(LOOP_PRIORITY);
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
        atomic_store(&shared->beat_ns, now);
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

static long output(unsigned int channel)
{
    lsampl_t raw = 0;
    assert_true(comedi_data_read(reader, 0, channel, 0, AREF_GROUND, &raw) >= 0);
    return (long)raw;
}

static int enabled(void)
{
    return inb(PORT) & 1;
}

static int all_zero(void)
{
    return output(0) == BOARD_ZERO && output(1) == BOARD_ZERO && !enabled() && stick_pushes() == 0;
}

static int all_push(void)
{
    return output(0) == pushed && enabled() && stick_pushes() == -0x7fff;
}

/* Starts a controller that pushes, in a group of processes of its own, and waits until it does. */
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
        control();
    }
    for (int i = 0; i < 3000 && !all_push(); i++) {
        rest(1);
    }
    assert_true(all_push());
    assert_true(board_guard() > 0);
    return child;
}

static pid_t start(void)
{
    return start_in(NULL);
}

static void finish(pid_t child)
{
    int status = -1;
    atomic_store(&shared->quit, 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(board_guard(), 0);
    assert_true(all_zero());
}

/* From the last heartbeat to zero on every output [ns], watched every 50 us. */
static int64_t until_zero(void)
{
    int64_t now = tact_clock_now();
    int64_t give_up = now + 1000000000; /* memory takes its time to be filled */
    while (!all_zero() && now < give_up) {
        rest(0.05);
        now = tact_clock_now();
    }
    assert_true(all_zero());
    return tact_clock_now() - atomic_load(&shared->beat_ns);
}

static void random_moment(void)
{
    seed = seed * 1664525U + 1013904223U;
    rest(10.0 + (double)(seed >> 8) / (1 << 24) * 5.0);
}

static void report(const char *what, int64_t worst)
{
    print_message("%s: %d times, zero at most %.2f ms after the last heartbeat\n", what, ROUNDS,
                  (double)worst / 1e6);
    assert_true(worst <= MOST_NS);
}

/* Rounds of a controller that ends for good: killed, or in a group of little memory, which it takes
 * in a thread of its own and in place of the loop, in turn. */
static void end_again_and_again(const char *what, const char *group)
{
    int64_t worst = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int status = 0;
        pid_t child = start_in(group);
        random_moment();
        if (group) {
            atomic_store(&shared->hog, i % 2 ? 1 + LOOP_PRIORITY : 1);
        } else {
            kill(child, SIGKILL);
        }
        int64_t took = until_zero();
        worst = took > worst ? took : worst;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        for (int k = 0; k < 100 && board_guard(); k++) {
            rest(10);
        }
        assert_int_equal(board_guard(), 0); /* no reason to stay */
        assert_true(all_zero());
    }
    report(what, worst);
}

static void killed(void **unused)
{
    (void)unused;
    end_again_and_again("kill -9", NULL);
}

/* A thread of the controller takes memory until the kernel ends the process. */
static void out_of_memory(void **unused)
{
    (void)unused;
    assert_int_equal(system("mkdir -p " CGROUP " && mount -t cgroup2 none " CGROUP
                            " && echo +memory > " CGROUP "/cgroup.subtree_control && mkdir " CGROUP
                            "/tact && echo 32M > " CGROUP "/tact/memory.max"),
                     0);
    end_again_and_again("out of memory", CGROUP "/tact/cgroup.procs");
}

/* Sends zeros for long enough, then pushes again; looks closely now and then. */
static void rearm(int round)
{
    if (round % 10 != 0) {
        atomic_store(&shared->push, 0);
        rest(60);
        atomic_store(&shared->push, 1);
        rest(20);
        assert_false(all_zero());
        return;
    }
    rest(30);
    assert_true(all_zero()); /* a revived controller pushes in vain */
    assert_int_equal(atomic_load(&shared->state[BOARD]), TACT_DEVICE_STALE);
    atomic_store(&shared->push, 0);
    rest(60);
    atomic_store(&shared->push, 1);
    rest(20);
    assert_in_range(output(0), BOARD_ZERO + 1, pushed - 1); /* comes back slowly */
    rest(250);
    assert_true(all_push());
}

static void stopped(void **unused)
{
    int64_t worst = 0;
    (void)unused;
    pid_t child = start();
    for (int i = 0; i < ROUNDS; i++) {
        random_moment();
        kill(child, SIGSTOP);
        int64_t took = until_zero();
        worst = took > worst ? took : worst;
        rest(20);
        assert_true(all_zero());
        kill(child, SIGCONT);
        rearm(i);
    }
    finish(child);
    assert_non_null(strstr(shared->messages, "the guard has set the outputs to zero"));
    report("SIGSTOP", worst);
}

static void hung(void **unused)
{
    int64_t worst = 0;
    (void)unused;
    pid_t child = start();
    for (int i = 0; i < ROUNDS; i++) {
        random_moment();
        atomic_store(&shared->hang, 1);
        int64_t took = until_zero();
        worst = took > worst ? took : worst;
        atomic_store(&shared->hang, 0);
        rearm(i);
    }
    finish(child);
    report("a tick that spins", worst);
}

/* A guard itself killed, asked to end, or stopped: zero, LOST, and said so. */
static void guard_gone(void **unused)
{
    const int signals[] = {SIGKILL, SIGTERM, SIGSTOP};
    (void)unused;
    for (int i = 0; i < 6; i++) {
        int device = i < 3 ? BOARD : STICK;
        pid_t child = start();
        int guard = board_guard_of(device == BOARD ? NODE : stick_node());
        assert_true(guard > 0);
        kill(guard, signals[i % 3]);
        int64_t began = tact_clock_now();
        while (device == BOARD ? output(0) != BOARD_ZERO : stick_pushes() != 0) {
            rest(0.05);
            assert_true(tact_clock_now() - began < 100000000);
        }
        int64_t took = tact_clock_now() - began;
        print_message("the guard of the %s, signal %d: zero after %.2f ms\n",
                      device == BOARD ? "board" : "stick", signals[i % 3], (double)took / 1e6);
        assert_true(took < 12000000);
        rest(120);
        assert_int_equal(atomic_load(&shared->state[device]), TACT_DEVICE_LOST);
        assert_true(device == BOARD ? output(1) == BOARD_ZERO : stick_pushes() == 0);
        finish(child);
        assert_non_null(strstr(shared->messages, "the guard has ended"));
    }
}

/* What the system's hook sends before it sleeps. */
static void before_a_suspend(void **unused)
{
    (void)unused;
    pid_t child = start();
    int64_t began = tact_clock_now();
    assert_int_equal(system("\"" TACT_SOURCE_DIR "/devices/guard/system-sleep\" pre suspend"), 0);
    assert_true(all_zero());
    print_message("suspend: zero when the hook returns, after %.0f ms\n",
                  (double)(tact_clock_now() - began) / 1e6);
    rearm(0);
    finish(child);
}

static void board_unplugged(void **unused)
{
    (void)unused;
    pid_t child = start();
    for (int i = 0; i < 5; i++) {
        board_attach(NODE, NULL);
        rest(5);
        assert_int_equal(atomic_load(&shared->state[BOARD]), TACT_DEVICE_LOST);
        rest(100);
        board_attach(NODE, "comedi_test 2000000,50000");
        comedi_close(reader);
        reader = comedi_open(NODE);
        rest(500);
        assert_int_equal(atomic_load(&shared->state[BOARD]), TACT_DEVICE_OK);
        assert_int_equal(output(0), pushed);
    }
    finish(child);
}

int main(int argc, char **argv)
{
    static const int effects[] = {FF_CONSTANT, FF_GAIN, 0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed),           cmocka_unit_test(out_of_memory),
        cmocka_unit_test(stopped),          cmocka_unit_test(hung),
        cmocka_unit_test(guard_gone),       cmocka_unit_test(board_unplugged),
        cmocka_unit_test(before_a_suspend),
    };
    board_setup();
    board_attach(PORT_NODE, "comedi_parport 0x378");
    assert_int_equal(ioperm(PORT, 1, 1), 0);
    stick_plug(effects);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    reader = comedi_open(NODE);
    real_time(95);
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
