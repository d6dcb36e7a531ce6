/* Requested forces as the effects of the kernel's force-feedback interface. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "devices/force/force_internal.h"

static struct tact_force_rendering_plan plan;
static struct ff_effect effect[TACT_FORCE_SLOTS];
static bool is_slot_silent[TACT_FORCE_SLOTS];

#define BIT(channel) (1U << TACT_FORCE_##channel)

/* Chooses effects for the wanted force channels on a device that has the effect types `types`
 * (ended by 0). Returns the first channel that the device cannot render. */
static int choose_force_effects(const int *types, uint32_t wanted)
{
    unsigned char bits[FF_CNT / 8] = {0};
    for (int i = 0; types[i]; i++) {
        bits[types[i] / 8] |= (unsigned char)(1 << (types[i] % 8));
    }
    memset(&plan, 0, sizeof plan);
    plan.wave_period_ms = 17;
    return tact_force_choose_effects(bits, wanted, &plan);
}

static void render_levels_as_force_effects(const double *level)
{
    tact_force_render_effects(&plan, level, effect, is_slot_silent);
}

static void pushing_force_is_a_constant_effect_with_direction(void **unused)
{
    static const int types[] = {FF_CONSTANT, FF_SPRING, FF_RUMBLE, 0};
    static const struct {
        double x, y;
        int direction; /* direction in the kernel's convention: 0 is down, 0x4000 left */
    } cases[] = {{0, 1, 0x0000}, {-1, 0, 0x4000}, {0, -1, 0x8000}, {1, 0, 0xc000}, {-1, 1, 0x2000}};
    (void)unused;
    assert_int_equal(choose_force_effects(types, BIT(ALONG_X) | BIT(ALONG_Y)), -1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double level[TACT_FORCE_CHANNELS] = {0.5 * cases[i].x, 0.5 * cases[i].y};
        render_levels_as_force_effects(level);
        double size = 0.5 * hypot(cases[i].x, cases[i].y);
        assert_int_equal(effect[TACT_FORCE_CONSTANT_SLOT].type, FF_CONSTANT);
        assert_int_equal(effect[TACT_FORCE_CONSTANT_SLOT].direction, cases[i].direction);
        assert_int_equal(effect[TACT_FORCE_CONSTANT_SLOT].u.constant.level, lrint(size * 0x7fff));
        assert_false(is_slot_silent[TACT_FORCE_CONSTANT_SLOT]);
    }
    double none[TACT_FORCE_CHANNELS] = {0};
    render_levels_as_force_effects(none);
    assert_true(is_slot_silent[TACT_FORCE_CONSTANT_SLOT]);
}

/* On a device with one axis the effect's direction is constant and the level has the force's sign.
 */
static void wheel_force_has_one_axis_and_a_signed_level(void **unused)
{
    static const int types[] = {FF_CONSTANT, 0};
    (void)unused;
    assert_int_equal(choose_force_effects(types, BIT(ALONG_X)), -1);
    for (double x = -1.0; x <= 1.0; x += 0.25) {
        double level[TACT_FORCE_CHANNELS] = {x};
        render_levels_as_force_effects(level);
        assert_int_equal(effect[TACT_FORCE_CONSTANT_SLOT].direction, 0x4000);
        assert_int_equal(effect[TACT_FORCE_CONSTANT_SLOT].u.constant.level, -lrint(x * 0x7fff));
    }
}

static void nonfinite_force_levels_are_rendered_as_zero(void **unused)
{
    static const int types[] = {FF_CONSTANT, FF_DAMPER, FF_RUMBLE, 0};
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    (void)unused;
    assert_int_equal(choose_force_effects(types, BIT(ALONG_X) | BIT(DAMPER) | BIT(STRONG_MOTOR)),
                     -1);
    for (int i = 0; i < 3; i++) {
        double level[TACT_FORCE_CHANNELS];
        for (int k = 0; k < TACT_FORCE_CHANNELS; k++) {
            level[k] = bad[i];
        }
        render_levels_as_force_effects(level);
        for (int k = 0; k < TACT_FORCE_SLOTS; k++) {
            assert_true(is_slot_silent[k]);
        }
    }
    double force_levels_beyond_range[TACT_FORCE_CHANNELS] = {
        [TACT_FORCE_ALONG_X] = 7, [TACT_FORCE_DAMPER] = 7, [TACT_FORCE_STRONG_MOTOR] = -7};
    render_levels_as_force_effects(force_levels_beyond_range);
    assert_int_equal(effect[TACT_FORCE_CONSTANT_SLOT].u.constant.level, -0x7fff);
    assert_int_equal(effect[TACT_FORCE_DAMPER_SLOT].u.condition[0].left_coeff, 0x7fff);
    assert_int_equal(effect[TACT_FORCE_RUMBLE_SLOT].u.rumble.strong_magnitude, 0xffff);
    force_levels_beyond_range[TACT_FORCE_DAMPER] = -1;
    render_levels_as_force_effects(force_levels_beyond_range);
    assert_true(is_slot_silent[TACT_FORCE_DAMPER_SLOT]);
}

