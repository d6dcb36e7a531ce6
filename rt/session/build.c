/* Builds the world of a scene. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/scene/scene_internal.h"
#include "rt/session/remote_internal.h"
#include "rt/session/session_internal.h"

/* Sets the error's key to a member of a list of the scene, "list[index].key". */
static int set_error_key_of_scene_entry(const struct tact_session *s, struct tact_error *err,
                                        const char *list, int index, const char *key)
{
    char path[TACT_SCENE_PATH_BYTES], owner[TACT_SCENE_PATH_BYTES];
    if (err) {
        snprintf(owner, sizeof owner, "%s[%d]", list, index);
        if (!strcmp(list, "bodies")) {
            tact_scene_body_key_path(s->scene, (uint32_t)index, owner);
        }
        snprintf(path, sizeof path, "%.100s%s%s", owner, key[0] ? "." : "", key);
        tact_scene_where(s->scene, path, err);
    }
    return -EINVAL;
}

static int find_material_index(const struct tact_scene *scene, const char *name)
{
    for (uint32_t i = 0; i < scene->materials_count; i++) {
        if (!strcmp(scene->materials[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

static struct tact_pose pose_of_position_and_quaternion(const double *position, const double *quat)
{
    struct tact_pose pose;
    tact_v3_copy(pose.position, position);
    memcpy(pose.quat_wxyz, quat, sizeof pose.quat_wxyz);
    return pose;
}

static int add_shapes_to_world(struct tact_session *s, struct tact_owner owner,
                               const struct tact_scene_shape *shapes, uint32_t count,
                               const struct tact_pose *frame)
{
    for (uint32_t i = 0; i < count; i++) {
        struct tact_pose shape_pose_in_body = pose_of_position_and_quaternion(shapes[i].position,
                                                                              shapes[i].quat_wxyz),
                         local;
        tact_pose_mul(&local, frame, &shape_pose_in_body);
        int rc = tact_world_add_shape(s->world, owner, &shapes[i].shape, &local,
                                      find_material_index(s->scene, shapes[i].material));
        rc = rc < 0 ? rc
                    : tact_world_set_classes(s->world, rc, shapes[i].collides,
                                             shapes[i].collides_with);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* Index 0 of fixed objects is the world itself. */
static int add_body_to_world(struct tact_session *s, const struct tact_scene_body *def)
{
    struct tact_pose frame = pose_of_position_and_quaternion(def->position, def->quat_wxyz),
                     center = {.quat_wxyz = {1.0}};
    struct tact_owner owner = {TACT_OWNER_FIXED, 1 + (int)(def - s->scene->bodies), 0};
    if (def->fixed) {
        return add_shapes_to_world(s, owner, def->shapes, def->shapes_count, &frame);
    }
    struct tact_body body = {.mass = def->mass};
    int rc = tact_body_set_mass(&body, def->mass, def->inertia);
    if (rc) {
        return rc;
    }
    tact_v3_copy(center.position, def->center_of_mass);
    tact_pose_mul(&body.pose, &frame, &center);
    tact_v3_copy(body.twist, def->velocity);
    tact_v3_copy(body.twist + 3, def->angular_velocity);
    owner.kind = TACT_OWNER_BODY;
    owner.index = tact_world_add_body(s->world, &body);
    if (owner.index < 0) {
        return owner.index;
    }
    if (def->fast) {
        tact_world_set_fast(s->world, owner.index);
    }
    struct session_body *out = &s->bodies[owner.index];
    out->name = def->name;
    out->def = def;
    out->frame = tact_pose_identity();
    out->gravity_start_time = def->support_until;
    tact_v3_scale(out->frame.position, def->center_of_mass, -1.0);
    return add_shapes_to_world(s, owner, def->shapes, def->shapes_count, &out->frame);
}

/* The z axis of a constraint's frame is the axis of its hinge or slider. */
static struct tact_pose compute_constraint_frame(const struct tact_scene_constraint *def)
{
    const double *n = def->axis;
    const double squared_sine_of_axis_to_z = n[0] * n[0] + n[1] * n[1];
    /* 1 + n_z, without cancellation near -z */
    const double w = n[2] < 0.0 ? squared_sine_of_axis_to_z / (1.0 - n[2]) : 1.0 + n[2];
    struct tact_pose frame = {.quat_wxyz = {w, -n[1], n[0], 0.0}};
    tact_v3_copy(frame.position, def->position);
    if (n[2] < 0.0 && !(squared_sine_of_axis_to_z > 0.0)) {
        const double quaternion_of_half_turn_about_x[4] = {0.0, 1.0, 0.0, 0.0};
        memcpy(frame.quat_wxyz, quaternion_of_half_turn_about_x,
               sizeof quaternion_of_half_turn_about_x);
    }
    tact_quat_normalize(frame.quat_wxyz);
    return frame;
}

static int add_constraint_to_world(struct tact_session *s, const struct tact_scene_constraint *def)
{
    struct tact_owner a = tact_session_body_owner(s->scene, def->bodies[0]);
    struct tact_owner b =
        tact_session_body_owner(s->scene, def->bodies_count > 1 ? def->bodies[1] : NULL);
    struct tact_pose frame = compute_constraint_frame(def);
    struct tact_constraint constraint;
    enum tact_constraint_kind kind = !strcmp(def->type, "ball")     ? TACT_CONSTRAINT_BALL
                                     : !strcmp(def->type, "hinge")  ? TACT_CONSTRAINT_HINGE
                                     : !strcmp(def->type, "slider") ? TACT_CONSTRAINT_SLIDER
                                                                    : TACT_CONSTRAINT_FIXED;
    int rc = tact_constraint_between(s->world, kind, a, b, &frame, &constraint);
    if (rc) {
        return rc;
    }
    constraint.lower = def->lower;
    constraint.upper = def->upper;
    constraint.damping = def->damping;
    constraint.friction = def->friction;
    return tact_world_add_constraint(s->world, &constraint);
}

/* A link attached to a base that moves has the last coordinate of the base as its parent. */
static struct tact_link_def get_link_definition(const struct tact_scene_hand *hand,
                                                const struct tact_scene_link *link)
{
    const int coordinate_count_of_base = (int)tact_scene_base_links(hand),
              index = (int)(link - hand->links);
    const struct tact_scene_joint *joint = &link->joint;
    const struct tact_scene_coupling *coupling = joint->coupling;
    struct tact_link_def def = {
        .parent = link->parent                       ? tact_session_link_index(hand, link->parent)
                  : index < coordinate_count_of_base ? index - 1
                                                     : coordinate_count_of_base - 1,
        .joint = index < coordinate_count_of_base ? TACT_JOINT_BASE
                 : strcmp(joint->type, "slide")   ? TACT_JOINT_HINGE
                                                  : TACT_JOINT_SLIDE,
        .origin = pose_of_position_and_quaternion(joint->position, joint->quat_wxyz),
        .stiffness = coupling ? coupling->stiffness : joint->stiffness,
        .damping = coupling ? coupling->damping : joint->damping,
        .limit = joint->limit,
        .start = joint->start,
        .lower = joint->lower,
        .upper = joint->upper,
        .armature = joint->armature,
        .viscous = joint->viscous,
        .friction = joint->friction,
        .mass = link->mass};
    if (joint->mimic) {
        def.mimic = 1 + tact_session_link_index(hand, joint->mimic->joint);
        def.multiplier = joint->mimic->multiplier;
        def.offset = joint->mimic->offset;
    }
    tact_v3_copy(def.axis, joint->axis);
    tact_v3_copy(def.center, link->center_of_mass);
    if (link->inertia) {
        memcpy(def.inertia, link->inertia, sizeof def.inertia);
    }
    return def;
}

/* Sets the tendons of the links. Returns their allocated storage, NULL where memory is short. */
static struct tact_tendon_term *set_tendons_of_links(const struct tact_scene_hand *hand,
                                                     struct tact_link_def *links)
{
    size_t count = 0;
    for (uint32_t i = 0; i < hand->links_count; i++) {
        count += hand->links[i].joint.tendon_count;
    }
    struct tact_tendon_term *tendon_terms = calloc(count + 1, sizeof *tendon_terms),
                            *next_term = tendon_terms;
    for (uint32_t i = 0; tendon_terms && i < hand->links_count; i++) {
        const struct tact_scene_joint *joint = &hand->links[i].joint;
        links[i].tendon = next_term;
        links[i].tendon_count = (int)joint->tendon_count;
        for (uint32_t k = 0; k < joint->tendon_count; k++) {
            *next_term++ =
                (struct tact_tendon_term){tact_session_link_index(hand, joint->tendon[k].joint),
                                          joint->tendon[k].coefficient};
        }
    }
    return tendon_terms;
}

/* Sets the stiffness and damping of the couplings of a base, as matrices, or by axis where the axes
 * differ. The axes are those of the device of the base's tool or, without a tool, of the world. The
 * stiffness of the links includes that of ties to another site, which is equal along all axes. */
static int set_axes_of_hand_base(const struct tact_scene *scene, const struct tact_scene_hand *hand,
                                 const struct tact_link_def *links, struct tact_hand *world_hand)
{
    const double identity[4] = {1.0, 0.0, 0.0, 0.0}, *axes = identity;
    int rc = 0;
    for (uint32_t i = 0; i < scene->tools_count; i++) {
        axes = strcmp(scene->tools[i].hand, hand->name) ? axes : scene->tools[i].quat_wxyz;
    }
    const struct tact_scene_file_base *matrices = tact_scene_file_base_with_matrices(hand);
    if (matrices) {
        return tact_hand_set_base_matrices(world_hand, axes, matrices->stiffness_matrix,
                                           matrices->damping_matrix);
    }
    for (int part = 0; !rc && part < 2; part++) {
        if (tact_scene_has_unequal_axes(hand, part)) {
            double stiffness[3], damping[3];
            for (int i = 0; i < 3; i++) {
                stiffness[i] = links[3 * part + i].stiffness;
                damping[i] = links[3 * part + i].damping;
            }
            rc = tact_hand_set_base_axes(world_hand, part, axes, stiffness, damping);
        }
    }
    return rc;
}

static int add_hand_to_world(struct tact_session *s, const struct tact_scene_hand *hand, int index)
{
    struct tact_pose base = pose_of_position_and_quaternion(hand->position, hand->quat_wxyz),
                     identity_pose = tact_pose_identity();
    struct tact_link_def *links = calloc(hand->links_count + 1, sizeof *links);
    struct session_hand *out = &s->hands[index];
    out->joint_names = calloc(hand->links_count + 1, sizeof *out->joint_names);
    out->base_coordinate_count = (int)tact_scene_base_links(hand);
    bool has_joint_range = false;
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_joint *joint = &hand->links[i].joint;
        out->has_joint_stops_or_friction |= tact_session_joint_has_stops(hand, i);
        has_joint_range |= joint->target_lower < joint->target_upper;
    }
    snprintf(out->port_names[0], sizeof out->port_names[0], "%.60s.base position", hand->name);
    snprintf(out->port_names[1], sizeof out->port_names[1], "%.60s.base attitude", hand->name);
    snprintf(out->base_name, sizeof out->base_name, "%.60s.base", hand->name);
    out->clamped_target_tick_counts =
        has_joint_range ? calloc(hand->links_count, sizeof *out->clamped_target_tick_counts) : NULL;
    if (!links || !out->joint_names || (has_joint_range && !out->clamped_target_tick_counts)) {
        free(links);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < hand->links_count; i++) {
        links[i] = get_link_definition(hand, &hand->links[i]);
        snprintf(out->joint_names[i], sizeof out->joint_names[i], "%.60s.%.60s", hand->name,
                 hand->links[i].name);
        tact_session_add_remote_drive(s->scene, out->joint_names[i], &links[i]);
    }
    struct tact_hand *world_hand = NULL;
    struct tact_tendon_term *tendon_terms = set_tendons_of_links(hand, links);
    int rc = tendon_terms ? tact_hand_create(links, (int)hand->links_count, &base, &world_hand)
                          : -ENOMEM;
    rc = rc ? rc : set_axes_of_hand_base(s->scene, hand, links, world_hand);
    free(links);
    free(tendon_terms);
    rc = rc ? rc : tact_world_add_hand(s->world, world_hand, hand->weightless);
    if (rc < 0) {
        tact_hand_destroy(world_hand);
        return rc;
    }
    for (uint32_t i = 0; i < hand->links_count; i++) {
        struct tact_owner owner = {TACT_OWNER_HAND, index, (int)i};
        rc = add_shapes_to_world(s, owner, hand->links[i].shapes, hand->links[i].shapes_count,
                                 &identity_pose);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* Combined modulus E* of two materials: their compliances add; a rigid material has none. */
static double combined_contact_modulus(double a, double b)
{
    if (a > 0.0 && b > 0.0) {
        return a * b / (a + b);
    }
    return a > 0.0 ? a : b;
}

/* Without a fingertip of its own, a pair has that of the material with the larger patch. */
static void set_fingertip_of_contact_law(const struct tact_scene_material *a,
                                         const struct tact_scene_material *b,
                                         struct tact_contact_law *law)
{
    const struct tact_scene_material *material_of_wider_fingertip =
        a->tip_radius >= b->tip_radius ? a : b;
    if (!(law->tip_radius > 0.0)) {
        law->tip_radius = material_of_wider_fingertip->tip_radius;
        law->tip_power = material_of_wider_fingertip->tip_power;
    }
}

/* Finds the contact model of that name; NULL: there is none, so that the world has its default. */
static const struct tact_contact_model *contact_model_by_name(const char *name)
{
    /* "patch" is the former name of the model "volume" */
    return tact_contact_model_find(strcmp(name, "patch") ? name : "volume");
}

/* Finds the kind of pressure-field extent of that name; without a name the first kind. */
static enum tact_extent_kind field_extent_kind_by_name(const char *name)
{
    int kind = 0;
    while (name && strcmp(tact_extent_kind_names[kind], name) != 0) {
        kind++;
    }
    return (enum tact_extent_kind)kind;
}

static int set_contact_laws(struct tact_session *s)
{
    const struct tact_scene *scene = s->scene;
    tact_session_open_field_extent_store(s);
    for (uint32_t i = 0; i < scene->materials_count; i++) {
        const struct tact_scene_material *m = &scene->materials[i];
        const struct tact_material material = {
            .modulus = m->modulus,
            .field = {m->field.modulus, m->field.thickness, m->field.power, m->field.cell,
                      (int)field_extent_kind_by_name(m->field.kind), &s->extents}};
        int rc = tact_world_set_material(s->world, (int)i, &material);
        if (rc) {
            return rc;
        }
    }
    for (uint32_t i = 0; i < scene->pairs_count; i++) {
        const struct tact_scene_pair *pair = &scene->pairs[i];
        int a = find_material_index(scene, pair->materials[0]);
        int b = find_material_index(scene, pair->materials[1]);
        const struct tact_scene_material *of_a = &scene->materials[a];
        const struct tact_scene_material *of_b = &scene->materials[b];
        struct tact_contact_law law = pair->law;
        law.modulus = combined_contact_modulus(of_a->modulus, of_b->modulus);
        law.model = contact_model_by_name(pair->model ? pair->model : scene->contact.model);
        set_fingertip_of_contact_law(of_a, of_b, &law);
        int rc = tact_world_set_law(s->world, a, b, &law);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

/* Excludes contacts between a fixed base and the links on it, as between a parent and its children.
 */
static int exclude_contacts_of_base_children(struct tact_session *s,
                                             const struct tact_scene_hand *hand)
{
    const int index = (int)(hand - s->scene->hands);
    int rc = 0;
    for (uint32_t k = 0; !rc && hand->base && hand->base->fixed && k < hand->links_count; k++) {
        const struct tact_owner link = {TACT_OWNER_HAND, index, (int)k};
        if (!hand->links[k].parent) {
            rc = tact_world_exclude(
                s->world, tact_session_body_owner(s->scene, s->hands[index].base_name), link);
        }
    }
    return rc;
}

static int add_contact_exclusions(struct tact_session *s)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < s->scene->hands_count; i++) {
        rc = exclude_contacts_of_base_children(s, &s->scene->hands[i]);
    }
    for (uint32_t i = 0; !rc && i < s->scene->exclude_count; i++) {
        char *const *names = s->scene->exclude[i].objects;
        rc = tact_world_exclude(s->world, tact_session_find_owner(s->scene, names[0]),
                                tact_session_find_owner(s->scene, names[1]));
    }
    return rc;
}

static struct tact_world_options get_world_options(const struct tact_scene *scene)
{
    struct tact_world_options o = tact_world_options_default();
    o.period = scene->period;
    tact_v3_copy(o.gravity, scene->gravity);
    o.iterations = (int)scene->contact.iterations;
    o.tolerance = scene->contact.tolerance;
    o.local = strcmp(scene->contact.local, "bouchard") ? TACT_LOCAL_CONE : TACT_LOCAL_BOUCHARD;
    o.polygon = !strcmp(scene->contact.patch, "polygon");
    o.normal = !strcmp(scene->contact.normal, "gradient") ? TACT_NORMAL_GRADIENT
               : !strcmp(scene->contact.normal, "least")  ? TACT_NORMAL_LEAST
                                                          : TACT_NORMAL_BLEND;
    o.points = (int)scene->contact.points;
    o.by_mass = !strcmp(scene->contact.metric, "mass");
    o.split = !strcmp(scene->contact.split, "auto");
    o.spin = !strcmp(scene->contact.spin, "corners")         ? TACT_SPIN_CORNERS
             : !strcmp(scene->contact.spin, "uniform")       ? TACT_SPIN_UNIFORM
             : !strcmp(scene->contact.spin, "hertz")         ? TACT_SPIN_HERTZ
             : !strcmp(scene->contact.spin, "limit-surface") ? TACT_SPIN_LIMIT_SURFACE
                                                             : TACT_SPIN_AUTO;
    return o;
}

/* Checks that fast bodies only meet others with a model that measures gaps. */
static int check_contact_models_of_fast_bodies(const struct tact_session *s, struct tact_error *err)
{
    int a, b;
    const struct tact_contact_model *model = tact_world_find_gapless(s->world, &a, &b);
    if (!model) {
        return 0;
    }
    struct tact_owner owner = tact_world_owner(s->world, a);
    int first = owner.kind == TACT_OWNER_BODY && s->bodies[owner.index].def->fast;
    owner = first ? owner : tact_world_owner(s->world, b);
    set_error_key_of_scene_entry(s, err, "bodies",
                                 (int)(s->bodies[owner.index].def - s->scene->bodies), "fast");
    return tact_error_set(err, -ENOTSUP,
                          "%s may touch %s by model: %s, which knows no gap ahead of touch; "
                          "expected features or smooth",
                          tact_session_owner_name(s, first ? a : b),
                          tact_session_owner_name(s, first ? b : a), model->name);
}

static int check_contact_models_of_pairs(const struct tact_session *s, struct tact_error *err)
{
    int a, b;
    if (!tact_world_find_unsupported(s->world, &a, &b)) {
        return 0;
    }
    tact_scene_where(s->scene, "pairs", err);
    return tact_error_set(
        err, -ENOTSUP,
        "%s may touch %s with the contact model %s, which does not support their shapes",
        tact_session_owner_name(s, a), tact_session_owner_name(s, b),
        tact_world_model_between(s->world, a, b)->name);
}

void tact_session_set_error_location(const struct tact_session *s, int shape,
                                     struct tact_error *err)
{
    struct tact_owner owner = tact_world_owner(s->world, shape);
    int hand = owner.kind == TACT_OWNER_HAND;
    int body = owner.kind == TACT_OWNER_BODY ? (int)(s->bodies[owner.index].def - s->scene->bodies)
                                             : owner.index - 1;
    set_error_key_of_scene_entry(s, err, hand ? "hands" : "bodies", hand ? owner.index : body, "");
}

/* Prepares what contact models derive from the shapes, before the first tick. */
static int prepare_shapes_for_contact_models(struct tact_session *s, struct tact_error *err)
{
    struct tact_error why = {.line = 0};
    int rc = tact_world_prepare(s->world, &s->shape_in_preparation, &why);
    if (!rc) {
        return 0;
    }
    tact_session_set_error_location(s, s->shape_in_preparation, err);
    return tact_error_set(err, rc, "a shape of %s: %s",
                          tact_session_owner_name(s, s->shape_in_preparation),
                          why.text[0] ? why.text : strerror(-rc));
}

int tact_session_build_world(struct tact_session *s, struct tact_error *err)
{
    const struct tact_scene *scene = s->scene;
    struct tact_world_options options = get_world_options(scene);
    s->bodies = calloc(scene->bodies_count + 1, sizeof *s->bodies);
    s->hands = calloc(scene->hands_count + 1, sizeof *s->hands);
    s->constraints = calloc(scene->joints_count + 1, sizeof *s->constraints);
    if (!s->bodies || !s->hands || !s->constraints) {
        return -ENOMEM;
    }
    int rc = tact_world_create(&options, &s->world);
    for (uint32_t i = 0; !rc && i < scene->bodies_count; i++) {
        rc = add_body_to_world(s, &scene->bodies[i]);
        if (rc < 0) {
            set_error_key_of_scene_entry(s, err, "bodies", (int)i, "");
        }
    }
    for (uint32_t i = 0; rc >= 0 && i < scene->joints_count; i++) {
        rc = add_constraint_to_world(s, &scene->joints[i]);
        if (rc < 0) {
            set_error_key_of_scene_entry(s, err, "joints", (int)i, "");
        }
    }
    rc = rc < 0 ? rc : 0;
    for (uint32_t i = 0; !rc && i < scene->hands_count; i++) {
        rc = add_hand_to_world(s, &scene->hands[i], (int)i);
        if (rc < 0) {
            set_error_key_of_scene_entry(s, err, "hands", (int)i, "");
        }
    }
    rc = rc ? rc : set_contact_laws(s);
    rc = rc ? rc : add_contact_exclusions(s);
    if (!rc) {
        int refused = tact_session_exclude_self_overlaps(s, err);
        refused = refused ? refused : check_contact_models_of_pairs(s, err);
        refused = refused ? refused : check_contact_models_of_fast_bodies(s, err);
        refused = refused ? refused : prepare_shapes_for_contact_models(s, err);
        if (refused) {
            return refused;
        }
    }
    rc = rc ? rc : tact_world_finish(s->world);
    if (rc == -E2BIG) {
        tact_scene_where(scene, scene->bodies_count ? "bodies" : "hands", err);
        return tact_error_set(err, rc, "the scene has %d shapes: expected at most %d",
                              tact_world_shape_count(s->world), TACT_WORLD_MAX_SHAPES);
    }
    rc = rc ? rc : tact_session_allocate_pairs(s);
    return rc ? tact_error_set(err, rc, "cannot be built: %s", strerror(-rc)) : 0;
}
