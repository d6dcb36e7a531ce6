/* Loading scenes: the examples, defaults, mass properties, devices, and that SCENE.md documents
 * every key. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "devices/registry.h"
#include "rt/file.h"
#include "rt/scene/scene_internal.h"

static const char *const examples[] = {"ruler", "guided", "turn", "pad"};
#define EXAMPLE_SCENE_COUNT (sizeof examples / sizeof *examples)

static struct tact_scene *load_example_scene(const char *name)
{
    char path[512], text[1024];
    struct tact_scene *scene = NULL;
    struct tact_error err;
    snprintf(path, sizeof path, TACT_SOURCE_DIR "/examples/scenes/%s.yaml", name);
    if (tact_scene_load(path, &scene, &err)) {
        tact_error_format(&err, text, sizeof text);
        fail_msg("%s", text);
    }
    return scene;
}

static struct tact_scene *parse_scene_text_or_fail(const char *text)
{
    struct tact_scene *scene = NULL;
    struct tact_error err;
    if (tact_scene_parse(text, strlen(text), "test.yaml", NULL, &scene, &err)) {
        fail_msg("%d:%d: %s: %s", err.line, err.column, err.key, err.text);
    }
    return scene;
}

static void assert_near(double value, double expected, double relative_tolerance)
{
    if (!(fabs(value - expected) <= relative_tolerance * fmax(1e-300, fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

static void example_scenes_load(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXAMPLE_SCENE_COUNT; i++) {
        struct tact_scene *scene = load_example_scene(examples[i]);
        assert_string_equal(scene->name, examples[i]);
        assert_int_equal(scene->hands_count, 1);
        tact_scene_free(scene);
    }
}

/* The parameters of the paper's pinch, written down independently of the scene. */
static void ruler_scene_has_paper_parameters(void **state)
{
    (void)state;
    struct tact_scene *s = load_example_scene("ruler");
    const struct tact_scene_body *ruler = &s->bodies[0];
    assert_int_equal(s->bodies_count, 1);
    assert_near(ruler->mass, 0.03, 0.0);
    assert_near(ruler->position[0], 0.05, 0.0);
    assert_near(ruler->support_until, 1.0, 0.0);
    assert_near(ruler->inertia[0], 0.03 / 12 * (0.002 * 0.002 + 0.03 * 0.03), 1e-12);
    assert_near(ruler->inertia[1], 0.03 / 12 * (0.30 * 0.30 + 0.03 * 0.03), 1e-12);
    assert_near(ruler->inertia[2], 0.03 / 12 * (0.30 * 0.30 + 0.002 * 0.002), 1e-12);
    assert_near(s->pairs[0].law.friction, 0.8, 0.0);
    assert_near(s->materials[0].modulus, 3e5, 0.0);

    const struct tact_scene_hand *h = &s->hands[0];
    assert_int_equal(h->links_count, 4);
    assert_true(h->weightless);
    for (uint32_t i = 0; i < 4; i++) {
        double side = i < 2 ? 1.0 : -1.0, closed[2] = {0.006821448654675488, -1.2071069668830487};
        const struct tact_scene_link *link = &h->links[i];
        assert_near(link->inertia[0], 0.03 * (3 * 0.008 * 0.008 + 0.05 * 0.05) / 12, 1e-12);
        assert_near(link->inertia[2], 0.5 * 0.03 * 0.008 * 0.008, 1e-12);
        assert_near(link->joint.stiffness, i % 2 ? 1.0 : 2.0, 0.0);
        assert_near(link->joint.damping, i % 2 ? 0.005 : 0.02, 0.0);
        assert_near(s->inputs[i].offset + s->inputs[i].scale, side * closed[i % 2], 1e-12);
        assert_near(s->inputs[i].offset, link->joint.start, 0.0);
        assert_int_equal(link->shapes_count, i % 2);
    }
    /* In the open pose the left tip is about 1 cm from the ruler's face at y = 1 mm. */
    double q0 = h->links[0].joint.start, q1 = q0 + h->links[1].joint.start;
    double gap = 0.04 + 0.05 * sin(q0) + 0.05 * sin(q1) - 0.008 - 0.001;
    assert_true(gap > 0.009 && gap < 0.012);
    assert_int_equal(s->devices[0].settings[0].rows, 3);
    assert_int_equal(s->devices[0].settings[0].columns, 4);
    assert_near(s->devices[0].settings[0].numbers[4], 0.1, 0.0);
    tact_scene_free(s);
}

