/*
 * What every body does against every hand: touch, slip and release with their times, how far it has
 * slipped and turned, and the forces between the two. Real-time safe but for
 * tact_session_create_holds().
 *
 * A contact slides in a tick in which its law is at the limit of friction or torsion. Its slip is
 * then the magnitude of the relative velocity at the centre of its patch along the patch, times the
 * period, and its turn that of the relative angular velocity about the normal: a contact at rest
 * adds nothing, however long. Of several contacts that slide, the largest counts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "contact/elementary.h"
#include "rt/session/hold_internal.h"

/* distance of sliding above which a motion is reported as a slip [m] */
#define MIN_SLIP_DISTANCE 1e-5
/* rotation of sliding above which a motion is reported as a slip [rad] */
#define MIN_SLIP_ANGLE 1e-3
/* time without contact, or without sliding, after which a touch or slip has ended [s] */
#define MIN_TIME_WITHOUT_TOUCH_OR_SLIP 0.01
/* largest number of hold events logged in one tick; the others follow in the next ticks */
#define MAX_HOLD_EVENTS_PER_TICK 16
#define MAX_NAME_LENGTH_IN_HOLD_EVENT                                                              \
    64 /* largest number of characters of a name in an event text */

int tact_session_create_holds(struct tact_session *s)
{
    const int hands = tact_world_hand_count(s->world);
    const int64_t pairs = (int64_t)tact_world_body_count(s->world) * hands;
    const int count = pairs < SESSION_MAX_HOLDS ? (int)pairs : SESSION_MAX_HOLDS;
    s->holds = aligned_alloc(_Alignof(struct session_hold), ((size_t)count + 1) * sizeof *s->holds);
    if (!s->holds) {
        return -ENOMEM;
    }
    memset(s->holds, 0, ((size_t)count + 1) * sizeof *s->holds);
    s->hold_count = count;
    s->omitted_hold_count = pairs - count;
    for (int i = 0; i < count; i++) {
        s->holds[i].body = i / hands;
        s->holds[i].hand = i % hands;
    }
    return 0;
}

/* tick: in which it began; now: the present tick. */
static void add_hold_event(struct session_hold *hold, enum session_hold_event_kind kind,
                           uint64_t tick, uint64_t now)
{
    const int events = atomic_load_explicit(&hold->events, memory_order_relaxed);
    const int is_hold_event_listed = events < SESSION_MAX_HOLD_EVENTS;
    hold->count[kind]++;
    hold->events_left_out += !is_hold_event_listed;
    if (events <= SESSION_MAX_HOLD_EVENTS) {
        hold->event[events] = (struct session_hold_event){
            is_hold_event_listed ? kind : SESSION_HOLD_LEFT_OUT, is_hold_event_listed ? tick : now};
        atomic_store_explicit(&hold->events, events + 1, memory_order_release);
    }
}

/* Index of the hand whose link or fixed base owns the shape; -1: no hand. */
static int hand_index_of_owner(const struct tact_session *s, struct tact_owner owner)
{
    if (owner.kind == TACT_OWNER_FIXED && owner.index > 0) {
        return (int)s->scene->bodies[owner.index - 1].hand - 1;
    }
    return owner.kind == TACT_OWNER_HAND ? owner.index : -1;
}

/* Adds a contact between the body and the hand to the sums of this tick. */
static void add_hold_contact(struct tact_session *s, struct session_hold *hold,
                             const struct tact_contact *c, struct tact_owner by)
{
    const struct tact_body *body = tact_world_body(s->world, hold->body);
    const double *n = c->patch.frame;
    double twist[6] = {0.0}, arm[3], velocity[3], relative_angular_velocity[3];
    hold->tick_sums.touching = 1;
    hold->tick_sums.normal += c->impulse[0] / s->period;
    hold->tick_sums.friction += tact_hypot(c->impulse[1], c->impulse[2]) / s->period;
    if (!(c->limits & (TACT_LIMIT_CONE | TACT_LIMIT_SPIN))) {
        return;
    }
    if (by.kind == TACT_OWNER_HAND) {
        tact_hand_link_twist(tact_world_hand(s->world, by.index), by.link, c->patch.center, twist);
    }
    tact_v3_sub(arm, c->patch.center, body->pose.position);
    tact_v3_cross(velocity, body->twist + 3, arm);
    tact_v3_add(velocity, velocity, body->twist);
    tact_v3_sub(velocity, velocity, twist);
    tact_v3_sub(relative_angular_velocity, body->twist + 3, twist + 3);
    tact_v3_axpy(velocity, -tact_v3_dot(velocity, n), n);
    hold->tick_sums.sliding = 1;
    hold->tick_sums.slip = fmax(hold->tick_sums.slip, s->period * tact_v3_norm(velocity));
    hold->tick_sums.turn =
        fmax(hold->tick_sums.turn, s->period * fabs(tact_v3_dot(relative_angular_velocity, n)));
}

