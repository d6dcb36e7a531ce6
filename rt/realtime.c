#include "rt/realtime.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "contact/number.h"
#include "rt/realtime_internal.h"

/* What leaving has to undo. The process has one: its limits, handlers and memory are shared. */
static struct {
    _Atomic int busy;
    _Atomic int fuse_blown;
    _Atomic pid_t thread;
    int scheduled, policy;
    struct sched_param param;
    int pinned;
    cpu_set_t affinity;
    int slack; /* as it was, or -1 */
    int fused;
    struct rlimit rttime;
    struct sigaction action;
    int dma_fd;
    int locked;
} entered;

struct tact_realtime_options tact_realtime_default(void)
{
    return (struct tact_realtime_options){
        .priority = 80,
        .cpu = TACT_REALTIME_CPU_LAST,
        .lock_memory = 1,
        .dma_latency_us = 0,
        .fuse_us = 200000,
        .timer_slack_ns = 1,
        .stack_size = 512 * 1024,
        .require = 0,
    };
}

static struct tact_realtime_item *granted(struct tact_realtime_report *report, const char *name)
{
    struct tact_realtime_item *item = &report->item[report->count++];
    memset(item, 0, sizeof *item);
    snprintf(item->name, sizeof item->name, "%s", name);
    item->granted = 1;
    return item;
}

__attribute__((format(printf, 5, 6))) static void refused(struct tact_realtime_report *report,
                                                          const char *name, int error,
                                                          const char *fix, const char *why, ...)
{
    struct tact_realtime_item *item = granted(report, name);
    item->granted = 0;
    item->error = error;
    report->refused++;
    snprintf(item->fix, sizeof item->fix, "%s", fix);
    va_list args;
    va_start(args, why);
    tact_number_vprint(item->why, sizeof item->why, why, args);
    va_end(args);
}

static const char *limit_text(rlim_t limit, char *buf, size_t size)
{
    if (limit == RLIM_INFINITY) {
        snprintf(buf, size, "unlimited");
    } else {
        snprintf(buf, size, "%llu", (unsigned long long)limit);
    }
    return buf;
}

/* Where memory is limited, locking what comes later makes later maps fail, and with them every new
 * thread with a stack of the usual size: try one, and rather do without. */
static int later_maps_work(void)
{
    const size_t usual_stack = 8 * 1024 * 1024;
    void *probe = mmap(NULL, usual_stack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED) {
        return 0;
    }
    munmap(probe, usual_stack);
    return 1;
}

static void lock_memory(struct tact_realtime_report *report)
{
    char text[32];
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    limit_text(limit.rlim_cur, text, sizeof text);
    if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
        const int error = errno;
        munlockall();
        refused(report, "memory", error, TACT_FIX_MEMLOCK, "mlockall: %s (RLIMIT_MEMLOCK %s bytes)",
                strerror(error), text);
        return;
    }
    entered.locked = 1;
    if (later_maps_work()) {
        granted(report, "memory");
        return;
    }
    munlockall();
    const int kept = mlockall(MCL_CURRENT) == 0;
    refused(report, "memory", EAGAIN, TACT_FIX_MEMLOCK,
            "%s: locking what is mapped later would keep threads from starting "
            "(RLIMIT_MEMLOCK %s bytes)",
            kept ? "only what is mapped now is locked" : "nothing is locked", text);
}

static void hold_dma_latency(const struct tact_realtime_options *options,
                             struct tact_realtime_report *report)
{
    const char *path = "/dev/cpu_dma_latency";
    const int32_t latency = options->dma_latency_us;
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, &latency, sizeof latency) == (ssize_t)sizeof latency) {
        entered.dma_fd = fd;
        granted(report, "dma_latency");
        return;
    }
    const int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    const char *fix = error == ENOENT ? TACT_FIX_DMA_LATENCY_ABSENT : TACT_FIX_DMA_LATENCY;
    refused(report, "dma_latency", error, fix, "%s: %s", path, strerror(error));
}

int tact_realtime_processor(int cpu)
{
    cpu_set_t allowed;
    int last = -1;
    if (cpu != TACT_REALTIME_CPU_LAST || sched_getaffinity(0, sizeof allowed, &allowed)) {
        return cpu < 0 ? -1 : cpu;
    }
    for (int i = 0; i < CPU_SETSIZE; i++) {
        last = CPU_ISSET((size_t)i, &allowed) ? i : last;
    }
    return last;
}

