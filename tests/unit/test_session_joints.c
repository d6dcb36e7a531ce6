/* The axes of a scene's joints between bodies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "contact/number.h"
#include "support/run_scene.h"

/* A body falls along the axis of its slider, from all directions about z: also where the axis is
 * almost, or exactly, against z. */
static void body_falls_along_the_axis_of_its_slider(void **state)
{
    (void)state;
    static const double slider_axis_tilts[] = {0.0, 1e-12, 1e-9, 4e-5, 5e-5, 1e-3, 0.5};
    for (int i = 0; i < 14; i++) {
        const double tilt = slider_axis_tilts[i / 2], up = i % 2 ? 1.0 : -1.0;
        struct tact_session_report report;
        struct tact_pose pose;
        char text[512];
        tact_number_print(
            text, sizeof text,
            "name: axis\nduration: 0.5\nmaterials: [{name: m}]\nbodies:\n"
            "  - {name: x, mass: 1, shapes: [{type: sphere, radius: 0.05, material: m}]}\n"
            "joints: [{name: j, type: slider, bodies: [x], axis: [%.17g, %.17g, %g]}]\n",
            tilt, -0.5 * tilt, up);
        run_scene_text_to_pose(text, 0, &report, &pose);
        assert_true(pose.position[2] < -0.5);
        assert_true(fabs(pose.position[0] - up * tilt * pose.position[2]) < 1e-12);
        assert_true(fabs(pose.position[1] + 0.5 * up * tilt * pose.position[2]) < 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(body_falls_along_the_axis_of_its_slider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
