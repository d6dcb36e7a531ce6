#include "devices/comedi/wrench_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "devices/common/settings.h"

const char *const tact_wrench_axes[6] = {"fx", "fy", "fz", "tx", "ty", "tz"};

void tact_wrench_from_gauges(const struct tact_gauge_map *map, const double *gauge_voltages,
                             double wrench[6])
{
    for (int k = 0; k < 6; k++) {
        double sum = 0.0;
        for (int i = 0; i < map->gauges; i++) {
            sum += map->matrix[k][i] * (gauge_voltages[i] - map->gauge_bias[i]);
        }
        wrench[k] = sum;
    }
}

void tact_wrench_transform_map(struct tact_gauge_map *map, const struct tact_pose *pose)
{
    for (int i = 0; i < map->gauges; i++) {
        double column[6];
        double force[3];
        double torque[3];
        double moment_of_shifted_force[3];
        for (int k = 0; k < 6; k++) {
            column[k] = map->matrix[k][i];
        }
        tact_quat_rotate(force, pose->quat_wxyz, column);
        tact_quat_rotate(torque, pose->quat_wxyz, column + 3);
        tact_v3_cross(moment_of_shifted_force, pose->position, force);
        for (int k = 0; k < 3; k++) {
            map->matrix[k][i] = force[k];
            map->matrix[3 + k][i] = torque[k] + moment_of_shifted_force[k];
        }
    }
}

struct unit {
    /* the unit in lower case, except for a leading M, and without characters that do not matter */
    const char *word;
    double si;
};

static const double metres_per_inch = 0.0254;
static const double metres_per_foot = 0.3048;
static const double newtons_per_pound_force = 4.4482216152605; /* [N] of a pound-force, exact */
static const double newtons_per_kilogram_force = 9.80665;      /* [N] of a kilogram-force, exact */

static int find_si_factor_of_unit(const char *word, const struct unit *units, size_t count,
                                  double *si)
{
    char normalized_unit_name[24] = "";
    size_t n = 0;
    for (; *word && n + 1 < sizeof normalized_unit_name; word++) {
        if (!strchr(" -.*", *word)) {
            /* a leading M is not made lower case, as it may mean mega */
            normalized_unit_name[n] =
                n || *word != 'M' ? (char)tolower((unsigned char)*word) : *word;
            n++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(normalized_unit_name, units[i].word) == 0) {
            *si = units[i].si;
            return 0;
        }
    }
    return -EINVAL;
}

#define FIND_SI_FACTOR(word, units, si)                                                            \
    find_si_factor_of_unit(word, units, sizeof(units) / sizeof *(units), si)

int tact_wrench_force_unit(const char *word, double *unit_in_newtons)
{
    const struct unit units[] = {{"n", 1.0},
                                 {"kn", 1e3},
                                 {"mn", 1e-3},
                                 {"Mn", 1e6},
                                 {"lbf", newtons_per_pound_force},
                                 {"lb", newtons_per_pound_force},
                                 {"klbf", 1e3 * newtons_per_pound_force},
                                 {"klb", 1e3 * newtons_per_pound_force},
                                 {"kgf", newtons_per_kilogram_force},
                                 {"kg", newtons_per_kilogram_force},
                                 {"gf", 1e-3 * newtons_per_kilogram_force},
                                 {"g", 1e-3 * newtons_per_kilogram_force}};
    return FIND_SI_FACTOR(word, units, unit_in_newtons);
}

int tact_wrench_torque_unit(const char *word, double *unit_in_newton_metres)
{
    const struct unit units[] = {{"nm", 1.0},
                                 {"nmm", 1e-3},
                                 {"ncm", 1e-2},
                                 {"knm", 1e3},
                                 {"mnm", 1e-3},
                                 {"Mnm", 1e6},
                                 {"lbfin", newtons_per_pound_force * metres_per_inch},
                                 {"lbin", newtons_per_pound_force * metres_per_inch},
                                 {"inlb", newtons_per_pound_force * metres_per_inch},
                                 {"inlbf", newtons_per_pound_force * metres_per_inch},
                                 {"lbfft", newtons_per_pound_force * metres_per_foot},
                                 {"lbft", newtons_per_pound_force * metres_per_foot},
                                 {"ftlb", newtons_per_pound_force * metres_per_foot},
                                 {"ftlbf", newtons_per_pound_force * metres_per_foot},
                                 {"kgfm", newtons_per_kilogram_force},
                                 {"kgm", newtons_per_kilogram_force},
                                 {"kgfcm", 1e-2 * newtons_per_kilogram_force},
                                 {"kgcm", 1e-2 * newtons_per_kilogram_force}};
    return FIND_SI_FACTOR(word, units, unit_in_newton_metres);
}

int tact_wrench_length_unit(const char *word, double *unit_in_metres)
{
    const struct unit units[] = {
        {"m", 1.0}, {"cm", 1e-2}, {"mm", 1e-3}, {"in", metres_per_inch}, {"ft", metres_per_foot}};
    return FIND_SI_FACTOR(word, units, unit_in_metres);
}

void tact_wrench_describe_channels(const struct tact_force_torque_sensor *wrench, int first,
                                   struct tact_device_info *info)
{
    struct tact_device_wrench *device_wrench_description = &info->wrench[info->wrench_count++];
    snprintf(device_wrench_description->name, sizeof device_wrench_description->name, "%s",
             wrench->name);
    snprintf(device_wrench_description->frame, sizeof device_wrench_description->frame, "%s",
             wrench->frame);
    device_wrench_description->channel = first;
    device_wrench_description->untared = !wrench->has_gauge_bias;
    for (int k = 0; k < TACT_WRENCH_CHANNELS; k++) {
        char name[TACT_DEVICE_NAME];
        snprintf(name, sizeof name, "%s_%s", wrench->name,
                 k < 6 ? tact_wrench_axes[k] : "overload");
        tact_settings_channel(&info->input[first + k], name,
                              k < 3   ? "N"
                              : k < 6 ? "N m"
                                      : "1",
                              0.0);
    }
}
