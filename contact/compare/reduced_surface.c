/*
 * Charts of smooth surfaces. Half-spaces and tori have one chart without edges. Ellipsoids have
 * six, from the faces of a cube by central projection: none of them has a pole. Solids of
 * revolution have one for each segment of their profile: in angle and arc parameter, or, where that
 * would have a pole, in plane coordinates about the axis. Patches and subdivision surfaces have
 * charts of their own.
 */
#include "contact/compare/reduced_surface_internal.h"

#include <string.h>
#include "contact/elementary.h"
#include "contact/shape/profile_internal.h"
#include "contact/shape/squares_internal.h"

enum { CUBE_FACES = 6, SIDE_LOW = 0, SIDE_HIGH = 1 };

int tact_reduced_surface_has_charts(const struct tact_shape *shape)
{
    switch (shape->kind) {
    case TACT_SHAPE_HALFSPACE:
    case TACT_SHAPE_SPHERE:
    case TACT_SHAPE_ELLIPSOID:
    case TACT_SHAPE_TORUS:
        return 1;
    case TACT_SHAPE_REVOLUTION:
    case TACT_SHAPE_PATCHES:
    case TACT_SHAPE_SUBDIVISION:
        return shape->charts && !shape->charts->edges;
    default:
        return 0;
    }
}

void tact_reduced_surface_set_pose(struct reduced_surface *surface, const struct tact_shape *shape,
                                   const struct tact_pose *pose)
{
    surface->shape = shape;
    tact_quat_to_m3(surface->rotation, pose->quat_wxyz);
    tact_v3_copy(surface->at, pose->position);
}

/* Axes of a face of the cube: axis[0] that of its normal, face / 2, in positive direction where the
 * face is even, then those of s and t, right-handed. */
static void cube_face_axes(int cube_face_number, int axis[3], double *sign)
{
    *sign = cube_face_number % 2 ? -1.0 : 1.0;
    axis[0] = cube_face_number / 2;
    axis[1] = (axis[0] + (cube_face_number % 2 ? 2 : 1)) % 3;
    axis[2] = (axis[0] + (cube_face_number % 2 ? 1 : 2)) % 3;
}

static struct chart_point chart_point_on_cube(const double direction[3])
{
    struct chart_point p;
    int axis[3], largest = 0;
    double sign;
    for (int i = 1; i < 3; i++) {
        largest = fabs(direction[i]) > fabs(direction[largest]) ? i : largest;
    }
    p.chart = 2 * largest + (direction[largest] < 0.0);
    cube_face_axes(p.chart, axis, &sign);
    p.st[0] = direction[axis[1]] / fabs(direction[largest]);
    p.st[1] = direction[axis[2]] / fabs(direction[largest]);
    return p;
}

static const double *ellipsoid_half_axes(const struct tact_shape *shape, double sphere_half_axes[3])
{
    tact_v3_set(sphere_half_axes, shape->size[0], shape->size[0], shape->size[0]);
    return shape->kind == TACT_SHAPE_SPHERE ? sphere_half_axes : shape->size;
}

static const struct revolution_surface *charts_of_revolution_shape(const struct reduced_surface *s)
{
    return (const struct revolution_surface *)s->shape->charts;
}

/* 1 where a segment of a profile begins (at = SIDE_LOW) or ends on the axis of revolution. */
static int is_segment_end_on_axis(const struct revolution_surface *v, int segment, int at)
{
    return !v->closed && segment == (at == SIDE_HIGH ? v->count - 1 : 0);
}

/* Chart coordinates of a point in a profile's segment, from arc parameter and direction of the half
 * plane. */
static struct chart_point chart_point_in_profile_segment(const struct revolution_surface *v,
                                                         int segment, const double place[3])
{
    struct chart_point p = {.chart = segment};
    const int high = is_segment_end_on_axis(v, segment, SIDE_HIGH);
    if (high || is_segment_end_on_axis(v, segment, SIDE_LOW)) {
        const double size = tact_hypot(place[1], place[2]);
        const double r = high ? v->length - place[0] : place[0];
        p.st[high ? 0 : 1] = r * place[1] / size;
        p.st[high ? 1 : 0] = r * place[2] / size;
    } else {
        p.st[0] = tact_atan2(place[2], place[1]);
        p.st[1] = place[0];
    }
    return p;
}

/* Chart coordinates of a point of a solid of revolution, from arc parameter and direction of the
 * half plane. */
