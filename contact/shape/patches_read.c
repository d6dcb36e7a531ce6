/* Free-form surfaces of Wavefront OBJ files: Bezier and B-spline patches, rational or not. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "contact/shape/patches_internal.h"

enum {
    MAX_FILE_VERTICES = 1 << 20,  /* vertices of a file */
    MAX_STATEMENT_NUMBERS = 4096, /* of a statement */
    MAX_WORD_LENGTH = 64,
};

/* State of the reader of free-form surfaces. */
struct obj {
    const char *at, *end;
    int line;            /* of the statement */
    int lines;           /* read */
    double (*vertex)[4]; /* x, y, z, weight */
    int vertices, room;
    int is_bezier_surface, rational, degree[2];
    int is_surface_statement_open, surf_line, control_count, knot_count[2];
    double range[4];                      /* ranges of the surface's parameters u and v */
    double *control_point_vertex_numbers; /* indices of the control points' vertices, as numbers */
    double *knots[2];
    double *number; /* of the statement */
    int numbers;
    double scale;
    struct bezier_patch_list *list;
    struct tact_error *err;
};

static int report_statement_error(struct obj *o, const char *what)
{
    tact_error_at(o->err, NULL, o->line, 0, NULL);
    return tact_error_set(o->err, -EINVAL, "%s", what);
}

/* Reads the next word of the statement, which a backslash continues on the next line; 0 at its end.
 */
static size_t read_next_statement_word(struct obj *o, char word[MAX_WORD_LENGTH])
{
    size_t length = 0;
    while (o->at < o->end && *o->at != '\n') {
        if (*o->at == '\\' && o->at + 1 < o->end && (o->at[1] == '\n' || o->at[1] == '\r')) {
            o->at += 1 + (o->at[1] == '\r' && o->at + 2 < o->end);
            o->at++;
            o->lines++;
        } else if (*o->at == ' ' || *o->at == '\t' || *o->at == '\r') {
            o->at++;
        } else {
            break;
        }
    }
    while (o->at < o->end && !strchr(" \t\r\n", *o->at) && *o->at) {
        if (length + 1 < MAX_WORD_LENGTH) {
            word[length++] = *o->at;
        }
        o->at++;
    }
    word[length] = 0;
    return length;
}

/* Reads the rest of the statement as numbers; of a vertex reference v/vt/vn the first. */
static int read_statement_numbers(struct obj *o)
{
    char word[MAX_WORD_LENGTH], *end;
    o->numbers = 0;
    while (read_next_statement_word(o, word)) {
        double value = tact_number_read(word, &end);
        if (end == word || (*end && *end != '/') || !isfinite(value)) {
            return report_statement_error(o, "expected a number");
        }
        if (o->numbers == MAX_STATEMENT_NUMBERS) {
            return report_statement_error(o, "a statement of the file has more than 4096 numbers");
        }
        o->number[o->numbers++] = value;
    }
    return 0;
}

static int read_patch_vertex(struct obj *o)
{
    int rc = read_statement_numbers(o);
    if (rc) {
        return rc;
    }
    double w = o->numbers > 3 ? o->number[3] : 1.0;
    if ((o->numbers != 3 && o->numbers != 4) || !(w > 0.0)) {
        return report_statement_error(o, "expected x, y, z and, of a rational surface, a weight "
                                         "above 0 (1 where it is left out)");
    }
    if (o->vertices == MAX_FILE_VERTICES) {
        return report_statement_error(o, "more than 1048576 vertices");
    }
    if (o->vertices == o->room) {
        int room = o->room ? 2 * o->room : 256;
        double(*more)[4] = realloc(o->vertex, (size_t)room * sizeof *more);
        if (!more) {
            return -ENOMEM;
        }
        o->vertex = more;
        o->room = room;
    }
    for (int k = 0; k < 3; k++) {
        o->vertex[o->vertices][k] = o->scale * o->number[k];
        if (!(fabs(o->vertex[o->vertices][k]) <= TACT_MESH_MAX_COORDINATE)) {
            return report_statement_error(o, "a vertex coordinate beyond 1e9 m");
        }
    }
    o->vertex[o->vertices++][3] = w;
    return 0;
}

