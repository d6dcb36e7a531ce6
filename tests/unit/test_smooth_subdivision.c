/*
 * Loop's and Catmull and Clark's surfaces: against splines in closed form, subdivision of the whole
 * mesh with limit masks, and themselves from a control mesh that is one subdivision finer.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/models_internal.h"
#include "contact/pair/smooth/contacts_internal.h"
#include "contact/pair/smooth/search_internal.h"
#include "contact/shape/squares_internal.h"
#include "support/campaign.h"
#include "support/plain_subdivision.h"
#include "support/random.h"
#include "support/replays.h"
#include "support/smooth_known.h"
#include "support/world_scene.h"

static void displace_vertices_randomly(struct polygon_mesh *mesh, double size)
{
    for (int i = 0; i < mesh->vertices; i++) {
        for (int k = 0; k < 3; k++) {
            mesh->at[i][k] += uniform(-size, size);
        }
    }
}

static struct tact_charts *limit_surface_kind(const struct polygon_mesh *mesh, double scale)
{
    struct tact_charts *charts = NULL;
    struct tact_error err = {.line = 0};
    char *text = polygon_mesh_to_obj_text(mesh, 0);
    if (tact_charts_subdivision(text, strlen(text), "control.obj", scale, &charts, &err)) {
        fail_msg("%d: %s", err.line, err.text);
    }
    free(text);
    return charts;
}

/* Value, first and second derivative of the four uniform cubic B-splines. */
static void evaluate_bspline_basis(double t, double b[3][4])
{
    const double s = 1.0 - t;
    const double value[3][4] = {{s * s * s / 6.0, (3.0 * t * t * t - 6.0 * t * t + 4.0) / 6.0,
                                 (3.0 * s * s * s - 6.0 * s * s + 4.0) / 6.0, t * t * t / 6.0},
                                {-s * s / 2.0, (9.0 * t * t - 12.0 * t) / 6.0,
                                 -(9.0 * s * s - 12.0 * s) / 6.0, t * t / 2.0},
                                {s, 3.0 * t - 2.0, 3.0 * s - 2.0, t}};
    memcpy(b, value, sizeof value);
}

/* Catmull and Clark's surface of a grid of squares is the uniform bicubic B-spline. */
static void surface_of_regular_squares_is_the_bicubic_spline(void **state)
{
    (void)state;
    enum { N = 6 };
    static const int order[6][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};
    struct polygon_mesh mesh;
    double worst = 0.0;
    make_test_polygon_mesh(3, N, &mesh);
    displace_vertices_randomly(&mesh, 0.05);
    struct tact_charts *charts = limit_surface_kind(&mesh, 1.0);
    const struct square_charts *squares = (const struct square_charts *)charts;
    assert_int_equal(squares->count, N * N);
    for (int i = 0; i < 500; i++) {
        const int f = i % (N * N);
        double u = uniform(0.0, 1.0), v = uniform(0.0, 1.0), bu[3][4], bv[3][4], c[6][3];
        evaluate_bspline_basis(u, bu);
        evaluate_bspline_basis(v, bv);
        squares->evaluate(squares, f, u, v, SECOND_ORDER, c);
        for (int m = 0; m < 6; m++) {
            for (int k = 0; k < 16; k++) {
                const int column = (f % N + k % 4 - 1 + N) % N, row = (f / N + k / 4 - 1 + N) % N;
                tact_v3_axpy(c[m], -bu[order[m][0]][k % 4] * bv[order[m][1]][k / 4],
                             mesh.at[row * N + column]);
            }
            worst = fmax(worst, tact_v3_norm(c[m]));
        }
    }
    printf("position and derivatives to %.1e\n", worst);
    assert_true(worst < 1e-13);
    tact_charts_free(charts);
}

/* Parameters of a square of a triangle from the weights of its next and its last corner. */
static void patch_parameters_at_corner(double next, double last, double uv[2])
{
    const double d = 2.0 * (next - last), b = 0.5 - d / 6.0, c = 0.5 * d - next;
    uv[1] = -2.0 * c / (b + sqrt(b * b + 4.0 / 6.0 * c));
    uv[0] = uv[1] + d;
}

