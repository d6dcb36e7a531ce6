/*
 * A wall that is found by what a spring pushes on it with, and felt elsewhere: exact place and
 * stiffness of springs in series, a wall that went away, no jump of the force where it is moved,
 * and a stiffness that is more than is felt.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rt/wall_internal.h"

static const double period = 1e-3, tie = 1000.0;

/* Moves the tied joint slowly from one position to another; a wall of a stiffness is on the side of
 * `side`. */
static void move_tied_joint(struct tact_wall_estimate *e, double from, double to, double wall,
                            double side, double stiffness)
{
    for (int k = 0; k <= 1000; k++) {
        const double u = from + (to - from) * fmin(1.0, k / 800.0);
        const double depth = fmax(0.0, side * (u - wall)) / (1.0 + stiffness / tie);
        const double q = side * (u - wall) > 0.0 ? wall + side * depth : u;
        tact_wall_update_estimate(e, q, side * stiffness * depth, tie, period);
    }
}

/* The force at the present position is exact; a rigid wall is estimated as 10 times as stiff as the
 * tie. */
static void estimated_wall_is_that_of_springs_in_series(void **state)
{
    static const double stiffness[] = {200.0, 1000.0, 5000.0, 1e9};
    (void)state;
    for (int i = 0; i < 8; i++) {
        const double side = i % 2 ? -1.0 : 1.0, k = stiffness[i / 2];
        const double series_stiffness = 1.0 / (1.0 / tie + 1.0 / k);
        struct tact_wall_estimate e = {.touching = 0.0};
        move_tied_joint(&e, 0.0, side * 0.07, side * 0.05, side, k);
        print_message("%g N/m: %.4f N/m, expected %.4f; %.7f m\n", side * k, e.wall.stiffness,
                      side * series_stiffness, e.wall.position);
        assert_true(fabs(tact_wall_force(&e.wall, side * 0.07) + side * series_stiffness * 0.02) <
                    1e-6);
        assert_true(fabs(e.wall.stiffness / (side * series_stiffness) - 1.0) <
                    (k > 1e8 ? 0.1 : 0.02));
        assert_true(fabs(e.wall.position - side * 0.05) < (k > 1e8 ? 2e-3 : 5e-4));
    }
}

/* A lifted weight is a force that does not depend on the position, and is not taken for a wall. */
static void weight_is_not_taken_for_a_remote_wall(void **state)
{
    struct tact_wall_estimate e = {.touching = 0.0};
    struct tact_wall_rendering wall_rendering = {.delayed_wall_force = 0.0};
    double greatest_felt_wall_force = 0.0, last = 0.0;
    (void)state;
    for (int k = 0; k < 4000; k++) {
        const double q = 5e-5 * fmax(0.0, fmin(2000.0, k) - 500.0), weight = fmin(3.0, 0.01 * k);
        tact_wall_update_estimate(&e, q, weight, tie, period);
        last = -tact_wall_render(&wall_rendering, &e.wall, q + weight / tie, 1500.0, period);
        greatest_felt_wall_force = fmax(greatest_felt_wall_force, last);
    }
    print_message("%.1f N/m, felt at most %.3f N, at last %.3f N\n", e.wall.stiffness,
                  greatest_felt_wall_force, last);
    assert_true(e.wall.stiffness < 0.02 * tie && greatest_felt_wall_force < 3.5);
    assert_true(fabs(last - 3.0) < 1e-3);
}

/* A known wall stays known where it was left, and is forgotten once its position is passed. */
static void estimated_wall_passed_through_is_forgotten(void **state)
{
    struct tact_wall_estimate e = {.touching = 0.0};
    (void)state;
    move_tied_joint(&e, 0.0, 0.049, 0.05, 1.0, 5000.0);
    assert_true(e.wall.stiffness == 0.0);
    move_tied_joint(&e, 0.049, 0.07, 0.05, 1.0, 5000.0);
    move_tied_joint(&e, 0.07, 0.02, 0.05, 1.0, 5000.0);
    assert_true(e.touching == 0.0 && fabs(e.wall.position - 0.05) < 5e-4);
    move_tied_joint(&e, 0.02, 0.0505, 10.0, 1.0, 5000.0);
    assert_true(e.wall.stiffness > 0.0);
    /* the joint passes the position at which the wall was */
    move_tied_joint(&e, 0.0505, 0.07, 10.0, 1.0, 5000.0);
    assert_true(e.wall.stiffness == 0.0);
}

/* While a wall is touched, its known position and stiffness change: the force neither jumps nor
 * pulls, and ends only where the wall is then on the other side. In the end it is that of the new
 * wall, no stiffer than the limit of the felt stiffness. */
static void force_of_an_estimated_wall_does_not_jump(void **state)
{
    static const struct tact_wall known[] = {{0.05, 800.0}, {0.03, 800.0}, {0.06, 300.0},
                                             {0.05, 2000},  {0.0, 0.0},    {0.08, -500.0},
                                             {0.05, 5e8}};
    struct tact_wall_rendering wall_rendering = {.delayed_wall_force = 0.0};
    double before = 0.0;
    (void)state;
    for (int k = 0; k < 35000; k++) {
        const double push =
            tact_wall_render(&wall_rendering, &known[k / 5000], 0.07, 1500.0, period);
        assert_true(fabs(push - before) <= 45.0 / 0.3 * period || (push == 0.0 && k == 30000));
        before = push;
        if (k % 5000 == 4999) {
            struct tact_wall wall = known[k / 5000];
            wall.stiffness = fmin(1500.0, wall.stiffness);
            assert_true(fabs(push - tact_wall_force(&wall, 0.07)) < 1e-5);
        }
    }
    tact_wall_render(&wall_rendering, &known[0], 0.07, 1500.0, period);
    for (int k = 0; k < 300; k++) { /* the hand moves away, and no force pulls it back */
        assert_true(tact_wall_render(&wall_rendering, &known[0], 0.07 - 1e-4 * k, 1500.0, period) <=
                    0.0);
    }
    assert_true(fabs(wall_rendering.delayed_wall_force) < 1e-9);
}

/* A wall that is known before it is touched is met where it is. */
static void known_remote_wall_pushes_at_its_position(void **state)
{
    const struct tact_wall known = {0.05, 800.0};
    struct tact_wall_rendering wall_rendering = {.delayed_wall_force = 0.0};
    (void)state;
    for (int k = 0; k <= 700; k++) {
        const double q = 1e-4 * k,
                     push = tact_wall_render(&wall_rendering, &known, q, 1500.0, period);
        assert_true(fabs(push + 800.0 * fmax(0.0, q - 0.05)) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimated_wall_is_that_of_springs_in_series),
        cmocka_unit_test(weight_is_not_taken_for_a_remote_wall),
        cmocka_unit_test(estimated_wall_passed_through_is_forgotten),
        cmocka_unit_test(force_of_an_estimated_wall_does_not_jump),
        cmocka_unit_test(known_remote_wall_pushes_at_its_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
