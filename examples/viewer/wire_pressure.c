/* The pressure of a patch as cells of a square grid in its plane. Its message has the same size for
 * any number of polygons. */
#include <math.h>
#include <string.h>
#include "contact/vec.h"
#include "wire.h"

/* The patch that is drawn: its polygons in the map, and its plane. */
struct patch_cells {
    const struct tact_pressure_patch *patch;
    const uint8_t *sides;
    const float (*corner)[4];
    double axes[2][3];       /* unit vectors in its plane */
    double low[2], scale[2]; /* map a coordinate along the axes to cells */
    uint8_t *cell;
};

/* Finds the patch of a contact by its centre. 0 where there is none. */
static int find_patch(const struct tact_pressure *map, const struct tact_contact *c,
                      struct patch_cells *out)
{
    out->sides = map->sides;
    out->corner = map->corner;
    for (uint32_t i = 0; i < map->patches; i++) {
        out->patch = &map->patch[i];
        if (!memcmp(out->patch->center, c->patch.center, sizeof c->patch.center)) {
            return out->patch->polygons > 0 && out->patch->peak > 0.0f;
        }
        for (uint32_t k = 0; k < out->patch->polygons; k++) {
            out->corner += *out->sides++;
        }
    }
    return 0;
}

static void project(const struct patch_cells *p, const float *corner, double out[2])
{
    const double at[3] = {(double)corner[0], (double)corner[1], (double)corner[2]};
    out[0] = (tact_v3_dot(p->axes[0], at) - p->low[0]) * p->scale[0];
    out[1] = (tact_v3_dot(p->axes[1], at) - p->low[1]) * p->scale[1];
}

/* Bounds of all corners in the plane. 0 where their area is zero. */
static int find_bounds(struct patch_cells *p, double size[2])
{
    double high[2] = {-INFINITY, -INFINITY}, low[2] = {INFINITY, INFINITY};
    const float(*corner)[4] = p->corner;
    p->low[0] = p->low[1] = 0.0;
    p->scale[0] = p->scale[1] = 1.0;
    for (uint32_t k = 0; k < p->patch->polygons; k++) {
        for (int i = 0; i < p->sides[k]; i++, corner++) {
            double at[2];
            project(p, *corner, at);
            for (int x = 0; x < 2; x++) {
                low[x] = fmin(low[x], at[x]);
                high[x] = fmax(high[x], at[x]);
            }
        }
    }
    for (int x = 0; x < 2; x++) {
        size[x] = high[x] - low[x];
        p->low[x] = low[x];
        p->scale[x] = WIRE_CELLS / size[x];
    }
    return size[0] > 0.0 && size[1] > 0.0 && isfinite(p->scale[0]) && isfinite(p->scale[1]);
}

/* Fills the cells whose middle is in a triangle. */
static void fill_triangle(const struct patch_cells *p, const float *const corner[3])
{
    double at[3][2], low[2], high[2];
    for (int i = 0; i < 3; i++) {
        project(p, corner[i], at[i]);
    }
    for (int x = 0; x < 2; x++) {
        low[x] = fmax(0.0, ceil(fmin(at[0][x], fmin(at[1][x], at[2][x])) - 0.5));
        high[x] = fmin(WIRE_CELLS - 1.0, floor(fmax(at[0][x], fmax(at[1][x], at[2][x])) - 0.5));
    }
    double area = (at[1][0] - at[0][0]) * (at[2][1] - at[0][1]) -
                  (at[2][0] - at[0][0]) * (at[1][1] - at[0][1]);
    for (int j = (int)low[1]; fabs(area) > 0.0 && j <= (int)high[1]; j++) {
        for (int i = (int)low[0]; i <= (int)high[0]; i++) {
            double share[3], pressure = 0.0, least = 0.0;
            for (int k = 0; k < 3; k++) {
                const double *a = at[(k + 1) % 3], *b = at[(k + 2) % 3];
                share[k] =
                    ((a[0] - i - 0.5) * (b[1] - j - 0.5) - (b[0] - i - 0.5) * (a[1] - j - 0.5)) /
                    area;
                pressure += share[k] * (double)corner[k][3];
                least = fmin(least, share[k]);
            }
            if (least >= -1e-9) {
                double value = 1.0 + 254.0 * pressure / (double)p->patch->peak;
                uint8_t *cell = &p->cell[j * WIRE_CELLS + i];
                uint8_t level = (uint8_t)fmin(fmax(value + 0.5, 1.0), 255.0);
                *cell = level > *cell ? level : *cell;
            }
        }
    }
}

float wire_pressure(const struct tact_pressure *map, const struct tact_contact *c,
                    struct wire_pressure *out)
{
    struct patch_cells p = {.cell = out->cell};
    double size[2];
    if (!map || !find_patch(map, c, &p)) {
        return 0.0f;
    }
    tact_v3_copy(p.axes[0], c->patch.frame + 3);
    tact_v3_copy(p.axes[1], c->patch.frame + 6);
    if (!find_bounds(&p, size)) {
        return 0.0f;
    }
    memset(out, 0, sizeof *out);
    const float(*corner)[4] = p.corner;
    for (uint32_t k = 0; k < p.patch->polygons; corner += p.sides[k], k++) {
        for (int i = 1; i + 1 < p.sides[k]; i++) {
            const float *const triangle[3] = {corner[0], corner[i], corner[i + 1]};
            fill_triangle(&p, triangle);
        }
    }
    for (int x = 0; x < 3; x++) {
        out->corner[x] =
            (float)(p.patch->center[x] + p.low[0] * p.axes[0][x] + p.low[1] * p.axes[1][x]);
        out->u[x] = (float)(size[0] * p.axes[0][x]);
        out->v[x] = (float)(size[1] * p.axes[1][x]);
    }
    out->load = (float)p.patch->load;
    return p.patch->peak;
}
