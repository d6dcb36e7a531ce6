/*
 * The pinch of examples/scenes/ruler.yaml in MuJoCo, which tests/bench/pinch compares with tact.
 *
 * Two fingers of two links each, PD-driven, pinch a ruler 5 cm off its centre of mass with 4 N
 * each. MuJoCo has no patch: the torsion coefficient is set by hand, 20 % above the m g d / 2N
 * = 1.84 mm that the load needs. Of the solver settings that hold, these are the fastest found:
 * Newton, elliptic cone, impratio 10, stiff contacts and 10 noslip iterations. The ruler's weight
 * is compensated while the fingers settle, then it acts for 5 s; every step of those is timed, the
 * PD law included. Its creep is by how much its centre moves in the last 4 s.
 *
 * Prints one JSON object; exits with 0 where the ruler was held, 1 where it was not, 2 on an error.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mujoco/mujoco.h>

#define GRIP_SETTLING_STEPS 300
#define STEPS_AFTER_RULER_RELEASE 5000
#define CREEP_MEASUREMENT_STEPS 4000
#define RULER_TILT_LIMIT_DEGREES 0.5
#define RULER_SLIP_LIMIT_M 1e-4 /* [m] */

static const double gravity = 9.81;          /* [m/s^2] */
static const double ruler_mass = 0.03;       /* [kg] */
static const double ruler_half_width = 1e-3; /* [m], along the pinch */
/* distance of the ruler's centre of mass from the pinch point [m] */
static const double ruler_offset = 0.05;
static const double torsion = 2.2e-3; /* [m] */
static const double friction = 0.8;
static const double force = 4.0;        /* [N] per finger */
static const double link_length = 0.05; /* [m] */
static const double tip_radius = 8e-3;  /* [m] */
/* position of a finger's first joint [m]: y (mirrored for the other finger) and z */
static const double base[2] = {0.04, 0.08};
static const double stiffness[2] = {2.0, 1.0};  /* [N m/rad] */
static const double damping[2] = {0.02, 0.005}; /* [N m s/rad] */

static const char *const scene =
    "<mujoco><option timestep='0.001' gravity='0 0 -%g' solver='Newton' cone='elliptic' "
    "impratio='10'"
    " noslip_iterations='10' integrator='implicitfast'/><size memory='16M'/>"
    "<default><geom condim='4' solref='0.004 1' solimp='0.99 0.999 0.001'/></default><worldbody>"
    "%s%s"
    "<body name='ruler' pos='%g 0 0'><freejoint/><geom type='box' size='0.15 %g 0.015' mass='%g'"
    " contype='1' conaffinity='2' friction='%g %g 0.0001'/></body></worldbody></mujoco>";

static const char *const finger_xml_template =
    "<body pos='0 %g %g' gravcomp='1'><joint type='hinge' axis='1 0 0'/>"
    "<inertial pos='0 0 -0.025' mass='0.03' diaginertia='6.73e-6 6.73e-6 9.6e-7'/>"
    "<body pos='0 0 -%g' gravcomp='1'><joint type='hinge' axis='1 0 0'/>"
    "<inertial pos='0 0 -0.025' mass='0.03' diaginertia='6.73e-6 6.73e-6 9.6e-7'/>"
    "<geom name='tip%d' type='sphere' size='%g' pos='0 0 -%g' contype='2' conaffinity='1' mass='0'"
    " friction='%g %g 0.0001'/></body></body>";

/* Joint angles [rad] and PD targets [rad] of a finger that touches the ruler from `side` (+1, -1)
 * and presses with `force`: a two-link chain in the plane x = 0, links down at angle 0. */
static void find_finger_angles_and_targets(int side, double angle[2], double target[2])
{
    double y = side * (tip_radius + ruler_half_width - base[0]);
    double z = -base[1];
    double reach = atan2(y, -z);
    double bend = acos(hypot(y, z) / (2.0 * link_length));
    double push = -side * force; /* along y */

    angle[0] = reach + side * bend;
    angle[1] = -2.0 * side * bend;
    target[0] = angle[0] - z * push / stiffness[0];
    target[1] = angle[1] + link_length * cos(angle[0] + angle[1]) * push / stiffness[1];
}

static mjModel *make_model(void)
{
    char finger_xml[2][1024], xml[4096], error[512] = "";
    mjVFS files;

    for (int f = 0; f < 2; f++)
        snprintf(finger_xml[f], sizeof finger_xml[f], finger_xml_template, f ? -base[0] : base[0],
                 base[1], link_length, f, tip_radius, link_length, friction, torsion);
    int length = snprintf(xml, sizeof xml, scene, gravity, finger_xml[0], finger_xml[1],
                          ruler_offset, ruler_half_width, ruler_mass, friction, torsion);
    mj_defaultVFS(&files);
    mj_addBufferVFS(&files, "pinch.xml", xml, length);
    mjModel *model = mj_loadXML("pinch.xml", &files, error, sizeof error);
    mj_deleteVFS(&files);
    if (!model)
        fprintf(stderr, "peer_mujoco: %s\n", error);
    return model;
}

