/* Two sessions in one process, with a joint each, coupled over a simulated line of constant delay
 * with lost packets and blackouts; and the columns of their logs. */
#ifndef TACT_TESTS_REMOTE_SITES_H
#define TACT_TESTS_REMOTE_SITES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/number.h"
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "remote_scenes.h"
#include "run_scene.h"
#include "script_device.h"

static const double period = 1e-3, reach = 0.07, wall = 0.05; /* [s], [m], [m] */

enum { HELD, ROUND_TRIP, WAVE, POSITION, FORCE, CHANNELS };
enum { ROOM = 512, STALE_TICKS = 100, LOST_TICKS = 500 };

struct operator_hand {
    const char *name;
    double mass, damping, stiffness;
};
static const struct operator_hand hands[] = {
    {"weak", 0.1, 2.0, 100.0}, {"average", 0.3, 10.0, 300.0}, {"strong", 1.0, 40.0, 1000.0}};

/* A simulated line of constant delay between two sessions of this process. */
struct line {
    uint64_t delay;           /* [ticks] */
    uint64_t gap, gap_length; /* of every `gap` ticks the wave variables of `gap_length` ticks are
                                 lost; 0: none */
    /* blackout: nothing arrives at either end from and until these ticks */
    uint64_t blackout_start_tick, blackout_end_tick;
    int claims_deadman_held; /* 1: end 0 claims that its deadman is held, whatever its session
                                reports */
    double sent[2][ROOM][CHANNELS];
    uint64_t ticks_without_packet[2];
    double sum_of_squared_waves_sent, sum_of_squared_waves_used,
        least; /* wave power sent and received in both directions [W],
    and the least energy of the line [J] */
};

struct end {
    struct line *line;
    int number;
    uint64_t tick;
};

static inline void read_simulated_link_end(void *self, uint64_t tick, double t, int64_t now,
                                           struct tact_device_input *in)
{
    struct end *end = self;
    struct line *line = end->line;
    (void)t;
    end->tick = tick;
    in->stamp_ns = now;
    in->channel[WAVE] = 0.0;
    in->channel[ROUND_TRIP] = 2.0 * (double)(line->delay + 1) * period;
    line->ticks_without_packet[end->number]++;
    if (tick >= line->delay + 1 &&
        (tick < line->blackout_start_tick || tick >= line->blackout_end_tick)) {
        const uint64_t at = tick - line->delay - 1;
        const double *from = line->sent[!end->number][at % ROOM];
        line->ticks_without_packet[end->number] = 0;
        in->channel[HELD] = from[HELD];
        if (!line->gap || tick % line->gap >= line->gap_length) {
            memcpy(in->channel + WAVE, from + WAVE, 3 * sizeof *from);
        }
    }
    const uint64_t ticks_without_packet = line->ticks_without_packet[end->number];
    in->state = tick < line->delay + 1 || ticks_without_packet >= LOST_TICKS ? TACT_DEVICE_LOST
                : ticks_without_packet >= STALE_TICKS                        ? TACT_DEVICE_STALE
                                                                             : TACT_DEVICE_OK;
    line->sum_of_squared_waves_used += in->channel[WAVE] * in->channel[WAVE];
    line->least = fmin(
        line->least, period * (line->sum_of_squared_waves_sent - line->sum_of_squared_waves_used));
}

static inline void write_simulated_link_end(void *self, const double *out, int64_t now)
{
    struct end *end = self;
    double *to = end->line->sent[end->number][end->tick % ROOM];
    (void)now;
    memcpy(to, out, CHANNELS * sizeof *out);
    if (end->line->claims_deadman_held && end->number == 0) {
        to[HELD] = 1.0;
    }
    end->line->sum_of_squared_waves_sent += to[WAVE] * to[WAVE];
}

static inline void close_simulated_link_end(void *self)
{
    (void)self;
}

