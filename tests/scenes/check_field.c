/* Contact by pressure fields: a foot with two pads, and a disc, that slip and spin. */
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
static double angle_turned(const struct simulation *p, const char *name)
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

void check_foot(void)
{
    static const char *const names[2] = {"foot", "disc"};
    static const double start[2] = {0.0, 0.15};
    struct quadrature *q = malloc(sizeof *q);
    struct simulation p;
    simulate("foot", 0.5, &p);
    for (int i = 0; i < 2; i++) {
        struct slide exact = {{0.0, 0.0, 0.0}, {0.45, 0.0, 14.0}};
        q->count = 0;
        if (i) {
            quadrature_add(q, DISC, 32, 0.0, 0.0, 0.06063, 0.06063);
        } else {
            quadrature_add(q, UNIFORM, 16, -0.04, 0.0, 0.01, 0.01);
            quadrature_add(q, UNIFORM, 16, 0.04, 0.0, 0.01, 0.01);
        }
        quadrature_finish(q);
        slide_exactly(q, 0.3 * G, 0.0003 / 0.2, &exact);
        const struct body_state *end = simulation_body_at(&p, names[i], -1);
        double x = end->position[0], y = end->position[1] - start[i];
        double angle = angle_turned(&p, names[i]), far = hypot(exact.x[0], exact.x[1]);
        double off = hypot(x - exact.x[0], y - exact.x[1]);
        print_message("    %s rests at %.3f, %.3f mm, turned by %.4f rad; exact %.3f, %.3f mm, "
                      "%.4f rad\n",
                      names[i], 1e3 * x, 1e3 * y, angle, 1e3 * exact.x[0], 1e3 * exact.x[1],
                      exact.x[2]);
        assert_true(off < 0.01 * far && fabs(angle / exact.x[2] - 1.0) < 0.01);
    }
    assert_true(simulation_speed(&p) < 1e-9);
    simulation_check_energy(&p);
    simulation_free(&p);
    free(q);
}
