/*
 * The extent at the nodes inside: finite differences with arms that end on the surface (Shortley
 * and Weller 1938), solved by successive over-relaxation. The matrix is diagonally dominant without
 * positive off-diagonal entries, so that the solution is between the values on the surface and in
 * the core.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/field/lattice_internal.h"
#include "contact/pair/field/nearest_internal.h"
#include "contact/vec.h"

enum { MAX_RELAXATION_SWEEPS = 4000 };
/* Relative change of the values in a sweep below which the relaxation has converged. */
#define CONVERGED_VALUE_CHANGE 1e-9
#define PI 3.14159265358979323846

/* A boundary value problem for u on the nodes inside: lap u = u / length^2. */
struct problem {
    struct lattice *l;
    double inverse_squared_decay_length; /* 1 / length^2 [1/m^2] */
    double solution_on_solid_surface;    /* u on the surface */
    /* depths of the nodes, relative to that of the core, where u = 1; NULL: no core */
    const double *depth;
    double overrelaxation_factor;
};

/* Returns 1 where the arm from a node to a neighbour ends at an unknown; else 0, with *end = u at
 * its end, and *arm [steps] shortened where the core begins within it. */
static int arm_towards_neighbour(const struct problem *p, size_t node, size_t next, double *arm,
                                 double *end)
{
    const struct lattice *l = p->l;
    *end = p->solution_on_solid_surface;
    if (*arm < 1.0 || l->kind[next] != LATTICE_NODE_INSIDE_SOLID) {
        return 0;
    }
    if (p->depth && p->depth[next] >= 1.0) {
        double d = p->depth[node];
        *arm = tact_max((1.0 - d) / (p->depth[next] - d), 1e-6);
        *end = 1.0;
        return 0;
    }
    return 1;
}

/* Sets the weights of the six neighbours of a node, and the node's own weight. Returns the sum of
 * weight times u over the arms that end before a neighbour. */
static double compute_neighbour_weights(const struct problem *p, size_t node, double weight[6],
                                        double *own)
{
    const struct lattice *l = p->l;
    double sum = 0.0;
    *own = p->inverse_squared_decay_length;
    for (int k = 0; k < 3; k++) {
        double arm[2], end[2], h2 = l->step[k] * l->step[k];
        int is_inside_neighbour[2];
        memcpy(arm, &l->node_arm_lengths[l->cut[node]].of[2 * k], sizeof arm);
        for (int side = 0; side < 2; side++) {
            size_t next = side ? node + l->stride[k] : node - l->stride[k];
            is_inside_neighbour[side] =
                arm_towards_neighbour(p, node, next, &arm[side], &end[side]);
        }
        for (int side = 0; side < 2; side++) {
            double w = 2.0 / (h2 * arm[side] * (arm[0] + arm[1]));
            *own += w;
            sum += is_inside_neighbour[side] ? 0.0 : w * end[side];
            weight[2 * k + side] = is_inside_neighbour[side] ? w : 0.0;
        }
    }
    return sum;
}

static double relax_lattice_node(const struct problem *p, size_t node)
{
    const struct lattice *l = p->l;
    double weight[6], own, sum = compute_neighbour_weights(p, node, weight, &own);
    for (int k = 0; k < 3; k++) {
        sum += weight[2 * k] * l->value[node - l->stride[k]] +
               weight[2 * k + 1] * l->value[node + l->stride[k]];
    }
    return sum / own;
}

/* Relaxes all nodes once. Returns 1 where a value changes by more than CONVERGED_VALUE_CHANGE. */
static int relax_all_lattice_nodes(const struct problem *p)
{
    struct lattice *l = p->l;
    const size_t sx = l->stride[0], sy = l->stride[1], sz = l->stride[2];
    double neighbour_weight_along_axis[3], own = p->inverse_squared_decay_length;
    int has_unconverged_node = 0;
    for (int k = 0; k < 3; k++) {
        neighbour_weight_along_axis[k] = 1.0 / (l->step[k] * l->step[k]);
        own += 2.0 * neighbour_weight_along_axis[k];
    }
    for (int k = 0; k < 3; k++) {
        neighbour_weight_along_axis[k] /= own;
    }
    for (size_t i = 0; i < l->inside_node_count; i++) {
        size_t node = l->inside[i];
        double *u = &l->value[node], to;
        if (p->depth && p->depth[node] >= 1.0) {
            continue;
        }
        if (l->cut[node] || p->depth) {
            to = relax_lattice_node(p, node);
        } else {
            to = neighbour_weight_along_axis[0] * (*(u + sx) + *(u - sx)) +
                 neighbour_weight_along_axis[1] * (*(u + sy) + *(u - sy)) +
                 neighbour_weight_along_axis[2] * (*(u + sz) + *(u - sz));
        }
        double change = p->overrelaxation_factor * (to - *u);
        *u += change;
        has_unconverged_node |= fabs(change) > CONVERGED_VALUE_CHANGE * fabs(*u);
    }
    return has_unconverged_node;
}

/* Optimal factor of successive over-relaxation for a box of the lattice's size (Young 1954). */
static double optimal_relaxation_factor(const struct lattice *l,
                                        double inverse_squared_decay_length)
{
    double sum = 0.0, whole = 0.5 * inverse_squared_decay_length;
    for (int k = 0; k < 3; k++) {
        double h2 = 1.0 / (l->step[k] * l->step[k]);
        sum += h2 * tact_cos(PI / (l->nodes[k] - 2 * LATTICE_PAD));
        whole += h2;
    }
    double radius = sum / whole;
    return 2.0 / (1.0 + sqrt(1.0 - radius * radius));
}

