/*
 * Users' tetrahedra with pressures: legacy VTK and Gmsh files of one box, which must have the field
 * of that box, and damaged ones, which must be refused by line.
 */
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
#include "contact/mesh/tets.h"
#include "contact/pair/field/extent.h"
#include "contact/pair/field/field.h"
#include "contact/pair/options.h"
#include "support/random.h"

#define CUBE_HALF_SIDE 0.03 /* half side of the cube [m] */

enum { VERTICES = 9, TETS = 12, ROOM = 1 << 14 };

/* Vertices of the tetrahedra: a triangle of the cube's surface each, with the cube's centre, vertex
 * 8. */
static const int face[TETS][3] = {{0, 1, 3}, {0, 3, 2}, {4, 7, 5}, {4, 6, 7}, {0, 5, 1}, {0, 4, 5},
                                  {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};

static double cube_vertex_coordinate(int vertex, int axis)
{
    return vertex == 8 ? 0.0 : vertex >> axis & 1 ? CUBE_HALF_SIDE : -CUBE_HALF_SIDE;
}

/* Content of a text or binary file under construction. */
struct file {
    char text[ROOM];
    size_t size;
};

static void append_to_file_text(struct file *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void append_to_file_text(struct file *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    f->size += (size_t)vsnprintf(f->text + f->size, ROOM - f->size, format, args);
    va_end(args);
    assert_true(f->size < ROOM);
}

static void append_big_endian_number(struct file *f, uint64_t bits, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--) {
        f->text[f->size++] = (char)(bits >> (8 * i));
    }
}

static void append_mesh_file_number(struct file *f, double x, int is_file_binary)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (is_file_binary) {
        append_big_endian_number(f, bits, 8);
    } else {
        append_to_file_text(f, "%d.%05d ", (int)x, (int)round(fabs(x - (int)x) * 1e5));
    }
}

static void append_vertex_coordinates(struct file *f, int is_file_binary)
{
    for (int i = 0; i < 3 * VERTICES; i++) {
        double x = cube_vertex_coordinate(i / 3, i % 3);
        if (!is_file_binary && x < 0.0) {
            append_to_file_text(f, "-");
            x = -x;
        }
        append_mesh_file_number(f, x, is_file_binary);
    }
    append_to_file_text(f, "\n");
}

/* Writes a VTK file; newer format version: OFFSETS and CONNECTIVITY, with values in FIELD;
 * otherwise counts, with SCALARS. */
static void write_vtk_file(struct file *f, int is_file_binary, int is_new_format_version,
                           const char *name, double top)
{
    f->size = 0;
    append_to_file_text(
        f, "# vtk DataFile Version %s\na cube\n%s\nDATASET UNSTRUCTURED_GRID\nPOINTS 9 double\n",
        is_new_format_version ? "5.1" : "3.0", is_file_binary ? "BINARY" : "ASCII");
    append_vertex_coordinates(f, is_file_binary);
    append_to_file_text(f, is_new_format_version ? "CELLS 13 48\nOFFSETS vtktypeint64\n"
                                                 : "CELLS 12 60\n");
    for (int i = 0; is_new_format_version && i <= TETS; i++) {
        is_file_binary ? append_big_endian_number(f, 4 * (uint64_t)i, 8)
                       : append_to_file_text(f, "%d ", 4 * i);
    }
    append_to_file_text(f, is_new_format_version ? "\nCONNECTIVITY vtktypeint64\n" : "");
    for (int i = 0; i < TETS; i++) {
        const int cell[5] = {4, face[i][0], face[i][1], face[i][2], 8};
        for (int k = is_new_format_version; k < 5; k++) {
            is_file_binary
                ? append_big_endian_number(f, (uint64_t)cell[k], is_new_format_version ? 8 : 4)
                : append_to_file_text(f, "%d ", cell[k]);
        }
        append_to_file_text(f, is_file_binary ? "" : "\n");
    }
    append_to_file_text(f, "\nCELL_TYPES 12\n");
    for (int i = 0; i < TETS; i++) {
        is_file_binary ? append_big_endian_number(f, 10, 4) : append_to_file_text(f, "10\n");
    }
    append_to_file_text(f,
                        is_new_format_version
                            ? "\nPOINT_DATA 9\nFIELD FieldData 1\n%s 1 9 double\n"
                            : "\nPOINT_DATA 9\nSCALARS %s double\nLOOKUP_TABLE default\n",
                        name);
    for (int i = 0; i < VERTICES; i++) {
        append_mesh_file_number(f, i == 8 ? top : 0.0, is_file_binary);
    }
    append_to_file_text(f, "\n");
}

