/*
 * The contacts of a tick in its record: a list of those that touch or have state for the next tick.
 * In a replay each pair of the log's lists has fields of its own, as all pairs of the scene have
 * for logs without lists.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "rt/session/session_internal.h"

#define MIN_CONTACT_LIST_CAPACITY 256 /* smallest capacity of the list; more for each shape */
#define CONTACT_LIST_ENTRIES_PER_SHAPE 8

static const char moments_unit[] =
    "volume m^3, centroid m (3), second moment m^5 xx yy zz xy xz yz, "
    "grad m^2 m^3 (6)";

struct contact_field {
    enum tact_field_kind kind;
    const char *name, *unit;
    uint32_t count;
};

static const struct contact_field fields[] = {
    {TACT_FIELD_INPUT, "status", "1 overlap, 0 none, negative errno; age in ticks, 0 host", 2},
    {TACT_FIELD_INPUT, "moments", moments_unit, 16},
    {TACT_FIELD_OUTPUT, "wrench", "N, N m on the first, world, about the patch's centre", 6},
    {TACT_FIELD_OUTPUT, "patch", "centre m (3), normal (3), depth m, spin arm m", 8},
    {TACT_FIELD_OUTPUT, "warm", "warm start: impulse N s, N m s (6), about the point m (3)", 9},
    {TACT_FIELD_OUTPUT, "direction", "last normal", 3},
    {TACT_FIELD_OUTPUT, "limits", "1 open, 2 friction, 4 edge, 8 spin, 16 joint", 1},
    {TACT_FIELD_OUTPUT, "margins",
     "left of each limit, -1 to 1: normal, slip, friction, spin, edge, joint", TACT_MARGIN_COUNT},
};

_Static_assert(AT_EXTRAS == AT_MARGINS + TACT_MARGIN_COUNT, "the extras follow");

static int add_field(struct tact_layout *to, const char *name, const char *unit, int count)
{
    long rc = count > 0 ? tact_layout_add(to, TACT_FIELD_OUTPUT, name, unit, (uint32_t)count) : 0;
    return rc < 0 ? (int)rc : 0;
}

/* The fields of a contact. */
static int add_fields(struct tact_layout *to, const struct session_extras *extras)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct contact_field *f = &fields[i];
        long rc = tact_layout_add(to, f->kind, f->name, f->unit, f->count);
        if (rc < 0) {
            return (int)rc;
        }
    }
    int rc = add_field(to, "pieces", "each: centre m, normal, impulse on the first N s, N m s",
                       extras->pieces);
    rc = rc ? rc : add_field(to, "preload", SESSION_PRELOAD_UNIT, extras->preload);
    rc = rc ? rc
            : add_field(to, "springs",
                        "each: impulse N s, N m s, angle rad, world; of the patch, then its "
                        "pieces",
                        extras->springs);
    return rc ? rc : add_field(to, "state", "what the contact model keeps", extras->state);
}

static struct session_extras optional_fields_of_pair(const struct tact_session *s, int pair)
{
    int split = tact_world_piece(s->world, pair, 0) != NULL;
    int springs = tact_world_law(s->world, pair)->tangential_compliance > 0.0;
    return (struct session_extras){.pieces = split ? 12 * TACT_PIECES : 0,
                                   .preload = tact_session_find_known_pair(s, pair)->preloaded,
                                   .springs = springs ? 9 * (split ? 1 + TACT_PIECES : 1) : 0,
                                   .state = tact_world_model(s->world, pair)->state};
}

/* The optional fields of any pair: an element of the list has all of them. */
static struct session_extras optional_fields_of_any_pair(const struct tact_session *s)
{
    const struct tact_world_extent e = tact_world_extent(s->world);
    struct session_extras all = {
        .pieces = e.split ? 12 * TACT_PIECES : 0, .springs = 9 * e.springs, .state = e.state};
    for (int i = 0; i < s->pair_count; i++) {
        all.preload |= s->pairs[i].preloaded;
    }
    return all;
}

