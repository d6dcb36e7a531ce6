/* The lists of contacts in the ticks of a log: each pair that occurs in one gets fields of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log_internal.h"

/* maximum number of fields of all pairs together: 350 bytes of memory each */
#define MAX_FIELDS_OF_ALL_LOG_PAIRS (1U << 20)

int tact_log_parse_tick(const struct tact_log *log, struct tact_byte_span data,
                        struct tact_log_tick *tick)
{
    struct tact_cdr_reader cdr = tact_cdr_open_message(data.data, data.size);
    struct tact_log_contact_element element;

    *tick = (struct tact_log_tick){.stamp_ns = tact_cdr_get_time(&cdr)};
    tick->tick = tact_cdr_get_u64(&cdr);
    tick->values = tact_cdr_get_f64_array(&cdr, log->layout.size).data;
    if (log->layout.element) {
        tick->contact_list_element_count = tact_cdr_get_u32(&cdr);
    }
    if (cdr.in.bad) {
        return -EBADMSG;
    }
    tick->list = cdr;
    struct tact_log_tick rest = *tick;
    while (tact_log_next_contact_element(log, &rest, &element)) {
        ;
    }
    return rest.list.in.bad || rest.contact_list_element_count > 0 || rest.list.in.left > 0
               ? -EBADMSG
               : 0;
}

bool tact_log_next_contact_element(const struct tact_log *log, struct tact_log_tick *tick,
                                   struct tact_log_contact_element *element)
{
    if (tick->contact_list_element_count == 0 || !log->layout.element) {
        return false;
    }
    element->name = tact_cdr_get_string(&tick->list);
    element->a = tact_cdr_get_u32(&tick->list);
    element->b = tact_cdr_get_u32(&tick->list);
    element->number_among_pairs_of_same_name = tact_cdr_get_u32(&tick->list);
    element->values = tact_cdr_get_f64_array(&tick->list, log->layout.element->size).data;
    if (tick->list.in.bad) {
        return false;
    }
    tick->contact_list_element_count--;
    return true;
}

/* Slot of a pair in the hash table, or the free slot for it. */
static size_t pair_hash_slot(const struct tact_log_pairs *pairs, uint32_t a, uint32_t b)
{
    uint64_t key = (uint64_t)a << 32 | b;
    size_t at =
        (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (pairs->pair_hash_slot_count - 1);

    for (; pairs->slots[at]; at = (at + 1) & (pairs->pair_hash_slot_count - 1)) {
        const struct tact_log_pair *pair = &pairs->list[pairs->slots[at] - 1];
        if (pair->a == a && pair->b == b) {
            break;
        }
    }
    return at;
}

static void fill_pair_hash_slots(struct tact_log_pairs *pairs)
{
    memset(pairs->slots, 0, pairs->pair_hash_slot_count * sizeof *pairs->slots);
    for (size_t i = 0; i < pairs->count; i++) {
        pairs->slots[pair_hash_slot(pairs, pairs->list[i].a, pairs->list[i].b)] = (uint32_t)i + 1;
    }
}

/* Ensures capacity for one more pair; the hash table stays at most half full. */
static int reserve_pair_capacity(struct tact_log_pairs *pairs)
{
    if (pairs->count < pairs->capacity) {
        return 0;
    }
    size_t capacity = pairs->capacity ? 2 * pairs->capacity : 64;
    struct tact_log_pair *list = realloc(pairs->list, capacity * sizeof *list);
    if (!list) {
        return -ENOMEM;
    }
    pairs->list = list;
    uint32_t *slots = malloc(2 * capacity * sizeof *slots);
    if (!slots) {
        return -ENOMEM;
    }
    free(pairs->slots);
    pairs->slots = slots;
    pairs->pair_hash_slot_count = 2 * capacity;
    pairs->capacity = capacity;
    fill_pair_hash_slots(pairs);
    return 0;
}

/* Adds a pair to the log; takes ownership of name. */
static int add_pair_of_log(struct tact_log *log, uint32_t a, uint32_t b, char *name)
{
    struct tact_log_pairs *pairs = &log->pairs;
    const uint64_t size = log->layout.size, pair_size = log->layout.element->size;
    int rc = !name ? -ENOMEM : 0;

    if (rc == 0 &&
        (size + (pairs->count + 1) * pair_size > TACT_LAYOUT_MAX_READ ||
         (pairs->count + 1) * log->layout.element->field_count > MAX_FIELDS_OF_ALL_LOG_PAIRS)) {
        rc = -E2BIG;
    }
    if (rc == 0) {
        rc = reserve_pair_capacity(pairs);
    }
    if (rc != 0) {
        free(name);
        return rc;
    }
    tact_utf8_repair(name);
    pairs->slots[pair_hash_slot(pairs, a, b)] = (uint32_t)pairs->count + 1;
    pairs->list[pairs->count++] = (struct tact_log_pair){.name = name, .a = a, .b = b};
    return 0;
}

static bool does_list_contain_pair(const struct tact_log_pairs *pairs, uint32_t a, uint32_t b)
{
    return pairs->pair_hash_slot_count > 0 && pairs->slots[pair_hash_slot(pairs, a, b)] != 0;
}

int tact_log_pairs_add(struct tact_log *log, struct tact_log_tick tick)
{
    struct tact_log_contact_element element;
    int rc = 0;

    while (rc == 0 && tact_log_next_contact_element(log, &tick, &element)) {
        if (!does_list_contain_pair(&log->pairs, element.a, element.b)) {
            rc = add_pair_of_log(log, element.a, element.b,
                                 tact_byte_span_copy_to_text(element.name));
        }
    }
    return rc;
}

int tact_log_pairs_merge(struct tact_log *log, const struct tact_log_pairs *from)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < from->count; i++) {
        const struct tact_log_pair *pair = &from->list[i];
        if (!does_list_contain_pair(&log->pairs, pair->a, pair->b)) {
            rc = add_pair_of_log(log, pair->a, pair->b, strdup(pair->name));
        }
    }
    return rc;
}

