/* Warnings of implausible values: sizes, masses and angles in another unit than SI's; and of
 * targets that nothing follows. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "contact/number.h"
#include "contact/vec.h"
#include "rt/scene/scene_internal.h"

#define SUSPECT_OBJECT_SIZE 3.0       /* size above which an object of a hand is implausible [m] */
#define MAX_PLAUSIBLE_DENSITY 22600.0 /* densest element [kg/m^3] */
#define MIN_PLAUSIBLE_DENSITY 1.0     /* lightest solid [kg/m^3] */
#define MAX_PLAUSIBLE_FRICTION 3.0    /* friction coefficient above that of rubber on anything */
#define MAX_PLAUSIBLE_POSITION 100.0  /* position [m] */
#define SUSPECT_JOINT_ANGLE 31.416    /* five turns [rad]: more than a steering wheel turns */
#define MIN_CHECKED_HAND_CHAIN_LENGTH                                                              \
    1.0                              /* minimum length of a hand's chain for this check [m]        \
                                      */
#define MAX_PLAUSIBLE_GRAVITY 100.0  /* gravity [m/s^2] */
#define SUSPECT_TARGET_OVERLAP 2e-3  /* target overlap [m] */
#define MAX_PLAUSIBLE_COMPLIANCE 0.1 /* compliance [m/N] */
#define MIN_PLAUSIBLE_MODULUS 100.0  /* modulus [Pa] */
/* radius of a fingertip's contact patch above which it is implausible [m] */
#define SUSPECT_TIP_RADIUS 0.1
#define SUSPECT_LAYER_THICKNESS 1.0 /* of a soft layer [m] */
#define SUSPECT_RELAXATION_TIME 1.0 /* relaxation [s] */
#define MAX_PRINTED_SCENE_WARNINGS                                                                 \
    16 /* number of warnings that are printed; further ones are only counted */

struct scene_warnings {
    const struct tact_scene *scene;
    struct tact_messages to;
    int count;
};

/* Prints one warning at the position of the key owner.key in the scene. */
__attribute__((format(printf, 4, 5))) static void warn_at_scene_key(struct scene_warnings *d,
                                                                    const char *owner,
                                                                    const char *key,
                                                                    const char *format, ...)
{
    struct tact_error err = {.line = 0};
    char path[TACT_SCENE_PATH_BYTES], line[1024];
    va_list args;
    if (d->count++ >= MAX_PRINTED_SCENE_WARNINGS) {
        return;
    }
    snprintf(path, sizeof path, "%.90s%s%.30s", owner, owner[0] && key[0] ? "." : "", key);
    tact_scene_where(d->scene, path, &err);
    va_start(args, format);
    tact_number_vprint(err.text, sizeof err.text, format, args);
    va_end(args);
    tact_error_format(&err, line, sizeof line);
    tact_message(d->to, TACT_MESSAGE_WARNING, "%s", line);
}

/* Longest edge of the box about a shape [m]; 0 for a halfspace. */
static double longest_shape_edge(const struct tact_shape *s)
{
    if (s->kind == TACT_SHAPE_SPHERE) {
        return 2.0 * s->size[0];
    }
    double longest_box_edge = 0.0;
    for (int i = 0; s->mesh && i < 3; i++) {
        const struct tact_mesh_node *bounding_box = &s->mesh->nodes[0];
        longest_box_edge = fmax(longest_box_edge, bounding_box->upper[i] - bounding_box->lower[i]);
    }
    return longest_box_edge;
}

/* Volume of the shapes [m^3]. A fixed body may be a floor or a room: only its meshes are checked
 * for their size. */
static double warn_about_shapes(struct scene_warnings *d, const struct tact_scene_shape *shapes,
                                uint32_t count, bool fixed, const char *owner)
{
    double volume = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const struct tact_scene_shape *s = &shapes[i];
        struct tact_shape_mass mass;
        char path[TACT_SCENE_PATH_BYTES];
        if (!strcmp(s->type, "halfspace")) {
            continue;
        }
        double length = longest_shape_edge(&s->shape);
        snprintf(path, sizeof path, "%.80s.shapes[%u]", owner, i);
        if (length > SUSPECT_OBJECT_SIZE && (s->file || !fixed)) {
            warn_at_scene_key(d, path, s->file ? "file" : "type", "is %g m long: %s", length,
                              s->file ? "is the mesh file in millimetres? (unit: mm)"
                                      : "are the sizes of this shape in metres?");
        }
        tact_shape_mass(&s->shape, &mass);
        volume += mass.volume;
    }
    return volume;
}

