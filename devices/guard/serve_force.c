/* Plays forces on an input device, in the guard process or in a thread of the controller. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "devices/guard/serve_internal.h"

/* [ns] after an upload that took longer, heartbeats are checked before the next one */
enum { SLOW_UPLOAD_NS = 500000 };
enum { RETRY_NS = 200000000 }; /* [ns] between attempts to open a node */

struct force_guard_server {
    struct tact_guard_force_page *page;
    struct tact_force_feedback_node force;
    int64_t timeout_ns;
    int64_t period_ns;
    uint32_t node_path_change_count; /* last value of node_path_change_count that was read from the
                                        page */
    int64_t next_node_open_retry_ns;
    struct tact_guard_heartbeat_state heartbeat;
    double newest_sent_levels[TACT_FORCE_CHANNELS]; /* levels that the controller sent last */
    double levels_to_play[TACT_FORCE_CHANNELS]; /* `newest_sent_levels`, whose rise is limited after
                                                   a gap */
    struct tact_guard_rise_limit rise_limit_after_gap;
    struct tact_guard_driver_call_durations force_upload_durations;
    int64_t stamp_ns;
};

/* Levels as vectors that a person feels: the force, the spring, and each other channel. */
enum {
    FORCE_VECTOR_PART,
    SPRING_FORCE_PART, /* the spring's stiffness, and stiffness times centre: the spring's force is
                    linear in both */
    FIRST_SCALAR_LEVEL_PART,
    PARTS = FIRST_SCALAR_LEVEL_PART + TACT_FORCE_CHANNELS - TACT_FORCE_DAMPER
};

static double clamp_to_unit_level(double level)
{
    return isfinite(level) ? fmax(-1.0, fmin(1.0, level)) : 0.0;
}

static void copy_levels_to_limited_parts(const double *level, double *parts)
{
    double *force_vector_levels = parts + TACT_GUARD_COMPONENTS_PER_FORCE_PART * FORCE_VECTOR_PART;
    double *spring_force_levels = parts + TACT_GUARD_COMPONENTS_PER_FORCE_PART * SPRING_FORCE_PART;
    force_vector_levels[0] = clamp_to_unit_level(level[TACT_FORCE_ALONG_X]);
    force_vector_levels[1] = clamp_to_unit_level(level[TACT_FORCE_ALONG_Y]);
    spring_force_levels[0] = clamp_to_unit_level(level[TACT_FORCE_SPRING]);
    spring_force_levels[1] =
        spring_force_levels[0] * clamp_to_unit_level(level[TACT_FORCE_SPRING_CENTER]);
    for (int i = TACT_FORCE_DAMPER; i < TACT_FORCE_CHANNELS; i++) {
        parts[TACT_GUARD_COMPONENTS_PER_FORCE_PART *
              (FIRST_SCALAR_LEVEL_PART + i - TACT_FORCE_DAMPER)] = clamp_to_unit_level(level[i]);
    }
}

static void copy_limited_parts_to_levels(const double *parts, double *level)
{
    const double *force_vector_levels =
        parts + TACT_GUARD_COMPONENTS_PER_FORCE_PART * FORCE_VECTOR_PART;
    const double *spring_force_levels =
        parts + TACT_GUARD_COMPONENTS_PER_FORCE_PART * SPRING_FORCE_PART;
    level[TACT_FORCE_ALONG_X] = force_vector_levels[0];
    level[TACT_FORCE_ALONG_Y] = force_vector_levels[1];
    level[TACT_FORCE_SPRING] = spring_force_levels[0];
    level[TACT_FORCE_SPRING_CENTER] =
        spring_force_levels[0] != 0.0 ? spring_force_levels[1] / spring_force_levels[0] : 0.0;
    for (int i = TACT_FORCE_DAMPER; i < TACT_FORCE_CHANNELS; i++) {
        level[i] = parts[TACT_GUARD_COMPONENTS_PER_FORCE_PART *
                         (FIRST_SCALAR_LEVEL_PART + i - TACT_FORCE_DAMPER)];
    }
}

