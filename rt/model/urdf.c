/* Links and joints of URDF (wiki.ros.org/urdf/XML) as the tree of a hand: radians, metres. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/model/model_internal.h"

/* A URDF joint as written: it names its links until all links are known. */
struct urdf_joint {
    const xmlNode *node;
    const char *name, *parent, *child;
    bool is_link_added_to_tree;
};

struct urdf_link {
    const xmlNode *node;
    const char *name;
};

struct urdf_reader {
    struct model *model;
    const char *mesh_folder; /* folder of mesh files that are named without a URI scheme */
    MODEL_ARRAY_OF(struct urdf_link) links;
    MODEL_ARRAY_OF(struct urdf_joint) joints;
};

static const xmlNode *find_child(const xmlNode *node, const char *name)
{
    for (const xmlNode *n = tact_xml_next_element(node->children); n;
         n = tact_xml_next_element(n->next)) {
        if (!strcmp(tact_xml_node_name(n), name)) {
            return n;
        }
    }
    return NULL;
}

/* Roll, pitch and yaw about fixed axes: first about x, then y, then z. */
static void quat_from_rpy(const double rpy[3], double out[4])
{
    double x[3] = {rpy[0], 0.0, 0.0}, y[3] = {0.0, rpy[1], 0.0}, z[3] = {0.0, 0.0, rpy[2]};
    double qx[4], qy[4], qz[4], yx[4];
    tact_quat_from_rotvec(qx, x);
    tact_quat_from_rotvec(qy, y);
    tact_quat_from_rotvec(qz, z);
    tact_quat_mul(yx, qy, qx);
    tact_quat_mul(out, qz, yx);
}

/* The pose of <origin>; the identity without one. */
static int read_origin_element(struct model *m, const xmlNode *node, struct tact_pose *pose)
{
    const xmlNode *origin = find_child(node, "origin");
    double rpy[3] = {0.0};
    *pose = tact_pose_identity();
    if (!origin) {
        return 0;
    }
    int rc = tact_xml_check_attributes(m, origin, "xyz rpy", "", "");
    int n = rc ? rc : tact_xml_read_numbers(m, origin, "xyz", pose->position, 3, 3);
    n = n < 0 ? n : tact_xml_read_numbers(m, origin, "rpy", rpy, 3, 3);
    quat_from_rpy(rpy, pose->quat_wxyz);
    return n < 0 ? n : 0;
}

/* Checks the attributes of a child element, if the element exists. */
static int check_child_element_attributes(struct model *m, const xmlNode *node, const char *child,
                                          const char *allowed_attribute_names)
{
    const xmlNode *found = find_child(node, child);
    return found ? tact_xml_check_attributes(m, found, allowed_attribute_names, "", "") : 0;
}

/* Reads a number of a child element. Returns 1, 0 where element or attribute is absent, or an
 * error. */
static int read_child_element_number(struct model *m, const xmlNode *node, const char *child,
                                     const char *name, double *out)
{
    const xmlNode *found = find_child(node, child);
    return found ? tact_xml_read_numbers(m, found, name, out, 1, 1) : 0;
}

static int read_link_inertial(struct model *m, const xmlNode *link, struct model_body *body)
{
    static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const xmlNode *node = find_child(link, "inertial");
    struct tact_pose pose;
    double mass = 0.0, six[6] = {0.0};
    if (!node) {
        return 0;
    }
    int rc = read_origin_element(m, node, &pose);
    rc = rc ? rc : check_child_element_attributes(m, node, "mass", "value");
    rc = rc ? rc : check_child_element_attributes(m, node, "inertia", "ixx iyy izz ixy ixz iyz");
    int n = rc ? rc : read_child_element_number(m, node, "mass", "value", &mass);
    for (int i = 0; n >= 0 && i < 6; i++) {
        n = read_child_element_number(m, node, "inertia", names[i], &six[i]);
    }
    if (n < 0 || mass < 0.0) {
        return n < 0 ? n
                     : tact_model_report_error(m, tact_xml_node_line(node),
                                               "inertial: a mass below 0");
    }
    const struct model_mass_properties mass_of_inertial_element = {
        mass,
        {0.0, 0.0, 0.0},
        {six[0], six[3], six[4], six[3], six[1], six[5], six[4], six[5], six[2]}};
    tact_model_add_mass(&body->mass, &mass_of_inertial_element, &pose);
    body->has_mass_in_file = true;
    return 0;
}

