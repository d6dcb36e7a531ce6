/* Loading and checking a scene file: the sequence of steps. */
#include "rt/scene/scene_internal.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/file.h"
#include "rt/scene/yaml.h"

/* Stores the scene's text and path. */
static int store_scene_source(struct tact_scene *scene, const char *text, uint64_t size,
                              const char *name)
{
    char *folder = strdup(name);
    scene->path = strdup(name);
    scene->text = malloc(size + 1);
    if (folder && scene->path && scene->text) {
        scene->directory = strdup(dirname(folder));
        memcpy(scene->text, text, size);
        scene->text[size] = '\0';
        scene->text_size = size;
    }
    free(folder);
    return scene->directory ? 0 : -ENOMEM;
}

/* The steps after the values are loaded. */
static int apply_defaults_and_check(const struct tact_scene_check_context *check,
                                    struct tact_scene *scene, const struct tact_scene_files *files)
{
    int rc = tact_scene_insert_bases(check, scene);
    rc = rc ? rc : tact_scene_set_admittance_bases(check, scene);
    rc = rc ? rc : tact_scene_set_defaults(check, scene);
    rc = rc ? rc : tact_scene_complete_tools(check, scene);
    rc = rc ? rc : tact_scene_set_coupling_defaults(check, scene);
    rc = rc ? rc : tact_scene_complete_remotes(check, scene);
    rc = rc ? rc : tact_scene_collect_settings(check, scene);
    rc = rc ? rc : tact_scene_read_calibrations(check, scene, files);
    rc = rc ? rc : tact_scene_check_tied_joints(check, scene);
    rc = rc ? rc : tact_scene_check_values(check, scene);
    rc = rc ? rc : tact_scene_check_tied_ranges(check, scene);
    if (!rc) {
        tact_scene_set_fixed_base_poses(scene);
    }
    rc = rc ? rc : tact_scene_check_names(check, scene);
    rc = rc ? rc : tact_scene_check_pairs(check, scene);
    return rc ? rc : tact_scene_load_shapes(check, scene, files);
}

int tact_scene_parse(const char *text, uint64_t size, const char *name,
                     const struct tact_scene_files *files, struct tact_scene **out,
                     struct tact_error *err)
{
    struct tact_error discarded_error;
    struct tact_scene_index *index = NULL;
    void *loaded = NULL;
    *out = NULL;
    err = err ? err : &discarded_error;
    *err = (struct tact_error){0};
    tact_error_at(err, name, 0, 0, NULL);
    if (!text) {
        return tact_error_set(err, -EINVAL, "nothing to read; expected a scene in YAML");
    }
    if (size > TACT_SCENE_MAX_BYTES) {
        return tact_error_set(err, -EINVAL, "too large; expected a scene of at most 16 MiB");
    }
    int rc = tact_scene_index_create(text, size, name, &index, err);
    if (rc) {
        return rc;
    }
    struct tact_scene_check_context check = {index, err};
    struct tact_scene_hand_files hand_files = {0};
    rc = tact_scene_merge_hand_files(&check, index, name, files, &hand_files);
    rc = rc ? rc : tact_scene_load_values(&check, tact_scene_schema(), &loaded);
    if (rc) {
        tact_scene_free_hand_files(&hand_files);
        tact_scene_index_free(index);
        return rc;
    }
    struct tact_scene *scene = loaded;
    scene->index = index;
    tact_scene_store_hand_files(&hand_files, scene);
    rc = store_scene_source(scene, text, size, name);
    rc = rc ? tact_error_set(err, rc, "out of memory")
            : apply_defaults_and_check(&check, scene, files);
    if (rc) {
        tact_scene_free(scene);
        return rc;
    }
    *out = scene;
    return 0;
}

int tact_scene_load(const char *path, struct tact_scene **out, struct tact_error *err)
{
    char *text = NULL;
    uint64_t size = 0;
    *out = NULL;
    int rc = tact_file_read(path, TACT_SCENE_MAX_BYTES, &text, &size);
    if (rc) {
        if (err) {
            *err = (struct tact_error){0};
        }
        tact_error_at(err, path, 0, 0, NULL);
        return tact_error_set(err, rc,
                              "cannot be read: %s; expected a scene in YAML of at most "
                              "16 MiB",
                              tact_file_failure_reason(rc));
    }
    rc = tact_scene_parse(text, size, path, NULL, out, err);
    free(text);
    return rc;
}

void tact_scene_where(const struct tact_scene *scene, const char *key, struct tact_error *err)
{
    tact_scene_index_locate(scene->index, key, err);
}

void tact_scene_free(struct tact_scene *scene)
{
    if (!scene) {
        return;
    }
    tact_scene_free_settings(scene);
    tact_scene_free_shapes(scene);
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        tact_scene_free_sources(scene->hands[i].sources, scene->hands[i].sources_count);
        free(scene->hands[i].file_notes);
    }
    tact_scene_index_free(scene->index);
    free(scene->path);
    free(scene->directory);
    free(scene->text);
    tact_yaml_free(tact_scene_schema(), scene);
}
