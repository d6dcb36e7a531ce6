/* Replays of a session from any of its ticks, once or with each tick started from the log. Include
 * after cmocka.h. */
#ifndef TACT_TESTS_REPLAYS_H
#define TACT_TESTS_REPLAYS_H

#include <stdlib.h>
#include <unistd.h>
#include "campaign.h"
#include "rt/session/replay.h"
#include "run_scene.h"

/* Replays a log of `ticks` ticks from every `step`th tick on and checks that the replay is equal
 * bit for bit. each: every second replay takes the state before each tick from the log. Under a
 * sanitizer the replays that begin in the first third, the longest ones, run in .ci/long only: the
 * others execute the same code. */
static inline void check_replays_of_log(const char *path, int ticks, int step, int each)
{
    const int first = is_quick_sanitizer_run() ? ticks / 3 : 0;
    for (int from = 0; from < ticks; from += step) {
        if (from < first) {
            continue;
        }
        struct tact_replay_options how = tact_replay_options_default();
        struct tact_replay_report replay_report;
        struct tact_error err = {.line = 0};
        how.from = from;
        how.each = each && from % 2;
        assert_int_equal(tact_replay_run_with(path, &how, &replay_report, &err), 0);
        assert_true(replay_report.differing == 0 &&
                    replay_report.ticks == (uint64_t)(ticks - from));
    }
}

/* Runs a scene of `ticks` ticks and checks its replays as check_replays_of_log(). Returns the
 * report of the session. */
static inline struct tact_session_report check_replays_of_scene(const char *text, int ticks,
                                                                int step, int each)
{
    struct tact_session_options options = {.clock = TACT_LOOP_FREE};
    struct tact_session_report report;
    char log[] = "/tmp/tact-smooth-XXXXXX", path[64];
    assert_non_null(mkdtemp(log));
    snprintf(path, sizeof path, "%s/a.mcap", log);
    options.record = path;
    run_session_of_scene_text(text, &options, &report);
    check_replays_of_log(path, ticks, step, each);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(log), 0);
    return report;
}

/* Runs 1.5 s of a scene file with edits and checks that it has no fault and its replays as
 * check_replays_of_log(). */
static inline void check_replays_of_edited_scene(const char *scene, const struct edit *edits)
{
    char path[] = "/tmp/tact_replays_XXXXXX";
    static struct run_result result;
    close(mkstemp(path));
    run_scene(&(struct run_options){.scene = scene,
                                    .edits = edits,
                                    .seconds = 1.5,
                                    .clock = TACT_LOOP_FREE,
                                    .source = "host",
                                    .record = path},
              &result);
    assert_int_equal(result.report.faults, 0);
    check_replays_of_log(path, 1500, 700, 1);
    unlink(path);
}

/* Runs a scene of 0.6 s and checks its replays from any tick, bit for bit. Returns the report of
 * the session. */
static inline struct tact_session_report check_replays_from_any_tick(const char *text)
{
    const struct tact_session_report report = check_replays_of_scene(text, 600, 97, 1);
    /* at most one percent of the ticks are unsolved */
    assert_true(report.counts[TACT_COUNT_UNSOLVED] <= 6);
    assert_true(report.counts[TACT_COUNT_NOT_FOUND] == 0);
    return report;
}

#endif
