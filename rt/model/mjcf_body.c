/* Bodies of MJCF with their masses, joints and shapes; frames within bodies. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "rt/model/mjcf_internal.h"

/* Position and attitude of an element as a pose. */
static int read_mjcf_pose(struct mjcf_reader *r, const xmlNode *node, struct tact_pose *pose)
{
    struct mjcf_attitude attitude = {.quat_wxyz = {1.0, 0.0, 0.0, 0.0}};
    *pose = tact_pose_identity();
    int n = tact_xml_read_numbers(r->model, node, "pos", pose->position, 3, 3);
    int rc = n < 0 ? n : tact_mjcf_read_attitude(r, node, &attitude);
    return rc ? rc : tact_mjcf_resolve_attitude(r, node, &attitude, pose->quat_wxyz);
}

static int read_inertial(struct mjcf_reader *r, const xmlNode *node, struct model_body *body)
{
    struct model *m = r->model;
    struct tact_pose pose;
    double mass = 0.0, diagonal_inertia[3] = {0.0}, full_inertia[6] = {0.0}, rotation[9],
           rotation_times_inertia[9];
    double inertia_in_own_frame[9] = {0.0};
    int rc = tact_xml_check_attributes(
        m, node, "pos mass diaginertia fullinertia " MJCF_ATTITUDE_ATTRIBUTES, "", "");
    rc = rc ? rc : read_mjcf_pose(r, node, &pose);
    int mass_number_count = rc ? 0 : tact_xml_read_numbers(m, node, "mass", &mass, 1, 1);
    int inertia_diagonal_number_count =
        mass_number_count < 0
            ? 0
            : tact_xml_read_numbers(m, node, "diaginertia", diagonal_inertia, 3, 3);
    int full_inertia_number_count =
        inertia_diagonal_number_count < 0
            ? 0
            : tact_xml_read_numbers(m, node, "fullinertia", full_inertia, 6, 6);
    if (rc || mass_number_count < 0 || inertia_diagonal_number_count < 0 ||
        full_inertia_number_count < 0) {
        return rc ? rc : -EINVAL;
    }
    if (!mass_number_count || mass < 0.0 ||
        (!inertia_diagonal_number_count && !full_inertia_number_count)) {
        return tact_model_report_error(
            m, tact_xml_node_line(node),
            "inertial: expected a mass of 0 or more, and diaginertia or fullinertia");
    }
    if (full_inertia_number_count &&
        (inertia_diagonal_number_count || tact_xml_has_attribute(node, "quat") ||
         tact_xml_has_attribute(node, "axisangle") || tact_xml_has_attribute(node, "xyaxes") ||
         tact_xml_has_attribute(node, "zaxis") || tact_xml_has_attribute(node, "euler"))) {
        return tact_model_report_error(
            m, tact_xml_node_line(node),
            "inertial: fullinertia cannot be combined with diaginertia or an attitude");
    }
    if (full_inertia_number_count) {
        const double inertia_matrix[9] = {full_inertia[0], full_inertia[3], full_inertia[4],
                                          full_inertia[3], full_inertia[1], full_inertia[5],
                                          full_inertia[4], full_inertia[5], full_inertia[2]};
        memcpy(inertia_in_own_frame, inertia_matrix, sizeof inertia_in_own_frame);
    } else {
        inertia_in_own_frame[0] = diagonal_inertia[0];
        inertia_in_own_frame[4] = diagonal_inertia[1];
        inertia_in_own_frame[8] = diagonal_inertia[2];
    }
    tact_quat_to_m3(rotation, pose.quat_wxyz);
    tact_m3_mul(rotation_times_inertia, rotation, inertia_in_own_frame);
    tact_m3_mul_t(body->mass.inertia, rotation_times_inertia, rotation);
    tact_v3_copy(body->mass.center, pose.position);
    body->mass.mass = mass;
    body->has_mass_in_file = r->inertia_from_geom != MJCF_TRUE;
    return 0;
}

/* Stores the range of a joint and the largest force that its actuators may exert. */
static int set_joint_limits(struct mjcf_reader *r, const xmlNode *node, const struct mjcf_joint *j,
                            struct model_joint *out)
{
    const double unit = !out->is_prismatic && r->angles_in_degrees ? RADIANS_PER_DEGREE : 1.0;
    int limited = tact_mjcf_is_range_active(r, node, j->limited, j->range, "range");
    int has_force_limit = limited < 0
                              ? 0
                              : tact_mjcf_is_range_active(r, node, j->force_limited, j->force_range,
                                                          "actuatorfrcrange");
    if (limited < 0 || has_force_limit < 0) {
        return -EINVAL;
    }
    out->limited = limited;
    out->lower = j->range[0] * unit;
    out->upper = j->range[1] * unit;
    out->reference = j->reference * unit;
    if (has_force_limit && -j->force_range[0] != j->force_range[1]) {
        return tact_model_report_error(r->model, tact_xml_node_line(node),
                                       "joint: actuatorfrcrange is expected to be symmetric");
    }
    out->limit = has_force_limit ? j->force_range[1] : 0.0;
    return 0;
}