/* Compares a surface point and its normal with the nearest limit point of the subdivided mesh. */
static void compare_with_nearest_surface_point(const struct tact_surface_point *p, int count,
                                               const double (*at)[3], const double (*normal)[3],
                                               double worst[2])
{
    double best = INFINITY, off = INFINITY, d[3];
    for (int i = 0; i < count; i++) {
        tact_v3_sub(d, p->at, at[i]);
        if (tact_v3_norm(d) < best) {
            best = tact_v3_norm(d);
            tact_v3_sub(d, p->normal, normal[i]);
            off = tact_v3_norm(d);
        }
    }
    worst[0] = fmax(worst[0], best);
    worst[1] = fmax(worst[1], off);
}

/* At dyadic parameters the surface has the limit points and normals of the vertices of the mesh
 * that is subdivided as a whole, extraordinary vertices too. */
static void compare_surface_with_subdivided_mesh(const struct polygon_mesh *control, int triangles,
                                                 int faces, double worst[2])
{
    const int n = triangles ? 2 : 4;
    static struct polygon_mesh fine[2];
    static double at[PLAIN_VERTICES][3], normal[PLAIN_VERTICES][3];
    struct tact_charts *charts = limit_surface_kind(control, 1.0);
    const int squares = ((const struct square_charts *)charts)->count;
    int count = 0;
    fine[0] = *control;
    /* subdivides until the mesh has vertices at all dyadic parameters */
    while (fine[0].faces < faces) {
        subdivide_polygon_mesh(&fine[0], &fine[1]);
        fine[0] = fine[1];
    }
    compute_subdivision_limit_positions(&fine[0], at, normal);
    for (int i = 0; i < squares; i++) {
        for (int k = 0; k < (n + 1) * (n + 1); k++) {
            struct tact_surface_point p;
            double place[3] = {i, (double)(k % (n + 1)) / n, (double)(k / (n + 1)) / n};
            if (triangles) { /* weights of a triangle's corners, dyadic, within the square */
                const double next = place[1] / 2.0, last = place[2] / 2.0;
                if (next > 1.0 - next - last || last > 1.0 - next - last) {
                    continue;
                }
                patch_parameters_at_corner(next, last, place + 1);
            }
            assert_int_equal(tact_charts_point(charts, place, &p), 0);
            compare_with_nearest_surface_point(&p, fine[0].vertices, (const double(*)[3])at,
                                               (const double(*)[3])normal, worst);
            count++;
        }
    }
    assert_true(count > 50);
    tact_charts_free(charts);
}

static void surface_points_are_the_limits_of_subdivision(void **state)
{
    (void)state;
    static const struct {
        int kind, n;
        int faces; /* number of faces of the subdivided mesh */
    } solid[] = {{0, 4, 384}, {0, 5, 1920}, {4, 4, 512},  {2, 3, 384},
                 {2, 4, 512}, {2, 5, 640},  {2, 8, 1024}, {1, 7, 1792}};
    for (size_t i = 0; i < sizeof solid / sizeof *solid; i++) {
        struct polygon_mesh mesh;
        double worst[2] = {0.0};
        make_test_polygon_mesh(solid[i].kind, solid[i].n, &mesh);
        displace_vertices_randomly(&mesh, 0.1);
        compare_surface_with_subdivided_mesh(&mesh, solid[i].kind > 0, solid[i].faces, worst);
        printf("kind %d, %d: positions to %.1e, normals to %.1e\n", solid[i].kind, solid[i].n,
               worst[0], worst[1]);
        assert_true(worst[0] < 1e-13);
        assert_true(worst[1] < 1e-12);
    }
}

/* Near extraordinary vertices the surface is that of the mesh subdivided once, at twice the
 * parameters. */