/* Missing effect types are replaced by the best one that the device has, and no two channels share
 * an effect. */
static void missing_force_effects_are_replaced(void **unused)
{
    static const struct {
        int types[8];
        uint32_t wanted;
        int slot;
        int type;
        int missing;
    } cases[] = {
        {{FF_CONSTANT, FF_SPRING, 0}, BIT(ALONG_X), TACT_FORCE_CONSTANT_SLOT, FF_CONSTANT, -1},
        {{FF_SPRING, FF_RUMBLE, 0}, BIT(ALONG_X), TACT_FORCE_CONSTANT_SLOT, FF_SPRING, -1},
        {{FF_PERIODIC, FF_SQUARE, FF_RUMBLE, 0},
         BIT(ALONG_X),
         TACT_FORCE_PERIODIC_SLOT,
         FF_PERIODIC,
         -1},
        {{FF_PERIODIC, FF_RUMBLE, 0},
         BIT(ALONG_X),
         TACT_FORCE_RUMBLE_SLOT,
         FF_RUMBLE,
         -1}, /* no waveform */
        {{FF_FRICTION, 0}, BIT(ALONG_Y), TACT_FORCE_FRICTION_SLOT, FF_FRICTION, -1},
        {{FF_DAMPER, 0}, BIT(FRICTION), TACT_FORCE_DAMPER_SLOT, FF_DAMPER, -1},
        {{FF_FRICTION, 0}, BIT(DAMPER), TACT_FORCE_FRICTION_SLOT, FF_FRICTION, -1},
        {{FF_PERIODIC, FF_SINE, 0}, BIT(STRONG_MOTOR), TACT_FORCE_PERIODIC_SLOT, FF_PERIODIC, -1},
        {{FF_RUMBLE, 0}, BIT(VIBRATION), TACT_FORCE_RUMBLE_SLOT, FF_RUMBLE, -1},
        {{FF_CONSTANT, FF_RUMBLE, 0}, BIT(SPRING), 0, 0, TACT_FORCE_SPRING},
        {{FF_GAIN, 0}, BIT(ALONG_X), 0, 0, TACT_FORCE_ALONG_X},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(choose_force_effects(cases[i].types, cases[i].wanted), cases[i].missing);
        if (cases[i].missing < 0) {
            assert_int_equal(plan.type[cases[i].slot], cases[i].type);
        }
    }
}

/* A spring to a far centre pushes with its saturation. */
static void spring_effect_to_a_far_centre_pushes(void **unused)
{
    static const int types[] = {FF_SPRING, 0};
    (void)unused;
    assert_int_equal(choose_force_effects(types, BIT(ALONG_X) | BIT(SPRING) | BIT(SPRING_CENTER)),
                     -1);
    double level[TACT_FORCE_CHANNELS] = {
        [TACT_FORCE_ALONG_X] = -0.25, [TACT_FORCE_SPRING] = 0.5, [TACT_FORCE_SPRING_CENTER] = -0.5};
    render_levels_as_force_effects(level);
    const struct ff_condition_effect *push = effect[TACT_FORCE_CONSTANT_SLOT].u.condition;
    const struct ff_condition_effect *spring = effect[TACT_FORCE_SPRING_SLOT].u.condition;
    assert_int_equal(push[0].center, -0x7fff);
    assert_int_equal(push[0].left_saturation, lrint(0.25 * 0xffff));
    assert_int_equal(push[1].left_saturation, 0);
    assert_int_equal(spring[0].right_coeff, lrint(0.5 * 0x7fff));
    assert_int_equal(spring[0].center, lrint(-0.5 * 0x7fff));
    assert_int_equal(spring[1].center, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushing_force_is_a_constant_effect_with_direction),
        cmocka_unit_test(wheel_force_has_one_axis_and_a_signed_level),
        cmocka_unit_test(nonfinite_force_levels_are_rendered_as_zero),
        cmocka_unit_test(missing_force_effects_are_replaced),
        cmocka_unit_test(spring_effect_to_a_far_centre_pushes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
