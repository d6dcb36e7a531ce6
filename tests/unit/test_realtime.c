/* Real-time set-up: what is granted, the report of what is refused, and that leaving restores
 * everything. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/realtime.h"

static const struct tact_realtime_item *find_realtime_item(const struct tact_realtime_report *r,
                                                           const char *name)
{
    for (int i = 0; i < r->count; i++) {
        if (strcmp(r->item[i].name, name) == 0) {
            return &r->item[i];
        }
    }
    return NULL;
}

/* A line of /proc/self/status, such as VmLck, in kB. */
static long read_status_line_kb(const char *name)
{
    char line[256];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            sscanf(line + strlen(name), ": %ld", &kb);
        }
    }
    if (f) {
        fclose(f);
    }
    return kb;
}

static int open_file_count(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir)) {
        n++;
    }
    if (dir) {
        closedir(dir);
    }
    return n;
}

/* Settings of a thread and its process that entering real time may change. */
struct thread_setting {
    int scheduling_policy, slack, files;
    long locked_memory_kb;
    cpu_set_t affinity;
    struct rlimit cpu_time_limit;
    void (*handler)(int);
};

static struct thread_setting thread_settings(void)
{
    struct thread_setting s;
    struct sigaction action;
    memset(&s, 0, sizeof s);
    s.scheduling_policy = sched_getscheduler(0);
    s.slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    s.files = open_file_count();
    s.locked_memory_kb = read_status_line_kb("VmLck");
    sched_getaffinity(0, sizeof s.affinity, &s.affinity);
    getrlimit(RLIMIT_RTTIME, &s.cpu_time_limit);
    sigaction(SIGXCPU, NULL, &action);
    s.handler = action.sa_handler;
    return s;
}

static int are_settings_equal(const struct thread_setting *a, const struct thread_setting *b)
{
    return a->scheduling_policy == b->scheduling_policy && a->slack == b->slack &&
           a->files == b->files && a->locked_memory_kb == b->locked_memory_kb &&
           CPU_EQUAL(&a->affinity, &b->affinity) &&
           a->cpu_time_limit.rlim_cur == b->cpu_time_limit.rlim_cur && a->handler == b->handler;
}

struct real_time_thread_visit {
    struct tact_realtime_options options;
    struct tact_realtime_report report;
    int rc, rc_second;
    struct thread_setting before, inside, settings_after_real_time;
};

static void *enter_and_leave_realtime(void *arg)
{
    struct real_time_thread_visit *v = arg;
    v->before = thread_settings();
    v->rc = tact_realtime_enter(&v->options, &v->report);
    v->inside = thread_settings();
    v->rc_second = tact_realtime_enter(&v->options, NULL);
    if (v->rc == 0) {
        tact_realtime_leave();
    }
    v->settings_after_real_time = thread_settings();
    return NULL;
}

static int real_time_thread_visit(struct real_time_thread_visit *v)
{
    pthread_t thread;
    const int rc = tact_realtime_thread(&thread, &v->options, enter_and_leave_realtime, v);
    return rc ? rc : -pthread_join(thread, NULL);
}

static void check_realtime_items(const struct tact_realtime_report *r)
{
    int refused = 0;
    for (int i = 0; i < r->count; i++) {
        const struct tact_realtime_item *item = &r->item[i];
        assert_true(item->name[0] != '\0');
        if (!item->granted) {
            refused++;
            assert_true(item->error > 0);
            assert_true(item->why[0] != '\0');
            assert_true(item->fix[0] != '\0');
            print_message("refused: %s: %s; %s\n", item->name, item->why, item->fix);
        }
    }
    assert_int_equal(refused, r->refused);
}

static void leaving_real_time_restores_the_thread_settings(void **state)
{
    (void)state;
    static struct real_time_thread_visit v;
    v.options = tact_realtime_default();
    assert_int_equal(real_time_thread_visit(&v), 0);
    assert_int_equal(v.rc, 0);
    assert_int_equal(v.rc_second, -EBUSY);
    assert_int_equal(v.report.count, 7);
    check_realtime_items(&v.report);
    assert_true(are_settings_equal(&v.before, &v.settings_after_real_time));
    if (find_realtime_item(&v.report, "scheduler")->granted) {
        assert_int_equal(v.inside.scheduling_policy, SCHED_FIFO);
    }
    if (find_realtime_item(&v.report, "affinity")->granted) {
        assert_int_equal(CPU_COUNT(&v.inside.affinity), 1);
    }
    if (find_realtime_item(&v.report, "dma_latency")->granted) {
        assert_int_equal(v.inside.files, v.before.files + 1);
    }
    if (find_realtime_item(&v.report, "fuse")->granted) {
        assert_int_equal(v.inside.cpu_time_limit.rlim_cur, 200000);
    }
    /* Newer kernels use no timer slack for real-time threads. */
    assert_true(v.inside.slack == 1 || v.inside.slack == 0);
}

/* Two threads that are in real time at once: the first leaves when both have entered, the second
 * after it. */
