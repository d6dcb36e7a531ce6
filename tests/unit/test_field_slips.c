/*
 * Formulas of Elandt et al. 2019 that are not exact as printed: one point a triangle for the torque
 * (VI-B2), gradients averaged at the vertices (VI-A1), the energy of any pressure field (III(6),
 * X-A); and polygons left out by their angle, as Drake does. Each printed form fails where that of
 * the library passes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/field_bodies.h"

#define PI 3.14159265358979323846

/* A ball b of few tetrahedra, pressed on a soft block a. */
struct pressed {
    struct tact_pressure_field *block, *ball;
    struct tact_pose at, up;
};

static struct pressed press_ball_on_block(void)
{
    struct pressed p = {field_box(0.03, 0.03, 0.02, 1e5, 4), make_ball_field(0.03, 2e5, 1),
                        tact_pose_identity(),
                        pose_from_position_and_rotation(0.004, -0.003, 0.044, 0.3, -0.2, 0.4)};
    return p;
}

static void destroy_pressed_ball(struct pressed *p)
{
    tact_field_free(p->block);
    tact_field_free(p->ball);
}

static struct contact_surface_of_fields find_contact_surface_at_pose(const struct pressed *p,
                                                                     const struct tact_pose *up)
{
    struct contact_surface_of_fields of;
    assert_int_equal(
        tact_field_find_contact_surface(p->block, &p->at, p->ball, up, shared_field_scratch(), &of),
        1);
    assert_int_equal(of.swapped, 0);
    return of;
}

/* The torque on the ball about its frame's origin is minus the derivative of the elastic energy,
 * not that of one point a polygon. */
static void field_torque_is_not_of_one_point_per_polygon(void **state)
{
    (void)state;
    struct pressed p = press_ball_on_block();
    const struct contact_surface_of_fields of = find_contact_surface_at_pose(&p, &p.up);
    double exact[3], printed[3] = {0.0}, summed[3] = {0.0}, size, off = 0.0,
                     worst_printed_error = 0.0;
    for (size_t i = 0; i < of.count; i++) {
        const struct contact_surface_polygon *q = &of.polygon[i];
        double middle[3], centre[3], arm[3], torque[3];
        tact_v3_sub(arm, q->corner[0], p.up.position);
        tact_v3_copy(middle, arm);
        tact_v3_axpy(middle, 1.0 / q->area_moments.area, q->area_moments.first);
        tact_v3_cross(torque, middle, q->normal);
        tact_v3_axpy(printed, q->load, torque);
        tact_v3_copy(centre, arm);
        tact_v3_axpy(centre, 1.0 / q->load, q->lever);
        tact_v3_cross(torque, centre, q->normal);
        tact_v3_axpy(summed, q->load, torque);
    }
    for (int k = 0; k < 3; k++) {
        const double step = 1e-5;
        double energy[2];
        for (int side = 0; side < 2; side++) {
            double turn[3] = {0.0}, by[4];
            struct tact_pose up = p.up;
            turn[k] = side ? step : -step;
            tact_quat_from_rotvec(by, turn);
            tact_quat_mul(up.quat_wxyz, by, p.up.quat_wxyz);
            energy[side] = tact_field_energy(p.block, &p.at, p.ball, &up);
        }
        exact[k] = (energy[0] - energy[1]) / (2.0 * step);
    }
    size = tact_v3_norm(exact);
    for (int k = 0; k < 3; k++) {
        off = fmax(off, fabs(summed[k] - exact[k]) / size);
        worst_printed_error = fmax(worst_printed_error, fabs(printed[k] - exact[k]) / size);
    }
    printf("torque %.3e N m: integral within %.1e, one point a polygon off by %.1e of it\n", size,
           off, worst_printed_error);
    assert_true(off < 1e-6 && worst_printed_error > 1e-3);
    destroy_pressed_ball(&p);
}

