/*
 * Parametric surfaces: solids of revolution, cylinders and cones against closed forms, quadrature
 * and searches of other kinds; bad profiles.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/smooth/contacts_internal.h"
#include "contact/pair/smooth/edges_internal.h"
#include "contact/pair/smooth/search_internal.h"
#include "contact/shape/charts_internal.h"
#include "support/random.h"

#define PI 3.14159265358979323846

/* A vase: a foot, a belly, a neck, a lip, and its inside. */
static const double vase_profile[][2] = {
    {0.0, 0.0},    {0.015, 0.0005}, {0.022, 0.004}, {0.03, 0.015},  {0.034, 0.03}, {0.028, 0.05},
    {0.018, 0.07}, {0.021, 0.085},  {0.025, 0.09},  {0.022, 0.092}, {0.016, 0.08}, {0.0145, 0.07},
    {0.023, 0.05}, {0.029, 0.03},   {0.024, 0.015}, {0.012, 0.008}, {0.0, 0.007}};
enum { VASE = sizeof vase_profile / sizeof *vase_profile };

static struct tact_charts *make_revolution_charts(const double (*profile)[2], int count)
{
    struct tact_charts *charts = NULL;
    struct tact_error err = {.line = 0};
    if (tact_charts_revolution(profile, count, &charts, &err)) {
        fail_msg("%s", err.text);
    }
    return charts;
}

/* Surface of revolution of a closed circle of radius r about (at, 0). */
static struct tact_charts *make_circular_ring_charts(double at, double r, int points)
{
    double profile[TACT_PROFILE_POINTS][2];
    for (int i = 0; i < points; i++) {
        profile[i][0] = at + r * cos(2.0 * PI * i / points);
        profile[i][1] = r * sin(2.0 * PI * i / points);
    }
    memcpy(profile[points], profile[0], sizeof profile[0]);
    return make_revolution_charts((const double(*)[2])profile, points + 1);
}

static struct tact_shape revolution_shape_of_charts(const struct tact_charts *charts)
{
    struct tact_shape s = {.kind = TACT_SHAPE_REVOLUTION, .charts = charts};
    assert_int_equal(tact_shape_tessellate(&s), 0);
    return s;
}

/* Chart coordinates of the point at a chord length and azimuth. */
static void chart_place_at_chord_length(double s, double azimuth, double place[3])
{
    tact_v3_set(place, s, cos(azimuth), sin(azimuth));
}

/* Length of the profile's chords, which is the largest parameter. */
static double total_chord_length(const double (*profile)[2], int count, double *at)
{
    double sum = 0.0;
    for (int i = 0; i + 1 < count; i++) {
        at[i] = sum;
        sum += hypot(profile[i + 1][0] - profile[i][0], profile[i + 1][1] - profile[i][1]);
    }
    at[count - 1] = sum;
    return sum;
}

/* The surface goes through its points. Moved along the tangents, position and normal change by the
 * step and by L times the step; at the axis too. */
