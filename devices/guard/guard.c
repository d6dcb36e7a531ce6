/* The controller's side. */
#include "devices/guard/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "devices/guard/page_internal.h"

struct tact_guard {
    struct tact_guard_page *page;
    pid_t pid;
    uint32_t answered; /* as last seen */
    int64_t seen_ns;   /* when it last changed, or there was nothing to answer */
};

static void doze(void)
{
    const struct timespec ms = {.tv_nsec = 1000000};
    nanosleep(&ms, NULL);
}

/* Writes the first path under which there is a program. */
static int find_program(char *path, size_t size)
{
    static const char *const beside[] = {"tact-guard", "../libexec/tact/tact-guard",
                                         "../devices/guard/tact-guard",
                                         "../../devices/guard/tact-guard"};
    const char *given = getenv("TACT_GUARD");
    char self[PATH_MAX];
    if (given && given[0]) {
        snprintf(path, size, "%s", given);
        return access(path, X_OK) ? -ENOENT : 0;
    }
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *end = NULL;
    if (n > 0) {
        self[n] = '\0';
        end = strrchr(self, '/');
    }
    for (size_t i = 0; end && i < sizeof beside / sizeof *beside; i++) {
        int length = snprintf(path, size, "%.*s/%s", (int)(end - self), self, beside[i]);
        if (length > 0 && (size_t)length < size && access(path, X_OK) == 0) {
            return 0;
        }
    }
    snprintf(path, size, "%s", TACT_GUARD_PROGRAM);
    return access(path, X_OK) ? -ENOENT : 0;
}

static struct tact_guard_page *make_page(const struct tact_guard_options *options, int fd)
{
    if (ftruncate(fd, sizeof(struct tact_guard_page))) {
        return NULL;
    }
    struct tact_guard_page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        return NULL;
    }
    page->size = sizeof *page;
    page->controller = getpid();
    page->output_count = options->output_count;
    page->timeout_ns = options->timeout_ns;
    snprintf(page->board, sizeof page->board, "%s", options->board);
    snprintf(page->driver, sizeof page->driver, "%s", options->driver);
    snprintf(page->name, sizeof page->name, "%s", options->name);
    memcpy(page->output, options->outputs,
           (size_t)options->output_count * sizeof *options->outputs);
    return page;
}

/* A session of its own: what is typed at the controller's terminal does not reach it. */
static int spawn(const char *program, int fd, pid_t *pid)
{
    char *const arguments[] = {"tact-guard", NULL};
    char *const environment[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    const struct sched_param normal = {0};
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, 0, 1);
    posix_spawn_file_actions_adddup2(&files, 0, 2);
    posix_spawn_file_actions_adddup2(&files, fd, TACT_GUARD_FD);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setschedpolicy(&attributes, SCHED_OTHER);
    posix_spawnattr_setschedparam(&attributes, &normal);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSCHEDULER);
    int rc = posix_spawn(pid, program, &files, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return -rc;
}

static bool ended(const struct tact_guard *guard)
{
    return waitpid(guard->pid, NULL, WNOHANG) != 0;
}

/* Waits until the guard holds the outputs, for 5 s at most. */
static int wait_ready(const struct tact_guard *guard)
{
    for (int i = 0; i < 5000; i++) {
        if (atomic_load_explicit(&guard->page->ready, memory_order_acquire)) {
            return atomic_load_explicit(&guard->page->error, memory_order_relaxed);
        }
        if (ended(guard)) {
            return -ECHILD;
        }
        doze();
    }
    return -ETIMEDOUT;
}

static int start(struct tact_guard *guard, const struct tact_guard_options *options,
                 struct tact_error *err)
{
    char program[PATH_MAX];
    int rc = find_program(program, sizeof program);
    if (rc) {
        return tact_error_set(err, rc,
                              "no guard to run at %s: install tact, or name the program in "
                              "the environment variable TACT_GUARD",
                              program);
    }
    /* Above the guard's own descriptor, so that dup2 makes one that outlives exec. */
    int low = memfd_create("tact-guard", MFD_CLOEXEC);
    int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, TACT_GUARD_FD + 1);
    if (low >= 0) {
        close(low);
    }
    guard->page = fd < 0 ? NULL : make_page(options, fd);
    rc = guard->page ? spawn(program, fd, &guard->pid) : errno ? -errno : -ENOMEM;
    if (fd >= 0) {
        close(fd);
    }
    if (rc) {
        guard->pid = 0;
        return tact_error_set(err, rc, "cannot start %s: %s", program, strerror(-rc));
    }
    rc = wait_ready(guard);
    if (rc) {
        return tact_error_set(err, rc, "%s cannot take %s: %s%s", program, options->board,
                              strerror(-rc),
                              rc == -EBUSY ? " (another process holds the outputs)" : "");
    }
    return 0;
}

