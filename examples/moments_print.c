/* The output of tact moments. */
#include "moments_print.h"
#include "text.h"

#include <jansson.h>
#include <stdio.h>

int moments_print_json(const struct measured_overlap *r, const struct tact_patch *patch,
                       const char *method, int resolution)
{
    const struct tact_moments *m = &r->moments;
    json_t *all = json_pack(
        "{s:b, s:f, s:o, s:o, s:o, s:o, s:{s:f, s:f, s:o}, s:s, s:s, s:f, s:I}", "overlap",
        r->status, "volume", m->volume, "centroid", text_json_numbers(m->centroid, 3),
        "second_moment", text_json_numbers(m->second, 6), "gradient",
        text_json_numbers(m->gradient, 6), "normal", text_json_numbers(patch->frame, 3), "patch",
        "depth", patch->depth, "area", patch->area, "semi", text_json_numbers(patch->semi, 2),
        "method", method, "device", r->device, "time_us", r->measuring_time_us, "pairs",
        (json_int_t)r->pairs);
    if (all && resolution) {
        json_object_set_new(
            all, "rays",
            json_pack("{s:i, s:I, s:I, s:I, s:o}", "resolution", resolution, "rays",
                      (json_int_t)r->rays.rays, "mended", (json_int_t)r->rays.corrected, "dropped",
                      (json_int_t)r->rays.dropped, "volume", text_json_numbers(r->rays.volume, 3)));
    }
    return text_print_json(all);
}

static void print_moments_row(const char *name, const char *unit, const double *v, int count)
{
    printf("  %-14s %-5s", name, unit);
    for (int i = 0; i < count; i++) {
        printf(" %13.6g", v[i]);
    }
    puts("");
}

void moments_print_table(const struct measured_overlap *r, const struct tact_patch *patch)
{
    const struct tact_moments *m = &r->moments;
    if (!r->status) {
        printf("no overlap (%s, %.1f us)\n", r->device, r->measuring_time_us);
        return;
    }
    printf("overlap (%s, %.1f us)\n", r->device, r->measuring_time_us);
    print_moments_row("volume", "m^3", &m->volume, 1);
    print_moments_row("centroid", "m", m->centroid, 3);
    print_moments_row("second moment", "m^5", m->second, 3);
    print_moments_row("  xy xz yz", "", m->second + 3, 3);
    print_moments_row("gradient", "m^2", m->gradient, 3);
    print_moments_row("  torque", "m^3", m->gradient + 3, 3);
    print_moments_row("normal", "", patch->frame, 3);
    print_moments_row("depth V/|g|", "m", &patch->depth, 1);
    print_moments_row("patch area", "m^2", &patch->area, 1);
    print_moments_row("  semi-axes", "m", patch->semi, 2);
    if (r->rays.rays) {
        print_moments_row("V along x y z", "m^3", r->rays.volume, 3);
        printf("  %zu rays, of which %zu met reversed triangles and were corrected, and %zu met "
               "holes and were ignored\n",
               r->rays.rays, r->rays.corrected, r->rays.dropped);
    }
}
