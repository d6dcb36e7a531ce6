/* Scene of a ruler held between two fingers, whose grip an operator's script commands. */
#ifndef TACT_TESTS_GRIP_SCENE_H
#define TACT_TESTS_GRIP_SCENE_H

/* The fingers of ruler.yaml, open at first, and a ruler that they grip at its centre of mass or
 * beside it. */
#define GRIP_FINGER_YAML(name, y, sign)                                                            \
    "      - {name: " name "_proximal, mass: 0.03, center_of_mass: [0, 0, -0.025],\n"              \
    "         inertia: [6.73e-6, 6.73e-6, 0.96e-6, 0, 0, 0], joint: {type: hinge,\n"               \
    "         axis: [1, 0, 0], position: [0, " y ", 0], stiffness: 2, damping: 0.02,\n"            \
    "         start: " sign "0.2658}}\n"                                                           \
    "      - {name: " name "_distal, parent: " name "_proximal, mass: 0.03,\n"                     \
    "         center_of_mass: [0, 0, -0.025], inertia: [6.73e-6, 6.73e-6, 0.96e-6, 0, 0, 0],\n"    \
    "         shapes: [{type: sphere, radius: 0.008, position: [0, 0, -0.05], material: tip}],\n"  \
    "         joint: {type: hinge, axis: [-1, 0, 0], position: [0, 0, -0.05],\n"                   \
    "         stiffness: 1, damping: 0.005, start: " sign "1.0053}}\n"

/* To be filled in: period, duration, friction, distance of the fingers from the ruler's centre (%s)
 * [m], time until which the ruler's weight is carried, script of the operator, and further keys of
 * the grip (%s). */
static const char grip_scene_format[] =
    "name: grip\n"
    "period: %g\n"
    "duration: %g\n"
    "materials: [{name: tip, modulus: 3e5}, {name: wood}]\n"
    "pairs: [{materials: [tip, wood], friction: %g}]\n"
    "bodies:\n"
    "  - {name: ruler, mass: 0.03, position: [%s, 0, 0], support_until: %g,\n"
    "     shapes: [{type: box, size: [0.30, 0.002, 0.03], material: wood}]}\n"
    "hands:\n"
    "  - name: pinch\n"
    "    position: [0, 0, 0.08]\n"
    "    weightless: true\n"
    "    links:\n" GRIP_FINGER_YAML("left", "0.04", "") GRIP_FINGER_YAML(
        "right", "-0.04",
        "-") "devices:\n"
             "  - {name: operator, type: operator, settings: {script: [%s]}}\n"
             "grips:\n"
             "  - {links: [pinch.left_distal, pinch.right_distal], from: operator.grip, %s}\n";

#endif