/* Chooses the levels to play now. After a gap since the last choice they rise without a step. */
static void limit_rise_of_levels_to_play(struct force_guard_server *s)
{
    double requested_value[TACT_GUARD_COMPONENTS_PER_FORCE_PART * PARTS] = {0.0};
    if (s->heartbeat.state == TACT_GUARD_PASSING && s->force.fd >= 0) {
        copy_levels_to_limited_parts(s->newest_sent_levels, requested_value);
    }
    tact_guard_limit_rise_and_count_gap(
        &s->rise_limit_after_gap, requested_value, s->heartbeat.heartbeat_number,
        tact_guard_clock_ns(),
        tact_guard_find_shortest_limited_gap(&s->force_upload_durations, s->timeout_ns),
        &s->page->head);
    copy_limited_parts_to_levels(s->rise_limit_after_gap.sent, s->levels_to_play);
}

/* Publishes whether the server is in a driver call, which may be long, and during which it cannot
 * respond. */
static void set_is_in_driver_call(struct force_guard_server *s, uint32_t is_in_driver_call)
{
    atomic_store_explicit(&s->page->head.is_in_driver_call, is_in_driver_call,
                          memory_order_release);
}

/* Closes a node that is gone or fails; it is opened again after RETRY_NS. */
static void close_failed_event_node(struct force_guard_server *s, int rc, int64_t now)
{
    if (rc && rc != -ENODEV) {
        atomic_store_explicit(&s->page->failed, rc, memory_order_relaxed);
    }
    set_is_in_driver_call(s, 1);
    tact_force_close(&s->force);
    set_is_in_driver_call(s, 0);
    s->next_node_open_retry_ns = now + RETRY_NS;
}

/* Zeroes the forces until the guard is armed again. */
static void zero_force_outputs(struct force_guard_server *s)
{
    set_is_in_driver_call(s, 1);
    int rc = s->force.fd >= 0 ? tact_force_mute(&s->force) : 0;
    set_is_in_driver_call(s, 0);
    tact_guard_trip(&s->heartbeat);
    if (rc) {
        close_failed_event_node(s, rc, s->heartbeat.heartbeat_age_start_ns);
    }
}

/* Opens the device's node at the path that the controller has set. */
static void open_node_named_by_controller(struct force_guard_server *s, int64_t now)
{
    uint32_t node_path_change_count =
        atomic_load_explicit(&s->page->node_path_change_count, memory_order_acquire);
    bool has_device_path_changed = node_path_change_count != s->node_path_change_count;
    if (has_device_path_changed) {
        s->node_path_change_count = node_path_change_count;
        close_failed_event_node(s, 0, now);
    }
    char path[sizeof s->page->path[0]];
    memcpy(path, s->page->path[node_path_change_count % 2], sizeof path);
    path[sizeof path - 1] = '\0';
    if (s->force.fd < 0 && path[0] &&
        (has_device_path_changed || now >= s->next_node_open_retry_ns)) {
        set_is_in_driver_call(s, 1);
        int rc = tact_force_open(&s->force, path, &s->page->plan);
        set_is_in_driver_call(s, 0);
        if (rc) {
            close_failed_event_node(s, rc, now);
        }
    }
}

/* Copies the force levels that were sent last; repeats the copy if they change meanwhile. */
static void copy_newest_force_levels(struct force_guard_server *s)
{
    for (int attempt = 0; attempt < TACT_GUARD_HEARTBEAT_SLOTS; attempt++) {
        uint32_t slot = s->heartbeat.heartbeat_number % TACT_GUARD_HEARTBEAT_SLOTS;
        for (int i = 0; i < TACT_FORCE_CHANNELS; i++) {
            s->newest_sent_levels[i] =
                atomic_load_explicit(&s->page->level[slot][i], memory_order_acquire);
        }
        s->stamp_ns = atomic_load_explicit(&s->page->stamp[slot], memory_order_acquire);
        uint32_t last_published_heartbeat_number =
            atomic_load_explicit(&s->page->head.heartbeat_number, memory_order_acquire);
        if (last_published_heartbeat_number - s->heartbeat.heartbeat_number <
            TACT_GUARD_HEARTBEAT_SLOTS - 1) {
            return;
        }
        s->heartbeat.heartbeat_number = last_published_heartbeat_number;
    }
}