static int read_mesh_geometry(struct urdf_reader *r, const xmlNode *node, struct model_geom *geom)
{
    struct model *m = r->model;
    const char *file = tact_xml_read_text(m, node, "filename");
    int rc = tact_xml_check_attributes(m, node, "filename scale", "", "");
    int at = rc ? rc : MODEL_APPEND_ENTRY(m, meshes, tact_xml_node_line(node));
    if (at < 0) {
        return at;
    }
    struct model_mesh *mesh = &m->meshes.at[at];
    mesh->line = tact_xml_node_line(node);
    tact_v3_set(mesh->scale, 1.0, 1.0, 1.0);
    int n = tact_xml_read_numbers(m, node, "scale", mesh->scale, 3, 3);
    if (n < 0 || mesh->scale[0] * mesh->scale[1] * mesh->scale[2] == 0.0) {
        return n < 0 ? n : tact_model_report_error(m, mesh->line, "mesh: a scale of 0");
    }
    mesh->path = tact_model_resolve_path(m, mesh->line, r->mesh_folder, file ? file : "");
    mesh->name = mesh->path;
    geom->kind = MODEL_GEOM_MESH;
    geom->mesh = at;
    return mesh->path ? 0 : -EINVAL;
}

/* Sizes of a shape: URDF has whole edges and lengths. */
static int read_geometry(struct urdf_reader *r, const xmlNode *node, struct model_geom *geom)
{
    struct model *m = r->model;
    const xmlNode *shape = tact_xml_next_element(node->children);
    const char *name = shape ? tact_xml_node_name(shape) : "";
    double length = 0.0;
    int n = 0;
    if (!strcmp(name, "mesh")) {
        return read_mesh_geometry(r, shape, geom);
    }
    if (!strcmp(name, "box")) {
        geom->kind = MODEL_GEOM_BOX;
        n = tact_xml_check_attributes(m, shape, "size", "", "");
        n = n ? n : tact_xml_read_numbers(m, shape, "size", geom->size, 3, 3);
        tact_v3_scale(geom->size, geom->size, 0.5);
    } else if (tact_xml_list_has_word("sphere cylinder capsule", name)) {
        geom->kind = !strcmp(name, "sphere")     ? MODEL_GEOM_SPHERE
                     : !strcmp(name, "cylinder") ? MODEL_GEOM_CYLINDER
                                                 : MODEL_GEOM_CAPSULE;
        n = tact_xml_check_attributes(
            m, shape, geom->kind == MODEL_GEOM_SPHERE ? "radius" : "radius length", "", "");
        n = n ? n : tact_xml_read_numbers(m, shape, "radius", geom->size, 1, 1);
        if (n >= 0 && geom->kind != MODEL_GEOM_SPHERE) {
            n = tact_xml_read_numbers(m, shape, "length", &length, 1, 1);
        }
        geom->size[1] = geom->kind == MODEL_GEOM_SPHERE ? geom->size[0] : 0.5 * length;
        geom->size[2] = geom->size[0];
    } else {
        return tact_model_report_error(m, tact_xml_node_line(node),
                                       "geometry: <%.60s> is not supported", name);
    }
    if (n < 0 || !(geom->size[0] > 0.0 && geom->size[1] > 0.0 && geom->size[2] > 0.0)) {
        return n < 0 ? n
                     : tact_model_report_error(m, tact_xml_node_line(shape),
                                               "%s: expected sizes over 0", name);
    }
    return 0;
}

