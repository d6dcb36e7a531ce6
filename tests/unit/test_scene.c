/* Loading scenes: the examples, defaults, mass properties, every refusal with its place. */
#include <dirent.h>
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
#include "rt/session/scene_internal.h"

static const char *const examples[] = {"ruler", "guided", "turn", "pad"};
#define EXAMPLES (sizeof examples / sizeof *examples)

static struct tact_scene *load_example(const char *name)
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

static struct tact_scene *parse(const char *text)
{
    struct tact_scene *scene = NULL;
    struct tact_error err;
    if (tact_scene_parse(text, strlen(text), "test.yaml", NULL, &scene, &err)) {
        fail_msg("%d:%d: %s: %s", err.line, err.column, err.key, err.text);
    }
    return scene;
}

static void near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fmax(1e-300, fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

static void test_examples_load(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++) {
        struct tact_scene *scene = load_example(examples[i]);
        assert_string_equal(scene->name, examples[i]);
        assert_int_equal(scene->hands_count, 1);
        tact_scene_free(scene);
    }
}

/* The figures of the paper's pinch, typed in again. */
static void test_ruler(void **state)
{
    (void)state;
    struct tact_scene *s = load_example("ruler");
    const struct tact_scene_body *ruler = &s->bodies[0];
    assert_int_equal(s->bodies_count, 1);
    near(ruler->mass, 0.03, 0.0);
    near(ruler->position[0], 0.05, 0.0);
    near(ruler->support_until, 1.0, 0.0);
    near(ruler->inertia[0], 0.03 / 12 * (0.002 * 0.002 + 0.03 * 0.03), 1e-12);
    near(ruler->inertia[1], 0.03 / 12 * (0.30 * 0.30 + 0.03 * 0.03), 1e-12);
    near(ruler->inertia[2], 0.03 / 12 * (0.30 * 0.30 + 0.002 * 0.002), 1e-12);
    near(s->pairs[0].friction, 0.8, 0.0);
    near(s->materials[0].modulus, 3e5, 0.0);

    const struct tact_scene_hand *h = &s->hands[0];
    assert_int_equal(h->links_count, 4);
    assert_true(h->weightless);
    for (uint32_t i = 0; i < 4; i++) {
        double side = i < 2 ? 1.0 : -1.0, closed[2] = {0.006821448654675488, -1.2071069668830487};
        const struct tact_scene_link *link = &h->links[i];
        near(link->inertia[0], 0.03 * (3 * 0.008 * 0.008 + 0.05 * 0.05) / 12, 1e-12);
        near(link->inertia[2], 0.5 * 0.03 * 0.008 * 0.008, 1e-12);
        near(link->joint.stiffness, i % 2 ? 1.0 : 2.0, 0.0);
        near(link->joint.damping, i % 2 ? 0.005 : 0.02, 0.0);
        near(s->inputs[i].offset + s->inputs[i].scale, side * closed[i % 2], 1e-12);
        near(s->inputs[i].offset, link->joint.start, 0.0);
        assert_int_equal(link->shapes_count, i % 2);
    }
    /* At the open pose the left tip is about 1 cm from the ruler's face at y = 1 mm. */
    double q0 = h->links[0].joint.start, q1 = q0 + h->links[1].joint.start;
    double gap = 0.04 + 0.05 * sin(q0) + 0.05 * sin(q1) - 0.008 - 0.001;
    assert_true(gap > 0.009 && gap < 0.012);
    assert_int_equal(s->devices[0].settings[0].rows, 3);
    assert_int_equal(s->devices[0].settings[0].columns, 4);
    near(s->devices[0].settings[0].numbers[4], 0.1, 0.0);
    tact_scene_free(s);
}

/* Opens a device of an example; false where what it needs (a pad, a recording) is not here. */
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

