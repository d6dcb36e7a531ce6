/* Hands from MJCF and URDF files: what is refused, with the line; the same hand by `file` and by
 * the YAML that is written. tests/bench/hands has the numbers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rt/file.h"
#include "rt/model/hand_file.h"
#include "rt/scene/scene_internal.h"

#define HAND_FILES_FOLDER TACT_SOURCE_DIR "/examples/hands/"
#define HAND_FILE_COUNT 8

static const char *const models[HAND_FILE_COUNT] = {
    "allegro_like.xml",   "shadow_like.xml",  "leap_like.xml",     "gripper_like.urdf",
    "shadow_tendons.xml", "inspire_like.xml", "inspire_like.urdf", "allegro_whole.xml"};

static int read_file_in_hand_folder(void *user, const char *path, char **data, uint64_t *size)
{
    static const char git_lfs_pointer[] =
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
    char whole[1024];
    (void)user;
    if (!strcmp(path, "pointer.stl")) {
        *data = strdup(git_lfs_pointer);
        *size = sizeof git_lfs_pointer - 1;
        return *data ? 0 : -ENOMEM;
    }
    snprintf(whole, sizeof whole, HAND_FILES_FOLDER "%s", path);
    return tact_file_read(whole, 1 << 24, data, size);
}

static const struct tact_hand_file_reader files = {read_file_in_hand_folder, NULL};

static int load_hand_file(const char *text, size_t size, bool scene, struct tact_hand_file *out,
                          struct tact_error *err)
{
    const struct tact_hand_file_options options = {
        .material = "hand", .folder = "", .scene = scene};
    *err = (struct tact_error){.line = 0};
    return tact_hand_file_load(text, size, "hand.xml", &files, &options, out, err);
}

#define GEOM_XML "<geom size=\"0.01\"/>"
#define JOINT_XML "<joint/>" GEOM_XML
#define ONE "<mujoco><worldbody><body name=\"a\">\n" JOINT_XML "</body></worldbody>\n"

#define REVOLUTE_JOINT_URDF                                                                        \
    "<robot><link name=\"a\"/><link name=\"b\"/><joint name=\"j\" type=\"revolute\">"              \
    "<parent link=\"a\"/><child link=\"b\"/>"

#define FIXED_JOINT_URDF                                                                           \
    "<robot><link name=\"a\"/><link name=\"b\"/><joint name=\"j\" type=\"fixed\">"                 \
    "<parent link=\"a\"/><child link=\"b\"/>"

/* MJCF text with two joints p and d, before the invalid element in line 2. */
#define TWO                                                                                        \
    "<mujoco><worldbody><body name=\"a\"><joint name=\"p\"/><geom size=\"1\"/><body name=\"b\">"   \
    "<joint name=\"d\" ref=\"10\"/><geom size=\"1\"/></body></body></worldbody>"
#define EQUALITY_XML TWO "<equality>\n"
#define TENDON_ACTUATOR_XML                                                                        \
    TWO "<tendon><fixed name=\"t\"><joint joint=\"p\" coef=\"1\"/><joint joint=\"d\" "             \
        "coef=\"0.8\"/></fixed></tendon><actuator>\n"
#define TENDON_DRIVE_XML                                                                           \
    "<position tendon=\"t\" kp=\"3\" gear=\"2\" ctrlrange=\"0 4\" forcerange=\"-5 5\"/>"
#define DRIVEN_TENDON_XML                                                                          \
    TWO "<tendon><fixed name=\"t\"><joint joint=\"p\" coef=\"1\"/><joint joint=\"d\" "             \
        "coef=\"0.8\"/></fixed></tendon><actuator>" TENDON_DRIVE_XML "\n"

#define URDF_LINK(name)                                                                            \
    "<link name=\"" name "\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" "           \
    "izz=\"1\"/></inertial></link>"

