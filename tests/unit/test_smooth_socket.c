/*
 * A ball in a socket that is little larger: the contact runs fifty to two hundred times as far as
 * the ball turns, and above 0.3 rad a tick a patch of the whole overlap holds it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "contact/pair/models_internal.h"
#include "contact/shape/charts.h"
#include "support/world_scene.h"

#define PI 3.14159265358979323846
#define G 9.81
#define BALL_RADIUS 0.02 /* [m] */
#define BALL_MASS 0.1    /* [kg] */
#define WALL_THICKNESS 0.01

/* Profile of half a hollow ball about the origin, open at the top, with a round rim. */
static int socket_profile(double radius, double (*out)[2])
{
    enum { ARC = 24, RIM = 8 };
    int count = 0;
    for (int i = 0; i < ARC; i++, count++) {
        const double a = 0.5 * PI * i / ARC;
        out[count][0] = radius * sin(a);
        out[count][1] = -radius * cos(a);
    }
    for (int i = 0; i < RIM; i++, count++) {
        const double a = PI * i / RIM;
        out[count][0] = radius + 0.5 * WALL_THICKNESS * (1.0 - cos(a));
        out[count][1] = 0.5 * WALL_THICKNESS * sin(a);
    }
    for (int i = ARC; i >= 0; i--, count++) {
        const double a = 0.5 * PI * i / ARC;
        out[count][0] = i ? (radius + WALL_THICKNESS) * sin(a) : 0.0;
        out[count][1] = -(radius + WALL_THICKNESS) * cos(a);
    }
    return count;
}

/* The ball at the bottom of the socket, at rest. */
static void open_ball_in_socket_scene(struct world_scene *s, const struct tact_charts *charts,
                                      double clearance)
{
    struct tact_contact_law law = make_rigid_law(0.3);
    const struct tact_shape socket = {.kind = TACT_SHAPE_REVOLUTION, .charts = charts},
                            ball = make_sphere(BALL_RADIUS);
    const struct tact_pose at = tact_pose_identity();
    const double place[3] = {0.0, 0.0, -clearance};
    law.model = &tact_model_smooth;
    open_empty_scene(s, NULL);
    add_scene_shape(s, -1, &socket, &at, 0);
    add_scene_solid(s, &ball, BALL_MASS, place, 0.0);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
}

/* What a ball did in a second: its energy above the lowest place, as means over tenths of it. */
struct socket_motion {
    double first, last;  /* in the second and in the last tenth, when it rolls [J] */
    double rise;         /* largest rise above an earlier tenth, relative to that one's */
    double overlap, end; /* largest overlap, and that of the last tenth [m] */
};

static struct socket_motion run_ball_in_socket(struct world_scene *s, double clearance)
{
    enum { TENTH = 100 };
    struct socket_motion m = {0};
    const struct tact_body *ball = tact_world_body(s->world, 0);
    double least = INFINITY;
    for (int k = 0; k < 10; k++) {
        double mean = 0.0;
        for (int i = 0; i < TENTH; i++) {
            step_scene(s);
            mean += (compute_phase_corrected_energy(s) + BALL_MASS * G * clearance) / TENTH;
            const double overlap = tact_v3_norm(ball->pose.position) - clearance;
            m.overlap = fmax(m.overlap, overlap);
            m.end = k == 9 ? fmax(m.end, overlap) : 0.0;
        }
        m.rise = k ? fmax(m.rise, mean / least - 1.0) : 0.0;
        m.first = k == 1 ? mean : m.first;
        m.last = mean;
        least = fmin(least, mean);
    }
    return m;
}

/* The overlap is at most the target overlap of volume, 20 um, and what an approach adds to it. */
static void ball_in_a_close_socket_gains_no_energy(void **state)
{
    (void)state;
    static const double share[3] = {0.005, 0.01, 0.02}, spin[3] = {2.2, 11.0, 22.0};
    for (int i = 0; i < 9; i++) {
        const double clearance = BALL_RADIUS * share[i / 3];
        double profile[TACT_PROFILE_POINTS][2];
        struct tact_charts *charts;
        struct world_scene s;
        const int count = socket_profile(BALL_RADIUS + clearance, profile);
        assert_int_equal(tact_charts_revolution((const double(*)[2])profile, count, &charts, NULL),
                         0);
        open_ball_in_socket_scene(&s, charts, clearance);
        struct tact_body *ball = tact_world_body(s.world, 0);
        tact_v3_set(ball->twist + 3, 0.44 * spin[i % 3], 0.13 * spin[i % 3], 0.89 * spin[i % 3]);
        tact_body_refresh(ball);
        const struct socket_motion m = run_ball_in_socket(&s, clearance);
        printf("clearance %.1f %%, %4.1f rad/s: %.3e J after 0.2 s, %.3e J after 1 s, rise %.2f "
               "%%; overlap %.2f um, at the end %.2f um\n",
               100.0 * share[i / 3], spin[i % 3], m.first, m.last, 100.0 * m.rise, 1e6 * m.overlap,
               1e6 * m.end);
        assert_true(m.rise < 0.02 && m.overlap < 3e-5 && m.end < 1e-5);
        assert_true(s.unsolved == 0);
        close_scene(&s);
        tact_charts_free(charts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_in_a_close_socket_gains_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
