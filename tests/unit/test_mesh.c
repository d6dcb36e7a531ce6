/* Meshes: refusals and their messages, integrals, the tree, readers, hulls, real files. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/mesh/mesh.h"
#include "contact/vec.h"
#include "support/campaign.h"
#include "support/data.h"
#include "support/random.h"

static void assert_near(double value, double exact, double tolerance)
{
    if (!(fabs(value - exact) <= tolerance)) {
        fail_msg("%.17g is not %.17g to %.1e", value, exact, tolerance);
    }
}

static const double TETRAHEDRON_CORNERS[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const uint32_t TETRAHEDRON_FACES[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static void volume_integrals_of_a_tetrahedron_are_exact(void **unused)
{
    (void)unused;
    struct tact_mesh *mesh;
    assert_int_equal(
        tact_mesh_create(TETRAHEDRON_CORNERS[0], 4, TETRAHEDRON_FACES[0], 4, &mesh, NULL), 0);
    assert_near(mesh->volume, 1.0 / 6.0, 1e-16);
    for (int k = 0; k < 3; k++) {
        assert_near(mesh->centroid[k], 0.25, 1e-16);
        /* Tetrahedron: integral of x^2 is 1/60, of x y 1/120; minus V / 16 for moments about the
         * centroid. */
        assert_near(mesh->second[4 * k], 1.0 / 60.0 - 1.0 / 96.0, 1e-17);
    }
    assert_near(mesh->second[1], 1.0 / 120.0 - 1.0 / 96.0, 1e-17);
    assert_near(mesh->radius, sqrt(0.75 * 0.75 + 2.0 / 16.0), 1e-15);
    tact_mesh_free(mesh);
}

/* Invalid meshes, made by edits of a valid tetrahedron, and a word of the expected message. */
static void invalid_mesh_files_are_refused(void **unused)
{
    (void)unused;
    double v[5][3];
    uint32_t t[6][3];
    struct tact_mesh_defects d;
    struct tact_mesh *mesh;
    struct tact_error err = {0};
    memcpy(v, TETRAHEDRON_CORNERS, sizeof TETRAHEDRON_CORNERS);
    memcpy(t, TETRAHEDRON_FACES, sizeof TETRAHEDRON_FACES);

    assert_int_equal(tact_mesh_create(v[0], 4, t[0], 3, &mesh, &err), -EINVAL);
    assert_non_null(strstr(err.text, "3 boundary edges"));
    assert_null(mesh);

    t[3][1] = 3;
    t[3][2] = 2;
    assert_int_equal(tact_mesh_create(v[0], 4, t[0], 4, &mesh, &err), -EINVAL);
    assert_non_null(strstr(err.text, "3 edges between triangles of opposite orientation"));
    memcpy(t, TETRAHEDRON_FACES, sizeof TETRAHEDRON_FACES);

    memcpy(t[4], t[3], sizeof t[4]);
    assert_int_equal(tact_mesh_create(v[0], 4, t[0], 5, &mesh, &err), -EINVAL);
    assert_non_null(strstr(err.text, "3 edges shared by three or more"));

    t[4][0] = 1;
    t[4][1] = 1;
    t[4][2] = 2;
    assert_int_equal(tact_mesh_inspect(v[0], 4, t[0], 5, &d), 0);
    assert_int_equal(d.degenerate, 1);
    assert_int_equal(d.boundary_edges + d.misoriented_edges + d.nonmanifold_edges, 0);
    assert_int_equal(tact_mesh_create(v[0], 4, t[0], 5, &mesh, &err), -EINVAL);
    assert_non_null(strstr(err.text, "1 triangles without area"));

    for (int i = 0; i < 4; i++) {
        t[i][1] = TETRAHEDRON_FACES[i][2];
        t[i][2] = TETRAHEDRON_FACES[i][1];
    }
    assert_int_equal(tact_mesh_create(v[0], 4, t[0], 4, &mesh, &err), -EINVAL);
    assert_non_null(strstr(err.text, "inside out"));
    memcpy(t, TETRAHEDRON_FACES, sizeof TETRAHEDRON_FACES);

    t[2][2] = 4;
    assert_int_equal(tact_mesh_create(v[0], 4, t[0], 4, &mesh, &err), -EINVAL);
    assert_non_null(strstr(err.text, "triangle 2 uses vertex 4"));
    assert_int_equal(tact_mesh_inspect(v[0], 4, t[0], 4, &d), -EINVAL);
    memcpy(t, TETRAHEDRON_FACES, sizeof TETRAHEDRON_FACES);

    v[1][2] = NAN;
    assert_int_equal(tact_mesh_create(v[0], 4, t[0], 4, &mesh, &err), -EINVAL);
    assert_non_null(strstr(err.text, "coordinate z of vertex 1"));
    assert_int_equal(tact_mesh_create(v[0], 4, t[0], 0, &mesh, NULL), -EINVAL);
}

