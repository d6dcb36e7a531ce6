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

/* Nodes of Gauss-Legendre quadrature from the middle to the right end, and their weights. */
enum { SHORT_EDGE_NODES = 3, LONG_EDGE_NODES = 8 };
static const double short_edge_node[SHORT_EDGE_NODES] = {0.2386191860831969, 0.66120938646626448,
                                                         0.93246951420315205};
static const double short_edge_weight[SHORT_EDGE_NODES] = {0.46791393457269104, 0.36076157304813861,
                                                           0.17132449237917036};
static const double long_edge_node[LONG_EDGE_NODES] = {
    0.095012509837637441, 0.28160355077925892, 0.45801677765722737, 0.61787624440264377,
    0.755404408355003,    0.86563120238783176, 0.9445750230732326,  0.98940093499164994};
static const double long_edge_weight[LONG_EDGE_NODES] = {
    0.1894506104550685,  0.18260341504492358,  0.16915651939500254,  0.14959598881657674,
    0.12462897125553388, 0.095158511682492786, 0.062253523938647894, 0.027152459411754096};

/* Length of an edge, relative to the radius, below which few nodes integrate a linear pressure's
 * ball. */
#define SHORT_EDGE_MAX_RATIO 0.25

/* Square of a line's distance from the ball's centre, relative to the squared radius, below which
 * the line is divided. */
#define MAX_UNDIVIDED_LINE_DISTANCE_RATIO 0.25

/* The four integrands p, w, 1 and a, in this order, at a point. */
enum { LOAD, SPRING, AREA, REST, KINDS };

/* The potentials A, p and a at distance r from the ball's centre. */
struct potentials {
    double load, spring, area;
};

static struct potentials potentials_at(const struct field_sphere *ball, double square)
{
    double u = tact_max(ball->radius - sqrt(square), 0.0), m = ball->power;
    double p = tact_field_pressure_law(m, ball->slope * u);
    return (struct potentials){p * u * (ball->radius / (m + 1.0) - u / (m + 2.0)), p,
                               0.5 * tact_max(ball->radius * ball->radius - square, 0.0)};
}

/* Radial integrals F of the four integrands at distance rho from the foot of the centre. */
static void radial_integrals(const struct field_disc *disc, const struct potentials *middle,
                             double square, double *out)
{
    struct potentials at = potentials_at(disc->ball, disc->height * disc->height + square);
    out[LOAD] = middle->load - at.load;
    out[SPRING] = middle->spring - at.spring;
    out[AREA] = 0.5 * square;
    out[REST] = 0.25 * square * (disc->rim - 0.5 * square);
}

/* Integrals along the part of a triangle's edge in the ball. */
struct edge_sums {
    double radial_integral[KINDS];
    struct potentials line, lever; /* integrals of the potentials, and of the potentials times the
                                      position along the edge */
};

static void add_edge_point(const struct field_disc *disc, const struct potentials *middle, double h,
                           double t, double weight, struct edge_sums *out)
{
    double square = h * h + t * t, radial_integral[KINDS];
    struct potentials at = potentials_at(disc->ball, disc->height * disc->height + square);
    radial_integrals(disc, middle, square, radial_integral);
    for (int k = 0; k < KINDS && square > 0.0; k++) {
        out->radial_integral[k] += weight * h / square * radial_integral[k];
    }
    out->line.load += weight * at.load;
    out->line.spring += weight * at.spring;
    out->line.area += weight * at.area;
    out->lever.spring += weight * t * at.spring;
    out->lever.area += weight * t * at.area;
}

/* Integrates along a line at distance h from the foot, from t0 to t1. The variable u of t = mean +
 * half (3 u - u^3) / 2 removes the roots of a pressure at the rim. */
static void integrate_edge_part(const struct field_disc *disc, const struct potentials *middle,
                                double h, double t0, double t1, struct edge_sums *out)
{
    double mean = 0.5 * (t0 + t1), half = 0.5 * (t1 - t0);
    int is_short_edge =
        disc->ball->power == 1.0 && 2.0 * half < SHORT_EDGE_MAX_RATIO * disc->ball->radius;
    for (int i = 0; i < (is_short_edge ? SHORT_EDGE_NODES : LONG_EDGE_NODES); i++) {
        double u = is_short_edge ? short_edge_node[i] : long_edge_node[i],
               w = is_short_edge ? short_edge_weight[i] : long_edge_weight[i];
        double to = is_short_edge ? u : 0.5 * u * (3.0 - u * u),
               by = is_short_edge ? 1.0 : 1.5 * (1.0 - u * u);
        add_edge_point(disc, middle, h, mean - half * to, w * by * half, out);
        add_edge_point(disc, middle, h, mean + half * to, w * by * half, out);
    }
}

