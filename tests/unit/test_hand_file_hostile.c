/* Hands from hostile MJCF and URDF files: deep nesting, many attributes, and random mutations from
 * a seed, which are refused in one line with file and line, or read. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "rt/file.h"
#include "rt/model/hand_file.h"
#include "rt/scene/scene_internal.h"
#include "support/campaign.h"

#define HAND_FILES_FOLDER TACT_SOURCE_DIR "/examples/hands/"
#define HAND_FILE_COUNT 8

static const char *const models[HAND_FILE_COUNT] = {
    "allegro_like.xml",   "shadow_like.xml",  "leap_like.xml",     "gripper_like.urdf",
    "shadow_tendons.xml", "inspire_like.xml", "inspire_like.urdf", "allegro_whole.xml"};

static int read_file_in_hand_folder(void *user, const char *path, char **data, uint64_t *size)
{
    char whole[1024];
    (void)user;
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

static void deep_nesting_in_hand_files_is_refused(void **state)
{
    (void)state;
    char text[8192] = "<mujoco><worldbody>";
    struct tact_hand_file out;
    struct tact_error err;
    for (int i = 0; i < 200; i++) {
        strcat(text, "<body>");
    }
    for (int i = 0; i < 200; i++) {
        strcat(text, "</body>");
    }
    strcat(text, "</worldbody></mujoco>");
    assert_int_equal(load_hand_file(text, strlen(text), true, &out, &err), -EINVAL);
    assert_non_null(strstr(err.text, "nested"));
}

/* The XML library's time for a tag is quadratic in its attributes: 200,000 took 55 s. */
static void tag_of_many_attributes_is_refused(void **state)
{
    (void)state;
    enum { ATTRIBUTES = 200000 };
    char *text = malloc(16 * ATTRIBUTES);
    struct tact_hand_file out;
    struct tact_error err;
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, 16, "\n<mujoco");
    for (int i = 0; i < ATTRIBUTES; i++) {
        used += (size_t)snprintf(text + used, 16, " a%d=\"\"", i);
    }
    used += (size_t)snprintf(text + used, 16, "/>");
    const clock_t begin = clock();
    assert_int_equal(load_hand_file(text, used, true, &out, &err), -EINVAL);
    assert_non_null(strstr(err.text, "attributes"));
    assert_int_equal(err.line, 2);
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
    free(text);
}

static uint32_t next_mutation_random(uint64_t *bits)
{
    *bits = *bits * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*bits >> 33);
}

/* Finds the next quoted value at or after a position: returns the index of its first byte, *length
 * gets its length; 0 where there is none.
 */
static size_t find_quoted_value(const char *text, size_t size, size_t at, size_t *length)
{
    const char *first = memchr(text + at, '"', size - at);
    const char *last = first ? memchr(first + 1, '"', size - (size_t)(first + 1 - text)) : NULL;
    *length = last ? (size_t)(last - first - 1) : 0;
    return last ? (size_t)(first + 1 - text) : 0;
}

/* Replaces one quoted value of the text by another one, or a digit of a number by another digit. */
static size_t swap_two_values(char *text, size_t size, uint64_t *bits)
{
    size_t first_value_length, second_value_length;
    char value[64];
    size_t from =
        find_quoted_value(text, size, next_mutation_random(bits) % size, &first_value_length);
    size_t to =
        find_quoted_value(text, size, next_mutation_random(bits) % size, &second_value_length);
    if (!from || !to || first_value_length >= sizeof value) {
        return size;
    }
    memcpy(value, text + from, first_value_length);
    memmove(text + to + first_value_length, text + to + second_value_length,
            size - to - second_value_length);
    memcpy(text + to, value, first_value_length);
    return size + first_value_length - second_value_length;
}

/* Applies random mutations to a text, which has room for MUTATION_EXTRA_BYTES more: changes a byte,
 * a digit or a value, or cuts, doubles or replaces a part. Returns the new size. */
