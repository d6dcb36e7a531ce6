#include "contact/pair/features/layer_internal.h"

#include <string.h>

static double compressed_polygon_area(const struct tact_patch *patch)
{
    double twice_area = 0.0;
    for (int i = 0; i < patch->corners; i++) {
        const double *p = patch->corner[i], *q = patch->corner[(i + 1) % patch->corners];
        const double *o = patch->corner[0];
        twice_area += (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
    }
    return 0.5 * twice_area;
}

double tact_compliant_layer_clip_compressed(struct tact_patch *patch, const double gap[3])
{
    double corners_of_compressed_part[TACT_PATCH_CORNERS + 1][2],
        whole_area = compressed_polygon_area(patch);
    int n = 0;
    for (int i = 0; i < patch->corners; i++) {
        const double *a = patch->corner[i], *b = patch->corner[(i + 1) % patch->corners];
        double of_a = gap[0] + gap[1] * a[0] + gap[2] * a[1];
        double of_b = gap[0] + gap[1] * b[0] + gap[2] * b[1];
        if (of_a < 0.0) {
            memcpy(corners_of_compressed_part[n++], a, sizeof corners_of_compressed_part[0]);
        }
        if ((of_a < 0.0) != (of_b < 0.0)) {
            double t = of_a / (of_a - of_b);
            corners_of_compressed_part[n][0] = a[0] + t * (b[0] - a[0]);
            corners_of_compressed_part[n++][1] = a[1] + t * (b[1] - a[1]);
        }
    }
    patch->corners = n < TACT_PATCH_CORNERS ? n : TACT_PATCH_CORNERS;
    memcpy(patch->corner, corners_of_compressed_part,
           (size_t)patch->corners * sizeof *corners_of_compressed_part);
    return n > 2 && whole_area > 0.0 ? compressed_polygon_area(patch) / whole_area : 0.0;
}

void tact_compliant_layer_set_wrench(struct tact_patch *patch, double stiffness)
{
    double square[2];
    tact_patch_mean_squares(patch, 0.0, square);
    patch->law = TACT_LAW_WRENCH;
    memset(patch->wrench, 0, sizeof patch->wrench);
    memset(patch->stiffness, 0, sizeof patch->stiffness);
    patch->wrench[0] = -stiffness * patch->gap[0];
    patch->wrench[4] = -stiffness * square[1] * patch->gap[2];
    patch->wrench[5] = stiffness * square[0] * patch->gap[1];
    patch->stiffness[0] = stiffness;
    patch->stiffness[28] = stiffness * square[1];
    patch->stiffness[35] = stiffness * square[0];
}
