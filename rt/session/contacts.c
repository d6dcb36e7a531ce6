/*
 * The contacts of a tick in its record: a list of those that touch or have state for the next tick.
 * In a replay each pair of the log's lists has fields of its own, as all pairs of the scene have
 * for logs without lists.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "rt/session/field_source_internal.h"
#include "rt/session/session_internal.h"

/* smallest capacity of the contact list; it grows with the number of shapes */
#define MIN_CONTACT_LIST_CAPACITY 256
#define CONTACT_LIST_ENTRIES_PER_SHAPE 8
/* Most bytes of a list that has capacity for all pairs of the scene: for those that touch, and for
 * those that are near, which are in the list too where their model has state. */
#define MAX_LIST_BYTES_FOR_ALL_TOUCHING_PAIRS (1U << 20)
#define MAX_LIST_BYTES_FOR_ALL_NEAR_PAIRS (4U << 20)

static const char moments_unit_text[] =
    "volume m^3, centroid m (3), second moment m^5 xx yy zz xy xz yz, "
    "grad m^2 m^3 (6)";

/* Name of the field of the poses at which a contact was measured. */
#define MEASURED_POSES_FIELD_NAME "measured"

_Static_assert(SESSION_MEASURED_POSES * sizeof(double) == 2 * sizeof(struct tact_pose),
               "the field of measured poses must have the size of two poses");

struct contact_record_field {
    enum tact_field_kind kind;
    const char *name, *unit;
    uint32_t count;
};

static const struct contact_record_field fields[] = {
    {TACT_FIELD_INPUT, "status", "1 overlap, 0 none, negative errno; age in ticks, 0 host", 2},
    {TACT_FIELD_INPUT, "moments", moments_unit_text, 16},
    {TACT_FIELD_OUTPUT, "wrench", "N, N m on the first, world, about the patch's centre", 6},
    {TACT_FIELD_OUTPUT, "patch", "centre m (3), normal (3), depth m, spin arm m", 8},
    {TACT_FIELD_OUTPUT, "warm", "warm start: impulse N s, N m s (6), about the point m (3)", 9},
    {TACT_FIELD_OUTPUT, "direction", "last normal", 3},
    {TACT_FIELD_OUTPUT, "limits", "1 open, 2 friction, 4 edge, 8 spin, 16 joint, 32 rolling", 1},
    {TACT_FIELD_OUTPUT, "margins",
     "left of each limit, -1 to 1: normal, slip, friction, spin, edge, joint", TACT_MARGIN_COUNT},
};

_Static_assert(CONTACT_EXTRAS_OFFSET == CONTACT_MARGINS_OFFSET + TACT_MARGIN_COUNT,
               "the extras follow");

static int add_contact_element_field(struct tact_layout *to, enum tact_field_kind kind,
                                     const char *name, const char *unit, int count)
{
    long rc = count > 0 ? tact_layout_add(to, kind, name, unit, (uint32_t)count) : 0;
    return rc < 0 ? (int)rc : 0;
}

/* Adds the fields of a contact to a layout. */
static int add_contact_fields(struct tact_layout *to,
                              const struct session_optional_contact_fields *optional_contact_fields)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct contact_record_field *f = &fields[i];
        long rc = tact_layout_add(to, f->kind, f->name, f->unit, f->count);
        if (rc < 0) {
            return (int)rc;
        }
    }
    int rc = add_contact_element_field(to, TACT_FIELD_OUTPUT, "pieces",
                                       "each: centre m, normal, impulse on the first N s, N m s",
                                       optional_contact_fields->pieces);
    rc = rc ? rc
            : add_contact_element_field(to, TACT_FIELD_OUTPUT, "preload", SESSION_PRELOAD_UNIT_TEXT,
                                        optional_contact_fields->preload);
    rc = rc ? rc
            : add_contact_element_field(
                  to, TACT_FIELD_OUTPUT, "springs",
                  "each: impulse N s, N m s, angle rad, world; of the patch, then its "
                  "pieces",
                  optional_contact_fields->springs);
    rc = rc ? rc
            : add_contact_element_field(to, TACT_FIELD_OUTPUT, "state",
                                        "what the contact model keeps",
                                        optional_contact_fields->state);
    return rc ? rc
              : add_contact_element_field(to, TACT_FIELD_INPUT, MEASURED_POSES_FIELD_NAME,
                                          "pose of the first, then of the second at which the "
                                          "contact was measured: m (3), quat_wxyz; 0 those now",
                                          optional_contact_fields->measured);
}