/* The mesh reader merges equal vertices, removes unused ones and counts components. */
static void equal_vertices_of_a_mesh_are_merged(void **unused)
{
    (void)unused;
    double v[26][3];
    uint32_t t[8][3];
    for (uint32_t i = 0; i < 24; i++) {
        for (int k = 0; k < 3; k++) {
            /* Vertices that differ only in negative and positive zeros are merged. */
            double x = TETRAHEDRON_CORNERS[TETRAHEDRON_FACES[i % 12 / 3][i % 3]][k];
            v[i][k] = i < 12 ? (x == 0.0 && i % 2 ? -0.0 : x) : x + 5.0;
        }
        t[i / 3][i % 3] = i;
    }
    v[24][0] = v[25][0] = 1e6;
    v[24][1] = v[24][2] = v[25][1] = v[25][2] = 0.0;
    struct tact_mesh_defects d;
    assert_int_equal(tact_mesh_inspect(v[0], 26, t[0], 8, &d), 0);
    assert_int_equal(d.components, 2);
    assert_int_equal(d.boundary_edges, 0);
    assert_near(d.volume, 1.0 / 3.0, 1e-14);
    struct tact_mesh *mesh;
    assert_int_equal(tact_mesh_create(v[0], 26, t[0], 8, &mesh, NULL), 0);
    assert_int_equal(mesh->vertex_count, 8);
    assert_true(mesh->radius < 10.0);
    tact_mesh_free(mesh);
}

/* Checks the bounding-box tree: each triangle is in one leaf of at most four, inside the boxes of
 * all nodes above. */
static void check_bounding_box_tree(const struct tact_mesh *mesh)
{
    uint32_t stack[64] = {0}, covered = 0;
    int top = 1;
    while (top > 0) {
        const struct tact_mesh_node *node = &mesh->nodes[stack[--top]];
        assert_true(node->count <= 4);
        if (node->count) {
            /* the leaves list the triangles in ascending order */
            assert_int_equal(node->first, covered);
            covered += node->count;
            for (uint32_t i = 3 * node->first; i < 3 * (node->first + node->count); i++) {
                for (int k = 0; k < 3; k++) {
                    double x = mesh->vertices[3 * mesh->triangles[i] + (uint32_t)k];
                    assert_true(node->lower[k] <= x && x <= node->upper[k]);
                }
            }
            continue;
        }
        assert_true(top + 2 < 40);
        for (uint32_t c = 2; c-- > 0;) {
            const struct tact_mesh_node *child = &mesh->nodes[node->first + c];
            for (int k = 0; k < 3; k++) {
                assert_true(node->lower[k] <= child->lower[k] && child->upper[k] <= node->upper[k]);
            }
            stack[top++] = node->first + c;
        }
    }
    assert_int_equal(covered, mesh->triangle_count);
}

