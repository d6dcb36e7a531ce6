/* From bodies to links: a body without a joint is part of its parent, one with several joints is a
 * chain of links whose last has its mass. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "rt/model/model_internal.h"

/* The least that a link may have [kg], [kg m^2]: of the first joints of a body with several. */
#define LEAST_MASS 1e-12
#define LEAST_INERTIA 1e-18

/* Appends the link of a joint. frame: on input the pose of the body's axes at the last anchor of
 * the chain, in the frame of link *parent; on output that of the new link. */
static int add_joint_link(struct model *m, int joint, int *parent, struct tact_pose *frame,
                          double anchor[3])
{
    struct model_joint *j = &m->joints.at[joint];
    const double turn = j->slide ? 0.0 : -j->reference;
    double step[3], vector[3];
    struct tact_pose at = {{0.0}, {1.0, 0.0, 0.0, 0.0}}, moved = at, whole;
    int number = MODEL_ADD(m, links, j->line);
    if (number < 0) {
        return number;
    }
    tact_v3_sub(step, j->position, anchor);
    tact_v3_copy(at.position, step);
    tact_pose_mul(&whole, frame, &at);
    tact_v3_scale(vector, j->axis, turn);
    tact_quat_from_rotvec(moved.quat_wxyz, vector);
    tact_v3_scale(moved.position, j->axis, j->slide ? -j->reference : 0.0);
    struct model_link *link = &m->links.at[number];
    *link = (struct model_link){.line = j->line, .parent = *parent, .joint = joint};
    tact_pose_mul(&link->origin, &whole, &moved);
    link->mass.mass = LEAST_MASS;
    for (int i = 0; i < 9; i += 4) {
        link->mass.inertia[i] = LEAST_INERTIA;
    }
    j->link = number;
    tact_v3_copy(anchor, j->position);
    *frame = tact_pose_identity();
    *parent = number;
    return 0;
}

/* Makes the links of a body, or finds the link that it is part of. */
static int place_body(struct model *m, int number)
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
            int rc = add_joint_link(m, (int)i, &link, &frame, anchor);
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
        m->links.at[link].mass = (struct model_mass){.mass = 0.0};
        m->links.at[link].above = (int)m->links.count - 1 - before;
    }
    return 0;
}

/* Takes the least masses of the other joints of a body from its own, and puts them where its centre
 * of mass is at joint values 0. */
static void share_mass_of_chain(struct model *m, size_t last)
{
    struct model_link *link = &m->links.at[last];
    double center[3], above[3];
    tact_v3_copy(center, link->mass.center);
    for (int k = 0; k < link->above; k++) {
        tact_pose_point(above, &m->links.at[last - (size_t)k].origin, center);
        tact_v3_copy(center, above);
        tact_v3_copy(m->links.at[last - (size_t)k - 1].mass.center, center);
    }
    link->mass.mass -= link->above * LEAST_MASS;
}

static int check_link_masses(struct model *m)
{
    for (size_t i = 0; i < m->links.count; i++) {
        if (!(m->links.at[i].mass.mass >= LEAST_MASS)) {
            const struct model_link *link = &m->links.at[i];
            return tact_model_error(m, link->line, "\"%.60s\" moves and has no mass",
                                    link->name ? link->name : "the link of this joint");
        }
    }
    return 0;
}

void tact_model_plain_name(const char *wanted, const char *otherwise, char out[MODEL_NAME_SIZE])
{
    snprintf(out, MODEL_NAME_SIZE, "%.40s", wanted && wanted[0] ? wanted : otherwise);
    for (char *c = out; *c; c++) {
        const bool allowed = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                             (*c >= '0' && *c <= '9') || *c == '_' || *c == '-';
        *c = allowed && !(c == out && *c == '-') ? *c : '_'; /* a dash begins an entry in YAML */
    }
}

/* Whether a name was given to one of the first links, or is one of the base. */
static bool is_name_taken(const struct model *m, const char *name, size_t links)
{
    static const char reserved[] = "base base_x base_y base_z base_rx base_ry base_rz";
    for (size_t i = 0; i < links; i++) {
        if (!strcmp(m->links.at[i].name, name)) {
            return true;
        }
    }
    return tact_xml_is_in(reserved, name);
}

/* Names a link as a scene can, as its body or else its joint, and as none of those before it. */
static int choose_name(struct model *m, size_t number)
{
    struct model_link *link = &m->links.at[number];
    const char *wanted = link->name ? link->name : m->joints.at[link->joint].name;
    char name[MODEL_NAME_SIZE], whole[MODEL_NAME_SIZE + 16];
    tact_model_plain_name(wanted, "link", name);
    snprintf(whole, sizeof whole, "%s", name);
    for (int i = 2; is_name_taken(m, whole, number); i++) {
        snprintf(whole, sizeof whole, "%s_%d", name, i);
    }
    if (wanted && strcmp(wanted, whole) != 0) {
        tact_model_note(m, link->line, "\"%.60s\" is named %s", wanted, whole);
    }
    link->name = tact_model_text(m, whole);
    return link->name ? 0 : tact_model_no_memory(m);
}

int tact_model_fuse(struct model *m)
{
    m->bodies.at[0].link = -1;
    m->bodies.at[0].place = tact_pose_identity();
    int rc = 0;
    for (size_t i = 1; !rc && i < m->bodies.count; i++) {
        rc = place_body(m, (int)i);
    }
    for (size_t i = 1; !rc && i < m->bodies.count; i++) {
        const struct model_body *body = &m->bodies.at[i];
        struct model_link *link = body->link < 0 ? &m->base : &m->links.at[body->link];
        tact_model_add_mass(&link->mass, &body->mass, &body->place);
    }
    for (size_t i = 0; !rc && i < m->links.count; i++) {
        share_mass_of_chain(m, i);
    }
    rc = rc ? rc : check_link_masses(m);
    for (size_t i = 0; !rc && i < m->links.count; i++) {
        rc = choose_name(m, i);
    }
    if (!rc && !m->links.count) {
        rc = tact_model_error(m, m->bodies.at[0].line, "no joint: expected a hand");
    }
    return rc;
}
