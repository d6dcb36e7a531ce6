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
#include "rt/thread_internal.h"

#define MAX_THREADS_WITH_FUSE 32 /* maximum number of threads with a fuse at a time */

/* Scheduling state of a thread before it entered real time, restored when it leaves. */
struct entry {
    int has_entered_real_time;
    int is_scheduler_changed, policy;
    struct sched_param saved_sched_param;
    int cpu; /* processor that the thread is pinned to, or -1 */
    cpu_set_t affinity;
    int slack; /* timer slack of the thread before it entered real time, or -1 */
    int has_cpu_time_fuse;
    int slot; /* index of the thread in process.thread, or -1 */
    int cpu_dma_latency_fd;
    int has_locked_memory;
};

static _Thread_local struct entry self;
static _Thread_local int has_fuse_of_thread_blown; /* 1: the CPU-time fuse of the thread has blown
                                                      since it last entered real time */

/* State of the process, undone by the last thread that leaves. Guarded by the lock, except for what
 * the signal handler reads. */
static struct {
    pthread_mutex_t lock;
    int memory_locking_thread_count; /* number of threads that requested locked memory */
    struct tact_realtime_item memory_lock_item;
    int has_cpu_time_fuse;
    int64_t fuse_us;
    struct rlimit saved_rttime_limit;
    struct sigaction action;
    _Atomic pid_t thread[MAX_THREADS_WITH_FUSE]; /* 0: free */
    _Atomic int fuse_blown[MAX_THREADS_WITH_FUSE];
    int cpu[MAX_THREADS_WITH_FUSE]; /* processor that the thread is pinned to, or -1 */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

static struct tact_realtime_item *add_realtime_report_item(struct tact_realtime_report *report,
                                                           const struct tact_realtime_item *item)
{
    report->refused += !item->granted;
    report->item[report->count] = *item;
    return &report->item[report->count++];
}

static struct tact_realtime_item *report_granted_setting(struct tact_realtime_report *report,
                                                         const char *name)
{
    struct tact_realtime_item *item = &report->item[report->count++];
    memset(item, 0, sizeof *item);
    snprintf(item->name, sizeof item->name, "%s", name);
    item->granted = 1;
    return item;
}

__attribute__((format(printf, 5, 6))) static void
report_refused_setting(struct tact_realtime_report *report, const char *name, int error,
                       const char *fix, const char *why, ...)
{
    struct tact_realtime_item *item = report_granted_setting(report, name);
    item->granted = 0;
    item->error = error;
    report->refused++;
    snprintf(item->fix, sizeof item->fix, "%s", fix);
    va_list args;
    va_start(args, why);
    tact_number_vprint(item->why, sizeof item->why, why, args);
    va_end(args);
}

static const char *resource_limit_text(rlim_t limit, char *buf, size_t size)
{
    if (limit == RLIM_INFINITY) {
        snprintf(buf, size, "unlimited");
    } else {
        snprintf(buf, size, "%llu", (unsigned long long)limit);
    }
    return buf;
}

/* With limited memory, MCL_FUTURE makes later mappings fail, and with them every new thread with a
 * default stack: try one mapping, and do without MCL_FUTURE if it fails. */
static int can_lock_future_memory_mappings(void)
{
    const size_t default_stack_bytes = 8 * 1024 * 1024;
    void *probe = mmap(NULL, default_stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED) {
        return 0;
    }
    munmap(probe, default_stack_bytes);
    return 1;
}

static void lock_process_memory(struct tact_realtime_report *report)
{
    char text[32];
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    resource_limit_text(limit.rlim_cur, text, sizeof text);
    if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
        const int error = errno;
        munlockall();
        report_refused_setting(report, "memory", error, TACT_FIX_MEMLOCK,
                               "mlockall: %s (RLIMIT_MEMLOCK %s bytes)", strerror(error), text);
        return;
    }
    if (can_lock_future_memory_mappings()) {
        report_granted_setting(report, "memory");
        return;
    }
    munlockall();
    const int are_present_mappings_locked = mlockall(MCL_CURRENT) == 0;
    report_refused_setting(
        report, "memory", EAGAIN, TACT_FIX_MEMLOCK,
        "%s: locking later mappings would prevent threads from starting (RLIMIT_MEMLOCK %s bytes)",
        are_present_mappings_locked ? "only the memory mapped so far is locked"
                                    : "nothing is locked",
        text);
}

/* Memory is locked once per process: later threads report the result of the first. */
static void lock_memory(struct tact_realtime_report *report)
{
    if (process.memory_locking_thread_count++ == 0) {
        lock_process_memory(report);
        process.memory_lock_item = report->item[report->count - 1];
    } else {
        add_realtime_report_item(report, &process.memory_lock_item);
    }
    self.has_locked_memory = 1;
}

