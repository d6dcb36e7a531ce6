#include "layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact/record_code_internal.h"
#include "bytes_internal.h"

#define MAX_FIELD_NAME_SUFFIX 9999999 /* larger than the number of fields of any record */

/* Slot of a field name in the hash table (FNV-1a), or the free slot for it. */
static uint32_t layout_field_hash_slot(const struct tact_layout *layout, const char *name)
{
    uint32_t field_name_hash = 2166136261U;

    for (const char *c = name; *c; c++) {
        field_name_hash = (field_name_hash ^ (unsigned char)*c) * 16777619U;
    }
    uint32_t at = field_name_hash & (layout->slots - 1);
    while (layout->taken[at] && strcmp(layout->fields[layout->taken[at] - 1].name, name) != 0) {
        at = (at + 1) & (layout->slots - 1);
    }
    return at;
}

/* Address of the next suffix to try for a name (stored behind the hash slots); NULL where no field
 * has it. */
static uint32_t *next_name_suffix(const struct tact_layout *layout, const char *name)
{
    uint32_t number = layout->taken[layout_field_hash_slot(layout, name)];

    return number ? layout->taken + layout->slots + number - 1 : NULL;
}

/* Ensures capacity for one more field; the table stays at most half full. */
static int reserve_layout_field(struct tact_layout *layout)
{
    if (layout->field_count < layout->capacity) {
        return 0;
    }
    uint32_t capacity = layout->capacity ? 2 * layout->capacity : 32;
    struct tact_field *fields = realloc(layout->fields, capacity * sizeof *fields);
    if (!fields) {
        return -ENOMEM;
    }
    layout->fields = fields;
    uint32_t *taken = calloc(3 * (size_t)capacity, sizeof *taken);
    if (!taken) {
        return -ENOMEM;
    }
    if (layout->taken) {
        memcpy(taken + 2 * (size_t)capacity, layout->taken + layout->slots,
               layout->capacity * sizeof *taken);
    }
    free(layout->taken);
    layout->taken = taken;
    layout->slots = 2 * capacity;
    layout->capacity = capacity;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        taken[layout_field_hash_slot(layout, fields[i].name)] = i + 1;
    }
    return 0;
}

static int is_field_name_used(const struct tact_layout *layout, const char *name)
{
    /* every tick message has fields of these two names */
    return strcmp(name, "stamp") == 0 || strcmp(name, "tick") == 0 ||
           layout->taken[layout_field_hash_slot(layout, name)] != 0;
}

/* Makes a valid ROS 2 field name: lower case, digits and single underscores, a letter first, none
 * last. */
static void make_ros_field_name(const char *name, char out[TACT_FIELD_NAME])
{
    size_t n = 0;

    for (; *name && n < TACT_FIELD_NAME - 1; name++) {
        char c = *name;
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) {
            c = '_';
        }
        if (c == '_' && (n == 0 || out[n - 1] == '_')) {
            continue;
        }
        if (n == 0 && c <= '9') {
            out[n++] = 'n';
            out[n++] = '_';
        }
        out[n++] = c;
    }
    while (n > 0 && out[n - 1] == '_') {
        n--;
    }
    out[n] = '\0';
    if (n == 0) {
        snprintf(out, TACT_FIELD_NAME, "field");
    }
}

/* A name with a suffix _2, _3, ..., for which its end is cut off where it is too long. */
static void put_name_with_suffix(const char *base, uint32_t number, char out[TACT_FIELD_NAME])
{
    char suffix[16];
    int length = snprintf(suffix, sizeof suffix, "_%u", number);
    int room = TACT_FIELD_NAME - 1 - length;
    int truncated_name_length = (int)strlen(base) < room ? (int)strlen(base) : room;

    while (truncated_name_length > 0 && base[truncated_name_length - 1] == '_') {
        truncated_name_length--;
    }
    snprintf(out, TACT_FIELD_NAME, "%.*s%s", truncated_name_length, base, suffix);
}