static int read_mjcf_joint(struct mjcf_reader *r, const xmlNode *node, int inherited_default_class,
                           const struct tact_pose *frame, int body)
{
    struct model *m = r->model;
    int default_class_index = tact_mjcf_class_of_node(r, node, "class", inherited_default_class);
    if (default_class_index < 0) {
        return default_class_index;
    }
    struct mjcf_joint j = r->classes.at[default_class_index].joint;
    int rc = tact_mjcf_read_joint(r, node, &j);
    if (rc) {
        return rc;
    }
    if (j.type == MJCF_FREE || j.type == MJCF_BALL || !body) {
        return tact_model_report_error(m, tact_xml_node_line(node),
                                       body ? "joint: ball and free joints are not supported: the "
                                              "joints of a hand are hinge or slide"
                                            : "joint: the world has no joints");
    }
    if (j.stiffness != 0.0) {
        return tact_model_report_error(m, tact_xml_node_line(node),
                                       "joint: a spring (stiffness) is not supported");
    }
    int at = MODEL_APPEND_ENTRY(m, joints, tact_xml_node_line(node));
    if (at < 0) {
        return at;
    }
    const char *name = tact_xml_read_text(m, node, "name");
    const int joint_of_same_name = name && name[0] ? tact_model_find_joint(m, name) : -1;
    if (joint_of_same_name >= 0) {
        return tact_model_report_repeated_name(m, node, name,
                                               m->joints.at[joint_of_same_name].line);
    }
    struct model_joint *out = &m->joints.at[at];
    *out = (struct model_joint){.line = tact_xml_node_line(node),
                                .name = name,
                                .body = body,
                                .is_prismatic = j.type == MJCF_SLIDE,
                                .damping = j.damping,
                                .friction = j.friction,
                                .armature = j.armature};
    double axis[3];
    if (!(tact_v3_normalize(axis, j.axis) > 0.0)) {
        return tact_model_report_error(m, tact_xml_node_line(node),
                                       "joint: the axis must have a length above 0");
    }
    tact_quat_rotate(out->axis, frame->quat_wxyz, axis);
    tact_pose_point(out->position, frame, j.position);
    return set_joint_limits(r, node, &j, out);
}

/* Number of entries of the MJCF attribute `size` that a shape uses, by its type: sphere, capsule,
 * ellipsoid, cylinder, box. */
static int geom_size_count_of_type(const struct mjcf_geom *g)
{
    static const int counts[MJCF_GEOM_TYPE_COUNT] = {[MJCF_SPHERE] = 1,
                                                     [MJCF_CAPSULE] = 2,
                                                     [MJCF_ELLIPSOID] = 3,
                                                     [MJCF_CYLINDER] = 2,
                                                     [MJCF_BOX] = 3};
    return g->has_fromto ? 1 : counts[g->type];
}

/* Computes half length and pose of a shape that MJCF defines by its two end points (`fromto`). */
static int compute_pose_from_end_points(struct mjcf_reader *r, const xmlNode *node,
                                        struct mjcf_geom *g, struct tact_pose *pose)
{
    double along[3];
    tact_v3_sub(along, g->fromto, g->fromto + 3);
    const double half_length = 0.5 * tact_v3_norm(along);
    const bool is_fromto_allowed_for_geom = g->type == MJCF_CAPSULE || g->type == MJCF_ELLIPSOID ||
                                            g->type == MJCF_CYLINDER || g->type == MJCF_BOX;
    if (!is_fromto_allowed_for_geom || !(half_length > 0.0)) {
        return tact_model_report_error(
            r->model, tact_xml_node_line(node),
            "geom: fromto needs two different points, and a capsule, cylinder, ellipsoid or box");
    }
    g->size[1] = half_length;
    if (g->type == MJCF_ELLIPSOID || g->type == MJCF_BOX) {
        g->size[2] = half_length;
        g->size[1] = g->size[0];
    }
    for (int i = 0; i < 3; i++) {
        pose->position[i] = 0.5 * (g->fromto[i] + g->fromto[3 + i]);
    }
    tact_mjcf_rotation_from_z(along, pose->quat_wxyz);
    return 0;
}

static int find_mjcf_mesh(struct mjcf_reader *r, const xmlNode *node, const char *name)
{
    const struct model *m = r->model;
    for (size_t i = 0; name && i < m->meshes.count; i++) {
        if (!strcmp(m->meshes.at[i].name, name)) {
            return (int)i;
        }
    }
    return tact_model_report_error(r->model, tact_xml_node_line(node),
                                   "geom: mesh \"%.60s\" is not in <asset>", name ? name : "");
}

