/* Values that are valid but implausible cause one warning with its place; plausible ones cause
 * none. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rt/scene/scene.h"
#include "support/campaign.h"

/* A cube of 5 cm on a floor, and a finger with a hinge and a slide and its drives, as lines of
 * which each case replaces one. */
static const char *const lines[] = {
    "name: doubt",
    "gravity: [0, 0, -9.81]",
    "contact: {overlap: 2.0e-5, compliance: 1.0e-4, dissipation: 0.005}",
    "materials: [{name: m, modulus: 3.0e5, tip_radius: 0.004}]",
    "pairs: [{materials: [m, m], friction: 0.5, overlap: 1.0e-4}]",
    "bodies:",
    "  - {name: floor, fixed: true, shapes: [{type: box, size: [20, 20, 1], material: m}]}",
    "  - {name: cube, position: [0, 0, 1], mass: 0.125,",
    "     shapes: [{type: box, size: [0.05, 0.05, 0.05], material: m}]}",
    "hands:",
    "  - name: h",
    "    position: [0, 0, 0.5]",
    "    links:",
    "      - {name: a, mass: 0.02, shapes: [{type: sphere, radius: 0.01, material: m}],",
    "         joint: {type: slide, axis: [1, 0, 0], position: [0.1, 0, 0], stiffness: 100, start: "
    "0.3}}",
    "      - {name: b, parent: a, mass: 0.02, shapes: [{type: sphere, radius: 0.01, material: m}],",
    "         joint: {type: hinge, axis: [0, 1, 0], position: [0.1, 0, 0], stiffness: 1, start: "
    "1.5}}",
    "devices: [{name: d, type: operator}]",
    "inputs: [{from: d.grip, to: h.b, lower: -15.7, upper: 15.7}]"};
#define SCENE_LINE_COUNT (sizeof lines / sizeof *lines)

static struct {
    int count;
    char last[1024];
} heard;

static void count_warning_message(void *user, enum tact_message_level level, const char *text)
{
    (void)user;
    if (level != TACT_MESSAGE_WARNING) {
        return; /* the message with the number of notes of a hand's file does not count */
    }
    heard.count++;
    snprintf(heard.last, sizeof heard.last, "%s", text);
}

/* Loads the scene with one line replaced (-1: none) and returns the number of warnings. */
static int count_warnings(int line, const char *replacing_line)
{
    char text[4096] = "";
    struct tact_scene *scene = NULL;
    struct tact_error err = {0};
    for (int i = 0; i < (int)SCENE_LINE_COUNT; i++) {
        strcat(strcat(text, i == line ? replacing_line : lines[i]), "\n");
    }
    if (tact_scene_parse(text, strlen(text), "doubt.yaml", NULL, &scene, &err)) {
        fail_msg("%d: %s: %s", err.line, err.key, err.text);
    }
    memset(&heard, 0, sizeof heard);
    int count = tact_scene_doubt(scene, (struct tact_messages){count_warning_message, NULL});
    assert_int_equal(heard.count, count);
    tact_scene_free(scene);
    return count;
}