static void write_msh_file(struct file *f, int is_new_format_version, const char *name, double top)
{
    f->size = 0;
    append_to_file_text(f, "$MeshFormat\n%s 0 8\n$EndMeshFormat\n$Nodes\n",
                        is_new_format_version ? "4.1" : "2.2");
    append_to_file_text(f, is_new_format_version ? "1 9 10 18\n3 1 0 9\n" : "9\n");
    for (int i = 0; is_new_format_version && i < VERTICES; i++) {
        append_to_file_text(f, "%d\n", 10 + i);
    }
    for (int i = 0; i < VERTICES; i++) {
        if (!is_new_format_version) {
            append_to_file_text(f, "%d ", 10 + i);
        }
        for (int k = 0; k < 3; k++) {
            double x = cube_vertex_coordinate(i, k);
            append_to_file_text(f, x < 0.0 ? "-" : "");
            append_mesh_file_number(f, fabs(x), 0);
        }
        append_to_file_text(f, "\n");
    }
    append_to_file_text(f, "$EndNodes\n$Elements\n%s",
                        is_new_format_version ? "2 13 1 13\n2 1 2 1\n1 10 11 13\n3 1 4 12\n"
                                              : "13\n1 2 2 0 1 10 11 13\n");
    for (int i = 0; i < TETS; i++) {
        append_to_file_text(f, is_new_format_version ? "%d " : "%d 4 2 0 1 ", i + 2);
        append_to_file_text(f, "%d %d %d 18\n", 10 + face[i][0], 10 + face[i][1], 10 + face[i][2]);
    }
    append_to_file_text(f, "$EndElements\n$NodeData\n1\n\"%s\"\n1\n0.0\n3\n0\n1\n9\n", name);
    for (int i = 0; i < VERTICES; i++) {
        append_to_file_text(f, "%d ", 10 + i);
        append_mesh_file_number(f, i == 8 ? top : 0.0, 0);
        append_to_file_text(f, "\n");
    }
    append_to_file_text(f, "$EndNodeData\n");
}

static int warning_count;

static void count_warning(void *user, const char *text)
{
    (void)user;
    print_message("%s\n", text);
    warning_count++;
}

/* Force of the file's field, 2 mm deep in a rigid half-space, by a material of 1e5 Pa and 10 mm. */
static double contact_force_of_file_field(const struct file *f, double scale)
{
    const struct tact_extent_store store = {.abi = TACT_ABI(struct tact_extent_store),
                                            .warn = count_warning};
    const struct tact_field_material soft_material = {
        .modulus = 1e5, .thickness = 0.01, .store = &store};
    struct tact_soup soup;
    struct tact_shape shape = {.kind = TACT_SHAPE_MESH};
    struct tact_mesh *mesh;
    struct tact_pressure_field *field, *flat;
    struct tact_pose at = tact_pose_identity(), floor = at;
    struct tact_field_contact c;
    struct tact_error err = {.line = 0};
    if (tact_soup_read(f->text, f->size, "cube", scale, &soup, &err)) {
        fail_msg("%d: %s", err.line, err.text);
    }
    assert_int_equal(soup.triangle_count, 12);
    assert_int_equal(soup.vertex_count, 8);
    assert_int_equal(tact_mesh_of_soup(&soup, &mesh, &err), 0);
    tact_soup_free(&soup);
    assert_true(fabs(mesh->volume / pow(2.0 * CUBE_HALF_SIDE * scale, 3.0) - 1.0) < 1e-12);
    shape.mesh = mesh;
    assert_int_equal(tact_field_of_shape(&shape, &soft_material, &field, &err), 0);
    assert_int_equal(tact_field_cells(field), TETS);
    assert_int_equal(tact_field_halfspace(INFINITY, &flat), 0);
    struct tact_field_scratch *scratch = tact_field_scratch_create(100);
    floor.position[2] = 0.002 - CUBE_HALF_SIDE * scale;
    assert_int_equal(tact_field_touch(field, &at, flat, &floor, scratch, &c), 1);
    tact_field_scratch_destroy(scratch);
    tact_field_free(field);
    tact_field_free(flat);
    tact_mesh_free(mesh);
    return c.wrench[2];
}

/* The pressure of a cube falls to 0 from a square whose half side is less by the depth: k d times
 * the area, less what the sides of the pyramid lack. */
