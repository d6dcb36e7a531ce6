/* Default classes of MJCF: each starts as a copy of the one that it is in. */
#include <errno.h>
#include <string.h>
#include "rt/model/mjcf_internal.h"

static int find_default_class(const struct mjcf_reader *r, const char *name)
{
    for (size_t i = 0; i < r->classes.count; i++) {
        if (!strcmp(r->classes.at[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

int tact_mjcf_class_of_node(struct mjcf_reader *r, const xmlNode *node, const char *attribute,
                            int inherited_default_class)
{
    const char *name = tact_xml_read_text(r->model, node, attribute);
    const int found = name ? find_default_class(r, name) : inherited_default_class;
    return found >= 0 ? found
                      : tact_model_report_error(r->model, tact_xml_node_line(node),
                                                "%s: %s=\"%.60s\": no such class",
                                                tact_xml_node_name(node), attribute, name);
}

static int read_default_class_element(struct mjcf_reader *r, const xmlNode *node,
                                      struct mjcf_default_class *c)
{
    const char *name = tact_xml_node_name(node);
    if (!strcmp(name, "geom")) {
        return tact_mjcf_read_geom(r, node, &c->geom);
    }
    if (!strcmp(name, "joint")) {
        return tact_mjcf_read_joint(r, node, &c->joint);
    }
    if (!strcmp(name, "mesh")) {
        return tact_mjcf_read_mesh(r, node, &c->mesh);
    }
    if (tact_xml_list_has_word(MJCF_ACTUATOR_TAGS, name)) {
        return tact_mjcf_read_actuator_attributes(r, node, &c->actuator);
    }
    if (!strcmp(name, "equality")) {
        int active = tact_xml_read_word(r->model, node, "active", "false true");
        c->is_equality_active = active >= 0 ? active : c->is_equality_active;
        int rc =
            tact_xml_check_attributes(r->model, node, "active class", "name solref solimp", "");
        return rc ? rc : active < -1 ? active : 0;
    }
    if (tact_xml_list_has_word("site camera light material pair", name)) {
        return 0;
    }
    if (!strcmp(name, "tendon")) {
        return tact_xml_check_attributes(
            r->model, node, "class", "name group rgba width material user",
            "solreflimit solimplimit solreffriction solimpfriction margin");
    }
    return tact_model_report_error(r->model, tact_xml_node_line(node),
                                   "default: <%.60s> is not supported", name);
}

int tact_mjcf_read_defaults(struct mjcf_reader *r, const xmlNode *node, int parent)
{
    struct model *m = r->model;
    int rc = tact_xml_check_attributes(m, node, "class", "", ""), number = 0;
    if (rc) {
        return rc;
    }
    if (parent >= 0) {
        const char *name = tact_xml_read_text(m, node, "class");
        if (!name || find_default_class(r, name) >= 0) {
            return tact_model_report_error(m, tact_xml_node_line(node), "default: %s",
                                           name ? "two default classes have this name"
                                                : "class: expected a name");
        }
        number = tact_model_append_entry(m, (void **)&r->classes.at, &r->classes.count,
                                         &r->classes.capacity, sizeof *r->classes.at,
                                         tact_xml_node_line(node));
        if (number < 0) {
            return number;
        }
        r->classes.at[number] = r->classes.at[parent];
        r->classes.at[number].name = name;
    }
    for (const xmlNode *n = tact_xml_next_element(node->children); !rc && n;
         n = tact_xml_next_element(n->next)) {
        if (strcmp(tact_xml_node_name(n), "default")) {
            rc = read_default_class_element(r, n, &r->classes.at[number]);
        }
    }
    for (const xmlNode *n = tact_xml_next_element(node->children); !rc && n;
         n = tact_xml_next_element(n->next)) {
        if (!strcmp(tact_xml_node_name(n), "default")) {
            rc = tact_mjcf_read_defaults(r, n, number);
        }
    }
    return rc;
}
