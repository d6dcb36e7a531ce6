/*
 * Two solids that press on one thin body from opposite sides, and overlap each other inside it, by
 * pressure fields or by volume: they push each other apart there, and the body carries less than
 * they press with. Two fingertips, each 1.7 mm deep in a ruler of 2 mm, let it turn for that
 * reason.
 */
#include <stdio.h>
#include <string.h>
#include "contact/moments/moments_inside_internal.h"
#include "contact/vec.h"
#include "rt/session/meet_inside_internal.h"
#include "rt/session/session_internal.h"

#define MAX_CONTACTS_WITH_OTHER_BODIES 8

/* Whether a pair, whose contact is given, touched in the last solve and has a model that measures
 * an overlap, by pressure fields or by its moments. */
static int is_overlap_contact(const struct tact_session *s, int pair, const struct tact_contact *c)
{
    if (!c->touching) {
        return 0;
    }
    const struct tact_contact_model *model = tact_world_model(s->world, pair);
    return model->elastic || model->moments;
}

/* Returns the other shape of a pair in contact by an overlap one of whose shapes is `shape`, and in
 * `out` the direction in which it pushes `shape`; -1 of any other pair. */
static int find_other_shape_of_overlap_contact(const struct tact_session *s, int pair, int shape,
                                               double out[3])
{
    const struct tact_contact *c = tact_world_contact(s->world, pair);
    if ((c->a != shape && c->b != shape) || !is_overlap_contact(s, pair, c)) {
        return -1;
    }
    for (int i = 0; i < 3; i++) {
        out[i] = c->a == shape ? c->patch.frame[i] : -c->patch.frame[i];
    }
    return c->a == shape ? c->b : c->a;
}

/* Whether a point of the world is inside a shape. */
static int is_point_inside_shape(const struct tact_session *s, int shape, const double point[3])
{
    const struct tact_pose *pose = &tact_world_shape_poses(s->world)[shape];
    double shape_center_to_point[3], point_in_shape[3], m[9];
    tact_v3_sub(shape_center_to_point, point, pose->position);
    tact_quat_to_m3(m, pose->quat_wxyz);
    tact_m3_tmul_v3(point_in_shape, m, shape_center_to_point);
    return tact_shape_contains(tact_world_shape(s->world, shape), point_in_shape);
}

/* Contacts of a shape with other bodies. */
struct contacts_with_other_bodies {
    int count;
    struct contact_with_other_body {
        int shape; /* number of the shape that the pair's second shape presses on */
        double out[3];
    } contact[MAX_CONTACTS_WITH_OTHER_BODIES];
};

/* Lists the shapes that the second shape of a pair presses on. Those beyond
 * MAX_CONTACTS_WITH_OTHER_BODIES are left out: one of them is found in a later tick, as contacts
 * change. */
static void list_contacts_with_other_bodies(const struct tact_session *s,
                                            const struct tact_contact *c,
                                            struct contacts_with_other_bodies *list)
{
    int count;
    const int *near = tact_world_near(s->world, &count);
    list->count = 0;
    for (int i = 0; i < count && list->count < MAX_CONTACTS_WITH_OTHER_BODIES; i++) {
        struct contact_with_other_body *next = &list->contact[list->count];
        next->shape = find_other_shape_of_overlap_contact(s, near[i], c->b, next->out);
        list->count += next->shape >= 0 && next->shape != c->a;
    }
}

/* Whether one of the listed contacts is with the body of shape_of_other_body and pushes against
 * `out`, and the point is inside shape_of_other_body or the shape of that contact. */
static int is_overlap_inside_pressed_body(const struct tact_session *s,
                                          const struct contacts_with_other_bodies *list,
                                          int shape_of_other_body, const double out[3],
                                          const double point[3])
{
    for (int i = 0; i < list->count; i++) {
        const struct contact_with_other_body *listed_contact_with_other_body = &list->contact[i];
        if (s->first_shape_of_owner[listed_contact_with_other_body->shape] ==
                s->first_shape_of_owner[shape_of_other_body] &&
            tact_v3_dot(out, listed_contact_with_other_body->out) < 0.0 &&
            (is_point_inside_shape(s, shape_of_other_body, point) ||
             is_point_inside_shape(s, listed_contact_with_other_body->shape, point))) {
            return 1;
        }
    }
    return 0;
}

