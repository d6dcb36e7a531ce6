/* tact-guard: the guard process. Started by tact_guard_start(), with the shared page as
 * descriptor 3. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "devices/comedi_output_internal.h"
#include "devices/guard/page_internal.h"

enum { PRIORITY = 90 };      /* above the loop: a tick that spins must not keep it away */
enum { FUSE_US = 200000 };   /* [us] longest run without sleeping */
enum { LOOK_NS = 50000000 }; /* [ns] how often a controller that sends nothing is looked at */

struct guard {
    struct tact_guard_page *page;
    /* The controller can overwrite the page; these it cannot. */
    struct tact_comedi_op op[TACT_GUARD_OUTPUTS];
    int count;
    int64_t timeout_ns;
    pid_t controller;
    comedi_t *dev;
    struct tact_comedi_list list;
    uint32_t beat;   /* the last one seen */
    int64_t beat_ns; /* when */
    uint32_t trips;
    enum tact_guard_state state;
};

static volatile sig_atomic_t told_to_end;

static void end(int number)
{
    (void)number;
    told_to_end = 1;
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void show(struct guard *g, enum tact_guard_state state)
{
    g->state = state;
    atomic_store_explicit(&g->page->trips, g->trips, memory_order_relaxed);
    atomic_store_explicit(&g->page->state, (uint32_t)state, memory_order_release);
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
    FILE *file = fopen("/proc/self/oom_score_adj", "we");
    if (file) {
        fputs("-1000", file);
        fclose(file);
    }
    setrlimit(RLIMIT_RTTIME, &fuse);
    mlockall(MCL_CURRENT | MCL_FUTURE);
    sched_setscheduler(0, SCHED_FIFO, &priority);
}

static int take(struct guard *g)
{
    errno = 0;
    g->dev = comedi_open(g->page->board);
    if (!g->dev) {
        return errno ? -errno : -ENODEV;
    }
    int rc = -ENXIO;
    if (strcmp(comedi_get_driver_name(g->dev), g->page->driver) == 0 &&
        strcmp(comedi_get_board_name(g->dev), g->page->name) == 0) {
        tact_comedi_list_init(&g->list, g->op, g->count);
        rc = tact_comedi_take(g->dev, &g->list);
    }
    if (rc) {
        comedi_close(g->dev);
        g->dev = NULL;
    }
    return rc;
}

/* Lets go, and asks to be armed again. */
static void trip(struct guard *g)
{
    int rc = tact_comedi_list_safe(g->dev, &g->list);
    g->trips++;
    if (rc == -ENODEV) {
        comedi_close(g->dev);
        g->dev = NULL;
    }
    show(g, rc == -ENODEV ? TACT_GUARD_LOST : TACT_GUARD_HELD);
}

/* Copies the words of the newest beat; those that change meanwhile are copied again. */
static void copy(struct guard *g)
{
    for (int tries = 0; tries < TACT_GUARD_SLOTS; tries++) {
        for (int i = 0; i < g->count; i++) {
            const _Atomic uint32_t *words = g->page->slot[g->beat % TACT_GUARD_SLOTS][i];
            /* acquire: the beat is looked at after the words */
            uint32_t first = atomic_load_explicit(&words[0], memory_order_acquire);
            uint32_t second = atomic_load_explicit(&words[1], memory_order_acquire);
            bool bits = g->op[i].insn == INSN_BITS;
            /* Never a bit or a value that is not the guard's to write. */
            g->list.data[i][0] =
                bits ? g->op[i].safe[0] : (first < g->op[i].maxdata ? first : g->op[i].maxdata);
            g->list.data[i][1] = second;
        }
        uint32_t newest = atomic_load_explicit(&g->page->beat, memory_order_acquire);
        if (newest - g->beat < TACT_GUARD_SLOTS - 1) {
            return;
        }
        g->beat = newest;
    }
}

static void take_beat(struct guard *g)
{
    g->beat = atomic_load_explicit(&g->page->beat, memory_order_acquire);
    g->beat_ns = now();
    if (g->state == TACT_GUARD_HELD &&
        atomic_load_explicit(&g->page->armed, memory_order_relaxed) == g->trips) {
        show(g, TACT_GUARD_PASSING);
    }
    if (g->state == TACT_GUARD_PASSING) {
        copy(g);
        if (tact_comedi_list_run(g->dev, &g->list)) {
            trip(g);
        }
    }
    atomic_store_explicit(&g->page->answered, g->beat, memory_order_release);
}

/* The clock has run out, or nothing was sent for long. */
static void take_silence(struct guard *g)
{
    if (g->state == TACT_GUARD_PASSING && now() - g->beat_ns >= g->timeout_ns) {
        trip(g);
    } else if (g->state == TACT_GUARD_LOST && take(g) == 0) {
        g->trips++;
        show(g, TACT_GUARD_HELD);
    }
}

static void wait_beat(const struct guard *g)
{
    int64_t left = LOOK_NS;
    if (g->state == TACT_GUARD_PASSING) {
        left = g->beat_ns + g->timeout_ns - now();
        left = left > 0 ? left : 0;
    }
    const struct timespec timeout = {left / 1000000000, left % 1000000000};
    syscall(SYS_futex, &g->page->beat, FUTEX_WAIT, g->beat, &timeout, NULL, 0);
}

static void watch(struct guard *g)
{
    int64_t looked = now();
    while (!told_to_end && !atomic_load_explicit(&g->page->quit, memory_order_acquire)) {
        wait_beat(g);
        if (atomic_load_explicit(&g->page->beat, memory_order_relaxed) != g->beat) {
            take_beat(g);
        } else {
            take_silence(g);
        }
        if (now() - looked >= LOOK_NS) {
            looked = now();
            if (g->state == TACT_GUARD_LOST) {
                take_silence(g);
            }
            if (g->state != TACT_GUARD_PASSING && getppid() != g->controller) {
                break;
            }
        }
    }
}

int main(void)
{
    static struct guard g;
    struct stat page;
    if (fstat(TACT_GUARD_FD, &page) || page.st_size != sizeof *g.page) {
        fputs("tact-guard is started by tact, for boards whose outputs it guards\n", stderr);
        return 2;
    }
    g.page = mmap(NULL, sizeof *g.page, PROT_READ | PROT_WRITE, MAP_SHARED, TACT_GUARD_FD, 0);
    if (g.page == MAP_FAILED || g.page->size != sizeof *g.page ||
        g.page->output_count > TACT_GUARD_OUTPUTS) {
        return 2;
    }
    /* What the controller had open is none of the guard's business. */
    syscall(SYS_close_range, TACT_GUARD_FD, ~0U, 0);
    set_up();
    g.count = g.page->output_count;
    g.timeout_ns = g.page->timeout_ns;
    g.controller = g.page->controller;
    for (int i = 0; i < g.count; i++) {
        const struct tact_guard_output *o = &g.page->output[i];
        g.op[i] = (struct tact_comedi_op){o->instruction, o->words,   o->subdevice,
                                          o->chanspec,    o->maxdata, {o->safe[0], o->safe[1]}};
    }
    g.trips = 1;
    int rc = take(&g);
    show(&g, TACT_GUARD_HELD);
    atomic_store_explicit(&g.page->error, rc, memory_order_relaxed);
    atomic_store_explicit(&g.page->ready, 1, memory_order_release);
    if (rc) {
        return 1;
    }
    watch(&g);
    if (g.dev) {
        tact_comedi_list_safe(g.dev, &g.list);
        comedi_close(g.dev);
    }
    return 0;
}
