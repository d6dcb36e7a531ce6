/* Figure 3 of Yi and Drumwright 2018: roll and pitch of a box that a compliant half-space pushes
 * out, where the force is that of the deepest point, and where it is the pressure over the surface.
 * The pressure is E / T times the depth, so that the latter is hydrostatics: the weight of what is
 * displaced, at its centroid. No damping, no gravity. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "bench_convex.h"
#include "contact/pair/model.h"
#include "contact/world/world.h"

#define REFERENCE_TIME_STEP 2e-6 /* step of the reference solution [s] */
#define PAPER_TIME_STEP 1e-4     /* the paper's h [s] */
#define PRESSURE_GRADIENT 2e5    /* rise of the pressure with depth [Pa/m] */
#define FALLING_BOX_MASS 1.0     /* [kg] */
#define START_CORNER_DEPTH 0.04  /* depth of the lowest corner at the start [m] */

static const double half[3] = {0.1, 0.075, 0.05};
static const double box_start_attitude[4] = {0.9, 0.2, 0.3, 0.1};

const char *const convex_push_names[CONVEX_PUSHES] = {
    "exact", "deepest point", "deepest point, fine", "field", "field, 1 ms"};

static const double time_step_of_push_method[CONVEX_PUSHES] = {
    REFERENCE_TIME_STEP, PAPER_TIME_STEP, REFERENCE_TIME_STEP, PAPER_TIME_STEP, 1e-3};

/* Position of the lowest corner from the centre, in the world. */
static void find_lowest_corner(const struct tact_pose *pose, double arm[3])
{
    double turn[9], corner[3];
    tact_quat_to_m3(turn, pose->quat_wxyz);
    for (int k = 0; k < 3; k++) {
        corner[k] = turn[6 + k] > 0.0 ? -half[k] : half[k];
    }
    tact_m3_mul_v3(arm, turn, corner);
}

static int make_box_body(struct tact_body *body)
{
    const double a = half[0] * half[0], b = half[1] * half[1], c = half[2] * half[2];
    const double share = FALLING_BOX_MASS / 3.0;
    const double inertia[6] = {share * (b + c), share * (c + a), share * (a + b), 0.0, 0.0, 0.0};
    double arm[3];
    memset(body, 0, sizeof *body);
    memcpy(body->pose.quat_wxyz, box_start_attitude, sizeof box_start_attitude);
    tact_quat_normalize(body->pose.quat_wxyz);
    find_lowest_corner(&body->pose, arm);
    body->pose.position[2] = -START_CORNER_DEPTH - arm[2];
    int rc = tact_body_set_mass(body, FALLING_BOX_MASS, inertia);
    tact_body_refresh(body);
    return rc;
}

static void record_roll_and_pitch(const struct tact_body *body,
                                  struct box_attitude_curve *attitude_curve, int i)
{
    double turn[9];
    tact_quat_to_m3(turn, body->pose.quat_wxyz);
    attitude_curve->sampled_roll_angles[i] = atan2(turn[7], turn[8]);
    attitude_curve->pitch[i] = asin(-turn[6]);
}

/* Computes the upward force of the pressure over the surface, and its point of application, from
 * the centre of the box. */
static int compute_force_of_surface_pressure(const struct tact_shape *box,
                                             const struct tact_pose *pose, double *force,
                                             double arm[3])
{
    const struct tact_shape ground_halfspace = {.kind = TACT_SHAPE_HALFSPACE};
    const struct tact_pose here = tact_pose_identity();
    struct tact_moments overlap;
    int rc = tact_moments_pair(box, pose, &ground_halfspace, &here, NULL, NULL, &overlap);
    *force = rc > 0 ? PRESSURE_GRADIENT * overlap.volume : 0.0;
    tact_v3_sub(arm, overlap.centroid, pose->position);
    return rc < 0 ? rc : 0;
}

/* Computes the upward force of a spring at the lowest corner, and its point of application, from
 * the centre of the box. */
static void compute_spring_force_at_lowest_corner(const struct tact_pose *pose, double stiffness,
                                                  double *force, double arm[3])
{
    find_lowest_corner(pose, arm);
    *force = stiffness * fmax(0.0, -(pose->position[2] + arm[2]));
}

