/*
 * A soft ball on a rigid surface of triangles: finds the triangles in the ball, each with the
 * polygon of its part in the ball. The corners of a polygon on the ball are a few points of its
 * arcs, for outlines, parts of the pressure and maps; its integrals are exact.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/field/field_sphere_internal.h"

#define PI 3.14159265358979323846

/* Number of points on a whole circle: with two ends of each of three edges the corners of a
 * polygon. */
enum { ARC_POINTS = TACT_FIELD_MAX_POLYGON_CORNERS - 6 };

/* A triangle in the ball: axes of its plane, t1, t2, and its outward normal, as rows; its corners
 * relative to the foot of the ball's centre in the plane. */
struct face {
    double axes[9];
    double corner[3][2];
    struct field_disc disc;
};

/* Sets the disc in which the plane of a triangle cuts the ball; 1 where it does. */
static int set_disc_of_triangle_plane(const struct contact_surface_of_fields *of,
                                      const struct field_cell *cell, struct face *out)
{
    const struct tact_pressure_field *b = of->pair.b;
    double x[3][3], along[3];
    for (int k = 0; k < 3; k++) {
        tact_m3_mul_v3(x[k], of->pair.rotation, b->vertices + 3 * (size_t)cell->corner[k]);
        tact_v3_add(x[k], x[k], of->pair.shift);
    }
    tact_m3_mul_v3(out->axes + 6, of->pair.rotation, cell->gradient);
    tact_v3_scale(out->axes + 6, out->axes + 6, -1.0);
    out->disc.ball = &of->sphere;
    out->disc.height = -tact_v3_dot(out->axes + 6, x[0]);
    out->disc.rim = (of->sphere.radius - out->disc.height) * (of->sphere.radius + out->disc.height);
    if (!(out->disc.rim > 0.0)) {
        return 0;
    }
    tact_v3_sub(along, x[1], x[0]);
    tact_v3_normalize(out->axes, along);
    tact_v3_cross(out->axes + 3, out->axes + 6, out->axes);
    for (int k = 0; k < 3; k++) {
        out->corner[k][0] = tact_v3_dot(out->axes, x[k]);
        out->corner[k][1] = tact_v3_dot(out->axes + 3, x[k]);
    }
    return 1;
}

/* Adds a corner to a polygon's outline; -ENOSPC where the polygon is full. */
static int add_outline_corner(const struct face *face, const double *at, int side,
                              struct contact_surface_polygon *p)
{
    if (p->corners == TACT_FIELD_MAX_POLYGON_CORNERS) {
        return -ENOSPC;
    }
    double *x = p->corner[p->corners];
    tact_v3_scale(x, face->axes + 6, -face->disc.height);
    tact_v3_axpy(x, at[0], face->axes);
    tact_v3_axpy(x, at[1], face->axes + 3);
    p->side[p->corners++] = (int16_t)side;
    return 0;
}

/* Angle of the arc from the end of edge k to the start of edge `next`, 0 or above: that of the
 * edges between, outside the disc. The angle of the two points alone does not distinguish no turn
 * from a whole one where they are equal to rounding. */
static double disc_arc_angle(const struct field_disc_part part[3], int k, int next)
{
    double sum = part[k].angle_after_part_in_disc;
    for (int i = (k + 1) % 3; i != next; i = (i + 1) % 3) {
        sum += part[i].angle_before_part_in_disc;
    }
    return tact_max(sum + part[next].angle_before_part_in_disc, 0.0);
}

/* Adds corners on an arc of the disc, which begins at a point, without the arc's other end. */
static int add_outline_corners_on_arc(const struct face *face, const double *from, double angle,
                                      struct contact_surface_polygon *p)
{
    int steps = 1 + (int)(angle * (ARC_POINTS / (2.0 * PI))), rc = 0;
    for (int i = 0; !rc && i < steps; i++) {
        double c = tact_cos(angle * i / steps), s = tact_sin(angle * i / steps);
        const double at[2] = {c * from[0] - s * from[1], s * from[0] + c * from[1]};
        rc = add_outline_corner(face, at, -1, p);
    }
    return rc;
}

/* The arcs of a polygon do not overlap, so that three edges and their arcs have at most
 * TACT_FIELD_MAX_POLYGON_CORNERS. */
