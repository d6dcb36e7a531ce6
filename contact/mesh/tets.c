/* Tetrahedra of users' files: what the formats have in common, and their surface. */
#include "contact/mesh/tets.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "contact/mesh/mesh.h"
#include "contact/mesh/tets_internal.h"
#include "contact/number.h"
#include "contact/vec.h"

/* Words with which files of the formats begin. In a Gmsh file comments may stand before the first
 * section. */
static const char *const vtk_starts[] = {"# vtk DataFile", NULL};
static const char *const msh_starts[] = {"$MeshFormat", "$Comments", NULL};
static const char *const xml_starts[] = {"<?xml", "<VTKFile", NULL};

/* Size of a byte order mark and white space at the start of a text. */
static size_t measure_leading_space(const char *text, size_t size)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    size_t n = size >= 3 && !memcmp(text, byte_order_mark, 3) ? 3 : 0;
    while (n < size && isspace((unsigned char)text[n])) {
        n++;
    }
    return n;
}

/* Whether a text begins with one of the words, behind a byte order mark and white space. */
static int does_text_begin_with_word(const char *text, size_t size, const char *const words[])
{
    size_t leading_space_length = measure_leading_space(text, size);
    for (int i = 0; words[i]; i++) {
        size_t n = strlen(words[i]);
        if (size - leading_space_length >= n && !memcmp(text + leading_space_length, words[i], n)) {
            return 1;
        }
    }
    return 0;
}

int tact_tets_recognise(const void *data, size_t size)
{
    return does_text_begin_with_word(data, size, vtk_starts) ||
           does_text_begin_with_word(data, size, msh_starts) ||
           does_text_begin_with_word(data, size, xml_starts);
}

int tact_tets_report_error(struct tets_reader *r, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    tact_number_vprint(text, sizeof text, format, args);
    va_end(args);
    tact_error_at(r->err, r->name, r->line, 0, NULL);
    return tact_error_set(r->err, -EINVAL, "%s", text);
}

int tact_tets_read_word(struct tets_reader *r, char word[TACT_TETS_WORD])
{
    size_t n = 0;
    for (; r->at < r->end && isspace((unsigned char)*r->at); r->at++) {
        r->line += *r->at == '\n';
    }
    for (; r->at < r->end && !isspace((unsigned char)*r->at); r->at++) {
        if (n + 1 == TACT_TETS_WORD) {
            return tact_tets_report_error(r, "a word of the file has more than %d characters",
                                          TACT_TETS_WORD - 1);
        }
        word[n++] = *r->at;
    }
    word[n] = '\0';
    return 0;
}

void tact_tets_skip_line(struct tets_reader *r)
{
    const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->line += end != NULL;
    r->at = end ? end + 1 : r->end;
}

int tact_tets_read_integer(struct tets_reader *r, const char *what, uint64_t *out)
{
    char word[TACT_TETS_WORD], *end;
    int rc = tact_tets_read_word(r, word);
    if (rc) {
        return rc;
    }
    errno = 0;
    *out = strtoull(word, &end, 10);
    if (!isdigit((unsigned char)word[0]) || *end || errno) {
        return tact_tets_report_error(r, "expected %s, not \"%.40s\"", what,
                                      word[0] ? word : "the end of the file");
    }
    return 0;
}

int tact_tets_read_count(struct tets_reader *r, size_t bytes, const char *what, size_t *out)
{
    uint64_t count;
    int rc = tact_tets_read_integer(r, what, &count);
    size_t bytes_left_in_file = (size_t)(r->end - r->at);
    if (!rc && (count > bytes_left_in_file / bytes || count >= UINT32_MAX / 4)) {
        rc = tact_tets_report_error(
            r, "%s, %llu, is too large for the %zu bytes that follow in the file", what,
            (unsigned long long)count, bytes_left_in_file);
    }
    *out = rc ? 0 : (size_t)count;
    return rc;
}

int tact_tets_read_number(struct tets_reader *r, const char *what, double *out)
{
    char word[TACT_TETS_WORD], *end;
    int rc = tact_tets_read_word(r, word);
    if (rc) {
        return rc;
    }
    *out = tact_number_read(word, &end);
    if (!word[0] || *end || !isfinite(*out)) {
        return tact_tets_report_error(r, "expected %s, a finite number, not \"%.40s\"", what,
                                      word[0] ? word : "the end of the file");
    }
    return 0;
}

static int report_no_memory_for_tetrahedra(struct tets_reader *r)
{
    tact_error_at(r->err, r->name, r->line, 0, NULL);
    return tact_error_set(r->err, -ENOMEM, "out of memory");
}

