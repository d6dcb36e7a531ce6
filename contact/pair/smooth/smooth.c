/*
 * The contact of two smooth surfaces (Kry and Pai 2003) as a block of the solver. Closest points,
 * normal and gap are exact, and the target velocity of the block is such that the contact velocity
 * is zero half a tick later, where the drift evaluates it. This makes the tick second order in
 * time.
 */
#include <errno.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/features/second_order_internal.h"
#include "contact/pair/models_internal.h"
#include "contact/pair/motion_internal.h"
#include "contact/pair/smooth/contacts_internal.h"
#include "contact/pair/smooth/edges_internal.h"
#include "contact/pair/smooth/extrapolate_internal.h"
#include "contact/pair/smooth/overlap_internal.h"
#include "contact/pair/smooth/ring_internal.h"
#include "contact/pair/smooth/ring_points_internal.h"
#include "contact/pair/smooth/rolling_internal.h"
#include "contact/pair/smooth/search_internal.h"
#include "contact/pair/smooth/touching_internal.h"

/* Largest rotation of the contact normal over a surface in a tick [rad] */
#define MAX_NORMAL_TURN_PER_TICK 0.3
/* Longest way of a contact over a surface in a tick over which the curvature counts as constant,
 * relative to the radius of the body. */
#define MAX_UNCHECKED_TRAVEL_RATIO 0.1
/* Largest change of a principal curvature over a longer way, relative to the relative curvature. */
#define MAX_CURVATURE_CHANGE 0.1
/* Distance up to which two contacts are the same, relative to the smaller body. */
#define SAME_SMOOTH_CONTACT_DISTANCE_RATIO 1e-6
/* Smallest cosine between the normals of a contact in successive ticks. */
#define MIN_CONTINUED_NORMAL_COSINE 0.5
/* Smallest curvature, relative to the smaller body's, of charts that touch in a point: with less
 * they touch along a line. */
#define MIN_POINT_CONTACT_CURVATURE 1e-3
/* Curvature of a surface, relative to the smallest relative curvature of the two, from which on
 * they nearly conform: the contact turns over them so many times as far as the bodies do. */
#define MIN_CONFORMING_CURVATURE_RATIO 10.0

/* Layout of the state variables of a pair of smooth shapes. */
enum {
    SMOOTH_STATE_INDEX_OF_STEADY_TICKS,  /* number of ticks of contact with steady rotation before
                            this one:  0, 1, 2,   3 for more */
    SMOOTH_STATE_INDEX_OF_CONTACT_COUNT, /* number of contacts of the last tick, whose places follow
                                          */
    SMOOTH_STATE_START_OF_CONTACT_PLACES, /* surface positions on A and B of each contact of the
                                             last tick */
    SMOOTH_STATE_LAST_MOTION = SMOOTH_STATE_START_OF_CONTACT_PLACES +
                               6 * TACT_PIECES, /* the last motion, then the one before */
    SMOOTH_STATE_FEATURES_START =
        SMOOTH_STATE_LAST_MOTION +
        2 * SMOOTH_MOTION_SIZE, /* first state variable of the features model */
    SMOOTH_STATE_SIZE = SMOOTH_STATE_FEATURES_START + TACT_FEATURES_STATE,
};

static int count_smooth_patches(const struct tact_shape *a, const struct tact_shape *b,
                                const struct tact_world_options *options)
{
    return options->local == TACT_LOCAL_CONE ? tact_smooth_max_contacts(a, b) : 0;
}

/* Contacts that a tick found for a pair of smooth shapes. */
struct smooth_search_result {
    struct smooth_pair pair;
    struct smooth_contact contact[TACT_PIECES];
    int has_shape_with_charts;  /* 1: at least one of the two surfaces has charts */
    int contact_count;          /* number of contacts */
    int ring_point_count;       /* number of them that are points along a torus's ring, the last */
    int may_have_edge_contacts; /* 1: there may be contacts that only the models features or volume
                                   measure */
    int was_close_contact_not_found;   /* 1: a contact of surfaces that are near was not found */
    double max_gap_of_touching_charts; /* largest gap with which charts may be in contact in
                                              this tick [m] */
    double size;                       /* size of the smaller body [m] */
};

