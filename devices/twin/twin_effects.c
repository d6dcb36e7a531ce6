/* Force-feedback effects that a twin renders on its axes: springs, dampers, friction, vibration. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "devices/common/settings.h"
#include "devices/twin/twin_internal.h"

static const char *const names[TACT_TWIN_EFFECTS] = {
    "spring", "spring_center", "damper", "friction", "vibration", "strong", "weak"};
static const double pi = 3.14159265358979323846;

static int read_effect_names(struct tact_twin_device *self, const struct tact_device_config *config,
                             struct tact_device_info *info, struct tact_error *err)
{
    const char *text = NULL;
    char name[256];
    int rc = tact_settings_text(config, "effects", &text, err);
    while (!rc && text && tact_settings_word(&text, name, sizeof name)) {
        int i = 0;
        while (i < TACT_TWIN_EFFECTS && strcmp(name, names[i]) != 0) {
            i++;
        }
        if (i == TACT_TWIN_EFFECTS) {
            return tact_settings_fault(
                config, tact_settings_find(config, "effects"), err,
                "'%s' is not an effect: expected one of spring, spring_center, damper, friction, "
                "vibration, strong, weak",
                name);
        }
        self->effect[i] = info->output_count;
        rc = tact_twin_add_channel(info->output, &info->output_count, name, "1", config, "effects",
                                   err);
    }
    return rc;
}

static bool is_vibration_effect(const struct tact_twin_device *self)
{
    return self->effect[TACT_TWIN_VIBRATION_EFFECT] >= 0 ||
           self->effect[TACT_TWIN_HEAVY_RUMBLE_MOTOR] >= 0 ||
           self->effect[TACT_TWIN_LIGHT_RUMBLE_MOTOR] >= 0;
}

void tact_twin_set_effect_defaults(const struct tact_twin_device *self, struct tact_twin_axis *a)
{
    a->effect_spring_stiffness = self->effect[TACT_TWIN_SPRING_EFFECT] >= 0;
    a->effect_damper = self->effect[TACT_TWIN_DAMPER_EFFECT] >= 0;
    a->effect_friction = self->effect[TACT_TWIN_FRICTION_EFFECT] >= 0;
    a->effect_vibration = is_vibration_effect(self);
}

/* A setting of an effect's strength without that effect is an error. */
static int check_effect_strengths(const struct tact_twin_device *self,
                                  const struct tact_device_config *config, struct tact_error *err)
{
    const struct {
        const char *key;
        bool has_named_effect;
    } keys[] = {{"effect_spring", self->effect[TACT_TWIN_SPRING_EFFECT] >= 0},
                {"effect_damper", self->effect[TACT_TWIN_DAMPER_EFFECT] >= 0},
                {"effect_friction", self->effect[TACT_TWIN_FRICTION_EFFECT] >= 0},
                {"effect_vibration", is_vibration_effect(self)},
                {"frequencies", is_vibration_effect(self)}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct tact_device_setting *setting = tact_settings_find(config, keys[i].key);
        if (setting && !keys[i].has_named_effect) {
            return tact_settings_fault(
                config, setting, err,
                "this key is only for a force effect that the key \"effects\" does not list");
        }
    }
    return 0;
}

int tact_twin_read_effects(struct tact_twin_device *self, const struct tact_device_config *config,
                           struct tact_device_info *info, struct tact_error *err)
{
    static const double default_frequencies[3] = {60.0, 40.0, 150.0};
    const double *effect_frequencies = default_frequencies;
    double single;
    int count = 3;
    for (int i = 0; i < TACT_TWIN_EFFECTS; i++) {
        self->effect[i] = -1;
    }
    int rc = read_effect_names(self, config, info, err);
    rc = rc ? rc : check_effect_strengths(self, config, err);
    rc = rc ? rc
            : tact_settings_list(config, "frequencies", &single, &effect_frequencies, &count, err);
    for (int i = 0; !rc && i < 3; i++) {
        if (count != 3 ||
            !(effect_frequencies[i] > 0.0 && effect_frequencies[i] * self->period < 0.5)) {
            return tact_settings_fault(config, tact_settings_find(config, "frequencies"), err,
                                       "expected three numbers over 0 and under %g Hz",
                                       0.5 / self->period);
        }
        self->effect_frequency[i] = effect_frequencies[i];
    }
    return rc;
}

