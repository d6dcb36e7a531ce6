/* A world without scene, session or devices: a box slides over a floor until friction stops it.
 * Prints the distance and the exact one, v^2 / (2 mu g) [m]. */
#include <math.h>
#include <stdio.h>
#include <tact/tact.h>

#define REQUIRE_SUCCESS(rc)                                                                        \
    do {                                                                                           \
        if ((rc) < 0) {                                                                            \
            fprintf(stderr, "world.c:%d: %d\n", __LINE__, (rc));                                   \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

int main(void)
{
    const double mu = 0.4, speed = 1.0, half = 0.05, mass = 1.0;
    const double inertia = mass * 2.0 * (2.0 * half) * (2.0 * half) / 12.0;
    struct tact_world_options options = tact_world_options_default();
    struct tact_contact_law law = {
        .friction = mu, .overlap = 1e-5, .dissipation = 0.01}; /* [1], [m], [s] */
    struct tact_shape box = {.kind = TACT_SHAPE_BOX, .size = {half, half, half}};
    struct tact_shape floor_shape = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_pose here = {.quat_wxyz = {1.0, 0.0, 0.0, 0.0}};
    struct tact_body body = {.pose = here, .twist = {speed}};
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(1024);
    struct tact_solve_stats stats;
    struct tact_world *world;

    /* The world: bodies, then their shapes, of the materials 0 and 1. */
    body.pose.position[2] = half - law.overlap;
    REQUIRE_SUCCESS(tact_shape_tessellate(&box));
    REQUIRE_SUCCESS(
        tact_body_set_mass(&body, mass, (double[6]){inertia, inertia, inertia, 0, 0, 0}));
    REQUIRE_SUCCESS(tact_world_create(&options, &world));
    const int index = tact_world_add_body(world, &body);
    REQUIRE_SUCCESS(index);
    const struct tact_owner ground_owner = {.kind = TACT_OWNER_FIXED};
    const struct tact_owner sliding_body_owner = {.kind = TACT_OWNER_BODY, .index = index};
    REQUIRE_SUCCESS(tact_world_add_shape(world, ground_owner, &floor_shape, &here, 0));
    REQUIRE_SUCCESS(tact_world_add_shape(world, sliding_body_owner, &box, &here, 1));
    REQUIRE_SUCCESS(tact_world_set_law(world, 0, 1, &law));
    REQUIRE_SUCCESS(tact_world_finish(world));
    tact_world_start(world, scratch);

    /* Steps of options.period, 1 ms. Nothing below allocates memory. */
    for (int k = 0; k < 1000; k++) {
        REQUIRE_SUCCESS(tact_world_step(world, scratch, &stats));
        int count;
        const int *near = tact_world_near(world, &count);
        for (int i = 0; k % 100 == 0 && i < count; i++) {
            const struct tact_contact *c = tact_world_contact(world, near[i]);
            if (c->touching) {
                printf("%.3f s: on the floor %+.3f %+.3f %+.3f N\n", k * options.period,
                       c->wrench[0], c->wrench[1], c->wrench[2]);
            }
        }
    }
    printf("%.6f m; exact: %.6f m\n", tact_world_body(world, index)->pose.position[0],
           speed * speed / (2.0 * mu * 9.81));
    tact_world_destroy(world);
    tact_moments_scratch_destroy(scratch);
    tact_shape_release(&box);
    return 0;
}