/* An invalid hand file: line of the error, text that the message must contain, and the file. */
static const struct {
    int line;
    const char *part, *text;
} bad[] = {
    {1, "not XML", ""},
    {2, "not XML", "<mujoco>\n</mujoc>"},
    {1, "expected <mujoco>", "<sdf/>"},
    {1, "document type", "<!DOCTYPE mujoco [<!ENTITY a \"b\">]><mujoco/>"},
    {1, "document type", "<!DOCTYPE mujoco SYSTEM \"file:///etc/passwd\"><mujoco/>"},
    {2, "<include> is not supported", "<mujoco>\n<include file=\"a.xml\"/></mujoco>"},
    {2, "outside", "<mujoco><asset>\n<mesh file=\"../a.stl\"/></asset></mujoco>"},
    {2, "outside", "<mujoco><asset>\n<mesh file=\"/a.stl\"/></asset></mujoco>"},
    {2, "outside",
     "<mujoco><compiler meshdir=\"..\"/><asset>\n<mesh file=\"a.stl\"/></asset></mujoco>"},
    {2, "outside", "<mujoco><asset>\n<mesh file=\"a/../../b.stl\"/></asset></mujoco>"},
    {2, "outside",
     "<robot><link name=\"a\"><collision><geometry>\n<mesh "
     "filename=\"file:///a.stl\"/></geometry></collision></link></robot>"},
    {2, "outside",
     "<robot><link name=\"a\"><collision><geometry>\n<mesh "
     "filename=\"package://a/../b.stl\"/></geometry></collision></link></robot>"},
    {2, "\"j\" is already used in line 1",
     "<mujoco><worldbody><body><joint name=\"j\"/>\n<joint "
     "name=\"j\"/></body></worldbody></mujoco>"},
    {2, "\"a\" is already used in line 1",
     "<mujoco><worldbody><body name=\"a\"/>\n<body name=\"a\"/></worldbody></mujoco>"},
    {2, "\"x\" is already used in line 1",
     "<mujoco><asset><mesh file=\"x.stl\"/>\n<mesh name=\"x\" file=\"y.stl\"/></asset></mujoco>"},
    {4, "\"t\" is already used in line 3",
     ONE "<tendon><fixed name=\"t\"/>\n<fixed name=\"t\"/></tendon></mujoco>"},
    {2, "\"j\" is already used in line 1",
     REVOLUTE_JOINT_URDF "</joint>\n<joint name=\"j\"/></robot>"},
    {1, "no joint", "<mujoco/>"},
    {2, "at most one of quat",
     "<mujoco><worldbody>\n<body quat=\"1 1 0 0\" euler=\"1 2 3\"/></worldbody></mujoco>"},
    {2, "<xacro:macro> is a macro",
     "<robot xmlns:xacro=\"http://www.ros.org/wiki/xacro\">\n<xacro:macro name=\"a\"/></robot>"},
    {2, "Git LFS",
     "<mujoco><asset>\n<mesh name=\"x\" file=\"pointer.stl\"/></asset><worldbody><body><joint/>"
     "<geom type=\"mesh\" mesh=\"x\"/></body></worldbody></mujoco>"},
    {2, "<deformable> is not supported", "<mujoco>\n<deformable/></mujoco>"},
    {2, "attribute \"wobble\"",
     "<mujoco><worldbody><body>\n<joint wobble=\"1\"/></body></worldbody></mujoco>"},
    {2, "ball", "<mujoco><worldbody><body>\n<joint type=\"ball\"/></body></worldbody></mujoco>"},
    {2, "`base`", "<mujoco><worldbody><body>\n<freejoint/></body></worldbody></mujoco>"},
    {2, "spring",
     "<mujoco><worldbody><body>\n<joint stiffness=\"1\"/></body></worldbody></mujoco>"},
    {2, "expected numbers",
     "<mujoco><worldbody><body>\n<joint axis=\"1 x 0\"/></body></worldbody></mujoco>"},
    {2, "expected numbers",
     "<mujoco><worldbody><body>\n<joint axis=\"1 nan 0\"/></body></worldbody></mujoco>"},
    {2, "expected numbers",
     "<mujoco><worldbody><body>\n<joint axis=\"1 1e999 0\"/></body></worldbody></mujoco>"},
    {2, "expected 3 numbers",
     "<mujoco><worldbody><body>\n<joint axis=\"1 0\"/></body></worldbody></mujoco>"},
    {2, "length above 0",
     "<mujoco><worldbody><body>\n<joint axis=\"0 0 0\"/></body></worldbody></mujoco>"},
    {2, "increasing",
     "<mujoco><worldbody><body>\n<joint range=\"2 1\"/></body></worldbody></mujoco>"},
    {2, "autolimits",
     "<mujoco><compiler autolimits=\"false\"/><worldbody><body>\n<joint range=\"0 "
     "1\"/></body></worldbody></mujoco>"},
    {2, "no such class",
     "<mujoco><worldbody><body>\n<joint class=\"x\"/></body></worldbody></mujoco>"},
    {2, "classes have this name",
     "<mujoco><default><default class=\"a\"/>\n<default class=\"a\"/></default></mujoco>"},
    {2, "plane", "<mujoco><worldbody>\n<geom type=\"plane\" size=\"1 1 1\"/></worldbody></mujoco>"},
    {2, "size",
     "<mujoco><worldbody><body>\n<geom type=\"box\" size=\"1 1\"/></body></worldbody></mujoco>"},
    {2, "<asset>",
     "<mujoco><worldbody><body>\n<geom type=\"mesh\" mesh=\"x\"/></body></worldbody></mujoco>"},
    {2, "cannot read",
     "<mujoco><asset>\n<mesh name=\"x\" file=\"no.stl\"/></asset><worldbody><body><joint/>"
     "<geom type=\"mesh\" mesh=\"x\"/></body></worldbody></mujoco>"},
    {2, "has no mass", "<mujoco><worldbody><body>\n<joint/></body></worldbody></mujoco>"},
    {2, "gravcomp", "<mujoco><worldbody>\n<body gravcomp=\"1\"/></worldbody></mujoco>"},
    {2, "<composite> is not supported",
     "<mujoco><worldbody><body>\n<composite/></body></worldbody></mujoco>"},
    {3, "closes a kinematic loop",
     ONE "<equality><connect body1=\"a\" anchor=\"0 0 0\"/></equality></mujoco>"},
    {3, "<tendon> is not supported", ONE "<equality><tendon tendon1=\"a\"/></equality></mujoco>"},
    {3, "<spatial> is not supported", ONE "<tendon><spatial/></tendon></mujoco>"},
    {3, "of a fixed tendon", ONE "<actuator><position tendon=\"x\"/></actuator></mujoco>"},
    {3, "joint1=\"x\": expected the name",
     ONE "<equality><joint joint1=\"x\" joint2=\"b\"/></equality></mujoco>"},
    {2, "with joint2", EQUALITY_XML "<joint joint1=\"p\"/></equality></mujoco>"},
    {2, "after the first two are 0",
     EQUALITY_XML "<joint joint1=\"p\" joint2=\"d\" polycoef=\"0 1 2\"/></equality></mujoco>"},
    {2, "factor other than 0",
     EQUALITY_XML "<joint joint1=\"p\" joint2=\"d\" polycoef=\"1 0\"/></equality></mujoco>"},
    {2, "factor other than 0",
     EQUALITY_XML "<joint joint1=\"p\" joint2=\"p\"/></equality></mujoco>"},
    {3, "already follows another joint, by line 2",
     EQUALITY_XML "<joint joint1=\"p\" joint2=\"d\"/>\n<joint joint1=\"p\" joint2=\"d\"/>"
                  "</equality></mujoco>"},
    {2, "follows itself",
     EQUALITY_XML "<joint joint1=\"p\" joint2=\"d\"/><joint joint1=\"d\" joint2=\"p\"/>"
                  "</equality></mujoco>"},
    {2, "has a second drive",
     DRIVEN_TENDON_XML "<position tendon=\"t\" kp=\"2\"/></actuator></mujoco>"},
    {2, "the tendon drive of line",
     DRIVEN_TENDON_XML "<position joint=\"p\" kp=\"2\"/></actuator></mujoco>"},
    {2, "inheritrange",
     TENDON_ACTUATOR_XML
     "<position tendon=\"t\" kp=\"1\" inheritrange=\"1\"/></actuator></mujoco>"},
    {2, "drives of their own",
     TENDON_ACTUATOR_XML "<position joint=\"p\" kp=\"1\"/><position joint=\"d\" kp=\"1\"/>"
                         "<position tendon=\"t\" kp=\"1\"/></actuator></mujoco>"},
    {3, "expected a coef", TWO "\n\n<tendon><fixed><joint joint=\"p\"/></fixed></tendon></mujoco>"},
    {2, "two joints that move",
     REVOLUTE_JOINT_URDF "\n<limit lower=\"0\" upper=\"1\"/><mimic joint=\"k\"/></joint></robot>"},
    {2, "another joint",
     REVOLUTE_JOINT_URDF "<limit lower=\"0\" upper=\"1\"/>\n<mimic joint=\"j\"/></joint></robot>"},
    {2, "\"wobble\"",
     REVOLUTE_JOINT_URDF
     "<limit lower=\"0\" upper=\"1\"/>\n<mimic joint=\"j\" wobble=\"1\"/></joint></robot>"},
    {1, "names only some of the bodies",
     "<mujoco><worldbody><body name=\"a\"><joint/><geom size=\"1\"/></body><body "
     "name=\"b\"><joint/>"
     "<geom size=\"1\"/><body name=\"c\"><geom size=\"1\"/></body></body></worldbody><contact>"
     "<exclude body1=\"a\" body2=\"c\"/></contact></mujoco>"},
    {3, "<muscle> is not supported", ONE "<actuator><muscle joint=\"x\"/></actuator></mujoco>"},
    {3, "name of a joint", ONE "<actuator><position joint=\"x\"/></actuator></mujoco>"},
    {3, "two bodies", ONE "<contact><exclude body1=\"a\" body2=\"b\"/></contact></mujoco>"},
    {3, "<pair> is not supported",
     ONE "<contact><pair geom1=\"a\" geom2=\"b\"/></contact></mujoco>"},
    {3, "density", ONE "<option density=\"1000\"/></mujoco>"},
    {2, "expected a type",
     "<robot><link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\"><parent link=\"a\"/>"
     "<child link=\"b\"/></joint></robot>"},
    {2, "is no link of the file",
     "<robot><link name=\"a\"/>\n<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/>"
     "<child link=\"b\"/></joint></robot>"},
    {1, "a loop",
     "<robot><link name=\"a\"/><link name=\"b\"/><joint name=\"i\" type=\"fixed\"><parent "
     "link=\"b\"/><child link=\"a\"/></joint><joint name=\"j\" type=\"fixed\"><parent "
     "link=\"a\"/><child link=\"b\"/></joint></robot>"},
    {2, "two parents",
     "<robot><link name=\"a\"/><link name=\"b\"/><link name=\"c\"/><joint name=\"i\" "
     "type=\"fixed\"><parent link=\"a\"/><child link=\"c\"/></joint>\n<joint name=\"j\" "
     "type=\"fixed\"><parent link=\"b\"/><child link=\"c\"/></joint></robot>"},
    {2, "lower below upper",
     "<robot><link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"revolute\">"
     "<parent link=\"a\"/><child link=\"b\"/></joint></robot>"},
    {2, "expected one of",
     "<robot><link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"planar\">"
     "<parent link=\"a\"/><child link=\"b\"/></joint></robot>"},
    {2, "\"childclass\"", "<mujoco>\n<worldbody childclass=\"c\"/></mujoco>"},
    {2, "balanceinertia", "<mujoco>\n<compiler balanceinertia=\"true\"/></mujoco>"},
    {2, "wobble", FIXED_JOINT_URDF "\n<limit wobble=\"1\"/></joint></robot>"},
    {2, "lower", FIXED_JOINT_URDF "\n<limit lower=\"low\"/></joint></robot>"},
    {2, "damping", FIXED_JOINT_URDF "\n<dynamics damping=\"1 2\"/></joint></robot>"},
    {2, "two joints that move", FIXED_JOINT_URDF "\n<mimic joint=\"j\"/></joint></robot>"},
    {2, "maxhullvert",
     "<mujoco><asset>\n<mesh file=\"a.stl\" maxhullvert=\"8\"/></asset></mujoco>"},
    {3, "\"wobble\"",
     ONE "<tendon><fixed><joint joint=\"a\" wobble=\"1\"/></fixed></tendon></mujoco>"},
    {2, "too large",
     "<mujoco><worldbody>\n<body><joint/><geom size=\"1e200\"/></body></worldbody></mujoco>"},
    {2, "control characters",
     "<mujoco><asset>\n<mesh file=\"a\xe2\x80\xa8.stl\"/></asset></mujoco>"},
    {2, "control characters", "<mujoco><asset>\n<mesh file=\"a\xc2\x85.stl\"/></asset></mujoco>"},
    {2, "\"wobble\"",
     "<robot><link name=\"a\"><inertial>\n<mass value=\"1\" "
     "wobble=\"1\"/></inertial></link></robot>"},
    {2, "\"wobble\"",
     "<robot><link name=\"a\"><inertial>\n<inertia ixx=\"1\" "
     "wobble=\"1\"/></inertial></link></robot>"},
    {2, "\"wobble\"",
     "<robot><link name=\"a\"><collision><geometry>\n<sphere radius=\"1\" "
     "wobble=\"1\"/></geometry></collision></link></robot>"},
    {2, "\"wobble\"",
     REVOLUTE_JOINT_URDF "\n<limit lower=\"0\" upper=\"1\" wobble=\"1\"/></joint></robot>"},
    {2, "\"wobble\"", REVOLUTE_JOINT_URDF "\n<dynamics wobble=\"1\"/></joint></robot>"},
    {2, "\"wobble\"", REVOLUTE_JOINT_URDF "\n<axis xyz=\"1 0 0\" wobble=\"1\"/></joint></robot>"},
};

