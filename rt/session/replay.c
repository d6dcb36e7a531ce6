#include "rt/session/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/clock.h"
#include "rt/log/log_reader.h"
#include "rt/session/facts.h"
#include "rt/session/session_internal.h"
#include "rt/session/view.h"

/* Facts that bits depend on, where the log was made on something else. */
static void compare_facts(struct tact_log *log, struct tact_messages messages,
                          struct tact_replay_report *report)
{
    struct tact_facts f;
    tact_facts_gather(&f);
    const struct tact_log_fact here[] = {{"cpu", f.cpu},
                                         {"libc", f.libc},
                                         {"libm", f.libm},
                                         {"lapack", f.lapack},
                                         {"build", f.build}};
    for (size_t i = 0; i < sizeof here / sizeof *here; i++) {
        const char *there = tact_log_fact(log, here[i].key);
        if (there && strcmp(there, here[i].value)) {
            size_t used = strlen(report->mismatch);
            snprintf(report->mismatch + used, sizeof report->mismatch - used, "%s%s",
                     used ? ", " : "", here[i].key);
            tact_message(messages, TACT_MESSAGE_WARNING,
                         "%s was \"%s\" when this was recorded and is \"%s\" now: bits may differ",
                         here[i].key, there, here[i].value);
        }
    }
}

static void compare(const struct tact_session *s, const struct tact_record *logged,
                    struct tact_replay_report *report)
{
    const struct tact_layout *layout = &s->layout;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        if (f->kind == TACT_FIELD_TIMING) {
            continue;
        }
        report->values += f->count;
        for (uint32_t k = f->offset; k < f->offset + f->count; k++) {
            if (!memcmp(&logged->values[k], &s->last->values[k], sizeof(double))) {
                continue;
            }
            if (!report->differing++) {
                report->first_tick = logged->tick;
                report->first_element = k - f->offset;
                report->logged = logged->values[k];
                report->replayed = s->last->values[k];
                snprintf(report->first_field, sizeof report->first_field, "%s", f->name);
            }
        }
    }
}

static int replay_ticks(struct tact_session *s, struct tact_log *log,
                        struct tact_replay_report *report)
{
    uint32_t bytes = tact_layout_bytes(&s->layout);
    struct tact_record *now = malloc(bytes);
    uint64_t expected = 0;
    int rc = now ? 1 : -ENOMEM;
    while (rc > 0 && (rc = tact_log_next(log, now)) > 0) {
        if (now->tick != expected) {
            /* What led to this record may be lost: it can only be started from. */
            tact_session_restore(s, now);
            report->resyncs++;
        } else {
            s->fed = now;
            int64_t began = tact_clock_now();
            tact_session_tick(s, now->tick, now->stamp_ns, now->stamp_ns);
            tact_histogram_add(&report->compute, tact_clock_now() - began);
            compare(s, now, report);
            report->ticks++;
        }
        expected = now->tick + 1;
    }
    free(now);
    return rc;
}

int tact_replay_run(const char *path, struct tact_messages messages,
                    struct tact_replay_report *report, struct tact_error *err)
{
    struct tact_view view = {0};
    struct tact_log *log;
    memset(report, 0, sizeof *report);
    tact_histogram_reset(&report->compute);
    int rc = tact_log_open(path, &log, err);
    if (rc) {
        return rc;
    }
    const struct tact_log_state *state = tact_log_state(log);
    report->complete = state->complete;
    report->bytes_lost = state->bytes_lost;
    snprintf(report->damage, sizeof report->damage, "%s", state->why);
    compare_facts(log, messages, report);
    rc = tact_view_open(log, messages, &view, err);
    rc = rc ? rc : replay_ticks(view.session, log, report);
    tact_view_close(&view);
    tact_log_close(log);
    return rc;
}
