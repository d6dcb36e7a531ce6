/* The checks of the scenes, one function each; see test_scenes.c. */
#ifndef TACT_TESTS_SCENES_H
#define TACT_TESTS_SCENES_H

void check_cubes_on_edge(void);
void check_stack_scene(void);
void check_stack_tapered(void);
void check_stack_loose(void);
void check_sphere_slope(void);
void check_sphere_spinning(void);
void check_cylinder_scene(void);
void check_coin_scene(void);
void check_octagon_scene(void);
void check_ruler_scene(void);
void check_five_fingers(void);
void check_mug_scene(void);
void check_tumbler_scene(void);
void check_bumpy_cube(void);
void check_salad_scene(void);
void check_swing_scene(void);
void check_groove_scene(void);
void check_rattleback(void);
void check_bangle_scene(void);
void check_eulers_disc_scene(void);
void check_tippe_top(void);
void check_bowl_scene(void);
void check_turntable_scene(void);
void check_chaplygin_ball_scene(void);
void check_links_scene(void);
void check_torus_on_torus_scene(void);
void check_saucer_scene(void);
void check_pebbles_scene(void);
void check_corner_scene(void);
void check_pressed_scene(void);
void check_foot_scene(void);
void check_fingertips(void);
void check_sinusoid(void);
void check_bounce(void);
void check_soft_cubes(void);
void check_socket(void);
void check_floating_boxes(void);
void check_balances_scene(void);
void check_peg_scene(void);
void check_dominoes(void);
void check_card_house(void);
void check_arch_scene(void);

#endif