/* Parts of the YAML that is written for a hand file, and texts that it must not contain. */
static const struct {
    const char *text, *has, *has_not;
} written[] = {
    /* an attitude replaces that of the class in another notation, as in MuJoCo 4.0.0 */
    {"<mujoco><default><geom euler=\"10 20 30\"/></default><worldbody><body><joint/>"
     "<geom type=\"box\" size=\"1 1 1\" quat=\"0 0 1 0\"/></body></worldbody></mujoco>",
     "quat_wxyz: [0, 0, 1, 0]", "0.94"},
    /* meshes of URDF in the folder that the element for MuJoCo names */
    {"<robot>" URDF_LINK("a") "<link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" "
                              "iyy=\"1\" izz=\"1\"/></inertial><collision><geometry>"
                              "<mesh filename=\"bracket.obj\"/></geometry></collision></link>"
                              "<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/>"
                              "<child link=\"b\"/></joint>"
                              "<mujoco><compiler meshdir=\"assets\"/></mujoco></robot>",
     "file: 'assets/bracket.obj'", "file: 'bracket.obj'"},
    /* inertiafromgeom: masses of the shapes replace that of the body, which stays where it has no
       shape */
    {"<mujoco><compiler inertiafromgeom=\"true\"/><worldbody><body><inertial pos=\"0 0 0\" "
     "mass=\"5\" diaginertia=\"1 1 1\"/><joint/><geom type=\"box\" mass=\"2\" size=\"1 1 1\"/>"
     "</body></worldbody></mujoco>",
     "mass: 2\n", "mass: 7\n"},
    {"<mujoco><compiler inertiafromgeom=\"true\"/><worldbody><body><inertial pos=\"0 0 0\" "
     "mass=\"5\" diaginertia=\"1 1 1\"/><joint/></body></worldbody></mujoco>",
     "mass: 5\n", "shapes"},
    /* a body with two joints and its parent are excluded from contact */
    {"<mujoco model=\"m\"><worldbody><body name=\"a\"><joint/><geom size=\"1\"/><body name=\"b\">"
     "<joint/><joint axis=\"1 0 0\"/><geom size=\"1\"/></body></body></worldbody></mujoco>",
     "{objects: [m.a, m.b]}", "m.link"},
    {"<mujoco model=\"m\"><worldbody><body name=\"a\"><joint/><geom size=\"1\"/><body name=\"b\">"
     "<joint/><geom size=\"1\"/></body></body></worldbody></mujoco>",
     "name: b", "exclude"},
    /* a name with a line break cannot end a line of the YAML that is written */
    {"<mujoco><worldbody><body><joint name=\"j\xe2\x80\xa8viscous: 7\xc2\x85\"/><geom size=\"1\"/>"
     "</body></worldbody></mujoco>",
     "# joint j???viscous: 7??", "\xe2\x80\xa8"},
    {"<mujoco><worldbody><body name=\"-\"><joint/><geom size=\"1\"/></body></worldbody></mujoco>",
     "name: _\n", "name: -"},
    /* mass of an L-shaped mesh of 10 / 128^3 m^3 at 1000 kg/m^3, by exact volume; MuJoCo's default
       makes it heavier */
    {"<mujoco><compiler exactmeshinertia=\"true\"/><asset><mesh name=\"l\" "
     "file=\"assets/bracket.obj\"/>"
     "</asset><worldbody><body><joint/><geom type=\"mesh\" "
     "mesh=\"l\"/></body></worldbody></mujoco>",
     "mass: 0.00476837158203125\n", "mass: 0.005"},
    /* force limit of a joint without an actuator */
    {"<mujoco><worldbody><body><joint actuatorfrcrange=\"-2 2\"/><geom size=\"1\"/></body>"
     "</worldbody></mujoco>",
     "limit: 2\n", "stiffness"},
    /* coupling laws are relative to `ref`, also for a joint that follows a joint that itself
     * follows another, and do not depend on the start position
     */
    {EQUALITY_XML "<joint joint1=\"d\" joint2=\"p\" polycoef=\"0.25 2\"/></equality></mujoco>",
     "mimic: {joint: a, multiplier: 2, offset: 0.424532925199433}\n", "start"},
    {EQUALITY_XML
     "<joint joint1=\"d\" joint2=\"p\" polycoef=\"0.25 2\" active=\"false\"/></equality></mujoco>",
     "start", "mimic"},
    {"<robot>" URDF_LINK("a") URDF_LINK("b") URDF_LINK(
         "c") "<joint name=\"k\" type=\"prismatic\"><parent link=\"b\"/><child link=\"c\"/>"
              "<limit lower=\"0\" upper=\"1\"/><mimic joint=\"j\" multiplier=\"-0.5\" "
              "offset=\"1\"/></joint><joint name=\"j\" type=\"revolute\"><parent link=\"a\"/>"
              "<child link=\"b\"/><limit lower=\"0\" upper=\"1\"/></joint></robot>",
     "mimic: {joint: b, multiplier: -0.5, offset: 1}\n", "tendon"},
    /* the drive on a tendon is written at the tendon's first joint */
    {TENDON_ACTUATOR_XML TENDON_DRIVE_XML "</actuator></mujoco>",
     "          stiffness: 12\n          damping: 0\n          limit: 10\n"
     "          target_lower: 0\n          target_upper: 2\n          tendon:\n"
     "            - {joint: a, coefficient: 1}\n            - {joint: b, coefficient: 0.8}\n",
     "mimic"},
    {TENDON_ACTUATOR_XML "</actuator></mujoco>", "name: b", "tendon"},
};

