/* Integrals over columns between a flat polygon of A and B's surface above it, four triangles at a
 * time; not installed. */
#ifndef TACT_CONTACT_MOMENTS_COLUMNS_INTERNAL_H
#define TACT_CONTACT_MOMENTS_COLUMNS_INTERNAL_H

#include <string.h>

#include "moments_internal.h"
#include "../simd_internal.h"

/* Queue of triangles whose columns are to be integrated, one a lane. */
struct tact_prism_columns_batch {
    tact_d4 corner[3][3]; /* [corner][coordinate], on A */
    tact_d4 height[3];    /* height of B's surface above each corner of the triangles [m], >= 0 */
    tact_d4 tau;          /* sign of each column: +1 where B faces up, else -1 */
};

/* Sums over the columns of integrated triangles. */
struct tact_prism_columns_sums {
    tact_d4 volume, volume_term_magnitude, first[3], second[6], gradient[3], torque[3];
};

/* Integration over columns: queue and sums. The n-th triangle is in lane n mod 8 on every
 * processor. Zero initially. */
struct tact_prism_columns {
    int queued_triangle_count;
    struct tact_prism_columns_batch queued_column_batches[2];
    struct tact_prism_columns_sums sums[2];
};

#define tact_prism_columns_add_triangle TACT_CPU_VARIANT(tact_prism_columns_add_triangle)
#define tact_prism_columns_sum_queued TACT_CPU_VARIANT(tact_prism_columns_sum_queued)

/* Adds the column above a convex polygon of n corners, in A's order, so counter-clockwise from
 * above where A faces up. */
void tact_prism_columns_add_triangle(struct tact_prism_columns *c, const tact_d4 *polygon,
                                     const double *height, int n, double tau);

/* Integrates the columns that are still queued and adds up the lanes of the sums. */
void tact_prism_columns_sum_queued(struct tact_prism_columns *c, struct tact_moment_sums *sums);

#endif
