/* test_scenes NAME: runs a scene of examples/scenes and compares it with exact results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "scenes.h"

static const struct {
    const char *name;
    void (*check)(void);
} scenes[] = {
    {"cubes_on_edge", check_cubes_on_edge_scene},
    {"stack", check_stack_scene},
    {"stack_tapered", check_tapered_stack_scene},
    {"stack_loose", check_loose_stack_scene},
    {"sphere_slope", check_sphere_slope_scene},
    {"sphere_spinning", check_spinning_sphere_scene},
    {"cylinder", check_cylinder_scene},
    {"coin", check_coin_scene},
    {"octagon", check_octagon_scene},
    {"ruler", check_ruler_scene},
    {"five_fingers", check_five_fingers_scene},
    {"mug", check_mug_scene},
    {"tumbler", check_tumbler_scene},
    {"allegro_like", check_allegro_like_scene},
    {"bumpy_cube", check_bumpy_cube_scene},
    {"salad", check_salad_scene},
    {"swing", check_swing_scene},
    {"groove", check_groove_scene},
    {"rattleback", check_rattleback_scene},
    {"bangle", check_bangle_scene},
    {"eulers_disc", check_eulers_disc_scene},
    {"tippe_top", check_tippe_top_scene},
    {"bowl", check_bowl_scene},
    {"turntable", check_turntable_scene},
    {"chaplygin", check_chaplygin_ball_scene},
    {"links", check_links_scene},
    {"torus_on_torus", check_torus_on_torus_scene},
    {"saucer", check_saucer_scene},
    {"pebbles", check_pebbles_scene},
    {"corner", check_corner_scene},
    {"pressed", check_pressed_scene},
    {"foot", check_foot_scene},
    {"fingertips", check_fingertips_scene},
    {"sinusoid", check_sinusoid_scene},
    {"bounce", check_bounce_scene},
    {"soft_cubes", check_soft_cubes_scene},
    {"socket", check_socket_scene},
    {"floating_boxes", check_floating_boxes_scene},
    {"pencil", check_pencil_scene},
    {"cow", check_cow_scene},
    {"chopsticks", check_chopsticks_scene},
    {"spoon", check_spoon_scene},
    {"bolt", check_bolt_scene},
    {"mug_pads", check_mug_pads_scene},
    {"balances", check_balances_scene},
    {"peg", check_peg_scene},
    {"dominoes", check_dominoes_scene},
    {"card_house", check_card_house_scene},
    {"arch", check_arch_scene},
    {"admittance", check_admittance_scene},
};

static void run_scene_check(void **state)
{
    (*(void (**)(void)) * state)();
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof scenes / sizeof *scenes; i++) {
        if (!strcmp(argv[1], scenes[i].name)) {
            const struct CMUnitTest test[] = {
                {scenes[i].name, run_scene_check, NULL, NULL, (void *)&scenes[i].check}};
            return cmocka_run_group_tests(test, NULL, NULL);
        }
    }
    fprintf(stderr, "usage: test_scenes NAME\n");
    return 2;
}