static void init_smooth_search(const struct tact_pair_query *q, struct smooth_search_result *f)
{
    const struct smooth_shape_data *data[2] = {q->data_a, q->data_b};
    double v[3], speed = 0.0;
    tact_smooth_set_pair(q->a, q->pose_a, q->b, q->pose_b, &f->pair);
    f->may_have_edge_contacts = f->contact_count = f->was_close_contact_not_found = 0;
    f->ring_point_count = 0;
    f->size = INFINITY;
    for (int k = 0; k < 2; k++) {
        f->pair.charts[k] = data[k]->charts;
        f->may_have_edge_contacts |= data[k]->edges;
        speed += tact_v3_norm(q->twist[k] + 3) * data[k]->radius;
        f->size = data[k]->radius > 0.0 ? tact_min(f->size, data[k]->radius) : f->size;
    }
    f->has_shape_with_charts = f->pair.charts[0] || f->pair.charts[1];
    tact_v3_sub(v, q->twist[0], q->twist[1]);
    speed += tact_v3_norm(v);
    f->max_gap_of_touching_charts =
        q->options->period * (2.0 * speed + tact_smooth_gravity_speed_change(q)) +
        MAX_CONTACT_GAP_RATIO * f->size;
}

/* Number of contacts in the last tick; limited, as the state may come from a damaged log. */
static int contact_count_of_last_tick(const struct tact_pair_query *q)
{
    return (int)tact_max(0.0, tact_min(q->state[SMOOTH_STATE_INDEX_OF_CONTACT_COUNT], TACT_PIECES));
}

/* Follows the contacts of the last tick from their surface positions. Returns how many still exist.
 */
static int follow_contacts_of_last_tick(const struct tact_pair_query *q,
                                        struct smooth_search_result *f)
{
    int followed_contact_count = 0;
    for (int i = 0; i < contact_count_of_last_tick(q); i++) {
        struct smooth_contact c;
        memcpy(c.place, q->state + SMOOTH_STATE_START_OF_CONTACT_PLACES + 6 * i, sizeof c.place);
        if (!tact_smooth_refine_closest_points(&f->pair, &c) &&
            (!f->has_shape_with_charts ||
             tact_smooth_is_overlap_shallow(&f->pair, f->max_gap_of_touching_charts, &c))) {
            followed_contact_count =
                tact_smooth_add_contact(f->contact, followed_contact_count, &c,
                                        SAME_SMOOTH_CONTACT_DISTANCE_RATIO * f->size);
        }
    }
    return followed_contact_count;
}

/* Finds the contacts of charts: those of the last tick, then others. Edges may touch where a convex
 * pair has no contact of its smooth surfaces. */
static void find_chart_contacts(const struct tact_pair_query *q, struct smooth_search_result *f)
{
    int search_failed = 0, edges = f->may_have_edge_contacts;
    int plane = q->a->kind == TACT_SHAPE_HALFSPACE || q->b->kind == TACT_SHAPE_HALFSPACE;
    /* a cylinder or cone touches a plane along a line, at an edge or a face */
    if (edges && plane) {
        return;
    }
    f->contact_count = follow_contacts_of_last_tick(q, f);
    if (q->most > 1 || !f->contact_count) {
        f->contact_count = tact_smooth_search_contacts(
            &f->pair, f->max_gap_of_touching_charts, f->contact_count, f->contact, &search_failed);
    }
    f->may_have_edge_contacts =
        search_failed || f->contact_count > TACT_PIECES || (edges && !f->contact_count);
}

/* Finds the contacts of surfaces in closed form without a torus, or of a torus and a half-space:
 * for a convex pair from the last tick's points, else without a starting point. */
static void find_contact_of_closed_forms(const struct tact_pair_query *q,
                                         struct smooth_search_result *f)
{
    int plane = q->a->kind == TACT_SHAPE_HALFSPACE || q->b->kind == TACT_SHAPE_HALFSPACE;
    f->contact_count = !plane ? follow_contacts_of_last_tick(q, f) : 0;
    if (!f->contact_count) {
        f->contact_count = tact_smooth_find_contacts(&f->pair, f->max_gap_of_touching_charts,
                                                     f->contact, &f->was_close_contact_not_found);
        q->counts[TACT_COUNT_NOT_FOUND] += f->was_close_contact_not_found;
    }
}

/* Cosine between the normals of A (k = 0) or B (k = 1) at two positions of its surface. */
static double cosine_of_normals_at_points(const struct smooth_pair *pair, int k,
                                          const double *first_surface_position,
                                          const double *second_surface_position)
{
    struct tact_surface_point p, q;
    return tact_smooth_surface_point(pair, k, first_surface_position, &p) ||
                   tact_smooth_surface_point(pair, k, second_surface_position, &q)
               ? -1.0
               : tact_v3_dot(p.normal, q.normal);
}

