/* Choosing the effects of a device for the force channels, and their parameters. */
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "devices/force/force_internal.h"

enum { LENGTH_MS = 2000 }; /* duration of an effect, after which it ends if nothing restarts it */

static const char *const names[TACT_FORCE_CHANNELS] = {
    "force_x",  "force_y", "spring",    "spring_center", "damper",
    "friction", "inertia", "vibration", "strong",        "weak"};

const char *tact_force_output_name(int channel)
{
    return names[channel];
}

const char *tact_force_type_name(int type)
{
    static const char *const types[] = {"rumble",   "periodic", "constant", "spring",
                                        "friction", "damper",   "inertia",  "ramp"};
    return type >= FF_RUMBLE && type <= FF_RAMP ? types[type - FF_RUMBLE] : "other";
}

bool tact_force_supports_effect(const unsigned char *bits, int code)
{
    return code && bits[code / 8] & 1 << code % 8;
}

/* A way to render a force output: a slot with effects of one type. */
struct effect_rendering {
    int slot;
    uint16_t type;
};

/* Effects that can render each force output, in order of preference; ended by type 0. */
static const struct effect_rendering effect_renderings[TACT_FORCE_CHANNELS][7] = {
    [TACT_FORCE_ALONG_X] = {{TACT_FORCE_CONSTANT_SLOT, FF_CONSTANT},
                            {TACT_FORCE_CONSTANT_SLOT, FF_SPRING},
                            {TACT_FORCE_PERIODIC_SLOT, FF_PERIODIC},
                            {TACT_FORCE_RUMBLE_SLOT, FF_RUMBLE},
                            {TACT_FORCE_FRICTION_SLOT, FF_FRICTION},
                            {TACT_FORCE_DAMPER_SLOT, FF_DAMPER}},
    [TACT_FORCE_SPRING] = {{TACT_FORCE_SPRING_SLOT, FF_SPRING}},
    [TACT_FORCE_DAMPER] = {{TACT_FORCE_DAMPER_SLOT, FF_DAMPER},
                           {TACT_FORCE_FRICTION_SLOT, FF_FRICTION}},
    [TACT_FORCE_FRICTION] = {{TACT_FORCE_FRICTION_SLOT, FF_FRICTION},
                             {TACT_FORCE_DAMPER_SLOT, FF_DAMPER}},
    [TACT_FORCE_INERTIA] = {{TACT_FORCE_INERTIA_SLOT, FF_INERTIA},
                            {TACT_FORCE_DAMPER_SLOT, FF_DAMPER}},
    [TACT_FORCE_VIBRATION] = {{TACT_FORCE_PERIODIC_SLOT, FF_PERIODIC},
                              {TACT_FORCE_RUMBLE_SLOT, FF_RUMBLE}},
    [TACT_FORCE_STRONG_MOTOR] = {{TACT_FORCE_RUMBLE_SLOT, FF_RUMBLE},
                                 {TACT_FORCE_PERIODIC_SLOT, FF_PERIODIC}},
};

/* Index of the force output whose renderings a force output shares. */
static int output_with_same_renderings(int channel)
{
    return channel == TACT_FORCE_ALONG_Y         ? TACT_FORCE_ALONG_X
           : channel == TACT_FORCE_SPRING_CENTER ? TACT_FORCE_SPRING
           : channel == TACT_FORCE_WEAK_MOTOR    ? TACT_FORCE_STRONG_MOTOR
                                                 : channel;
}

static uint16_t waveform_of_effect_bits(const unsigned char *bits)
{
    static const uint16_t periodic_waveform_types[] = {FF_SINE, FF_TRIANGLE, FF_SQUARE, FF_SAW_UP,
                                                       FF_SAW_DOWN};
    for (size_t i = 0; i < sizeof periodic_waveform_types / sizeof *periodic_waveform_types; i++) {
        if (tact_force_supports_effect(bits, periodic_waveform_types[i])) {
            return periodic_waveform_types[i];
        }
    }
    return 0;
}

int tact_force_choose_effects(const unsigned char *bits, uint32_t requested_output_bits,
                              struct tact_force_rendering_plan *plan)
{
    memset(plan->slot, 0xff, sizeof plan->slot);
    memset(plan->type, 0, sizeof plan->type);
    plan->requested_outputs = requested_output_bits;
    plan->waveform = waveform_of_effect_bits(bits);
    plan->device_supports_force_gain = tact_force_supports_effect(bits, FF_GAIN);
    plan->device_supports_autocenter = tact_force_supports_effect(bits, FF_AUTOCENTER);
    for (int i = 0; i < TACT_FORCE_CHANNELS; i++) {
        const struct effect_rendering *effect_rendering =
            effect_renderings[output_with_same_renderings(i)];
        if (!(requested_output_bits >> i & 1U)) {
            continue;
        }
        while (effect_rendering->type &&
               (!tact_force_supports_effect(bits, effect_rendering->type) ||
                (effect_rendering->type == FF_PERIODIC && plan->waveform == 0))) {
            effect_rendering++;
        }
        if (!effect_rendering->type) {
            return i;
        }
        plan->slot[i] = effect_rendering->slot;
        plan->type[effect_rendering->slot] = effect_rendering->type;
    }
    return -1;
}

static double clamp_force_level(double x, double low)
{
    return !isfinite(x) ? 0.0 : x < low ? low : x > 1.0 ? 1.0 : x;
}