static void scene_values_in_wrong_units_are_warned_of(void **state)
{
    (void)state;
    static const struct {
        int line; /* from 1 */
        const char *replacing_line, *reported;
    } cases[] = {
        {2, "gravity: [0, 0, 9.81]", "doubt.yaml:2:10: gravity: this gravity points up"},
        {2, "gravity: [0, 0, -9810]", "2:10: gravity: a gravity of 9810 m/s^2"},
        {3, "contact: {overlap: 0.02}", "3:20: contact.overlap: an overlap depth of 0.02 m"},
        {3, "contact: {compliance: 0.3}",
         "3:23: contact.compliance: a contact compliance of 0.3 m/N"},
        {3, "contact: {model: patch}",
         "3:18: contact.model: the contact model `patch` is now named `volume`"},
        {5, "pairs: [{materials: [m, m], friction: 0.5, model: patch}]",
         "5:51: pairs[0].model: the contact model `patch` is now named `volume`"},
        {3, "contact: {dissipation: 5}",
         "3:24: contact.dissipation: with this dissipation the contact takes 5 s"},
        {4, "materials: [{name: m, modulus: 0.3}]",
         "4:32: materials[0].modulus: an elastic modulus of 0.3 Pa"},
        {4, "materials: [{name: m, field: {modulus: 0.3, thickness: 0.01}}]",
         "4:40: materials[0].field.modulus: an elastic modulus of 0.3 Pa is softer than jelly: is "
         "it in pascals?"},
        {4, "materials: [{name: m, field: {modulus: 3.0e5, thickness: 10}}]",
         "4:58: materials[0].field.thickness: a soft layer of 10 m is thick: is it in metres?"},
        {4, "materials: [{name: m, tip_radius: 4}]", "4:35: materials[0].tip_radius: a fingertip"},
        {5, "pairs: [{materials: [m, m], friction: 5}]",
         "5:39: pairs[0].friction: a friction coefficient of 5 is more"},
        {8, "  - {name: cube, position: [0, 0, 1], mass: 125,",
         "8:45: bodies[1].mass: a mass of 125 kg in shapes of 0.000125 m^3 is denser than iridium"},
        {8, "  - {name: cube, position: [0, 0, 1], mass: 1.0e-5,",
         "8:45: bodies[1].mass: a mass of 1e-05 kg in shapes of 0.000125 m^3 is lighter than "
         "aerogel"},
        {8, "  - {name: cube, position: [500, 0, 20], mass: 0.125,",
         "8:28: bodies[1].position: this position is 500 m"},
        {12, "    position: [0, 0, 500]", "12:15: hands[0].position: this position is 500 m"},
        {15,
         "         joint: {type: slide, axis: [1, 0, 0], position: [0.1, 0, 0], stiffness: 100, "
         "start: 300}}",
         "hands[0].links[0].joint.start: a joint position of 300 m is more than the hand is long"},
        {17,
         "         joint: {type: hinge, axis: [0, 1, 0], position: [0.1, 0, 0], stiffness: 1, "
         "start: 86}}",
         "hands[0].links[1].joint.start: a joint angle of 86 rad is more than a full turn"},
        {17, "         joint: {type: hinge, axis: [0, 1, 0], position: [0.1, 0, 0], viscous: 1}}",
         "19:29: inputs[0].to: the joint h.b has no drive that moves it to a target: expected its"},
        {17,
         "         joint: {type: hinge, axis: [0, 1, 0], position: [0.1, 0, 0], mimic: {joint: "
         "a}}}",
         "19:29: inputs[0].to: the joint h.b follows another joint by `mimic`: set the target of "
         "that joint instead"},
        {19, "inputs: [{from: d.grip, to: h.b, offset: 45}]",
         "19:42: inputs[0].offset: an input angle of 45 rad is more than five turns"},
        {19, "inputs: [{from: d.grip, to: h.b, lower: -90, upper: 90}]",
         "19:41: inputs[0].lower: an input angle of 90 rad is more than five turns"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int count = count_warnings(cases[i].line - 1, cases[i].replacing_line);
        if (count != 1 || !strstr(heard.last, cases[i].reported)) {
            fail_msg("%d warnings, the last \"%s\"; expected \"%s\"", count, heard.last,
                     cases[i].reported);
        }
    }
}

/* A mesh of 50 mm whose file is in millimetres: its size, and with a mass in kilograms its density.
 */
static void a_mesh_in_millimetres_is_warned_of(void **state)
{
    (void)state;
    char path[] = TACT_BINARY_DIR "/doubt_cube.obj", line[1024];
    static const char *const corners = "v 0 0 0\nv 50 0 0\nv 50 50 0\nv 0 50 0\nv 0 0 50\n"
                                       "v 50 0 50\nv 50 50 50\nv 0 50 50\n"
                                       "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\n"
                                       "f 4 1 5 8\n";
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(corners, file);
    fclose(file);
    snprintf(line, sizeof line, "     shapes: [{type: mesh, file: %s, material: m}]}", path);
    assert_int_equal(count_warnings(8, line), 2);
    assert_non_null(strstr(heard.last, "lighter than aerogel"));
    snprintf(line, sizeof line, "     shapes: [{type: mesh, file: %s, scale: 0.001, material: m}]}",
             path);
    assert_int_equal(count_warnings(8, line), 0);
    snprintf(line, sizeof line,
             "  - {name: floor, fixed: true, shapes: [{type: mesh, file: %s, material: m}]}", path);
    assert_int_equal(count_warnings(6, line), 1);
    assert_non_null(
        strstr(heard.last, "bodies[0].shapes[0].file: is 50 m long: is the mesh file in milli"));
    remove(path);
}

static void plausible_scene_values_are_not_warned_of(void **state)
{
    (void)state;
    if (count_warnings(-1, NULL)) {
        fail_msg("%s", heard.last);
    }
    glob_t found;
    assert_int_equal(glob(TACT_SOURCE_DIR "/examples/scenes/*.yaml", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 20);
    for (size_t i = 0; i < found.gl_pathc; i += is_quick_sanitizer_run() ? 6 : 1) {
        struct tact_error err = {0};
        struct tact_scene *scene = NULL;
        assert_int_equal(tact_scene_load(found.gl_pathv[i], &scene, &err), 0);
        if (tact_scene_doubt(scene, (struct tact_messages){count_warning_message, NULL})) {
            fail_msg("%s", heard.last);
        }
        tact_scene_free(scene);
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scene_values_in_wrong_units_are_warned_of),
        cmocka_unit_test(a_mesh_in_millimetres_is_warned_of),
        cmocka_unit_test(plausible_scene_values_are_not_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