/* The surface positions on A and B of a contact in the last tick, as it has not moved far over
 * either surface since; NULL where it did not exist. */
static const double *contact_positions_of_last_tick(const struct tact_pair_query *q,
                                                    const struct smooth_pair *pair,
                                                    const struct smooth_contact *c)
{
    for (int i = 0; i < contact_count_of_last_tick(q); i++) {
        const double *places = q->state + SMOOTH_STATE_START_OF_CONTACT_PLACES + 6 * i;
        if (cosine_of_normals_at_points(pair, 0, places, c->place[0]) >=
                MIN_CONTINUED_NORMAL_COSINE &&
            cosine_of_normals_at_points(pair, 1, places + 3, c->place[1]) >=
                MIN_CONTINUED_NORMAL_COSINE) {
            return places;
        }
    }
    return NULL;
}

static void store_contact_places(const struct tact_pair_query *q,
                                 const struct smooth_contact *contact, int count)
{
    q->state[SMOOTH_STATE_INDEX_OF_CONTACT_COUNT] = count;
    for (int i = 0; i < count; i++) {
        memcpy(q->state + SMOOTH_STATE_START_OF_CONTACT_PLACES + 6 * i, contact[i].place,
               sizeof contact[i].place);
    }
}

/* 1 where the contact moves so far over a surface in a tick that the rates do not predict its
 * position half a tick later. */
static int does_contact_move_too_far_in_tick(const struct smooth_contact *c,
                                             const struct smooth_contact_motion *motion, double h)
{
    for (int k = 0; k < 2; k++) {
        const double *l = c->bend[k];
        double x = tact_v3_dot(motion->velocity_over_surface[k], c->frame + 3);
        double y = tact_v3_dot(motion->velocity_over_surface[k], c->frame + 6);
        double rotation[2] = {h * (l[0] * x + l[1] * y), h * (l[2] * x + l[3] * y)};
        if (!(rotation[0] * rotation[0] + rotation[1] * rotation[1] <=
              MAX_NORMAL_TURN_PER_TICK * MAX_NORMAL_TURN_PER_TICK)) {
            return 1;
        }
    }
    return 0;
}

/*
 * 1 where a contact comes in this tick to places of the surface of A (k = 0) or B (k = 1) that are
 * curved otherwise, so that the rates do not predict its position: the change since its place in
 * the last tick, continued over a way [m], is over a tenth of the relative curvature
 * of the two surfaces.
 */
static int will_curvature_change(const struct smooth_pair *pair, const struct smooth_contact *c,
                                 int k, const double *surface_position_of_last_tick, double way)
{
    const double relative_curvature[2] = {c->bend[0][0] + c->bend[1][0],
                                          c->bend[0][3] + c->bend[1][3]};
    struct tact_surface_point now, last;
    double directions[9], curvature[2][2], moved[3];
    if (tact_smooth_surface_point(pair, k, c->place[k], &now) ||
        tact_smooth_surface_point(pair, k, surface_position_of_last_tick, &last)) {
        return 1;
    }
    tact_surface_curvatures(&now, curvature[0], directions);
    tact_surface_curvatures(&last, curvature[1], directions);
    tact_v3_sub(moved, now.at, last.at);
    for (int i = 0; i < 2; i++) {
        if (!(fabs(curvature[0][i] - curvature[1][i]) * way <=
              MAX_CURVATURE_CHANGE * relative_curvature[i] * tact_v3_norm(moved))) {
            return 1;
        }
    }
    return 0;
}

/* 1 where a contact moves far over a surface in a tick, to places that are curved otherwise. */
static int does_contact_curvature_change_far(const struct tact_pair_query *q,
                                             const struct smooth_pair *pair,
                                             const struct smooth_contact *c,
                                             const struct smooth_contact_motion *motion)
{
    const struct smooth_shape_data *data[2] = {q->data_a, q->data_b};
    for (int k = 0; k < 2; k++) {
        double way = q->options->period * tact_v3_norm(motion->velocity_over_surface[k]);
        if (data[k]->radius > 0.0 && !(way <= MAX_UNCHECKED_TRAVEL_RATIO * data[k]->radius)) {
            const double *last_surface_positions = contact_positions_of_last_tick(q, pair, c);
            if (last_surface_positions &&
                will_curvature_change(pair, c, k, last_surface_positions + 3 * k, way)) {
                return 1;
            }
        }
    }
    return 0;
}

