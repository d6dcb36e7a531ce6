/* Soft solids by pressure fields: plates with a wave on a layer, bouncing balls, cubes on cubes,
 * bolts in nuts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "scenes.h"
#include "simulation.h"

#define G 9.81

/* Elastic layer of the scene sinusoid.yaml. */
#define LAYER_MODULUS_WITHOUT_LATERAL_STRAIN 2.0e4 /* M = E (1 - v) / ((1 + v) (1 - 2 v)) [Pa] */
#define LAYER_THICKNESS 0.01
#define POISSON_RATIO 0.2
#define PLATE_WAVELENGTH 0.04 /* wavelength of the plate's surface, and width of a plate [m] */

enum { NODES = 128 }; /* of a wave */

/* Deflection of the layer's surface under a pressure of 1 Pa times cos(k x): linear elasticity in
 * plane strain, no friction on top, fixed below. */
static double layer_deflection_under_wave(double k)
{
    const double v = POISSON_RATIO, x = k * LAYER_THICKNESS, b = 3.0 - 4.0 * v;
    const double youngs_modulus =
        LAYER_MODULUS_WITHOUT_LATERAL_STRAIN * (1.0 + v) * (1.0 - 2.0 * v) / (1.0 - v);
    if (k == 0.0) {
        return LAYER_THICKNESS / LAYER_MODULUS_WITHOUT_LATERAL_STRAIN;
    }
    return 2.0 * (1.0 - v * v) / (youngs_modulus * k) * (b * sinh(2.0 * x) - 2.0 * x) /
           (b * cosh(2.0 * x) + 2.0 * x * x + 5.0 - 12.0 * v + 8.0 * v * v);
}

/* Solves a x = b, symmetric and positive definite, by Cholesky's method. */
static void solve_by_cholesky(int n, double a[NODES][NODES], double *b)
{
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++) {
                sum -= a[i][k] * a[j][k];
            }
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            b[i] -= a[i][k] * b[k];
        }
        b[i] /= a[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            b[i] -= a[k][i] * b[k];
        }
        b[i] /= a[i][i];
    }
}

/* Solves for the pressures [Pa] of the nodes in contact; those of the others are 0. */
static void solve_contact_pressures(const double column[NODES], const double depth[NODES],
                                    const int touches[NODES], double pressure[NODES])
{
    static double a[NODES][NODES];
    double b[NODES];
    int at[NODES], n = 0;
    for (int i = 0; i < NODES; i++) {
        if (touches[i]) {
            b[n] = depth[i];
            at[n++] = i;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            a[i][j] = column[(at[i] - at[j] + NODES) % NODES];
        }
    }
    solve_by_cholesky(n, a, b);
    memset(pressure, 0, NODES * sizeof *pressure);
    for (int i = 0; i < n; i++) {
        pressure[at[i]] = b[i];
    }
}

/* Force [N] on a plate with its lowest line `depth` deep in the elastic layer, one of an endless
 * row of waves; *field: the force of the pressure field, M depth / thickness everywhere. */
static double wavy_plate_force(double amplitude, double depth, double *field)
{
    double column[NODES] = {0}, at[NODES], pressure[NODES], force = 0.0;
    int touches[NODES], changes = 1;
    *field = 0.0;
    for (int i = 0; i < NODES; i++) {
        at[i] = depth - amplitude * (1.0 - cos(2.0 * M_PI * i / NODES));
        touches[i] = at[i] > 0.0;
        *field += LAYER_MODULUS_WITHOUT_LATERAL_STRAIN / LAYER_THICKNESS * fmax(at[i], 0.0) *
                  PLATE_WAVELENGTH * PLATE_WAVELENGTH / NODES;
        for (int k = -NODES / 2; k < NODES / 2; k++) {
            column[i] += layer_deflection_under_wave(2.0 * M_PI * abs(k) / PLATE_WAVELENGTH) *
                         cos(2.0 * M_PI * k * i / NODES) / NODES;
        }
    }
    for (int round = 0; changes; round++) {
        assert_true(round < 50);
        solve_contact_pressures(column, at, touches, pressure);
        changes = 0;
        for (int i = 0; i < NODES; i++) {
            /* depth of a node that remains where the layer deflects under the pressures */
            double left = at[i];
            for (int j = 0; j < NODES; j++) {
                left -= column[(i - j + NODES) % NODES] * pressure[j];
            }
            int now = touches[i] ? pressure[i] >= 0.0 : left > 1e-12;
            changes += now != touches[i];
            touches[i] = now;
        }
    }
    for (int i = 0; i < NODES; i++) {
        force += pressure[i] * PLATE_WAVELENGTH * PLATE_WAVELENGTH / NODES;
    }
    return force;
}

