/* Attributes of MJCF that a default class can set: of shapes, joints, meshes; attitudes. */
#include <errno.h>
#include <string.h>
#include "rt/model/mjcf_internal.h"

int tact_mjcf_read_attitude(struct mjcf_reader *r, const xmlNode *node, struct mjcf_attitude *out)
{
    static const char *const names[] = {"quat", "axisangle", "xyaxes", "zaxis", "euler"};
    static const int counts[] = {4, 4, 6, 3, 3};
    int attitude_attribute_count = 0;
    for (int i = MJCF_QUAT; i <= MJCF_EULER; i++) {
        int n = tact_xml_read_numbers(r->model, node, names[i], i ? out->numbers : out->quat_wxyz,
                                      counts[i], counts[i]);
        if (n < 0) {
            return n;
        }
        if (n) {
            out->kind = (enum mjcf_attitude_kind)i;
            attitude_attribute_count++;
        }
    }
    return attitude_attribute_count > 1
               ? tact_model_report_error(
                     r->model, tact_xml_node_line(node),
                     "%s: expected at most one of quat, axisangle, xyaxes, zaxis, euler",
                     tact_xml_node_name(node))
               : 0;
}

void tact_mjcf_rotation_from_z(const double direction[3], double quat_wxyz[4])
{
    double v[3], axis[3] = {1.0, 0.0, 0.0};
    tact_v3_normalize(v, direction);
    const double sine = tact_hypot(v[0], v[1]), angle = tact_atan2(sine, v[2]);
    if (sine > 1e-10) {
        tact_v3_set(axis, -v[1] / sine, v[0] / sine, 0.0);
    }
    quat_wxyz[0] = tact_cos(0.5 * angle);
    tact_v3_scale(quat_wxyz + 1, axis, tact_sin(0.5 * angle));
}

/* Quaternion of the rotation whose matrix has these columns, computed from its largest component.
 */
static void quat_from_axes(const double x[3], const double y[3], const double z[3], double q[4])
{
    const double squared_quaternion_components[4] = {
        1.0 + x[0] + y[1] + z[2], 1.0 + x[0] - y[1] - z[2], 1.0 - x[0] + y[1] - z[2],
        1.0 - x[0] - y[1] + z[2]};
    int largest_quaternion_component = 0;
    for (int i = 1; i < 4; i++) {
        largest_quaternion_component =
            squared_quaternion_components[i] >
                    squared_quaternion_components[largest_quaternion_component]
                ? i
                : largest_quaternion_component;
    }
    const double quaternion_products[4][4] = {
        {squared_quaternion_components[0], y[2] - z[1], z[0] - x[2], x[1] - y[0]},
        {y[2] - z[1], squared_quaternion_components[1], x[1] + y[0], x[2] + z[0]},
        {z[0] - x[2], x[1] + y[0], squared_quaternion_components[2], y[2] + z[1]},
        {x[1] - y[0], x[2] + z[0], y[2] + z[1], squared_quaternion_components[3]},
    };
    memcpy(q, quaternion_products[largest_quaternion_component],
           sizeof quaternion_products[largest_quaternion_component]);
}

static int quat_from_xy_axes(const struct mjcf_attitude *a, double q[4])
{
    double x[3], y[3], z[3];
    if (!(tact_v3_normalize(x, a->numbers) > 0.0)) {
        return -EINVAL;
    }
    tact_v3_copy(y, a->numbers + 3);
    tact_v3_axpy(y, -tact_v3_dot(x, y), x);
    if (!(tact_v3_normalize(y, y) > 1e-12 * tact_v3_norm(a->numbers + 3))) {
        return -EINVAL;
    }
    tact_v3_cross(z, x, y);
    quat_from_axes(x, y, z, q);
    return 0;
}

static void quat_from_euler(const struct mjcf_reader *r, const double euler_angles[3], double q[4])
{
    const double identity_quaternion[4] = {1.0, 0.0, 0.0, 0.0};
    memcpy(q, identity_quaternion, sizeof identity_quaternion);
    for (int i = 0; i < 3; i++) {
        const char euler_axis_letter = r->euler_sequence[i];
        const bool is_euler_axis_intrinsic = euler_axis_letter >= 'x';
        const double half_rotation_angle =
            0.5 * euler_angles[i] * (r->angles_in_degrees ? RADIANS_PER_DEGREE : 1.0);
        double axis_rotation[4] = {tact_cos(half_rotation_angle), 0.0, 0.0, 0.0}, before[4];
        axis_rotation[1 + euler_axis_letter - (is_euler_axis_intrinsic ? 'x' : 'X')] =
            tact_sin(half_rotation_angle);
        memcpy(before, q, sizeof before);
        tact_quat_mul(q, is_euler_axis_intrinsic ? before : axis_rotation,
                      is_euler_axis_intrinsic ? axis_rotation : before);
    }
}