static struct session_optional_contact_fields optional_fields_of_pair(const struct tact_session *s,
                                                                      int pair)
{
    int split = tact_world_piece(s->world, pair, 0) != NULL;
    int springs = tact_world_law(s->world, pair)->tangential_compliance > 0.0;
    return (struct session_optional_contact_fields){
        .pieces = split ? 12 * TACT_PIECES : 0,
        .preload = tact_session_find_known_pair(s, pair)->starts_deeper_than_target,
        .springs = springs ? 9 * (split ? 1 + TACT_PIECES : 1) : 0,
        .state = tact_world_model(s->world, pair)->state};
}

/* The optional fields that any pair needs: each element of the contact list has all of them. */
static struct session_optional_contact_fields
optional_fields_of_any_pair(const struct tact_session *s)
{
    const struct tact_world_extent e = tact_world_extent(s->world);
    struct session_optional_contact_fields optional_contact_fields = {
        .pieces = e.split ? 12 * TACT_PIECES : 0, .springs = 9 * e.springs, .state = e.state};
    for (int i = 0; i < s->pair_count; i++) {
        optional_contact_fields.preload |= s->pairs[i].starts_deeper_than_target;
    }
    return optional_contact_fields;
}

/* Adds fields of every pair, as in logs without contact lists. */
static int add_fields_of_all_pairs(struct tact_session *s)
{
    int rc = 0;
    s->has_fields_of_every_pair = 1;
    for (int i = tact_world_next_pair(s->world, -1); !rc && i >= 0;
         i = tact_world_next_pair(s->world, i)) {
        const struct session_optional_contact_fields optional_contact_fields =
            optional_fields_of_pair(s, i);
        struct tact_layout contact_layout_of_pair = {0};
        char name[PAIR_NAME_BYTES];
        tact_session_name_pair(s, i, name);
        rc = add_contact_fields(&contact_layout_of_pair, &optional_contact_fields);
        long at = rc ? rc : tact_layout_add_pair(&s->layout, &contact_layout_of_pair, name);
        tact_layout_free(&contact_layout_of_pair);
        rc = at < 0 ? (int)at : 0;
        tact_session_find_or_add_pair(s, i)->record_offset_plus_one = (uint32_t)at + 1;
        s->recorded_pairs[s->recorded_pair_count++] = i;
    }
    return rc;
}

/* Adds fields for the pairs of the log's lists. */
static int add_fields_of_logged_pairs(struct tact_session *s, const struct tact_log *log,
                                      struct tact_error *err)
{
    const struct tact_log_pair *p;
    if (!tact_layout_equal(&s->contact_element_layout, tact_log_element(log))) {
        return tact_error_set(err, -EINVAL,
                              "the log's contacts have another layout than this version of tact "
                              "derives from its scene");
    }
    for (size_t i = 0; (p = tact_log_pair(log, i)); i++) {
        char name[PAIR_NAME_BYTES];
        int a = p->a < INT32_MAX ? (int)p->a : -1, b = p->b < INT32_MAX ? (int)p->b : -1;
        int pair = tact_world_pair_between(s->world, a, b);
        if (pair < 0) {
            return tact_error_set(
                err, -EINVAL,
                "the log has a contact of shapes %u and %u, but they cannot touch in its scene",
                p->a, p->b);
        }
        tact_session_name_pair(s, pair, name);
        long at = tact_layout_add_pair(&s->layout, &s->contact_element_layout, name);
        if (at < 0) {
            return (int)at;
        }
        tact_session_find_or_add_pair(s, pair)->record_offset_plus_one = (uint32_t)at + 1;
        s->recorded_pairs[s->recorded_pair_count++] = pair;
    }
    return 0;
}

