/* Checks of grasps, and of scenes with solids of many triangles. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "simulation.h"
#include "scenes.h"

/* Angle between two orientations [deg]. */
static double angle_between_orientations(const struct body_state *a, const struct body_state *b)
{
    double dot = 0;
    for (int i = 0; i < 4; i++) {
        dot += a->quat_wxyz[i] * b->quat_wxyz[i];
    }
    return 2 * atan2(sqrt(fmax(0, 1 - dot * dot)), fabs(dot)) * 180 / M_PI;
}

void check_ruler_scene(void)
{
    static const char *const models[2] = {"volume", "features"};
    for (int i = 0; i < 2; i++) {
        struct simulation p;
        simulate_scene_with_yaml_appended("ruler", 10, i ? "contact: {model: features}" : "", &p);
        const struct body_state *state_at_release = simulation_body_at(&p, "ruler", 2);
        const struct body_state *end = simulation_body_at(&p, "ruler", -1);
        double turn = angle_between_orientations(state_at_release, end),
               drift = largest_horizontal_drift(&p, 2);
        double all = angle_between_orientations(simulation_body_at(&p, "ruler", 0), end);
        print_message("    %s: turned by %.5f degrees in all, by %.1e degrees and moved by %.1e m "
                      "after 2 s\n",
                      models[i], all, turn, drift);
        assert_true(all < 0.01 && turn < 1e-4 && drift < 1e-9);
        simulation_free(&p);
    }
}

void check_five_fingers_scene(void)
{
    struct simulation p;
    simulate_scene("five_fingers", 6, &p);
    const struct body_state *start = simulation_body_at(&p, "ball", 0),
                            *held = simulation_body_at(&p, "ball", 4);
    const struct body_state *end = simulation_body_at(&p, "ball", -1);
    double lift_height = end->position[2] - start->position[2],
           turn = angle_between_orientations(start, end);
    print_message(
        "    lifted by %.5f m, turned by %.4f degrees; from 4 s to 6 s moved by %.1e m and "
        "%.1e degrees\n",
        lift_height, turn, largest_horizontal_drift(&p, 4), angle_between_orientations(held, end));
    assert_true(fabs(lift_height - 0.05) < 1e-3 && fabs(turn - 90) < 0.5);
    assert_true(largest_horizontal_drift(&p, 4) < 1e-9 &&
                angle_between_orientations(held, end) < 1e-4);
    simulation_free(&p);
}

/* A point of the held body and a point of the link, both of which were in the middle of the contact
 * patch. */
struct initial_contact_points {
    const char *pair;
    double point_on_body[3],
        /* positions in the body's frame, at its centre of mass, and in the link's frame */
        point_on_link[3];
    double apart; /* largest distance since [m] */
};

struct grasp_slip {
    double from; /* time at which the two points coincide [s] */
    int count;
    struct initial_contact_points contact_points_at_start[5];
};

static void point_relative_to_frame(double *out, const struct tact_pose *frame, const double *point)
{
    double m[9], arm[3];
    tact_quat_to_m3(m, frame->quat_wxyz);
    tact_v3_sub(arm, point, frame->position);
    tact_m3_tmul_v3(out, m, arm);
}

static void measure_grasp_slip(void *user, struct tact_session *session,
                               const struct tact_session_status *status)
{
    struct grasp_slip *grasp_slip = user;
    struct tact_world *world = tact_session_world(session);
    const double time_since_slip_measurement_start = status->time - grasp_slip->from;
    for (int i = 0; i < grasp_slip->count && time_since_slip_measurement_start > -0.5e-3; i++) {
        struct initial_contact_points *t = &grasp_slip->contact_points_at_start[i];
        const struct tact_contact *c =
            tact_world_contact(world, tact_session_find_pair(session, t->pair));
        struct tact_owner held = tact_world_owner(world, c->a), by = tact_world_owner(world, c->b);
        const struct tact_pose *body = &tact_world_body(world, held.index)->pose;
        const struct tact_pose *link =
            tact_hand_link_pose(tact_world_hand(world, by.index), by.link);
        if (time_since_slip_measurement_start < 0.5e-3) {
            assert_true(c->touching);
            point_relative_to_frame(t->point_on_body, body, c->patch.center);
            point_relative_to_frame(t->point_on_link, link, c->patch.center);
        }
        double a[3], b[3];
        tact_pose_point(a, body, t->point_on_body);
        tact_pose_point(b, link, t->point_on_link);
        tact_v3_sub(a, a, b);
        t->apart = fmax(t->apart, tact_v3_norm(a));
    }
}

/* In a scene, the grasped body is lifted from 4.5 s to 6.5 s, turned at 10 s, turned back at 13 s,
 * turned at 16.5 s and back at the end. */