int tact_mjcf_resolve_attitude(struct mjcf_reader *r, const xmlNode *node,
                               const struct mjcf_attitude *a, double quat_wxyz[4])
{
    int rc = 0;
    double axis[3];
    switch (a->kind) {
    case MJCF_AXISANGLE: {
        const double half_rotation_angle =
            0.5 * a->numbers[3] * (r->angles_in_degrees ? RADIANS_PER_DEGREE : 1.0);
        rc = tact_v3_normalize(axis, a->numbers) > 0.0 ? 0 : -EINVAL;
        quat_wxyz[0] = tact_cos(half_rotation_angle);
        tact_v3_scale(quat_wxyz + 1, axis, tact_sin(half_rotation_angle));
        break;
    }
    case MJCF_XYAXES:
        rc = quat_from_xy_axes(a, quat_wxyz);
        break;
    case MJCF_ZAXIS:
        rc = tact_v3_norm(a->numbers) > 0.0 ? 0 : -EINVAL;
        tact_mjcf_rotation_from_z(a->numbers, quat_wxyz);
        break;
    case MJCF_EULER:
        quat_from_euler(r, a->numbers, quat_wxyz);
        break;
    default:
        memcpy(quat_wxyz, a->quat_wxyz, sizeof a->quat_wxyz);
    }
    if (rc || !(tact_quat_normalize(quat_wxyz) > 0.0)) {
        return tact_model_report_error(
            r->model, tact_xml_node_line(node),
            "%s: the axis or quaternion of the attitude must have a length above 0",
            tact_xml_node_name(node));
    }
    return 0;
}

int tact_mjcf_is_range_active(struct mjcf_reader *r, const xmlNode *node, int limited,
                              const double range[2], const char *name)
{
    const bool is_range_nonzero = range[0] != 0.0 || range[1] != 0.0;
    if (limited == MJCF_AUTOMATIC && is_range_nonzero && !r->autolimits) {
        return tact_model_report_error(
            r->model, tact_xml_node_line(node),
            "%s: %s has no effect: it needs `limited`, as autolimits is false",
            tact_xml_node_name(node), name);
    }
    const bool counts = limited == MJCF_TRUE || (limited == MJCF_AUTOMATIC && is_range_nonzero);
    if (counts && !(range[0] < range[1])) {
        return tact_model_report_error(r->model, tact_xml_node_line(node),
                                       "%s: %s is expected to be increasing",
                                       tact_xml_node_name(node), name);
    }
    return counts;
}

/* Reads a whole number of 32 bits. */
static int read_uint32_attribute(struct mjcf_reader *r, const xmlNode *node, const char *name,
                                 uint32_t *out)
{
    double value;
    int n = tact_xml_read_numbers(r->model, node, name, &value, 1, 1);
    if (n > 0 && !(value >= 0.0 && value <= 4294967295.0)) {
        return tact_model_report_error(r->model, tact_xml_node_line(node),
                                       "%s: %s is expected to be 0 to 4294967295",
                                       tact_xml_node_name(node), name);
    }
    if (n > 0) {
        *out = (uint32_t)value;
    }
    return n < 0 ? n : 0;
}

/* Reads the numbers of one attribute, at least one. Returns 0 or a negative errno. */
static int read_number_attribute(struct mjcf_reader *r, const xmlNode *node, const char *name,
                                 double *out, int least, int most)
{
    int n = tact_xml_read_numbers(r->model, node, name, out, least, most);
    return n < 0 ? n : 0;
}

