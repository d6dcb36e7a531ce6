/*
 * What tact makes of a hand, for tests/bench/hands, which compares it with MuJoCo.
 *
 *     hand_values SCENE < POSES
 *
 * POSES: for each pose the values and the rates of all joints, in the order in which the first line
 * of the output names them. Output, numbers with 17 digits: the names; the total mass and the
 * number of shapes that collide; for each joint lower, upper, viscous, friction, armature,
 * stiffness, damping, limit and range of the target of the scene's first hand; for each joint the
 * coefficients by which its drive acts on all of them, and the joint that it follows (-1: none)
 * with multiplier and offset; for each pose the position and quaternion of each link, the mass
 * matrix, the bias under the scene's gravity; and at the first pose, for each shape, its link (-1:
 * the base), its collision classes and those that it touches, and how far it reaches in some
 * directions. Exits with 0, or 2 with a message.
 */
#include <math.h>
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

/* Body of the scene that is the fixed base of its first hand, or NULL. */
static const struct tact_scene_body *find_base_body(const struct tact_scene *scene)
{
    for (uint32_t i = 0; i < scene->bodies_count; i++) {
        if (scene->bodies[i].hand == 1) {
            return &scene->bodies[i];
        }
    }
    return NULL;
}

static void print_joint_properties(const struct tact_scene *scene)
{
    const struct tact_scene_hand *hand = &scene->hands[0];
    const struct tact_scene_body *base = find_base_body(scene);
    uint32_t shapes = base ? base->shapes_count : 0;
    double mass = hand->base ? hand->base->mass : 0.0;
    for (uint32_t i = 0; i < hand->links_count; i++) {
        printf("%s%s", i ? " " : "", hand->links[i].name);
        mass += hand->links[i].mass;
        shapes += hand->links[i].shapes_count;
    }
    printf("\n%.17g %u\n", mass, shapes);
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_joint *j = &hand->links[i].joint;
        const double numbers[] = {j->lower,        j->upper,       j->viscous, j->friction,
                                  j->armature,     j->stiffness,   j->damping, j->limit,
                                  j->target_lower, j->target_upper};
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
static int read_joint_values_from_stdin(struct tact_hand *hand, int count)
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

/* Directions in which the reach of shapes is compared. */
static const double directions[8][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0},
                                        {0, 0, 1}, {0, 0, -1}, {3, 2, 1}, {-1, 3, -2}};

/* How far a shape reaches from the origin of its frame in a direction of that frame, times the
 * direction's length. */
static double support_distance_of_shape(const struct tact_scene_shape *s, const double d[3])
{
    const double half[3] = {0.5 * s->size[0] * d[0], 0.5 * s->size[1] * d[1],
                            0.5 * s->size[2] * d[2]};
    double most = -INFINITY;
    if (!strcmp(s->type, "sphere")) {
        return s->radius * tact_v3_norm(d);
    }
    if (!strcmp(s->type, "capsule")) {
        return s->radius * tact_v3_norm(d) + 0.5 * s->length * fabs(d[2]);
    }
    if (!strcmp(s->type, "cylinder")) {
        return s->radius * sqrt(d[0] * d[0] + d[1] * d[1]) + 0.5 * s->length * fabs(d[2]);
    }
    if (!strcmp(s->type, "box")) {
        return fabs(half[0]) + fabs(half[1]) + fabs(half[2]);
    }
    if (!strcmp(s->type, "ellipsoid")) {
        return tact_v3_norm(half);
    }
    for (uint32_t i = 0; i < s->shape.mesh->vertex_count; i++) {
        most = fmax(most, tact_v3_dot(s->shape.mesh->vertices + 3 * i, d));
    }
    return most;
}

static void print_scene_shapes(const struct tact_scene_shape *shapes, uint32_t count, int link,
                               const struct tact_pose *frame)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct tact_scene_shape *s = &shapes[i];
        struct tact_pose own = {.position = {0.0}}, pose;
        double numbers[3 + 8] = {link, s->collides, s->collides_with}, turn[9], local[3];
        tact_v3_copy(own.position, s->position);
        memcpy(own.quat_wxyz, s->quat_wxyz, sizeof own.quat_wxyz);
        tact_quat_normalize(own.quat_wxyz);
        tact_pose_mul(&pose, frame, &own);
        tact_quat_to_m3(turn, pose.quat_wxyz);
        for (int k = 0; k < 8; k++) {
            tact_m3_tmul_v3(local, turn, directions[k]);
            numbers[3 + k] =
                tact_v3_dot(directions[k], pose.position) + support_distance_of_shape(s, local);
        }
        print_json_numbers(numbers, 3 + 8);
    }
}

/* Prints all shapes of a hand, at its present pose. */
static void print_shapes_of_hand(const struct tact_scene *scene, const struct tact_hand *hand)
{
    const struct tact_scene_body *base = find_base_body(scene);
    for (int i = 0; i < tact_hand_count(hand); i++) {
        const struct tact_scene_link *link = &scene->hands[0].links[i];
        print_scene_shapes(link->shapes, link->shapes_count, i, tact_hand_link_pose(hand, i));
    }
    if (base) {
        struct tact_pose pose = {.position = {0.0}};
        tact_v3_copy(pose.position, base->position);
        memcpy(pose.quat_wxyz, base->quat_wxyz, sizeof pose.quat_wxyz);
        print_scene_shapes(base->shapes, base->shapes_count, -1, &pose);
    }
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
    print_joint_properties(scene);
    if (matrix) {
        print_tied_joints(&scene->hands[0], matrix);
    }
    for (int n = 0; matrix && read_joint_values_from_stdin(hand, count); n++) {
        print_values_at_pose(hand, count, scene->gravity, matrix);
        if (n == 0) {
            print_shapes_of_hand(scene, hand);
        }
    }
    free(matrix);
    tact_session_destroy(session);
    tact_scene_free(scene);
    return 0;
}