/* Opens a device of an example; false where it needs a pad or recording that is absent. */
static bool open_device(const struct tact_scene *scene, uint32_t i, struct tact_device *device)
{
    const struct tact_scene_device *d = &scene->devices[i];
    size_t count;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    const struct tact_device_type *type = tact_device_type_find(types, count, d->type);
    assert_non_null(type);
    struct tact_device_config config = {.name = d->name,
                                        .directory = scene->directory,
                                        .file = scene->path,
                                        .settings = d->settings,
                                        .setting_count = (int)d->settings_count,
                                        .period = scene->period};
    struct tact_error err = {0};
    int rc = type->open(&config, device, &err);
    if (rc && rc != -ENOENT && rc != -ENODEV && rc != -EACCES) {
        fail_msg("%s, device %s: %s", scene->name, d->name, err.text);
    }
    return rc == 0;
}

/* True where a reference names another device, or a channel of this device. */
static bool does_device_have_channel(const struct tact_device *device,
                                     const char *channel_reference,
                                     const struct tact_device_channel *channels, int count)
{
    size_t length = strlen(device->info.name);
    if (strncmp(channel_reference, device->info.name, length) != 0 ||
        channel_reference[length] != '.') {
        return true;
    }
    for (int i = 0; i < count; i++) {
        if (strcmp(channels[i].name, channel_reference + length + 1) == 0) {
            return true;
        }
    }
    return false;
}

static void example_scenes_name_existing_device_channels(void **state)
{
    (void)state;
    for (size_t e = 0; e < EXAMPLE_SCENE_COUNT; e++) {
        struct tact_scene *s = load_example_scene(examples[e]);
        for (uint32_t i = 0; i < s->devices_count; i++) {
            struct tact_device device = {0};
            if (!open_device(s, i, &device)) {
                print_message("%s: device %s is not here\n", s->name, s->devices[i].name);
                continue;
            }
            const struct tact_device_info *info = &device.info;
            for (uint32_t k = 0; k < s->inputs_count; k++) {
                assert_true(does_device_have_channel(&device, s->inputs[k].from, info->input,
                                                     info->input_count));
            }
            for (uint32_t k = 0; k < s->outputs_count; k++) {
                assert_true(does_device_have_channel(&device, s->outputs[k].to, info->output,
                                                     info->output_count));
            }
            assert_true(!s->deadman || does_device_have_channel(&device, s->deadman, info->input,
                                                                info->input_count));
            device.ops->close(device.self);
        }
        tact_scene_free(s);
    }
}