static inline int open_simulated_link_end(const struct tact_device_config *config,
                                          struct tact_device *out, struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops),
                                               read_simulated_link_end, write_simulated_link_end,
                                               close_simulated_link_end};
    static const char *const names[] = {"held", "round_trip", "wave_0", "position_0", "force_0"};
    (void)err;
    out->ops = &ops;
    out->self = config->user;
    out->info.input_count = out->info.output_count = CHANNELS;
    for (int i = 0; i < CHANNELS; i++) {
        snprintf(out->info.input[i].name, TACT_DEVICE_NAME, "%s", names[i]);
        snprintf(out->info.output[i].name, TACT_DEVICE_NAME, "%s", names[i]);
    }
    return 0;
}

/* The operator's deadman button: held from `from` to `until`, but released from `released` to
 * `again`. */
struct button {
    double from, until, released, again; /* [s] */
};
static struct button button;

static inline void read_deadman_button(void *self, uint64_t tick, double t, int64_t now,
                                       struct tact_device_input *in)
{
    (void)self, (void)tick;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] =
        t >= button.from && t < button.until && (t < button.released || t >= button.again);
}

static inline int open_deadman_button(const struct tact_device_config *config,
                                      struct tact_device *out, struct tact_error *err)
{
    (void)config, (void)err;
    return open_script_device(read_deadman_button, "held", out);
}

static const struct tact_device_type deadman_button_type = {
    TACT_ABI(struct tact_device_type), "button", "a deadman", open_deadman_button, NULL};

static char folder[] = "/tmp/tact_remote_XXXXXX";

struct run {
    struct line line;
    struct operator_hand hand;
    /* YAML keys of the remote coupling at each site; NULL: wave impedance 10 */
    const char *person_tie_keys, *robot_tie_keys;
    double seconds, back;    /* end of the run, and of the operator's press [s] */
    const char *again;       /* further entries of the operator hand's script, or NULL */
    const char *top;         /* YAML keys put before the operator's scene, or NULL */
    double fault_clear_time; /* time at which a fault of the operator's session is cleared; 0: never
                                [s] */
};

enum { PERSON_Q, PERSON_FORCE, ROBOT_Q, ROBOT_FORCE, ROBOT_HELD, PERSON_HELD, TANK, COLUMNS };

struct remote_log {
    double (*at)[COLUMNS]; /* [ticks] */
    uint64_t ticks;
};

static inline int create_session_of_link_end(const struct tact_scene *scene, struct end *end,
                                             const char *log, struct tact_session **out,
                                             struct tact_error *err)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_device_type type = {TACT_ABI(struct tact_device_type),
                                    end->number ? "end_1" : "end_0", "one end of a line",
                                    open_simulated_link_end, end};
    size_t count;
    const struct tact_device_type *const *builtin = tact_devices_builtin(&count);
    const struct tact_device_type *types[] = {&type, &deadman_button_type,
                                              tact_device_type_find(builtin, count, "operator")};
    options.types = types;
    options.type_count = 3;
    options.clock = TACT_LOOP_FREE;
    options.record = log;
    options.replace = 1;
    return tact_session_create(scene, &options, out, err);
}

