/*
 * Legacy VTK files of unstructured grids: ASCII or binary, big-endian; cells as counts and indices
 * (versions to 4.2), or as offsets and connectivity (5.1).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "contact/mesh/tets_internal.h"

enum { VERTICES_OF_TET = 4, TET = 10, LARGEST_FLAT = 9 };

/* Types of numbers. */
static const struct vtk_number_type {
    const char *name;
    int bytes, real, is_signed;
} number_types[] = {
    {"float", 4, 1, 1},         {"double", 8, 1, 1},         {"int", 4, 0, 1},
    {"unsigned_int", 4, 0, 0},  {"long", 8, 0, 1},           {"unsigned_long", 8, 0, 0},
    {"vtktypeint64", 8, 0, 1},  {"vtktypeint32", 4, 0, 1},   {"vtkIdType", 4, 0, 1},
    {"short", 2, 0, 1},         {"unsigned_short", 2, 0, 0}, {"char", 1, 0, 1},
    {"unsigned_char", 1, 0, 0},
};
enum { NUMBER_TYPES = sizeof number_types / sizeof *number_types };

/* Reader of a legacy VTK file; its counts are 0 until read. */
struct vtk {
    struct tets_reader *r;
    int is_binary_vtk_file, of_points;
    size_t vtk_cell_count; /* number of cells */
    uint32_t *offset; /* offset of each cell's vertices in the list of indices, cells + 1 entries */
    uint32_t *vertices; /* vertex indices of all cells, below the number of points */
    size_t vertex_count;
};

static int read_vtk_number_type(struct vtk *v, const struct vtk_number_type **out)
{
    char word[TACT_TETS_WORD];
    int rc = tact_tets_read_word(v->r, word);
    for (int i = 0; !rc && i < NUMBER_TYPES; i++) {
        if (!strcasecmp(number_types[i].name, word)) {
            *out = &number_types[i];
            return 0;
        }
    }
    return rc ? rc
              : tact_tets_report_error(
                    v->r, "expected a VTK number type, such as float or int, not \"%.40s\"", word);
}

/* A big-endian number. */
static double decode_binary_vtk_number(const unsigned char *p, const struct vtk_number_type *type)
{
    uint64_t bits_of_vtk_number = 0;
    for (int i = 0; i < type->bytes; i++) {
        bits_of_vtk_number = bits_of_vtk_number << 8 | p[i];
    }
    if (type->real && type->bytes == 4) {
        uint32_t half = (uint32_t)bits_of_vtk_number;
        float f;
        memcpy(&f, &half, sizeof f);
        return (double)f;
    }
    if (type->real) {
        double d;
        memcpy(&d, &bits_of_vtk_number, sizeof d);
        return d;
    }
    uint64_t sign = 1ull << (8 * type->bytes - 1);
    return type->is_signed && bits_of_vtk_number & sign
               ? -(double)((~bits_of_vtk_number + 1) & (2 * sign - 1))
               : (double)bits_of_vtk_number;
}

/* Begins an array of `count` numbers: moves to the first of them. */
static int begin_vtk_number_array(struct vtk *v, const struct vtk_number_type *type, size_t count,
                                  const char *what)
{
    struct tets_reader *r = v->r;
    if (!v->is_binary_vtk_file) {
        return 0;
    }
    tact_tets_skip_line(r);
    return count <= (size_t)(r->end - r->at) / (size_t)type->bytes
               ? 0
               : tact_tets_report_error(r, "the file ends within %s", what);
}

static int read_vtk_number(struct vtk *v, const struct vtk_number_type *type, const char *what,
                           double *out)
{
    struct tets_reader *r = v->r;
    if (!v->is_binary_vtk_file) {
        return tact_tets_read_number(r, what, out);
    }
    *out = decode_binary_vtk_number((const unsigned char *)r->at, type);
    r->at += type->bytes;
    return isfinite(*out) ? 0 : tact_tets_report_error(r, "%s is not finite", what);
}

/* Reads an array of numbers; out NULL: skips it. */
static int read_vtk_number_array(struct vtk *v, const struct vtk_number_type *type, size_t count,
                                 const char *what, double *out)
{
    double ignored_vtk_value;
    int rc = begin_vtk_number_array(v, type, count, what);
    for (size_t i = 0; !rc && i < count; i++) {
        rc = read_vtk_number(v, type, what, out ? &out[i] : &ignored_vtk_value);
    }
    return rc;
}

/* Reads an integer of the file that must be below a limit. */
static int read_vtk_index(struct vtk *v, const struct vtk_number_type *type, size_t limit,
                          const char *what, uint32_t *out)
{
    double x = 0.0;
    int rc = read_vtk_number(v, type, what, &x);
    if (!rc && !(x >= 0.0 && x < (double)limit && x == floor(x))) {
        rc = tact_tets_report_error(
            v->r, "%s is %.10g; expected a whole number from 0 to below %zu", what, x, limit);
    }
    *out = rc ? 0 : (uint32_t)x;
    return rc;
}

