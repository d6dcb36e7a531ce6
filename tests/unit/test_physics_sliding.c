/* Sliding: stopping distance of a block, direction of friction, and constant velocity without
 * friction. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/local/local.h"
#include "support/world_scene.h"
#include "support/random.h"

static const double G = 9.81;

/* A block of 0.1 x 0.08 x 0.04 m, 0.5 kg, thrown at 1 m/s at an angle to its sides. */
static void slide_block(double throw_direction_degrees, double mu, double *distance,
                        double *lateral_distance, double *turned)
{
    struct world_scene s;
    const double start[3] = {0, 0, 0.02 - 2e-5};
    const double dir[2] = {cos(throw_direction_degrees * M_PI / 180),
                           sin(throw_direction_degrees * M_PI / 180)};
    open_empty_scene(&s, NULL);
    add_scene_ground(&s);
    struct tact_shape box = box_of_sides(0.1, 0.08, 0.04);
    int b = add_scene_solid(&s, &box, 0.5, start, 0);
    struct tact_contact_law law = make_rigid_law(mu);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    struct tact_body *body = tact_world_body(s.world, b);
    body->twist[0] = dir[0];
    body->twist[1] = dir[1];
    run_scene_for_seconds(&s, 1.0);
    *distance = dir[0] * body->pose.position[0] + dir[1] * body->pose.position[1];
    *lateral_distance = dir[0] * body->pose.position[1] - dir[1] * body->pose.position[0];
    *turned = 2 * asin(body->pose.quat_wxyz[3]) * 180 / M_PI;
    print_message("%4.1f deg, mu %.2f: %.6f m, aside %.1e m, turned %.1e deg, %d sweeps, residual "
                  "%.1e\n",
                  throw_direction_degrees, mu, *distance, *lateral_distance, *turned,
                  s.max_tick_iterations, s.worst_residual);
    close_scene(&s);
}

/* A block stops after v^2 / (2 mu g), less v h / 2, as in a tick velocities change before
 * positions. */
static void sliding_block_stops_in_the_exact_time(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            double mu = k ? 0.7 : 0.3, distance, lateral_distance, turned, exact = 1 / (2 * mu * G);
            slide_block(22.5 * i, mu, &distance, &lateral_distance, &turned);
            print_message("    exact %.6f m, less v h / 2: off by %.4f %%\n", exact,
                          100 * (distance / (exact - 0.5e-3) - 1));
            assert_true(fabs(distance - (exact - 0.5e-3)) < 4e-5 * exact);
            assert_true(fabs(lateral_distance) < 1e-14);
        }
    }
}

static void frictionless_block_keeps_its_speed(void **state)
{
    (void)state;
    double distance, lateral_distance, turned;
    slide_block(22.5, 0, &distance, &lateral_distance, &turned);
    assert_true(fabs(distance - 1) < 1e-9 && fabs(lateral_distance) < 1e-9);
}

/* S = J M^-1 J^T and b = J t of a free body in contact with a fixed one at a random arm. */
static void make_random_local_problem(struct tact_local_problem *p)
{
    double m = exp(uniform(-5, 2)), size = exp(uniform(-4, 0)), arm[3], weight[6], t[6];
    memset(p, 0, sizeof *p);
    for (int i = 0; i < 3; i++) {
        arm[i] = size * uniform(-1, 1);
        weight[i] = 1 / m;
        weight[3 + i] = 1 / (m * size * size * uniform(0.2, 0.6));
        t[i] = uniform(-1, 1);
        t[3 + i] = uniform(-1, 1) / size;
    }
    t[0] = -fabs(t[0]);
    double j[36] = {
        0}; /* row i: wrench on the body of a unit of impulse i, in the frame (n, t1, t2) */
    for (int i = 0; i < 3; i++) {
        double e[3] = {i == 0, i == 1, i == 2};
        tact_v3_copy(j + 6 * i, e);
        tact_v3_cross(j + 6 * i + 3, arm, e);
        tact_v3_copy(j + 6 * (3 + i) + 3, e);
    }
    for (int a = 0; a < 6; a++) {
        for (int k = 0; k < 6; k++) {
            p->b[a] += j[6 * a + k] * t[k];
            for (int b = 0; b < 6; b++) {
                p->s[6 * a + b] += j[6 * a + k] * j[6 * b + k] * weight[k];
            }
        }
    }
    p->mu = uniform(0.05, 1.2);
    p->semi[0] = size * exp(uniform(-4, 0));
    p->semi[1] = size * exp(uniform(-4, 0));
    p->rectangle[0] = p->semi[0];
    p->rectangle[1] = p->semi[1];
    p->spin_arm = 2.0 / 3.0 * sqrt(p->semi[0] * p->semi[1]);
}

/* Angle between friction and the reverse of slip at the centre of pressure, in the plane [deg]. */
static double angle_of_friction_to_reversed_slip(const struct tact_local_problem *p,
                                                 const double *r, double *speed)
{
    double u[6], d[2] = {-r[5] / r[0], r[4] / r[0]};
    for (int i = 0; i < 6; i++) {
        u[i] = p->b[i];
        for (int k = 0; k < 6; k++) {
            u[i] += p->s[6 * i + k] * r[k];
        }
    }
    double v1 = u[1] - d[1] * u[3], v2 = u[2] + d[0] * u[3];
    *speed = hypot(v1, v2);
    return fabs(atan2(r[1] * v2 - r[2] * v1, -(r[1] * v1 + r[2] * v2))) * 180 / M_PI;
}

static void friction_impulse_opposes_slip(void **state)
{
    (void)state;
    double worst = 0, sum = 0;
    int sliding_problem_count = 0, tried = 0, unsolved_problem_count = 0;
    while (sliding_problem_count < 1000 && tried < 20000) {
        struct tact_local_problem p;
        double r[6] = {0}, speed;
        int limits = 0;
        make_random_local_problem(&p);
        tried++;
        for (int pass = 0; pass < 500; pass++) {
            limits = tact_local_cone(&p, r);
            if (tact_local_residual(&p, r) < 1e-13) {
                break;
            }
        }
        if (!(limits & TACT_LIMIT_CONE) || !(r[0] > 0)) {
            continue;
        }
        double angle = angle_of_friction_to_reversed_slip(&p, r, &speed);
        if (speed < 1e-6) {
            continue; /* pure spin: the slip has no direction */
        }
        sliding_problem_count++;
        if (tact_local_residual(&p, r) > 1e-8) {
            unsolved_problem_count++;
            continue;
        }
        worst = fmax(worst, angle);
        sum += angle;
    }
    print_message("%d sliding contacts of %d: friction off by %.1e deg at worst, %.1e in the mean, "
                  "%d unsolved\n",
                  sliding_problem_count, tried, worst, sum / sliding_problem_count,
                  unsolved_problem_count);
    assert_int_equal(sliding_problem_count, 1000);
    assert_int_equal(unsolved_problem_count, 0);
    assert_true(worst < 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliding_block_stops_in_the_exact_time),
        cmocka_unit_test(frictionless_block_keeps_its_speed),
        cmocka_unit_test(friction_impulse_opposes_slip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
