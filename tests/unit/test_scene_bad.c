/* Invalid scenes: every refusal with its place, hostile texts, and random mutations from a seed. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rt/scene/scene_internal.h"
#include "rt/scene/yaml.h"
#include "support/campaign.h"

/* Each file of tests/data/scenes/bad says in its first line where it is wrong and how its message
 * begins. */
static int check_bad_scene_file(const char *name)
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
    bool is_refused_as_expected =
        rc < 0 && !scene && strncmp(message, expected, strlen(expected)) == 0;
    if (!is_refused_as_expected) {
        print_error("%s\n  got      %s\n  expected %s\n", name, rc ? message : "no error",
                    expected);
    }
    tact_scene_free(scene);
    return !is_refused_as_expected;
}

static void bad_scene_files_are_refused(void **state)
{
    (void)state;
    struct dirent **bad_scene_folder_entries;
    int wrongly_handled_scene_file_count = 0, seen = 0;
    int n = scandir(TACT_SOURCE_DIR "/tests/data/scenes/bad", &bad_scene_folder_entries, NULL,
                    alphasort);
    for (int i = 0; i < n; i++) {
        const char *dot = strrchr(bad_scene_folder_entries[i]->d_name, '.');
        if (dot && strcmp(dot, ".yaml") == 0) {
            wrongly_handled_scene_file_count +=
                check_bad_scene_file(bad_scene_folder_entries[i]->d_name);
            seen++;
        }
        free(bad_scene_folder_entries[i]);
    }
    free(bad_scene_folder_entries);
    print_message("%d bad scenes\n", seen);
    assert_true(seen >= 80);
    assert_int_equal(wrongly_handled_scene_file_count, 0);
}

/* A document loaded by its schema alone, without the checks of scenes. */
static void yaml_errors_have_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *key, *part;
    } bad[] = {{"name: s\ndevices:\n  - {name: a, tpe: b}\n", "devices[0].tpe", "type"},
               {"name: s\ndevices:\n  - {name: a, type: b}\nperiod: fast\n", "period", "fast"}};
    for (int i = 0; i < 2; i++) {
        void *scene = NULL;
        struct tact_error err = {0};
        size_t size = strlen(bad[i].text);
        assert_int_equal(
            tact_yaml_load("c.yaml", bad[i].text, size, tact_scene_schema(), &scene, &err),
            -EINVAL);
        print_message("%s:%d:%d: %s: %s\n", err.file, err.line, err.column, err.key, err.text);
        assert_string_equal(err.key, bad[i].key);
        assert_non_null(strstr(err.text, bad[i].part));
        assert_int_equal(err.line, 3 + i);
    }
}

static void absent_scene_file_is_refused(void **state)
{
    (void)state;
    struct tact_scene *scene = NULL;
    struct tact_error err;
    assert_int_equal(tact_scene_load("/nowhere/at/all.yaml", &scene, &err), -ENOENT);
    assert_string_equal(err.file, "/nowhere/at/all.yaml");
    assert_int_equal(tact_scene_load("/dev/zero", &scene, &err), -EISDIR);
    assert_non_null(strstr(err.text, "cannot be read: not a regular file; expected a scene"));
    assert_int_equal(tact_scene_load(TACT_SOURCE_DIR, &scene, NULL), -EISDIR);
    assert_null(scene);
}

/* Expects a text to be refused without a crash and within a bounded time. */
static void expect_scene_refused(const char *text, size_t size, const char *part)
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

