/* The calibration files of ATI's DAQ transducers: XML with one element an axis. Only what a matrix
 * needs is read. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "devices/settings.h"
#include "devices/wrench_internal.h"

enum { MOST = 65536, LONGEST = 512 };

struct reading {
    const char *path;
    const char *text;
    struct tact_wrench_map *map;
    struct tact_error *err;
};

static int bad(const struct reading *r, const char *what, const char *word)
{
    tact_error_at(r->err, r->path, 0, 0, NULL);
    return tact_error_set(r->err, -EINVAL, "%s%s: not a calibration of a DAQ transducer of ATI",
                          what, word);
}

/* The attribute of the element at `tag`, cut where it is too long. */
static bool attribute(const char *tag, const char *name, char value[LONGEST])
{
    const char *end = strchr(tag, '>');
    size_t length = strlen(name);
    for (const char *at = strstr(tag, name); at && at < end; at = strstr(at + 1, name)) {
        const char *from = at + length + strspn(at + length, " \t\r\n");
        if (!strchr(" \t\r\n", at[-1]) || *from != '=') {
            continue;
        }
        from += 1 + strspn(from + 1, " \t\r\n");
        const char *to = *from == '"' || *from == '\'' ? strchr(from + 1, *from) : NULL;
        if (to && to < end) {
            snprintf(value, LONGEST, "%.*s", (int)(to - from - 1), from + 1);
            return true;
        }
    }
    return false;
}

/* The next element of that name behind `from`, or NULL. */
static const char *element(const char *from, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strchr(from, '<'); at; at = strchr(at + 1, '<')) {
        if (strncmp(at, "<!--", 4) == 0) {
            at = strstr(at, "-->");
            if (!at) {
                return NULL;
            }
        } else if (strncmp(at + 1, name, length) == 0 && strchr(" \t\r\n/", at[1 + length]) &&
                   at[1 + length] && strchr(at, '>')) {
            return at;
        }
    }
    return NULL;
}

static int number(const struct reading *r, const char *tag, const char *name, double *value)
{
    char text[LONGEST];
    if (!tag || !attribute(tag, name, text)) {
        return bad(r, "no attribute ", name);
    }
    if (tact_settings_parse(text, value) || !isfinite(*value)) {
        return bad(r, "no number in ", name);
    }
    return 0;
}

/* The values of an axis; all axes have as many. */
static int take_values(const struct reading *r, const char *tag, int axis, double scale)
{
    char text[LONGEST];
    char word[40];
    const char *at = text;
    int count = 0;
    if (!attribute(tag, "values", text)) {
        return bad(r, "no values of ", tact_wrench_axes[axis]);
    }
    while (tact_settings_word(&at, word, sizeof word)) {
        double value;
        if (count == TACT_WRENCH_GAUGES || tact_settings_parse(word, &value) || !isfinite(value)) {
            return bad(r, "wrong values of ", tact_wrench_axes[axis]);
        }
        r->map->matrix[axis][count++] = value * scale;
    }
    if (count < 6 || (axis > 0 && count != r->map->gauges)) {
        return bad(r, "too few values of ", tact_wrench_axes[axis]);
    }
    r->map->gauges = count;
    return 0;
}

/* The element of an axis, by its name. */
static const char *find_axis(const struct reading *r, const char *kind, int axis)
{
    char text[LONGEST];
    for (const char *tag = element(r->text, kind); tag; tag = element(tag + 1, kind)) {
        if (attribute(tag, "Name", text) && strcasecmp(text, tact_wrench_axes[axis]) == 0) {
            return tag;
        }
    }
    return NULL;
}

/* The origin that the rows Axis are about is the transducer's: moved to BasicTransform's. */
static int move_origin(const struct reading *r, const char *calibration)
{
    static const char *const names[] = {"Dx", "Dy", "Dz", "Rx", "Ry", "Rz"};
    const char *tag = element(r->text, "BasicTransform");
    struct tact_pose pose = tact_pose_identity();
    char text[LONGEST] = "";
    double value[6];
    double metres;
    if (!tag) {
        return 0;
    }
    if (!attribute(calibration, "DistUnits", text) || tact_wrench_length_unit(text, &metres)) {
        return bad(r, "unknown DistUnits ", text);
    }
    for (int i = 0; i < 6; i++) {
        if (number(r, tag, names[i], &value[i])) {
            return -EINVAL;
        }
    }
    if (value[3] != 0.0 || value[4] != 0.0 || value[5] != 0.0) {
        return bad(r, "a BasicTransform that turns, and no UserAxis", "");
    }
    for (int i = 0; i < 3; i++) {
        pose.position[i] = -value[i] * metres;
    }
    tact_wrench_move(r->map, &pose);
    return 0;
}

static int take_matrix(const struct reading *r)
{
    const char *calibration = element(r->text, "Calibration");
    bool told = find_axis(r, "UserAxis", 0) != NULL;
    char text[LONGEST] = "";
    double unit[2];
    double gain = 1.0;
    if (!calibration) {
        return bad(r, "no element Calibration", "");
    }
    if (!attribute(calibration, "ForceUnits", text) || tact_wrench_force_unit(text, &unit[0])) {
        return bad(r, "unknown ForceUnits ", text);
    }
    if (!attribute(calibration, "TorqueUnits", text) || tact_wrench_torque_unit(text, &unit[1])) {
        return bad(r, "unknown TorqueUnits ", text);
    }
    if (attribute(calibration, "GainMultiplier", text) &&
        (tact_settings_parse(text, &gain) || gain != 1.0)) {
        return bad(r, "a GainMultiplier other than 1: ", text);
    }
    for (int k = 0; k < 6; k++) {
        const char *tag = find_axis(r, told ? "UserAxis" : "Axis", k);
        double scale = 1.0;
        int rc = tag ? 0 : bad(r, "no axis ", tact_wrench_axes[k]);
        rc = rc || told ? rc : number(r, tag, "scale", &scale);
        if (!rc && scale == 0.0) {
            rc = bad(r, "a scale of 0", "");
        }
        rc = rc ? rc : take_values(r, tag, k, unit[k / 3] / scale);
        if (rc) {
            return rc;
        }
    }
    return told ? 0 : move_origin(r, calibration);
}

int tact_wrench_read_ati(const char *path, struct tact_wrench_map *map, struct tact_error *err)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(MOST + 1) : NULL;
    int rc = 0;
    if (text) {
        size_t size = fread(text, 1, MOST, file);
        struct reading r = {path, text, map, err};
        text[size] = '\0';
        memset(map, 0, sizeof *map);
        rc = ferror(file) ? tact_error_set(err, -EIO, "%s cannot be read", path) : take_matrix(&r);
    } else {
        rc = tact_error_set(err, file || !errno ? -ENOMEM : -errno, "cannot open %s: %s", path,
                            strerror(file ? ENOMEM : errno));
    }
    if (file) {
        fclose(file);
    }
    free(text);
    return rc;
}
