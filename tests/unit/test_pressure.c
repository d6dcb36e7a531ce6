/* Pressure maps of contacts: their integrals compared with the patch of the solver, exact
 * pressures, and that recording them does not change the simulation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/model.h"
#include "support/random.h"
#include "support/world_scene.h"

#define G 9.81
#define PI 3.14159265358979323846
#define PRESSURE_DEPTH_SLOPE (1e6 / 0.01) /* slope of the pressure with depth [Pa/m] */

static struct tact_pressure map;

/* The ground has material 0, all bodies material 1; the flags say which of the two is soft. */
static void open_soft_pair_scene(struct world_scene *s, int is_ground_soft, int is_body_soft)
{
    struct tact_world_options o = tact_world_options_default();
    const int is_soft[2] = {is_ground_soft, is_body_soft};
    open_empty_scene(s, &o);
    for (int i = 0; i < 2; i++) {
        const struct tact_material of = {
            .field = {.modulus = is_soft[i] ? 1e6 : 0.0, .thickness = 0.01}};
        assert_int_equal(tact_world_set_material(s->world, i, &of), 0);
    }
    add_scene_ground(s);
}

static void place_body_on_ground_and_start_world(struct world_scene *s)
{
    struct tact_contact_law law = make_rigid_law(0.5);
    law.model = tact_contact_model_find("field");
    law.dissipation = 0.003;
    set_scene_contact_law(s, 0, 1, &law);
    set_scene_contact_law(s, 1, 1, &law);
    finish_scene_building(s);
}

/* Integrals of a patch's polygons: area, load, and the place of the load from its centre. */
struct sums {
    double area, load, moment[3], peak;
};

static struct sums sum_pressure_polygons_of_patch(int index)
{
    struct sums out = {.peak = 0.0};
    const float(*c)[4] = map.corner;
    const uint8_t *sides = map.sides;
    for (int i = 0; i < index; i++) {
        for (uint32_t k = 0; k < map.patch[i].polygons; k++) {
            c += *sides++;
        }
    }
    for (uint32_t k = 0; k < map.patch[index].polygons; c += *sides++, k++) {
        for (int i = 1; i + 1 < *sides; i++) {
            const float *t[3] = {c[0], c[i], c[i + 1]};
            double a[3], b[3], n[3], p = 0.0;
            for (int x = 0; x < 3; x++) {
                a[x] = (double)t[1][x] - (double)t[0][x];
                b[x] = (double)t[2][x] - (double)t[0][x];
                p += (double)t[x][3];
            }
            tact_v3_cross(n, a, b);
            double area = 0.5 * tact_v3_norm(n);
            out.area += area;
            out.load += area * p / 3.0;
            for (int x = 0; x < 3; x++) {
                /* this sum is the exact integral for a linear pressure */
                for (int j = 0; j < 3; j++) {
                    out.moment[x] += area / 12.0 * (double)t[j][x] * (p + (double)t[j][3]);
                }
            }
        }
        for (int i = 0; i < *sides; i++) {
            out.peak = fmax(out.peak, (double)c[i][3]);
        }
    }
    return out;
}

/* Checks the integrals of a patch of which no polygon was left out, to single precision. */
static void check_pressure_patch(struct world_scene *s, int index, double curved)
{
    const struct tact_pressure_patch *p = &map.patch[index];
    struct sums of = sum_pressure_polygons_of_patch(index);
    double size = sqrt(p->area);
    const struct tact_contact *c = tact_world_contact(s->world, (int)p->pair);
    assert_int_equal(p->left_out, 0);
    assert_int_equal((int)p->a, c->a);
    assert_int_equal((int)p->b, c->b);
    assert_true(fabs(of.area - p->area) <= (1e-5 + curved) * p->area);
    assert_true(fabs(of.load - p->load) <= (1e-5 + curved) * p->load);
    assert_true(tact_v3_norm(of.moment) <= (1e-5 + curved) * size * p->load);
    assert_true(fabs(of.peak - (double)p->peak) <= 1e-6 * of.peak);
    assert_true(fabs(tact_v3_norm(p->normal) - 1.0) < 1e-12);
}