static void request_dma_latency(const struct tact_realtime_options *options,
                                struct tact_realtime_report *report)
{
    const char *path = "/dev/cpu_dma_latency";
    const int32_t requested_dma_latency_us = options->dma_latency_us;
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, &requested_dma_latency_us, sizeof requested_dma_latency_us) ==
                       (ssize_t)sizeof requested_dma_latency_us) {
        self.cpu_dma_latency_fd = fd;
        report_granted_setting(report, "dma_latency");
        return;
    }
    const int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    const char *fix = error == ENOENT ? TACT_FIX_DMA_LATENCY_ABSENT : TACT_FIX_DMA_LATENCY;
    report_refused_setting(report, "dma_latency", error, fix, "%s: %s", path, strerror(error));
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

static int is_cpu_used_by_other_thread(int cpu)
{
    for (int i = 0; i < MAX_THREADS_WITH_FUSE; i++) {
        if (i != self.slot && atomic_load(&process.thread[i]) && process.cpu[i] == cpu) {
            return 1;
        }
    }
    return 0;
}

/* The requested processor; for TACT_REALTIME_CPU_LAST, the last to which no other thread is pinned.
 */
static int choose_real_time_processor(int requested)
{
    const int last = tact_realtime_processor(requested);
    if (requested != TACT_REALTIME_CPU_LAST) {
        return requested;
    }
    for (int i = last; i >= 0; i--) {
        if (CPU_ISSET((size_t)i, &self.affinity) && !is_cpu_used_by_other_thread(i)) {
            return i;
        }
    }
    return last;
}

static void pin_thread_to_processor(const struct tact_realtime_options *options,
                                    struct tact_realtime_report *report)
{
    cpu_set_t requested;
    if (sched_getaffinity(0, sizeof self.affinity, &self.affinity)) {
        report_refused_setting(report, "affinity", errno, "set realtime.cpu to -2 (any)",
                               "sched_getaffinity: %s", strerror(errno));
        return;
    }
    const int cpu = choose_real_time_processor(options->cpu);
    CPU_ZERO(&requested);
    CPU_SET((size_t)cpu, &requested);
    if (sched_setaffinity(0, sizeof requested, &requested)) {
        const int error = errno;
        char fix[96];
        snprintf(fix, sizeof fix,
                 "set realtime.cpu to a processor that this process may use (the last is %d)",
                 tact_realtime_processor(TACT_REALTIME_CPU_LAST));
        report_refused_setting(report, "affinity", error, fix, "processor %d: %s", cpu,
                               strerror(error));
        return;
    }
    self.cpu = cpu;
    struct tact_realtime_item *item = report_granted_setting(report, "affinity");
    if (is_cpu_used_by_other_thread(cpu)) {
        snprintf(item->why, sizeof item->why,
                 "processor %d is shared with another real-time thread of this process", cpu);
        snprintf(item->fix, sizeof item->fix,
                 "use another processor for each thread: realtime.cpu");
    }
    if (self.slot >= 0) {
        process.cpu[self.slot] = cpu;
    }
}

static void set_timer_slack(const struct tact_realtime_options *options,
                            struct tact_realtime_report *report)
{
    const int old = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    if (old < 0 || prctl(PR_SET_TIMERSLACK, (unsigned long)options->timer_slack_ns, 0, 0, 0)) {
        report_refused_setting(report, "timer_slack", errno,
                               "allow prctl in the container's seccomp profile", "prctl: %s",
                               strerror(errno));
        return;
    }
    self.slack = old;
    report_granted_setting(report, "timer_slack");
}

static void demote_to_normal_scheduling(int slot)
{
    const struct sched_param normal = {.sched_priority = 0};
    const pid_t thread = atomic_load(&process.thread[slot]);
    if (thread) {
        atomic_store(&process.fuse_blown[slot], 1);
        sched_setscheduler(thread, SCHED_OTHER, &normal);
    }
}

/* The signal is directed to the process. The kernel delivers it to the thread over its limit, which
 * unblocks it; if another thread receives it, the origin is unknown, and all entered threads are
 * demoted. */
static void handle_cpu_time_fuse_signal(int signal_number)
{
    (void)signal_number;
    const int saved_errno = errno;
    const pid_t signalled_thread = gettid();
    int is_real_time_thread = 0;
    for (int i = 0; i < MAX_THREADS_WITH_FUSE; i++) {
        if (atomic_load(&process.thread[i]) == signalled_thread) {
            is_real_time_thread = 1;
            demote_to_normal_scheduling(i);
        }
    }
    for (int i = 0; !is_real_time_thread && i < MAX_THREADS_WITH_FUSE; i++) {
        demote_to_normal_scheduling(i);
    }
    errno = saved_errno;
}