static void derivatives_on_a_vase_surface_are_exact(void **state)
{
    (void)state;
    struct tact_charts *charts = make_revolution_charts(vase_profile, VASE);
    double at[VASE], length = total_chord_length(vase_profile, VASE, at), worst[4] = {0.0};
    for (int i = 0; i < VASE; i++) {
        struct tact_surface_point p;
        double place[3];
        chart_place_at_chord_length(at[i], 1.0, place);
        assert_int_equal(tact_charts_point(charts, place, &p), 0);
        worst[0] = fmax(worst[0], fabs(hypot(p.at[0], p.at[1]) - vase_profile[i][0]));
        worst[0] = fmax(worst[0], fabs(p.at[2] - vase_profile[i][1]));
    }
    for (int i = 0; i < 2000; i++) {
        struct tact_surface_point p, q[2];
        double place[3], t[2][3], lt[3];
        const double e = 1e-7;
        chart_place_at_chord_length(i < 20   ? 0.0
                                    : i < 40 ? length
                                             : uniform(0.0, length),
                                    uniform(-PI, PI), place);
        assert_int_equal(tact_charts_point(charts, place, &p), 0);
        tact_v3_tangents(p.normal, t[0], t[1]);
        for (int m = 0; m < 2; m++) {
            for (int k = 0; k < 2; k++) {
                double to[3], step[3];
                tact_v3_copy(to, place);
                tact_v3_scale(step, t[m], k ? e : -e);
                tact_charts_move(charts, to, step);
                assert_int_equal(tact_charts_point(charts, to, &q[k]), 0);
            }
            tact_m3_mul_v3(lt, p.bend, t[m]);
            for (int k = 0; k < 3; k++) {
                double moved = (q[1].at[k] - q[0].at[k]) / (2.0 * e);
                double turned = (q[1].normal[k] - q[0].normal[k]) / (2.0 * e);
                worst[1] = fmax(worst[1], fabs(moved - t[m][k]));
                worst[2] = fmax(worst[2], fabs(turned - lt[k]) / 1000.0);
            }
        }
        worst[3] = fmax(worst[3], fabs(tact_v3_norm(p.normal) - 1.0));
    }
    printf("points to %.1e m, steps to %.1e, curvature to %.1e of 1/mm\n", worst[0], worst[1],
           worst[2]);
    assert_true(worst[0] < 1e-15 && worst[1] < 1e-6 && worst[2] < 1e-5 && worst[3] < 1e-14);
    tact_charts_free(charts);
}

/* Mass properties against Simpson's rule over the same surface; the direction of the profile and
 * the triangulation do not matter. */
static void mass_properties_of_a_vase_are_exact(void **state)
{
    (void)state;
    enum { STEPS = 20000 };
    struct tact_charts *charts = make_revolution_charts(vase_profile, VASE), *other;
    struct tact_shape shape = revolution_shape_of_charts(charts);
    struct tact_shape_mass mass;
    double at[VASE], back[VASE][2], sum[4] = {0.0}, worst = 0.0;
    total_chord_length(vase_profile, VASE, at);
    for (int i = 0; i + 1 < VASE; i++) {
        for (int k = 0; k < STEPS / 20; k++) {
            double h = (at[i + 1] - at[i]) / (STEPS / 20), s[3];
            struct tact_surface_point p[3];
            for (int m = 0; m < 3; m++) {
                double place[3];
                chart_place_at_chord_length(fmin(at[i] + (k + 0.5 * m) * h, at[i + 1]), 0.0, place);
                assert_int_equal(tact_charts_point(charts, place, &p[m]), 0);
                s[m] = p[m].at[0];
            }
            /* Simpson's rule for r^2 dz: the slope in the middle is that of the parabola */
            const double weight[3] = {1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0};
            const double rate[3] = {-3.0 * p[0].at[2] + 4.0 * p[1].at[2] - p[2].at[2],
                                    p[2].at[2] - p[0].at[2],
                                    p[0].at[2] - 4.0 * p[1].at[2] + 3.0 * p[2].at[2]};
            for (int m = 0; m < 3; m++) {
                double part = weight[m] * rate[m] * s[m] * s[m], z = p[m].at[2];
                sum[0] += part;
                sum[1] += part * z;
                sum[2] += part * z * z;
                sum[3] += part * s[m] * s[m];
            }
        }
    }
    tact_shape_mass(&shape, &mass);
    double across = PI * (0.25 * sum[3] + sum[2] - sum[1] * sum[1] / sum[0]);
    worst = fmax(worst, fabs(mass.volume / (PI * sum[0]) - 1.0));
    worst = fmax(worst, fabs(mass.centroid[2] - sum[1] / sum[0]) / 0.05);
    worst = fmax(worst, fabs(mass.inertia[0] / across - 1.0));
    worst = fmax(worst, fabs(mass.inertia[8] / (0.5 * PI * sum[3]) - 1.0));
    printf("mass to %.1e of quadrature, the triangulation's volume to %.1e\n", worst,
           fabs(shape.mesh->volume / mass.volume - 1.0));
    assert_true(worst < 1e-9);
    assert_true(fabs(shape.mesh->volume / mass.volume - 1.0) < 0.01);
    for (int i = 0; i < VASE; i++) {
        memcpy(back[i], vase_profile[VASE - 1 - i], sizeof back[i]);
    }
    other = make_revolution_charts((const double(*)[2])back, VASE);
    assert_true(fabs(other->mass.volume / mass.volume - 1.0) < 1e-14);
    tact_charts_free(other);
    tact_charts_free(charts);
}