/* Completes kind and sizes of a shape that collides or contributes mass. */
static int set_geom_shape(struct mjcf_reader *r, const xmlNode *node, struct mjcf_geom *g,
                          struct model_geom *out)
{
    static const enum model_geom_kind model_kind_of_mjcf_geom_type[MJCF_GEOM_TYPE_COUNT] = {
        [MJCF_PLANE] = MODEL_GEOM_UNSUPPORTED,
        [MJCF_HEIGHT_FIELD] = MODEL_GEOM_UNSUPPORTED,
        [MJCF_SPHERE] = MODEL_GEOM_SPHERE,
        [MJCF_CAPSULE] = MODEL_GEOM_CAPSULE,
        [MJCF_ELLIPSOID] = MODEL_GEOM_ELLIPSOID,
        [MJCF_CYLINDER] = MODEL_GEOM_CYLINDER,
        [MJCF_BOX] = MODEL_GEOM_BOX,
        [MJCF_MESH] = MODEL_GEOM_MESH,
        [MJCF_SDF] = MODEL_GEOM_UNSUPPORTED};
    out->kind = model_kind_of_mjcf_geom_type[g->type];
    if (out->kind == MODEL_GEOM_UNSUPPORTED || (g->mesh && out->kind != MODEL_GEOM_MESH)) {
        return tact_model_report_error(
            r->model, tact_xml_node_line(node),
            g->mesh ? "geom: a primitive fitted to a mesh is not supported"
                    : "geom: a plane, height field or sdf is not supported in a hand");
    }
    if (out->kind == MODEL_GEOM_MESH) {
        out->mesh = find_mjcf_mesh(r, node, g->mesh);
        return out->mesh < 0 ? out->mesh : 0;
    }
    if (g->has_shell_inertia) {
        return tact_model_report_error(r->model, tact_xml_node_line(node),
                                       "geom: shellinertia is not supported");
    }
    const int needed = geom_size_count_of_type(g);
    bool are_geom_sizes_positive = g->geom_size_count >= needed;
    for (int i = 0; i < needed; i++) {
        are_geom_sizes_positive &= g->size[i] > 0.0;
    }
    if (!are_geom_sizes_positive) {
        return tact_model_report_error(r->model, tact_xml_node_line(node),
                                       "geom: size: expected %d numbers above 0", needed);
    }
    return g->has_fromto ? compute_pose_from_end_points(r, node, g, &out->pose) : 0;
}

static int read_geom(struct mjcf_reader *r, const xmlNode *node, int inherited_default_class,
                     const struct tact_pose *frame, int body)
{
    struct model *m = r->model;
    int default_class_index = tact_mjcf_class_of_node(r, node, "class", inherited_default_class);
    if (default_class_index < 0) {
        return default_class_index;
    }
    struct mjcf_geom g = r->classes.at[default_class_index].geom;
    int rc = tact_mjcf_read_geom(r, node, &g);
    if (rc) {
        return rc;
    }
    struct model_geom geom = {.line = tact_xml_node_line(node),
                              .body = body,
                              .pose = tact_pose_identity(),
                              .mesh = -1,
                              .mass = g.mass,
                              .density = g.density,
                              .convex = true,
                              .type = g.contact_type_bits,
                              .affinity = g.contact_affinity_bits,
                              .friction = g.friction};
    geom.adds_to_body_mass = r->inertia_from_geom != MJCF_FALSE && g.mass != 0.0 &&
                             g.group >= r->groups[0] && g.group <= r->groups[1];
    tact_v3_copy(geom.pose.position, g.position);
    rc = tact_mjcf_resolve_attitude(r, node, &g.attitude, geom.pose.quat_wxyz);
    const bool has_collision_bits = geom.type || geom.affinity;
    if (rc || (!has_collision_bits && !geom.adds_to_body_mass) || (!has_collision_bits && !body)) {
        return rc;
    }
    rc = set_geom_shape(r, node, &g, &geom);
    if (rc) {
        return rc;
    }
    tact_v3_copy(geom.size, g.size);
    const struct tact_pose geom_pose_in_mjcf_frame = geom.pose;
    tact_pose_mul(&geom.pose, frame, &geom_pose_in_mjcf_frame);
    int at = MODEL_APPEND_ENTRY(m, geoms, geom.line);
    if (at < 0) {
        return at;
    }
    m->geoms.at[at] = geom;
    return 0;
}

