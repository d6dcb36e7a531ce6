/* Pressure fields: wrench and energy against exact overlaps in long double, wrench and stiffness
 * against finite differences. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/moments/moments.h"
#include "support/field_bodies.h"
#include "support/random.h"

/* Rotation and translation from the frame of one pose to that of another, in long double. */
struct exact_motion {
    long double rotation[9], shift[3];
};

static void set_exact_rotation(const double *q, long double *m)
{
    long double w = q[0], x = q[1], y = q[2], z = q[3], s = 2.0L / (w * w + x * x + y * y + z * z);
    const long double rows[9] = {
        1.0L - s * (y * y + z * z), s * (x * y - w * z),        s * (x * z + w * y),
        s * (x * y + w * z),        1.0L - s * (x * x + z * z), s * (y * z - w * x),
        s * (x * z - w * y),        s * (y * z + w * x),        1.0L - s * (x * x + y * y)};
    memcpy(m, rows, sizeof rows);
}

static struct exact_motion exact_motion_between_poses(const struct tact_pose *from,
                                                      const struct tact_pose *to)
{
    struct exact_motion m = {{0.0L}, {0.0L}};
    long double rotation_matrix_of_from[9], rotation_matrix_of_to[9];
    set_exact_rotation(from->quat_wxyz, rotation_matrix_of_from);
    set_exact_rotation(to->quat_wxyz, rotation_matrix_of_to);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m.shift[i] += rotation_matrix_of_to[3 * j + i] *
                          ((long double)from->position[j] - (long double)to->position[j]);
            for (int k = 0; k < 3; k++) {
                m.rotation[3 * i + j] +=
                    rotation_matrix_of_to[3 * k + i] * rotation_matrix_of_from[3 * k + j];
            }
        }
    }
    return m;
}

static void move_point_exactly(const struct exact_motion *m, const double *x, long double *out)
{
    for (int i = 0; i < 3; i++) {
        out[i] = m->rotation[3 * i] * x[0] + m->rotation[3 * i + 1] * x[1] +
                 m->rotation[3 * i + 2] * x[2];
    }
}

/* Adds the volume and first moment of a tetrahedron to sum[4]. */
static void add_exact_moments_of_tetrahedron(const long double (*x)[3], long double *sum)
{
    long double e[9];
    for (int i = 0; i < 9; i++) {
        e[i] = x[1 + i / 3][i % 3] - x[0][i % 3];
    }
    long double volume =
        fabsl(e[0] * (e[4] * e[8] - e[5] * e[7]) + e[1] * (e[5] * e[6] - e[3] * e[8]) +
              e[2] * (e[3] * e[7] - e[4] * e[6])) /
        6.0L;
    sum[0] += volume;
    for (int k = 0; k < 3; k++) {
        sum[1 + k] += 0.25L * volume * (x[0][k] + x[1][k] + x[2][k] + x[3][k]);
    }
}

/* Adds the moments of the part of a tetrahedron in the box |x_k| <= half_k: it is cut by one side
 * of the box after the other, from number `side` on. */
static void add_exact_moments_of_part_in_box(const long double (*x)[3], const double *half,
                                             int side, long double *sum)
{
    static const int corners[3][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}};
    long double at[4], prism[6][3], tet[4][3];
    int in[4], out[4], ins = 0, outs = 0;
    if (side == 6) {
        add_exact_moments_of_tetrahedron(x, sum);
        return;
    }
    for (int k = 0; k < 4; k++) {
        at[k] = half[side / 2] - (side % 2 ? -x[k][side / 2] : x[k][side / 2]);
        *(at[k] >= 0.0L ? &in[ins++] : &out[outs++]) = k;
    }
    if (!outs) {
        add_exact_moments_of_part_in_box(x, half, side + 1, sum);
    }
    for (int i = 0; outs && i < ins; i++) {
        /* in order: the corner and the points on its edges, or all corners and then the points */
        int first = ins == 3 ? i : 3 * i, step = ins == 3 ? 3 : 1;
        memcpy(prism[first], x[in[i]], sizeof prism[0]);
        for (int c = 0; c < outs; c++) {
            long double share = at[in[i]] / (at[in[i]] - at[out[c]]);
            for (int k = 0; k < 3; k++) {
                prism[first + step * (c + 1)][k] =
                    x[in[i]][k] + share * (x[out[c]][k] - x[in[i]][k]);
            }
        }
    }
    for (int i = 0; outs && i < (ins == 1 ? 1 : ins ? 3 : 0); i++) {
        for (int k = 0; k < 4; k++) {
            memcpy(tet[k], prism[corners[i][k]], sizeof tet[k]);
        }
        add_exact_moments_of_part_in_box((const long double(*)[3])tet, half, side + 1, sum);
    }
}

