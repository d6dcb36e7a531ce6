/* Tipping: the slope at which a solid with much friction turns over, tan(theta) = base / height. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

static const double RADIANS_PER_DEGREE = M_PI / 180;

enum solid { CUBE, BOX, CYLINDER, TABLE };

/* Makes the solid with its lowest faces at z = 0, turned by yaw about z; its height to the centre
 * of mass comes with the body. */
static int add_resting_solid(struct world_scene *s, enum solid kind, double yaw)
{
    struct tact_shape shape;
    double height = 0.1;
    if (kind == CUBE) {
        shape = box_of_sides(0.1, 0.1, 0.1);
    } else if (kind == BOX) {
        shape = box_of_sides(0.06, 0.2, 0.1);
    } else if (kind == CYLINDER) {
        shape = make_cylinder_mesh_shape(s, 0.04, 0.1, 96);
    } else {
        /* a top of 0.3 x 0.2 x 0.02 on four legs of 0.02 x 0.02 x 0.2, flush with its corners */
        double boxes[5][6] = {{0, 0, 0.11, 0.3, 0.2, 0.02}};
        for (int i = 0; i < 4; i++) {
            const double leg[6] = {i & 1 ? 0.14 : -0.14, i & 2 ? 0.09 : -0.09, 0, 0.02, 0.02, 0.2};
            memcpy(boxes[1 + i], leg, sizeof leg);
        }
        shape = make_shape_of_boxes(s, boxes[0], 5);
        height = 0.2;
    }
    const double at[3] = {0, 0, 0.5 * height - 2e-5};
    return add_scene_solid(s, &shape, 0.5, at, yaw);
}

/* 1 where the solid has turned over or is turning after two seconds on the slope. */
static int tips_over_on_slope(enum solid kind, double yaw, double slope, double *height)
{
    struct world_scene s;
    struct tact_world_options options = options_with_tilted_gravity(slope);
    struct tact_contact_law law = make_rigid_law(5.0);
    open_empty_scene(&s, &options);
    add_scene_ground(&s);
    int b = add_resting_solid(&s, kind, yaw);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    *height = tact_world_body(s.world, b)->pose.position[2];
    double tilt = 0;
    for (int i = 0; i < 20 && tilt < 3 * RADIANS_PER_DEGREE; i++) {
        run_scene_for_seconds(&s, 0.1);
        tilt = body_tilt_from_vertical(&s, b);
    }
    close_scene(&s);
    return tilt >= 3 * RADIANS_PER_DEGREE;
}

/* Slope [deg] at which it tips, by bisection within 8 degrees of the exact one, to 1/32 degree. */
static void check_tipping_slope(const char *name, enum solid kind, double yaw_deg, double base)
{
    double height = 0, yaw = yaw_deg * RADIANS_PER_DEGREE;
    tips_over_on_slope(kind, yaw, 0, &height);
    double exact = atan(base / height) / RADIANS_PER_DEGREE, lo = exact - 8, hi = exact + 8;
    while (hi - lo > 1.0 / 32) {
        double middle = 0.5 * (lo + hi);
        if (tips_over_on_slope(kind, yaw, middle * RADIANS_PER_DEGREE, &height)) {
            hi = middle;
        } else {
            lo = middle;
        }
    }
    print_message("%-8s turned by %4.1f deg: tips at %.2f deg, exact %.2f\n", name, yaw_deg, hi,
                  exact);
    double most = kind == CYLINDER ? 0.5 : 0.1; /* tolerance [deg]: the cylinder is a polygonal
                                                   hull, which tips 0.22 degrees early */
    if (!(fabs(hi - exact) < most)) {
        fail_msg("%s: %.2f deg, wanted %.2f", name, hi, exact);
    }
}

/* Distance from the middle to the edge of the rectangle of half sides a, b in the direction yaw. */
static double half_width_of_rectangle_along_yaw(double a, double b, double yaw_deg)
{
    double c = fabs(cos(yaw_deg * RADIANS_PER_DEGREE)), s = fabs(sin(yaw_deg * RADIANS_PER_DEGREE));
    return fmin(a / fmax(c, 1e-9), b / fmax(s, 1e-9));
}

static void a_cube_tips_at_its_critical_slope(void **state)
{
    (void)state;
    check_tipping_slope("cube", CUBE, 0, 0.05);
    check_tipping_slope("cube", CUBE, 30, half_width_of_rectangle_along_yaw(0.05, 0.05, 30));
}

static void a_box_tips_at_its_critical_slope(void **state)
{
    (void)state;
    check_tipping_slope("box", BOX, 0, 0.03);
    check_tipping_slope("box", BOX, 90, 0.1);
}

static void a_cylinder_tips_at_critical_slope(void **state)
{
    (void)state;
    check_tipping_slope("cylinder", CYLINDER, 0, 0.04);
    check_tipping_slope("cylinder", CYLINDER, 11.25, 0.04);
}

static void a_table_tips_at_its_critical_slope(void **state)
{
    (void)state;
    check_tipping_slope("table", TABLE, 0, 0.15);
    check_tipping_slope("table", TABLE, 90, 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_tips_at_its_critical_slope),
        cmocka_unit_test(a_box_tips_at_its_critical_slope),
        cmocka_unit_test(a_cylinder_tips_at_critical_slope),
        cmocka_unit_test(a_table_tips_at_its_critical_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
