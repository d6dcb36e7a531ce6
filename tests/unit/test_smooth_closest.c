/*
 * Smooth surfaces: points, normals and curvatures against closed forms, closest points against the
 * dual of the distance and the convex program, the motion of a contact against differences.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/motion_internal.h"
#include "contact/pair/smooth/rolling_internal.h"
#include "support/ellipsoid_program.h"
#include "support/random.h"

static struct tact_shape make_ellipsoid(double x, double y, double z)
{
    struct tact_shape s = {.kind = TACT_SHAPE_ELLIPSOID, .size = {x, y, z}};
    return s;
}

static struct tact_shape random_ellipsoid(void)
{
    double s[3];
    for (int i = 0; i < 3; i++) {
        s[i] = 0.01 * pow(10.0, uniform(0.0, 1.0));
    }
    return make_ellipsoid(s[0], s[1], s[2]);
}

static void rotation_matrix_of_pose(double turn[9], const struct tact_pose *pose)
{
    tact_quat_to_m3(turn, pose->quat_wxyz);
}

/* The surface at p + e t less that at p - e t, over 2 e: position along t, normal by L t. */
static void check_surface_curvature(const struct tact_shape *shape,
                                    const struct tact_surface_point *p)
{
    const double *size = shape->size, e = 1e-6 * fmin(size[0], fmin(size[1], size[2]));
    double t[2][3], lt[3];
    tact_v3_tangents(p->normal, t[0], t[1]);
    for (int i = 0; i < 2; i++) {
        struct tact_surface_point q[2];
        for (int k = 0; k < 2; k++) {
            double near[3];
            tact_v3_copy(near, p->at);
            tact_v3_axpy(near, k ? e : -e, t[i]);
            assert_int_equal(tact_shape_surface(shape, near, &q[k]), 0);
        }
        tact_m3_mul_v3(lt, p->bend, t[i]);
        for (int k = 0; k < 3; k++) {
            double moved = (q[1].at[k] - q[0].at[k]) / (2.0 * e);
            double turned = (q[1].normal[k] - q[0].normal[k]) / (2.0 * e);
            assert_true(fabs(moved - t[i][k]) < 1e-8);
            /* trace of the curvature matrix: the sum of the principal curvatures */
            double most = p->bend[0] + p->bend[4] + p->bend[8];
            assert_true(fabs(turned - lt[k]) < 1e-6 * most);
        }
    }
}

/* Gauss's curvature of an ellipsoid is (abc sum(x^2 / a^4))^-2; a point of the surface is one. */
static void curvature_of_ellipsoids_is_exact(void **state)
{
    (void)state;
    double worst[3] = {0.0};
    for (int i = 0; i < 1000; i++) {
        struct tact_shape s = random_ellipsoid();
        struct tact_surface_point p;
        double n[3], at[3], k[2], axes[9], sum = 0.0, on = 0.0;
        tact_v3_set(n, uniform(-1.0, 1.0), uniform(-1.0, 1.0), uniform(-1.0, 1.0));
        tact_v3_normalize(n, n);
        assert_int_equal(tact_shape_support(&s, n, at), 0);
        assert_int_equal(tact_shape_surface(&s, at, &p), 0);
        for (int m = 0; m < 3; m++) {
            double a = s.size[m], x = p.at[m] / a;
            sum += x * x / (a * a);
            on += x * x;
            worst[0] = fmax(worst[0], fabs(p.normal[m] - n[m]));
        }
        tact_surface_curvatures(&p, k, axes);
        double expected_gauss_curvature = 1.0 / pow(s.size[0] * s.size[1] * s.size[2] * sum, 2.0);
        worst[1] = fmax(worst[1], fabs(k[0] * k[1] / expected_gauss_curvature - 1.0));
        worst[2] = fmax(worst[2], fabs(on - 1.0));
        for (int m = 0; m < 2; m++) { /* L t = k t */
            double lt[3];
            tact_m3_mul_v3(lt, p.bend, axes + 3 * m);
            tact_v3_axpy(lt, -k[m], axes + 3 * m);
            assert_true(tact_v3_norm(lt) < 1e-12 * k[1]);
        }
        check_surface_curvature(&s, &p);
    }
    printf("normals to %.1e, curvature to %.1e, on the surface to %.1e\n", worst[0], worst[1],
           worst[2]);
    assert_true(worst[0] < 1e-13 && worst[1] < 1e-11 && worst[2] < 1e-14);
}

