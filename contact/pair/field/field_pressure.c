/* The polygons of a part of a contact surface with their pressures, for the pressure map. */
#include "contact/pair/field/field_model_internal.h"

static void report_polygon_pressure(const struct field_surface *of, const struct field_polygon *p,
                                    struct tact_pressure *map, struct tact_pressure_patch *patch)
{
    double corner[TACT_FIELD_CORNERS][3], pressure[TACT_FIELD_CORNERS];
    for (int k = 0; k < p->corners; k++) {
        pressure[k] = tact_field_pressure_law(p->power, tact_field_level(p, p->corner[k]));
        tact_pose_point(corner[k], of->frame, p->corner[k]);
    }
    tact_pressure_add_polygon(map, patch, corner, pressure, p->corners);
}

void tact_field_report_pressure(const struct tact_pair_query *q, const struct field_surface *of,
                                const struct field_part *part, const struct tact_patch *patch)
{
    if (!q->pressure) {
        return;
    }
    struct tact_pressure_patch *out =
        tact_pressure_add_patch(q->pressure, patch->center, patch->frame);
    if (out) {
        out->area = part->sums.area;
        out->load = part->sums.load;
    }
    for (size_t i = 0; i < of->count; i++) {
        if (part->group < 0 || of->polygon[i].group == part->group) {
            report_polygon_pressure(of, &of->polygon[i], q->pressure, out);
        }
    }
}