/* An edge that passes near the ball's centre, where r has a root, is divided at its nearest point.
 */
static void integrate_edge(const struct field_disc *disc, const struct potentials *middle, double h,
                           const double *t, struct edge_sums *out)
{
    double squared_line_distance = disc->height * disc->height + h * h;
    memset(out, 0, sizeof *out);
    if (t[0] < 0.0 && t[1] > 0.0 &&
        squared_line_distance <
            MAX_UNDIVIDED_LINE_DISTANCE_RATIO * disc->ball->radius * disc->ball->radius) {
        integrate_edge_part(disc, middle, h, t[0], 0.0, out);
        integrate_edge_part(disc, middle, h, 0.0, t[1], out);
    } else {
        integrate_edge_part(disc, middle, h, t[0], t[1], out);
    }
}

static void add_edge_part_outside_ball(const double *whole, const double *from, const double *to,
                                       struct field_disc_sums *out)
{
    double angle = tact_field_disc_angle(from, to);
    out->load += angle * whole[LOAD];
    out->stiffness_zeroth += angle * whole[SPRING];
    out->area += angle * whole[AREA];
    out->rest += angle * whole[REST];
}

/* Adds the part of an edge in the ball to the sums: n is its normal outward, e its direction. */
static void add_edge_part_in_ball(const struct edge_sums *s, double h, const double *n,
                                  const double *e, struct field_disc_sums *out)
{
    out->load += s->radial_integral[LOAD];
    out->stiffness_zeroth += s->radial_integral[SPRING];
    out->area += s->radial_integral[AREA];
    out->rest += s->radial_integral[REST];
    for (int i = 0; i < 2; i++) {
        out->load_first[i] -= n[i] * s->line.load;
        out->stiffness_first[i] -= n[i] * s->line.spring;
        out->first[i] -= n[i] * s->line.area;
        for (int j = 0; j < 2; j++) {
            out->stiffness_second[2 * i + j] -=
                (h * n[i] * s->line.spring + e[i] * s->lever.spring) * n[j];
            out->second[2 * i + j] -= (h * n[i] * s->line.area + e[i] * s->lever.area) * n[j];
        }
    }
}

static void finish_disc_sums(struct field_disc_sums *s)
{
    for (int i = 0; i < 4; i += 3) {
        s->stiffness_second[i] += s->load;
        s->second[i] += s->rest;
    }
    s->stiffness_second[1] = s->stiffness_second[2] =
        0.5 * (s->stiffness_second[1] + s->stiffness_second[2]);
    s->second[1] = s->second[2] = 0.5 * (s->second[1] + s->second[2]);
}

void tact_field_disc_integrate(const struct field_disc *disc, const double (*corner)[2],
                               struct field_disc_part part[3], struct field_disc_sums *out)
{
    const struct potentials middle = potentials_at(disc->ball, disc->height * disc->height);
    double whole[KINDS];
    memset(out, 0, sizeof *out);
    radial_integrals(disc, &middle, disc->rim, whole);
    for (int k = 0; k < 3; k++) {
        const double *p = corner[k], *q = corner[(k + 1) % 3];
        double e[2] = {q[0] - p[0], q[1] - p[1]}, length = tact_hypot(e[0], e[1]);
        e[0] /= length;
        e[1] /= length;
        const double n[2] = {e[1], -e[0]};
        double h = p[0] * n[0] + p[1] * n[1];
        double from = p[0] * e[0] + p[1] * e[1], to = q[0] * e[0] + q[1] * e[1];
        double reach = sqrt(tact_max(disc->rim - h * h, 0.0)), t[2];
        t[0] = tact_max(from, -reach);
        t[1] = tact_min(to, reach);
        part[k].inside = t[0] < t[1];
        part[k].leaves = t[1] < to;
        if (!part[k].inside) {
            add_edge_part_outside_ball(whole, p, q, out);
            continue;
        }
        struct edge_sums sums;
        for (int i = 0; i < 2; i++) {
            part[k].end[i][0] = h * n[0] + t[i] * e[0];
            part[k].end[i][1] = h * n[1] + t[i] * e[1];
        }
        integrate_edge(disc, &middle, h, t, &sums);
        add_edge_part_in_ball(&sums, h, n, e, out);
        if (from < t[0]) {
            add_edge_part_outside_ball(whole, p, part[k].end[0], out);
        }
        if (part[k].leaves) {
            add_edge_part_outside_ball(whole, part[k].end[1], q, out);
        }
    }
    finish_disc_sums(out);
}