static void yaml_written_for_a_hand_file_is_as_expected(void **state)
{
    (void)state;
    int failed_case_count = 0;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        struct tact_hand_file out;
        struct tact_error err;
        int rc = load_hand_file(written[i].text, strlen(written[i].text), true, &out, &err);
        if (rc || !strstr(out.yaml, written[i].has) || strstr(out.yaml, written[i].has_not)) {
            print_error("%s\n  got %d %s\n%s", written[i].text, rc, err.text, rc ? "" : out.yaml);
            failed_case_count++;
        }
        tact_hand_file_free(&out);
    }
    assert_int_equal(failed_case_count, 0);
}

static void unsupported_hand_file_elements_are_refused(void **state)
{
    (void)state;
    int failed_case_count = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tact_hand_file out;
        struct tact_error err;
        char message[1024];
        int rc = load_hand_file(bad[i].text, strlen(bad[i].text), true, &out, &err);
        tact_error_format(&err, message, sizeof message);
        const bool line = err.line == bad[i].line || (bad[i].line == 1 && err.line <= 2);
        if (rc >= 0 || !line || !strstr(err.text, bad[i].part) || strchr(message, '\n')) {
            print_error("%s\n  got %d: %s\n  expected line %d: %s\n", bad[i].text, rc, message,
                        bad[i].line, bad[i].part);
            failed_case_count++;
        }
        tact_hand_file_free(&out);
    }
    assert_int_equal(failed_case_count, 0);
}

