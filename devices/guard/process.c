/* The controller's side of any guard: starting the process, its state, its end. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "devices/guard/process_internal.h"

enum { EXIT_TIMEOUT_MS = 5000 }; /* [ms] maximum wait for a killed process to end */

/* Environment variables by which a manufacturer's library and its configuration are found. */
static const char *const library_variables[] = {"HOME", "GTDD_HOME", "LD_LIBRARY_PATH"};
enum { VARIABLES = sizeof library_variables / sizeof *library_variables };

/* Fills the environment of a guard process: empty, except for one that loads a manufacturer's
 * library. */
static void fill_guard_environment(int kind, char text[VARIABLES][PATH_MAX + 32],
                                   char *guard_environment[VARIABLES + 1])
{
    int count = 0;
    for (int i = 0; kind == TACT_GUARD_HAPTIC && i < VARIABLES; i++) {
        const char *value = secure_getenv(library_variables[i]);
        if (value && strlen(value) < PATH_MAX) {
            snprintf(text[i], sizeof text[i], "%s=%s", library_variables[i], value);
            guard_environment[count++] = text[i];
        }
    }
    guard_environment[count] = NULL;
}

/* Spawns the guard in a session of its own, so that keys typed at the controller's terminal do not
 * reach it. */
static int spawn_guard_process(const char *guard_program, int kind, int page, int controller_pidfd,
                               pid_t *pid)
{
    char *const arguments[] = {"tact-guard", NULL};
    char text[VARIABLES][PATH_MAX + 32];
    char *guard_environment[VARIABLES + 1];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    const struct sched_param normal = {0};
    sigset_t none;
    sigset_t all;
    fill_guard_environment(kind, text, guard_environment);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, 0, 1);
    posix_spawn_file_actions_adddup2(&files, 0, 2);
    posix_spawn_file_actions_adddup2(&files, page, TACT_GUARD_PAGE_FD);
    posix_spawn_file_actions_adddup2(&files, controller_pidfd, TACT_GUARD_CONTROLLER_FD);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setschedpolicy(&attributes, SCHED_OTHER);
    posix_spawnattr_setschedparam(&attributes, &normal);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSCHEDULER);
    int rc = posix_spawn(pid, guard_program, &files, &attributes, arguments, guard_environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return -rc;
}

/* Starts the process and opens a pidfd: once the host program has waited for the child, its process
 * id may be reused; a pidfd is not. */
static int start_guard_process(struct tact_guard *guard, const char *guard_program, int page)
{
    int low = pidfd_open(getpid(), 0);
    int controller_pidfd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, TACT_GUARD_CONTROLLER_FD + 1);
    int rc = controller_pidfd < 0 ? -errno
                                  : spawn_guard_process(guard_program, guard->head->kind, page,
                                                        controller_pidfd, &guard->pid);
    if (!rc) {
        guard->guard_pidfd = pidfd_open(guard->pid, 0);
        rc = guard->guard_pidfd < 0 ? -errno : 0;
        if (rc) {
            kill(guard->pid,
                 /* no one has waited for the guard yet, so that the process id is still the guard's
                  */
                 SIGKILL);
            waitpid(guard->pid, NULL, 0);
        }
    }
    if (low >= 0) {
        close(low);
    }
    if (controller_pidfd >= 0) {
        close(controller_pidfd);
    }
    return rc;
}

/* Whether the process ends within max_wait_ms; signals of the host do not shorten the wait. */
static bool wait_for_process_end(const struct tact_guard *guard, int max_wait_ms)
{
    struct pollfd process_end_poll = {.fd = guard->guard_pidfd, .events = POLLIN};
    const struct timespec wait = {max_wait_ms / 1000, max_wait_ms % 1000 * 1000000};
    sigset_t all;
    sigfillset(&all);
    return ppoll(&process_end_poll, 1, &wait, &all) > 0;
}

