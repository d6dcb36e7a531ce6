/* Contact points beside the 6D contact: the same wrenches where both models apply, real Coulomb
 * problems, the vertices of overlaps, warm starts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include "contact/pair/points/point_internal.h"
#include "support/coulomb_problem.h"
#include "support/world_scene.h"

/* One scene in two worlds: with 6D contacts, whose state both use, and with contact points. */
struct point_and_patch_scenes {
    struct world_scene patch, points;
};

typedef void (*build_fn)(struct world_scene *scene);

static void open_point_and_patch_scenes(struct point_and_patch_scenes *point_and_patch_scenes,
                                        build_fn build, struct tact_world_options options)
{
    options.iterations = 100;
    options.tolerance = 1e-13;
    open_empty_scene(&point_and_patch_scenes->patch, &options);
    build(&point_and_patch_scenes->patch);
    options.model = tact_contact_model_find("points");
    options.iterations = 20000;
    open_empty_scene(&point_and_patch_scenes->points, &options);
    build(&point_and_patch_scenes->points);
}

static void close_point_and_patch_scenes(struct point_and_patch_scenes *point_and_patch_scenes)
{
    close_scene(&point_and_patch_scenes->patch);
    close_scene(&point_and_patch_scenes->points);
}

/* Solves one tick in both worlds from the state of the first and advances the first. Returns the
 * largest difference of a wrench, relative to the largest wrench (torques over `length`). */
static double step_point_and_patch_scenes(struct point_and_patch_scenes *point_and_patch_scenes,
                                          double length)
{
    struct tact_world *a = point_and_patch_scenes->patch.world,
                      *b = point_and_patch_scenes->points.world;
    for (int i = 0; i < tact_world_body_count(a); i++) {
        *tact_world_body(b, i) = *tact_world_body(a, i);
    }
    solve_scene_velocities(&point_and_patch_scenes->patch);
    solve_scene_velocities(&point_and_patch_scenes->points);
    double worst = 0, size = 0;
    for (int i = tact_world_next_pair(a, -1); i >= 0; i = tact_world_next_pair(a, i)) {
        const struct tact_contact *p = tact_world_contact(a, i), *q = tact_world_contact(b, i);
        assert_int_equal(p->touching, q->touching);
        for (int k = 0; k < 6; k++) {
            double unit = k < 3 ? 1.0 : 1.0 / length;
            size = fmax(size, fabs(unit * p->wrench[k]));
            worst = fmax(worst, fabs(unit * (p->wrench[k] - q->wrench[k])));
        }
    }
    tact_world_integrate(a);
    return size > 0 ? worst / size : 0;
}

/* Compares the contact-point and patch solutions over some ticks. */
static void compare_point_and_patch_model(const char *name, build_fn build,
                                          struct tact_world_options options, int ticks,
                                          double length, double allowed_wrench_difference)
{
    struct point_and_patch_scenes point_and_patch_scenes;
    double worst = 0;
    open_point_and_patch_scenes(&point_and_patch_scenes, build, options);
    for (int i = 0; i < ticks; i++) {
        worst = fmax(worst, step_point_and_patch_scenes(&point_and_patch_scenes, length));
    }
    print_message("%s: wrenches of %d points within %.1e of the 6D contact's over %d ticks; sweeps "
                  "at most %d and %d, residuals %.0e and %.0e\n",
                  name, point_and_patch_scenes.points.stats.points, worst, ticks,
                  point_and_patch_scenes.patch.max_tick_iterations,
                  point_and_patch_scenes.points.max_tick_iterations,
                  point_and_patch_scenes.patch.worst_residual,
                  point_and_patch_scenes.points.worst_residual);
    assert_true(worst <= allowed_wrench_difference);
    assert_int_equal(point_and_patch_scenes.points.stats.left_out, 0);
    close_point_and_patch_scenes(&point_and_patch_scenes);
}

static void start_scene_with_friction(struct world_scene *s, double friction)
{
    struct tact_contact_law law = make_rigid_law(friction);
    set_scene_contact_law(s, 0, 1, &law);
    set_scene_contact_law(s, 1, 1, &law);
    finish_scene_building(s);
}

static void build_block(struct world_scene *s)
{
    struct tact_shape block = box_of_sides(0.1, 0.06, 0.04);
    const double at[3] = {0, 0, 0.02 - 2e-5};
    add_scene_ground(s);
    add_scene_solid(s, &block, 1, at, 0.3);
    start_scene_with_friction(s, 0.4);
}

