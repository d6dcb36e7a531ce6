#include "contact/pair/smooth/contacts_internal.h"

#include <errno.h>
#include "contact/elementary.h"
#include "contact/pair/smooth/search_internal.h"

#define TORUS_RING_SAMPLES 64 /* number of samples on the ring of a torus: 6 degrees apart */
/* Distance beyond which contacts are not searched, relative to a ring's radius. */
#define MAX_RING_SEARCH_DISTANCE_RATIO 0.25
/* Distance up to which two contacts are the same, relative to a ring's radius. */
#define SAME_CONTACT_DISTANCE_RATIO 1e-6
#define MAX_FLAT_TORUS_TILT                                                                        \
    1e-3 /* sine of the tilt up to which a torus counts as flat on a plane */

static int is_torus(const struct tact_shape *shape)
{
    return shape->kind == TACT_SHAPE_TORUS;
}

static int is_halfspace(const struct tact_shape *shape)
{
    return shape->kind == TACT_SHAPE_HALFSPACE;
}

int tact_smooth_max_contacts(const struct tact_shape *a, const struct tact_shape *b)
{
    if (tact_smooth_supports_convex_pair(a, b)) {
        return 1;
    }
    if (tact_smooth_can_search_charts(a, b)) {
        int has_concave_shape =
            tact_shape_type(a->kind)->concave || tact_shape_type(b->kind)->concave;
        return has_concave_shape ? TACT_PIECES : 1;
    }
    if (!is_torus(a) && !is_torus(b)) {
        return 0;
    }
    const struct tact_shape *shape_in_contact_with_torus = is_torus(a) ? b : a;
    if (is_halfspace(shape_in_contact_with_torus)) {
        return 1;
    }
    return is_torus(shape_in_contact_with_torus) ||
                   tact_shape_type(shape_in_contact_with_torus->kind)->support
               ? TACT_PIECES
               : 0;
}

/* Sets the axis of the torus in a pair with a half-space, and the plane's normal, world; returns
 * the index of the half-space in the pair. */
static int torus_axis_and_plane_normal(const struct smooth_pair *pair, double axis[3], double up[3])
{
    int plane = is_halfspace(pair->shape[0]) ? 0 : 1;
    for (int i = 0; i < 3; i++) {
        axis[i] = pair->rotation[1 - plane][3 * i + 2];
        up[i] = pair->rotation[plane][3 * i + 2];
    }
    return plane;
}

int tact_smooth_index_of_flat_halfspace(const struct smooth_pair *pair)
{
    double axis[3], up[3], tilt[3];
    if (!(is_halfspace(pair->shape[0]) && is_torus(pair->shape[1])) &&
        !(is_halfspace(pair->shape[1]) && is_torus(pair->shape[0]))) {
        return -1;
    }
    int plane = torus_axis_and_plane_normal(pair, axis, up);
    tact_v3_cross(tilt, axis, up);
    return tact_v3_norm(tilt) < MAX_FLAT_TORUS_TILT ? plane : -1;
}

/* Finds the lowest point of a torus over a plane: on its tube, below the lowest point of its ring.
 */
static int find_lowest_torus_point(const struct smooth_pair *pair, struct smooth_contact *c)
{
    double axis[3], up[3], down[3], at[3];
    int plane = torus_axis_and_plane_normal(pair, axis, up), index_of_torus_in_pair = 1 - plane;
    const double *size = pair->shape[index_of_torus_in_pair]->size;
    tact_v3_scale(up, up, -1.0);
    tact_m3_tmul_v3(down, pair->rotation[index_of_torus_in_pair], up);
    double across = tact_hypot(down[0], down[1]);
    if (!(across > 0.0)) {
        return -EDOM;
    }
    tact_v3_scale(c->place[index_of_torus_in_pair], down, size[1]);
    c->place[index_of_torus_in_pair][0] += size[0] * down[0] / across;
    c->place[index_of_torus_in_pair][1] += size[0] * down[1] / across;
    tact_m3_mul_v3(at, pair->rotation[index_of_torus_in_pair], c->place[index_of_torus_in_pair]);
    tact_v3_axpy(at, plane ? 1.0 : -1.0, pair->origin_offset);
    tact_m3_tmul_v3(c->place[plane], pair->rotation[plane], at);
    return tact_smooth_refine_closest_points(pair, c);
}