static int install_fuse_handler(int64_t fuse_us)
{
    struct sigaction action = {.sa_handler = handle_cpu_time_fuse_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    getrlimit(RLIMIT_RTTIME, &process.saved_rttime_limit);
    const struct rlimit limit = {(rlim_t)fuse_us, process.saved_rttime_limit.rlim_max};
    sigaction(SIGXCPU, &action, &process.action);
    if (setrlimit(RLIMIT_RTTIME, &limit)) {
        const int error = errno;
        sigaction(SIGXCPU, &process.action, NULL);
        return error;
    }
    process.fuse_us = fuse_us;
    return 0;
}

static void set_cpu_time_fuse(const struct tact_realtime_options *options,
                              struct tact_realtime_report *report)
{
    sigset_t xcpu;
    sigemptyset(&xcpu);
    sigaddset(&xcpu, SIGXCPU);
    if (self.slot < 0) {
        report_refused_setting(report, "fuse", EAGAIN, "run fewer sessions in one process",
                               "%d threads of this process already have a run-time limit (fuse)",
                               MAX_THREADS_WITH_FUSE);
        return;
    }
    const int error = process.has_cpu_time_fuse ? 0 : install_fuse_handler(options->fuse_us);
    if (error) {
        report_refused_setting(report, "fuse", error, "ulimit -R unlimited",
                               "RLIMIT_RTTIME %lld us: %s", (long long)options->fuse_us,
                               strerror(error));
        return;
    }
    process.has_cpu_time_fuse++;
    self.has_cpu_time_fuse = 1;
    pthread_sigmask(SIG_UNBLOCK, &xcpu, NULL);
    struct tact_realtime_item *item = report_granted_setting(report, "fuse");
    if (process.fuse_us != options->fuse_us) {
        snprintf(item->why, sizeof item->why,
                 "the run-time limit (fuse) is %lld us instead of %lld us: a process has one "
                 "limit, and another thread set it",
                 (long long)process.fuse_us, (long long)options->fuse_us);
        snprintf(item->fix, sizeof item->fix, "use the same fuse for all sessions of a process");
    }
}

static int set_fifo_scheduling(int priority)
{
    const struct sched_param saved_sched_param = {.sched_priority = priority};
    return sched_setscheduler(0, SCHED_FIFO, &saved_sched_param) ? errno : 0;
}

static void set_scheduler(const struct tact_realtime_options *options,
                          struct tact_realtime_report *report)
{
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_RTPRIO, &limit);
    self.policy = sched_getscheduler(0);
    sched_getparam(0, &self.saved_sched_param);
    int error = set_fifo_scheduling(options->priority);
    if (!error) {
        self.is_scheduler_changed = 1;
        report_granted_setting(report, "scheduler");
        return;
    }
    const int allowed = limit.rlim_cur < 99 ? (int)limit.rlim_cur : 99;
    if (error == EPERM && allowed > 0 && allowed < options->priority &&
        !set_fifo_scheduling(allowed)) {
        self.is_scheduler_changed = 1;
        struct tact_realtime_item *item = report_granted_setting(report, "scheduler");
        snprintf(item->why, sizeof item->why,
                 "priority SCHED_FIFO %d instead of %d, limited by RLIMIT_RTPRIO", allowed,
                 options->priority);
        snprintf(item->fix, sizeof item->fix, "%s", TACT_FIX_RTPRIO);
        return;
    }
    char text[32];
    report_refused_setting(report, "scheduler", error,
                           geteuid() == 0 ? TACT_FIX_RTPRIO_GROUP : TACT_FIX_RTPRIO,
                           "SCHED_FIFO %d: %s (RLIMIT_RTPRIO %s)", options->priority,
                           strerror(error), resource_limit_text(limit.rlim_cur, text, sizeof text));
}

/* Writes to the stack pages below the caller's frame, so that they are mapped before real time
 * starts. */
__attribute__((noinline)) static void touch_stack_pages(size_t bytes)
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
    void *stack_start = NULL;
    size_t size = 0;
    unsigned char stack_marker = 0;
    const int error = pthread_getattr_np(pthread_self(), &attr);
    if (error) {
        report_refused_setting(report, "stack", error, "mount /proc", "pthread_getattr_np: %s",
                               strerror(error));
        return;
    }
    pthread_attr_getstack(&attr, &stack_start, &size);
    pthread_attr_destroy(&attr);
    const size_t remaining_stack_bytes =
        (size_t)((uintptr_t)&stack_marker - (uintptr_t)stack_start);
    const size_t requested =
        options->stack_size < remaining_stack_bytes ? options->stack_size : remaining_stack_bytes;
    if (requested > margin) {
        touch_stack_pages(requested - margin);
    }
    report_granted_setting(report, "stack");
}