static void build_sliding_block(struct world_scene *s)
{
    build_block(s);
    tact_world_body(s->world, 0)->twist[0] = 0.6;
    tact_world_body(s->world, 0)->twist[1] = 0.3;
}

static void build_octagon(struct world_scene *s)
{
    struct tact_shape plate = make_cylinder_mesh_shape(s, 0.1, 0.02, 8);
    const double at[3] = {0, 0, 0.01 - 2e-5};
    add_scene_ground(s);
    add_scene_solid(s, &plate, 1, at, 0);
    start_scene_with_friction(s, 0.5);
    tact_world_body(s->world, 0)->twist[0] = 1;
}

static void build_tipping_block_scene(struct world_scene *s)
{
    struct tact_shape block = box_of_sides(0.04, 0.04, 0.1);
    const double at[3] = {0, 0, 0.05 - 2e-5};
    add_scene_ground(s);
    add_scene_solid(s, &block, 1, at, 0);
    start_scene_with_friction(s, 2);
}

static void build_stack_of_boxes(struct world_scene *s)
{
    double z = -2e-5, size = 0.1;
    add_scene_ground(s);
    for (int i = 0; i < 5; i++) {
        struct tact_shape cube = box_of_sides(size, size, size);
        const double at[3] = {0, 0, z + 0.5 * size};
        add_scene_solid(s, &cube, 1000 * size * size * size, at, 0);
        z += size - 2e-5;
        size *= 0.7;
    }
    start_scene_with_friction(s, 0.5);
}

static void build_table_scene(struct world_scene *s)
{
    static const double boxes[5 * 6] = {
        0,    0,    0.35, 0.9, 0.6,   0.05, 0.4,  0.25, 0.16, 0.04, 0.04,  0.32, -0.4, 0.25, 0.16,
        0.04, 0.04, 0.32, 0.4, -0.25, 0.16, 0.04, 0.04, 0.32, -0.4, -0.25, 0.16, 0.04, 0.04, 0.32};
    struct tact_shape table = make_shape_of_boxes(s, boxes, 5);
    const double at[3] = {0, 0, -2e-5};
    add_scene_ground(s);
    add_scene_solid(s, &table, 5, at, 0);
    start_scene_with_friction(s, 0.5);
}

static void point_model_gives_the_wrenches_of_the_patch_model(void **state)
{
    (void)state;
    struct tact_world_options flat = tact_world_options_default();
    compare_point_and_patch_model("block that slides", build_sliding_block, flat, 50, 0.05, 1e-9);
    compare_point_and_patch_model("octagon that slides", build_octagon, flat, 50, 0.1, 1e-9);
    compare_point_and_patch_model("block held on a slope", build_block,
                                  options_with_tilted_gravity(0.3), 50, 0.05, 1e-9);
    compare_point_and_patch_model("block that tips", build_tipping_block_scene,
                                  options_with_tilted_gravity(0.42), 50, 0.02, 1e-9);
    compare_point_and_patch_model("table", build_table_scene, flat, 20, 0.4, 1e-9);
    compare_point_and_patch_model("stack of 5, tapered", build_stack_of_boxes, flat, 3, 0.1, 1e-8);
}

/* Sweeps that reach the residual 1e-10 from zero, and a tick later with 1 % more weight. */
static void warm_started_contact_points_need_fewer_sweeps(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_world_options o = tact_world_options_default();
    o.model = tact_contact_model_find("points");
    o.iterations = 20000;
    open_empty_scene(&s, &o);
    build_table_scene(&s);
    step_scene(&s);
    int sweeps_from_cold_start = s.stats.iterations;
    step_scene(&s);
    int warm = s.stats.iterations;
    tact_world_contact(s.world, 0)->warm[0] = 0;
    for (int k = 0; k < 6; k++) {
        tact_world_contact(s.world, 0)->warm[k] = 0;
    }
    step_scene(&s);
    print_message("table of %d points: %d sweeps cold, %d warm, %d without its warm start\n",
                  s.stats.points, sweeps_from_cold_start, warm, s.stats.iterations);
    assert_true(warm < sweeps_from_cold_start / 2 && s.stats.iterations > warm);
    close_scene(&s);
}

static void contact_points_beyond_the_capacity_are_refused(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_world_options o = tact_world_options_default();
    o.model = tact_contact_model_find("points");
    o.points = 3;
    open_empty_scene(&s, &o);
    build_block(&s);
    solve_scene_velocities(&s);
    assert_int_equal(s.stats.points, 3);
    assert_int_equal(s.stats.left_out, 1);
    assert_int_equal(s.stats.counts[TACT_COUNT_POINTS_LEFT_OUT], 1);
    close_scene(&s);
    o.points = 0;
    assert_int_equal(tact_world_create(&o, &s.world), -EINVAL);
}

