/* Reduced coordinates (Kry and Pai 2003) where a contact begins with an overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "contact/compare/reduced.h"
#include "contact/vec.h"

#define RADIUS 0.02 /* [m] */

static const struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};

/* A ball at rest that overlaps by less than the gap is raised until it touches. Its energy there,
 * not that of the overlap, is what it must not exceed. */
static void contact_that_begins_with_an_overlap_moves_on(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const double overlap = i ? pow(10.0, -4.0 - 3.0 * i) : 0.0; /* none, 0.1 um, 0.1 nm */
        struct tact_reduced_options o = tact_reduced_options_default();
        const struct tact_shape solid = {.kind = TACT_SHAPE_ELLIPSOID,
                                         .size = {0.03, 0.025, RADIUS}};
        const double inertia[6] = {4.1e-5, 5.2e-5, 6.1e-5}, twist[6] = {0.0};
        const struct tact_pose here = tact_pose_identity();
        struct tact_pose pose = here;
        struct tact_reduced *r;
        double moved[6];
        tact_v3_set(o.gravity, 1.0, 0.0, -9.75);
        pose.position[2] = RADIUS - 5.0 * overlap;
        assert_int_equal(
            tact_reduced_create(&solid, &here, 0.1, inertia, &ground, &here, &o, &r, NULL), 0);
        assert_int_equal(tact_reduced_start(r, &pose, twist, 1e-6), 0);
        const double energy = tact_reduced_energy(r);
        if (tact_reduced_advance(r, 0.3)) {
            fail_msg("overlap %g m: %s", 5.0 * overlap, tact_reduced_failure(r));
        }
        tact_reduced_get(r, &pose, moved);
        printf("overlap %g m: rocks to x = %.9f m, energy %+.1e J\n", 5.0 * overlap,
               pose.position[0], tact_reduced_energy(r) - energy);
        assert_true(fabs(tact_reduced_energy(r) - energy) < 1e-9);
        assert_true(pose.position[0] > 1e-3);
        tact_reduced_destroy(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contact_that_begins_with_an_overlap_moves_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