static int read_collision(struct urdf_reader *r, const xmlNode *node, int body)
{
    struct model *m = r->model;
    const xmlNode *geometry = find_child(node, "geometry");
    struct model_geom geom = {.line = tact_xml_node_line(node),
                              .body = body,
                              .mesh = -1,
                              .type = 1,
                              .affinity = 1,
                              .friction = 1.0};
    int rc = read_origin_element(m, node, &geom.pose);
    if (!rc && !geometry) {
        rc = tact_model_report_error(m, geom.line, "collision: expected <geometry>");
    }
    rc = rc ? rc : read_geometry(r, geometry, &geom);
    int at = rc ? rc : MODEL_APPEND_ENTRY(m, geoms, geom.line);
    if (at < 0) {
        return at;
    }
    m->geoms.at[at] = geom;
    return 0;
}

/* Adds the body of a link, whose joint places it in its parent. */
static int add_urdf_link(struct urdf_reader *r, const xmlNode *link, int parent,
                         const struct tact_pose *pose)
{
    struct model *m = r->model;
    int at = MODEL_APPEND_ENTRY(m, bodies, tact_xml_node_line(link));
    if (at < 0) {
        return at;
    }
    struct model_body *body = &m->bodies.at[at];
    body->line = tact_xml_node_line(link);
    body->name = tact_xml_read_text(m, link, "name");
    body->parent = parent;
    body->pose = *pose;
    int rc = read_link_inertial(m, link, body);
    for (const xmlNode *n = tact_xml_next_element(link->children); !rc && n;
         n = tact_xml_next_element(n->next)) {
        if (!strcmp(tact_xml_node_name(n), "collision")) {
            rc = read_collision(r, n, at);
        } else if (!strcmp(tact_xml_node_name(n), "origin")) {
            tact_model_add_note(m, tact_xml_node_line(n),
                                "link: <origin> is left out: a URDF link has none");
        } else if (!tact_xml_list_has_word("inertial visual", tact_xml_node_name(n))) {
            rc = tact_model_report_error(m, tact_xml_node_line(n), "link: <%.60s> is not supported",
                                         tact_xml_node_name(n));
        }
    }
    return rc ? rc : at;
}

/* Reads the numbers of <limit> and <dynamics>. Negative errno with message. */
static int read_joint_limit_numbers(struct model *m, const xmlNode *node, struct model_joint *joint)
{
    double ignored_velocity_limit;
    int n = check_child_element_attributes(m, node, "limit", "lower upper effort velocity");
    n = n < 0 ? n : check_child_element_attributes(m, node, "dynamics", "damping friction");
    n = n < 0 ? n : read_child_element_number(m, node, "limit", "lower", &joint->lower);
    n = n < 0 ? n : read_child_element_number(m, node, "limit", "upper", &joint->upper);
    n = n < 0 ? n : read_child_element_number(m, node, "limit", "effort", &joint->limit);
    n = n < 0 ? n
              : read_child_element_number(m, node, "limit", "velocity", &ignored_velocity_limit);
    n = n < 0 ? n : read_child_element_number(m, node, "dynamics", "damping", &joint->damping);
    return n < 0 ? n : read_child_element_number(m, node, "dynamics", "friction", &joint->friction);
}

/* Sets range, effort limit and friction of a joint. */
static int read_joint_limits(struct model *m, const xmlNode *node, bool is_joint_continuous,
                             struct model_joint *joint)
{
    bool has_limit_element = find_child(node, "limit") != NULL;
    int n = read_joint_limit_numbers(m, node, joint);
    if (n < 0) {
        return n;
    }
    joint->limited = !is_joint_continuous && has_limit_element && joint->lower < joint->upper;
    if ((!is_joint_continuous && !joint->limited) || joint->limit < 0.0 || joint->damping < 0.0 ||
        joint->friction < 0.0) {
        return tact_model_report_error(
            m, tact_xml_node_line(node),
            "joint \"%.60s\": expected <limit> with lower below upper, and no "
            "effort, damping or friction below 0",
            joint->name ? joint->name : "");
    }
    if (has_limit_element && joint->limit > 0.0) {
        tact_model_add_note(m, tact_xml_node_line(node),
                            "<limit>: velocity is left out; effort limits the drive");
    }
    return 0;
}

