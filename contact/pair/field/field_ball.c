/*
 * Contacts of soft balls with balls, half-spaces and faces of rigid boxes, in closed form: pressure
 * p = q^m, q = slope_i (R_i - r_i), depth in a half-space.
 *
 * The surface of equal pressure is axisymmetric about the line of the centres. At level q its
 * radius rho follows from the distances r_i = R_i - q / slope_i from the centres, and x along the
 * line from the first; force, centre of pressure and torsion arm are integrals over p by parts:
 *
 *   N = pi int rho^2 dp, N x_c = pi int rho^2 d(p x), N arm = 2 pi / 3 int rho^3 dp
 *
 * The energy depends only on the distance D of the centres: K_nn = -dN/dD = 2 pi int x (D - x) / D
 * dp. A rotation about the centre of pressure brings the centres nearer by half its square times
 * x_c (D - x_c) / D; times N this is the rolling stiffness. A half-space is a ball of infinite
 * radius, for which (D - x) / D is 1.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/pair/field/field_model_internal.h"
#include "contact/pair/field/field_sphere_internal.h"

#define PI 3.14159265358979323846

/* Numbers of rings and sectors in which a pressure map divides a round contact, from fine to
 * coarse. */
enum { MAX_SECTORS = 32 };
static const struct division_of_contact_disc {
    int rings, sector_count_of_disc;
} disc_divisions[] = {{8, MAX_SECTORS}, {6, 24}, {4, 16}, {3, 12}, {2, 12}};

/* A ball in contact with a ball or a half-space. */
struct soft_ball_pair {
    const struct field_quadrature_rule *rule;
    double radius[2], compliance[2]; /* compliance of a ball: 1 / slope of the pressure level q
                                        [m/Pa^(1/m)]; 0 for a rigid one */
    double distance; /* distance D of the centres [m]; with a half-space, of the centre from the
                        plane */
    int plane;
};

/* Circle of the contact surface at pressure level q: rho^2, x, dx/dq, and (D - x) / D. */
struct circle_at_pressure_level {
    double square, x, slope, centre_distance_fraction;
};

static struct circle_at_pressure_level find_circle_at_pressure_level(const struct soft_ball_pair *b,
                                                                     double q)
{
    struct circle_at_pressure_level circle;
    double r = b->radius[0] - q * b->compliance[0], d = b->distance;
    if (b->plane) {
        circle.x = d + q * b->compliance[1];
        circle.slope = b->compliance[1];
        circle.centre_distance_fraction = 1.0;
    } else {
        double radius_of_level_sphere_b = b->radius[1] - q * b->compliance[1];
        circle.x = 0.5 * ((r * r - radius_of_level_sphere_b * radius_of_level_sphere_b) / d + d);
        circle.slope = (radius_of_level_sphere_b * b->compliance[1] - r * b->compliance[0]) / d;
        circle.centre_distance_fraction = (d - circle.x) / d;
    }
    circle.square = tact_max(r * r - circle.x * circle.x, 0.0);
    return circle;
}

/* Integrates over the pressure, from 0 to its largest at level q = `largest_pressure_level`. rho^3
 * ends as the power 3/2 of the remaining q, so the variable of that integral is the root of the
 * latter.
 */
static void integrate_ball_pressure(const struct soft_ball_pair *b, double largest_pressure_level,
                                    struct tact_patch *patch, double *centre, double *square)
{
    const struct field_quadrature_rule *rule = b->rule;
    double force = 0.0, stiffness = 0.0, moment = 0.0, radius_cubed_sum = 0.0, fourth = 0.0;
    double peak = tact_field_pressure_of_level(rule->power, largest_pressure_level);
    for (int i = 0; i < TACT_FIELD_NODES; i++) {
        double q = largest_pressure_level * rule->node[i], w = rule->weight[i] * peak,
               y = rule->root[i];
        struct circle_at_pressure_level at = find_circle_at_pressure_level(b, q);
        force += w * PI * at.square;
        moment += w * PI * at.square * (at.x + q * at.slope / rule->power);
        stiffness += w * 2.0 * PI * at.x * at.centre_distance_fraction;
        fourth += w * PI / 4.0 * at.square * at.square;
        at = find_circle_at_pressure_level(b, largest_pressure_level * (1.0 - y * y));
        radius_cubed_sum +=
            rule->root_weight[i] * peak * (2.0 * PI / 3.0) * at.square * sqrt(at.square);
    }
    patch->wrench[0] = force;
    patch->stiffness[0] = stiffness;
    patch->spin_arm = radius_cubed_sum / force;
    *centre = moment / force;
    /* integral of the pressure times the square of a coordinate in the contact plane */
    *square = fourth;
}