static void subdividing_the_mesh_keeps_the_limit_surface(void **state)
{
    (void)state;
    static const int sides[] = {4, 5};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        static struct polygon_mesh mesh, once, twice;
        double worst[3] = {0.0};
        make_test_polygon_mesh(0, sides[i], &mesh);
        displace_vertices_randomly(&mesh, 0.1);
        subdivide_polygon_mesh(&mesh, &once);
        /* subdivides once more, so that the vertex in an end of the prism is beside regular ones */
        if (sides[i] != 4) {
            subdivide_polygon_mesh(&once, &mesh);
            once = mesh;
        }
        subdivide_polygon_mesh(&once, &twice);
        struct tact_charts *charts[2] = {limit_surface_kind(&once, 1.0),
                                         limit_surface_kind(&twice, 1.0)};
        assert_int_equal(((struct square_charts *)charts[0])->count, once.faces);
        for (int k = 0; k < 4000; k++) {
            const int face = k % once.faces, depth = k / once.faces % 12;
            const double u = ldexp(uniform(0.0, 0.5), -depth), v = ldexp(uniform(0.0, 0.5), -depth);
            struct tact_surface_point p, q = {.at = {INFINITY}}, r;
            double best = INFINITY, size = 0.0;
            assert_int_equal(tact_charts_point(charts[0], (double[3]){face, u, v}, &p), 0);
            /* one of the square's four faces is at its first corner */
            for (int m = 0; m < 4; m++) {
                const double at[3] = {4 * face + m, 2.0 * u, 2.0 * v};
                double d[3];
                assert_int_equal(tact_charts_point(charts[1], at, &r), 0);
                tact_v3_sub(d, p.at, r.at);
                q = tact_v3_norm(d) < best ? r : q;
                best = fmin(best, tact_v3_norm(d));
            }
            for (int m = 0; m < 9; m++) {
                size = fmax(size, fabs(p.bend[m]));
            }
            worst[0] = fmax(worst[0], best);
            for (int m = 0; m < 9; m++) {
                worst[1] = fmax(worst[1], fabs(p.normal[m % 3] - q.normal[m % 3]));
                worst[2] = fmax(worst[2], fabs(p.bend[m] - q.bend[m]) / size);
            }
        }
        printf("valence %d: positions to %.1e, normals to %.1e, curvatures to %.1e of themselves\n",
               sides[i], worst[0], worst[1], worst[2]);
        assert_true(worst[0] < 1e-14 && worst[1] < 1e-12 && worst[2] < 1e-7);
        tact_charts_free(charts[0]);
        tact_charts_free(charts[1]);
    }
}

/* Steps along the surface, over sides too, and the rotation of the normal along them. */
static void surface_curvature_is_the_derivative_of_the_normals(void **state)
{
    (void)state;
    static const int solid[][2] = {{0, 5}, {2, 3}, {2, 5}, {1, 7}, {3, 5}, {4, 5}};
    const double h = 1e-6;
    for (size_t i = 0; i < sizeof solid / sizeof *solid; i++) {
        struct polygon_mesh mesh;
        double worst = 0.0;
        make_test_polygon_mesh(solid[i][0], solid[i][1], &mesh);
        displace_vertices_randomly(&mesh, 0.1);
        struct tact_charts *charts = limit_surface_kind(&mesh, 1.0);
        for (int k = 0; k < 300; k++) {
            struct tact_surface_point p, q[2];
            double place[3] = {(int)uniform(0.0, ((struct square_charts *)charts)->count - 0.001),
                               uniform(0.01, 0.99), uniform(0.01, 0.99)};
            double t[2][3], bent[3], d[3], e[3];
            assert_int_equal(tact_charts_point(charts, place, &p), 0);
            tact_v3_tangents(p.normal, t[0], t[1]);
            for (int m = 0; m < 2; m++) {
                double moved[3], step[3];
                memcpy(moved, place, sizeof moved);
                tact_v3_scale(step, t[k % 2], m ? h : -h);
                tact_charts_move(charts, moved, step);
                assert_int_equal(tact_charts_point(charts, moved, &q[m]), 0);
            }
            tact_v3_sub(d, q[1].at, q[0].at);
            tact_v3_sub(e, q[1].normal, q[0].normal);
            tact_m3_mul_v3(bent, p.bend, d);
            tact_v3_sub(e, e, bent);
            const double bend = fabs(p.bend[0]) + fabs(p.bend[4]) + fabs(p.bend[8]);
            worst = fmax(worst, tact_v3_norm(e) / (2.0 * h) / fmax(1.0, bend));
        }
        printf("kind %d, %d: curvature to %.1e of itself\n", solid[i][0], solid[i][1], worst);
        assert_true(worst < 1e-5);
        tact_charts_free(charts);
    }
}