/* A torus with its pose relative to the other shape of the pair. */
struct torus_ring_in_other_frame {
    const struct smooth_pair *pair;
    int index_of_torus_in_pair; /* index of the torus in the pair, 0 or 1 */
    double center[3];           /* center of the torus' ring, in the other shape's frame [m] */
    double torus_ring_radius_vectors[2][3]; /* radius vectors of the ring along the torus' x and y
                           axes, in the other shape's frame [m] */
    double back[9]; /* rotation from the other shape's frame to that of the torus */
    double value[TORUS_RING_SAMPLES]; /* around it [m] */
};

static void init_torus_ring(const struct smooth_pair *pair, int index_of_torus_in_pair,
                            struct torus_ring_in_other_frame *ring)
{
    const double *to = pair->rotation[index_of_torus_in_pair],
                 *other = pair->rotation[1 - index_of_torus_in_pair];
    double origin_offset[3], x[3], y[3];
    ring->pair = pair;
    ring->index_of_torus_in_pair = index_of_torus_in_pair;
    tact_v3_scale(origin_offset, pair->origin_offset, index_of_torus_in_pair ? -1.0 : 1.0);
    tact_m3_tmul_v3(ring->center, other, origin_offset);
    tact_v3_set(x, to[0], to[3], to[6]);
    tact_v3_set(y, to[1], to[4], to[7]);
    tact_v3_scale(x, x, pair->shape[index_of_torus_in_pair]->size[0]);
    tact_v3_scale(y, y, pair->shape[index_of_torus_in_pair]->size[0]);
    tact_m3_tmul_v3(ring->torus_ring_radius_vectors[0], other, x);
    tact_m3_tmul_v3(ring->torus_ring_radius_vectors[1], other, y);
    tact_m3_tmul(ring->back, to, other);
}

/* Distance of the torus' tube from the other surface at an angle of the ring, given by its cosine
 * and sine, and the opposite point. The distance of a tube is that of its middle line, less its
 * radius. */
static double tube_distance_at_angle(const struct torus_ring_in_other_frame *ring, double c,
                                     double s, struct tact_surface_point *p)
{
    double at[3], d[3];
    tact_v3_copy(at, ring->center);
    tact_v3_axpy(at, c, ring->torus_ring_radius_vectors[0]);
    tact_v3_axpy(at, s, ring->torus_ring_radius_vectors[1]);
    if (tact_shape_surface(ring->pair->shape[1 - ring->index_of_torus_in_pair], at, p)) {
        return INFINITY;
    }
    tact_v3_sub(d, at, p->at);
    return tact_v3_dot(d, p->normal) - ring->pair->shape[ring->index_of_torus_in_pair]->size[1];
}

static void sample_torus_ring(struct torus_ring_in_other_frame *ring)
{
    static const double step[2] = {0.99518472667219688624, 0.09801714032956060199}; /* 2 pi / 64 */
    double c = 1.0, s = 0.0;
    for (int i = 0; i < TORUS_RING_SAMPLES; i++) {
        struct tact_surface_point p;
        ring->value[i] = tube_distance_at_angle(ring, c, s, &p);
        double next = c * step[0] - s * step[1];
        s = s * step[0] + c * step[1];
        c = next;
    }
}

/* Finds the closest points from sample i of the ring, a local minimum: starts at the minimum of the
 * parabola through it and its neighbours. */
