/* Triangles from the bytes of an OBJ or STL file. */
#include "contact/mesh/mesh_internal.h"
#include "contact/mesh/tets.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"

/* Reader of a mesh file: a text read line by line, and the triangles read so far. */
struct mesh_reader {
    const char *name;
    char *next; /* start of the next line of the text */
    int line;   /* number of the current line of the file */
    double scale;
    struct tact_soup *soup;
    /* receives the faces as polygons; NULL: faces become triangles */
    struct tact_polygons *polygons;
    size_t vertex_capacity, triangle_capacity;
    struct tact_error *err;
};

static int set_mesh_line_error(struct mesh_reader *r, const char *what)
{
    tact_error_at(r->err, r->name, r->line, 0, NULL);
    return tact_error_set(r->err, -EINVAL, "%s", what);
}

static int set_out_of_memory_error(struct mesh_reader *r)
{
    tact_error_at(r->err, r->name, r->line, 0, NULL);
    return tact_error_set(r->err, -ENOMEM, "out of memory");
}

/* Ensures that an array has capacity for one more entry of 3 numbers of the given size. */
static int grow_mesh_array(void **array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return 0;
    }
    size_t new_capacity = *capacity ? 2 * *capacity : 256;
    void *p = realloc(*array, new_capacity * 3 * size);
    if (!p) {
        return -ENOMEM;
    }
    *array = p;
    *capacity = new_capacity;
    return 0;
}

static int add_mesh_file_vertex(struct mesh_reader *r, const double v[3])
{
    struct tact_soup *s = r->soup;
    void *array = s->vertices;
    int rc = grow_mesh_array(&array, s->vertex_count, &r->vertex_capacity, sizeof *s->vertices);
    s->vertices = array;
    if (rc) {
        return set_out_of_memory_error(r);
    }
    for (int k = 0; k < 3; k++) {
        double x = v[k] * r->scale;
        if (!isfinite(x)) {
            return set_mesh_line_error(r, "a coordinate is not finite");
        }
        if (fabs(x) > TACT_MESH_MAX_COORDINATE) {
            return set_mesh_line_error(r, "a coordinate is beyond 1e9 m");
        }
        s->vertices[3 * s->vertex_count + (size_t)k] = x;
    }
    s->vertex_count++;
    return 0;
}

static int add_mesh_file_triangle(struct mesh_reader *r, size_t a, size_t b, size_t c)
{
    struct tact_soup *s = r->soup;
    void *array = s->triangles;
    int rc =
        grow_mesh_array(&array, s->triangle_count, &r->triangle_capacity, sizeof *s->triangles);
    s->triangles = array;
    if (rc) {
        return set_out_of_memory_error(r);
    }
    if (a > UINT32_MAX || b > UINT32_MAX || c > UINT32_MAX) {
        return set_mesh_line_error(r, "more than 2^32 vertices");
    }
    uint32_t *t = s->triangles + 3 * s->triangle_count++;
    t[0] = (uint32_t)a;
    t[1] = (uint32_t)b;
    t[2] = (uint32_t)c;
    return 0;
}

enum { MAX_POLYGON_CORNERS = 1 << 24 };

/* Reads the next line of a text, zero-terminated in place, without leading blanks; NULL at the
 * end. */
static char *read_next_line(struct mesh_reader *r)
{
    char *line = r->next;
    if (!line || !*line) {
        return NULL;
    }
    char *end = line + strcspn(line, "\r\n");
    r->next = end;
    if (*end == '\r' && end[1] == '\n') {
        r->next++;
    }
    if (*end) {
        r->next++;
        *end = '\0';
    }
    r->line++;
    return line + strspn(line, " \t");
}

/* Whether a line begins with a keyword; *text_after_keyword begins behind it. */
static int does_line_begin_with_keyword(char *line, const char *word, char **text_after_keyword)
{
    size_t n = strlen(word);
    if (strncasecmp(line, word, n) != 0 || (line[n] && !isspace((unsigned char)line[n]))) {
        return 0;
    }
    *text_after_keyword = line + n;
    return 1;
}

static int read_three_numbers(struct mesh_reader *r, char *text, double v[3])
{
    for (int k = 0; k < 3; k++) {
        char *end;
        v[k] = tact_number_read(text, &end);
        if (end == text) {
            return set_mesh_line_error(r, "expected three numbers");
        }
        text = end;
    }
    return 0;
}