/* Mass properties do not depend on the control mesh of a surface, and move with it. */
static void mass_properties_of_a_subdivision_surface_are_exact(void **state)
{
    (void)state;
    SKIP_IN_QUICK_SANITIZER_RUN();
    static const int solid[][2] = {{0, 4}, {1, 5}, {3, 4}};
    for (size_t i = 0; i < sizeof solid / sizeof *solid; i++) {
        static struct polygon_mesh mesh, fine;
        double off = 0.0;
        make_test_polygon_mesh(solid[i][0], solid[i][1], &mesh);
        displace_vertices_randomly(&mesh, 0.1);
        subdivide_polygon_mesh(&mesh, &fine);
        struct tact_charts *a = limit_surface_kind(&mesh, 1.0), *b = limit_surface_kind(&fine, 1.0);
        for (int k = 0; k < mesh.vertices; k++) {
            mesh.at[k][0] += 2.0;
        }
        struct tact_charts *moved = limit_surface_kind(&mesh, 1.0);
        const struct tact_shape_mass *m = &a->mass, *n = &b->mass, *o = &moved->mass;
        for (int k = 0; k < 9; k++) {
            off = fmax(off, fabs(m->inertia[k] - n->inertia[k]));
            off = fmax(off, fabs(m->inertia[k] - o->inertia[k]));
            off =
                fmax(off, fabs(m->centroid[k % 3] + (k % 3 == 0 ? 2.0 : 0.0) - o->centroid[k % 3]));
        }
        off = fmax(off, fabs(m->volume / n->volume - 1.0));
        off = fmax(off, fabs(m->volume / o->volume - 1.0));
        printf("kind %d, %d: volume %.6f, mass properties to %.1e, triangulation %.2e\n",
               solid[i][0], solid[i][1], m->volume, off, a->mesh->volume / m->volume - 1.0);
        assert_true(off < 1e-11 && fabs(a->mesh->volume / m->volume - 1.0) < 0.02);
        tact_charts_free(a);
        tact_charts_free(b);
        tact_charts_free(moved);
    }
}

/* Largest difference of the contacts that one search found from those of another. */
static int count_contacts_that_differ(const struct smooth_contact *a, int found,
                                      const struct smooth_contact *b, int other, double *worst)
{
    int missed_contact_count = 0;
    for (int i = 0; i < found && i < TACT_PIECES; i++) {
        double best = INFINITY;
        for (int k = 0; k < other && k < TACT_PIECES; k++) {
            double d[3];
            tact_v3_sub(d, a[i].arm[0], b[k].arm[0]);
            best = fmin(best, tact_v3_norm(d) + fabs(a[i].gap - b[k].gap));
        }
        missed_contact_count += best > 1e-6;
        *worst = best > 1e-6 ? *worst : fmax(*worst, best);
    }
    return missed_contact_count;
}