static struct chart_point chart_point_on_profile(const struct revolution_surface *v,
                                                 const double place[3])
{
    int segment = 0;
    while (segment + 1 < v->count && place[0] >= v->segment[segment].to) {
        segment++;
    }
    return chart_point_in_profile_segment(v, segment, place);
}

struct chart_point tact_reduced_surface_find_chart_point(const struct reduced_surface *s,
                                                         const double place[3])
{
    double sphere_half_axes[3], d[3];
    const double *size = s->shape->size;
    switch (s->shape->kind) {
    case TACT_SHAPE_HALFSPACE:
        return (struct chart_point){0, {place[0], place[1]}};
    case TACT_SHAPE_TORUS:
        return (struct chart_point){
            0,
            {tact_atan2(place[1], place[0]),
             tact_atan2(place[2], tact_hypot(place[0], place[1]) - size[0])}};
    case TACT_SHAPE_REVOLUTION:
        return chart_point_on_profile(charts_of_revolution_shape(s), place);
    case TACT_SHAPE_PATCHES:
    case TACT_SHAPE_SUBDIVISION:
        return (struct chart_point){(int)place[0], {place[1], place[2]}};
    default:
        size = ellipsoid_half_axes(s->shape, sphere_half_axes);
        for (int i = 0; i < 3; i++) {
            d[i] = place[i] / size[i];
        }
        return chart_point_on_cube(d);
    }
}

/* Taylor polynomial of the sine (sine_derivative_order 0) or cosine (sine_derivative_order 1) of a
 * polynomial x. */
static struct jet taylor_polynomial_of_sine(const struct jet *x, int sine_derivative_order)
{
    const double s = tact_sin(x->c[0]), c = tact_cos(x->c[0]);
    const double sine_derivative_cycle[5] = {s, c, -s, -c, s};
    const double f[4] = {sine_derivative_cycle[sine_derivative_order],
                         sine_derivative_cycle[sine_derivative_order + 1],
                         sine_derivative_cycle[(sine_derivative_order + 2) % 4],
                         sine_derivative_cycle[(sine_derivative_order + 3) % 4]};
    return tact_jet_compose(x, f);
}

static void evaluate_ellipsoid_point(const struct tact_shape *shape, const struct chart_point *p,
                                     const struct jet st[2], struct jet c[3])
{
    double sphere_half_axes[3], sign;
    int axis[3];
    const double *size = ellipsoid_half_axes(shape, sphere_half_axes);
    cube_face_axes(p->chart, axis, &sign);
    c[axis[0]] = tact_jet_constant(sign);
    c[axis[1]] = st[0];
    c[axis[2]] = st[1];
    tact_jet_normalize(c, c);
    for (int i = 0; i < 3; i++) {
        c[i] = tact_jet_scale(c[i], size[i]);
    }
}

/* Point on a circle of radius r about the z axis, at height z and at an angle. */
static void evaluate_circle_point(const struct jet *r, const struct jet *z, const struct jet *angle,
                                  struct jet c[3])
{
    const struct jet x = taylor_polynomial_of_sine(angle, 1),
                     y = taylor_polynomial_of_sine(angle, 0);
    c[0] = tact_jet_multiply(r, &x);
    c[1] = tact_jet_multiply(r, &y);
    c[2] = *z;
}

static void evaluate_torus_point(const double size[3], const struct jet st[2], struct jet c[3])
{
    struct jet r = tact_jet_scale(taylor_polynomial_of_sine(&st[1], 1), size[1]);
    const struct jet z = tact_jet_scale(taylor_polynomial_of_sine(&st[1], 0), size[1]);
    r.c[0] += size[0];
    evaluate_circle_point(&r, &z, &st[0], c);
}

/* Point of a solid of revolution near the end of its profile on the axis: with d the distance from
 * the end along the profile, r = d (r_1 + r_3 d^2) is odd and z = z_0 + z_2 d^2 + z_3 d^3. At the
 * axis the third derivatives of d^3 have no limit, and are set to 0. */