/* Distance of a ball's surface from the profile in the half plane of its centre, by golden section
 * about each sample that is nearest: independent of normals and of Newton's method. */
static int find_profile_distance_minima(const struct tact_charts *charts, double length,
                                        const double *center, double radius, double most,
                                        double gaps[16])
{
    enum { STEPS = 4000 };
    int count = 0;
    double azimuth = atan2(center[1], center[0]), f[STEPS + 1];
    for (int i = 0; i <= STEPS; i++) {
        struct tact_surface_point p;
        double place[3], d[3];
        chart_place_at_chord_length(length * i / STEPS, azimuth, place);
        assert_int_equal(tact_charts_point(charts, place, &p), 0);
        tact_v3_sub(d, center, p.at);
        f[i] = tact_v3_norm(d);
    }
    for (int i = 1; i < STEPS && count < 16; i++) {
        if (!(f[i] < f[i - 1] && f[i] <= f[i + 1] && f[i] < radius + most + 1e-4)) {
            continue;
        }
        double low = length * (i - 1) / STEPS, high = length * (i + 1) / STEPS, value[2];
        for (int k = 0; k < 60; k++) {
            double x[2] = {high - 0.6180339887498949 * (high - low), 0.0};
            x[1] = low + high - x[0];
            for (int m = 0; m < 2; m++) {
                struct tact_surface_point p;
                double place[3], d[3];
                chart_place_at_chord_length(x[m], azimuth, place);
                assert_int_equal(tact_charts_point(charts, place, &p), 0);
                tact_v3_sub(d, center, p.at);
                value[m] = tact_v3_norm(d);
            }
            low = value[0] < value[1] ? low : x[0];
            high = value[0] < value[1] ? x[1] : high;
        }
        struct tact_surface_point p;
        double place[3], d[3], gap = fmin(value[0], value[1]) - radius;
        chart_place_at_chord_length(0.5 * (low + high), azimuth, place);
        assert_int_equal(tact_charts_point(charts, place, &p), 0);
        tact_v3_sub(d, center, p.at);
        if (gap < most && gap > -5e-4 && tact_v3_dot(d, p.normal) > 0.0) {
            gaps[count++] = gap;
        }
    }
    return count;
}

/* A ball beside the vase, at times in two places of it: all of its contacts are found. */
static void contacts_of_a_ball_in_a_vase_are_exact(void **state)
{
    (void)state;
    const int poses = campaign_trial_count(3000, 100000);
    const double near = 1e-3;
    struct tact_charts *charts = make_revolution_charts(vase_profile, VASE);
    const struct tact_shape body = revolution_shape_of_charts(charts);
    double at[VASE], length = total_chord_length(vase_profile, VASE, at), worst = 0.0;
    int contacts = 0, missed_contact_count = 0, several = 0;
    for (int i = 0; i < poses; i++) {
        const double radius = i % 3 ? uniform(0.002, 0.006) : uniform(0.03, 0.06);
        const struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {radius}};
        struct tact_pose pose_of_body = random_pose(0.1), pose_of_ball = tact_pose_identity();
        struct tact_surface_point p;
        struct smooth_pair pair;
        struct smooth_contact c[TACT_PIECES];
        double place[3], center[3], gaps[16];
        int lost;
        /* large: outside */
        chart_place_at_chord_length(uniform(0.0, i % 3 ? length : at[8]), uniform(-PI, PI), place);
        assert_int_equal(tact_charts_point(charts, place, &p), 0);
        tact_v3_copy(center, p.at);
        tact_v3_axpy(center, radius + uniform(-1e-4, 5e-4), p.normal);
        tact_pose_point(pose_of_ball.position, &pose_of_body, center);
        tact_smooth_set_pair(i % 2 ? &body : &ball, i % 2 ? &pose_of_body : &pose_of_ball,
                             i % 2 ? &ball : &body, i % 2 ? &pose_of_ball : &pose_of_body, &pair);
        int found = tact_smooth_search_contacts(&pair, near, 0, c, &lost);
        int expected = find_profile_distance_minima(charts, length, center, radius, near, gaps);
        several += expected > 1;
        contacts += expected;
        for (int k = 0; k < expected; k++) {
            double best = 1.0;
            for (int m = 0; m < found && m < TACT_PIECES; m++) {
                best = fmin(best, fabs(c[m].gap - gaps[k]));
            }
            missed_contact_count += best > 1e-6;
            worst = best > 1e-6 ? worst : fmax(worst, best / 0.092);
        }
    }
    printf("%d contacts (%d poses with several): %d missed, gaps to %.1e of size\n", contacts,
           several, missed_contact_count, worst);
    assert_true(missed_contact_count == 0 && worst < 1e-12 && several > 0);
    tact_charts_free(charts);
}