static void warn_about_far_position(struct scene_warnings *d, const char *owner,
                                    const double position[3])
{
    for (int i = 0; i < 3; i++) {
        if (fabs(position[i]) > MAX_PLAUSIBLE_POSITION) {
            warn_at_scene_key(
                d, owner, "position",
                "this position is %g m from the origin along one axis: is it in metres?",
                fabs(position[i]));
            return;
        }
    }
}

/* If the inertia is set, shapes may cover only the part of the body that touches. */
static void warn_about_body_density(struct scene_warnings *d)
{
    for (uint32_t i = 0; i < d->scene->bodies_count; i++) {
        const struct tact_scene_body *b = &d->scene->bodies[i];
        char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
        tact_scene_body_key_path(d->scene, i, path);
        double volume = warn_about_shapes(d, b->shapes, b->shapes_count, b->fixed, path);
        double density = volume > 0.0 ? b->mass / volume : 0.0;
        bool has_inertia_key =
            tact_scene_index_find(d->scene->index, tact_scene_path_of_key(key, path, "inertia"));
        warn_about_far_position(d, path, b->position);
        if (b->fixed || has_inertia_key || !(volume > 0.0)) {
            continue;
        }
        if (density > MAX_PLAUSIBLE_DENSITY) {
            warn_at_scene_key(d, path, "mass",
                              "a mass of %g kg in shapes of %g m^3 is denser than iridium: is the "
                              "mass in kilograms, are the shapes in metres?",
                              b->mass, volume);
        } else if (density < MIN_PLAUSIBLE_DENSITY) {
            warn_at_scene_key(d, path, "mass",
                              "a mass of %g kg in shapes of %g m^3 is lighter than aerogel: is the "
                              "mass in kilograms, are the shapes in metres?",
                              b->mass, volume);
        }
    }
}

/* Total length of a hand's chains [m]. */
static double total_hand_chain_length(const struct tact_scene_hand *hand)
{
    double hand_chain_length = 0.0;
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_link *link = &hand->links[i];
        double longest_shape_edge_of_hand = 0.0;
        for (uint32_t k = 0; k < link->shapes_count; k++) {
            longest_shape_edge_of_hand =
                fmax(longest_shape_edge_of_hand, longest_shape_edge(&link->shapes[k].shape));
        }
        hand_chain_length += tact_v3_norm(link->joint.position) + longest_shape_edge_of_hand;
    }
    return fmax(hand_chain_length, MIN_CHECKED_HAND_CHAIN_LENGTH);
}

static void warn_about_joint_range(struct scene_warnings *d, const struct tact_scene_joint *joint,
                                   double hand_chain_length, const char *path)
{
    if (!strcmp(joint->type, "slide")) {
        if (fabs(joint->start) > hand_chain_length) {
            warn_at_scene_key(
                d, path, "start",
                "a joint position of %g m is more than the hand is long (%g m): is it in metres?",
                joint->start, hand_chain_length);
        }
    } else if (fabs(joint->start) > 2.0 * 3.14159265358979323846) {
        warn_at_scene_key(d, path, "start",
                          "a joint angle of %g rad is more than a full turn: is it in degrees?",
                          joint->start);
    }
    warn_about_far_position(d, path, joint->position);
}

static void warn_about_hands(struct scene_warnings *d)
{
    for (uint32_t i = 0; i < d->scene->hands_count; i++) {
        const struct tact_scene_hand *hand = &d->scene->hands[i];
        double hand_chain_length = total_hand_chain_length(hand);
        char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
        snprintf(path, sizeof path, "hands[%u]", i);
        warn_about_far_position(d, path, hand->position);
        for (uint32_t k = 0; k < hand->links_count; k++) {
            const struct tact_scene_link *link = &hand->links[k];
            tact_scene_link_key_path(d->scene, i, k, path);
            warn_about_shapes(d, link->shapes, link->shapes_count, false, path);
            warn_about_joint_range(d, &link->joint, hand_chain_length,
                                   tact_scene_path_of_key(key, path, "joint"));
        }
    }
}