static void sum_hold_contacts(struct tact_session *s)
{
    int count;
    const int *near = tact_world_near(s->world, &count);
    for (int i = 0; i < s->hold_count; i++) {
        s->holds[i].tick_sums = (struct session_hold_tick_sums){.touching = 0};
    }
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(s->world, near[i]);
        const struct tact_owner owner[2] = {tact_world_owner(s->world, c->a),
                                            tact_world_owner(s->world, c->b)};
        for (int k = 0; k < 2 && c->touching && c->impulse[0] > 0.0; k++) {
            const int hand = hand_index_of_owner(s, owner[!k]);
            const int64_t at = (int64_t)owner[k].index * tact_world_hand_count(s->world) + hand;
            if (owner[k].kind == TACT_OWNER_BODY && hand >= 0 && at < s->hold_count) {
                add_hold_contact(s, &s->holds[at], c, owner[!k]);
            }
        }
    }
}

/* A sliding motion is a slip once it exceeds the minimum; it ends after some time without sliding.
 */
static void update_slip_episode(struct session_hold *hold, uint64_t tick,
                                uint64_t ticks_to_end_slip_episode)
{
    const struct session_hold_tick_sums *now = &hold->tick_sums;
    if (now->sliding) {
        if (!hold->slides) {
            hold->slides = 1;
            hold->is_slip_reported = 0;
            hold->episode = (struct session_slip_episode){.tick = tick};
        }
        hold->episode.slip += now->slip;
        hold->episode.turn += now->turn;
        hold->slip += now->slip;
        hold->turn += now->turn;
        hold->last_slide = tick;
    }
    hold->slides &= tick - hold->last_slide <= ticks_to_end_slip_episode;
    if (hold->slides && !hold->is_slip_reported &&
        (hold->episode.slip > MIN_SLIP_DISTANCE || hold->episode.turn > MIN_SLIP_ANGLE)) {
        hold->is_slip_reported = 1;
        add_hold_event(hold, SESSION_HOLD_EVENT_SLIP, hold->episode.tick, tick);
    }
}

void tact_session_update_holds(struct tact_session *s, uint64_t tick)
{
    const uint64_t ticks_to_end_slip_episode =
        (uint64_t)ceil(MIN_TIME_WITHOUT_TOUCH_OR_SLIP / s->period);
    sum_hold_contacts(s);
    for (int i = 0; i < s->hold_count; i++) {
        struct session_hold *hold = &s->holds[i];
        if (hold->tick_sums.touching && !hold->touches) {
            add_hold_event(hold, SESSION_HOLD_EVENT_TOUCH, tick, tick);
            hold->touches = 1;
        }
        hold->last_touch_tick = hold->tick_sums.touching ? tick : hold->last_touch_tick;
        update_slip_episode(hold, tick, ticks_to_end_slip_episode);
        if (hold->touches && tick - hold->last_touch_tick > ticks_to_end_slip_episode) {
            add_hold_event(hold, SESSION_HOLD_EVENT_RELEASE, hold->last_touch_tick + 1, tick);
            hold->touches = hold->slides = 0;
        }
    }
}

const char *tact_session_hold_event_name(enum session_hold_event_kind kind)
{
    static const char *const names[] = {"touch", "slip", "release", "left out"};
    return names[kind];
}

