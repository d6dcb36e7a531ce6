/* Tendons, equalities and exclusions of MJCF. */
#include <errno.h>
#include <string.h>
#include "rt/model/mjcf_internal.h"

/* Index of the joint that an attribute names, or -EINVAL with the message. */
static int find_joint_of_attribute(struct mjcf_reader *r, const xmlNode *node,
                                   const char *attribute)
{
    struct model *m = r->model;
    const char *name = tact_xml_read_text(m, node, attribute);
    const int joint = name ? tact_model_find_joint(m, name) : -1;
    return joint >= 0
               ? joint
               : tact_model_report_error(m, tact_xml_node_line(node),
                                         "%s: %s=\"%.60s\": expected the name of a joint",
                                         tact_xml_node_name(node), attribute, name ? name : "");
}

static int read_tendon_joint(struct mjcf_reader *r, const xmlNode *node, int tendon)
{
    struct model *m = r->model;
    double coefficient;
    if (strcmp(tact_xml_node_name(node), "joint")) {
        return tact_model_report_error(m, tact_xml_node_line(node),
                                       "fixed: <%.60s> is not supported", tact_xml_node_name(node));
    }
    int rc = tact_xml_check_attributes(m, node, "joint coef", "", "");
    int joint = rc ? rc : find_joint_of_attribute(r, node, "joint");
    int n = joint < 0 ? joint : tact_xml_read_numbers(m, node, "coef", &coefficient, 1, 1);
    if (n < 1) {
        return n ? n
                 : tact_model_report_error(m, tact_xml_node_line(node), "joint: expected a coef");
    }
    int at = MODEL_APPEND_ENTRY(m, tendon_joints, tact_xml_node_line(node));
    if (at >= 0) {
        m->tendon_joints.at[at] = (struct model_tendon_joint){tendon, joint, coefficient};
    }
    return at < 0 ? at : 0;
}

static int read_fixed_tendon(struct mjcf_reader *r, const xmlNode *node)
{
    static const char *const dynamic[] = {"range",        "stiffness", "damping",
                                          "frictionloss", "armature",  "actuatorfrcrange"};
    struct model *m = r->model;
    int rc = tact_xml_check_attributes(
        m, node,
        "name class range limited actuatorfrcrange actuatorfrclimited stiffness damping "
        "frictionloss armature springlength",
        "group user", "solreflimit solimplimit solreffriction solimpfriction margin");
    int default_class_index = rc ? rc : tact_mjcf_class_of_node(r, node, "class", 0);
    if (default_class_index < 0) {
        return default_class_index;
    }
    for (size_t i = 0; i < sizeof dynamic / sizeof *dynamic; i++) {
        double numbers[4] = {0.0};
        int n = tact_xml_read_numbers(m, node, dynamic[i], numbers, 1, 4);
        if (n < 0) {
            return n;
        }
        if (numbers[0] != 0.0 || numbers[1] != 0.0) {
            return tact_model_report_error(m, tact_xml_node_line(node),
                                           "fixed: %s of a tendon is not supported", dynamic[i]);
        }
    }
    const char *name = tact_xml_read_text(m, node, "name");
    const int tendon_of_same_name = name && name[0] ? tact_mjcf_find_tendon(r, name) : -1;
    if (tendon_of_same_name >= 0) {
        return tact_model_report_repeated_name(m, node, name,
                                               m->tendons.at[tendon_of_same_name].line);
    }
    int tendon = MODEL_APPEND_ENTRY(m, tendons, tact_xml_node_line(node));
    rc = tendon < 0 ? tendon : 0;
    if (!rc) {
        m->tendons.at[tendon] =
            (struct model_tendon){.line = tact_xml_node_line(node), .name = name};
    }
    for (const xmlNode *n = tact_xml_next_element(node->children); !rc && n;
         n = tact_xml_next_element(n->next)) {
        rc = read_tendon_joint(r, n, tendon);
    }
    return rc;
}

void tact_mjcf_note_undriven_tendons(struct mjcf_reader *r)
{
    for (size_t i = 0; i < r->model->tendons.count; i++) {
        if (!r->model->tendons.at[i].has_joint_drive) {
            tact_model_add_note(r->model, r->model->tendons.at[i].line,
                                "a <fixed> tendon that no actuator drives is left out");
        }
    }
}

int tact_mjcf_find_tendon(const struct mjcf_reader *r, const char *name)
{
    for (size_t i = 0; i < r->model->tendons.count; i++) {
        const char *tendon_name = r->model->tendons.at[i].name;
        if (tendon_name && !strcmp(tendon_name, name)) {
            return (int)i;
        }
    }
    return -1;
}

int tact_mjcf_read_tendons(struct mjcf_reader *r, const xmlNode *node)
{
    int rc = 0;
    for (const xmlNode *n = tact_xml_next_element(node->children); !rc && n;
         n = tact_xml_next_element(n->next)) {
        rc = strcmp(tact_xml_node_name(n), "fixed")
                 ? tact_model_report_error(r->model, tact_xml_node_line(n),
                                           "tendon: <%.60s> is not supported: expected <fixed>",
                                           tact_xml_node_name(n))
                 : read_fixed_tendon(r, n);
    }
    return rc;
}

