/* Checks of the values of solids, joints, inputs, outputs and of the session. */
#include "rt/scene/scene_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contact/vec.h"
#include "contact/world/world.h"

/* Limits of mass and inertia: beyond them, squares and inverses overflow in the solver. */
#define MIN_MASS 1e-12    /* [kg] */
#define MAX_MASS 1e12     /* [kg] */
#define MIN_INERTIA 1e-24 /* [kg m^2] */
#define MAX_INERTIA 1e24  /* [kg m^2] */

#define HALF_TURN_ANGLE 3.14159265358979323846 /* half a turn [rad] */

int tact_scene_check_quat(const struct tact_scene_check_context *check, double quat_wxyz[4],
                          const char *path)
{
    /* the quaternion is scaled first: squares of very large or small numbers overflow or underflow
     */
    double largest = 0.0;
    for (int i = 0; i < 4; i++) {
        largest = fmax(largest, fabs(quat_wxyz[i]));
    }
    if (!(largest > 0.0)) {
        return tact_scene_report_bad_value(
            check, path,
            "a quaternion of length 0; expected w x y z with a length, as in "
            "[1, 0, 0, 0]");
    }
    for (int i = 0; i < 4; i++) {
        quat_wxyz[i] /= largest;
    }
    tact_quat_normalize(quat_wxyz);
    return 0;
}

/* Whether the symmetric matrix xx yy zz xy xz yz is positive definite (has a Cholesky factor). */
static bool is_inertia_positive_definite(const double m[6])
{
    double l00 = m[0];
    if (!(l00 > 0.0)) {
        return false;
    }
    double l11 = m[1] - m[3] * m[3] / l00;
    if (!(l11 > 0.0)) {
        return false;
    }
    double l21 = m[5] - m[3] * m[4] / l00;
    return m[2] - m[4] * m[4] / l00 - l21 * l21 / l11 > 0.0;
}

int tact_scene_check_inertia(const struct tact_scene_check_context *check, const double inertia[6],
                             const char *path)
{
    double largest = fmax(fmax(inertia[0], inertia[1]), inertia[2]), m[6], mass[6];
    if (!(largest > 0.0)) {
        return tact_scene_report_bad_value(check, path,
                                           "not positive definite; expected ixx iyy izz > 0");
    }
    if (!(largest >= MIN_INERTIA && largest <= MAX_INERTIA)) {
        return tact_scene_report_bad_value(check, path, "%g kg m^2; expected %g to %g", largest,
                                           MIN_INERTIA, MAX_INERTIA);
    }
    for (int i = 0; i < 6; i++) {
        m[i] = inertia[i] / largest;
    }
    if (!is_inertia_positive_definite(m)) {
        return tact_scene_report_bad_value(
            check, path, "not positive definite; expected ixx iyy izz ixy ixz iyz of a solid");
    }
    /* Second moments of the mass, (tr I / 2) - I, must not be negative along any axis: the triangle
     * inequality of the principal moments. It is 0 for flat bodies, hence the tolerance. */
    double half_inertia_trace = 0.5 * (m[0] + m[1] + m[2]);
    for (int i = 0; i < 6; i++) {
        mass[i] = (i < 3 ? half_inertia_trace + 1e-6 : 0.0) - m[i];
    }
    if (!is_inertia_positive_definite(mass)) {
        return tact_scene_report_bad_value(
            check, path,
            "no solid has this inertia: one principal moment is larger than the "
            "sum of the other two");
    }
    return 0;
}

/* A tube no thicker than its ring: beyond it the surface would cross itself. */
static int check_torus_tube(const struct tact_scene_check_context *check, const char *path,
                            const struct tact_scene_shape *shape)
{
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_scene_require_positive(check, path, "tube", shape->tube, "m");
    return rc || shape->tube < shape->radius
               ? rc
               : tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "tube"),
                                             "is %g m; expected less than the radius", shape->tube);
}