/* 1 where the curvatures of the surfaces nearly cancel along t1, the direction of the smallest
 * relative curvature. */
static int do_surfaces_nearly_conform(const struct smooth_contact *c)
{
    const double *a = c->bend[0], *b = c->bend[1];
    return tact_max(fabs(a[0]), fabs(b[0])) >= MIN_CONFORMING_CURVATURE_RATIO * (a[0] + b[0]);
}

/*
 * Limits the changes along t1 and t2 to the slip before the solve. A contact that holds changes the
 * energy by the product of its impulse and the mean of the velocities before and after, v and -u
 * for the change u. Its impulse is against v + u, so that it takes m (v^2 - u^2) / 2 out. Where the
 * contact moves much faster than the bodies, the extrapolation would else add energy in each tick.
 */
static void limit_tangential_velocity_changes(const struct tact_pair_query *q,
                                              const struct smooth_contact *c,
                                              double contact_row_velocity_change[4])
{
    double slip[3];
    tact_smooth_contact_velocity(q, c, slip);
    double slip_speed =
        tact_hypot(tact_v3_dot(c->frame + 3, slip), tact_v3_dot(c->frame + 6, slip));
    double slip_speed_change_in_tick =
        tact_hypot(contact_row_velocity_change[1], contact_row_velocity_change[2]);
    if (slip_speed_change_in_tick > slip_speed) {
        contact_row_velocity_change[1] *= slip_speed / slip_speed_change_in_tick;
        contact_row_velocity_change[2] *= slip_speed / slip_speed_change_in_tick;
    }
}

/* Computes the change of the velocities of the rows n, t1, t2 and about n until half a tick after
 * the solve, at the extrapolated twists and rates. */
static void compute_velocity_changes_of_contact_rows(
    const struct tact_pair_query *q, const struct smooth_pair *pair, const struct smooth_contact *c,
    const double twist[2][6], const double rate[2][6], double contact_row_velocity_change[4])
{
    struct smooth_contact_motion motion;
    double h = q->options->period;
    memset(contact_row_velocity_change, 0, 4 * sizeof *contact_row_velocity_change);
    if (tact_smooth_contact_point_rates(c, twist, &motion) ||
        does_contact_move_too_far_in_tick(c, &motion, h) ||
        (!do_surfaces_nearly_conform(c) &&
         does_contact_curvature_change_far(q, pair, c, &motion))) {
        q->counts[TACT_COUNT_CONFORMING]++;
        return;
    }
    tact_smooth_second_order_rates(c, twist, rate, &motion, contact_row_velocity_change);
    for (int i = 0; i < 4; i++) {
        contact_row_velocity_change[i] *= 0.5 * h;
    }
    if (do_surfaces_nearly_conform(c)) {
        limit_tangential_velocity_changes(q, c, contact_row_velocity_change);
    }
}

/* Sets the extent of a patch. Rigid surfaces touch in a point, which transmits no torque. Soft ones
 * touch in Hertz's ellipse, and a fingertip in its disc, with torsion. */
static void set_size_of_smooth_contact_patch(const struct tact_pair_query *q, const double k[2],
                                             struct tact_patch *patch)
{
    patch->spin = q->options->spin;
    patch->stretch[0] = patch->stretch[1] = 1.0;
    patch->surface = TACT_SURFACE_ELLIPSOID;
    if (q->law->tip_radius > 0.0) {
        patch->kind = TACT_PATCH_ELASTIC;
        patch->tip_radius = q->law->tip_radius;
        patch->tip_power = q->law->tip_power;
    } else if (!(q->law->modulus > 0.0) || tact_patch_hertz(patch, q->law->modulus, k[0], k[1])) {
        patch->kind = TACT_PATCH_ELLIPSE;
    }
    patch->rolling_loss = q->law->rolling_loss;
    if (patch->kind == TACT_PATCH_ELASTIC && patch->spin == TACT_SPIN_LIMIT_SURFACE) {
        patch->surface = TACT_SURFACE_HERTZ;
    }
}

