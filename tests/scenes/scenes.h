/* The checks of the scenes, one function each; see test_scenes.c. */
#ifndef TACT_TESTS_SCENES_H
#define TACT_TESTS_SCENES_H

void check_cubes_on_edge(void);
void check_stack(void);
void check_stack_tapered(void);
void check_stack_loose(void);
void check_sphere_slope(void);
void check_sphere_spinning(void);
void check_cylinder(void);
void check_coin(void);
void check_octagon(void);
void check_ruler(void);
void check_five_fingers(void);
void check_bumpy_cube(void);
void check_salad(void);
void check_swing(void);
void check_groove(void);
void check_rattleback(void);
void check_bangle(void);
void check_tippe_top(void);
void check_bowl(void);
void check_turntable(void);
void check_chaplygin(void);
void check_links(void);
void check_saucer(void);
void check_pebbles(void);
void check_corner(void);
void check_pressed(void);
void check_foot(void);
void check_fingertips(void);
void check_balances(void);
void check_peg(void);
void check_dominoes(void);
void check_card_house(void);
void check_arch(void);

#endif
