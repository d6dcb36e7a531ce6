/* Free bodies that touch by the tractions of their contact surfaces: the simulation, in explicit
 * time steps. */
#include "contact/compare/tractions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/compare/tractions_internal.h"
#include "contact/pair/field/field_model_internal.h"
#include "contact/pair/models_internal.h"
#include "contact/pair/motion_internal.h"
#include "contact/world/world_internal.h"

/* Changes of a body's momentum in a step, and how fast friction at no slip would brake it. */
struct body_load {
    double force[3], torque[3]; /* about the centre of mass [N, N m] */
    double friction_rate;       /* [1/s] */
};

struct tact_tractions {
    struct tact_world *world;
    struct tact_tractions_options options;
    struct tact_tractions_report report;
    struct tact_traction_contact *contacts;
    struct body_load *loads; /* of each body */
};

struct tact_tractions_options tact_tractions_options_default(void)
{
    return (struct tact_tractions_options){.slip_speed = 1e-3, .points = 3};
}

static int check_tractions_options(const struct tact_tractions_options *o, struct tact_error *err)
{
    if (!(o->slip_speed >= 1e-12 && o->slip_speed <= 1e3)) {
        return tact_error_set(
            err, -EINVAL, "slip_speed: %g is out of range: 1e-12 to 1000 expected", o->slip_speed);
    }
    return o->points == 1 || o->points == 3
               ? 0
               : tact_error_set(err, -EINVAL, "points: %d is not 1 or 3", o->points);
}

static int check_world_of_tractions(const struct tact_world *world, struct tact_error *err)
{
    if (world->hand_count || world->constraint_count) {
        return tact_error_set(err, -ENOTSUP, "the world has %s",
                              world->hand_count ? "a hand" : "joints");
    }
    for (int i = 0; i < world->body_count; i++) {
        if (world->bodies[i].fast) {
            return tact_error_set(err, -ENOTSUP, "a body is marked as fast");
        }
    }
    for (int pair = tact_world_next_pair(world, -1); pair >= 0;
         pair = tact_world_next_pair(world, pair)) {
        if (tact_world_model(world, pair) != &tact_model_field) {
            return tact_error_set(err, -ENOTSUP, "the contact model of a pair is %s, not field",
                                  tact_world_model(world, pair)->name);
        }
        if (tact_world_law(world, pair)->tangential_compliance > 0.0) {
            return tact_error_set(err, -ENOTSUP, "a contact has a tangential_compliance");
        }
    }
    return 0;
}

int tact_tractions_create(struct tact_world *world, const struct tact_tractions_options *options,
                          struct tact_tractions **out, struct tact_error *err)
{
    *out = NULL;
    int rc = check_tractions_options(options, err);
    rc = rc ? rc : check_world_of_tractions(world, err);
    struct tact_tractions *t = rc ? NULL : calloc(1, sizeof *t);
    if (!t) {
        return rc ? rc : -ENOMEM;
    }
    t->world = world;
    t->options = *options;
    t->contacts = calloc((size_t)tact_world_near_capacity(world) + 1, sizeof *t->contacts);
    t->loads = calloc((size_t)world->body_count + 1, sizeof *t->loads);
    if (!t->contacts || !t->loads) {
        tact_tractions_destroy(t);
        return -ENOMEM;
    }
    *out = t;
    return 0;
}

void tact_tractions_destroy(struct tact_tractions *tractions)
{
    if (tractions) {
        free(tractions->contacts);
        free(tractions->loads);
    }
    free(tractions);
}

/* The body of a shape; NULL where it is fixed. */
static const struct tact_body *body_of_shape(const struct tact_world *world, int shape)
{
    const struct tact_owner owner = world->shapes[shape].owner;
    return owner.kind == TACT_OWNER_BODY ? &world->bodies[owner.index].body : NULL;
}

/* The velocity of a body at a point, and its angular velocity; 0 where it is fixed. */
static void twist_of_body_at(const struct tact_body *body, const double *point, double twist[6])
{
    double arm[3];
    memset(twist, 0, 6 * sizeof *twist);
    if (body) {
        tact_v3_sub(arm, point, body->pose.position);
        tact_pair_velocity_at_arm(body->twist, arm, twist);
        tact_v3_copy(twist + 3, body->twist + 3);
    }
}

