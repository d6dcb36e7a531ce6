/* The guard, without a board or a wheel: its timeout, which program is started, and that a process
 * which later has its process id is not taken for it. */
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
#include "support/mock_board.h"
#include "support/device_config.h"

enum {
    GUARD_TIMEOUT_MS = 40,
    MEASURED_TIMEOUTS_MAX =
        5 /* upper bound of the measured timeout in configured timeouts, on a busy machine */,
    TRIES = 6
};

static const int64_t ms = 1000000;
static const struct tact_force_rendering_plan empty_force_plan;

/* Functions in place of comedi's library, of a simulated board: they count the instruction lists
 * that set the outputs to their safe values. */
static struct {
    atomic_int lists, safe, is_failing, failed_writes;
} board;

static int count_and_fail_board_write(void)
{
    atomic_fetch_add(&board.failed_writes, 1);
    errno = ETIMEDOUT;
    return -1;
}

int comedi_do_insn(comedi_t *dev, comedi_insn *instruction)
{
    (void)dev;
    if (atomic_load(&board.is_failing)) {
        return count_and_fail_board_write();
    }
    atomic_store(&board.safe, instruction->data[0] == 0x8000);
    return (int)instruction->n;
}

int comedi_do_insnlist(comedi_t *dev, comedi_insnlist *list)
{
    (void)dev;
    if (atomic_load(&board.is_failing)) {
        return count_and_fail_board_write();
    }
    atomic_fetch_add(&board.lists, 1);
    atomic_store(&board.safe, list->insns[0].data[0] == 0x8000);
    return (int)list->n_insns;
}

static void sleep_1_ms(void)
{
    tact_clock_sleep_until(tact_clock_now() + ms);
}

static const struct tact_guard_force_options short_timeout_options = {.path = "",
                                                                      .plan = &empty_force_plan,
                                                                      .timeout_ns =
                                                                          GUARD_TIMEOUT_MS * ms,
                                                                      .period_ns = 4 * ms};

/* Time from the last heartbeat until the guard inhibits the outputs [ns]: the least of several
 * measurements, as this process may be delayed. Checks that none is less than the timeout. */
static int64_t measure_guard_timeout(struct tact_guard *guard,
                                     void (*beat)(struct tact_guard *, int64_t))
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIES && least > 2 * GUARD_TIMEOUT_MS * ms; i++) {
        int64_t sent = 0, until = tact_clock_now() + 2000 * ms;
        for (int heartbeat_count = 0;
             heartbeat_count < 20 ||
             (tact_guard_state(guard, sent) != TACT_GUARD_PASSING && tact_clock_now() < until);
             heartbeat_count++) {
            if (tact_guard_state(guard, tact_clock_now()) == TACT_GUARD_INHIBITED) {
                tact_guard_arm(guard);
            }
            sent = tact_clock_now();
            beat(guard, sent);
            sleep_1_ms();
        }
        uint32_t trips = tact_guard_trips(guard);
        if (tact_guard_state(guard, sent) != TACT_GUARD_PASSING) {
            continue;
        }
        while (tact_guard_trips(guard) == trips && tact_clock_now() < sent + 4000 * ms) {
            sleep_1_ms();
        }
        int64_t measured_timeout_ns = tact_clock_now() - sent;
        assert_true(measured_timeout_ns >= GUARD_TIMEOUT_MS * ms);
        least = measured_timeout_ns < least ? measured_timeout_ns : least;
    }
    print_message("%.1f ms of silence borne, %d set\n", (double)least * 1e-6, GUARD_TIMEOUT_MS);
    return least;
}

static void send_force_heartbeat(struct tact_guard *guard, int64_t now)
{
    const double level[TACT_FORCE_CHANNELS] = {0.5};
    tact_guard_send_force_levels(guard, level, now);
}

static void forces_stop_after_the_guard_timeout(void **state)
{
    (void)state;
    for (int runs_guard_in_thread = 0; runs_guard_in_thread < 2; runs_guard_in_thread++) {
        struct tact_guard_force_options options = short_timeout_options;
        struct tact_guard *guard = NULL;
        struct tact_error err = {0};
        options.thread = runs_guard_in_thread;
        if (tact_guard_start_force_guard(&options, &guard, &err)) {
            fail_msg("%s", err.text);
        }
        int64_t measured_timeout_ns = measure_guard_timeout(guard, send_force_heartbeat);
        assert_int_equal(tact_guard_stop(guard), 0);
        assert_true(measured_timeout_ns < MEASURED_TIMEOUTS_MAX * GUARD_TIMEOUT_MS * ms);
    }
}

static void *run_guard_in_thread(void *page)
{
    const struct tact_guard_requests guard_requests = {.end = NULL};
    tact_guard_serve_board(page, &guard_requests);
    return NULL;
}

static void send_board_heartbeat(struct tact_guard *guard, int64_t now)
{
    const uint32_t words[TACT_GUARD_MAX_OUTPUTS][2] = {{0xffff}};
    tact_guard_send(guard, words, now);
}