/* Support function of an ellipsoid along a world direction. */
static double support_function_of_ellipsoid(const struct tact_shape *s, const double turn[9],
                                            const double *n)
{
    double local[3], sum = 0.0;
    tact_m3_tmul_v3(local, turn, n);
    for (int i = 0; i < 3; i++) {
        sum += s->size[i] * s->size[i] * local[i] * local[i];
    }
    return sqrt(sum);
}

/* Relative distance of p outside the ellipsoid; 0 on its surface. */
static double relative_distance_outside_ellipsoid(const struct tact_shape *s, const double *p)
{
    double f = 0.0;
    for (int i = 0; i < 3; i++) {
        f += p[i] * p[i] / (s->size[i] * s->size[i]);
    }
    return sqrt(f) - 1.0;
}

/* Gap between the supporting planes of A and B with normal n: for any n at most the distance of
 * disjoint A and B (weak duality). */
static double gap_of_supporting_planes(const struct smooth_pair *pair, const double *n)
{
    return tact_v3_dot(n, pair->offset_from_origin_b_to_origin_a) -
           support_function_of_ellipsoid(pair->shape[0], pair->rotation[0], n) -
           support_function_of_ellipsoid(pair->shape[1], pair->rotation[1], n);
}

/* The least overlap of the supporting planes over many directions. */
static double least_overlap_of_supporting_planes(const struct smooth_pair *pair)
{
    double best = -INFINITY;
    for (int i = 0; i < 2000; i++) { /* directions along a spiral over the sphere */
        double z = 1.0 - (2.0 * i + 1.0) / 2000.0, angle = 2.399963229728653 * i;
        const double r = sqrt(1.0 - z * z), n[3] = {r * cos(angle), r * sin(angle), z};
        best = fmax(best, gap_of_supporting_planes(pair, n));
    }
    return best;
}

/* The distance of two ellipsoids is a convex program. Points on both and a direction whose dual
 * value is their distance prove each other: neither can be improved. */
static void distances_of_ellipsoids_equal_their_dual_values(void **state)
{
    (void)state;
    const int pairs = campaign_trial_count(10000, 1000000);
    int apart = 0, shallow = 0, least = 0, unfound_pair_count = 0;
    double gap = 0.0, on = 0.0;
    for (int i = 0; i < pairs; i++) {
        struct tact_shape a = random_ellipsoid(), b = random_ellipsoid();
        struct tact_pose pa = random_pose(0.12), pb = random_pose(0.05);
        struct smooth_pair pair;
        struct smooth_contact c;
        tact_smooth_set_pair(&a, &pa, &b, &pb, &pair);
        if (tact_smooth_find_closest_points(&pair, &c)) {
            unfound_pair_count++; /* a cold search found no points; a tick counts it as
                                     closest_not_found */
            continue;
        }
        double far[3], size = fmax(tact_v3_norm(a.size), tact_v3_norm(b.size));
        tact_v3_sub(far, c.arm[0], c.arm[1]);
        tact_v3_add(far, far, pair.offset_from_origin_b_to_origin_a);
        double distance = c.gap > 0.0 ? tact_v3_norm(far) : -tact_v3_norm(far);
        gap = fmax(gap, fabs(distance - gap_of_supporting_planes(&pair, c.frame)) / size);
        on = fmax(on, fmax(fabs(relative_distance_outside_ellipsoid(&a, c.place[0])),
                           fabs(relative_distance_outside_ellipsoid(&b, c.place[1]))));
        if (c.gap > 0.0) {
            apart++;
            assert_true(least_overlap_of_supporting_planes(&pair) <= c.gap + 1e-12 * size);
        } else if (c.gap > -0.2 * fmin(a.size[0], b.size[0])) {
            shallow++; /* the dual has several maxima, of which the search nearly always finds the
                          greatest */
            least += least_overlap_of_supporting_planes(&pair) <= c.gap + 1e-12 * size;
        }
    }
    printf("%d pairs, %d apart: primal and dual differ by at most %.1e of the size, points are on "
           "the surfaces to %.1e; of %d shallow overlaps %d are the least; %d not found\n",
           pairs, apart, gap, on, shallow, least, unfound_pair_count);
    assert_true(unfound_pair_count <= 1 + pairs / 10000);
    assert_true(gap < 1e-12 && on < 1e-14 && apart > pairs / 4 && shallow > 0);
    assert_true(least >= 0.99 * shallow);
}