static int is_field_name_suffix_used(const struct tact_layout *layout, const char *base,
                                     uint32_t number)
{
    char name[TACT_FIELD_NAME];

    put_name_with_suffix(base, number, name);
    return is_field_name_used(layout, name);
}

/* Finds a free suffix from `from` to `last` whose predecessor is used: the smallest free one if all
 * used ones are below it. Returns last + 1 where none is found. Long names that differ at their
 * ends share suffixes, so that many in a row may be used: steps double, then halve. */
static uint32_t find_unused_field_name_suffix(const struct tact_layout *layout, const char *base,
                                              uint32_t from, uint32_t last)
{
    uint32_t largest_used_name_suffix = from, free_suffix = last, step = 1;

    if (!is_field_name_suffix_used(layout, base, from)) {
        return from;
    }
    while (step <= last - largest_used_name_suffix &&
           is_field_name_suffix_used(layout, base, largest_used_name_suffix + step)) {
        largest_used_name_suffix += step;
        step = last > 9 ? 2 * step : 1; /* one by one at first: names in scenes may have these */
    }
    if (step <= last - largest_used_name_suffix) {
        free_suffix = largest_used_name_suffix + step;
    } else if (largest_used_name_suffix == last || is_field_name_suffix_used(layout, base, last)) {
        return last + 1;
    }
    while (free_suffix - largest_used_name_suffix > 1) {
        uint32_t middle_name_suffix =
            largest_used_name_suffix + (free_suffix - largest_used_name_suffix) / 2;
        if (is_field_name_suffix_used(layout, base, middle_name_suffix)) {
            largest_used_name_suffix = middle_name_suffix;
        } else {
            free_suffix = middle_name_suffix;
        }
    }
    return free_suffix;
}

/* Appends a suffix if the name is used. Suffixes of one length cut off as much of the name. */
static int make_field_name_unique(const struct tact_layout *layout, char name[TACT_FIELD_NAME])
{
    char base[TACT_FIELD_NAME];

    if (!is_field_name_used(layout, name)) {
        return 0;
    }
    memcpy(base, name, sizeof base);
    uint32_t *next = next_name_suffix(layout, base), from = next && *next > 2 ? *next : 2;
    for (uint32_t last = 9; last <= MAX_FIELD_NAME_SUFFIX; last = 10 * last + 9) {
        if (from > last) {
            continue;
        }
        uint32_t number = find_unused_field_name_suffix(layout, base, from, last);
        if (number <= last) {
            put_name_with_suffix(base, number, name);
            if (next) {
                *next = number + 1;
            }
            return 0;
        }
        from = last + 1;
    }
    return -EINVAL;
}

/* Replaces line breaks in a unit, which becomes a one-line comment of the schema. */
static void copy_unit_without_line_breaks(const char *unit, char out[TACT_FIELD_UNIT])
{
    snprintf(out, TACT_FIELD_UNIT, "%s", unit ? unit : "");
    tact_utf8_repair(out);
    for (char *c = out; *c; c++) {
        if ((unsigned char)*c < ' ') {
            *c = ' ';
        }
    }
    for (size_t n = strlen(out); n > 0 && out[n - 1] == ' '; n--) {
        out[n - 1] = '\0';
    }
}

const struct tact_field *tact_layout_find(const struct tact_layout *layout, const char *name)
{
    uint32_t number = layout->slots ? layout->taken[layout_field_hash_slot(layout, name)] : 0;
    return number ? &layout->fields[number - 1] : NULL;
}

