/* Moments by rays: the lattices of rays, and the sums along the rays. */
#include "contact/compare/moments_rays.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contact/moments/moments_internal.h"
#include "contact/compare/rays_internal.h"

enum { MOST_RESOLUTION = 2048, COARSE = 48, NARROWINGS = 4 };

/* Two crossings along a ray coincide where they differ by less than this fraction of the bounds'
 * size. */
static const double COINCIDENT_HITS_TOLERANCE = 1e-13;

struct tact_rays_body tact_rays_body(const struct tact_shape *shape, const struct tact_pose *pose)
{
    struct tact_rays_body body = {.kind = shape->kind, .radius = shape->size[0], .pose = *pose};
    if (shape->kind != TACT_SHAPE_SPHERE && shape->kind != TACT_SHAPE_HALFSPACE && shape->mesh) {
        body.vertices = shape->mesh->vertices;
        body.triangles = shape->mesh->triangles;
        body.triangle_count = shape->mesh->triangle_count;
    }
    return body;
}

struct bounding_box {
    double lower[3], upper[3];
};

static void extend_box_to_point(struct bounding_box *b, const double p[3])
{
    for (int k = 0; k < 3; k++) {
        b->lower[k] = tact_min(b->lower[k], p[k]);
        b->upper[k] = tact_max(b->upper[k], p[k]);
    }
}

static const struct bounding_box EMPTY_BOUNDING_BOX = {{INFINITY, INFINITY, INFINITY},
                                                       {-INFINITY, -INFINITY, -INFINITY}};

/* Bounding box of a body in the world; that of a half-space is infinite. */
static struct bounding_box compute_world_bounding_box(const struct tact_rays_body *body)
{
    struct bounding_box b = EMPTY_BOUNDING_BOX;
    double r[9], p[3];
    tact_quat_to_m3(r, body->pose.quat_wxyz);
    for (size_t i = 0; i < 3 * body->triangle_count; i++) {
        tact_m3_mul_v3(p, r, body->vertices + 3 * (size_t)body->triangles[i]);
        tact_v3_add(p, p, body->pose.position);
        extend_box_to_point(&b, p);
    }
    for (int k = 0; k < 3 && body->kind == TACT_SHAPE_SPHERE; k++) {
        b.lower[k] = body->pose.position[k] - body->radius;
        b.upper[k] = body->pose.position[k] + body->radius;
    }
    for (int k = 0; k < 3 && body->kind == TACT_SHAPE_HALFSPACE; k++) {
        b.lower[k] = -INFINITY;
        b.upper[k] = INFINITY;
    }
    return b;
}

/* Sums over the rays of one direction; moments are about the centre of the bounds. */
struct ray_direction_sums {
    struct tact_moment_sums overlap_moment_sums;
    struct bounding_box
        overlap_bounding_box; /* bounds of the ray intervals that are inside both solids */
    size_t rays, corrected, dropped;
};

/* How many times a ray crosses one body's surface, and by which rule the inside is found. */
struct surface_crossing_counts_of_ray {
    int count, sum, parity;
};

static int is_inside_by_crossings(const struct surface_crossing_counts_of_ray *r,
                                  int ray_crossing_count, int winding_number)
{
    return r->parity ? ray_crossing_count & 1 : winding_number != 0;
}

/* Adds the interval of a ray from z0 to z1 that is inside both solids, in the middle of a cell of
 * sizes hu and hv. */