void tact_twin_store_outputs(struct tact_twin_device *self, const double *out)
{
    for (int i = 0; i < TACT_TWIN_EFFECTS; i++) {
        const double value =
            self->effect[i] < 0 || self->is_twin_unplugged ? 0.0 : out[self->effect[i]];
        const double least = i == TACT_TWIN_SPRING_CENTER ? -1.0 : 0.0;
        const double size = i >= TACT_TWIN_VIBRATION_EFFECT ? fabs(value) : value;
        self->written_effect_level[i] = isfinite(size) ? fmin(1.0, fmax(least, size)) : 0.0;
    }
}

int tact_twin_update_motion_step(const struct tact_twin_device *self, struct tact_twin_axis *a)
{
    const double spring_level_at_update = self->level[TACT_TWIN_SPRING_EFFECT];
    const double damper_level_at_update = self->level[TACT_TWIN_DAMPER_EFFECT];
    if (a->spring_level_at_update == spring_level_at_update &&
        a->damper_level_at_update == damper_level_at_update) {
        return 0;
    }
    const double period_over_mass = self->period / a->mass;
    const double spring_coefficient =
        (a->stiffness + a->grip_stiffness + a->effect_spring_stiffness * spring_level_at_update) *
        period_over_mass;
    const double damper_coefficient_times_period =
        (a->damping + a->grip_damping + a->effect_damper * damper_level_at_update) *
        period_over_mass;
    if (!(spring_coefficient * self->period <= TACT_TWIN_MAX_COEFFICIENT &&
          damper_coefficient_times_period <= TACT_TWIN_MAX_COEFFICIENT)) {
        return -EINVAL;
    }
    tact_twin_motion_step_init(&a->motion, spring_coefficient * self->period,
                               damper_coefficient_times_period);
    a->spring_level_at_update = spring_level_at_update;
    a->damper_level_at_update = damper_level_at_update;
    return 0;
}

double tact_twin_compute_effect_force(const struct tact_twin_device *self,
                                      const struct tact_twin_axis *a, uint64_t tick)
{
    const double t = (double)tick * self->period;
    const double *level = self->level;
    double force = 0.0;
    if (level[TACT_TWIN_SPRING_EFFECT] != 0.0 && a->scale != 0.0) {
        force = a->effect_spring_stiffness * level[TACT_TWIN_SPRING_EFFECT] *
                level[TACT_TWIN_SPRING_CENTER] / a->scale;
    }
    for (int i = 0; i < 3; i++) {
        if (level[TACT_TWIN_VIBRATION_EFFECT + i] != 0.0) {
            force += a->effect_vibration * level[TACT_TWIN_VIBRATION_EFFECT + i] *
                     tact_sin(2.0 * pi * fmod(self->effect_frequency[i] * t, 1.0));
        }
    }
    return force;
}

void tact_twin_apply_friction(const struct tact_twin_device *self, struct tact_twin_axis *a)
{
    const double most = a->friction + a->effect_friction * self->level[TACT_TWIN_FRICTION_EFFECT];
    const double displacement_per_tick_and_force = self->period * self->period / a->mass;
    if (most > 0.0) {
        /* the friction is constant over the tick, and at most so large that it stops the motion at
         * its end */
        double force =
            fmin(most, fmax(-most, -a->w / (a->motion.speed[2] * displacement_per_tick_and_force)));
        a->x += a->motion.position[2] * displacement_per_tick_and_force * force;
        a->w += a->motion.speed[2] * displacement_per_tick_and_force * force;
    }
}
