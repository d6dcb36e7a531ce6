#include "contact/pair/smooth/contacts_internal.h"

#include <errno.h>
#include "contact/elementary.h"
#include "contact/pair/smooth/search_internal.h"

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
    tact_v3_axpy(at, plane ? 1.0 : -1.0, pair->offset_from_origin_b_to_origin_a);
    tact_m3_tmul_v3(c->place[plane], pair->rotation[plane], at);
    return tact_smooth_refine_closest_points(pair, c);
}

static void init_torus_ring(const struct smooth_pair *pair, int index_of_torus_in_pair,
                            struct smooth_ring *ring)
{
    const double *to = pair->rotation[index_of_torus_in_pair],
                 *other = pair->rotation[1 - index_of_torus_in_pair];
    double offset_from_origin_b_to_origin_a[3], x[3], y[3];
    ring->pair = pair;
    ring->index_of_torus_in_pair = index_of_torus_in_pair;
    tact_v3_scale(offset_from_origin_b_to_origin_a, pair->offset_from_origin_b_to_origin_a,
                  index_of_torus_in_pair ? -1.0 : 1.0);
    tact_m3_tmul_v3(ring->center, other, offset_from_origin_b_to_origin_a);
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
static double tube_distance_at_angle(const struct smooth_ring *ring, double c, double s,
                                     struct tact_surface_point *p)
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

static void sample_torus_ring(struct smooth_ring *ring)
{
    static const double step[2] = {0.99518472667219688624, 0.09801714032956060199}; /* 2 pi / 64 */
    double c = 1.0, s = 0.0;
    for (int i = 0; i < SMOOTH_RING_SAMPLES; i++) {
        struct tact_surface_point p;
        ring->direction[i][0] = c;
        ring->direction[i][1] = s;
        ring->gap[i] = tube_distance_at_angle(ring, c, s, &p);
        double next = c * step[0] - s * step[1];
        s = s * step[0] + c * step[1];
        c = next;
    }
}

/* Sets the points of a contact to those of the tube and of the other surface, at an angle of the
 * ring given by its cosine and sine. */
static int set_contact_points_at_ring_angle(const struct smooth_ring *ring, double cosine,
                                            double sine, struct smooth_contact *c)
{
    const int torus = ring->index_of_torus_in_pair;
    const double *size = ring->pair->shape[torus]->size;
    struct tact_surface_point p;
    double out[3];
    if (!(tube_distance_at_angle(ring, cosine, sine, &p) < INFINITY)) {
        return -EDOM;
    }
    tact_m3_mul_v3(out, ring->back, p.normal);
    tact_v3_set(c->place[torus], size[0] * cosine, size[0] * sine, 0.0);
    tact_v3_axpy(c->place[torus], -size[1], out);
    tact_v3_copy(c->place[1 - torus], p.at);
    return 0;
}

/* Finds the closest points from sample i of the ring, a local minimum: starts at the minimum of the
 * parabola through it and its neighbours. */
static int closest_points_from_sample(const struct smooth_ring *ring, int i,
                                      struct smooth_contact *c)
{
    const double *f = ring->gap;
    double distance_at_previous_sample = f[(i + SMOOTH_RING_SAMPLES - 1) % SMOOTH_RING_SAMPLES],
           distance_at_next_sample = f[(i + 1) % SMOOTH_RING_SAMPLES];
    double second_difference_of_distance =
        distance_at_previous_sample + distance_at_next_sample - 2.0 * f[i];
    double sample_offset_of_minimum =
        second_difference_of_distance > 0.0
            ? 0.5 * (distance_at_previous_sample - distance_at_next_sample) /
                  second_difference_of_distance
            : 0.0;
    double angle =
        2.0 * 3.14159265358979323846 * (i + sample_offset_of_minimum) / SMOOTH_RING_SAMPLES;
    return set_contact_points_at_ring_angle(ring, tact_cos(angle), tact_sin(angle), c)
               ? -EDOM
               : tact_smooth_refine_closest_points(ring->pair, c);
}

int tact_smooth_contact_of_sample(const struct smooth_ring *ring, int i, struct smooth_contact *c)
{
    const int torus = ring->index_of_torus_in_pair;
    const double *size = ring->pair->shape[torus]->size;
    const struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {size[1], size[1], size[1]}};
    const double center[3] = {size[0] * ring->direction[i][0], size[0] * ring->direction[i][1],
                              0.0};
    struct smooth_pair pair = *ring->pair;
    double arm[3];
    if (set_contact_points_at_ring_angle(ring, ring->direction[i][0], ring->direction[i][1], c)) {
        return -EDOM;
    }
    pair.shape[torus] = &ball;
    tact_m3_mul_v3(arm, pair.rotation[torus], center);
    tact_v3_axpy(pair.offset_from_origin_b_to_origin_a, torus ? -1.0 : 1.0, arm);
    tact_v3_sub(c->place[torus], c->place[torus], center);
    if (tact_smooth_refine_closest_points(&pair, c)) {
        return -EDOM;
    }
    tact_v3_add(c->place[torus], c->place[torus], center);
    tact_v3_add(c->arm[torus], c->arm[torus], arm);
    return 0;
}