static void make_patch(const struct tact_pair_query *q, const struct smooth_contact *c,
                       struct tact_patch *patch)
{
    memset(patch, 0, sizeof *patch);
    patch->law = TACT_LAW_GAPS;
    patch->depth = tact_max(-c->gap, 0.0);
    patch->exponent = 2.0;
    patch->rolling_radius = INFINITY; /* no rolling torque */
    patch->gap[0] = c->gap;
    memcpy(patch->frame, c->frame, sizeof patch->frame);
    for (int i = 0; i < 3; i++) {
        patch->center[i] =
            0.5 * (q->pose_a->position[i] + c->arm[0][i] + q->pose_b->position[i] + c->arm[1][i]);
    }
}

/* 1 for a contact that continues, or begins without an impact: in an impact the second-order term
 * has no benefit. */
static int is_contact_continued_smoothly(const struct tact_pair_query *q,
                                         const struct smooth_pair *pair,
                                         const struct smooth_contact *c)
{
    return (q->pressed > 0.0 && contact_positions_of_last_tick(q, pair, c)) ||
           tact_smooth_closing_speed(q, c) < tact_smooth_gravity_speed_change(q);
}

/* Makes the patch of one smooth contact, with the predicted change of its velocities. */
static void make_contact_patch(const struct tact_pair_query *q, const struct smooth_contact *c,
                               const double k[2], const double contact_row_velocity_change[4],
                               struct tact_patch *patch)
{
    make_patch(q, c, patch);
    set_size_of_smooth_contact_patch(q, k, patch);
    for (int i = 0; i < 4; i++) {
        patch->target_velocity[i] = -contact_row_velocity_change[i];
    }
}

/* Keeps the contacts that may touch in this tick, aligned with their principal curvatures. Returns
 * their number; f->may_have_edge_contacts: 1 where a contact of charts is along a line. */
static int keep_contacts_within_touching_gap(const struct tact_pair_query *q,
                                             struct smooth_search_result *f,
                                             double k[TACT_PIECES][2])
{
    int count = f->contact_count < TACT_PIECES ? f->contact_count : TACT_PIECES,
        touching_contact_count = 0;
    for (int i = 0; i < count; i++) {
        struct smooth_contact *c = &f->contact[i];
        const int may_contact_touch_in_tick =
            tact_smooth_may_contact_touch(q, c, k[touching_contact_count]);
        f->may_have_edge_contacts |=
            f->has_shape_with_charts && c->gap <= f->max_gap_of_touching_charts &&
            !(k[touching_contact_count][0] * f->size >= MIN_POINT_CONTACT_CURVATURE);
        if (may_contact_touch_in_tick) {
            f->contact[touching_contact_count++] = *c;
        }
    }
    return touching_contact_count;
}

static void measure_smooth_contacts(const struct tact_pair_query *q, struct smooth_search_result *f,
                                    const double k[][2], int touching_contact_count,
                                    struct tact_patch *patch, struct tact_pair_piece *piece)
{
    const struct smooth_contact *contact = f->contact;
    double twist[2][6], rate[2][6], contact_row_velocity_change[4];
    int deepest = 0;
    tact_smooth_extrapolate_motion(q, &q->state[SMOOTH_STATE_INDEX_OF_STEADY_TICKS],
                                   q->state + SMOOTH_STATE_LAST_MOTION, twist, rate);
    for (int i = 0; i < touching_contact_count; i++) {
        memset(contact_row_velocity_change, 0, sizeof contact_row_velocity_change);
        if (i < touching_contact_count - f->ring_point_count &&
            is_contact_continued_smoothly(q, &f->pair, &contact[i])) {
            compute_velocity_changes_of_contact_rows(
                q, &f->pair, &contact[i], (const double(*)[6])twist, (const double(*)[6])rate,
                contact_row_velocity_change);
        }
        make_contact_patch(q, &contact[i], k[i], contact_row_velocity_change,
                           touching_contact_count > 1 ? &piece[i].patch : patch);
        deepest = contact[i].gap < contact[deepest].gap ? i : deepest;
    }
    if (touching_contact_count > 1) {
        *patch = piece[deepest].patch;
        for (int i = 0; i < touching_contact_count; i++) {
            memset(&piece[i].moments, 0, sizeof piece[i].moments);
        }
    }
    store_contact_places(q, contact, touching_contact_count);
}

/* 1 where a contact of surfaces that nearly conform moves so far in a tick that the tangent planes
 * at its start and end have little in common: only a patch of the whole overlap restrains it. */
