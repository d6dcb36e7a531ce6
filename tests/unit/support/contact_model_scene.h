/* Scenes whose pairs have one contact model and a rigid law without restitution. Include after
 * cmocka.h. */
#ifndef TACT_TESTS_CONTACT_MODEL_SCENE_H
#define TACT_TESTS_CONTACT_MODEL_SCENE_H

#include "world_scene.h"

static inline struct tact_world_options options_with_contact_model(const char *model, double period)
{
    struct tact_world_options o = tact_world_options_default();
    o.model = tact_contact_model_find(model);
    o.period = period;
    assert_non_null(o.model);
    return o;
}

static inline struct tact_contact_law make_friction_law(double friction)
{
    struct tact_contact_law law = make_rigid_law(friction);
    law.restitution = 0.0;
    return law;
}

/* Adds the ground, or where plate is not NULL a plate of 1 mm whose upper face is at its height. */
static inline void add_ground_or_plate(struct world_scene *s, const struct tact_shape *plate)
{
    struct tact_pose pose = tact_pose_identity();
    pose.position[2] = -0.5e-3;
    if (plate) {
        add_scene_shape(s, -1, plate, &pose, 0);
    } else {
        add_scene_ground(s);
    }
}

static inline void start_box_on_ground(struct world_scene *s, double friction)
{
    struct tact_contact_law law = make_friction_law(friction);
    set_scene_contact_law(s, 0, 1, &law);
    set_scene_contact_law(s, 1, 1, &law);
    finish_scene_building(s);
}

#endif