/* Logs without lists: each pair has fields. */
static int add_fields_of_all_pairs(struct tact_session *s)
{
    int rc = 0;
    s->every_pair = 1;
    for (int i = tact_world_next_pair(s->world, -1); !rc && i >= 0;
         i = tact_world_next_pair(s->world, i)) {
        const struct session_extras extras = optional_fields_of_pair(s, i);
        struct tact_layout own = {0};
        char name[SESSION_NAME];
        tact_session_name_pair(s, i, name);
        rc = add_fields(&own, &extras);
        long at = rc ? rc : tact_layout_add_pair(&s->layout, &own, name);
        tact_layout_free(&own);
        rc = at < 0 ? (int)at : 0;
        tact_session_pair(s, i)->place = (uint32_t)at + 1;
        s->listed[s->listed_count++] = i;
    }
    return rc;
}

/* Adds fields for the pairs of the log's lists. */
static int add_fields_of_logged_pairs(struct tact_session *s, const struct tact_log *log,
                                      struct tact_error *err)
{
    const struct tact_log_pair *p;
    if (!tact_layout_equal(&s->element, tact_log_element(log))) {
        return tact_error_set(
            err, -EINVAL,
            "the layout of the log's contacts is not that of its scene in this version of tact");
    }
    for (size_t i = 0; (p = tact_log_pair(log, i)); i++) {
        char name[SESSION_NAME];
        int a = p->a < INT32_MAX ? (int)p->a : -1, b = p->b < INT32_MAX ? (int)p->b : -1;
        int pair = tact_world_pair_between(s->world, a, b);
        if (pair < 0) {
            return tact_error_set(err, -EINVAL,
                                  "the log has a contact of shapes %u and %u, which cannot touch "
                                  "in its scene",
                                  p->a, p->b);
        }
        tact_session_name_pair(s, pair, name);
        long at = tact_layout_add_pair(&s->layout, &s->element, name);
        if (at < 0) {
            return (int)at;
        }
        tact_session_pair(s, pair)->place = (uint32_t)at + 1;
        s->listed[s->listed_count++] = pair;
    }
    return 0;
}

/* The fields of an element, and their values for a contact that is not in the list. */
static int make_contact_list_element(struct tact_session *s)
{
    s->extras = optional_fields_of_any_pair(s);
    int rc = add_fields(&s->element, &s->extras);
    if (rc) {
        return rc;
    }
    s->absent = calloc(s->element.size, sizeof *s->absent);
    s->stray = calloc(s->element.size, sizeof *s->stray);
    if (!s->absent || !s->stray) {
        return -ENOMEM;
    }
    s->absent[AT_LIMITS] = TACT_LIMIT_OPEN;
    for (uint32_t i = 0; i < s->element.field_count; i++) {
        s->element.fields[i].absent = s->absent[s->element.fields[i].offset];
    }
    return 0;
}

/* Adds the list to the layout, with the capacity for contacts. */
static int add_contact_list(struct tact_session *s)
{
    int pairs = tact_world_extent(s->world).pairs, room = tact_world_contact_capacity(s->world);
    int list_capacity = MIN_CONTACT_LIST_CAPACITY +
                        CONTACT_LIST_ENTRIES_PER_SHAPE * tact_world_shape_count(s->world);
    room = list_capacity < room ? list_capacity : room;
    room = room < pairs ? room : pairs;
    int rc = tact_layout_add_list(&s->layout, room > 0 ? (uint32_t)room : 1);
    return rc ? rc : tact_layout_add_fields(s->layout.element, &s->element);
}

int tact_session_layout_contacts(struct tact_session *s, const struct tact_log *log,
                                 struct tact_error *err)
{
    size_t pairs = 0;
    int rc = make_contact_list_element(s);
    if (rc || !log) {
        return rc ? rc : add_contact_list(s);
    }
    while (tact_log_pair(log, pairs)) {
        pairs++;
    }
    pairs = tact_log_element(log) ? pairs : (size_t)tact_world_extent(s->world).pairs;
    s->listed = calloc(pairs + 1, sizeof *s->listed);
    if (!s->listed || tact_session_allocate_more_pairs(s, (int)pairs)) {
        return -ENOMEM;
    }
    return tact_log_element(log) ? add_fields_of_logged_pairs(s, log, err)
                                 : add_fields_of_all_pairs(s);
}

const double *tact_session_logged_contact_values(const struct tact_session *s, int pair,
                                                 const struct tact_record *record)
{
    uint32_t place = tact_session_find_known_pair(s, pair)->place;
    return place ? record->values + place - 1 : s->absent;
}

