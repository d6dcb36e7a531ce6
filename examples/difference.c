/* How two sessions differ, field by field. */
#include "difference.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t difference_index_of_device_time_stamp(const struct tact_field *field)
{
    /* index of a device record's time stamp, which is not compared */
    return strncmp(field->unit, "state, stamp ns", 15) ? UINT32_MAX : 1;
}

static void add_compared_field(struct log_difference *out, const struct tact_field *field,
                               uint32_t a, uint32_t b)
{
    if (field->kind == TACT_FIELD_TIMING) {
        return;
    }
    struct field_difference *f = &out->fields[out->field_count++];
    memcpy(f->name, field->name, sizeof f->name);
    f->kind = field->kind;
    f->offset[0] = a;
    f->offset[1] = b;
    f->count = field->count;
    f->value_of_absent_pair = field->absent;
    f->stamp = difference_index_of_device_time_stamp(field);
}

int difference_create(const struct tact_layout *a, const struct tact_layout *b,
                      struct log_difference *out)
{
    memset(out, 0, sizeof *out);
    out->fields = calloc((size_t)a->field_count + b->field_count + 1, sizeof *out->fields);
    if (!out->fields) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < a->field_count; i++) {
        const struct tact_field *fa = &a->fields[i], *fb = tact_layout_find(b, fa->name);
        if (fb && fa->count == fb->count) {
            add_compared_field(out, fa, fa->offset, fb->offset);
        } else if (!fb && fa->listed) {
            add_compared_field(out, fa, fa->offset, DIFFERENCE_ABSENT_OFFSET);
        } else {
            out->unmatched_field_count++;
        }
    }
    for (uint32_t i = 0; i < b->field_count; i++) {
        const struct tact_field *fb = &b->fields[i];
        if (tact_layout_find(a, fb->name)) {
            continue;
        }
        if (fb->listed) {
            add_compared_field(out, fb, DIFFERENCE_ABSENT_OFFSET, fb->offset);
        } else {
            out->unmatched_field_count++;
        }
    }
    return 0;
}

void difference_release_fields(struct log_difference *d)
{
    free(d->fields);
    d->fields = NULL;
}

static void add_value_difference_to_field(struct log_difference *d, uint32_t field,
                                          uint32_t element_index, uint64_t tick, double a, double b)
{
    struct field_difference *f = &d->fields[field];
    double size = fabs(a - b);
    size = isnan(size) ? INFINITY : size;
    if (!d->differing_value_count++) {
        d->first_tick = tick;
        d->first_field = field;
        d->first_element = element_index;
        d->first_differing_values[0] = a;
        d->first_differing_values[1] = b;
    }
    if (!f->differing_value_count++) {
        f->first_differing_tick = tick;
        f->max_difference = -1.0;
    }
    if (size > f->max_difference) {
        f->max_difference = size;
        f->tick_of_max_difference = tick;
        f->element_of_max_difference = element_index;
        f->values_at_max_difference[0] = a;
        f->values_at_max_difference[1] = b;
    }
}

static double get_field_value_or_absent(const struct field_difference *f,
                                        const struct tact_record *r, uint32_t offset, uint32_t k)
{
    return offset == DIFFERENCE_ABSENT_OFFSET ? f->value_of_absent_pair : r->values[offset + k];
}

void difference_compare_records(struct log_difference *d, const struct tact_record *a,
                                const struct tact_record *b)
{
    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct field_difference *f = &d->fields[i];
        d->values += f->count - (f->stamp < f->count);
        for (uint32_t k = 0; k < f->count; k++) {
            const double va = get_field_value_or_absent(f, a, f->offset[0], k),
                         vb = get_field_value_or_absent(f, b, f->offset[1], k);
            if (k == f->stamp) {
                continue;
            }
            d->fields[i].sums_of_squares_of_values[0] += (va - vb) * (va - vb);
            d->fields[i].sums_of_squares_of_values[1] += vb * vb;
            if (memcmp(&va, &vb, sizeof va)) {
                add_value_difference_to_field(d, i, k, a->tick, va, vb);
            }
        }
    }
    d->ticks++;
}