static double exact_force_on_pressed_cube(double slope, double half)
{
    const double d = 0.002, inner = 2.0 * (half - d);
    /* int_0^d of the area within which the least distance from a side is over u, times k */
    double sum = 0.0;
    for (int i = 0; i < 100000; i++) {
        double u = d * (i + 0.5) / 100000.0;
        sum += pow(inner + 2.0 * (d - u), 2.0) * d / 100000.0;
    }
    return slope * sum;
}

static void all_tetrahedra_file_formats_give_the_same_field(void **state)
{
    (void)state;
    static struct file f;
    const double pressure = 5e5,
                 exact = exact_force_on_pressed_cube(pressure / CUBE_HALF_SIDE, CUBE_HALF_SIDE);
    for (int i = 0; i < 6; i++) {
        if (i < 4) {
            write_vtk_file(&f, i % 2, i / 2, "pressure", pressure);
        } else {
            write_msh_file(&f, i % 2, "Pressure", pressure);
        }
        double force = contact_force_of_file_field(&f, 1.0);
        print_message("format %d: %.6f N, exact %.6f\n", i, force, exact);
        assert_true(fabs(force / exact - 1.0) < 1e-8);
    }
    assert_int_equal(warning_count, 0);
    write_vtk_file(&f, 0, 0, "pressure", 0.5); /* MPa */
    contact_force_of_file_field(&f, 1.0);
    assert_int_equal(warning_count, 1);
    /* the field's pressure slope is that of the material, 1e7 Pa/m */
    write_vtk_file(&f, 1, 1, "extent", CUBE_HALF_SIDE);
    assert_true(fabs(contact_force_of_file_field(&f, 1.0) /
                         exact_force_on_pressed_cube(1e7, CUBE_HALF_SIDE) -
                     1.0) < 1e-8);
    assert_true(fabs(contact_force_of_file_field(&f, 2.0) /
                         exact_force_on_pressed_cube(1e7, 2.0 * CUBE_HALF_SIDE) -
                     1.0) < 1e-8);
}

/* Reads the file and, where that succeeds, checks its pressure field. */
static int read_and_check_tetrahedra_file(const char *text, size_t size, struct tact_error *err)
{
    struct tact_soup soup;
    memset(err, 0, sizeof *err);
    int rc = tact_soup_read(text, size, "cube", 1.0, &soup, err);
    if (!rc) {
        rc = soup.tets ? tact_field_check_tets(soup.tets, err) : -EINVAL;
        tact_soup_free(&soup);
    }
    return rc;
}

/* Replaces the first occurrence of a text. */
static void replace_in_text(struct file *f, const char *old, const char *by)
{
    char *at = strstr(f->text, old);
    assert_non_null(at);
    size_t n = strlen(old), m = strlen(by), behind = f->size - (size_t)(at - f->text) - n;
    memmove(at + m, at + n, behind + 1);
    for (size_t i = 0; i < m; i++) {
        at[i] = by[i];
    }
    f->size += m - n;
}

