/* The status line of a running session: rewritten in place, ten times a second. */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "command.h"
#include "rt/clock.h"

#define CLEAR_LINE_SEQUENCE "\r\033[K" /* moves to the first column and clears the line */

static int is_status_line_displayed; /* 1: the status line is displayed */

static size_t get_terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2 ? 80 : size.ws_col;
}

/* Ticks per second since the previous status line; 0 for the first one. */
static double compute_tick_rate(struct live_status *live_status, uint64_t tick)
{
    int64_t now = tact_clock_now(), before = live_status->previous_status_line_time_ns;
    uint64_t ticks = tick - live_status->tick;
    live_status->previous_status_line_time_ns = now;
    live_status->tick = tick;
    return before && now > before ? (double)ticks * 1e9 / (double)(now - before) : 0.0;
}

void live_clear_status_line(void)
{
    if (__atomic_exchange_n(&is_status_line_displayed, 0, __ATOMIC_RELAXED)) {
        fputs(CLEAR_LINE_SEQUENCE, stderr);
    }
}

void live_print_status_line(void *user, const struct tact_session_status *s)
{
    struct live_status *live_status = user;
    char line[256], clock[96], lost[48] = "", moments[64] = "host";
    double rate = compute_tick_rate(live_status, s->tick);
    if (live_status->is_real_time) {
        snprintf(clock, sizeof clock, "%4.0f Hz, %llu missed | wake %.0f, compute %.0f us", rate,
                 (unsigned long long)s->missed, (double)s->wake_ns * 1e-3,
                 (double)s->compute_ns * 1e-3);
    } else {
        snprintf(clock, sizeof clock, "%5.1f x real time | compute %.0f us",
                 rate * live_status->period, (double)s->compute_ns * 1e-3);
    }
    if (s->devices_lost) {
        snprintf(lost, sizeof lost, ", %d device%s lost", s->devices_lost,
                 s->devices_lost > 1 ? "s" : "");
    }
    if (s->age || s->fallbacks) {
        snprintf(moments, sizeof moments, "age %u, %llu fallbacks", s->age,
                 (unsigned long long)s->fallbacks);
    }
    snprintf(line, sizeof line, "%6.1f s %s%s | %s | %d contacts %.2f N | moments %s", s->time,
             tact_safety_state_name(s->safety), lost, clock, s->contacts, s->normal_force, moments);
    /* the line is cut to the terminal's width, as one that wraps could not be rewritten */
    fprintf(stderr, CLEAR_LINE_SEQUENCE "%.*s", (int)get_terminal_columns() - 1, line);
    __atomic_store_n(&is_status_line_displayed, 1, __ATOMIC_RELAXED);
}
