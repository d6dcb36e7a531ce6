/* Time of the moments of two cubes with common faces, compared with the same two displaced by a
 * thousandth of their edge along the face in contact: the least of many queries, taken in turn.
 * Prints the ratio and whether it is within its bound; exits with 1 where it is not. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "contact/moments/moments.h"
#include "tests/unit/support/grid_cube.h"

static const double BAR = 2.0;
static const double CUBE_EDGE = 2.0;

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Time [s] of one moments query of two cubes, of which b is displaced by `shift` along x and y and
 * is `depth` deep along z; checks the volume of the overlap. */
static double time_of_overlap_query(const struct tact_shape *cube, double depth, double shift,
                                    struct tact_moments_scratch *scratch)
{
    static const double normal[3] = {0.0, 0.0, -1.0}; /* pressures of the last tick */
    const struct tact_pose pa = tact_pose_identity();
    struct tact_pose pb = pa;
    struct tact_moments m;
    tact_v3_set(pb.position, shift, shift, CUBE_EDGE - depth);
    const double query_start_seconds = now_seconds();
    const int rc = tact_moments_pair(cube, &pa, cube, &pb, normal, scratch, &m);
    const double query_seconds = now_seconds() - query_start_seconds,
                 want = depth * (CUBE_EDGE - shift) * (CUBE_EDGE - shift);
    if (rc != 1 || !(fabs(m.volume / want - 1.0) < 1e-10)) {
        fprintf(stderr, "bench_common_faces: wrong moments: %d, volume %g for %g\n", rc, m.volume,
                want);
        exit(2);
    }
    return query_seconds;
}

/* Prints one row of times; returns whether the ratio of the two times is within the bound. */
static int compare_aligned_and_shifted_query_time(const struct tact_shape *cube, double depth,
                                                  struct tact_moments_scratch *scratch)
{
    double query_time_with_common_faces = INFINITY, query_time_with_shifted_faces = INFINITY;
    const double end = now_seconds() + 2.0;
    for (int i = 0; i < 10 || now_seconds() < end; i++) {
        query_time_with_common_faces =
            fmin(query_time_with_common_faces, time_of_overlap_query(cube, depth, 0.0, scratch));
        query_time_with_shifted_faces =
            fmin(query_time_with_shifted_faces,
                 time_of_overlap_query(cube, depth, 1e-3 * CUBE_EDGE, scratch));
    }
    const double ratio = query_time_with_common_faces / query_time_with_shifted_faces;
    printf("%9zu   %6.4f   %9.3f   %9.3f   %5.2f   %s\n", cube->mesh->triangle_count,
           depth / CUBE_EDGE, 1e3 * query_time_with_common_faces,
           1e3 * query_time_with_shifted_faces, ratio, ratio <= BAR ? "ok" : "OVER THE BAR");
    return ratio <= BAR;
}

int main(void)
{
    static const int cells_per_cube_edge[] = {13, 40, 160};
    static const double overlap_depths[] = {0.01, 0.001}; /* of the edge */
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(1u << 20);
    int kept = scratch != NULL;
    printf("triangles   depth    aligned [ms]  shifted   ratio, bar %.0f\n", BAR);
    for (size_t i = 0; scratch && i < sizeof cells_per_cube_edge / sizeof *cells_per_cube_edge;
         i++) {
        struct tact_mesh *mesh = make_grid_cube_mesh(cells_per_cube_edge[i]);
        const struct tact_shape cube = {.kind = TACT_SHAPE_MESH, .mesh = mesh};
        for (size_t k = 0; mesh && k < sizeof overlap_depths / sizeof *overlap_depths; k++) {
            kept &= compare_aligned_and_shifted_query_time(&cube, overlap_depths[k] * CUBE_EDGE,
                                                           scratch);
        }
        kept &= mesh != NULL;
        tact_mesh_free(mesh);
    }
    tact_moments_scratch_destroy(scratch);
    return !kept;
}