int tact_tets_alloc_vertices(struct tets_reader *r, size_t count)
{
    struct tact_tets *t = r->tets;
    if (t->vertices) {
        return tact_tets_report_error(r, "the vertices are listed a second time in the file");
    }
    t->vertex_count = count;
    t->vertices = calloc(3 * count + 1, sizeof *t->vertices);
    t->values = calloc(count + 1, sizeof *t->values);
    for (size_t i = 0; t->values && i < count; i++) {
        t->values[i] = NAN; /* none yet */
    }
    return t->vertices && t->values ? 0 : report_no_memory_for_tetrahedra(r);
}

int tact_tets_alloc_tets(struct tets_reader *r, size_t count)
{
    struct tact_tets *t = r->tets;
    if (t->tets) {
        return tact_tets_report_error(r, "the cells are listed a second time in the file");
    }
    t->tets = calloc(4 * count + 1, sizeof *t->tets);
    return t->tets ? 0 : report_no_memory_for_tetrahedra(r);
}

int tact_tets_is_name_of_vertex_values(struct tets_reader *r, const char *name)
{
    int pressure = !strcasecmp(name, "pressure");
    if (!pressure && strcasecmp(name, "extent") != 0) {
        return 0;
    }
    if (r->are_vertex_values_read) {
        return tact_tets_report_error(r,
                                      "the vertices have a second scalar named pressure or extent");
    }
    r->are_vertex_values_read = 1;
    r->tets->pressure = pressure;
    return 1;
}

/* Applies the scale, and checks what only the whole file shows. */
static int scale_and_check_tets(struct tets_reader *r)
{
    struct tact_tets *t = r->tets;
    r->line = 0;
    if (!t->tet_count) {
        return tact_tets_report_error(r, "the file has no tetrahedra; expected at least one");
    }
    if (!r->are_vertex_values_read) {
        return tact_tets_report_error(
            r, "no scalar of the vertices named pressure [Pa] or extent [m]; for "
               "the surface alone give an OBJ or STL file");
    }
    for (size_t i = 0; i < 4 * t->tet_count; i++) {
        if (isnan(t->values[t->tets[i]])) {
            return tact_tets_report_error(
                r, "tetrahedron %zu has a vertex, %u, for which the file has no %s", i / 4,
                t->tets[i], t->pressure ? "pressure" : "extent");
        }
    }
    for (size_t i = 0; i < 3 * t->vertex_count; i++) {
        t->vertices[i] *= r->scale;
        if (!(fabs(t->vertices[i]) <= TACT_MESH_MAX_COORDINATE)) {
            return tact_tets_report_error(r, "a coordinate of vertex %zu is beyond 1e9 m", i / 3);
        }
    }
    for (size_t i = 0; i < t->vertex_count; i++) {
        t->values[i] = isnan(t->values[i]) ? 0.0 : t->values[i]; /* of no tetrahedron */
        t->values[i] *= t->pressure ? 1.0 : r->scale;
    }
    return 0;
}

static void skip_leading_space(struct tets_reader *r)
{
    const char *start = r->at + measure_leading_space(r->at, (size_t)(r->end - r->at));
    for (; r->at < start; r->at++) {
        r->line += *r->at == '\n';
    }
}

static int report_unsupported_xml(struct tets_reader *r)
{
    return tact_tets_report_error(
        r, strstr(r->at, "<VTKFile")
               ? "VTK's XML format (.vtu) cannot be read: save the mesh as a legacy .vtk file"
               : "an XML file cannot be read: save a VTK mesh as a legacy .vtk file, or convert a "
                 "DAE file to OBJ by `tact import`");
}

int tact_tets_read(const void *data, size_t size, const char *name, double scale,
                   struct tact_tets **out, struct tact_error *err)
{
    struct tets_reader r = {.name = name, .scale = scale, .line = 1, .err = err};
    char *text = malloc(size + 1);
    int rc;
    *out = NULL;
    r.tets = calloc(1, sizeof *r.tets);
    if (!text || !r.tets) {
        rc = report_no_memory_for_tetrahedra(&r);
    } else {
        memcpy(text, data, size);
        text[size] = '\0';
        r.at = text;
        r.end = text + size;
        skip_leading_space(&r);
        rc = does_text_begin_with_word(text, size, vtk_starts)   ? tact_tets_read_vtk(&r)
             : does_text_begin_with_word(text, size, msh_starts) ? tact_tets_read_msh(&r)
                                                                 : report_unsupported_xml(&r);
        rc = rc ? rc : scale_and_check_tets(&r);
    }
    free(text);
    if (rc) {
        tact_tets_free(r.tets);
        return rc;
    }
    *out = r.tets;
    return 0;
}