/* The mean of the gradients of the tetrahedra about each vertex, at a point of cell i. */
static void vertex_averaged_gradient(const struct tact_pressure_field *field, uint32_t i,
                                     const double *at, double out[3])
{
    const struct field_cell *cell = &field->cells[i];
    const double *last = field->vertices + 3 * (size_t)cell->corner[3];
    double side[3][3], across[3], from[3], share[4] = {0.0, 0.0, 0.0, 1.0};
    tact_v3_sub(from, at, last);
    for (int k = 0; k < 3; k++) {
        tact_v3_sub(side[k], field->vertices + 3 * (size_t)cell->corner[k], last);
    }
    for (int k = 0; k < 3; k++) {
        tact_v3_cross(across, side[(k + 1) % 3], side[(k + 2) % 3]);
        share[k] = tact_v3_dot(across, from) / tact_v3_dot(across, side[k]);
        share[3] -= share[k];
    }
    tact_v3_set(out, 0.0, 0.0, 0.0);
    for (int k = 0; k < 4; k++) {
        double mean[3] = {0.0};
        int cell_count_at_vertex = 0;
        for (size_t j = 0; j < field->cell_count; j++) {
            const uint32_t *c = field->cells[j].corner;
            if (c[0] == cell->corner[k] || c[1] == cell->corner[k] || c[2] == cell->corner[k] ||
                c[3] == cell->corner[k]) {
                tact_v3_add(mean, mean, field->cells[j].gradient);
                cell_count_at_vertex++;
            }
        }
        tact_v3_axpy(out, share[k] / cell_count_at_vertex, mean);
    }
}

/* The stiffness along z against differences of the force, with the tetrahedra's own gradients and
 * with those averaged at the vertices. */
static void stiffness_is_not_that_of_averaged_pressure_gradients(void **state)
{
    (void)state;
    struct pressed p = press_ball_on_block();
    const double step = 1e-7;
    double force[2] = {0.0}, own = 0.0, averaged = 0.0;
    for (int side = 0; side < 2; side++) {
        struct tact_pose up = p.up;
        up.position[2] += side ? step : -step;
        const struct contact_surface_of_fields of = find_contact_surface_at_pose(&p, &up);
        for (size_t i = 0; i < of.count; i++) {
            force[side] += of.polygon[i].load * of.polygon[i].normal[2];
        }
    }
    double exact = (force[0] - force[1]) / (2.0 * step);
    const struct contact_surface_of_fields of = find_contact_surface_at_pose(&p, &p.up);
    for (size_t i = 0; i < of.count; i++) {
        const struct contact_surface_polygon *q = &of.polygon[i];
        double middle[3], inside[3], a[3], b[3], turned[3], differ[3];
        tact_v3_copy(middle, q->corner[0]);
        tact_v3_axpy(middle, 1.0 / q->area_moments.area, q->area_moments.first);
        tact_v3_sub(inside, middle, of.pair.shift);
        tact_m3_tmul_v3(turned, of.pair.rotation, inside);
        vertex_averaged_gradient(of.pair.a, q->a, middle, a);
        vertex_averaged_gradient(of.pair.b, q->b, turned, inside);
        tact_m3_mul_v3(b, of.pair.rotation, inside);
        tact_v3_sub(differ, b, a);
        averaged -= q->area_moments.area * a[2] * b[2] / tact_v3_norm(differ);
        own -= q->area_moments.area * q->gradient_a[2] * q->gradient_b[2] /
               q->pressure_gradient_difference;
    }
    printf("stiffness %.1f N/m: own gradients within %.1e, averaged ones off by %.1e of it\n",
           exact, fabs(own / exact - 1.0), fabs(averaged / exact - 1.0));
    assert_true(fabs(own / exact - 1.0) < 1e-6 && fabs(averaged / exact - 1.0) > 1e-2);
    destroy_pressed_ball(&p);
}

/* Force on a box that moves over the edge of another, summed over all polygons, or, as in Drake,
 * without polygons whose normal is over 112.5 degrees from the pressure gradients. */