static void tetrahedra_file_errors_name_their_line(void **state)
{
    (void)state;
    static const struct {
        int msh; /* 0: VTK, 1: version 2.2, 2: version 4.1 */
        const char *old, *by;
        int line;
        const char *expected_message_text;
    } faults[] = {
        {0, "ASCII", "TEXT", 3, "expected ASCII or BINARY"},
        {0, "UNSTRUCTURED_GRID", "POLYDATA", 4, "expected UNSTRUCTURED_GRID"},
        {0, "POINTS 9", "POINTS 4000000000", 5, "is too large for"},
        {0, "0.03000", "nan", 6, "finite number"},
        {0, "0.03000", "3e10", 0, "beyond 1e9 m"},
        {0, "4 0 1 3 8", "4 0 1 9 8", 8, "vertex is 9"},
        {0, "4 0 1 3 8", "4 0 1 -1 8", 8, "vertex is -1"},
        {0, "4 0 1 3 8", "3 0 1 3 8", 19, "CELLS ends before cell 9 of 12"},
        {0, "4 0 1 3 8", "4 0 1 1 8", 0, "flat"},
        {0, "4 0 1 3 8", "4 0 1 3 4", 0, "corners are all on the surface"},
        {0, "\n10\n", "\n12\n", 22, "VTK's type 12"},
        {0, "pressure", "temperature", 0, "no scalar"},
        {0, "CELLS 12 60", "CELLS 13 60", 0, "CELLS ends before cell 12 of 13"},
        {0, "double\nLOOKUP", "double 2x\nLOOKUP", 0, "not \"2x\""},
        {0, "CELL_TYPES 12", "CELL_TYPES 11", 21, "as many"},
        {0, "LOOKUP_TABLE default\n0.00000", "LOOKUP_TABLE default\n7.0", 0, "must be 0, not 7 Pa"},
        {1, "2.2", "3.0", 2, "expected 2.2 or 4.1"},
        {1, "2.2 0", "2.2 1", 2, "a binary file"},
        {1, "11 0.0", "10 0.0", 14, "two nodes have the number 10"},
        {1, "2 4 2 0 1 10 11 13 18", "2 4 2 0 1 10 11 13 99", 19, "node 99"},
        {1, "2 4 2 0 1", "2 5 2 0 1", 19, "Gmsh's type 5"},
        {1, "18 500000.0", "19 500000.0", 49, "node 19"},
        {1, "1\n9\n10 0.00000 \n", "1\n8\n", 0, "has no pressure"},
        {1, "1\n9\n10 ", "1\n8\n10 ", 49, "expected $EndNodeData, not \"18\""},
        {1, "1\n9\n10 0", "1\n9\n11 0", 42, "a second value for node 11"},
        {1, "$EndElements", "$EndElement", 0, "expected $EndElements, not \"$EndElement\""},
        {1, "$EndMeshFormat", "$End", 0, "ends before $EndMeshFormat"},
        {1, "$Nodes\n9", "$Nodes\n8", 14, "expected $EndNodes, not \"18\""},
        {1, "$Elements\n13", "$Elements\n12", 30, "expected $EndElements, not \"13\""},
        {1, "$EndNodes", "$EndNodes\n$Nodes\n9\n", 17, "the vertices are listed a second time"},
        {1, "$MeshFormat", "$Comments\nby hand\n$EndComments\n$MeshForm", 4,
         "$MeshForm stands before"},
        {1, "$MeshFormat\n2.2 0", "$Comments\n\n$EndComments\n$MeshFormat\n2.2 1", 5,
         "a binary file"},
        {2, "4.1 0", "4.1 1", 2, "a binary file"},
        {2, "1 9 10 18", "1 10 10 18", 0, "1 of 10 nodes are missing"},
        {2, "3 1 0 9", "3 1 1 9", 6, "with parametric coordinates"},
        {2, "3 1 4 12", "3 1 4 13", 0, "12 of the 13 elements of the file"},
        {2, "2 13 1 13", "2 14 1 14", 0, "1 of 14 elements are missing"},
    };
    static struct file f;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct tact_error err;
        if (faults[i].msh) {
            write_msh_file(&f, faults[i].msh - 1, "pressure", 5e5);
        } else {
            write_vtk_file(&f, 0, 0, "pressure", 5e5);
        }
        replace_in_text(&f, faults[i].old, faults[i].by);
        int rc = read_and_check_tetrahedra_file(f.text, f.size, &err);
        print_message("%s:%d: %s\n", err.file, err.line, err.text);
        assert_int_equal(rc, -EINVAL);
        assert_non_null(strstr(err.text, faults[i].expected_message_text));
        if (faults[i].line) {
            assert_int_equal(err.line, faults[i].line);
        }
    }
}

/* A byte order mark and white space may stand before any format, and comments before Gmsh's. */
static void text_before_the_tetrahedra_is_skipped(void **state)
{
    (void)state;
    static struct file f;
    static const char *const before[] = {"\xEF\xBB\xBF", "\r\n \t", "\xEF\xBB\xBF\n",
                                         "$Comments\n$Nodes of a cube\n$EndComments\n"};
    const double exact = exact_force_on_pressed_cube(5e5 / CUBE_HALF_SIDE, CUBE_HALF_SIDE);
    for (int i = 0; i < 4; i++) {
        for (int msh = i / 3; msh < 3; msh++) {
            const char *const first = msh ? "$MeshFormat" : "# vtk";
            char text[64];
            if (msh) {
                write_msh_file(&f, msh - 1, "pressure", 5e5);
            } else {
                write_vtk_file(&f, 0, 0, "pressure", 5e5);
            }
            snprintf(text, sizeof text, "%s%s", before[i], first);
            replace_in_text(&f, first, text);
            assert_true(tact_tets_recognise(f.text, f.size));
            assert_true(fabs(contact_force_of_file_field(&f, 1.0) / exact - 1.0) < 1e-8);
        }
    }
}