/* Waits up to 5 s until the guard has claimed the outputs. */
static int wait_until_outputs_claimed(const struct tact_guard *guard)
{
    bool has_process_ended = false;
    for (int i = 0; i < 5000; i++) {
        if (atomic_load_explicit(&guard->head->is_guard_ready, memory_order_acquire)) {
            return atomic_load_explicit(&guard->head->error, memory_order_relaxed);
        }
        if (has_process_ended) {
            return -ECHILD;
        }
        /* the guard may have stored the reason before it ended */
        has_process_ended = wait_for_process_end(guard, 1);
    }
    return -ETIMEDOUT;
}

/* Creates the page that guard and controller share. Its descriptor *fd for the guard lies above
 * those that the guard uses, so that dup2() creates a copy without O_CLOEXEC. */
static struct tact_guard_page_header *create_shared_page(const void *initial_page_content,
                                                         size_t size, int *fd)
{
    int low = memfd_create("tact-guard", MFD_CLOEXEC);
    void *page = MAP_FAILED;
    *fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, TACT_GUARD_CONTROLLER_FD + 1);
    if (low >= 0) {
        close(low);
    }
    if (*fd >= 0 && ftruncate(*fd, (off_t)size) == 0) {
        page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    }
    if (page == MAP_FAILED) {
        return NULL;
    }
    memcpy(page, initial_page_content, size);
    return page;
}

static int launch_guard_process(struct tact_guard *guard,
                                const struct tact_guard_page_header *initial_page_content,
                                const char *what, struct tact_error *err)
{
    char guard_program[PATH_MAX];
    int fd;
    int rc = tact_guard_program_path(guard_program, sizeof guard_program);
    if (rc) {
        return tact_error_set(err, rc,
                              "there is no guard program at %s: install tact, or set the "
                              "environment variable TACT_GUARD to its path",
                              guard_program);
    }
    errno = 0;
    guard->head = create_shared_page(initial_page_content, initial_page_content->size, &fd);
    rc = guard->head ? start_guard_process(guard, guard_program, fd) : errno ? -errno : -ENOMEM;
    if (fd >= 0) {
        close(fd);
    }
    if (rc) {
        return tact_error_set(err, rc, "cannot start %s: %s", guard_program, strerror(-rc));
    }
    rc = wait_until_outputs_claimed(guard);
    const struct tact_guard_haptic_page *haptic_page =
        (const struct tact_guard_haptic_page *)guard->head;
    if (rc && initial_page_content->kind == TACT_GUARD_HAPTIC &&
        haptic_page->guard_failure_text[0]) {
        return tact_error_set(err, rc, "%.159s", haptic_page->guard_failure_text);
    }
    if (rc) {
        return tact_error_set(err, rc, "%s cannot claim %s: %s%s", guard_program, what,
                              strerror(-rc),
                              rc == -EBUSY ? " (another process has locked the outputs)" : "");
    }
    return 0;
}

int tact_guard_start_with_page(struct tact_guard_page_header *initial_page_content,
                               const char *what, struct tact_guard **out, struct tact_error *err)
{
    *out = NULL;
    struct tact_guard *guard = calloc(1, sizeof *guard);
    if (!guard) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    guard->guard_pidfd = -1;
    guard->size = initial_page_content->size;
    int rc = launch_guard_process(guard, initial_page_content, what, err);
    if (rc) {
        tact_guard_stop(guard);
        return rc;
    }
    *out = guard;
    return 0;
}

uint32_t tact_guard_next_heartbeat_number(struct tact_guard *guard, int64_t now_ns)
{
    uint32_t heartbeat_number =
        atomic_load_explicit(&guard->head->heartbeat_number, memory_order_relaxed);
    if (atomic_load_explicit(&guard->head->acknowledged_heartbeat_number, memory_order_relaxed) ==
        heartbeat_number) {
        guard->last_acknowledgement_ns = now_ns;
    }
    return heartbeat_number + 1;
}

