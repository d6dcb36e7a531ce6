/* Settings of a force-torque sensor. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "devices/common/settings.h"
#include "devices/comedi/wrench_internal.h"

enum { SETTINGS = 16 };

struct wrench_settings_reader {
    const struct tact_device_config *device_config;
    /* settings of this sensor, with keys without the prefix "wrenches[0]." */
    const struct tact_device_config *config;
    const struct tact_device_channel *inputs;
    int input_count;
    struct tact_force_torque_sensor *wrench;
    struct tact_error *err;
};

/* Sets an error at the setting of a key or, if it is absent, at the sensor's first setting. */
static int set_wrench_setting_error(const struct wrench_settings_reader *r, const char *key,
                                    const char *text, const char *word)
{
    const struct tact_device_setting *setting = tact_settings_find(r->config, key);
    return tact_settings_fault(r->config, setting ? setting : r->config->settings, r->err, "%s%s",
                               text, word);
}

/* Reads the sensor's name, which becomes part of topic and channel names. */
static int read_sensor_name(const struct wrench_settings_reader *r)
{
    const char *name = NULL;
    int rc = tact_settings_text(r->config, "name", &name, r->err);
    if (rc) {
        return rc;
    }
    if (!name) {
        return set_wrench_setting_error(r, "name", "missing key \"name\"", "");
    }
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char allowed_characters_after_first[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (!strchr(first, name[0]) || strspn(name, allowed_characters_after_first) != strlen(name) ||
        strlen(name) >= sizeof r->wrench->name) {
        return set_wrench_setting_error(
            r, "name",
            "expected a name of a letter, then letters, digits and _, at most 23 characters, not ",
            name);
    }
    snprintf(r->wrench->name, sizeof r->wrench->name, "%s", name);
    return 0;
}

static int read_gauge_inputs(const struct wrench_settings_reader *r)
{
    const char *text = NULL;
    char word[TACT_DEVICE_NAME];
    int count = 0;
    int rc = tact_settings_text(r->config, "channels", &text, r->err);
    if (rc) {
        return rc;
    }
    while (text && tact_settings_word(&text, word, sizeof word)) {
        int i = 0;
        while (i < r->input_count && strcmp(r->inputs[i].name, word) != 0) {
            i++;
        }
        if (i == r->input_count) {
            return set_wrench_setting_error(
                r, "channels", "the key \"inputs\" lists no analog channel named ", word);
        }
        for (int k = 0; k < count; k++) {
            if (r->wrench->gauge[k] == i) {
                return set_wrench_setting_error(r, "channels", "given twice: ", word);
            }
        }
        if (count == TACT_WRENCH_MAX_GAUGES) {
            return set_wrench_setting_error(r, "channels", "expected 6 to 8 gauge inputs, not more",
                                            "");
        }
        r->wrench->gauge[count++] = i;
    }
    if (count < 6) {
        return set_wrench_setting_error(
            r, "channels", "expected the names of 6 to 8 inputs, such as \"g0 g1 g2 g3 g4 g5\"",
            "");
    }
    r->wrench->map.gauges = count;
    return 0;
}

/* Reads a list of numbers, as a row or column; NULL where the key is absent. */
static int read_setting_number_list(const struct wrench_settings_reader *r, const char *key,
                                    int count, const double **numbers)
{
    int found = count;
    double only_number_of_list;
    *numbers = NULL;
    int rc = tact_settings_list(r->config, key, &only_number_of_list, numbers, &found, r->err);
    if (!rc && found != count) {
        rc = tact_settings_fault(r->config, tact_settings_find(r->config, key), r->err,
                                 "expected %d numbers, not %d", count, found);
    }
    return rc;
}

static int read_wrench_calibration_file(const struct wrench_settings_reader *r, const char *path)
{
    struct tact_gauge_map *map = &r->wrench->map;
    struct tact_error why = {.line = 0};
    char wrench_calibration_path[1024];
    double calibration_number = 0.0;
    int gauges = map->gauges;
    int rc = tact_settings_path(r->config, "file", wrench_calibration_path,
                                sizeof wrench_calibration_path, r->err);
    if (rc) {
        return rc;
    }
    rc = tact_settings_number(r->config, "file_calibration", &calibration_number, r->err);
    if (!rc && calibration_number != 0.0 &&
        !(calibration_number >= 1.0 && calibration_number <= 1000.0 &&
          calibration_number == floor(calibration_number))) {
        rc = set_wrench_setting_error(r, "file_calibration",
                                      "expected the number of a calibration in the file, 1 to 1000",
                                      "");
    }
    if (rc) {
        return rc;
    }
    if (tact_wrench_read_ati(wrench_calibration_path, (int)calibration_number, map, &why)) {
        char line[16] = "";
        if (why.line) {
            snprintf(line, sizeof line, ":%d", why.line);
        }
        return tact_settings_fault(r->config, tact_settings_find(r->config, "file"), r->err,
                                   "%.200s%s: %s", wrench_calibration_path, line, why.text);
    }
    if (map->gauges != gauges) {
        return tact_settings_fault(
            r->config, tact_settings_find(r->config, "file"), r->err,
            "the calibration file %s has %d gauges, but the key channels lists %d", path,
            map->gauges, gauges);
    }
    return 0;
}

/* Reads the calibration matrix from the scene, in the setting's units. */
static int read_gauge_matrix_rows(const struct wrench_settings_reader *r)
{
    const struct tact_device_setting *rows = tact_settings_find(r->config, "matrix");
    struct tact_gauge_map *map = &r->wrench->map;
    const char *units = NULL;
    char word[2][16];
    double si[2] = {1.0, 1.0};
    int rc = tact_settings_text(r->config, "units", &units, r->err);
    if (!rc && units &&
        (!tact_settings_word(&units, word[0], sizeof word[0]) ||
         !tact_settings_word(&units, word[1], sizeof word[1]) ||
         tact_wrench_force_unit(word[0], &si[0]) || tact_wrench_torque_unit(word[1], &si[1]))) {
        rc = set_wrench_setting_error(
            r, "units", "expected units of force and torque, such as \"N Nm\", \"lbf lbf-in\"", "");
    }
    if (!rc && (!rows->numbers || rows->rows != 6 || rows->columns != map->gauges)) {
        return tact_settings_fault(r->config, rows, r->err,
                                   "expected 6 rows (fx to tz) of %d numbers, one for each gauge",
                                   map->gauges);
    }
    for (int k = 0; !rc && k < 6; k++) {
        for (int i = 0; i < map->gauges; i++) {
            double value = rows->numbers[k * rows->columns + i];
            map->matrix[k][i] = si[k / 3] * value;
            if (!isfinite(value)) {
                return set_wrench_setting_error(r, "matrix", "not finite", "");
            }
        }
    }
    return rc;
}

static int read_gauge_matrix_setting(const struct wrench_settings_reader *r)
{
    const char *path = NULL;
    int rc = tact_settings_text(r->config, "file", &path, r->err);
    bool rows = tact_settings_find(r->config, "matrix") != NULL;
    if (rc) {
        return rc;
    }
    if (rows == (path != NULL)) {
        return set_wrench_setting_error(
            r, rows ? "matrix" : "name",
            "expected either matrix, 6 rows, or file, a calibration file of ATI", "");
    }
    if (!path && tact_settings_find(r->config, "file_calibration")) {
        return set_wrench_setting_error(
            r, "file_calibration",
            "this key is only for a sensor that has the key \"file\", a calibration file of ATI",
            "");
    }
    if (path && tact_settings_find(r->config, "units")) {
        return set_wrench_setting_error(
            r, "units",
            "the key units is only for matrix: the calibration file states its own units", "");
    }
    rc = path ? read_wrench_calibration_file(r, path) : read_gauge_matrix_rows(r);
    for (int k = 0; !rc && k < 6; k++) {
        bool any = false;
        for (int i = 0; i < r->wrench->map.gauges; i++) {
            any = any || r->wrench->map.matrix[k][i] != 0.0;
        }
        if (!any) {
            rc = set_wrench_setting_error(r, path ? "file" : "matrix",
                                          "the matrix has only zeros in the row of ",
                                          tact_wrench_axes[k]);
        }
    }
    return rc;
}

/* Reads the bias (readings of the gauges without load): setting bias of the sensor, or "bias.NAME"
 * of the device, as written by tact calibrate. */
static int read_gauge_bias(const struct wrench_settings_reader *r)
{
    const struct wrench_settings_reader unprefixed_settings_reader = {
        r->device_config, r->device_config, r->inputs, r->input_count, r->wrench, r->err};
    struct tact_gauge_map *map = &r->wrench->map;
    const double *gauge_bias_from_scene;
    const double *gauge_bias_from_calibration;
    char key[40];
    snprintf(key, sizeof key, "bias.%s", r->wrench->name);
    int rc = read_setting_number_list(r, "bias", map->gauges, &gauge_bias_from_scene);
    rc = rc ? rc
            : read_setting_number_list(&unprefixed_settings_reader, key, map->gauges,
                                       &gauge_bias_from_calibration);
    if (!rc && gauge_bias_from_scene && gauge_bias_from_calibration) {
        rc = set_wrench_setting_error(&unprefixed_settings_reader, key,
                                      "the bias of the sensor's gauges is set twice, here and by "
                                      "the key \"bias\" of the sensor: remove one of the two",
                                      "");
    }
    if (!rc && (gauge_bias_from_scene || gauge_bias_from_calibration)) {
        memcpy(map->gauge_bias,
               gauge_bias_from_scene ? gauge_bias_from_scene : gauge_bias_from_calibration,
               sizeof *gauge_bias_from_scene * (size_t)map->gauges);
        r->wrench->has_gauge_bias = true;
    }
    return rc;
}

/* Reads the settings frame, pose, bias, tare and limits of a sensor. */
static int read_frame_pose_bias_and_limits(const struct wrench_settings_reader *r)
{
    struct tact_force_torque_sensor *wrench = r->wrench;
    struct tact_pose pose = tact_pose_identity();
    const double *numbers;
    const char *frame = wrench->name;
    int rc = read_setting_number_list(r, "position", 3, &numbers);
    if (!rc && numbers) {
        memcpy(pose.position, numbers, sizeof pose.position);
    }
    rc = rc ? rc : read_setting_number_list(r, "quat_wxyz", 4, &numbers);
    if (!rc && numbers) {
        memcpy(pose.quat_wxyz, numbers, sizeof pose.quat_wxyz);
        if (!(tact_quat_normalize(pose.quat_wxyz) > 0.0)) {
            rc = set_wrench_setting_error(r, "quat_wxyz",
                                          "expected a quaternion whose length is not 0", "");
        }
    }
    tact_wrench_transform_map(&wrench->map, &pose);
    rc = rc ? rc : read_gauge_bias(r);
    rc = rc ? rc : read_setting_number_list(r, "limits", 6, &numbers);
    for (int k = 0; k < 6; k++) {
        wrench->limit[k] = !rc && numbers ? numbers[k] : (double)INFINITY;
        if (!(wrench->limit[k] > 0.0)) {
            rc = set_wrench_setting_error(r, "limits", "expected numbers above 0", "");
        }
    }
    rc = rc ? rc
            : tact_settings_number(r->config, "tare", &wrench->gauge_bias_measuring_duration,
                                   r->err);
    if (!rc && !(wrench->gauge_bias_measuring_duration >= 0.0 &&
                 wrench->gauge_bias_measuring_duration <= 10.0)) {
        rc = set_wrench_setting_error(r, "tare", "expected 0 to 10 s", "");
    }
    wrench->has_gauge_bias = wrench->has_gauge_bias || wrench->gauge_bias_measuring_duration > 0.0;
    rc = rc ? rc : tact_settings_text(r->config, "frame", &frame, r->err);
    if (!rc && strlen(frame) >= sizeof wrench->frame) {
        rc = set_wrench_setting_error(r, "frame", "expected a frame name of at most 47 bytes, not ",
                                      frame);
    }
    snprintf(wrench->frame, sizeof wrench->frame, "%s", frame);
    return rc;
}

int tact_wrench_read_sensor_settings(const struct tact_device_config *config,
                                     const struct tact_device_channel *inputs, int input_count,
                                     struct tact_force_torque_sensor *force_torque_sensors,
                                     int most, struct tact_error *err)
{
    static const char *const keys[] = {"name",   "channels", "matrix",           "file",
                                       "units",  "bias",     "file_calibration", "tare",
                                       "limits", "position", "quat_wxyz",        "frame"};
    int count = 0;
    for (;;) {
        struct tact_device_setting settings[SETTINGS];
        struct tact_device_config part;
        char wrench_sensor_key_prefix[32];
        snprintf(wrench_sensor_key_prefix, sizeof wrench_sensor_key_prefix, "wrenches[%d].", count);
        int found =
            tact_settings_select(config, wrench_sensor_key_prefix, settings, SETTINGS, &part);
        if (found == 0) {
            return count;
        }
        if (count == most) {
            return tact_settings_fault(config, settings, err, "more than %d force-torque sensors",
                                       most);
        }
        struct tact_force_torque_sensor *wrench = &force_torque_sensors[count++];
        struct wrench_settings_reader r = {config, &part, inputs, input_count, wrench, err};
        memset(wrench, 0, sizeof *wrench);
        int rc = tact_settings_check(&part, keys, sizeof keys / sizeof *keys, err);
        rc = rc ? rc : read_sensor_name(&r);
        rc = rc ? rc : read_gauge_inputs(&r);
        rc = rc ? rc : read_gauge_matrix_setting(&r);
        rc = rc ? rc : read_frame_pose_bias_and_limits(&r);
        for (int i = 0; !rc && i + 1 < count; i++) {
            if (strcmp(force_torque_sensors[i].name, wrench->name) == 0) {
                rc = set_wrench_setting_error(&r, "name", "given twice: ", wrench->name);
            }
        }
        if (rc) {
            return rc;
        }
    }
}