/* Two rings as solids of revolution, against the tori that they approximate: the same contacts. */
static void contacts_of_revolved_rings_equal_those_of_tori(void **state)
{
    (void)state;
    const int poses = campaign_trial_count(1200, 40000);
    struct tact_charts *a = make_circular_ring_charts(0.04, 0.008, 120),
                       *b = make_circular_ring_charts(0.03, 0.006, 120);
    const struct tact_shape first_ring_shape = revolution_shape_of_charts(a),
                            ring_b = revolution_shape_of_charts(b),
                            torus_a = {.kind = TACT_SHAPE_TORUS, .size = {0.04, 0.008}},
                            torus_b = {.kind = TACT_SHAPE_TORUS, .size = {0.03, 0.006}};
    int found_contact_count = 0, missed_contact_count = 0;
    double worst = 0.0;
    for (int i = 0; i < poses; i++) {
        struct tact_pose pa = random_pose(0.03), pb = random_pose(0.02);
        struct smooth_pair pair, tori, mixed;
        struct smooth_contact c[TACT_PIECES], d[TACT_PIECES], m[TACT_PIECES];
        int lost[2];
        tact_smooth_set_pair(&first_ring_shape, &pa, &ring_b, &pb, &pair);
        tact_smooth_set_pair(&torus_a, &pa, &torus_b, &pb, &tori);
        tact_smooth_set_pair(&first_ring_shape, &pa, &torus_b, &pb, &mixed);
        int found = tact_smooth_search_contacts(&pair, 2e-3, 0, c, &lost[0]);
        int half = tact_smooth_search_contacts(&mixed, 2e-3, 0, m, &lost[1]);
        int known = tact_smooth_find_contacts(&tori, 2e-3, d, &lost[0]);
        for (int k = 0; k < known && k < TACT_PIECES; k++) {
            double best[2] = {1.0, 1.0};
            if (d[k].gap > 1e-3 || d[k].gap < -0.002) {
                continue;
            }
            for (int n = 0; n < found && n < TACT_PIECES; n++) {
                best[0] = fmin(best[0], fabs(c[n].gap - d[k].gap));
            }
            for (int n = 0; n < half && n < TACT_PIECES; n++) {
                best[1] = fmin(best[1], fabs(m[n].gap - d[k].gap));
            }
            found_contact_count++;
            missed_contact_count += (best[0] > 1e-7) + (best[1] > 1e-7);
            worst = best[0] > 1e-7 ? worst : fmax(worst, best[0]);
        }
    }
    printf("%d contacts of rings: %d missed, gaps to %.1e m of the tori's\n", found_contact_count,
           missed_contact_count, worst);
    assert_true(found_contact_count > poses / 10 && missed_contact_count == 0);
    tact_charts_free(a);
    tact_charts_free(b);
}

/* Precomputed data of a smooth shape, as a world prepares them. */
static struct smooth_shape_data *prepare_smooth_data(const struct tact_shape *shape)
{
    void *data = NULL;
    assert_int_equal(tact_smooth_prepare(NULL, shape, NULL, &data, NULL), 0);
    return data;
}

/* Sides of two crossed cylinders: the distance of their axes less the radii. Ends and rims have no
 * contact of the side. */
