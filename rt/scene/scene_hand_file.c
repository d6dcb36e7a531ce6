/* Hands from MJCF and URDF files: the keys that they have are joined to those of the scene. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/mesh/mesh.h"
#include "rt/file.h"
#include "rt/model/hand_file.h"
#include "rt/scene/scene_internal.h"

#define MAX_HAND_FILES_BYTES (1u << 30) /* size limit for all files of a hand together [bytes] */

/* Where the files of a hand are read from: a log, or the folder of the scene. */
struct hand_file_source {
    const struct tact_scene_files *files;
    char folder[4096]; /* "" or with a slash at its end */
    struct tact_scene_loaded_hand_files *content;
};

static int copy_file_bytes(const void *from, uint64_t size, char **data)
{
    *data = malloc(size + 1);
    if (!*data) {
        return -ENOMEM;
    }
    memcpy(*data, from, size);
    (*data)[size] = '\0';
    return 0;
}

static int read_file_of_scene_files(const struct tact_scene_files *files, const char *path,
                                    char **data, uint64_t *size)
{
    const void *data_of_scene_file = NULL;
    int rc = files->get(files->user, path, &data_of_scene_file, size);
    return rc ? rc : copy_file_bytes(data_of_scene_file, *size, data);
}

static const struct tact_scene_hand_source *
find_loaded_file(const struct tact_scene_loaded_hand_files *content, const char *path)
{
    for (uint32_t i = 0; i < content->count; i++) {
        if (!strcmp(content->sources[i].name, path)) {
            return &content->sources[i];
        }
    }
    return NULL;
}

/* Appends a copy of a hand file to those that a log of the scene attaches. */
static int store_loaded_hand_source(struct tact_scene_loaded_hand_files *content, const char *path,
                                    const char *data, uint64_t size)
{
    uint64_t total_bytes = size;
    for (uint32_t i = 0; i < content->count; i++) {
        total_bytes += content->sources[i].size;
    }
    if (total_bytes > MAX_HAND_FILES_BYTES) {
        return -EFBIG;
    }
    struct tact_scene_hand_source *enlarged_hand_sources =
        realloc(content->sources, (content->count + 1) * sizeof *enlarged_hand_sources);
    if (!enlarged_hand_sources) {
        return -ENOMEM;
    }
    content->sources = enlarged_hand_sources;
    struct tact_scene_hand_source *file = &enlarged_hand_sources[content->count];
    *file = (struct tact_scene_hand_source){strdup(path), malloc(size + 1), size};
    content->count++;
    if (!file->name || !file->data) {
        return -ENOMEM;
    }
    memcpy(file->data, data, size);
    return 0;
}

/* Reads a hand file and stores it for the log. */
static int load_hand_source(void *user, const char *path, char **data, uint64_t *size)
{
    const struct hand_file_source *source = user;
    const struct tact_scene_hand_source *loaded_hand_source =
        find_loaded_file(source->content, path);
    char name[8192];
    if (loaded_hand_source) {
        *size = loaded_hand_source->size;
        return copy_file_bytes(loaded_hand_source->data, loaded_hand_source->size, data);
    }
    snprintf(name, sizeof name, "%s%s", path[0] == '/' ? "" : source->folder, path);
    int rc = source->files && source->files->get
                 ? read_file_of_scene_files(source->files, path, data, size)
                 : tact_file_read(name, TACT_FILE_MESH_BYTES, data, size);
    if (!rc) {
        rc = store_loaded_hand_source(source->content, path, *data, *size);
        if (rc) {
            free(*data);
        }
    }
    return rc;
}

/* Copies the folder of a path: all up to its last slash. */
static void copy_folder_of_path(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(out, size, "%.*s", slash ? (int)(slash - path + 1) : 0, path);
}

/* Text of a key of a hand in the index, or NULL. */
static const char *text_of_hand_key(const struct tact_scene_index *index, uint32_t hand,
                                    const char *key)
{
    const uint32_t at = tact_scene_index_child(index, hand, key);
    return at ? index->nodes[at].text : NULL;
}