static int check_realtime_options(const struct tact_realtime_options *o)
{
    return o->priority >= 0 && o->priority <= 99 && o->cpu >= TACT_REALTIME_CPU_ANY &&
           o->cpu < CPU_SETSIZE && o->fuse_us >= 0 && o->timer_slack_ns >= 0;
}

/* Allocates an entry of process.thread for the calling thread; -1: none is free. */
static int allocate_thread_slot(void)
{
    for (int i = 0; i < MAX_THREADS_WITH_FUSE; i++) {
        if (!atomic_load(&process.thread[i])) {
            process.cpu[i] = -1;
            atomic_store(&process.fuse_blown[i], 0);
            atomic_store(&process.thread[i], gettid());
            return i;
        }
    }
    return -1;
}

static void apply_realtime_options_to_thread(const struct tact_realtime_options *options,
                                             struct tact_realtime_report *r)
{
    if (options->lock_memory) {
        lock_memory(r);
    }
    prefault_stack(options, r);
    if (options->dma_latency_us >= 0) {
        request_dma_latency(options, r);
    }
    if (options->cpu != TACT_REALTIME_CPU_ANY) {
        pin_thread_to_processor(options, r);
    }
    if (options->timer_slack_ns > 0) {
        set_timer_slack(options, r);
    }
    if (options->priority > 0 && options->fuse_us > 0) {
        set_cpu_time_fuse(options, r);
    }
}

int tact_realtime_enter(const struct tact_realtime_options *options,
                        struct tact_realtime_report *report)
{
    struct tact_realtime_report discarded_realtime_report;
    struct tact_realtime_report *r = report ? report : &discarded_realtime_report;
    memset(r, 0, sizeof *r);
    if (!check_realtime_options(options)) {
        return -EINVAL;
    }
    if (self.has_entered_real_time) {
        return -EBUSY;
    }
    self = (struct entry){
        .has_entered_real_time = 1, .cpu = -1, .slack = -1, .cpu_dma_latency_fd = -1};
    has_fuse_of_thread_blown = 0;
    pthread_mutex_lock(&process.lock);
    self.slot = allocate_thread_slot();
    apply_realtime_options_to_thread(options, r);
    pthread_mutex_unlock(&process.lock);
    if (options->priority > 0 && (self.slot >= 0 || options->fuse_us == 0)) {
        /* this step comes last: the steps above are not real-time work */
        set_scheduler(options, r);
    } else if (options->priority > 0) {
        report_refused_setting(r, "scheduler", EAGAIN, "run fewer sessions in one process",
                               "no run-time limit (fuse) is left for this thread");
    }
    for (int i = 0; options->require && i < r->count; i++) {
        if (!r->item[i].granted) {
            tact_realtime_leave();
            return r->item[i].error ? -r->item[i].error : -EPERM;
        }
    }
    return 0;
}

static void restore_process_settings(void)
{
    if (self.has_cpu_time_fuse && --process.has_cpu_time_fuse == 0) {
        setrlimit(RLIMIT_RTTIME, &process.saved_rttime_limit);
        sigaction(SIGXCPU, &process.action, NULL);
    }
    if (self.has_locked_memory && --process.memory_locking_thread_count == 0) {
        munlockall();
    }
    if (self.slot >= 0) {
        has_fuse_of_thread_blown = atomic_load(&process.fuse_blown[self.slot]);
        atomic_store(&process.thread[self.slot], 0);
    }
}

void tact_realtime_leave(void)
{
    if (!self.has_entered_real_time) {
        return;
    }
    if (self.is_scheduler_changed) {
        sched_setscheduler(0, self.policy, &self.saved_sched_param);
    }
    if (self.slack >= 0) {
        prctl(PR_SET_TIMERSLACK, (unsigned long)self.slack, 0, 0, 0);
    }
    if (self.cpu >= 0) {
        sched_setaffinity(0, sizeof self.affinity, &self.affinity);
    }
    if (self.cpu_dma_latency_fd >= 0) {
        close(self.cpu_dma_latency_fd);
    }
    pthread_mutex_lock(&process.lock);
    restore_process_settings();
    pthread_mutex_unlock(&process.lock);
    self.has_entered_real_time = 0;
}

int tact_realtime_fuse_blown(void)
{
    return self.has_entered_real_time && self.slot >= 0
               ? atomic_load(&process.fuse_blown[self.slot])
               : has_fuse_of_thread_blown;
}

int tact_realtime_thread(pthread_t *thread, const struct tact_realtime_options *options,
                         void *(*run)(void *), void *arg)
{
    const struct tact_thread_options start = {.stack_size = options->stack_size};
    return options->stack_size ? tact_thread_start(thread, &start, run, arg) : -EINVAL;
}
