/* The guard, without a board or a wheel: how long it bears silence, which program it is, and that
 * it is distinguished from the process that has its number later. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/guard/comedi_output_internal.h"
#include "devices/evdev/evdev_internal.h"
#include "devices/guard/force_internal.h"
#include "devices/guard/process_internal.h"
#include "devices/guard/serve_internal.h"
#include "rt/clock.h"
#include "rt/thread_internal.h"
#include "support/device_config.h"

enum { TIMEOUT_MS = 40, AT_MOST = 5 /* timeouts, on a machine that is busy */, TRIES = 6 };

static const int64_t ms = 1000000;
static const struct tact_force_plan no_plan;

/* A board that counts the calls that release it. comedi's library is not asked. */
static struct {
    atomic_int lists, safe;
} board;

comedi_t *comedi_open(const char *path)
{
    static int node;
    (void)path;
    return (comedi_t *)&node;
}

int comedi_close(comedi_t *dev)
{
    (void)dev;
    return 0;
}

const char *comedi_get_driver_name(comedi_t *dev)
{
    (void)dev;
    return "driver";
}

const char *comedi_get_board_name(comedi_t *dev)
{
    (void)dev;
    return "name";
}

int comedi_lock(comedi_t *dev, unsigned int subdevice)
{
    (void)dev;
    (void)subdevice;
    return 0;
}

int comedi_do_insnlist(comedi_t *dev, comedi_insnlist *list)
{
    (void)dev;
    atomic_fetch_add(&board.lists, 1);
    atomic_store(&board.safe, list->insns[0].data[0] == 0x8000);
    return (int)list->n_insns;
}

static void nap(void)
{
    tact_clock_sleep_until(tact_clock_now() + ms);
}

static const struct tact_guard_force_options quick = {
    .path = "", .plan = &no_plan, .timeout_ns = TIMEOUT_MS * ms, .period_ns = 4 * ms};

/* Time from the last heartbeat to where the guard holds the outputs back, the least of some tries:
 * a test that is held up itself proves nothing. Never before its time. */
static int64_t silence_borne(struct tact_guard *guard, void (*beat)(struct tact_guard *, int64_t))
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIES && least > 2 * TIMEOUT_MS * ms; i++) {
        int64_t sent = 0, until = tact_clock_now() + 2000 * ms;
        for (int beats = 0; beats < 20 || (tact_guard_state(guard, sent) != TACT_GUARD_PASSING &&
                                           tact_clock_now() < until);
             beats++) {
            if (tact_guard_state(guard, tact_clock_now()) == TACT_GUARD_INHIBITED) {
                tact_guard_arm(guard);
            }
            sent = tact_clock_now();
            beat(guard, sent);
            nap();
        }
        uint32_t trips = tact_guard_trips(guard);
        if (tact_guard_state(guard, sent) != TACT_GUARD_PASSING) {
            continue;
        }
        while (tact_guard_trips(guard) == trips && tact_clock_now() < sent + 4000 * ms) {
            nap();
        }
        int64_t borne = tact_clock_now() - sent;
        assert_true(borne >= TIMEOUT_MS * ms);
        least = borne < least ? borne : least;
    }
    print_message("%.1f ms of silence borne, %d set\n", (double)least * 1e-6, TIMEOUT_MS);
    return least;
}

static void beat_force(struct tact_guard *guard, int64_t now)
{
    const double level[TACT_FORCE_CHANNELS] = {0.5};
    tact_guard_send_force(guard, level, now);
}

static void forces_stop_after_the_timeout(void **state)
{
    (void)state;
    for (int thread = 0; thread < 2; thread++) {
        struct tact_guard_force_options options = quick;
        struct tact_guard *guard = NULL;
        struct tact_error err = {0};
        options.thread = thread;
        if (tact_guard_start_force(&options, &guard, &err)) {
            fail_msg("%s", err.text);
        }
        int64_t borne = silence_borne(guard, beat_force);
        assert_int_equal(tact_guard_stop(guard), 0);
        assert_true(borne < AT_MOST * TIMEOUT_MS * ms);
    }
}