/* Wrench of a rigid box on a soft solid about the box's centre, in its frame, and the energy: of
 * each tetrahedron the gradient of the pressure times the volume in the box, at the centroid. */
static void wrench_of_overlap_volumes(const struct tact_pressure_field *soft,
                                      const struct exact_motion *m, const double *half,
                                      long double wrench[6], long double *energy)
{
    memset(wrench, 0, 6 * sizeof *wrench);
    *energy = 0.0L;
    for (uint32_t i = 0; i < soft->cell_count; i++) {
        const struct field_cell *cell = &soft->cells[i];
        long double x[4][3], g[3], sum[4] = {0.0L};
        for (int k = 0; k < 4; k++) {
            move_point_exactly(m, soft->vertices + 3 * (size_t)cell->corner[k], x[k]);
            for (int c = 0; c < 3; c++) {
                x[k][c] += m->shift[c];
            }
        }
        add_exact_moments_of_part_in_box((const long double(*)[3])x, half, 0, sum);
        move_point_exactly(m, cell->gradient, g);
        *energy += sum[0] * cell->value_at_origin;
        for (int k = 0; k < 3; k++) {
            int p = (k + 1) % 3, q = (k + 2) % 3;
            wrench[k] += sum[0] * g[k];
            wrench[3 + k] += sum[1 + p] * g[q] - sum[1 + q] * g[p];
            *energy += g[k] * (sum[1 + k] - sum[0] * m->shift[k]);
        }
    }
}

/* Moments of the overlap of a box, about whose centre they are, with each tetrahedron, as
 * tact_moments_pair() measures them: the wrench that wrench_of_overlap_volumes() computes. */
static void wrench_of_measured_overlaps(const struct tact_pressure_field *soft,
                                        const struct tact_pose *pose, const struct tact_shape *box,
                                        const struct tact_pose *pose_of_box,
                                        struct tact_moments_scratch *room, double wrench[6])
{
    static const uint32_t sides[12] = {1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1};
    memset(wrench, 0, 6 * sizeof *wrench);
    for (uint32_t i = 0; i < soft->cell_count; i++) {
        const struct field_cell *cell = &soft->cells[i];
        struct tact_mesh *tet;
        struct tact_moments m;
        double x[12], along[3], arm[3], turned[3];
        for (int k = 0; k < 4; k++) {
            tact_v3_copy(x + 3 * k, soft->vertices + 3 * (size_t)cell->corner[k]);
        }
        assert_int_equal(tact_mesh_create(x, 4, sides, 4, &tet, NULL), 0);
        const struct tact_shape shape = {.kind = TACT_SHAPE_MESH, .mesh = tet};
        if (tact_moments_pair(&shape, pose, box, pose_of_box, NULL, room, &m) == 1) {
            tact_quat_rotate(along, pose->quat_wxyz, cell->gradient);
            tact_v3_sub(arm, m.centroid, pose_of_box->position);
            tact_v3_cross(turned, arm, along);
            tact_v3_axpy(wrench, m.volume, along);
            tact_v3_axpy(wrench + 3, m.volume, turned);
        }
        tact_mesh_free(tet);
    }
}

/* Largest error of a wrench in world axes against an exact one in those of the box, torques over
 * the ball's radius. */
static double wrench_error(const double *wrench, const struct tact_pose *pose_of_box,
                           const long double *exact)
{
    long double turn[9], worst = 0.0L;
    set_exact_rotation(pose_of_box->quat_wxyz, turn);
    for (int k = 0; k < 6; k++) {
        const long double *row = turn + 3 * (k % 3), *e = exact + 3 * (k / 3);
        long double off = wrench[k] - (row[0] * e[0] + row[1] * e[1] + row[2] * e[2]);
        worst = fmaxl(worst, fabsl(off) / (k < 3 ? 1.0L : 0.03L));
    }
    return (double)worst;
}

/* The wrench and the energy computed independently from the overlaps of the rigid solid with each
 * tetrahedron, in long double; and as tact_moments_pair() measures them, which is less
 * exact: 1.7e-13 of the load, while the polygons are within 2.5e-15. */