static void pin(const struct tact_realtime_options *options, struct tact_realtime_report *report)
{
    cpu_set_t wanted;
    if (sched_getaffinity(0, sizeof entered.affinity, &entered.affinity)) {
        refused(report, "affinity", errno, "set realtime.cpu to -2 (any)", "sched_getaffinity: %s",
                strerror(errno));
        return;
    }
    const int cpu = tact_realtime_processor(options->cpu);
    CPU_ZERO(&wanted);
    CPU_SET((size_t)cpu, &wanted);
    if (sched_setaffinity(0, sizeof wanted, &wanted)) {
        const int error = errno;
        char fix[96];
        snprintf(fix, sizeof fix, "choose a processor this process may use (the last is %d)",
                 tact_realtime_processor(TACT_REALTIME_CPU_LAST));
        refused(report, "affinity", error, fix, "processor %d: %s", cpu, strerror(error));
        return;
    }
    entered.pinned = 1;
    granted(report, "affinity");
}

static void set_slack(const struct tact_realtime_options *options,
                      struct tact_realtime_report *report)
{
    const int old = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    if (old < 0 || prctl(PR_SET_TIMERSLACK, (unsigned long)options->timer_slack_ns, 0, 0, 0)) {
        refused(report, "timer_slack", errno, "allow prctl in the container's seccomp profile",
                "prctl: %s", strerror(errno));
        return;
    }
    entered.slack = old;
    granted(report, "timer_slack");
}

/* The signal is the process's: it need not arrive on the runaway, so that is named by its id. */
static void on_fuse(int signal_number)
{
    (void)signal_number;
    const int saved = errno;
    const struct sched_param normal = {.sched_priority = 0};
    atomic_store(&entered.fuse_blown, 1);
    sched_setscheduler(atomic_load(&entered.thread), SCHED_OTHER, &normal);
    errno = saved;
}

static void set_fuse(const struct tact_realtime_options *options,
                     struct tact_realtime_report *report)
{
    struct sigaction action = {.sa_handler = on_fuse, .sa_flags = SA_RESTART};
    sigset_t xcpu;
    sigemptyset(&action.sa_mask);
    sigemptyset(&xcpu);
    sigaddset(&xcpu, SIGXCPU);
    getrlimit(RLIMIT_RTTIME, &entered.rttime);
    const struct rlimit limit = {(rlim_t)options->fuse_us, entered.rttime.rlim_max};
    sigaction(SIGXCPU, &action, &entered.action);
    if (setrlimit(RLIMIT_RTTIME, &limit)) {
        const int error = errno;
        sigaction(SIGXCPU, &entered.action, NULL);
        refused(report, "fuse", error, "ulimit -R unlimited", "RLIMIT_RTTIME %lld us: %s",
                (long long)options->fuse_us, strerror(error));
        return;
    }
    pthread_sigmask(SIG_UNBLOCK, &xcpu, NULL);
    entered.fused = 1;
    granted(report, "fuse");
}

static int set_fifo(int priority)
{
    const struct sched_param param = {.sched_priority = priority};
    return sched_setscheduler(0, SCHED_FIFO, &param) ? errno : 0;
}

static void set_scheduler(const struct tact_realtime_options *options,
                          struct tact_realtime_report *report)
{
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_RTPRIO, &limit);
    entered.policy = sched_getscheduler(0);
    sched_getparam(0, &entered.param);
    int error = set_fifo(options->priority);
    if (!error) {
        entered.scheduled = 1;
        granted(report, "scheduler");
        return;
    }
    const int allowed = limit.rlim_cur < 99 ? (int)limit.rlim_cur : 99;
    if (error == EPERM && allowed > 0 && allowed < options->priority && !set_fifo(allowed)) {
        entered.scheduled = 1;
        struct tact_realtime_item *item = granted(report, "scheduler");
        snprintf(item->why, sizeof item->why, "SCHED_FIFO %d instead of %d (RLIMIT_RTPRIO)",
                 allowed, options->priority);
        snprintf(item->fix, sizeof item->fix, "%s", TACT_FIX_RTPRIO);
        return;
    }
    char text[32];
    refused(report, "scheduler", error, geteuid() == 0 ? TACT_FIX_RTPRIO_GROUP : TACT_FIX_RTPRIO,
            "SCHED_FIFO %d: %s (RLIMIT_RTPRIO %s)", options->priority, strerror(error),
            limit_text(limit.rlim_cur, text, sizeof text));
}