/* Height of a ball's centre over the nearest face of a box, where the ball cuts the box in a whole
 * disc of that face, else 0; offset: from the box's centre to the ball's; normal: of the face,
 * world. */
static double find_box_face_cut_in_whole_disc(const struct tact_shape *box,
                                              const struct tact_pose *pose, const double offset[3],
                                              double radius, double normal[3])
{
    double m[9], at[3], beyond_face[3];
    int face = 0;
    tact_quat_to_m3(m, pose->quat_wxyz);
    tact_m3_tmul_v3(at, m, offset);
    for (int k = 0; k < 3; k++) {
        beyond_face[k] = fabs(at[k]) - box->size[k];
        face = beyond_face[k] > beyond_face[face] ? k : face;
    }
    const double height = beyond_face[face],
                 rim = sqrt(tact_max(radius * radius - height * height, 0.0));
    for (int k = 0; k < 3; k++) {
        normal[k] = at[face] < 0.0 ? -m[3 * k + face] : m[3 * k + face];
        if (k != face && !(beyond_face[k] + rim <= 0.0)) {
            return 0.0;
        }
    }
    return height > 0.0 && radius - height <= 2.0 * box->size[face] ? height : 0.0;
}

/* Describes the query's pair as balls, the first of them a sphere; normal: from the second to the
 * first. Returns 0 for any other pair of shapes. */
static int describe_pair_as_balls(const struct tact_pair_query *q, int swapped,
                                  struct soft_ball_pair *b, double normal[3])
{
    const struct tact_shape *shape[2] = {swapped ? q->b : q->a, swapped ? q->a : q->b};
    const struct tact_pose *pose[2] = {swapped ? q->pose_b : q->pose_a,
                                       swapped ? q->pose_a : q->pose_b};
    const struct field_shape_data *data[2] = {swapped ? q->data_b : q->data_a,
                                              swapped ? q->data_a : q->data_b};
    const double up[3] = {0.0, 0.0, 1.0};
    const int is_plane_of_rigid_box = shape[1]->kind == TACT_SHAPE_BOX && !data[1]->is_soft;
    b->plane = shape[1]->kind == TACT_SHAPE_HALFSPACE || is_plane_of_rigid_box;
    if (shape[0]->kind != TACT_SHAPE_SPHERE || (!b->plane && shape[1]->kind != TACT_SHAPE_SPHERE) ||
        !data[0]->own || (!b->plane && !data[1]->own)) {
        return 0;
    }
    if (data[0]->is_soft && data[1]->is_soft && data[0]->rule.power != data[1]->rule.power) {
        return 0; /* refused by tact_field_find_pair_surface() */
    }
    for (int i = 0; i < 2; i++) {
        b->radius[i] = shape[i]->size[0];
        b->compliance[i] = 1.0 / data[i]->slope; /* 0 of a rigid one */
    }
    b->rule = data[0]->is_soft ? &data[0]->rule : &data[1]->rule;
    double distance[3];
    tact_v3_sub(distance, pose[0]->position, pose[1]->position);
    if (is_plane_of_rigid_box) {
        b->distance =
            find_box_face_cut_in_whole_disc(shape[1], pose[1], distance, b->radius[0], normal);
        return b->distance > 0.0;
    }
    if (b->plane) {
        tact_quat_rotate(normal, pose[1]->quat_wxyz, up);
        b->distance = tact_v3_dot(normal, distance);
    } else {
        b->distance = tact_v3_normalize(normal, distance);
    }
    return 1;
}

/* 1 where the contact surface is a cap on one side of both centres: beyond the middle of a ball its
 * pressure decreases again. */
static int is_contact_surface_spherical_cap(const struct soft_ball_pair *b,
                                            double largest_pressure_level)
{
    return b->distance > 0.0 && b->radius[0] - largest_pressure_level * b->compliance[0] > 0.0 &&
           (b->plane || (b->radius[1] - largest_pressure_level * b->compliance[1] > 0.0 &&
                         b->distance > fabs(b->radius[0] - b->radius[1])));
}

/* Points of the contact surface at pressure level q, on a circle about the line of the centres.
 * origin: the first centre; normal: from the second to the first. */