/* Integrates the free body under such a force, which is constant within a step. */
static int integrate_free_body(enum push_out_method how, struct box_attitude_curve *attitude_curve)
{
    struct tact_shape box = {.kind = TACT_SHAPE_BOX, .size = {half[0], half[1], half[2]}};
    struct tact_body body;
    const double h = attitude_curve->period;
    const long steps_per_sample = lround(CONVEX_SAMPLE_INTERVAL / h);
    double force, arm[3], torque[3], spin[3];
    int rc = tact_shape_tessellate(&box);
    rc = rc ? rc : make_box_body(&body);
    rc = rc ? rc : compute_force_of_surface_pressure(&box, &body.pose, &force, arm);
    /* spring stiffness that gives the same force at the start */
    const double stiffness = rc ? 0.0 : force / START_CORNER_DEPTH;
    for (long i = 0; !rc && i <= steps_per_sample * (CONVEX_SAMPLES - 1); i++) {
        if (i % steps_per_sample == 0) {
            record_roll_and_pitch(&body, attitude_curve, (int)(i / steps_per_sample));
        }
        if (how == CONVEX_PUSH_BY_EXACT_PRESSURE) {
            rc = compute_force_of_surface_pressure(&box, &body.pose, &force, arm);
        } else {
            compute_spring_force_at_lowest_corner(&body.pose, stiffness, &force, arm);
        }
        tact_v3_set(torque, arm[1] * force, -arm[0] * force, 0.0);
        tact_m3_mul_v3(spin, body.inverse_world, torque);
        body.twist[2] += h * force / FALLING_BOX_MASS;
        tact_v3_axpy(body.twist + 3, h, spin);
        tact_body_drift(&body, h);
    }
    tact_shape_release(&box);
    return rc;
}

static int add_box_and_ground(struct tact_world *world, struct tact_shape shape[2])
{
    const struct tact_pose here = tact_pose_identity();
    const struct tact_material soft_material = {
        .field = {.modulus = PRESSURE_GRADIENT, .thickness = 1.0}};
    const struct tact_contact_law law = {.overlap = 1e-5};
    const struct tact_owner ground_owner = {.kind = TACT_OWNER_FIXED},
                            owner = {.kind = TACT_OWNER_BODY};
    struct tact_body body;
    int rc = make_box_body(&body);
    rc = rc ? rc : tact_world_add_body(world, &body);
    rc = rc < 0 ? rc : tact_world_add_shape(world, ground_owner, &shape[0], &here, 0);
    rc = rc < 0 ? rc : tact_world_add_shape(world, owner, &shape[1], &here, 1);
    rc = rc < 0 ? rc : tact_world_set_law(world, 0, 1, &law);
    rc = rc < 0 ? rc : tact_world_set_material(world, 0, &soft_material);
    return rc < 0 ? rc : tact_world_finish(world);
}

static int simulate_field_model(struct box_attitude_curve *attitude_curve)
{
    struct tact_shape shape[2] = {{.kind = TACT_SHAPE_HALFSPACE},
                                  {.kind = TACT_SHAPE_BOX, .size = {half[0], half[1], half[2]}}};
    struct tact_world_options options = tact_world_options_default();
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(1024);
    struct tact_world *world = NULL;
    struct tact_solve_stats stats;
    const long steps_per_sample = lround(CONVEX_SAMPLE_INTERVAL / attitude_curve->period);
    options.period = attitude_curve->period;
    options.gravity[2] = 0.0;
    options.model = tact_contact_model_find("field");
    int rc = scratch ? tact_shape_tessellate(&shape[1]) : -ENOMEM;
    rc = rc ? rc : tact_world_create(&options, &world);
    rc = rc ? rc : add_box_and_ground(world, shape);
    if (!rc) {
        tact_world_start(world, scratch);
    }
    for (long i = 0; !rc && i <= steps_per_sample * (CONVEX_SAMPLES - 1); i++) {
        if (i % steps_per_sample == 0) {
            record_roll_and_pitch(tact_world_body(world, 0), attitude_curve,
                                  (int)(i / steps_per_sample));
        }
        rc = tact_world_step(world, scratch, &stats);
    }
    if (world) {
        tact_world_destroy(world);
    }
    tact_moments_scratch_destroy(scratch);
    tact_shape_release(&shape[1]);
    return rc;
}

int measure_falling_box(struct box_attitude_curve attitude_curve[CONVEX_PUSHES])
{
    int rc = 0;
    for (int i = 0; !rc && i < CONVEX_PUSHES; i++) {
        struct box_attitude_curve *c = &attitude_curve[i];
        c->period = time_step_of_push_method[i];
        c->max_roll_or_pitch_error = 0.0;
        rc = i == CONVEX_PUSH_BY_PRESSURE_FIELD || i == CONVEX_PUSH_BY_FIELD_1_MS
                 ? simulate_field_model(c)
                 : integrate_free_body((enum push_out_method)i, c);
        for (int k = 0; k < CONVEX_SAMPLES; k++) {
            double sampled_roll_angles = fabs(remainder(
                c->sampled_roll_angles[k] - attitude_curve->sampled_roll_angles[k], 2.0 * M_PI));
            double pitch = fabs(c->pitch[k] - attitude_curve->pitch[k]);
            c->max_roll_or_pitch_error =
                fmax(c->max_roll_or_pitch_error, fmax(sampled_roll_angles, pitch));
        }
    }
    return rc;
}
