/* Tendons, equalities and exclusions of MJCF. */
#include <errno.h>
#include <string.h>
#include "rt/model/mjcf_internal.h"

static int read_fixed_tendon(struct mjcf *r, const xmlNode *node)
{
    static const char *const dynamic[] = {"range",        "stiffness", "damping",
                                          "frictionloss", "armature",  "actuatorfrcrange"};
    struct model *m = r->model;
    int rc = tact_xml_check_attributes(
        m, node,
        "name class range limited actuatorfrcrange actuatorfrclimited stiffness damping "
        "frictionloss armature springlength",
        "group user", "solreflimit solimplimit solreffriction solimpfriction margin");
    int class = rc ? rc : tact_mjcf_class_of(r, node, "class", 0);
    if (class < 0) {
        return class;
    }
    for (size_t i = 0; i < sizeof dynamic / sizeof *dynamic; i++) {
        double numbers[4] = {0.0};
        int n = tact_xml_numbers(m, node, dynamic[i], numbers, 1, 4);
        if (n < 0) {
            return n;
        }
        if (numbers[0] != 0.0 || numbers[1] != 0.0) {
            return tact_model_error(m, tact_xml_line(node),
                                    "fixed: %s of a tendon is not supported", dynamic[i]);
        }
    }
    for (const xmlNode *n = tact_xml_element(node->children); n; n = tact_xml_element(n->next)) {
        rc = strcmp(tact_xml_name(n), "joint")
                 ? tact_model_error(m, tact_xml_line(n), "fixed: <%.60s> is not supported",
                                    tact_xml_name(n))
                 : tact_xml_check_attributes(m, n, "joint coef", "", "");
        if (rc) {
            return rc;
        }
    }
    tact_model_note(m, tact_xml_line(node), "<fixed> that no actuator drives is left out");
    return 0;
}

int tact_mjcf_read_tendons(struct mjcf *r, const xmlNode *node)
{
    int rc = 0;
    for (const xmlNode *n = tact_xml_element(node->children); !rc && n;
         n = tact_xml_element(n->next)) {
        rc = strcmp(tact_xml_name(n), "fixed")
                 ? tact_model_error(r->model, tact_xml_line(n),
                                    "tendon: <%.60s> is not supported: expected <fixed>",
                                    tact_xml_name(n))
                 : read_fixed_tendon(r, n);
    }
    return rc;
}

/* Equalities that are not active do nothing. */
static int read_equality(struct mjcf *r, const xmlNode *node)
{
    struct model *m = r->model;
    int class = tact_mjcf_class_of(r, node, "class", 0);
    int active = class < 0 ? -2 : tact_xml_word(m, node, "active", "false true");
    if (active < -1) {
        return -EINVAL;
    }
    if (!(active < 0 ? r->classes.at[class].equality_active : active)) {
        tact_model_note(m, tact_xml_line(node), "<%.60s> that is not active is left out",
                        tact_xml_name(node));
        return 0;
    }
    const bool loop = tact_xml_is_in("connect weld", tact_xml_name(node));
    return tact_model_error(m, tact_xml_line(node), "equality: <%.60s>%s is not supported",
                            tact_xml_name(node), loop ? ", which closes a loop of links," : "");
}

int tact_mjcf_read_equalities(struct mjcf *r, const xmlNode *node)
{
    int rc = 0;
    for (const xmlNode *n = tact_xml_element(node->children); !rc && n;
         n = tact_xml_element(n->next)) {
        rc = read_equality(r, n);
    }
    return rc;
}

int tact_mjcf_read_contact(struct mjcf *r, const xmlNode *node)
{
    struct model *m = r->model;
    for (const xmlNode *n = tact_xml_element(node->children); n; n = tact_xml_element(n->next)) {
        if (strcmp(tact_xml_name(n), "exclude")) {
            return tact_model_error(m, tact_xml_line(n),
                                    "contact: <%.60s> is not supported: `pairs` of the "
                                    "scene say what happens where shapes touch",
                                    tact_xml_name(n));
        }
        int rc = tact_xml_check_attributes(m, n, "body1 body2", "name", "");
        const char *one = tact_xml_text(m, n, "body1"), *two = tact_xml_text(m, n, "body2");
        const int bodies[2] = {one ? tact_model_find_body(m, one) : -1,
                               two ? tact_model_find_body(m, two) : -1};
        if (!rc && (bodies[0] < 0 || bodies[1] < 0)) {
            rc = tact_model_error(m, tact_xml_line(n),
                                  "exclude: body1=\"%.60s\" body2=\"%.60s\": expected "
                                  "the names of two bodies",
                                  one ? one : "", two ? two : "");
        }
        int at = rc ? rc : MODEL_ADD(m, exclusions, tact_xml_line(n));
        if (at < 0) {
            return at;
        }
        m->exclusions.at[at] = (struct model_exclusion){tact_xml_line(n), {bodies[0], bodies[1]}};
    }
    return 0;
}
