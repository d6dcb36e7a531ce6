/* Replays that jump: from any tick of a log, with contacts of several pieces, springs, models with
 * state or hands, a replay continues bit for bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "rt/log/log_reader.h"
#include "rt/session/replay.h"
#include "support/random.h"
#include "support/run_scene.h"

enum { MAX_TICKS_AFTER_SEEK = 8 };

struct seek_plan {
    uint64_t first, last;       /* ticks of the log */
    int remaining_seeks, ticks; /* number of seeks left, and of ticks left before the next seek */
};

/* Replays some ticks after each seek to a random tick. */
static int choose_next_tick_to_replay(void *user, struct tact_scene_log *view,
                                      const struct tact_log *log, uint64_t *next)
{
    struct seek_plan *s = user;
    (void)view;
    (void)log;
    if (s->ticks-- > 0 && *next <= s->last) {
        return 0;
    }
    s->ticks = (int)uniform(0, MAX_TICKS_AFTER_SEEK);
    *next = s->first + 1 + (uint64_t)uniform(0, (double)(s->last - s->first));
    return s->remaining_seeks-- <= 0;
}

static void check_seeks_in_scene(const char *name, const struct edit *edits, double seconds,
                                 int requested_seek_count)
{
    char log_path[] = "/tmp/tact_seek_XXXXXX";
    struct run_result result;
    struct run_options o = {.scene = name,
                            .edits = edits,
                            .seconds = seconds,
                            .clock = TACT_LOOP_FREE,
                            .source = "host",
                            .record = log_path};
    struct tact_replay_options options = tact_replay_options_default();
    struct tact_replay_report report;
    struct tact_error err = {0};
    struct tact_log *log;
    close(mkstemp(log_path));
    run_scene(&o, &result);
    assert_int_equal(tact_log_open(log_path, &log, NULL), 0);
    struct seek_plan user = {tact_log_state(log)->first_tick, tact_log_state(log)->last_tick,
                             requested_seek_count, 0};
    tact_log_close(log);
    options.turn = choose_next_tick_to_replay;
    options.user = &user;
    assert_int_equal(tact_replay_run_with(log_path, &options, &report, &err), 0);
    print_message("%s: %d seeks, %lu ticks, %lu differing values", name, requested_seek_count,
                  (unsigned long)report.ticks, (unsigned long)report.differing);
    if (report.differing) {
        print_message(", the first %s[%u] of tick %lu", report.first_field, report.first_element,
                      (unsigned long)report.first_tick);
    }
    print_message("\n");
    unlink(log_path);
    assert_true(report.ticks > (uint64_t)requested_seek_count);
    assert_int_equal(report.differing, 0);
}

static void replays_continue_from_any_tick(void **state)
{
    (void)state;
    /* the wedge moves between the flanks of the groove, so that it touches none, one or both of
     * them */
    static const struct edit edits_throwing_the_wedge[] = {
        {"position: [0, -0.1, 0.0249651310641]", "position: [0.002, -0.1, 0.035]"},
        {"velocity: [0, 1, 0]", "velocity: [0.4, 0.3, 0]"},
        {NULL, NULL}};
    check_seeks_in_scene("bolt.yaml", NULL, 0.1, 20);
    check_seeks_in_scene("groove.yaml", edits_throwing_the_wedge, 0.3, 100);
    check_seeks_in_scene("five_fingers.yaml", NULL, 0.2, 40);
    check_seeks_in_scene("swing.yaml", NULL, 0.2, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(replays_continue_from_any_tick)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
