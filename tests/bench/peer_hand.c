/*
 * The hand of hand_model.py in MuJoCo, which tests/bench/hand compares with tact.
 *
 *     peer_hand MODEL TICKS CLOSING
 *
 * The model has the drives as its actuators and two keyframes: their targets go from those of the
 * first to those of the second within CLOSING seconds, minimum jerk, and the ball's weight is
 * carried until then. Every step is timed, the targets included.
 *
 * Prints one JSON object; exits with 0, 2 on an error.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mujoco/mujoco.h>

struct counts {
    double contacts, self, residual, iterations;
    int most, unsolved_step_count;
};

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

static void step_mujoco_hand(const mjModel *model, mjData *data, int ball,
                             double finger_closing_time)
{
    double s = fmin(1.0, data->time / finger_closing_time);
    double closing_fraction = s * s * s * (10.0 + s * (6.0 * s - 15.0));
    for (int i = 0; i < model->nu; i++) {
        double open = model->key_ctrl[i], closed = model->key_ctrl[model->nu + i];
        data->ctrl[i] = open + closing_fraction * (closed - open);
    }
    data->xfrc_applied[6 * ball + 2] = s < 1.0 ? 9.81 * model->body_mass[ball] : 0.0;
    mj_step(model, data);
}

static void count_hand_contacts(const mjModel *model, const mjData *data, int ball,
                                struct counts *c)
{
    int touching = 0, last = data->solver_niter[0];
    for (int i = 0; i < data->ncon; i++) {
        const mjContact *contact = &data->contact[i];
        int is_contact_with_ball = model->geom_bodyid[contact->geom[0]] == ball ||
                                   model->geom_bodyid[contact->geom[1]] == ball;
        touching += contact->dist < 0.0;
        c->self += contact->dist < 0.0 && !is_contact_with_ball;
    }
    c->contacts += touching;
    c->most = touching > c->most ? touching : c->most;
    c->iterations += last;
    if (last > 0) {
        int index = (last < mjNSOLVER ? last : mjNSOLVER) - 1;
        c->residual = fmax(c->residual, data->solver[index].gradient);
        c->unsolved_step_count += last >= model->opt.iterations;
    }
}

static void print_mujoco_hand_result(int ticks, double *step_durations, const struct counts *c,
                                     const double *at)
{
    qsort(step_durations, (size_t)ticks, sizeof *step_durations, compare_ascending);
    printf("{\"engine\": \"mujoco\", \"version\": \"%s\", \"ticks\": %d, "
           "\"compute_us\": {\"p50\": %.3f, \"p99\": %.3f}, \"contacts\": %.2f, \"self\": %.2f, "
           "\"contacts_max\": %d, \"iterations\": %.2f, \"residual_max\": %.3g, "
           "\"unconverged\": %d, \"position\": [%.9g, %.9g, %.9g]}\n",
           mj_versionString(), ticks, step_durations[ticks / 2],
           step_durations[(long)ticks * 99 / 100], c->contacts / ticks, c->self / ticks, c->most,
           c->iterations / ticks, c->residual, c->unsolved_step_count, at[0], at[1], at[2]);
}

int main(int argc, char **argv)
{
    char error[512] = "";
    int ticks = argc == 4 ? atoi(argv[2]) : 0;
    if (ticks < 1) {
        fprintf(stderr, "usage: peer_hand MODEL TICKS CLOSING\n");
        return 2;
    }
    double finger_closing_time = atof(argv[3]),
           *step_durations = calloc((size_t)ticks, sizeof *step_durations);
    mjModel *model = mj_loadXML(argv[1], NULL, error, sizeof error);
    mjData *data = model ? mj_makeData(model) : NULL;
    if (!data || !step_durations) {
        fprintf(stderr, "peer_hand: %s\n", error);
        return 2;
    }
    struct counts counts = {.contacts = 0.0};
    int ball = mj_name2id(model, mjOBJ_BODY, "ball");
    mj_resetDataKeyframe(model, data, 0);
    for (int k = 0; k < ticks; k++) {
        double step_start_us = now_us();
        step_mujoco_hand(model, data, ball, finger_closing_time);
        step_durations[k] = now_us() - step_start_us;
        count_hand_contacts(model, data, ball, &counts);
    }
    print_mujoco_hand_result(ticks, step_durations, &counts, data->xpos + 3 * ball);
    mj_deleteData(data);
    mj_deleteModel(model);
    free(step_durations);
    return 0;
}
