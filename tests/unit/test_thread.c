/* Threads of the library inherit neither a real-time priority nor the signal mask of the thread
 * that starts them. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "rt/thread_internal.h"

/* The settings that a thread reads about itself. */
struct thread_settings {
    int scheduling_policy, cpus, first_cpu, deaf;
    size_t stack;
};

static void *read_own_thread_settings(void *data)
{
    struct thread_settings *thread_settings = data;
    pthread_attr_t attributes;
    cpu_set_t cpus;
    sigset_t blocked;
    thread_settings->scheduling_policy = sched_getscheduler(0);
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &thread_settings->stack);
    pthread_attr_destroy(&attributes);
    pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus);
    thread_settings->cpus = CPU_COUNT(&cpus);
    thread_settings->first_cpu = 0;
    while (!CPU_ISSET((size_t)thread_settings->first_cpu, &cpus))
        thread_settings->first_cpu++;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    thread_settings->deaf = sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGTERM) &&
                            sigismember(&blocked, SIGXCPU);
    return NULL;
}

static void start_thread(const struct tact_thread_options *options,
                         struct thread_settings *thread_settings)
{
    pthread_t thread;
    memset(thread_settings, 0, sizeof *thread_settings);
    assert_int_equal(tact_thread_start(&thread, options, read_own_thread_settings, thread_settings),
                     0);
    pthread_join(thread, NULL);
}

/* A thread inherits neither the real-time priority of the creating thread nor its signal mask. */
static void threads_do_not_inherit_realtime_settings(void **state)
{
    (void)state;
    const struct sched_param fifo_priority = {.sched_priority = 1}, normal = {0};
    const struct tact_thread_options options = {.name = "tact-test"};
    sigset_t before, after;
    struct thread_settings thread_settings;
    const int own = sched_getscheduler(0);
    int is_real_time = !pthread_setschedparam(pthread_self(), SCHED_FIFO, &fifo_priority);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    start_thread(&options, &thread_settings);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &normal);
    print_message("started by a thread %s: policy %d\n", is_real_time ? "in real time" : "of none",
                  thread_settings.scheduling_policy);
    assert_int_equal(thread_settings.scheduling_policy, is_real_time ? SCHED_OTHER : own);
    assert_true(thread_settings.deaf);
    assert_int_equal(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
    assert_true(thread_settings.stack <= 2 * TACT_THREAD_STACK_BYTES);
}

/* Starts a thread from one at the idle priority, which nobody but root may leave. */
static void *start_at_idle_priority(void *data)
{
    struct thread_settings *thread_settings = data;
    const struct sched_param scheduling_parameters = {0};
    const struct tact_thread_options options = {.name = "tact-test"};
    pthread_t thread;
    if (!sched_setscheduler(0, SCHED_IDLE, &scheduling_parameters) &&
        !tact_thread_start(&thread, &options, read_own_thread_settings, thread_settings)) {
        pthread_join(thread, NULL);
    }
    return NULL;
}

static void idle_priority_is_inherited_by_threads(void **state)
{
    (void)state;
    struct thread_settings thread_settings = {.scheduling_policy = -1};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, start_at_idle_priority, &thread_settings), 0);
    pthread_join(thread, NULL);
    assert_int_equal(thread_settings.scheduling_policy, SCHED_IDLE);
}

static void thread_options_are_applied(void **state)
{
    (void)state;
    struct thread_settings any, thread_settings;
    start_thread(&(const struct tact_thread_options){.name = NULL}, &any);
    const struct tact_thread_options options = {
        .stack_size = 1 << 20, .is_pinned_to_cpu = 1, .cpu = any.first_cpu};
    start_thread(&options, &thread_settings);
    assert_int_equal(thread_settings.cpus, 1);
    assert_int_equal(thread_settings.first_cpu, any.first_cpu);
    assert_true(thread_settings.stack >= 1 << 20);
}

static void invalid_thread_options_are_refused(void **state)
{
    (void)state;
    pthread_t thread;
    struct thread_settings thread_settings;
    const struct tact_thread_options too_small_stack_options = {.stack_size = 1},
                                     wild = {.priority = 1000};
    assert_int_equal(tact_thread_start(&thread, &too_small_stack_options, read_own_thread_settings,
                                       &thread_settings),
                     -EINVAL);
    assert_int_equal(tact_thread_start(&thread, &wild, read_own_thread_settings, &thread_settings),
                     -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_inherit_realtime_settings),
        cmocka_unit_test(idle_priority_is_inherited_by_threads),
        cmocka_unit_test(thread_options_are_applied),
        cmocka_unit_test(invalid_thread_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