/* Makes the fields of a list element, and their values for a contact that is not in the list. log:
 * the one that is replayed, or NULL. */
static int make_contact_list_element(struct tact_session *s, const struct tact_log *log)
{
    const struct tact_layout *element_layout_of_log = log ? tact_log_element(log) : NULL;
    const int has_measured_poses =
        log ? element_layout_of_log &&
                  tact_layout_find(element_layout_of_log, MEASURED_POSES_FIELD_NAME)
            : tact_session_may_carry_field_measurements(s);
    s->optional_contact_fields = optional_fields_of_any_pair(s);
    s->optional_contact_fields.measured = has_measured_poses ? SESSION_MEASURED_POSES : 0;
    s->measured_poses_offset =
        (uint32_t)(CONTACT_EXTRAS_OFFSET + s->optional_contact_fields.pieces +
                   s->optional_contact_fields.preload + s->optional_contact_fields.springs +
                   s->optional_contact_fields.state);
    int rc = add_contact_fields(&s->contact_element_layout, &s->optional_contact_fields);
    if (rc) {
        return rc;
    }
    s->absent_contact_values =
        calloc(s->contact_element_layout.size, sizeof *s->absent_contact_values);
    s->unrecorded_contact_values =
        calloc(s->contact_element_layout.size, sizeof *s->unrecorded_contact_values);
    if (!s->absent_contact_values || !s->unrecorded_contact_values) {
        return -ENOMEM;
    }
    s->absent_contact_values[CONTACT_LIMITS_OFFSET] = TACT_LIMIT_OPEN;
    for (uint32_t i = 0; i < s->contact_element_layout.field_count; i++) {
        s->contact_element_layout.fields[i].absent =
            s->absent_contact_values[s->contact_element_layout.fields[i].offset];
    }
    return 0;
}

/* Number of list elements that fit in a record of TACT_RECORD_BYTES_MAX behind its other fields. */
static int max_contacts_in_record(const struct tact_session *s)
{
    const size_t fixed = tact_layout_bytes(&s->layout) + sizeof(double);
    const size_t contact_element_bytes =
        (TACT_ELEMENT_HEAD + s->contact_element_layout.size) * sizeof(double);
    return (int)((TACT_RECORD_BYTES_MAX - fixed) / contact_element_bytes);
}

/* Adds the contact list to the layout, with its capacity. */
static int add_contact_list(struct tact_session *s)
{
    const struct tact_world_extent extent = tact_world_extent(s->world);
    const unsigned bytes =
        extent.state ? MAX_LIST_BYTES_FOR_ALL_NEAR_PAIRS : MAX_LIST_BYTES_FOR_ALL_TOUCHING_PAIRS;
    const int contact_capacity_within_bytes =
        (int)(bytes / ((TACT_ELEMENT_HEAD + s->contact_element_layout.size) * sizeof(double)));
    int contact_list_capacity = MIN_CONTACT_LIST_CAPACITY +
                                CONTACT_LIST_ENTRIES_PER_SHAPE * tact_world_shape_count(s->world);
    contact_list_capacity = contact_capacity_within_bytes > contact_list_capacity
                                ? contact_capacity_within_bytes
                                : contact_list_capacity;
    int capacity =
        extent.state ? tact_world_near_capacity(s->world) : tact_world_contact_capacity(s->world);
    capacity = capacity < extent.pairs ? capacity : extent.pairs;
    contact_list_capacity = contact_list_capacity < capacity ? contact_list_capacity : capacity;
    contact_list_capacity = contact_list_capacity < max_contacts_in_record(s)
                                ? contact_list_capacity
                                : max_contacts_in_record(s);
    int rc = tact_layout_add_list(&s->layout,
                                  contact_list_capacity > 0 ? (uint32_t)contact_list_capacity : 1);
    return rc ? rc : tact_layout_add_fields(s->layout.element, &s->contact_element_layout);
}

