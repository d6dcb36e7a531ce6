/* Which modes of ties a link supports, and how stiff a wall they render over it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "link.h"

/* Names of the modes, indexed by the LINK_ enum of link.h. */
static const char *const mode_names[LINK_MODES] = {"waves", "position_force", "position_position",
                                                   "model"};

/* Values that are assumed where a scene does not state them: of a tie, of a light haptic device and
 * of waves, first for ties that slide [N/m, N s/m], then for those that turn [N m/rad, N m s/rad].
 */
static const struct assumed_operator_values {
    double stiffness, damping, impedance;
} assumed_operator_values[2] = {{1000.0, 1.0, 10.0}, {3.0, 0.01, 0.03}};

/* Finds the joint that a tie couples; NULL if no hand of this scene has it. */
static const struct tact_scene_joint *find_tied_joint(const struct tact_scene *scene,
                                                      const struct tact_scene_remote *tie)
{
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        const struct tact_scene_hand *hand = &scene->hands[i];
        const size_t length = strlen(hand->name);
        if (strncmp(tie->joint, hand->name, length) != 0 || tie->joint[length] != '.') {
            continue;
        }
        for (uint32_t k = 0; k < hand->links_count; k++) {
            if (!strcmp(tie->joint + length + 1, hand->links[k].name)) {
                return &hand->links[k].joint;
            }
        }
    }
    return NULL;
}

int link_is_tie_rotational(const struct tact_scene *scene, const struct tact_scene_remote *tie)
{
    const struct tact_scene_joint *joint = find_tied_joint(scene, tie);
    return joint && !strcmp(joint->type, "hinge");
}

static void add_ties_of_device(const struct tact_scene *scene, const char *device,
                               int is_rotational, struct link_modes *modes)
{
    for (uint32_t i = 0; scene && i < scene->remotes_count; i++) {
        const struct tact_scene_remote *tie = &scene->remotes[i];
        const struct tact_scene_joint *joint = find_tied_joint(scene, tie);
        if (!joint || link_is_tie_rotational(scene, tie) != is_rotational ||
            (device && strcmp(tie->device, device) != 0)) {
            continue;
        }
        modes->tie_count++;
        if (joint->coupling || tie->stiffness <= 0.0) { /* held by a person */
            const double coupling_damping = joint->coupling ? joint->coupling->damping : 0.0;
            modes->damping = fmin(modes->damping, joint->viscous + coupling_damping);
        } else {
            modes->max_robot_tie_stiffness = fmax(modes->max_robot_tie_stiffness, tie->stiffness);
            modes->min_tie_energy_tank = strcmp(tie->mode, "waves") != 0
                                             ? modes->min_tie_energy_tank
                                             : fmin(modes->min_tie_energy_tank, tie->tank);
        }
        if (!strcmp(tie->mode, "waves")) {
            modes->min_tie_wave_impedance = fmin(modes->min_tie_wave_impedance, tie->impedance);
        }
    }
}

int link_mode_of_name(const char *name)
{
    int i = 0;
    while (i < LINK_MODES - 1 && strcmp(mode_names[i], name) != 0) {
        i++;
    }
    return i;
}

