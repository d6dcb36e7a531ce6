/* The controller's side of any guard: starting the process, its state, its end. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "devices/guard/process_internal.h"

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
        if (atomic_load_explicit(&guard->head->ready, memory_order_acquire)) {
            return atomic_load_explicit(&guard->head->error, memory_order_relaxed);
        }
        if (ended(guard)) {
            return -ECHILD;
        }
        doze();
    }
    return -ETIMEDOUT;
}

/* A page that guard and controller will share, *fd for the guard: above its own descriptor, so that
 * dup2 makes one that outlives exec. */
static struct tact_guard_head *make_page(const void *content, size_t size, int *fd)
{
    int low = memfd_create("tact-guard", MFD_CLOEXEC);
    void *page = MAP_FAILED;
    *fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, TACT_GUARD_FD + 1);
    if (low >= 0) {
        close(low);
    }
    if (*fd >= 0 && ftruncate(*fd, (off_t)size) == 0) {
        page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    }
    if (page == MAP_FAILED) {
        return NULL;
    }
    memcpy(page, content, size);
    return page;
}

static int launch(struct tact_guard *guard, const struct tact_guard_head *content, const char *what,
                  struct tact_error *err)
{
    char program[PATH_MAX];
    int fd;
    int rc = find_program(program, sizeof program);
    if (rc) {
        return tact_error_set(err, rc,
                              "no guard to run at %s: install tact, or name the program in "
                              "the environment variable TACT_GUARD",
                              program);
    }
    errno = 0;
    guard->head = make_page(content, content->size, &fd);
    rc = guard->head ? spawn(program, fd, &guard->pid) : errno ? -errno : -ENOMEM;
    if (fd >= 0) {
        close(fd);
    }
    if (rc) {
        guard->pid = 0;
        return tact_error_set(err, rc, "cannot start %s: %s", program, strerror(-rc));
    }
    rc = wait_ready(guard);
    if (rc) {
        return tact_error_set(err, rc, "%s cannot take %s: %s%s", program, what, strerror(-rc),
                              rc == -EBUSY ? " (another process holds the outputs)" : "");
    }
    return 0;
}

int tact_guard_launch(struct tact_guard_head *content, const char *what, struct tact_guard **out,
                      struct tact_error *err)
{
    *out = NULL;
    struct tact_guard *guard = calloc(1, sizeof *guard);
    if (!guard) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    content->controller = getpid();
    guard->size = content->size;
    int rc = launch(guard, content, what, err);
    if (rc) {
        tact_guard_stop(guard);
        return rc;
    }
    *out = guard;
    return 0;
}

uint32_t tact_guard_beat(struct tact_guard *guard, int64_t now_ns)
{
    uint32_t beat = atomic_load_explicit(&guard->head->beat, memory_order_relaxed);
    if (atomic_load_explicit(&guard->head->answered, memory_order_relaxed) == beat) {
        guard->seen_ns = now_ns;
    }
    return beat + 1;
}

int tact_guard_state(struct tact_guard *guard, int64_t now_ns)
{
    struct tact_guard_head *head = guard->head;
    uint32_t answered = atomic_load_explicit(&head->answered, memory_order_acquire);
    if (answered != guard->answered || guard->seen_ns == 0 ||
        answered == atomic_load_explicit(&head->beat, memory_order_relaxed)) {
        guard->answered = answered;
        guard->seen_ns = now_ns;
    }
    if (atomic_load_explicit(&guard->dead, memory_order_relaxed)) {
        return TACT_GUARD_GONE;
    }
    if (guard->threaded || atomic_load_explicit(&head->busy, memory_order_acquire)) {
        guard->seen_ns = now_ns;
    }
    if (now_ns - guard->seen_ns > 2 * head->timeout_ns) {
        return TACT_GUARD_GONE;
    }
    return (int)atomic_load_explicit(&head->state, memory_order_acquire);
}

void tact_guard_arm(struct tact_guard *guard)
{
    atomic_store_explicit(&guard->head->armed,
                          atomic_load_explicit(&guard->head->trips, memory_order_relaxed),
                          memory_order_relaxed);
}

uint32_t tact_guard_trips(const struct tact_guard *guard)
{
    return atomic_load_explicit(&guard->head->trips, memory_order_relaxed);
}

void tact_guard_kill(struct tact_guard *guard)
{
    if (guard->pid) {
        kill(guard->pid, SIGKILL);
    }
}

int tact_guard_pid(const struct tact_guard *guard)
{
    return guard->pid;
}

void tact_guard_look(struct tact_guard *guard)
{
    siginfo_t info = {0};
    if (guard->pid && waitid(P_PID, (id_t)guard->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == guard->pid) {
        atomic_store_explicit(&guard->dead, true, memory_order_relaxed);
    }
}

/* Returns 0 where the process has ended well. */
static int end_process(struct tact_guard *guard)
{
    int status = 0;
    atomic_store(&guard->head->quit, 1);
    atomic_fetch_add(&guard->head->beat, 1);
    syscall(SYS_futex, &guard->head->beat, FUTEX_WAKE, 1, NULL, NULL, 0);
    pid_t done = 0;
    for (int i = 0; done == 0 && i < 1000; i++) {
        done = waitpid(guard->pid, &status, WNOHANG);
        if (done == 0) {
            doze();
        }
    }
    if (done == 0) {
        /* A driver may hold it for as long as it likes: it is not waited for. */
        kill(guard->pid, SIGKILL);
        doze();
        waitpid(guard->pid, NULL,
                atomic_load_explicit(&guard->head->busy, memory_order_acquire) ? WNOHANG : 0);
    }
    return done == guard->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* Returns whether the thread has ended: a driver may hold it. */
static bool end_thread(struct tact_guard *guard)
{
    struct timespec until;
    atomic_store(&guard->head->quit, 1);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (pthread_timedjoin_np(guard->thread, NULL, &until) == 0) {
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
    if (guard->pid) {
        rc = end_process(guard);
    }
    if (guard->threaded && !end_thread(guard)) {
        free(guard); /* the page is the thread's for good */
        return -EIO;
    }
    rc = guard->threaded ? 0 : rc;
    if (guard->head) {
        munmap(guard->head, guard->size);
    }
    free(guard);
    return rc;
}
