/*
 * tact bench field: a rigid wave in a soft layer, by a pressure field and by linear elasticity, as
 * in section VIII-A of Elandt 2019. The paper does not print its amplitudes and depth: here the
 * wave is 1 mm deep, and its amplitudes are those of examples/scenes/sinusoid.yaml.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "bench.h"
#include "bench_field.h"
#include "contact/pair/field/field.h"
#include "contact/mesh/mesh.h"

enum { NODES = 128, QUERIES = 51, RELAXATIONS = 4000 };

static const double pi = 3.14159265358979323846;
static const double wavelength = 0.04, thickness = 0.01, depth = 0.001; /* [m] */
static const double constrained_modulus = 2e4; /* stress per strain across the layer [Pa] */
static const double poisson_ratio = 0.2;
static const double wave_amplitudes[FIELD_WAVES] = {0.0003, 0.0015, 0.0045}; /* [m] */
static const double paper_force_deficit[FIELD_WAVES] = {0.0, NAN, 0.23};

/* Deflection of the layer's surface under a pressure of cos(k x), without friction on top and fixed
 * below, in plane strain (Johnson, Contact Mechanics, 1985, section 5.8) [m/Pa]. */
static double elastic_layer_wave_compliance(double k)
{
    const double v = poisson_ratio, x = k * thickness, b = 3.0 - 4.0 * v;
    const double young_modulus = constrained_modulus * (1.0 + v) * (1.0 - 2.0 * v) / (1.0 - v);
    if (k == 0.0) {
        return thickness / constrained_modulus;
    }
    return 2.0 * (1.0 - v * v) / (young_modulus * k) * (b * sinh(2.0 * x) - 2.0 * x) /
           (b * cosh(2.0 * x) + 2.0 * x * x + 5.0 - 12.0 * v + 8.0 * v * v);
}

/* Force of the elastic layer on one wave of an endless row, as wide as it is long: the pressures of
 * NODES strips, 0 or above, under which the layer does not overlap the wave, by projected
 * Gauss-Seidel. */
static double elastic_layer_force(double wave_amplitude)
{
    double column[NODES] = {0.0}, pressure[NODES] = {0.0}, sum = 0.0;
    for (int i = 0; i < NODES; i++) {
        for (int k = -NODES / 2; k < NODES / 2; k++) {
            column[i] += elastic_layer_wave_compliance(2.0 * pi * abs(k) / wavelength) *
                         cos(2.0 * pi * k * i / NODES) / NODES;
        }
    }
    for (int relaxation_sweep_index = 0; relaxation_sweep_index < RELAXATIONS;
         relaxation_sweep_index++) {
        for (int i = 0; i < NODES; i++) {
            double overlap = depth - wave_amplitude * (1.0 - cos(2.0 * pi * i / NODES));
            for (int j = 0; j < NODES; j++) {
                overlap -= column[(i - j + NODES) % NODES] * pressure[j];
            }
            pressure[i] = fmax(pressure[i] + overlap / column[0], 0.0);
        }
    }
    for (int i = 0; i < NODES; i++) {
        sum += pressure[i];
    }
    return sum * wavelength * wavelength / NODES;
}

/* Two triangles with the corners a, b, c, d, counterclockwise from outside. */
static void add_quadrilateral_triangles(uint32_t **next, size_t a, size_t b, size_t c, size_t d)
{
    const size_t corner[6] = {a, b, c, a, c, d};
    for (int k = 0; k < 6; k++) {
        *(*next)++ = (uint32_t)corner[k];
    }
}

