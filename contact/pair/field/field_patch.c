/* The patch of a contact surface: its elastic wrench, stiffness, outline and friction limit. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/moments/hull_internal.h"
#include "contact/pair/field/field_model_internal.h"

/* Ratio of the stiffness along a patch to that along its normal above which it is split. A corner
 * in a soft plane has none along the plane, for any orientation of its faces; a peg in a groove
 * has. */
#define MIN_TANGENTIAL_STIFFNESS_RATIO 0.2
/* Resultant force over integral of the pressure below which most of the pressure opposes itself. */
#define OPPOSED_RESULTANT_RATIO 0.1
/* Largest ratio of the integral of the pressure to the force of a patch that counts for friction.
 */
#define MAX_PRESSURE_PER_FORCE (1.0 / OPPOSED_RESULTANT_RATIO)
/* Cosine of the largest angle between the normals of a group's polygons and its first polygon. */
#define MIN_GROUP_NORMAL_COSINE 0.7071
/* Pitch of the contact wrench that is rounding, relative to the size of the patch. */
#define MIN_WRENCH_PITCH_RATIO 1e-9
/* Smallest load of a polygon that starts a group, relative to the largest load. */
#define MIN_GROUP_LOAD_RATIO 1e-3

/* Magnitude of the stiffness of a polygon along its normal, which is negative where one solid is
 * inside the other; for a ball, whose pressure may decrease along it, a lower bound of that along
 * the pressure gradient: -p' = m p / (R - r). */
static double polygon_normal_stiffness(const struct contact_surface_polygon *p)
{
    if (p->sphere) {
        double height = fabs(tact_v3_dot(p->normal, p->corner[0]));
        return p->power * p->load / (p->sphere->radius - height);
    }
    return fabs(tact_field_stiffness_moments(p)->area / p->pressure_gradient_difference *
                tact_v3_dot(p->gradient_a, p->normal) * tact_v3_dot(p->gradient_b, p->normal));
}

void tact_field_sum_polygons(const struct contact_surface_of_fields *of, int group,
                             struct patch_pressure_part *out)
{
    int any = 0;
    memset(out, 0, sizeof *out);
    out->similar_normal_group = group;
    for (size_t i = 0; i < of->count; i++) {
        const struct contact_surface_polygon *p = &of->polygon[i];
        if (group >= 0 && p->similar_normal_group != group) {
            continue;
        }
        if (!any++) {
            tact_v3_copy(out->sums.origin, p->corner[0]);
        }
        tact_field_add_polygon_to_sums(&out->sums, p);
        out->sum_of_normal_stiffnesses += polygon_normal_stiffness(p);
    }
    tact_field_shift_to_pressure_centre(&out->sums);
}

static int is_flat_pressure_surface(const struct contact_surface_sums *sums)
{
    double axes[9], stiffness_in_axes[36];
    if (!(tact_v3_normalize(axes, sums->force) > OPPOSED_RESULTANT_RATIO * sums->load)) {
        return 0;
    }
    tact_v3_tangents(axes, axes + 3, axes + 6);
    tact_field_rotate_twist_matrix(sums->stiffness, axes, stiffness_in_axes);
    double mean = 0.5 * (stiffness_in_axes[7] + stiffness_in_axes[14]),
           half = 0.5 * (stiffness_in_axes[7] - stiffness_in_axes[14]);
    return mean + sqrt(half * half + stiffness_in_axes[8] * stiffness_in_axes[8]) <=
           MIN_TANGENTIAL_STIFFNESS_RATIO * fabs(stiffness_in_axes[0]);
}

/* The polygon whose normal differs most from those of the groups' first polygons, among polygons
 * with some load; NULL where all are similar to one. */