static void force_on_box_over_edge(const struct tact_pressure_field *a,
                                   const struct tact_pressure_field *b, const struct tact_pose *up,
                                   int culls_polygons_by_angle, double force[3])
{
    const struct tact_pose at = tact_pose_identity();
    const double least = cos(5.0 * PI / 8.0);
    struct contact_surface_of_fields of;
    tact_v3_set(force, 0.0, 0.0, 0.0);
    assert_true(tact_field_find_contact_surface(a, &at, b, up, shared_field_scratch(), &of) >= 0);
    for (size_t i = 0; i < of.count; i++) {
        const struct contact_surface_polygon *q = &of.polygon[i];
        double cosine_of_normal_and_gradient_a =
            -tact_v3_dot(q->normal, q->gradient_a) / tact_v3_norm(q->gradient_a);
        double cosine_of_normal_and_gradient_b =
            tact_v3_dot(q->normal, q->gradient_b) / tact_v3_norm(q->gradient_b);
        if (!culls_polygons_by_angle || (cosine_of_normal_and_gradient_a >= least &&
                                         cosine_of_normal_and_gradient_b >= least)) {
            tact_v3_axpy(force, q->load, q->normal);
        }
    }
}

/* Adds c + slope.x to the pressure of a solid, also on its surface, where it was 0. */
static void add_pressure_on_surface(struct tact_pressure_field *field, double c,
                                    const double *slope)
{
    for (size_t i = 0; i < field->cell_count; i++) {
        tact_v3_add(field->cells[i].gradient, field->cells[i].gradient, slope);
        field->cells[i].value_at_origin += c;
    }
}

/* Force on a box over the edge of another, summed over the polygons of equal pressure of all pairs
 * of cells: the search takes it that surfaces have no pressure. */
static void force_of_all_cell_pairs(const struct tact_pressure_field *a,
                                    const struct tact_pressure_field *b, const struct tact_pose *up,
                                    double force[3])
{
    const struct tact_pose at = tact_pose_identity();
    struct field_pair pair;
    struct contact_surface_polygon polygon;
    tact_field_set_pair_poses(&pair, a, &at, b, up);
    tact_v3_set(force, 0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < a->cell_count; i++) {
        for (uint32_t j = 0; j < b->cell_count; j++) {
            if (tact_field_cut_contact_polygon(&pair, i, j, &polygon) > 0) {
                tact_field_integrate_polygon(&polygon);
                tact_v3_axpy(force, polygon.load, polygon.normal);
            }
        }
    }
}

/* The force that does work: of all polygons that the search finds, or without the steep ones; of
 * all pairs of cells, or with a pressure on the surface of the box that moves, of 0.5 to 9.5 % of
 * that in its middle. */
enum force_variant_of_work {
    ALL_POLYGONS,
    WITHOUT_STEEP_POLYGONS,
    ALL_CELL_PAIRS,
    PRESSURE_ON_SURFACE
};

/* Net work of the force around a closed path over the edges of a box, relative to the sum of the
 * magnitudes of its work. */
static double relative_net_work_around_box_edges(enum force_variant_of_work form)
{
    enum { POINTS = 1600 };
    const double slope[3] = {3e5, 0.0, 0.0};
    struct tact_pressure_field *a = field_box(0.03, 0.03, 0.03, 1e5, 4);
    struct tact_pressure_field *b = field_box(0.015, 0.015, 0.015, 1e5, 4);
    double net = 0.0, gross = 0.0, last[3], force[3], place[3] = {0.0};
    if (form == PRESSURE_ON_SURFACE) {
        add_pressure_on_surface(b, 5e3, slope);
    }
    for (int k = 0; k <= POINTS; k++) {
        double s = 2.0 * PI * k / POINTS, work = 0.0;
        struct tact_pose up = pose_from_position_and_rotation(
            0.03 * cos(s) + 0.003, 0.021 * sin(s), 0.04 + 0.002 * sin(2.0 * s), 0.03, 0.02, 0.2);
        if (form == ALL_CELL_PAIRS || form == PRESSURE_ON_SURFACE) {
            force_of_all_cell_pairs(a, b, &up, force);
        } else {
            force_on_box_over_edge(a, b, &up, form == WITHOUT_STEEP_POLYGONS, force);
        }
        for (int j = 0; j < 3 && k; j++) {
            work += 0.5 * (last[j] + force[j]) * (up.position[j] - place[j]);
        }
        net += work;
        gross += fabs(work);
        tact_v3_copy(last, force);
        tact_v3_copy(place, up.position);
    }
    tact_field_free(a);
    tact_field_free(b);
    return fabs(net / gross);
}

