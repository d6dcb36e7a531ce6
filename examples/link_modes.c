/* Which modes of ties a link supports, and how stiff a wall they render over it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "link.h"

/* Names of the modes, indexed by the LINK_ enum of link.h. */
static const char *const mode_names[LINK_MODES] = {"waves", "position_force", "position_position",
                                                   "model"};

/* Assumed values where a scene does not state them. */
static const double assumed_tie_stiffness = 1000.0, usual_impedance = 10.0; /* [N/m, N s/m] */
static const double assumed_joint_damping = 1.0; /* of a light haptic device [N s/m] */

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

int link_tie_turns(const struct tact_scene *scene, const struct tact_scene_remote *tie)
{
    const struct tact_scene_joint *joint = find_tied_joint(scene, tie);
    return joint && !strcmp(joint->type, "hinge");
}

/* 1 for an attitude of a base: its numbers are not those of the position, which it is tied beside.
 */
static int is_attitude(const struct tact_scene_remote *tie)
{
    const char *coordinate = strchr(tie->joint, '.');
    return coordinate && !strncmp(coordinate, ".base_r", 7);
}

static void add_ties(const struct tact_scene *scene, const char *device, struct link_modes *modes)
{
    for (uint32_t i = 0; scene && i < scene->remotes_count; i++) {
        const struct tact_scene_remote *tie = &scene->remotes[i];
        const struct tact_scene_joint *joint = find_tied_joint(scene, tie);
        if (!joint || is_attitude(tie) || (device && strcmp(tie->device, device) != 0)) {
            continue;
        }
        if (joint->coupling || tie->stiffness <= 0.0) { /* held by a person */
            const double grip = joint->coupling ? joint->coupling->damping : 0.0;
            modes->damping = fmin(modes->damping, joint->viscous + grip);
        } else {
            modes->wanted = fmax(modes->wanted, tie->stiffness);
        }
        if (!strcmp(tie->mode, "waves")) {
            modes->impedance = fmin(modes->impedance, tie->impedance);
        }
    }
}

int link_mode_of(const char *name)
{
    int i = 0;
    while (i < LINK_MODES - 1 && strcmp(mode_names[i], name) != 0) {
        i++;
    }
    return i;
}

void link_modes(const struct link_scene *s, double delay, struct link_modes *out)
{
    const double period = s->scene->period;
    *out = (struct link_modes){.damping = INFINITY, .impedance = INFINITY};
    add_ties(s->scene, s->device, out);
    add_ties(s->other, NULL, out);
    out->is_assumed = out->wanted == 0.0 || isinf(out->damping);
    out->wanted = out->wanted > 0.0 ? out->wanted : assumed_tie_stiffness;
    out->damping = isinf(out->damping) ? assumed_joint_damping : out->damping;
    out->impedance = isinf(out->impedance) ? usual_impedance : out->impedance;
    const double immediate_stiffness = 1.0 / (1.0 / out->wanted + delay / out->impedance);
    const double passive = out->damping / (1.5 * period + 2.0 * delay);
    const double stiffness[LINK_MODES] = {immediate_stiffness, passive, passive, out->wanted};
    for (int i = 0; i < LINK_MODES; i++) {
        const int is_stable = i == LINK_WAVES || i == LINK_MODEL; /* at any constant delay */
        out->mode[i] = (struct link_mode){.name = mode_names[i],
                                          .stiffness = stiffness[i],
                                          .is_supported = is_stable || passive >= out->wanted};
    }
    out->best = passive >= out->wanted ? LINK_POSITION_POSITION : LINK_WAVES;
}

void link_modes_print(const struct link_modes *modes, double delay)
{
    const double gain = fmin(2.0, 0.25 / delay);
    printf("\n  a stiff wall, by a robot's tie of %g N/m and a person's joint of %g N s/m%s:\n",
           modes->wanted, modes->damping,
           modes->is_assumed ? " (one of them assumed, as the other scene is not here)" : "");
    printf(
        "  waves              %.0f N/m at once; %g N/m as the position is followed, by %.2f /s\n",
        modes->mode[LINK_WAVES].stiffness, modes->wanted, gain);
    for (int i = LINK_POSITION_FORCE; i <= LINK_POSITION_POSITION; i++) {
        printf("  %-18s stable to %.0f N/m: %s\n", modes->mode[i].name, modes->mode[i].stiffness,
               modes->mode[i].is_supported ? "supported" : "not supported");
    }
    printf(
        "  model              %g N/m, of a surface that the robot met before; one that is new is "
        "felt %.0f ms late, and the robot pushes on it until then\n",
        modes->mode[LINK_MODEL].stiffness, 2e3 * delay);
    printf("  best               %s\n", modes->mode[modes->best].name);
}

json_t *link_modes_json(const struct link_modes *modes)
{
    json_t *list = json_array();
    for (int i = 0; i < LINK_MODES; i++) {
        json_array_append_new(list, json_pack("{s:s, s:f, s:b}", "mode", modes->mode[i].name,
                                              "stiffness", modes->mode[i].stiffness, "supported",
                                              modes->mode[i].is_supported));
    }
    return json_pack("{s:f, s:f, s:b, s:f, s:s, s:o}", "stiffness", modes->wanted, "damping",
                     modes->damping, "assumed", modes->is_assumed, "impedance", modes->impedance,
                     "best", modes->mode[modes->best].name, "list", list);
}
