/*
 * Quadrature over the pressure of round patches, and their limit surface.
 *
 * With q = u Q, the pressure u^m P has the weight m u^(m - 1): the nodes are those of Gauss and
 * Jacobi, the roots of P_n^(0, m - 1)(2 u - 1), with weights m / ((1 - x^2) P'(x)^2) at x = 2 u - 1
 * (Abramowitz and Stegun, 25.4.33).
 */
#include <math.h>
#include "contact/elementary.h"
#include "contact/pair/field/field_model_internal.h"

enum { MAX_NEWTON_STEPS = 60, RINGS = 200, SECTORS = 96 };

#define PI 3.14159265358979323846

/* Value of the Jacobi polynomial P_n^(0, b) at x for n = TACT_FIELD_NODES, and its derivative. */
static double jacobi_polynomial(double b, double x, double *jacobi_polynomial_derivative)
{
    double last = 1.0, p = 0.5 * ((2.0 + b) * x - b);
    for (int n = 2; n <= TACT_FIELD_NODES; n++) {
        double s = 2.0 * n + b, next;
        next = (s - 1.0) * (s * (s - 2.0) * x - b * b) * p -
               2.0 * (n - 1.0) * (n + b - 1.0) * s * last;
        next /= 2.0 * n * (n + b) * (s - 2.0);
        last = p;
        p = next;
    }
    double n = TACT_FIELD_NODES, s = 2.0 * n + b;
    *jacobi_polynomial_derivative =
        (n * (-b - s * x) * p + 2.0 * n * (n + b) * last) / (s * (1.0 - x * x));
    return p;
}

static void find_quadrature_nodes(struct field_quadrature_rule *rule)
{
    double root[TACT_FIELD_NODES], slope, b = rule->power - 1.0;
    for (int i = 0; i < TACT_FIELD_NODES; i++) {
        /* Newton's method from the left end, with the roots already found divided out, converges to
         * the next root. */
        double x = i ? root[i - 1] : -1.0 + 1e-9;
        x += i ? 1e-9 : 0.0;
        for (int k = 0; k < MAX_NEWTON_STEPS; k++) {
            double p = jacobi_polynomial(b, x, &slope), others = 0.0;
            for (int j = 0; j < i; j++) {
                others += 1.0 / (x - root[j]);
            }
            x -= p / (slope - p * others);
        }
        root[i] = x;
        jacobi_polynomial(b, x, &slope);
        rule->node[i] = 0.5 * (1.0 + x);
        rule->weight[i] = rule->power / ((1.0 - x * x) * slope * slope);
    }
}

/* Friction of a disc with the pressure (1 - r^2)^m that slips and spins; tan(angle): spin times the
 * torsion arm over slip. Force and torque relative to their limits, squared. */
static void friction_of_slipping_disc(double m, double arm, double angle, double *f, double *torque)
{
    double v = tact_cos(angle), spin = tact_sin(angle) / arm, total = 0.0, force = 0.0,
           moment = 0.0;
    for (int i = 0; i < RINGS; i++) {
        double r = (i + 0.5) / RINGS, load = r * tact_pow(1.0 - r * r, m);
        for (int k = 0; k < SECTORS; k++) {
            double to = 2.0 * PI * (k + 0.5) / SECTORS;
            double x = r * tact_cos(to), y = r * tact_sin(to);
            double vx = v - spin * y, vy = spin * x, by = load / sqrt(vx * vx + vy * vy);
            total += load;
            force += by * vx;
            moment += by * (x * vy - y * vx);
        }
    }
    *f = force * force / (total * total);
    *torque = moment * moment / (total * total * arm * arm);
}

/* Computes the parameters of the limit surface (local/local_surface.c) from three ratios of slip to
 * spin. */
static void fit_limit_surface_of_round_patch(struct field_quadrature_rule *rule)
{
    double c[3], value[3], load = 0.0, lever = 0.0;
    for (int i = 0; i < RINGS; i++) {
        double r = (i + 0.5) / RINGS, p = r * tact_pow(1.0 - r * r, rule->power);
        load += p;
        lever += p * r;
    }
    for (int i = 0; i < 3; i++) {
        double f, m;
        friction_of_slipping_disc(rule->power, lever / load, PI / 8.0 * (i + 1), &f, &m);
        c[i] = f / (f + m);
        value[i] = (1.0 / (f + m) - 1.0) / (c[i] * (1.0 - c[i]));
    }
    double first = (value[0] - value[1]) / (c[0] - c[1]);
    double last = (value[1] - value[2]) / (c[1] - c[2]);
    rule->fit[2] = (first - last) / (c[0] - c[2]);
    rule->fit[1] = first - rule->fit[2] * (c[0] + c[1]);
    rule->fit[0] = value[0] - c[0] * (rule->fit[1] + c[0] * rule->fit[2]);
}

void tact_field_make_quadrature_rule(double power, struct field_quadrature_rule *rule)
{
    rule->power = power;
    find_quadrature_nodes(rule);
    for (int i = 0; i < TACT_FIELD_NODES; i++) {
        /* with u = 1 - y^2, y = 1 - node: m u^(m - 1) du = m node^(m - 1) (2 - node)^(m - 1) 2 y dy
         */
        double y = 1.0 - rule->node[i];
        rule->root[i] = y;
        rule->root_weight[i] = rule->weight[i] * 2.0 * y * tact_pow(1.0 + y, power - 1.0);
    }
    fit_limit_surface_of_round_patch(rule);
}
