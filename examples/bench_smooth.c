/* Tables I and II of Kry and Pai 2003, on this machine. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bench_smooth.h"
#include "contact/compare/reduced.h"
#include "contact/shape/charts.h"
#include "contact/shape/squares_internal.h"
#include "contact/vec.h"
#include "devices/registry.h"
#include "rt/scene/scene.h"
#include "rt/session/session.h"
#include "run.h"

#define CONTROL_MESH_COORDINATE_UNIT                                                               \
    1e-6 /* unit of the control meshes' coordinates, which are whole numbers [m] */

enum { PLACES = 10000, ROUNDS = 5, RING = 8, MOST_TRIES = 10000 };

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Writes a double pyramid over a regular polygon: its tips have `degree` edges, 50 mm above and
 * below. */
static void write_double_pyramid_obj(FILE *to, int degree)
{
    fputs("v 0 0 50000\nv 0 0 -50000\n", to);
    for (int i = 0; i < degree; i++) {
        const double angle = 2.0 * M_PI * i / degree;
        fprintf(to, "v %ld %ld 0\n", lround(5e4 * cos(angle)), lround(5e4 * sin(angle)));
    }
    for (int i = 0; i < degree; i++) {
        const int at = 3 + i, next = 3 + (i + 1) % degree;
        fprintf(to, "f 1 %d %d\nf 2 %d %d\n", at, next, next, at);
    }
}

/* Writes a torus of squares, whose vertices have four edges, or of triangles, whose vertices have
 * six. */
static void write_torus_obj(FILE *to, int has_triangle_faces)
{
    for (int i = 0; i < RING * RING; i++) {
        const int a = i / RING, b = i % RING;
        const double torus_ring_angle = 2.0 * M_PI * a / RING, tube = 2.0 * M_PI * b / RING;
        const double r = 5e4 + 2e4 * cos(tube);
        fprintf(to, "v %ld %ld %ld\n", lround(r * cos(torus_ring_angle)),
                lround(r * sin(torus_ring_angle)), lround(2e4 * sin(tube)));
    }
    for (int i = 0; i < RING * RING; i++) {
        const int a = i / RING, b = i % RING, c = (a + 1) % RING, d = (b + 1) % RING;
        const int at[4] = {1 + a * RING + b, 1 + c * RING + b, 1 + c * RING + d, 1 + a * RING + d};
        fprintf(to, has_triangle_faces ? "f %d %d %d\nf %d %d %d\n" : "f %d %d %d %d\n", at[0],
                at[1], at[2], has_triangle_faces ? at[0] : at[3], at[2], at[3]);
    }
}

/* The surface of row i: Loop regular, extraordinary of `degree`, or bicubic. */
static int make_benchmarked_surface(int degree, int has_triangle_faces, struct tact_charts **out,
                                    struct tact_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    if (degree) {
        write_double_pyramid_obj(to, degree);
    } else {
        write_torus_obj(to, has_triangle_faces);
    }
    int rc = fclose(to) ? tact_error_set(err, -ENOMEM, "out of memory")
                        : tact_charts_subdivision(text, size, "a control mesh",
                                                  CONTROL_MESH_COORDINATE_UNIT, out, err);
    free(text);
    return rc;
}

