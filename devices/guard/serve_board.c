/* The guard of a board's outputs. */
#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "devices/guard/comedi_output_internal.h"
#include "devices/guard/serve_internal.h"

/* time between two attempts to zero outputs that could not be written [ns] */
static const int64_t zeroing_retry_interval_ns = 1000000;
/* largest number of attempts to zero the outputs before the guard ends */
enum { ZERO_ATTEMPTS_AT_END = 100 };

struct board_guard_server {
    struct tact_guard_page *page;
    /* copies of the settings in the page, which the controller cannot overwrite later */
    struct tact_comedi_instruction op[TACT_GUARD_MAX_OUTPUTS];
    int count;
    int64_t timeout_ns;
    comedi_t *dev;
    struct tact_comedi_instruction_list list;
    struct tact_guard_rise_limit rise_limit_after_gap;
    struct tact_guard_driver_call_durations board_write_durations;
    uint32_t heartbeat_number; /* number of the last heartbeat */
    int64_t heartbeat_time_ns; /* time at which that heartbeat was sent */
    uint32_t trip_count;
    enum tact_guard_state state;
};

static void publish_board_state(struct board_guard_server *g, enum tact_guard_state state)
{
    g->state = state;
    atomic_store_explicit(&g->page->head.trip_count, g->trip_count, memory_order_relaxed);
    atomic_store_explicit(&g->page->head.state, (uint32_t)state, memory_order_release);
}

static int claim_board_outputs(struct board_guard_server *g)
{
    errno = 0;
    g->dev = comedi_open(g->page->board);
    if (!g->dev) {
        return errno ? -errno : -ENODEV;
    }
    int rc = -ENXIO;
    if (strcmp(comedi_get_driver_name(g->dev), g->page->driver) == 0 &&
        strcmp(comedi_get_board_name(g->dev), g->page->name) == 0) {
        tact_comedi_instruction_list_prepare(&g->list, g->op, g->count);
        rc = tact_comedi_claim_outputs(g->dev, &g->list);
    }
    if (rc) {
        comedi_close(g->dev);
        g->dev = NULL;
    }
    return rc;
}

/* Writes the safe values; closes a board that is gone. */
static int zero_board_outputs(struct board_guard_server *g)
{
    int rc = tact_comedi_instruction_list_write_zeros(g->dev, &g->list);
    if (rc == -ENODEV) {
        comedi_close(g->dev);
        g->dev = NULL;
    }
    return rc;
}

/* Zeroes the outputs until the guard is armed again. The board is lost while they cannot be
 * written, also where it is still there: writing them is repeated. */
static void trip_and_zero_outputs(struct board_guard_server *g)
{
    int rc = zero_board_outputs(g);
    memset(g->rise_limit_after_gap.sent, 0, sizeof g->rise_limit_after_gap.sent);
    g->trip_count++;
    publish_board_state(g, rc ? TACT_GUARD_LOST : TACT_GUARD_INHIBITED);
}

/* Copies the output words and the time of the newest heartbeat; repeats the copy if they change
 * meanwhile. */
static void copy_newest_heartbeat(struct board_guard_server *g)
{
    for (int attempt = 0; attempt < TACT_GUARD_HEARTBEAT_SLOTS; attempt++) {
        for (int i = 0; i < g->count; i++) {
            const _Atomic uint32_t *words =
                g->page->slot[g->heartbeat_number % TACT_GUARD_HEARTBEAT_SLOTS][i];
            /* memory_order_acquire: the heartbeat's number is read after the words */
            uint32_t first = atomic_load_explicit(&words[0], memory_order_acquire);
            uint32_t second = atomic_load_explicit(&words[1], memory_order_acquire);
            bool bits = g->op[i].insn == INSN_BITS;
            /* accepts only bits and values of the outputs that the guard has claimed */
            g->list.data[i][0] =
                bits ? g->op[i].safe[0] : (first < g->op[i].maxdata ? first : g->op[i].maxdata);
            g->list.data[i][1] = second;
        }
        g->heartbeat_time_ns =
            atomic_load_explicit(&g->page->stamp[g->heartbeat_number % TACT_GUARD_HEARTBEAT_SLOTS],
                                 memory_order_acquire);
        uint32_t last_published_heartbeat_number =
            atomic_load_explicit(&g->page->head.heartbeat_number, memory_order_acquire);
        if (last_published_heartbeat_number - g->heartbeat_number <
            TACT_GUARD_HEARTBEAT_SLOTS - 1) {
            return;
        }
        g->heartbeat_number = last_published_heartbeat_number;
    }
}