/** True where a reference is to another device, or to a channel that the device has. */
static bool has_channel(const struct tact_device *device, const char *reference,
                        const struct tact_device_channel *channels, int count)
{
    size_t length = strlen(device->info.name);
    if (strncmp(reference, device->info.name, length) != 0 || reference[length] != '.') {
        return true;
    }
    for (int i = 0; i < count; i++) {
        if (strcmp(channels[i].name, reference + length + 1) == 0) {
            return true;
        }
    }
    return false;
}

static void test_examples_devices(void **state)
{
    (void)state;
    for (size_t e = 0; e < EXAMPLES; e++) {
        struct tact_scene *s = load_example(examples[e]);
        for (uint32_t i = 0; i < s->devices_count; i++) {
            struct tact_device device = {0};
            if (!open_device(s, i, &device)) {
                print_message("%s: device %s is not here\n", s->name, s->devices[i].name);
                continue;
            }
            const struct tact_device_info *info = &device.info;
            for (uint32_t k = 0; k < s->inputs_count; k++) {
                assert_true(
                    has_channel(&device, s->inputs[k].from, info->input, info->input_count));
            }
            for (uint32_t k = 0; k < s->outputs_count; k++) {
                assert_true(
                    has_channel(&device, s->outputs[k].to, info->output, info->output_count));
            }
            assert_true(!s->deadman ||
                        has_channel(&device, s->deadman, info->input, info->input_count));
            device.ops->close(device.self);
        }
        tact_scene_free(s);
    }
}

static void test_defaults(void **state)
{
    (void)state;
    struct tact_scene *s = parse("name: s\n"
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
    near(s->gravity[2], -9.81, 0.0);
    near(s->period, 0.001, 0.0);
    near(s->duration, 10.0, 0.0);
    near(s->contact.overlap, 2e-5, 0.0);
    near(s->contact.dissipation, 0.0, 0.0); /* an explicit 0 stays 0 */
    near(s->contact.tolerance, 1e-10, 0.0);
    assert_int_equal(s->contact.iterations, 50);
    assert_string_equal(s->contact.local, "cone");
    assert_string_equal(s->moments.source, "auto");
    assert_null(s->moments.device);
    assert_int_equal(s->moments.max_age, 1);
    assert_int_equal(s->realtime.priority, 80);
    assert_int_equal(s->realtime.cpu, -1);
    near(s->pairs[0].overlap, 2e-5, 0.0);
    near(s->pairs[0].dissipation, 0.0, 0.0);
    near(s->pairs[1].dissipation, 0.01, 0.0);
    assert_true(s->bodies[0].fixed);
    near(s->bodies[0].quat_wxyz[0], 1.0, 0.0);
    near(s->bodies[0].shapes[0].scale, 1.0, 0.0);
    near(s->bodies[0].shapes[0].quat_wxyz[0], 1.0, 0.0);
    near(s->hands[0].quat_wxyz[0], 1.0, 0.0);
    near(s->hands[0].links[0].joint.axis[2], 1.0, 0.0);
    near(s->inputs[0].scale, 1.0, 0.0);
    near(s->outputs[0].scale, 1.0, 0.0);
    assert_string_equal(s->outputs[0].what, "reaction");
    assert_string_equal(s->directory, ".");
    tact_scene_free(s);
}

static void test_settings(void **state)
{
    (void)state;
    struct tact_scene *s = parse("name: s\n"
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
            near(got->numbers[got->rows * got->columns - 1], want[i].last, 0.0);
        }
    }
    tact_scene_free(s);
}

static void test_where(void **state)
{
    (void)state;
    struct tact_scene *s = parse("name: s\n"
                                 "devices: [{name: d, type: t}]\n"
                                 "deadman: d.button\n");
    struct tact_error err = {0};
    tact_scene_where(s, "deadman", &err);
    assert_string_equal(err.file, "test.yaml");
    assert_string_equal(err.key, "deadman");
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 10);
    tact_scene_where(s, "devices[0].settings", &err); /* absent: where it would stand */
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 11);
    assert_string_equal(err.key, "devices[0].settings");
    tact_scene_free(s);
}