static void assert_same_links(const struct tact_scene_hand *a, const struct tact_scene_hand *b)
{
    assert_int_equal(a->links_count, b->links_count);
    for (uint32_t i = 0; i < a->links_count; i++) {
        const struct tact_scene_link *x = &a->links[i], *y = &b->links[i];
        struct tact_scene_joint jx = x->joint, jy = y->joint;
        assert_string_equal(x->name, y->name);
        assert_string_equal(jx.type, jy.type);
        assert_memory_equal(jx.axis, jy.axis, sizeof jx.axis);
        assert_memory_equal(jx.position, jy.position, sizeof jx.position);
        assert_memory_equal(jx.quat_wxyz, jy.quat_wxyz, sizeof jx.quat_wxyz);
        const double *const numbers[2] = {&jx.stiffness, &jy.stiffness};
        assert_memory_equal(numbers[0], numbers[1],
                            offsetof(struct tact_scene_joint, coupling) -
                                offsetof(struct tact_scene_joint, stiffness));
        assert_true(!jx.mimic == !jy.mimic && jx.tendon_count == jy.tendon_count);
        for (uint32_t k = 0; k < jx.tendon_count; k++) {
            assert_string_equal(jx.tendon[k].joint, jy.tendon[k].joint);
            assert_true(jx.tendon[k].coefficient == jy.tendon[k].coefficient);
        }
        if (jx.mimic) {
            assert_string_equal(jx.mimic->joint, jy.mimic->joint);
            assert_memory_equal(&jx.mimic->multiplier, &jy.mimic->multiplier, 2 * sizeof(double));
        }
        assert_memory_equal(&x->mass, &y->mass, sizeof x->mass);
        assert_memory_equal(x->center_of_mass, y->center_of_mass, sizeof x->center_of_mass);
        assert_memory_equal(x->inertia, y->inertia, 6 * sizeof *x->inertia);
        assert_int_equal(x->shapes_count, y->shapes_count);
        for (uint32_t k = 0; k < x->shapes_count; k++) {
            const struct tact_scene_shape *s = &x->shapes[k], *t = &y->shapes[k];
            assert_string_equal(s->type, t->type);
            assert_memory_equal(s->position, t->position, sizeof s->position);
            assert_memory_equal(s->quat_wxyz, t->quat_wxyz, sizeof s->quat_wxyz);
            assert_memory_equal(&s->shape.size, &t->shape.size, sizeof s->shape.size);
        }
    }
}

