/* From bodies to links: a body without a joint is part of its parent, one with several joints is a
 * chain of links whose last has its mass. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "rt/model/model_internal.h"

/* Smallest mass [kg] and inertia [kg m^2] of a link, given to the first joints of a body with
 * several. */
#define MIN_CHAIN_LINK_MASS 1e-12
#define MIN_CHAIN_LINK_INERTIA 1e-18

/* Appends the link of a joint. frame: on input the pose of the body's axes at the last anchor of
 * the chain, in the frame of link *parent; on output that of the new link. */
static int add_link_of_joint(struct model *m, int joint, int *parent, struct tact_pose *frame,
                             double anchor[3])
{
    struct model_joint *j = &m->joints.at[joint];
    const double rotation_to_joint_reference = j->is_prismatic ? 0.0 : -j->reference;
    double step[3], vector[3];
    struct tact_pose at = {{0.0}, {1.0, 0.0, 0.0, 0.0}}, pose_at_reference = at, unique_name;
    int number = MODEL_APPEND_ENTRY(m, links, j->line);
    if (number < 0) {
        return number;
    }
    tact_v3_sub(step, j->position, anchor);
    tact_v3_copy(at.position, step);
    tact_pose_mul(&unique_name, frame, &at);
    tact_v3_scale(vector, j->axis, rotation_to_joint_reference);
    tact_quat_from_rotvec(pose_at_reference.quat_wxyz, vector);
    tact_v3_scale(pose_at_reference.position, j->axis, j->is_prismatic ? -j->reference : 0.0);
    struct model_link *link = &m->links.at[number];
    *link = (struct model_link){.line = j->line, .parent = *parent, .joint = joint};
    tact_pose_mul(&link->origin, &unique_name, &pose_at_reference);
    link->mass.mass = MIN_CHAIN_LINK_MASS;
    for (int i = 0; i < 9; i += 4) {
        link->mass.inertia[i] = MIN_CHAIN_LINK_INERTIA;
    }
    j->link = number;
    tact_v3_copy(anchor, j->position);
    *frame = tact_pose_identity();
    *parent = number;
    return 0;
}

/* Makes the links of a body, or finds the link that it is part of. */
static int make_links_of_body(struct model *m, int number)
{
    struct model_body *body = &m->bodies.at[number];
    const struct model_body *parent = &m->bodies.at[body->parent];
    struct tact_pose frame;
    double anchor[3] = {0.0, 0.0, 0.0};
    int link = parent->link;
    const int before = (int)m->links.count;
    tact_pose_mul(&frame, &parent->place, &body->pose);
    for (size_t i = 0; i < m->joints.count; i++) {
        if (m->joints.at[i].body == number) {
            int rc = add_link_of_joint(m, (int)i, &link, &frame, anchor);
            if (rc) {
                return rc;
            }
        }
    }
    body->link = link;
    body->place = frame;
    if (link != parent->link) {
        tact_v3_scale(body->place.position, anchor, -1.0);
        m->links.at[link].name = body->name;
        m->links.at[link].mass = (struct model_mass_properties){.mass = 0.0};
        m->links.at[link].earlier_joint_link_count = (int)m->links.count - 1 - before;
    }
    return 0;
}

/* Subtracts the masses given to the other links of a body's joint chain from the body's own mass,
 * and places them at its centre of mass at joint values 0. */
static void subtract_chain_link_masses(struct model *m, size_t last)
{
    struct model_link *link = &m->links.at[last];
    double center[3], center_in_parent[3];
    tact_v3_copy(center, link->mass.center);
    for (int k = 0; k < link->earlier_joint_link_count; k++) {
        tact_pose_point(center_in_parent, &m->links.at[last - (size_t)k].origin, center);
        tact_v3_copy(center, center_in_parent);
        tact_v3_copy(m->links.at[last - (size_t)k - 1].mass.center, center);
    }
    link->mass.mass -= link->earlier_joint_link_count * MIN_CHAIN_LINK_MASS;
}