int tact_guard_state(struct tact_guard *guard, int64_t now_ns)
{
    struct tact_guard_page_header *head = guard->head;
    uint32_t acknowledged_heartbeat_number =
        atomic_load_explicit(&head->acknowledged_heartbeat_number, memory_order_acquire);
    if (acknowledged_heartbeat_number != guard->acknowledged_heartbeat_number ||
        guard->last_acknowledgement_ns == 0 ||
        acknowledged_heartbeat_number ==
            atomic_load_explicit(&head->heartbeat_number, memory_order_relaxed)) {
        guard->acknowledged_heartbeat_number = acknowledged_heartbeat_number;
        guard->last_acknowledgement_ns = now_ns;
    }
    if (atomic_load_explicit(&guard->has_process_ended, memory_order_relaxed)) {
        return TACT_GUARD_ENDED;
    }
    if (guard->is_guard_run_as_thread ||
        atomic_load_explicit(&head->is_in_driver_call, memory_order_acquire)) {
        guard->last_acknowledgement_ns = now_ns;
    }
    if (now_ns - guard->last_acknowledgement_ns > 2 * head->timeout_ns) {
        return TACT_GUARD_ENDED;
    }
    return (int)atomic_load_explicit(&head->state, memory_order_acquire);
}

void tact_guard_arm(struct tact_guard *guard)
{
    atomic_store_explicit(&guard->head->trip_number_when_armed,
                          atomic_load_explicit(&guard->head->trip_count, memory_order_relaxed),
                          memory_order_relaxed);
}

uint32_t tact_guard_trips(const struct tact_guard *guard)
{
    return atomic_load_explicit(&guard->head->trip_count, memory_order_relaxed);
}

void tact_guard_kill(struct tact_guard *guard)
{
    if (guard->guard_pidfd >= 0) {
        pidfd_send_signal(guard->guard_pidfd, SIGKILL, NULL, 0);
    }
}

int tact_guard_pid(const struct tact_guard *guard)
{
    return guard->pid;
}

void tact_guard_check_whether_process_ended(struct tact_guard *guard)
{
    if (guard->guard_pidfd >= 0 && wait_for_process_end(guard, 0)) {
        atomic_store_explicit(&guard->has_process_ended, true, memory_order_relaxed);
    }
}

/* Returns 0 if the process has ended normally. */
static int end_guard_process(struct tact_guard *guard)
{
    siginfo_t info = {0};
    atomic_store(&guard->head->must_guard_end, 1);
    atomic_fetch_add(&guard->head->heartbeat_number, 1);
    syscall(SYS_futex, &guard->head->heartbeat_number, FUTEX_WAKE, 1, NULL, NULL, 0);
    bool has_guard_ended = wait_for_process_end(guard, 1000);
    if (!has_guard_ended) {
        /* a driver may block it indefinitely: do not wait */
        tact_guard_kill(guard);
        wait_for_process_end(
            guard, atomic_load_explicit(&guard->head->is_in_driver_call, memory_order_acquire)
                       ? 1
                       : EXIT_TIMEOUT_MS);
    }
    int rc = waitid(P_PIDFD, (id_t)guard->guard_pidfd, &info, WEXITED | WNOHANG);
    close(guard->guard_pidfd);
    return has_guard_ended && !rc && info.si_code == CLD_EXITED && info.si_status == 0 ? 0 : -EIO;
}

/* Returns whether the thread has ended: a driver may block it. */
static bool end_guard_thread(struct tact_guard *guard)
{
    struct timespec join_deadline;
    atomic_store(&guard->head->must_guard_end, 1);
    clock_gettime(CLOCK_REALTIME, &join_deadline);
    join_deadline.tv_sec += 1;
    if (pthread_timedjoin_np(guard->thread, NULL, &join_deadline) == 0) {
        return true;
    }
    pthread_detach(guard->thread);
    return false;
}

int tact_guard_stop(struct tact_guard *guard)
{
    int rc = -EIO;
    if (!guard) {
        return 0;
    }
    if (guard->guard_pidfd >= 0) {
        rc = end_guard_process(guard);
    }
    if (guard->is_guard_run_as_thread && !end_guard_thread(guard)) {
        free(guard); /* the page is not unmapped, as the thread still uses it */
        return -EIO;
    }
    rc = guard->is_guard_run_as_thread ? 0 : rc;
    if (guard->head) {
        munmap(guard->head, guard->size);
    }
    free(guard);
    return rc;
}