/* Whether the scene moves the base of the hand. */
static bool has_moving_base(const struct tact_scene_index *index, uint32_t hand)
{
    const uint32_t base = tact_scene_index_child(index, hand, "base");
    const char *fixed = base ? text_of_hand_key(index, base, "fixed") : NULL;
    return base && (!fixed || strcmp(fixed, "true") != 0);
}

/* Checks the keys that a hand with a file needs and those that it cannot have. */
static int check_hand_keys(const struct tact_scene_check_context *check,
                           const struct tact_scene_index *index, uint32_t hand, uint32_t number)
{
    static const char *const needed[] = {"name", "material"};
    char path[TACT_SCENE_PATH_BYTES];
    snprintf(path, sizeof path, "hands[%u].file", number);
    for (int i = 0; i < 2; i++) {
        if (!text_of_hand_key(index, hand, needed[i])) {
            return tact_scene_report_bad_value(
                check, path, "a hand with a \"file\" needs the key \"%s\"", needed[i]);
        }
    }
    if (tact_scene_index_child(index, hand, "links")) {
        return tact_scene_report_bad_value(
            check, path, "a hand with a \"file\" cannot have \"links\": they come from the file");
    }
    return 0;
}

/* Merges the YAML of a hand file into its hand, and its exclusions into those of the scene. */
static int merge_hand_yaml(struct tact_scene_index *index, uint32_t hand, const char *file,
                           const struct tact_hand_file *hand_file, struct tact_error *err)
{
    struct tact_scene_index *hand_yaml_index = NULL;
    int rc = tact_scene_index_create(hand_file->yaml, hand_file->size, file, &hand_yaml_index, err);
    if (rc) {
        return rc;
    }
    const uint32_t from = tact_scene_index_child(hand_yaml_index, 0, "hand");
    const uint32_t pairs = tact_scene_index_child(hand_yaml_index, 0, "exclude");
    rc = tact_scene_index_merge(index, hand, hand_yaml_index, from, file, hand_file->lines,
                                hand_file->line_count, err);
    uint32_t list = pairs ? tact_scene_index_child(index, 0, "exclude") : 0;
    if (!rc && pairs && !list) {
        list = tact_scene_index_add_list(index, 0, "exclude");
        rc = list ? 0 : tact_error_set(err, -ENOMEM, "out of memory");
    }
    if (!rc && pairs && index->nodes[list].kind == TACT_INDEX_LIST) {
        rc = tact_scene_index_merge(index, list, hand_yaml_index, pairs, file, hand_file->lines,
                                    hand_file->line_count, err);
    }
    tact_scene_index_free(hand_yaml_index);
    return rc;
}

static int merge_hand_file(const struct tact_scene_check_context *check,
                           struct tact_scene_index *index, struct hand_file_source *source,
                           uint32_t hand, uint32_t number,
                           struct tact_scene_loaded_hand_files *content)
{
    const char *file = text_of_hand_key(index, hand, "file");
    const char *collision = text_of_hand_key(index, hand, "collision");
    const struct tact_hand_file_reader reader = {load_hand_source, source};
    char path[TACT_SCENE_PATH_BYTES], folder[1024], name[8192], *text = NULL;
    uint64_t size = 0;
    struct tact_hand_file hand_file;
    int rc = check_hand_keys(check, index, hand, number);
    if (rc) {
        return rc;
    }
    snprintf(path, sizeof path, "hands[%u].file", number);
    source->content = content;
    content->hand = number;
    rc = load_hand_source(source, file, &text, &size);
    if (rc) {
        tact_scene_report_bad_value(check, path,
                                    "cannot read %.200s: %s; expected an MJCF or URDF file", file,
                                    tact_file_failure_reason(rc));
        return rc;
    }
    copy_folder_of_path(file, folder, sizeof folder);
    snprintf(name, sizeof name, "%s%s", file[0] == '/' ? "" : source->folder, file);
    const struct tact_hand_file_options options = {
        .material = text_of_hand_key(index, hand, "material"),
        .name = text_of_hand_key(index, hand, "name"),
        .folder = folder,
        .meshes = collision && !strcmp(collision, "mesh"),
        .moving_base = has_moving_base(index, hand)};
    rc = tact_hand_file_load(text, size, name, &reader, &options, &hand_file, check->err);
    free(text);
    rc = rc ? rc : merge_hand_yaml(index, hand, name, &hand_file, check->err);
    content->notes = hand_file.notes;
    hand_file.notes = NULL;
    tact_hand_file_free(&hand_file);
    return rc;
}

