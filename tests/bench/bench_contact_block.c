/* Time of one 6D block: residual and local solve by tact_local_cone(), as in a sweep, with a warm
 * start from the solution of a load of which each component differs by up to 1 %. Median over
 * batches; compared in the same run with a lower bound, one solve of a factored 6 x 6 system. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "contact/linear.h"
#include "contact/local/local.h"
#include "tests/unit/support/random.h"
#include "timing.h"

enum { PROBLEMS = 256, BATCHES = 401 };

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Motion of the contact of a box of 1 kg and 0.1 m. */
struct load {
    const char *name;
    /* contact velocities: sliding [m/s], spin [rad/s], turn about the edge [rad/s] */
    double sliding_speed, spin, turn;
    int corners; /* number of corners of the contact patch; 0: an ellipse; -1: an elastic patch */
};

static void make_contact_block_problem(const struct load *load, struct tact_local_problem *p)
{
    double m = uniform(0.5, 2), inertia = m * 0.1 * 0.1 / 6, arm[3] = {-0.05, 0, 0};
    double way = uniform(0, 6.28);
    memset(p, 0, sizeof *p);
    /* Delassus matrix S = J M^-1 J' of a free body with this lever arm */
    for (int i = 0; i < 3; i++) {
        p->s[7 * i] = 1 / m;
        p->s[7 * (3 + i)] = 1 / inertia;
    }
    arm[1] = uniform(-0.01, 0.01);
    arm[2] = uniform(-0.01, 0.01);
    const double cross[3][3] = {{0, arm[2], -arm[1]}, {-arm[2], 0, arm[0]}, {arm[1], -arm[0], 0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                p->s[6 * i + j] += cross[i][k] * cross[j][k] / inertia;
            }
            p->s[6 * i + 3 + j] = p->s[6 * (3 + j) + i] = -cross[i][j] / inertia;
        }
    }
    p->b[0] = -0.01;
    p->b[1] = load->sliding_speed * cos(way);
    p->b[2] = load->sliding_speed * sin(way);
    p->b[3] = load->spin;
    p->b[4] = load->turn * cos(way);
    p->b[5] = load->turn * sin(way);
    p->mu = 0.5;
    p->spin_arm = load->corners < 0 ? 0.002 : 0.038;
    p->surface = load->corners < 0 ? TACT_SURFACE_HERTZ : TACT_SURFACE_UNIFORM;
    p->semi[0] = p->semi[1] = load->corners < 0 ? 0 : 0.058;
    p->corners = load->corners > 0 ? load->corners : 0;
    for (int i = 0; i < p->corners; i++) {
        double angle = 2 * M_PI * (i + 0.5) / p->corners;
        p->corner[i][0] = 0.07 * cos(angle);
        p->corner[i][1] = 0.07 * sin(angle);
    }
    tact_local_prepare(p);
}

/* Median time of one solve of a contact block; *solve_time_with_factored_matrix: that of one solve
 * with its factored matrix [ns]. */
static double time_of_contact_block_solve(const struct load *load,
                                          double *solve_time_with_factored_matrix)
{
    static struct tact_local_problem p[PROBLEMS];
    static double warm[PROBLEMS][6], solve_time[BATCHES], least[BATCHES];
    double sum = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        make_contact_block_problem(load, &p[i]);
        for (int pass = 0; pass < 100 && (!pass || tact_local_residual(&p[i], warm[i]) > 1e-12);
             pass++) {
            tact_local_cone(&p[i], warm[i]);
        }
        for (int k = 0; k < 6; k++) {
            p[i].b[k] *= uniform(0.99, 1.01);
        }
    }
    for (int n = 0; n < BATCHES; n++) {
        double batch_start_seconds = now_seconds();
        for (int i = 0; i < PROBLEMS; i++) {
            double r[6];
            memcpy(r, warm[i], sizeof r);
            sum += tact_local_residual(&p[i], r);
            sum += tact_local_cone(&p[i], r) + r[0];
        }
        double middle = now_seconds();
        for (int i = 0; i < PROBLEMS; i++) {
            double r[6];
            memcpy(r, p[i].b, sizeof r);
            tact_ldl_solve(p[i].factor, p[i].rows, r);
            sum += r[0];
        }
        solve_time[n] = (middle - batch_start_seconds) / PROBLEMS;
        least[n] = (now_seconds() - middle) / PROBLEMS;
    }
    qsort(solve_time, BATCHES, sizeof *solve_time, compare_durations_ascending);
    qsort(least, BATCHES, sizeof *least, compare_durations_ascending);
    *solve_time_with_factored_matrix = 1e9 * least[BATCHES / 2];
    return isfinite(sum) ? 1e9 * solve_time[BATCHES / 2] : INFINITY;
}

int main(void)
{
    static const struct load contact_load_cases[] = {{"sticks, square", 0, 0, 0, 4},
                                                     {"sticks, elastic", 0, 0, 0, -1},
                                                     {"slides, square", 0.5, 0, 0, 4},
                                                     {"slides and spins, square", 0.5, 10, 0, 4},
                                                     {"slides, octagon", 0.5, 0, 0, 8},
                                                     {"slides and spins, octagon", 0.5, 10, 0, 8},
                                                     {"slides, elastic", 0.5, 0, 0, -1},
                                                     {"slides and spins, elastic", 0.5, 10, 0, -1},
                                                     {"slides, ellipse", 0.5, 0, 0, 0},
                                                     {"tips and slides, square", 0.5, 0, 3, 4},
                                                     {"tips and slides, ellipse", 0.5, 0, 3, 0}};
    printf("%-28s %10s %10s\n", "one block, warm", "ns", "floor ns");
    for (size_t i = 0; i < sizeof contact_load_cases / sizeof *contact_load_cases; i++) {
        double solve_time_with_factored_matrix,
            solve_time = time_of_contact_block_solve(&contact_load_cases[i],
                                                     &solve_time_with_factored_matrix);
        printf("%-28s %10.0f %10.0f\n", contact_load_cases[i].name, solve_time,
               solve_time_with_factored_matrix);
    }
    return 0;
}
