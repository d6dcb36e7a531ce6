/* The pressure of a patch as cells of a square grid in its plane. Its message has the same size for
 * any number of polygons. */
#include <math.h>
#include <string.h>
#include "contact/vec.h"
#include "wire.h"

/* The pressure patch that is drawn: its polygons in the pressure map, and its plane. */
struct drawn_pressure_patch {
    const struct tact_pressure_patch *patch;
    const uint8_t *sides;
    const float (*corner)[4];
    double axes[2][3];       /* unit vectors in the patch's plane */
    double low[2], scale[2]; /* map a coordinate along the axes to cells */
    uint8_t *cell;
};

/* Finds the patch of a contact by its centre. 0 where there is none that has a pressure. */
static int find_patch_of_contact(const struct tact_pressure *map, const struct tact_contact *c,
                                 struct drawn_pressure_patch *out)
{
    out->sides = map->sides;
    out->corner = map->corner;
    for (uint32_t i = 0; i < map->patches; i++) {
        out->patch = &map->patch[i];
        if (!memcmp(out->patch->center, c->patch.center, sizeof c->patch.center)) {
            return out->patch->peak > 0.0f;
        }
        for (uint32_t k = 0; k < out->patch->polygons; k++) {
            out->corner += *out->sides++;
        }
    }
    return 0;
}

static void project_corner_to_patch_plane(const struct drawn_pressure_patch *p, const float *corner,
                                          double out[2])
{
    const double at[3] = {(double)corner[0], (double)corner[1], (double)corner[2]};
    out[0] = (tact_v3_dot(p->axes[0], at) - p->low[0]) * p->scale[0];
    out[1] = (tact_v3_dot(p->axes[1], at) - p->low[1]) * p->scale[1];
}

/* Bounds of all corners in the plane. 0 where their area is zero. */
static int find_patch_bounds(struct drawn_pressure_patch *p, double size[2])
{
    double high[2] = {-INFINITY, -INFINITY}, low[2] = {INFINITY, INFINITY};
    const float(*corner)[4] = p->corner;
    p->low[0] = p->low[1] = 0.0;
    p->scale[0] = p->scale[1] = 1.0;
    for (uint32_t k = 0; k < p->patch->polygons; k++) {
        for (int i = 0; i < p->sides[k]; i++, corner++) {
            double at[2];
            project_corner_to_patch_plane(p, *corner, at);
            for (int x = 0; x < 2; x++) {
                low[x] = tact_min(low[x], at[x]);
                high[x] = tact_max(high[x], at[x]);
            }
        }
    }
    for (int x = 0; x < 2; x++) {
        size[x] = high[x] - low[x];
        p->low[x] = low[x];
        p->scale[x] = WIRE_PRESSURE_CELLS_PER_SIDE / size[x];
    }
    return size[0] > 0.0 && size[1] > 0.0 && isfinite(p->scale[0]) && isfinite(p->scale[1]);
}

/* A polygon in cells, and its pressure at (x, y): base + along[0] x + along[1] y. */
struct pressure_polygon_in_cells {
    double at[UINT8_MAX][2], low[2], high[2], base, along[2];
    int sides;
};

/* Projects a polygon and computes its bounds [cells]. */
static void project_polygon(const struct drawn_pressure_patch *p, const float (*corner)[4],
                            int sides, struct pressure_polygon_in_cells *out)
{
    out->sides = sides;
    out->low[0] = out->low[1] = out->high[0] = out->high[1] = 0.0;
    for (int i = 0; i < sides; i++) {
        project_corner_to_patch_plane(p, corner[i], out->at[i]);
        for (int x = 0; x < 2; x++) {
            out->low[x] = i ? tact_min(out->low[x], out->at[i][x]) : out->at[i][x];
            out->high[x] = i ? tact_max(out->high[x], out->at[i][x]) : out->at[i][x];
        }
    }
}

/* Fits the linear pressure of a polygon to the largest triangle at its first corner; returns 0
 * where the polygon is edge-on. */