static int read_joint_axis(struct model *m, const xmlNode *node, struct model_joint *joint)
{
    const xmlNode *axis = find_child(node, "axis");
    tact_v3_set(joint->axis, 1.0, 0.0, 0.0);
    int n = check_child_element_attributes(m, node, "axis", "xyz");
    n = !n && axis ? tact_xml_read_numbers(m, axis, "xyz", joint->axis, 3, 3) : n;
    if (n < 0 || !(tact_v3_normalize(joint->axis, joint->axis) > 0.0)) {
        return n < 0 ? n
                     : tact_model_report_error(m, tact_xml_node_line(node),
                                               "joint: an axis of length 0");
    }
    return 0;
}

static int check_joint_elements(struct model *m, const xmlNode *node)
{
    for (const xmlNode *n = tact_xml_next_element(node->children); n;
         n = tact_xml_next_element(n->next)) {
        if (tact_xml_list_has_word("safety_controller calibration joint_properties",
                                   tact_xml_node_name(n))) {
            tact_model_add_note(m, tact_xml_node_line(n), "<%s> is left out",
                                tact_xml_node_name(n));
        } else if (!tact_xml_list_has_word("origin parent child axis limit dynamics mimic",
                                           tact_xml_node_name(n))) {
            return tact_model_report_error(
                m, tact_xml_node_line(n), "joint: <%.60s> is not supported", tact_xml_node_name(n));
        }
    }
    return 0;
}

/* Adds the joint of a body, unless it is fixed. */
static int add_urdf_joint(struct urdf_reader *r, const xmlNode *node, int body)
{
    struct model *m = r->model;
    int type = tact_xml_read_word(m, node, "type", "revolute continuous prismatic fixed");
    int rc = type == -1
                 ? tact_model_report_error(m, tact_xml_node_line(node), "joint: expected a type")
                 : 0;
    rc = rc ? rc : type < -1 ? type : check_joint_elements(m, node);
    if (!rc && type == 3) { /* <limit> and <dynamics> of a fixed joint have no effect, but are read
                               and checked */
        struct model_joint discarded_joint_limits = {0};
        int n = read_joint_limit_numbers(m, node, &discarded_joint_limits);
        return n < 0 ? n : 0;
    }
    if (rc) {
        return rc;
    }
    int at = MODEL_APPEND_ENTRY(m, joints, tact_xml_node_line(node));
    if (at < 0) {
        return at;
    }
    struct model_joint *joint = &m->joints.at[at];
    *joint = (struct model_joint){.line = tact_xml_node_line(node),
                                  .name = tact_xml_read_text(m, node, "name"),
                                  .body = body,
                                  .is_prismatic = type == 2};
    rc = read_joint_axis(m, node, joint);
    rc = rc ? rc : read_joint_limits(m, node, type == 1, joint);
    /* the effort limit applies to the drive that the scene adds */
    joint->drive = (struct model_drive){.line = joint->limit > 0.0 ? joint->line : 0};
    return rc;
}

/* Adds a link and, below it, all that its joints carry. */
static int add_link_subtree(struct urdf_reader *r, const xmlNode *link, int parent,
                            const xmlNode *joint)
{
    struct model *m = r->model;
    struct tact_pose pose = tact_pose_identity();
    int rc = joint ? read_origin_element(m, joint, &pose) : 0;
    int at = rc ? rc : add_urdf_link(r, link, parent, &pose);
    rc = at < 0 ? at : joint ? add_urdf_joint(r, joint, at) : 0;
    return rc ? rc : at;
}

static const xmlNode *find_urdf_link(const struct urdf_reader *r, const char *name)
{
    for (size_t i = 0; i < r->links.count; i++) {
        if (!strcmp(r->links.at[i].name, name)) {
            return r->links.at[i].node;
        }
    }
    return NULL;
}

