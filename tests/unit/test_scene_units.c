/* The motion of a scene does not depend on the units that its lengths, masses and times are stated
 * in. Scenes of the gallery with these multiplied by powers of two, which rounds nothing, move
 * likewise: bit for bit for masses and times; for lengths but for the rounding of equations that
 * have forces beside torques. */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/world/world_internal.h"
#include "devices/registry.h"
#include "rt/session/session.h"
#include "support/campaign.h"
#include "support/run_scene.h"
#include "support/scaled_scene.h"

/* Scenes with devices or a hand's file, whose values have units of their own. */
static const char *const left_out[] = {"admittance",
                                       "allegro_like",
                                       "grasp_tool",
                                       "guided",
                                       "mug",
                                       "pad",
                                       "peg_tool",
                                       "teleop_local",
                                       "teleop_remote",
                                       "teleop_peg_local",
                                       "teleop_peg_remote",
                                       "tool",
                                       "tool_puck",
                                       "tumbler",
                                       "wheel",
                                       "wheel_twin"};

static const struct {
    struct unit_scaling by;
    double bound; /* largest difference of positions [m]; of velocities, 100 times as much [m/s] */
} units[] = {{{0, 8, 0}, 0.0}, {{0, 0, -4}, 0.0}, {{-10, 0, 0}, 1e-9}, {{4, 0, 0}, 1e-9}};

/* A peg with 15 contacts on all sides moves by 2.4e-7 m in a tick that ends a sweep earlier. */
static const char peg_scene_ending[] = "/peg.yaml";
static const double difference_bound_of_peg_scene = 5e-7; /* [m] */

struct run {
    struct tact_scene *scene;
    struct tact_session *session;
    struct tact_world *world;
};

static void open_scaled_session(struct run *run, const char *text, const char *directory,
                                const struct unit_scaling *by)
{
    struct tact_session_options options = tact_session_options_default();
    char *scaled_text = scale_scene_text(text, directory, by);
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    open_session_of_scene_text(scaled_text, &options, &run->scene, &run->session);
    run->world = tact_session_world(run->session);
    /* push_limit is the only speed that no scene states */
    run->world->options.push_limit *= exp2(by->length - by->time);
    tact_session_begin(run->session);
    free(scaled_text);
}

static void close_scaled_session(struct run *run)
{
    struct tact_session_report report;
    tact_session_end(run->session, &report);
    tact_session_destroy(run->session);
    tact_scene_free(run->scene);
}

/* Largest difference of n values from those of the scaled scene, divided by the factor of their
 * unit. */
static double largest_scaled_difference(const double *x, const double *scaled_values, int n,
                                        double exponent)
{
    double worst = 0.0;
    for (int k = 0; k < n; k++) {
        const double difference = fabs(x[k] - scaled_values[k] * exp2(-exponent));
        worst = difference <= worst ? worst : difference;
    }
    return worst;
}

/* Largest difference of the bodies' poses and velocities, in metres: that of a unit vector times 1
 * m, that of a velocity times 10 ms. */
static double largest_body_difference_after_scaling(const struct run *unscaled_run,
                                                    const struct run *scaled_run,
                                                    const struct unit_scaling *by)
{
    double worst = 0.0;
    for (int i = 0; i < tact_world_body_count(unscaled_run->world); i++) {
        const struct tact_body *x = tact_world_body(unscaled_run->world, i),
                               *y = tact_world_body(scaled_run->world, i);
        worst = fmax(worst,
                     largest_scaled_difference(x->pose.position, y->pose.position, 3, by->length));
        worst =
            fmax(worst, largest_scaled_difference(x->pose.quat_wxyz, y->pose.quat_wxyz, 4, 0.0));
        worst = fmax(
            worst, 0.01 * largest_scaled_difference(x->twist, y->twist, 3, by->length - by->time));
        worst =
            fmax(worst, 0.01 * largest_scaled_difference(x->twist + 3, y->twist + 3, 3, -by->time));
    }
    return worst;
}

/* Largest difference in some ticks, and the number of ticks with a contact. */
static double compare_motion(const char *text, const char *directory, const struct unit_scaling *by,
                             int ticks, int *tick_count_with_contact)
{
    static const struct unit_scaling unscaled_units = {0, 0, 0};
    struct run unscaled_run, scaled_run;
    double worst = 0.0;
    open_scaled_session(&unscaled_run, text, directory, &unscaled_units);
    open_scaled_session(&scaled_run, text, directory, by);
    for (int tick = 0; tick < ticks; tick++) {
        struct tact_session_status status[2];
        tact_session_step(unscaled_run.session, 0, &status[0]);
        tact_session_step(scaled_run.session, 0, &status[1]);
        assert_false(status[0].faults || status[1].faults);
        assert_int_equal(status[0].contacts, status[1].contacts);
        *tick_count_with_contact += status[0].contacts > 0;
        worst = fmax(worst, largest_body_difference_after_scaling(&unscaled_run, &scaled_run, by));
    }
    close_scaled_session(&unscaled_run);
    close_scaled_session(&scaled_run);
    return worst;
}

static bool is_scene_left_out(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        if (!strncmp(name, left_out[i], strlen(left_out[i])) && name[strlen(left_out[i])] == '.') {
            return true;
        }
    }
    return false;
}

static void scenes_move_alike_in_other_units(void **unused)
{
    (void)unused;
    const int each = is_long_campaign() ? 1 : IS_SANITIZER_BUILD ? 24 : 8, ticks = 60;
    const int first = (int)(campaign_seed_offset() % (unsigned)each);
    double worst[sizeof units / sizeof *units] = {0.0};
    int tick_count_with_contact = 0, scenes = 0, differing_scene_count = 0;
    const struct edit empty_edits[] = {{0}};
    glob_t found;
    assert_int_equal(glob(TACT_SOURCE_DIR "/examples/scenes/*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        if (is_scene_left_out(path) || (int)i % each != first) {
            continue;
        }
        char *text = load_scene_text_with_edits(strrchr(path, '/') + 1, empty_edits);
        for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
            const double difference = compare_motion(text, TACT_SOURCE_DIR "/examples/scenes",
                                                     &units[k].by, ticks, &tick_count_with_contact);
            const bool is_peg_scene = units[k].bound > 0.0 && strstr(path, peg_scene_ending);
            if (!(difference <= (is_peg_scene ? difference_bound_of_peg_scene : units[k].bound))) {
                print_message("%s: 2^(%g, %g, %g) of length, mass and time: %.2g m\n", path,
                              units[k].by.length, units[k].by.mass, units[k].by.time, difference);
                differing_scene_count++;
            }
            worst[k] = fmax(worst[k], is_peg_scene ? 0.0 : difference);
        }
        free(text);
        scenes++;
    }
    globfree(&found);
    print_message("%d scenes: %.2g and %.2g m with other lengths\n", scenes, worst[2], worst[3]);
    assert_int_equal(differing_scene_count, 0);
    assert_true(scenes > 0 && (tick_count_with_contact > 0 || each > 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scenes_move_alike_in_other_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