/* Writes the warm start of each piece: its centre, its normal, its impulse. */
static void fill_pieces(struct tact_session *s, int pair, double *v)
{
    for (int k = 0; k < TACT_PIECES; k++, v += 12) {
        const struct tact_contact *piece = tact_world_piece(s->world, pair, k);
        tact_v3_copy(v, piece->warm_point);
        tact_v3_copy(v + 3, piece->patch.frame);
        memcpy(v + 6, piece->warm, sizeof piece->warm);
    }
}

static void restore_pieces(struct tact_session *s, int pair, const double *v)
{
    for (int k = 0; k < TACT_PIECES; k++, v += 12) {
        struct tact_contact *piece = tact_world_piece(s->world, pair, k);
        tact_v3_copy(piece->warm_point, v);
        tact_v3_copy(piece->patch.frame, v + 3);
        memcpy(piece->warm, v + 6, sizeof piece->warm);
    }
}

/* The springs of a pair's patch, k = 0, or of its pieces from 1 on; NULL after the last. */
static struct tact_springs *springs_of_patch_or_piece(struct tact_session *s, int pair, int k)
{
    struct tact_contact *c = k == 0             ? tact_world_contact(s->world, pair)
                             : k <= TACT_PIECES ? tact_world_piece(s->world, pair, k - 1)
                                                : NULL;
    int any = tact_world_law(s->world, pair)->tangential_compliance > 0.0;
    return any && c ? &c->springs : NULL;
}

static void fill_springs(struct tact_session *s, int pair, double *v)
{
    const struct tact_springs *springs;
    for (int k = 0; (springs = springs_of_patch_or_piece(s, pair, k)); k++, v += 9) {
        memcpy(v, springs->impulse, sizeof springs->impulse);
        tact_v3_copy(v + 6, springs->angle);
    }
}

static void restore_springs(struct tact_session *s, int pair, const double *v)
{
    struct tact_springs *springs;
    for (int k = 0; (springs = springs_of_patch_or_piece(s, pair, k)); k++, v += 9) {
        memcpy(springs->impulse, v, sizeof springs->impulse);
        tact_v3_copy(springs->angle, v + 6);
    }
}

static void fill_state(struct tact_session *s, int pair, double *v)
{
    int count;
    const double *state = tact_world_state(s->world, pair, &count);
    if (state) {
        memcpy(v, state, (size_t)count * sizeof *v);
    }
}

static void restore_state(struct tact_session *s, int pair, const double *v)
{
    int count;
    double *state = tact_world_state(s->world, pair, &count);
    if (state) {
        memcpy(state, v, (size_t)count * sizeof *v);
    }
}

/* The optional fields that the record has for a pair. */
static struct session_extras recorded_extras(const struct tact_session *s, int pair)
{
    return s->every_pair ? optional_fields_of_pair(s, pair) : s->extras;
}

static void fill_contact(struct tact_session *s, int pair, double *v)
{
    const struct session_extras extras = recorded_extras(s, pair);
    const struct session_pair *p = tact_session_find_known_pair(s, pair);
    const struct tact_contact *c = tact_world_contact(s->world, pair);
    double *more = v + AT_EXTRAS;
    const struct session_live *live =
        tact_world_slot(s->world, pair) < 0 ? NULL : tact_session_live_state_of_pair(s, pair);
    v[AT_STATUS] = live ? live->status : 0;
    v[AT_STATUS + 1] = live ? live->age : AGE_HOST;
    memcpy(v + AT_MOMENTS, &c->moments, 16 * sizeof *v);
    memcpy(v + AT_WRENCH, c->wrench, sizeof c->wrench);
    memset(v + AT_PATCH, 0, 8 * sizeof *v);
    if (c->touching) {
        tact_v3_copy(v + AT_PATCH, c->patch.center);
        tact_v3_copy(v + AT_PATCH + 3, c->patch.frame);
        v[AT_PATCH + 6] = c->patch.depth;
        v[AT_PATCH + 7] = c->spin_arm;
    }
    memcpy(v + AT_WARM, c->warm, sizeof c->warm);
    tact_v3_copy(v + AT_WARM + 6, c->warm_point);
    tact_v3_copy(v + AT_DIRECTION, tact_world_direction(s->world, pair));
    v[AT_LIMITS] = c->limits;
    memcpy(v + AT_MARGINS, &c->margins, sizeof c->margins);
    const int length = extras.pieces + extras.preload + extras.springs + extras.state;
    if (length > 0) {
        memset(more, 0, (size_t)length * sizeof *v);
    }
    if (extras.pieces && tact_world_piece(s->world, pair, 0)) {
        fill_pieces(s, pair, more);
    }
    more += extras.pieces;
    if (extras.preload) {
        *more++ = p->preloaded ? c->preload : 0.0;
    }
    if (extras.springs) {
        fill_springs(s, pair, more);
    }
    if (extras.state) {
        fill_state(s, pair, more + extras.springs);
    }
}

