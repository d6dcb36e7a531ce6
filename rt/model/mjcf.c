/* The sections of an MJCF file (MuJoCo's XML reference), in the order in which they act. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/model/mjcf_internal.h"

/* Reads a true or false attribute. */
static int read_boolean_attribute(struct mjcf_reader *r, const xmlNode *node, const char *name,
                                  bool *out)
{
    int word = tact_xml_read_word(r->model, node, name, "false true");
    *out = word >= 0 ? word : *out;
    return word < -1 ? word : 0;
}

static int read_euler_sequence(struct mjcf_reader *r, const xmlNode *node)
{
    const char *euler_sequence_text = tact_xml_read_text(r->model, node, "eulerseq");
    if (euler_sequence_text &&
        (strlen(euler_sequence_text) != 3 || strspn(euler_sequence_text, "xyzXYZ") != 3)) {
        return tact_model_report_error(
            r->model, tact_xml_node_line(node),
            "compiler: eulerseq=\"%.20s\": expected three letters of x, y, z, X, Y, Z",
            euler_sequence_text);
    }
    if (euler_sequence_text) {
        memcpy(r->euler_sequence, euler_sequence_text, 3);
    }
    return 0;
}

/* Refuses compiler options that are only supported at their default. */
static int check_compiler_defaults(struct mjcf_reader *r, const xmlNode *node)
{
    double inertia = 0.0;
    bool is_inertia_balance_requested = false, global = false, exact = false;
    int rc = read_boolean_attribute(r, node, "balanceinertia", &is_inertia_balance_requested);
    rc = rc ? rc : read_boolean_attribute(r, node, "exactmeshinertia", &exact);
    int coordinate = rc ? -1 : tact_xml_read_word(r->model, node, "coordinate", "local global");
    int n = rc ? 0 : tact_xml_read_numbers(r->model, node, "boundinertia", &inertia, 1, 1);
    global = coordinate == 1;
    if (rc || coordinate < -1 || n < 0) {
        return rc ? rc : -EINVAL;
    }
    if (exact) { /* an option of MuJoCo before 3.2: mesh inertia="exact" of the default class */
        r->classes.at[0].mesh.rule = MODEL_MESH_MASS_EXACT;
    }
    return is_inertia_balance_requested || global || inertia != 0.0
               ? tact_model_report_error(r->model, tact_xml_node_line(node),
                                         "compiler: %s is not supported",
                                         is_inertia_balance_requested ? "balanceinertia"
                                         : global                     ? "coordinate=\"global\""
                                                                      : "boundinertia")
               : 0;
}

static int read_compiler_section(struct mjcf_reader *r, const xmlNode *node)
{
    struct model *m = r->model;
    int rc = tact_xml_check_attributes(
        m, node,
        "angle autolimits meshdir assetdir eulerseq strippath inertiafromgeom inertiagrouprange "
        "boundmass boundinertia balanceinertia settotalmass coordinate exactmeshinertia",
        "texturedir discardvisual fusestatic fitaabb usethread convexhull alignfree saveinertial",
        "");
    int angle = rc ? -1 : tact_xml_read_word(m, node, "angle", "radian degree");
    rc = rc ? rc : angle < -1 ? angle : 0;
    r->angles_in_degrees = angle >= 0 ? angle == 1 : r->angles_in_degrees;
    rc = rc ? rc : read_boolean_attribute(r, node, "autolimits", &r->autolimits);
    rc = rc ? rc : read_boolean_attribute(r, node, "strippath", &r->strip_path);
    rc = rc ? rc : read_euler_sequence(r, node);
    int from = rc ? -1 : tact_xml_read_word(m, node, "inertiafromgeom", MJCF_FALSE_TRUE_AUTO_WORDS);
    rc = rc ? rc : from < -1 ? from : 0;
    r->inertia_from_geom = from >= 0 ? from : r->inertia_from_geom;
    int n = rc ? 0 : tact_xml_read_numbers(m, node, "inertiagrouprange", r->groups, 2, 2);
    rc = rc ? rc : n < 0 ? n : 0;
    n = rc ? 0 : tact_xml_read_numbers(m, node, "boundmass", &r->min_body_mass, 1, 1);
    rc = rc ? rc : n < 0 ? n : 0;
    n = rc ? 0 : tact_xml_read_numbers(m, node, "settotalmass", &r->total_mass, 1, 1);
    rc = rc ? rc : n < 0 ? n : 0;
    for (int i = 0; !rc && i < 2; i++) {
        const char *name = i ? "meshdir" : "assetdir";
        if (tact_xml_has_attribute(node, name)) {
            r->mesh_folder = tact_xml_read_text(m, node, name);
            rc = r->mesh_folder ? 0 : tact_model_report_no_memory(m);
        }
    }
    return rc ? rc : check_compiler_defaults(r, node);
}