void check_sinusoid_scene(void)
{
    static const struct {
        const char *name;
        double amplitude, mass; /* [m], [kg] */
        /* relative amount by which the force of a pressure field is less than the exact one, and
         * its tolerance */
        double field_force_below_elastic_layer, scatter;
    } plates[] = {{"flat", 0.0003, 0.2283384, 0.0, 1e-4},
                  {"wavy", 0.0015, 0.0829346, 0.083, 0.002},
                  {"sharp", 0.0045, 0.0466812, 0.228, 0.005}};
    struct simulation p;
    simulate_scene("sinusoid", 0.2, &p);
    for (int i = 0; i < 3; i++) {
        const struct body_state *end = simulation_body_at(&p, plates[i].name, -1);
        double depth = -end->position[2], field, weight = plates[i].mass * G;
        double elastic = wavy_plate_force(plates[i].amplitude, depth, &field);
        double field_force_below_elastic_layer = 1.0 - weight / elastic;
        print_message("    amplitude %.1f mm: %.4f mm deep, carries %.4f N; field %.4f N, elastic "
                      "layer %.4f N: %.2f %% less\n",
                      1e3 * plates[i].amplitude, 1e3 * depth, weight, field, elastic,
                      1e2 * field_force_below_elastic_layer);
        assert_true(fabs(weight / field - 1.0) < 1e-3);
        assert_true(fabs(field_force_below_elastic_layer -
                         plates[i].field_force_below_elastic_layer) < plates[i].scatter);
    }
    assert_true(largest_final_speed(&p) < 1e-6);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}

#define BALL_RADIUS 0.02 /* radius of the balls of bounce.yaml [m] */

/* A ball of bounce.yaml: mass, and the law and the damping of its field. */
struct ball {
    const char *name;
    double modulus, power, dissipation; /* [Pa], [1], [s] */
};

/* Force [N] of a ball of a thickness of its radius, `depth` deep, and its slope [N/m]: over the
 * disc of contact by shells of equal pressure. */
static double soft_ball_force(const struct ball *ball, double depth, double *slope)
{
    enum { SHELLS = 64 };
    double force[2] = {0.0, 0.0};
    for (int side = 0; side < 2; side++) {
        double d = fmax(depth, 0.0) + side * 1e-7;
        for (int i = 0; i < SHELLS; i++) {
            double inside = d * (i + 0.5) / SHELLS;
            force[side] += ball->modulus * pow(inside / BALL_RADIUS, ball->power) * 2.0 * M_PI *
                           (BALL_RADIUS - inside) * d / SHELLS;
        }
    }
    *slope = (force[1] - force[0]) / 1e-7;
    return force[0];
}

struct depth_and_speed_of_bounce {
    double deepest, speed; /* greatest depth [m]; speed after the bounce over the speed before it */
};

/* Simulates the bounce of a ball of this mass that falls from a height, by the midpoint rule. */
static struct depth_and_speed_of_bounce integrate_bounce(const struct ball *ball, double mass,
                                                         double height, double dissipation)
{
    const double step = 2e-6, impact_velocity = -sqrt(2.0 * G * height);
    struct depth_and_speed_of_bounce out = {0.0, 0.0};
    double z = 0.0, v = impact_velocity;
    do {
        double zm = z, vm = v, a = 0.0;
        for (int half = 0; half < 2; half++) {
            double slope, force = zm < 0.0 ? soft_ball_force(ball, -zm, &slope) : 0.0;
            a = zm < 0.0 ? fmax(force - dissipation * slope * vm, 0.0) / mass - G : -G;
            zm = z + 0.5 * step * v;
            vm = v + 0.5 * step * a;
        }
        z += step * vm;
        v += step * a;
        out.deepest = fmax(out.deepest, -z);
        out.speed = fmax(out.speed, -v / impact_velocity);
    } while (z < 0.0);
    return out;
}