int tact_mjcf_read_geom(struct mjcf_reader *r, const xmlNode *node, struct mjcf_geom *g)
{
    struct model *m = r->model;
    int rc = tact_xml_check_attributes(
        m, node,
        "type size pos fromto mass density friction contype conaffinity group mesh shellinertia "
        "class " MJCF_ATTITUDE_ATTRIBUTES,
        "name material rgba user fluidshape fluidcoef hfield fitscale",
        "condim priority solmix solref solimp margin gap");
    double friction[3] = {0.0}, group = g->group;
    int type = rc ? -1 : tact_xml_read_word(m, node, "type", MJCF_GEOM_TYPES);
    rc = rc ? rc : type < -1 ? type : 0;
    g->type = type >= 0 ? type : g->type;
    int sizes = rc ? 0 : tact_xml_read_numbers(m, node, "size", g->size, 1, 3);
    rc = rc ? rc : sizes < 0 ? sizes : 0;
    g->geom_size_count = sizes > 0 ? sizes : g->geom_size_count;
    rc = rc ? rc : read_number_attribute(r, node, "pos", g->position, 3, 3);
    rc = rc ? rc : read_number_attribute(r, node, "fromto", g->fromto, 6, 6);
    g->has_fromto |= tact_xml_has_attribute(node, "fromto");
    rc = rc ? rc : read_number_attribute(r, node, "mass", &g->mass, 1, 1);
    rc = rc ? rc : read_number_attribute(r, node, "density", &g->density, 1, 1);
    rc = rc ? rc : read_number_attribute(r, node, "group", &group, 1, 1);
    rc = rc ? rc : read_uint32_attribute(r, node, "contype", &g->contact_type_bits);
    rc = rc ? rc : read_uint32_attribute(r, node, "conaffinity", &g->contact_affinity_bits);
    int n = rc ? 0 : tact_xml_read_numbers(m, node, "friction", friction, 1, 3);
    rc = rc ? rc : n < 0 ? n : 0;
    g->friction = n > 0 ? friction[0] : g->friction;
    g->group = group >= -1e6 && group <= 1e6 ? (int)group : -1;
    int has_shell_inertia = rc ? -1 : tact_xml_read_word(m, node, "shellinertia", "false true");
    rc = rc ? rc : has_shell_inertia < -1 ? has_shell_inertia : 0;
    g->has_shell_inertia = has_shell_inertia >= 0 ? has_shell_inertia : g->has_shell_inertia;
    if (!rc && tact_xml_has_attribute(node, "mesh")) {
        g->mesh = tact_xml_read_text(m, node, "mesh");
        rc = g->mesh ? 0 : tact_model_report_no_memory(m);
    }
    if (!rc && ((tact_xml_has_attribute(node, "mass") && g->mass < 0.0) || g->density < 0.0)) {
        rc = tact_model_report_error(m, tact_xml_node_line(node),
                                     "geom: mass and density must not be below 0");
    }
    return rc ? rc : tact_mjcf_read_attitude(r, node, &g->attitude);
}

/* Reads a coefficient that MJCF allows to be a polynomial: terms after the first are expected to be
 * 0. */
static int read_coefficient_without_polynomial(struct mjcf_reader *r, const xmlNode *node,
                                               const char *name, double *out)
{
    double numbers[4] = {0.0};
    int n = tact_xml_read_numbers(r->model, node, name, numbers, 1, 4);
    if (n > 0 && (numbers[1] != 0.0 || numbers[2] != 0.0 || numbers[3] != 0.0)) {
        return tact_model_report_error(r->model, tact_xml_node_line(node),
                                       "%s: a polynomial in %s is not supported",
                                       tact_xml_node_name(node), name);
    }
    *out = n > 0 ? numbers[0] : *out;
    return n < 0 ? n : 0;
}

int tact_mjcf_read_flag(struct mjcf_reader *r, const xmlNode *node, const char *name, int *out)
{
    int word = tact_xml_read_word(r->model, node, name, MJCF_FALSE_TRUE_AUTO_WORDS);
    *out = word >= 0 ? word : *out;
    return word < -1 ? word : 0;
}

