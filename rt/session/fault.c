/* Describes the fault of a session, without snprintf(), so that it is real-time safe. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "rt/session/session_internal.h"

static void append_fault_text(struct tact_session_fault *f, const char *text, size_t *used)
{
    size_t remaining_fault_text_size = sizeof f->text - 1 - *used, n = strlen(text);
    n = n < remaining_fault_text_size ? n : remaining_fault_text_size;
    memcpy(f->text + *used, text, n);
    *used += n;
    f->text[*used] = '\0';
}

void tact_session_describe_fault(struct tact_session *s, uint64_t tick, const char *kind,
                                 const char *name, const char *what)
{
    struct tact_session_fault *f = &s->report.fault;
    size_t used = 0;
    if (s->is_fault_in_report) {
        return;
    }
    s->is_fault_in_report = 1;
    f->tick = tick;
    append_fault_text(f, kind, &used);
    append_fault_text(f, name, &used);
    append_fault_text(f, ": ", &used);
    append_fault_text(f, what, &used);
}

void tact_session_raise_fault(struct tact_session *s, double value, uint64_t tick)
{
    s->has_fault_cause_now = 1;
    tact_safety_raise(&s->safety, -1, value, tick);
}

static void describe_world_fault(struct tact_session *s, const struct tact_world_fault *f,
                                 uint64_t tick)
{
    char name[PAIR_NAME_BYTES];
    switch (f->part) {
    case TACT_WORLD_PAIR:
        tact_session_name_pair(s, f->index, name);
        tact_session_describe_fault(s, tick, "pair ", name, f->what);
        break;
    case TACT_WORLD_CONSTRAINT:
        tact_session_describe_fault(s, tick, "joint ", s->scene->joints[f->index].name, f->what);
        break;
    case TACT_WORLD_BODY:
        tact_session_describe_fault(s, tick, "body ", s->bodies[f->index].name, f->what);
        break;
    case TACT_WORLD_JOINT:
        tact_session_describe_fault(s, tick, "joint ", s->hands[f->index].joint_names[f->link],
                                    f->what);
        break;
    }
}

void tact_session_check_world_state(struct tact_session *s, int rc, uint64_t tick)
{
    struct tact_world_fault fault;
    int has_world_fault = tact_world_check(s->world, s->scene->max_speed, &fault);
    if (has_world_fault) {
        describe_world_fault(s, &fault, tick);
    }
    if (rc == -ENOSPC) {
        tact_session_describe_fault(
            s, tick, "the world's ", tact_world_exceeded_capacity(s->world),
            "more of them are needed in this tick than memory was allocated for");
    } else if (rc) {
        tact_session_describe_fault(s, tick, "hand ",
                                    s->scene->hands[s->solve_stats.failed_hand].name,
                                    "its mass matrix cannot be factored");
    }
    s->report.solve_failures += rc != 0;
    if (has_world_fault || rc) {
        tact_session_raise_fault(s, NAN, tick);
    }
}

void tact_session_check_record_capacity(struct tact_session *s, uint64_t tick)
{
    if (s->unrecorded_contact_count && !s->replayed_input_record) {
        char name[PAIR_NAME_BYTES];
        tact_session_name_pair(s, s->first_unrecorded_pair, name);
        tact_session_describe_fault(s, tick, "pair ", name,
                                    "the tick's record in the log has no room for another contact");
        tact_session_raise_fault(s, NAN, tick);
    }
}

void tact_session_check_outputs(struct tact_session *s, uint64_t tick)
{
    for (int i = 0; s->safety.state == TACT_SAFETY_FAULT && i < s->output_count; i++) {
        if (!isfinite(s->requested_outputs[i])) {
            s->has_fault_cause_now = 1;
            tact_session_describe_fault(
                s, tick, "output ", s->scene->outputs[i].to,
                "the value of the output, before the safety chain, is not finite");
        }
    }
}