void check_bounce_scene(void)
{
    static const struct ball ball_cases[] = {
        {"foam", 4.8e5, 1.0, 0.0}, {"rubber", 1.35e5, 0.5, 0.0}, {"gel", 4.8e5, 1.0, 0.002}};
    struct simulation p;
    simulate_scene("bounce", 0.2, &p);
    for (int i = 0; i < 3; i++) {
        struct depth_and_speed_of_bounce is = {0.0, 0.0};
        double height = simulation_body_at(&p, ball_cases[i].name, 0.0)->position[2] - BALL_RADIUS;
        double impact_velocity = 0.0, up = 0.0;
        for (int t = 0; t < p.ticks; t++) {
            const struct body_state *b = simulation_body_at(&p, ball_cases[i].name, t * p.period);
            is.deepest = fmax(is.deepest, BALL_RADIUS - b->position[2]);
            impact_velocity = fmax(impact_velocity, -b->twist[2]);
            up = fmax(up, b->twist[2]);
        }
        is.speed = up / impact_velocity;
        const struct depth_and_speed_of_bounce exact =
            integrate_bounce(&ball_cases[i], 0.033, height, ball_cases[i].dissipation);
        const struct depth_and_speed_of_bounce tick =
            integrate_bounce(&ball_cases[i], 0.033, height, ball_cases[i].dissipation + p.period);
        print_message("    %s: %.3f mm deep, parts at %.4f of its speed; exact %.3f mm, %.4f; with "
                      "a tick of dissipation more %.3f mm, %.4f\n",
                      ball_cases[i].name, 1e3 * is.deepest, is.speed, 1e3 * exact.deepest,
                      exact.speed, 1e3 * tick.deepest, tick.speed);
        assert_true(fabs(is.speed - tick.speed) < 0.005 && is.speed < exact.speed);
        assert_true(fabs(is.deepest / tick.deepest - 1.0) < 0.03);
    }
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}

/* Force [N] between two boxes with slopes k [Pa/m] of pressure, `depth` deep in one another, the
 * first with a square face of that width within the face of the other. Where the first one's side
 * is nearer than the surface of equal pressure, it is less deep there: that surface turns up. */
static double soft_boxes_force(double k, double other, double width, double depth)
{
    /* depth of the surface of equal pressure in the first box [m] */
    double level = depth * other / (k + other);
    double flat = width - 2.0 * level;
    return k * level * flat * flat + 4.0 * k * level * level * (width / 2.0 - 2.0 * level / 3.0);
}

void check_soft_cubes_scene(void)
{
    const double rubber_pressure_slope = 1.2e5 / 0.02, foam_pressure_slope = 4e4 / 0.02;
    struct simulation p;
    simulate_scene("soft_cubes", 1.0, &p);
    const double *middle = simulation_body_at(&p, "middle", -1)->position;
    const double *top = simulation_body_at(&p, "top", -1)->position;
    const double below = 0.03 - middle[2], above = 0.05 - (top[2] - middle[2]);
    const double weight[2] = {0.7 * G, 0.2 * G};
    const double force[2] = {
        soft_boxes_force(foam_pressure_slope, rubber_pressure_slope, 0.06, below),
        soft_boxes_force(rubber_pressure_slope, foam_pressure_slope, 0.04, above)};
    const double distance_slid = largest_horizontal_drift(&p, 0.25);
    print_message(
        "    %.4f mm deep, %.6f N of %.6f N; %.4f mm deep, %.6f N of %.6f N; slid %.0e m\n",
        1e3 * below, force[0], weight[0], 1e3 * above, force[1], weight[1], distance_slid);
    assert_true(fabs(force[0] / weight[0] - 1.0) < 1e-6);
    assert_true(fabs(force[1] / weight[1] - 1.0) < 1e-6);
    assert_true(distance_slid < 1e-12);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}