#define MUTATION_EXTRA_BYTES 512
static size_t mutate_hand_file_text(const char *text, size_t size, uint64_t *bits, char *out)
{
    static const char *const parts[] = {"\"",
                                        "<",
                                        ">",
                                        "/>",
                                        "&",
                                        "&#0;",
                                        "&lt;",
                                        "-",
                                        "1e308",
                                        "1e-320",
                                        "nan",
                                        "0",
                                        "../",
                                        "<body>",
                                        "</body>",
                                        "class=",
                                        "childclass=\"x\"",
                                        "<!--",
                                        "<![CDATA[",
                                        "\xff",
                                        "\n"};
    memcpy(out, text, size);
    for (uint32_t n = 1 + next_mutation_random(bits) % 4; n > 0; n--) {
        const size_t at = next_mutation_random(bits) % size;
        const char *part = parts[next_mutation_random(bits) % (sizeof parts / sizeof *parts)];
        const size_t length = 1 + next_mutation_random(bits) % 40;
        switch (next_mutation_random(bits) % 8) {
        case 0:
            out[at] = (char)next_mutation_random(bits);
            break;
        case 1:
            if (at + length < size) {
                memmove(out + at, out + at + length, size - at - length);
                size -= length;
            }
            break;
        case 2:
            if (at + length < size) {
                memmove(out + at + length, out + at, size - at);
                size += length;
            }
            break;
        case 3:
            if (at + strlen(part) < size) {
                memcpy(out + at, part, strlen(part));
            }
            break;
        case 4:
        case 5:
            out[at] = out[at] >= '0' && out[at] <= '9'
                          ? (char)('0' + next_mutation_random(bits) % 10)
                          : out[at];
            break;
        default:
            size = swap_two_values(out, size, bits);
        }
    }
    return size;
}

/* Checks a mutated hand file: it is refused with a message of one line that names file and line, or
 * it yields a hand whose YAML can be read again. */
static void check_mutated_hand_file(const char *text, size_t size, int counts[2])
{
    struct tact_hand_file out;
    struct tact_error err;
    struct tact_scene_index *index = NULL;
    int rc = load_hand_file(text, size, true, &out, &err);
    counts[rc == 0]++;
    if (rc) {
        char message[1024];
        tact_error_format(&err, message, sizeof message);
        assert_string_equal(err.file, "hand.xml");
        assert_true(err.line > 0 && err.text[0] && !strchr(message, '\n'));
    } else {
        assert_int_equal(tact_scene_index_create(out.yaml, out.size, "y", &index, &err), 0);
        tact_scene_index_free(index);
    }
    tact_hand_file_free(&out);
}

static void mutated_hand_files_are_refused_or_read(void **state)
{
    (void)state;
    /* not fewer under a sanitizer, which such files are for: 2,000 take about 2 s there */
    const long count = is_long_campaign() ? 100000 : 2000;
    uint64_t bits = 7 ^ campaign_seed_offset();
    int counts[2] = {0, 0};
    for (int i = 0; i < HAND_FILE_COUNT; i++) {
        char *data = NULL;
        uint64_t size = 0;
        assert_int_equal(read_file_in_hand_folder(NULL, models[i], &data, &size), 0);
        char *mutated_text = malloc(size + MUTATION_EXTRA_BYTES);
        assert_non_null(mutated_text);
        for (long n = 0; n < (count + HAND_FILE_COUNT - 1) / HAND_FILE_COUNT; n++) {
            check_mutated_hand_file(mutated_text,
                                    mutate_hand_file_text(data, size, &bits, mutated_text), counts);
        }
        free(mutated_text);
        free(data);
    }
    print_message("%d refused, %d read\n", counts[0], counts[1]);
    assert_true(counts[0] > 0 && counts[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_nesting_in_hand_files_is_refused),
        cmocka_unit_test(tag_of_many_attributes_is_refused),
        cmocka_unit_test(mutated_hand_files_are_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
