/* The tables of a benchmark for people, and everything as JSON. */
#include <jansson.h>
#include <stdio.h>
#include "bench.h"
#include "text.h"

static const enum bench_method methods_with_published_times[2] = {BENCH_PATCH_METHOD,
                                                                  BENCH_POINT_CONTACT_METHOD};

/* Column of the paper's tables with which a method is compared; -1: none. */
static int paper_column_of_method(int method)
{
    return method == (int)methods_with_published_times[0]
               ? 0
               : (method == (int)methods_with_published_times[1] ? 1 : -1);
}

static void print_aligned_number(double value)
{
    if (value > 0.0) {
        printf(" %9.4g", value);
    } else {
        printf(" %9s", "-");
    }
}

static void print_tick_phase_times(const struct bench_scene *scenes, int count)
{
    static const char *const heads[BENCH_PART_COUNT] = {"detect", "assemble", "factor", "solve"};
    printf("Table 1: time of a tick by part [ms], medians; solve is that of a cold start\n"
           "%-42s  %-40s  %s\n%-16s %-15s %9s ",
           "", "  this machine", "the paper (i7, GeForce GTX Titan)", "scene", "method",
           "unknowns");
    for (int k = 0; k < 2 * BENCH_PART_COUNT; k++) {
        printf("%s%9s", k == BENCH_PART_COUNT ? "  " : " ", heads[k % BENCH_PART_COUNT]);
    }
    puts("");
    for (int i = 0; i < count; i++) {
        const struct bench_scene *s = &scenes[i];
        for (int m = 0; m < BENCH_METHOD_COUNT; m++) {
            const struct bench_result *r = &s->result[m];
            int column = paper_column_of_method(m);
            printf("%-16s %-15s %9d ", m ? "" : s->name, bench_method_names[m],
                   r->largest_contact_row_count);
            for (int part = 0; part < BENCH_PART_COUNT; part++) {
                print_aligned_number(r->time[part] * 1e-3);
            }
            fputs(" ", stdout);
            for (int part = 0; part < BENCH_PART_COUNT; part++) {
                print_aligned_number(column < 0 ? 0.0 : s->published_values.time[column][part]);
            }
            puts("");
        }
        printf("  %d bodies, %lu triangles, %d contacts%s%s\n", s->bodies, s->triangles,
               s->result[0].contacts, s->published_values.scene ? "; in the paper: " : "",
               s->published_values.scene ? s->published_values.scene : "");
    }
}

static void print_sweep_counts(const struct bench_scene *scenes, int count,
                               const struct bench_options *options)
{
    printf(
        "\nTable 2: sweeps until the update of one, by the impulses' norm, is at most %.0e; mean "
        "and\ndeviation. Warm: from the tick before, the load changing by 1 %%. Steps: of "
        "Newton's\nmethod between these, each about as long as one\n"
        "%-16s %-16s %17s %7s %9s %9s %9s %7s %10s   %-22s\n",
        options->update, "scene", "method", "cold", "steps", "points/6D", "warm", "at most",
        "steps", "residual", "  the paper");
    for (int i = 0; i < count; i++) {
        const struct bench_scene *s = &scenes[i];
        for (int m = 0; m < BENCH_METHOD_COUNT; m++) {
            const struct bench_result *r = &s->result[m];
            int column = paper_column_of_method(m);
            double mean_sweeps_of_patch_method =
                s->result[BENCH_PATCH_METHOD].cold_start_sweeps.mean;
            printf("%-16s %-16s %8.1f +- %5.1f %7.1f", m ? "" : s->name, bench_method_names[m],
                   r->cold_start_sweeps.mean, r->cold_start_sweeps.deviation,
                   r->cold_start_elimination_steps.mean);
            print_aligned_number(m == BENCH_POINT_CONTACT_METHOD &&
                                         mean_sweeps_of_patch_method > 0.0
                                     ? r->cold_start_sweeps.mean / mean_sweeps_of_patch_method
                                     : 0.0);
            printf(" %9.1f %9.0f %7.1f %10.1e", r->warm.mean, r->warm.most,
                   r->warm_elimination_steps.mean, r->residual.median);
            if (column >= 0 && s->published_values.sweeps[column] > 0.0) {
                printf("   %7.0f +- %-5.0f %.1e", s->published_values.sweeps[column],
                       s->published_values.sweeps_dev[column],
                       s->published_values.residual[column]);
            }
            if (r->unconverged_cold_ticks || r->unconverged_warm_ticks) {
                printf("  (not converged: %d cold and %d warm starts of %d ticks, after %d sweeps)",
                       r->unconverged_cold_ticks, r->unconverged_warm_ticks, s->ticks,
                       options->sweeps);
            }
            if (r->left_out) {
                printf("  (%d points left out)", r->left_out);
            }
            puts("");
        }
    }
}