/* What the socket of socket.yaml, a part of a sphere, exerts on its ball. */
struct socket_load {
    double force, torque; /* integral of the pressure's part upward [N], and of the pressure times
                             its distance from the vertical axis [N m] */
};

/* Load of the socket on the ball, whose centre is `below` under that of the socket. */
static struct socket_load socket_load_on_ball(double below)
{
    enum { RINGS = 20000 };
    const double socket_radius = 0.024, ball = 0.02, slope = 4e5 / 0.02;
    struct socket_load sum = {0.0, 0.0};
    for (int i = 0; i < RINGS; i++) {
        double angle = 0.5 * (i + 0.5) / RINGS; /* angle from the lowest point, to beyond the rim */
        double from = sqrt(socket_radius * socket_radius + below * below -
                           2.0 * socket_radius * below * cos(angle));
        double load = slope * fmax(ball - from, 0.0) * 2.0 * M_PI * socket_radius * socket_radius *
                      sin(angle) * 0.5 / RINGS;
        sum.force += load * cos(angle);
        sum.torque += load * socket_radius * sin(angle);
    }
    return sum;
}

void check_socket_scene(void)
{
    const double mass = 0.2, inertia = 0.4 * mass * 0.02 * 0.02, friction = 0.3;
    double low = 0.004, high = 0.006;
    struct simulation p;
    simulate_scene("socket", 0.4, &p);
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        *(socket_load_on_ball(middle).force < mass * G ? &low : &high) = middle;
    }
    const struct socket_load exact = socket_load_on_ball(low);
    const double below = -simulation_body_at(&p, "ball", -1)->position[2];
    const double first = simulation_body_at(&p, "ball", 0.05)->twist[5];
    const double spin_at_end = simulation_body_at(&p, "ball", 0.15)->twist[5];
    const double torque = inertia * (first - spin_at_end) / 0.1, limit = friction * exact.torque;
    print_message("    %.4f mm deep, exact %.4f; braked by %.4f mN m, of Coulomb's friction %.4f\n",
                  1e3 * (below - 0.004), 1e3 * (low - 0.004), 1e3 * torque, 1e3 * limit);
    assert_true(fabs((below - 0.004) / (low - 0.004) - 1.0) < 0.1);
    assert_true(fabs(torque / limit - 1.0) < 0.01);
    assert_true(largest_final_speed(&p) < 1e-9);
    simulation_free(&p);
}

/* Mean time [s] between the passages of a body's height, or tilt about y, through a value, and
 * back. */
static double mean_crossing_period(const struct simulation *p, const char *name, int measures_tilt,
                                   double crossing_level)
{
    double last = 0.0, first = 0.0, latest = 0.0;
    int level_crossing_count = 0;
    for (int t = 0; t < p->ticks; t++) {
        const struct body_state *b = simulation_body_at(p, name, t * p->period);
        double now =
            (measures_tilt ? 2.0 * asin(b->quat_wxyz[2]) : b->position[2]) - crossing_level;
        if (t && (now > 0.0) != (last > 0.0)) {
            latest = p->period * (t - now / (now - last));
            first = level_crossing_count ? first : latest;
            level_crossing_count++;
        }
        last = now;
    }
    assert_true(level_crossing_count > 4);
    return 2.0 * (latest - first) / (level_crossing_count - 1);
}

void check_floating_boxes_scene(void)
{
    const double k = 2e4 / 0.02, mass = 0.2, weight = mass * G; /* [Pa/m], [kg], [N] */
    const double depth = weight / (k * 0.06 * 0.04), edge = sqrt(weight / (k * 0.04));
    const double inertia = mass * (0.06 * 0.06 + 0.03 * 0.03) / 12.0;
    /* restoring stiffness as of a ship: k times the second moment of the water line, less the
     * weight times the height of the centre of mass over that of the displaced volume */
    const double stiffness = k * pow(0.06, 3.0) * 0.04 / 12.0 - weight * (0.015 - 0.5 * depth);
    const struct {
        const char *name;
        int measures_tilt;
        double crossing_level, exact;
    } boxes[] = {
        {"heaves", 0, 0.015 - depth, 2.0 * M_PI * sqrt(depth / G)},
        {"rocks", 1, 0.0, 2.0 * M_PI * sqrt(inertia / stiffness)},
        {"edge", 0, 0.04 * sqrt(0.5) - edge, 2.0 * M_PI * sqrt(edge / (2.0 * G))},
    };
    struct simulation p;
    simulate_scene("floating_boxes", 0.4, &p);
    for (int i = 0; i < 3; i++) {
        double period = mean_crossing_period(&p, boxes[i].name, boxes[i].measures_tilt,
                                             boxes[i].crossing_level);
        print_message("    %s with a period of %.4f ms, exact %.4f ms\n", boxes[i].name,
                      1e3 * period, 1e3 * boxes[i].exact);
        assert_true(fabs(period / boxes[i].exact - 1.0) < 0.002);
    }
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}