static int closest_points_from_sample(const struct torus_ring_in_other_frame *ring, int i,
                                      struct smooth_contact *c)
{
    const double *f = ring->value, *size = ring->pair->shape[ring->index_of_torus_in_pair]->size;
    double distance_at_previous_sample = f[(i + TORUS_RING_SAMPLES - 1) % TORUS_RING_SAMPLES],
           distance_at_next_sample = f[(i + 1) % TORUS_RING_SAMPLES], out[3];
    double second_difference_of_distance =
        distance_at_previous_sample + distance_at_next_sample - 2.0 * f[i];
    double sample_offset_of_minimum =
        second_difference_of_distance > 0.0
            ? 0.5 * (distance_at_previous_sample - distance_at_next_sample) /
                  second_difference_of_distance
            : 0.0;
    double angle =
        2.0 * 3.14159265358979323846 * (i + sample_offset_of_minimum) / TORUS_RING_SAMPLES;
    struct tact_surface_point p;
    if (!(tube_distance_at_angle(ring, tact_cos(angle), tact_sin(angle), &p) < INFINITY)) {
        return -EDOM;
    }
    tact_m3_mul_v3(out, ring->back, p.normal);
    tact_v3_set(c->place[ring->index_of_torus_in_pair], size[0] * tact_cos(angle),
                size[0] * tact_sin(angle), 0.0);
    tact_v3_axpy(c->place[ring->index_of_torus_in_pair], -size[1], out);
    tact_v3_copy(c->place[1 - ring->index_of_torus_in_pair], p.at);
    return tact_smooth_refine_closest_points(ring->pair, c);
}

int tact_smooth_add_contact(struct smooth_contact *all, int contact_count,
                            const struct smooth_contact *c, double same_contact_distance)
{
    int stored_contact_count = contact_count < TACT_PIECES ? contact_count : TACT_PIECES,
        farthest = 0;
    for (int i = 0; i < stored_contact_count; i++) {
        double d[3];
        tact_v3_sub(d, all[i].arm[0], c->arm[0]);
        if (tact_v3_norm(d) <= same_contact_distance) {
            return contact_count;
        }
        farthest = all[i].gap > all[farthest].gap ? i : farthest;
    }
    if (contact_count < TACT_PIECES) {
        all[contact_count] = *c;
    } else if (c->gap < all[farthest].gap) {
        all[farthest] = *c;
    }
    return contact_count + 1;
}

static int find_ring_contacts(const struct smooth_pair *pair, int index_of_torus_in_pair,
                              double near, struct smooth_contact *contact,
                              int *has_contact_search_failed)
{
    struct torus_ring_in_other_frame ring;
    const double radius = pair->shape[index_of_torus_in_pair]->size[0];
    const double max_distance = tact_max(near, MAX_RING_SEARCH_DISTANCE_RATIO * radius);
    int found = 0;
    init_torus_ring(pair, index_of_torus_in_pair, &ring);
    sample_torus_ring(&ring);
    for (int i = 0; i < TORUS_RING_SAMPLES; i++) {
        struct smooth_contact c;
        double distance_at_previous_sample =
                   ring.value[(i + TORUS_RING_SAMPLES - 1) % TORUS_RING_SAMPLES],
               at = ring.value[i];
        if (at > distance_at_previous_sample || at > ring.value[(i + 1) % TORUS_RING_SAMPLES] ||
            !(at <= max_distance)) {
            continue;
        }
        if (closest_points_from_sample(&ring, i, &c)) {
            *has_contact_search_failed |= at <= near;
            continue;
        }
        found = tact_smooth_add_contact(contact, found, &c, SAME_CONTACT_DISTANCE_RATIO * radius);
    }
    return found;
}

int tact_smooth_find_contacts(const struct smooth_pair *pair, double near,
                              struct smooth_contact contact[TACT_PIECES],
                              int *has_contact_search_failed)
{
    int rc;
    *has_contact_search_failed = 0;
    if (tact_smooth_supports_convex_pair(pair->shape[0], pair->shape[1])) {
        rc = tact_smooth_find_closest_points(pair, contact);
    } else if (is_halfspace(pair->shape[0]) || is_halfspace(pair->shape[1])) {
        rc = find_lowest_torus_point(pair, contact);
    } else {
        return find_ring_contacts(pair, is_torus(pair->shape[0]) ? 0 : 1, near, contact,
                                  has_contact_search_failed);
    }
    *has_contact_search_failed = rc < 0;
    return rc ? rc : 1;
}
