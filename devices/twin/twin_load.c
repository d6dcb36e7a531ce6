/* Reading the settings of a twin: its channels, its pushes, and its hand. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/scripted/operator.h"
#include "devices/common/settings.h"
#include "devices/scripted/trajectory.h"
#include "devices/twin/twin_internal.h"

static const char *const keys[] = {"axes",
                                   "forces",
                                   "buttons",
                                   "unfelt",
                                   "units",
                                   "mass",
                                   "damping",
                                   "stiffness",
                                   "rest",
                                   "start",
                                   "friction",
                                   "stops",
                                   "strength",
                                   "force_limit",
                                   "force_delay",
                                   "scale",
                                   "range",
                                   "bits",
                                   "step",
                                   "delay",
                                   "push",
                                   "lost",
                                   "hand",
                                   "hand_channels",
                                   "hand_reach",
                                   "hand_stiffness",
                                   "hand_damping",
                                   "effects",
                                   "effect_spring",
                                   "effect_damper",
                                   "effect_friction",
                                   "effect_vibration",
                                   "frequencies",
                                   "control",
                                   "lag",
                                   "speed_limit",
                                   "sensed",
                                   "sensed_step"};
enum { KEYS = sizeof keys / sizeof *keys };

static const char prefix[] = "hand_";
enum { PREFIX = sizeof prefix - 1 };

static bool is_hand_device_key(const char *key)
{
    for (int i = 0; i < KEYS; i++) {
        if (!strcmp(key, keys[i])) {
            return true;
        }
    }
    return false;
}

int tact_twin_add_channel(struct tact_device_channel *channels, int *count, const char *name,
                          const char *unit, const struct tact_device_config *config,
                          const char *key, struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, key);
    if (*count == TACT_DEVICE_CHANNELS || strlen(name) >= TACT_DEVICE_NAME) {
        return tact_settings_fault(config, setting, err, "'%s': %s", name,
                                   *count == TACT_DEVICE_CHANNELS ? "too many channels"
                                                                  : "too long a name");
    }
    for (int i = 0; i < *count; i++) {
        if (!strcmp(channels[i].name, name)) {
            return tact_settings_fault(config, setting, err, "'%s' given twice", name);
        }
    }
    tact_settings_channel(&channels[(*count)++], name, unit, 0.0);
    return 0;
}

static int read_twin_axes(struct tact_twin_device *self, const struct tact_device_config *config,
                          struct tact_device_info *info, struct tact_error *err)
{
    const char *names = NULL, *units = NULL;
    char name[256], unit[16] = "m";
    int rc = tact_settings_text(config, "axes", &names, err);
    rc = rc ? rc : tact_settings_text(config, "units", &units, err);
    if (!rc && !names) {
        rc = tact_settings_fault(config, NULL, err, "missing key \"axes\", such as \"abs_x\"");
    }
    while (!rc && tact_settings_word(&names, name, sizeof name)) {
        if (units) {
            /* the last unit applies to all further axes */
            tact_settings_word(&units, unit, sizeof unit);
        }
        if (self->axes == TACT_TWIN_AXES) {
            rc = tact_settings_fault(config, tact_settings_find(config, "axes"), err,
                                     "more than %d axes", TACT_TWIN_AXES);
        } else {
            self->axis[self->axes].output = -1;
            self->axis[self->axes++].channel_of_hand_device = -1;
            rc = tact_twin_add_channel(info->input, &info->input_count, name, unit, config, "axes",
                                       err);
        }
    }
    return rc;
}

static int read_output_settings(struct tact_twin_device *self,
                                const struct tact_device_config *config,
                                struct tact_device_info *info, struct tact_error *err)
{
    const char *names = NULL, *unfelt = NULL;
    char name[256];
    int axis = 0;
    int rc = tact_settings_text(config, "forces", &names, err);
    rc = rc ? rc : tact_settings_text(config, "unfelt", &unfelt, err);
    while (!rc && names && tact_settings_word(&names, name, sizeof name)) {
        if (axis == self->axes) {
            return tact_settings_fault(config, tact_settings_find(config, "forces"), err,
                                       "expected at most one name for each axis (\"-\" for none)");
        }
        if (strcmp(name, "-") != 0) {
            self->axis[axis].output = info->output_count;
            rc = tact_twin_add_channel(info->output, &info->output_count, name, "1", config,
                                       "forces", err);
        }
        axis++;
    }
    while (!rc && unfelt && tact_settings_word(&unfelt, name, sizeof name)) {
        rc = tact_twin_add_channel(info->output, &info->output_count, name, "1", config, "unfelt",
                                   err);
    }
    return rc;
}