static int read_vtk_points(struct vtk *v)
{
    const struct vtk_number_type *type;
    size_t count;
    int rc = tact_tets_read_count(v->r, 3, "the number of points", &count);
    rc = rc ? rc : read_vtk_number_type(v, &type);
    rc = rc ? rc : tact_tets_alloc_vertices(v->r, count);
    return rc ? rc
              : read_vtk_number_array(v, type, 3 * count, "a coordinate", v->r->tets->vertices);
}

/* Reads cells of versions up to 4.2: for each a number of vertices, then the vertices. */
static int read_vtk_cells_with_vertex_counts(struct vtk *v, size_t vtk_cell_count, size_t count)
{
    const struct vtk_number_type vtk_integer_type = {"int", 4, 0, 1};
    size_t bytes_left_in_vtk_file = count;
    int rc = begin_vtk_number_array(v, &vtk_integer_type, count, "CELLS");
    for (size_t i = 0; !rc && i < vtk_cell_count; i++) {
        uint32_t n = 0;
        rc = bytes_left_in_vtk_file
                 ? read_vtk_index(v, &vtk_integer_type, bytes_left_in_vtk_file,
                                  "a cell's number of vertices", &n)
                 : tact_tets_report_error(v->r, "the section CELLS ends before cell %zu of %zu", i,
                                          vtk_cell_count);
        bytes_left_in_vtk_file -= rc ? 0 : 1 + (size_t)n;
        for (uint32_t k = 0; !rc && k < n; k++) {
            rc = read_vtk_index(v, &vtk_integer_type, v->r->tets->vertex_count, "a cell's vertex",
                                &v->vertices[v->vertex_count++]);
        }
        v->offset[i + 1] = (uint32_t)v->vertex_count;
    }
    if (!rc && bytes_left_in_vtk_file) {
        rc = tact_tets_report_error(v->r,
                                    "the section CELLS has %zu numbers more than its cells need",
                                    bytes_left_in_vtk_file);
    }
    return rc;
}

static int read_vtk_index_section(struct vtk *v, const char *name, size_t count, size_t limit,
                                  uint32_t *out)
{
    char word[TACT_TETS_WORD];
    const struct vtk_number_type *type = NULL;
    int rc = tact_tets_read_word(v->r, word);
    if (!rc && strcasecmp(word, name) != 0) {
        rc = tact_tets_report_error(v->r, "expected %s, not \"%.40s\"", name, word);
    }
    rc = rc ? rc : read_vtk_number_type(v, &type);
    rc = rc ? rc : begin_vtk_number_array(v, type, count, name);
    for (size_t i = 0; !rc && i < count; i++) {
        rc = read_vtk_index(v, type, limit, name, &out[i]);
    }
    return rc;
}

/* Whether OFFSETS follows, as in cells of version 5.1. */
static int has_cell_offsets(const struct vtk *v)
{
    struct tets_reader reader_copy_to_peek_next_word = *v->r;
    char word[TACT_TETS_WORD];
    reader_copy_to_peek_next_word.err = NULL;
    return !tact_tets_read_word(&reader_copy_to_peek_next_word, word) &&
           !strcasecmp(word, "OFFSETS");
}

static int read_vtk_cells(struct vtk *v)
{
    size_t first, second;
    if (v->offset || v->vertices) {
        return tact_tets_report_error(v->r, "the cells are listed a second time in the file");
    }
    int rc = tact_tets_read_count(v->r, 1, "the number of cells of the mesh", &first);
    rc = rc ? rc : tact_tets_read_count(v->r, 1, "the number of integers in CELLS", &second);
    if (rc) {
        return rc;
    }
    v->offset = calloc(first + 1, sizeof *v->offset);
    v->vertices = calloc(second + 1, sizeof *v->vertices);
    if (!v->offset || !v->vertices) {
        return -ENOMEM;
    }
    if (!has_cell_offsets(v)) {
        v->vtk_cell_count = first;
        return read_vtk_cells_with_vertex_counts(v, first, second);
    }
    v->vtk_cell_count = first ? first - 1 : 0;
    v->vertex_count = second;
    rc = read_vtk_index_section(v, "OFFSETS", first, second + 1, v->offset);
    return rc ? rc
              : read_vtk_index_section(v, "CONNECTIVITY", second, v->r->tets->vertex_count,
                                       v->vertices);
}

