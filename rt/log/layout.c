#include "layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes_internal.h"

/* The longest record: keeps a chunk of one record, and the sums of offsets, small. */
#define SIZE_MAX_DOUBLES (1U << 17)

static int name_taken(const struct tact_layout *layout, const char *name)
{
    /* The message has these two of its own, before the fields. */
    if (strcmp(name, "stamp") == 0 || strcmp(name, "tick") == 0)
        return 1;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        if (strcmp(layout->fields[i].name, name) == 0)
            return 1;
    }
    return 0;
}

/* ROS 2 field names: lower case, digits and single underscores, a letter first, none last. */
static void sanitise(const char *name, char out[TACT_FIELD_NAME])
{
    size_t n = 0;

    for (; *name && n < TACT_FIELD_NAME - 1; name++) {
        char c = *name;
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
            c = '_';
        if (c == '_' && (n == 0 || out[n - 1] == '_'))
            continue;
        if (n == 0 && c <= '9') {
            out[n++] = 'n';
            out[n++] = '_';
        }
        out[n++] = c;
    }
    while (n > 0 && out[n - 1] == '_')
        n--;
    out[n] = '\0';
    if (n == 0)
        snprintf(out, TACT_FIELD_NAME, "field");
}

/* Appends _2, _3, ... until nobody else has the name. */
static void make_unique(const struct tact_layout *layout, char name[TACT_FIELD_NAME])
{
    char base[TACT_FIELD_NAME];

    memcpy(base, name, sizeof base);
    for (uint32_t i = 2; name_taken(layout, name); i++) {
        char suffix[16];
        int length = snprintf(suffix, sizeof suffix, "_%u", i);
        int room = TACT_FIELD_NAME - 1 - length;
        int keep = (int)strlen(base) < room ? (int)strlen(base) : room;
        while (keep > 0 && base[keep - 1] == '_')
            keep--;
        snprintf(name, TACT_FIELD_NAME, "%.*s%s", keep, base, suffix);
    }
}

/* The unit ends up in a one-line comment of the schema. */
static void copy_unit(const char *unit, char out[64])
{
    snprintf(out, 64, "%s", unit ? unit : "");
    tact_utf8_repair(out);
    for (char *c = out; *c; c++) {
        if ((unsigned char)*c < ' ')
            *c = ' ';
    }
    for (size_t n = strlen(out); n > 0 && out[n - 1] == ' '; n--)
        out[n - 1] = '\0';
}

long tact_layout_add(struct tact_layout *layout, enum tact_field_kind kind, const char *name,
                     const char *unit, uint32_t count)
{
    if (!name || count == 0 || count > SIZE_MAX_DOUBLES - layout->size ||
        (unsigned)kind > TACT_FIELD_TIMING)
        return -EINVAL;
    if (layout->field_count == layout->capacity) {
        uint32_t capacity = layout->capacity ? 2 * layout->capacity : 32;
        struct tact_field *fields = realloc(layout->fields, capacity * sizeof *fields);
        if (!fields)
            return -ENOMEM;
        layout->fields = fields;
        layout->capacity = capacity;
    }
    struct tact_field *field = &layout->fields[layout->field_count];
    memset(field, 0, sizeof *field);
    sanitise(name, field->name);
    make_unique(layout, field->name);
    copy_unit(unit, field->unit);
    field->kind = kind;
    field->offset = layout->size;
    field->count = count;
    layout->field_count++;
    layout->size += count;
    return (long)field->offset;
}

void tact_layout_free(struct tact_layout *layout)
{
    free(layout->fields);
    *layout = (struct tact_layout){0};
}

uint32_t tact_layout_bytes(const struct tact_layout *layout)
{
    return (uint32_t)(sizeof(struct tact_record) + layout->size * sizeof(double));
}