/* Only values set for this pair or material: the defaults are checked at the scene. */
static void warn_about_compliance(struct scene_warnings *d, const char *owner, double overlap,
                                  double compliance, double dissipation)
{
    char key[TACT_SCENE_PATH_BYTES];
    const struct tact_scene_index *index = d->scene->index;
    if (overlap > SUSPECT_TARGET_OVERLAP &&
        tact_scene_index_find(index, tact_scene_path_of_key(key, owner, "overlap"))) {
        warn_at_scene_key(
            d, owner, "overlap",
            "an overlap depth of %g m of touching bodies is visible: is it in metres?", overlap);
    }
    if (compliance > MAX_PLAUSIBLE_COMPLIANCE &&
        tact_scene_index_find(index, tact_scene_path_of_key(key, owner, "compliance"))) {
        warn_at_scene_key(
            d, owner, "compliance",
            "a contact compliance of %g m/N is very soft: is it in metres per newton?", compliance);
    }
    if (dissipation > SUSPECT_RELAXATION_TIME &&
        tact_scene_index_find(index, tact_scene_path_of_key(key, owner, "dissipation"))) {
        warn_at_scene_key(
            d, owner, "dissipation",
            "with this dissipation the contact takes %g s to settle: is it in seconds?",
            dissipation);
    }
}

static void warn_about_pressure_field(struct scene_warnings *d, const char *path,
                                      const struct tact_scene_field *field)
{
    char owner[TACT_SCENE_PATH_BYTES];
    tact_scene_path_of_key(owner, path, "field");
    if (field->modulus > 0.0 && field->modulus < MIN_PLAUSIBLE_MODULUS) {
        warn_at_scene_key(d, owner, "modulus",
                          "an elastic modulus of %g Pa is softer than jelly: is it in pascals?",
                          field->modulus);
    }
    if (field->thickness > SUSPECT_LAYER_THICKNESS) {
        warn_at_scene_key(d, owner, "thickness", "a soft layer of %g m is thick: is it in metres?",
                          field->thickness);
    }
}

static void warn_about_materials(struct scene_warnings *d)
{
    char path[TACT_SCENE_PATH_BYTES];
    const struct tact_scene_contact *c = &d->scene->contact;
    warn_about_compliance(d, "contact", c->overlap, c->compliance, c->dissipation);
    for (uint32_t i = 0; i < d->scene->materials_count; i++) {
        const struct tact_scene_material *m = &d->scene->materials[i];
        snprintf(path, sizeof path, "materials[%u]", i);
        if (m->modulus > 0.0 && m->modulus < MIN_PLAUSIBLE_MODULUS) {
            warn_at_scene_key(d, path, "modulus",
                              "an elastic modulus of %g Pa is softer than jelly: is it in pascals?",
                              m->modulus);
        }
        if (m->tip_radius > SUSPECT_TIP_RADIUS) {
            warn_at_scene_key(d, path, "tip_radius",
                              "a fingertip contact radius of %g m is large: is it in metres?",
                              m->tip_radius);
        }
        warn_about_pressure_field(d, path, &m->field);
    }
    for (uint32_t i = 0; i < d->scene->pairs_count; i++) {
        const struct tact_contact_law *p = &d->scene->pairs[i].law;
        snprintf(path, sizeof path, "pairs[%u]", i);
        if (p->friction > MAX_PLAUSIBLE_FRICTION) {
            warn_at_scene_key(d, path, "friction",
                              "a friction coefficient of %g is more than any two surfaces have",
                              p->friction);
        }
        if (p->tip_radius > SUSPECT_TIP_RADIUS) {
            warn_at_scene_key(d, path, "tip_radius",
                              "a fingertip contact radius of %g m is large: is it in metres?",
                              p->tip_radius);
        }
        warn_about_compliance(d, path, p->overlap, p->compliance, p->dissipation);
    }
}

/* Warns of an input that can set an angle of more than five turns. */
static void warn_about_input_angle(struct scene_warnings *d, const struct tact_scene_input *in,
                                   const struct tact_scene_joint *joint, const char *path)
{
    const double largest_input_angle =
        fmax(fabs(in->offset), fmax(fabs(in->lower), fabs(in->upper)));
    if (largest_input_angle > SUSPECT_JOINT_ANGLE && strcmp(joint->type, "slide") != 0) {
        warn_at_scene_key(d, path, fabs(in->offset) > SUSPECT_JOINT_ANGLE ? "offset" : "lower",
                          "an input angle of %g rad is more than five turns: is it in degrees?",
                          largest_input_angle);
    }
}

static bool is_tied_to_other_site(const struct tact_scene *scene, const char *joint)
{
    bool found = false;
    for (uint32_t i = 0; i < scene->remotes_count; i++) {
        found |= !strcmp(scene->remotes[i].joint, joint);
    }
    return found;
}