/* Adds a tetrahedron. */
static int add_vtk_tetrahedron(struct vtk *v, size_t cell)
{
    struct tact_tets *t = v->r->tets;
    uint32_t from = v->offset[cell], to = v->offset[cell + 1];
    if (to < from || to - from != VERTICES_OF_TET) {
        return tact_tets_report_error(v->r,
                                      "cell %zu is a tetrahedron, but does not have %d vertices",
                                      cell, VERTICES_OF_TET);
    }
    memcpy(t->tets + VERTICES_OF_TET * t->tet_count++, v->vertices + from,
           VERTICES_OF_TET * sizeof *t->tets);
    return 0;
}

static int read_vtk_cell_types(struct vtk *v)
{
    const struct vtk_number_type vtk_integer_type = {"int", 4, 0, 1};
    size_t count;
    int rc = tact_tets_read_count(v->r, 1, "the number of cell types", &count);
    if (rc) {
        return rc;
    }
    if (count != v->vtk_cell_count || !v->offset || !v->r->tets->vertices) {
        return tact_tets_report_error(
            v->r,
            "CELL_TYPES has %zu cells; expected POINTS, and CELLS with as many "
            "(%zu), before it",
            count, v->vtk_cell_count);
    }
    rc = tact_tets_alloc_tets(v->r, count);
    rc = rc ? rc : begin_vtk_number_array(v, &vtk_integer_type, count, "CELL_TYPES");
    for (size_t i = 0; !rc && i < count; i++) {
        uint32_t type = 0;
        rc = read_vtk_index(v, &vtk_integer_type, UINT32_MAX, "a cell type", &type);
        if (!rc && type == TET) {
            rc = add_vtk_tetrahedron(v, i);
        } else if (!rc && type > LARGEST_FLAT) {
            rc = tact_tets_report_error(
                v->r,
                "cell %zu has VTK's type %u; of solids only tetrahedra of four "
                "vertices (10) can be read",
                i, type);
        }
    }
    return rc;
}

/* Reads or skips a data set of numbers: of the points, or of the cells, which is skipped. */
static int read_vtk_node_values(struct vtk *v, const char *name, const struct vtk_number_type *type,
                                size_t vtk_tuple_count, size_t vtk_component_count)
{
    struct tact_tets *t = v->r->tets;
    if (vtk_component_count &&
        vtk_tuple_count > (size_t)(v->r->end - v->r->at) / vtk_component_count) {
        return tact_tets_report_error(v->r, "the file is too short for the %zu values of \"%.40s\"",
                                      vtk_tuple_count, name);
    }
    int is_point_data_of_vertex_values =
        v->of_points ? tact_tets_is_name_of_vertex_values(v->r, name) : 0;
    if (is_point_data_of_vertex_values < 0) {
        return is_point_data_of_vertex_values;
    }
    if (is_point_data_of_vertex_values &&
        (vtk_component_count != 1 || vtk_tuple_count != t->vertex_count || !t->vertices)) {
        return tact_tets_report_error(
            v->r,
            "\"%.40s\" has %zu times %zu numbers; expected one for each of "
            "%zu points",
            name, vtk_tuple_count, vtk_component_count, t->vertex_count);
    }
    return read_vtk_number_array(v, type, vtk_tuple_count * vtk_component_count, name,
                                 is_point_data_of_vertex_values ? t->values : NULL);
}

static int read_vtk_scalars(struct vtk *v, size_t vtk_tuple_count)
{
    char name[TACT_TETS_WORD], word[TACT_TETS_WORD];
    const struct vtk_number_type *type;
    char *end;
    uint64_t vtk_component_count = 1;
    int rc = tact_tets_read_word(v->r, name);
    rc = rc ? rc : read_vtk_number_type(v, &type);
    rc = rc ? rc : tact_tets_read_word(v->r, word);
    if (!rc && strcasecmp(word, "LOOKUP_TABLE") != 0) {
        vtk_component_count = strtoull(word, &end, 10);
        rc = *end || vtk_component_count < 1 || vtk_component_count > 4
                 ? tact_tets_report_error(v->r,
                                          "expected LOOKUP_TABLE, or 1 to 4 "
                                          "components, not \"%.40s\"",
                                          word)
                 : tact_tets_read_word(v->r, word);
    }
    if (!rc && strcasecmp(word, "LOOKUP_TABLE") != 0) {
        rc = tact_tets_report_error(v->r, "expected LOOKUP_TABLE, not \"%.40s\"", word);
    }
    rc = rc ? rc : tact_tets_read_word(v->r, word);
    return rc ? rc : read_vtk_node_values(v, name, type, vtk_tuple_count, vtk_component_count);
}

