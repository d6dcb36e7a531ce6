#include "contact/compare/jet_internal.h"

#include <stddef.h>
#include "contact/elementary.h"

/* Exponents of s and t of each term of the Taylor polynomial. */
static const int monomial_exponents[JET_TERMS][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1},
                                                     {0, 2}, {3, 0}, {2, 1}, {1, 2}, {0, 3}};

/* Index of the coefficient of s^i t^j in a Taylor polynomial. */
static int monomial_index(int i, int j)
{
    static const int first_jet_term_of_degree[4] = {0, 1, 3, 6};
    return first_jet_term_of_degree[i + j] + j;
}

struct jet tact_jet_constant(double value)
{
    return (struct jet){{value}};
}

struct jet tact_jet_variable(double value, int k)
{
    struct jet r = {{value}};
    r.c[1 + k] = 1.0;
    return r;
}

struct jet tact_jet_add(struct jet a, struct jet b)
{
    for (int i = 0; i < JET_TERMS; i++) {
        a.c[i] += b.c[i];
    }
    return a;
}

struct jet tact_jet_scale(struct jet a, double s)
{
    for (int i = 0; i < JET_TERMS; i++) {
        a.c[i] *= s;
    }
    return a;
}

struct jet tact_jet_multiply(const struct jet *a, const struct jet *b)
{
    static const unsigned char term_indices_of_products[][3] = {
        /* indices of the term of a, of the term of b, and of their product */
        {0, 0, 0}, {0, 1, 1}, {0, 2, 2}, {0, 3, 3}, {0, 4, 4}, {0, 5, 5}, {0, 6, 6},
        {0, 7, 7}, {0, 8, 8}, {0, 9, 9}, {1, 0, 1}, {1, 1, 3}, {1, 2, 4}, {1, 3, 6},
        {1, 4, 7}, {1, 5, 8}, {2, 0, 2}, {2, 1, 4}, {2, 2, 5}, {2, 3, 7}, {2, 4, 8},
        {2, 5, 9}, {3, 0, 3}, {3, 1, 6}, {3, 2, 7}, {4, 0, 4}, {4, 1, 7}, {4, 2, 8},
        {5, 0, 5}, {5, 1, 8}, {5, 2, 9}, {6, 0, 6}, {7, 0, 7}, {8, 0, 8}, {9, 0, 9}};
    struct jet r = {{0.0}};
    for (size_t i = 0; i < sizeof term_indices_of_products / sizeof *term_indices_of_products;
         i++) {
        r.c[term_indices_of_products[i][2]] +=
            a->c[term_indices_of_products[i][0]] * b->c[term_indices_of_products[i][1]];
    }
    return r;
}

struct jet tact_jet_compose(const struct jet *a, const double f[4])
{
    struct jet x = *a, r = tact_jet_constant(f[3] / 6.0);
    x.c[0] = 0.0;
    r = tact_jet_multiply(&r, &x);
    r.c[0] += 0.5 * f[2];
    r = tact_jet_multiply(&r, &x);
    r.c[0] += f[1];
    r = tact_jet_multiply(&r, &x);
    r.c[0] += f[0];
    return r;
}

struct jet tact_jet_power(const struct jet *a, double p)
{
    const double x = a->c[0], y = tact_pow(x, p);
    const double f[4] = {y, p * y / x, p * (p - 1.0) * y / (x * x),
                         p * (p - 1.0) * (p - 2.0) * y / (x * x * x)};
    return tact_jet_compose(a, f);
}

struct jet tact_jet_derivative(const struct jet *a, int k)
{
    struct jet r = {{0.0}};
    for (int i = 1; i < JET_TERMS; i++) {
        const int p = monomial_exponents[i][0] - (k == 0), q = monomial_exponents[i][1] - (k == 1);
        if (p >= 0 && q >= 0) {
            r.c[monomial_index(p, q)] = monomial_exponents[i][k] * a->c[i];
        }
    }
    return r;
}

struct jet tact_jet_dot(const struct jet a[3], const struct jet b[3])
{
    struct jet r = tact_jet_multiply(&a[0], &b[0]);
    for (int i = 1; i < 3; i++) {
        r = tact_jet_add(r, tact_jet_multiply(&a[i], &b[i]));
    }
    return r;
}

void tact_jet_cross(struct jet r[3], const struct jet a[3], const struct jet b[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        r[i] = tact_jet_add(tact_jet_multiply(&a[j], &b[k]),
                            tact_jet_scale(tact_jet_multiply(&a[k], &b[j]), -1.0));
    }
}

void tact_jet_normalize(struct jet r[3], const struct jet a[3])
{
    struct jet taylor_polynomial_of_squared_norm = tact_jet_dot(a, a),
               inverse = tact_jet_power(&taylor_polynomial_of_squared_norm, -0.5);
    for (int i = 0; i < 3; i++) {
        r[i] = tact_jet_multiply(&a[i], &inverse);
    }
}
