/* The differences of two sessions, for people and for machines. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include "difference.h"
#include "text.h"

typedef unsigned long long ull;

/* Root of the mean square, over ticks and elements, of A - B (0) or B (1). */
static double compute_field_rms(const struct log_difference *d, const struct field_difference *f,
                                int which)
{
    return sqrt(f->sums_of_squares_of_values[which] / ((double)d->ticks * f->count));
}

void difference_print_table(const struct log_difference *d, const char *a, const char *b)
{
    printf("%llu ticks, %llu values compared: %llu differ\n", (ull)d->ticks, (ull)d->values,
           (ull)d->differing_value_count);
    if (d->unmatched_tick_counts[0] || d->unmatched_tick_counts[1]) {
        printf("  ticks only in %s: %llu, only in %s: %llu\n", a, (ull)d->unmatched_tick_counts[0],
               b, (ull)d->unmatched_tick_counts[1]);
    }
    if (d->unmatched_field_count) {
        printf("  %u fields are in one log only, or have another length in the other\n",
               d->unmatched_field_count);
    }
    if (!d->differing_value_count) {
        return;
    }
    printf("  the first difference at tick %llu, %s[%u]: %.17g in %s, %.17g in %s\n\n",
           (ull)d->first_tick, text_make_printable(d->fields[d->first_field].name),
           d->first_element, d->first_differing_values[0], a, d->first_differing_values[1], b);
    printf("  %-36s %10s %10s %12s %10s  %s\n", "field", "differing", "first tick", "largest",
           "rms", "largest where");
    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct field_difference *f = &d->fields[i];
        if (f->differing_value_count) {
            printf("  %-36s %10llu %10llu %12.4g %10.3g  tick %llu [%u]: %.8g, %.8g\n",
                   text_make_printable(f->name), (ull)f->differing_value_count,
                   (ull)f->first_differing_tick, f->max_difference, compute_field_rms(d, f, 0),
                   (ull)f->tick_of_max_difference, f->element_of_max_difference,
                   f->values_at_max_difference[0], f->values_at_max_difference[1]);
        }
    }
}

/* Values that are not finite have no form in JSON: as text, all have. */
static json_t *json_number(double x)
{
    return json_sprintf("%.17g", x);
}

int difference_print_json(const struct log_difference *d)
{
    json_t *fields = json_object(), *first = json_null();
    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct field_difference *f = &d->fields[i];
        if (f->differing_value_count) {
            json_object_set_new(fields, f->name,
                                json_pack("{s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o}",
                                          "differing", (json_int_t)f->differing_value_count,
                                          "first_tick", (json_int_t)f->first_differing_tick,
                                          "largest", json_number(f->max_difference), "tick",
                                          (json_int_t)f->tick_of_max_difference, "element",
                                          (json_int_t)f->element_of_max_difference, "a",
                                          json_number(f->values_at_max_difference[0]), "b",
                                          json_number(f->values_at_max_difference[1]), "rms",
                                          json_number(compute_field_rms(d, f, 0)), "rms_b",
                                          json_number(compute_field_rms(d, f, 1))));
        }
    }
    if (d->differing_value_count) {
        first = json_pack("{s:I, s:s, s:I, s:o, s:o}", "tick", (json_int_t)d->first_tick, "field",
                          d->fields[d->first_field].name, "element", (json_int_t)d->first_element,
                          "a", json_number(d->first_differing_values[0]), "b",
                          json_number(d->first_differing_values[1]));
    }
    json_t *all = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "ticks", (json_int_t)d->ticks, "values",
        (json_int_t)d->values, "differing", (json_int_t)d->differing_value_count, "only_a",
        (json_int_t)d->unmatched_tick_counts[0], "only_b", (json_int_t)d->unmatched_tick_counts[1],
        "fields_unmatched", (json_int_t)d->unmatched_field_count, "first", first, "fields", fields);
    return text_print_json(all);
}