static void restore_contact(struct tact_session *s, int pair, const double *v)
{
    const struct session_extras extras = recorded_extras(s, pair);
    struct tact_contact *c = tact_world_contact(s->world, pair);
    const double *more = v + AT_EXTRAS;
    memcpy(c->warm, v + AT_WARM, sizeof c->warm);
    tact_v3_copy(c->warm_point, v + AT_WARM + 6);
    tact_world_set_direction(s->world, pair, v + AT_DIRECTION);
    if (extras.pieces && tact_world_piece(s->world, pair, 0)) {
        restore_pieces(s, pair, more);
    }
    more += extras.pieces;
    c->preload = extras.preload && tact_session_find_known_pair(s, pair)->preloaded ? *more : 0.0;
    more += extras.preload;
    if (extras.springs) {
        restore_springs(s, pair, more);
    }
    restore_state(s, pair, more + extras.springs);
    c->starting = 0;
    c->touching = 0;
}

static int is_absent(const struct tact_session *s, const double *v)
{
    return v[AT_STATUS] == s->absent[AT_STATUS] &&
           !memcmp(v, s->absent, s->element.size * sizeof *v);
}

/* Writes the list. A contact beyond its capacity is a fault: see tick.c. */
static void fill_contact_list(struct tact_session *s, double *list)
{
    int count;
    const int *near = tact_world_near(s->world, &count);
    const uint32_t stride = tact_layout_stride(&s->layout);
    uint32_t used = 0;
    s->strays = 0;
    for (int i = 0; i < count; i++) {
        int a, b, room = used < s->layout.most;
        double *element = list + 1 + (size_t)used * stride;
        double *v = room ? element + TACT_ELEMENT_HEAD : s->stray;
        fill_contact(s, near[i], v);
        if (is_absent(s, v)) {
            continue;
        }
        if (!room) {
            s->stray_pair = s->strays++ ? s->stray_pair : near[i];
            continue;
        }
        tact_world_pair_shapes(s->world, near[i], &a, &b);
        element[0] = a;
        element[1] = b;
        element[2] = tact_session_pair_same(s, near[i]);
        used++;
    }
    list[0] = used;
}

/* Writes the fields that a replay compares. */
static void fill_replay_compared_fields(struct tact_session *s, double *values)
{
    int count;
    const int *near = tact_world_near(s->world, &count);
    s->strays = 0;
    for (int i = 0; i < s->listed_count; i++) {
        int pair = s->listed[i];
        fill_contact(s, pair, values + tact_session_find_known_pair(s, pair)->place - 1);
    }
    for (int i = 0; i < count; i++) {
        if (tact_session_find_known_pair(s, near[i])->place) {
            continue;
        }
        fill_contact(s, near[i], s->stray);
        if (!is_absent(s, s->stray)) {
            s->stray_pair = s->strays++ ? s->stray_pair : near[i];
        }
    }
}

void tact_session_fill_contacts(struct tact_session *s, double *values)
{
    if (s->listed) {
        fill_replay_compared_fields(s, values);
    } else if (s->layout.element) {
        fill_contact_list(s, values + s->layout.size);
    }
}

void tact_session_restore_contacts(struct tact_session *s, const double *values)
{
    int count;
    const int *near = tact_world_near(s->world, &count);
    for (int i = 0; i < count; i++) {
        if (!tact_session_find_known_pair(s, near[i])->place) {
            restore_contact(s, near[i], s->absent);
        }
    }
    for (int i = 0; i < s->listed_count; i++) {
        tact_world_add_near(s->world, s->listed[i]);
        restore_contact(s, s->listed[i],
                        values + tact_session_find_known_pair(s, s->listed[i])->place - 1);
    }
}