/* Index of the hand's channel with that name. */
static int find_hand_channel(const struct tact_twin_device *self,
                             const struct tact_device_config *config, const char *key,
                             const char *name, int *channel, struct tact_error *err)
{
    for (int i = 0; i < self->hand.info.input_count; i++) {
        if (!strcmp(self->hand.info.input[i].name, name)) {
            *channel = i;
            return 0;
        }
    }
    return tact_settings_fault(config, tact_settings_find(config, key), err,
                               "the simulated person's hand has no channel '%s'", name);
}

static int read_button_settings(struct tact_twin_device *self,
                                const struct tact_device_config *config,
                                struct tact_device_info *info, struct tact_error *err)
{
    const char *names = NULL;
    char name[256];
    int rc = tact_settings_text(config, "buttons", &names, err);
    while (!rc && names && tact_settings_word(&names, name, sizeof name)) {
        char *from = strchr(name, '=');
        int channel = -1;
        if (from) {
            *from = '\0';
            rc = find_hand_channel(self, config, "buttons", from + 1, &channel, err);
        }
        rc = rc ? rc
                : tact_twin_add_channel(info->input, &info->input_count, name, "1", config,
                                        "buttons", err);
        if (!rc) {
            self->hand_channel_of_button[self->buttons++] = channel;
        }
    }
    return rc;
}

/* Opens the device that acts as the hand (trajectory or operator), with the settings hand_X. */
static int open_hand_device(struct tact_twin_device *self, const struct tact_device_config *config,
                            const struct tact_device_type *type, struct tact_error *err)
{
    struct tact_device_config own = *config;
    struct tact_device_setting *settings =
        calloc((size_t)config->setting_count + 1, sizeof *settings);
    if (!settings) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    own.settings = settings;
    own.setting_count = 0;
    for (int i = 0; i < config->setting_count; i++) {
        if (!is_hand_device_key(config->settings[i].key)) {
            settings[own.setting_count] = config->settings[i];
            settings[own.setting_count++].key += PREFIX;
        }
    }
    int rc = type->open(&own, &self->hand, err);
    if (rc) {
        self->hand.ops = NULL;
    }
    /* key of the setting as the scene has it */
    for (int i = 0; rc && err && i < own.setting_count; i++) {
        if (settings[i].line == err->line && !strcmp(err->key, settings[i].key)) {
            tact_error_at(err, NULL, 0, 0, settings[i].key - PREFIX);
            break;
        }
    }
    free(settings);
    return rc;
}

static int read_hand_settings(struct tact_twin_device *self,
                              const struct tact_device_config *config, struct tact_error *err)
{
    static const char *const words[] = {"none", "trajectory", "operator"};
    static const struct tact_device_type *const types[] = {NULL, &tact_trajectory_type,
                                                           &tact_operator_type};
    int type = 0;
    int rc = tact_settings_choice(config, "hand", words, 3, &type, err);
    for (int i = 0; !rc && i < config->setting_count; i++) {
        const char *key = config->settings[i].key;
        bool has_hand_prefix = !strncmp(key, prefix, PREFIX);
        if (has_hand_prefix && !type) {
            rc = tact_settings_fault(config, &config->settings[i], err,
                                     "this key is of the person's hand on the twin: set hand: "
                                     "trajectory, or hand: operator");
        } else if (!has_hand_prefix && !is_hand_device_key(key)) {
            rc = tact_settings_check(config, keys, KEYS, err);
        }
    }
    if (rc || !type) {
        return rc;
    }
    if (!tact_settings_find(config, "hand_stiffness")) {
        return tact_settings_fault(config, tact_settings_find(config, "hand"), err,
                                   "needs hand_stiffness [N/m]");
    }
    return open_hand_device(self, config, types[type], err);
}