int tact_session_layout_contacts(struct tact_session *s, const struct tact_log *log,
                                 struct tact_error *err)
{
    size_t pairs = 0;
    int rc = make_contact_list_element(s, log);
    if (rc || !log) {
        return rc ? rc : add_contact_list(s);
    }
    while (tact_log_pair(log, pairs)) {
        pairs++;
    }
    pairs = tact_log_element(log) ? pairs : (size_t)tact_world_extent(s->world).pairs;
    s->recorded_pairs = calloc(pairs + 1, sizeof *s->recorded_pairs);
    if (!s->recorded_pairs || tact_session_allocate_more_pairs(s, (int)pairs)) {
        return -ENOMEM;
    }
    return tact_log_element(log) ? add_fields_of_logged_pairs(s, log, err)
                                 : add_fields_of_all_pairs(s);
}

const double *tact_session_logged_contact_values(const struct tact_session *s, int pair,
                                                 const struct tact_record *record)
{
    uint32_t record_offset_of_pair_plus_one =
        tact_session_find_known_pair(s, pair)->record_offset_plus_one;
    return record_offset_of_pair_plus_one ? record->values + record_offset_of_pair_plus_one - 1
                                          : s->absent_contact_values;
}

/* Writes the warm start of each piece: its centre, its normal, its impulse. */
static void fill_contact_piece_fields(struct tact_session *s, int pair, double *v)
{
    for (int k = 0; k < TACT_PIECES; k++, v += 12) {
        const struct tact_contact *piece = tact_world_piece(s->world, pair, k);
        tact_v3_copy(v, piece->warm_point);
        tact_v3_copy(v + 3, piece->patch.frame);
        memcpy(v + 6, piece->warm, sizeof piece->warm);
    }
}

static void restore_contact_pieces(struct tact_session *s, int pair, const double *v)
{
    for (int k = 0; k < TACT_PIECES; k++, v += 12) {
        struct tact_contact *piece = tact_world_piece(s->world, pair, k);
        tact_v3_copy(piece->warm_point, v);
        tact_v3_copy(piece->patch.frame, v + 3);
        memcpy(piece->warm, v + 6, sizeof piece->warm);
    }
}

/* The springs of a pair's patch for k = 0, or of its pieces from k = 1 on; NULL after the last. */
static struct tact_springs *contact_springs_of_patch_or_piece(struct tact_session *s, int pair,
                                                              int k)
{
    struct tact_contact *c = k == 0             ? tact_world_contact(s->world, pair)
                             : k <= TACT_PIECES ? tact_world_piece(s->world, pair, k - 1)
                                                : NULL;
    int has_tangential_springs = tact_world_law(s->world, pair)->tangential_compliance > 0.0;
    return has_tangential_springs && c ? &c->springs : NULL;
}

static void fill_spring_fields(struct tact_session *s, int pair, double *v)
{
    const struct tact_springs *springs;
    for (int k = 0; (springs = contact_springs_of_patch_or_piece(s, pair, k)); k++, v += 9) {
        memcpy(v, springs->impulse, sizeof springs->impulse);
        tact_v3_copy(v + 6, springs->angle);
    }
}

static void restore_contact_springs(struct tact_session *s, int pair, const double *v)
{
    struct tact_springs *springs;
    for (int k = 0; (springs = contact_springs_of_patch_or_piece(s, pair, k)); k++, v += 9) {
        memcpy(springs->impulse, v, sizeof springs->impulse);
        tact_v3_copy(springs->angle, v + 6);
    }
}

static void fill_model_state_fields(struct tact_session *s, int pair, double *v)
{
    int count;
    const double *state = tact_world_state(s->world, pair, &count);
    if (state) {
        memcpy(v, state, (size_t)count * sizeof *v);
    }
}

static void restore_contact_model_state(struct tact_session *s, int pair, const double *v)
{
    int count;
    double *state = tact_world_state(s->world, pair, &count);
    if (state) {
        memcpy(state, v, (size_t)count * sizeof *v);
    }
}