static int trace_disc_polygon_outline(const struct face *face, const struct field_disc_part part[3],
                                      struct contact_surface_polygon *p)
{
    int rc = 0;
    p->corners = 0;
    if (!part[0].has_edge_part_in_disc && !part[1].has_edge_part_in_disc &&
        !part[2].has_edge_part_in_disc) {
        for (int i = 0; !rc && i < ARC_POINTS; i++) {
            double angle = 2.0 * PI * i / ARC_POINTS, rim = sqrt(face->disc.rim);
            const double at[2] = {rim * tact_cos(angle), rim * tact_sin(angle)};
            rc = add_outline_corner(face, at, -1, p);
        }
        return rc;
    }
    for (int k = 0; !rc && k < 3; k++) {
        if (!part[k].has_edge_part_in_disc) {
            continue;
        }
        int next = (k + 1) % 3;
        while (!part[next].has_edge_part_in_disc) {
            next = (next + 1) % 3;
        }
        rc = add_outline_corner(face, part[k].end[0], 4 + k, p);
        /* an edge that ends on the circle to rounding may not leave the disc, but the next edge is
         * outside */
        if (!rc && (part[k].does_edge_end_outside_disc || next != (k + 1) % 3)) {
            rc = add_outline_corners_on_arc(face, part[k].end[1], disc_arc_angle(part, k, next), p);
        }
    }
    return rc;
}

/* Converts moments in the plane about the foot of the centre to moments in space about the ball's
 * centre. */
static void disc_moments_to_space(const struct face *face, double area, const double first[2],
                                  const double second[4], struct field_moments *out)
{
    double disc_plane_offset = -face->disc.height;
    const double second_moments_in_disc_frame[9] = {second[0],
                                                    second[1],
                                                    disc_plane_offset * first[0],
                                                    second[2],
                                                    second[3],
                                                    disc_plane_offset * first[1],
                                                    disc_plane_offset * first[0],
                                                    disc_plane_offset * first[1],
                                                    disc_plane_offset * disc_plane_offset * area};
    double half[9], back[9];
    for (int k = 0; k < 9; k++) {
        back[k] = face->axes[3 * (k % 3) + k / 3];
    }
    out->area = area;
    const double place[3] = {first[0], first[1], disc_plane_offset * area};
    tact_m3_mul_v3(out->first, back, place);
    tact_m3_mul(half, back, second_moments_in_disc_frame);
    tact_m3_mul_t(out->second, half, back);
}

/* Moves the reference point of moments by x. */
static void shift_moments_reference_point(struct field_moments *m, const double *x)
{
    for (int k = 0; k < 9; k++) {
        int r = k / 3, c = k % 3;
        m->second[k] += m->area * x[r] * x[c] - m->first[r] * x[c] - x[r] * m->first[c];
    }
    tact_v3_axpy(m->first, -m->area, x);
}

/* Computes the contact polygon of a triangle. 1; 0 where none of it is in the ball; -ENOSPC. */
static int set_triangle_polygon(const struct contact_surface_of_fields *of, uint32_t index,
                                struct contact_surface_polygon *p)
{
    struct face face;
    struct field_disc_sums s;
    struct field_disc_part part[3];
    if (!set_disc_of_triangle_plane(of, &of->pair.b->cells[index], &face)) {
        return 0;
    }
    tact_field_integrate_disc_part(&face.disc, (const double(*)[2])face.corner, part, &s);
    if (!(s.load > 0.0) || !(s.area > 1e-15 * face.disc.rim)) {
        return 0;
    }
    memset(p, 0, sizeof *p);
    p->b = index;
    p->sphere = &of->sphere;
    p->power = of->sphere.power;
    p->pressure_gradient_difference = 1.0;
    tact_v3_scale(p->normal, face.axes + 6, -1.0);
    tact_v3_copy(p->gradient_b, p->normal);
    if (trace_disc_polygon_outline(&face, part, p)) {
        return -ENOSPC;
    }
    disc_moments_to_space(&face, s.area, s.first, s.second, &p->area_moments);
    disc_moments_to_space(&face, s.stiffness_integral_over_disc, s.stiffness_first,
                          s.stiffness_second, &p->stiffness_moments);
    shift_moments_reference_point(&p->area_moments, p->corner[0]);
    p->level = tact_field_pressure_level(p, p->corner[0]);
    p->load = s.load;
    for (int k = 0; k < 3; k++) {
        p->lever[k] = face.axes[k] * s.load_first[0] + face.axes[3 + k] * s.load_first[1] -
                      s.load * (face.disc.height * face.axes[6 + k] + p->corner[0][k]);
    }
    return 1;
}