void bench_print(const struct bench_scene *scenes, int count, const struct bench_options *options)
{
    print_tick_phase_times(scenes, count);
    print_sweep_counts(scenes, count, options);
}

static json_t *spread_json(const struct bench_statistics *s)
{
    return json_pack("{s:f, s:f, s:f, s:f}", "mean", s->mean, "deviation", s->deviation, "median",
                     s->median, "most", s->most);
}

static json_t *result_json(const struct bench_result *r)
{
    json_t *time = json_object();
    for (int i = 0; i < BENCH_PART_COUNT; i++) {
        json_object_set_new(time, bench_part_names[i], json_real(r->time[i]));
    }
    return json_pack(
        "{s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:{s:o, s:o}}", "contacts",
        r->contacts, "unknowns", r->largest_contact_row_count, "points_left_out", r->left_out,
        "time_us", time, "sweeps_cold", spread_json(&r->cold_start_sweeps), "steps_cold",
        spread_json(&r->cold_start_elimination_steps), "residual", spread_json(&r->residual),
        "sweeps_warm", spread_json(&r->warm), "steps_warm", spread_json(&r->warm_elimination_steps),
        "unsolved", r->unconverged_cold_ticks, "warm_unsolved", r->unconverged_warm_ticks, "curve",
        "update", text_json_numbers(r->update, r->curve_sweep_count), "residual",
        text_json_numbers(r->residual_after_sweep, r->curve_sweep_count));
}

/* The paper's column of a scene, times in us as ours. */
static json_t *paper_column_json(const struct bench_published_values *p, int column)
{
    json_t *all = json_object(), *time = json_object();
    for (int i = 0; i < BENCH_PART_COUNT && p->time[column][0] > 0.0; i++) {
        json_object_set_new(time, bench_part_names[i], json_real(1e3 * p->time[column][i]));
    }
    if (json_object_size(time)) {
        json_object_set(all, "time_us", time);
    }
    json_decref(time);
    if (p->sweeps[column] > 0.0) {
        json_object_set_new(
            all, "sweeps_cold",
            json_pack("{s:f, s:f}", "mean", p->sweeps[column], "deviation", p->sweeps_dev[column]));
        json_object_set_new(all, "residual",
                            json_pack("{s:f, s:f}", "mean", p->residual[column], "deviation",
                                      p->residual_dev[column]));
    }
    return all;
}

int bench_print_json(const struct bench_scene *scenes, int count,
                     const struct bench_options *options)
{
    json_t *list_of = json_array();
    for (int i = 0; i < count; i++) {
        const struct bench_scene *s = &scenes[i];
        json_t *methods = json_object();
        for (int m = 0; m < BENCH_METHOD_COUNT; m++) {
            json_object_set_new(methods, bench_method_names[m], result_json(&s->result[m]));
        }
        json_t *one =
            json_pack("{s:s, s:i, s:i, s:I, s:o}", "name", s->name, "bodies", s->bodies, "ticks",
                      s->ticks, "triangles", (json_int_t)s->triangles, "methods", methods);
        if (s->published_values.scene) {
            json_object_set_new(one, "paper",
                                json_pack("{s:s, s:o, s:o}", "scene", s->published_values.scene,
                                          bench_method_names[methods_with_published_times[0]],
                                          paper_column_json(&s->published_values, 0),
                                          bench_method_names[methods_with_published_times[1]],
                                          paper_column_json(&s->published_values, 1)));
        }
        json_array_append_new(list_of, one);
    }
    json_t *all = json_pack("{s:f, s:i, s:o}", "update", options->update, "most_sweeps",
                            options->sweeps, "scenes", list_of);
    return text_print_json(all);
}
