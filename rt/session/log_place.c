/* The log of a session must not replace a file that is an input. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "rt/session/session_internal.h"

struct log_file_location {
    const char *directory; /* directory of the scene */
    struct stat log;
};

/* Path of a file that a scene in that directory names. */
static bool resolve_log_path(const char *directory, const char *file, char *path, size_t size)
{
    bool is_path_relative_to_directory = directory && *directory && file && file[0] != '/';
    return file && *file &&
           (size_t)snprintf(path, size, "%s%s%s", is_path_relative_to_directory ? directory : "",
                            is_path_relative_to_directory ? "/" : "", file) < size;
}

static bool is_file_at_log_location(const struct log_file_location *at, const char *directory,
                                    const char *file)
{
    char path[4096];
    struct stat status;
    if (!resolve_log_path(directory, file, path, sizeof path)) {
        return false;
    }
    return stat(path, &status) == 0 && status.st_ino == at->log.st_ino &&
           status.st_dev == at->log.st_dev;
}

static bool is_file_named_by_shapes(const struct log_file_location *at,
                                    const struct tact_scene_shape *shapes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is_file_at_log_location(at, at->directory, shapes[i].file)) {
            return true;
        }
    }
    return false;
}

/* Any setting may name a file: a recording, a trajectory, a calibration of a sensor. */
static bool is_file_named_by_device(const struct log_file_location *at,
                                    const struct tact_scene_device *device)
{
    for (uint32_t i = 0; i < device->settings_count; i++) {
        if (is_file_at_log_location(at, at->directory, device->settings[i].text)) {
            return true;
        }
    }
    return is_file_at_log_location(at, at->directory, device->calibration);
}

/* The file of a hand, and the meshes of which it has shapes or masses. */
static bool is_file_named_by_hand(const struct log_file_location *at,
                                  const struct tact_scene_hand *hand)
{
    bool found = is_file_at_log_location(at, at->directory, hand->file);
    for (uint32_t i = 0; i < hand->links_count && !found; i++) {
        found = is_file_named_by_shapes(at, hand->links[i].shapes, hand->links[i].shapes_count);
    }
    for (uint32_t i = 0; i < hand->sources_count && !found; i++) {
        found = is_file_at_log_location(at, at->directory, hand->sources[i].name);
    }
    return found;
}

static bool is_file_named_by_scene(const struct log_file_location *at,
                                   const struct tact_scene *scene)
{
    bool found = is_file_at_log_location(at, NULL, scene->path);
    for (uint32_t i = 0; i < scene->bodies_count && !found; i++) {
        found = is_file_named_by_shapes(at, scene->bodies[i].shapes, scene->bodies[i].shapes_count);
    }
    for (uint32_t i = 0; i < scene->hands_count && !found; i++) {
        found = is_file_named_by_hand(at, &scene->hands[i]);
    }
    for (uint32_t i = 0; i < scene->devices_count && !found; i++) {
        found = is_file_named_by_device(at, &scene->devices[i]);
    }
    return found;
}

bool tact_session_reads_file_in_folder(const struct tact_scene *scene, const char *folder)
{
    struct log_file_location at;
    if (!folder || stat(folder, &at.log)) {
        return false;
    }
    for (uint32_t i = 0; i < scene->devices_count; i++) {
        const struct tact_scene_device *device = &scene->devices[i];
        for (uint32_t k = 0; k < device->settings_count; k++) {
            char path[4096];
            if (!resolve_log_path(scene->directory, device->settings[k].text, path, sizeof path)) {
                continue;
            }
            char *slash = strrchr(path, '/');
            if (slash) {
                slash[slash == path] = '\0';
            }
            if (is_file_at_log_location(&at, NULL, slash ? path : ".")) {
                return true;
            }
        }
    }
    return false;
}

int tact_session_check_log_path(const struct tact_scene *scene,
                                const struct tact_session_options *options, struct tact_error *err)
{
    struct log_file_location at = {.directory = scene->directory};
    if (!options->record) {
        return 0;
    }
    if (stat(options->record, &at.log) == 0 && S_ISREG(at.log.st_mode) &&
        is_file_named_by_scene(&at, scene)) {
        tact_error_at(err, options->record, 0, 0, NULL);
        return tact_error_set(err, -EINVAL,
                              "the log cannot be recorded to this file: the scene is read from it");
    }
    return tact_recorder_check(options->record, options->replace, NULL, err);
}