/* Gives unit arms to the nodes without arms that lack a neighbour inside on some side, which is
 * possible by rounding of the lattice: they become nodes next to the surface. */
static int set_arms_of_isolated_nodes(struct lattice *l)
{
    size_t isolated_node_count = 0;
    for (size_t i = 0; i < l->inside_node_count; i++) {
        size_t node = l->inside[i];
        int are_all_neighbours_inside = 1;
        for (int k = 0; k < 3 && !l->cut[node]; k++) {
            are_all_neighbours_inside = are_all_neighbours_inside &&
                                        l->kind[node - l->stride[k]] == LATTICE_NODE_INSIDE_SOLID &&
                                        l->kind[node + l->stride[k]] == LATTICE_NODE_INSIDE_SOLID;
        }
        if (!are_all_neighbours_inside) {
            l->cut[node] = UINT32_MAX;
            isolated_node_count++;
        }
    }
    struct lattice_arm_lengths *node_arm_lengths =
        realloc(l->node_arm_lengths,
                (l->node_arm_set_count + isolated_node_count + 1) * sizeof *node_arm_lengths);
    if (!node_arm_lengths) {
        return -ENOMEM;
    }
    l->node_arm_lengths = node_arm_lengths;
    for (size_t i = 0; i < l->inside_node_count && isolated_node_count; i++) {
        if (l->cut[l->inside[i]] == UINT32_MAX) {
            l->cut[l->inside[i]] = (uint32_t)l->node_arm_set_count;
            node_arm_lengths[l->node_arm_set_count++] =
                (struct lattice_arm_lengths){{1.0, 1.0, 1.0, 1.0, 1.0, 1.0}};
        }
    }
    return 0;
}

static int relax_until_converged(struct problem *p, struct tact_error *err)
{
    int relaxation_sweep_count = 0;
    p->overrelaxation_factor = optimal_relaxation_factor(p->l, p->inverse_squared_decay_length);
    while (relaxation_sweep_count < MAX_RELAXATION_SWEEPS && relax_all_lattice_nodes(p)) {
        relaxation_sweep_count++;
    }
    return relaxation_sweep_count < MAX_RELAXATION_SWEEPS
               ? 0
               : tact_error_set(
                     err, -EDOM,
                     "the pressure field of the mesh could not be computed: its equations did not "
                     "converge in %d sweeps; expected larger cells (`cell`)",
                     MAX_RELAXATION_SWEEPS);
}

static int solve_screened_poisson(struct lattice *l, double thickness, struct tact_error *err)
{
    struct problem p = {.l = l,
                        .inverse_squared_decay_length = 1.0 / (thickness * thickness),
                        .solution_on_solid_surface = 1.0};
    for (size_t i = 0; i < l->inside_node_count; i++) {
        l->value[l->inside[i]] = 1.0;
    }
    int rc = relax_until_converged(&p, err);
    for (size_t i = 0; i < l->inside_node_count; i++) {
        double *u = &l->value[l->inside[i]];
        *u = -thickness * tact_log(tact_min(tact_max(*u, 1e-300), 1.0));
    }
    return rc;
}

static void compute_node_depths(struct lattice *l)
{
    for (size_t i = 0; i < l->inside_node_count; i++) {
        int at[3];
        double x[3];
        lattice_position_of_node(l, l->inside[i], at);
        for (int k = 0; k < 3; k++) {
            x[k] = mesh_coordinate_of_lattice_position(l, k, at[k]);
        }
        l->value[l->inside[i]] = tact_mesh_distance(l->mesh, x);
    }
}

static int solve_laplace_equation(struct lattice *l, double thickness, struct tact_error *err)
{
    struct problem p = {.l = l};
    double *depth = malloc(l->count * sizeof *depth);
    int core = 0;
    if (!depth) {
        return -ENOMEM;
    }
    compute_node_depths(l);
    for (size_t i = 0; i < l->inside_node_count; i++) {
        double *u = &l->value[l->inside[i]];
        depth[l->inside[i]] = *u / thickness;
        core |= *u >= thickness;
        *u = tact_min(*u / thickness, 1.0);
    }
    p.depth = depth;
    int rc = core ? relax_until_converged(&p, err)
                  : tact_error_set(err, -EDOM,
                                   "no place of the mesh is %g m deep, where a laplace field has "
                                   "its core; expected a smaller thickness, or another kind",
                                   thickness);
    for (size_t i = 0; i < l->inside_node_count; i++) {
        l->value[l->inside[i]] *= thickness;
    }
    free(depth);
    return rc;
}

int tact_lattice_compute_extent(struct lattice *l, const struct tact_extent_recipe *recipe,
                                struct tact_error *err)
{
    int rc = set_arms_of_isolated_nodes(l);
    if (rc) {
        return rc;
    }
    switch (recipe->kind) {
    case TACT_EXTENT_LAPLACE:
        return solve_laplace_equation(l, recipe->thickness, err);
    case TACT_EXTENT_DISTANCE:
        compute_node_depths(l);
        return 0;
    default:
        return solve_screened_poisson(l, recipe->thickness, err);
    }
}
