/* Surfaces of a text in OpenCASCADE's BRep format (its user guide, "BRep Format"), as gmsh writes
 * it: gmsh's interface evaluates surfaces and has no control points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "step_surface.h"

enum { MOST_SURFACES = 1 << 16, MOST_NESTED = 8, MOST_KNOTS = 1 << 16, MOST_POLES = 1 << 24 };

/* Kinds of surfaces and curves, by their numbers in the format. */
enum {
    SURFACE_PLANE = 1,
    SURFACE_CYLINDER,
    SURFACE_CONE,
    SURFACE_SPHERE,
    SURFACE_TORUS,
    SURFACE_EXTRUSION,
    SURFACE_REVOLUTION,
    SURFACE_BEZIER,
    SURFACE_BSPLINE,
    SURFACE_TRIMMED,
    SURFACE_OFFSET
};
enum {
    CURVE_LINE = 1,
    CURVE_CIRCLE,
    CURVE_ELLIPSE,
    CURVE_PARABOLA,
    CURVE_HYPERBOLA,
    CURVE_BEZIER,
    CURVE_BSPLINE,
    CURVE_TRIMMED,
    CURVE_OFFSET
};

/* Position in a BRep text, and whether the text was invalid so far. */
struct brep_reader {
    const char *at;
    bool is_brep_text_invalid;
};

static double read_brep_number(struct brep_reader *b)
{
    char *end;
    const double x = tact_number_read(b->at, &end);
    b->is_brep_text_invalid |= end == b->at || !isfinite(x) || fabs(x) > 1e100;
    b->at = end;
    return b->is_brep_text_invalid ? 0.0 : x;
}

static void read_brep_numbers(struct brep_reader *b, int count, double *out)
{
    for (int i = 0; i < count && !b->is_brep_text_invalid; i++) {
        const double x = read_brep_number(b);
        if (out) {
            out[i] = x;
        }
    }
}

static int read_bounded_integer(struct brep_reader *b, int least, int most)
{
    const double x = read_brep_number(b);
    b->is_brep_text_invalid |= !(x >= least && x <= most) || x != floor(x);
    return b->is_brep_text_invalid ? least : (int)x;
}

static void skip_brep_curve(struct brep_reader *b, int depth)
{
    static const int numbers[] = {[CURVE_LINE] = 6,
                                  [CURVE_CIRCLE] = 13,
                                  [CURVE_ELLIPSE] = 14,
                                  [CURVE_PARABOLA] = 13,
                                  [CURVE_HYPERBOLA] = 14};
    const int kind = read_bounded_integer(b, CURVE_LINE, CURVE_OFFSET);
    b->is_brep_text_invalid |= depth > MOST_NESTED;
    if (b->is_brep_text_invalid) {
        return;
    }
    if (kind <= CURVE_HYPERBOLA) {
        read_brep_numbers(b, numbers[kind], NULL);
    } else if (kind == CURVE_BEZIER) {
        const int is_rational_curve = read_bounded_integer(b, 0, 1);
        read_brep_numbers(
            b, (3 + is_rational_curve) * (read_bounded_integer(b, 1, STEP_MAX_DEGREE) + 1), NULL);
    } else if (kind == CURVE_BSPLINE) {
        const int is_rational_curve = read_bounded_integer(b, 0, 1);
        read_brep_numbers(b, 2, NULL);
        const int points = read_bounded_integer(b, 2, MOST_KNOTS),
                  knots = read_bounded_integer(b, 2, MOST_KNOTS);
        read_brep_numbers(b, (3 + is_rational_curve) * points + 2 * knots, NULL);
    } else {
        read_brep_numbers(b, kind == CURVE_TRIMMED ? 2 : 4, NULL);
        skip_brep_curve(b, depth + 1);
    }
}

