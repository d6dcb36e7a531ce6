/* Draws the pressure of a patch in the page of tact plot, as coloured polygons. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/vec.h"
#include "picture.h"
#include "plot.h"

int plot_pressure_store(const struct plot_session *s, struct plot_pair *pair,
                        const struct tact_patch *patch)
{
    const struct tact_pressure *map = s->pressure;
    pair->peak = pair->load = 0.0;
    pair->first = -1;
    pair->has_pressure_polygons = 0;
    for (uint32_t i = 0; i < map->patches; i++) {
        if ((int)map->patch[i].pair == s->scene_log.pairs[pair->pair].pair) {
            pair->peak = fmax(pair->peak, (double)map->patch[i].peak);
            pair->load += map->patch[i].load;
            pair->first = pair->first < 0 ? (int)i : pair->first;
            pair->has_pressure_polygons |= map->patch[i].polygons > 0;
        }
    }
    if (!(pair->peak > 0.0)) {
        return 0;
    }
    pair->pressure = pair->pressure ? pair->pressure : malloc(sizeof *pair->pressure);
    if (!pair->pressure) {
        return -ENOMEM;
    }
    memcpy(pair->pressure, map, sizeof *map);
    tact_v3_copy(pair->patch_frame, patch->center);
    memcpy(pair->patch_frame + 3, patch->frame + 3, 6 * sizeof *pair->patch_frame);
    return 0;
}

static void write_pressure_polygon(FILE *to, const struct plot_pair *pair, const double *center,
                                   const float (*corner)[4], int sides, double x0, double scale,
                                   int number)
{
    double mean = 0.0, first[2] = {0.0, 0.0};
    uint8_t colour[3];
    fprintf(to, "set object %d polygon from ", number);
    for (int i = 0; i < sides; i++) {
        double at[3];
        for (int k = 0; k < 3; k++) {
            at[k] = center[k] - pair->patch_frame[k] + (double)corner[i][k];
        }
        double x = x0 + scale * tact_v3_dot(pair->patch_frame + 3, at);
        double y = scale * tact_v3_dot(pair->patch_frame + 6, at);
        mean += (double)corner[i][3] / sides;
        first[0] = i ? first[0] : x;
        first[1] = i ? first[1] : y;
        fprintf(to, "%.5g,%.5g to ", x, y);
    }
    picture_pressure_colour(mean / pair->peak, colour);
    fprintf(to, "%.5g,%.5g behind fs solid noborder fc rgb '#%02x%02x%02x'\n", first[0], first[1],
            colour[0], colour[1], colour[2]);
}

void plot_pressure(FILE *to, const struct plot_pair *pair, double x0, double scale,
                   int *gnuplot_object_count)
{
    const struct tact_pressure *map = pair->pressure;
    if (!(pair->peak > 0.0)) {
        return;
    }
    const uint8_t *sides = map->sides;
    const float(*corner)[4] = map->corner;
    for (uint32_t i = 0; i < map->patches; i++) {
        const struct tact_pressure_patch *patch = &map->patch[i];
        for (uint32_t k = 0; k < patch->polygons; k++) {
            if (patch->pair == map->patch[pair->first].pair) {
                write_pressure_polygon(to, pair, patch->center, corner, *sides, x0, scale,
                                       ++*gnuplot_object_count);
            }
            corner += *sides++;
        }
    }
}

void plot_pressure_remove_objects(FILE *to, int gnuplot_object_count)
{
    if (gnuplot_object_count) {
        fprintf(to, "unset for [i=1:%d] object i\n", gnuplot_object_count);
    }
}