static void culling_polygons_by_angle_makes_net_work(void **state)
{
    (void)state;
    double all = relative_net_work_around_box_edges(ALL_POLYGONS),
           culled = relative_net_work_around_box_edges(WITHOUT_STEEP_POLYGONS);
    printf("closed path over edges: net work %.1e of the work moved, without steep polygons %.1e\n",
           all, culled);
    assert_true(all < 1e-5 && culled > 1e-3);
}

/* "Conservative for any scalar pressure field" holds where the pressure is 0 on the surface: else
 * the part of the moving surface on which the other's pressure is less transmits nothing. */
static void nonzero_surface_pressure_makes_net_work(void **state)
{
    (void)state;
    double zero = relative_net_work_around_box_edges(ALL_CELL_PAIRS),
           more = relative_net_work_around_box_edges(PRESSURE_ON_SURFACE);
    printf(
        "closed path over edges: net work %.1e of the work moved, with a pressure on the surface "
        "%.1e\n",
        zero, more);
    assert_true(zero < 1e-5 && more > 1e-3);
}

/* The energy is the integral of each solid's own pressure over the part of the overlap in which it
 * is the lesser of the two, not over that in which it is the greater, which is the rest of the
 * overlap. */
static void elastic_energy_is_that_of_the_lesser_pressure(void **state)
{
    (void)state;
    const double half[3] = {0.03, 0.03, 0.02}, step = 1e-6;
    struct pressed p = press_ball_on_block();
    struct surface_mesh surface = make_ball_surface(1);
    struct tact_mesh *ball, *block;
    struct tact_pressure_field *hard_ball, *hard_block;
    double force = 0.0, lesser = 0.0, greater = 0.0;
    scale_surface_mesh(&surface, 0.03, 0.03, 0.03);
    assert_int_equal(tact_mesh_create(surface.vertices, surface.vertex_count, surface.triangles,
                                      surface.triangle_count, &ball, NULL),
                     0);
    assert_int_equal(tact_mesh_box(half, &block), 0);
    assert_int_equal(tact_field_rigid(ball, &hard_ball), 0);
    assert_int_equal(tact_field_rigid(block, &hard_block), 0);
    const struct contact_surface_of_fields of = find_contact_surface_at_pose(&p, &p.up);
    for (size_t i = 0; i < of.count; i++) {
        force += of.polygon[i].load * of.polygon[i].normal[2];
    }
    for (int side = -1; side < 2; side += 2) {
        struct tact_pose up = p.up;
        up.position[2] += side * step;
        double least = tact_field_energy(p.block, &p.at, p.ball, &up);
        /* with a rigid solid: the integral of the other's pressure over all of the overlap */
        double both = tact_field_energy(p.block, &p.at, hard_ball, &up) +
                      tact_field_energy(hard_block, &p.at, p.ball, &up);
        lesser -= side * least / (2.0 * step);
        greater -= side * (both - least) / (2.0 * step);
    }
    printf("force %.6f N: energy of the lesser pressure within %.1e, of the greater %.2f of it\n",
           force, fabs(lesser / force - 1.0), greater / force);
    assert_true(fabs(lesser / force - 1.0) < 1e-6 && fabs(greater / force - 1.0) > 0.1);
    tact_field_free(hard_ball);
    tact_field_free(hard_block);
    tact_mesh_free(ball);
    tact_mesh_free(block);
    free_surface_mesh(&surface);
    destroy_pressed_ball(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(field_torque_is_not_of_one_point_per_polygon),
        cmocka_unit_test(stiffness_is_not_that_of_averaged_pressure_gradients),
        cmocka_unit_test(culling_polygons_by_angle_makes_net_work),
        cmocka_unit_test(nonzero_surface_pressure_makes_net_work),
        cmocka_unit_test(elastic_energy_is_that_of_the_lesser_pressure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