static void process_heartbeat_or_timeout(struct force_guard_server *s, int64_t now)
{
    if (tact_guard_handle_new_heartbeat(&s->heartbeat)) {
        copy_newest_force_levels(s);
        tact_guard_acknowledge_heartbeat(&s->heartbeat, s->stamp_ns, now);
    }
    /* the newest heartbeat may be old too, if this process was delayed */
    if (tact_guard_is_heartbeat_overdue(&s->heartbeat, now)) {
        zero_force_outputs(s);
    }
}

/* Plays the newest force levels. Returns whether more uploads are due at once. */
static bool play_force_levels(struct force_guard_server *s, int64_t now)
{
    if (s->heartbeat.state != TACT_GUARD_PASSING || s->force.fd < 0) {
        return false;
    }
    set_is_in_driver_call(s, 1);
    int rc = tact_force_unmute(&s->force);
    rc = rc ? rc : tact_force_play(&s->force, s->levels_to_play, s->stamp_ns, now, s->period_ns);
    int64_t force_playing_duration_ns = tact_guard_clock_ns() - now;
    set_is_in_driver_call(s, 0);
    if (rc > 0) {
        tact_guard_add_driver_call_duration(&s->force_upload_durations, force_playing_duration_ns);
    }
    if (force_playing_duration_ns >
        atomic_load_explicit(&s->page->slowest_upload_ns, memory_order_relaxed)) {
        atomic_store_explicit(&s->page->slowest_upload_ns, force_playing_duration_ns,
                              memory_order_relaxed);
    }
    if (rc < 0 && rc != -EINTR && rc != -EAGAIN) {
        close_failed_event_node(s, rc, now);
        return false;
    }
    atomic_store_explicit(&s->page->played_levels_stamp_ns,
                          tact_force_oldest_played_stamp(&s->force), memory_order_release);
    atomic_store_explicit(&s->page->effect_upload_count, s->force.effect_upload_count,
                          memory_order_relaxed);
    return rc > 0;
}

/* Interval at which the shared page is polled [ns]: a fraction of the timeout. */
static int64_t get_page_poll_interval(const struct force_guard_server *s)
{
    int64_t step = s->timeout_ns / 4 < s->period_ns ? s->timeout_ns / 4 : s->period_ns;
    return step < 200000 ? 200000 : step;
}

/* Next polling time, at the latest when the heartbeat is overdue. */
static int64_t get_next_wake_time(const struct force_guard_server *s, int64_t next)
{
    int64_t heartbeat_deadline_ns = s->heartbeat.heartbeat_age_start_ns + s->timeout_ns;
    return s->heartbeat.state == TACT_GUARD_PASSING && heartbeat_deadline_ns < next
               ? heartbeat_deadline_ns
               : next;
}

void tact_guard_serve_force(struct tact_guard_force_page *page,
                            const struct tact_guard_requests *guard_requests)
{
    struct force_guard_server s = {.page = page,
                                   .timeout_ns = page->head.timeout_ns,
                                   .period_ns = page->period_ns,
                                   .node_path_change_count = UINT32_MAX,
                                   .rise_limit_after_gap = {.parts = PARTS}};
    int64_t next = tact_guard_clock_ns();
    int64_t step = get_page_poll_interval(&s);
    s.force.fd = -1;
    tact_guard_start_heartbeat(&s.heartbeat, &page->head);
    open_node_named_by_controller(&s, next);
    atomic_store_explicit(&page->head.error, atomic_exchange(&page->failed, 0),
                          memory_order_relaxed);
    atomic_store_explicit(&page->head.is_guard_ready, 1, memory_order_release);
    while (!tact_guard_must_guard_end(&page->head, guard_requests)) {
        int64_t now = tact_guard_clock_ns();
        if (tact_guard_is_zeroing_requested(guard_requests) &&
            s.heartbeat.state == TACT_GUARD_PASSING) {
            zero_force_outputs(&s);
        }
        process_heartbeat_or_timeout(&s, now);
        open_node_named_by_controller(&s, now);
        limit_rise_of_levels_to_play(&s);
        while (play_force_levels(&s, now) && tact_guard_clock_ns() - now < SLOW_UPLOAD_NS) {
        }
        next = next + step > now ? next + step : now;
        int64_t next_wake_time_ns = get_next_wake_time(&s, next);
        const struct timespec next_wake_timespec = {next_wake_time_ns / 1000000000,
                                                    next_wake_time_ns % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next_wake_timespec, NULL);
    }
    tact_force_close(&s.force);
}