static void *serve(void *page)
{
    const struct tact_guard_requests orders = {.end = NULL};
    tact_guard_serve_board(page, &orders);
    return NULL;
}

static void beat_board(struct tact_guard *guard, int64_t now)
{
    const uint32_t words[TACT_GUARD_OUTPUTS][2] = {{0xffff}};
    tact_guard_send(guard, words, now);
}

static void a_board_lets_go_after_the_timeout(void **state)
{
    (void)state;
    struct tact_guard_page page = {
        .head = {.size = sizeof page, .timeout_ns = TIMEOUT_MS * ms},
        .output_count = 1,
        .driver = "driver",
        .name = "name",
        .output = {{.instruction = INSN_WRITE, .words = 1, .maxdata = 0xffff, .safe = {0x8000}}}};
    struct tact_guard guard = {.head = &page.head, .size = sizeof page, .process = -1};
    pthread_t thread;
    const struct tact_thread_options options = {.name = "guard"};
    assert_int_equal(tact_thread_start(&thread, &options, serve, &page), 0);
    while (!atomic_load(&page.head.ready)) {
        nap();
    }
    assert_int_equal(atomic_load(&page.head.error), 0);
    int64_t borne = silence_borne(&guard, beat_board);
    assert_int_equal(atomic_load(&board.safe), 1);
    atomic_store(&page.head.quit, 1);
    pthread_join(thread, NULL);
    assert_true(borne < AT_MOST * TIMEOUT_MS * ms);
    assert_true(atomic_load(&board.lists) > 20);
}

/* Without a setting: four periods, and 3 ms at least. */
static void the_timeout_is_four_periods(void **state)
{
    (void)state;
    const struct tact_device_setting forces = SETTING("forces", "force_x");
    const double period[] = {1e-3, 5e-4};
    const int64_t wanted[] = {4 * ms, 3 * ms};
    struct tact_evdev_source source = {.dev = libevdev_new(), .fd = -1, .monotonic = true};
    libevdev_enable_event_code(source.dev, EV_FF, FF_CONSTANT, NULL);
    for (int i = 0; i < 2; i++) {
        struct tact_evdev_force force = {.count = 0};
        struct device_config c;
        device_config_init(&c, &forces, 1);
        c.config.period = period[i];
        if (tact_evdev_force_open(&c.config, &source, &force, &c.err)) {
            fail_msg("%s", c.err.text);
        }
        assert_int_equal(force.arming.timeout_ns, wanted[i]);
        assert_int_equal(force.arming.guard->head->timeout_ns, wanted[i]);
        tact_evdev_force_close(&force, "wheel", c.config.messages);
    }
    libevdev_free(source.dev);
}

/* A host program that waits for any child, or for none, does not lose the guard, nor end another
 * process in its place. */
