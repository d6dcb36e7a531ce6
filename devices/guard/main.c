/* tact-guard: the guard process. Started by tact_guard_start() or tact_guard_start_force(), with
 * the shared page as descriptor 3 and the controller as descriptor 4. On SIGUSR1, as
 * before the system sleeps, and where it finds that the system has slept, it releases the
 * outputs. */
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "devices/guard/serve_internal.h"

enum { PRIORITY = 90 };    /* above the loop: a tick that spins must not keep it away */
enum { FUSE_US = 200000 }; /* [us] longest run without sleeping */

static volatile sig_atomic_t told_to_end;
static volatile sig_atomic_t told_to_let_go;

static void end(int number)
{
    (void)number;
    told_to_end = 1;
}

static void let_go(int number)
{
    (void)number;
    told_to_let_go = 1;
}

/* What each step of this lacks is borne: a guard without privileges still guards. */
static void set_up(void)
{
    const struct sched_param priority = {.sched_priority = PRIORITY};
    const struct rlimit fuse = {FUSE_US, RLIM_INFINITY};
    struct sigaction action = {.sa_handler = end};
    const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGXCPU};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &action, NULL);
    }
    action.sa_handler = let_go;
    sigaction(SIGUSR1, &action, NULL);
    FILE *file = fopen("/proc/self/oom_score_adj", "we");
    if (file) {
        fputs("-1000", file);
        fclose(file);
    }
    setrlimit(RLIMIT_RTTIME, &fuse);
    mlockall(MCL_CURRENT | MCL_FUTURE);
    sched_setscheduler(0, SCHED_FIFO, &priority);
}

int main(void)
{
    struct stat st;
    if (fstat(TACT_GUARD_FD, &st) || (st.st_size != sizeof(struct tact_guard_page) &&
                                      st.st_size != sizeof(struct tact_force_page))) {
        fputs("tact-guard is started by tact, for devices whose outputs it guards\n", stderr);
        return 2;
    }
    void *page =
        mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, TACT_GUARD_FD, 0);
    const struct tact_guard_head *head = page;
    if (page == MAP_FAILED || head->size != (uint64_t)st.st_size ||
        head->size != (head->kind == TACT_GUARD_FORCE ? sizeof(struct tact_force_page)
                                                      : sizeof(struct tact_guard_page))) {
        return 2;
    }
    int64_t slept = tact_guard_slept_most();
    const struct tact_guard_orders orders = {&told_to_end, &told_to_let_go, &slept,
                                             TACT_GUARD_CONTROLLER_FD};
    /* What the controller had open is none of the guard's business. */
    close(TACT_GUARD_FD);
    syscall(SYS_close_range, TACT_GUARD_CONTROLLER_FD + 1, ~0U, 0);
    set_up();
    if (head->kind == TACT_GUARD_FORCE) {
        tact_guard_serve_force(page, &orders);
        return 0;
    }
    return tact_guard_serve_board(page, &orders) ? 1 : 0;
}
