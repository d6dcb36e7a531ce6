/* How two sessions differ, field by field. */
#ifndef TACT_EXAMPLES_DIFFERENCE_H
#define TACT_EXAMPLES_DIFFERENCE_H

#include "rt/log/layout.h"

/* Offset of a field of a pair of shapes that one of the logs does not have. */
#define DIFFERENCE_ABSENT_OFFSET UINT32_MAX

/* A field of the records, and how its values differ between the logs A and B. */
struct field_difference {
    char name[TACT_FIELD_NAME];
    enum tact_field_kind kind;
    uint32_t offset[2],
        count; /* offset in the records of A and B, or DIFFERENCE_ABSENT_OFFSET; elements */
    double value_of_absent_pair; /* value of all elements where a record does not list the field's
                                    pair */
    uint32_t stamp; /* element that is a measured time and not compared; UINT32_MAX: none */
    uint64_t differing_value_count; /* number of values that are not equal bit for bit */
    uint64_t first_differing_tick;
    double max_difference; /* largest |A - B|; infinity if one is not a number */
    uint64_t tick_of_max_difference;
    uint32_t element_of_max_difference;
    double values_at_max_difference[2];  /* values of A and B in that tick and element */
    double sums_of_squares_of_values[2]; /* sums of squares over all ticks and elements: of A - B,
                                            and of B */
};

struct log_difference {
    /* compared fields: those that both logs have, and of pairs that one has */
    struct field_difference *fields;
    uint32_t field_count;
    uint32_t unmatched_field_count; /* number of fields that only one log has, or that have another
                                       length in each */
    uint64_t ticks;                 /* number of compared ticks */
    uint64_t unmatched_tick_counts[2]; /* ticks that only log A or only log B has */
    uint64_t values,
        differing_value_count; /* number of compared values, and of those that differ */
    /* the first difference: where it is, and the values of A and B */
    uint64_t first_tick;
    uint32_t first_field, first_element;
    double first_differing_values[2];
};

/* Index of the field's element that is a measured time, which differs in any two sessions;
 * UINT32_MAX: none. */
uint32_t difference_index_of_device_time_stamp(const struct tact_field *field);

/* Returns 0 or -ENOMEM; must be freed in either case. */
int difference_create(const struct tact_layout *a, const struct tact_layout *b,
                      struct log_difference *out);
void difference_release_fields(struct log_difference *d);

/* Compares one tick of both logs. */
void difference_compare_records(struct log_difference *d, const struct tact_record *a,
                                const struct tact_record *b);

/* difference_print.c: print the differences as text, with the names of A and B, and as JSON, which
 * returns 0 or -1. */
void difference_print_table(const struct log_difference *d, const char *a, const char *b);
int difference_print_json(const struct log_difference *d);

#endif
