/*
 * The contact of two closed solids by the moments of their overlap (Bouchard 2015): one patch, or
 * one for each planar piece of an overlap that is not planar.
 */
#include <errno.h>
#include "contact/moments/moments_internal.h"
#include "contact/moments/outline_internal.h"
#include "contact/pair/models_internal.h"
#include "contact/pair/volume/pieces_internal.h"
#include "contact/pair/volume/volume_internal.h"

/* Exponent up to which the overlap of a cylinder counts as that of its flat end. */
#define MAX_VOLUME_GROWTH_EXPONENT_OF_PRISM 1.2
/* Largest depth of a piece of an overlap, relative to its longer semi-axis. */
#define MAX_PIECE_DEPTH_RATIO 0.1
/* Scale of the paper's equivalent ellipsoid, struct tact_patch_options. */
#define EQUIVALENT_ELLIPSE_SCALE 5.0

static int is_either_shape_of_face_kind(const struct tact_pair_query *q,
                                        enum tact_shape_faces faces)
{
    return tact_shape_faces(q->a) == faces || tact_shape_faces(q->b) == faces;
}

/* Chooses the options of a patch; follows_bouchard_law: as published, one patch with its normal
 * opposite to the gradient. */
static struct tact_patch_options choose_volume_patch_options(const struct tact_pair_query *q,
                                                             int follows_bouchard_law)
{
    const struct tact_contact_law *law = q->law;
    int curved = is_either_shape_of_face_kind(q, TACT_FACES_CURVED);
    int plane = q->a->kind == TACT_SHAPE_HALFSPACE || q->b->kind == TACT_SHAPE_HALFSPACE;
    int uses_gradient_normal = plane || follows_bouchard_law || curved;
    int uses_equivalent_ellipse = follows_bouchard_law && !(law->ellipse_size > 0.0);
    struct tact_patch_options options = {
        law->modulus,
        curved,
        uses_equivalent_ellipse ? EQUIVALENT_ELLIPSE_SCALE : law->ellipse_size,
        uses_gradient_normal ? TACT_NORMAL_GRADIENT : q->options->normal,
        q->options->spin,
        law->tip_radius,
        law->tip_power,
    };
    return options;
}

static int make_patch(const struct tact_pair_query *q, const struct tact_moments *moments,
                      struct tact_patch_options *options, struct tact_patch *patch)
{
    int has_curved_and_flat_faces =
        !options->curved && is_either_shape_of_face_kind(q, TACT_FACES_MIXED);
    double exponent = has_curved_and_flat_faces ? tact_moments_exponent(moments) : 1.0;
    options->normal =
        exponent > MAX_VOLUME_GROWTH_EXPONENT_OF_PRISM ? TACT_NORMAL_GRADIENT : options->normal;
    int rc = tact_patch_from_moments(moments, options, patch);
    patch->target = q->law->overlap;
    patch->rolling_radius =
        tact_min(tact_shape_rolling_radius(q->a), tact_shape_rolling_radius(q->b));
    patch->exponent =
        exponent > MAX_VOLUME_GROWTH_EXPONENT_OF_PRISM ? tact_min(exponent, 2.0) : patch->exponent;
    return rc ? -ERANGE : 0;
}

/* Outline of the overlap, from the corners that the measurement found, where it was of two convex
 * solids; else the overlap is cut again. For 100 cubes on a floor, whose plane is the only one that
 * cuts, a cut takes 0.14 us a pair, and reloading 24 corners into the cache 0.25 us. */
static int find_volume_patch_outline(const struct tact_pair_query *q, struct tact_patch *patch)
{
    const struct tact_overlap_corners *corners = q->corners;
    if (corners && corners->count && !is_either_shape_of_face_kind(q, TACT_FACES_CURVED)) {
        return tact_outline_from_corners(corners,
                                         corners->was_solid_b_cut_by_a ? q->pose_b : q->pose_a,
                                         patch->center, patch->frame, patch->corner);
    }
    return tact_outline(q->a, q->pose_a, q->b, q->pose_b, patch->center, patch->frame,
                        patch->corner);
}