/* Reads the poles (control points) of a Bezier or B-spline surface, row by row along u. */
static void read_control_points(struct brep_reader *b, struct step_surface *s)
{
    for (int i = 0; i < s->count[0] && !b->is_brep_text_invalid; i++) {
        for (int j = 0; j < s->count[1]; j++) {
            double *p = s->point[j * s->count[0] + i];
            read_brep_numbers(b, 3 + s->is_spline_rational, p);
            p[3] = s->is_spline_rational ? p[3] : 1.0;
            b->is_brep_text_invalid |= !(p[3] > 0.0);
        }
    }
}

static void read_bezier_surface(struct brep_reader *b, struct step_surface *s)
{
    int degree[2], count[2];
    s->is_spline_rational = read_bounded_integer(b, 0, 1);
    s->is_spline_rational |= read_bounded_integer(b, 0, 1);
    for (int k = 0; k < 2; k++) {
        degree[k] = read_bounded_integer(b, 1, STEP_MAX_DEGREE);
        count[k] = degree[k] + 1;
    }
    b->is_brep_text_invalid = b->is_brep_text_invalid || !step_spline_allocate(s, degree, count);
    if (b->is_brep_text_invalid) {
        return;
    }
    read_control_points(b, s);
    for (int k = 0; k < 2; k++) {
        for (int i = count[k]; i < s->knot_count[k]; i++) {
            s->knots[k][i] = 1.0;
        }
    }
}

/* Reads the knots of one direction, each with its multiplicity. Returns the multiplicity of the
 * first and last of a periodic direction, whose knots make one turn; else 0. */
static int read_brep_surface_knots(struct brep_reader *b, struct step_surface *s, int k,
                                   int distinct_knot_count, bool is_direction_periodic)
{
    int count = 0, first = 0, last = 0;
    for (int i = 0; i < distinct_knot_count && !b->is_brep_text_invalid; i++) {
        const double knot = read_brep_number(b);
        last = read_bounded_integer(b, 1, STEP_MAX_DEGREE + 1);
        first = i ? first : last;
        b->is_brep_text_invalid |=
            count + last > s->knot_count[k] || (count && !(knot > s->knots[k][count - 1]));
        for (int m = 0; m < last && !b->is_brep_text_invalid; m++) {
            s->knots[k][count++] = knot;
        }
    }
    b->is_brep_text_invalid |= is_direction_periodic ? count != s->count[k] + first ||
                                                           first != last || first > s->degree[k]
                                                     : count != s->knot_count[k];
    return is_direction_periodic && !b->is_brep_text_invalid ? first : 0;
}

static void read_bspline_surface(struct brep_reader *b, struct step_surface *s)
{
    int degree[2], count[2], distinct_knot_count[2], end_knot_multiplicity[2];
    s->is_spline_rational = read_bounded_integer(b, 0, 1);
    s->is_spline_rational |= read_bounded_integer(b, 0, 1);
    bool is_direction_periodic[2];
    for (int k = 0; k < 2; k++) {
        is_direction_periodic[k] = read_bounded_integer(b, 0, 1);
    }
    for (int k = 0; k < 2; k++) {
        degree[k] = read_bounded_integer(b, 1, STEP_MAX_DEGREE);
    }
    for (int k = 0; k < 2; k++) {
        count[k] = read_bounded_integer(b, 2, MOST_KNOTS);
    }
    for (int k = 0; k < 2; k++) {
        distinct_knot_count[k] = read_bounded_integer(b, 2, MOST_KNOTS);
    }
    b->is_brep_text_invalid |= (double)count[0] * count[1] > MOST_POLES;
    if (b->is_brep_text_invalid) {
        return;
    }
    if (!step_spline_allocate(s, degree, count)) {
        strcpy(s->name, "a B-spline too large");
        read_brep_numbers(b,
                          (3 + s->is_spline_rational) * count[0] * count[1] +
                              2 * (distinct_knot_count[0] + distinct_knot_count[1]),
                          NULL);
        return;
    }
    read_control_points(b, s);
    for (int k = 0; k < 2; k++) {
        end_knot_multiplicity[k] =
            read_brep_surface_knots(b, s, k, distinct_knot_count[k], is_direction_periodic[k]);
    }
    if (!b->is_brep_text_invalid && (is_direction_periodic[0] || is_direction_periodic[1]) &&
        !step_spline_make_periodic_clamped(s, end_knot_multiplicity)) {
        strcpy(s->name, "a periodic B-spline too large");
        step_spline_free(s);
    }
}