/* Parses one corner "v", "v/t", "v//n" or "v/t/n" of an OBJ face. */
static int parse_obj_face_corner(struct mesh_reader *r, char **text, size_t *vertex)
{
    char *end;
    errno = 0;
    long index = strtol(*text, &end, 10);
    if (end == *text || errno) {
        return set_mesh_line_error(r, "expected the vertex numbers of a face");
    }
    long count = (long)r->soup->vertex_count;
    if (index == 0 || index > count || index < -count) {
        tact_error_at(r->err, r->name, r->line, 0, NULL);
        return tact_error_set(r->err, -EINVAL, "vertex %ld does not exist: %ld are defined so far",
                              index, count);
    }
    *vertex = (size_t)(index > 0 ? index - 1 : count + index);
    end += strcspn(end, " \t");
    *text = end + strspn(end, " \t");
    return 0;
}

/* Adds a face's corner to the polygons; the first corner of a face begins a new polygon. */
static int add_corner_of_file_face(struct mesh_reader *r, size_t vertex, int first)
{
    struct tact_polygons *p = r->polygons;
    void *corners = p->corners, *faces = p->faces;
    int rc = grow_mesh_array(&corners, p->corner_count, &p->corner_capacity, sizeof *p->corners);
    p->corners = corners;
    if (!rc && first) {
        rc = grow_mesh_array(&faces, p->face_count, &p->face_capacity, sizeof *p->faces);
        p->faces = faces;
    }
    if (rc) {
        return set_out_of_memory_error(r);
    }
    if (p->corner_count >= MAX_POLYGON_CORNERS || vertex > UINT32_MAX) {
        return set_mesh_line_error(
            r, "the faces of the file have more than 16 million corners together");
    }
    if (first) {
        p->faces[p->face_count++] =
            (struct tact_first_corner_and_line_of_polygon){(uint32_t)p->corner_count, r->line};
    }
    p->corners[p->corner_count++] = (uint32_t)vertex;
    return 0;
}

/* Maximum corners of a face: its triangles all share the first one, and the time of the mesh
 * checks grows with the square of the triangles at a corner. */
enum { MAX_CORNERS = 4096 };

/* Adds the next corner of an OBJ face: the triangle that it closes, or a corner of a polygon. */
static int add_next_corner_of_obj_face(struct mesh_reader *r, int count, size_t first, size_t last,
                                       size_t corner)
{
    if (r->polygons) {
        return add_corner_of_file_face(r, corner, count == 0);
    }
    return count >= 2 ? add_mesh_file_triangle(r, first, last, corner) : 0;
}

static int parse_obj_face(struct mesh_reader *r, char *text)
{
    size_t first = 0, last = 0, corner = 0;
    int count = 0;
    text += strspn(text, " \t");
    while (*text && *text != '#') {
        int rc = parse_obj_face_corner(r, &text, &corner);
        rc = rc ? rc : add_next_corner_of_obj_face(r, count, first, last, corner);
        if (rc) {
            return rc;
        }
        first = count ? first : corner;
        last = corner;
        if (++count > MAX_CORNERS) {
            return set_mesh_line_error(r,
                                       "a face of more than 4096 corners: triangles are expected");
        }
    }
    return count < 3 ? set_mesh_line_error(r, "a face needs three corners or more") : 0;
}

static int read_obj(struct mesh_reader *r)
{
    char *line, *rest;
    while ((line = read_next_line(r))) {
        int rc = 0;
        if (does_line_begin_with_keyword(line, "v", &rest)) {
            double v[3] = {0.0};
            rc = read_three_numbers(r, rest, v);
            rc = rc ? rc : add_mesh_file_vertex(r, v);
        } else if (does_line_begin_with_keyword(line, "f", &rest)) {
            rc = parse_obj_face(r, rest);
        }
        if (rc) {
            return rc;
        }
    }
    return 0;
}