/* Reads FIELD data: arrays, each with a name, a number of components and a number of tuples. */
static int read_vtk_field_data(struct vtk *v)
{
    char name[TACT_TETS_WORD];
    const struct vtk_number_type *type;
    size_t field_data_array_count, vtk_component_count, vtk_tuple_count;
    int rc = tact_tets_read_word(v->r, name);
    rc = rc ? rc
            : tact_tets_read_count(v->r, 1, "the number of arrays in FIELD",
                                   &field_data_array_count);
    for (size_t i = 0; !rc && i < field_data_array_count; i++) {
        rc = tact_tets_read_word(v->r, name);
        if (!rc && !strcasecmp(name, "METADATA")) {
            return tact_tets_report_error(v->r, "METADATA within FIELD cannot be read");
        }
        rc = rc ? rc
                : tact_tets_read_count(v->r, 1, "the number of components of an array",
                                       &vtk_component_count);
        rc = rc ? rc
                : tact_tets_read_count(v->r, 1, "the number of tuples of an array",
                                       &vtk_tuple_count);
        rc = rc ? rc : read_vtk_number_type(v, &type);
        rc = rc ? rc : read_vtk_node_values(v, name, type, vtk_tuple_count, vtk_component_count);
    }
    return rc;
}

static int read_vtk_vectors(struct vtk *v, size_t vtk_tuple_count)
{
    char name[TACT_TETS_WORD];
    const struct vtk_number_type *type;
    int rc = tact_tets_read_word(v->r, name);
    rc = rc ? rc : read_vtk_number_type(v, &type);
    return rc ? rc : read_vtk_node_values(v, name, type, vtk_tuple_count, 3);
}

/* Skips METADATA, which ends at an empty line. */
static void skip_vtk_metadata(struct tets_reader *r)
{
    tact_tets_skip_line(r);
    while (r->at < r->end && *r->at != '\n' && strncmp(r->at, "\r\n", 2) != 0) {
        tact_tets_skip_line(r);
    }
}

static int read_vtk_file_section(struct vtk *v, const char *word, size_t *vtk_tuple_count)
{
    if (!strcasecmp(word, "POINTS")) {
        return read_vtk_points(v);
    }
    if (!strcasecmp(word, "CELLS")) {
        return read_vtk_cells(v);
    }
    if (!strcasecmp(word, "CELL_TYPES")) {
        return read_vtk_cell_types(v);
    }
    if (!strcasecmp(word, "POINT_DATA") || !strcasecmp(word, "CELL_DATA")) {
        v->of_points = !strcasecmp(word, "POINT_DATA");
        return tact_tets_read_count(v->r, 1, "a number of values", vtk_tuple_count);
    }
    if (!strcasecmp(word, "SCALARS")) {
        return read_vtk_scalars(v, *vtk_tuple_count);
    }
    if (!strcasecmp(word, "VECTORS") || !strcasecmp(word, "NORMALS")) {
        return read_vtk_vectors(v, *vtk_tuple_count);
    }
    if (!strcasecmp(word, "FIELD")) {
        return read_vtk_field_data(v);
    }
    if (!strcasecmp(word, "METADATA")) {
        skip_vtk_metadata(v->r);
        return 0;
    }
    return tact_tets_report_error(v->r,
                                  "\"%.40s\" cannot be read; expected POINTS, CELLS, CELL_TYPES, "
                                  "POINT_DATA, SCALARS or FIELD",
                                  word);
}

static int expect_vtk_keyword(struct vtk *v, const char *expected_vtk_keyword)
{
    char word[TACT_TETS_WORD];
    int rc = tact_tets_read_word(v->r, word);
    return rc ? rc
           : strcasecmp(word, expected_vtk_keyword)
               ? tact_tets_report_error(v->r, "expected %s, not \"%.40s\"", expected_vtk_keyword,
                                        word)
               : 0;
}

int tact_tets_read_vtk(struct tets_reader *r)
{
    struct vtk v = {.r = r};
    char word[TACT_TETS_WORD];
    size_t vtk_tuple_count = 0;
    tact_tets_skip_line(r);
    tact_tets_skip_line(r); /* the title */
    int rc = tact_tets_read_word(r, word);
    v.is_binary_vtk_file = !strcasecmp(word, "BINARY");
    if (!rc && !v.is_binary_vtk_file && strcasecmp(word, "ASCII") != 0) {
        rc = tact_tets_report_error(r, "expected ASCII or BINARY, not \"%.40s\"", word);
    }
    rc = rc ? rc : expect_vtk_keyword(&v, "DATASET");
    rc = rc ? rc : expect_vtk_keyword(&v, "UNSTRUCTURED_GRID");
    while (!rc && !(rc = tact_tets_read_word(r, word)) && word[0]) {
        rc = read_vtk_file_section(&v, word, &vtk_tuple_count);
    }
    if (rc == -ENOMEM) {
        tact_error_set(r->err, rc, "out of memory");
    }
    free(v.offset);
    free(v.vertices);
    return rc;
}