static void hand_file_and_its_yaml_give_the_same_hand(void **state)
{
    (void)state;
    for (int i = 0; i < HAND_FILE_COUNT; i++) {
        char text[512], *data = NULL;
        uint64_t size = 0;
        struct tact_hand_file out;
        struct tact_scene *scene_with_hand_file = NULL, *scene_with_hand_yaml = NULL;
        struct tact_error err = {.line = 0};
        int n = snprintf(text, sizeof text,
                         "name: s\nmaterials: [{name: hand}]\npairs: [{materials: [hand, hand], "
                         "friction: 1}]\nhands: [{name: h, file: %s, material: hand}]\n",
                         models[i]);
        int rc = tact_scene_parse(text, (uint64_t)n, HAND_FILES_FOLDER "s.yaml", NULL,
                                  &scene_with_hand_file, &err);
        print_message("%s: %s:%d %s %s\n", models[i], err.file, err.line, err.key, err.text);
        assert_int_equal(rc, 0);
        assert_int_equal(read_file_in_hand_folder(NULL, models[i], &data, &size), 0);
        assert_int_equal(load_hand_file(data, size, true, &out, &err), 0);
        assert_int_equal(tact_scene_parse(out.yaml, out.size, HAND_FILES_FOLDER "s.yaml", NULL,
                                          &scene_with_hand_yaml, &err),
                         0);
        assert_same_links(&scene_with_hand_file->hands[0], &scene_with_hand_yaml->hands[0]);
        assert_int_equal(scene_with_hand_file->exclude_count, scene_with_hand_yaml->exclude_count);
        assert_int_equal(scene_with_hand_file->bodies_count, scene_with_hand_yaml->bodies_count);
        assert_true(scene_with_hand_file->hands[0].sources_count >= 1);
        assert_string_equal(scene_with_hand_file->hands[0].sources[0].name, models[i]);
        tact_scene_free(scene_with_hand_file);
        tact_scene_free(scene_with_hand_yaml);
        tact_hand_file_free(&out);
        free(data);
    }
}

/* An error in a hand's file is reported with the line of that file. */
static void hand_file_error_has_the_line_of_the_file(void **state)
{
    (void)state;
    static const char text[] = "<mujoco><worldbody><body name=\"a\">\n<joint/>\n"
                               "<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 5\"/>"
                               "</body></worldbody></mujoco>";
    struct tact_hand_file out;
    struct tact_error err;
    struct tact_scene *scene = NULL;
    assert_int_equal(load_hand_file(text, sizeof text - 1, true, &out, &err), 0);
    assert_int_equal(tact_scene_parse(out.yaml, out.size, "s.yaml", NULL, &scene, &err), -EINVAL);
    assert_int_equal(out.lines[err.line - 1], 1);
    assert_non_null(strstr(err.text, "no solid has this inertia"));
    tact_hand_file_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsupported_hand_file_elements_are_refused),
        cmocka_unit_test(yaml_written_for_a_hand_file_is_as_expected),
        cmocka_unit_test(hand_file_and_its_yaml_give_the_same_hand),
        cmocka_unit_test(hand_file_error_has_the_line_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
