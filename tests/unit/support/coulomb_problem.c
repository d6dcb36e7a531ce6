#include "coulomb_problem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/number.h"
#include "contact/vec.h"
#include "data.h"

const char *const coulomb_names[COULOMB_PROBLEMS] = {"pushed_box",
                                                     "ball_in_groove",
                                                     "kicked_from_stack",
                                                     "FC3D_Example1",
                                                     "FrictionContact3D_1c",
                                                     "FrictionContact3D_RR_1c",
                                                     "NESpheres_10_1",
                                                     "Rover1039",
                                                     "Rover1040",
                                                     "Rover11035",
                                                     "Rover4396"};

/* Reads the numbers that follow a key of the JSON text, with brackets and commas between them. */
static void parse_numbers_after_key(const char *text, const char *key, double *out, int count)
{
    const char *at = strstr(text, key);
    assert_non_null(at);
    at += strlen(key);
    for (int i = 0; i < count; i++) {
        at += strspn(at, " :,[]\n");
        char *end;
        out[i] = tact_number_read(at, &end);
        assert_true(end > at);
        at = end;
    }
}

/* Largest |W x| / |x|, by the power method on W'W. */
static double spectral_norm_of_delassus(const double *w, int n)
{
    double x[3 * MAX_COULOMB_CONTACTS], y[3 * MAX_COULOMB_CONTACTS], norm = 0;
    for (int i = 0; i < n; i++) {
        x[i] = 1 + 0.1 * i;
    }
    for (int pass = 0; pass < 2000; pass++) {
        double size = 0, yy = 0;
        for (int i = 0; i < n; i++) {
            size += x[i] * x[i];
        }
        for (int i = 0; i < n; i++) {
            y[i] = 0;
            for (int k = 0; k < n; k++) {
                y[i] += w[i * n + k] * x[k] / sqrt(size);
            }
            yy += y[i] * y[i];
        }
        norm = sqrt(yy);
        for (int i = 0; i < n; i++) {
            x[i] = 0;
            for (int k = 0; k < n; k++) {
                x[i] += w[k * n + i] * y[k];
            }
        }
    }
    return norm;
}

bool read_coulomb_problem(int index, struct coulomb_problem *p)
{
    char name[64], path[DATA_PATH];
    static char text[1 << 20];
    double count;
    snprintf(name, sizeof name, "friction_problems/%s.json", coulomb_names[index]);
    FILE *file = open_test_data_file(name, path);
    if (!file) {
        return false;
    }
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    fclose(file);
    parse_numbers_after_key(text, "\"nc\"", &count, 1);
    p->contacts = (int)count;
    assert_true(p->contacts > 0 && p->contacts <= MAX_COULOMB_CONTACTS);
    int n = 3 * p->contacts;
    parse_numbers_after_key(text, "\"mu\"", p->mu, p->contacts);
    parse_numbers_after_key(text, "\"q\"", p->q, n);
    parse_numbers_after_key(text, "\"W\"", p->w, n * n);
    p->norm = spectral_norm_of_delassus(p->w, n);
    return true;
}

static void compute_contact_velocities(const struct coulomb_problem *p, const double *r, double *u)
{
    int n = 3 * p->contacts;
    for (int i = 0; i < n; i++) {
        u[i] = p->q[i];
        for (int k = 0; k < n; k++) {
            u[i] += p->w[i * n + k] * r[k];
        }
    }
}

/* Projects x onto the cone {|x_t| <= mu x_n}. */
static void project_on_friction_cone(double mu, double *x)
{
    double t = hypot(x[1], x[2]);
    if (t <= mu * x[0]) {
        return;
    }
    double n = (x[0] + mu * t) / (1 + mu * mu), fit = t > 0 && n > 0 ? mu * n / t : 0;
    tact_v3_set(x, n > 0 ? n : 0, fit * x[1], fit * x[2]);
}

void add_coulomb_residual_terms(double mu, double norm, const double *r, const double *u,
                                double *squared_deviation_sum, double *size)
{
    double x[3] = {r[0] - (u[0] + mu * hypot(u[1], u[2])) / norm, r[1] - u[1] / norm,
                   r[2] - u[2] / norm};
    project_on_friction_cone(mu, x);
    for (int i = 0; i < 3; i++) {
        *squared_deviation_sum += (r[i] - x[i]) * (r[i] - x[i]);
        *size += r[i] * r[i];
    }
}

double compute_coulomb_residual(const struct coulomb_problem *p, const double *r)
{
    double u[3 * MAX_COULOMB_CONTACTS], squared_deviation_sum = 0, size = 0;
    compute_contact_velocities(p, r, u);
    for (int c = 0; c < p->contacts; c++) {
        add_coulomb_residual_terms(p->mu[c], p->norm, r + 3 * c, u + 3 * c, &squared_deviation_sum,
                                   &size);
    }
    return size > 0 ? sqrt(squared_deviation_sum / size) : sqrt(squared_deviation_sum);
}