static void omitted_scene_keys_get_their_defaults(void **state)
{
    (void)state;
    struct tact_scene *s =
        parse_scene_text_or_fail("name: s\n"
                                 "materials: [{name: a}, {name: b}]\n"
                                 "contact: {dissipation: 0}\n"
                                 "pairs:\n"
                                 "  - {materials: [a, b], friction: 0}\n"
                                 "  - {materials: [b, b], friction: 1, dissipation: 0.01}\n"
                                 "bodies:\n"
                                 "  - {name: x, fixed: yes, shapes: [{type: sphere, radius: 1,"
                                 " material: a}]}\n"
                                 "hands:\n"
                                 "  - name: h\n"
                                 "    links:\n"
                                 "      - name: l\n"
                                 "        joint: {type: slide, axis: [0, 0, 2]}\n"
                                 "        mass: 1\n"
                                 "        inertia: [1, 1, 1, 0, 0, 0]\n"
                                 "devices: [{name: d, type: t}]\n"
                                 "inputs: [{from: d.c, to: h.l}]\n"
                                 "outputs: [{from: h.l, to: d.c, limit: 1, rate: 2}]\n");
    assert_near(s->gravity[2], -9.81, 0.0);
    assert_near(s->period, 0.001, 0.0);
    assert_near(s->duration, 10.0, 0.0);
    assert_near(s->contact.overlap, 2e-5, 0.0);
    assert_near(s->contact.dissipation, 0.0, 0.0); /* an explicit 0 stays 0 */
    assert_near(s->contact.tolerance, 1e-10, 0.0);
    assert_int_equal(s->contact.iterations, 50);
    assert_string_equal(s->contact.local, "cone");
    assert_string_equal(s->contact.spin, "auto");
    assert_string_equal(s->moments.source, "auto");
    assert_null(s->moments.device);
    assert_int_equal(s->moments.max_age, 1);
    assert_int_equal(s->realtime.priority, 80);
    assert_int_equal(s->realtime.cpu, -1);
    assert_near(s->pairs[0].law.overlap, 2e-5, 0.0);
    assert_near(s->pairs[0].law.dissipation, 0.0, 0.0);
    assert_near(s->pairs[1].law.dissipation, 0.01, 0.0);
    assert_true(s->bodies[0].fixed);
    assert_near(s->bodies[0].quat_wxyz[0], 1.0, 0.0);
    assert_near(s->bodies[0].shapes[0].scale, 1.0, 0.0);
    assert_near(s->bodies[0].shapes[0].quat_wxyz[0], 1.0, 0.0);
    assert_near(s->hands[0].quat_wxyz[0], 1.0, 0.0);
    assert_near(s->hands[0].links[0].joint.axis[2], 1.0, 0.0);
    assert_near(s->inputs[0].scale, 1.0, 0.0);
    assert_near(s->outputs[0].scale, 1.0, 0.0);
    assert_string_equal(s->outputs[0].what, "reaction");
    assert_string_equal(s->directory, ".");
    tact_scene_free(s);
}

static void device_settings_of_a_scene_are_parsed(void **state)
{
    (void)state;
    struct tact_scene *s = parse_scene_text_or_fail("name: s\n"
                                                    "devices:\n"
                                                    "  - name: d\n"
                                                    "    type: t\n"
                                                    "    settings:\n"
                                                    "      file: a.csv\n"
                                                    "      gain: 2.5\n"
                                                    "      row: [1, 2, 3]\n"
                                                    "      table:\n"
                                                    "        - [1, 2]\n"
                                                    "        - [3, -4e2]\n"
                                                    "      axes: {abs_x: left, abs_y: {sign: -1}}\n"
                                                    "      words: [one, two]\n"
                                                    "      quoted: \"[1, 2]\"\n");
    static const struct {
        const char *key, *text;
        int rows, columns, line, column;
        double last;
    } want[] = {{"file", "a.csv", 0, 0, 6, 13, 0},       {"gain", "2.5", 0, 0, 7, 13, 0},
                {"row", NULL, 1, 3, 8, 12, 3},           {"table", NULL, 2, 2, 10, 9, -400},
                {"axes.abs_x", "left", 0, 0, 12, 21, 0}, {"axes.abs_y.sign", "-1", 0, 0, 12, 41, 0},
                {"words[0]", "one", 0, 0, 13, 15, 0},    {"words[1]", "two", 0, 0, 13, 20, 0},
                {"quoted", "[1, 2]", 0, 0, 14, 15, 0}};
    assert_int_equal(s->devices[0].settings_count, sizeof want / sizeof *want);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct tact_device_setting *got = &s->devices[0].settings[i];
        assert_string_equal(got->key, want[i].key);
        assert_int_equal(got->line, want[i].line);
        assert_int_equal(got->column, want[i].column);
        assert_int_equal(got->rows, want[i].rows);
        assert_int_equal(got->columns, want[i].columns);
        if (want[i].text) {
            assert_string_equal(got->text, want[i].text);
            assert_null(got->numbers);
        } else {
            assert_null(got->text);
            assert_near(got->numbers[got->rows * got->columns - 1], want[i].last, 0.0);
        }
    }
    tact_scene_free(s);
}