/* Checks <option>: gravity and solver come from the scene; a medium is refused, as it would change
 * the motion. */
static int check_mjcf_option_section(struct mjcf_reader *r, const xmlNode *node)
{
    static const char *const media[] = {"density", "viscosity", "wind"};
    for (int i = 0; i < 3; i++) {
        double numbers[3] = {0.0};
        int n = tact_xml_read_numbers(r->model, node, media[i], numbers, 1, 3);
        if (n < 0) {
            return n;
        }
        if (numbers[0] != 0.0 || numbers[1] != 0.0 || numbers[2] != 0.0) {
            return tact_model_report_error(r->model, tact_xml_node_line(node),
                                           "option: %s is not supported", media[i]);
        }
    }
    tact_model_add_note(r->model, tact_xml_node_line(node),
                        "<option> is left out: the scene sets gravity, period and contacts");
    return 0;
}

/* Name of a mesh that has none: that of its file, without folder and suffix. */
static const char *mesh_name_from_file_path(struct model *m, const char *file)
{
    char file_name_without_extension[256];
    const char *slash = strrchr(file, '/');
    snprintf(file_name_without_extension, sizeof file_name_without_extension, "%s",
             slash ? slash + 1 : file);
    char *dot = strrchr(file_name_without_extension, '.');
    if (dot) {
        *dot = '\0';
    }
    return tact_model_copy_text(m, file_name_without_extension);
}

static int read_asset_mesh(struct mjcf_reader *r, const xmlNode *node)
{
    struct model *m = r->model;
    int default_class_index = tact_mjcf_class_of_node(r, node, "class", 0);
    if (default_class_index < 0) {
        return default_class_index;
    }
    struct mjcf_mesh mesh = r->classes.at[default_class_index].mesh;
    int rc = tact_mjcf_read_mesh(r, node, &mesh);
    const char *file = tact_xml_read_text(m, node, "file"),
               *name = tact_xml_read_text(m, node, "name");
    if (!rc && !file) {
        return tact_model_report_error(m, tact_xml_node_line(node), "mesh: expected a file");
    }
    int at = rc ? rc : MODEL_APPEND_ENTRY(m, meshes, tact_xml_node_line(node));
    if (at < 0) {
        return at;
    }
    if (r->strip_path && strrchr(file, '/')) {
        file = strrchr(file, '/') + 1;
    }
    struct model_mesh *out = &m->meshes.at[at];
    out->line = tact_xml_node_line(node);
    out->rule = mesh.rule;
    tact_v3_copy(out->scale, mesh.scale);
    out->path = tact_model_resolve_path(m, out->line, r->mesh_folder, file);
    out->name = name ? name : mesh_name_from_file_path(m, file);
    for (int i = 0; out->path && out->name && i < at; i++) {
        if (!strcmp(m->meshes.at[i].name, out->name)) {
            return tact_model_report_repeated_name(m, node, out->name, m->meshes.at[i].line);
        }
    }
    return !out->path ? -EINVAL : out->name ? 0 : tact_model_report_no_memory(m);
}

static int read_asset_section(struct mjcf_reader *r, const xmlNode *node)
{
    int rc = 0;
    for (const xmlNode *n = tact_xml_next_element(node->children); !rc && n;
         n = tact_xml_next_element(n->next)) {
        if (!strcmp(tact_xml_node_name(n), "mesh")) {
            rc = read_asset_mesh(r, n);
        } else if (!tact_xml_list_has_word("texture material hfield skin", tact_xml_node_name(n))) {
            rc = tact_model_report_error(r->model, tact_xml_node_line(n),
                                         "asset: <%.60s> is not supported", tact_xml_node_name(n));
        }
    }
    return rc;
}