static int16_t signed_16_bit_level(double x)
{
    return (int16_t)lrint(x * 0x7fff);
}

static uint16_t unsigned_16_bit_level(double x)
{
    return (uint16_t)lrint(x * 0xffff);
}

/* Renders force_x and force_y as a constant force, or as a spring to a far centre. */
static void render_constant_force_effect(const struct tact_force_rendering_plan *plan, double x,
                                         double y, struct ff_effect *effect)
{
    const double pi = 3.14159265358979323846;
    if (effect->type == FF_SPRING) {
        const double axis[2] = {x, y};
        for (int i = 0; i < 2; i++) {
            struct ff_condition_effect *c = &effect->u.condition[i];
            c->right_saturation = c->left_saturation = unsigned_16_bit_level(fabs(axis[i]));
            c->right_coeff = c->left_coeff = axis[i] != 0.0 ? 0x7fff : 0;
            c->center = axis[i] < 0.0 ? -0x7fff : 0x7fff;
        }
    } else if (plan->requested_outputs >> TACT_FORCE_ALONG_Y & 1U) {
        /* the kernel's direction: 0x10000 is a full turn, from down (towards the person) via left
         */
        double turn = tact_atan2(-x, y) / (2.0 * pi);
        effect->direction = (uint16_t)(lrint((turn < 0.0 ? turn + 1.0 : turn) * 0x10000) & 0xffff);
        effect->u.constant.level = signed_16_bit_level(clamp_force_level(tact_hypot(x, y), 0.0));
    } else {
        effect->u.constant.level =
            signed_16_bit_level(-x); /* the kernel's direction is to the left */
    }
}

static void render_condition_effect(double level, double center, struct ff_effect *effect)
{
    for (int i = 0; i < 2; i++) {
        struct ff_condition_effect *c = &effect->u.condition[i];
        c->right_saturation = c->left_saturation = 0xffff;
        c->right_coeff = c->left_coeff = signed_16_bit_level(level);
    }
    effect->u.condition[0].center = signed_16_bit_level(center);
}

/* Largest level of the force outputs in `output_bits_to_compare` that the slot renders. */
static double find_largest_level_of_slot(const struct tact_force_rendering_plan *plan, int slot,
                                         const double *level, uint32_t output_bits_to_compare)
{
    double most = 0.0;
    for (int i = 0; i < TACT_FORCE_CHANNELS; i++) {
        if (plan->slot[i] == slot && (output_bits_to_compare >> i & 1U)) {
            most = fmax(most, fabs(level[i]));
        }
    }
    return most;
}

static void render_effect_of_slot(const struct tact_force_rendering_plan *plan, int slot,
                                  const double *level, struct ff_effect *effect,
                                  bool *is_effect_silent)
{
    const uint32_t centering_channels = 1U << TACT_FORCE_SPRING_CENTER;
    const uint32_t weak_motor_channels = 1U << TACT_FORCE_WEAK_MOTOR | 1U << TACT_FORCE_VIBRATION;
    double most = find_largest_level_of_slot(plan, slot, level, ~centering_channels);
    *is_effect_silent = most == 0.0;
    switch (slot) {
    case TACT_FORCE_CONSTANT_SLOT:
        render_constant_force_effect(plan, level[TACT_FORCE_ALONG_X], level[TACT_FORCE_ALONG_Y],
                                     effect);
        break;
    case TACT_FORCE_PERIODIC_SLOT:
        effect->u.periodic.waveform = plan->waveform;
        effect->u.periodic.period = plan->wave_period_ms;
        effect->u.periodic.magnitude = signed_16_bit_level(most);
        break;
    case TACT_FORCE_RUMBLE_SLOT:
        effect->u.rumble.strong_magnitude = unsigned_16_bit_level(
            find_largest_level_of_slot(plan, slot, level, ~weak_motor_channels));
        effect->u.rumble.weak_magnitude = unsigned_16_bit_level(
            find_largest_level_of_slot(plan, slot, level, weak_motor_channels));
        break;
    default:
        render_condition_effect(
            most, slot == TACT_FORCE_SPRING_SLOT ? level[TACT_FORCE_SPRING_CENTER] : 0.0, effect);
    }
}

void tact_force_render_effects(const struct tact_force_rendering_plan *plan, const double *level,
                               struct ff_effect *effect, bool *is_effect_silent)
{
    double clamped_output_levels[TACT_FORCE_CHANNELS];
    for (int i = 0; i < TACT_FORCE_CHANNELS; i++) {
        bool is_nonnegative_coefficient = i >= TACT_FORCE_SPRING && i != TACT_FORCE_SPRING_CENTER;
        double value = i >= TACT_FORCE_VIBRATION ? fabs(level[i]) : level[i];
        clamped_output_levels[i] =
            plan->requested_outputs >> i & 1U
                ? clamp_force_level(value, is_nonnegative_coefficient ? 0.0 : -1.0)
                : 0.0;
    }
    memset(effect, 0, TACT_FORCE_SLOTS * sizeof *effect);
    for (int i = 0; i < TACT_FORCE_SLOTS; i++) {
        is_effect_silent[i] = true;
        if (plan->type[i]) {
            effect[i].type = plan->type[i];
            effect[i].direction = 0x4000; /* left */
            effect[i].replay.length = LENGTH_MS;
            render_effect_of_slot(plan, i, clamped_output_levels, &effect[i], &is_effect_silent[i]);
        }
    }
}