static void primitive_meshes_have_exact_volume(void **unused)
{
    (void)unused;
    struct tact_mesh *mesh;
    const double half[3] = {0.15, 0.001, 0.015};
    assert_int_equal(tact_mesh_box(half, &mesh), 0);
    assert_near(mesh->volume, 8.0 * 0.15 * 0.001 * 0.015, 1e-20);
    assert_near(mesh->second[0], mesh->volume * 0.15 * 0.15 / 3.0, 1e-20);
    check_bounding_box_tree(mesh);
    tact_mesh_free(mesh);
    for (int i = 0; i < 4; i++) {
        double r = 0.008, l = i % 2 ? 0.02 : 0.0;
        size_t wanted = i / 2 ? 2000 : 300;
        const double pi = 3.14159265358979323846;
        assert_int_equal(tact_mesh_capsule(r, l, wanted, &mesh), 0);
        assert_near(mesh->volume / (pi * r * r * (4.0 / 3.0 * r + 2.0 * l)), 1.0, 1e-13);
        assert_near((double)mesh->triangle_count / (double)wanted, 1.0, 0.1);
        for (int k = 0; k < 3; k++) {
            assert_near(mesh->centroid[k], 0.0, 1e-16);
        }
        assert_near(mesh->radius / (r + l), 1.0, i / 2 ? 0.01 : 0.06);
        check_bounding_box_tree(mesh);
        tact_mesh_free(mesh);
    }
}

static int read_text(const char *text, struct tact_soup *soup, struct tact_error *err)
{
    memset(err, 0, sizeof *err);
    return tact_soup_read(text, strlen(text), "part", 2.0, soup, err);
}

static void assert_mesh_refused(const char *text, const char *message)
{
    struct tact_soup soup;
    struct tact_error err;
    char line[512];
    assert_int_equal(read_text(text, &soup, &err), -EINVAL);
    tact_error_format(&err, line, sizeof line);
    if (!strstr(line, message)) {
        fail_msg("'%s' does not hold '%s'", line, message);
    }
    assert_null(soup.vertices);
}

static void obj_files_are_read(void **unused)
{
    (void)unused;
    struct tact_soup soup;
    struct tact_error err;
    assert_int_equal(read_text("# a square\r\nv 0 0 0\r\nv 1 0 0 1.0\r\nvn 0 0 1\r\n\tv 1 1 0\r\n"
                               "v 0 1e0 0\r\nf 1/1/1 2//1 -2 4/2 # fanned\r\n",
                               &soup, &err),
                     0);
    assert_int_equal(soup.vertex_count, 4);
    assert_int_equal(soup.triangle_count, 2);
    const uint32_t expected[6] = {0, 1, 2, 0, 2, 3};
    assert_memory_equal(soup.triangles, expected, sizeof expected);
    assert_true(soup.vertices[3] == 2.0);
    tact_soup_free(&soup);
    assert_mesh_refused("v 0 0 0\nv 1 0\n", "part:2: expected three numbers");
    assert_mesh_refused("v 0 0 0\nv 1 0 nan\n", "part:2: a coordinate is not finite");
    assert_mesh_refused("v 0 0 0\n\nf 1 2 3\n", "part:3: vertex 2 does not exist: 1 are defined");
    assert_mesh_refused("v 0 0 0\nf 0 1 1\n", "part:2: vertex 0 does not exist");
    assert_mesh_refused("v 0 0 0\nf 1 1\n", "part:2: a face needs three corners");
    assert_mesh_refused("v 0 0 0\nf a b c\n", "part:2: expected the vertex numbers of a face");
    assert_mesh_refused("hello\n", "part: the file has no triangles");
    assert_mesh_refused("", "part: the file has no triangles");
    assert_mesh_refused("glTF", "part: a GLB file cannot be read: convert it to OBJ");
    assert_mesh_refused("ply\nformat ascii 1.0\n",
                        "part: a PLY file cannot be read: convert it to OBJ");
    assert_mesh_refused("version https://git-lfs.github.com/spec/v1\n",
                        "part: this file is a Git LFS pointer");
}