static const struct contact_surface_polygon *
polygon_of_least_similar_normal(const struct contact_surface_of_fields *of,
                                const double (*first)[3], int group_count,
                                double largest_polygon_load)
{
    const struct contact_surface_polygon *least_similar_polygon = NULL;
    double least = MIN_GROUP_NORMAL_COSINE;
    for (size_t i = 0; i < of->count; i++) {
        const struct contact_surface_polygon *p = &of->polygon[i];
        double largest_normal_cosine = -1.0;
        for (int g = 0; g < group_count; g++) {
            largest_normal_cosine =
                tact_max(largest_normal_cosine, tact_v3_dot(first[g], p->normal));
        }
        if (p->load > MIN_GROUP_LOAD_RATIO * largest_polygon_load &&
            largest_normal_cosine < least) {
            least = largest_normal_cosine;
            least_similar_polygon = p;
        }
    }
    return least_similar_polygon;
}

int tact_field_group_by_normal(struct contact_surface_of_fields *of,
                               const struct patch_pressure_part *sums_over_whole_surface, int most)
{
    double first[TACT_PIECES][3] = {{0.0}}, largest_polygon_load = 0.0;
    int group_count = 0;
    if (most < 2 || is_flat_pressure_surface(&sums_over_whole_surface->sums)) {
        return 1;
    }
    for (size_t i = 0; i < of->count; i++) {
        if (of->polygon[i].load > largest_polygon_load) {
            largest_polygon_load = of->polygon[i].load;
            tact_v3_copy(first[0], of->polygon[i].normal);
        }
    }
    const struct contact_surface_polygon *p = of->polygon;
    for (group_count = 1; group_count < most && p; group_count += p != NULL) {
        p = polygon_of_least_similar_normal(of, (const double(*)[3])first, group_count,
                                            largest_polygon_load);
        if (p) {
            tact_v3_copy(first[group_count], p->normal);
        }
    }
    for (size_t i = 0; i < of->count; i++) {
        double cosine_to_most_similar_group = -2.0;
        for (int g = 0; g < group_count; g++) {
            double largest_normal_cosine = tact_v3_dot(first[g], of->polygon[i].normal);
            of->polygon[i].similar_normal_group =
                largest_normal_cosine > cosine_to_most_similar_group
                    ? g
                    : of->polygon[i].similar_normal_group;
            cosine_to_most_similar_group =
                tact_max(cosine_to_most_similar_group, largest_normal_cosine);
        }
    }
    return group_count;
}

/* Sets the tangents t1 and t2 of the patch to the principal axes of its area about its centre. */
static void choose_principal_patch_axes(const struct contact_surface_of_fields *of, int group,
                                        const double *centre, const double *normal, double axes[6],
                                        double semi[2])
{
    double xx = 0.0, xy = 0.0, yy = 0.0, area = 0.0, t[6];
    tact_v3_tangents(normal, t, t + 3);
    for (size_t i = 0; i < of->count; i++) {
        const struct contact_surface_polygon *p = &of->polygon[i];
        double arm[3], first[3], at[2][3];
        if (group >= 0 && p->similar_normal_group != group) {
            continue;
        }
        tact_v3_sub(arm, p->corner[0], centre);
        area += p->area_moments.area;
        for (int k = 0; k < 2; k++) {
            tact_m3_mul_v3(at[k], p->area_moments.second, t + 3 * k);
        }
        tact_v3_copy(first, p->area_moments.first);
        double ax = tact_v3_dot(t, arm), ay = tact_v3_dot(t + 3, arm);
        double fx = tact_v3_dot(t, first), fy = tact_v3_dot(t + 3, first);
        xx += tact_v3_dot(t, at[0]) + 2.0 * ax * fx + p->area_moments.area * ax * ax;
        xy += tact_v3_dot(t, at[1]) + ax * fy + ay * fx + p->area_moments.area * ax * ay;
        yy += tact_v3_dot(t + 3, at[1]) + 2.0 * ay * fy + p->area_moments.area * ay * ay;
    }
    double outline_moment_difference = tact_hypot(xx - yy, 2.0 * xy), sum = xx + yy;
    double angle =
        outline_moment_difference > 1e-6 * sum ? 0.5 * tact_atan2(2.0 * xy, xx - yy) : 0.0;
    double c = tact_cos(angle), s = tact_sin(angle);
    for (int k = 0; k < 3; k++) {
        axes[k] = c * t[k] + s * t[3 + k];
        axes[3 + k] = c * t[3 + k] - s * t[k];
    }
    /* the second moment of a uniform ellipse is a quarter of its semi-axis squared */
    semi[0] = sqrt(2.0 * tact_max(sum + outline_moment_difference, 0.0) / area);
    semi[1] = sqrt(2.0 * tact_max(sum - outline_moment_difference, 0.0) / area);
}