void link_modes(const struct link_scene *s, double delay, int is_rotational, struct link_modes *out)
{
    const struct assumed_operator_values *assumed_values = &assumed_operator_values[is_rotational];
    const double period = s->scene->period;
    *out = (struct link_modes){.is_rotational = is_rotational,
                               .damping = INFINITY,
                               .min_tie_wave_impedance = INFINITY,
                               .min_tie_energy_tank = INFINITY};
    add_ties_of_device(s->scene, s->device, is_rotational, out);
    add_ties_of_device(s->other, NULL, is_rotational, out);
    out->is_stiffness_or_damping_assumed =
        out->max_robot_tie_stiffness == 0.0 || isinf(out->damping);
    out->max_robot_tie_stiffness = out->max_robot_tie_stiffness > 0.0 ? out->max_robot_tie_stiffness
                                                                      : assumed_values->stiffness;
    out->damping = isinf(out->damping) ? assumed_values->damping : out->damping;
    out->min_tie_wave_impedance = isinf(out->min_tie_wave_impedance) ? assumed_values->impedance
                                                                     : out->min_tie_wave_impedance;
    out->min_tie_energy_tank = isinf(out->min_tie_energy_tank) ? 0.0 : out->min_tie_energy_tank;
    out->largest_press_supplied_by_tank =
        delay > 0.0 ? sqrt(2.0 * out->min_tie_wave_impedance * out->min_tie_energy_tank / delay)
                    : 0.0;
    const double wave_stiffness =
        1.0 / (1.0 / out->max_robot_tie_stiffness + delay / out->min_tie_wave_impedance);
    const double max_passive_stiffness = out->damping / (1.5 * period + 2.0 * delay);
    const double stiffness[LINK_MODES] = {wave_stiffness, max_passive_stiffness,
                                          max_passive_stiffness, out->max_robot_tie_stiffness};
    for (int i = 0; i < LINK_MODES; i++) {
        const int is_stable_at_any_delay =
            i == LINK_WAVES || i == LINK_MODEL; /* stable at any constant delay */
        out->mode[i] = (struct link_mode){
            .name = mode_names[i],
            .stiffness = stiffness[i],
            .is_tie_mode_supported =
                is_stable_at_any_delay || max_passive_stiffness >= out->max_robot_tie_stiffness};
    }
    out->best =
        max_passive_stiffness >= out->max_robot_tie_stiffness ? LINK_POSITION_POSITION : LINK_WAVES;
}

void link_modes_print(const struct link_modes *modes, double delay)
{
    const double gain = fmin(2.0, 0.25 / delay);
    const char *stiffness = modes->is_rotational ? "N m/rad" : "N/m";
    const int decimal_count = modes->is_rotational ? 3 : 0;
    printf("\n  how stiff %s feels, with a stiffness of the robot's tie of %g %s and a damping of "
           "the person's joint of %g %s%s:\n",
           modes->is_rotational ? "a rigid stop against turning" : "a rigid wall",
           modes->max_robot_tie_stiffness, stiffness, modes->damping,
           modes->is_rotational ? "N m s/rad" : "N s/m",
           modes->is_stiffness_or_damping_assumed ? " (assumed where no scene here states it)"
                                                  : "");
    printf("  waves              %.*f %s at once; %g %s as the position is followed, by %.2f /s\n",
           decimal_count, modes->mode[LINK_WAVES].stiffness, stiffness,
           modes->max_robot_tie_stiffness, stiffness, gain);
    if (modes->largest_press_supplied_by_tank > 0.0) {
        printf("  %-18s up to %.3g %s by the tank of %g J; twice as much needs %g J\n",
               "  its press", modes->largest_press_supplied_by_tank,
               modes->is_rotational ? "N m" : "N", modes->min_tie_energy_tank,
               4.0 * modes->min_tie_energy_tank);
    }
    for (int i = LINK_POSITION_FORCE; i <= LINK_POSITION_POSITION; i++) {
        printf("  %-18s stable to %.*f %s: %s\n", modes->mode[i].name, decimal_count,
               modes->mode[i].stiffness, stiffness,
               modes->mode[i].is_tie_mode_supported ? "supported" : "not supported");
    }
    printf("  model              %g %s, of a surface that the robot met before; one that is new is "
           "felt %.0f ms late, and the robot pushes on it until then\n",
           modes->mode[LINK_MODEL].stiffness, stiffness, 2e3 * delay);
    printf("  best               %s\n", modes->mode[modes->best].name);
}

json_t *link_modes_json(const struct link_modes *modes)
{
    json_t *list = json_array();
    for (int i = 0; i < LINK_MODES; i++) {
        json_array_append_new(list, json_pack("{s:s, s:f, s:b}", "mode", modes->mode[i].name,
                                              "stiffness", modes->mode[i].stiffness, "supported",
                                              modes->mode[i].is_tie_mode_supported));
    }
    return json_pack(
        "{s:f, s:f, s:b, s:f, s:f, s:f, s:s, s:o}", "stiffness", modes->max_robot_tie_stiffness,
        "damping", modes->damping, "assumed", modes->is_stiffness_or_damping_assumed, "impedance",
        modes->min_tie_wave_impedance, "tank", modes->min_tie_energy_tank, "press",
        modes->largest_press_supplied_by_tank, "best", modes->mode[modes->best].name, "list", list);
}
