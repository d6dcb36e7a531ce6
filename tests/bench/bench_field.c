/*
 * Time of a query of pressure fields, wrench and stiffness included, on the meshes of balls that
 * Drake makes: an octahedron whose edges are halved `level` times, each triangle a tetrahedron with
 * the centre. Between queries the second body moves by 0.1 mm, round a circle of 1 mm. For
 * tests/bench/field.
 *
 * bench_field LEVEL DEPTH_M [QUERIES]: prints {"us": median, "cold_us": median, "polygons": n};
 * cold are queries before each of which as many others took place as the scratch remembers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../unit/support/field_triangulation.h"
#include "timing.h"

/* Roll about x, then pitch about y, then yaw about z. */
static void quaternion_of_roll_pitch_yaw(double roll, double pitch, double yaw, double *quat)
{
    const double x[3] = {roll, 0.0, 0.0}, y[3] = {0.0, pitch, 0.0}, z[3] = {0.0, 0.0, yaw};
    double qx[4], qy[4], qz[4], yaw_pitch_quat[4];
    tact_quat_from_rotvec(qx, x);
    tact_quat_from_rotvec(qy, y);
    tact_quat_from_rotvec(qz, z);
    tact_quat_mul(yaw_pitch_quat, qz, qy);
    tact_quat_mul(quat, yaw_pitch_quat, qx);
}

struct soft_ball_pair {
    struct tact_pressure_field *ball;
    struct tact_field_scratch *scratch;
    struct tact_pose place; /* pose of the second ball, before it is moved round the circle */
    struct tact_field_contact contact;
};

/* Time of the query at step i of the circle, for the second ball turned by an angle [us]. */
static double time_field_query(struct soft_ball_pair *soft_ball_pair, int i, double turned)
{
    const double circular_path_radius = 1e-3, angle = 0.1 * i; /* [m], [rad]: 0.1 mm a step */
    const double yaw_rotation_vector[3] = {0.0, 0.0, turned};
    struct tact_pose at = tact_pose_identity(), place = soft_ball_pair->place;
    double turn[4];
    place.position[0] += circular_path_radius * cos(angle);
    place.position[1] += circular_path_radius * sin(angle);
    tact_quat_from_rotvec(turn, yaw_rotation_vector);
    tact_quat_mul(place.quat_wxyz, soft_ball_pair->place.quat_wxyz, turn);
    double start = thread_cpu_time_seconds();
    int rc = tact_field_touch(soft_ball_pair->ball, &at, soft_ball_pair->ball, &place,
                              soft_ball_pair->scratch, &soft_ball_pair->contact);
    double us = 1e6 * (thread_cpu_time_seconds() - start);
    if (rc != 1) {
        fprintf(stderr, "query: %d\n", rc);
        exit(2);
    }
    return us;
}

static double median_of_values(double *of, int count)
{
    qsort(of, (size_t)count, sizeof *of, compare_durations_ascending);
    return of[count / 2];
}

int main(int argc, char **argv)
{
    enum { COLD = 21, BETWEEN = 9 };
    const double radius = 0.03;
    int level = argc > 1 ? atoi(argv[1]) : 3, queries = argc > 3 ? atoi(argv[3]) : 200;
    double depth = argc > 2 ? strtod(argv[2], NULL) : 1e-3;
    if (level < 0 || level > 7 || !(depth > 0.0 && depth < radius) || queries < 1) {
        fprintf(stderr, "usage: bench_field LEVEL DEPTH_M [QUERIES]\n");
        return 2;
    }
    struct soft_ball_pair soft_ball_pair = {.ball = make_ball_field(radius, 1e5, level),
                                            .scratch = tact_field_scratch_create(40000),
                                            .place = tact_pose_identity()};
    double *us = malloc((size_t)queries * sizeof *us), cold[COLD], way[3] = {0.02, 0.01, 1.0};
    if (!soft_ball_pair.ball || !soft_ball_pair.scratch || !us) {
        return 2;
    }
    tact_v3_normalize(way, way);
    quaternion_of_roll_pitch_yaw(0.31, 0.17, 0.05, soft_ball_pair.place.quat_wxyz);
    tact_v3_scale(soft_ball_pair.place.position, way, 2.0 * radius - depth);
    for (int i = 0; i < queries; i++) {
        us[i] = time_field_query(&soft_ball_pair, i, 0.0);
    }
    const struct tact_field_contact last = soft_ball_pair.contact;
    for (int i = 0; i < COLD; i++) {
        for (int k = 1; k <= BETWEEN; k++) {
            time_field_query(&soft_ball_pair, i, 0.5 * k);
        }
        cold[i] = time_field_query(&soft_ball_pair, i, 0.0);
    }
    printf("{\"us\": %.2f, \"cold_us\": %.2f, \"polygons\": %zu, \"tried\": %zu, \"cells\": %zu}\n",
           median_of_values(us, queries), median_of_values(cold, COLD), last.polygons, last.tried,
           tact_field_cells(soft_ball_pair.ball));
    tact_field_free(soft_ball_pair.ball);
    tact_field_scratch_destroy(soft_ball_pair.scratch);
    free(us);
    return 0;
}