/* A box at rest: one pressure all over its foot, the weight over the area. */
static void pressure_map_of_a_resting_box_is_exact(void **state)
{
    (void)state;
    for (int is_body_soft = 1; is_body_soft < 4; is_body_soft++) {
        struct world_scene s;
        struct tact_shape box = box_of_sides(0.04, 0.03, 0.02);
        const double place[3] = {0.0, 0.0, 0.01}, area = 0.04 * 0.03;
        open_soft_pair_scene(&s, is_body_soft & 1, is_body_soft & 2);
        add_scene_solid(&s, &box, 0.1, place, uniform(-3.0, 3.0));
        place_body_on_ground_and_start_world(&s);
        run_scene_for_seconds(&s, 0.5);
        tact_world_keep_pressure(s.world, &map);
        step_scene(&s);
        assert_int_equal(map.patches, 1);
        assert_true(map.polygons >= 1 && map.left_out == 0);
        check_pressure_patch(&s, 0, 0.0);
        /* Relative tolerance for the sides of the box, a depth over a side: in soft ground they are
         * pressed too, and the pressure of a soft box falls there. */
        double near = is_body_soft & 1 ? 2e-3 : 1e-6;
        assert_true(fabs(map.patch[0].area - area) < near * area);
        assert_true(fabs(map.patch[0].load - 0.1 * G) < near * 0.1 * G);
        assert_true(fabs((double)map.patch[0].peak * area - 0.1 * G) < 2e-3 * 0.1 * G);
        assert_true(fabs(fabs(map.patch[0].normal[2]) - 1.0) < 1e-9);
        close_scene(&s);
    }
}

/* A soft ball on a rigid plane in closed form: peak and load of the paraboloid, and polygons whose
 * integral comes close to it; and a tilted cylinder, cut polygon by polygon. */
static void pressure_maps_of_ball_and_cylinder_are_exact(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_shape ball = make_sphere(0.02), can;
    const double depth = 0.001, at[3] = {0.0, 0.0, 0.02 - depth}, beside[3] = {0.1, 0.0, 0.0135};
    open_soft_pair_scene(&s, 0, 1);
    add_scene_solid(&s, &ball, 0.1, at, 0.0);
    can = make_cylinder_mesh_shape(&s, 0.015, 0.03, 24);
    add_scene_solid(&s, &can, 0.1, beside, 0.0);
    struct tact_pose *pose = &tact_world_body(s.world, 1)->pose;
    const double tilt = uniform(0.1, 0.2);
    pose->quat_wxyz[0] = cos(0.5 * tilt);
    pose->quat_wxyz[2] = sin(0.5 * tilt);
    place_body_on_ground_and_start_world(&s);
    tact_world_keep_pressure(s.world, &map);
    step_scene(&s);
    assert_int_equal(map.patches, 2);
    double square = 0.02 * 0.02 - at[2] * at[2];
    assert_true(fabs((double)map.patch[0].peak - PRESSURE_DEPTH_SLOPE * depth) <
                1e-6 * PRESSURE_DEPTH_SLOPE * depth);
    assert_true(fabs(map.patch[0].area - PI * square) < 1e-12);
    check_pressure_patch(&s, 0, 0.02);
    check_pressure_patch(&s, 1, 0.0);
    assert_true(map.patch[1].polygons > 10);
    close_scene(&s);
}

/* A soft ball deep over both edges of a rigid bar: all corners of its polygons on the bar's top are
 * on the ball, where the pressure is 0; the peak is under the ball's centre, or at the edge nearest
 * to it. */
static void pressure_map_of_a_ball_across_a_bar_has_its_peak(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        struct tact_shape ball = make_sphere(0.02), bar = box_of_sides(0.2, 0.008, 0.02);
        const double depth = 0.003, from = 0.003 * i, beyond = fmax(from - 0.004, 0.0);
        const struct tact_pose at = {{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0, 0.0}};
        const double on[3] = {0.0, from, 1.01 + 0.02 - depth};
        open_soft_pair_scene(&s, 0, 1);
        add_scene_shape(&s, -1, &bar, &at, 0);
        add_scene_solid(&s, &ball, 0.1, on, 0.0);
        place_body_on_ground_and_start_world(&s);
        tact_world_keep_pressure(s.world, &map);
        step_scene(&s);
        assert_int_equal(map.patches, 1);
        double peak = PRESSURE_DEPTH_SLOPE * (0.02 - hypot(0.02 - depth, beyond));
        const struct sums of = sum_pressure_polygons_of_patch(0);
        print_message("%.0f mm from the middle: peak %.6g Pa, exact %.6g; area %.4f, load %.4f\n",
                      1e3 * from, (double)map.patch[0].peak, peak, of.area / map.patch[0].area,
                      of.load / map.patch[0].load);
        assert_true(fabs((double)map.patch[0].peak - peak) < 1e-6 * peak);
        check_pressure_patch(&s, 0, 0.1);
        close_scene(&s);
    }
}