int tact_volume_measure_patch(const struct tact_pair_query *q, int follows_bouchard_law,
                              int outline, struct tact_patch *patch)
{
    struct tact_patch_options options = choose_volume_patch_options(q, follows_bouchard_law);
    int rc = make_patch(q, q->moments, &options, patch);
    if (!rc && outline && patch->kind == TACT_PATCH_ELLIPSE) {
        patch->corners = find_volume_patch_outline(q, patch);
        tact_patch_repair(patch);
    }
    return rc;
}

/* Makes the patch of a piece of the overlap, which is bounded by the planes about it. 0, or the
 * reason why there is none. */
static int make_patch_of_piece(const struct tact_pair_query *q, const double (*plane)[4],
                               int planes, struct tact_pair_piece *piece)
{
    const struct tact_mesh *a = q->a->mesh, *b = q->b->mesh;
    struct tact_patch_options options = choose_volume_patch_options(q, 0);
    struct tact_patch *patch = &piece->patch;
    /* a piece of an overlap has no rims that bend the gradient */
    options.normal = TACT_NORMAL_GRADIENT;
    if (tact_moments_of_overlap_in_planes(a, q->pose_a, b, q->pose_b, plane, planes,
                                          &piece->moments, NULL, NULL) != 1 ||
        make_patch(q, &piece->moments, &options, patch)) {
        return -EDOM;
    }
    if (q->options->polygon && patch->kind == TACT_PATCH_ELLIPSE) {
        patch->corners = tact_outline_of_overlap_in_planes(
            a, q->pose_a, b, q->pose_b, plane, planes, patch->center, patch->frame, patch->corner);
        tact_patch_repair(patch);
    }
    return 0;
}

/* 1 for a patch that is thin along its normal. Pieces of solids that overlap deeply meet in the
 * middle of one of them: there is no separation along all their normals, but there is along that of
 * the whole. */
static int is_patch_thin_at_its_depth(const struct tact_patch *patch)
{
    return patch->depth <= MAX_PIECE_DEPTH_RATIO * tact_max(patch->semi[0], patch->semi[1]);
}

/* Makes the pieces of an overlap; returns their number, or 0 where the overlap is planar or pieces
 * are too deep. */
static int make_patches_of_planar_pieces(const struct tact_pair_query *q,
                                         struct tact_pair_piece *piece)
{
    struct tact_planes_between_overlap_pieces pieces;
    int piece_count = 0, count = tact_overlap_pieces_find_planes(q, &pieces);
    for (int i = 0; i < count; i++) {
        if (make_patch_of_piece(q, (const double(*)[4])pieces.plane[i], count - 1,
                                &piece[piece_count])) {
            continue;
        }
        if (!is_patch_thin_at_its_depth(&piece[piece_count].patch)) {
            return 0;
        }
        piece_count++;
    }
    return piece_count;
}

static int may_split_overlap_into_pieces(const struct tact_shape *a, const struct tact_shape *b,
                                         const struct tact_world_options *options)
{
    return options->split && options->local == TACT_LOCAL_CONE &&
           tact_overlap_pieces_are_possible(a, b);
}

int tact_volume_supports_pair(const struct tact_shape *a, const struct tact_shape *b)
{
    int swapped;
    return tact_moments_method(a, b, &swapped) != TACT_MOMENTS_NONE;
}

static int count_volume_patches(const struct tact_shape *a, const struct tact_shape *b,
                                const struct tact_world_options *options)
{
    return may_split_overlap_into_pieces(a, b, options) ? TACT_PIECES
                                                        : tact_volume_supports_pair(a, b);
}

static int measure_volume_pair(const struct tact_pair_query *q, struct tact_patch *patch,
                               struct tact_pair_piece *piece)
{
    int follows_bouchard_law = q->options->local == TACT_LOCAL_BOUCHARD;
    int rc = tact_volume_measure_patch(q, follows_bouchard_law,
                                       !follows_bouchard_law && q->options->polygon, patch);
    if (rc || q->most == 1) {
        return rc;
    }
    return make_patches_of_planar_pieces(q, piece);
}

const struct tact_contact_model tact_model_volume = {
    .abi = TACT_ABI(struct tact_contact_model),
    .name = "volume",
    .moments = 1,
    .patches = count_volume_patches,
    .measure = measure_volume_pair,
};
