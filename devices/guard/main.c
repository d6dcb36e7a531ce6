/* tact-guard: the guard process. Started by tact_guard_start(), tact_guard_start_force_guard() or
 * tact_guard_start_haptic_guard(), with the shared page as descriptor 3 and the controller as
 * descriptor 4. On SIGUSR1, as before the system sleeps, and after it detects that the system has
 * slept, it zeroes the outputs. */
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "devices/guard/serve_internal.h"

/* SCHED_FIFO priority of the guard, above the loop's: a tick that never ends must not block the
 * guard */
enum { PRIORITY = 90 };
enum { FUSE_US = 200000 }; /* [us] longest time that the guard may run without sleeping */

static volatile sig_atomic_t end_requested;
static volatile sig_atomic_t zero_requested;

static void request_guard_end_on_signal(int number)
{
    (void)number;
    end_requested = 1;
}

static void request_zero_outputs_on_signal(int number)
{
    (void)number;
    zero_requested = 1;
}

/* Sets priority, memory locks and signals. Refusals are ignored: a guard without privileges still
 * works. */
static void set_up_guard_process(bool must_allow_loading_libraries)
{
    const struct sched_param priority = {.sched_priority = PRIORITY};
    const struct rlimit cpu_time_limit = {FUSE_US, RLIM_INFINITY};
    struct sigaction signal_action = {.sa_handler = request_guard_end_on_signal};
    const int signals_that_end_guard[] = {SIGTERM, SIGINT, SIGHUP, SIGXCPU};
    for (size_t i = 0; i < sizeof signals_that_end_guard / sizeof *signals_that_end_guard; i++) {
        sigaction(signals_that_end_guard[i], &signal_action, NULL);
    }
    signal_action.sa_handler = request_zero_outputs_on_signal;
    sigaction(SIGUSR1, &signal_action, NULL);
    FILE *file = fopen("/proc/self/oom_score_adj", "we");
    if (file) {
        fputs("-1000", file);
        fclose(file);
    }
    setrlimit(RLIMIT_RTTIME, &cpu_time_limit);
    tact_guard_lock_memory(must_allow_loading_libraries);
    sched_setscheduler(0, SCHED_FIFO, &priority);
}

static const size_t shared_page_sizes[] = {
    [TACT_GUARD_BOARD] = sizeof(struct tact_guard_page),
    [TACT_GUARD_FORCE] = sizeof(struct tact_guard_force_page),
    [TACT_GUARD_HAPTIC] = sizeof(struct tact_guard_haptic_page)};
enum { KINDS = sizeof shared_page_sizes / sizeof *shared_page_sizes };

int main(void)
{
    struct stat st;
    if (fstat(TACT_GUARD_PAGE_FD, &st) ||
        st.st_size < (off_t)sizeof(struct tact_guard_page_header)) {
        fputs("tact-guard zeroes the outputs of devices when tact stops; tact starts it, people do "
              "not\n",
              stderr);
        return 2;
    }
    void *page =
        mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, TACT_GUARD_PAGE_FD, 0);
    const struct tact_guard_page_header *head = page;
    if (page == MAP_FAILED || head->size != (uint64_t)st.st_size || head->kind < 0 ||
        head->kind >= KINDS || head->size != shared_page_sizes[head->kind]) {
        return 2;
    }
    int64_t suspended_ns_at_start = tact_guard_suspended_time_upper_bound();
    const struct tact_guard_requests requests = {&end_requested, &zero_requested,
                                                 &suspended_ns_at_start, TACT_GUARD_CONTROLLER_FD};
    /* close descriptors inherited from the controller */
    close(TACT_GUARD_PAGE_FD);
    syscall(SYS_close_range, TACT_GUARD_CONTROLLER_FD + 1, ~0U, 0);
    set_up_guard_process(head->kind == TACT_GUARD_HAPTIC);
    if (head->kind == TACT_GUARD_FORCE) {
        tact_guard_serve_force(page, &requests);
        return 0;
    }
    if (head->kind == TACT_GUARD_HAPTIC) {
        tact_guard_serve_haptic(page, &requests);
        return 0;
    }
    return tact_guard_serve_board(page, &requests) ? 1 : 0;
}