static void contact_wrench_equals_that_of_overlap_volumes(void **state)
{
    (void)state;
    const double half[3] = {0.02, 0.03, 0.01};
    struct tact_mesh *mesh;
    struct tact_moments_scratch *room = tact_moments_scratch_create(1000);
    struct tact_pressure_field *rigid_box_field =
        make_rigid_box_field(half[0], half[1], half[2], &mesh);
    struct tact_pressure_field *ball = make_ball_field(0.03, 1e5, 2);
    const struct tact_shape box = {.kind = TACT_SHAPE_MESH, .mesh = mesh};
    double worst = 0.0, worst_energy = 0.0, worst_of_moments = 0.0;
    int touching = 0;
    for (int n = 0; n < 40; n++) {
        struct tact_pose pa = random_pose(0.02), pb = random_pose(0.02);
        const struct exact_motion m = exact_motion_between_poses(&pa, &pb);
        struct tact_field_contact c;
        long double exact[6], energy;
        double w[6], measured[6];
        if (!find_field_contact(ball, &pa, rigid_box_field, &pb, &c)) {
            continue;
        }
        /* the wrench is minus dU / d(pose of a), U: elastic energy */
        field_wrench_about_point(&c, pb.position, w);
        wrench_of_overlap_volumes(ball, &m, half, exact, &energy);
        wrench_of_measured_overlaps(ball, &pa, &box, &pb, room, measured);
        /* of the load, and of the force of a displacement by the rounding of a position: 1e-17 m */
        double unit = c.load;
        for (int k = 0; k < 3; k++) {
            unit += 1e-3 * fabs(c.stiffness[7 * k]);
        }
        worst = tact_max(worst, wrench_error(w, &pb, exact) / unit);
        worst_of_moments = tact_max(worst_of_moments, wrench_error(measured, &pb, exact) / c.load);
        double own = tact_field_energy(ball, &pa, rigid_box_field, &pb);
        worst_energy = tact_max(worst_energy, (double)fabsl((own - energy) / energy));
        touching++;
    }
    printf(
        "%d poses: wrench within %.1e of the load, energy within %.1e; wrench of measured moments "
        "within %.1e\n",
        touching, worst, worst_energy, worst_of_moments);
    assert_true(touching > 20 && worst < 1e-14 && worst_energy < 2e-13);
    assert_true(worst_of_moments < 1e-12);
    tact_moments_scratch_destroy(room);
    tact_field_free(ball);
    tact_field_free(rigid_box_field);
    tact_mesh_free(mesh);
}

/* A number that differs where other pairs of cells make the polygons of a contact. */
static uint64_t hash_of_contact_polygons(const struct tact_pressure_field *a,
                                         const struct tact_pose *pa,
                                         const struct tact_pressure_field *b,
                                         const struct tact_pose *pb)
{
    struct contact_surface_of_fields of;
    uint64_t sum = 0;
    assert_true(tact_field_find_contact_surface(a, pa, b, pb, shared_field_scratch(), &of) >= 0);
    for (size_t i = 0; i < of.count; i++) {
        const struct contact_surface_polygon *p = &of.polygon[i];
        uint64_t mixed = ((uint64_t)p->a << 32 | p->b) * 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
        sum += p->area_moments.area > 1e-18 ? mixed ^ mixed >> 32 : 0;
    }
    return sum;
}

/* Difference of the wrench on a over a twist of a about the contact's centre, halved until no
 * corner of a polygon passes into another cell in it. Returns how often it was halved, -1 where one
 * passes at the smallest step too. */
static int halve_wrench_difference_within_cells(const struct tact_pressure_field *a,
                                                const struct tact_pose *pa,
                                                const struct tact_pressure_field *b,
                                                const struct tact_pose *pb,
                                                const struct tact_field_contact *c, int k,
                                                double slope[6])
{
    enum { MOST_HALVINGS = 5 };
    double step = k < 3 ? 2e-8 : 1e-6, twist[6] = {0.0};
    const uint64_t polygons = hash_of_contact_polygons(a, pa, b, pb);
    twist[k] = 1.0;
    for (int halving_count = 0; halving_count <= MOST_HALVINGS; halving_count++, step *= 0.5) {
        double w[2][6];
        int passes = 0;
        for (int s = 0; s < 2; s++) {
            struct tact_field_contact side;
            struct tact_pose p = pose_displaced_by_twist(pa, c->centre, twist, s ? step : -step);
            passes |= hash_of_contact_polygons(a, &p, b, pb) != polygons;
            find_field_contact(a, &p, b, pb, &side);
            field_wrench_about_point(&side, c->centre, w[s]);
        }
        for (int i = 0; i < 6; i++) {
            slope[i] = (w[1][i] - w[0][i]) / (2.0 * step);
        }
        if (!passes) {
            return halving_count;
        }
    }
    return -1;
}

