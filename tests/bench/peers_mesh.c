/* Meshes: moments by tact and contact points by ODE, in alternation; the meshes are written for
 * comparisons by other programs. CPU time of this thread, medians.
 *
 *   peers_mesh           measures, one JSON object a line
 *   peers_mesh FOLDER    writes a.obj and b.obj there and prints the position of b */
#include "peers.h"

#include <string.h>

#ifdef TACT_ODE
#include <ode/ode.h>
#endif

#include "contact/moments/moments.h"

enum { REPEATS = 41, ROUNDS = 5 };

/* Radius of the two bodies, and the distance of their centres for a patch of 10 mm diameter [m].
 */
static const double BALL_RADIUS = 0.05, BALL_DISTANCE = 0.0995;

/* A ball with dents of a tenth of a millimetre, its poles on z. */
static struct tact_shape make_dented_ball(size_t triangles, double radius)
{
    struct tact_shape s = {.kind = TACT_SHAPE_MESH};
    struct tact_mesh *ball;
    if (tact_mesh_capsule(radius, 0.0, triangles, &ball)) {
        exit(2);
    }
    for (size_t i = 0; i < ball->vertex_count; i++) {
        double *v = ball->vertices + 3 * i, x = v[0] / radius, y = v[1] / radius, z = v[2] / radius;
        double by = sin(17.0 * x + 0.3) * sin(19.0 * y + 0.7) * sin(23.0 * z + 1.1);
        tact_v3_scale(v, v, 1.0 + 0.002 * by);
    }
    if (tact_mesh_create(ball->vertices, ball->vertex_count, ball->triangles, ball->triangle_count,
                         &s.owned, NULL)) {
        exit(2);
    }
    tact_mesh_free(ball);
    s.mesh = s.owned;
    return s;
}

/* Median time of queries at poses a micrometre apart, as from tick to tick; cold_start: only the
 * normal is passed from one to the next. */
static double time_overlap_queries(const struct tact_shape *a, const struct tact_shape *b,
                                   double centre_distance, int repeats, int cold_start,
                                   struct tact_moments *m)
{
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(1u << 20);
    static double query_times[20001];
    double normal[3] = {0.0};
    for (int i = 0; i < repeats; i++) {
        struct tact_pose pa = tact_pose_identity(), pb = pa;
        tact_v3_set(pb.position, centre_distance, 1e-6 * (i % 100), 0.0);
        if (cold_start) {
            tact_moments_scratch_destroy(scratch);
            scratch = tact_moments_scratch_create(1u << 20);
        }
        double start = thread_cpu_time_seconds();
        if (!scratch || tact_moments_pair(a, &pa, b, &pb, normal, scratch, m) != 1) {
            exit(2);
        }
        query_times[i] = thread_cpu_time_seconds() - start;
        tact_v3_scale(normal, m->gradient, -1.0 / tact_v3_norm(m->gradient));
    }
    tact_moments_scratch_destroy(scratch);
    return median_of_durations(query_times, repeats);
}

#ifdef TACT_ODE
static dGeomID to_ode(const struct tact_mesh *m)
{
    dTriMeshDataID data = dGeomTriMeshDataCreate();
    dTriIndex *index = calloc(3 * m->triangle_count, sizeof *index);
    for (size_t i = 0; i < 3 * m->triangle_count; i++) {
        index[i] = (dTriIndex)m->triangles[i];
    }
    dGeomTriMeshDataBuildDouble(data, m->vertices, 3 * sizeof(double), (int)m->vertex_count, index,
                                (int)(3 * m->triangle_count), 3 * sizeof(dTriIndex));
    return dCreateTriMesh(0, data, 0, 0, 0);
}

static double time_of_ode_collision(dGeomID ga, dGeomID gb, double centre_distance, int *contacts)
{
    static dContactGeom found[65000];
    static double query_times[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        dGeomSetPosition(gb, centre_distance, 1e-6 * i, 0.0);
        double start = thread_cpu_time_seconds();
        *contacts = dCollide(ga, gb, 65000, found, sizeof found[0]);
        query_times[i] = thread_cpu_time_seconds() - start;
    }
    return median_of_durations(query_times, REPEATS);
}
#endif

/* Times tact, cold and warm, and ODE in alternating rounds with a patch of 10 mm. */
static void print_query_times_of_tact_and_ode(const struct tact_shape *a,
                                              const struct tact_shape *b)
{
    double cold_start[ROUNDS], warm[ROUNDS];
    struct tact_moments m;
#ifdef TACT_ODE
    double ode[ROUNDS];
    int contacts = 0;
    dInitODE2(0);
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    dGeomID ga = to_ode(a->mesh), gb = to_ode(b->mesh);
#endif
    for (int i = 0; i < ROUNDS; i++) {
        cold_start[i] = time_overlap_queries(a, b, BALL_DISTANCE, REPEATS, 1, &m);
        warm[i] = time_overlap_queries(a, b, BALL_DISTANCE, REPEATS, 0, &m);
#ifdef TACT_ODE
        ode[i] = time_of_ode_collision(ga, gb, BALL_DISTANCE, &contacts);
#endif
    }
    printf(
        "{\"case\": \"100k x 98k, 10 mm patch\", \"tact\": %.9g, \"cold\": %.9g, \"volume\": %.17g",
        median_of_durations(warm, ROUNDS), median_of_durations(cold_start, ROUNDS), m.volume);
#ifdef TACT_ODE
    printf(", \"ode\": %.9g, \"ode_contacts\": %d", median_of_durations(ode, ROUNDS), contacts);
#endif
    puts("}");
}

static void print_fingertip_query_times(void)
{
    struct tact_shape finger = make_dented_ball(5000, 0.008), object = make_dented_ball(5000, 0.04),
                      ball = finger;
    struct tact_moments m;
    /* Contact patch of 2.5 mm diameter, overlap 0.1 mm deep. */
    double one = time_overlap_queries(&finger, &object, 0.0479, 2001, 0, &m), five = 0.0;
    printf("{\"case\": \"fingertip 5k x 5k, 0.1 mm\", \"tact\": %.9g, \"cold\": %.9g}\n", one,
           time_overlap_queries(&finger, &object, 0.0479, 501, 1, &m));
    for (int i = 0; i < 5; i++) {
        five += time_overlap_queries(&finger, &object, 0.0479 - 1e-5 * i, 501, 0, &m);
    }
    printf("{\"case\": \"five fingertips 5k x 5k\", \"tact\": %.9g}\n", five);
    ball.kind = TACT_SHAPE_SPHERE;
    ball.size[0] = 0.008;
    printf("{\"case\": \"sphere fingertip x 5k\", \"tact\": %.9g}\n",
           time_overlap_queries(&ball, &object, 0.0479, 2001, 0, &m));
    tact_shape_release(&finger);
    tact_shape_release(&object);
}

int main(int argc, char **argv)
{
    struct tact_shape a = make_dented_ball(100000, BALL_RADIUS),
                      b = make_dented_ball(98000, BALL_RADIUS);
    struct tact_moments m;
    if (argc > 1) {
        write_mesh_as_obj_file(argv[1], "a", a.mesh);
        write_mesh_as_obj_file(argv[1], "b", b.mesh);
        printf("%.17g 0 0\n", BALL_DISTANCE);
        return 0;
    }
    print_query_times_of_tact_and_ode(&a, &b);
    printf("{\"case\": \"100k x 98k, 15 mm deep\", \"tact\": %.9g}\n",
           time_overlap_queries(&a, &b, 0.085, 11, 0, &m));
    print_fingertip_query_times();
    tact_shape_release(&a);
    tact_shape_release(&b);
    return 0;
}