int tact_scene_check_shape(const struct tact_scene_check_context *check,
                           struct tact_scene_shape *shape, const char *path)
{
    /* Checks the keys of a shape: its type requires some and forbids the others of this list. */
    static const struct {
        const char *key;
        const char *word; /* word in the list of keys that a shape type uses */
        bool needed;
    } key_uses[] = {{"radius", "radius", true}, {"tube", "tube", true},
                    {"length", "length", true}, {"size", "size", true},
                    {"file", "file", false},    {"generate", "file", false},
                    {"scale", "file", false},   {"profile", "profile", true}};
    const char *types[TACT_SHAPE_COUNT + 1] = {NULL}, *keys = "";
    char key[TACT_SCENE_PATH_BYTES];
    for (int i = 0; i < TACT_SHAPE_COUNT; i++) {
        types[i] = tact_shape_type((enum tact_shape_kind)i)->name;
    }
    int rc = tact_scene_require_word(check, tact_scene_path_of_key(key, path, "type"), shape->type,
                                     types);
    if (!rc) {
        keys = tact_shape_type((enum tact_shape_kind)tact_shape_kind_find(shape->type))->keys;
    }
    for (size_t i = 0; !rc && i < sizeof key_uses / sizeof *key_uses; i++) {
        bool does_shape_type_use_key = strstr(keys, key_uses[i].word) != NULL;
        bool is_key_in_scene = tact_scene_has_key(check, "%s.%s", path, key_uses[i].key);
        if (does_shape_type_use_key && key_uses[i].needed && !is_key_in_scene) {
            rc = tact_scene_report_bad_value(
                check, tact_scene_path_of_key(key, path, key_uses[i].key),
                "missing; a %s needs the key \"%s\"", shape->type, key_uses[i].key);
        } else if (is_key_in_scene && !does_shape_type_use_key) {
            rc = tact_scene_report_bad_value(check,
                                             tact_scene_path_of_key(key, path, key_uses[i].key),
                                             "a %s has no %s", shape->type, key_uses[i].key);
        } else if (is_key_in_scene && strcmp(key_uses[i].key, "radius") == 0) {
            rc = tact_scene_require_positive(check, path, "radius", shape->radius, "m");
        } else if (is_key_in_scene && strcmp(key_uses[i].key, "tube") == 0) {
            rc = check_torus_tube(check, path, shape);
        } else if (is_key_in_scene && strcmp(key_uses[i].key, "length") == 0) {
            rc = tact_scene_require_positive(check, path, "length", shape->length, "m");
        } else if (is_key_in_scene && strcmp(key_uses[i].key, "scale") == 0) {
            rc = tact_scene_require_positive(check, path, "scale", shape->scale, "");
        }
    }
    for (int i = 0; !rc && tact_scene_has_key(check, "%s.size", path) && i < 3; i++) {
        char edge[16];
        snprintf(edge, sizeof edge, "size[%d]", i);
        rc = tact_scene_require_positive(check, path, edge, shape->size[i], "m");
    }
    rc = rc ? rc : tact_scene_require_coordinates(check, path, "radius", &shape->radius, 1);
    rc = rc ? rc : tact_scene_require_coordinates(check, path, "tube", &shape->tube, 1);
    rc = rc ? rc : tact_scene_require_coordinates(check, path, "length", &shape->length, 1);
    rc = rc ? rc : tact_scene_require_coordinates(check, path, "size", shape->size, 3);
    rc = rc ? rc : tact_scene_require_coordinates(check, path, "position", shape->position, 3);
    rc = rc ? rc : tact_scene_check_mesh_source(check, shape, path);
    return rc ? rc
              : tact_scene_check_quat(check, shape->quat_wxyz,
                                      tact_scene_path_of_key(key, path, "quat_wxyz"));
}