static void distance_of_crossed_cylinders_is_that_of_their_axes(void **state)
{
    (void)state;
    const int poses = campaign_trial_count(5000, 200000);
    struct tact_shape a = {.kind = TACT_SHAPE_CYLINDER, .size = {0.01, 0.06}},
                      b = {.kind = TACT_SHAPE_CYLINDER, .size = {0.02, 0.05}};
    assert_int_equal(tact_shape_tessellate(&a) | tact_shape_tessellate(&b), 0);
    struct smooth_shape_data *of_a = prepare_smooth_data(&a), *of_b = prepare_smooth_data(&b);
    int sides = 0;
    double worst = 0.0;
    for (int i = 0; i < poses; i++) {
        struct tact_pose pa = random_pose(0.03), pb = random_pose(0.005);
        struct smooth_pair pair;
        struct smooth_contact c[TACT_PIECES];
        double n[3], za[3], zb[3], s[2];
        int lost;
        tact_smooth_set_pair(&a, &pa, &b, &pb, &pair);
        pair.charts[0] = of_a->charts;
        pair.charts[1] = of_b->charts;
        for (int k = 0; k < 3; k++) {
            za[k] = pair.rotation[0][3 * k + 2];
            zb[k] = pair.rotation[1][3 * k + 2];
        }
        tact_v3_cross(n, za, zb);
        double sine = tact_v3_norm(n), along[3];
        double gap = fabs(tact_v3_dot(n, pair.offset_from_origin_b_to_origin_a)) / sine - 0.03;
        tact_v3_cross(along, pair.offset_from_origin_b_to_origin_a, zb);
        s[0] = -tact_v3_dot(along, n) / (sine * sine);
        tact_v3_cross(along, pair.offset_from_origin_b_to_origin_a, za);
        s[1] = -tact_v3_dot(along, n) / (sine * sine);
        if (gap > 2e-3 || gap < -5e-3 || sine < 0.05 || fabs(s[0]) > 0.0599 ||
            fabs(s[1]) > 0.0499) {
            continue;
        }
        int found = tact_smooth_search_contacts(&pair, 3e-3, 0, c, &lost);
        double best = 1.0;
        for (int k = 0; k < found && k < TACT_PIECES; k++) {
            best = fmin(best, fabs(c[k].gap - gap));
        }
        sides++;
        worst = fmax(worst, best / 0.12);
    }
    printf("%d pairs of sides, gaps to %.1e of size\n", sides, worst);
    assert_true(sides > 50 && worst < 1e-12);
    tact_smooth_release(of_a);
    tact_smooth_release(of_b);
    tact_shape_release(&a);
    tact_shape_release(&b);
}

/* A ball beside a cone: over its side, its base, its rim or its tip. Only the first two are
 * contacts of smooth surfaces. */