static void evaluate_revolution_near_axis(const struct segment *g, int high, const struct jet st[2],
                                          struct jet c[3])
{
    const double way = high ? -1.0 : 1.0;
    const struct jet ss = tact_jet_multiply(&st[0], &st[0]), tt = tact_jet_multiply(&st[1], &st[1]);
    const struct jet dd = tact_jet_add(ss, tt);
    struct jet radius_per_pole_distance = tact_jet_scale(dd, way * g->r[3]);
    radius_per_pole_distance.c[0] += way * g->r[1];
    c[high ? 0 : 1] = tact_jet_multiply(&st[0], &radius_per_pole_distance);
    c[high ? 1 : 0] = tact_jet_multiply(&st[1], &radius_per_pole_distance);
    c[2] = tact_jet_scale(dd, g->z[2]);
    c[2].c[0] += g->z[0];
    if (dd.c[0] > 0.0) {
        const struct jet pole_distance_cubed = tact_jet_power(&dd, 1.5);
        c[2] = tact_jet_add(c[2], tact_jet_scale(pole_distance_cubed, way * g->z[3]));
    }
}

static void evaluate_revolution_point(const struct revolution_surface *v, int segment,
                                      const struct jet st[2], struct jet c[3])
{
    const struct segment *g = &v->segment[segment];
    const int high = is_segment_end_on_axis(v, segment, SIDE_HIGH);
    if (high || is_segment_end_on_axis(v, segment, SIDE_LOW)) {
        evaluate_revolution_near_axis(g, high, st, c);
        return;
    }
    struct profile_curve_point p;
    tact_profile_evaluate_segment(g, st[1].c[0], &p);
    const double fr[4] = {p.r, p.dr, p.ddr, 6.0 * g->r[3]};
    const double fz[4] = {p.z, p.dz, p.ddz, 6.0 * g->z[3]};
    const struct jet r = tact_jet_compose(&st[1], fr), z = tact_jet_compose(&st[1], fz);
    evaluate_circle_point(&r, &z, &st[0], c);
}

/* Point of a square patch, from the derivatives of its chart. */
static void evaluate_square_patch_point(const struct tact_charts *charts,
                                        const struct chart_point *p, struct jet c[3])
{
    static const double taylor_factor_of_derivative[THIRD_ORDER] = {
        1.0, 1.0, 1.0, 0.5, 1.0, 0.5, 1.0 / 6.0, 0.5, 0.5, 1.0 / 6.0};
    const struct square_charts *s = (const struct square_charts *)charts;
    double d[THIRD_ORDER][3];
    s->evaluate(s, p->chart, p->st[0], p->st[1], THIRD_ORDER, d);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < THIRD_ORDER; i++) {
            c[k].c[i] = taylor_factor_of_derivative[i] * d[i][k];
        }
    }
}

/* Point of a surface and its derivatives, in the shape frame. */
static void evaluate_point_in_shape_frame(const struct tact_shape *shape,
                                          const struct chart_point *p, struct jet c[3])
{
    const struct jet st[2] = {tact_jet_variable(p->st[0], 0), tact_jet_variable(p->st[1], 1)};
    switch (shape->kind) {
    case TACT_SHAPE_HALFSPACE:
        c[0] = st[0];
        c[1] = st[1];
        c[2] = tact_jet_constant(0.0);
        break;
    case TACT_SHAPE_TORUS:
        evaluate_torus_point(shape->size, st, c);
        break;
    case TACT_SHAPE_REVOLUTION:
        evaluate_revolution_point((const struct revolution_surface *)shape->charts, p->chart, st,
                                  c);
        break;
    case TACT_SHAPE_PATCHES:
    case TACT_SHAPE_SUBDIVISION:
        evaluate_square_patch_point(shape->charts, p, c);
        break;
    default:
        evaluate_ellipsoid_point(shape, p, st, c);
    }
}

void tact_reduced_surface_point(const struct reduced_surface *s, const struct chart_point *p,
                                struct jet c[3])
{
    struct jet own[3];
    evaluate_point_in_shape_frame(s->shape, p, own);
    for (int i = 0; i < 3; i++) {
        c[i] = tact_jet_constant(s->at[i]);
        for (int k = 0; k < 3; k++) {
            c[i] = tact_jet_add(c[i], tact_jet_scale(own[k], s->rotation[3 * i + k]));
        }
    }
}

/* Smallest distance of chart coordinates from the sides of the domain [low, 1]^2; *edge: the number
 * of that side, as for square patches. */
static double distance_to_square_edge(const double st[2], double low, int *edge)
{
    const double distance_to_square_side[SQUARE_SIDES] = {st[1] - low, 1.0 - st[0], 1.0 - st[1],
                                                          st[0] - low};
    *edge = 0;
    for (int i = 1; i < SQUARE_SIDES; i++) {
        *edge = distance_to_square_side[i] < distance_to_square_side[*edge] ? i : *edge;
    }
    return distance_to_square_side[*edge];
}