/* 10,000 pairs that are apart, against the convex program, which knows no normals. It converges
 * slowly where both surfaces are nearly flat: its own duality gap bounds what it lacks. */
static void distances_of_ellipsoids_equal_the_convex_program(void **state)
{
    (void)state;
    const int pairs = campaign_trial_count(10000, 50000);
    double largest_distance_shortfall = 0.0, largest_distance_excess = 0.0,
           largest_unexplained_error = 0.0;
    int unconverged_convex_program_count = 0, searched_pair_count = 0, unfound_pair_count = 0;
    for (int apart = 0; apart < pairs; searched_pair_count++) {
        struct tact_shape shape[2] = {random_ellipsoid(), random_ellipsoid()};
        struct tact_pose pose[2] = {random_pose(0.12), random_pose(0.05)};
        struct smooth_pair pair;
        struct smooth_contact c;
        tact_smooth_set_pair(&shape[0], &pose[0], &shape[1], &pose[1], &pair);
        const int rc = tact_smooth_find_closest_points(&pair, &c);
        unfound_pair_count += rc != 0;
        if (rc || !(c.gap > 0.0)) {
            continue;
        }
        const double size = fmax(tact_v3_norm(shape[0].size), tact_v3_norm(shape[1].size));
        double error;
        const double distance = ellipsoid_distance_by_convex_program(shape, pose, &error);
        const double off = (distance - c.gap) / size;
        largest_distance_shortfall = fmax(largest_distance_shortfall, -off);
        largest_unexplained_error = fmax(largest_unexplained_error, off - error / size);
        unconverged_convex_program_count += error / size > 1e-11;
        largest_distance_excess = fmax(largest_distance_excess, error / size > 1e-11 ? 0.0 : off);
        apart++;
    }
    printf("%d pairs apart: the program's distance is at most %.1e of the size shorter and %.1e "
           "longer; %d did not converge, of which none is longer than its duality gap by %.1e; of "
           "%d pairs %d not found\n",
           pairs, largest_distance_shortfall, largest_distance_excess,
           unconverged_convex_program_count, largest_unexplained_error, searched_pair_count,
           unfound_pair_count);
    assert_true(unfound_pair_count <= 1 + searched_pair_count / 10000);
    assert_true(largest_distance_shortfall < 1e-12 && largest_distance_excess < 1e-11 &&
                largest_unexplained_error < 1e-12 &&
                unconverged_convex_program_count <= pairs / 500);
}

/* A few steps from the last tick's points lead to the same result as a cold search. */
static void followed_closest_points_equal_searched_ones(void **state)
{
    (void)state;
    double worst = 0.0;
    int count = 0, unfound_pair_count = 0;
    for (int i = 0; i < campaign_trial_count(2000, 200000); i++) {
        struct tact_shape a = random_ellipsoid(), b = random_ellipsoid();
        struct tact_pose pa = random_pose(0.1), pb = random_pose(0.05);
        struct smooth_pair pair;
        struct smooth_contact c, found;
        tact_smooth_set_pair(&a, &pa, &b, &pb, &pair);
        if (tact_smooth_find_closest_points(&pair, &c) || !(c.gap > 0.0)) {
            continue;
        }
        double turn[3], q[4], was[4];
        tact_v3_set(turn, uniform(-0.02, 0.02), uniform(-0.02, 0.02), uniform(-0.02, 0.02));
        tact_quat_from_rotvec(q, turn);
        memcpy(was, pa.quat_wxyz, sizeof was);
        tact_quat_mul(pa.quat_wxyz, q, was);
        tact_v3_axpy(pa.position, 0.01, turn);
        tact_smooth_set_pair(&a, &pa, &b, &pb, &pair);
        assert_int_equal(tact_smooth_find_closest_points(&pair, &found), 0);
        count++;
        if (tact_smooth_refine_closest_points(&pair, &c)) { /* following fails rarely, for very flat
                                                        ellipsoids: then a cold search follows */
            unfound_pair_count++;
            continue;
        }
        for (int k = 0; k < 2; k++) {
            for (int m = 0; m < 3; m++) {
                worst = fmax(worst, fabs(c.place[k][m] - found.place[k][m]) / 0.1);
            }
        }
    }
    printf("points differ by %.1e of the size, %d of %d were lost\n", worst, unfound_pair_count,
           count);
    assert_true(worst < 1e-12 && unfound_pair_count <= count / 500);
}

