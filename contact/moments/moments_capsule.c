/*
 * Exact moments of a capsule with a closed mesh, or with a half-space.
 *
 * In each part of the capsule, a cylinder about the axis and two half balls, every moment is the
 * integral of the divergence of a field whose flux is zero through the part's surface and zero or
 * known through the planes between the parts. What remains are integrals over the other solid's
 * faces within the part (D, outward normals n, r from the part's origin). In a half ball, with G =
 * r/3 (1 - R^3/r^3):
 *
 *   1: G    r_i: (r r_i - R^2 e_i) / 4
 *   r_i r_j: r r_i r_j / 5 - R^2 (r_i e_j + r_j e_i) / 10 + delta_ij R^2 G / 5
 *
 * and in the cylinder, with s = r without its axial term z, G = s/2 (1 - R^2/s^2), i and j across:
 *
 *   z^k: z^k G    r_i z^k: z^k (s r_i - R^2 e_i) / 3
 *   r_i r_j: s r_i r_j / 4 - R^2 (r_i e_j + r_j e_i) / 8 + delta_ij R^2 G / 4
 *
 * All are polynomials over D, except the volume of a half ball, which contains D's solid angle, and
 * in the cylinder the integrals of z^k dtheta dz, k = 0, 1, 2. Around a face these are line
 * integrals of (1 - |z|/R) dtheta and of z^(k+1)/(k+1) dtheta. Those along edges cancel between the
 * faces that share them. What remains is the curve where the faces end on the capsule's surface,
 * and the planes between the parts, whose discs are measured from the segments in which faces cross
 * them. Only for the two ends of the axis must it be known whether they are inside.
 */
#include <string.h>

#include "contact/mesh/mesh_internal.h"
#include "contact/moments/moments_capsule_internal.h"
#include "contact/moments/moments_inside_internal.h"

static const double PI = 3.14159265358979323846;

/* Distance of a face from an end of the axis, over the radius, below which the capsule is measured
 * displaced by twice that distance: angles about the end lose their digits or change sign. */
static const double CAPSULE_END_TO_FACE_TOLERANCE = 1e-8;

/* Distance of a capsule from a facet's plane, over the sizes of mesh and capsule, from which the
 * capsule counts as beyond the facet: larger than the displacement of the capsule off a face. */
static const double CAPSULE_BEYOND_FACET_MARGIN = 1e-7;

static const int ROW[6] = {0, 1, 2, 0, 0, 1}, COLUMN[6] = {0, 1, 2, 1, 2, 2};

static void init_capsule_sums(struct tact_capsule_sums *sums, double radius, double half,
                              double tolerance)
{
    memset(sums, 0, sizeof *sums);
    sums->radius = radius;
    sums->half = half;
    sums->tolerance = tolerance * radius;
    sums->middle = NAN;
}

/* Adds the moments of a part of a capsule, given about the part's origin, which is at `height`
 * above the origin of the sums. */
static void add_capsule_part_sums(struct tact_moment_sums *to, const struct tact_moment_sums *part,
                                  const struct tact_capsule_face_sums *faces, double height)
{
    const double *m = faces->normal_position_moment, *area = faces->area,
                 shift[3] = {0.0, 0.0, height};
    to->volume += part->volume;
    to->volume_term_magnitude += faces->volume_term_magnitude + fabs(part->volume_term_magnitude);
    for (int k = 0; k < 3; k++) {
        to->first[k] += part->first[k] + part->volume * shift[k];
        to->gradient[k] -= area[k];
    }
    for (int k = 0; k < 6; k++) {
        int i = ROW[k], j = COLUMN[k];
        to->second[k] += part->second[k] + shift[i] * part->first[j] + part->first[i] * shift[j] +
                         shift[i] * shift[j] * part->volume;
    }
    to->torque[0] -= m[7] - m[5] - height * area[1];
    to->torque[1] -= m[2] - m[6] + height * area[0];
    to->torque[2] -= m[3] - m[1];
}

/* Finishes the moments of a capsule's half ball: side 1 above the cylinder, -1 below.
 * circle_angle: angle of the circle between the two that is inside the other solid. */
