/* Tipping: the slope at which a solid with much friction turns over, tan(theta) = base / height. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

static const double DEGREE = M_PI / 180;

enum solid { CUBE, BOX, CYLINDER, TABLE };

/* Makes the solid with its lowest faces at z = 0, turned by yaw about z; its height to the centre
 * of mass comes with the body. */
static int make_solid(struct world_scene *s, enum solid kind, double yaw)
{
    struct tact_shape shape;
    double height = 0.1;
    if (kind == CUBE) {
        shape = scene_box(0.1, 0.1, 0.1);
    } else if (kind == BOX) {
        shape = scene_box(0.06, 0.2, 0.1);
    } else if (kind == CYLINDER) {
        shape = scene_cylinder(s, 0.04, 0.1, 96);
    } else {
        /* a top of 0.3 x 0.2 x 0.02 on four legs of 0.02 x 0.02 x 0.2, flush with its corners */
        double boxes[5][6] = {{0, 0, 0.11, 0.3, 0.2, 0.02}};
        for (int i = 0; i < 4; i++) {
            const double leg[6] = {i & 1 ? 0.14 : -0.14, i & 2 ? 0.09 : -0.09, 0, 0.02, 0.02, 0.2};
            memcpy(boxes[1 + i], leg, sizeof leg);
        }
        shape = scene_boxes(s, boxes[0], 5);
        height = 0.2;
    }
    const double at[3] = {0, 0, 0.5 * height - 2e-5};
    return scene_solid(s, &shape, 0.5, at, yaw);
}

/* 1 where the solid has turned over or is turning after two seconds on the slope. */
static int turns_over(enum solid kind, double yaw, double slope, double *height)
{
    struct world_scene s;
    struct tact_world_options options = scene_slope(slope);
    struct tact_contact_law law = scene_rigid(5.0);
    scene_open(&s, &options);
    scene_ground(&s);
    int b = make_solid(&s, kind, yaw);
    scene_law(&s, 0, 1, &law);
    scene_start(&s);
    *height = tact_world_body(s.world, b)->pose.position[2];
    double tilt = 0;
    for (int i = 0; i < 20 && tilt < 3 * DEGREE; i++) {
        scene_run(&s, 0.1);
        tilt = scene_tilt(&s, b);
    }
    scene_close(&s);
    return tilt >= 3 * DEGREE;
}

/* Slope [deg] at which it tips, by bisection within 8 degrees of the exact one, to 1/32 degree. */
static void check_tipping_slope(const char *name, enum solid kind, double yaw_deg, double base)
{
    double height = 0, yaw = yaw_deg * DEGREE;
    turns_over(kind, yaw, 0, &height);
    double exact = atan(base / height) / DEGREE, lo = exact - 8, hi = exact + 8;
    while (hi - lo > 1.0 / 32) {
        double middle = 0.5 * (lo + hi);
        if (turns_over(kind, yaw, middle * DEGREE, &height)) {
            hi = middle;
        } else {
            lo = middle;
        }
    }
    print_message("%-8s turned by %4.1f deg: tips at %.2f deg, exact %.2f\n", name, yaw_deg, hi,
                  exact);
    double most =
        kind == CYLINDER ? 0.5 : 0.1; /* the cylinder is a polygonal hull, 0.22 degrees short */
    if (!(fabs(hi - exact) < most)) {
        fail_msg("%s: %.2f deg, wanted %.2f", name, hi, exact);
    }
}

/* Distance from the middle to the edge of the rectangle of half sides a, b in the direction yaw. */
static double half_width_along(double a, double b, double yaw_deg)
{
    double c = fabs(cos(yaw_deg * DEGREE)), s = fabs(sin(yaw_deg * DEGREE));
    return fmin(a / fmax(c, 1e-9), b / fmax(s, 1e-9));
}

static void cube_tips(void **state)
{
    (void)state;
    check_tipping_slope("cube", CUBE, 0, 0.05);
    check_tipping_slope("cube", CUBE, 30, half_width_along(0.05, 0.05, 30));
}

static void box_tips(void **state)
{
    (void)state;
    check_tipping_slope("box", BOX, 0, 0.03);
    check_tipping_slope("box", BOX, 90, 0.1);
}

static void cylinder_tips(void **state)
{
    (void)state;
    check_tipping_slope("cylinder", CYLINDER, 0, 0.04);
    check_tipping_slope("cylinder", CYLINDER, 11.25, 0.04);
}

static void table_tips(void **state)
{
    (void)state;
    check_tipping_slope("table", TABLE, 0, 0.15);
    check_tipping_slope("table", TABLE, 90, 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cube_tips),
        cmocka_unit_test(box_tips),
        cmocka_unit_test(cylinder_tips),
        cmocka_unit_test(table_tips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