static void contacts_of_a_ball_on_a_cone_are_exact(void **state)
{
    (void)state;
    const double r = 0.03, l = 0.04, slope = hypot(r, 2.0 * l), ball = 0.01;
    struct tact_shape cone_shape = {.kind = TACT_SHAPE_CONE, .size = {r, l}},
                      sphere = {.kind = TACT_SHAPE_SPHERE, .size = {ball}};
    struct tact_shape_mass mass, mass_of_mesh;
    assert_int_equal(tact_shape_tessellate(&cone_shape), 0);
    struct smooth_shape_data *data = prepare_smooth_data(&cone_shape);
    int count[2] = {0};
    double worst = 0.0;
    for (int i = 0; i < campaign_trial_count(3000, 100000); i++) {
        struct tact_pose at = tact_pose_identity(), fixed = tact_pose_identity();
        struct smooth_pair pair;
        struct smooth_contact c[TACT_PIECES];
        int lost;
        double azimuth = uniform(-PI, PI), s = uniform(-0.2, 1.2), g = uniform(-1e-3, 1e-3);
        double out = i % 2 ? 2.0 * l / slope : 0.0, up = i % 2 ? r / slope : -1.0;
        double across = (i % 2 ? r * (1.0 - s) : r * s) + (ball + g) * out;
        double z = (i % 2 ? -l + 2.0 * l * s : -l) + (ball + g) * up;
        int on = s > 0.0 && s < 1.0;
        tact_v3_set(at.position, across * cos(azimuth), across * sin(azimuth), z);
        tact_smooth_set_pair(&sphere, &at, &cone_shape, &fixed, &pair);
        pair.charts[1] = data->charts;
        int found = tact_smooth_search_contacts(&pair, 2e-3, 0, c, &lost);
        double edge = fmin(fabs(s), fabs(s - 1.0));
        if (across < 0.0 || edge < (s > 0.5 && i % 2 ? 0.05 : 1e-3)) {
            /* some contacts beside the tip, whose radius of curvature vanishes, are not found */
            continue;
        }
        assert_int_equal(found > 0, on);
        if (on) {
            worst = fmax(worst, fabs(c->gap - g) / 0.08);
            count[i % 2]++;
        }
    }
    printf("on base and side %d and %d, gaps to %.1e of size\n", count[0], count[1], worst);
    assert_true(count[0] > 100 && count[1] > 100 && worst < 1e-12);
    tact_shape_mass(&cone_shape, &mass);
    cone_shape.kind = TACT_SHAPE_MESH;
    tact_shape_mass(&cone_shape, &mass_of_mesh);
    assert_true(fabs(mass_of_mesh.volume / mass.volume - 1.0) < 1e-12);
    assert_true(fabs(mass_of_mesh.centroid[2] - mass.centroid[2]) < 1e-15);
    assert_true(fabs(mass_of_mesh.inertia[0] / mass.inertia[0] - 1.0) < 1e-3);
    assert_true(fabs(mass_of_mesh.inertia[8] / mass.inertia[8] - 1.0) < 1e-3);
    tact_smooth_release(data);
    tact_shape_release(&cone_shape);
}

/* Invalid profiles are refused, and the message says which point is wrong. */
static void bad_revolution_profiles_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *expected_message;
        int count;
        double profile[6][2];
    } bad[] = {
        {"2 points", 2, {{0.0, 0.0}, {0.0, 1.0}}},
        {"point 1 of the profile is not finite", 3, {{0.0, 0.0}, {NAN, 0.5}, {0.0, 1.0}}},
        {"point 1 of the profile is not finite", 3, {{0.0, 0.0}, {1e10, 0.5}, {0.0, 1.0}}},
        {"point 2 of the profile is equal", 4, {{0.0, 0.0}, {1.0, 0.5}, {1.0, 0.5}, {0.0, 1.0}}},
        {"point 2 of the profile ends it off the axis", 3, {{0.0, 0.0}, {1.0, 0.5}, {0.5, 1.0}}},
        {"point 0 of the profile ends it off the axis", 3, {{0.5, 0.0}, {1.0, 0.5}, {0.0, 1.0}}},
        {"point 1 of the profile has no positive r", 3, {{0.0, 0.0}, {-1.0, 0.5}, {0.0, 1.0}}},
        {"reaches the axis",
         6,
         {{0.0, 0.0}, {1.0, 0.0}, {0.01, 0.4}, {0.01, 0.6}, {1.0, 1.0}, {0.0, 1.0}}},
        {"encloses no valid solid",
         5,
         {{0.0, 0.0}, {2.0, 0.5}, {2.0, 2.0}, {1.0, -1.0}, {0.0, -1.2}}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tact_charts *charts = NULL;
        struct tact_error err = {.line = 0};
        assert_int_equal(tact_charts_revolution(bad[i].profile, bad[i].count, &charts, &err),
                         -EINVAL);
        assert_null(charts);
        if (!strstr(err.text, bad[i].expected_message)) {
            fail_msg("\"%s\" has no \"%s\"", err.text, bad[i].expected_message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_on_a_vase_surface_are_exact),
        cmocka_unit_test(mass_properties_of_a_vase_are_exact),
        cmocka_unit_test(contacts_of_a_ball_in_a_vase_are_exact),
        cmocka_unit_test(contacts_of_revolved_rings_equal_those_of_tori),
        cmocka_unit_test(distance_of_crossed_cylinders_is_that_of_their_axes),
        cmocka_unit_test(contacts_of_a_ball_on_a_cone_are_exact),
        cmocka_unit_test(bad_revolution_profiles_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