static int check_shape_values(const struct tact_scene_check_context *check,
                              struct tact_scene_shape *shapes, uint32_t count, const char *owner,
                              bool fixed)
{
    char path[TACT_SCENE_PATH_BYTES];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%.80s.shapes[%u]", owner, i);
        int rc = tact_scene_check_shape(check, &shapes[i], path);
        if (rc) {
            return rc;
        }
        if (!fixed && strcmp(shapes[i].type, "halfspace") == 0) {
            return tact_scene_report_bad_value(
                check, path,
                "a halfspace is infinite and cannot move; expected it on a body "
                "with `fixed: true`");
        }
    }
    return 0;
}

/* Mass and inertia of a moving body or a link. */
static int check_mass_and_inertia(const struct tact_scene_check_context *check, const char *owner,
                                  double mass, const double *inertia, uint32_t shapes)
{
    char path[TACT_SCENE_PATH_BYTES];
    if (!tact_scene_has_key(check, "%s.mass", owner)) {
        return tact_scene_report_bad_value(check, tact_scene_path_of_key(path, owner, "mass"),
                                           "missing; expected a mass in kg, or `fixed: true`");
    }
    int rc = tact_scene_require_positive(check, owner, "mass", mass, "kg");
    rc = rc ? rc
            : tact_scene_require_between(check, tact_scene_path_of_key(path, owner, "mass"), mass,
                                         MIN_MASS, MAX_MASS, "kg");
    if (rc) {
        return rc;
    }
    if (inertia) {
        return tact_scene_check_inertia(check, inertia,
                                        tact_scene_path_of_key(path, owner, "inertia"));
    }
    if (tact_scene_has_key(check, "%s.center_of_mass", owner)) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(path, owner, "center_of_mass"),
            "\"center_of_mass\" needs the key \"inertia\" too: the inertia computed from the "
            "shapes is about their own centre");
    }
    return shapes > 0
               ? 0
               : tact_scene_report_bad_value(check, tact_scene_path_of_key(path, owner, "inertia"),
                                             "missing; without shapes it cannot be computed");
}

/* Initial pose and velocity of a body: an absurd value would be a fault in the first tick. */
static int check_body_start_pose_and_velocity(const struct tact_scene_check_context *check,
                                              const struct tact_scene_body *body, double max_speed,
                                              const char *path)
{
    int rc = tact_scene_require_coordinates(check, path, "position", body->position, 3);
    if (!rc && body->center_of_mass) {
        rc = tact_scene_require_coordinates(check, path, "center_of_mass", body->center_of_mass, 3);
    }
    rc = rc ? rc
            : tact_scene_require_magnitude(check, path, "velocity", body->velocity, 3, max_speed,
                                           "m/s (max_speed)");
    return rc ? rc
              : tact_scene_require_magnitude(check, path, "angular_velocity",
                                             body->angular_velocity, 3, TACT_WORLD_MAX_RATE,
                                             "rad/s");
}

static int check_scene_body(const struct tact_scene_check_context *check,
                            struct tact_scene_body *body, double max_speed, const char *path)
{
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_scene_check_quat(check, body->quat_wxyz,
                                   tact_scene_path_of_key(key, path, "quat_wxyz"));
    if (!rc && body->hand && body->inertia) {
        rc = tact_scene_check_inertia(check, body->inertia,
                                      tact_scene_path_of_key(key, path, "inertia"));
    }
    if (!rc && !body->fixed) {
        rc = check_mass_and_inertia(check, path, body->mass, body->inertia, body->shapes_count);
    }
    if (!rc && body->fixed && tact_scene_has_key(check, "%s.mass", path)) {
        rc = tact_scene_require_positive(check, path, "mass", body->mass, "kg");
    }
    if (!rc && body->fixed &&
        (tact_v3_norm(body->velocity) > 0.0 || tact_v3_norm(body->angular_velocity) > 0.0)) {
        rc = tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "fixed"),
                                         "a fixed body cannot start with a velocity");
    }
    if (!rc && body->fixed && body->fast) {
        rc = tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "fast"),
                                         "a body with \"fixed: true\" cannot have \"fast: true\"");
    }
    rc = rc ? rc : check_body_start_pose_and_velocity(check, body, max_speed, path);
    rc =
        rc ? rc
           : tact_scene_require_nonnegative(check, path, "support_until", body->support_until, "s");
    return rc ? rc : check_shape_values(check, body->shapes, body->shapes_count, path, body->fixed);
}

