/* A leaf of a mesh, placed for the rim. */
#include "contact/moments/moments_rim_internal.h"

void tact_rim_place_leaf(const struct tact_placed_mesh *body, uint32_t index,
                         float pair_units_per_metre, float margin, struct tact_rim_leaf *leaf)
{
    const struct tact_mesh_leaf *from = &body->mesh->wide->leaves[index];
    tact_d4 u[3], w[3], size = {0.0};
    tact_leaf_corners(body, from, leaf->p);
    for (int c = 0; c < 3; c++) {
        const tact_d4 *a = &leaf->p[0][c], *b = &leaf->p[1][c], *d = &leaf->p[2][c];
        const tact_f4 x = __builtin_convertvector(*a, tact_f4);
        const tact_f4 y = __builtin_convertvector(*b, tact_f4);
        const tact_f4 z = __builtin_convertvector(*d, tact_f4);
        tact_f4 lower = TACT_F4_MIN(y, z), upper = TACT_F4_MAX(y, z);
        lower = TACT_F4_MIN(x, lower);
        upper = TACT_F4_MAX(x, upper);
        leaf->lower[c] = pair_units_per_metre * lower - margin;
        leaf->upper[c] = pair_units_per_metre * upper + margin;
        u[c] = *b - *a;
        w[c] = *d - *a;
        tact_d4 longer = TACT_D4_MAX(TACT_D4_ABS(u[c]), TACT_D4_ABS(w[c]));
        size = TACT_D4_MAX(longer, size);
    }
    for (int c = 0; c < 3; c++) {
        int y = (c + 1) % 3, z = (c + 2) % 3;
        leaf->n[c] = u[y] * w[z] - u[z] * w[y];
    }
    leaf->size = size;
    leaf->first = from->first;
    leaf->count = from->count;
    leaf->index = index;
}

void tact_rim_leaf_bounds(const struct tact_rim_leaf *leaf, float low[3], float high[3])
{
    for (int c = 0; c < 3; c++) {
        const float *l = (const float *)&leaf->lower[c], *u = (const float *)&leaf->upper[c];
        float l0 = l[0] < l[1] ? l[0] : l[1], l1 = l[2] < l[3] ? l[2] : l[3];
        float u0 = u[0] > u[1] ? u[0] : u[1], u1 = u[2] > u[3] ? u[2] : u[3];
        low[c] = l0 < l1 ? l0 : l1;
        high[c] = u0 > u1 ? u0 : u1;
    }
}
