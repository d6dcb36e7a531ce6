/* Scenes of two sites for teleoperation: a joint of one is coupled to a joint of the other. */
#ifndef TACT_TESTS_REMOTE_SCENES_H
#define TACT_TESTS_REMOTE_SCENES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rt/scene/scene.h"

/* To be filled in: mass, damping and stiffness of the operator's hand, end of its press and time of
 * its return, rest of its script, and keys of the remote coupling. The hand holds a device of 0.1
 * kg and 1 N s/m. */
static const char person_scene_text[] =
    "name: person\n"
    "hands:\n"
    "  - name: arm\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: %g\n"
    "        inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0]\n"
    "        joint: {type: slide, axis: [1, 0, 0], viscous: 1, "
    "coupling: {damping: %g, stiffness: %g}}\n"
    "devices:\n"
    "  - {name: site, type: end_0}\n"
    "  - name: person\n"
    "    type: operator\n"
    "    settings:\n"
    "      script: [[0.5, 0, 0, 0], [1.5, 1, 0, 0], [%g, 1, 0, 0], [%g, 0, 0, 0]%s]\n"
    "  - {name: button, type: button}\n"
    "inputs: [{from: person.grip, to: arm.tip, scale: 0.07}]\n"
    "remotes: [{joint: arm.tip, device: site, %s}]\n"
    "deadman: button.held\n";

/* Scene of the robot's site: a sliding joint in front of a wall. */
static const char robot_scene_text[] =
    "name: robot\n"
    "materials: [{name: steel}]\n"
    "pairs: [{materials: [steel, steel], friction: 0.5, model: features, compliance: 2e-4}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    shapes: [{type: box, size: [0.1, 0.1, 0.1], position: [0.11, 0, 0], material: steel}]\n"
    "hands:\n"
    "  - name: robot\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 0.5\n"
    "        inertia: [1e-3, 1e-3, 1e-3, 0, 0, 0]\n"
    "        joint: {type: slide, axis: [1, 0, 0], viscous: 2}\n"
    "        shapes: [{type: box, size: [0.02, 0.02, 0.02], material: steel}]\n"
    "devices: [{name: site, type: end_1}]\n"
    "remotes: [{joint: robot.tip, device: site, %s}]\n";

/* Replaces a text, which must occur, in one of these scenes. */
static inline void replace_in_text(char *text, size_t size, const char *from, const char *to)
{
    char *at = strstr(text, from);
    assert_non_null(at);
    char *rest = strdup(at + strlen(from));
    const size_t left = size - (size_t)(at - text);
    assert_in_range(snprintf(at, left, "%s%s", to, rest), 0, left - 1);
    free(rest);
}

static inline struct tact_scene *parse_remote_scene(const char *text)
{
    struct tact_scene *scene = NULL;
    struct tact_error err;
    if (tact_scene_parse(text, strlen(text), "remote.yaml", NULL, &scene, &err)) {
        fail_msg("%d: %s: %s", err.line, err.key, err.text);
    }
    return scene;
}

#endif
