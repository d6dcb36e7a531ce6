/*
 * The stack of examples/scenes/stack.yaml in MuJoCo, which tests/bench/stack compares with tact.
 *
 * Ten cubes of 5 cm and 125 g, friction 0.5, dropped from a millimetre each, for 11 s of 1 ms
 * steps; every step is timed. Newton's solver at its tolerance of 1e-8 and pyramidal cones,
 * MuJoCo's defaults and the fastest of its solvers here. Its creep is by how much a cube moves from
 * 2 s on.
 *
 * Prints one JSON object; exits with 0 where the stack stands, 1 where it does not, 2 on an error.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mujoco/mujoco.h>

#define SIMULATED_STEPS 11000
#define SETTLING_STEPS 2000
#define CUBE_COUNT 10
#define ALLOWED_DRIFT_PER_CUBE                                                                     \
    1e-3 /* [m], sideways; MuJoCo's soft contacts sink by some tenths of a millimetre */

static const double edge = 0.05;  /* [m] */
static const double mass = 0.125; /* [kg] */
static const double gap = 1e-3;   /* [m] */
static const double friction = 0.5;

static mjModel *make_model(void)
{
    char xml[8192], error[512] = "";
    mjVFS files;
    int length = snprintf(xml, sizeof xml,
                          "<mujoco><option timestep='0.001' gravity='0 0 -9.81' solver='Newton' "
                          "tolerance='1e-8'/><size memory='16M'/><default><geom friction='%g'/>"
                          "</default><worldbody><geom type='plane' size='1 1 1'/>",
                          friction);
    for (int i = 0; i < CUBE_COUNT; i++) {
        length += snprintf(xml + length, sizeof xml - (size_t)length,
                           "<body pos='0 0 %g'><freejoint/><geom type='box' size='%g %g %g' "
                           "mass='%g'/></body>",
                           (i + 1) * gap + (i + 0.5) * edge, edge / 2, edge / 2, edge / 2, mass);
    }
    length += snprintf(xml + length, sizeof xml - (size_t)length, "</worldbody></mujoco>");
    mj_defaultVFS(&files);
    mj_addBufferVFS(&files, "stack.xml", xml, length);
    mjModel *model = mj_loadXML("stack.xml", &files, error, sizeof error);
    mj_deleteVFS(&files);
    if (!model)
        fprintf(stderr, "peer_stack: %s\n", error);
    return model;
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Largest distance of a cube from its ideal position, horizontal and vertical [m]. */
static double largest_body_displacement(const mjModel *model, const mjData *data)
{
    double worst = 0;
    for (int i = 0; i < CUBE_COUNT; i++) {
        const double *p = data->qpos + model->jnt_qposadr[i];
        worst = fmax(worst, hypot(p[0], p[1]));
        worst = fmax(worst, fabs(p[2] - (i + 0.5) * edge));
    }
    return worst;
}

/* Copies the positions of all cubes, 3 coordinates each [m]. */
static void copy_cube_positions(const mjModel *model, const mjData *data,
                                double position[3 * CUBE_COUNT])
{
    for (int i = 0; i < CUBE_COUNT; i++)
        memcpy(position + 3 * i, data->qpos + model->jnt_qposadr[i], 3 * sizeof *position);
}

/* Largest distance between two positions of a cube [m]. */
static double largest_distance_between(const double *first, const double *second)
{
    double most = 0;
    for (int i = 0; i < 3 * CUBE_COUNT; i += 3)
        most = fmax(most, hypot(hypot(second[i] - first[i], second[i + 1] - first[i + 1]),
                                second[i + 2] - first[i + 2]));
    return most;
}

int main(void)
{
    static double step_durations[SIMULATED_STEPS];
    double settled[3 * CUBE_COUNT] = {0}, last[3 * CUBE_COUNT];
    mjModel *model = make_model();
    mjData *data = model ? mj_makeData(model) : NULL;
    if (!data)
        return 2;
    for (int k = 0; k < SIMULATED_STEPS; k++) {
        if (k == SETTLING_STEPS)
            copy_cube_positions(model, data, settled);
        double step_start_us = now_us();
        mj_step(model, data);
        step_durations[k] = now_us() - step_start_us;
    }
    copy_cube_positions(model, data, last);
    double creep = largest_distance_between(settled, last);
    double moved = largest_body_displacement(model, data);
    int held = moved < CUBE_COUNT * ALLOWED_DRIFT_PER_CUBE;
    qsort(step_durations, SIMULATED_STEPS, sizeof step_durations[0], compare_ascending);
    printf("{\"engine\": \"mujoco\", \"version\": \"%s\", \"ticks\": %d, "
           "\"compute_us\": {\"p50\": %.3f, \"p99\": %.3f}, \"moved_mm\": %.5f, "
           "\"creep_m\": %.3e, \"held\": %s}\n",
           mj_versionString(), SIMULATED_STEPS, step_durations[SIMULATED_STEPS / 2],
           step_durations[SIMULATED_STEPS * 99 / 100], moved * 1e3, creep, held ? "true" : "false");
    mj_deleteData(data);
    mj_deleteModel(model);
    return held ? 0 : 1;
}