static void points_on_pressure_circle(const struct soft_ball_pair *b, double q,
                                      const double origin[3], const double normal[3],
                                      const struct tact_patch *patch, int sector_count_of_disc,
                                      double (*out)[3])
{
    struct circle_at_pressure_level at = find_circle_at_pressure_level(b, q);
    double rho = sqrt(at.square);
    for (int i = 0; i < sector_count_of_disc; i++) {
        double angle = 2.0 * PI * i / sector_count_of_disc;
        tact_v3_copy(out[i], origin);
        tact_v3_axpy(out[i], -at.x, normal);
        tact_v3_axpy(out[i], rho * tact_cos(angle), patch->frame + 3);
        tact_v3_axpy(out[i], rho * tact_sin(angle), patch->frame + 6);
    }
}

/* The finest division for which a map has room; else the coarsest. */
static struct division_of_contact_disc choose_disc_division(const struct tact_pressure *map)
{
    const size_t count = sizeof disc_divisions / sizeof *disc_divisions,
                 room = tact_field_map_capacity_of_patch(map);
    size_t i = 0;
    while (i + 1 < count &&
           (size_t)disc_divisions[i].rings * (size_t)disc_divisions[i].sector_count_of_disc >
               room) {
        i++;
    }
    return disc_divisions[i];
}

/* Adds the contact surface to the query's pressure map, if it has one: plane quadrilaterals between
 * circles of equal pressure at about equal steps of radius, and triangles in the innermost circle.
 */
static void map_pressure_of_ball_contact(const struct tact_pair_query *q,
                                         const struct soft_ball_pair *b,
                                         double largest_pressure_level, const double origin[3],
                                         const double normal[3], const struct tact_patch *patch)
{
    double points_on_adjacent_circles[2][MAX_SECTORS][3], pressure[2] = {0.0, 0.0};
    if (!q->pressure) {
        return;
    }
    const struct division_of_contact_disc by = choose_disc_division(q->pressure);
    struct tact_pressure_patch *out =
        tact_pressure_add_patch(q->pressure, patch->center, patch->frame);
    if (out) {
        out->area = patch->area;
        out->load = patch->wrench[0];
    }
    points_on_pressure_circle(b, 0.0, origin, normal, patch, by.sector_count_of_disc,
                              points_on_adjacent_circles[0]);
    for (int k = 1; k <= by.rings; k++) {
        double share = 1.0 - (double)k / by.rings;
        double level = largest_pressure_level * (1.0 - share * share);
        pressure[k % 2] = tact_field_pressure_of_level(b->rule->power, level);
        points_on_pressure_circle(b, level, origin, normal, patch, by.sector_count_of_disc,
                                  points_on_adjacent_circles[k % 2]);
        for (int i = 0; i < by.sector_count_of_disc; i++) {
            const double(*outer)[3] = (const double(*)[3])points_on_adjacent_circles[1 - k % 2];
            const double(*inner)[3] = (const double(*)[3])points_on_adjacent_circles[k % 2];
            int next = (i + 1) % by.sector_count_of_disc;
            double corner[4][3];
            const double of[4] = {pressure[1 - k % 2], pressure[1 - k % 2], pressure[k % 2],
                                  pressure[k % 2]};
            tact_v3_copy(corner[0], outer[i]);
            tact_v3_copy(corner[1], outer[next]);
            tact_v3_copy(corner[2], inner[next]);
            tact_v3_copy(corner[3], inner[i]);
            tact_pressure_add_polygon(q->pressure, out, (const double(*)[3])corner, of,
                                      k < by.rings ? 4 : 3);
        }
    }
    tact_field_remove_incomplete_patch(q->pressure, out);
}

/* Makes the patch of a pair whose contact surface is a cap or, on a plane, a disc. swapped: the
 * first ball is the query's b. Returns 0 where it has no force. */