static int compare_pairs_by_shapes(const void *left, const void *right)
{
    const struct tact_log_pair *l = left, *r = right;

    return l->a != r->a ? (l->a > r->a) - (l->a < r->a) : (l->b > r->b) - (l->b < r->b);
}

int tact_log_pairs_build_layout(struct tact_log *log)
{
    struct tact_log_pairs *pairs = &log->pairs;
    const struct tact_layout *from = &log->layout;

    if (!from->element) {
        return 0;
    }
    int rc = tact_layout_add_fields(&pairs->layout, from);
    if (rc != 0) {
        return rc;
    }
    if (pairs->count > 0) {
        qsort(pairs->list, pairs->count, sizeof *pairs->list, compare_pairs_by_shapes);
        fill_pair_hash_slots(pairs);
    }
    for (size_t i = 0; i < pairs->count; i++) {
        long offset = tact_layout_add_pair(&pairs->layout, from->element, pairs->list[i].name);
        if (offset < 0) {
            return (int)offset;
        }
        pairs->list[i].offset = (uint32_t)offset;
    }
    pairs->absent = calloc(pairs->layout.size - from->size + 1, sizeof *pairs->absent);
    for (uint32_t i = from->field_count; pairs->absent && i < pairs->layout.field_count; i++) {
        const struct tact_field *f = &pairs->layout.fields[i];
        for (uint32_t k = 0; k < f->count; k++) {
            pairs->absent[f->offset - from->size + k] = f->absent;
        }
    }
    return pairs->absent ? 0 : -ENOMEM;
}

void tact_log_pairs_fill_record(const struct tact_log_pairs *pairs, const struct tact_log *log,
                                struct tact_log_tick tick, double *values)
{
    const size_t fixed = log->layout.size;
    struct tact_log_contact_element element;

    memcpy(values, tick.values, fixed * sizeof *values);
    if (!log->layout.element) {
        return;
    }
    memcpy(values + fixed, pairs->absent, (pairs->layout.size - fixed) * sizeof *values);
    while (tact_log_next_contact_element(log, &tick, &element)) {
        uint32_t number = pairs->pair_hash_slot_count > 0
                              ? pairs->slots[pair_hash_slot(pairs, element.a, element.b)]
                              : 0;
        if (number > 0) {
            memcpy(values + pairs->list[number - 1].offset, element.values,
                   log->layout.element->size * sizeof *values);
        }
    }
}

void tact_log_pairs_free(struct tact_log_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free((char *)pairs->list[i].name);
    }
    free(pairs->list);
    free(pairs->slots);
    free(pairs->absent);
    tact_layout_free(&pairs->layout);
    *pairs = (struct tact_log_pairs){0};
}