static void add_ray_interval_sums(struct ray_direction_sums *d, const struct tact_rays_lattice *l,
                                  const double overlap_bounds_centre[3], double u, double v,
                                  double z0, double z1)
{
    static const int packed_index_of_second_moment[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    struct tact_moment_sums *s = &d->overlap_moment_sums;
    double hu = l->step[l->u], hv = l->step[l->v], interval_volume = hu * hv * (z1 - z0), p[3];
    p[l->u] = u - overlap_bounds_centre[l->u];
    p[l->v] = v - overlap_bounds_centre[l->v];
    p[l->axis] = 0.5 * (z0 + z1) - overlap_bounds_centre[l->axis];
    s->volume += interval_volume;
    for (int i = 0; i < 3; i++) {
        s->first[i] += interval_volume * p[i];
        for (int j = i; j < 3; j++) {
            s->second[packed_index_of_second_moment[i][j]] += interval_volume * p[i] * p[j];
        }
    }
    s->second[l->u] += interval_volume * hu * hu / 12.0;
    s->second[l->v] += interval_volume * hv * hv / 12.0;
    s->second[l->axis] += interval_volume * (z1 - z0) * (z1 - z0) / 12.0;
    double corner[3];
    for (int end = 0; end < 4; end++) {
        corner[l->u] = u + (end & 1 ? 0.5 : -0.5) * hu;
        corner[l->v] = v + (end & 1 ? 0.5 : -0.5) * hv;
        corner[l->axis] = end & 2 ? z1 : z0;
        extend_box_to_point(&d->overlap_bounding_box, corner);
    }
}

/* Adds to the gradient a crossing of A's surface by a ray. sign: +1 where the ray enters A, -1
 * where it leaves, times the fraction of the crossing that is inside B. */
static void add_surface_crossing_sums(struct ray_direction_sums *d,
                                      const struct tact_rays_lattice *l,
                                      const double overlap_bounds_centre[3], double u, double v,
                                      double z, double sign)
{
    double n[3] = {0.0}, p[3], moment[3];
    n[l->axis] = -sign * l->step[l->u] * l->step[l->v];
    p[l->u] = u - overlap_bounds_centre[l->u];
    p[l->v] = v - overlap_bounds_centre[l->v];
    p[l->axis] = z - overlap_bounds_centre[l->axis];
    tact_v3_cross(moment, p, n);
    tact_v3_add(d->overlap_moment_sums.gradient, d->overlap_moment_sums.gradient, n);
    tact_v3_add(d->overlap_moment_sums.torque, d->overlap_moment_sums.torque, moment);
}

/* Adds the sums along one ray, over its crossings in order. Coincident crossings are processed
 * together: a face of A in a face of B counts half. */
static void add_overlap_sums_along_ray(struct ray_direction_sums *d,
                                       const struct tact_rays_lattice *l,
                                       const double overlap_bounds_centre[3],
                                       const struct tact_rays_hit *hit, size_t count,
                                       const struct surface_crossing_counts_of_ray crossings[2])
{
    double u = tact_rays_cell_middle(l, l->u, (int)hit->cell / l->rays_per_side);
    double v = tact_rays_cell_middle(l, l->v, (int)hit->cell % l->rays_per_side);
    double coincident_hits_distance =
               COINCIDENT_HITS_TOLERANCE *
               (fabs(overlap_bounds_centre[l->axis]) + l->rays_per_side * l->step[l->axis]),
           from = 0.0;
    int ray_crossing_count[2] = {0}, winding_number[2] = {0}, in[2] = {0}, was[2];
    for (size_t i = 0; i < count;) {
        double z = hit[i].depth;
        if (in[0] && in[1] && z > from) {
            add_ray_interval_sums(d, l, overlap_bounds_centre, u, v, from, z);
        }
        for (int k = 0; k < 2; k++) {
            was[k] = in[k];
        }
        while (i < count && !(hit[i].depth > z + coincident_hits_distance)) {
            ray_crossing_count[hit[i].body]++;
            winding_number[hit[i].body] += hit[i].sign_of_surface_entry;
            i++;
        }
        for (int k = 0; k < 2; k++) {
            in[k] = is_inside_by_crossings(&crossings[k], ray_crossing_count[k], winding_number[k]);
        }
        if (in[0] != was[0] && (in[1] || was[1])) {
            add_surface_crossing_sums(d, l, overlap_bounds_centre, u, v, z,
                                      0.5 * (in[0] - was[0]) * (in[1] + was[1]));
        }
        from = z;
    }
}

/* Adds the sums along all rays of a lattice. */
static void add_overlap_sums_along_all_rays(struct ray_direction_sums *d,
                                            const struct tact_rays_lattice *l,
                                            const double overlap_bounds_centre[3],
                                            const struct tact_rays_hit_list *ray_hits)
{
    for (size_t i = 0; i < ray_hits->count;) {
        struct surface_crossing_counts_of_ray crossings[2] = {{0}};
        size_t end = i;
        while (end < ray_hits->count && ray_hits->hit[end].cell == ray_hits->hit[i].cell) {
            crossings[ray_hits->hit[end].body].count++;
            crossings[ray_hits->hit[end].body].sum += ray_hits->hit[end].sign_of_surface_entry;
            end++;
        }
        if (crossings[0].count && crossings[1].count) {
            int odd = (crossings[0].count | crossings[1].count) & 1;
            crossings[0].parity = crossings[0].sum != 0;
            crossings[1].parity = crossings[1].sum != 0;
            d->rays++;
            d->dropped += (size_t)odd;
            d->corrected += !odd && (crossings[0].parity || crossings[1].parity);
            if (!odd) {
                add_overlap_sums_along_ray(d, l, overlap_bounds_centre, ray_hits->hit + i, end - i,
                                           crossings);
            }
        }
        i = end;
    }
}

/* Casts rays along x, y and z through the bounds. Returns 0 or -ENOMEM. */
static int cast_three_ray_directions(const struct tact_rays_body *a, const struct tact_rays_body *b,
                                     const struct bounding_box *in, int rays_per_side,
                                     struct ray_direction_sums direction[3])
{
    struct tact_rays_hit_list ray_hits = {0};
    double overlap_bounds_centre[3];
    for (int k = 0; k < 3; k++) {
        overlap_bounds_centre[k] = 0.5 * (in->lower[k] + in->upper[k]);
    }
    for (int k = 0; k < 3; k++) {
        struct tact_rays_lattice l = {
            .axis = k, .u = (k + 1) % 3, .v = (k + 2) % 3, .rays_per_side = rays_per_side};
        for (int i = 0; i < 3; i++) {
            l.lower[i] = in->lower[i];
            l.step[i] = (in->upper[i] - in->lower[i]) / rays_per_side;
        }
        memset(&direction[k], 0, sizeof direction[k]);
        direction[k].overlap_bounding_box = EMPTY_BOUNDING_BOX;
        ray_hits.count = 0;
        tact_rays_add_hits_of_body(&l, a, 0, &ray_hits);
        tact_rays_add_hits_of_body(&l, b, 1, &ray_hits);
        tact_rays_sort_hits(&ray_hits);
        add_overlap_sums_along_all_rays(&direction[k], &l, overlap_bounds_centre, &ray_hits);
    }
    free(ray_hits.hit);
    return ray_hits.has_memory_run_out ? -ENOMEM : 0;
}

/* Shrinks the bounds to the region found inside both solids, plus one cell; returns 1 where they
 * are much smaller than before. */
static int shrink_bounding_box_to_overlap(struct bounding_box *in, int rays_per_side,
                                          const struct ray_direction_sums direction[3])
{
    struct bounding_box overlap_bounding_box = EMPTY_BOUNDING_BOX, before = *in;
    for (int k = 0; k < 3; k++) {
        extend_box_to_point(&overlap_bounding_box, direction[k].overlap_bounding_box.lower);
        extend_box_to_point(&overlap_bounding_box, direction[k].overlap_bounding_box.upper);
    }
    double shrunk_to_previous_box_volume_ratio = 1.0;
    for (int k = 0; k < 3; k++) {
        double ray_lattice_cell_size = (before.upper[k] - before.lower[k]) / rays_per_side;
        in->lower[k] =
            tact_max(before.lower[k], overlap_bounding_box.lower[k] - ray_lattice_cell_size);
        in->upper[k] =
            tact_min(before.upper[k], overlap_bounding_box.upper[k] + ray_lattice_cell_size);
        shrunk_to_previous_box_volume_ratio *=
            (in->upper[k] - in->lower[k]) / (before.upper[k] - before.lower[k]);
    }
    return shrunk_to_previous_box_volume_ratio < 0.5;
}

/* Combines the sums of the three ray directions. Dropped rays count as the mean of the others of
 * their direction, and a direction is weighted by its fraction of valid rays. */
static void combine_ray_directions(const struct ray_direction_sums direction[3],
                                   struct tact_moment_sums *overlap_moment_sums)
{
    double valid_ray_fraction_sum = 0.0;
    memset(overlap_moment_sums, 0, sizeof *overlap_moment_sums);
    for (int k = 0; k < 3; k++) {
        const struct ray_direction_sums *d = &direction[k];
        double valid_ray_fraction =
            d->rays ? (double)(d->rays - d->dropped) / (double)d->rays : 0.0;
        valid_ray_fraction_sum += valid_ray_fraction;
        overlap_moment_sums->volume += d->overlap_moment_sums.volume;
        for (int i = 0; i < 3; i++) {
            overlap_moment_sums->first[i] += d->overlap_moment_sums.first[i];
            overlap_moment_sums->second[i] += d->overlap_moment_sums.second[i];
            overlap_moment_sums->second[3 + i] += d->overlap_moment_sums.second[3 + i];
            overlap_moment_sums->gradient[i] += d->overlap_moment_sums.gradient[i];
            overlap_moment_sums->torque[i] += d->overlap_moment_sums.torque[i];
        }
    }
    double scale = valid_ray_fraction_sum > 0.0 ? 1.0 / valid_ray_fraction_sum : 0.0;
    overlap_moment_sums->volume *= scale;
    for (int i = 0; i < 3; i++) {
        overlap_moment_sums->first[i] *= scale;
        overlap_moment_sums->second[i] *= scale;
        overlap_moment_sums->second[3 + i] *= scale;
    }
    overlap_moment_sums->volume_term_magnitude = overlap_moment_sums->volume;
}

/* Intersection of the bounding boxes of two bodies, slightly enlarged; returns 0 where it is
 * empty. */
static int compute_common_bounding_box(const struct tact_rays_body *a,
                                       const struct tact_rays_body *b, struct bounding_box *in)
{
    struct bounding_box bounding_box_a = compute_world_bounding_box(a),
                        bounding_box_b = compute_world_bounding_box(b);
    for (int k = 0; k < 3; k++) {
        in->lower[k] = tact_max(bounding_box_a.lower[k], bounding_box_b.lower[k]);
        in->upper[k] = tact_min(bounding_box_a.upper[k], bounding_box_b.upper[k]);
        if (!(in->lower[k] < in->upper[k])) {
            return 0;
        }
        double bounding_box_margin = 1e-6 * (in->upper[k] - in->lower[k]);
        in->lower[k] -= bounding_box_margin;
        in->upper[k] += bounding_box_margin;
    }
    return 1;
}

int tact_moments_rays(const struct tact_rays_body *a, const struct tact_rays_body *b,
                      int resolution, struct tact_moments *out,
                      struct tact_rays_report *ray_statistics)
{
    static const double world_coordinate_axes[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    struct ray_direction_sums direction[3];
    struct bounding_box in;
    struct tact_rays_report ray_statistics_of_all_directions = {0};
    memset(out, 0, sizeof *out);
    if (resolution < 1 || resolution > MOST_RESOLUTION) {
        return -EINVAL;
    }
    if (a->kind == TACT_SHAPE_HALFSPACE && b->kind == TACT_SHAPE_HALFSPACE) {
        return -ENOTSUP;
    }
    int rc = 0, overlap = compute_common_bounding_box(a, b, &in),
        coarse = resolution < COARSE ? resolution : COARSE;
    for (int i = 0, again = overlap; again && i < NARROWINGS && rc == 0; i++) {
        rc = cast_three_ray_directions(a, b, &in, coarse, direction);
        again = direction[0].overlap_moment_sums.volume + direction[1].overlap_moment_sums.volume +
                        direction[2].overlap_moment_sums.volume >
                    0.0 &&
                shrink_bounding_box_to_overlap(&in, coarse, direction);
    }
    if (overlap && rc == 0) {
        struct tact_moment_sums overlap_moment_sums;
        double overlap_bounds_centre[3];
        rc = cast_three_ray_directions(a, b, &in, resolution, direction);
        for (int k = 0; k < 3; k++) {
            overlap_bounds_centre[k] = 0.5 * (in.lower[k] + in.upper[k]);
            ray_statistics_of_all_directions.rays += direction[k].rays;
            ray_statistics_of_all_directions.corrected += direction[k].corrected;
            ray_statistics_of_all_directions.dropped += direction[k].dropped;
            ray_statistics_of_all_directions.volume[k] = direction[k].overlap_moment_sums.volume;
        }
        combine_ray_directions(direction, &overlap_moment_sums);
        rc = rc ? rc
                : tact_moment_sums_finish(&overlap_moment_sums, world_coordinate_axes,
                                          overlap_bounds_centre, out);
    }
    if (ray_statistics) {
        *ray_statistics = ray_statistics_of_all_directions;
    }
    return rc;
}