/* Ellipsoid on a half-space: gap and point from the support function, with either shape as A. */
static void closest_point_of_an_ellipsoid_on_a_plane_is_exact(void **state)
{
    (void)state;
    const struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    for (int i = 0; i < 1000; i++) {
        struct tact_shape e = random_ellipsoid();
        struct tact_pose pe = random_pose(0.2), pp = random_pose(0.2);
        double rotation_of_ellipsoid[9], rotation_of_plane[9], apart[3];
        rotation_matrix_of_pose(rotation_of_ellipsoid, &pe);
        rotation_matrix_of_pose(rotation_of_plane, &pp);
        const double up[3] = {rotation_of_plane[2], rotation_of_plane[5], rotation_of_plane[8]};
        tact_v3_sub(apart, pe.position, pp.position);
        double exact =
            tact_v3_dot(up, apart) - support_function_of_ellipsoid(&e, rotation_of_ellipsoid, up);
        for (int order = 0; order < 2; order++) {
            struct smooth_pair pair;
            struct smooth_contact c;
            tact_smooth_set_pair(order ? &plane : &e, order ? &pp : &pe, order ? &e : &plane,
                                 order ? &pe : &pp, &pair);
            assert_int_equal(tact_smooth_find_closest_points(&pair, &c), 0);
            assert_true(fabs(c.gap - exact) < 1e-15);
            assert_true(fabs(tact_v3_dot(c.frame, up) - (order ? -1.0 : 1.0)) < 4e-15);
        }
    }
}

/* Deep overlaps, common centres and flat ellipsoids: a valid result or a refusal. */
static void extreme_poses_of_smooth_pairs_are_solved_or_refused(void **state)
{
    (void)state;
    struct tact_shape a = make_ellipsoid(0.1, 0.1, 1e-5), b = make_ellipsoid(0.02, 0.02, 0.02);
    struct tact_pose here = tact_pose_identity(), pose_of_flat_ellipsoid = here;
    struct smooth_pair pair;
    struct smooth_contact c;
    tact_smooth_set_pair(&a, &here, &b, &here, &pair);
    if (!tact_smooth_find_closest_points(&pair, &c)) {
        assert_true(c.gap < 0.0 && isfinite(c.gap));
    }
    tact_smooth_set_pair(&b, &here, &b, &here, &pair);
    if (!tact_smooth_find_closest_points(&pair, &c)) {
        assert_true(fabs(c.gap + 0.04) < 1e-15);
    }
    pose_of_flat_ellipsoid.position[2] = 0.0200100001;
    tact_smooth_set_pair(&a, &pose_of_flat_ellipsoid, &b, &here, &pair);
    assert_int_equal(tact_smooth_find_closest_points(&pair, &c), 0);
    assert_true(fabs(c.gap - 1e-10) < 1e-15);
    pose_of_flat_ellipsoid.position[0] = NAN;
    tact_smooth_set_pair(&a, &pose_of_flat_ellipsoid, &b, &here, &pair);
    assert_int_equal(tact_smooth_find_closest_points(&pair, &c), -EDOM);
}

/* The pose after a time t of a frame that moves with a twist and its rate. */
static struct tact_pose pose_after_motion(const struct tact_pose *from, const double *twist,
                                          const double *rate, double t)
{
    struct tact_pose to = *from;
    double turn[3], q[4];
    tact_v3_axpy(to.position, t, twist);
    tact_v3_axpy(to.position, 0.5 * t * t, rate);
    tact_v3_scale(turn, twist + 3, t);
    tact_v3_axpy(turn, 0.5 * t * t, rate + 3);
    tact_quat_from_rotvec(q, turn);
    tact_quat_mul(to.quat_wxyz, q, from->quat_wxyz);
    return to;
}