static int read_ascii_stl(struct mesh_reader *r)
{
    char *line, *rest;
    int corners = -1, ended = 0; /* number of corners read of the open facet; -1 outside a facet */
    while ((line = read_next_line(r))) {
        int rc = 0;
        if (does_line_begin_with_keyword(line, "facet", &rest)) {
            rc = corners >= 0 ? set_mesh_line_error(r, "facet within a facet") : 0;
            corners = 0;
        } else if (does_line_begin_with_keyword(line, "vertex", &rest)) {
            double v[3] = {0.0};
            rc = corners < 0 || corners > 2
                     ? set_mesh_line_error(r, "an STL facet must have three vertices")
                     : 0;
            rc = rc ? rc : read_three_numbers(r, rest, v);
            rc = rc ? rc : add_mesh_file_vertex(r, v);
            corners++;
        } else if (does_line_begin_with_keyword(line, "endfacet", &rest)) {
            size_t n = r->soup->vertex_count;
            rc = corners != 3 ? set_mesh_line_error(r, "an STL facet must have three vertices") : 0;
            rc = rc ? rc : add_mesh_file_triangle(r, n - 3, n - 2, n - 1);
            corners = -1;
        } else if (does_line_begin_with_keyword(line, "solid", &rest)) {
            ended = 0;
        } else if (does_line_begin_with_keyword(line, "endsolid", &rest)) {
            ended = 1;
        } else if (*line && !does_line_begin_with_keyword(line, "outer", &rest) &&
                   !does_line_begin_with_keyword(line, "endloop", &rest)) {
            rc = set_mesh_line_error(
                r, "expected a line of a text STL file: solid, facet, outer loop, "
                   "vertex, endloop, endfacet or endsolid");
        }
        if (rc) {
            return rc;
        }
    }
    return corners >= 0 || !ended ? set_mesh_line_error(r, "the file ends before endsolid") : 0;
}

static uint32_t read_little_endian_uint32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double read_little_endian_float(const unsigned char *p)
{
    uint32_t bits_of_stl_float = read_little_endian_uint32(p);
    float f;
    memcpy(&f, &bits_of_stl_float, sizeof f);
    return (double)f;
}

/* Reads a binary STL file: 80 bytes of header, the number of triangles, then for each 50 bytes:
 * normal, corners, attribute. */
