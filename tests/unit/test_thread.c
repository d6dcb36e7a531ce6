/* What a thread of the library inherits from who starts it: nothing. */
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

/* What a thread finds of itself. */
struct seen {
    int policy, cpus, first_cpu, deaf;
    size_t stack;
};

static void *look(void *data)
{
    struct seen *seen = data;
    struct sched_param param;
    pthread_attr_t attributes;
    cpu_set_t cpus;
    sigset_t blocked;
    pthread_getschedparam(pthread_self(), &seen->policy, &param);
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &seen->stack);
    pthread_attr_destroy(&attributes);
    pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus);
    seen->cpus = CPU_COUNT(&cpus);
    seen->first_cpu = 0;
    while (!CPU_ISSET((size_t)seen->first_cpu, &cpus))
        seen->first_cpu++;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    seen->deaf = sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGTERM) &&
                 sigismember(&blocked, SIGXCPU);
    return NULL;
}

static void start(const struct tact_thread_options *options, struct seen *seen)
{
    pthread_t thread;
    memset(seen, 0, sizeof *seen);
    assert_int_equal(tact_thread_start(&thread, options, look, seen), 0);
    pthread_join(thread, NULL);
}

/* Neither the priority of a creator in real time nor its signals. */
static void inherits_nothing(void **state)
{
    (void)state;
    const struct sched_param fifo = {.sched_priority = 1}, normal = {0};
    const struct tact_thread_options options = {.name = "tact-test"};
    sigset_t before, after;
    struct seen seen;
    int real_time = !pthread_setschedparam(pthread_self(), SCHED_FIFO, &fifo);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    start(&options, &seen);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &normal);
    print_message("started by a thread %s: policy %d\n", real_time ? "in real time" : "of none",
                  seen.policy);
    assert_int_equal(seen.policy, SCHED_OTHER);
    assert_true(seen.deaf);
    assert_int_equal(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
    assert_true(seen.stack <= 2 * TACT_THREAD_STACK);
}

static void takes_options(void **state)
{
    (void)state;
    struct seen any, seen;
    start(&(const struct tact_thread_options){.name = NULL}, &any);
    const struct tact_thread_options options = {
        .stack_size = 1 << 20, .cpu_pinned = 1, .cpu = any.first_cpu};
    start(&options, &seen);
    assert_int_equal(seen.cpus, 1);
    assert_int_equal(seen.first_cpu, any.first_cpu);
    assert_true(seen.stack >= 1 << 20);
}

static void refuses(void **state)
{
    (void)state;
    pthread_t thread;
    struct seen seen;
    const struct tact_thread_options small = {.stack_size = 1}, wild = {.priority = 1000};
    assert_int_equal(tact_thread_start(&thread, &small, look, &seen), -EINVAL);
    assert_int_equal(tact_thread_start(&thread, &wild, look, &seen), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inherits_nothing),
        cmocka_unit_test(takes_options),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
