/*
 * Compliance of a patch along its tangents and in rotation: the springs of a patch with a
 * tangential compliance form an elastic foundation (Winkler 1867: independent parallel springs;
 * Johnson, Contact Mechanics, 1985, section 4.3), along the normal only where the patch has no
 * elastic wrench (elastic.c); a rigid patch has springs that only serve the solver.
 */
#include <string.h>
#include "contact/linear.h"
#include "contact/world/rows_internal.h"
#include "contact/world/world_internal.h"

/* Compliance of a rigid contact, over the mobility of its bodies: 1e12 N/m at 1 kg and 1 kHz, under
 * which a gram deflects it by 1e-14 m. A contact without a load before has less, so that it takes
 * its load at once. */
#define RIGID_CONTACT_COMPLIANCE_RATIO 1e-6
#define UNLOADED_CONTACT_COMPLIANCE_RATIO 1e-9
/* Compliance of anchored springs, relative to the mobility: 3e7 N/m at 1 kg and 1 kHz. A load that
 * changes by the body's weight deflects it by 3e-2 g h^2, 0.3 um, and a steady one not at all.
 * While 100 balls roll into a heap, 4 of 2000 ticks are not solved; with 1e-2 it is 13, with
 * RIGID_CONTACT_COMPLIANCE_RATIO 435. */
#define ANCHORED_SPRING_COMPLIANCE_RATIO 3e-2
#define MAX_POINT_PATCH_EXTENT_RATIO                                                               \
    1e-5 /* extent of a patch, over the smaller radius of its shapes, below which it counts as a   \
            point */

/* Sets the springs of a rigid contact. Where several contacts constrain a body in more ways than it
 * can move, as the twenty feet of a plate do, no impulses stop all motion to the last digit, and
 * the closest ones grow until something slips or separates. A small compliance prevents that. The
 * springs have no deflection at the impulse of the last tick, so that nothing moves under a steady
 * load. */
static void set_rigid_contact_springs(const struct tact_world *world, struct block *block)
{
    const double *last = world->contacts[block->contact].impulse;
    int is_solved_without_springs =
        world->options.local == TACT_LOCAL_BOUCHARD || block->points ||
        (block->is_only_contact_of_bodies && block->has_body_free_of_joints &&
         block->response[0].mechanism < 0 && block->response[1].mechanism < 0);
    for (int i = 0; i < 6; i++) {
        double share = i == 0 && last[0] == 0.0 ? UNLOADED_CONTACT_COMPLIANCE_RATIO
                                                : RIGID_CONTACT_COMPLIANCE_RATIO;
        block->row_cfm[i] = is_solved_without_springs ? 0.0 : share * block->local.s[7 * i];
        block->impulse_at_spring_rest[i] = last[i];
    }
    if (block->weak_normal_compliance >
        0.0) { /* the additional spring of a normal that joints hardly move is not preloaded */
        double all = block->row_cfm[0] + block->weak_normal_compliance;
        block->impulse_at_spring_rest[0] *= block->row_cfm[0] / all;
        block->row_cfm[0] = all;
    }
}

/* Share of the tilting stiffness that the rows carry. An overlap deeper than its target resists
 * tilting by itself, as its centre moves to where it is deeper; both together have the stiffness of
 * the springs. Gaps have no target depth, and do not resist tilting within the patch. */
static double spring_fraction_of_tilt_stiffness(const struct tact_contact *c)
{
    return c->patch.law == TACT_LAW_DEPTH
               ? tact_min(1.0, (c->patch.target + c->preload) / c->patch.depth)
               : 1.0;
}

/* Compliances of the rows of a foundation of parallel springs [m/N, 1/(N m)], without the normal's
 * own; 0: rigid. */