/* A dumbbell of two spheres on a turned axis, against the formulas for spheres. */
static void test_mass_of_shapes(void **state)
{
    (void)state;
    struct tact_scene *s = parse("name: s\n"
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
    near(c[0], 1.0, 1e-14);
    near(c[1], 0.2, 1e-14);
    near(c[2], 0.5, 1e-14);
    near(i[0], 3 * 0.4 * 0.01 + 3 * 0.04, 1e-12);
    near(i[1], 3 * 0.4 * 0.01, 1e-12);
    near(i[2], 3 * 0.4 * 0.01 + 3 * 0.04, 1e-12);
    /* A quarter turn about z swaps the plank's length and width. */
    i = s->bodies[1].inertia;
    near(i[0], 2.0 / 12 * (0.6 * 0.6 + 0.1 * 0.1), 1e-12);
    near(i[1], 2.0 / 12 * (0.2 * 0.2 + 0.1 * 0.1), 1e-12);
    near(i[2], 2.0 / 12 * (0.6 * 0.6 + 0.2 * 0.2), 1e-12);
    tact_scene_free(s);
}

/* A pyramid of unit base and height, handed over in memory. */
static int give_pyramid(void *user, const char *name, const void **data, uint64_t *size)
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

static void test_mesh_files(void **state)
{
    (void)state;
    static const char *const types[] = {"mesh", "convex"};
    for (int i = 0; i < 2; i++) {
        char text[512];
        int asked = 0;
        struct tact_scene_files files = {give_pyramid, &asked};
        struct tact_scene *s = NULL;
        struct tact_error err;
        snprintf(text, sizeof text,
                 "name: s\nmaterials: [{name: a}]\nbodies:\n  - name: b\n    mass: 1\n    shapes:\n"
                 "      - {type: %s, file: pyramid.obj, scale: 2, material: a}\n",
                 types[i]);
        assert_int_equal(tact_scene_parse(text, strlen(text), "m.yaml", &files, &s, &err), 0);
        assert_int_equal(asked, 1);
        near(s->bodies[0].shapes[0].mesh->volume, 8.0 / 3, 1e-12);
        near(s->bodies[0].center_of_mass[2], 0.5, 1e-12);
        assert_int_equal(s->bodies[0].shapes[0].shape.kind,
                         i ? TACT_SHAPE_CONVEX : TACT_SHAPE_MESH);
        assert_true(s->bodies[0].shapes[0].file_size > 50);
        tact_scene_free(s);
    }
}

/* Each file of tests/data/scenes/bad says in its first line where it is wrong and how its message
 * begins. */
static int check_bad_file(const char *name)
{
    char path[600], expected[2048], line[1024], message[1024];
    struct tact_scene *scene = NULL;
    struct tact_error err;
    snprintf(path, sizeof path, TACT_SOURCE_DIR "/tests/data/scenes/bad/%s", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    assert_memory_equal(line, "# expect: ", 10);
    snprintf(expected, sizeof expected, "%s:%s", path, line + 10);

    int rc = tact_scene_load(path, &scene, &err);
    tact_error_format(&err, message, sizeof message);
    bool same = rc < 0 && !scene && strncmp(message, expected, strlen(expected)) == 0;
    if (!same) {
        print_error("%s\n  got      %s\n  expected %s\n", name, rc ? message : "no error",
                    expected);
    }
    tact_scene_free(scene);
    return !same;
}

static void test_bad_scenes(void **state)
{
    (void)state;
    struct dirent **entries;
    int wrong = 0, seen = 0;
    int n = scandir(TACT_SOURCE_DIR "/tests/data/scenes/bad", &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *dot = strrchr(entries[i]->d_name, '.');
        if (dot && strcmp(dot, ".yaml") == 0) {
            wrong += check_bad_file(entries[i]->d_name);
            seen++;
        }
        free(entries[i]);
    }
    free(entries);
    print_message("%d bad scenes\n", seen);
    assert_true(seen >= 80);
    assert_int_equal(wrong, 0);
}

/* What libcyaml itself refuses, were our own comparison with the schema to let it pass. */
static void test_cyaml_says_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *key, *part;
    } bad[] = {{"name: s\ndevices:\n  - {name: a, tpe: b}\n", "devices", "tpe"},
               {"name: s\ndevices:\n  - {name: a, type: b}\nperiod: fast\n", "period", "fast"}};
    for (int i = 0; i < 2; i++) {
        struct tact_scene *scene = NULL;
        struct tact_error err = {0};
        struct tact_scene_check check = {.err = &err};
        struct tact_scene_index *index = NULL;
        size_t size = strlen(bad[i].text);
        assert_int_equal(tact_scene_index_create(bad[i].text, size, "c.yaml", &index, &err), 0);
        check.index = index;
        assert_int_equal(tact_scene_cyaml_load(&check, bad[i].text, size, &scene), -EINVAL);
        print_message("%s:%d:%d: %s: %s\n", err.file, err.line, err.column, err.key, err.text);
        assert_string_equal(err.key, bad[i].key);
        assert_non_null(strstr(err.text, bad[i].part));
        assert_int_equal(err.line, 3 + i);
        tact_scene_index_free(index);
    }
}

