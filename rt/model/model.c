/* A hand from an MJCF or URDF file: the sequence of steps, and what the steps share. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "rt/model/model_internal.h"

int tact_model_report_no_memory(struct model *m)
{
    return tact_error_set(m->err, -ENOMEM, "out of memory");
}

int tact_model_report_error(struct model *m, int line, const char *format, ...)
{
    char text[sizeof m->err->text];
    va_list args;
    va_start(args, format);
    tact_number_vprint(text, sizeof text, format, args);
    va_end(args);
    tact_error_at(m->err, m->file, line, 0, NULL);
    return tact_error_set(m->err, -EINVAL, "%s", text);
}

int tact_model_report_repeated_name(struct model *m, const xmlNode *node, const char *name,
                                    int line_of_first_use)
{
    return tact_model_report_error(
        m, tact_xml_node_line(node),
        "%s: the name \"%.60s\" is already used in line %d: expected another one",
        tact_xml_node_name(node), name, line_of_first_use);
}

void tact_model_add_note(struct model *m, int line, const char *format, ...)
{
    char text[MODEL_NOTE_BYTES];
    va_list args;
    va_start(args, format);
    tact_number_vprint(text, sizeof text, format, args);
    va_end(args);
    for (int i = 0; i < m->note_count; i++) {
        if (!strcmp(m->notes[i].text, text)) {
            m->notes[i].count++;
            return;
        }
    }
    if (m->note_count == MODEL_MAX_NOTES) {
        m->omitted_note_count++;
        return;
    }
    snprintf(m->notes[m->note_count].text, sizeof text, "%s", text);
    m->notes[m->note_count].line = line;
    m->notes[m->note_count++].count = 1;
}

int tact_model_append_entry(struct model *m, void **at, size_t *count, size_t *capacity,
                            size_t size, int line)
{
    if (*count == MODEL_MAX_ENTRIES) {
        return tact_model_report_error(m, line, "too many entries; expected at most %d of a kind",
                                       MODEL_MAX_ENTRIES);
    }
    if (*count == *capacity) {
        const size_t larger_capacity = *capacity ? 2 * *capacity : 16;
        void *reallocated_array = realloc(*at, larger_capacity * size);
        if (!reallocated_array) {
            return tact_model_report_no_memory(m);
        }
        *at = reallocated_array;
        *capacity = larger_capacity;
    }
    memset((char *)*at + *count * size, 0, size);
    return (int)(*count)++;
}

const char *tact_model_copy_text(struct model *m, const char *text)
{
    char *text_copy = strdup(text);
    if (text_copy && m->texts.count == m->texts.capacity) {
        const size_t larger_capacity = m->texts.capacity ? 2 * m->texts.capacity : 64;
        char **reallocated_array =
            realloc(m->texts.at, larger_capacity * sizeof *reallocated_array);
        if (!reallocated_array) {
            free(text_copy);
            return NULL;
        }
        m->texts.at = reallocated_array;
        m->texts.capacity = larger_capacity;
    }
    if (text_copy) {
        m->texts.at[m->texts.count++] = text_copy;
    }
    return text_copy;
}

int tact_model_find_body(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->bodies.count; i++) {
        if (m->bodies.at[i].name && !strcmp(m->bodies.at[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

int tact_model_find_joint(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->joints.count; i++) {
        if (m->joints.at[i].name && !strcmp(m->joints.at[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

bool tact_model_is_one_line(const char *text)
{
    bool is_text_printable = true;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        is_text_printable &= *c >= ' ' && *c != 127;
        is_text_printable &= !(c[0] == 0xc2 && c[1] < 0xa0); /* C1 */
        is_text_printable &=
            !(c[0] == 0xe2 && c[1] == 0x80 && (c[2] == 0xa8 || c[2] == 0xa9)); /* lines */
    }
    return is_text_printable;
}

/* Whether a symbolic link leads out of the folder of the hand file; false where the file does not
 * exist, as for files in a log. */
static bool is_path_outside_model_folder(const struct model *m, const char *path)
{
    char name[2 * PATH_MAX], folder[PATH_MAX], resolved_path[PATH_MAX];
    const char *slash = strrchr(m->file, '/');
    const size_t length = slash ? (size_t)(slash - m->file + 1) : 0;
    if (length >= PATH_MAX) {
        return false;
    }
    memcpy(name, m->file, length);
    name[length] = '\0';
    if (!realpath(length ? name : ".", folder)) {
        return false;
    }
    snprintf(name, sizeof name, "%s/%s", folder, path);
    const size_t size = strlen(folder);
    return realpath(name, resolved_path) &&
           (strncmp(resolved_path, folder, size) ||
            (resolved_path[size] != '/' && folder[size - 1] != '/'));
}

