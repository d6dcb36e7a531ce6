/*
 * A soft ball on a rigid triangle, exactly: integrals over the part of the triangle in the ball.
 *
 * The pressure p = q^m, q = s (R - r), depends only on the distance r from the centre. In the
 * triangle's plane, at the distance d from the centre, r^2 = d^2 + x^2 + y^2 about the foot of the
 * centre. With dA/dr = -p r, A(R) = 0, the gradients in the plane are those of A: -p (x, y), of p:
 * -w (x, y), w = -p'/r, and of a = (R^2 - r^2) / 2: -(x, y). All three are 0 on the ball, so that
 *
 *   int p (x, y) = -oint A n ds,  int w (x, y) = -oint p n ds,  int (x, y) = -oint a n ds,
 *   int w x_i x_j = delta_ij int p - oint x_i p n_j ds,  int x_i x_j = delta_ij int a - oint x_i a
 *   n_j ds
 *
 * with integrals over the straight edges in the ball only. What is left are integrals of f = p, w,
 * 1 and a themselves: oint F(rho) / rho^2 (x.n) ds, F = int f rho d rho from 0, over the edges in
 * the ball, plus F(rim) times the angle of the edges outside.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/field/field_sphere_internal.h"

#define PI 3.14159265358979323846

/* Potentials at distance r from the ball's centre; square: r^2. */
static struct field_potentials compute_field_potentials(const struct field_sphere *ball,
                                                        double square)
{
    double u = tact_max(ball->radius - sqrt(square), 0.0), m = ball->power;
    double p = tact_field_pressure_of_level(m, ball->slope * u);
    return (struct field_potentials){p * u * (ball->radius / (m + 1.0) - u / (m + 2.0)), p,
                                     0.5 * tact_max(ball->radius * ball->radius - square, 0.0)};
}

/* Adds the part of an edge in the ball to the sums. middle: the potentials at the foot. */
static void add_edge_part_in_ball(const struct field_disc *disc,
                                  const struct field_potentials *middle,
                                  const struct field_disc_part *part, struct field_disc_sums *out)
{
    const double h = part->distance, *e = part->unit_edge_direction, n[2] = {e[1], -e[0]};
    struct field_edge_sums sums, *s = &sums;
    tact_field_integrate_edge_in_disc(disc, middle, h, part->t, s);
    out->load += s->radial_edge_integrals.load;
    out->stiffness_integral_over_disc += s->radial_edge_integrals.spring;
    out->area += s->radial_edge_integrals.area;
    out->squared_rim_distance_integral += s->radial_area_integral;
    for (int i = 0; i < 2; i++) {
        out->load_first[i] -= n[i] * s->line.load;
        out->stiffness_first[i] -= n[i] * s->line.spring;
        out->first[i] -= n[i] * s->line.area;
        for (int j = 0; j < 2; j++) {
            out->stiffness_second[2 * i + j] -=
                (h * n[i] * s->line.spring + e[i] * s->position_weighted_integrals.spring) * n[j];
            out->second[2 * i + j] -=
                (h * n[i] * s->line.area + e[i] * s->position_weighted_integrals.area) * n[j];
        }
    }
}

static void finish_disc_sums(struct field_disc_sums *s)
{
    for (int i = 0; i < 4; i += 3) {
        s->stiffness_second[i] += s->load;
        s->second[i] += s->squared_rim_distance_integral;
    }
    s->stiffness_second[1] = s->stiffness_second[2] =
        0.5 * (s->stiffness_second[1] + s->stiffness_second[2]);
    s->second[1] = s->second[2] = 0.5 * (s->second[1] + s->second[2]);
}

/* Places an edge from corner p to corner q. */
static void place_edge_in_disc(const struct field_disc *disc, const double *p, const double *q,
                               struct field_disc_part *part)
{
    const double d[2] = {q[0] - p[0], q[1] - p[1]}, length = sqrt(d[0] * d[0] + d[1] * d[1]);
    const double e[2] = {d[0] / length, d[1] / length}, n[2] = {e[1], -e[0]};
    const double h = p[0] * n[0] + p[1] * n[1], reach = sqrt(tact_max(disc->rim - h * h, 0.0));
    const double from = p[0] * e[0] + p[1] * e[1], to = q[0] * e[0] + q[1] * e[1];
    part->t[0] = tact_max(from, -reach);
    part->t[1] = tact_min(to, reach);
    part->has_edge_part_in_disc = part->t[0] < part->t[1];
    part->does_edge_start_outside_disc = from < part->t[0];
    part->does_edge_end_outside_disc = part->t[1] < to;
    part->distance = h;
    for (int i = 0; i < 2; i++) {
        part->unit_edge_direction[i] = e[i];
        part->end[0][i] = h * n[i] + part->t[0] * e[i];
        part->end[1][i] = h * n[i] + part->t[1] * e[i];
    }
}

/* Sets the angles of the parts of an edge outside the ball; an edge that is wholly outside counts
 * as before the part. */
static void set_edge_angles_outside_disc(const double *p, const double *q,
                                         struct field_disc_part *part)
{
    part->angle_before_part_in_disc = part->angle_after_part_in_disc = 0.0;
    if (!part->has_edge_part_in_disc) {
        part->angle_before_part_in_disc = tact_field_angle_seen_from_foot(p, q);
        return;
    }
    if (part->does_edge_start_outside_disc) {
        part->angle_before_part_in_disc = tact_field_angle_seen_from_foot(p, part->end[0]);
    }
    if (part->does_edge_end_outside_disc) {
        part->angle_after_part_in_disc = tact_field_angle_seen_from_foot(part->end[1], q);
    }
}

/* Adds the sector of the disc that belongs to an angle of edges outside the ball; middle: the
 * potentials at the foot. */
static void add_disc_sector_of_edge(const struct field_disc *disc,
                                    const struct field_potentials *middle, double angle,
                                    struct field_disc_sums *out)
{
    out->load += angle * middle->load;
    out->stiffness_integral_over_disc += angle * middle->spring;
    out->area += angle * 0.5 * disc->rim;
    out->squared_rim_distance_integral += angle * 0.125 * disc->rim * disc->rim;
}

void tact_field_integrate_disc_part(const struct field_disc *disc, const double (*corner)[2],
                                    struct field_disc_part part[3], struct field_disc_sums *out)
{
    struct field_potentials middle;
    int inside = 0, is_foot_in_triangle = 1;
    memset(out, 0, sizeof *out);
    for (int k = 0; k < 3; k++) {
        place_edge_in_disc(disc, corner[k], corner[(k + 1) % 3], &part[k]);
        inside += part[k].has_edge_part_in_disc;
        is_foot_in_triangle = is_foot_in_triangle && part[k].distance > 0.0;
    }
    if (!inside && !is_foot_in_triangle) {
        return;
    }
    middle = compute_field_potentials(disc->ball, disc->height * disc->height);
    if (!inside) {
        add_disc_sector_of_edge(disc, &middle, 2.0 * PI, out);
    }
    for (int k = 0; k < 3 && inside; k++) {
        set_edge_angles_outside_disc(corner[k], corner[(k + 1) % 3], &part[k]);
        add_disc_sector_of_edge(
            disc, &middle, part[k].angle_before_part_in_disc + part[k].angle_after_part_in_disc,
            out);
        if (part[k].has_edge_part_in_disc) {
            add_edge_part_in_ball(disc, &middle, &part[k], out);
        }
    }
    finish_disc_sums(out);
}