/* XML is recognised as such, also where a byte order mark, white space or nothing is before it. */
static void xml_vtk_file_is_refused_with_advice(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *expected_message_text;
    } files[] = {
        {"<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\">", 1,
         "VTK's XML format (.vtu)"},
        {"<VTKFile type=\"UnstructuredGrid\">\n</VTKFile>", 1, "VTK's XML format (.vtu)"},
        {"\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<VTKFile/>", 1,
         "save the mesh as a legacy .vtk file"},
        {"\n\n  <VTKFile type=\"UnstructuredGrid\">", 3, "VTK's XML format (.vtu)"},
        {"<?xml version=\"1.0\"?>", 1, "legacy .vtk"},
        {"<?xml version=\"1.0\"?>\n<COLLADA>", 1, "a DAE file to OBJ by `tact import`"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct tact_error err;
        assert_true(tact_tets_recognise(files[i].text, strlen(files[i].text)));
        assert_int_equal(read_and_check_tetrahedra_file(files[i].text, strlen(files[i].text), &err),
                         -EINVAL);
        print_message("%d: %s\n", err.line, err.text);
        assert_int_equal(err.line, files[i].line);
        assert_non_null(strstr(err.text, files[i].expected_message_text));
    }
    assert_false(tact_tets_recognise("\xEF\xBB", 2));
    assert_false(tact_tets_recognise(" \n", 2));
    assert_false(tact_tets_recognise("", 0));
}

/* A binary list that ends with the file, one cell too early. */
static void cell_counts_beyond_the_file_are_refused(void **state)
{
    (void)state;
    static struct file f;
    struct tact_error err;
    write_vtk_file(&f, 1, 0, "pressure", 5e5);
    char *at = strstr(f.text, "POINTS 9"), *exact;
    f.size = (size_t)(at - f.text);
    append_to_file_text(&f, "POINTS 1 float\n");
    for (int i = 0; i < 3; i++) {
        append_big_endian_number(&f, 0, 4);
    }
    append_to_file_text(&f, "\nCELLS 2 1\n");
    append_big_endian_number(&f, 0, 4);
    exact = malloc(f.size);
    memcpy(exact, f.text, f.size);
    assert_int_equal(read_and_check_tetrahedra_file(exact, f.size, &err), -EINVAL);
    print_message("%d: %s\n", err.line, err.text);
    assert_non_null(strstr(err.text, "CELLS ends before cell 1 of 2"));
    free(exact);
}

/* Cut short anywhere, and with bytes changed at random, files are read or refused with a message.
 */
static void damaged_tetrahedra_files_are_read_or_refused(void **state)
{
    (void)state;
    static struct file undamaged_tetrahedra_file, f;
    int refused = 0;
    for (int format = 0; format < 6; format++) {
        struct tact_error err;
        if (format < 4) {
            write_vtk_file(&undamaged_tetrahedra_file, format % 2, format / 2, "pressure", 5e5);
        } else {
            write_msh_file(&undamaged_tetrahedra_file, format % 2, "pressure", 5e5);
        }
        for (size_t size = 0; size + 16 < undamaged_tetrahedra_file.size; size += 7) {
            char *exact = malloc(size + 1);
            memcpy(exact, undamaged_tetrahedra_file.text, size);
            if (!(read_and_check_tetrahedra_file(exact, size, &err) < 0 && err.text[0]))
                fail_msg("format %d of %zu bytes, %zu", format, size,
                         undamaged_tetrahedra_file.size);
            free(exact);
        }
        for (int i = 0; i < 400; i++) {
            f = undamaged_tetrahedra_file;
            for (int k = 0; k < 3; k++) {
                size_t at = (size_t)(uniform(0.0, 1.0) * (double)f.size);
                f.text[at] = (char)(random_bits() % 3 ? random_bits() : (uint64_t)'9');
            }
            int rc = read_and_check_tetrahedra_file(f.text, f.size, &err);
            assert_true(rc == 0 || (rc == -EINVAL && err.text[0]));
            refused += rc != 0;
        }
    }
    print_message("%d of 2400 damaged files refused\n", refused);
    assert_true(refused > 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_tetrahedra_file_formats_give_the_same_field),
        cmocka_unit_test(tetrahedra_file_errors_name_their_line),
        cmocka_unit_test(text_before_the_tetrahedra_is_skipped),
        cmocka_unit_test(xml_vtk_file_is_refused_with_advice),
        cmocka_unit_test(cell_counts_beyond_the_file_are_refused),
        cmocka_unit_test(damaged_tetrahedra_files_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