static double draw_random_fraction(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static double count_charts_of_surface(const struct tact_charts *charts)
{
    struct tact_surface_point p;
    double place[3] = {0.0, 0.25, 0.25};
    while (!tact_charts_point(charts, place, &p)) {
        place[0]++;
    }
    return place[0];
}

/* Finds a random place on the surface; on pyramids, one near a tip. Returns -EDOM where none is
 * found. */
static int find_random_surface_point(const struct tact_charts *charts, double count, int degree,
                                     uint64_t *random_state, double place[3])
{
    for (int i = 0; i < MOST_TRIES; i++) {
        struct tact_surface_point p;
        place[0] = floor(count * draw_random_fraction(random_state));
        place[1] = draw_random_fraction(random_state);
        place[2] = (1.0 - place[1]) * draw_random_fraction(random_state);
        if (!tact_charts_point(charts, place, &p) &&
            (!degree || tact_hypot(p.at[0], p.at[1]) < 8e-3)) {
            return 0;
        }
    }
    return -EDOM;
}

/* Evaluates the surface at all places: ten derivatives, or what a contact needs. */
static int evaluate_surface_points(const struct tact_charts *charts, double (*surface_points)[3],
                                   int ten)
{
    const struct square_charts *square_charts = (const struct square_charts *)charts;
    int rc = 0;
    for (int i = 0; !rc && i < PLACES; i++) {
        struct tact_surface_point p;
        double surface_partial_derivatives[THIRD_ORDER][3];
        if (ten) {
            square_charts->evaluate(square_charts, (int)surface_points[i][0], surface_points[i][1],
                                    surface_points[i][2], THIRD_ORDER, surface_partial_derivatives);
            rc = isfinite(surface_partial_derivatives[THIRD_ORDER - 1][0]) ? 0 : -EDOM;
        } else {
            rc = tact_charts_point(charts, surface_points[i], &p);
        }
    }
    return rc;
}

/* Measures the mean time to evaluate the surface over all places; the smallest of several rounds.
 */
static int measure_surface_evaluation_time(int degree, int has_triangle_faces,
                                           struct smooth_surface_row *row, struct tact_error *err)
{
    static double surface_points[PLACES][3];
    struct tact_charts *charts = NULL;
    uint64_t random_state = 1;
    int rc = make_benchmarked_surface(degree, has_triangle_faces, &charts, err);
    const double count = rc ? 0.0 : count_charts_of_surface(charts);
    for (int i = 0; !rc && i < PLACES; i++) {
        rc = find_random_surface_point(charts, count, degree, &random_state, surface_points[i]);
        rc =
            rc ? tact_error_set(err, rc, "no random point of the surface near its vertex was found")
               : 0;
    }
    row->time = row->ten_derivatives_time = INFINITY;
    for (int timing_round_index = 0; !rc && timing_round_index < 2 * ROUNDS; timing_round_index++) {
        double *time = timing_round_index % 2 ? &row->ten_derivatives_time : &row->time;
        const double processor_start_time = processor_time();
        rc = evaluate_surface_points(charts, surface_points, timing_round_index % 2);
        *time = fmin(*time, (processor_time() - processor_start_time) / PLACES);
        rc = rc ? tact_error_set(err, rc,
                                 "the surface cannot be evaluated at one of the random points")
                : 0;
    }
    tact_charts_free(charts);
    return rc;
}

/* The bowl is thrown on its side: 13 cm wide, 0.9 kg, on a plane. */
static const char bowl_scene_yaml_text[] =
    "name: thrown_bowl\n"
    "period: 1e-3\n"
    "duration: 3\n"
    "materials: [{name: china}]\n"
    "pairs: [{materials: [china, china], friction: 0.3, restitution: 0.2, model: smooth}]\n"
    "bodies:\n"
    "  - {name: table, fixed: true, shapes: [{type: halfspace, material: china}]}\n"
    "  - name: bowl\n"
    "    mass: 0.9\n"
    "    position: [0, 0, 0.13]\n"
    "    quat_wxyz: [0.8, 0.36, -0.48, 0]\n"
    "    velocity: [0.3, 0, 0]\n"
    "    angular_velocity: [0, 2, 1]\n"
    "    shapes: [{type: subdivision, file: loop_bowl.obj, material: china, scale: 0.5}]\n";

static int load_bowl_scene(const char *folder, double period, struct tact_scene **scene,
                           struct tact_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/thrown_bowl.yaml", folder);
    int rc = tact_scene_parse(bowl_scene_yaml_text, sizeof bowl_scene_yaml_text - 1, path, NULL,
                              scene, err);
    if (!rc) {
        (*scene)->period = period;
    }
    return rc;
}

static int simulate_thrown_bowl(const char *folder, struct smooth_bowl_row *row,
                                struct tact_error *err)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct tact_pose pose;
    int rc = load_bowl_scene(folder, row->period, &scene, err);
    if (!rc) {
        options.types = tact_devices_builtin(&options.type_count);
        options.clock = TACT_LOOP_FREE;
        options.ticks = (uint64_t)llround(scene->duration / row->period);
        rc = tact_session_create(scene, &options, &session, err);
    }
    const double processor_start_time = processor_time();
    if (!rc) {
        rc = tact_session_run(session, &report);
        rc = rc ? tact_error_set(err, rc, "the scene of the thrown bowl cannot be simulated") : 0;
    }
    if (!rc) {
        row->time = processor_time() - processor_start_time;
        tact_session_body_pose(session, 0, &pose);
        tact_v3_copy(row->position, pose.position);
        row->unconverged_tick_fraction = (double)report.unconverged / (double)report.loop.ticks;
        row->edges = report.counts[TACT_COUNT_EDGES];
    }
    tact_session_destroy(session);
    tact_scene_free(scene);
    return rc;
}