/* Velocity that a unit force at a point along a direction, of any length, adds to that of the point
 * along another. */
static double mobility_at_point(const struct tact_body *body, const double *point, const double *d,
                                const double *e)
{
    double arm[3], torque[3], turn[3], lever[3];
    if (!body) {
        return 0.0;
    }
    tact_v3_sub(arm, point, body->pose.position);
    tact_v3_cross(torque, arm, d);
    tact_v3_cross(lever, arm, e);
    tact_m3_mul_v3(turn, body->inverse_world, torque);
    return tact_v3_dot(d, e) / body->mass + tact_v3_dot(lever, turn);
}

/* Largest mobility of two bodies against each other across a normal, at a point [1/kg]. */
static double largest_tangential_mobility(const struct tact_body *const body[2],
                                          const double *point, const double *normal)
{
    double t1[3], t2[3], m11 = 0.0, m12 = 0.0, m22 = 0.0;
    tact_v3_tangents(normal, t1, t2);
    for (int i = 0; i < 2; i++) {
        m11 += mobility_at_point(body[i], point, t1, t1);
        m12 += mobility_at_point(body[i], point, t1, t2);
        m22 += mobility_at_point(body[i], point, t2, t2);
    }
    const double half = 0.5 * (m11 - m22);
    return 0.5 * (m11 + m22) + sqrt(half * half + m12 * m12);
}

/* Adds a force on one shape of a contact, at the origin of the surface's frame, to the load of its
 * body, and sets its wrench about that body's centre of mass, or the world's origin. */
static void add_force_to_body(struct tact_tractions *t, int shape, double sign,
                              const double *origin, const double force[3], const double torque[3],
                              double friction_rate, double wrench[6])
{
    const struct tact_owner owner = t->world->shapes[shape].owner;
    const struct tact_body *body = body_of_shape(t->world, shape);
    double arm[3], moved[3];
    tact_v3_copy(arm, origin);
    if (body) {
        tact_v3_sub(arm, origin, body->pose.position);
    }
    tact_v3_cross(moved, arm, force);
    tact_v3_add(moved, moved, torque);
    tact_v3_scale(wrench, force, sign);
    tact_v3_scale(wrench + 3, moved, sign);
    if (body) {
        struct body_load *load = &t->loads[owner.index];
        tact_v3_add(load->force, load->force, wrench);
        tact_v3_add(load->torque, load->torque, wrench + 3);
        load->friction_rate += friction_rate;
    }
}

/* Adds the tractions of a pair to the loads of its bodies. The first body of the surface is the
 * pair's second where the surface is swapped. */
static void add_surface_to_bodies(struct tact_tractions *t, int pair,
                                  const struct contact_surface_of_fields *surface)
{
    const struct tact_contact_law *law = tact_world_law(t->world, pair);
    const struct traction_law of = {law->friction, t->options.slip_speed, law->hunt_crossley,
                                    law->dissipation, t->options.points};
    struct traction_sums sums = {.load = 0.0};
    double rotation[9], first[6], second[6], relative[6], force[3], torque[3], centre[3], normal[3],
        unused[6];
    int shape[2];
    tact_world_pair_shapes(t->world, pair, &shape[surface->swapped], &shape[!surface->swapped]);
    const struct tact_body *const body[2] = {body_of_shape(t->world, shape[0]),
                                             body_of_shape(t->world, shape[1])};
    const double *origin = surface->frame->position;
    tact_quat_to_m3(rotation, surface->frame->quat_wxyz);
    twist_of_body_at(body[0], origin, first);
    twist_of_body_at(body[1], origin, second);
    for (int k = 0; k < 6; k++) {
        first[k] -= second[k];
    }
    tact_m3_tmul_v3(relative, rotation, first);
    tact_m3_tmul_v3(relative + 3, rotation, first + 3);
    tact_tractions_add_surface(surface, relative, &of, &sums);
    if (!(sums.load > 0.0)) {
        return;
    }
    tact_v3_sub(normal, sums.force, sums.friction);
    tact_m3_mul_v3(force, rotation, normal);
    tact_v3_normalize(normal, force);
    tact_v3_scale(first, sums.first, 1.0 / sums.load);
    tact_pose_point(centre, surface->frame, first);
    const double rate = sums.friction_damping * largest_tangential_mobility(body, centre, normal);
    tact_m3_mul_v3(force, rotation, sums.force);
    tact_m3_mul_v3(torque, rotation, sums.torque);
    struct tact_traction_contact *contact = &t->contacts[t->report.contacts++];
    *contact = (struct tact_traction_contact){.pair = pair,
                                              .polygons = surface->count,
                                              .load = sums.load,
                                              .slip = sums.slip / sums.load,
                                              .friction = tact_v3_norm(sums.friction)};
    add_force_to_body(t, shape[0], -1.0, origin, force, torque, rate,
                      surface->swapped ? unused : contact->wrench);
    add_force_to_body(t, shape[1], 1.0, origin, force, torque, rate,
                      surface->swapped ? contact->wrench : unused);
}