static int check_and_normalize_axis(const struct tact_scene_check_context *check, double axis[3],
                                    const char *path)
{
    char key[TACT_SCENE_PATH_BYTES];
    double largest = fmax(fmax(fabs(axis[0]), fabs(axis[1])), fabs(axis[2]));
    if (!(largest > 0.0)) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, "axis"),
            "an axis of length 0; expected a direction, as in [1, 0, 0]");
    }
    for (int i = 0; i < 3; i++) {
        axis[i] /= largest;
    }
    tact_v3_normalize(axis, axis);
    return 0;
}

/* Checks that a range has both ends or neither, in order. */
static int check_constraint_range(const struct tact_scene_check_context *check, double least,
                                  double most, const char *path)
{
    char key[TACT_SCENE_PATH_BYTES];
    bool lower = tact_scene_has_key(check, "%s.lower", path);
    bool upper = tact_scene_has_key(check, "%s.upper", path);
    if (lower != upper || (lower && !(least < most))) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, lower ? "lower" : "upper"),
            "expected both stops \"lower\" and \"upper\", with lower below upper");
    }
    return 0;
}

/* Stops of a joint of a mechanism: those of a hinge are within a turn. */
static int check_joint_stops(const struct tact_scene_check_context *check,
                             const struct tact_scene_constraint *constraint, const char *path)
{
    char key[TACT_SCENE_PATH_BYTES];
    int is_hinge_constraint = strcmp(constraint->type, "hinge") == 0;
    int rc = check_constraint_range(check, constraint->lower, constraint->upper, path);
    if (rc) {
        return rc;
    }
    if (is_hinge_constraint &&
        (constraint->lower < -HALF_TURN_ANGLE || constraint->upper > HALF_TURN_ANGLE)) {
        return tact_scene_report_bad_value(
            check,
            tact_scene_path_of_key(key, path,
                                   constraint->lower < -HALF_TURN_ANGLE ? "lower" : "upper"),
            "the stops of a hinge must be from -pi to pi rad");
    }
    return 0;
}

static int check_scene_constraint(const struct tact_scene_check_context *check,
                                  struct tact_scene_constraint *constraint, const char *path)
{
    static const char *const types[] = {"ball", "hinge", "slider", "fixed", NULL};
    static const char *const axial[] = {"axis", "lower", "upper", "damping", "friction", NULL};
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_scene_require_word(check, tact_scene_path_of_key(key, path, "type"),
                                     constraint->type, types);
    bool has_single_free_axis =
        !rc && (!strcmp(constraint->type, "hinge") || !strcmp(constraint->type, "slider"));
    for (int i = 0; !rc && !has_single_free_axis && axial[i]; i++) {
        if (tact_scene_has_key(check, "%s.%s", path, axial[i])) {
            rc = tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, axial[i]),
                                             "a %s joint has no %s", constraint->type, axial[i]);
        }
    }
    rc = rc ? rc : tact_scene_require_coordinates(check, path, "position", constraint->position, 3);
    rc = rc ? rc : check_and_normalize_axis(check, constraint->axis, path);
    rc = rc ? rc : check_joint_stops(check, constraint, path);
    rc = rc ? rc
            : tact_scene_require_nonnegative(check, path, "damping", constraint->damping,
                                             "N m s/rad or N s/m");
    return rc ? rc
              : tact_scene_require_nonnegative(check, path, "friction", constraint->friction,
                                               "N m or N");
}