/* Two blocks of four points each: with capacity for five, the second one bears on one point, which
 * is counted; with capacity for four, it has none, and the tick is not solved. */
static void a_contact_without_any_point_is_an_error(void **state)
{
    (void)state;
    for (int room = 8; room >= 4; room--) {
        struct world_scene s;
        struct tact_world_options o = tact_world_options_default();
        struct tact_shape box = box_of_sides(0.1, 0.1, 0.1);
        o.model = tact_contact_model_find("points");
        o.points = room;
        open_empty_scene(&s, &o);
        add_scene_ground(&s);
        for (int i = 0; i < 2; i++) {
            add_scene_solid(&s, &box, 1.0, (double[3]){0.3 * i, 0, 0.05 - 1e-5}, 0);
        }
        start_scene_with_friction(&s, 0.5);
        assert_int_equal(tact_world_measure_near(s.world, s.scratch), 0);
        assert_int_equal(tact_world_solve(s.world, &s.stats), room < 5 ? -ENOSPC : 0);
        assert_int_equal(s.stats.counts[TACT_COUNT_POINTS_LEFT_OUT], 8 - room + (room < 5));
        if (room < 5) {
            assert_string_equal(tact_world_exceeded_capacity(s.world), "contact points");
        } else {
            assert_null(tact_world_exceeded_capacity(s.world));
        }
        close_scene(&s);
    }
}

/* Points of two boxes as meshes, or of one and the ground. */
static void make_contact_points_of_boxes(const struct tact_pose *pa, const struct tact_pose *pb,
                                         int ground, struct contact_point_store *store)
{
    const double half[3] = {0.05, 0.05, 0.05};
    struct tact_mesh *mesh = NULL;
    struct tact_patch patch = {.frame = {0, 0, 1, 1, 0, 0, 0, 1, 0}};
    assert_int_equal(tact_mesh_box(half, &mesh), 0);
    struct tact_shape a = {.kind = TACT_SHAPE_MESH, .mesh = mesh};
    struct tact_shape b = {.kind = ground ? TACT_SHAPE_HALFSPACE : TACT_SHAPE_MESH,
                           .mesh = ground ? NULL : mesh};
    assert_int_equal(tact_points_create(store, 512, 1, mesh->vertex_count), 0);
    tact_points_begin_tick(store);
    tact_points_list_pair_points(store, 0, &a, pa, &b, pb, &patch);
    tact_mesh_free(mesh);
}

/* Checks that the bounding box of the points, in world axes about the patch's centre, is the given
 * one. */
static void expect_points_bounding_box(const struct contact_point_store *store, const double *lower,
                                       const double *upper)
{
    double low[3] = {1, 1, 1}, high[3] = {-1, -1, -1};
    for (int i = 0; i < store->now.count; i++) {
        const double *at = store->now.points[i].at; /* frame: n = z, t1 = x, t2 = y */
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], at[(k + 1) % 3]);
            high[k] = fmax(high[k], at[(k + 1) % 3]);
        }
    }
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(low[k] - lower[k]) < 1e-14 && fabs(high[k] - upper[k]) < 1e-14);
    }
}

static int count_points_at_box_corners(const struct contact_point_store *store, const double *lower,
                                       const double *upper)
{
    int found = 0;
    for (int corner = 0; corner < 8; corner++) {
        int any = 0;
        for (int i = 0; i < store->now.count; i++) {
            const double *at = store->now.points[i].at;
            int all = 1;
            for (int k = 0; k < 3; k++) {
                double expected = corner >> k & 1 ? upper[k] : lower[k];
                all = all && fabs(at[(k + 1) % 3] - expected) < 1e-14;
            }
            any = any || all;
        }
        found += any;
    }
    return found;
}