static int read_default_section(struct mjcf_reader *r, const xmlNode *node)
{
    return tact_mjcf_read_defaults(r, node, -1);
}

static int read_worldbody(struct mjcf_reader *r, const xmlNode *node)
{
    const struct tact_pose identity = tact_pose_identity();
    int rc = tact_xml_check_attributes(r->model, node, "", "", "");
    return rc ? rc : tact_mjcf_read_body(r, node, 0, 0, &identity, 0);
}

static int note_ignored_mjcf_section(struct mjcf_reader *r, const xmlNode *node)
{
    tact_model_add_note(r->model, tact_xml_node_line(node),
                        "<%.60s> is left out: it does not affect the motion",
                        tact_xml_node_name(node));
    return 0;
}

static int skip_mjcf_section(struct mjcf_reader *r, const xmlNode *node)
{
    (void)r;
    (void)node;
    return 0;
}

/* Sections in the order in which they act; others are refused. */
static const struct {
    const char *name;
    int (*read)(struct mjcf_reader *r, const xmlNode *node);
} sections[] = {
    {"compiler", read_compiler_section},
    {"option", check_mjcf_option_section},
    {"size", skip_mjcf_section},
    {"visual", skip_mjcf_section},
    {"statistic", skip_mjcf_section},
    {"custom", note_ignored_mjcf_section},
    {"default", read_default_section},
    {"asset", read_asset_section},
    {"worldbody", read_worldbody},
    {"contact", tact_mjcf_read_contact},
    {"equality", tact_mjcf_read_equalities},
    {"tendon", tact_mjcf_read_tendons},
    {"actuator", tact_mjcf_read_actuators},
    {"sensor", note_ignored_mjcf_section},
    {"keyframe", note_ignored_mjcf_section},
};
#define MJCF_SECTION_COUNT (sizeof sections / sizeof *sections)

static int check_mjcf_sections(struct model *m, const xmlNode *root)
{
    for (const xmlNode *n = tact_xml_next_element(root->children); n;
         n = tact_xml_next_element(n->next)) {
        bool is_known_mjcf_section = false;
        for (size_t i = 0; i < MJCF_SECTION_COUNT; i++) {
            is_known_mjcf_section |= !strcmp(tact_xml_node_name(n), sections[i].name);
        }
        if (!is_known_mjcf_section) {
            return tact_model_report_error(
                m, tact_xml_node_line(n),
                strcmp(tact_xml_node_name(n), "include")
                    ? "<%.60s> is not supported"
                    : "<%.60s> is not supported: import the file that contains the hand itself",
                tact_xml_node_name(n));
        }
    }
    return 0;
}

int tact_model_read_mjcf(struct model *m, const xmlNode *root)
{
    struct mjcf_reader reader = {.model = m,
                                 .angles_in_degrees = true,
                                 .autolimits = true,
                                 .inertia_from_geom = MJCF_AUTOMATIC,
                                 .groups = {-1e9, 1e9},
                                 .euler_sequence = "xyz",
                                 .mesh_folder = "",
                                 .total_mass = -1.0};
    struct mjcf_reader *r = &reader;
    m->name = tact_xml_read_text(m, root, "model");
    int world = MODEL_APPEND_ENTRY(m, bodies, tact_xml_node_line(root));
    int default_class_index =
        world < 0 ? world
                  : tact_model_append_entry(m, (void **)&r->classes.at, &r->classes.count,
                                            &r->classes.capacity, sizeof *r->classes.at, 0);
    if (default_class_index < 0) {
        return default_class_index;
    }
    m->bodies.at[0].pose = tact_pose_identity();
    m->bodies.at[0].name = "world";
    tact_mjcf_init_default_class(&r->classes.at[0]);
    int rc = check_mjcf_sections(m, root);
    for (size_t i = 0; !rc && i < MJCF_SECTION_COUNT; i++) {
        for (const xmlNode *n = tact_xml_next_element(root->children); !rc && n;
             n = tact_xml_next_element(n->next)) {
            if (!strcmp(tact_xml_node_name(n), sections[i].name)) {
                rc = sections[i].read(r, n);
            }
        }
    }
    tact_mjcf_note_undriven_tendons(r);
    m->min_body_mass = r->min_body_mass;
    m->total_mass = r->total_mass;
    free(r->classes.at);
    return rc;
}