/* Stops, between which the joint starts, and what else acts at a joint besides its drive. */
static int check_joint_resistance(const struct tact_scene_check_context *check,
                                  const struct tact_scene_joint *joint, const char *path)
{
    char key[TACT_SCENE_PATH_BYTES];
    int rc = check_constraint_range(check, joint->lower, joint->upper, path);
    if (!rc && joint->lower < joint->upper &&
        (joint->start < joint->lower || joint->start > joint->upper)) {
        const char *start = tact_scene_has_key(check, "%s.start", path) ? "start" : "lower";
        rc = tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, start),
            "the joint starts at %g, which is not between its stops, %g and %g", joint->start,
            joint->lower, joint->upper);
    }
    bool has_lower_target = tact_scene_has_key(check, "%s.target_lower", path);
    bool has_upper_target = tact_scene_has_key(check, "%s.target_upper", path);
    if (!rc && (has_lower_target != has_upper_target ||
                (has_lower_target && !(joint->target_lower < joint->target_upper)))) {
        rc = tact_scene_report_bad_value(
            check,
            tact_scene_path_of_key(key, path, has_lower_target ? "target_lower" : "target_upper"),
            "expected both \"target_lower\" and \"target_upper\", target_lower below target_upper");
    }
    if (!rc && has_lower_target && joint->coupling) {
        rc = tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, "target_lower"),
            "a joint with a \"coupling\" cannot have a target range (target_lower, target_upper)");
    }
    rc = rc ? rc
            : tact_scene_require_nonnegative(check, path, "armature", joint->armature,
                                             "kg m^2 or kg");
    rc = rc ? rc
            : tact_scene_require_nonnegative(check, path, "viscous", joint->viscous,
                                             "N m s/rad or N s/m");
    return rc ? rc
              : tact_scene_require_nonnegative(check, path, "friction", joint->friction,
                                               "N m or N");
}

static int check_joint_values(const struct tact_scene_check_context *check,
                              struct tact_scene_joint *joint,
                              const struct tact_scene_device_loop *loop, const char *path)
{
    static const char *const types[] = {"hinge", "slide", NULL};
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_scene_require_word(check, tact_scene_path_of_key(key, path, "type"), joint->type,
                                     types);
    rc = rc ? rc : tact_scene_require_coordinates(check, path, "position", joint->position, 3);
    rc = rc ? rc
            : tact_scene_require_magnitude(check, path, "start", &joint->start, 1,
                                           TACT_MESH_MAX_COORDINATE, "rad or m");
    rc = rc ? rc : check_and_normalize_axis(check, joint->axis, path);
    if (rc) {
        return rc;
    }
    rc = tact_scene_check_quat(check, joint->quat_wxyz,
                               tact_scene_path_of_key(key, path, "quat_wxyz"));
    rc = rc ? rc
            : tact_scene_require_gain(check, path, "stiffness", joint->stiffness, "N m/rad or N/m");
    rc = rc ? rc
            : tact_scene_require_gain(check, path, "damping", joint->damping, "N m s/rad or N s/m");
    rc = rc ? rc : tact_scene_require_nonnegative(check, path, "limit", joint->limit, "N m or N");
    rc = rc ? rc : check_joint_resistance(check, joint, path);
    rc = rc || !joint->coupling ? rc
                                : tact_scene_forbid_numbers_of_axes(
                                      check, tact_scene_path_of_key(key, path, "coupling"));
    return rc || !joint->coupling
               ? rc
               : tact_scene_check_coupling(check, joint->coupling, loop, path,
                                           tact_scene_path_of_key(key, path, "coupling"));
}

static int check_moving_base(const struct tact_scene_check_context *check,
                             const struct tact_scene *scene, uint32_t number)
{
    const struct tact_scene_base *base = scene->hands[number].base;
    char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    snprintf(path, sizeof path, "hands[%u].base", number);
    int rc = tact_scene_require_nonnegative(check, path, "limit", base->limit, "N");
    rc = rc ? rc
            : tact_scene_require_nonnegative(check, path, "turn_limit", base->turn_limit, "N m");
    rc = rc ? rc : tact_scene_check_base_matrices(check, scene, number);
    const bool has_hand_base_matrices = tact_scene_file_base_with_matrices(&scene->hands[number]);
    for (uint32_t i = 0; !rc && !has_hand_base_matrices && i < TACT_HAND_BASE; i++) {
        const struct tact_scene_coupling *coupling = scene->hands[number].links[i].joint.coupling;
        const struct tact_scene_device_loop loop = tact_scene_find_device_loop(scene, number, i);
        const bool is_rotation = i >= 3;
        if (coupling) {
            rc = tact_scene_check_coupling(
                check, coupling, &loop, path,
                tact_scene_path_of_key(key, path, is_rotation ? "turn_coupling" : "coupling"));
        }
    }
    return rc;
}