static void hostile_scene_text_is_refused(void **state)
{
    (void)state;
    enum { LARGE = 17 << 20, LONG = 1 << 20 };
    char *text = malloc(LARGE);
    memset(text, '[', LARGE);
    expect_scene_refused(text, LARGE, "too large");
    memcpy(text, "name: ", 6);
    expect_scene_refused(text, LONG, "nested too deeply");
    memset(text, ' ', LONG);
    for (size_t i = 0; i + 4 <= LONG; i += 4) {
        memcpy(text + i, "- - ", 4);
    }
    expect_scene_refused(text, LONG, "expected a map");
    /* Three million list entries: more than the limit. */
    size_t used = (size_t)sprintf(text, "name: [");
    for (; used + 2 < 6u << 20; used += 2) {
        memcpy(text + used, "1,", 2);
    }
    expect_scene_refused(text, used, "too many");
    /* YAML aliases: each line would expand to ten times the line before. */
    used = (size_t)sprintf(text, "a0: &a0 x\n");
    for (int i = 1; i < 10; i++) {
        used += (size_t)sprintf(text + used, "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1);
    }
    expect_scene_refused(text, used, "aliases");
    expect_scene_refused("name: \0x\n", 10, "not YAML");
    expect_scene_refused("name: \xff\xfe\n", 9, "not YAML");
    expect_scene_refused("? [a]\n: b\n", 10, "expected a key");
    free(text);
}

/* A quoted name that continues in the next line, which YAML folds, or that has escapes. */
static void scene_error_messages_are_one_line(void **state)
{
    (void)state;
    static const char text[] = "name: s\nbodies:\n  - name: a\n    mass: 1\n    shapes:\n"
                               "      - {material: m, type: \"sph\n\n         \\e ere\"}\n";
    struct tact_scene *scene = NULL;
    struct tact_error err;
    assert_true(tact_scene_parse(text, sizeof text - 1, "s.yaml", NULL, &scene, &err) < 0);
    assert_non_null(strstr(err.text, "got \"sph?? ere\""));
}

static uint64_t next_mutation_random(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s * 2685821657736338717ull >> 20;
}

/* Changes the text at one random place (its buffer has 64 bytes to spare); returns its new size.
 */
static size_t change_random_place_in_text(char *text, size_t size, uint64_t *random_state)
{
    static const char *const words[] = {"- ",   ": ",    "[",  "]",       "{",      "}",    "\n",
                                        ".nan", "-1 ",   "0 ", "1e999 ",  "&a ",    "*a ",  "\t",
                                        "'",    "\"",    "|",  "\n    ",  "!!int ", "# ",   "%",
                                        "? ",   "---\n", ",",  "1e-300 ", "1e300 ", "\x80", "\x01"};
    size_t at = next_mutation_random(random_state) % size;
    uint64_t kind = next_mutation_random(random_state) % 4;
    if (kind == 0) {
        text[at] = (char)(next_mutation_random(random_state) & 255);
        return size;
    }
    if (kind == 1) {
        size_t cut = 1 + next_mutation_random(random_state) % 40;
        cut = cut < size - at ? cut : size - at;
        memmove(text + at, text + at + cut, size - at - cut);
        return size - cut;
    }
    if (kind == 2) {
        const char *word =
            words[next_mutation_random(random_state) % (sizeof words / sizeof *words)];
        memmove(text + at + strlen(word), text + at, size - at);
        memcpy(text + at, word, strlen(word));
        return size + strlen(word);
    }
    size_t from = next_mutation_random(random_state) % size,
           length = 1 + next_mutation_random(random_state) % 60;
    length = length < size - from ? length : size - from;
    length = length < size - at ? length : size - at;
    memmove(text + at, text + from, length);
    return size;
}

static void mutated_example_scenes_are_refused_or_loaded(void **state)
{
    (void)state;
    static const char *const examples[] = {"ruler", "guided", "turn", "pad"};
    int taken = 0, refused = 0;
    uint64_t random_state = 20251121 ^ campaign_seed_offset();
    for (size_t e = 0; e < sizeof examples / sizeof *examples; e++) {
        char path[512];
        struct tact_scene *valid_scene = NULL;
        snprintf(path, sizeof path, TACT_SOURCE_DIR "/examples/scenes/%s.yaml", examples[e]);
        assert_int_equal(tact_scene_load(path, &valid_scene, NULL), 0);
        for (int i = 0; i < 500; i++) {
            struct tact_scene *scene = NULL;
            struct tact_error err;
            char *text = malloc(valid_scene->text_size + 64);
            memcpy(text, valid_scene->text, valid_scene->text_size);
            size_t size = change_random_place_in_text(text, valid_scene->text_size, &random_state);
            /* A copy of exactly this size, so that a sanitizer detects a read past the end. */
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
        tact_scene_free(valid_scene);
    }
    print_message("2000 mutations: %d refused, %d taken\n", refused, taken);
    assert_true(refused > 500 && taken > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_scene_files_are_refused),
        cmocka_unit_test(yaml_errors_have_their_line),
        cmocka_unit_test(absent_scene_file_is_refused),
        cmocka_unit_test(hostile_scene_text_is_refused),
        cmocka_unit_test(scene_error_messages_are_one_line),
        cmocka_unit_test(mutated_example_scenes_are_refused_or_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