struct moving_pair {
    struct tact_shape shape[2];
    struct tact_pose pose[2];
    double twist[2][6], rate[2][6];
};

/* The contact after a time t, followed from contact c; *velocity, *spin: its velocities there. */
static struct smooth_contact contact_after_motion(const struct moving_pair *m,
                                                  const struct smooth_contact *c, double t,
                                                  double world[2][3], double velocity[3],
                                                  double spin[3])
{
    struct smooth_contact then = *c;
    struct smooth_pair pair;
    struct tact_pose pose[2];
    double at[2][3], twist[2][6];
    for (int k = 0; k < 2; k++) {
        pose[k] = pose_after_motion(&m->pose[k], m->twist[k], m->rate[k], t);
        for (int i = 0; i < 6; i++) {
            twist[k][i] = m->twist[k][i] + t * m->rate[k][i];
        }
    }
    tact_smooth_set_pair(&m->shape[0], &pose[0], &m->shape[1], &pose[1], &pair);
    assert_int_equal(tact_smooth_refine_closest_points(&pair, &then), 0);
    for (int k = 0; k < 2; k++) {
        tact_v3_add(world[k], pose[k].position, then.arm[k]);
        tact_pair_velocity_at_arm(twist[k], then.arm[k], at[k]);
    }
    tact_v3_sub(velocity, at[0], at[1]);
    tact_v3_sub(spin, twist[0] + 3, twist[1] + 3);
    return then;
}

static double central_difference(double high, double low, double e)
{
    return (high - low) / (2.0 * e);
}

/* Montana's equations and the rates of the contact's velocities against central differences. */
static void contact_motion_matches_montanas_equations(void **state)
{
    (void)state;
    const double e = 1e-5;
    double worst[3] = {0.0};
    for (int i = 0; i < campaign_trial_count(300, 30000); i++) {
        struct moving_pair m = {{random_ellipsoid(), random_ellipsoid()},
                                {random_pose(0.1), random_pose(0.02)},
                                {{0.0}},
                                {{0.0}}};
        for (int k = 0; k < 12; k++) {
            m.twist[k / 6][k % 6] = uniform(-1.0, 1.0) * (k % 6 < 3 ? 0.05 : 2.0);
            m.rate[k / 6][k % 6] = uniform(-1.0, 1.0) * (k % 6 < 3 ? 0.5 : 20.0);
        }
        struct smooth_pair pair;
        struct smooth_contact c, end[2];
        struct smooth_contact_motion motion;
        double world[2][2][3], v[2][3], w[2][3], rates[4];
        tact_smooth_set_pair(&m.shape[0], &m.pose[0], &m.shape[1], &m.pose[1], &pair);
        assert_int_equal(tact_smooth_find_closest_points(&pair, &c), 0);
        if (!(c.gap > 0.0)) {
            continue;
        }
        assert_int_equal(tact_smooth_contact_point_rates(&c, (const double(*)[6])m.twist, &motion),
                         0);
        tact_smooth_second_order_rates(&c, (const double(*)[6])m.twist, (const double(*)[6])m.rate,
                                       &motion, rates);
        for (int k = 0; k < 2; k++) {
            end[k] = contact_after_motion(&m, &c, k ? e : -e, world[k], v[k], w[k]);
        }
        double scale = 1.0;
        for (int k = 0; k < 2; k++) { /* fast contacts have large third derivatives */
            scale = fmax(scale, pow(tact_v3_norm(motion.velocity_over_surface[k]) / 0.1, 3.0));
        }
        double row[2][4] = {{0.0}};
        for (int k = 0; k < 2; k++) {
            row[k][0] = tact_v3_dot(end[k].frame, v[k]);
            row[k][3] = tact_v3_dot(end[k].frame, w[k]);
            for (int t = 1; t < 3; t++) { /* t turned with n, about n x n' */
                double axis[3], q[4], tangent[3];
                tact_v3_cross(axis, c.frame, end[k].frame);
                tact_quat_from_rotvec(q, axis);
                tact_quat_rotate(tangent, q, c.frame + 3 * t);
                row[k][t] = tact_v3_dot(tangent, v[k]);
            }
        }
        for (int t = 0; t < 4; t++) {
            double is = central_difference(row[1][t], row[0][t], e);
            worst[2] = fmax(worst[2], fabs(is - rates[t]) / scale / (t == 3 ? 40.0 : 1.0));
        }
        for (int t = 0; t < 3; t++) {
            worst[1] = fmax(worst[1], fabs(central_difference(end[1].frame[t], end[0].frame[t], e) -
                                           motion.normal[t]) /
                                          scale);
            for (int k = 0; k < 2; k++) {
                double is = central_difference(world[1][k][t], world[0][k][t], e);
                worst[0] = fmax(worst[0], fabs(is - motion.point[k][t]) / scale);
            }
        }
    }
    printf("points to %.1e m/s, normal to %.1e rad/s, rates to %.1e\n", worst[0], worst[1],
           worst[2]);
    assert_true(worst[0] < 1e-7 && worst[1] < 1e-6 && worst[2] < 1e-5);
}