/* Reads a joint that follows another one (equality of two joints), both relative to their `ref`. */
static int read_joint_equality(struct mjcf_reader *r, const xmlNode *node)
{
    struct model *m = r->model;
    double joint_polynomial_coefficients[5] = {0.0, 1.0};
    int rc = tact_xml_check_attributes(m, node, "joint1 joint2 polycoef active class",
                                       "name solref solimp", "");
    int n =
        rc ? rc : tact_xml_read_numbers(m, node, "polycoef", joint_polynomial_coefficients, 1, 5);
    if (n < 0) {
        return n;
    }
    if (!tact_xml_has_attribute(node, "joint2") || joint_polynomial_coefficients[2] != 0.0 ||
        joint_polynomial_coefficients[3] != 0.0 || joint_polynomial_coefficients[4] != 0.0) {
        return tact_model_report_error(m, tact_xml_node_line(node),
                                       "equality: <joint> is only supported with joint2 and a "
                                       "polycoef whose numbers after the first two are 0");
    }
    const int joint = find_joint_of_attribute(r, node, "joint1");
    const int leading_joint = joint < 0 ? joint : find_joint_of_attribute(r, node, "joint2");
    if (leading_joint < 0) {
        return leading_joint;
    }
    const double offset = m->joints.at[joint].reference + joint_polynomial_coefficients[0] -
                          joint_polynomial_coefficients[1] * m->joints.at[leading_joint].reference;
    tact_model_add_note(
        m, tact_xml_node_line(node),
        "equality: the relation of <joint> holds exactly: solref and solimp are left out");
    return tact_model_add_mimic(m, tact_xml_node_line(node), joint, leading_joint,
                                joint_polynomial_coefficients[1], offset);
}

/* Reads an equality constraint; one that is not active is left out with a note. */
static int read_equality(struct mjcf_reader *r, const xmlNode *node)
{
    struct model *m = r->model;
    int default_class_index = tact_mjcf_class_of_node(r, node, "class", 0);
    int active = default_class_index < 0 ? -2 : tact_xml_read_word(m, node, "active", "false true");
    if (active < -1) {
        return -EINVAL;
    }
    if (!(active < 0 ? r->classes.at[default_class_index].is_equality_active : active)) {
        tact_model_add_note(m, tact_xml_node_line(node),
                            "an equality <%.60s> that is not active is left out",
                            tact_xml_node_name(node));
        return 0;
    }
    if (!strcmp(tact_xml_node_name(node), "joint")) {
        return read_joint_equality(r, node);
    }
    const bool loop = tact_xml_list_has_word("connect weld", tact_xml_node_name(node));
    return tact_model_report_error(m, tact_xml_node_line(node),
                                   "equality: <%.60s>%s is not supported", tact_xml_node_name(node),
                                   loop ? ", which closes a kinematic loop," : "");
}

int tact_mjcf_read_equalities(struct mjcf_reader *r, const xmlNode *node)
{
    int rc = 0;
    for (const xmlNode *n = tact_xml_next_element(node->children); !rc && n;
         n = tact_xml_next_element(n->next)) {
        rc = read_equality(r, n);
    }
    return rc;
}

int tact_mjcf_read_contact(struct mjcf_reader *r, const xmlNode *node)
{
    struct model *m = r->model;
    for (const xmlNode *n = tact_xml_next_element(node->children); n;
         n = tact_xml_next_element(n->next)) {
        if (strcmp(tact_xml_node_name(n), "exclude")) {
            return tact_model_report_error(m, tact_xml_node_line(n),
                                           "contact: <%.60s> is not supported: the `pairs` of the "
                                           "scene set the contact of two materials",
                                           tact_xml_node_name(n));
        }
        int rc = tact_xml_check_attributes(m, n, "body1 body2", "name", "");
        const char *first_body_name = tact_xml_read_text(m, n, "body1"),
                   *second_body_name = tact_xml_read_text(m, n, "body2");
        const int bodies[2] = {first_body_name ? tact_model_find_body(m, first_body_name) : -1,
                               second_body_name ? tact_model_find_body(m, second_body_name) : -1};
        if (!rc && (bodies[0] < 0 || bodies[1] < 0)) {
            rc = tact_model_report_error(m, tact_xml_node_line(n),
                                         "exclude: body1=\"%.60s\" body2=\"%.60s\": expected "
                                         "the names of two bodies",
                                         first_body_name ? first_body_name : "",
                                         second_body_name ? second_body_name : "");
        }
        int at = rc ? rc : MODEL_APPEND_ENTRY(m, exclusions, tact_xml_node_line(n));
        if (at < 0) {
            return at;
        }
        m->exclusions.at[at] =
            (struct model_contact_exclusion){tact_xml_node_line(n), {bodies[0], bodies[1]}};
    }
    return 0;
}
