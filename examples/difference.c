/* How two sessions differ, field by field. */
#include "difference.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t difference_stamp(const struct tact_field *field)
{
    /* What a device's field holds second is when the kernel saw it. */
    return strncmp(field->unit, "state, stamp ns", 15) ? UINT32_MAX : 1;
}

static const struct tact_field *find(const struct tact_layout *layout, const char *name)
{
    for (uint32_t i = 0; i < layout->field_count; i++) {
        if (!strcmp(layout->fields[i].name, name)) {
            return &layout->fields[i];
        }
    }
    return NULL;
}

int difference_create(const struct tact_layout *a, const struct tact_layout *b,
                      struct difference *out)
{
    memset(out, 0, sizeof *out);
    out->fields = calloc((size_t)a->field_count + 1, sizeof *out->fields);
    if (!out->fields) {
        return -ENOMEM;
    }
    out->unmatched = b->field_count;
    for (uint32_t i = 0; i < a->field_count; i++) {
        const struct tact_field *fa = &a->fields[i], *fb = find(b, fa->name);
        out->unmatched -= fb != NULL;
        if (!fb || fa->count != fb->count) {
            out->unmatched++;
        } else if (fa->kind != TACT_FIELD_TIMING) {
            struct difference_field *f = &out->fields[out->field_count++];
            memcpy(f->name, fa->name, sizeof f->name);
            f->kind = fa->kind;
            f->offset[0] = fa->offset;
            f->offset[1] = fb->offset;
            f->count = fa->count;
            f->stamp = difference_stamp(fa);
        }
    }
    return 0;
}

void difference_free(struct difference *d)
{
    free(d->fields);
    d->fields = NULL;
}

static void differs(struct difference *d, uint32_t field, uint32_t element, uint64_t tick, double a,
                    double b)
{
    struct difference_field *f = &d->fields[field];
    double size = fabs(a - b);
    size = isnan(size) ? INFINITY : size;
    if (!d->differing++) {
        d->first_tick = tick;
        d->first_field = field;
        d->first_element = element;
        d->first_a = a;
        d->first_b = b;
    }
    if (!f->differing++) {
        f->first = tick;
        f->most = -1.0;
    }
    if (size > f->most) {
        f->most = size;
        f->most_tick = tick;
        f->most_element = element;
        f->a = a;
        f->b = b;
    }
}

void difference_add(struct difference *d, const struct tact_record *a, const struct tact_record *b)
{
    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct difference_field *f = &d->fields[i];
        const double *va = a->values + f->offset[0], *vb = b->values + f->offset[1];
        d->values += f->count - (f->stamp < f->count);
        for (uint32_t k = 0; k < f->count; k++) {
            if (k != f->stamp) {
                d->fields[i].squares[0] += (va[k] - vb[k]) * (va[k] - vb[k]);
                d->fields[i].squares[1] += vb[k] * vb[k];
            }
            if (k != f->stamp && memcmp(&va[k], &vb[k], sizeof *va)) {
                differs(d, i, k, a->tick, va[k], vb[k]);
            }
        }
    }
    d->ticks++;
}