/* A block whose underside is one wave, lowest in the middle of its length, at z = 0. */
static int make_wave_block(double amplitude, struct tact_mesh **out)
{
    enum { ROWS = NODES + 1, TOP = 2 * ROWS };
    double x[3 * 2 * TOP];
    uint32_t triangles[6 * (4 * NODES + 2)], *next = triangles;
    for (int i = 0; i < 2 * TOP; i++) {
        const int row = i % TOP / 2;
        double along = (double)row / NODES - 0.5;
        x[3 * i] = wavelength * along;
        x[3 * i + 1] = i % 2 ? 0.5 * wavelength : -0.5 * wavelength;
        x[3 * i + 2] = i < TOP ? amplitude * (1.0 - cos(2.0 * pi * along)) : wavelength;
    }
    for (size_t i = 0; i < TOP - 2; i += 2) {
        add_quadrilateral_triangles(&next, i, i + 1, i + 3, i + 2);
        add_quadrilateral_triangles(&next, TOP + i, TOP + i + 2, TOP + i + 3, TOP + i + 1);
        add_quadrilateral_triangles(&next, i, i + 2, TOP + i + 2, TOP + i);
        add_quadrilateral_triangles(&next, i + 1, TOP + i + 1, TOP + i + 3, i + 3);
    }
    add_quadrilateral_triangles(&next, 0, TOP, TOP + 1, 1);
    add_quadrilateral_triangles(&next, TOP - 2, TOP - 1, 2 * TOP - 1, 2 * TOP - 2);
    return tact_mesh_create(x, 2 * TOP, triangles, (size_t)(next - triangles) / 3, out, NULL);
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Queries the contact of the block with the layer many times; the time is the median. */
static int measure_field_query_of_wave(const struct tact_pressure_field *block,
                                       const struct tact_pressure_field *layer,
                                       struct field_wave_row *out)
{
    const struct tact_pose at = {{0.0, 0.0, -depth}, {1.0, 0.0, 0.0, 0.0}},
                           origin = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    struct tact_field_scratch *scratch = tact_field_scratch_create(16 * NODES);
    double seconds[QUERIES];
    struct tact_field_contact c;
    int rc = scratch ? 1 : -ENOMEM;
    for (int i = 0; i < QUERIES && rc > 0; i++) {
        double query_start_seconds = processor_seconds();
        rc = tact_field_touch(block, &at, layer, &origin, scratch, &c);
        seconds[i] = processor_seconds() - query_start_seconds;
    }
    if (rc > 0) {
        qsort(seconds, QUERIES, sizeof *seconds, bench_compare_doubles);
        out->query = seconds[QUERIES / 2];
        out->field = c.wrench[2];
        out->polygons = (int)c.polygons;
    }
    tact_field_scratch_destroy(scratch);
    return rc > 0 ? 0 : rc ? rc : -EDOM;
}

static int measure_rigid_wave(double amplitude, struct field_wave_row *out)
{
    struct tact_pressure_field *block = NULL, *layer = NULL;
    struct tact_mesh *mesh = NULL;
    int rc = make_wave_block(amplitude, &mesh);
    rc = rc ? rc : tact_field_rigid(mesh, &block);
    rc = rc ? rc : tact_field_halfspace(constrained_modulus / thickness, &layer);
    rc = rc ? rc : measure_field_query_of_wave(block, layer, out);
    out->amplitude = amplitude;
    out->layer = elastic_layer_force(amplitude);
    tact_field_free(block);
    tact_field_free(layer);
    tact_mesh_free(mesh);
    return rc;
}

int measure_field_waves(struct field_wave_row row[FIELD_WAVES])
{
    int rc = 0;
    for (int i = 0; i < FIELD_WAVES && !rc; i++) {
        row[i].paper_force_deficit = paper_force_deficit[i];
        rc = measure_rigid_wave(wave_amplitudes[i], &row[i]);
    }
    return rc;
}

void print_field_waves(const struct field_wave_row row[FIELD_WAVES])
{
    printf(
        "Elandt 2019, section VIII-A: a rigid wave, %g mm long, %g mm deep in a soft layer of %g "
        "mm\nwithout friction, Poisson's ratio %g; the paper: beside finite elements of finite "
        "strain\n\n",
        1e3 * wavelength, 1e3 * depth, 1e3 * thickness, poisson_ratio);
    printf("amplitude   field      elastic layer   field less   paper   query (polygons)\n");
    for (int i = 0; i < FIELD_WAVES; i++) {
        const struct field_wave_row *r = &row[i];
        char paper_force_deficit_text[16] = "-";
        if (isfinite(r->paper_force_deficit)) {
            snprintf(paper_force_deficit_text, sizeof paper_force_deficit_text, "%.0f %%",
                     1e2 * r->paper_force_deficit);
        }
        printf("%6.1f mm   %.4f N   %.4f N        %5.2f %%     %5s   %.1f us (%d)\n",
               1e3 * r->amplitude, r->field, r->layer, 1e2 * (1.0 - r->field / r->layer),
               paper_force_deficit_text, 1e6 * r->query, r->polygons);
    }
}

int field_waves_print_json(const struct field_wave_row row[FIELD_WAVES])
{
    json_t *rows = json_array();
    for (int i = 0; i < FIELD_WAVES; i++) {
        const struct field_wave_row *r = &row[i];
        json_array_append_new(
            rows, json_pack("{s:f, s:f, s:f, s:f, s:o, s:f, s:i}", "amplitude_m", r->amplitude,
                            "field_n", r->field, "layer_n", r->layer, "less",
                            1.0 - r->field / r->layer, "paper_less",
                            isfinite(r->paper_force_deficit) ? json_real(r->paper_force_deficit)
                                                             : json_null(),
                            "query_s", r->query, "polygons", r->polygons));
    }
    json_t *figures = json_pack("{s:{s:o}}", "figures", "6", rows);
    int rc = json_dumpf(figures, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) ? -ENOMEM : 0;
    json_decref(figures);
    puts("");
    return rc;
}