/* Pose of the ruler: rotation about y [deg] and the pinch point in its frame, x and z [m]; by how
 * much its centre moves in the last CREEP_MEASUREMENT_STEPS [m]. */
struct ruler_pose_in_grip {
    double turn;
    double x, z;
    double creep;
};

static struct ruler_pose_in_grip measure_ruler_grip(const mjModel *model, const mjData *data)
{
    int ruler = mj_name2id(model, mjOBJ_BODY, "ruler");
    const double *position_of_tip_0 = data->geom_xpos + 3 * mj_name2id(model, mjOBJ_GEOM, "tip0");
    const double *position_of_tip_1 = data->geom_xpos + 3 * mj_name2id(model, mjOBJ_GEOM, "tip1");
    const double *r = data->xmat + 9 * ruler, *x = data->xpos + 3 * ruler;
    double tip_midpoint[3];

    for (int i = 0; i < 3; i++)
        tip_midpoint[i] = 0.5 * (position_of_tip_0[i] + position_of_tip_1[i]) - x[i];
    return (struct ruler_pose_in_grip){
        .turn = atan2(-r[6], r[0]) * 180.0 / 3.14159265358979323846,
        .x = r[0] * tip_midpoint[0] + r[3] * tip_midpoint[1] + r[6] * tip_midpoint[2],
        .z = r[2] * tip_midpoint[0] + r[5] * tip_midpoint[1] + r[8] * tip_midpoint[2],
    };
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Runs the pinch; times[STEPS_AFTER_RULER_RELEASE] get the duration of each step after the release
 * [us]. */
static struct ruler_pose_in_grip simulate_pinch(const mjModel *model, mjData *data,
                                                double *step_durations)
{
    int weight = 6 * mj_name2id(model, mjOBJ_BODY, "ruler") + 2;
    const double *centre = data->xpos + 3 * mj_name2id(model, mjOBJ_BODY, "ruler");
    double target[4], settled[3] = {0};
    struct ruler_pose_in_grip start = {0};

    for (int f = 0; f < 2; f++)
        find_finger_angles_and_targets(f ? -1 : 1, data->qpos + 2 * f, target + 2 * f);
    for (int k = 0; k < GRIP_SETTLING_STEPS + STEPS_AFTER_RULER_RELEASE; k++) {
        if (k == GRIP_SETTLING_STEPS) {
            mj_kinematics(model, data);
            start = measure_ruler_grip(model, data);
        }
        if (k == GRIP_SETTLING_STEPS + STEPS_AFTER_RULER_RELEASE - CREEP_MEASUREMENT_STEPS) {
            mj_kinematics(model, data);
            memcpy(settled, centre, sizeof settled);
        }
        double step_start_us = now_us();
        for (int j = 0; j < 4; j++)
            data->qfrc_applied[j] =
                stiffness[j % 2] * (target[j] - data->qpos[j]) - damping[j % 2] * data->qvel[j];
        data->xfrc_applied[weight] = k < GRIP_SETTLING_STEPS ? ruler_mass * gravity : 0.0;
        mj_step(model, data);
        if (k >= GRIP_SETTLING_STEPS)
            step_durations[k - GRIP_SETTLING_STEPS] = now_us() - step_start_us;
    }
    mj_kinematics(model, data);
    struct ruler_pose_in_grip end = measure_ruler_grip(model, data);
    return (struct ruler_pose_in_grip){
        end.turn - start.turn, end.x - start.x, end.z - start.z,
        hypot(hypot(centre[0] - settled[0], centre[1] - settled[1]), centre[2] - settled[2])};
}

static int compare_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    static double step_durations[STEPS_AFTER_RULER_RELEASE];
    mjModel *model = make_model();
    mjData *data = model ? mj_makeData(model) : NULL;
    if (!data)
        return 2;

    struct ruler_pose_in_grip moved = simulate_pinch(model, data, step_durations);
    double slip = hypot(moved.x, moved.z);
    int held = fabs(moved.turn) < RULER_TILT_LIMIT_DEGREES && slip < RULER_SLIP_LIMIT_M;
    qsort(step_durations, STEPS_AFTER_RULER_RELEASE, sizeof step_durations[0], compare_ascending);
    printf("{\"engine\": \"mujoco\", \"version\": \"%s\", \"ticks\": %d, "
           "\"compute_us\": {\"p50\": %.3f, \"p99\": %.3f}, "
           "\"turn_deg\": %.5f, \"slip_mm\": %.5f, \"creep_m\": %.3e, \"held\": %s}\n",
           mj_versionString(), STEPS_AFTER_RULER_RELEASE,
           step_durations[STEPS_AFTER_RULER_RELEASE / 2],
           step_durations[STEPS_AFTER_RULER_RELEASE * 99 / 100], moved.turn, slip * 1e3,
           moved.creep, held ? "true" : "false");
    mj_deleteData(data);
    mj_deleteModel(model);
    return held ? 0 : 1;
}