/* Reads a control point by its index, from 1; a negative index counts from the last point. */
static int read_surface_control_point(struct obj *o, double index, double out[4])
{
    double at = index < 0.0 ? o->vertices + index : index - 1.0;
    if (!(at >= 0.0 && at < o->vertices) || at != floor(at)) {
        return report_statement_error(o,
                                      "a control point refers to a vertex that is not in the file");
    }
    const double *v = o->vertex[(int)at], w = o->rational ? v[3] : 1.0;
    for (int k = 0; k < 3; k++) {
        out[k] = w * v[k];
    }
    out[3] = w;
    return 0;
}

static int read_surface_type(struct obj *o)
{
    char word[MAX_WORD_LENGTH];
    size_t length = read_next_statement_word(o, word);
    o->rational = length && !strcmp(word, "rat");
    length = o->rational ? read_next_statement_word(o, word) : length;
    o->is_bezier_surface = length && !strcmp(word, "bezier");
    if (!o->is_bezier_surface && strcmp(word, "bspline") != 0) {
        return report_statement_error(
            o, "a type of surface that is not read; expected bezier or bspline, "
               "after rat where it has weights");
    }
    return 0;
}

static int read_surface_degree(struct obj *o)
{
    int rc = read_statement_numbers(o);
    for (int k = 0; !rc && k < 2; k++) {
        double degree = k < o->numbers ? o->number[k] : 0.0;
        if (!(degree == 1.0 || degree == 2.0 || degree == 3.0)) {
            return report_statement_error(
                o, "expected the surface's degrees along u and v, each from 1 to 3");
        }
        o->degree[k] = (int)degree;
    }
    return rc;
}

static int begin_surface_statement(struct obj *o)
{
    int rc = read_statement_numbers(o);
    if (rc) {
        return rc;
    }
    if (o->is_surface_statement_open || o->numbers < 8) {
        return report_statement_error(
            o, "expected the ranges of u and v and the control points of one surface, "
               "after the end of the last one");
    }
    o->is_surface_statement_open = 1;
    o->surf_line = o->line;
    o->knot_count[0] = o->knot_count[1] = 0;
    memcpy(o->range, o->number, sizeof o->range);
    o->control_count = o->numbers - 4;
    memcpy(o->control_point_vertex_numbers, o->number + 4,
           (size_t)o->control_count * sizeof *o->control_point_vertex_numbers);
    return 0;
}

static int read_surface_knots(struct obj *o)
{
    char word[MAX_WORD_LENGTH];
    read_next_statement_word(o, word);
    int k = !strcmp(word, "u") ? 0 : !strcmp(word, "v") ? 1 : -1;
    if (k < 0 || !o->is_surface_statement_open) {
        return report_statement_error(o, "expected u or v after parm, between surf and end");
    }
    int rc = read_statement_numbers(o);
    memcpy(o->knots[k], o->number, (size_t)o->numbers * sizeof *o->number);
    o->knot_count[k] = o->numbers;
    for (int i = 1; !rc && i < o->numbers; i++) {
        if (!(o->number[i - 1] <= o->number[i])) {
            return report_statement_error(o, "the knots are degenerate: they decrease");
        }
    }
    return rc;
}

/* Fills the knots of a Bezier surface of several patches: each of its parameters `degree` times,
 * one more at the ends. */
static int fill_bezier_knots(struct obj *o, int k, double *out)
{
    int count = 0;
    for (int i = 0; i < o->knot_count[k]; i++) {
        int multiplicity_of_bezier_knot = o->degree[k] + (i == 0 || i + 1 == o->knot_count[k]);
        for (int m = 0; m < multiplicity_of_bezier_knot && count < MAX_STATEMENT_NUMBERS; m++) {
            out[count++] = o->knots[k][i];
        }
    }
    return count;
}

/* Checks the knots of a B-spline's direction; returns the number of control points along it, or a
 * negative errno. */
static int check_knots_and_count_control_points(struct obj *o, int k)
{
    const double *knots = o->knots[k];
    int n = o->knot_count[k] - o->degree[k] - 1, same = 1;
    if (n < o->degree[k] + 1) {
        return report_statement_error(o, "the surface has too few knots for its degree");
    }
    for (int i = 1; i < o->knot_count[k]; i++) {
        same = knots[i] > knots[i - 1] ? 1 : same + 1;
        if (same > o->degree[k] + 1) {
            return report_statement_error(
                o, "the knots are degenerate: one is repeated more than degree + 1 times");
        }
    }
    if (o->range[2 * k] != knots[o->degree[k]] || o->range[2 * k + 1] != knots[n]) {
        return report_statement_error(
            o, "the range of u or v is not that of its knots: trimmed surfaces cannot be read");
    }
    return n;
}