/* Adds links whose parent was added, until none is left to add. */
static int add_links_after_parents(struct urdf_reader *r)
{
    struct model *m = r->model;
    size_t added_joint_count = 0;
    for (size_t body = 0; body < m->bodies.count; body++) {
        for (size_t i = 0; i < r->joints.count; i++) {
            struct urdf_joint *joint = &r->joints.at[i];
            const char *name = m->bodies.at[body].name;
            if (!joint->is_link_added_to_tree && body && !strcmp(joint->parent, name)) {
                int at =
                    add_link_subtree(r, find_urdf_link(r, joint->child), (int)body, joint->node);
                if (at < 0) {
                    return at;
                }
                joint->is_link_added_to_tree = true;
                added_joint_count++;
            }
        }
    }
    for (size_t i = 0; added_joint_count < r->joints.count && i < r->joints.count; i++) {
        if (!r->joints.at[i].is_link_added_to_tree) {
            return tact_model_report_error(
                m, tact_xml_node_line(r->joints.at[i].node),
                "joint: its links form a loop that is not connected to a root link");
        }
    }
    return 0;
}

/* Stores a <link> or <joint> element with the names that refer to it. */
static int collect_link_or_joint(struct urdf_reader *r, const xmlNode *n)
{
    struct model *m = r->model;
    const bool is_link_element = !strcmp(tact_xml_node_name(n), "link");
    const char *name = tact_xml_read_text(m, n, "name");
    if (!name || !name[0] || (is_link_element && find_urdf_link(r, name))) {
        return tact_model_report_error(m, tact_xml_node_line(n),
                                       "%s: expected a name, which no other link may have",
                                       tact_xml_node_name(n));
    }
    if (is_link_element) {
        int at =
            tact_model_append_entry(m, (void **)&r->links.at, &r->links.count, &r->links.capacity,
                                    sizeof *r->links.at, tact_xml_node_line(n));
        if (at >= 0) {
            r->links.at[at] = (struct urdf_link){n, name};
        }
        return at < 0 ? at : 0;
    }
    const xmlNode *parent = find_child(n, "parent"), *child = find_child(n, "child");
    for (size_t i = 0; i < r->joints.count; i++) {
        if (!strcmp(r->joints.at[i].name, name)) {
            return tact_model_report_repeated_name(m, n, name,
                                                   tact_xml_node_line(r->joints.at[i].node));
        }
    }
    struct urdf_joint joint = {.node = n,
                               .name = name,
                               .parent = parent ? tact_xml_read_text(m, parent, "link") : NULL,
                               .child = child ? tact_xml_read_text(m, child, "link") : NULL};
    if (!joint.parent || !joint.child) {
        return tact_model_report_error(m, tact_xml_node_line(n),
                                       "joint: expected <parent link> and <child link>");
    }
    int at =
        tact_model_append_entry(m, (void **)&r->joints.at, &r->joints.count, &r->joints.capacity,
                                sizeof *r->joints.at, tact_xml_node_line(n));
    if (at >= 0) {
        r->joints.at[at] = joint;
    }
    return at < 0 ? at : 0;
}

/* Reads the folder of the meshes from the element that MuJoCo adds to URDF; the rest is left out.
 */
static int read_mujoco_extension_of_urdf(struct urdf_reader *r, const xmlNode *node)
{
    static const char *const names[] = {"assetdir", "meshdir"};
    const xmlNode *compiler = find_child(node, "compiler");
    for (int i = 0; compiler && i < 2; i++) {
        if (tact_xml_has_attribute(compiler, names[i])) {
            r->mesh_folder = tact_xml_read_text(r->model, compiler, names[i]);
            if (!r->mesh_folder) {
                return tact_model_report_no_memory(r->model);
            }
        }
    }
    tact_model_add_note(r->model, tact_xml_node_line(node), "<mujoco> is left out%s",
                        r->mesh_folder[0] ? ", but for the folder of the meshes" : "");
    return 0;
}