static void test_absent_file(void **state)
{
    (void)state;
    struct tact_scene *scene = NULL;
    struct tact_error err;
    assert_int_equal(tact_scene_load("/nowhere/at/all.yaml", &scene, &err), -ENOENT);
    assert_string_equal(err.file, "/nowhere/at/all.yaml");
    assert_int_equal(tact_scene_load("/dev/zero", &scene, &err), -EISDIR);
    assert_int_equal(tact_scene_load(TACT_SOURCE_DIR, &scene, NULL), -EISDIR);
    assert_null(scene);
}

/* A text whose error must be found without a crash, and soon. */
static void refuse(const char *text, size_t size, const char *part)
{
    struct tact_scene *scene = NULL;
    struct tact_error err;
    int rc = tact_scene_parse(text, size, "hostile.yaml", NULL, &scene, &err);
    assert_null(scene);
    assert_true(rc < 0);
    if (!strstr(err.text, part)) {
        fail_msg("\"%s\" lacks \"%s\"", err.text, part);
    }
}

static void test_hostile(void **state)
{
    (void)state;
    enum { LARGE = 17 << 20, LONG = 1 << 20 };
    char *text = malloc(LARGE);
    memset(text, '[', LARGE);
    refuse(text, LARGE, "too large");
    memcpy(text, "name: ", 6);
    refuse(text, LONG, "nested too deeply");
    memset(text, ' ', LONG);
    for (size_t i = 0; i + 4 <= LONG; i += 4) {
        memcpy(text + i, "- - ", 4);
    }
    refuse(text, LONG, "expected a map");
    /* Three million list entries: more than are taken. */
    size_t used = (size_t)sprintf(text, "name: [");
    for (; used + 2 < 6u << 20; used += 2) {
        memcpy(text + used, "1,", 2);
    }
    refuse(text, used, "too many");
    /* Each line would hold the line before ten times. */
    used = (size_t)sprintf(text, "a0: &a0 x\n");
    for (int i = 1; i < 10; i++) {
        used += (size_t)sprintf(text + used, "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1);
    }
    refuse(text, used, "aliases");
    refuse("name: \0x\n", 10, "not YAML");
    refuse("name: \xff\xfe\n", 9, "not YAML");
    refuse("? [a]\n: b\n", 10, "expected a key");
    free(text);
}

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s * 2685821657736338717ull >> 20;
}