/* "ruler in pinch", without snprintf(), which may lock. */
static void write_hold_event_text(const struct tact_session *s, const struct session_hold *hold,
                                  const char *text_after_names, char out[TACT_RECORDER_EVENT_TEXT])
{
    const char *const words[] = {s->bodies[hold->body].name, " in ",
                                 s->scene->hands[hold->hand].name, text_after_names};
    size_t length_of_name_in_hold_event = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strnlen(words[i], MAX_NAME_LENGTH_IN_HOLD_EVENT - 1);
        memcpy(out + length_of_name_in_hold_event, words[i], length);
        length_of_name_in_hold_event += length;
    }
    out[length_of_name_in_hold_event] = '\0';
}

/* Logs the next event of a hold. Returns 0 where there is none, or the recorder's ring is full. */
static int log_next_hold_event(struct tact_session *s, struct session_hold *hold, uint64_t tick,
                               int64_t now)
{
    char text[TACT_RECORDER_EVENT_TEXT];
    if (hold->logged_hold_event_count >=
        atomic_load_explicit(&hold->events, memory_order_relaxed)) {
        return 0;
    }
    const struct session_hold_event *event = &hold->event[hold->logged_hold_event_count];
    write_hold_event_text(
        s, hold,
        event->kind == SESSION_HOLD_LEFT_OUT ? ": further events are counted, not listed" : "",
        text);
    if (tact_recorder_event_rt(s->recorder, event->tick,
                               now - (int64_t)(tick - event->tick) * s->period_ns,
                               tact_session_hold_event_name(event->kind), text)) {
        return 0;
    }
    hold->logged_hold_event_count++;
    return 1;
}

void tact_session_log_hold_events(struct tact_session *s, uint64_t tick, int64_t now)
{
    int hold_events_logged_in_tick = 0;
    for (int i = 0; i < s->hold_count; i++) {
        while (hold_events_logged_in_tick < MAX_HOLD_EVENTS_PER_TICK &&
               log_next_hold_event(s, &s->holds[i], tick, now)) {
            hold_events_logged_in_tick++;
        }
    }
}

TACT_IN_TICK_RECORD_SECTION void tact_session_fill_hold_fields(const struct tact_session *s,
                                                               double *values)
{
    for (int i = 0; i < s->hold_count; i++) {
        const struct session_hold *hold = &s->holds[i];
        const double numbers[SESSION_HOLD_NUMBER_COUNT] = {
            hold->tick_sums.normal, hold->tick_sums.friction, hold->slip, hold->turn};
        if (hold->field) {
            memcpy(values + hold->field, numbers, sizeof numbers);
        }
    }
}

void tact_session_restore_holds(struct tact_session *s, const struct tact_record *record)
{
    const double *values = record->values;
    for (int i = 0; i < s->hold_count; i++) {
        struct session_hold *hold = &s->holds[i];
        if (hold->field) {
            hold->touches = values[hold->field] > 0.0;
            hold->last_touch_tick = record->tick;
            hold->slides = 0;
            hold->slip = values[hold->field + 2];
            hold->turn = values[hold->field + 3];
        }
    }
}

int tact_session_hold_count(const struct tact_session *session)
{
    return session->hold_count;
}

struct tact_session_hold tact_session_hold(const struct tact_session *session, int index)
{
    const struct session_hold *hold = &session->holds[index];
    return (struct tact_session_hold){.body = session->bodies[hold->body].name,
                                      .hand = session->scene->hands[hold->hand].name,
                                      .touching = hold->touches,
                                      .grip_force = hold->tick_sums.normal,
                                      .load_force = hold->tick_sums.friction,
                                      .slip = hold->slip,
                                      .turn = hold->turn,
                                      .touches = hold->count[SESSION_HOLD_EVENT_TOUCH],
                                      .slips = hold->count[SESSION_HOLD_EVENT_SLIP],
                                      .releases = hold->count[SESSION_HOLD_EVENT_RELEASE],
                                      .events_left_out = hold->events_left_out};
}

int tact_session_hold_event(const struct tact_session *session, int index, int number,
                            struct tact_session_hold_event *out)
{
    const struct session_hold *hold = &session->holds[index];
    if (number < 0 || number >= atomic_load_explicit(&hold->events, memory_order_acquire)) {
        return 0;
    }
    *out = (struct tact_session_hold_event){
        .tick = hold->event[number].tick,
        .name = tact_session_hold_event_name(hold->event[number].kind)};
    return 1;
}