/* Collects links and joints of the file; other elements are left out or refused. */
static int collect_links_and_joints(struct urdf_reader *r, const xmlNode *root)
{
    struct model *m = r->model;
    int rc = 0;
    for (const xmlNode *n = tact_xml_next_element(root->children); !rc && n;
         n = tact_xml_next_element(n->next)) {
        const char *name = tact_xml_node_name(n);
        if (!strcmp(name, "link") || !strcmp(name, "joint")) {
            rc = collect_link_or_joint(r, n);
        } else if (!strcmp(name, "mujoco")) {
            rc = read_mujoco_extension_of_urdf(r, n);
        } else if (tact_xml_list_has_word("material transmission gazebo ros2_control sensor",
                                          name)) {
            tact_model_add_note(m, tact_xml_node_line(n), "<%s> is left out", name);
        } else {
            rc =
                tact_model_report_error(m, tact_xml_node_line(n), "<%.60s> is not supported", name);
        }
    }
    for (size_t i = 0; !rc && i < r->joints.count; i++) {
        const struct urdf_joint *joint = &r->joints.at[i];
        if (!find_urdf_link(r, joint->parent) || !find_urdf_link(r, joint->child)) {
            rc = tact_model_report_error(
                m, tact_xml_node_line(joint->node),
                "joint: its parent \"%.60s\" or its child \"%.60s\" is no link of the file",
                joint->parent, joint->child);
        }
        for (size_t k = 0; !rc && k < i; k++) {
            if (!strcmp(r->joints.at[k].child, joint->child)) {
                rc = tact_model_report_error(
                    m, tact_xml_node_line(joint->node),
                    "joint: the link \"%.60s\" has two parents: kinematic loops are not supported",
                    joint->child);
            }
        }
    }
    return rc;
}

/* Adds the links that are no joint's child to the base, and all links below them. */
static int add_root_links(struct urdf_reader *r)
{
    for (size_t i = 0; i < r->links.count; i++) {
        const struct urdf_link *link = &r->links.at[i];
        bool is_child_link = false;
        for (size_t k = 0; k < r->joints.count; k++) {
            is_child_link |= !strcmp(r->joints.at[k].child, link->name);
        }
        int at = is_child_link ? 0 : add_link_subtree(r, link->node, 0, NULL);
        if (at < 0) {
            return at;
        }
    }
    return 0;
}

/* Reads the mimic joints; the joint that they follow may be later in the file. */
static int read_mimic_joints(struct urdf_reader *r)
{
    struct model *m = r->model;
    int rc = 0;
    for (size_t i = 0; !rc && i < r->joints.count; i++) {
        const xmlNode *joint = r->joints.at[i].node, *node = find_child(joint, "mimic");
        double multiplier = 1.0, offset = 0.0;
        if (!node) {
            continue;
        }
        rc = tact_xml_check_attributes(m, node, "joint multiplier offset", "", "");
        int n = rc ? rc : tact_xml_read_numbers(m, node, "multiplier", &multiplier, 1, 1);
        n = n < 0 ? n : tact_xml_read_numbers(m, node, "offset", &offset, 1, 1);
        if (n < 0) {
            return n;
        }
        const char *name = tact_xml_read_text(m, joint, "name"),
                   *leading_joint_name = tact_xml_read_text(m, node, "joint");
        const int following_joint = name ? tact_model_find_joint(m, name) : -1;
        const int leading_joint =
            leading_joint_name ? tact_model_find_joint(m, leading_joint_name) : -1;
        rc = following_joint < 0 || leading_joint < 0
                 ? tact_model_report_error(
                       m, tact_xml_node_line(node),
                       "mimic: \"%.60s\" and \"%.60s\": expected two joints that "
                       "move",
                       name ? name : "", leading_joint_name ? leading_joint_name : "")
                 : tact_model_add_mimic(m, tact_xml_node_line(node), following_joint, leading_joint,
                                        multiplier, offset);
    }
    return rc;
}

int tact_model_read_urdf(struct model *m, const xmlNode *root)
{
    struct urdf_reader reader = {.model = m, .mesh_folder = ""};
    m->name = tact_xml_read_text(m, root, "name");
    int world = MODEL_APPEND_ENTRY(m, bodies, tact_xml_node_line(root));
    if (world < 0) {
        return world;
    }
    m->bodies.at[0].pose = tact_pose_identity();
    m->bodies.at[0].name = "";
    int rc = collect_links_and_joints(&reader, root);
    rc = rc ? rc : add_root_links(&reader);
    rc = rc ? rc : add_links_after_parents(&reader);
    rc = rc ? rc : read_mimic_joints(&reader);
    free(reader.links.at);
    free(reader.joints.at);
    return rc;
}