static void compute_row_compliances(const struct tact_world *world, const struct block *block,
                                    double compliance[6])
{
    const struct tact_contact *c = &world->contacts[block->contact];
    const struct tact_contact_law *law = block->law;
    double square[2], t = law->tangential_compliance, h = world->options.period;
    tact_patch_mean_squares(&c->patch, tact_v3_dot(c->patch.frame, c->warm) / h, square);
    for (int i = 0; i < 2 && c->patch.law == TACT_LAW_WRENCH; i++) {
        /* those of its area, which may have gaps that its outline encloses */
        square[i] = 0.25 * c->patch.semi[i] * c->patch.semi[i];
    }
    const double least = MAX_POINT_PATCH_EXTENT_RATIO * tact_contact_smaller_radius(world, c);
    square[0] = tact_max(square[0], least * least);
    square[1] = tact_max(square[1], least * least);
    const double rows[6] = {0.0,
                            t,
                            t,
                            t / (square[0] + square[1]),
                            law->compliance / square[1],
                            law->compliance / square[0]};
    memcpy(compliance, rows, sizeof rows);
}

/* Load of a rotational spring after its patch has changed. Where the patch has become smaller, the
 * springs that are lost take their load with them; where larger, the new springs have none. */
static double clamp_rotational_spring_load(double impulse, double rotational_load_still_transmitted)
{
    return rotational_load_still_transmitted * impulse > 0.0
               ? (fabs(rotational_load_still_transmitted) < fabs(impulse)
                      ? rotational_load_still_transmitted
                      : impulse)
               : 0.0;
}

/* Number of a patch's rows with foundation springs: rotations about the tangents are rigid where
 * the normal is, and those of an elastic wrench are the wrench's.
 */
static int count_foundation_rows(const struct tact_contact_law *law, const struct tact_patch *patch)
{
    return law->compliance > 0.0 && patch->law != TACT_LAW_WRENCH ? 6 : 4;
}

/* 1 where a spring of the foundation acts in a row: none along the normal, and none in a row that
 * has an elastic wrench. */
static int has_foundation_spring(const struct block *block, int row)
{
    return row > 0 && row < block->foundation_spring_rows &&
           !(block->bits_of_elastic_wrench_rows >> row & 1);
}

/* Sets a spring 1 / c with a damper time / c in parallel, implicit: v + c / ((h + time) h) (r -
 * r_0) = 0, where r_0 is the load of the spring alone. It is never stiffer than a rigid contact. */
static void set_foundation_spring(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    const struct tact_contact_law *law = block->law;
    double h = world->options.period, time = h + law->dissipation, compliance[6];
    compute_row_compliances(world, block, compliance);
    block->foundation_spring_rows = count_foundation_rows(law, &c->patch);
    for (int i = 1; i < block->foundation_spring_rows; i++) {
        if (!has_foundation_spring(block, i)) {
            continue;
        }
        const double *axis = c->patch.frame + 3 * (i % 3);
        double share = i > 3 ? spring_fraction_of_tilt_stiffness(c) : 1.0;
        double foundation_spring_load = tact_v3_dot(axis, c->springs.impulse + 3 * (i / 3));
        if (i >= 3) {
            double angle = tact_v3_dot(axis, c->springs.angle);
            foundation_spring_load =
                clamp_rotational_spring_load(foundation_spring_load, angle * h / compliance[i]);
        }
        block->row_cfm[i] = tact_max(compliance[i] / (share * time * h),
                                     RIGID_CONTACT_COMPLIANCE_RATIO * block->local.s[7 * i]);
        block->impulse_at_spring_rest[i] = share * foundation_spring_load;
    }
}

void tact_springs_add_compliance(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    block->foundation_spring_rows = block->bits_of_elastic_wrench_rows =
        block->has_cross_compliance = 0;
    set_rigid_contact_springs(world, block);
    if (c->patch.law == TACT_LAW_WRENCH) {
        tact_elastic_set_contact_springs(world, block);
    }
    if (block->law->tangential_compliance > 0.0 && !tact_block_has_restitution(block)) {
        set_foundation_spring(world, block);
    }
    for (int i = 0; i < 6; i++) {
        block->local.s[7 * i] += block->row_cfm[i];
    }
}

