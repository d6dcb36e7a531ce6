/* Figure 6 of Elandt, Drumwright, Sherman and Ruina 2019: a rigid wave pressed into a soft layer.
 */
#ifndef TACT_EXAMPLES_BENCH_FIELD_H
#define TACT_EXAMPLES_BENCH_FIELD_H

enum { FIELD_WAVES = 3 };

/* A wave of an amplitude, and the forces of pressure field and elastic layer on it at the same
 * depth. */
struct field_wave_row {
    double amplitude;           /* [m] */
    double field;               /* force of the pressure field [N] */
    double layer;               /* force of the elastic layer [N] */
    double paper_force_deficit; /* part by which the paper's field carries less than finite
                          elements; NAN: not stated as a number */
    double query;               /* time of a query, wrench and stiffness included [s] */
    int polygons;               /* number of polygons of the contact surface */
};

/* 0 or a negative errno. */
int measure_field_waves(struct field_wave_row row[FIELD_WAVES]);

void print_field_waves(const struct field_wave_row row[FIELD_WAVES]);
int field_waves_print_json(const struct field_wave_row row[FIELD_WAVES]);

#endif