#define BOLT_MASS 0.1
#define BOLT_INERTIA 3.2e-6
#define BOLT_LEAD (0.008 / (2.0 * M_PI)) /* lead of the bolt's thread [m/rad] */

/* Acceleration [m/s^2] of a bolt down in its nut of two turns: the pressure is proportional to the
 * depth along the normal of the flank, and acts on the crest of the bolt's thread too as far as
 * that is in the nut; Coulomb's friction is against the slip along the thread. 0 where it holds. */
static double exact_bolt_acceleration(double friction)
{
    enum { RINGS = 2000 };
    const double inner = 0.0064, outer = 0.01, flank = 0.2586, thread_lead = BOLT_LEAD, slope = 2e7;
    double axial_force_of_unit_depth = 0.0, along = 0.0, torque = 0.0, crest = 0.0, depth = 0.0,
           acceleration = 0.0;
    for (int i = 0; i < RINGS;
         /* force and torque for a depth of 1 along the axis, a pressure slope of 1 and a radian of
          * thread */
         i++) {
        double step = (outer - inner) / RINGS, r = inner + step * (i + 0.5),
               slip = hypot(r, thread_lead);
        axial_force_of_unit_depth +=
            step * r / sqrt(1.0 + flank * flank + thread_lead * thread_lead / (r * r));
        along += step * r * thread_lead / slip;
        torque += step * r * r * r / slip;
    }
    for (int i = 0; i < 30; i++) {
        double drive = thread_lead * axial_force_of_unit_depth - friction * (torque + crest);
        double load = BOLT_MASS * G /
                      (axial_force_of_unit_depth + friction * along +
                       BOLT_MASS * thread_lead * drive / BOLT_INERTIA);
        depth = load / (4.0 * M_PI * slope);
        crest = 0.5 * depth * outer * outer / sqrt(1.0 + flank * flank);
        acceleration = fmax(thread_lead * load * drive / BOLT_INERTIA, 0.0);
    }
    return acceleration;
}

void check_bolt_scene(void)
{
    static const struct {
        const char *name;
        double friction, within;
    } bolts[] = {{"free", 0.0, 0.015}, {"slow", 0.08, 0.015}, {"locked", 0.18, 0.0}};
    struct simulation p;
    simulate_scene("bolt", 0.16, &p);
    for (int i = 0; i < 3; i++) {
        const struct body_state *from = simulation_body_at(&p, bolts[i].name, 0.06);
        const struct body_state *to = simulation_body_at(&p, bolts[i].name, -1);
        const double *start = simulation_body_at(&p, bolts[i].name, 0.0)->position;
        double a = (from->twist[2] - to->twist[2]) / 0.1,
               exact = exact_bolt_acceleration(bolts[i].friction);
        double measured_lead_ratio =
            to->twist[5] != 0.0 ? to->twist[2] / to->twist[5] / BOLT_LEAD : 0.0;
        print_message(
            "    %s sinks %.3f mm at %.4f m/s2, exact %.4f; lead %.4f of the thread's, turns "
            "at %.2e rad/s\n",
            bolts[i].name, 1e3 * (start[2] - to->position[2]), a, exact, measured_lead_ratio,
            to->twist[5]);
        assert_true(fabs(a - exact) <= bolts[i].within * exact + 5e-4);
        assert_true(i == 2 ? fabs(to->twist[5]) < 1e-6 : fabs(measured_lead_ratio - 1.0) < 0.005);
    }
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}