/* A side of a tetrahedron: its vertices in ascending order, and counter-clockwise as seen from
 * outside. */
struct side {
    uint32_t sorted_vertices_of_side[3], outward[3];
};

static int compare_tet_sides(const void *a, const void *b)
{
    const struct side *p = a, *q = b;
    for (int i = 0; i < 3; i++) {
        if (p->sorted_vertices_of_side[i] != q->sorted_vertices_of_side[i]) {
            return p->sorted_vertices_of_side[i] < q->sorted_vertices_of_side[i] ? -1 : 1;
        }
    }
    return 0;
}

static void swap_vertex_indices(uint32_t *a, uint32_t *b)
{
    uint32_t swapped = *a;
    *a = *b;
    *b = swapped;
}

static void make_oriented_tet_side(const struct tact_tets *t, const uint32_t *tet, int apex,
                                   struct side *out)
{
    static const uint8_t corner_order_of_outward_side[4][3] = {
        {1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double e[3][3], across[3];
    for (int k = 0; k < 3; k++) {
        out->outward[k] = tet[corner_order_of_outward_side[apex][k]];
        tact_v3_sub(e[k], t->vertices + 3 * (size_t)tet[k + 1], t->vertices + 3 * (size_t)tet[0]);
    }
    tact_v3_cross(across, e[1], e[2]);
    if (tact_v3_dot(e[0], across) < 0.0) {
        swap_vertex_indices(&out->outward[1], &out->outward[2]);
    }
    memcpy(out->sorted_vertices_of_side, out->outward, sizeof out->sorted_vertices_of_side);
    for (int k = 0; k < 3; k++) {
        int at = k % 2;
        if (out->sorted_vertices_of_side[at] > out->sorted_vertices_of_side[at + 1]) {
            swap_vertex_indices(&out->sorted_vertices_of_side[at],
                                &out->sorted_vertices_of_side[at + 1]);
        }
    }
}

/* Copies the vertices of the surface triangles, and renumbers them. map: an array for all vertices.
 */
static void copy_surface_vertices(const struct tact_tets *tets, uint32_t *map,
                                  struct tact_soup *out)
{
    /* map of a vertex: 0 if it is not copied, else its new index, from 1 */
    memset(map, 0, tets->vertex_count * sizeof *map);
    for (size_t i = 0; i < 3 * out->triangle_count; i++) {
        uint32_t *at = &map[out->triangles[i]];
        if (!*at) {
            memcpy(out->vertices + 3 * out->vertex_count,
                   tets->vertices + 3 * (size_t)out->triangles[i], 3 * sizeof *out->vertices);
            *at = (uint32_t)++out->vertex_count;
        }
        out->triangles[i] = *at - 1;
    }
}

int tact_tets_surface(const struct tact_tets *tets, struct tact_soup *out)
{
    size_t count = 4 * tets->tet_count;
    struct side *sides = malloc(count * sizeof *sides);
    uint32_t *map = malloc(tets->vertex_count * sizeof *map);
    memset(out, 0, sizeof *out);
    out->vertices = malloc(3 * tets->vertex_count * sizeof *out->vertices);
    out->triangles = calloc(3 * count, sizeof *out->triangles);
    if (!sides || !map || !out->vertices || !out->triangles) {
        free(sides);
        free(map);
        tact_soup_free(out);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        make_oriented_tet_side(tets, tets->tets + 4 * (i / 4), (int)(i % 4), &sides[i]);
    }
    qsort(sides, count, sizeof *sides, compare_tet_sides);
    for (size_t i = 0; i < count; i++) {
        int is_side_of_two_tetrahedra =
            (i && !compare_tet_sides(&sides[i - 1], &sides[i])) ||
            (i + 1 < count && !compare_tet_sides(&sides[i], &sides[i + 1]));
        if (!is_side_of_two_tetrahedra) {
            memcpy(out->triangles + 3 * out->triangle_count++, sides[i].outward,
                   sizeof sides[i].outward);
        }
    }
    copy_surface_vertices(tets, map, out);
    free(sides);
    free(map);
    return 0;
}

void tact_tets_free(struct tact_tets *tets)
{
    if (tets) {
        free(tets->vertices);
        free(tets->tets);
        free(tets->values);
        free(tets);
    }
}
