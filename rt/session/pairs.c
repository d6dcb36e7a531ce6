/*
 * Permanent information about pairs of shapes, from when they first come near, and their names. As
 * it is never dropped, the capacity is several times the largest number of near pairs; later pairs
 * are simulated and recorded as all others, but not counted individually.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "rt/session/field_source_internal.h"
#include "rt/session/placing_internal.h"
#include "rt/session/session_internal.h"

/* capacity for pairs, as a multiple of the largest number of near pairs; at least as many as a
 * source measures */
#define STORED_PAIRS_PER_NEAR_PAIR 4

/* Name of the owner of a shape: body, "hand.link", or the fixed body. */
const char *tact_session_owner_name(const struct tact_session *s, int shape)
{
    struct tact_owner owner = tact_world_owner(s->world, shape);
    int at = 0;
    if (owner.kind == TACT_OWNER_HAND) {
        return tact_session_link_name(s, owner.index, owner.link);
    }
    if (owner.kind == TACT_OWNER_BODY) {
        return s->bodies[owner.index].name;
    }
    for (uint32_t i = 0; i < s->scene->bodies_count; i++) {
        at += (int)s->scene->bodies[i].shapes_count;
        if (shape < at) {
            return s->scene->bodies[i].name;
        }
    }
    return "";
}

/* the shapes of one owner have consecutive indices */
static int name_shape_owners(struct tact_session *s)
{
    int shapes = tact_world_shape_count(s->world);
    s->shape_owner_names = calloc((size_t)shapes + 1, sizeof *s->shape_owner_names);
    s->first_shape_of_owner = calloc((size_t)shapes + 1, sizeof *s->first_shape_of_owner);
    s->near_pairs = calloc((size_t)tact_world_near_capacity(s->world) + 1, sizeof *s->near_pairs);
    if (!s->near_pairs || !s->shape_owner_names || !s->first_shape_of_owner) {
        return -ENOMEM;
    }
    for (int i = 0; i < shapes; i++) {
        s->shape_owner_names[i] = tact_session_owner_name(s, i);
        s->first_shape_of_owner[i] = i > 0 && s->shape_owner_names[i] == s->shape_owner_names[i - 1]
                                         ? s->first_shape_of_owner[i - 1]
                                         : i;
    }
    return 0;
}

int tact_session_allocate_more_pairs(struct tact_session *s, int additional_pair_count)
{
    size_t capacity = (size_t)s->pair_capacity + (size_t)additional_pair_count;
    struct session_pair *pairs = calloc(capacity + 1, sizeof *pairs);
    free(s->pairs_sorted_by_number);
    s->pairs_sorted_by_number = calloc(capacity + 1, sizeof *s->pairs_sorted_by_number);
    tact_keys_destroy(&s->pair_index_by_number);
    if (tact_keys_create(&s->pair_index_by_number, (int)capacity) || !pairs ||
        !s->pairs_sorted_by_number) {
        free(pairs);
        return -ENOMEM;
    }
    for (int i = 0; i < s->pair_count; i++) {
        pairs[i] = s->pairs[i];
        tact_keys_insert(&s->pair_index_by_number, pairs[i].number, i);
    }
    free(s->pairs);
    s->pairs = pairs;
    s->pair_capacity = (int)capacity;
    pairs[capacity].number = -1;
    return 0;
}

int tact_session_allocate_pairs(struct tact_session *s)
{
    int max_pair_count = tact_world_extent(s->world).pairs,
        expected_pair_count = STORED_PAIRS_PER_NEAR_PAIR * tact_world_near_capacity(s->world);
    int rc = name_shape_owners(s);
    return rc ? rc
              : tact_session_allocate_more_pairs(
                    s, expected_pair_count < max_pair_count ? expected_pair_count : max_pair_count);
}

void tact_session_free_pairs(struct tact_session *s)
{
    for (int i = 0; i < s->pair_count; i++) {
        free(s->pairs[i].name);
    }
    if (s->pairs) {
        free(s->pairs[s->pair_capacity].name);
    }
    free(s->pairs);
    free(s->pairs_sorted_by_number);
    tact_keys_destroy(&s->pair_index_by_number);
    free(s->shape_owner_names);
    free(s->first_shape_of_owner);
    free(s->near_pairs);
}