static inline void read_log_columns(const char *path, const char *joint, struct remote_log *out,
                                    int is_person_site)
{
    struct tact_log *log;
    char field[64];
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    snprintf(field, sizeof field, "%s_tip_remote", joint);
    const long tie = tact_log_field(log, field, NULL);
    snprintf(field, sizeof field, "%s_position", joint);
    const long q = tact_log_field(log, field, NULL);
    assert_true(tie > 0 && q > 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    for (uint64_t i = 0; tact_log_next(log, record) > 0; i++) {
        double *row = out->at[i];
        assert_true(i < out->ticks);
        row[is_person_site ? PERSON_Q : ROBOT_Q] = record->values[q];
        row[is_person_site ? PERSON_FORCE : ROBOT_FORCE] = record->values[tie + 3];
        row[is_person_site ? PERSON_HELD : ROBOT_HELD] = record->values[tie + 8] > 0.0;
        if (!is_person_site) {
            row[TANK] = record->values[tie + 12];
        }
    }
    free(record);
    tact_log_close(log);
}

/* Runs both sessions, one tick each in turn, and reads their logs. */
static inline struct remote_log run_both_sites(struct run *run)
{
    char text[2][4096], path[2][64];
    struct end ends[2] = {{&run->line, 0, 0}, {&run->line, 1, 0}};
    struct tact_scene *scene[2];
    struct tact_session *session[2];
    struct tact_session_report report;
    struct remote_log out = {.ticks = (uint64_t)(run->seconds / period + 0.5)};
    run->line.ticks_without_packet[0] = run->line.ticks_without_packet[1] = LOST_TICKS;
    const int used = snprintf(text[0], sizeof text[0], "%s", run->top ? run->top : "");
    tact_number_print(text[0] + used, sizeof text[0] - (size_t)used, person_scene_text,
                      0.1 + run->hand.mass, run->hand.damping, run->hand.stiffness, run->back,
                      run->back + 1.0, run->again ? run->again : "",
                      run->person_tie_keys ? run->person_tie_keys : "impedance: 10");
    snprintf(text[1], sizeof text[1], robot_scene_text,
             run->robot_tie_keys ? run->robot_tie_keys
                                 : "impedance: 10, stiffness: 1000, damping: 30");
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%d.mcap", folder, i);
        scene[i] = parse_remote_scene(text[i]);
        struct tact_error err;
        if (create_session_of_link_end(scene[i], &ends[i], path[i], &session[i], &err)) {
            fail_msg("%s: %s", err.key, err.text);
        }
        assert_int_equal(tact_session_begin(session[i]), 0);
    }
    for (uint64_t k = 0; k < out.ticks; k++) {
        if (run->fault_clear_time > 0.0 && k == (uint64_t)(run->fault_clear_time / period + 0.5)) {
            assert_int_equal(tact_session_clear_fault(session[0]), 0);
        }
        assert_int_equal(tact_session_step(session[0], 0, NULL), 0);
        assert_int_equal(tact_session_step(session[1], 0, NULL), 0);
    }
    out.at = calloc(out.ticks, sizeof *out.at);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tact_session_end(session[i], &report), 0);
        tact_session_destroy(session[i]);
        tact_scene_free(scene[i]);
        read_log_columns(path[i], i ? "robot" : "arm", &out, !i);
    }
    return out;
}

static inline double mean_of_log_column(const struct remote_log *t, int column, double from,
                                        double to)
{
    double sum = 0.0;
    uint64_t first = (uint64_t)(from / period), count = (uint64_t)((to - from) / period);
    for (uint64_t i = 0; i < count; i++) {
        sum += t->at[first + i][column];
    }
    return sum / (double)count;
}

/* Largest magnitude of a log column between two times. */
static inline double peak_of_log_column(const struct remote_log *t, int column, double from,
                                        double to)
{
    double peak = 0.0;
    for (uint64_t i = (uint64_t)(from / period); i < (uint64_t)(to / period); i++) {
        peak = fmax(peak, fabs(t->at[i][column]));
    }
    return peak;
}

/* Root mean square of the rate of a position column between two times [m/s]. */
static inline double rms_speed_of_log_column(const struct remote_log *t, int column, double from,
                                             double to)
{
    double sum = 0.0;
    uint64_t first = (uint64_t)(from / period), count = (uint64_t)((to - from) / period);
    for (uint64_t i = 1; i < count; i++) {
        sum += pow((t->at[first + i][column] - t->at[first + i - 1][column]) / period, 2);
    }
    return sqrt(sum / (double)count);
}

/* Force with which an operator's hand presses the wall when at rest: springs of hand, robot
 * coupling and wall in series. */
static inline double force_of_springs_in_series(const struct operator_hand *hand)
{
    return (reach - wall) / (1.0 / hand->stiffness + 1.0 / 1000.0 + 1.0 / 5000.0);
}

/* Removes the logs; to be called at the end of main(). */
static inline void remove_site_logs(void)
{
    char path[64];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%d.mcap", folder, i);
        remove(path);
    }
    rmdir(folder);
}

#endif