/* Reads which channel of the hand each axis follows. */
static int map_hand_channels(struct tact_twin_device *self, const struct tact_device_config *config,
                             struct tact_error *err)
{
    const char *names = NULL;
    char name[256];
    int axis = 0;
    int rc = tact_settings_text(config, "hand_channels", &names, err);
    while (!rc && names && tact_settings_word(&names, name, sizeof name)) {
        if (axis == self->axes) {
            return tact_settings_fault(config, tact_settings_find(config, "hand_channels"), err,
                                       "expected at most one name for each axis (\"-\" for none)");
        }
        if (strcmp(name, "-") != 0) {
            rc = find_hand_channel(self, config, "hand_channels", name,
                                   &self->axis[axis].channel_of_hand_device, err);
        }
        axis++;
    }
    for (int i = 0; !names && i < self->axes && i < self->hand.info.input_count; i++) {
        self->axis[i].channel_of_hand_device = i;
    }
    return rc;
}

static int copy_settings_number_list(const double *from, int count, double **to,
                                     struct tact_error *err)
{
    if (count == 0) {
        return 0;
    }
    *to = malloc((size_t)count * sizeof *from);
    if (!*to) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    memcpy(*to, from, (size_t)count * sizeof *from);
    return 0;
}

/* Reads the settings push and lost: external forces, and intervals in which the device is
 * unplugged. */
static int read_pushes_and_unplugging(struct tact_twin_device *self,
                                      const struct tact_device_config *config,
                                      struct tact_error *err)
{
    const struct tact_device_setting *push_setting = tact_settings_find(config, "push");
    double default_row_without_push[2] = {-INFINITY, 0.0};
    const double *scripted_push_rows = default_row_without_push, *lost = NULL;
    int rc = 0;
    self->push_column_count = 2;
    self->push_row_count = push_setting != NULL;
    if (push_setting && push_setting->text) {
        rc = tact_settings_number(config, "push", &default_row_without_push[1], err);
    } else if (push_setting) {
        self->push_column_count = 1 + self->axes;
        rc = tact_twin_read_table(config, "push", self->push_column_count, &scripted_push_rows,
                                  &self->push_row_count, err);
    }
    for (int i = 1; !rc && i < self->push_row_count; i++) {
        const double *row = scripted_push_rows + (ptrdiff_t)i * self->push_column_count;
        if (!(row[0] > row[-self->push_column_count])) {
            rc = tact_settings_fault(config, push_setting, err,
                                     "row %d: its time must be later than that of the row before",
                                     i + 1);
        }
    }
    rc = rc ? rc
            : tact_twin_read_table(config, "lost", 2, &lost, &self->unplugged_interval_count, err);
    rc = rc ? rc
            : copy_settings_number_list(scripted_push_rows,
                                        self->push_row_count * self->push_column_count,
                                        &self->scripted_push_table, err);
    return rc ? rc
              : copy_settings_number_list(lost, 2 * self->unplugged_interval_count,
                                          &self->unplugged_intervals, err);
}

int tact_twin_load_settings(struct tact_twin_device *self, const struct tact_device_config *config,
                            struct tact_device_info *info, struct tact_error *err)
{
    tact_settings_info(config, tact_twin_type.name, info);
    self->period = config->period;
    int rc = read_hand_settings(self, config, err);
    rc = rc ? rc : read_twin_axes(self, config, info, err);
    rc = rc ? rc : read_output_settings(self, config, info, err);
    rc = rc ? rc : tact_twin_read_effects(self, config, info, err);
    rc = rc ? rc : map_hand_channels(self, config, err);
    rc = rc ? rc : read_button_settings(self, config, info, err);
    rc = rc ? rc : tact_twin_read_servos(self, config, info, err);
    rc = rc ? rc : tact_twin_read_motion(self, config, err);
    rc = rc ? rc : read_pushes_and_unplugging(self, config, err);
    for (int i = 0; !rc && i < self->axes; i++) {
        info->input[i].rest = self->last_input_readings[i];
    }
    return rc;
}
