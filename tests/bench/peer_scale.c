/* The scenes of scale_scene.h in MuJoCo, which tests/bench/scale compares with tact. Newton's
 * solver at its tolerance of 1e-8, elliptic cones, one thread, no sleeping. */
#include "scale_scene.h"

#include <mujoco/mujoco.h>

static size_t append_mujoco_ground_xml(char *xml, size_t room, enum scaling_bench_scene which)
{
    size_t used = 0;
    for (int k = 0; k < 4; k++) {
        double turn = which != SCALING_BENCH_BALL_HEAP ? 0.0
                      : k % 2                          ? SCALING_BENCH_PIT_SLOPE
                                                       : -SCALING_BENCH_PIT_SLOPE;
        if (k == 0 || which == SCALING_BENCH_BALL_HEAP) {
            used += (size_t)snprintf(xml + used, room - used,
                                     "<geom type='plane' size='9 9 1' axisangle='%d %d 0 %.17g'/>",
                                     k / 2 == 0, k / 2 == 1, turn);
        }
    }
    return used;
}

static mjModel *make_model(const struct scaling_bench_options *o)
{
    size_t room = 4096 + 256 * (size_t)o->bodies, used;
    char *xml = malloc(room), error[512] = "";
    const char *shape = is_scaling_bench_scene_of_balls(o->which) ? "sphere" : "box";
    double size = is_scaling_bench_scene_of_balls(o->which) ? SCALING_BENCH_BALL_RADIUS
                                                            : SCALING_BENCH_CUBE_EDGE / 2;
    if (!xml) {
        return NULL;
    }
    used = (size_t)snprintf(
        xml, room,
        "<mujoco><compiler angle='radian'/><option timestep='%g' gravity='0 0 %g' solver='Newton' "
        "tolerance='1e-8' cone='elliptic'/><size memory='512M'/><default><geom "
        "friction='%g'/></default>"
        "<worldbody>",
        SCALING_BENCH_PERIOD,
        o->which == SCALING_BENCH_SEPARATE_BALLS ? 0.0 : -SCALING_BENCH_GRAVITY,
        SCALING_BENCH_FRICTION);
    used += append_mujoco_ground_xml(xml + used, room - used, o->which);
    for (int i = 0; i < o->bodies; i++) {
        double at[3];
        scaling_bench_body_position(o->which, i, o->bodies, at);
        used += (size_t)snprintf(
            xml + used, room - used,
            "<body pos='%.9g %.9g %.9g'><freejoint/><geom type='%s' size='%g %g %g' "
            "mass='%g'/></body>",
            at[0], at[1], at[2], shape, size, size, size,
            is_scaling_bench_scene_of_balls(o->which) ? SCALING_BENCH_BALL_MASS
                                                      : SCALING_BENCH_CUBE_MASS);
    }
    used += (size_t)snprintf(xml + used, room - used, "</worldbody></mujoco>");
    mjVFS files;
    mj_defaultVFS(&files);
    mj_addBufferVFS(&files, "scale.xml", xml, (int)used);
    mjModel *model = mj_loadXML("scale.xml", &files, error, sizeof error);
    mj_deleteVFS(&files);
    free(xml);
    if (!model) {
        fprintf(stderr, "peer_scale: %s\n", error);
    }
    return model;
}

static void step_mujoco_model(const struct scaling_bench_options *o, const mjModel *model,
                              mjData *data, int tick)
{
    for (int i = 0; i < o->bodies && o->which == SCALING_BENCH_PUSHED_CUBES; i++) {
        data->xfrc_applied[6 * (i + 1)] = scaling_bench_push_force(tick);
    }
    mj_step(model, data);
}

static double largest_body_displacement(const struct scaling_bench_options *o, const mjModel *model,
                                        const mjData *data)
{
    double worst = 0.0;
    for (int i = 0; i < o->bodies && !is_scaling_bench_scene_of_balls(o->which); i++) {
        double at[3], sum = 0.0;
        scaling_bench_body_position(o->which, i, o->bodies, at);
        for (int k = 0; k < 3; k++) {
            double d = data->qpos[model->jnt_qposadr[i] + k] - at[k];
            sum += d * d;
        }
        worst = fmax(worst, sqrt(sum));
    }
    return worst;
}

int main(int argc, char **argv)
{
    const struct scaling_bench_options o = parse_scaling_bench_arguments(argc, argv);
    double *step_durations = calloc((size_t)o.ticks, sizeof *step_durations), contacts = 0.0,
           residual = 0.0;
    double setup_start_us = scaling_bench_clock_us();
    mjModel *model = make_model(&o);
    mjData *data = model ? mj_makeData(model) : NULL;
    if (!data || !step_durations) {
        return 2;
    }
    double setup_seconds = 1e-6 * (scaling_bench_clock_us() - setup_start_us);
    for (int i = 0; i < o.bodies && o.which == SCALING_BENCH_SEPARATE_BALLS; i++) {
        data->qvel[6 * i] = SCALING_BENCH_SEPARATE_BALL_SPEED;
    }
    for (int k = 0; k < o.skipped; k++) {
        step_mujoco_model(&o, model, data, k);
    }
    for (int k = 0; k < o.ticks; k++) {
        double start = scaling_bench_clock_us();
        step_mujoco_model(&o, model, data, o.skipped + k);
        step_durations[k] = scaling_bench_clock_us() - start;
        contacts += (double)data->ncon / o.ticks;
        int last = data->solver_niter[0] < mjNSOLVER ? data->solver_niter[0] : mjNSOLVER;
        residual = last > 0 ? fmax(residual, data->solver[last - 1].gradient) : residual;
    }
    print_scaling_result("mujoco", &o, step_durations, setup_seconds,
                         scaling_bench_resident_memory_mb(), residual, contacts,
                         largest_body_displacement(&o, model, data));
    mj_deleteData(data);
    mj_deleteModel(model);
    free(step_durations);
    return 0;
}
