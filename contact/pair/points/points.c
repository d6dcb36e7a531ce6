/* Contact model that solves the patch of an overlap as contact points (point_internal.h): for
 * comparison. */
#include "contact/pair/models_internal.h"
#include "contact/pair/volume/volume_internal.h"

static int count_point_patches(const struct tact_shape *a, const struct tact_shape *b,
                               const struct tact_world_options *options)
{
    (void)options;
    return tact_volume_supports_pair(a, b);
}

static int measure_contact_points(const struct tact_pair_query *q, struct tact_patch *patch,
                                  struct tact_pair_piece *piece)
{
    (void)piece;
    return tact_volume_measure_patch(q, 0, 1, patch);
}

const struct tact_contact_model tact_model_points = {
    .abi = TACT_ABI(struct tact_contact_model),
    .name = "points",
    .moments = 1,
    .points = 1,
    .patches = count_point_patches,
    .measure = measure_contact_points,
};