struct session_pair *tact_session_find_or_add_pair(struct tact_session *s, int pair)
{
    int at = tact_keys_find(&s->pair_index_by_number, pair);
    if (at >= 0) {
        return &s->pairs[at];
    }
    if (s->pair_count == s->pair_capacity) {
        s->has_pair_overflow = 1;
        return &s->pairs[s->pair_capacity];
    }
    struct session_pair *p = &s->pairs[s->pair_count];
    tact_keys_insert(&s->pair_index_by_number, pair, s->pair_count++);
    p->number = pair;
    if (s->is_moment_source_open) {
        tact_session_init_pair_source(s, p);
    }
    tact_session_init_field_pair(s, p);
    return p;
}

TACT_IN_TICK_RECORD_SECTION const struct session_pair *
tact_session_find_known_pair(const struct tact_session *s, int pair)
{
    static const struct session_pair unknown_session_pair = {.number = -1};
    int at = tact_keys_find(&s->pair_index_by_number, pair);
    return at < 0 ? &unknown_session_pair : &s->pairs[at];
}

static int compare_pair_numbers(const void *a, const void *b)
{
    const struct session_pair *p = *(struct session_pair *const *)a;
    const struct session_pair *q = *(struct session_pair *const *)b;
    return (p->number > q->number) - (p->number < q->number);
}

struct session_pair **tact_session_sorted_pairs(struct tact_session *s)
{
    for (int i = 0; i < s->pair_count; i++) {
        s->pairs_sorted_by_number[i] = &s->pairs[i];
    }
    qsort(s->pairs_sorted_by_number, (size_t)s->pair_count, sizeof *s->pairs_sorted_by_number,
          compare_pair_numbers);
    return s->pairs_sorted_by_number;
}

TACT_IN_TICK_RECORD_SECTION int tact_session_pair_number_of_same_name(struct tact_session *s,
                                                                      int pair)
{
    int a, b, shapes = tact_world_shape_count(s->world);
    int at = tact_keys_find(&s->pair_index_by_number, pair);
    if (at >= 0 && s->pairs[at].number_among_pairs_of_same_name) {
        return s->pairs[at].number_among_pairs_of_same_name;
    }
    tact_world_pair_shapes(s->world, pair, &a, &b);
    int number = 0;
    for (int i = s->first_shape_of_owner[a]; i <= a; i++) {
        for (int k = s->first_shape_of_owner[b];
             k < shapes && s->first_shape_of_owner[k] == s->first_shape_of_owner[b]; k++) {
            number += tact_world_pair_between(s->world, i, k) >= 0 && (i < a || k <= b);
        }
    }
    if (at >= 0) {
        s->pairs[at].number_among_pairs_of_same_name = number;
    }
    return number;
}

static size_t append_within_pair_name(char *out, size_t used, const char *text)
{
    for (; *text && used < PAIR_NAME_BYTES - 1; text++) {
        out[used++] = *text;
    }
    return used;
}

void tact_session_name_pair(struct tact_session *s, int pair, char out[PAIR_NAME_BYTES])
{
    int a, b, number_among_pairs_of_same_name = tact_session_pair_number_of_same_name(s, pair);
    char number[12];
    size_t used = 0, digit = sizeof number - 1;
    tact_world_pair_shapes(s->world, pair, &a, &b);
    used = append_within_pair_name(out, used, s->shape_owner_names[a]);
    used = append_within_pair_name(out, used, "/");
    used = append_within_pair_name(out, used, s->shape_owner_names[b]);
    number[digit] = 0;
    for (int n = number_among_pairs_of_same_name; number_among_pairs_of_same_name > 1 && n > 0;
         n /= 10) {
        number[--digit] = (char)('0' + n % 10);
    }
    if (number_among_pairs_of_same_name > 1) {
        used =
            append_within_pair_name(out, append_within_pair_name(out, used, "#"), number + digit);
    }
    out[used] = 0;
}

const char *tact_session_pair_name(struct tact_session *session, int pair)
{
    struct session_pair *p = tact_session_find_or_add_pair(session, pair);
    if (!p->name || p->number != pair) {
        char name[PAIR_NAME_BYTES];
        tact_session_name_pair(session, pair, name);
        free(p->name);
        p->name = strdup(name);
    }
    return p->name ? p->name : "";
}

struct tact_session_pair_report tact_session_pair_report(const struct tact_session *session,
                                                         int pair)
{
    const struct session_pair *p = tact_session_find_known_pair(session, pair);
    return (struct tact_session_pair_report){.host_ticks = p->tick_counts.host,
                                             .source_ticks = p->tick_counts.source,
                                             .unmeasured_ticks = p->tick_counts.unmeasured,
                                             .age_max = p->tick_counts.age_max,
                                             .by_source = p->by_source,
                                             .cost = 1e-9 * p->cost_ns};
}