static int check_link_masses(struct model *m)
{
    for (size_t i = 0; i < m->links.count; i++) {
        if (!(m->links.at[i].mass.mass >= MIN_CHAIN_LINK_MASS)) {
            const struct model_link *link = &m->links.at[i];
            return link->name
                       ? tact_model_report_error(
                             m, link->line, "the link \"%.60s\" moves and has no mass", link->name)
                       : tact_model_report_error(m, link->line,
                                                 "the link of this joint moves and has no mass");
        }
    }
    return 0;
}

void tact_model_sanitize_name(const char *preferred_name, const char *name_if_preferred_is_empty,
                              char out[MODEL_NAME_BYTES])
{
    snprintf(out, MODEL_NAME_BYTES, "%.40s",
             preferred_name && preferred_name[0] ? preferred_name : name_if_preferred_is_empty);
    for (char *c = out; *c; c++) {
        const bool is_name_character_allowed = (*c >= 'a' && *c <= 'z') ||
                                               (*c >= 'A' && *c <= 'Z') ||
                                               (*c >= '0' && *c <= '9') || *c == '_' || *c == '-';
        *c = is_name_character_allowed && !(c == out && *c == '-')
                 ? *c
                 : '_'; /* a dash at the start of a YAML line begins a list entry */
    }
}

/* Whether a name belongs to one of the first `links` links, or is reserved for the base. */
static bool is_link_name_used(const struct model *m, const char *name, size_t links)
{
    static const char reserved_link_names[] = "base base_x base_y base_z base_rx base_ry base_rz";
    for (size_t i = 0; i < links; i++) {
        if (!strcmp(m->links.at[i].name, name)) {
            return true;
        }
    }
    return tact_xml_list_has_word(reserved_link_names, name);
}

/* Chooses a link's name that a scene allows: that of its body or else of its joint, different from
 * all links before it. */
static int choose_link_name(struct model *m, size_t number)
{
    struct model_link *link = &m->links.at[number];
    const char *preferred_name = link->name ? link->name : m->joints.at[link->joint].name;
    char name[MODEL_NAME_BYTES], unique_name[MODEL_NAME_BYTES + 16];
    tact_model_sanitize_name(preferred_name, "link", name);
    snprintf(unique_name, sizeof unique_name, "%s", name);
    for (int i = 2; is_link_name_used(m, unique_name, number); i++) {
        snprintf(unique_name, sizeof unique_name, "%s_%d", name, i);
    }
    if (preferred_name && strcmp(preferred_name, unique_name) != 0) {
        tact_model_add_note(m, link->line, "\"%.60s\" is named %s", preferred_name, unique_name);
    }
    link->name = tact_model_copy_text(m, unique_name);
    return link->name ? 0 : tact_model_report_no_memory(m);
}

int tact_model_merge_rigid_bodies(struct model *m)
{
    m->bodies.at[0].link = -1;
    m->bodies.at[0].place = tact_pose_identity();
    int rc = 0;
    for (size_t i = 1; !rc && i < m->bodies.count; i++) {
        rc = make_links_of_body(m, (int)i);
    }
    for (size_t i = 1; !rc && i < m->bodies.count; i++) {
        const struct model_body *body = &m->bodies.at[i];
        struct model_link *link = body->link < 0 ? &m->base : &m->links.at[body->link];
        tact_model_add_mass(&link->mass, &body->mass, &body->place);
    }
    for (size_t i = 0; !rc && i < m->links.count; i++) {
        subtract_chain_link_masses(m, i);
    }
    rc = rc ? rc : check_link_masses(m);
    for (size_t i = 0; !rc && i < m->links.count; i++) {
        rc = choose_link_name(m, i);
    }
    if (!rc && !m->links.count) {
        rc = tact_model_report_error(m, m->bodies.at[0].line,
                                     "the model has no joint that moves, so it is no hand: "
                                     "expected an MJCF or URDF file with at least one");
    }
    return rc;
}