/* 1 where the contact surface ends at the polygon's edge from corner k. */
static int is_edge_on_surface_boundary(const struct contact_surface_of_fields *of,
                                       const struct contact_surface_polygon *p, int k)
{
    int side = p->side[k];
    return side < 0 || (side >= 4 ? of->pair.b->cells[p->b].next[side - 4]
                                  : of->pair.a->cells[p->a].next[side]) == TACT_FIELD_NO_CELL;
}

static int find_patch_outline(const struct contact_surface_of_fields *of, int group,
                              const double *centre, const double axes[6], double (*corner)[2])
{
    struct tact_planar_hull hull;
    hull.count = 0;
    for (size_t i = 0; i < of->count; i++) {
        const struct contact_surface_polygon *p = &of->polygon[i];
        for (int k = 0; (group < 0 || p->similar_normal_group == group) && k < p->corners; k++) {
            int previous_outline_corner = k ? k - 1 : p->corners - 1;
            if (group >= 0 || is_edge_on_surface_boundary(of, p, k) ||
                is_edge_on_surface_boundary(of, p, previous_outline_corner)) {
                double arm[3];
                tact_v3_sub(arm, p->corner[k], centre);
                tact_planar_hull_add_point(&hull, tact_v3_dot(axes, arm),
                                           tact_v3_dot(axes + 3, arm));
            }
        }
    }
    return tact_planar_hull_corners(&hull, corner);
}

/* Stiffness of the patch in the rows and columns 0, 4, 5, or that of springs along the normal at
 * each point where that is not positive definite. */
static void normal_stiffness_of_patch(const double *stiffness_in_patch_frame,
                                      const struct patch_pressure_points *points,
                                      double mean_normal_stiffness, double out[9])
{
    static const int row[3] = {0, 4, 5};
    double load = 0.0, minor[2];
    for (int i = 0; i < 9; i++) {
        out[i] = stiffness_in_patch_frame[6 * row[i / 3] + row[i % 3]];
    }
    minor[0] = out[0] * out[4] - out[1] * out[1];
    minor[1] = out[0] * (out[4] * out[8] - out[5] * out[5]) -
               out[1] * (out[1] * out[8] - out[5] * out[2]) +
               out[2] * (out[1] * out[5] - out[4] * out[2]);
    if (out[0] > 0.0 && minor[0] > 0.0 && minor[1] > 0.0) {
        return;
    }
    memset(out, 0, 9 * sizeof *out);
    for (int i = 0; i < points->count; i++) {
        load += points->load[i];
    }
    for (int i = 0; i < points->count; i++) {
        const double b[3] = {1.0, points->y[i], -points->x[i]};
        for (int k = 0; k < 9; k++) {
            out[k] += mean_normal_stiffness * points->load[i] / load * b[k / 3] * b[k % 3];
        }
    }
}

/* Adds Hunt and Crossley's damping: p (1 + d v) decreases by d p per speed; for an elastic wrench
 * this is a stiffness times the corresponding time. */
