/* Calibration files of devices: settings in a separate file, which belongs to one device and not to
 * the scene. */
#include "rt/scene/scene_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/file.h"

/** Reads the file, from the log's attachments or from disk, and stores its text. */
static int read_text(const struct tact_scene *scene, const struct tact_scene_files *files,
                     struct tact_scene_device *device)
{
    const char *name = device->calibration;
    if (files && files->get) {
        const void *data = NULL;
        int rc = files->get(files->user, name, &data, &device->calibration_size);
        if (rc) {
            return rc;
        }
        device->calibration_text = malloc(device->calibration_size + 1);
        if (!device->calibration_text) {
            return -ENOMEM;
        }
        memcpy(device->calibration_text, data, device->calibration_size);
        device->calibration_text[device->calibration_size] = '\0';
        return 0;
    }
    char path[4096];
    bool absolute = name[0] == '/';
    snprintf(path, sizeof path, "%s%s%s", absolute ? "" : scene->directory, absolute ? "" : "/",
             name);
    return tact_file_read(path, TACT_SCENE_BYTES, &device->calibration_text,
                          &device->calibration_size);
}

static int read_calibration(const struct tact_scene_check *check, struct tact_scene *scene,
                            const struct tact_scene_files *files, uint32_t number)
{
    struct tact_scene_device *device = &scene->devices[number];
    struct tact_scene_index *index = NULL;
    char key[TACT_SCENE_PATH];
    int rc = read_text(scene, files, device);
    snprintf(key, sizeof key, "devices[%u].calibration", number);
    if (rc) {
        tact_scene_report_bad_value(check, key, "cannot read %.200s: %s; tact calibrate writes it",
                                    device->calibration, strerror(-rc));
        return rc;
    }
    rc = tact_scene_index_create(device->calibration_text, (size_t)device->calibration_size,
                                 device->calibration, &index, check->err);
    if (rc) {
        tact_error_at(check->err, device->calibration, 0, 0, NULL);
        return rc;
    }
    const struct tact_scene_check inside = {index, check->err};
    const uint32_t first = device->settings_count;
    rc = tact_scene_append_settings(&inside, device);
    for (uint32_t i = first; i < device->settings_count; i++) {
        device->settings[i].file = device->calibration;
    }
    if (rc) {
        tact_error_at(check->err, device->calibration, 0, 0, NULL);
    }
    tact_scene_index_free(index);
    return rc;
}

int tact_scene_read_calibrations(const struct tact_scene_check *check, struct tact_scene *scene,
                                 const struct tact_scene_files *files)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->devices_count; i++) {
        if (scene->devices[i].calibration) {
            rc = read_calibration(check, scene, files, i);
        }
    }
    return rc;
}