static int read_child_body(struct mjcf_reader *r, const xmlNode *node, int parent,
                           int inherited_default_class, const struct tact_pose *frame)
{
    struct model *m = r->model;
    struct tact_pose geom_pose_in_mjcf_frame = tact_pose_identity();
    double gravity_compensation = 0.0;
    int rc = tact_xml_check_attributes(
        m, node, "name childclass pos mocap gravcomp " MJCF_ATTITUDE_ATTRIBUTES, "user sleep", "");
    rc = rc ? rc : read_mjcf_pose(r, node, &geom_pose_in_mjcf_frame);
    int n = rc ? 0 : tact_xml_read_numbers(m, node, "gravcomp", &gravity_compensation, 1, 1);
    int is_motion_capture_body = n < 0 ? -1 : tact_xml_read_word(m, node, "mocap", "false true");
    if (rc || n < 0 || is_motion_capture_body < -1) {
        return rc ? rc : -EINVAL;
    }
    if (gravity_compensation != 0.0 || is_motion_capture_body == 1) {
        return tact_model_report_error(
            m, tact_xml_node_line(node),
            is_motion_capture_body == 1
                ? "body: mocap is not supported: use the key `base` of the hand in the scene"
                : "body: gravcomp is not supported: use the key `weightless` of the hand in the "
                  "scene");
    }
    int default_class_index =
        tact_mjcf_class_of_node(r, node, "childclass", inherited_default_class);
    int at = default_class_index < 0 ? default_class_index
                                     : MODEL_APPEND_ENTRY(m, bodies, tact_xml_node_line(node));
    if (at < 0) {
        return at;
    }
    const char *name = tact_xml_read_text(m, node, "name");
    const int body_of_same_name = name && name[0] ? tact_model_find_body(m, name) : -1;
    if (body_of_same_name >= 0) {
        return tact_model_report_repeated_name(m, node, name, m->bodies.at[body_of_same_name].line);
    }
    struct model_body *body = &m->bodies.at[at];
    body->line = tact_xml_node_line(node);
    body->parent = parent;
    body->name = name;
    tact_pose_mul(&body->pose, frame, &geom_pose_in_mjcf_frame);
    const struct tact_pose identity = tact_pose_identity();
    return tact_mjcf_read_body(r, node, parent, default_class_index, &identity, at);
}

/* Reads an MJCF <frame>: it moves the elements in it, and may set their class. */
static int read_mjcf_frame_element(struct mjcf_reader *r, const xmlNode *node, int parent,
                                   int inherited_default_class, const struct tact_pose *frame,
                                   int body)
{
    struct tact_pose pose_in_parent_frame = tact_pose_identity(), geom_pose_in_body;
    int rc = tact_xml_check_attributes(r->model, node, "childclass pos " MJCF_ATTITUDE_ATTRIBUTES,
                                       "name", "");
    rc = rc ? rc : read_mjcf_pose(r, node, &pose_in_parent_frame);
    int default_class_index =
        rc ? rc : tact_mjcf_class_of_node(r, node, "childclass", inherited_default_class);
    if (default_class_index < 0) {
        return default_class_index;
    }
    tact_pose_mul(&geom_pose_in_body, frame, &pose_in_parent_frame);
    return tact_mjcf_read_body(r, node, parent, default_class_index, &geom_pose_in_body, body);
}

int tact_mjcf_read_body(struct mjcf_reader *r, const xmlNode *node, int parent,
                        int inherited_default_class, const struct tact_pose *frame, int body)
{
    struct model *m = r->model;
    int rc = 0;
    for (const xmlNode *n = tact_xml_next_element(node->children); !rc && n;
         n = tact_xml_next_element(n->next)) {
        const char *name = tact_xml_node_name(n);
        if (!strcmp(name, "inertial") && body && !strcmp(tact_xml_node_name(node), "body")) {
            rc = read_inertial(r, n, &m->bodies.at[body]);
        } else if (!strcmp(name, "joint")) {
            rc = read_mjcf_joint(r, n, inherited_default_class, frame, body);
        } else if (!strcmp(name, "geom")) {
            rc = read_geom(r, n, inherited_default_class, frame, body);
        } else if (!strcmp(name, "body")) {
            rc = read_child_body(r, n, body, inherited_default_class, frame);
        } else if (!strcmp(name, "frame")) {
            rc = read_mjcf_frame_element(r, n, parent, inherited_default_class, frame, body);
        } else if (tact_xml_list_has_word("site camera light", name)) {
            tact_model_add_note(m, tact_xml_node_line(n),
                                "<%s> is left out: it does not affect the motion", name);
        } else if (!strcmp(name, "freejoint")) {
            rc = tact_model_report_error(
                m, tact_xml_node_line(n),
                "freejoint is not supported: use the key `base` of the hand in the scene");
        } else {
            rc = tact_model_report_error(m, tact_xml_node_line(n), "%s: <%.60s> is not supported",
                                         tact_xml_node_name(node), name);
        }
    }
    return rc;
}