/* Whether output i is analog: its word states how far it is from zero, the words of a digital one
 * are bits. */
static bool is_analog_output(const struct board_guard_server *g, int i)
{
    return g->op[i].insn != INSN_BITS;
}

/* After a gap in what was written, limits how fast analog outputs move away from zero. */
static void limit_rise_of_analog_words(struct board_guard_server *g, int64_t now)
{
    double requested_value[TACT_GUARD_MAX_LIMITED_FORCE_PARTS *
                           TACT_GUARD_COMPONENTS_PER_FORCE_PART] = {0.0};
    for (int i = 0; i < g->count; i++) {
        requested_value[TACT_GUARD_COMPONENTS_PER_FORCE_PART * i] =
            is_analog_output(g, i) ? (double)g->list.data[i][0] - (double)g->op[i].safe[0] : 0.0;
    }
    tact_guard_limit_rise_and_count_gap(
        &g->rise_limit_after_gap, requested_value, g->heartbeat_number, now,
        tact_guard_find_shortest_limited_gap(&g->board_write_durations, g->timeout_ns),
        &g->page->head);
    for (int i = 0; i < g->count; i++) {
        if (is_analog_output(g, i)) {
            g->list.data[i][0] = (lsampl_t)lrint(
                (double)g->op[i].safe[0] +
                g->rise_limit_after_gap.sent[TACT_GUARD_COMPONENTS_PER_FORCE_PART * i]);
        }
    }
}

/* Writes the words of the newest heartbeat; zeroes the outputs if that is too old, as where this
 * process was delayed. */
static void write_newest_output_words(struct board_guard_server *g)
{
    copy_newest_heartbeat(g);
    const int64_t now = tact_guard_clock_ns();
    if (g->heartbeat_time_ns <= 0 || g->heartbeat_time_ns > now) {
        g->heartbeat_time_ns = now;
    }
    if (now - g->heartbeat_time_ns >= g->timeout_ns) {
        trip_and_zero_outputs(g);
        return;
    }
    limit_rise_of_analog_words(g, now);
    if (tact_comedi_instruction_list_run(g->dev, &g->list)) {
        trip_and_zero_outputs(g);
        return;
    }
    tact_guard_add_driver_call_duration(&g->board_write_durations, tact_guard_clock_ns() - now);
}

static void handle_board_heartbeat(struct board_guard_server *g)
{
    static const double
        rest[TACT_GUARD_MAX_LIMITED_FORCE_PARTS * TACT_GUARD_COMPONENTS_PER_FORCE_PART];
    g->heartbeat_number =
        atomic_load_explicit(&g->page->head.heartbeat_number, memory_order_acquire);
    if (g->state == TACT_GUARD_INHIBITED &&
        atomic_load_explicit(&g->page->head.trip_number_when_armed, memory_order_relaxed) ==
            g->trip_count) {
        publish_board_state(g, TACT_GUARD_PASSING);
    }
    if (g->state == TACT_GUARD_PASSING) {
        write_newest_output_words(g);
    } else {
        tact_guard_limit_rise_and_count_gap(&g->rise_limit_after_gap, rest, g->heartbeat_number,
                                            tact_guard_clock_ns(), g->timeout_ns, &g->page->head);
    }
    atomic_store_explicit(&g->page->head.acknowledged_heartbeat_number, g->heartbeat_number,
                          memory_order_release);
}

/* Claims the outputs of a lost board, or repeats zeroing them; where this succeeds they are zero.
 */
static void reopen_lost_board(struct board_guard_server *g)
{
    if ((g->dev ? zero_board_outputs(g) : claim_board_outputs(g)) == 0) {
        g->trip_count++;
        publish_board_state(g, TACT_GUARD_INHIBITED);
    }
}