static double distance_to_segment_edge(const struct revolution_surface *v,
                                       const struct chart_point *p, int *edge)
{
    const struct segment *g = &v->segment[p->chart];
    const int high = is_segment_end_on_axis(v, p->chart, SIDE_HIGH);
    if (high || is_segment_end_on_axis(v, p->chart, SIDE_LOW)) {
        *edge = high ? SIDE_LOW : SIDE_HIGH;
        return g->to - g->from - tact_hypot(p->st[0], p->st[1]);
    }
    const double low = p->st[1] - g->from, up = g->to - p->st[1];
    *edge = low < up ? SIDE_LOW : SIDE_HIGH;
    return tact_min(low, up);
}

double tact_reduced_surface_edge_distance(const struct reduced_surface *s,
                                          const struct chart_point *p, int *edge)
{
    switch (s->shape->kind) {
    case TACT_SHAPE_HALFSPACE:
    case TACT_SHAPE_TORUS:
        return INFINITY;
    case TACT_SHAPE_REVOLUTION:
        return distance_to_segment_edge(charts_of_revolution_shape(s), p, edge);
    case TACT_SHAPE_PATCHES:
    case TACT_SHAPE_SUBDIVISION:
        return distance_to_square_edge(p->st, 0.0, edge);
    default:
        return distance_to_square_edge(p->st, -1.0, edge);
    }
}

/* Chart coordinates on the neighbouring face of the cube, for a point on an edge: its direction
 * from the centre is the same. */
static struct chart_point next_chart_on_cube(const struct chart_point *p, int edge)
{
    struct chart_point r;
    double d[3], sign;
    int axis[3], next[3];
    cube_face_axes(p->chart, axis, &sign);
    d[axis[0]] = sign;
    d[axis[1]] = p->st[0];
    d[axis[2]] = p->st[1];
    const int normal_axis_of_neighbour_cube_face = axis[edge % 2 ? 1 : 2];
    r.chart =
        2 * normal_axis_of_neighbour_cube_face + (d[normal_axis_of_neighbour_cube_face] < 0.0);
    cube_face_axes(r.chart, next, &sign);
    r.st[0] = d[next[1]] / fabs(d[normal_axis_of_neighbour_cube_face]);
    r.st[1] = d[next[2]] / fabs(d[normal_axis_of_neighbour_cube_face]);
    return r;
}

static struct chart_point next_chart_on_profile(const struct revolution_surface *v,
                                                const struct chart_point *p, int edge)
{
    const int to = (p->chart + (edge == SIDE_HIGH ? 1 : v->count - 1)) % v->count;
    const int high = is_segment_end_on_axis(v, p->chart, SIDE_HIGH);
    double place[3];
    place[0] = edge == SIDE_HIGH ? v->segment[to].from : v->segment[to].to;
    if (high || is_segment_end_on_axis(v, p->chart, SIDE_LOW)) {
        place[1] = p->st[high ? 0 : 1];
        place[2] = p->st[high ? 1 : 0];
    } else {
        place[1] = tact_cos(p->st[0]);
        place[2] = tact_sin(p->st[0]);
    }
    return chart_point_in_profile_segment(v, to, place);
}

/* Chart coordinates in the neighbouring square (41): the fraction alpha along an edge is 1 - alpha
 * in the neighbour. */
static struct chart_point square_chart_over_edge(const struct square_charts *s,
                                                 const struct chart_point *p, int edge)
{
    const double fraction_along_edge[SQUARE_SIDES] = {p->st[0], p->st[1], 1.0 - p->st[0],
                                                      1.0 - p->st[1]};
    const int to = s->neighbour_over_edge[p->chart][edge];
    if (to == SQUARE_POLE) {
        return *p; /* at a pole the chart is singular, and the motion ends */
    }
    struct chart_point r = {.chart = to / SQUARE_SIDES};
    tact_square_point_on_side(to % SQUARE_SIDES, 1.0 - fraction_along_edge[edge], r.st);
    return r;
}

struct chart_point tact_reduced_surface_next_chart(const struct reduced_surface *s,
                                                   const struct chart_point *p, int edge)
{
    switch (s->shape->kind) {
    case TACT_SHAPE_REVOLUTION:
        return next_chart_on_profile(charts_of_revolution_shape(s), p, edge);
    case TACT_SHAPE_PATCHES:
    case TACT_SHAPE_SUBDIVISION:
        return square_chart_over_edge((const struct square_charts *)s->shape->charts, p, edge);
    default:
        return next_chart_on_cube(p, edge);
    }
}
