/* tact import HAND: a hand from an MJCF or URDF file as the YAML of a scene. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "command.h"
#include "import.h"
#include "output.h"
#include "rt/file.h"
#include "rt/model/hand_file.h"
#include "rt/scene/scene.h"
#include "text.h"

bool is_hand_file(const char *path)
{
    static const char *const types[] = {".xml", ".urdf", ".mjcf", ".xacro"};
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && i < 4; i++) {
        if (!strcasecmp(dot, types[i])) {
            return true;
        }
    }
    return false;
}

/* The real path of the folder that a file is in, with a slash at its end. */
static int find_folder_of_file(const char *file, char out[PATH_MAX])
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s", file ? file : "");
    char *last_slash = strrchr(name, '/');
    if (last_slash) {
        last_slash[last_slash == name] = '\0';
    }
    if (!realpath(last_slash ? name : ".", out)) {
        return -errno;
    }
    const size_t length = strlen(out);
    if (length + 1 >= PATH_MAX) {
        return -ENAMETOOLONG;
    }
    if (out[length - 1] != '/') {
        memcpy(out + length, "/", 2);
    }
    return 0;
}

/* Relative path from one folder to another: "" or with a slash at its end, as both folders have
 * one. */
static int find_relative_path(const char *from, const char *to, char out[PATH_MAX])
{
    size_t common_folder_end = 0, used = 0;
    for (size_t i = 0; from[i] && from[i] == to[i]; i++) {
        common_folder_end = from[i] == '/' ? i + 1 : common_folder_end;
    }
    out[0] = '\0';
    for (const char *c = from + common_folder_end; *c; c++) {
        if (*c == '/' && used + 4 < PATH_MAX) {
            used += (size_t)snprintf(out + used, PATH_MAX - used, "../");
        }
    }
    return snprintf(out + used, PATH_MAX - used, "%s", to + common_folder_end) <
                   (int)(PATH_MAX - used)
               ? 0
               : -ENAMETOOLONG;
}

/* Reads a file that the hand's file names; user: path of the folder to which it is relative. */
static int read_file_of_hand(void *user, const char *path, char **data, uint64_t *size)
{
    char hand_mesh_path[2 * PATH_MAX];
    snprintf(hand_mesh_path, sizeof hand_mesh_path, "%s%s", (const char *)user, path);
    return tact_file_read(hand_mesh_path, TACT_FILE_MESH_BYTES, data, size);
}

/* Writes the hand to a file, or to stdout where out is NULL. */
static int write_imported_hand(const struct tact_hand_file *hand, const char *command,
                               const char *out, int force)
{
    struct output output;
    if (!out) {
        return fwrite(hand->yaml, 1, hand->size, stdout) == hand->size && !fflush(stdout)
                   ? EXIT_GOOD
                   : EXIT_BAD;
    }
    int code = output_open(&output, command, out, force);
    if (code) {
        return code;
    }
    fwrite(hand->yaml, 1, hand->size, output.to);
    return output_close(&output, EXIT_GOOD, 1);
}

/* Checks the written YAML by reading it as a scene: an error is reported at the line of the hand's
 * file from which the YAML is. */
static int check_written_hand(const struct tact_hand_file *hand, const struct hand_import *h,
                              struct tact_error *err)
{
    struct tact_scene *scene = NULL;
    int rc =
        tact_scene_parse(hand->yaml, hand->size, h->out ? h->out : "hand.yaml", NULL, &scene, err);
    tact_scene_free(scene);
    if (rc) {
        const int line = err->line;
        struct tact_error error_at_line_of_hand_file = {
            .line = line > 0 && (uint32_t)line <= hand->line_count ? hand->lines[line - 1] : 0};
        snprintf(error_at_line_of_hand_file.file, sizeof error_at_line_of_hand_file.file, "%.250s",
                 h->path);
        memcpy(error_at_line_of_hand_file.key, err->key, sizeof error_at_line_of_hand_file.key);
        memcpy(error_at_line_of_hand_file.text, err->text, sizeof error_at_line_of_hand_file.text);
        *err = error_at_line_of_hand_file;
    }
    return rc;
}

int import_hand(const char *command, const struct hand_import *h)
{
    struct tact_error err = {.line = 0};
    struct tact_hand_file hand = {0};
    char error_at_line_of_hand_file[PATH_MAX], of_scene[PATH_MAX], way[PATH_MAX], *text = NULL;
    uint64_t size = 0;
    const struct tact_hand_file_reader files = {read_file_of_hand, of_scene};
    struct tact_hand_file_options options = {
        .material = h->material, .folder = way, .scene = true, .meshes = h->meshes};
    tact_error_at(&err, h->path, 0, 0, NULL);
    int rc = find_folder_of_file(h->path, error_at_line_of_hand_file);
    rc = rc ? rc : find_folder_of_file(h->out, of_scene);
    rc = rc ? rc : find_relative_path(of_scene, error_at_line_of_hand_file, way);
    rc = rc ? rc : tact_file_read(h->path, TACT_HAND_FILE_BYTES, &text, &size);
    if (rc) {
        tact_error_set(&err, rc, "cannot be read: %s; expected an MJCF or URDF file",
                       tact_file_failure_reason(rc));
        return command_print_error(&err);
    }
    rc = tact_hand_file_load(text, size, h->path, &files, &options, &hand, &err);
    free(text);
    for (char *line = rc ? NULL : strtok(hand.notes, "\n"); line && !h->quiet;
         line = strtok(NULL, "\n")) {
        fprintf(stderr, "tact import: %s\n", text_make_printable(line));
    }
    rc = rc ? rc : check_written_hand(&hand, h, &err);
    if (rc) {
        tact_hand_file_free(&hand);
        return command_print_error(&err);
    }
    int code = write_imported_hand(&hand, command, h->out, h->force);
    tact_hand_file_free(&hand);
    return code;
}