static int read_binary_stl(struct mesh_reader *r, const unsigned char *data, size_t size)
{
    size_t count = read_little_endian_uint32(data + 80);
    if ((size - 84) / 50 < count) {
        tact_error_at(r->err, r->name, 0, 0, NULL);
        return tact_error_set(r->err, -EINVAL,
                              "binary STL truncated at byte %zu: %zu triangles need %zu bytes",
                              size, count, 84 + 50 * count);
    }
    for (size_t t = 0; t < count; t++) {
        for (size_t k = 0; k < 3; k++) {
            size_t at = 84 + 50 * t + 12 + 12 * k;
            double v[3] = {read_little_endian_float(data + at),
                           read_little_endian_float(data + at + 4),
                           read_little_endian_float(data + at + 8)};
            if (!isfinite(v[0] * r->scale) || !isfinite(v[1] * r->scale) ||
                !isfinite(v[2] * r->scale)) {
                tact_error_at(r->err, r->name, 0, 0, NULL);
                return tact_error_set(r->err, -EINVAL,
                                      "a coordinate at byte %zu (triangle %zu) is not finite", at,
                                      t);
            }
            int rc = add_mesh_file_vertex(r, v);
            if (rc) {
                return rc;
            }
        }
        size_t n = r->soup->vertex_count;
        int rc = add_mesh_file_triangle(r, n - 3, n - 2, n - 1);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

/* Whether an STL file is binary: its size matches the triangle count, or the header contains a
 * zero byte. */
static int is_binary_stl(const unsigned char *data, size_t size)
{
    return size >= 84 && (size == 84 + 50 * (size_t)read_little_endian_uint32(data + 80) ||
                          memchr(data, 0, 84) != NULL);
}

static int is_ascii_stl(const char *text)
{
    text += strspn(text, " \t\r\n");
    return strncasecmp(text, "solid", 5) == 0 &&
           (text[5] == '\0' || isspace((unsigned char)text[5]));
}

static int read_text_mesh(struct mesh_reader *r, const void *data, size_t size, int *stl)
{
    char *text = malloc(size + 1);
    if (!text) {
        return set_out_of_memory_error(r);
    }
    memcpy(text, data, size);
    text[size] = '\0';
    int rc;
    if (memchr(text, 0, size)) {
        rc =
            set_mesh_line_error(r, "neither an OBJ nor an STL file: the text contains a zero byte");
    } else {
        r->next = text + (strncmp(text, "\xEF\xBB\xBF", 3) ? 0 : 3); /* byte order mark */
        *stl = is_ascii_stl(r->next);
        rc = *stl ? read_ascii_stl(r) : read_obj(r);
    }
    free(text);
    return rc;
}

static int read_surface_of_tetrahedra(struct mesh_reader *r, const void *data, size_t size)
{
    struct tact_tets *tets;
    int rc = tact_tets_read(data, size, r->name, r->scale, &tets, r->err);
    if (rc) {
        return rc;
    }
    rc = tact_tets_surface(tets, r->soup);
    r->soup->tets = tets;
    if (rc) {
        tact_soup_free(r->soup);
        return set_out_of_memory_error(r);
    }
    return 0;
}

/* Refuses types of file that users often have in place of a mesh, with a message that says what to
 * do. */
static int refuse_unsupported_mesh_file(struct mesh_reader *r, const void *data, size_t size)
{
    static const struct {
        const char *leading_bytes_of_file_type, *message;
    } types[] = {
        {"glTF", "a GLB file cannot be read: convert it to OBJ by `tact import`"},
        {"ply\n", "a PLY file cannot be read: convert it to OBJ by `tact import`"},
        {"ply\r", "a PLY file cannot be read: convert it to OBJ by `tact import`"},
        {"version https://git-lfs",
         "this file is a Git LFS pointer, not a mesh: `git lfs pull` downloads the mesh"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const size_t length = strlen(types[i].leading_bytes_of_file_type);
        if (size >= length && !memcmp(data, types[i].leading_bytes_of_file_type, length)) {
            return set_mesh_line_error(r, types[i].message);
        }
    }
    return 0;
}

int tact_soup_read(const void *data, size_t size, const char *name, double scale,
                   struct tact_soup *out, struct tact_error *err)
{
    memset(out, 0, sizeof *out);
    struct mesh_reader r = {.name = name, .scale = scale, .soup = out, .err = err};
    if (tact_tets_recognise(data, size)) {
        return read_surface_of_tetrahedra(&r, data, size);
    }
    int stl = is_binary_stl(data, size), rc = refuse_unsupported_mesh_file(&r, data, size);
    if (rc) {
        return rc;
    }
    if (stl) {
        rc = read_binary_stl(&r, data, size);
    } else {
        rc = read_text_mesh(&r, data, size, &stl);
    }
    if (rc == 0 && out->triangle_count == 0) {
        r.line = 0;
        rc = set_mesh_line_error(&r, "the file has no triangles: expected an OBJ or STL mesh");
    }
    if (rc == 0 && stl) {
        rc = tact_mesh_merge_equal_vertices(out->vertices, &out->vertex_count, out->triangles,
                                            out->triangle_count);
        rc = rc ? set_out_of_memory_error(&r) : 0;
    }
    if (rc) {
        tact_soup_free(out);
    }
    return rc;
}

int tact_polygons_read(const void *data, size_t size, const char *name, double scale,
                       struct tact_polygons *out, struct tact_error *err)
{
    memset(out, 0, sizeof *out);
    struct mesh_reader r = {
        .name = name, .scale = scale, .soup = &out->soup, .polygons = out, .err = err};
    int stl = 0, rc = read_text_mesh(&r, data, size, &stl);
    if (rc == 0 && out->face_count == 0) {
        r.line = 0;
        rc = set_mesh_line_error(&r,
                                 "the file has no faces: expected an OBJ file with v and f lines");
    }
    if (rc) {
        tact_polygons_free(out);
    }
    return rc;
}

void tact_polygons_free(struct tact_polygons *polygons)
{
    tact_soup_free(&polygons->soup);
    free(polygons->corners);
    free(polygons->faces);
    memset(polygons, 0, sizeof *polygons);
}

void tact_soup_free(struct tact_soup *soup)
{
    free(soup->vertices);
    free(soup->triangles);
    tact_tets_free(soup->tets);
    memset(soup, 0, sizeof *soup);
}