static int fit_linear_pressure(const float (*corner)[4], struct pressure_polygon_in_cells *out)
{
    double largest = 0.0;
    const double *o = out->at[0];
    for (int i = 1; i + 1 < out->sides; i++) {
        const double *a = out->at[i], *b = out->at[i + 1];
        double u[2] = {a[0] - o[0], a[1] - o[1]}, v[2] = {b[0] - o[0], b[1] - o[1]};
        double area = u[0] * v[1] - v[0] * u[1];
        if (fabs(area) > fabs(largest)) {
            double du = (double)(corner[i][3] - corner[0][3]);
            double dv = (double)(corner[i + 1][3] - corner[0][3]);
            largest = area;
            out->along[0] = (du * v[1] - dv * u[1]) / area;
            out->along[1] = (dv * u[0] - du * v[0]) / area;
        }
    }
    out->base = (double)corner[0][3] - out->along[0] * o[0] - out->along[1] * o[1];
    return fabs(largest) > 1e-12;
}

/* The first cell whose middle is not before x, at least 0. */
static int find_first_cell_after(double x)
{
    int i = x > 0.5 ? (int)(x - 0.5) : 0;
    return i + 0.5 < x ? i + 1 : i;
}

/* Whether a polygon contains the middle of a cell in some row and column. */
static int contains_cell_centre(const struct pressure_polygon_in_cells *f)
{
    return find_first_cell_after(f->low[0]) + 0.5 <= f->high[0] &&
           find_first_cell_after(f->low[1]) + 0.5 <= f->high[1];
}

/* Finds where the middle line of a row enters and leaves a convex polygon. Returns 0 where it does
 * not cross it. */
static int find_row_span(const struct pressure_polygon_in_cells *f, double y, double span[2])
{
    int crossings = 0;
    for (int i = 0; i < f->sides; i++) {
        const double *a = f->at[i], *b = f->at[i + 1 < f->sides ? i + 1 : 0];
        if ((a[1] <= y) != (b[1] <= y)) {
            double x = a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]);
            span[0] = crossings ? tact_min(span[0], x) : x;
            span[1] = crossings ? tact_max(span[1], x) : x;
            crossings++;
        }
    }
    return crossings > 0;
}

/* Fills the cells whose middle is in a polygon. */
static void rasterise_pressure_polygon(const struct drawn_pressure_patch *p,
                                       const struct pressure_polygon_in_cells *f)
{
    double span[2], scale = 254.0 / (double)p->patch->peak;
    for (int j = find_first_cell_after(f->low[1]);
         j < WIRE_PRESSURE_CELLS_PER_SIDE && j + 0.5 <= f->high[1]; j++) {
        if (!find_row_span(f, j + 0.5, span)) {
            continue;
        }
        for (int i = find_first_cell_after(span[0]);
             i < WIRE_PRESSURE_CELLS_PER_SIDE && i + 0.5 <= span[1]; i++) {
            double pressure = f->base + f->along[0] * (i + 0.5) + f->along[1] * (j + 0.5);
            double value = tact_min(tact_max(1.0 + scale * pressure, 1.0), 255.0);
            uint8_t *cell = &p->cell[j * WIRE_PRESSURE_CELLS_PER_SIDE + i],
                    level = (uint8_t)(value + 0.5);
            *cell = level > *cell ? level : *cell;
        }
    }
}

float wire_pressure(const struct tact_pressure *map, const struct tact_contact *c,
                    struct wire_pressure *out)
{
    struct drawn_pressure_patch p = {.cell = out->cell};
    double size[2];
    if (!map || !find_patch_of_contact(map, c, &p)) {
        return 0.0f;
    }
    tact_v3_copy(p.axes[0], c->patch.frame + 3);
    tact_v3_copy(p.axes[1], c->patch.frame + 6);
    memset(out, 0, sizeof *out);
    out->load = (float)p.patch->load;
    if (!p.patch->polygons || !find_patch_bounds(&p, size)) {
        return p.patch->peak;
    }
    const float(*corner)[4] = p.corner;
    for (uint32_t k = 0; k < p.patch->polygons; corner += p.sides[k], k++) {
        struct pressure_polygon_in_cells flat;
        project_polygon(&p, corner, p.sides[k], &flat);
        if (contains_cell_centre(&flat) && fit_linear_pressure(corner, &flat)) {
            rasterise_pressure_polygon(&p, &flat);
        }
    }
    for (int x = 0; x < 3; x++) {
        out->corner[x] =
            (float)(p.patch->center[x] + p.low[0] * p.axes[0][x] + p.low[1] * p.axes[1][x]);
        out->u[x] = (float)(size[0] * p.axes[0][x]);
        out->v[x] = (float)(size[1] * p.axes[1][x]);
    }
    return p.patch->peak;
}