int tact_mjcf_read_joint(struct mjcf_reader *r, const xmlNode *node, struct mjcf_joint *j)
{
    struct model *m = r->model;
    int rc = tact_xml_check_attributes(
        m, node,
        "type pos axis limited range actuatorfrclimited actuatorfrcrange stiffness damping "
        "frictionloss armature ref springref springdamper actuatorgravcomp class",
        "name group user", "solreflimit solimplimit solreffriction solimpfriction margin");
    int type = rc ? -1 : tact_xml_read_word(m, node, "type", MJCF_JOINT_TYPES);
    rc = rc ? rc : type < -1 ? type : 0;
    j->type = type >= 0 ? type : j->type;
    rc = rc ? rc : read_number_attribute(r, node, "pos", j->position, 3, 3);
    rc = rc ? rc : read_number_attribute(r, node, "axis", j->axis, 3, 3);
    rc = rc ? rc : read_number_attribute(r, node, "range", j->range, 2, 2);
    rc = rc ? rc : read_number_attribute(r, node, "actuatorfrcrange", j->force_range, 2, 2);
    rc = rc ? rc : read_number_attribute(r, node, "frictionloss", &j->friction, 1, 1);
    rc = rc ? rc : read_number_attribute(r, node, "armature", &j->armature, 1, 1);
    rc = rc ? rc : read_number_attribute(r, node, "ref", &j->reference, 1, 1);
    rc = rc ? rc : read_coefficient_without_polynomial(r, node, "stiffness", &j->stiffness);
    rc = rc ? rc : read_coefficient_without_polynomial(r, node, "damping", &j->damping);
    rc = rc ? rc : tact_mjcf_read_flag(r, node, "limited", &j->limited);
    rc = rc ? rc : tact_mjcf_read_flag(r, node, "actuatorfrclimited", &j->force_limited);
    double springdamper_numbers[2] = {0.0};
    rc = rc ? rc : read_number_attribute(r, node, "springdamper", springdamper_numbers, 2, 2);
    int has_gravity_compensation =
        rc ? -1 : tact_xml_read_word(m, node, "actuatorgravcomp", "false true");
    rc = rc ? rc : has_gravity_compensation < -1 ? has_gravity_compensation : 0;
    if (!rc && (springdamper_numbers[0] != 0.0 || springdamper_numbers[1] != 0.0)) {
        rc = tact_model_report_error(m, tact_xml_node_line(node),
                                     "joint: springdamper is not supported");
    }
    if (!rc && has_gravity_compensation == 1) {
        rc = tact_model_report_error(m, tact_xml_node_line(node),
                                     "joint: actuatorgravcomp is not supported");
    }
    if (!rc && (j->friction < 0.0 || j->armature < 0.0 || j->damping < 0.0 || j->stiffness < 0.0)) {
        rc = tact_model_report_error(
            m, tact_xml_node_line(node),
            "joint: damping, frictionloss, armature and stiffness must not be below 0");
    }
    return rc;
}

int tact_mjcf_read_mesh(struct mjcf_reader *r, const xmlNode *node, struct mjcf_mesh *mesh)
{
    int rc = tact_xml_check_attributes(r->model, node, "name file scale inertia class maxhullvert",
                                       "content_type smoothnormal material octree_maxdepth", "");
    double corners = -1.0;
    rc = rc ? rc : read_number_attribute(r, node, "scale", mesh->scale, 3, 3);
    rc = rc ? rc : read_number_attribute(r, node, "maxhullvert", &corners, 1, 1);
    if (!rc && corners != -1.0) {
        return tact_model_report_error(
            r->model, tact_xml_node_line(node),
            "mesh: maxhullvert is not supported: convex hulls have all their vertices");
    }
    int rule = rc ? -1 : tact_xml_read_word(r->model, node, "inertia", "legacy exact convex shell");
    mesh->rule = rule >= 0 ? (enum model_mesh_mass_rule)rule : mesh->rule;
    if (!rc && mesh->scale[0] * mesh->scale[1] * mesh->scale[2] == 0.0) {
        return tact_model_report_error(r->model, tact_xml_node_line(node), "mesh: a scale of 0");
    }
    return rc ? rc : rule < -1 ? rule : 0;
}

void tact_mjcf_init_default_class(struct mjcf_default_class *c)
{
    *c = (struct mjcf_default_class){.name = "main",
                                     .geom = {.type = MJCF_SPHERE,
                                              .attitude = {.quat_wxyz = {1.0, 0.0, 0.0, 0.0}},
                                              .mass = -1.0,
                                              .density = 1000.0,
                                              .friction = 1.0,
                                              .contact_type_bits = 1,
                                              .contact_affinity_bits = 1},
                                     .joint = {.type = MJCF_HINGE,
                                               .axis = {0.0, 0.0, 1.0},
                                               .limited = MJCF_AUTOMATIC,
                                               .force_limited = MJCF_AUTOMATIC},
                                     .actuator = {.gear = 1.0,
                                                  .gain_numbers = {1.0, 0.0, 0.0},
                                                  .is_control_limited = MJCF_AUTOMATIC,
                                                  .force_limited = MJCF_AUTOMATIC},
                                     .mesh = {.scale = {1.0, 1.0, 1.0}},
                                     .is_equality_active = true};
}