static int check_scene_hand(const struct tact_scene_check_context *check, struct tact_scene *scene,
                            uint32_t number)
{
    struct tact_scene_hand *hand = &scene->hands[number];
    static const char *const start[] = {"exclude", "keep", "refuse", NULL};
    const uint32_t base_coordinate_count = tact_scene_base_links(hand);
    char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    snprintf(path, sizeof path, "hands[%u].quat_wxyz", number);
    int rc = tact_scene_check_quat(check, hand->quat_wxyz, path);
    snprintf(path, sizeof path, "hands[%u]", number);
    rc = rc ? rc : tact_scene_require_coordinates(check, path, "position", hand->position, 3);
    rc = rc ? rc : tact_scene_check_hand_file(check, hand, number);
    rc = rc ? rc
            : tact_scene_require_word(check, tact_scene_path_of_key(key, path, "start_overlap"),
                                      hand->start_overlap, start);
    rc = rc || !base_coordinate_count ? rc : check_moving_base(check, scene, number);
    for (uint32_t i = base_coordinate_count ? base_coordinate_count - 1 : 0;
         !rc && i < hand->links_count; i++) {
        struct tact_scene_link *link = &hand->links[i];
        tact_scene_link_key_path(scene, number, i, path);
        if (i >= base_coordinate_count) {
            const struct tact_scene_device_loop loop =
                tact_scene_find_device_loop(scene, number, i);
            rc = check_joint_values(check, &link->joint, &loop,
                                    tact_scene_path_of_key(key, path, "joint"));
        }
        rc = rc ? rc
                : tact_scene_require_coordinates(check, path, "center_of_mass",
                                                 link->center_of_mass, 3);
        rc =
            rc ? rc
               : check_mass_and_inertia(check, path, link->mass, link->inertia, link->shapes_count);
        rc = rc ? rc : check_shape_values(check, link->shapes, link->shapes_count, path, false);
    }
    return rc;
}

static int check_output_quantity(const struct tact_scene_check_context *check,
                                 const struct tact_scene_output *output, const char *path)
{
    static const char *const what[] = {"reaction", "drive",    "force", "moment",
                                       "rate",     "position", NULL};
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_scene_require_word(check, tact_scene_path_of_key(key, path, "what"), output->what,
                                     what);
    if (rc || !output->along) {
        return rc;
    }
    tact_scene_path_of_key(key, path, "along");
    if (strcmp(output->what, "force") && strcmp(output->what, "moment")) {
        return tact_scene_report_bad_value(
            check, key,
            "the key \"along\" is only for outputs with \"what: force\" or \"what: moment\"");
    }
    double *v = output->along;
    double largest = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2]));
    if (!(largest > 0.0)) {
        return tact_scene_report_bad_value(check, key, "a direction of length 0");
    }
    tact_v3_scale(v, v, 1.0 / largest);
    tact_v3_normalize(v, v);
    return 0;
}