static void check_grasp_holds(const char *scene, const char *body, struct grasp_slip *grasp_slip)
{
    struct simulation p;
    grasp_slip->from = 4.5;
    simulate_scene_observed(scene, 20,
                            &(struct simulation_observer){measure_grasp_slip, grasp_slip}, &p);
    const struct body_state *state_when_lifted = simulation_body_at(&p, body, 7);
    double distance_lifted =
        state_when_lifted->position[2] - simulation_body_at(&p, body, 4.5)->position[2];
    double first = angle_between_orientations(state_when_lifted, simulation_body_at(&p, body, 10));
    double back = angle_between_orientations(state_when_lifted, simulation_body_at(&p, body, 13));
    double second =
        angle_between_orientations(state_when_lifted, simulation_body_at(&p, body, 16.5));
    double end = angle_between_orientations(state_when_lifted, simulation_body_at(&p, body, -1));
    print_message("    lifted by %.5f m, turned by %.4f degrees, back to %.4f, by %.4f, back to "
                  "%.4f; rests at %.1e\n",
                  distance_lifted, first, back, second, end, largest_final_speed(&p));
    assert_true(fabs(distance_lifted - 0.1) < 2e-3 && fabs(first - 90) < 2 &&
                fabs(second - 90) < 2);
    assert_true(back < 0.5 && end < 0.5 && largest_final_speed(&p) < 1e-3);
    for (int i = 0; i < grasp_slip->count; i++) {
        print_message("    %s: apart by %.4f mm at most\n",
                      grasp_slip->contact_points_at_start[i].pair,
                      grasp_slip->contact_points_at_start[i].apart * 1e3);
        assert_true(grasp_slip->contact_points_at_start[i].apart > 0 &&
                    grasp_slip->contact_points_at_start[i].apart < 1e-3);
    }
    assert_true(p.report.unconverged <= (uint64_t)p.ticks / 100);
    simulation_free(&p);
}

void check_mug_scene(void)
{
    check_grasp_holds(
        "mug", "mug",
        &(struct grasp_slip){.count = 2,
                             .contact_points_at_start = {{.pair = "mug/hand.ff_proximal#2"},
                                                         {.pair = "mug/hand.th_distal#2"}}});
}

void check_tumbler_scene(void)
{
    check_grasp_holds(
        "tumbler", "tumbler",
        &(struct grasp_slip){.count = 5,
                             .contact_points_at_start = {{.pair = "tumbler/hand.palm"},
                                                         {.pair = "tumbler/hand.palm#2"},
                                                         {.pair = "tumbler/hand.MF_distal"},
                                                         {.pair = "tumbler/hand.RF_distal"},
                                                         {.pair = "tumbler/hand.LF_distal"}}});
}

void check_allegro_like_scene(void)
{
    check_grasp_holds(
        "allegro_like", "mug",
        &(struct grasp_slip){.count = 4,
                             .contact_points_at_start = {{.pair = "mug/hand.ff_distal#2"},
                                                         {.pair = "mug/hand.mf_distal#2"},
                                                         {.pair = "mug/hand.rf_distal#2"},
                                                         {.pair = "mug/hand.th_distal#2"}}});
}

void check_bumpy_cube_scene(void)
{
    struct simulation p;
    simulate_scene("bumpy_cube", 0.5, &p);
    const struct body_state *end = simulation_body_at(&p, "rock", -1);
    double weight = 9.81, force = p.force[p.ticks - 1];
    /* the cube is free until contact, then decelerated by mu N = mu m g on average */
    double most = 0.5 * 0.05 + 0.25 / (2 * 0.4 * 9.81);
    print_message("    slides %.4f m, speed at the end %.1e, force %.6f N of %.6f N\n",
                  end->position[0], largest_final_speed(&p), force, weight);
    assert_int_equal(p.report.contacts_max, 1);
    assert_true(end->position[0] > 0.005 && end->position[0] < most);
    assert_true(largest_final_speed(&p) < 1e-6 && fabs(force / weight - 1) < 1e-6);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}

void check_salad_scene(void)
{
    struct simulation p;
    simulate_scene("salad", 1.2, &p);
    print_message("    speed at the end %.1e\n", largest_final_speed(&p));
    assert_int_equal(p.bodies, 24);
    assert_true(p.report.contacts_max >= 50 && p.report.unconverged == 0);
    /* the largest speed falls to a tenth of this bound 0.23 s later */
    assert_true(largest_final_speed(&p) < 1e-3);
    for (int i = 0; i < p.bodies; i++) {
        const struct body_state *b = simulation_body_at(&p, p.body_name[i], -1);
        /* the body is within the bowl: over its floor, and inside its walls, 0.06 m from the middle
         * at 35 degrees */
        assert_true(b->position[2] > 0.005 && tact_v3_norm(b->twist) < 2.0);
        for (int k = 0; k < 6; k++) {
            double out = b->position[0] * cos(k * M_PI / 3) + b->position[1] * sin(k * M_PI / 3);
            double inside =
                (0.06 - out) * cos(35 * M_PI / 180) + b->position[2] * sin(35 * M_PI / 180);
            assert_true(inside > 0.005);
        }
    }
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}
