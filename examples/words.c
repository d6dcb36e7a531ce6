/* Parses shapes and poses of the command line. */
#include "words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contact/number.h"
#include "contact/vec.h"
#include "rt/file.h"
#include "viewer/server.h"

#define MAX_COORDINATE_OR_SIZE 1e9 /* largest coordinate and size, as in scenes [m] */
#define MIN_SHAPE_SIZE 1e-30       /* smallest size, whose volume squared is not 0 [m] */

/* Parses up to `most` finite numbers between blanks and commas; -1 on anything else. */
static int parse_numbers_of_word(const char *text, double *out, int most)
{
    static const char number_separators[] = " \t,";
    int count = 0;
    for (text += strspn(text, number_separators); *text; text += strspn(text, number_separators)) {
        char *end;
        double value = tact_number_read(text, &end);
        if (end == text || !isfinite(value) || count == most ||
            (*end && !strchr(number_separators, *end))) {
            return -1;
        }
        out[count++] = value;
        text = end;
    }
    return count;
}

int parse_finite_number(const char *word, double *out)
{
    return parse_numbers_of_word(word, out, 1) == 1 ? 0 : -1;
}

int parse_port_number(const char *word, int *port)
{
    double value;
    if (parse_finite_number(word, &value) || !(value >= 1.0 && value <= 65535.0) ||
        value != floor(value)) {
        return -1;
    }
    *port = (int)value;
    return 0;
}

int parse_pose_words(const char *word, struct tact_pose *out)
{
    double v[7] = {0.0, 0.0, 0.0, 1.0};
    int count = parse_numbers_of_word(word, v, 7);
    memcpy(out->position, v, sizeof out->position);
    memcpy(out->quat_wxyz, v + 3, sizeof out->quat_wxyz);
    double quaternion_length = tact_quat_normalize(out->quat_wxyz);
    for (int i = 0; i < 3 && count >= 0; i++) {
        if (fabs(v[i]) > MAX_COORDINATE_OR_SIZE) {
            return -ERANGE;
        }
    }
    return (count == 3 || count == 7) && quaternion_length > 0.0 && isfinite(quaternion_length)
               ? 0
               : -1;
}

/* 1 for a kind of shape that is described by its lengths, so that a word of the command line can
 * state it. */
static int has_shape_command_syntax(const struct tact_shape_type *type)
{
    return strcmp(type->keys, "file") != 0 && strcmp(type->keys, "profile") != 0;
}

/* Writes the syntax of a kind of shape on the command line: "sphere:RADIUS", "box:X,Y,Z". */
static const char *format_shape_syntax(const struct tact_shape_type *type, char *out, size_t size)
{
    static const char *const words[4] = {"RADIUS", "TUBE", "LENGTH", "X,Y,Z"};
    static const char *const keys[4] = {"radius", "tube", "length", "size"};
    size_t used = (size_t)snprintf(out, size, "%s", type->name);
    for (int i = 0, any = 0; i < 4; i++) {
        if (strstr(type->keys, keys[i])) {
            used += (size_t)snprintf(out + used, size - used, "%s%s", any ? "," : ":", words[i]);
            any = 1;
        }
    }
    return out;
}

static int make_primitive_shape_of_word(enum tact_shape_kind kind, const char *word,
                                        struct tact_shape *out, struct tact_error *err)
{
    const struct tact_shape_type *type = tact_shape_type(kind);
    const char *primitive_size_text = word + strlen(type->name) + (word[strlen(type->name)] == ':');
    double number[3] = {0.0, 0.0, 0.0};
    int count = parse_numbers_of_word(primitive_size_text, number, 3),
        are_sizes_in_range = count == type->lengths;
    for (int i = 0; are_sizes_in_range && i < count; i++) {
        are_sizes_in_range = number[i] >= MIN_SHAPE_SIZE && number[i] <= MAX_COORDINATE_OR_SIZE;
    }
    struct tact_shape_lengths lengths = {number[0], number[1], number[1], {0.0}};
    tact_v3_copy(lengths.size, number);
    *out = tact_shape_sized(kind, &lengths);
    if (!are_sizes_in_range || tact_shape_tessellate(out)) {
        char shape_syntax[64];
        return tact_error_set(err, -EDOM,
                              "\"%s\" is no shape: expected %s with sizes from %g to %g m", word,
                              format_shape_syntax(type, shape_syntax, sizeof shape_syntax),
                              MIN_SHAPE_SIZE, MAX_COORDINATE_OR_SIZE);
    }
    return 0;
}

int read_soup_of_file(const char *path, double scale, struct tact_soup *out, struct tact_error *err)
{
    char *data = NULL;
    uint64_t size = 0;
    tact_error_at(err, path, 0, 0, NULL);
    int rc = tact_file_read(path, TACT_FILE_MESH_BYTES, &data, &size);
    if (rc == -EFBIG) {
        tact_error_set(err, rc, "expected a mesh file of at most %d MiB",
                       TACT_FILE_MESH_BYTES >> 20);
    } else if (rc) {
        tact_error_set(err, rc, "%s", tact_file_failure_reason(rc));
    }
    rc = rc ? rc : tact_soup_read(data, size, path, scale, out, err);
    free(data);
    return rc;
}