static const struct tact_guard_page board_guard_page = {
    .head = {.size = sizeof board_guard_page, .timeout_ns = GUARD_TIMEOUT_MS * ms},
    .output_count = 1,
    .driver = "driver",
    .name = "name",
    .output = {{.instruction = INSN_WRITE, .words = 1, .maxdata = 0xffff, .safe = {0x8000}}}};

static pthread_t start_board_guard(struct tact_guard_page *page)
{
    pthread_t thread;
    const struct tact_thread_options options = {.name = "guard"};
    assert_int_equal(tact_thread_start(&thread, &options, run_guard_in_thread, page), 0);
    while (!atomic_load(&page->head.is_guard_ready)) {
        sleep_1_ms();
    }
    assert_int_equal(atomic_load(&page->head.error), 0);
    return thread;
}

static void board_outputs_are_zeroed_after_the_guard_timeout(void **state)
{
    (void)state;
    struct tact_guard_page page = board_guard_page;
    struct tact_guard guard = {.head = &page.head, .size = sizeof page, .guard_pidfd = -1};
    pthread_t thread = start_board_guard(&page);
    int64_t measured_timeout_ns = measure_guard_timeout(&guard, send_board_heartbeat);
    assert_int_equal(atomic_load(&board.safe), 1);
    atomic_store(&page.head.must_guard_end, 1);
    pthread_join(thread, NULL);
    assert_true(measured_timeout_ns < MEASURED_TIMEOUTS_MAX * GUARD_TIMEOUT_MS * ms);
    assert_true(atomic_load(&board.lists) > 20);
}

/* The loop stops while the board's writes fail: the board is lost, no new trip is armed, and the
 * outputs are zeroed as soon as it writes again. */
static void zeroing_of_a_board_that_fails_is_repeated(void **state)
{
    (void)state;
    struct tact_guard_page page = board_guard_page;
    struct tact_guard guard = {.head = &page.head, .size = sizeof page, .guard_pidfd = -1};
    pthread_t thread = start_board_guard(&page);
    tact_guard_arm(&guard);
    for (int i = 0; i < 500 && tact_guard_state(&guard, tact_clock_now()) != TACT_GUARD_PASSING;
         i++) {
        send_board_heartbeat(&guard, tact_clock_now());
        sleep_1_ms();
    }
    atomic_store(&board.is_failing, 1);
    for (int i = 0; i < 2000 && atomic_load(&board.failed_writes) < 10; i++) {
        tact_guard_arm(&guard);
        sleep_1_ms();
    }
    assert_true(atomic_load(&board.failed_writes) >= 10);
    assert_int_equal(tact_guard_state(&guard, tact_clock_now()), TACT_GUARD_LOST);
    atomic_store(&board.safe, 0);
    atomic_store(&board.is_failing, 0);
    for (int i = 0; i < 2000 && !atomic_load(&board.safe); i++) {
        sleep_1_ms();
    }
    sleep_1_ms();
    assert_int_equal(atomic_load(&board.safe), 1);
    atomic_store(&page.head.must_guard_end, 1);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&page.head.state), TACT_GUARD_INHIBITED);
}

/* The guard's default timeout: four tick periods, but at least 3 ms. */
static void default_guard_timeout_is_four_periods(void **state)
{
    (void)state;
    const struct tact_device_setting forces_setting = SETTING("forces", "force_x");
    const double period[] = {1e-3, 5e-4};
    const int64_t wanted[] = {4 * ms, 3 * ms};
    struct tact_evdev_source source = {.dev = libevdev_new(), .fd = -1, .is_clock_monotonic = true};
    libevdev_enable_event_code(source.dev, EV_FF, FF_CONSTANT, NULL);
    for (int i = 0; i < 2; i++) {
        struct tact_evdev_force_feedback force = {.count = 0};
        struct device_config c;
        device_config_init(&c, &forces_setting, 1);
        c.config.period = period[i];
        if (tact_evdev_force_open(&c.config, &source, &force, &c.err)) {
            fail_msg("%s", c.err.text);
        }
        assert_int_equal(force.guard_arming.timeout_ns, wanted[i]);
        assert_int_equal(force.guard_arming.guard->head->timeout_ns, wanted[i]);
        tact_evdev_force_close(&force, "wheel", c.config.messages);
    }
    libevdev_free(source.dev);
}

/* A host program that calls waitpid(-1) may reap the guard process: that is detected, and no other
 * process of that id is killed in its place. */