/* 1 for rows of a contact whose spring only serves the solver, as the patch has none there. */
static int is_spring_row_for_solver_only(const struct block *block, int row)
{
    return !(block->bits_of_elastic_wrench_rows >> row & 1) && !has_foundation_spring(block, row);
}

void tact_springs_set_solver_compliance(struct block *block, double share, const double start[6])
{
    for (int i = 0; i < 6; i++) {
        if (is_spring_row_for_solver_only(block, i)) {
            double mobility_without_compliance = block->local.s[7 * i] - block->row_cfm[i];
            block->row_cfm[i] = tact_max(share * mobility_without_compliance,
                                         i == 0 ? block->weak_normal_compliance : 0.0);
            block->local.s[7 * i] = mobility_without_compliance + block->row_cfm[i];
            block->impulse_at_spring_rest[i] = start[i];
        }
    }
    tact_local_prepare(&block->local);
}

int tact_springs_anchor_at_impulses(struct tact_world *world, const struct island *island)
{
    int anchored_contact_count = 0;
    for (int i = 0; i < island->blocks.count; i++) {
        struct block *block = &world->blocks[island->blocks.at[i]];
        double start[6];
        memcpy(start, world->contacts[block->contact].impulse, sizeof start);
        if (!(start[0] > 0.0)) {
            continue; /* a contact that had no load keeps its smaller compliance, so that it takes
                       * load at once
                       */
        }
        start[0] =
            block->weak_normal_compliance > 0.0 ? block->impulse_at_spring_rest[0] : start[0];
        tact_springs_set_solver_compliance(block, ANCHORED_SPRING_COMPLIANCE_RATIO, start);
        anchored_contact_count++;
    }
    return anchored_contact_count;
}

double tact_springs_anchored_deflection(const struct tact_world *world, const struct island *island)
{
    double sum = 0.0;
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        const double *r = world->contacts[block->contact].impulse;
        for (int k = 0; k < 6; k++) {
            double share =
                block->row_cfm[k] > 0.0 ? block->row_cfm[k] / block->local.s[7 * k] : 0.0;
            double unit = k < 3 ? 1.0 : block->joint_torque_to_force_scale;
            double solver_spring_deflection =
                unit * share * (r[k] - block->impulse_at_spring_rest[k]);
            int counts = is_spring_row_for_solver_only(block, k) &&
                         (k > 0 || block->weak_normal_compliance == 0.0);
            sum += counts ? solver_spring_deflection * solver_spring_deflection : 0.0;
        }
    }
    double solver_spring_deflection = island->size > 0.0 ? sqrt(sum / island->size) : 0.0;
    return solver_spring_deflection > RIGID_CONTACT_COMPLIANCE_RATIO ? solver_spring_deflection
                                                                     : 0.0;
}

double tact_springs_max_returned_energy(const struct block *block)
{
    double sum = 0.0;
    for (int i = 0; i < 6; i++) {
        if (!is_spring_row_for_solver_only(block, i)) {
            double foundation_spring_load = block->row_cfm[i] * block->impulse_at_spring_rest[i];
            foundation_spring_load +=
                block->has_cross_compliance
                    ? tact_dot(block->cross_compliance + 6 * i, block->impulse_at_spring_rest, 6)
                    : 0.0;
            sum += 0.25 * foundation_spring_load * block->impulse_at_spring_rest[i];
        }
    }
    return sum;
}

/* Stores the load of the springs in world axes, and the rotations that it corresponds to. */
static void store_foundation_load(const struct tact_world *world, const struct block *block,
                                  double row[6])
{
    struct tact_contact *c = &world->contacts[block->contact];
    const struct tact_contact_law *law = tact_world_pair_law(world, c->a, c->b);
    double time = world->options.period + law->dissipation, angle[3];
    for (int i = 0; i < 3; i++) {
        angle[i] = row[3 + i] * time * block->row_cfm[3 + i];
        row[3 + i] /= i > 0 ? spring_fraction_of_tilt_stiffness(c) : 1.0;
    }
    tact_m3_tmul_v3(c->springs.impulse, c->patch.frame, row);
    tact_m3_tmul_v3(c->springs.impulse + 3, c->patch.frame, row + 3);
    tact_m3_tmul_v3(c->springs.angle, c->patch.frame, angle);
}