/* Reads triangles as read_soup_of_file(), for a word that may have been meant as another shape. */
static int read_soup_of_mesh_word(const char *path, double scale, struct tact_soup *out,
                                  struct tact_error *err)
{
    int rc = read_soup_of_file(path, scale, out, err);
    if (rc == -ENOENT) {
        char shape_syntax_list[256] = "", shape_syntax[64];
        size_t used = 0;
        for (int i = 0; i < TACT_SHAPE_COUNT; i++) {
            const struct tact_shape_type *type = tact_shape_type((enum tact_shape_kind)i);
            if (has_shape_command_syntax(type)) {
                used += (size_t)snprintf(
                    shape_syntax_list + used, sizeof shape_syntax_list - used, ", %s",
                    format_shape_syntax(type, shape_syntax, sizeof shape_syntax));
            }
        }
        tact_error_set(err, rc, "%s; a mesh file (OBJ, STL)%s is expected", strerror(-rc),
                       shape_syntax_list);
    }
    return rc;
}

static int make_shape_of_mesh_file(const char *path, double scale, struct parsed_shape *out,
                                   struct tact_error *err)
{
    struct tact_soup soup = {0};
    int rc = read_soup_of_mesh_word(path, scale, &soup, err);
    rc = rc ? rc : tact_mesh_of_soup(&soup, &out->mesh, err);
    out->shape.kind = TACT_SHAPE_MESH;
    out->shape.mesh = out->mesh;
    tact_soup_free(&soup);
    return rc;
}

/* The kind of shape at the start of a word, or -1. Meshes are given by their files. */
static int find_primitive_kind_of_word(const char *word)
{
    for (int i = 0; i < TACT_SHAPE_COUNT; i++) {
        const struct tact_shape_type *type = tact_shape_type((enum tact_shape_kind)i);
        size_t length = strlen(type->name);
        if (has_shape_command_syntax(type) && !strncmp(word, type->name, length) &&
            (word[length] == ':' || word[length] == 0)) {
            return i;
        }
    }
    return -1;
}

int parse_shape_argument(const char *word, double scale, struct parsed_shape *out,
                         struct tact_error *err)
{
    int kind = find_primitive_kind_of_word(word);
    memset(out, 0, sizeof *out);
    return kind >= 0
               ? make_primitive_shape_of_word((enum tact_shape_kind)kind, word, &out->shape, err)
               : make_shape_of_mesh_file(word, scale, out, err);
}

int parse_shape_or_soup_argument(const char *word, double scale, struct parsed_shape *out,
                                 struct tact_error *err)
{
    int kind = find_primitive_kind_of_word(word);
    memset(out, 0, sizeof *out);
    out->shape.kind = TACT_SHAPE_MESH;
    return kind >= 0
               ? make_primitive_shape_of_word((enum tact_shape_kind)kind, word, &out->shape, err)
               : read_soup_of_mesh_word(word, scale, &out->soup, err);
}

int parse_allowed_origin(const char *command, const char *text, const char **out)
{
    *out = text;
    return server_is_valid_origin(text)
               ? 0
               : command_print_usage_error(
                     command, "--allow-origin %s: SCHEME://HOST or SCHEME://HOST:PORT is expected",
                     text);
}

struct shape_pair_options shape_pair_options_default(void)
{
    const struct shape_pair_options q = {{tact_pose_identity(), tact_pose_identity()}, 1.0, 0};
    return q;
}

int parse_shape_pair_option(struct shape_pair_options *q, const char *command, int option,
                            const char *text)
{
    int rc;
    switch (option) {
    case 'a':
    case 'b':
        rc = parse_pose_words(text, &q->pose[option - 'a']);
        if (rc == -ERANGE) {
            return command_print_usage_error(command,
                                             "--pose-%c \"%s\": a position must be within %g m",
                                             option, text, MAX_COORDINATE_OR_SIZE);
        }
        return rc ? command_print_usage_error(
                        command, "--pose-%c \"%s\": expected \"x y z\" or \"x y z qw qx qy qz\"",
                        option, text)
                  : 0;
    case 's':
        return parse_finite_number(text, &q->scale) || q->scale <= 0.0
                   ? command_print_usage_error(command, "--scale %s: a positive number is expected",
                                               text)
                   : 0;
    case 'j':
        q->json = 1;
        return 0;
    default:
        return EXIT_USAGE;
    }
}

void release_parsed_shape(struct parsed_shape *shape)
{
    tact_shape_release(&shape->shape);
    tact_mesh_free(shape->mesh);
    tact_soup_free(&shape->soup);
}
