/* The guard: whatever stops the controller, the outputs are zero within 5 ms of its last heartbeat,
 * as the driver reads them back, and nothing that a revived controller sends passes. */
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
#include "devices/comedi.h"
#include "rt/clock.h"
#include "unit/support/device_config.h"

#define NODE "/dev/comedi0"
enum { ROUNDS = 50, MOST_NS = 5000000 };
static const lsampl_t pushed = 49151; /* 5 V */

/* Between the controller, a process of its own, and the test. */
struct shared {
    atomic_int_fast64_t beat_ns; /* just before the last heartbeat */
    atomic_int push;             /* 5 V is wanted, else 0 */
    atomic_int hang;             /* the tick spins while it is set */
    atomic_int state;            /* of the device */
    atomic_int quit;
    char messages[4096];
};

static struct shared *shared;
static comedi_t *reader;
static uint32_t seed = 1;

static void real_time(int priority)
{
    const struct sched_param param = {.sched_priority = priority};
    mlockall(MCL_CURRENT | MCL_FUTURE);
    assert_int_equal(sched_setscheduler(0, SCHED_FIFO, &param), 0);
}

static void rest(double ms)
{
    tact_clock_sleep_until(tact_clock_now() + (int64_t)(ms * 1e6));
}

/* 1 kHz until it is told to quit, or ended from outside. */
static void control(void)
{
    static struct device_config config;
    struct tact_device device;
    struct tact_device_input in;
    const struct tact_device_setting settings[] = {
        SETTING("inputs", "x=ai5"), SETTING("outputs", "a=ao0 b=ao1"), SETTING("recover", "0.01")};
    device_config_init(&config, settings, 3);
    if (tact_comedi_type.open(&config.config, &device, &config.err)) {
        fprintf(stderr, "controller: %s\n", config.err.text);
        _exit(1);
    }
    real_time(80);
    int64_t next = tact_clock_now();
    for (uint64_t tick = 0; !atomic_load(&shared->quit); tick++) {
        device.ops->read(device.self, tick, (double)tick * 1e-3, next, &in);
        while (atomic_load(&shared->hang)) {
        }
        double volts = atomic_load(&shared->push) && in.state != TACT_DEVICE_LOST ? 5.0 : 0.0;
        const double out[] = {volts, -volts};
        atomic_store(&shared->state, in.state);
        atomic_store(&shared->beat_ns, tact_clock_now());
        device.ops->write(device.self, out, next);
        next += 1000000;
        next = next < tact_clock_now() ? tact_clock_now() : next;
        tact_clock_sleep_until(next);
    }
    device.ops->close(device.self);
    memcpy(shared->messages, config.messages, sizeof shared->messages);
    _exit(0);
}

static long output(unsigned int channel)
{
    lsampl_t raw = 0;
    assert_true(comedi_data_read(reader, 0, channel, 0, AREF_GROUND, &raw) >= 0);
    return (long)raw;
}

static int all_zero(void)
{
    return output(0) == BOARD_ZERO && output(1) == BOARD_ZERO;
}

/* Starts a controller that pushes, and waits until it does. */
static pid_t start(void)
{
    memset(shared, 0, sizeof *shared);
    atomic_store(&shared->push, 1);
    pid_t child = fork();
    if (child == 0) {
        control();
    }
    for (int i = 0; i < 3000 && output(0) != pushed; i++) {
        rest(1);
    }
    assert_int_equal(output(0), pushed);
    assert_true(board_guard() > 0);
    return child;
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
    int64_t give_up = now + 100000000;
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

static void killed(void **unused)
{
    int64_t worst = 0;
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        pid_t child = start();
        random_moment();
        kill(child, SIGKILL);
        int64_t took = until_zero();
        worst = took > worst ? took : worst;
        waitpid(child, NULL, 0);
        for (int k = 0; k < 100 && board_guard(); k++) {
            rest(10);
        }
        assert_int_equal(board_guard(), 0); /* no reason to stay */
        assert_true(all_zero());
    }
    report("kill -9", worst);
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
    assert_int_equal(atomic_load(&shared->state), TACT_DEVICE_STALE);
    atomic_store(&shared->push, 0);
    rest(60);
    atomic_store(&shared->push, 1);
    rest(20);
    assert_in_range(output(0), BOARD_ZERO + 1, pushed - 1); /* comes back slowly */
    rest(250);
    assert_int_equal(output(0), pushed);
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
    assert_non_null(strstr(shared->messages, "the guard has let go"));
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

/* The guard itself killed, told to end, or stopped: zero, LOST, and said so. */
static void guard_gone(void **unused)
{
    const int signals[] = {SIGKILL, SIGTERM, SIGSTOP};
    (void)unused;
    for (int i = 0; i < 3; i++) {
        pid_t child = start();
        kill(board_guard(), signals[i]);
        int64_t began = tact_clock_now();
        until_zero();
        int64_t took = tact_clock_now() - began;
        print_message("the guard, signal %d: zero after %.2f ms\n", signals[i], (double)took / 1e6);
        assert_true(took < 12000000);
        rest(50);
        assert_int_equal(atomic_load(&shared->state), TACT_DEVICE_LOST);
        assert_true(all_zero());
        finish(child);
        assert_non_null(strstr(shared->messages, "the guard is gone"));
    }
}

static void board_unplugged(void **unused)
{
    (void)unused;
    pid_t child = start();
    for (int i = 0; i < 5; i++) {
        board_attach(NODE, NULL);
        rest(5);
        assert_int_equal(atomic_load(&shared->state), TACT_DEVICE_LOST);
        rest(100);
        board_attach(NODE, "comedi_test 2000000,50000");
        comedi_close(reader);
        reader = comedi_open(NODE);
        rest(500);
        assert_int_equal(atomic_load(&shared->state), TACT_DEVICE_OK);
        assert_int_equal(output(0), pushed);
    }
    finish(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed),     cmocka_unit_test(stopped),         cmocka_unit_test(hung),
        cmocka_unit_test(guard_gone), cmocka_unit_test(board_unplugged),
    };
    board_setup();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    reader = comedi_open(NODE);
    real_time(95);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