/* Contacts of two bodies, and of the same from control meshes one subdivision finer. */
static void contacts_do_not_change_with_a_subdivided_mesh(void **state)
{
    (void)state;
    static struct polygon_mesh mesh[2], fine;
    struct tact_shape shape[2][2];
    struct tact_charts *charts[2][2];
    double worst = 0.0, spent = 0.0;
    int found_contact_count = 0, missed_contact_count = 0, after = 0;
    const int poses = campaign_trial_count(1000, 50000);
    make_test_polygon_mesh(1, 5, &mesh[0]);
    make_test_polygon_mesh(0, 4, &mesh[1]);
    for (int k = 0; k < 2; k++) {
        displace_vertices_randomly(&mesh[k], 0.05);
        subdivide_polygon_mesh(&mesh[k], &fine);
        for (int m = 0; m < 2; m++) {
            charts[k][m] = limit_surface_kind(m ? &fine : &mesh[k], 0.02);
            shape[k][m] = (struct tact_shape){
                .kind = TACT_SHAPE_SUBDIVISION, .charts = charts[k][m], .mesh = charts[k][m]->mesh};
        }
    }
    for (int i = 0; i < poses; i++) {
        struct tact_pose pa = random_pose(0.0), pb = random_pose(0.02);
        struct smooth_contact c[2][TACT_PIECES];
        int found[2], lost;
        for (int m = 0; m < 2; m++) {
            struct smooth_pair pair;
            tact_smooth_set_pair(&shape[0][m], &pa, &shape[1][m], &pb, &pair);
            const double search_start_cpu_seconds = cpu_seconds();
            found[m] = tact_smooth_search_contacts(&pair, 2e-3, 0, c[m], &lost);
            spent += m ? 0.0 : cpu_seconds() - search_start_cpu_seconds;
            after += count_contacts_missed_by_warm_search(&pair, 2e-3, c[m], found[m], 1e-6);
        }
        if (found[0] > TACT_PIECES || found[1] > TACT_PIECES) {
            continue;
        }
        for (int k = 0; k < found[0]; k++) {
            if (c[0][k].gap < -2e-3) { /* overlaps so deep that the depth has many minima */
                found[0] = found[1] = 0;
            }
        }
        found_contact_count += found[0];
        missed_contact_count += count_contacts_that_differ(c[0], found[0], c[1], found[1], &worst) +
                                count_contacts_that_differ(c[1], found[1], c[0], found[0], &worst);
    }
    printf("%d contacts, %d in one of the two only, others equal to %.1e; %.0f us a cold search, "
           "%d missed after others\n",
           found_contact_count, missed_contact_count, worst, 1e6 * spent / poses, after);
    assert_true(found_contact_count > poses / 40 && missed_contact_count == 0 && after == 0 &&
                worst < 1e-12);
    for (int k = 0; k < 4; k++) {
        tact_charts_free(charts[k / 2][k % 2]);
    }
}

/* A body rolls down a slope of 0.05 rad: where it is after `seconds`. */
static void roll_body_down_slope(const struct tact_charts *charts, double seconds,
                                 struct tact_pose *out)
{
    struct tact_shape shape = {.kind = TACT_SHAPE_SUBDIVISION, .charts = charts};
    struct tact_contact_law law = make_rigid_law(0.6);
    struct tact_world_options options = options_with_tilted_gravity(0.05);
    const double place[3] = {0.0, 0.0, 0.0155};
    struct world_scene s;
    law.model = &tact_model_smooth;
    assert_int_equal(tact_shape_tessellate(&shape), 0);
    open_empty_scene(&s, &options);
    add_scene_ground(&s);
    add_scene_solid(&s, &shape, 0.05, place, 0.3);
    set_scene_contact_law(&s, 0, 1, &law);
    tact_world_body(s.world, 0)->twist[3] = 2.0;
    finish_scene_building(&s);
    run_scene_for_seconds(&s, seconds);
    printf("%ld of %ld ticks unsolved\n", s.unsolved_ticks, s.ticks);
    *out = tact_world_body(s.world, 0)->pose;
    close_scene(&s);
}

/* The motion is that of the surface, whichever control mesh it is of: over charts, extraordinary
 * vertices and levels. */
static void body_of_a_subdivided_mesh_moves_the_same(void **state)
{
    (void)state;
    static const int solid[][2] = {{0, 4}, {2, 5}};
    for (size_t i = 0; i < sizeof solid / sizeof *solid; i++) {
        static struct polygon_mesh mesh, fine;
        struct tact_pose pose[2];
        double off = 0.0;
        make_test_polygon_mesh(solid[i][0], solid[i][1], &mesh);
        subdivide_polygon_mesh(&mesh, &fine);
        for (int m = 0; m < 2; m++) {
            struct tact_charts *charts = limit_surface_kind(m ? &fine : &mesh, 0.02);
            roll_body_down_slope(charts, 0.3, &pose[m]);
            tact_charts_free(charts);
        }
        for (int k = 0; k < 3; k++) {
            off = fmax(off, fabs(pose[0].position[k] - pose[1].position[k]));
        }
        printf("kind %d, %d: at (%.4f, %.4f), within %.1e m\n", solid[i][0], solid[i][1],
               pose[0].position[0], pose[0].position[1], off);
        assert_true(off < 1e-14);
    }
}

/* A body of Loop's surface rolls into one of Catmull and Clark's and a ball hits both: the log has
 * places on charts, from which every tick is replayed. */
