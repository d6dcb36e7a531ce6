/*
 * Slender and flat ellipsoids that fall and slap down: the contact runs over much of the body in
 * a tick, to places that are curved otherwise. In a bowl no contact is through its wall.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "contact/pair/models_internal.h"
#include "contact/shape/charts.h"
#include "support/bowl_profile.h"
#include "support/random.h"
#include "support/world_scene.h"

#define PI 3.14159265358979323846

/* Opens the scene of an ellipsoid of steel over a half-space, or over a fixed shape. */
static void open_falling_ellipsoid(struct world_scene *s, const struct tact_shape *ground,
                                   const double axes[3], double height, double mu,
                                   const double quat_wxyz[4], const double w[3])
{
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_rigid_law(mu);
    const struct tact_shape shape = {.kind = TACT_SHAPE_ELLIPSOID,
                                     .size = {axes[0], axes[1], axes[2]}};
    const double place[3] = {0.0, 0.0, height};
    law.model = &tact_model_smooth;
    open_empty_scene(s, &o);
    if (ground) {
        const struct tact_pose here = tact_pose_identity();
        add_scene_shape(s, -1, ground, &here, 0);
    } else {
        add_scene_ground(s);
    }
    add_scene_solid(s, &shape, 8000.0 * 4.0 / 3.0 * PI * axes[0] * axes[1] * axes[2], place, 0.0);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
    struct tact_body *body = tact_world_body(s->world, 0);
    for (int i = 0; i < 4; i++) {
        body->pose.quat_wxyz[i] = quat_wxyz[i];
    }
    tact_v3_copy(body->twist + 3, w);
    tact_world_refresh(s->world);
}

/* Largest rise of the energy above what it was before, in that time, over that at the start. */
static double largest_energy_rise(struct world_scene *s, double seconds)
{
    const double start = compute_phase_corrected_energy(s);
    double least = start, energy_rise = 0.0;
    for (long i = 0; i < lround(seconds / s->options.period); i++) {
        step_scene(s);
        const double now = compute_phase_corrected_energy(s);
        least = fmin(least, now);
        energy_rise = fmax(energy_rise, now - least);
    }
    return energy_rise / start;
}

/* A bar of 0.5 m falls with one end ahead: as it slaps down the contact runs from that end over
 * the middle, 0.15 m in a tick. */
static void slender_bar_slaps_down_without_gaining_energy(void **state)
{
    (void)state;
    const double axes[3] = {0.25, 0.25 / 30.0, 0.25 / 30.0}, w[3] = {1.0, 0.5, 3.0};
    double quat_wxyz[4] = {0.9, 0.3, 0.2, 0.1};
    struct world_scene s;
    tact_quat_normalize(quat_wxyz);
    open_falling_ellipsoid(&s, NULL, axes, 0.3, 0.5, quat_wxyz, w);
    const double energy_rise = largest_energy_rise(&s, 3.0);
    printf("a bar of 30 to 1: energy rises by %.2f %%\n", 100.0 * energy_rise);
    assert_true(energy_rise < 0.03);
    close_scene(&s);
}

/* Ellipsoids of all proportions up to 100 to 1, from 2 cm to 1 m. */
static void slender_and_flat_ellipsoids_gain_no_energy(void **state)
{
    (void)state;
    enum { BODIES = 60 };
    double sum = 0.0, worst = 0.0;
    for (int i = 0; i < BODIES; i++) {
        const double longest_semi_axis = 0.5 * pow(10.0, uniform(-1.7, 0.0)),
                     mus[3] = {0.0, 0.3, 0.8};
        const double axes[3] = {longest_semi_axis,
                                longest_semi_axis * pow(10.0, uniform(-2.0, 0.0)),
                                longest_semi_axis * pow(10.0, uniform(-2.0, 0.0))};
        const double w[3] = {uniform(-5.0, 5.0), uniform(-5.0, 5.0), uniform(-5.0, 5.0)};
        double quat_wxyz[4];
        struct world_scene s;
        random_unit_quaternion(quat_wxyz);
        open_falling_ellipsoid(&s, NULL, axes, 1.2 * longest_semi_axis, mus[i % 3], quat_wxyz, w);
        const double energy_rise = largest_energy_rise(&s, 1.0);
        sum += energy_rise / BODIES;
        worst = fmax(worst, energy_rise);
        close_scene(&s);
    }
    printf("%d ellipsoids: energy rises by at most %.1f %%, %.1f %% in the mean\n", BODIES,
           100.0 * worst, 100.0 * sum);
    assert_true(worst < 0.2 && sum < 0.04);
}

/* Ellipsoids that fall into a bowl stay in it. The outside of its wall and the upper side of an
 * ellipsoid have opposite normals too: taken for an overlap, they drew it through the wall. */
static void ellipsoids_in_a_bowl_do_not_pass_its_wall(void **state)
{
    (void)state;
    enum { BODIES = 16 };
    double profile[64][2], worst = 0.0, lowest = 0.0;
    struct tact_charts *charts;
    const int count = make_bowl_profile(profile);
    assert_int_equal(tact_charts_revolution((const double(*)[2])profile, count, &charts, NULL), 0);
    const struct tact_shape bowl = {.kind = TACT_SHAPE_REVOLUTION, .charts = charts};
    for (int i = 0; i < BODIES; i++) {
        const double longest_semi_axis = uniform(0.01, 0.03), mus[3] = {0.0, 0.3, 0.8};
        const double axes[3] = {longest_semi_axis, longest_semi_axis * uniform(0.05, 0.6),
                                longest_semi_axis * uniform(0.05, 0.6)};
        const double w[3] = {uniform(-5.0, 5.0), uniform(-5.0, 5.0), uniform(-5.0, 5.0)};
        double quat_wxyz[4];
        struct world_scene s;
        random_unit_quaternion(quat_wxyz);
        open_falling_ellipsoid(&s, &bowl, axes, -BOWL_RADIUS + 1.2 * longest_semi_axis, mus[i % 3],
                               quat_wxyz, w);
        struct tact_body *body = tact_world_body(s.world, 0);
        const double fall_energy = body->mass * 9.81 * 1.2 * longest_semi_axis;
        double start = compute_phase_corrected_energy(&s), least = start;
        for (int k = 0; k < 600; k++) {
            step_scene(&s);
            const double now = compute_phase_corrected_energy(&s);
            least = fmin(least, now);
            worst = fmax(worst, (now - least) / fall_energy);
            lowest = fmin(lowest, BOWL_RADIUS - tact_v3_norm(body->pose.position));
        }
        close_scene(&s);
    }
    tact_charts_free(charts);
    printf("%d ellipsoids in a bowl: energy rises by at most %.1f %% of that of the fall, centres "
           "come to %.1e m outside\n",
           BODIES, 100.0 * worst, -lowest);
    assert_true(worst < 0.4 && lowest >= 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slender_bar_slaps_down_without_gaining_energy),
        cmocka_unit_test(slender_and_flat_ellipsoids_gain_no_energy),
        cmocka_unit_test(ellipsoids_in_a_bowl_do_not_pass_its_wall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