/* The chart of an ellipsoid that the paper's equations are written for: its point, and the frame of
 * eq. 5, rows x, y, z outward. */
static void ellipsoid_chart_frame(const double *size, const double *q, double at[3],
                                  double frame[9])
{
    const double cs = cos(q[0]), ss = sin(q[0]), ct = cos(q[1]), st = sin(q[1]);
    const double along[3] = {-size[0] * ss * ct, size[1] * cs * ct, 0.0};
    const double up[3] = {-size[0] * cs * st, -size[1] * ss * st, size[2] * ct};
    tact_v3_set(at, size[0] * cs * ct, size[1] * ss * ct, size[2] * st);
    tact_v3_normalize(frame, along);
    tact_v3_cross(frame + 6, along, up);
    tact_v3_normalize(frame + 6, frame + 6);
    tact_v3_cross(frame + 3, frame + 6, frame);
}

/* What the paper's eq. 51 makes of chart rates: twist of the contact frame in the body, in the
 * frame's own axes, rotation first. Derivatives by differences. */
static void twist_from_chart_rates(const double *size, const double *q, const double *rates,
                                   double twist[6])
{
    const double e = 1e-6;
    double at[3], frame[9], ends[2][3], frames[2][9], next[2];
    ellipsoid_chart_frame(size, q, at, frame);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 2; i++) {
            next[i] = q[i] + (k ? e : -e) * rates[i];
        }
        ellipsoid_chart_frame(size, next, ends[k], frames[k]);
    }
    const double *x = frame, *y = frame + 3, *z = frame + 6;
    double dx[3], dz[3], dc[3];
    for (int i = 0; i < 3; i++) {
        dx[i] = (frames[1][i] - frames[0][i]) / (2.0 * e);
        dz[i] = (frames[1][6 + i] - frames[0][6 + i]) / (2.0 * e);
        dc[i] = (ends[1][i] - ends[0][i]) / (2.0 * e);
    }
    tact_v3_set(twist, -tact_v3_dot(y, dz), -tact_v3_dot(z, dx), tact_v3_dot(y, dx));
    tact_v3_set(twist + 3, tact_v3_dot(x, dc), tact_v3_dot(y, dc), 0.0);
}

/* Chart coordinates of a point, and their rates for a velocity along the surface. */
static void chart_coordinates_and_rates(const double *size, const double *at,
                                        const double *velocity, double q[2], double rates[2])
{
    q[0] = atan2(at[1] / size[1], at[0] / size[0]);
    q[1] = asin(fmax(-1.0, fmin(1.0, at[2] / size[2])));
    double ct = cos(q[1]);
    rates[1] = velocity[2] / (size[2] * ct);
    rates[0] = (velocity[1] / size[1] * cos(q[0]) - velocity[0] / size[0] * sin(q[0])) / ct;
}

/* The paper's matrix H (55, 56) for the two charts of this contact, times the chart rates that go
 * with Montana's equations, is the twist of B in A: phi(1,2). Sections 3.2 and 3.3 take it for that
 * of A in B, phi(2,1), which has the other sign. */