struct pair {
    struct real_time_thread_visit real_time_thread_visit;
    pthread_barrier_t *barrier;
    int does_thread_leave_real_time_first;
    long locked_kb_after_first_left; /* memory locked by the process once the first thread has left
                                        [kB] */
    struct rlimit cpu_time_limit_after_first_left;
};

static void *run_thread_of_pair(void *arg)
{
    struct pair *p = arg;
    struct real_time_thread_visit *v = &p->real_time_thread_visit;
    v->before = thread_settings();
    pthread_barrier_wait(p->barrier);
    v->rc = tact_realtime_enter(&v->options, &v->report);
    v->inside = thread_settings();
    pthread_barrier_wait(p->barrier); /* waits until both threads have entered real time */
    if (p->does_thread_leave_real_time_first) {
        tact_realtime_leave();
    }
    pthread_barrier_wait(p->barrier);
    if (!p->does_thread_leave_real_time_first) {
        p->locked_kb_after_first_left = read_status_line_kb("VmLck");
        getrlimit(RLIMIT_RTTIME, &p->cpu_time_limit_after_first_left);
        tact_realtime_leave();
    }
    pthread_barrier_wait(p->barrier);
    v->settings_after_real_time = thread_settings();
    return NULL;
}

static void two_real_time_threads_leave_one_after_the_other(void **state)
{
    (void)state;
    static struct pair pair[2];
    pthread_barrier_t barrier;
    pthread_t thread[2];
    cpu_set_t shared, all;
    pthread_barrier_init(&barrier, NULL, 2);
    sched_getaffinity(0, sizeof all, &all);
    for (int i = 0; i < 2; i++) {
        pair[i] = (struct pair){.barrier = &barrier, .does_thread_leave_real_time_first = i};
        pair[i].real_time_thread_visit.options = tact_realtime_default();
        assert_int_equal(tact_realtime_thread(&thread[i], &pair[i].real_time_thread_visit.options,
                                              run_thread_of_pair, &pair[i]),
                         0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
    }
    pthread_barrier_destroy(&barrier);
    for (int i = 0; i < 2; i++) {
        const struct real_time_thread_visit *v = &pair[i].real_time_thread_visit;
        assert_int_equal(v->rc, 0);
        assert_int_equal(v->report.count, 7);
        check_realtime_items(&v->report);
        /* Settings of the process are granted to both real-time threads alike. */
        for (int k = 0; k < 7; k++) {
            assert_int_equal(v->report.item[k].granted,
                             pair[0].real_time_thread_visit.report.item[k].granted);
        }
        assert_true(v->settings_after_real_time.scheduling_policy == SCHED_OTHER &&
                    CPU_EQUAL(&v->settings_after_real_time.affinity, &all));
    }
    /* Two processors are used where there are two; otherwise the report says that the threads
     * share one. */
    CPU_AND(&shared, &pair[0].real_time_thread_visit.inside.affinity,
            &pair[1].real_time_thread_visit.inside.affinity);
    const int reported =
        find_realtime_item(&pair[0].real_time_thread_visit.report, "affinity")->why[0] != '\0' ||
        find_realtime_item(&pair[1].real_time_thread_visit.report, "affinity")->why[0] != '\0';
    if (find_realtime_item(&pair[0].real_time_thread_visit.report, "affinity")->granted) {
        assert_int_equal(CPU_COUNT(&shared), CPU_COUNT(&all) > 1 ? 0 : 1);
        assert_int_equal(reported, CPU_COUNT(&all) == 1);
    }
    /* The first thread that leaves real time changes nothing for the other; the last one restores
     * everything. */
    if (pair[0].real_time_thread_visit.inside.locked_memory_kb > 0) { /* not under a sanitizer */
        assert_true(pair[0].locked_kb_after_first_left > 0);
    }
    if (find_realtime_item(&pair[0].real_time_thread_visit.report, "fuse")->granted) {
        assert_int_equal(pair[0].cpu_time_limit_after_first_left.rlim_cur, 200000);
    }
    assert_int_equal(thread_settings().locked_memory_kb, 0);
    assert_true(pair[0].real_time_thread_visit.settings_after_real_time.handler == SIG_DFL);
    assert_true(thread_settings().cpu_time_limit.rlim_cur != 200000);
}

static void only_requested_realtime_settings_are_made(void **state)
{
    (void)state;
    static struct real_time_thread_visit v;
    v.options = tact_realtime_default();
    v.options.priority = 0;
    v.options.cpu = TACT_REALTIME_CPU_ANY;
    v.options.lock_memory = 0;
    v.options.dma_latency_us = -1;
    v.options.timer_slack_ns = 0;
    assert_int_equal(real_time_thread_visit(&v), 0);
    assert_int_equal(v.rc, 0);
    assert_int_equal(v.report.count, 1);
    assert_string_equal(v.report.item[0].name, "stack");
    assert_true(are_settings_equal(&v.before, &v.inside));
}

static void bad_realtime_options_are_refused(void **state)
{
    (void)state;
    struct tact_realtime_options o = tact_realtime_default();
    o.priority = 100;
    assert_int_equal(tact_realtime_enter(&o, NULL), -EINVAL);
    o = tact_realtime_default();
    o.cpu = -3;
    assert_int_equal(tact_realtime_enter(&o, NULL), -EINVAL);
    o = tact_realtime_default();
    o.fuse_us = -1;
    assert_int_equal(tact_realtime_enter(&o, NULL), -EINVAL);
    tact_realtime_leave(); /* leaving has no effect where no thread has entered */
}

static void refused_required_realtime_setting_is_an_error(void **state)
{
    (void)state;
    static struct real_time_thread_visit v;
    v.options = tact_realtime_default();
    v.options.cpu = 1000; /* number of a processor that no test machine has */
    v.options.require = 1;
    assert_int_equal(real_time_thread_visit(&v), 0);
    assert_true(v.rc < 0);
    assert_true(v.report.refused > 0);
    assert_true(are_settings_equal(&v.before, &v.settings_after_real_time));
}

static void *thread_that_returns_at_once(void *arg)
{
    return arg;
}

/* Run as a user without privileges and with a low limit of locked memory: each refusal is
 * reported, and threads with a stack of the default size can still be created afterwards. Returns
 * an exit status. */
static int run_realtime_unprivileged(rlim_t lockable_bytes)
{
    const struct rlimit low_locked_memory_limit = {lockable_bytes, lockable_bytes}, none = {0, 0};
    static struct real_time_thread_visit v;
    mallopt(M_ARENA_MAX, 1); /* a memory arena per thread would count as 64 MiB more */
    if (setrlimit(RLIMIT_MEMLOCK, &low_locked_memory_limit)) {
        return 78;
    }
    setrlimit(RLIMIT_RTPRIO, &none);
    if (geteuid() == 0 && (setgid(65534) || setuid(65534))) {
        return 77;
    }
    v.options = tact_realtime_default();
    /* The runtimes of the sanitizers replace mlockall() by nothing. */
    const int does_sanitizer_disable_locking =
        mlockall(MCL_CURRENT) == 0 && read_status_line_kb("VmLck") == 0;
    munlockall();
    const struct thread_setting before = thread_settings();
    if (real_time_thread_visit(&v) || v.rc) {
        return 1;
    }
    const char *required_realtime_settings[] = {"scheduler", "memory"};
    for (int i = 0; i < (does_sanitizer_disable_locking ? 1 : 2); i++) {
        const struct tact_realtime_item *item =
            find_realtime_item(&v.report, required_realtime_settings[i]);
        if (!item || item->granted || !item->why[0] || !strstr(item->fix, "limits.d")) {
            return 2;
        }
        printf("unprivileged %s: %s; %s\n", item->name, item->why, item->fix);
    }
    const struct tact_realtime_item *report_item_of_cpu_affinity =
        find_realtime_item(&v.report, "affinity");
    if (!report_item_of_cpu_affinity || !report_item_of_cpu_affinity->granted ||
        v.inside.scheduling_policy != SCHED_OTHER) {
        return 3;
    }
    const struct thread_setting settings_after_real_time = thread_settings();
    if (!are_settings_equal(&before, &settings_after_real_time)) {
        return 4;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_that_returns_at_once, NULL)) {
        return 5;
    }
    pthread_join(thread, NULL);
    /* Threads can be created also while this thread is in real time. */
    if (tact_realtime_enter(&v.options, &v.report) ||
        pthread_create(&thread, NULL, thread_that_returns_at_once, NULL)) {
        return 6;
    }
    pthread_join(thread, NULL);
    tact_realtime_leave();
    fflush(stdout);
    return 0;
}