static int end_surface_statement(struct obj *o)
{
    int count[2], rc = 0;
    o->line = o->surf_line;
    if (!o->is_surface_statement_open || !o->degree[0] || !o->knot_count[0] || !o->knot_count[1]) {
        return report_statement_error(o,
                                      "expected cstype, deg, surf and parm of u and v before end");
    }
    o->is_surface_statement_open = 0;
    for (int k = 0; k < 2; k++) {
        if (o->is_bezier_surface) {
            int knots = fill_bezier_knots(o, k, o->number);
            memcpy(o->knots[k], o->number, (size_t)knots * sizeof *o->number);
            o->knot_count[k] = knots;
        }
        count[k] = check_knots_and_count_control_points(o, k);
        if (count[k] < 0) {
            return count[k];
        }
    }
    if (count[0] * count[1] != o->control_count) {
        return report_statement_error(
            o, "expected the number of control points that follows from knots and degrees");
    }
    double(*point)[4] = malloc((size_t)o->control_count * sizeof *point);
    rc = point ? 0 : -ENOMEM;
    for (int i = 0; !rc && i < o->control_count; i++) {
        rc = read_surface_control_point(o, o->control_point_vertex_numbers[i], point[i]);
    }
    rc = rc ? rc
            : tact_patches_add_spline(o->list, (const double(*)[4])point, count, o->degree,
                                      (const double *const *)o->knots, o->surf_line);
    free(point);
    return rc == -E2BIG ? report_statement_error(o, "the file has more than 2048 surface patches")
                        : rc;
}

/* The statements of free-form OBJ files that are read, and those that are refused, with the reason.
 */
static int read_surface_statement(struct obj *o, const char *word)
{
    static const struct {
        const char *word;
        int (*read)(struct obj *o);
    } known[] = {{"v", read_patch_vertex},     {"cstype", read_surface_type},
                 {"deg", read_surface_degree}, {"surf", begin_surface_statement},
                 {"parm", read_surface_knots}, {"end", end_surface_statement}};
    static const struct {
        const char *word, *why;
    } refused[] = {
        {"trim", "trimmed surfaces cannot be read"},
        {"hole", "trimmed surfaces cannot be read"},
        {"scrv", "trimmed surfaces cannot be read"},
        {"f", "a polygon in a file of patches; expected a shape of type mesh for it"},
        {"curv", "curves cannot be read, only surfaces"},
        {"bmat", "surfaces given by a basis matrix cannot be read"},
        {"bzp", "a superseded statement; expected cstype bezier and surf"},
        {"bsp", "a superseded statement; expected cstype bspline and surf"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!strcmp(word, known[i].word)) {
            return known[i].read(o);
        }
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (!strcmp(word, refused[i].word)) {
            return report_statement_error(o, refused[i].why);
        }
    }
    return 0; /* statements that are skipped: names, groups, materials, texture, display */
}

static int read_all_surface_statements(struct obj *o)
{
    int rc = 0;
    while (!rc && o->at < o->end) {
        char word[MAX_WORD_LENGTH];
        o->line = ++o->lines;
        if (read_next_statement_word(o, word) && word[0] != '#') {
            rc = read_surface_statement(o, word);
        }
        const char *next = memchr(o->at, '\n', (size_t)(o->end - o->at));
        o->at = next ? next + 1 : o->end;
    }
    o->line = o->is_surface_statement_open ? o->surf_line : 0;
    if (!rc && o->is_surface_statement_open) {
        return report_statement_error(o, "a surface without end");
    }
    return rc || o->list->count
               ? rc
               : report_statement_error(o, "no surfaces; expected surf statements");
}

int tact_patches_read(const char *text, size_t size, double scale, struct bezier_patch_list *list,
                      struct tact_error *err)
{
    struct obj o = {.at = text, .end = text + size, .scale = scale, .list = list, .err = err};
    o.number = malloc(4 * (size_t)MAX_STATEMENT_NUMBERS * sizeof *o.number);
    int rc = o.number ? 0 : -ENOMEM;
    if (!rc) {
        o.control_point_vertex_numbers = o.number + MAX_STATEMENT_NUMBERS;
        o.knots[0] = o.control_point_vertex_numbers + MAX_STATEMENT_NUMBERS;
        o.knots[1] = o.knots[0] + MAX_STATEMENT_NUMBERS;
        rc = read_all_surface_statements(&o);
    }
    free(o.number);
    free(o.vertex);
    return rc;
}