static void read_brep_surface(struct brep_reader *b, struct step_surface *s, int depth)
{
    static const struct {
        char name[24];
        int numbers; /* flag words of a record, before its curve or surface */
    } kinds[] = {[SURFACE_PLANE] = {"a plane", 12},
                 [SURFACE_CYLINDER] = {"a cylinder", 13},
                 [SURFACE_CONE] = {"a cone", 14},
                 [SURFACE_SPHERE] = {"a sphere", 13},
                 [SURFACE_TORUS] = {"a torus", 14},
                 [SURFACE_EXTRUSION] = {"an extrusion", 3},
                 [SURFACE_REVOLUTION] = {"a revolution", 6},
                 [SURFACE_BEZIER] = {"a Bezier surface", 0},
                 [SURFACE_BSPLINE] = {"a B-spline", 0},
                 [SURFACE_TRIMMED] = {"a trimmed surface", 4},
                 [SURFACE_OFFSET] = {"an offset surface", 1}};
    double number[14] = {0.0};
    const int kind = read_bounded_integer(b, SURFACE_PLANE, SURFACE_OFFSET);
    b->is_brep_text_invalid |= depth > MOST_NESTED;
    if (b->is_brep_text_invalid) {
        return;
    }
    snprintf(s->name, sizeof s->name, "%s", kinds[kind].name);
    read_brep_numbers(b, kinds[kind].numbers, number);
    if (kind == SURFACE_EXTRUSION || kind == SURFACE_REVOLUTION) {
        skip_brep_curve(b, depth + 1);
    } else if (kind == SURFACE_TRIMMED) { /* skips the bounds of a trimmed surface, as the face has
                                             its own */
        read_brep_surface(b, s, depth + 1);
    } else if (kind == SURFACE_OFFSET) {
        struct step_surface inner = {.is_spline_rational = false};
        read_brep_surface(b, &inner, depth + 1);
        step_spline_free(&inner);
    } else if (kind == SURFACE_BEZIER) {
        read_bezier_surface(b, s);
    } else if (kind == SURFACE_BSPLINE) {
        read_bspline_surface(b, s);
    } else if (kind == SURFACE_TORUS) {
        b->is_brep_text_invalid =
            b->is_brep_text_invalid || !step_spline_make_torus(s, number, number + 12);
    }
}

struct step_surface *step_surfaces_read(const char *text, int *count, const char **what)
{
    struct brep_reader b = {.at = strstr(text, "\nSurfaces ")};
    *count = 0;
    *what = "the file that gmsh wrote of the solid has no surfaces";
    if (!b.at) {
        return NULL;
    }
    b.at += strlen("\nSurfaces ");
    const int most = read_bounded_integer(&b, 1, MOST_SURFACES);
    struct step_surface *surfaces =
        b.is_brep_text_invalid ? NULL : calloc((size_t)most, sizeof *surfaces);
    while (surfaces && *count < most && !b.is_brep_text_invalid) {
        read_brep_surface(&b, &surfaces[(*count)++], 0);
    }
    if (surfaces && b.is_brep_text_invalid) {
        *what = "the file that gmsh wrote of the solid has an unknown format";
        step_surfaces_free(surfaces, *count);
        *count = 0;
        return NULL;
    }
    return surfaces;
}

void step_surfaces_free(struct step_surface *surfaces, int count)
{
    for (int i = 0; i < count; i++) {
        step_spline_free(&surfaces[i]);
    }
    free(surfaces);
}