int tact_scene_merge_hand_files(const struct tact_scene_check_context *check,
                                struct tact_scene_index *index, const char *name,
                                const struct tact_scene_files *files,
                                struct tact_scene_hand_files *out)
{
    const uint32_t hands = tact_scene_index_child(index, 0, "hands");
    const uint32_t count = hands ? index->nodes[hands].count : 0;
    struct hand_file_source *source = calloc(1, sizeof *source);
    out->at = calloc(count ? count : 1, sizeof *out->at);
    int rc = 0;
    if (!out->at || !source) {
        free(source);
        return tact_error_set(check->err, -ENOMEM, "out of memory");
    }
    source->files = files;
    copy_folder_of_path(name, source->folder, sizeof source->folder);
    for (uint32_t i = hands ? index->nodes[hands].first : 0, k = 0; !rc && i;
         i = index->nodes[i].next, k++) {
        if (index->nodes[i].kind == TACT_INDEX_MAP && text_of_hand_key(index, i, "file")) {
            rc = merge_hand_file(check, index, source, i, k, &out->at[out->count++]);
        }
    }
    free(source);
    return rc;
}

void tact_scene_store_hand_files(struct tact_scene_hand_files *files, struct tact_scene *scene)
{
    for (uint32_t i = 0; i < files->count; i++) {
        struct tact_scene_hand *hand = &scene->hands[files->at[i].hand];
        hand->sources = files->at[i].sources;
        hand->sources_count = files->at[i].count;
        hand->file_notes = files->at[i].notes;
    }
    free(files->at);
    *files = (struct tact_scene_hand_files){0};
}

void tact_scene_free_sources(struct tact_scene_hand_source *sources, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(sources[i].name);
        free(sources[i].data);
    }
    free(sources);
}

void tact_scene_free_hand_files(struct tact_scene_hand_files *files)
{
    for (uint32_t i = 0; i < files->count; i++) {
        tact_scene_free_sources(files->at[i].sources, files->at[i].count);
        free(files->at[i].notes);
    }
    free(files->at);
    *files = (struct tact_scene_hand_files){0};
}

int tact_scene_check_hand_file(const struct tact_scene_check_context *check,
                               const struct tact_scene_hand *hand, uint32_t number)
{
    static const char *const kinds[] = {"convex", "mesh", NULL};
    char path[TACT_SCENE_PATH_BYTES];
    int rc = 0;
    snprintf(path, sizeof path, "hands[%u].collision", number);
    if (hand->collision) {
        rc = tact_scene_require_word(check, path, hand->collision, kinds);
    }
    if (!rc && !hand->file && (hand->collision || hand->material)) {
        snprintf(path, sizeof path, "hands[%u].%s", number,
                 hand->material ? "material" : "collision");
        return tact_scene_report_bad_value(check, path,
                                           "this key is only for a hand with a \"file\"");
    }
    snprintf(path, sizeof path, "hands[%u].drive", number);
    if (!rc && hand->drive) {
        const struct tact_scene_drive *d = hand->drive;
        rc = tact_scene_require_gain(check, path, "stiffness", d->stiffness, "");
        rc = rc ? rc : tact_scene_require_gain(check, path, "damping", d->damping, "");
        rc = rc ? rc : tact_scene_require_nonnegative(check, path, "limit", d->limit, "");
    }
    return rc;
}