/* Simulates the thrown bowl by reduced coordinates, until 3 s or where they cannot continue. */
static int simulate_bowl_in_reduced_coords(const char *folder, struct smooth_bowl_row *row,
                                           struct tact_error *err)
{
    struct run run = {.name = "bench",
                      .static_friction_coefficient = NAN,
                      .dynamic_friction_coefficient = NAN,
                      .spin_limit = NAN,
                      .tangential_restitution = NAN,
                      .options = {.clock = TACT_LOOP_FREE, .ticks = 1}};
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct tact_reduced *r = NULL;
    int rc = load_bowl_scene(folder, row->period, &scene, err);
    if (!rc && open_reduced_scene(&run, scene, &session, &r)) {
        rc = tact_error_set(
            err, -EDOM, "the scene of the thrown bowl cannot be simulated by reduced coordinates");
    }
    const double processor_start_time = processor_time();
    for (long k = 1, failed = 0; !rc && !failed && k <= lround(scene->duration / row->period);
         k++) {
        failed = tact_reduced_advance(r, row->period * (double)k);
    }
    if (!rc) {
        const struct tact_reduced_report *is = tact_reduced_report(r);
        row->reduced_processor_time = processor_time() - processor_start_time;
        row->reduced_simulated_time = is->time;
        row->reduced_step_count = is->steps;
        row->reduced_rejected_steps = is->rejected;
    }
    tact_reduced_destroy(r);
    tact_session_destroy(session);
    tact_scene_free(scene);
    return rc;
}

int measure_smooth_tables(const char *folder, struct smooth_bench_results *out,
                          struct tact_error *err)
{
    static const struct {
        const char *name;
        double published_seconds;
        int degree, has_triangle_faces;
    } surfaces[SMOOTH_SURFACES] = {
        {"Loop, regular", 0.2413e-3, 0, 1},    {"Loop, degree 3", 0.1683e-3, 3, 1},
        {"Loop, degree 5", 0.1933e-3, 5, 1},   {"Loop, degree 7", 0.2223e-3, 7, 1},
        {"Loop, degree 10", 0.2654e-3, 10, 1}, {"bicubic", 0.0801e-3, 0, 0},
    };
    static const double published_bowl_seconds[SMOOTH_STEPS] = {6.542, 3.328, 1.766, 0.974,
                                                                0.521, 0.370, 0.286};
    int rc = 0;
    for (int i = 0; !rc && out->requested_table_bits & 1 << 1 && i < SMOOTH_SURFACES; i++) {
        struct smooth_surface_row *row = &out->surface_rows[i];
        row->name = surfaces[i].name;
        row->published_seconds = surfaces[i].published_seconds;
        rc = measure_surface_evaluation_time(surfaces[i].degree, surfaces[i].has_triangle_faces,
                                             row, err);
    }
    for (int i = 0; !rc && out->requested_table_bits & 1 << 2 && i < SMOOTH_STEPS; i++) {
        struct smooth_bowl_row *row = &out->bowl_rows[i];
        row->period = ldexp(1e-3, i);
        row->published_seconds = published_bowl_seconds[i];
        rc = simulate_thrown_bowl(folder, row, err);
        rc = rc || !out->reduced ? rc : simulate_bowl_in_reduced_coords(folder, row, err);
    }
    return rc;
}