static void ascii_stl_file_is_read(void **unused)
{
    (void)unused;
    struct tact_soup soup;
    struct tact_error err;
    assert_int_equal(
        read_text(
            "solid two words\nfacet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n"
            "  vertex 0 1 0\n endloop\nendfacet\nFACET NORMAL 0 0 1\nOUTER LOOP\n"
            "VERTEX 1 0 0\nVERTEX 1 1 0\nVERTEX 0 1 0\nENDLOOP\nENDFACET\nendsolid\n",
            &soup, &err),
        0);
    assert_int_equal(soup.triangle_count, 2);
    assert_int_equal(soup.vertex_count, 4);
    tact_soup_free(&soup);
    assert_mesh_refused("solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n",
                        "part:4: expected three numbers");
    assert_mesh_refused(
        "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendloop\nendfacet\n",
        "part:6: an STL facet must have three vertices");
    assert_mesh_refused("solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n",
                        "the file ends before endsolid");
    assert_mesh_refused("solid x\nbanana\n",
                        "part:2: expected a line of a text STL file: solid, facet, ");
}

static void binary_stl_file_is_read(void **unused)
{
    (void)unused;
    unsigned char data[84 + 4 * 50] = "solid in name only";
    data[80] = 4;
    for (size_t t = 0; t < 4; t++) {
        for (size_t i = 0; i < 9; i++) {
            float x = (float)TETRAHEDRON_CORNERS[TETRAHEDRON_FACES[t][i / 3]][i % 3];
            memcpy(data + 84 + 50 * t + 12 + 4 * i, &x, 4);
        }
    }
    struct tact_soup soup;
    struct tact_error err = {0};
    assert_int_equal(tact_soup_read(data, sizeof data, "b", 1.0, &soup, &err), 0);
    assert_int_equal(soup.vertex_count, 4);
    assert_int_equal(soup.triangle_count, 4);
    tact_soup_free(&soup);
    assert_int_equal(tact_soup_read(data, sizeof data - 1, "b", 1.0, &soup, &err), -EINVAL);
    assert_non_null(strstr(err.text, "truncated at byte 283"));
    const float bad = INFINITY;
    memcpy(data + 84 + 50 + 12, &bad, 4);
    assert_int_equal(tact_soup_read(data, sizeof data, "b", 1.0, &soup, &err), -EINVAL);
    assert_non_null(strstr(err.text, "byte 146 (triangle 1) is not finite"));
    data[82] = 255;
    assert_int_equal(tact_soup_read(data, sizeof data, "b", 1.0, &soup, &err), -EINVAL);
}

/* Random bytes and random edits of valid files do not crash the readers. */
static void random_bytes_do_not_crash_mesh_readers(void **unused)
{
    (void)unused;
    const char *valid_stl_text =
        "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
        "vertex 0 1 0\nendloop\nendfacet\nendsolid\nv 1 2 3\nf 1 2 3\nf -1 -1 -1\n";
    for (int i = 0; i < 20000; i++) {
        char text[256];
        size_t n = strlen(valid_stl_text), from = i % 2 ? 120 : 0;
        memcpy(text, valid_stl_text + from, n - from);
        n -= from;
        for (int edits = 0; edits < 3; edits++) {
            text[(size_t)uniform(0.0, (double)n)] = (char)uniform(-128.0, 128.0);
        }
        struct tact_soup soup;
        struct tact_error err;
        if (tact_soup_read(text, (size_t)uniform(0.0, (double)n), "g", 1.0, &soup, &err) == 0) {
            struct tact_mesh *mesh;
            if (tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles,
                                 soup.triangle_count, &mesh, &err) == 0) {
                tact_mesh_free(mesh);
            }
            tact_soup_free(&soup);
        }
    }
}

static void check_hull_contains_points(const struct tact_mesh *mesh, const double *points, size_t n,
                                       double tolerance)
{
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const double *p[3];
        double e1[3], e2[3], normal[3];
        for (size_t k = 0; k < 3; k++) {
            p[k] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * t + k];
        }
        tact_v3_sub(e1, p[1], p[0]);
        tact_v3_sub(e2, p[2], p[0]);
        tact_v3_cross(normal, e1, e2);
        if (tact_v3_normalize(normal, normal) < 1e-12) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            double d[3];
            tact_v3_sub(d, points + 3 * i, p[0]);
            assert_true(tact_v3_dot(d, normal) <= tolerance);
        }
    }
}

