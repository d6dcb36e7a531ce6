/* Calibration files of devices: settings in a separate file, which belongs to one device and not to
 * the scene. */
#include "rt/scene/scene_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/file.h"

/* Largest value of a haptic axis, in SI units: no device has more, and it could overflow. */
#define MAX_HAPTIC_AXIS_VALUE 1e9

/* Reads the file, from the log's attachments or from disk, and stores its text. */
static int read_calibration_file_text(const struct tact_scene *scene,
                                      const struct tact_scene_files *files,
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
    bool is_path_absolute = name[0] == '/';
    snprintf(path, sizeof path, "%s%s%s", is_path_absolute ? "" : scene->directory,
             is_path_absolute ? "" : "/", name);
    return tact_file_read(path, TACT_SCENE_MAX_BYTES, &device->calibration_text,
                          &device->calibration_size);
}

static int add_haptic_axis(const struct tact_scene_check_context *calibration_file_check,
                           struct tact_scene_device *device,
                           const struct tact_device_setting *setting)
{
    enum { NUMBERS = 6 };
    const char *channel = strchr(setting->key, '.');
    const double *n = setting->numbers;
    if (!channel || strlen(channel + 1) >= TACT_DEVICE_NAME || strpbrk(channel + 1, ".[") || !n ||
        setting->rows != 1 || setting->columns != NUMBERS) {
        return tact_scene_report_bad_value(
            calibration_file_check, setting->key,
            "expected an input channel with a list of six numbers: mass, damping, delay, friction, "
            "resolution and the largest stable wall stiffness, as tact calibrate writes them");
    }
    for (int i = 0; i < NUMBERS; i++) {
        if (!(n[i] >= 0.0 && n[i] <= MAX_HAPTIC_AXIS_VALUE) || (i == 0 && n[i] == 0.0)) {
            return tact_scene_report_bad_value(calibration_file_check, setting->key,
                                               "number %d is %g; expected %s to %g", i + 1, n[i],
                                               i ? "0" : "more than 0", MAX_HAPTIC_AXIS_VALUE);
        }
    }
    void *enlarged_haptic_axes =
        realloc(device->haptic, (device->haptic_count + 1) * sizeof *device->haptic);
    if (!enlarged_haptic_axes) {
        return tact_error_set(calibration_file_check->err, -ENOMEM, "out of memory");
    }
    device->haptic = enlarged_haptic_axes;
    struct tact_scene_haptic_axis *axis = &device->haptic[device->haptic_count++];
    *axis =
        (struct tact_scene_haptic_axis){.port = {n[0], n[1], n[2], n[3], n[4]}, .stiffest = n[5]};
    snprintf(axis->channel, sizeof axis->channel, "%s", channel + 1);
    return 0;
}

/* Moves the haptic axes out of the settings from index `first` on; the rest goes to the device
 * type. */
static int
move_haptic_axes_out_of_settings(const struct tact_scene_check_context *calibration_file_check,
                                 struct tact_scene_device *device, uint32_t first)
{
    uint32_t kept_setting_count = first;
    int rc = 0;
    for (uint32_t i = first; i < device->settings_count; i++) {
        struct tact_device_setting *setting = &device->settings[i];
        const int is_haptic_model_setting = !strcmp(setting->key, "haptic_model") && setting->text;
        const int is_haptic_axis_setting = !strncmp(setting->key, "haptic", 6) &&
                                           (!setting->key[6] || strchr(".[", setting->key[6]));
        if (rc || (!is_haptic_model_setting && !is_haptic_axis_setting)) {
            device->settings[kept_setting_count++] = *setting;
            continue;
        }
        if (is_haptic_model_setting) {
            device->haptic_model = (char *)setting->text;
            setting->text = NULL;
        } else {
            rc = add_haptic_axis(calibration_file_check, device, setting);
        }
        tact_scene_free_setting(setting);
    }
    device->settings_count = kept_setting_count;
    return rc;
}

static int read_calibration(const struct tact_scene_check_context *check, struct tact_scene *scene,
                            const struct tact_scene_files *files, uint32_t number)
{
    struct tact_scene_device *device = &scene->devices[number];
    struct tact_scene_index *index = NULL;
    char key[TACT_SCENE_PATH_BYTES];
    int rc = read_calibration_file_text(scene, files, device);
    snprintf(key, sizeof key, "devices[%u].calibration", number);
    if (rc) {
        tact_scene_report_bad_value(check, key, "cannot read %.200s: %s; tact calibrate writes it",
                                    device->calibration, tact_file_failure_reason(rc));
        return rc;
    }
    rc = tact_scene_index_create(device->calibration_text, (size_t)device->calibration_size,
                                 device->calibration, &index, check->err);
    if (rc) {
        tact_error_at(check->err, device->calibration, 0, 0, NULL);
        return rc;
    }
    const struct tact_scene_check_context calibration_file_check = {index, check->err};
    const uint32_t first = device->settings_count;
    rc = tact_scene_append_settings(&calibration_file_check, device);
    rc = rc ? rc : move_haptic_axes_out_of_settings(&calibration_file_check, device, first);
    for (uint32_t i = first; i < device->settings_count; i++) {
        device->settings[i].file = device->calibration;
    }
    if (rc) {
        tact_error_at(check->err, device->calibration, 0, 0, NULL);
    }
    tact_scene_index_free(index);
    return rc;
}

int tact_scene_read_calibrations(const struct tact_scene_check_context *check,
                                 struct tact_scene *scene, const struct tact_scene_files *files)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->devices_count; i++) {
        if (scene->devices[i].calibration) {
            rc = read_calibration(check, scene, files, i);
        }
    }
    return rc;
}