static void print_bowl_table(const struct smooth_bench_results *t)
{
    puts("Table II: 3 s of a bowl of Loop's that is thrown on a table. The paper: longest step "
         "of the integrator,\non a Xeon of 1.8 GHz. tact: the period of the loop, a table that "
         "is a plane\n  step [ms]   paper [s]    tact [s]   ticks not solved   position at the end "
         "[mm]");
    for (int i = 0; i < SMOOTH_STEPS; i++) {
        const struct smooth_bowl_row *r = &t->bowl_rows[i];
        printf("  %9.0f %11.3f %11.4f %16.1f %% %8.1f %8.1f %8.1f\n", 1e3 * r->period,
               r->published_seconds, r->time, 1e2 * r->unconverged_tick_fraction,
               1e3 * r->position[0], 1e3 * r->position[1], 1e3 * r->position[2]);
    }
    if (!t->reduced) {
        return;
    }
    puts("\nThe same by reduced coordinates, the paper's method, with a search for second contacts "
         "in each step. Its\nmotion is another one at each step length, and ends where it cannot "
         "continue\n  step [ms]   paper [s]    tact [s]   simulated [s]    steps   shortened");
    for (int i = 0; i < SMOOTH_STEPS; i++) {
        const struct smooth_bowl_row *r = &t->bowl_rows[i];
        printf("  %9.0f %11.3f %11.4f %15.3f %8ld %11ld\n", 1e3 * r->period, r->published_seconds,
               r->reduced_processor_time, r->reduced_simulated_time, r->reduced_step_count,
               r->reduced_rejected_steps);
    }
}

void print_smooth_tables(const struct smooth_bench_results *t)
{
    if (t->requested_table_bits & 1 << 1) {
        puts(
            "Table I: a surface at a place. The paper: ten derivatives, to the third order, on a "
            "Pentium II of\n350 MHz. tact: the same ten, and six with normal and curvature, which "
            "its contacts need; a bicubic\none is a regular face of Catmull and Clark's. S-patches "
            "are not read\n"
            "  surface            paper [us]    ten [us]  contact [us]");
        for (int i = 0; i < SMOOTH_SURFACES; i++) {
            printf("  %-18s %10.1f %11.3f %13.3f\n", t->surface_rows[i].name,
                   1e6 * t->surface_rows[i].published_seconds,
                   1e6 * t->surface_rows[i].ten_derivatives_time, 1e6 * t->surface_rows[i].time);
        }
    }
    if (t->requested_table_bits & 1 << 2) {
        print_bowl_table(t);
    }
}

static json_t *bowl_row_json(const struct smooth_bowl_row *r, int reduced)
{
    json_t *row = json_pack("{s:f, s:f, s:f, s:f, s:I, s:[f, f, f]}", "step_s", r->period,
                            "published_s", r->published_seconds, "time_s", r->time, "unconverged",
                            r->unconverged_tick_fraction, "edges", (json_int_t)r->edges,
                            "position_m", r->position[0], r->position[1], r->position[2]);
    if (reduced) {
        json_object_set_new(row, "reduced",
                            json_pack("{s:f, s:f, s:I, s:I}", "time_s", r->reduced_processor_time,
                                      "simulated_s", r->reduced_simulated_time, "steps",
                                      (json_int_t)r->reduced_step_count, "shortened",
                                      (json_int_t)r->reduced_rejected_steps));
    }
    return row;
}

int smooth_tables_print_json(const struct smooth_bench_results *t)
{
    json_t *all = json_object(), *surfaces = json_array(), *bowl_rows = json_array();
    for (int i = 0; t->requested_table_bits & 1 << 1 && i < SMOOTH_SURFACES; i++) {
        const struct smooth_surface_row *r = &t->surface_rows[i];
        json_array_append_new(surfaces,
                              json_pack("{s:s, s:f, s:f, s:f}", "surface", r->name, "published_s",
                                        r->published_seconds, "time_s", r->time, "time_of_ten_s",
                                        r->ten_derivatives_time));
    }
    for (int i = 0; t->requested_table_bits & 1 << 2 && i < SMOOTH_STEPS; i++) {
        json_array_append_new(bowl_rows, bowl_row_json(&t->bowl_rows[i], t->reduced));
    }
    json_object_set_new(all, "1", surfaces);
    json_object_set_new(all, "2", bowl_rows);
    json_t *tables = json_pack("{s:o}", "tables", all);
    int rc = json_dumpf(tables, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) ? -ENOMEM : 0;
    json_decref(tables);
    puts("");
    return rc;
}