static void finish_half_ball_moments(const struct tact_capsule_sums *s, int index,
                                     double circle_angle, struct tact_moment_sums *out)
{
    const struct tact_capsule_face_sums *f = &s->faces[index];
    const struct tact_capsule_end_plane_section *c = &s->slices_at_axis_ends[index];
    double side = index == TACT_CAPSULE_UPPER ? 1.0 : -1.0, r = s->radius, r2 = r * r;
    double area = 0.5 * (c->twice_area + r2 * circle_angle);
    memset(out, 0, sizeof *out);
    out->volume_term_magnitude = r2 * r * circle_angle;
    out->volume =
        (f->weighted[3][3] + r2 * r * (circle_angle - f->surface_contour_integrals[0])) / 3.0;
    for (int k = 0; k < 3; k++) {
        out->first[k] = 0.25 * (f->weighted[k][3] - r2 * f->area[k]);
    }
    out->first[2] += 0.25 * side * r2 * area;
    for (int k = 0; k < 6; k++) {
        int i = ROW[k], j = COLUMN[k];
        out->second[k] =
            0.2 * f->weighted[ROW[k]][COLUMN[k]] -
            0.1 * r2 *
                (f->normal_position_moment[3 * i + j] + f->normal_position_moment[3 * j + i]) +
            (i == j ? 0.2 * r2 * out->volume : 0.0);
    }
    out->second[4] += 0.1 * side * r2 / 3.0 * (c->first[0] - r2 * c->along[1]);
    out->second[5] += 0.1 * side * r2 / 3.0 * (c->first[1] + r2 * c->along[0]);
}

/* Finishes the moments of a capsule's cylinder, between two heights z from its origin. */
static void finish_cylinder_moments(const struct tact_capsule_sums *s, const double circle_angle[2],
                                    const double z[2], struct tact_moment_sums *out)
{
    const struct tact_capsule_face_sums *f = &s->faces[TACT_CAPSULE_MIDDLE];
    double r2 = s->radius * s->radius, round[3], up = z[0], down = z[1];
    memset(out, 0, sizeof *out);
    /* Integrals of z^k dtheta dz over the cylinder's surface inside the other solid. */
    for (int k = 0; k < 3; k++) {
        round[k] = f->surface_contour_integrals[k] +
                   (circle_angle[0] * up - circle_angle[1] * down) / (k + 1);
        up *= z[0];
        down *= z[1];
    }
    out->volume_term_magnitude = r2 * (circle_angle[0] * fabs(z[0]) + circle_angle[1] * fabs(z[1]));
    out->volume = 0.5 * (f->weighted[3][3] + r2 * round[0]);
    out->first[2] = 0.5 * (f->weighted[2][3] + r2 * round[1]);
    out->second[2] = 0.5 * (f->weighted[2][2] + r2 * round[2]);
    for (int k = 0; k < 2; k++) {
        out->first[k] = (f->weighted[k][3] - r2 * f->area[k]) / 3.0;
        out->second[k] = 0.25 * (f->weighted[ROW[k]][COLUMN[k]] -
                                 r2 * f->normal_position_moment[4 * k] + r2 * out->volume);
        out->second[4 + k] = (f->weighted[k][2] - r2 * f->normal_position_moment[3 * k + 2]) / 3.0;
    }
    out->second[3] = 0.25 * f->weighted[0][1] -
                     0.125 * r2 * (f->normal_position_moment[1] + f->normal_position_moment[3]);
}

/* Converts a capsule's sums to moments. is_axis_end_inside_solid: whether the upper and the lower
 * end of its axis are inside the other solid. centre: of the capsule; axes: the columns of rot,
 * world. */
static int finish_capsule_moments(const struct tact_capsule_sums *s,
                                  const int is_axis_end_inside_solid[2], const double rot[9],
                                  const double centre[3], struct tact_moments *out)
{
    double middle = isnan(s->middle) ? 0.0 : s->middle, axes[9], origin[3], circle_angle[2];
    const double z[2] = {s->half - middle, -s->half - middle};
    struct tact_moment_sums sums, part;
    memset(&sums, 0, sizeof sums);
    for (int i = 0; i < 2; i++) {
        circle_angle[i] =
            (is_axis_end_inside_solid[i] ? 2.0 * PI : 0.0) - s->slices_at_axis_ends[i].circle_angle;
        finish_half_ball_moments(s, i, circle_angle[i], &part);
        add_capsule_part_sums(&sums, &part, &s->faces[i], z[i]);
    }
    finish_cylinder_moments(s, circle_angle, z, &part);
    add_capsule_part_sums(&sums, &part, &s->faces[TACT_CAPSULE_MIDDLE], 0.0);
    for (int i = 0; i < 9; i++) {
        axes[i] = rot[3 * (i % 3) + i / 3];
    }
    tact_v3_copy(origin, centre);
    tact_v3_axpy(origin, middle, axes + 6);
    return tact_moment_sums_finish(&sums, axes, origin, out);
}