static void check_unprivileged_in_child(rlim_t lockable_bytes)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(run_realtime_unprivileged(lockable_bytes));
    }
    int wait_status = 0;
    assert_int_equal(waitpid(child, &wait_status, 0), child);
    assert_true(WIFEXITED(wait_status));
    if (WEXITSTATUS(wait_status) == 77) {
        print_message("cannot give up privileges\n");
        skip();
    }
    if (WEXITSTATUS(wait_status) == 78) {
        print_message("the hard limit of locked memory is under %llu bytes\n",
                      (unsigned long long)lockable_bytes);
        skip();
    }
    assert_int_equal(WEXITSTATUS(wait_status), 0);
}

static void realtime_without_privileges_reports_refusals(void **state)
{
    (void)state;
    check_unprivileged_in_child(64 * 1024);
}

/* A limit of locked memory that suffices for the memory mapped now, but not for another stack of
 * the default size. */
static void realtime_with_little_lockable_memory_reports_refusals(void **state)
{
    (void)state;
    check_unprivileged_in_child((rlim_t)read_status_line_kb("VmSize") * 1024 + (3 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* This test comes first, while no earlier thread has left its heap mapped. */
        cmocka_unit_test(realtime_with_little_lockable_memory_reports_refusals),
        cmocka_unit_test(realtime_without_privileges_reports_refusals),
        cmocka_unit_test(leaving_real_time_restores_the_thread_settings),
        cmocka_unit_test(two_real_time_threads_leave_one_after_the_other),
        cmocka_unit_test(only_requested_realtime_settings_are_made),
        cmocka_unit_test(bad_realtime_options_are_refused),
        cmocka_unit_test(refused_required_realtime_setting_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