static void printed_chart_matrix_has_the_wrong_sign(void **state)
{
    (void)state;
    double worst = 0.0, printed = INFINITY;
    int count = 0;
    while (count < 200) {
        const struct tact_shape shape[2] = {random_ellipsoid(), random_ellipsoid()};
        struct tact_pose pose[2] = {random_pose(0.1), random_pose(0.02)};
        struct smooth_pair pair;
        struct smooth_contact c;
        struct smooth_contact_motion motion;
        double twist[2][6], of[2][6], axes[2][9], at[3], sum[6], is[6];
        tact_smooth_set_pair(&shape[0], &pose[0], &shape[1], &pose[1], &pair);
        if (tact_smooth_find_closest_points(&pair, &c) || !(c.gap > 0.0)) {
            continue;
        }
        tact_v3_axpy(pose[0].position, -c.gap, c.frame); /* moved into contact */
        tact_smooth_set_pair(&shape[0], &pose[0], &shape[1], &pose[1], &pair);
        assert_int_equal(tact_smooth_refine_closest_points(&pair, &c), 0);
        for (int k = 0; k < 12; k++) {
            twist[k / 6][k % 6] = uniform(-1.0, 1.0) * (k % 6 < 3 ? 0.05 : 2.0);
        }
        assert_int_equal(tact_smooth_contact_point_rates(&c, (const double(*)[6])twist, &motion),
                         0);
        tact_v3_axpy(twist[0], -tact_v3_dot(motion.slip, c.frame), c.frame);
        assert_int_equal(tact_smooth_contact_point_rates(&c, (const double(*)[6])twist, &motion),
                         0);
        int is_place_away_from_poles = 1;
        for (int k = 0; k < 2; k++) {
            double q[2], rates[2], velocity_on_surface[3], local[9];
            tact_m3_tmul_v3(velocity_on_surface, pair.rotation[k], motion.velocity_over_surface[k]);
            chart_coordinates_and_rates(shape[k].size, c.place[k], velocity_on_surface, q, rates);
            /* the place is away from the poles of the chart, where its coordinates are singular */
            is_place_away_from_poles = is_place_away_from_poles && cos(q[1]) > 0.3;
            twist_from_chart_rates(shape[k].size, q, rates, of[k]);
            ellipsoid_chart_frame(shape[k].size, q, at, local);
            /* rows are the axes of the chart's frame in the world */
            tact_m3_mul_t(axes[k], local, pair.rotation[k]);
        }
        if (!is_place_away_from_poles) {
            continue;
        }
        count++;
        for (int h = 0; h < 6; h += 3) { /* H q' without the rate of psi, which turns about z */
            double world[3], v[3], relative_velocity[3];
            tact_m3_tmul_v3(world, axes[1], of[1] + h);
            tact_m3_mul_v3(v, axes[0], world);
            tact_v3_sub(sum + h, of[0] + h, v);
            if (h) {
                tact_v3_scale(relative_velocity, motion.slip, -1.0);
            } else {
                tact_v3_sub(relative_velocity, twist[1] + 3, twist[0] + 3);
            }
            tact_m3_mul_v3(is + h, axes[0], relative_velocity);
        }
        sum[2] = is[2] = 0.0;
        double off = 0.0, error_with_printed_sign = 0.0;
        for (int i = 0; i < 6; i++) {
            double unit = i < 3 ? 1.0 : 40.0;
            off = fmax(off, unit * fabs(sum[i] - is[i]));
            error_with_printed_sign = fmax(error_with_printed_sign, unit * fabs(sum[i] + is[i]));
        }
        worst = fmax(worst, off);
        printed = fmin(printed, error_with_printed_sign);
    }
    printf("phi(1,2) = H q' to %.1e rad/s; as printed it is off by at least %.2f\n", worst,
           printed);
    assert_true(worst < 1e-6 && printed > 1e-2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curvature_of_ellipsoids_is_exact),
        cmocka_unit_test(distances_of_ellipsoids_equal_their_dual_values),
        cmocka_unit_test(distances_of_ellipsoids_equal_the_convex_program),
        cmocka_unit_test(followed_closest_points_equal_searched_ones),
        cmocka_unit_test(closest_point_of_an_ellipsoid_on_a_plane_is_exact),
        cmocka_unit_test(extreme_poses_of_smooth_pairs_are_solved_or_refused),
        cmocka_unit_test(contact_motion_matches_montanas_equations),
        cmocka_unit_test(printed_chart_matrix_has_the_wrong_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