/* 70 balls: the first patches are finer than those for which there is less room, each patch is
 * whole or is left out, and what is left out is counted exactly. */
static void pressure_maps_have_whole_patches_only(void **state)
{
    (void)state;
    enum { BALLS = 70, FINE = 8 * 32, COARSE = 2 * 12 };
    struct world_scene s;
    struct tact_shape ball = make_sphere(0.02);
    open_soft_pair_scene(&s, 0, 1);
    for (int i = 0; i < BALLS; i++) {
        const double at[3] = {0.1 * i, 0.0, 0.019};
        add_scene_solid(&s, &ball, 0.1, at, 0.0);
    }
    place_body_on_ground_and_start_world(&s);
    tact_world_keep_pressure(s.world, &map);
    step_scene(&s);
    uint32_t listed = 0, left_out = 0, whole = 0, before = FINE;
    assert_int_equal(map.patches, TACT_PRESSURE_PATCHES);
    assert_int_equal(map.patches_left_out, BALLS - TACT_PRESSURE_PATCHES);
    for (uint32_t i = 0; i < map.patches; i++) {
        const struct tact_pressure_patch *p = &map.patch[i];
        listed += p->polygons;
        left_out += p->left_out;
        assert_true(fabs(p->load - map.patch[0].load) < 1e-9 * map.patch[0].load);
        assert_int_equal((int)p->peak, (int)map.patch[0].peak);
        if (p->left_out) {
            assert_int_equal(p->polygons, 0);
            assert_int_equal(p->left_out, COARSE);
            continue;
        }
        whole++;
        assert_in_range(p->polygons, COARSE, before);
        before = p->polygons;
        check_pressure_patch(&s, (int)i, p->polygons == FINE ? 0.02 : 0.15);
    }
    print_message("%u of %d patches in the map, %u polygons; the last has %u\n", whole, BALLS,
                  map.polygons, before);
    assert_int_equal(map.patch[4].polygons, FINE);
    assert_true(whole > 16 && map.polygons > TACT_PRESSURE_POLYGONS - COARSE);
    assert_int_equal(listed, map.polygons);
    assert_int_equal(map.left_out, left_out + COARSE * map.patches_left_out);
    assert_true(map.corners <= TACT_PRESSURE_CORNERS);
    close_scene(&s);
}

/* A falling, turning box has the same final bits with and without a map; and a map whose recording
 * was ended is not written. */
static void pressure_maps_do_not_change_the_simulation(void **state)
{
    (void)state;
    double end[2][13], turn[4], spin[3];
    random_unit_quaternion(turn);
    tact_v3_set(spin, uniform(-10.0, 10.0), uniform(-10.0, 10.0), uniform(-10.0, 10.0));
    for (int kept = 0; kept < 2; kept++) {
        struct world_scene s;
        struct tact_shape box = box_of_sides(0.04, 0.03, 0.02);
        const double at[3] = {0.0, 0.0, 0.05};
        open_soft_pair_scene(&s, 0, 1);
        add_scene_solid(&s, &box, 0.1, at, 0.0);
        memcpy(tact_world_body(s.world, 0)->pose.quat_wxyz, turn, sizeof turn);
        tact_v3_copy(tact_world_body(s.world, 0)->twist + 3, spin);
        tact_world_refresh(s.world);
        place_body_on_ground_and_start_world(&s);
        tact_world_keep_pressure(s.world, kept ? &map : NULL);
        run_scene_for_seconds(&s, 0.5);
        memcpy(end[kept], &tact_world_body(s.world, 0)->pose, 7 * sizeof(double));
        memcpy(end[kept] + 7, tact_world_body(s.world, 0)->twist, 6 * sizeof(double));
        tact_world_keep_pressure(s.world, NULL);
        tact_pressure_clear(&map);
        run_scene_for_seconds(&s, 0.1);
        assert_int_equal(map.patches, 0);
        close_scene(&s);
    }
    assert_memory_equal(end[0], end[1], sizeof end[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pressure_map_of_a_resting_box_is_exact),
        cmocka_unit_test(pressure_maps_of_ball_and_cylinder_are_exact),
        cmocka_unit_test(pressure_map_of_a_ball_across_a_bar_has_its_peak),
        cmocka_unit_test(pressure_maps_have_whole_patches_only),
        cmocka_unit_test(pressure_maps_do_not_change_the_simulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
