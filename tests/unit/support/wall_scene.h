/* The scene of a joint that slides against a fixed wall. */
#ifndef TACT_TESTS_WALL_SCENE_H
#define TACT_TESTS_WALL_SCENE_H

/* YAML after the name, up to the joint of the link: position of the wall's frame [m], whose face is
 * at 0.01 m in it, as far as the link reaches; mass of the link [kg]. */
#define WALL_AND_LINK_TEXT                                                                         \
    "materials: [{name: steel}]\n"                                                                 \
    "pairs: [{materials: [steel, steel], friction: 0.5, model: features}]\n"                       \
    "bodies:\n"                                                                                    \
    "  - name: wall\n"                                                                             \
    "    fixed: true\n"                                                                            \
    "    position: [%g, 0, 0]\n"                                                                   \
    "    shapes: [{type: box, size: [0.1, 0.1, 0.1], position: [0.06, 0, 0], material: steel}]\n"  \
    "hands:\n"                                                                                     \
    "  - name: hand\n"                                                                             \
    "    weightless: true\n"                                                                       \
    "    links:\n"                                                                                 \
    "      - name: tip\n"                                                                          \
    "        mass: %g\n"                                                                           \
    "        inertia: [1e-6, 1e-6, 1e-6, 0, 0, 0]\n"

#endif
