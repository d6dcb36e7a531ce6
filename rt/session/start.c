/* Overlaps at the start: accepted, and reported by name. */
#include <stdio.h>
#include <string.h>
#include "contact/number.h"
#include "rt/clock.h"
#include "rt/session/session_internal.h"

/* excess of an overlap at the start over its target depth, above which it is reported, relative to
 * the target depth */
#define REPORTED_OVERLAP_EXCESS_RATIO 0.01

void tact_session_accept_start_overlaps(struct tact_session *s)
{
    tact_world_start(s->world, s->moments_scratch);
    int count;
    const int *near = tact_world_near(s->world, &count);
    for (int k = 0; k < count; k++) {
        const int i = near[k];
        const struct tact_contact *c = tact_world_contact(s->world, i);
        struct session_pair *p = tact_session_find_or_add_pair(s, i);
        p->start.inside = 0;
        p->starts_deeper_than_target = c->preload > 0.0;
        if (p->starts_deeper_than_target && !(c->patch.depth > 0.0)) {
            p->start.inside = 1;
        } else if (c->preload >
                   REPORTED_OVERLAP_EXCESS_RATIO * tact_world_law(s->world, i)->overlap) {
            /* a spherical cap is twice as deep in its middle as its volume over its area; the depth
             * of a patch with gaps is that of its deepest point */
            p->start.depth = c->patch.depth;
            p->start.depth *= c->patch.law == TACT_LAW_GAPS ? 1.0 : c->patch.exponent;
            p->start.stuck = c->stuck;
        }
    }
}

/* Writes the names of a pair's owners, "h.a and floor", the moving one first, and the hands whose
 * joints move them. */
static void name_pair_and_hands(struct tact_session *s, int pair, char *names_of_pair_owners,
                                size_t size, char *hands, size_t room)
{
    const struct tact_contact *c = tact_world_contact(s->world, pair);
    const struct tact_owner a = tact_world_owner(s->world, c->a);
    const struct tact_owner b = tact_world_owner(s->world, c->b);
    int must_name_second_owner_first = a.kind == TACT_OWNER_FIXED;
    snprintf(names_of_pair_owners, size, "%.63s and %.63s",
             s->shape_owner_names[must_name_second_owner_first ? c->b : c->a],
             s->shape_owner_names[must_name_second_owner_first ? c->a : c->b]);
    const char *of_a = a.kind == TACT_OWNER_HAND ? s->scene->hands[a.index].name : NULL;
    const char *of_b = b.kind == TACT_OWNER_HAND ? s->scene->hands[b.index].name : NULL;
    if (of_a && of_b && strcmp(of_a, of_b)) {
        snprintf(hands, room, "%.60s or %.60s", of_a, of_b);
    } else {
        snprintf(hands, room, "%.60s", of_a ? of_a : of_b ? of_b : "");
    }
}

static void report_start_overlap(struct tact_session *s, const char *event, const char *text)
{
    tact_message(s->options.messages, TACT_MESSAGE_WARNING, "%s", text);
    if (s->recorder) {
        tact_recorder_event(s->recorder, 0, tact_clock_now(), event, text);
    }
}