static void transform_capsule_to_mesh(const double capsule_rotation[9], const double centre[3],
                                      const struct tact_pose *pb, double half,
                                      struct tact_capsule_in_mesh_frame *p)
{
    double rb[9], capsule_centre_offset[3],
        axis[3] = {capsule_rotation[2], capsule_rotation[5], capsule_rotation[8]};
    tact_quat_to_m3(rb, pb->quat_wxyz);
    tact_v3_sub(capsule_centre_offset, centre, pb->position);
    tact_m3_tmul_v3(p->centre, rb, capsule_centre_offset);
    tact_m3_tmul_v3(p->axis, rb, axis);
    tact_v3_scale(p->axis, p->axis, half);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            p->rot[3 * i + j] = capsule_rotation[i] * rb[j] + capsule_rotation[3 + i] * rb[3 + j] +
                                capsule_rotation[6 + i] * rb[6 + j];
        }
    }
}

/* Displaces a capsule off a face that contains an end of its axis. */
static void shift_capsule_off_face(double radius, double centre[3])
{
    static const double capsule_shift_direction_off_face[3] = {0.48, 0.64, 0.6};
    tact_v3_axpy(centre, 2.0 * CAPSULE_END_TO_FACE_TOLERANCE * radius,
                 capsule_shift_direction_off_face);
}

/* Squared distance of two segments with half vectors a and b, whose middles differ by r: from the
 * nearest points of the lines, then of each segment to an end of the other (Ericson, Real-Time
 * Collision Detection, section 5.1.9). */
static double squared_segment_distance(const double r[3], const double a[3], const double b[3])
{
    double aa = tact_v3_dot(a, a), bb = tact_v3_dot(b, b), ab = tact_v3_dot(a, b);
    double ar = tact_v3_dot(a, r), br = tact_v3_dot(b, r), det = aa * bb - ab * ab, d[3];
    double s = det > 0.0 ? tact_min(tact_max((ar * bb - br * ab) / det, -1.0), 1.0) : 0.0;
    double t = bb > 0.0 ? (s * ab - br) / bb : 0.0;
    if (!(fabs(t) <= 1.0)) {
        t = t > 0.0 ? 1.0 : -1.0;
        s = aa > 0.0 ? tact_min(tact_max((ar + t * ab) / aa, -1.0), 1.0) : 0.0;
    }
    for (int k = 0; k < 3; k++) { /* from s a to r + t b */
        d[k] = r[k] + t * b[k] - s * a[k];
    }
    return tact_v3_dot(d, d);
}

/* 1 where capsule b, whose triangulation extends slightly beyond it, may reach into capsule a. */
static int can_capsules_overlap(const struct tact_shape *a, const struct tact_pose *pa,
                                const struct tact_shape *b, const struct tact_pose *pb)
{
    double capsule_centre_offset[3], axis[2][3], up[3] = {0.0, 0.0, 1.0};
    double most = a->size[0] + b->mesh->nodes[0].upper[2] - b->size[1];
    tact_v3_sub(capsule_centre_offset, pb->position, pa->position);
    tact_quat_rotate(axis[0], pa->quat_wxyz, up);
    tact_quat_rotate(axis[1], pb->quat_wxyz, up);
    tact_v3_scale(axis[0], axis[0], a->size[1]);
    tact_v3_scale(axis[1], axis[1], b->size[1]);
    return squared_segment_distance(capsule_centre_offset, axis[0], axis[1]) <= most * most;
}

int tact_moments_capsule_capsule(const struct tact_shape *a, const struct tact_pose *pa,
                                 const struct tact_shape *b, const struct tact_pose *pb,
                                 struct tact_moments *out)
{
    return can_capsules_overlap(a, pa, b, pb)
               ? tact_moments_capsule_mesh(a->size, pa, b->mesh, pb, out)
               : 0;
}

/* 1 where a facet of a convex mesh has all of the capsule on its outside: the two do not overlap.
 */
static int is_capsule_beyond_facet(const struct tact_mesh_facets *facets,
                                   const struct tact_capsule_in_mesh_frame *p)
{
    const double least = p->radius + CAPSULE_BEYOND_FACET_MARGIN * (facets->size + p->radius);
    for (uint32_t i = 0; i < facets->count; i++) {
        const double height = tact_v3_dot(facets->normal[i], p->centre) - facets->distance[i];
        if (height - fabs(tact_v3_dot(facets->normal[i], p->axis)) > least) {
            return 1;
        }
    }
    return 0;
}