static void subdivision_surface_session_replays_from_any_tick(void **state)
{
    (void)state;
    static const char scene[] =
        "name: pebbles\nduration: 0.3\ncontact: {model: smooth}\nmaterials: [{name: stone}]\n"
        "pairs: [{materials: [stone, stone], friction: 0.5}]\nbodies:\n"
        "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: stone}]}\n"
        "  - name: squares\n    mass: 0.05\n    position: [0, 0, 0.017]\n"
        "    shapes: [{type: subdivision, file: %s/0.obj, scale: 0.02, material: stone}]\n"
        "  - name: triangles\n    mass: 0.05\n    position: [0.04, 0.005, 0.017]\n"
        "    velocity: [-0.3, 0, 0]\n    angular_velocity: [0, -20, 0]\n"
        "    shapes: [{type: subdivision, file: %s/1.obj, scale: 0.02, material: stone}]\n"
        "  - name: ball\n    mass: 0.02\n    position: [0.02, 0.05, 0.0105]\n"
        "    velocity: [0, -0.4, 0]\n"
        "    shapes: [{type: sphere, radius: 0.01, material: stone}]\n";
    static const int solid[2][2] = {{0, 4}, {2, 5}};
    static struct polygon_mesh mesh;
    char folder[] = "/tmp/tact-control-XXXXXX", path[2][64], text[2048];
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        make_test_polygon_mesh(solid[i][0], solid[i][1], &mesh);
        char *control = polygon_mesh_to_obj_text(&mesh, 0);
        snprintf(path[i], sizeof path[i], "%s/%d.obj", folder, i);
        FILE *file = fopen(path[i], "w");
        assert_non_null(file);
        assert_true(fputs(control, file) >= 0 && fclose(file) == 0);
        free(control);
    }
    snprintf(text, sizeof text, scene, folder, folder);
    const struct tact_session_report report = check_replays_of_scene(text, 300, 97, 1);
    assert_true(report.counts[TACT_COUNT_UNSOLVED] <= 3);
    assert_true(report.counts[TACT_COUNT_NOT_FOUND] == 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(remove(path[i]), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void bad_subdivision_control_meshes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected_message_text;
        int line; /* 0: any */
    } bad[] = {
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n", "open", 0},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 3 4\n", "flips", 8},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 3 1 4\n",
         "more than two faces", 0},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n", "clockwise",
         0},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 1 2\n", "twice in succession", 5},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 5\n", "does not exist", 5},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 2 1\n", "must have 3 to 64 edges", 4},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 2 0 0\nv 2 1 0\nv 2 0 1\n"
         "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 1 6 5\nf 1 5 7\nf 5 6 7\nf 6 1 7\n",
         "two fans", 0},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan 0 1\nf 1 3 2\n", "not finite", 4},
        {"v 0 0 0\nv 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n", "", 0},
        {"cstype bezier\n", "no faces", 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tact_charts *charts = NULL;
        struct tact_error err = {.line = 0};
        int rc = tact_charts_subdivision(bad[i].text, strlen(bad[i].text), "control.obj", 1.0,
                                         &charts, &err);
        if (rc != -EINVAL || charts || !strstr(err.text, bad[i].expected_message_text) ||
            strcmp(err.file, "control.obj") || (bad[i].line && err.line != bad[i].line)) {
            fail_msg("%zu: %d, line %d, \"%s\" has no \"%s\"", i, rc, err.line, err.text,
                     bad[i].expected_message_text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surface_of_regular_squares_is_the_bicubic_spline),
        cmocka_unit_test(surface_points_are_the_limits_of_subdivision),
        cmocka_unit_test(subdividing_the_mesh_keeps_the_limit_surface),
        cmocka_unit_test(surface_curvature_is_the_derivative_of_the_normals),
        cmocka_unit_test(mass_properties_of_a_subdivision_surface_are_exact),
        cmocka_unit_test(contacts_do_not_change_with_a_subdivided_mesh),
        cmocka_unit_test(body_of_a_subdivided_mesh_moves_the_same),
        cmocka_unit_test(subdivision_surface_session_replays_from_any_tick),
        cmocka_unit_test(bad_subdivision_control_meshes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