static void a_reaped_guard_is_not_confused_with_another_process(void **state)
{
    (void)state;
    struct tact_guard *guard = NULL;
    assert_int_equal(tact_guard_start_force_guard(&short_timeout_options, &guard, NULL), 0);
    assert_int_equal(kill(tact_guard_pid(guard), SIGKILL), 0);
    assert_int_equal(waitpid(-1, NULL, 0), tact_guard_pid(guard));
    tact_guard_check_whether_process_ended(guard);
    assert_int_equal(tact_guard_state(guard, tact_clock_now()), TACT_GUARD_ENDED);
    /* A process to which the system has given the guard's former process id is not signalled. */
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

/* When its controller ends, a guard ends too, although another process becomes its parent. */
static void a_guard_ends_with_its_controller(void **state)
{
    (void)state;
    int ends[2];
    char byte;
    /* the pipe's end is not held open by the guard, which closes inherited descriptors */
    assert_int_equal(pipe2(ends, 0), 0);
    pid_t controller = fork();
    if (controller == 0) {
        struct tact_guard *guard = NULL;
        int rc = tact_guard_start_force_guard(&short_timeout_options, &guard, NULL);
        int pid = rc ? 0 : tact_guard_pid(guard);
        _exit(write(ends[1], &pid, sizeof pid) == sizeof pid ? 0 : 1);
    }
    int pid = 0;
    assert_int_equal(read(ends[0], &pid, sizeof pid), sizeof pid);
    assert_true(pid > 0);
    close(ends[1]);
    int guard_pidfd = pidfd_open(pid, 0); /* -1: the guard process has ended already */
    struct pollfd fd = {.fd = guard_pidfd, .events = POLLIN};
    assert_int_equal(waitpid(controller, NULL, 0), controller);
    assert_true(guard_pidfd < 0 || poll(&fd, 1, 5000) == 1);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    if (guard_pidfd >= 0) {
        close(guard_pidfd);
    }
}

/* The path of the guard program that a copy of this test program in another folder would start. */
static void find_guard_path_of_copy(const char *copied_program_path,
                                    const char *guard_path_in_environment, char *answer,
                                    size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        if (guard_path_in_environment) {
            setenv("TACT_GUARD", guard_path_in_environment, 1);
        } else {
            unsetenv("TACT_GUARD");
        }
        execl(copied_program_path, "bin/tact", "which", NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    answer[0] = '\0';
    if (fgets(answer, (int)size, from)) {
        answer[strcspn(answer, "\n")] = '\0';
    }
    fclose(from);
    int wait_status = -1;
    waitpid(child, &wait_status, 0);
    assert_int_equal(wait_status, 0);
}

static void make_fake_guard_program(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\n", file);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
}

/* A program outside the build tree starts the installed guard, or the one that $TACT_GUARD names;
 * never one in its own folder. No guard is installed here, so only the path is compared. */
static void only_the_installed_guard_is_run(void **state)
{
    (void)state;
    char folder[] = "/tmp/tact_guard_XXXXXX", copied_program_path[64], fake[64], text[256],
         command[600];
    assert_non_null(mkdtemp(folder));
    snprintf(copied_program_path, sizeof copied_program_path, "%s/tact", folder);
    snprintf(fake, sizeof fake, "%s/tact-guard", folder);
    snprintf(command, sizeof command, "cp /proc/%d/exe %s", (int)getpid(), copied_program_path);
    assert_int_equal(system(command), 0);
    make_fake_guard_program(fake);
    find_guard_path_of_copy("/proc/self/exe", NULL, text, sizeof text);
    /* a program of the build tree starts the guard of the build tree */
    assert_non_null(strstr(text, TACT_BINARY_DIR));
    find_guard_path_of_copy(copied_program_path, NULL, text, sizeof text);
    print_message("a copy elsewhere: %s\n", text);
    assert_null(strstr(text, folder));
    assert_null(strstr(text, TACT_BINARY_DIR));
    assert_non_null(strstr(text, "/libexec/tact/tact-guard"));
    find_guard_path_of_copy(copied_program_path, fake, text, sizeof text);
    assert_non_null(strstr(text, fake));
    /* A set-group-id program ignores $TACT_GUARD. */
    struct stat st;
    int more = geteuid() == 0 && !chown(copied_program_path, 0, 65534) &&
               !chmod(copied_program_path, 02755) && !stat(copied_program_path, &st) &&
               (st.st_mode & S_ISGID);
    if (more) {
        find_guard_path_of_copy(copied_program_path, fake, text, sizeof text);
        print_message("set-group-id copy: %s\n", text);
        assert_true(strstr(text, "plain") || !strstr(text, folder));
    } else {
        print_message("set-group-id copy not tried: not root\n");
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "which")) {
        char path[512];
        int rc = tact_guard_program_path(path, sizeof path);
        printf("%s %d %s\n", path, rc, getauxval(AT_SECURE) ? "secure" : "plain");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_stop_after_the_guard_timeout),
        cmocka_unit_test(board_outputs_are_zeroed_after_the_guard_timeout),
        cmocka_unit_test(zeroing_of_a_board_that_fails_is_repeated),
        cmocka_unit_test(default_guard_timeout_is_four_periods),
        cmocka_unit_test(a_reaped_guard_is_not_confused_with_another_process),
        cmocka_unit_test(a_guard_ends_with_its_controller),
        cmocka_unit_test(only_the_installed_guard_is_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