/* How far a list of points reaches along a direction. */
static double farthest_projection_along(const double *points, size_t n, const double to[3])
{
    double most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, tact_v3_dot(to, points + 3 * i));
    }
    return most;
}

/* Points that coincide within 1e-14, of which one in twelve sets had no closed hull: the hull
 * reaches as far as they do. */
static void points_that_coincide_have_a_hull(void **unused)
{
    (void)unused;
    enum { DISTINCT = 12, POINTS = 60 };
    static double p[POINTS][3];
    for (int i = 0; i < 200; i++) {
        struct tact_mesh *mesh;
        struct tact_error err = {.line = 0};
        for (int k = 0; k < 3 * POINTS; k++) {
            p[k / 3][k % 3] = k < 3 * DISTINCT
                                  ? uniform(-1.0, 1.0)
                                  : p[k / 3 % DISTINCT][k % 3] + 1e-14 * uniform(-1.0, 1.0);
        }
        if (tact_mesh_hull(p[0], POINTS, &mesh, &err)) {
            fail_msg("%s", err.text);
        }
        for (int k = 0; k < 50; k++) {
            double to[4];
            random_unit_quaternion(to);
            const double most = farthest_projection_along(p[0], POINTS, to),
                         hull = farthest_projection_along(mesh->vertices, mesh->vertex_count, to);
            assert_true(fabs(most - hull) < 1e-12);
        }
        tact_mesh_free(mesh);
    }
}

static void convex_hulls_contain_their_points(void **unused)
{
    (void)unused;
    static double p[500][3];
    struct tact_mesh *mesh;
    for (int i = 0; i < 40; i++) {
        size_t n = (size_t)uniform(4.0, 500.0);
        for (size_t j = 0; j < n; j++) {
            for (int k = 0; k < 3; k++) {
                p[j][k] = uniform(-1, 1);
            }
        }
        assert_int_equal(tact_mesh_hull(p[0], n, &mesh, NULL), 0);
        check_hull_contains_points(mesh, p[0], n, 1e-12);
        assert_int_equal(mesh->triangle_count, 2 * mesh->vertex_count - 4);
        check_bounding_box_tree(mesh);
        tact_mesh_free(mesh);
    }
    /* Points of a lattice: almost every one lies in a face or an edge of the hull. */
    for (int i = 0; i < 343; i++) {
        tact_v3_set(p[i], i % 7, i / 7 % 7, i / 49);
    }
    assert_int_equal(tact_mesh_hull(p[0], 343, &mesh, NULL), 0);
    assert_near(mesh->volume, 216.0, 1e-10);
    check_hull_contains_points(mesh, p[0], 343, 1e-12);
    tact_mesh_free(mesh);
    /* Points of a prism over a regular polygon: two faces of the hull have many points in one
     * plane. */
    for (int i = 0; i < 200; i++) {
        double angle = 2.0 * 3.14159265358979323846 * (i / 2) / 100.0;
        tact_v3_set(p[i], cos(angle), sin(angle), i % 2);
    }
    assert_int_equal(tact_mesh_hull(p[0], 200, &mesh, NULL), 0);
    assert_near(mesh->volume, 50.0 * sin(2.0 * 3.14159265358979323846 / 100.0), 1e-12);
    tact_mesh_free(mesh);
    struct tact_error err;
    assert_int_equal(tact_mesh_hull(p[0], 3, &mesh, &err), -EINVAL);
    for (int i = 0; i < 200; i++) {
        p[i][2] = 0.5 * p[i][0];
    }
    assert_int_equal(tact_mesh_hull(p[0], 200, &mesh, &err), -EINVAL);
    assert_non_null(strstr(err.text, "plane"));
    p[7][1] = INFINITY;
    assert_int_equal(tact_mesh_hull(p[0], 200, &mesh, &err), -EINVAL);
}

struct known_mesh {
    const char *name;
    size_t boundary_edge_count; /* number of edges with one triangle only, as counted by another
                                   program */
};