/* Which optional fields the record has for a pair. */
static struct session_optional_contact_fields
get_recorded_optional_fields(const struct tact_session *s, int pair)
{
    return s->has_fields_of_every_pair ? optional_fields_of_pair(s, pair)
                                       : s->optional_contact_fields;
}

static TACT_IN_TICK_RECORD_SECTION void fill_contact_fields(struct tact_session *s, int pair,
                                                            const struct tact_contact *c, double *v)
{
    const struct session_optional_contact_fields optional_contact_fields =
        get_recorded_optional_fields(s, pair);
    const int slot = tact_world_slot(s->world, pair);
    double *next_optional_contact_value = v + CONTACT_EXTRAS_OFFSET;
    const struct session_near_pair *near_pair =
        slot < 0 ? NULL : tact_session_near_pair_in_slot(s, slot, pair);
    v[CONTACT_STATUS_OFFSET] = near_pair ? near_pair->status : 0;
    v[CONTACT_STATUS_OFFSET + 1] = near_pair ? near_pair->age : AGE_OF_HOST_MOMENTS;
    memcpy(v + CONTACT_MOMENTS_OFFSET, &c->moments, 16 * sizeof *v);
    memcpy(v + CONTACT_WRENCH_OFFSET, c->wrench, sizeof c->wrench);
    memset(v + CONTACT_PATCH_OFFSET, 0, 8 * sizeof *v);
    if (c->touching) {
        tact_v3_copy(v + CONTACT_PATCH_OFFSET, c->patch.center);
        tact_v3_copy(v + CONTACT_PATCH_OFFSET + 3, c->patch.frame);
        v[CONTACT_PATCH_OFFSET + 6] = c->patch.depth;
        v[CONTACT_PATCH_OFFSET + 7] = c->spin_arm;
    }
    memcpy(v + CONTACT_WARM_START_OFFSET, c->warm, sizeof c->warm);
    tact_v3_copy(v + CONTACT_WARM_START_OFFSET + 6, c->warm_point);
    tact_v3_copy(v + CONTACT_LAST_NORMAL_OFFSET, tact_world_direction(s->world, pair));
    v[CONTACT_LIMITS_OFFSET] = c->limits;
    memcpy(v + CONTACT_MARGINS_OFFSET, &c->margins, sizeof c->margins);
    const int length = optional_contact_fields.pieces + optional_contact_fields.preload +
                       optional_contact_fields.springs + optional_contact_fields.state +
                       optional_contact_fields.measured;
    if (length > 0) {
        memset(next_optional_contact_value, 0, (size_t)length * sizeof *v);
    }
    if (optional_contact_fields.pieces && tact_world_piece(s->world, pair, 0)) {
        fill_contact_piece_fields(s, pair, next_optional_contact_value);
    }
    next_optional_contact_value += optional_contact_fields.pieces;
    if (optional_contact_fields.preload) {
        *next_optional_contact_value++ =
            tact_session_find_known_pair(s, pair)->starts_deeper_than_target ? c->preload : 0.0;
    }
    if (optional_contact_fields.springs) {
        fill_spring_fields(s, pair, next_optional_contact_value);
    }
    if (optional_contact_fields.state) {
        fill_model_state_fields(s, pair,
                                next_optional_contact_value + optional_contact_fields.springs);
    }
    if (optional_contact_fields.measured && near_pair) {
        memcpy(v + s->measured_poses_offset, near_pair->measured, sizeof near_pair->measured);
    }
}