int tact_guard_start(const struct tact_guard_options *options, struct tact_guard **out,
                     struct tact_error *err)
{
    *out = NULL;
    if (options->output_count < 1 || options->output_count > TACT_GUARD_OUTPUTS ||
        options->timeout_ns <= 0 || strlen(options->board) >= 256) {
        return tact_error_set(err, -EINVAL, "bad options of the guard");
    }
    struct tact_guard *guard = calloc(1, sizeof *guard);
    if (!guard) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    int rc = start(guard, options, err);
    if (rc) {
        tact_guard_stop(guard);
        return rc;
    }
    *out = guard;
    return 0;
}

void tact_guard_send(struct tact_guard *guard, const uint32_t (*words)[2], int64_t now_ns)
{
    struct tact_guard_page *page = guard->page;
    uint32_t beat = atomic_load_explicit(&page->beat, memory_order_relaxed);
    if (atomic_load_explicit(&page->answered, memory_order_relaxed) == beat) {
        guard->seen_ns = now_ns;
    }
    beat++;
    for (int i = 0; i < page->output_count; i++) {
        for (int k = 0; k < 2; k++) {
            atomic_store_explicit(&page->slot[beat % TACT_GUARD_SLOTS][i][k], words[i][k],
                                  memory_order_relaxed);
        }
    }
    atomic_store_explicit(&page->beat, beat, memory_order_release);
    syscall(SYS_futex, &page->beat, FUTEX_WAKE, 1, NULL, NULL, 0);
}

int tact_guard_state(struct tact_guard *guard, int64_t now_ns)
{
    struct tact_guard_page *page = guard->page;
    uint32_t answered = atomic_load_explicit(&page->answered, memory_order_acquire);
    if (answered != guard->answered || guard->seen_ns == 0 ||
        answered == atomic_load_explicit(&page->beat, memory_order_relaxed)) {
        guard->answered = answered;
        guard->seen_ns = now_ns;
    }
    if (now_ns - guard->seen_ns > 2 * page->timeout_ns) {
        return TACT_GUARD_GONE;
    }
    return (int)atomic_load_explicit(&page->state, memory_order_acquire);
}

void tact_guard_arm(struct tact_guard *guard)
{
    atomic_store_explicit(&guard->page->armed,
                          atomic_load_explicit(&guard->page->trips, memory_order_relaxed),
                          memory_order_relaxed);
}

uint32_t tact_guard_trips(const struct tact_guard *guard)
{
    return atomic_load_explicit(&guard->page->trips, memory_order_relaxed);
}

void tact_guard_kill(struct tact_guard *guard)
{
    kill(guard->pid, SIGKILL);
}

int tact_guard_pid(const struct tact_guard *guard)
{
    return guard->pid;
}

int tact_guard_stop(struct tact_guard *guard)
{
    int rc = -EIO;
    int status = 0;
    if (!guard) {
        return 0;
    }
    if (guard->pid) {
        atomic_store(&guard->page->quit, 1);
        atomic_fetch_add(&guard->page->beat, 1);
        syscall(SYS_futex, &guard->page->beat, FUTEX_WAKE, 1, NULL, NULL, 0);
        pid_t done = 0;
        for (int i = 0; done == 0 && i < 1000; i++) {
            done = waitpid(guard->pid, &status, WNOHANG);
            if (done == 0) {
                doze();
            }
        }
        if (done == 0) {
            kill(guard->pid, SIGKILL);
            waitpid(guard->pid, NULL, 0);
        }
        rc = done == guard->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
    }
    if (guard->page) {
        munmap(guard->page, sizeof *guard->page);
    }
    free(guard);
    return rc;
}
