/*
 * Time of a query of pressure fields, wrench and stiffness included, on the meshes of balls that
 * Drake makes: an octahedron whose edges are halved `level` times, each triangle a tetrahedron with
 * the centre. Between queries the second body moves by 0.1 mm. For tests/bench/field.
 *
 * bench_field LEVEL DEPTH_M [QUERIES]: prints {"us": median, "polygons": n}.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../unit/support/field_skin.h"

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Roll about x, then pitch about y, then yaw about z. */
static void quaternion_of_roll_pitch_yaw(double roll, double pitch, double yaw, double *quat)
{
    const double x[3] = {roll, 0.0, 0.0}, y[3] = {0.0, pitch, 0.0}, z[3] = {0.0, 0.0, yaw};
    double qx[4], qy[4], qz[4], both[4];
    tact_quat_from_rotvec(qx, x);
    tact_quat_from_rotvec(qy, y);
    tact_quat_from_rotvec(qz, z);
    tact_quat_mul(both, qz, qy);
    tact_quat_mul(quat, both, qx);
}

int main(int argc, char **argv)
{
    const double radius = 0.03;
    int level = argc > 1 ? atoi(argv[1]) : 3, queries = argc > 3 ? atoi(argv[3]) : 200;
    double depth = argc > 2 ? strtod(argv[2], NULL) : 1e-3;
    if (level < 0 || level > 7 || !(depth > 0.0 && depth < radius) || queries < 1) {
        fprintf(stderr, "usage: bench_field LEVEL DEPTH_M [QUERIES]\n");
        return 2;
    }
    struct tact_pressure_field *ball = make_ball_field(radius, 1e5, level);
    struct tact_field_scratch *scratch = tact_field_scratch_create(40000);
    struct tact_pose at = tact_pose_identity(), place = at;
    struct tact_field_contact c = {0};
    double *us = malloc((size_t)queries * sizeof *us), way[3] = {0.02, 0.01, 1.0};
    if (!ball || !scratch || !us) {
        return 2;
    }
    tact_v3_normalize(way, way);
    quaternion_of_roll_pitch_yaw(0.31, 0.17, 0.05, place.quat_wxyz);
    for (int i = 0; i < queries; i++) {
        tact_v3_scale(place.position, way, 2.0 * radius - depth);
        place.position[0] += i % 2 ? 1e-4 : 0.0; /* it slides to and fro */
        double start = cpu_seconds();
        int rc = tact_field_touch(ball, &at, ball, &place, scratch, &c);
        us[i] = 1e6 * (cpu_seconds() - start);
        if (rc != 1) {
            fprintf(stderr, "query: %d\n", rc);
            return 2;
        }
    }
    qsort(us, (size_t)queries, sizeof *us, compare_doubles);
    printf("{\"us\": %.2f, \"polygons\": %zu, \"tried\": %zu, \"cells\": %zu}\n", us[queries / 2],
           c.polygons, c.tried, tact_field_cells(ball));
    tact_field_free(ball);
    tact_field_scratch_destroy(scratch);
    free(us);
    return 0;
}