static int check_input_and_output_values(const struct tact_scene_check_context *check,
                                         const struct tact_scene *scene)
{
    static const char *const input_kinds[] = {"target", "state", "force", NULL};
    char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->inputs_count; i++) {
        const struct tact_scene_input *in = &scene->inputs[i];
        snprintf(path, sizeof path, "inputs[%u]", i);
        rc = check_constraint_range(check, in->lower, in->upper, path);
        rc = rc ? rc
                : tact_scene_require_word(check, tact_scene_path_of_key(key, path, "what"),
                                          in->what, input_kinds);
        rc = rc ? rc : tact_scene_require_nonnegative(check, path, "filter", in->filter, "Hz");
        if (!rc && in->filter > 0.0 && strcmp(in->what, "state")) {
            rc = tact_scene_report_bad_value(
                check, tact_scene_path_of_key(key, path, "filter"),
                "smooths the rate of a joint that is measured; expected \"what: "
                "state\" beside it");
        }
    }
    for (uint32_t i = 0; !rc && i < scene->outputs_count; i++) {
        const struct tact_scene_output *o = &scene->outputs[i];
        snprintf(path, sizeof path, "outputs[%u]", i);
        rc = check_output_quantity(check, o, path);
        rc = rc ? rc : tact_scene_require_positive(check, path, "limit", o->limit, "");
        rc = rc ? rc : tact_scene_require_positive(check, path, "rate", o->rate, "a second");
        rc = rc ? rc : tact_scene_require_nonnegative(check, path, "filter", o->filter, "Hz");
    }
    return rc;
}

static int check_session_options(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene)
{
    static const char *const moment_source_words[] = {"auto", "opencl", "host", "thread", NULL};
    int rc = tact_scene_require_between(check, "period", scene->period, 1e-5, 0.1, "s");
    rc = rc ? rc
            : tact_scene_require_between(check, "max_speed", scene->max_speed, 1e-6, 1e9, "m/s");
    if (!rc && !(scene->duration > 0.0)) {
        rc = tact_scene_report_bad_value(
            check, "duration", "the duration of a scene must be greater than 0 s, got %g s",
            scene->duration);
    }
    rc = rc ? rc
            : tact_scene_require_word(check, "moments.source", scene->moments.source,
                                      moment_source_words);
    rc = rc ? rc
            : tact_scene_require_between(check, "moments.max_age", scene->moments.max_age, 0, 1000,
                                         "ticks");
    rc = rc ? rc
            : tact_scene_require_nonnegative(check, "moments", "host_time",
                                             scene->moments.host_time, "s");
    rc = rc ? rc
            : tact_scene_require_between(check, "realtime.priority", scene->realtime.priority, 1,
                                         99, "");
    rc = rc ? rc
            : tact_scene_require_between(check, "realtime.cpu", scene->realtime.cpu, -1, 4095, "");
    const struct tact_scene_recorder *r = &scene->recorder;
    if (!rc && r->split_bytes != 0.0) {
        rc = tact_scene_require_between(check, "recorder.split_bytes", r->split_bytes, 65536.0,
                                        1e15, "");
    }
    if (!rc && r->split_seconds != 0.0) {
        rc = tact_scene_require_between(check, "recorder.split_seconds", r->split_seconds, 0.1, 1e6,
                                        "s");
    }
    if (!rc && r->pressure_rate != 0.0) {
        rc = tact_scene_require_between(check, "recorder.pressure_rate", r->pressure_rate, 0.001,
                                        1e6, "1/s");
    }
    return rc;
}

int tact_scene_check_values(const struct tact_scene_check_context *check, struct tact_scene *scene)
{
    int rc = check_session_options(check, scene);
    rc = rc ? rc : tact_scene_check_contact(check, scene);
    for (uint32_t i = 0; !rc && i < scene->bodies_count; i++) {
        char path[TACT_SCENE_PATH_BYTES];
        tact_scene_body_key_path(scene, i, path);
        rc = check_scene_body(check, &scene->bodies[i], scene->max_speed, path);
    }
    for (uint32_t i = 0; !rc && i < scene->joints_count; i++) {
        char path[TACT_SCENE_PATH_BYTES];
        snprintf(path, sizeof path, "joints[%u]", i);
        rc = check_scene_constraint(check, &scene->joints[i], path);
    }
    for (uint32_t i = 0; !rc && i < scene->hands_count; i++) {
        rc = check_scene_hand(check, scene, i);
    }
    return rc ? rc : check_input_and_output_values(check, scene);
}
