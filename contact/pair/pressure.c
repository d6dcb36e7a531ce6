#include "contact/pair/pressure.h"

#include <string.h>
#include "contact/vec.h"

void tact_pressure_clear(struct tact_pressure *map)
{
    map->patches = map->polygons = map->corners = 0;
    map->left_out = map->patches_left_out = 0;
}

struct tact_pressure_patch *tact_pressure_add_patch(struct tact_pressure *map,
                                                    const double center[3], const double normal[3])
{
    if (map->patches == TACT_PRESSURE_PATCHES) {
        map->patches_left_out++;
        return NULL;
    }
    struct tact_pressure_patch *patch = &map->patch[map->patches++];
    memset(patch, 0, sizeof *patch);
    tact_v3_copy(patch->center, center);
    tact_v3_copy(patch->normal, normal);
    return patch;
}

void tact_pressure_add_polygon(struct tact_pressure *map, struct tact_pressure_patch *patch,
                               const double (*corner)[3], const double *pressure, int count)
{
    for (int k = 0; patch && k < count; k++) {
        patch->peak = (float)tact_max(patch->peak, pressure[k]);
    }
    if (!patch || map->polygons == TACT_PRESSURE_POLYGONS || count > UINT8_MAX ||
        map->corners + (uint32_t)count > TACT_PRESSURE_CORNERS) {
        map->left_out++;
        if (patch) {
            patch->left_out++;
        }
        return;
    }
    for (int k = 0; k < count; k++) {
        float *out = map->corner[map->corners++];
        for (int i = 0; i < 3; i++) {
            out[i] = (float)(corner[k][i] - patch->center[i]);
        }
        out[3] = (float)tact_max(pressure[k], 0.0);
    }
    map->sides[map->polygons++] = (uint8_t)count;
    patch->polygons++;
}