/* Zeroes the outputs after the timeout. */
static void handle_heartbeat_timeout(struct board_guard_server *g)
{
    if (g->state == TACT_GUARD_PASSING &&
        tact_guard_clock_ns() - g->heartbeat_time_ns >= g->timeout_ns) {
        trip_and_zero_outputs(g);
    }
}

static void wait_for_controller_heartbeat(const struct board_guard_server *g)
{
    int64_t left = TACT_GUARD_POLL_INTERVAL_NS;
    if (g->state == TACT_GUARD_PASSING) {
        left = g->heartbeat_time_ns + g->timeout_ns - tact_guard_clock_ns();
        left = left > 0 ? left : 0;
    } else if (g->state == TACT_GUARD_LOST && g->dev) {
        left = zeroing_retry_interval_ns;
    }
    const struct timespec time_until_heartbeat_timeout = {left / 1000000000, left % 1000000000};
    syscall(SYS_futex, &g->page->head.heartbeat_number, FUTEX_WAIT, g->heartbeat_number,
            &time_until_heartbeat_timeout, NULL, 0);
}

static void guard_board_outputs(struct board_guard_server *g,
                                const struct tact_guard_requests *guard_requests)
{
    int64_t last_board_retry_ns = tact_guard_clock_ns();
    for (;;) {
        wait_for_controller_heartbeat(g);
        if (tact_guard_is_zeroing_requested(guard_requests) && g->state == TACT_GUARD_PASSING) {
            trip_and_zero_outputs(g);
        } else if (atomic_load_explicit(&g->page->head.heartbeat_number, memory_order_relaxed) !=
                   g->heartbeat_number) {
            handle_board_heartbeat(g);
        } else {
            handle_heartbeat_timeout(g);
        }
        if (g->state == TACT_GUARD_LOST &&
            tact_guard_clock_ns() - last_board_retry_ns >=
                (g->dev ? zeroing_retry_interval_ns : TACT_GUARD_POLL_INTERVAL_NS)) {
            reopen_lost_board(g);
            last_board_retry_ns = tact_guard_clock_ns();
        }
        if (tact_guard_must_guard_end(&g->page->head, guard_requests)) {
            break;
        }
    }
}

int tact_guard_serve_board(struct tact_guard_page *page,
                           const struct tact_guard_requests *guard_requests)
{
    /* static, as its list of instructions has pointers into itself and must not be moved */
    static struct board_guard_server g;
    if (page->output_count < 1 || page->output_count > TACT_GUARD_MAX_OUTPUTS) {
        return -EINVAL;
    }
    memset(&g, 0, sizeof g);
    g.page = page;
    g.count = page->output_count;
    g.timeout_ns = page->head.timeout_ns;
    for (int i = 0; i < g.count; i++) {
        const struct tact_guard_output *o = &page->output[i];
        g.op[i] =
            (struct tact_comedi_instruction){o->instruction, o->words,   o->subdevice,
                                             o->chanspec,    o->maxdata, {o->safe[0], o->safe[1]}};
    }
    g.trip_count = 1;
    g.rise_limit_after_gap.parts = g.count;
    g.rise_limit_after_gap.last_value_time_ns = tact_guard_clock_ns();
    int rc = claim_board_outputs(&g);
    publish_board_state(&g, TACT_GUARD_INHIBITED);
    atomic_store_explicit(&page->head.error, rc, memory_order_relaxed);
    atomic_store_explicit(&page->head.is_guard_ready, 1, memory_order_release);
    if (rc) {
        return rc;
    }
    guard_board_outputs(&g, guard_requests);
    for (int i = 0; g.dev && i < ZERO_ATTEMPTS_AT_END &&
                    tact_comedi_instruction_list_write_zeros(g.dev, &g.list);
         i++) {
        const struct timespec zeroing_retry_interval = {0, zeroing_retry_interval_ns};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &zeroing_retry_interval, NULL);
    }
    if (g.dev) {
        comedi_close(g.dev);
    }
    return 0;
}