static void a_guard_that_was_waited_for_is_known(void **state)
{
    (void)state;
    struct tact_guard *guard = NULL;
    assert_int_equal(tact_guard_start_force(&quick, &guard, NULL), 0);
    assert_int_equal(kill(tact_guard_pid(guard), SIGKILL), 0);
    assert_int_equal(waitpid(-1, NULL, 0), tact_guard_pid(guard));
    tact_guard_poll(guard);
    assert_int_equal(tact_guard_state(guard, tact_clock_now()), TACT_GUARD_ENDED);
    /* The process that has the number now is left alone. */
    pid_t other = fork();
    if (other == 0) {
        pause();
        _exit(0);
    }
    guard->pid = other;
    tact_guard_kill(guard);
    assert_int_equal(tact_guard_stop(guard), -EIO);
    assert_int_equal(waitpid(other, NULL, WNOHANG), 0);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

/* The guard of a controller that has ended ends too, whatever its parent is then. */
static void a_guard_outlives_nobody(void **state)
{
    (void)state;
    int ends[2];
    char byte;
    assert_int_equal(pipe2(ends, 0), 0); /* the guard does not get it: it closes what it was left */
    pid_t controller = fork();
    if (controller == 0) {
        struct tact_guard *guard = NULL;
        int rc = tact_guard_start_force(&quick, &guard, NULL);
        int pid = rc ? 0 : tact_guard_pid(guard);
        _exit(write(ends[1], &pid, sizeof pid) == sizeof pid ? 0 : 1);
    }
    int pid = 0;
    assert_int_equal(read(ends[0], &pid, sizeof pid), sizeof pid);
    assert_true(pid > 0);
    close(ends[1]);
    int process = pidfd_open(pid, 0); /* -1: it has ended already */
    struct pollfd fd = {.fd = process, .events = POLLIN};
    assert_int_equal(waitpid(controller, NULL, 0), controller);
    assert_true(process < 0 || poll(&fd, 1, 5000) == 1);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    if (process >= 0) {
        close(process);
    }
}

/* What `program_is` of a copy of this program says. */
static void ask_copy(const char *copy, const char *given, char *answer, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        if (given) {
            setenv("TACT_GUARD", given, 1);
        } else {
            unsetenv("TACT_GUARD");
        }
        execl(copy, "bin/tact", "which", NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    answer[0] = '\0';
    if (fgets(answer, (int)size, from)) {
        answer[strcspn(answer, "\n")] = '\0';
    }
    fclose(from);
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static void make_program(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\n", file);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
}

/* A program that is not of the build tree runs the guard that was installed, or the one that the
 * user names; never one that lies beside it. Here the guard was not installed, so all that can be
 * seen is where it is looked for. */
static void only_the_installed_guard_is_run(void **state)
{
    (void)state;
    char folder[] = "/tmp/tact_guard_XXXXXX", copy[64], fake[64], text[256], command[600];
    assert_non_null(mkdtemp(folder));
    snprintf(copy, sizeof copy, "%s/tact", folder);
    snprintf(fake, sizeof fake, "%s/tact-guard", folder);
    snprintf(command, sizeof command, "cp /proc/%d/exe %s", (int)getpid(), copy);
    assert_int_equal(system(command), 0);
    make_program(fake);
    ask_copy("/proc/self/exe", NULL, text, sizeof text);
    assert_non_null(strstr(text, TACT_BINARY_DIR)); /* of the build tree */
    ask_copy(copy, NULL, text, sizeof text);
    print_message("a copy elsewhere: %s\n", text);
    assert_null(strstr(text, folder));
    assert_null(strstr(text, TACT_BINARY_DIR));
    assert_non_null(strstr(text, "/libexec/tact/tact-guard"));
    ask_copy(copy, fake, text, sizeof text);
    assert_non_null(strstr(text, fake));
    /* With the rights of a group that the user does not have, the environment has no say. */
    struct stat st;
    int more = geteuid() == 0 && !chown(copy, 0, 65534) && !chmod(copy, 02755) &&
               !stat(copy, &st) && (st.st_mode & S_ISGID);
    if (more) {
        ask_copy(copy, fake, text, sizeof text);
        print_message("with more rights: %s\n", text);
        assert_true(strstr(text, "plain") || !strstr(text, folder));
    } else {
        print_message("not tried with more rights than the user's: not root\n");
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "which")) {
        char path[512];
        int rc = tact_guard_program(path, sizeof path);
        printf("%s %d %s\n", path, rc, getauxval(AT_SECURE) ? "secure" : "plain");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_stop_after_the_timeout),
        cmocka_unit_test(a_board_lets_go_after_the_timeout),
        cmocka_unit_test(the_timeout_is_four_periods),
        cmocka_unit_test(a_guard_that_was_waited_for_is_known),
        cmocka_unit_test(a_guard_outlives_nobody),
        cmocka_unit_test(only_the_installed_guard_is_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