static int does_box_meet_ball(const struct field_box *box, const double *centre, double radius)
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        double coordinate_distance_beyond_box =
            tact_max(fabs(centre[k] - box->middle[k]) - box->half[k], 0.0);
        square += coordinate_distance_beyond_box * coordinate_distance_beyond_box;
    }
    return square < radius * radius;
}

int tact_field_make_ball_polygons(struct contact_surface_of_fields *out, size_t most)
{
    const struct tact_pressure_field *b = out->pair.b;
    uint32_t stack[TACT_FIELD_DEPTH + 2];
    double centre[3];
    int height = 0;
    tact_m3_tmul_v3(centre, out->pair.rotation, out->pair.shift);
    tact_v3_scale(centre, centre, -1.0);
    stack[height++] = 0;
    while (height) {
        const struct field_node *node = &b->nodes[stack[--height]];
        if (!does_box_meet_ball(&node->all, centre, out->sphere.radius)) {
            continue;
        }
        if (!node->leaf) {
            stack[height++] = node->first + 1;
            stack[height++] = node->first;
        } else if (out->count == most) {
            return -ENOSPC;
        } else {
            out->tried++;
            int rc = set_triangle_polygon(out, node->first, &out->polygon[out->count]);
            if (rc < 0) {
                return rc;
            }
            out->count += (size_t)rc;
        }
    }
    out->pieces = out->count > 0;
    return out->count > 0;
}

double tact_field_plane_distance_of_disc(const struct contact_surface_of_fields *of,
                                         double normal[3])
{
    const struct contact_surface_polygon *p = of->polygon;
    double radius = of->sphere.radius, height = tact_v3_dot(p->normal, p->corner[0]), area = 0.0;
    for (size_t i = 0; i < of->count; i++) {
        double height_of_other_face_plane = tact_v3_dot(p[i].normal, p[i].corner[0]);
        if (fabs(height_of_other_face_plane - height) > 1e-12 * radius ||
            !(tact_v3_dot(p[i].normal, p->normal) > 1.0 - 1e-12)) {
            return 0.0;
        }
        area += p[i].area_moments.area;
    }
    tact_v3_scale(normal, p->normal, -1.0);
    double rim = radius * radius - height * height;
    return height > 0.0 && fabs(area - PI * rim) < 1e-9 * rim ? height : 0.0;
}

/* Stiffness of a polygon in a ball, about a point from which the ball's centre is at a. A twist (v,
 * w) there moves x, from the centre, at v + w x (a + x). The gradient -w x of the ball is not
 * changed by a rotation about the centre, so that the integrand is w sym[(x.v1 + (a cross x).w1)
 * (n.v2 + ((a + x) cross n).w2)]. */
void tact_field_add_stiffness_in_ball(const struct contact_surface_polygon *p, const double *origin,
                                      double *stiffness)
{
    const struct field_moments *m = &p->stiffness_moments;
    double unsymmetric_polygon_stiffness[36], a[3], lever[3];
    tact_v3_scale(a, origin, -1.0);
    tact_v3_cross(lever, a, p->normal);
    for (int r = 0; r < 3; r++) {
        double *row = unsymmetric_polygon_stiffness + 6 * r;
        tact_v3_cross(row + 3, m->second + 3 * r, p->normal);
        tact_v3_axpy(row + 3, m->first[r], lever);
        tact_v3_scale(row, p->normal, m->first[r]);
    }
    for (int c = 0; c < 6; c++) {
        const double column[3] = {unsymmetric_polygon_stiffness[c],
                                  unsymmetric_polygon_stiffness[6 + c],
                                  unsymmetric_polygon_stiffness[12 + c]};
        double torque_stiffness_column[3];
        tact_v3_cross(torque_stiffness_column, a, column);
        unsymmetric_polygon_stiffness[18 + c] = torque_stiffness_column[0];
        unsymmetric_polygon_stiffness[24 + c] = torque_stiffness_column[1];
        unsymmetric_polygon_stiffness[30 + c] = torque_stiffness_column[2];
    }
    for (int k = 0; k < 36; k++) {
        stiffness[k] += 0.5 * (unsymmetric_polygon_stiffness[k] +
                               unsymmetric_polygon_stiffness[6 * (k % 6) + k / 6]);
    }
}