/** Changes text (room for 64 bytes more) at one place; returns its new size. */
static size_t mutate(char *text, size_t size, uint64_t *random)
{
    static const char *const words[] = {"- ",   ": ",    "[",  "]",       "{",      "}",    "\n",
                                        ".nan", "-1 ",   "0 ", "1e999 ",  "&a ",    "*a ",  "\t",
                                        "'",    "\"",    "|",  "\n    ",  "!!int ", "# ",   "%",
                                        "? ",   "---\n", ",",  "1e-300 ", "1e300 ", "\x80", "\x01"};
    size_t at = next_random(random) % size;
    uint64_t kind = next_random(random) % 4;
    if (kind == 0) {
        text[at] = (char)(next_random(random) & 255);
        return size;
    }
    if (kind == 1) {
        size_t cut = 1 + next_random(random) % 40;
        cut = cut < size - at ? cut : size - at;
        memmove(text + at, text + at + cut, size - at - cut);
        return size - cut;
    }
    if (kind == 2) {
        const char *word = words[next_random(random) % (sizeof words / sizeof *words)];
        memmove(text + at + strlen(word), text + at, size - at);
        memcpy(text + at, word, strlen(word));
        return size + strlen(word);
    }
    size_t from = next_random(random) % size, length = 1 + next_random(random) % 60;
    length = length < size - from ? length : size - from;
    length = length < size - at ? length : size - at;
    memmove(text + at, text + from, length);
    return size;
}

static void test_mutated_examples(void **state)
{
    (void)state;
    int taken = 0, refused = 0;
    uint64_t random = 20251121;
    for (size_t e = 0; e < EXAMPLES; e++) {
        struct tact_scene *good = load_example(examples[e]);
        for (int i = 0; i < 500; i++) {
            struct tact_scene *scene = NULL;
            struct tact_error err;
            char *text = malloc(good->text_size + 64);
            memcpy(text, good->text, good->text_size);
            size_t size = mutate(text, good->text_size, &random);
            /* An exact copy, so that a sanitizer sees a read past the end. */
            char *exact = malloc(size + 1);
            memcpy(exact, text, size);
            exact = realloc(exact, size ? size : 1);
            if (tact_scene_parse(exact, size, "mutated.yaml", NULL, &scene, &err)) {
                assert_true(err.text[0] && !strchr(err.text, '\n'));
                assert_string_equal(err.file, "mutated.yaml");
                assert_true(err.line > 0 && err.column > 0);
                assert_null(scene);
                refused++;
            } else {
                taken++;
            }
            tact_scene_free(scene);
            free(exact);
            free(text);
        }
        tact_scene_free(good);
    }
    print_message("2000 mutations: %d refused, %d taken\n", refused, taken);
    assert_true(refused > 500 && taken > 100);
}

/* --- SCENE.md says every key -------------------------------------------------------------------
 */

/** The page's section of that name, cut out, or NULL; freed by the caller. */
static char *section(const char *page, const char *name)
{
    char heading[128];
    snprintf(heading, sizeof heading, "\n## `%s`\n", name);
    const char *start = strstr(page, heading);
    if (!start) {
        return NULL;
    }
    const char *end = strstr(start + strlen(heading), "\n## ");
    return end ? strndup(start, (size_t)(end - start)) : strdup(start);
}

static void check_section(const char *page, const char *name, const cyaml_schema_field_t *fields)
{
    char *text = section(page, name);
    if (!text) {
        fail_msg("SCENE.md has no section `%s`", name);
        return;
    }
    int rows = -2, count = 0; /* two rows are the table's head */
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
            check_section(page, inner, value->mapping.fields);
        }
    }
    assert_int_equal(rows, count);
    free(text);
}

static void test_page(void **state)
{
    (void)state;
    char *page = NULL;
    uint64_t size = 0;
    assert_int_equal(
        tact_scene_read_file(TACT_SOURCE_DIR "/rt/session/SCENE.md", 1 << 20, &page, &size), 0);
    check_section(page, "scene", tact_scene_schema()->mapping.fields);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_load),
        cmocka_unit_test(test_ruler),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_mass_of_shapes),
        cmocka_unit_test(test_mesh_files),
        cmocka_unit_test(test_bad_scenes),
        cmocka_unit_test(test_absent_file),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_mutated_examples),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_examples_devices),
        cmocka_unit_test(test_cyaml_says_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