/* Touches the stack below the caller's frame, as far as it will ever be used. */
__attribute__((noinline)) static void touch_stack(size_t bytes)
{
    unsigned char pages[bytes];
    volatile unsigned char *p = pages;
    for (size_t i = 0; i < bytes; i += 4096) {
        p[i] = 0;
    }
    p[bytes - 1] = 0;
}

static void prefault_stack(const struct tact_realtime_options *options,
                           struct tact_realtime_report *report)
{
    const size_t margin = 64 * 1024;
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;
    unsigned char here = 0;
    const int error = pthread_getattr_np(pthread_self(), &attr);
    if (error) {
        refused(report, "stack", error, "mount /proc", "pthread_getattr_np: %s", strerror(error));
        return;
    }
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    const size_t room = (size_t)((uintptr_t)&here - (uintptr_t)low);
    const size_t wanted = options->stack_size < room ? options->stack_size : room;
    if (wanted > margin) {
        touch_stack(wanted - margin);
    }
    granted(report, "stack");
}

static int valid(const struct tact_realtime_options *o)
{
    return o->priority >= 0 && o->priority <= 99 && o->cpu >= TACT_REALTIME_CPU_ANY &&
           o->cpu < CPU_SETSIZE && o->fuse_us >= 0 && o->timer_slack_ns >= 0;
}

int tact_realtime_enter(const struct tact_realtime_options *options,
                        struct tact_realtime_report *report)
{
    struct tact_realtime_report own;
    struct tact_realtime_report *r = report ? report : &own;
    memset(r, 0, sizeof *r);
    if (!valid(options)) {
        return -EINVAL;
    }
    if (atomic_exchange(&entered.busy, 1)) {
        return -EBUSY;
    }
    entered.scheduled = entered.pinned = entered.fused = entered.locked = 0;
    entered.slack = entered.dma_fd = -1;
    atomic_store(&entered.fuse_blown, 0);
    atomic_store(&entered.thread, gettid());

    if (options->lock_memory) {
        lock_memory(r);
    }
    prefault_stack(options, r);
    if (options->dma_latency_us >= 0) {
        hold_dma_latency(options, r);
    }
    if (options->cpu != TACT_REALTIME_CPU_ANY) {
        pin(options, r);
    }
    if (options->timer_slack_ns > 0) {
        set_slack(options, r);
    }
    if (options->priority > 0) {
        if (options->fuse_us > 0) {
            set_fuse(options, r);
        }
        set_scheduler(options, r); /* last: what comes before is no work for real time */
    }
    for (int i = 0; options->require && i < r->count; i++) {
        if (!r->item[i].granted) {
            tact_realtime_leave();
            return r->item[i].error ? -r->item[i].error : -EPERM;
        }
    }
    return 0;
}

void tact_realtime_leave(void)
{
    if (!atomic_load(&entered.busy)) {
        return;
    }
    if (entered.scheduled) {
        sched_setscheduler(0, entered.policy, &entered.param);
    }
    if (entered.fused) {
        setrlimit(RLIMIT_RTTIME, &entered.rttime);
        sigaction(SIGXCPU, &entered.action, NULL);
    }
    if (entered.slack >= 0) {
        prctl(PR_SET_TIMERSLACK, (unsigned long)entered.slack, 0, 0, 0);
    }
    if (entered.pinned) {
        sched_setaffinity(0, sizeof entered.affinity, &entered.affinity);
    }
    if (entered.dma_fd >= 0) {
        close(entered.dma_fd);
    }
    if (entered.locked) {
        munlockall();
    }
    atomic_store(&entered.busy, 0);
}

int tact_realtime_fuse_blown(void)
{
    return atomic_load(&entered.fuse_blown);
}

int tact_realtime_thread(pthread_t *thread, const struct tact_realtime_options *options,
                         void *(*run)(void *), void *arg)
{
    const struct sched_param normal = {.sched_priority = 0};
    sigset_t all, old;
    pthread_attr_t attr;
    int error = pthread_attr_init(&attr);
    if (error) {
        return -error;
    }
    error = pthread_attr_setstacksize(&attr, options->stack_size);
    error = error ? error : pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    error = error ? error : pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
    error = error ? error : pthread_attr_setschedparam(&attr, &normal);
    if (!error) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        error = pthread_create(thread, &attr, run, arg);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    pthread_attr_destroy(&attr);
    return -error;
}