static void overlap_of_boxes_gives_its_vertices_as_contact_points(void **state)
{
    (void)state;
    struct tact_pose a = tact_pose_identity(), b = tact_pose_identity();
    struct contact_point_store store;
    const double lower[3] = {-0.03, -0.04, 0.049}, upper[3] = {0.05, 0.05, 0.05};
    tact_v3_set(b.position, 0.02, 0.01, 0.099);
    make_contact_points_of_boxes(&a, &b, 0, &store);
    expect_points_bounding_box(&store, lower, upper);
    print_message("two boxes: %d points\n", store.now.count);
    assert_int_equal(count_points_at_box_corners(&store, lower, upper), 8);
    tact_points_destroy(&store);

    const double lower_corner_of_box_overlap[3] = {-0.05, -0.05, -0.001}, top[3] = {0.05, 0.05, 0};
    tact_v3_set(a.position, 0, 0, 0.049);
    b = tact_pose_identity();
    make_contact_points_of_boxes(&a, &b, 1, &store);
    expect_points_bounding_box(&store, lower_corner_of_box_overlap, top);
    print_message("box in the ground: %d points\n", store.now.count);
    assert_int_equal(count_points_at_box_corners(&store, lower_corner_of_box_overlap, top), 8);
    tact_points_destroy(&store);

    tact_v3_set(a.position, 0, 0, 1); /* the bodies do not touch: only the centre matters */
    make_contact_points_of_boxes(&a, &b, 1, &store);
    assert_int_equal(store.now.count, 1);
    tact_points_destroy(&store);
}

/* Solves a Coulomb problem as a world in which each contact is a pair with one point. */
static void solve_coulomb_problem_by_sweeps(const struct coulomb_problem *p, int *six, int *ten,
                                            double *residual)
{
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {1, 0, 0}};
    struct tact_pose here = tact_pose_identity();
    struct tact_patch patch = {.frame = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    struct tact_local_problem local[MAX_COULOMB_CONTACTS];
    struct contact_point_store store;
    double r[3 * MAX_COULOMB_CONTACTS] = {0};
    int n = 3 * p->contacts;
    assert_int_equal(tact_points_create(&store, p->contacts, p->contacts, 0), 0);
    tact_points_begin_tick(&store);
    for (int c = 0; c < p->contacts; c++) {
        memset(&local[c], 0, sizeof local[c]);
        local[c].mu = p->mu[c];
        for (int i = 0; i < 9; i++) {
            int row = 3 * c + i / 3, column = 3 * c + i % 3;
            local[c].s[6 * (i / 3) + i % 3] =
                0.5 * (p->w[row * n + column] + p->w[column * n + row]);
        }
        tact_points_list_pair_points(&store, c, &ball, &here, &ball, &here, &patch);
        tact_points_prepare_pair(&store, c, &local[c]);
    }
    *six = *ten = 0;
    *residual = INFINITY;
    for (int sweep_number = 1; sweep_number <= 500 && !(*residual <= 1e-13); sweep_number++) {
        for (int c = 0; c < p->contacts; c++) {
            double point_impulse_with_zero_torque[6] = {r[3 * c], r[3 * c + 1], r[3 * c + 2], 0, 0,
                                                        0};
            struct contact_point_solver_pass pass;
            for (int i = 0; i < 3; i++) {
                local[c].b[i] = p->q[3 * c + i];
                for (int k = 0; k < n; k++) {
                    local[c].b[i] += p->w[(3 * c + i) * n + k] * r[k];
                }
                for (int k = 0; k < 3; k++) {
                    local[c].b[i] -= local[c].s[6 * i + k] * r[3 * c + k];
                }
            }
            tact_points_solve_pair(&store, c, &local[c], point_impulse_with_zero_torque, &pass);
            tact_v3_copy(r + 3 * c, point_impulse_with_zero_torque);
        }
        *residual = compute_coulomb_residual(p, r);
        *six = *six == 0 && *residual <= 1e-6 ? sweep_number : *six;
        *ten = *ten == 0 && *residual <= 1e-10 ? sweep_number : *ten;
    }
    tact_points_destroy(&store);
}

static void point_model_solves_coulomb_problems(void **state)
{
    (void)state;
    static struct coulomb_problem p;
    for (int i = 0; i < COULOMB_PROBLEMS; i++) {
        int six, ten;
        double residual;
        if (!read_coulomb_problem(i, &p)) {
            continue;
        }
        solve_coulomb_problem_by_sweeps(&p, &six, &ten, &residual);
        print_message("%-24s %3d sweeps to 1e-6, %3d to 1e-10, ends at %.1e\n", coulomb_names[i],
                      six, ten, residual);
        assert_true(residual <= 1e-10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_of_boxes_gives_its_vertices_as_contact_points),
        cmocka_unit_test(point_model_gives_the_wrenches_of_the_patch_model),
        cmocka_unit_test(warm_started_contact_points_need_fewer_sweeps),
        cmocka_unit_test(contact_points_beyond_the_capacity_are_refused),
        cmocka_unit_test(a_contact_without_any_point_is_an_error),
        cmocka_unit_test(point_model_solves_coulomb_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