static int is_conforming_contact_too_fast(const struct tact_pair_query *q,
                                          const struct smooth_search_result *f,
                                          int touching_contact_count)
{
    for (int i = 0; i < touching_contact_count; i++) {
        const struct smooth_contact *c = &f->contact[i];
        struct smooth_contact_motion motion;
        if (do_surfaces_nearly_conform(c) &&
            (tact_smooth_contact_point_rates(c, q->twist, &motion) ||
             does_contact_move_too_far_in_tick(c, &motion, q->options->period))) {
            return 1;
        }
    }
    return 0;
}

/* 1 where a pair without a contact in this tick may overlap. A torus's only contact may be missed
 * where its ring is inside the other shape, and contacts of charts where the overlap is larger than
 * their cells. */
static int do_solids_overlap_without_contact(const struct tact_pair_query *q,
                                             struct smooth_search_result *f)
{
    /* the gap of a convex pair is that of its only contact */
    if (f->has_shape_with_charts && !(f->contact_count && q->most == 1)) {
        f->was_close_contact_not_found = tact_smooth_do_charts_overlap(&f->pair);
    }
    return f->was_close_contact_not_found;
}

static int measure_smooth_pair(const struct tact_pair_query *q, struct tact_patch *patch,
                               struct tact_pair_piece *piece)
{
    struct smooth_search_result f;
    double k[TACT_PIECES][2];
    init_smooth_search(q, &f);
    int plane = tact_smooth_index_of_flat_halfspace(&f.pair);
    if (plane >= 0) {
        q->state[SMOOTH_STATE_INDEX_OF_STEADY_TICKS] =
            q->state[SMOOTH_STATE_INDEX_OF_CONTACT_COUNT] = 0.0;
        return tact_smooth_measure_torus_ring(q, &f.pair, plane,
                                              tact_smooth_gravity_speed_change(q), patch);
    }
    if (f.has_shape_with_charts) {
        find_chart_contacts(q, &f);
    } else if (q->most > 1) {
        f.contact_count =
            tact_smooth_find_torus_contacts(q, &f.pair, f.max_gap_of_touching_charts, f.contact,
                                            &f.ring_point_count, &f.was_close_contact_not_found);
        q->counts[TACT_COUNT_NOT_FOUND] += f.was_close_contact_not_found;
        q->counts[TACT_COUNT_EDGES] += f.ring_point_count > 0;
    } else {
        find_contact_of_closed_forms(q, &f);
    }
    int touching_contact_count = keep_contacts_within_touching_gap(q, &f, k);
    if (!f.may_have_edge_contacts && tact_smooth_can_measure_edges(q)) {
        int is_conforming_and_fast = (f.has_shape_with_charts || q->most == 1) &&
                                     is_conforming_contact_too_fast(q, &f, touching_contact_count);
        q->counts[TACT_COUNT_CONFORMING] += is_conforming_and_fast;
        f.may_have_edge_contacts =
            is_conforming_and_fast ||
            (!touching_contact_count && do_solids_overlap_without_contact(q, &f));
    }
    if (f.may_have_edge_contacts) {
        q->state[SMOOTH_STATE_INDEX_OF_STEADY_TICKS] =
            q->state[SMOOTH_STATE_INDEX_OF_CONTACT_COUNT] = 0.0;
        int rc = tact_smooth_measure_edges(q, q->state + SMOOTH_STATE_FEATURES_START, patch);
        q->counts[TACT_COUNT_NOT_FOUND] +=
            f.has_shape_with_charts && f.was_close_contact_not_found && rc != -ENODATA;
        return rc;
    }
    tact_features_clear_last_twists(q->state + SMOOTH_STATE_FEATURES_START);
    /* the closest points of a convex pair, kept in the state, remain a good starting point */
    if (!touching_contact_count) {
        q->state[SMOOTH_STATE_INDEX_OF_STEADY_TICKS] = 0.0;
        store_contact_places(q, f.contact, f.contact_count > 0 && q->most == 1);
        return -EDOM;
    }
    measure_smooth_contacts(q, &f, (const double(*)[2])k, touching_contact_count, patch, piece);
    return touching_contact_count > 1 ? touching_contact_count : 0;
}

const struct tact_contact_model tact_model_smooth = {
    .abi = TACT_ABI(struct tact_contact_model),
    .name = "smooth",
    .state = SMOOTH_STATE_SIZE,
    .gaps = 1,
    .patches = count_smooth_patches,
    .prepare = tact_smooth_prepare,
    .release = tact_smooth_release,
    .measure = measure_smooth_pair,
};
