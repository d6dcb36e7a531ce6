/* How the time of one moments query grows, as CSV: with the triangles of the two meshes, with the
 * depth of the overlap, and with the number of pairs of a scene. CPU time, medians. Drawn by
 * tests/bench/curves. */
#include "peers.h"

#include "contact/moments/moments.h"

enum { MOST_REPEATS = 51 };

static struct tact_shape make_ball_mesh(size_t triangles, double radius)
{
    struct tact_shape s = {.kind = TACT_SHAPE_MESH};
    if (tact_mesh_capsule(radius, 0.0, triangles, &s.owned)) {
        exit(2);
    }
    s.mesh = s.owned;
    return s;
}

/* Median time over slightly different poses; *pairs: number of listed triangle pairs. */
static double time_overlap_query(const struct tact_shape *a, const struct tact_shape *b,
                                 double depth, int repeats, struct tact_moments_scratch *scratch,
                                 long *pairs)
{
    static double query_times[MOST_REPEATS];
    double normal[3] = {0.0}, apart = a->mesh->radius + b->mesh->radius - depth;
    struct tact_pose pa = tact_pose_identity(), pb = pa;
    for (int i = 0; i < repeats; i++) {
        struct tact_moments m;
        tact_v3_set(pb.position, apart, 1e-6 * i, 0.0);
        double start = thread_cpu_time_seconds();
        if (tact_moments_pair(a, &pa, b, &pb, normal, scratch, &m) < 0) {
            exit(2);
        }
        query_times[i] = thread_cpu_time_seconds() - start;
        tact_v3_scale(normal, m.gradient, -1.0);
    }
    struct tact_prism_frame frame;
    const struct tact_prism_pair *list;
    *pairs = tact_prism_frame(a->mesh, &pa, b->mesh, &pb, normal, &frame)
                 ? tact_prism_pairs(a->mesh, &pa, b->mesh, &pb, &frame, scratch, &list)
                 : 0;
    return median_of_durations(query_times, repeats);
}

static void print_query_time_by_triangles(size_t most, struct tact_moments_scratch *scratch)
{
    static const size_t triangle_counts[7] = {1000, 3000, 10000, 30000, 100000, 300000, 1000000};
    for (int i = 0; i < 7 && triangle_counts[i] <= most; i++) {
        size_t n = triangle_counts[i];
        struct tact_shape a = make_ball_mesh(n, 0.05), b = make_ball_mesh(n, 0.05);
        static const double overlap_depths[3] = {0.0001, 0.0005, 0.005};
        for (int k = 0; k < 3; k++) {
            long pairs;
            double t = time_overlap_query(&a, &b, overlap_depths[k], n > 50000 ? 7 : MOST_REPEATS,
                                          scratch, &pairs);
            printf("triangles,%zu,%g,%.9g,%ld\n", a.mesh->triangle_count, overlap_depths[k], t,
                   pairs);
        }
        fflush(stdout);
        tact_shape_release(&a);
        tact_shape_release(&b);
    }
}

static void print_query_time_by_depth(struct tact_moments_scratch *scratch)
{
    static const size_t triangle_counts[3] = {1000, 10000, 100000};
    for (int k = 0; k < 3; k++) {
        struct tact_shape a = make_ball_mesh(triangle_counts[k], 0.05),
                          b = make_ball_mesh(triangle_counts[k], 0.05);
        for (double depth = 1e-5; depth < 0.09; depth *= 2.0) {
            long pairs;
            double t = time_overlap_query(&a, &b, depth, triangle_counts[k] > 50000 ? 5 : 21,
                                          scratch, &pairs);
            printf("depth,%zu,%g,%.9g,%ld\n", a.mesh->triangle_count, depth, t, pairs);
        }
        fflush(stdout);
        tact_shape_release(&a);
        tact_shape_release(&b);
    }
}

/* Several pairs in contact, each of its own bodies, measured one after the other. */
static void print_query_time_by_number_of_pairs(struct tact_moments_scratch *scratch)
{
    enum { MOST = 32 };
    static struct tact_shape a[MOST], b[MOST];
    static const size_t triangle_counts[2] = {1000, 5000};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < MOST; i++) {
            a[i] = make_ball_mesh(triangle_counts[k], 0.008);
            b[i] = make_ball_mesh(triangle_counts[k], 0.04);
        }
        for (int n = 1; n <= MOST; n *= 2) {
            double total_query_time = 0.0;
            long pairs, all = 0;
            for (int i = 0; i < n; i++) {
                total_query_time += time_overlap_query(&a[i], &b[i], 2e-4, 7, scratch, &pairs);
                all += pairs;
            }
            printf("pairs,%zu,%d,%.9g,%ld\n", a[0].mesh->triangle_count, n, total_query_time, all);
        }
        fflush(stdout);
        for (int i = 0; i < MOST; i++) {
            tact_shape_release(&a[i]);
            tact_shape_release(&b[i]);
        }
    }
}

int main(int argc, char **argv)
{
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(1u << 24);
    if (!scratch) {
        return 2;
    }
    puts("curve,triangles,x,seconds,triangle_pairs");
    print_query_time_by_triangles(argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000, scratch);
    print_query_time_by_depth(scratch);
    print_query_time_by_number_of_pairs(scratch);
    tact_moments_scratch_destroy(scratch);
    return 0;
}