static void scene_errors_have_line_and_column(void **state)
{
    (void)state;
    struct tact_scene *s = parse_scene_text_or_fail("name: s\n"
                                                    "devices: [{name: d, type: t}]\n"
                                                    "deadman: d.button\n");
    struct tact_error err = {0};
    tact_scene_where(s, "deadman", &err);
    assert_string_equal(err.file, "test.yaml");
    assert_string_equal(err.key, "deadman");
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 10);
    /* place of a key that is absent: where it would be */
    tact_scene_where(s, "devices[0].settings", &err);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 11);
    assert_string_equal(err.key, "devices[0].settings");
    tact_scene_free(s);
}

/* A dumbbell of two spheres on a rotated axis, compared with the formulas for spheres. */
static void mass_properties_of_a_body_follow_from_its_shapes(void **state)
{
    (void)state;
    struct tact_scene *s =
        parse_scene_text_or_fail("name: s\n"
                                 "materials: [{name: a}]\n"
                                 "pairs: [{materials: [a, a], friction: 1}]\n"
                                 "bodies:\n"
                                 "  - name: dumbbell\n"
                                 "    mass: 3\n"
                                 "    shapes:\n"
                                 "      - {type: sphere, radius: 0.1, position: [1, 0, 0.5],"
                                 " material: a}\n"
                                 "      - {type: sphere, radius: 0.1, position: [1, 0.4, 0.5],"
                                 " material: a}\n"
                                 "  - name: plank\n"
                                 "    mass: 2\n"
                                 "    shapes:\n"
                                 "      - {type: box, size: [0.6, 0.2, 0.1], material: a,"
                                 " quat_wxyz: [1, 0, 0, 1]}\n");
    const double *c = s->bodies[0].center_of_mass, *i = s->bodies[0].inertia;
    assert_near(c[0], 1.0, 1e-14);
    assert_near(c[1], 0.2, 1e-14);
    assert_near(c[2], 0.5, 1e-14);
    assert_near(i[0], 3 * 0.4 * 0.01 + 3 * 0.04, 1e-12);
    assert_near(i[1], 3 * 0.4 * 0.01, 1e-12);
    assert_near(i[2], 3 * 0.4 * 0.01 + 3 * 0.04, 1e-12);
    /* A quarter turn about z swaps the plank's length and width. */
    i = s->bodies[1].inertia;
    assert_near(i[0], 2.0 / 12 * (0.6 * 0.6 + 0.1 * 0.1), 1e-12);
    assert_near(i[1], 2.0 / 12 * (0.2 * 0.2 + 0.1 * 0.1), 1e-12);
    assert_near(i[2], 2.0 / 12 * (0.6 * 0.6 + 0.2 * 0.2), 1e-12);
    tact_scene_free(s);
}

