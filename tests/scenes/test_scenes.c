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
    {"cubes_on_edge", check_cubes_on_edge},
    {"stack", check_stack},
    {"stack_tapered", check_stack_tapered},
    {"stack_loose", check_stack_loose},
    {"sphere_slope", check_sphere_slope},
    {"sphere_spinning", check_sphere_spinning},
    {"cylinder", check_cylinder},
    {"coin", check_coin},
    {"octagon", check_octagon},
    {"ruler", check_ruler},
    {"five_fingers", check_five_fingers},
    {"bumpy_cube", check_bumpy_cube},
    {"salad", check_salad},
    {"swing", check_swing},
    {"groove", check_groove},
    {"rattleback", check_rattleback},
    {"bangle", check_bangle},
    {"tippe_top", check_tippe_top},
    {"bowl", check_bowl},
    {"turntable", check_turntable},
    {"chaplygin", check_chaplygin},
    {"links", check_links},
    {"saucer", check_saucer},
    {"pebbles", check_pebbles},
    {"corner", check_corner},
    {"pressed", check_pressed},
    {"foot", check_foot},
    {"fingertips", check_fingertips},
    {"balances", check_balances},
    {"peg", check_peg},
    {"dominoes", check_dominoes},
    {"card_house", check_card_house},
    {"arch", check_arch},
};

static void run(void **state)
{
    (*(void (**)(void)) * state)();
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof scenes / sizeof *scenes; i++) {
        if (!strcmp(argv[1], scenes[i].name)) {
            const struct CMUnitTest test[] = {
                {scenes[i].name, run, NULL, NULL, (void *)&scenes[i].check}};
            return cmocka_run_group_tests(test, NULL, NULL);
        }
    }
    fprintf(stderr, "usage: test_scenes NAME\n");
    return 2;
}
