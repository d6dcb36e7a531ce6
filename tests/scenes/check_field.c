/* Contact by pressure fields: a foot with two pads, and a disc, that slip and spin; fingertips that
 * pinch a ruler. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "../unit/support/quadrature.h"
#include "simulation.h"
#include "scenes.h"

#define G 9.81

/* Angle by which a body has turned about the vertical, with whole turns. */
static double accumulated_yaw(const struct simulation *p, const char *name)
{
    double angle = 0.0, last = 0.0;
    for (int t = 0; t < p->ticks; t++) {
        const double *q = simulation_body_at(p, name, t * p->period)->quat_wxyz;
        double now = 2.0 * atan2(q[3], q[0]);
        angle += remainder(now - last, 2.0 * M_PI);
        last = now;
    }
    return angle;
}

void check_foot_scene(void)
{
    static const char *const names[2] = {"foot", "disc"};
    static const double start[2] = {0.0, 0.15};
    struct pressure_quadrature *q = malloc(sizeof *q);
    struct simulation p;
    simulate_scene("foot", 0.5, &p);
    for (int i = 0; i < 2; i++) {
        struct sliding_state exact = {{0.0, 0.0, 0.0}, {0.45, 0.0, 14.0}};
        q->count = 0;
        if (i) {
            add_quadrature_pressure(q, DISC, 32, 0.0, 0.0, 0.06063, 0.06063);
        } else {
            add_quadrature_pressure(q, UNIFORM, 16, -0.04, 0.0, 0.01, 0.01);
            add_quadrature_pressure(q, UNIFORM, 16, 0.04, 0.0, 0.01, 0.01);
        }
        normalize_quadrature(q);
        slide_to_rest_by_quadrature(q, 0.3 * G, 0.0003 / 0.2, &exact);
        const struct body_state *end = simulation_body_at(&p, names[i], -1);
        double x = end->position[0], y = end->position[1] - start[i];
        double angle = accumulated_yaw(&p, names[i]), far = hypot(exact.x[0], exact.x[1]);
        double off = hypot(x - exact.x[0], y - exact.x[1]);
        print_message("    %s rests at %.3f, %.3f mm, turned by %.4f rad; exact %.3f, %.3f mm, "
                      "%.4f rad\n",
                      names[i], 1e3 * x, 1e3 * y, angle, 1e3 * exact.x[0], 1e3 * exact.x[1],
                      exact.x[2]);
        assert_true(off < 0.01 * far && fabs(angle / exact.x[2] - 1.0) < 0.01);
    }
    assert_true(largest_final_speed(&p) < 1e-9);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
    free(q);
}

/* Force [N] of a ball of a pressure E (depth / T)^power on a flat, and the mean distance of its
 * pressure from the middle [m], by quadrature over the disc. */
static double soft_ball_force_on_flat(double radius, double depth, double modulus, double thickness,
                                      double power, double *arm)
{
    enum { RINGS = 20000 };
    double height = radius - depth, semi = sqrt(radius * radius - height * height);
    double force = 0.0, moment = 0.0;
    for (int i = 0; i < RINGS; i++) {
        double rho = semi * (i + 0.5) / RINGS;
        double inside = radius - sqrt(rho * rho + height * height);
        double load = modulus * pow(inside / thickness, power) * 2.0 * M_PI * rho * semi / RINGS;
        force += load;
        moment += load * rho;
    }
    *arm = moment / force;
    return force;
}

void check_fingertips_scene(void)
{
    struct simulation p;
    double arm, force = soft_ball_force_on_flat(0.008, 0.0015, 5.27e6, 0.008, 2.0, &arm);
    double most = 2.0 * 0.8 * force * arm / (0.03 * G);
    simulate_scene("fingertips", 2.0, &p);
    const struct body_state *held = simulation_body_at(&p, "held", -1);
    const struct body_state *half = simulation_body_at(&p, "held", 1.0);
    double margin = most / simulation_body_at(&p, "held", 0.0)->position[0];
    double other = most / simulation_body_at(&p, "turning", 0.0)->position[0];
    double creep_distance =
        hypot(held->position[0] - half->position[0], held->position[2] - half->position[2]);
    double tilt = body_tilt_deg(held),
           turned = body_tilt_deg(simulation_body_at(&p, "turning", -1));
    print_message("    tips of %.4f N hold to %.3f mm: margin %.3f turns %.1e deg and creeps %.1e "
                  "m in the second half, margin %.3f turns %.1f deg\n",
                  force, 1e3 * most, margin, tilt, creep_distance, other, turned);
    assert_true(margin < 1.0301 && margin > 1.0 && tilt < 1e-3 && creep_distance < 1e-12);
    assert_true(other > 0.9699 && other < 1.0 && turned > 5.0);
    simulation_free(&p);
}