/* A pyramid of unit base and height, handed over in memory. */
static int read_pyramid_file(void *user, const char *name, const void **data, uint64_t *size)
{
    static const char obj[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\n"
                              "f 1 4 3 2\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n";
    *(int *)user += 1;
    if (strcmp(name, "pyramid.obj") != 0) {
        return -ENOENT;
    }
    *data = obj;
    *size = sizeof obj - 1;
    return 0;
}

static void mesh_files_of_a_scene_are_read(void **state)
{
    (void)state;
    static const char *const types[] = {"mesh", "convex"};
    for (int i = 0; i < 2; i++) {
        char text[512];
        int requested_file_count = 0;
        struct tact_scene_files files = {read_pyramid_file, &requested_file_count};
        struct tact_scene *s = NULL;
        struct tact_error err;
        snprintf(text, sizeof text,
                 "name: s\nmaterials: [{name: a}]\nbodies:\n  - name: b\n    mass: 1\n    shapes:\n"
                 "      - {type: %s, file: pyramid.obj, scale: 2, material: a}\n",
                 types[i]);
        assert_int_equal(tact_scene_parse(text, strlen(text), "m.yaml", &files, &s, &err), 0);
        assert_int_equal(requested_file_count, 1);
        assert_near(s->bodies[0].shapes[0].mesh->volume, 8.0 / 3, 1e-12);
        assert_near(s->bodies[0].center_of_mass[2], 0.5, 1e-12);
        assert_int_equal(s->bodies[0].shapes[0].shape.kind,
                         i ? TACT_SHAPE_CONVEX : TACT_SHAPE_MESH);
        assert_true(s->bodies[0].shapes[0].file_size > 50);
        tact_scene_free(s);
    }
}

/* Mesh files in other units, and with each axis scaled by itself; a mirrored mesh keeps its outside
 * outside. */
/* A mesh file that several shapes use is read once and shared; at another scale, or as a hull, it
 * is another mesh. */
static void mesh_file_of_several_shapes_is_read_once(void **state)
{
    (void)state;
    static const char *const keys[] = {"type: mesh, file: pyramid.obj",
                                       "type: mesh, file: pyramid.obj",
                                       "type: convex, file: pyramid.obj",
                                       "type: mesh, file: pyramid.obj, scale: 2",
                                       "type: mesh, file: pyramid.obj, scale_xyz: [1, 2, 1]",
                                       "type: mesh, file: pyramid.obj, scale_xyz: [1, 2, 1]",
                                       "type: mesh, file: pyramid.obj, unit: mm",
                                       "type: mesh, file: pyramid.obj, scale_xyz: [1, 2, 3]"};
    static const int first_shape_with_the_same_mesh[] = {0, 0, 2, 3, 4, 4, 6, 7};
    enum { SHAPES = sizeof keys / sizeof *keys };
    char text[4096] = "name: s\nmaterials: [{name: a}]\n"
                      "pairs: [{materials: [a, a], friction: 0.5}]\nbodies:\n";
    struct tact_error err = {.line = 0};
    struct tact_scene *scene;
    int requested_file_count = 0;
    struct tact_scene_files files = {read_pyramid_file, &requested_file_count};
    for (int i = 0; i < SHAPES; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "  - {name: b%d, mass: 1, shapes: [{%s, material: a}]}\n", i, keys[i]);
    }
    assert_int_equal(tact_scene_parse(text, strlen(text), "shared.yaml", &files, &scene, &err), 0);
    assert_int_equal(requested_file_count, 6);
    for (int i = 0; i < SHAPES; i++) {
        const struct tact_scene_shape *shape = scene->bodies[i].shapes;
        for (int k = 0; k < SHAPES; k++) {
            assert_true((shape->mesh == scene->bodies[k].shapes->mesh) ==
                        (first_shape_with_the_same_mesh[i] == first_shape_with_the_same_mesh[k]));
        }
        assert_true(shape->shape.mesh == shape->mesh &&
                    !shape->file_data == (i != first_shape_with_the_same_mesh[i]));
        assert_memory_equal(scene->bodies[i].inertia,
                            scene->bodies[first_shape_with_the_same_mesh[i]].inertia,
                            6 * sizeof(double));
    }
    tact_scene_free(scene);
}

