/**
 * What tact makes of a hand, for tests/bench/hands, which compares it with MuJoCo.
 *
 *     hand_values SCENE < POSES
 *
 * POSES: for each pose the values and the rates of all joints, in the order in which the first line
 * of the output names them. Output, numbers with 17 digits: the names; the total mass; for each
 * joint lower, upper, viscous, friction, armature, stiffness, damping, limit of the scene's first
 * hand; for each joint the coefficients by which its drive acts on all of them, and the joint that
 * it follows (-1: none) with multiplier and offset; for each pose the position and quaternion of
 * each link, the mass matrix, the bias under the scene's gravity. Exits with 0, or 2 with a
 * message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/hand_internal.h"
#include "contact/world/world.h"
#include "rt/scene/scene.h"
#include "rt/session/session.h"

static void print_json_numbers(const double *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        printf("%s%.17g", i ? " " : "", numbers[i]);
    }
    printf("\n");
}

static void print_joint_properties(const struct tact_scene_hand *hand)
{
    double mass = hand->base ? hand->base->mass : 0.0;
    for (uint32_t i = 0; i < hand->links_count; i++) {
        printf("%s%s", i ? " " : "", hand->links[i].name);
        mass += hand->links[i].mass;
    }
    printf("\n%.17g\n", mass);
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_joint *j = &hand->links[i].joint;
        const double numbers[] = {j->lower,    j->upper,     j->viscous, j->friction,
                                  j->armature, j->stiffness, j->damping, j->limit};
        print_json_numbers(numbers, sizeof numbers / sizeof *numbers);
    }
}

static int find_hand_link(const struct tact_scene_hand *hand, const char *name)
{
    for (uint32_t i = 0; i < hand->links_count; i++) {
        if (!strcmp(hand->links[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

/* Prints the joints that each drive acts on, and those that follow others; matrix: memory for a
 * row. */
static void print_tied_joints(const struct tact_scene_hand *hand, double *matrix)
{
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_joint *j = &hand->links[i].joint;
        memset(matrix, 0, hand->links_count * sizeof *matrix);
        matrix[i] = j->tendon_count ? 0.0 : 1.0;
        for (uint32_t k = 0; k < j->tendon_count; k++) {
            matrix[find_hand_link(hand, j->tendon[k].joint)] = j->tendon[k].coefficient;
        }
        print_json_numbers(matrix, (int)hand->links_count);
    }
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_mimic *law = hand->links[i].joint.mimic;
        const double numbers[3] = {law ? find_hand_link(hand, law->joint) : -1,
                                   law ? law->multiplier : 0.0, law ? law->offset : 0.0};
        print_json_numbers(numbers, 3);
    }
}

/* Reads one pose. Returns 1, or 0 at the end of the input. */
static int read_pose(struct tact_hand *hand, int count)
{
    struct tact_hand_state state = tact_hand_state(hand);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < count; i++) {
            if (scanf("%lf", k ? &state.v[i] : &state.q[i]) != 1) {
                return 0;
            }
        }
    }
    return 1;
}

static void print_values_at_pose(struct tact_hand *hand, int count, const double gravity[3],
                                 double *matrix)
{
    tact_hand_refresh(hand);
    for (int i = 0; i < count; i++) {
        const struct tact_pose *pose = tact_hand_link_pose(hand, i);
        const double numbers[7] = {pose->position[0],  pose->position[1],  pose->position[2],
                                   pose->quat_wxyz[0], pose->quat_wxyz[1], pose->quat_wxyz[2],
                                   pose->quat_wxyz[3]};
        print_json_numbers(numbers, 7);
    }
    tact_hand_mass_matrix(hand, matrix);
    print_json_numbers(matrix, count * count);
    tact_hand_compute_bias_torques(hand, gravity, matrix);
    print_json_numbers(matrix, count);
}

int main(int argc, char **argv)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_error err = {.line = 0};
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    char text[1024];
    options.clock = TACT_LOOP_FREE;
    int rc = argc == 2 ? tact_scene_load(argv[1], &scene, &err)
                       : tact_error_set(&err, -1, "usage: hand_values SCENE < POSES");
    rc = rc ? rc : tact_session_create(scene, &options, &session, &err);
    if (rc || !scene->hands_count) {
        tact_error_format(&err, text, sizeof text);
        fprintf(stderr, "hand_values: %s\n", text);
        return 2;
    }
    struct tact_hand *hand = tact_world_hand(tact_session_world(session), 0);
    const int count = tact_hand_count(hand);
    double *matrix = calloc((size_t)(count * count) + 1, sizeof *matrix);
    print_joint_properties(&scene->hands[0]);
    if (matrix) {
        print_tied_joints(&scene->hands[0], matrix);
    }
    while (matrix && read_pose(hand, count)) {
        print_values_at_pose(hand, count, scene->gravity, matrix);
    }
    free(matrix);
    tact_session_destroy(session);
    tact_scene_free(scene);
    return 0;
}