enum { CRACKER_BOX = 5, TENNIS_BALL = 7 };

static const struct known_mesh KNOWN_MESH_FILES[] = {
    {"knot.obj", 0},
    {"star.obj", 0},
    {"bracket.stl", 0},
    {"tip.stl", 24},
    {"spot.obj", 0},
    [CRACKER_BOX] = {"ycb/003_cracker_box.obj", 0},
    {"ycb/011_banana.obj", 0},
    [TENNIS_BALL] = {"ycb/056_tennis_ball.obj", 0},
    {"allegro/link_0.0.stl", 0},
    {"allegro/link_12.0_right.stl", 0},
    {"allegro/link_3.0_tip.stl", 174},
    {"allegro/link_15.0_tip.stl", 174},
    {"allegro/base_link.stl", 36},
};

static void check_known_mesh(const struct known_mesh *known, const void *data, size_t size)
{
    struct tact_soup soup;
    struct tact_mesh *mesh, *hull;
    struct tact_error err = {0};
    struct tact_mesh_defects d;
    assert_int_equal(tact_soup_read(data, size, known->name, 1.0, &soup, &err), 0);
    assert_int_equal(tact_mesh_inspect(soup.vertices, soup.vertex_count, soup.triangles,
                                       soup.triangle_count, &d),
                     0);
    assert_int_equal(d.boundary_edges, known->boundary_edge_count);
    int rc = tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles, soup.triangle_count,
                              &mesh, &err);
    assert_int_equal(rc, known->boundary_edge_count ? -EINVAL : 0);
    assert_int_equal(tact_mesh_hull(soup.vertices, soup.vertex_count, &hull, NULL), 0);
    check_hull_contains_points(hull, soup.vertices, soup.vertex_count, 1e-6 * hull->radius);
    assert_int_equal(hull->triangle_count, 2 * hull->vertex_count - 4);
    if (rc) {
        char count[32];
        snprintf(count, sizeof count, "%zu boundary edges", known->boundary_edge_count);
        assert_non_null(strstr(err.text, count));
    } else {
        check_bounding_box_tree(mesh);
        assert_true(hull->volume > mesh->volume);
        assert_near(mesh->volume, d.volume, 1e-12 * d.volume);
        tact_mesh_free(mesh);
    }
    tact_mesh_free(hull);
    tact_soup_free(&soup);
}

static void real_mesh_files_have_known_defects(void **unused)
{
    (void)unused;
    static char data[8 << 20];
    int read = 0;
    for (size_t i = 0; i < sizeof KNOWN_MESH_FILES / sizeof KNOWN_MESH_FILES[0]; i++) {
        char name[64], path[DATA_PATH];
        /* under a sanitizer one of the three large scans */
        if (is_quick_sanitizer_run() && (i == CRACKER_BOX || i == TENNIS_BALL)) {
            continue;
        }
        snprintf(name, sizeof name, "meshes/%s", KNOWN_MESH_FILES[i].name);
        FILE *file = open_test_data_file(name, path);
        if (file) {
            size_t size = fread(data, 1, sizeof data, file);
            fclose(file);
            check_known_mesh(&KNOWN_MESH_FILES[i], data, size);
            read++;
        }
    }
    assert_true(read >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volume_integrals_of_a_tetrahedron_are_exact),
        cmocka_unit_test(invalid_mesh_files_are_refused),
        cmocka_unit_test(equal_vertices_of_a_mesh_are_merged),
        cmocka_unit_test(primitive_meshes_have_exact_volume),
        cmocka_unit_test(obj_files_are_read),
        cmocka_unit_test(ascii_stl_file_is_read),
        cmocka_unit_test(binary_stl_file_is_read),
        cmocka_unit_test(random_bytes_do_not_crash_mesh_readers),
        cmocka_unit_test(convex_hulls_contain_their_points),
        cmocka_unit_test(points_that_coincide_have_a_hull),
        cmocka_unit_test(real_mesh_files_have_known_defects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