static int add_tractions_of_pair(struct tact_tractions *t, int pair)
{
    const struct tact_pose *poses = tact_world_shape_poses(t->world);
    struct contact_surface_of_fields surface;
    int a, b;
    tact_world_pair_shapes(t->world, pair, &a, &b);
    const struct field_shape_data *data_a = tact_prepared_data(t->world, &tact_model_field, a),
                                  *data_b = tact_prepared_data(t->world, &tact_model_field, b);
    struct tact_field_scratch *scratch = (data_a->is_soft ? data_a : data_b)->workspace.scratch;
    if (!data_a->is_soft && !data_b->is_soft) {
        return 0;
    }
    const int rc = tact_field_find_contact_surface(data_a->field, &poses[a], data_b->field,
                                                   &poses[b], scratch, &surface);
    if (rc > 0) {
        add_surface_to_bodies(t, pair, &surface);
    }
    return rc < 0 ? rc : 0;
}

/* Moves a body by a step under a load and gravity. */
static void move_body_under_load(struct world_body *of, const struct body_load *load, double h,
                                 const double gravity[3])
{
    struct tact_body *body = &of->body;
    double turn[3];
    tact_v3_axpy(body->twist, h / body->mass, load->force);
    tact_m3_mul_v3(turn, body->inverse_world, load->torque);
    tact_v3_axpy(body->twist + 3, h, turn);
    if (of->weight) {
        tact_v3_axpy(body->twist, h, gravity);
    }
    tact_body_drift(body, h);
}

/* 1 where all poses and velocities are finite. */
static int are_bodies_finite(const struct tact_world *world)
{
    double sum = 0.0;
    for (int i = 0; i < world->body_count; i++) {
        const struct tact_body *body = &world->bodies[i].body;
        for (int k = 0; k < 6; k++) {
            sum += 0.0 * body->twist[k];
        }
        for (int k = 0; k < 3; k++) {
            sum += 0.0 * body->pose.position[k] + 0.0 * body->pose.quat_wxyz[k + 1];
        }
    }
    return sum == 0.0;
}

int tact_tractions_step(struct tact_tractions *t)
{
    struct tact_world *world = t->world;
    const double h = world->options.period;
    int count, rc = 0;
    tact_world_begin(world);
    const int *near = tact_world_near(world, &count);
    memset(t->loads, 0, (size_t)world->body_count * sizeof *t->loads);
    t->report.contacts = 0;
    for (int i = 0; i < count && !rc; i++) {
        rc = add_tractions_of_pair(t, near[i]);
    }
    if (rc) {
        return rc;
    }
    for (int i = 0; i < world->body_count; i++) {
        t->report.stiffest = tact_max(t->report.stiffest, h * t->loads[i].friction_rate);
        move_body_under_load(&world->bodies[i], &t->loads[i], h, world->options.gravity);
    }
    t->report.steps++;
    t->report.time = h * (double)t->report.steps;
    return are_bodies_finite(world) ? 0 : -EDOM;
}

const struct tact_tractions_report *tact_tractions_report(const struct tact_tractions *tractions)
{
    return &tractions->report;
}

const struct tact_traction_contact *tact_tractions_contact(const struct tact_tractions *tractions,
                                                           int k)
{
    return k >= 0 && k < tractions->report.contacts ? &tractions->contacts[k] : NULL;
}