static void add_hunt_crossley_damping(const struct tact_pair_query *q,
                                      const struct patch_pressure_points *points, double out[9])
{
    double scale = q->law->hunt_crossley / (q->options->period + q->law->dissipation);
    for (int i = 0; i < points->count && scale > 0.0; i++) {
        const double b[3] = {1.0, points->y[i], -points->x[i]};
        for (int k = 0; k < 9; k++) {
            out[k] += scale * points->load[i] * b[k / 3] * b[k % 3];
        }
    }
}

/* Torque about the normal that belongs to the contact wrench, on the query's a: 0 where it is
 * rounding, and at most the force times the size of the patch, beyond which the pressure mostly
 * opposes itself. *is_torsion_torque_limited: set where it is larger. */
static double torque_about_normal(double torque, double force, double size,
                                  int *is_torsion_torque_limited)
{
    double most = size * force;
    *is_torsion_torque_limited |= fabs(torque) > most;
    return fabs(torque) > MIN_WRENCH_PITCH_RATIO * most ? tact_max(-most, tact_min(torque, most))
                                                        : 0.0;
}

int tact_field_make_patch_of_part(const struct tact_pair_query *q,
                                  const struct contact_surface_of_fields *of,
                                  struct patch_pressure_part *part,
                                  struct patch_pressure_points *points, struct tact_patch *patch)
{
    static const int row[3] = {0, 4, 5};
    const struct contact_surface_sums *sums = &part->sums;
    double local[9], rotation[9], full[36], k[9], torque[3];
    /* sign change from the force on pair.b to that on the query's a */
    double sign = of->swapped ? 1.0 : -1.0;
    memset(patch, 0, sizeof *patch);
    points->count = points->lost = 0;
    double force = tact_v3_norm(sums->force);
    if (!(force > 0.0) || !(sums->area > 0.0)) {
        return -EDOM;
    }
    tact_v3_scale(local, sums->force, sign / force);
    choose_principal_patch_axes(of, part->similar_normal_group, sums->origin, local, local + 3,
                                patch->semi);
    tact_v3_copy(points->centre, sums->origin);
    memcpy(points->axes, local + 3, sizeof points->axes);
    double size = tact_max(patch->semi[0], patch->semi[1]);
    tact_field_compute_pressure_points(of, part->similar_normal_group, size, points);
    double pressure_per_force = sums->load / force;
    part->has_opposed_pressures = pressure_per_force > MAX_PRESSURE_PER_FORCE;
    tact_field_set_friction_limit(points, tact_min(pressure_per_force, MAX_PRESSURE_PER_FORCE),
                                  patch);
    tact_field_rotate_twist_matrix(sums->stiffness, local, full);
    normal_stiffness_of_patch(full, points, part->sum_of_normal_stiffnesses, k);
    patch->depth = force / k[0];
    add_hunt_crossley_damping(q, points, k);
    for (int i = 0; i < 9; i++) {
        patch->stiffness[6 * row[i / 3] + row[i % 3]] = k[i];
    }
    tact_m3_mul_v3(torque, local, sums->torque);
    patch->wrench[0] = force;
    patch->wrench[3] =
        torque_about_normal(sign * torque[0], force, size, &part->has_opposed_pressures);
    patch->wrench[4] = sign * torque[1];
    patch->wrench[5] = sign * torque[2];
    tact_quat_to_m3(rotation, of->frame->quat_wxyz);
    tact_m3_mul_t(patch->frame, local, rotation);
    tact_pose_point(patch->center, of->frame, sums->origin);
    patch->corners = q->options->polygon
                         ? find_patch_outline(of, part->similar_normal_group, sums->origin,
                                              local + 3, patch->corner)
                         : 0;
    patch->law = TACT_LAW_WRENCH;
    patch->kind = TACT_PATCH_ELLIPSE;
    patch->spin = TACT_SPIN_LIMIT_SURFACE;
    patch->exponent = 1.0;
    patch->rolling_radius = INFINITY;
    patch->area = sums->area;
    return 0;
}