int tact_moments_capsule_mesh(const double size[3], const struct tact_pose *pa,
                              const struct tact_mesh *mesh, const struct tact_pose *pb,
                              struct tact_moments *out)
{
    double capsule_rotation[9], centre[3], radius = size[0], half = size[1], end[3];
    struct tact_capsule_sums sums;
    struct tact_capsule_in_mesh_frame p = {.radius = radius};
    int is_axis_end_inside_solid[2];
    tact_quat_to_m3(capsule_rotation, pa->quat_wxyz);
    tact_v3_copy(centre, pa->position);
    transform_capsule_to_mesh(capsule_rotation, centre, pb, half, &p);
    if (mesh->facets && is_capsule_beyond_facet(mesh->facets, &p)) {
        return 0;
    }
    init_capsule_sums(&sums, radius, half, CAPSULE_END_TO_FACE_TOLERANCE);
    tact_capsule_add_mesh(mesh, &p, &sums);
    if (sums.has_face_within_end_tolerance) {
        shift_capsule_off_face(radius, centre);
        transform_capsule_to_mesh(capsule_rotation, centre, pb, half, &p);
        init_capsule_sums(&sums, radius, half, 0.0);
        tact_capsule_add_mesh(mesh, &p, &sums);
    }
    for (int i = 0; i < 2; i++) {
        tact_v3_copy(end, p.centre);
        tact_v3_axpy(end, i == TACT_CAPSULE_UPPER ? 1.0 : -1.0, p.axis);
        is_axis_end_inside_solid[i] = i > 0 && !sums.was_face_cut_by_capsule
                                          ? is_axis_end_inside_solid[0]
                                          : tact_mesh_contains(mesh, end, radius);
    }
    if (!sums.was_face_cut_by_capsule && !is_axis_end_inside_solid[0]) {
        return 0;
    }
    return finish_capsule_moments(&sums, is_axis_end_inside_solid, capsule_rotation, centre, out);
}

/* Adds the part of a plane near a capsule: a square larger than its farthest points. */
static void add_plane_square_near_capsule(const double normal[3], double distance,
                                          struct tact_capsule_sums *sums)
{
    static const double way[4][2] = {{1.0, 1.0}, {-1.0, 1.0}, {-1.0, -1.0}, {1.0, -1.0}};
    double t1[3], t2[3], corner[4][3], wide = 2.0 * (sums->radius + sums->half);
    tact_v3_tangents(normal, t1, t2);
    for (int i = 0; i < 4; i++) {
        tact_v3_scale(corner[i], normal, distance);
        tact_v3_axpy(corner[i], wide * way[i][0], t1);
        tact_v3_axpy(corner[i], wide * way[i][1], t2);
    }
    tact_capsule_add_face(sums, corner, 4);
}

int tact_moments_capsule_halfspace(const double size[3], const struct tact_pose *pa,
                                   const struct tact_pose *pb, struct tact_moments *out)
{
    double capsule_rotation[9], rb[9], centre[3], capsule_centre_offset[3], normal[3],
        radius = size[0], half = size[1];
    struct tact_capsule_sums sums;
    int is_axis_end_inside_solid[2];
    tact_quat_to_m3(capsule_rotation, pa->quat_wxyz);
    tact_quat_to_m3(rb, pb->quat_wxyz);
    tact_v3_copy(centre, pa->position);
    const double up[3] = {rb[2], rb[5], rb[8]};
    tact_m3_tmul_v3(normal, capsule_rotation, up);
    tact_v3_sub(capsule_centre_offset, pb->position, centre);
    double distance = tact_v3_dot(up, capsule_centre_offset);
    init_capsule_sums(&sums, radius, half, CAPSULE_END_TO_FACE_TOLERANCE);
    add_plane_square_near_capsule(normal, distance, &sums);
    if (sums.has_face_within_end_tolerance) {
        shift_capsule_off_face(radius, centre);
        tact_v3_sub(capsule_centre_offset, pb->position, centre);
        distance = tact_v3_dot(up, capsule_centre_offset);
        init_capsule_sums(&sums, radius, half, 0.0);
        add_plane_square_near_capsule(normal, distance, &sums);
    }
    is_axis_end_inside_solid[TACT_CAPSULE_UPPER] = normal[2] * half <= distance;
    is_axis_end_inside_solid[TACT_CAPSULE_LOWER] = -normal[2] * half <= distance;
    return finish_capsule_moments(&sums, is_axis_end_inside_solid, capsule_rotation, centre, out);
}