void tact_springs_store_loads(const struct tact_world *world, struct block *block)
{
    struct tact_contact *c = &world->contacts[block->contact];
    double h = world->options.period, row[6] = {0.0}, u[6] = {0.0};
    double time = h + block->law->dissipation;
    memset(&c->springs, 0, sizeof c->springs);
    if (!block->foundation_spring_rows || !(c->impulse[0] > 0.0)) {
        return;
    }
    for (int i = 1; i < block->foundation_spring_rows; i++) {
        /* the torque of a pitch is that of the normal force, not of the springs */
        double impulse =
            c->impulse[i] - (i == 3 ? block->elastic_wrench_pitch * c->impulse[0] : 0.0);
        row[i] = has_foundation_spring(block, i)
                     ? block->impulse_at_spring_rest[i] +
                           h / time * (impulse - block->impulse_at_spring_rest[i])
                     : 0.0;
    }
    store_foundation_load(world, block, row);
    tact_block_add_velocity(block, u);
    for (int i = 0; i < 6; i++) {
        block->expected_contact_displacement_of_springs[i] = h * u[i];
    }
}

/* Rotates the load of a patch's springs with the mean rotation of the two bodies. */
static void rotate_spring_load(struct tact_springs *springs, const double *a, const double *b)
{
    double *const vectors[3] = {springs->impulse, springs->impulse + 3, springs->angle};
    double turn[3], q[4], from[3];
    tact_v3_add(turn, a, b);
    tact_v3_scale(turn, turn, 0.5);
    tact_quat_from_rotvec(q, turn);
    for (int i = 0; i < 3; i++) {
        tact_v3_copy(from, vectors[i]);
        tact_quat_rotate(vectors[i], q, from);
    }
}

/* Corrects the load of the springs to the actual displacement of the bodies. In a rotation this
 * differs from h times the initial velocities, and the accumulated difference would be a creep of
 * w^2 h / 2 of the lever per second. */
static void update_foundation_load(struct tact_world *world, const struct block *block)
{
    struct tact_contact *c = &world->contacts[block->contact];
    const struct tact_contact_law *law = tact_world_pair_law(world, c->a, c->b);
    double time = world->options.period + law->dissipation, row[6], contact_displacement[6], a[6],
           b[6], moved[6];
    tact_world_point_displacement(world, c->a, c->patch.center, a);
    tact_world_point_displacement(world, c->b, c->patch.center, b);
    for (int i = 0; i < 6; i++) {
        moved[i] = a[i] - b[i];
    }
    tact_m3_mul_v3(contact_displacement, c->patch.frame, moved);
    tact_m3_mul_v3(contact_displacement + 3, c->patch.frame, moved + 3);
    tact_m3_mul_v3(row, c->patch.frame, c->springs.impulse);
    tact_m3_mul_v3(row + 3, c->patch.frame, c->springs.impulse + 3);
    row[0] = 0.0;
    for (int i = 1; i < block->foundation_spring_rows; i++) {
        if (!has_foundation_spring(block, i)) {
            continue;
        }
        row[i] *= i > 3 ? spring_fraction_of_tilt_stiffness(c) : 1.0;
        row[i] -= (contact_displacement[i] - block->expected_contact_displacement_of_springs[i]) /
                  (time * block->row_cfm[i]);
    }
    store_foundation_load(world, block, row);
    rotate_spring_load(&c->springs, a + 3, b + 3);
}

void tact_springs_update_loads(struct tact_world *world)
{
    for (int i = 0; i < world->contact_block_count; i++) {
        const struct block *block = &world->blocks[i];
        if (block->foundation_spring_rows && world->contacts[block->contact].impulse[0] > 0.0) {
            update_foundation_load(world, block);
        }
    }
}