const char *tact_model_resolve_path(struct model *m, int line, const char *folder, const char *name)
{
    char path[1024];
    if (!strncmp(name, "package://", 10)) {
        const char *path_in_package = strchr(name + 10, '/');
        const int package_name_length = (int)strcspn(name + 10, "/");
        tact_model_add_note(m, line, "package://%.*s is taken as the folder of this file",
                            package_name_length < 60 ? package_name_length : 60, name + 10);
        name = path_in_package ? path_in_package + 1 : "";
        folder = "";
    } else if (!strncmp(name, "file://", 7)) {
        name += 7;
    }
    const bool slash = folder[0] && folder[strlen(folder) - 1] != '/';
    const int length = snprintf(path, sizeof path, "%s%s%s", folder, slash ? "/" : "", name);
    if (!name[0] || length >= (int)sizeof path - 256) {
        tact_model_report_error(m, line, "file \"%.80s\": expected the name of a mesh file", name);
        return NULL;
    }
    if (!tact_model_is_one_line(path) || !tact_model_is_one_line(m->folder)) {
        tact_model_report_error(m, line, "file \"%.200s\": control characters are refused", path);
        return NULL;
    }
    bool is_outside_model_folder = path[0] == '/' || strchr(path, '\\');
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += part[0] == '/';
        is_outside_model_folder |= !strncmp(part, "..", 2) && (part[2] == '/' || !part[2]);
    }
    if (is_outside_model_folder || is_path_outside_model_folder(m, path)) {
        tact_model_report_error(
            m, line, "file \"%.200s\" is outside of the folder of %.100s, which is refused", path,
            m->file);
        return NULL;
    }
    char full_path[8192];
    const int full_path_length = snprintf(full_path, sizeof full_path, "%s%s", m->folder, path);
    const char *text_copy =
        full_path_length < (int)sizeof full_path ? tact_model_copy_text(m, full_path) : NULL;
    if (!text_copy) {
        tact_model_report_no_memory(m);
    }
    return text_copy;
}

void tact_model_free(struct model *m)
{
    for (size_t i = 0; i < m->meshes.count; i++) {
        tact_soup_free(&m->meshes.at[i].soup);
    }
    for (size_t i = 0; i < m->texts.count; i++) {
        free(m->texts.at[i]);
    }
    free(m->bodies.at);
    free(m->joints.at);
    free(m->geoms.at);
    free(m->meshes.at);
    free(m->exclusions.at);
    free(m->links.at);
    free(m->tendons.at);
    free(m->tendon_joints.at);
    free(m->texts.at);
}

static int read_model_root(struct model *m, const xmlNode *root)
{
    if (!strcmp(tact_xml_node_name(root), "mujoco")) {
        m->kind = "MJCF";
        return tact_model_read_mjcf(m, root);
    }
    if (!strcmp(tact_xml_node_name(root), "robot")) {
        m->kind = "URDF";
        return tact_model_read_urdf(m, root);
    }
    return tact_model_report_error(
        m, tact_xml_node_line(root),
        "root element <%.60s>: expected <mujoco> (MJCF) or <robot> (URDF)",
        tact_xml_node_name(root));
}

/* One line a note. */
static int join_model_notes(struct model *m, struct tact_hand_file *out)
{
    size_t used = 0, size = (size_t)(m->note_count + 1) * (MODEL_NOTE_BYTES + 320);
    out->notes = calloc(1, size);
    if (!out->notes) {
        return tact_model_report_no_memory(m);
    }
    for (int i = 0; i < m->note_count; i++) {
        char note_occurrence_count_text[32] = "";
        if (m->notes[i].count > 1) {
            snprintf(note_occurrence_count_text, sizeof note_occurrence_count_text, " (%d times)",
                     m->notes[i].count);
        }
        used += (size_t)snprintf(out->notes + used, size - used, "%.250s:%d: %s%s\n", m->file,
                                 m->notes[i].line, m->notes[i].text, note_occurrence_count_text);
    }
    if (m->omitted_note_count) {
        snprintf(out->notes + used, size - used, "%.250s: %d more notes\n", m->file,
                 m->omitted_note_count);
    }
    return 0;
}

int tact_hand_file_load(const char *text, uint64_t size, const char *file,
                        const struct tact_hand_file_reader *files,
                        const struct tact_hand_file_options *options, struct tact_hand_file *out,
                        struct tact_error *err)
{
    struct tact_error discarded_error = {0};
    *out = (struct tact_hand_file){0};
    if (size > TACT_HAND_FILE_BYTES) {
        return tact_error_set(err, -EFBIG, "too large; expected at most 16 MiB");
    }
    struct model *m = calloc(1, sizeof *m);
    if (!m) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    m->file = file;
    m->files = files;
    m->err = err ? err : &discarded_error;
    tact_error_at(m->err, file, 0, 0, NULL);
    xmlDoc *doc = NULL;
    m->folder = options->folder;
    if (!tact_model_is_one_line(options->material)) {
        tact_model_free(m);
        free(m);
        return tact_error_set(err, -EINVAL, "the material's name has control characters");
    }
    int rc = tact_model_parse_xml(m, text, size, &doc);
    rc = rc ? rc : read_model_root(m, xmlDocGetRootElement(doc));
    rc = rc ? rc : tact_model_resolve_mimics(m);
    rc = rc ? rc : tact_model_compute_masses(m);
    rc = rc ? rc : tact_model_merge_rigid_bodies(m);
    rc = rc ? rc : tact_model_write(m, options, out);
    rc = rc ? rc : join_model_notes(m, out);
    if (rc) {
        tact_hand_file_free(out);
    }
    xmlFreeDoc(doc);
    tact_model_free(m);
    free(m);
    return rc;
}

void tact_hand_file_free(struct tact_hand_file *file)
{
    free(file->yaml);
    free(file->lines);
    free(file->notes);
    *file = (struct tact_hand_file){0};
}