void tact_session_find_overlap_inside_body(struct tact_session *s, uint64_t tick)
{
    int count;
    const int *near = tact_world_near(s->world, &count);
    if (!count) {
        return;
    }
    const int pair = near[tick % (uint64_t)count];
    const struct tact_contact *c = tact_world_contact(s->world, pair);
    struct contacts_with_other_bodies other_contacts_of_second_shape;
    if (!is_overlap_contact(s, pair, c)) {
        return;
    }
    struct session_pair *p = tact_session_find_or_add_pair(s, pair);
    if (p->number != pair || p->inside_overlap.pressed_body_name) {
        return;
    }
    list_contacts_with_other_bodies(s, c, &other_contacts_of_second_shape);
    for (int i = 0;
         i < count && other_contacts_of_second_shape.count && !p->inside_overlap.pressed_body_name;
         i++) {
        double out[3];
        int shape =
            near[i] == pair ? -1 : find_other_shape_of_overlap_contact(s, near[i], c->a, out);
        if (shape >= 0 && is_overlap_inside_pressed_body(s, &other_contacts_of_second_shape, shape,
                                                         out, c->patch.center)) {
            p->inside_overlap.pressed_body_name = s->shape_owner_names[shape];
            p->inside_overlap.tick = tick;
            s->inside_overlap_count++;
        }
    }
}

/* "left and right overlap inside ruler ..." */
static void describe_overlap_inside_body(const struct tact_session *s, const struct session_pair *p,
                                         char *out, size_t size)
{
    int a, b;
    tact_world_pair_shapes(s->world, p->number, &a, &b);
    snprintf(out, size,
             "%.63s and %.63s overlap inside %.63s, which both press on: they press on each other "
             "there, and less on it; `exclude` keeps them from touching each other",
             s->shape_owner_names[a], s->shape_owner_names[b], p->inside_overlap.pressed_body_name);
}

/* "left/right overlap inside ruler", without snprintf(), which may lock. */
static void write_overlap_inside_event_text(struct tact_session *s, const struct session_pair *p,
                                            char out[2 * PAIR_NAME_BYTES])
{
    static const char overlap_inside_phrase[] = " overlap inside ";
    tact_session_name_pair(s, p->number, out);
    size_t used = strlen(out),
           length = strnlen(p->inside_overlap.pressed_body_name, PAIR_NAME_BYTES / 2);
    memcpy(out + used, overlap_inside_phrase, sizeof overlap_inside_phrase - 1);
    used += sizeof overlap_inside_phrase - 1;
    memcpy(out + used, p->inside_overlap.pressed_body_name, length);
    out[used + length] = '\0';
}

void tact_session_log_overlaps_inside_bodies(struct tact_session *s, uint64_t tick, int64_t now)
{
    char text[2 * PAIR_NAME_BYTES];
    for (int i = 0; s->logged_inside_overlap_count < s->inside_overlap_count && i < s->pair_count;
         i++) {
        struct session_pair *p = &s->pairs[i];
        if (p->inside_overlap.pressed_body_name && !p->inside_overlap.logged) {
            write_overlap_inside_event_text(s, p, text);
            tact_recorder_event_rt(s->recorder, tick, now, "meet_inside", text);
            p->inside_overlap.logged = 1;
            s->logged_inside_overlap_count++;
        }
    }
}

void tact_session_report_overlaps_inside_bodies(struct tact_session *s)
{
    char text[512];
    int reported_pair_count = 0;
    struct session_pair **pairs = tact_session_sorted_pairs(s);
    for (int i = 0; i < s->pair_count; i++) {
        const struct session_pair *p = pairs[i];
        if (!p->inside_overlap.pressed_body_name ||
            ++reported_pair_count > SESSION_MAX_NAMED_PAIRS) {
            continue;
        }
        describe_overlap_inside_body(s, p, text, sizeof text);
        tact_message(s->options.messages, TACT_MESSAGE_WARNING, "%s (from t = %.3f s)", text,
                     (double)p->inside_overlap.tick * s->period);
    }
    if (reported_pair_count > SESSION_MAX_NAMED_PAIRS) {
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "%d more pairs of shapes overlap each other inside a body that both press on",
                     reported_pair_count - SESSION_MAX_NAMED_PAIRS);
    }
}