static int make_patch(const struct tact_pair_query *q, const struct soft_ball_pair *b, int swapped,
                      const double normal[3], double largest_pressure_level,
                      struct tact_patch *patch)
{
    double x, square;
    const double *origin = swapped ? q->pose_b->position : q->pose_a->position;
    memset(patch, 0, sizeof *patch);
    integrate_ball_pressure(b, largest_pressure_level, patch, &x, &square);
    double semi = sqrt(find_circle_at_pressure_level(b, 0.0).square), force = patch->wrench[0];
    double damping_to_force_ratio =
        q->law->hunt_crossley / (q->options->period + q->law->dissipation);
    if (!(force > 0.0) || !(patch->stiffness[0] > 0.0)) {
        return 0;
    }
    patch->depth = force / patch->stiffness[0];
    patch->stiffness[0] += damping_to_force_ratio * force;
    patch->stiffness[28] = force * x * (b->plane ? 1.0 : (b->distance - x) / b->distance) +
                           damping_to_force_ratio * square;
    patch->stiffness[35] = patch->stiffness[28];
    tact_v3_copy(patch->center, origin);
    tact_v3_axpy(patch->center, -x, normal);
    tact_v3_scale(patch->frame, normal, swapped ? -1.0 : 1.0);
    tact_v3_tangents(patch->frame, patch->frame + 3, patch->frame + 6);
    patch->law = TACT_LAW_WRENCH;
    patch->kind = TACT_PATCH_ELLIPSE;
    patch->spin = TACT_SPIN_LIMIT_SURFACE;
    patch->surface = TACT_SURFACE_FITTED;
    memcpy(patch->fit, b->rule->fit, sizeof b->rule->fit);
    patch->semi[0] = patch->semi[1] = semi;
    patch->exponent = 1.0;
    patch->rolling_radius = INFINITY;
    patch->area = PI * semi * semi;
    map_pressure_of_ball_contact(q, b, largest_pressure_level, origin, normal, patch);
    return 1;
}

int tact_field_patch_of_balls(const struct tact_pair_query *q, struct tact_patch *patch)
{
    struct soft_ball_pair b;
    double normal[3];
    int swapped = q->a->kind != TACT_SHAPE_SPHERE;
    if (!describe_pair_as_balls(q, swapped, &b, normal)) {
        return 0;
    }
    double depth = b.radius[0] + (b.plane ? 0.0 : b.radius[1]) - b.distance;
    double largest_pressure_level = depth / (b.compliance[0] + b.compliance[1]);
    if (!(depth > 0.0)) {
        return -EDOM;
    }
    return is_contact_surface_spherical_cap(&b, largest_pressure_level)
               ? make_patch(q, &b, swapped, normal, largest_pressure_level, patch)
               : 0;
}

int tact_field_make_ball_on_plane_patch(const struct tact_pair_query *q,
                                        const struct contact_surface_of_fields *of,
                                        struct tact_patch *patch)
{
    const struct field_shape_data *ball = of->swapped ? q->data_b : q->data_a;
    double local[3], normal[3], distance = tact_field_plane_distance_of_disc(of, local);
    if (!(distance > 0.0)) {
        return 0;
    }
    const struct soft_ball_pair b = {.rule = &ball->rule,
                                     .radius = {of->sphere.radius, 0.0},
                                     .compliance = {1.0 / of->sphere.slope, 0.0},
                                     .distance = distance,
                                     .plane = 1};
    tact_quat_rotate(normal, of->frame->quat_wxyz, local);
    return make_patch(q, &b, of->swapped, normal, of->sphere.slope * (b.radius[0] - distance),
                      patch);
}

/* 1 for a soft ball that has its own pressure field, not that of its mesh. */
static int is_soft_ball(const struct tact_shape *shape, const struct field_shape_data *data)
{
    return shape->kind == TACT_SHAPE_SPHERE && data->own && data->is_soft;
}

int tact_field_find_pair_surface(const struct tact_pair_query *q,
                                 struct tact_field_scratch *scratch,
                                 struct contact_surface_of_fields *of)
{
    const struct field_shape_data *a = q->data_a, *b = q->data_b;
    int first = is_soft_ball(q->a, a) && b->field->kind == TACT_FIELD_RIGID;
    int second = is_soft_ball(q->b, b) && a->field->kind == TACT_FIELD_RIGID;
    if (!first && !second) {
        return tact_field_find_contact_surface(a->field, q->pose_a, b->field, q->pose_b, scratch,
                                               of);
    }
    const struct field_shape_data *ball = first ? a : b, *rigid = first ? b : a;
    const struct field_sphere sphere = {(first ? q->a : q->b)->size[0], ball->slope,
                                        ball->rule.power};
    int rc = tact_field_find_ball_surface(&sphere, ball->field, first ? q->pose_a : q->pose_b,
                                          rigid->field, first ? q->pose_b : q->pose_a, scratch, of);
    of->swapped = !first;
    return rc;
}