static void restore_contact_of_record(struct tact_session *s, int pair, const double *v)
{
    const struct session_optional_contact_fields optional_contact_fields =
        get_recorded_optional_fields(s, pair);
    struct tact_contact *c = tact_world_contact(s->world, pair);
    const double *next_optional_contact_value = v + CONTACT_EXTRAS_OFFSET;
    memcpy(c->warm, v + CONTACT_WARM_START_OFFSET, sizeof c->warm);
    tact_v3_copy(c->warm_point, v + CONTACT_WARM_START_OFFSET + 6);
    tact_world_set_direction(s->world, pair, v + CONTACT_LAST_NORMAL_OFFSET);
    if (optional_contact_fields.pieces && tact_world_piece(s->world, pair, 0)) {
        restore_contact_pieces(s, pair, next_optional_contact_value);
    }
    next_optional_contact_value += optional_contact_fields.pieces;
    c->preload = optional_contact_fields.preload &&
                         tact_session_find_known_pair(s, pair)->starts_deeper_than_target
                     ? *next_optional_contact_value
                     : 0.0;
    next_optional_contact_value += optional_contact_fields.preload;
    if (optional_contact_fields.springs) {
        restore_contact_springs(s, pair, next_optional_contact_value);
    }
    restore_contact_model_state(s, pair,
                                next_optional_contact_value + optional_contact_fields.springs);
    c->starting = 0;
    c->touching = 0;
    c->split = 0;
}

static TACT_IN_TICK_RECORD_SECTION int is_contact_record_empty(const struct tact_session *s,
                                                               const double *v)
{
    return v[CONTACT_STATUS_OFFSET] == s->absent_contact_values[CONTACT_STATUS_OFFSET] &&
           !memcmp(v, s->absent_contact_values, s->contact_element_layout.size * sizeof *v);
}

/* Writes the list. A contact beyond its capacity is a fault: see tick.c. */
static TACT_IN_TICK_RECORD_SECTION void fill_contact_list(struct tact_session *s, double *list)
{
    int count;
    const int *near = tact_world_near(s->world, &count);
    const uint32_t stride = tact_layout_stride(&s->layout);
    uint32_t written_contact_count = 0;
    s->unrecorded_contact_count = 0;
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(s->world, near[i]);
        const int has_room_for_contact = written_contact_count < s->layout.most;
        double *element = list + 1 + (size_t)written_contact_count * stride;
        double *v =
            has_room_for_contact ? element + TACT_ELEMENT_HEAD : s->unrecorded_contact_values;
        fill_contact_fields(s, near[i], c, v);
        if (is_contact_record_empty(s, v)) {
            continue;
        }
        if (!has_room_for_contact) {
            s->first_unrecorded_pair =
                s->unrecorded_contact_count++ ? s->first_unrecorded_pair : near[i];
            continue;
        }
        element[0] = c->a;
        element[1] = c->b;
        element[2] = tact_session_pair_number_of_same_name(s, near[i]);
        written_contact_count++;
    }
    list[0] = written_contact_count;
}

/* Writes the fields that a replay compares. */
static void fill_replay_compared_fields(struct tact_session *s, double *values)
{
    int count;
    const int *near = tact_world_near(s->world, &count);
    s->unrecorded_contact_count = 0;
    for (int i = 0; i < s->recorded_pair_count; i++) {
        int pair = s->recorded_pairs[i];
        const uint32_t first = tact_session_find_known_pair(s, pair)->record_offset_plus_one - 1;
        fill_contact_fields(s, pair, tact_world_contact(s->world, pair), values + first);
    }
    for (int i = 0; i < count; i++) {
        if (tact_session_find_known_pair(s, near[i])->record_offset_plus_one) {
            continue;
        }
        fill_contact_fields(s, near[i], tact_world_contact(s->world, near[i]),
                            s->unrecorded_contact_values);
        if (!is_contact_record_empty(s, s->unrecorded_contact_values)) {
            s->first_unrecorded_pair =
                s->unrecorded_contact_count++ ? s->first_unrecorded_pair : near[i];
        }
    }
}

TACT_IN_TICK_RECORD_SECTION void tact_session_fill_contacts(struct tact_session *s, double *values)
{
    if (s->recorded_pairs) {
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
        if (!tact_session_find_known_pair(s, near[i])->record_offset_plus_one) {
            restore_contact_of_record(s, near[i], s->absent_contact_values);
        }
    }
    for (int i = 0; i < s->recorded_pair_count; i++) {
        tact_world_add_near(s->world, s->recorded_pairs[i]);
        restore_contact_of_record(
            s, s->recorded_pairs[i],
            values + tact_session_find_known_pair(s, s->recorded_pairs[i])->record_offset_plus_one -
                1);
    }
}