double tact_smooth_cosine_to_nearest_contact(const struct smooth_ring *ring, int i,
                                             const struct smooth_contact *contact, int count)
{
    double largest = -1.0;
    for (int k = 0; k < count; k++) {
        const double *at = contact[k].place[ring->index_of_torus_in_pair];
        const double distance_from_torus_axis = tact_hypot(at[0], at[1]);
        const double along = ring->direction[i][0] * at[0] + ring->direction[i][1] * at[1];
        largest = tact_max(largest,
                           distance_from_torus_axis > 0.0 ? along / distance_from_torus_axis : 1.0);
    }
    return largest;
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

int tact_smooth_sample_ring(const struct smooth_pair *pair, int k, struct smooth_ring *ring)
{
    if (pair->charts[0] || pair->charts[1] || !is_torus(pair->shape[k]) ||
        is_halfspace(pair->shape[1 - k])) {
        return 0;
    }
    init_torus_ring(pair, k, ring);
    sample_torus_ring(ring);
    return 1;
}

int tact_smooth_find_ring_contacts(const struct smooth_ring *ring, double near,
                                   struct smooth_contact contact[TACT_PIECES],
                                   int *has_contact_search_failed)
{
    const double radius = ring->pair->shape[ring->index_of_torus_in_pair]->size[0];
    const double max_distance_of_ring_samples =
        tact_max(near, MAX_RING_SEARCH_DISTANCE_RATIO * radius);
    int found = 0;
    *has_contact_search_failed = 0;
    for (int i = 0; i < SMOOTH_RING_SAMPLES; i++) {
        struct smooth_contact c;
        double distance_at_previous_sample =
                   ring->gap[(i + SMOOTH_RING_SAMPLES - 1) % SMOOTH_RING_SAMPLES],
               at = ring->gap[i];
        if (at > distance_at_previous_sample || at > ring->gap[(i + 1) % SMOOTH_RING_SAMPLES] ||
            !(at <= max_distance_of_ring_samples)) {
            continue;
        }
        if (closest_points_from_sample(ring, i, &c)) {
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
    struct smooth_ring ring;
    int rc;
    *has_contact_search_failed = 0;
    if (tact_smooth_supports_convex_pair(pair->shape[0], pair->shape[1])) {
        rc = tact_smooth_find_closest_points(pair, contact);
    } else if (tact_smooth_sample_ring(pair, is_torus(pair->shape[0]) ? 0 : 1, &ring)) {
        return tact_smooth_find_ring_contacts(&ring, near, contact, has_contact_search_failed);
    } else {
        rc = find_lowest_torus_point(pair, contact);
    }
    *has_contact_search_failed = rc < 0;
    return rc ? rc : 1;
}