static long append_layout_field(struct tact_layout *layout, uint32_t max_layout_doubles,
                                enum tact_field_kind kind, const char *name, const char *unit,
                                uint32_t count)
{
    if (!name || (unit && strlen(unit) >= TACT_FIELD_UNIT) || count == 0 ||
        layout->size > max_layout_doubles || count > max_layout_doubles - layout->size ||
        (unsigned)kind > TACT_FIELD_TIMING) {
        return -EINVAL;
    }
    int rc = reserve_layout_field(layout);
    if (rc) {
        return rc;
    }
    struct tact_field *field = &layout->fields[layout->field_count];
    memset(field, 0, sizeof *field);
    make_ros_field_name(name, field->name);
    rc = make_field_name_unique(layout, field->name);
    if (rc) {
        return rc;
    }
    copy_unit_without_line_breaks(unit, field->unit);
    field->kind = kind;
    field->offset = layout->size;
    field->count = count;
    layout->taken[layout_field_hash_slot(layout, field->name)] = ++layout->field_count;
    layout->size += count;
    return (long)field->offset;
}

long tact_layout_add(struct tact_layout *layout, enum tact_field_kind kind, const char *name,
                     const char *unit, uint32_t count)
{
    return append_layout_field(layout, TACT_LAYOUT_MAX, kind, name, unit, count);
}

long tact_layout_add_pair(struct tact_layout *layout, const struct tact_layout *element,
                          const char *name)
{
    uint32_t first = layout->size;
    char prefixed_field_name[4 * TACT_FIELD_NAME];

    for (uint32_t i = 0; i < element->field_count; i++) {
        const struct tact_field *field = &element->fields[i];
        snprintf(prefixed_field_name, sizeof prefixed_field_name, "%.180s_%s", name, field->name);
        long offset = append_layout_field(layout, TACT_LAYOUT_MAX_READ, field->kind,
                                          prefixed_field_name, field->unit, field->count);
        if (offset < 0) {
            return offset;
        }
        layout->fields[layout->field_count - 1].listed = 1;
        layout->fields[layout->field_count - 1].absent = field->absent;
    }
    return first;
}

void tact_layout_free(struct tact_layout *layout)
{
    if (layout->element) {
        tact_layout_free(layout->element);
    }
    free(layout->element);
    free(layout->fields);
    free(layout->taken);
    *layout = (struct tact_layout){0};
}

int tact_layout_add_fields(struct tact_layout *layout, const struct tact_layout *from)
{
    for (uint32_t i = 0; i < from->field_count; i++) {
        const struct tact_field *f = &from->fields[i];
        long offset = tact_layout_add(layout, f->kind, f->name, f->unit, f->count);
        if (offset < 0) {
            return (int)offset;
        }
        layout->fields[layout->field_count - 1].absent = f->absent;
    }
    return 0;
}

int tact_layout_add_list(struct tact_layout *layout, uint32_t most)
{
    if (layout->element) {
        return -EINVAL;
    }
    layout->element = calloc(1, sizeof *layout->element);
    layout->most = most;
    return layout->element ? 0 : -ENOMEM;
}

int tact_layout_equal(const struct tact_layout *a, const struct tact_layout *b)
{
    if (a->field_count != b->field_count || a->size != b->size || !a->element != !b->element) {
        return 0;
    }
    for (uint32_t i = 0; i < a->field_count; i++) {
        const struct tact_field *fa = &a->fields[i], *fb = &b->fields[i];
        if (strcmp(fa->name, fb->name) != 0 || fa->kind != fb->kind || fa->count != fb->count ||
            fa->absent != fb->absent) {
            return 0;
        }
    }
    return a->element ? tact_layout_equal(a->element, b->element) : 1;
}

TACT_IN_TICK_RECORD_SECTION uint32_t tact_layout_stride(const struct tact_layout *layout)
{
    return layout->element ? TACT_ELEMENT_HEAD + layout->element->size : 0;
}

size_t tact_layout_bytes(const struct tact_layout *layout)
{
    size_t list = layout->element ? 1 + (size_t)layout->most * tact_layout_stride(layout) : 0;
    return sizeof(struct tact_record) + (layout->size + list) * sizeof(double);
}