/* The wrench is the derivative of the energy, and the stiffness, except its antisymmetric part,
 * that of the wrench. Where a corner passes into another cell within a difference, the stiffness
 * has a kink there: a smaller difference is used, and a pose where the smallest is too large for
 * that is left out. */
static void check_wrench_derivatives(const struct tact_pressure_field *a,
                                     const struct tact_pressure_field *b, const char *name,
                                     double reach)
{
    const int poses = campaign_trial_count(12, 500);
    double worst_wrench_error = 0.0, worst_stiffness_error = 0.0;
    int touching = 0, left_out = 0, halved_difference_count = 0;
    for (int n = 0; n < 20 * poses && touching < poses; n++) {
        struct tact_pose pa = random_pose(reach), pb = random_pose(reach);
        struct tact_field_contact c;
        if (!find_field_contact(a, &pa, b, &pb, &c) || c.area < 1e-5) {
            continue;
        }
        double of[36], scale[6], off = 0.0;
        double size = c.load / 0.02;
        for (int k = 0; k < 3; k++) { /* negative where one solid is deep in the other */
            size += fabs(c.stiffness[7 * k]);
        }
        int is_differentiable = 1;
        touching++;
        for (int k = 0; k < 6; k++) {
            double twist[6] = {0.0}, step = k < 3 ? 1e-6 : 5e-5, u[2], slope[6];
            int halving_count = halve_wrench_difference_within_cells(a, &pa, b, &pb, &c, k, slope);
            scale[k] = k < 3 ? 1.0 : 0.02;
            twist[k] = 1.0;
            halved_difference_count += halving_count > 0;
            is_differentiable &= halving_count >= 0;
            for (int i = 0; i < 6; i++) {
                of[6 * i + k] = -slope[i];
            }
            for (int s = 0; s < 2; s++) {
                struct tact_pose p =
                    pose_displaced_by_twist(&pa, c.centre, twist, s ? step : -step);
                u[s] = tact_field_energy(a, &p, b, &pb);
            }
            double power = -(u[1] - u[0]) / (2.0 * step);
            worst_wrench_error =
                tact_max(worst_wrench_error, fabs(power - c.wrench[k]) / (scale[k] * c.load));
        }
        for (int i = 0; is_differentiable && i < 36;
             i++) { /* d(torque) includes f x (displacement) */
            double symmetric_part_of_derivative = 0.5 * (of[i] + of[6 * (i % 6) + i / 6]);
            off = tact_max(off, fabs(symmetric_part_of_derivative - c.stiffness[i]) /
                                    (size * scale[i / 6] * scale[i % 6]));
        }
        worst_stiffness_error = tact_max(worst_stiffness_error, off);
        left_out += !is_differentiable;
    }
    printf("%s, %d poses: force against energy %.1e, stiffness against differences %.1e; %d "
           "differences halved, %d poses left out\n",
           name, touching, worst_wrench_error, worst_stiffness_error, halved_difference_count,
           left_out);
    assert_true(touching == poses && worst_wrench_error < 2e-5 && left_out <= poses / 50 &&
                worst_stiffness_error < 2e-9);
}

static void field_wrench_and_stiffness_are_derivatives(void **state)
{
    (void)state;
    struct tact_mesh *mesh;
    struct tact_pressure_field *ball = make_ball_field(0.03, 1e5, 1),
                               *box = field_box(0.02, 0.03, 0.01, 4e4, 4);
    struct tact_pressure_field *hard = make_rigid_box_field(0.02, 0.03, 0.01, &mesh),
                               *plane = make_halfspace_field(3e6);
    struct tact_pressure_field *floor = make_halfspace_field(INFINITY);
    check_wrench_derivatives(ball, box, "ball on box", 0.02);
    check_wrench_derivatives(box, hard, "box on rigid box", 0.012);
    check_wrench_derivatives(hard, ball, "rigid box on ball", 0.02);
    check_wrench_derivatives(ball, plane, "ball on soft half-space", 0.02);
    check_wrench_derivatives(floor, ball, "rigid half-space on ball", 0.02);
    check_wrench_derivatives(plane, hard, "soft half-space on rigid box", 0.02);
    tact_field_free(ball);
    tact_field_free(box);
    tact_field_free(hard);
    tact_field_free(plane);
    tact_field_free(floor);
    tact_mesh_free(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contact_wrench_equals_that_of_overlap_volumes),
        cmocka_unit_test(field_wrench_and_stiffness_are_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