static void mesh_files_are_scaled_by_unit_and_scale_keys(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double volume, center;
    } cases[] = {
        {"unit: mm", 1e-9, 0.25e-3},          {"unit: in", 0.0254 * 0.0254 * 0.0254, 0.25 * 0.0254},
        {"scale: 2, unit: cm", 8e-6, 0.5e-2}, {"scale_xyz: [2, 1, 3]", 6.0, 0.75},
        {"scale_xyz: [1, -2, 1]", 2.0, 0.25}, {"scale_xyz: [-1, -1, -1]", 1.0, -0.25}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        int requested_file_count = 0;
        struct tact_scene_files files = {read_pyramid_file, &requested_file_count};
        struct tact_scene *s = NULL;
        struct tact_error err;
        snprintf(text, sizeof text,
                 "name: s\nmaterials: [{name: a}]\nbodies:\n  - name: b\n    mass: 1\n    shapes:\n"
                 "      - {type: mesh, file: pyramid.obj, %s, material: a}\n",
                 cases[i].keys);
        assert_int_equal(tact_scene_parse(text, strlen(text), "m.yaml", &files, &s, &err), 0);
        assert_near(s->bodies[0].shapes[0].mesh->volume / cases[i].volume, 1.0 / 3, 1e-12);
        assert_near(s->bodies[0].center_of_mass[2] / cases[i].center, 1.0, 1e-12);
        tact_scene_free(s);
    }
}

/* ---- SCENE.md documents every key ---- */

/* A copy of the page's section of that name, or NULL; freed by the caller. */
static char *find_documentation_section(const char *page, const char *name)
{
    char section_heading_text[128];
    snprintf(section_heading_text, sizeof section_heading_text, "\n## `%s`\n", name);
    const char *start = strstr(page, section_heading_text);
    if (!start) {
        return NULL;
    }
    const char *end = strstr(start + strlen(section_heading_text), "\n## ");
    return end ? strndup(start, (size_t)(end - start)) : strdup(start);
}

static void check_documentation_section(const char *page, const char *name,
                                        const cyaml_schema_field_t *fields)
{
    char *text = find_documentation_section(page, name);
    if (!text) {
        fail_msg("SCENE.md has no section `%s`", name);
        return;
    }
    int rows = -2, count = 0; /* number of keys in the table, less the two rows of its head */
    for (const char *row = text; (row = strstr(row, "\n|")); row++) {
        rows++;
    }
    for (const cyaml_schema_field_t *f = fields; f->key; f++, count++) {
        char row[128], inner[128];
        snprintf(row, sizeof row, "\n| `%s` |", f->key);
        if (!strstr(text, row)) {
            fail_msg("SCENE.md, section `%s`: no row for `%s`", name, f->key);
        }
        const cyaml_schema_value_t *value = &f->value;
        bool list = value->type == CYAML_SEQUENCE;
        value = list ? value->sequence.entry : value;
        if (value->type == CYAML_MAPPING) {
            snprintf(inner, sizeof inner, "%s%s", f->key, list ? "[]" : "");
            check_documentation_section(page, inner, value->mapping.fields);
        }
    }
    assert_int_equal(rows, count);
    free(text);
}

static void every_scene_key_is_documented(void **state)
{
    (void)state;
    char *page = NULL;
    uint64_t size = 0;
    assert_int_equal(tact_file_read(TACT_SOURCE_DIR "/rt/scene/SCENE.md", 1 << 20, &page, &size),
                     0);
    check_documentation_section(page, "scene", tact_scene_schema()->mapping.fields);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_scenes_load),
        cmocka_unit_test(ruler_scene_has_paper_parameters),
        cmocka_unit_test(omitted_scene_keys_get_their_defaults),
        cmocka_unit_test(device_settings_of_a_scene_are_parsed),
        cmocka_unit_test(scene_errors_have_line_and_column),
        cmocka_unit_test(mass_properties_of_a_body_follow_from_its_shapes),
        cmocka_unit_test(mesh_files_of_a_scene_are_read),
        cmocka_unit_test(mesh_files_are_scaled_by_unit_and_scale_keys),
        cmocka_unit_test(mesh_file_of_several_shapes_is_read_once),
        cmocka_unit_test(every_scene_key_is_documented),
        cmocka_unit_test(example_scenes_name_existing_device_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