/* Warns of an input that sets the target of a joint without a drive, as joints from a URDF file
 * are. */
static void warn_about_target_without_drive(struct scene_warnings *d,
                                            const struct tact_scene_input *in,
                                            const struct tact_scene_joint *joint, const char *path)
{
    if (!strcmp(in->what, "target") && joint->stiffness == 0.0 && joint->damping == 0.0 &&
        !joint->coupling && !is_tied_to_other_site(d->scene, in->to)) {
        warn_at_scene_key(d, path, "to",
                          joint->mimic ? "the joint %s follows another joint by `mimic`: set the "
                                         "target of that joint instead"
                                       : "the joint %s has no drive that moves it to a target: "
                                         "expected its `stiffness` and `damping`, or `drive` of "
                                         "a hand with a `file`",
                          in->to);
    }
}

static void warn_about_inputs(struct scene_warnings *d)
{
    const struct tact_scene *s = d->scene;
    for (uint32_t n = 0; n < s->inputs_count; n++) {
        const struct tact_scene_input *in = &s->inputs[n];
        char path[TACT_SCENE_PATH_BYTES], name[2 * TACT_DEVICE_NAME];
        snprintf(path, sizeof path, "inputs[%u]", n);
        for (uint32_t i = 0; i < s->hands_count; i++) {
            const uint32_t base_coordinate_count = tact_scene_base_links(&s->hands[i]);
            for (uint32_t k = 0; k < s->hands[i].links_count; k++) {
                const struct tact_scene_link *link = &s->hands[i].links[k];
                snprintf(name, sizeof name, "%.47s.%.47s", s->hands[i].name, link->name);
                if (!strcmp(name, in->to)) {
                    warn_about_input_angle(d, in, &link->joint, path);
                }
                if (!strcmp(name, in->to) && k >= base_coordinate_count) {
                    warn_about_target_without_drive(d, in, &link->joint, path);
                }
            }
        }
    }
}

/* Reports how many elements of hand files are left out; `tact import` lists them. */
static void report_hand_note_count(const struct tact_scene *scene, struct tact_messages to)
{
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        const struct tact_scene_hand *hand = &scene->hands[i];
        int count = 0;
        for (const char *c = hand->file_notes; c && *c; c++) {
            count += *c == '\n';
        }
        if (count) {
            tact_message(to, TACT_MESSAGE_INFO,
                         "hand %s: %d note%s on content of the file %s that is left out or "
                         "changed: `tact import FILE` prints %s",
                         hand->name, count, count == 1 ? "" : "s", hand->file,
                         count == 1 ? "it" : "them");
        }
    }
}

static void warn_about_contact_model(struct scene_warnings *d, const char *path, const char *model)
{
    if (model && !strcmp(model, "patch")) {
        warn_at_scene_key(d, path, "model", "the contact model `patch` is now named `volume`");
    }
}

static void warn_about_contact_models(struct scene_warnings *d)
{
    char path[32];
    warn_about_contact_model(d, "contact", d->scene->contact.model);
    for (uint32_t i = 0; i < d->scene->pairs_count; i++) {
        snprintf(path, sizeof path, "pairs[%u]", i);
        warn_about_contact_model(d, path, d->scene->pairs[i].model);
    }
}

int tact_scene_doubt(const struct tact_scene *scene, struct tact_messages to)
{
    struct scene_warnings d = {scene, to, 0};
    double gravity_magnitude = tact_v3_norm(scene->gravity);
    if (scene->gravity[2] > 0.0) {
        warn_at_scene_key(
            &d, "", "gravity",
            "this gravity points up, as the z axis does: the earth's gravity is [0, 0, -9.81]");
    } else if (gravity_magnitude > MAX_PLAUSIBLE_GRAVITY) {
        warn_at_scene_key(&d, "", "gravity",
                          "a gravity of %g m/s^2 is over ten times the earth's: is it in m/s^2?",
                          gravity_magnitude);
    }
    warn_about_contact_models(&d);
    warn_about_materials(&d);
    warn_about_body_density(&d);
    warn_about_hands(&d);
    warn_about_inputs(&d);
    report_hand_note_count(scene, to);
    if (d.count > MAX_PRINTED_SCENE_WARNINGS) {
        tact_message(to, TACT_MESSAGE_WARNING, "%d more scene values are implausible",
                     d.count - MAX_PRINTED_SCENE_WARNINGS);
    }
    return d.count;
}