void tact_session_report_start_overlaps(struct tact_session *s)
{
    char names_of_pair_owners[160], hands[160], text[512];
    int reported_pair_count = 0;
    for (int i = 0; i < s->self_overlap_count; i++) {
        tact_session_describe_self_overlap(&s->self_overlaps[i], text, sizeof text);
        report_start_overlap(s, "overlap", text);
    }
    struct session_pair **pairs = tact_session_sorted_pairs(s);
    for (int i = 0; i < s->pair_count; i++) {
        const struct session_pair *p = pairs[i];
        if ((!(p->start.depth > 0.0) && !p->start.inside) ||
            ++reported_pair_count > SESSION_MAX_NAMED_PAIRS) {
            continue;
        }
        name_pair_and_hands(s, p->number, names_of_pair_owners, sizeof names_of_pair_owners, hands,
                            sizeof hands);
        if (p->start.inside) {
            const char *model = tact_world_model(s->world, p->number)->name;
            snprintf(
                text, sizeof text, "%s start %s", names_of_pair_owners,
                strcmp(model, "field")
                    ? "with one completely inside the other: no contact normal can separate them"
                    : "with a contact surface of too many polygons to compute: no contact force "
                      "separates them");
            report_start_overlap(s, "overlap", text);
            continue;
        }
        int n = tact_number_print(text, sizeof text, "%s start with an overlap of %.3g mm",
                                  names_of_pair_owners, 1e3 * p->start.depth);
        if (p->start.stuck) {
            snprintf(text + n, sizeof text - (size_t)n, ", and no joint of %s can separate them",
                     hands);
        }
        report_start_overlap(s, "overlap", text);
    }
    if (reported_pair_count > SESSION_MAX_NAMED_PAIRS) {
        snprintf(text, sizeof text,
                 "%d more pairs of shapes start with an overlap deeper than their target overlap",
                 reported_pair_count - SESSION_MAX_NAMED_PAIRS);
        report_start_overlap(s, "overlap", text);
    }
}

void tact_session_report_stuck_overlaps(struct tact_session *s)
{
    char names_of_pair_owners[160], hands[160];
    int reported_pair_count = 0;
    struct session_pair **pairs = tact_session_sorted_pairs(s);
    for (int i = 0; i < s->pair_count; i++) {
        const struct session_pair *p = pairs[i];
        if (!p->stuck_overlap_tick_count || ++reported_pair_count > SESSION_MAX_NAMED_PAIRS) {
            continue;
        }
        name_pair_and_hands(s, p->number, names_of_pair_owners, sizeof names_of_pair_owners, hands,
                            sizeof hands);
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "%s overlapped and could not be pushed apart in %llu ticks",
                     names_of_pair_owners, (unsigned long long)p->stuck_overlap_tick_count);
    }
    if (reported_pair_count > SESSION_MAX_NAMED_PAIRS) {
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "%d more pairs of shapes overlapped and could not be pushed apart",
                     reported_pair_count - SESSION_MAX_NAMED_PAIRS);
    }
}

/* 1 where a body of a pair is fast. */
static int is_pair_fast(const struct tact_session *s, int pair)
{
    const struct tact_contact *c = tact_world_contact(s->world, pair);
    const int shape[2] = {c->a, c->b};
    int has_pair_fast_body = 0;
    for (int k = 0; k < 2; k++) {
        const struct tact_owner owner = tact_world_owner(s->world, shape[k]);
        has_pair_fast_body |= owner.kind == TACT_OWNER_BODY && s->bodies[owner.index].def->fast;
    }
    return has_pair_fast_body;
}

void tact_session_report_tunnelled_pairs(struct tact_session *s)
{
    char names_of_pair_owners[160], hands[160], text[512];
    int reported_pair_count = 0;
    struct session_pair **pairs = tact_session_sorted_pairs(s);
    for (int i = 0; i < s->pair_count; i++) {
        const struct session_pair *p = pairs[i];
        if (!p->tunnelled_tick_count || ++reported_pair_count > SESSION_MAX_NAMED_PAIRS) {
            continue;
        }
        name_pair_and_hands(s, p->number, names_of_pair_owners, sizeof names_of_pair_owners, hands,
                            sizeof hands);
        snprintf(text, sizeof text,
                 "%s moved by more than the thinner of them in %llu ticks, so that contacts may be "
                 "missing; %s",
                 names_of_pair_owners, (unsigned long long)p->tunnelled_tick_count,
                 is_pair_fast(s, p->number)
                     ? "`model: smooth` measured their overlap there, or may have missed a contact"
                     : "a body with `fast: true` passes through nothing");
        report_start_overlap(s, "outrun", text);
    }
    if (reported_pair_count > SESSION_MAX_NAMED_PAIRS) {
        snprintf(text, sizeof text,
                 "%d more pairs of shapes moved in one tick by more than the thickness of the "
                 "thinner one",
                 reported_pair_count - SESSION_MAX_NAMED_PAIRS);
        report_start_overlap(s, "outrun", text);
    }
}
