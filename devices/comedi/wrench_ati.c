/* Reads calibration files of ATI's DAQ transducers: XML with one element per axis. Only the data of
 * the calibration matrix are read; ambiguous files are refused, with the line. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "devices/common/settings.h"
#include "devices/comedi/wrench_internal.h"
#include "rt/file.h"

enum { MAX_FILE_BYTES = 1 << 20, LONGEST = 512, AXES = 6 };

struct tag {
    const char *name;    /* NULL: none */
    size_t length;       /* length of the tag's name */
    const char *end;     /* the ">" at the end of the tag */
    bool is_closing_tag; /* </name> */
    bool is_empty_tag;   /* <name/> */
};

struct ati_file_reader {
    const char *path;
    const char *text;
    /* number of the calibration to be read, from 1; 0: the file has only one */
    int required_calibration_number;
    struct tact_gauge_map *map;
    struct tact_error *err;
    /* found */
    int count; /* calibrations */
    struct tag sensor_tag, calibration, transform, axis[AXES], user[AXES];
};

/* Sets the error with the line of the text at `at`; NULL: without a line. */
static int set_ati_file_error(const struct ati_file_reader *r, const char *at, const char *what,
                              const char *word)
{
    int line = at ? 1 : 0;
    for (const char *c = r->text; at && c < at; c++) {
        line += *c == '\n';
    }
    tact_error_at(r->err, r->path, line, 0, NULL);
    return tact_error_set(r->err, -EINVAL,
                          "%s%.60s: expected a calibration file of an ATI DAQ transducer", what,
                          word);
}

static const char *find_end_after_text(const char *from, const char *end)
{
    const char *at = strstr(from, end);
    return at ? at + strlen(end) : from + strlen(from);
}

/* Parses the next XML tag at or after *at, and advances. Returns 0 at the end of the text. */
static int find_next_xml_tag(const struct ati_file_reader *r, const char **at, struct tag *tag)
{
    const char *from;
    while ((from = strchr(*at, '<')) && (from[1] == '!' || from[1] == '?')) {
        *at = find_end_after_text(from, !strncmp(from, "<!--", 4)        ? "-->"
                                        : !strncmp(from, "<![CDATA[", 9) ? "]]>"
                                                                         : ">");
    }
    if (!from) {
        return 0;
    }
    char quote_character = '\0';
    *tag = (struct tag){.name = from + 1 + (from[1] == '/'), .is_closing_tag = from[1] == '/'};
    tag->length = strcspn(tag->name, " \t\r\n/>");
    for (tag->end = tag->name; *tag->end && (quote_character || *tag->end != '>'); tag->end++) {
        if (quote_character ? *tag->end == quote_character
                            : *tag->end == '"' || *tag->end == '\'') {
            quote_character = quote_character ? '\0' : *tag->end;
        }
    }
    if (!*tag->end) {
        return set_ati_file_error(r, from, "an element without its closing tag", "");
    }
    tag->is_empty_tag = tag->end[-1] == '/';
    *at = tag->end + 1;
    return 1;
}

static bool is_tag_named(const struct tag *tag, const char *name)
{
    return strlen(name) == tag->length && !strncmp(tag->name, name, tag->length);
}

/* Reads the value of an attribute of a tag. Returns 1, or 0 if it is absent. */
static int read_xml_tag_attribute(const struct ati_file_reader *r, const struct tag *tag,
                                  const char *name, char value[LONGEST])
{
    int found = 0;
    const char *at = tag->name + tag->length;
    while (at += strspn(at, " \t\r\n/"), at < tag->end) {
        size_t length = strcspn(at, " \t\r\n=\"'>");
        const char *from = at + length + strspn(at + length, " \t\r\n");
        if (!length || *from != '=') {
            return set_ati_file_error(r, at, "an attribute without a value", "");
        }
        from += 1 + strspn(from + 1, " \t\r\n");
        const char *to = *from == '"' || *from == '\'' ? strchr(from + 1, *from) : NULL;
        if (!to || to > tag->end) {
            return set_ati_file_error(r, at, "an attribute without a value", "");
        }
        if (length == strlen(name) && !strncmp(at, name, length)) {
            if (found++ || to - from > LONGEST) {
                return set_ati_file_error(r, at, found > 1 ? "given twice: " : "too long: ", name);
            }
            snprintf(value, LONGEST, "%.*s", (int)(to - from - 1), from + 1);
        }
        at = to + 1;
    }
    return found;
}

/* Parses a decimal number; hexadecimal numbers and NaN are refused. */
static int parse_decimal_number(const char *text, double *value)
{
    return strspn(text, "+-.0123456789eE \t\r\n") != strlen(text) ||
                   tact_settings_parse(text, value) || !isfinite(*value)
               ? -EINVAL
               : 0;
}

static int parse_xml_number_attribute(const struct ati_file_reader *r, const struct tag *tag,
                                      const char *name, double *value)
{
    char text[LONGEST];
    int rc = read_xml_tag_attribute(r, tag, name, text);
    if (rc == 0) {
        return set_ati_file_error(r, tag->name, "no attribute ", name);
    }
    if (rc > 0 && parse_decimal_number(text, value)) {
        rc = set_ati_file_error(r, tag->name, "no number in ", name);
    }
    return rc < 0 ? rc : 0;
}

/* Parses the values of a matrix row; all rows must have equally many. */
static int parse_axis_values(const struct ati_file_reader *r, const struct tag *tag, int axis,
                             double scale)
{
    char text[LONGEST];
    int count = 0, rc = read_xml_tag_attribute(r, tag, "values", text);
    if (rc < 1) {
        return rc ? rc : set_ati_file_error(r, tag->name, "no values of ", tact_wrench_axes[axis]);
    }
    char *unparsed_axis_values = text;
    for (char *word; (word = strtok_r(unparsed_axis_values, " \t\r\n", &unparsed_axis_values));
         count++) {
        double value;
        if (count == TACT_WRENCH_MAX_GAUGES || parse_decimal_number(word, &value)) {
            return set_ati_file_error(
                r, tag->name,
                "a value that is not a decimal number, or more than 8 values, in the row of ",
                tact_wrench_axes[axis]);
        }
        r->map->matrix[axis][count] = value * scale;
    }
    if (count < 6 || (axis > 0 && count != r->map->gauges)) {
        return set_ati_file_error(r, tag->name,
                                  "the calibration matrix has too few values in the row of ",
                                  tact_wrench_axes[axis]);
    }
    r->map->gauges = count;
    return 0;
}

/* Stores an XML element of the selected calibration; each may occur once. */
static int store_xml_element_of_calibration(const struct ati_file_reader *r, const struct tag *tag,
                                            struct tag *known, const char *what)
{
    if (known->name) {
        return set_ati_file_error(r, tag->name, "given twice: ", what);
    }
    *known = *tag;
    return 0;
}

static int store_force_axis_element(struct ati_file_reader *r, const struct tag *tag)
{
    char text[LONGEST];
    int rc = read_xml_tag_attribute(r, tag, "Name", text);
    for (int k = 0; rc > 0 && k < AXES; k++) {
        if (!strcasecmp(text, tact_wrench_axes[k])) {
            return store_xml_element_of_calibration(
                r, tag, is_tag_named(tag, "Axis") ? &r->axis[k] : &r->user[k], text);
        }
    }
    return rc < 0 ? rc
                  : set_ati_file_error(r, tag->name,
                                       "the Name of an axis is none of Fx, Fy, Fz, Tx, Ty, Tz", "");
}

/* Finds the XML elements of the selected calibration. */
static int find_calibration_elements(struct ati_file_reader *r)
{
    struct tag tag;
    const char *at = r->text;
    bool inside = false;
    int rc;
    while ((rc = find_next_xml_tag(r, &at, &tag)) > 0) {
        bool is_in_chosen_calibration = inside && (!r->required_calibration_number ||
                                                   r->count == r->required_calibration_number);
        rc = 0;
        if (is_tag_named(&tag, "FTSensor") && !tag.is_closing_tag) {
            rc = store_xml_element_of_calibration(r, &tag, &r->sensor_tag, "FTSensor");
        } else if (is_tag_named(&tag, "Calibration")) {
            if (inside != tag.is_closing_tag) {
                return set_ati_file_error(
                    r, tag.name,
                    inside ? "a Calibration element within another one"
                           : "a closing tag of Calibration without an opening tag",
                    "");
            }
            inside = !tag.is_closing_tag && !tag.is_empty_tag;
            r->count += !tag.is_closing_tag;
            if (!tag.is_closing_tag &&
                (!r->required_calibration_number || r->count == r->required_calibration_number)) {
                rc =
                    r->count > 1 && !r->required_calibration_number
                        ? set_ati_file_error(r, tag.name,
                                             "the file has several Calibration elements: set "
                                             "file_calibration to the number of the one to use",
                                             "")
                        : store_xml_element_of_calibration(r, &tag, &r->calibration, "Calibration");
            }
        } else if (!tag.is_closing_tag &&
                   (is_tag_named(&tag, "Axis") || is_tag_named(&tag, "UserAxis"))) {
            rc = !inside ? set_ati_file_error(
                               r, tag.name,
                               "an element Axis or UserAxis outside of a Calibration element", "")
                 : is_in_chosen_calibration ? store_force_axis_element(r, &tag)
                                            : 0;
        } else if (is_in_chosen_calibration && !tag.is_closing_tag &&
                   is_tag_named(&tag, "BasicTransform")) {
            rc = store_xml_element_of_calibration(r, &tag, &r->transform, "BasicTransform");
        }
        if (rc) {
            return rc;
        }
    }
    return rc || !inside ? rc : set_ati_file_error(r, r->text + strlen(r->text), "it is cut", "");
}

/* Moves the reference point of the matrix: rows named Axis are about the transducer's origin, the
 * result about that of BasicTransform. */
static int apply_tool_transform_to_matrix(const struct ati_file_reader *r)
{
    static const char *const names[] = {"Dx", "Dy", "Dz", "Rx", "Ry", "Rz"};
    const struct tag *tag = &r->transform;
    struct tact_pose pose = tact_pose_identity();
    char text[LONGEST] = "";
    double value[6];
    double unit_in_metres;
    if (!tag->name) {
        return 0;
    }
    int rc = read_xml_tag_attribute(r, &r->calibration, "DistUnits", text);
    if (rc < 1 || tact_wrench_length_unit(text, &unit_in_metres)) {
        return rc < 0 ? rc : set_ati_file_error(r, r->calibration.name, "unknown DistUnits ", text);
    }
    for (int i = 0; i < 6; i++) {
        if (parse_xml_number_attribute(r, tag, names[i], &value[i])) {
            return -EINVAL;
        }
    }
    if (value[3] != 0.0 || value[4] != 0.0 || value[5] != 0.0) {
        return set_ati_file_error(
            r, tag->name, "BasicTransform has a rotation, but there are no UserAxis rows", "");
    }
    for (int i = 0; i < 3; i++) {
        pose.position[i] = -value[i] * unit_in_metres;
    }
    tact_wrench_transform_map(r->map, &pose);
    return 0;
}

/* Reads the calibration's units of force [N] and torque [N m]. */
static int parse_force_and_torque_units(const struct ati_file_reader *r, double unit[2])
{
    const struct tag *tag = &r->calibration;
    char text[LONGEST] = "";
    double gain = 1.0;
    int rc = read_xml_tag_attribute(r, tag, "ForceUnits", text);
    if (rc < 1 || tact_wrench_force_unit(text, &unit[0])) {
        return rc < 0 ? rc : set_ati_file_error(r, tag->name, "unknown ForceUnits ", text);
    }
    text[0] = '\0';
    rc = read_xml_tag_attribute(r, tag, "TorqueUnits", text);
    if (rc < 1 || tact_wrench_torque_unit(text, &unit[1])) {
        return rc < 0 ? rc : set_ati_file_error(r, tag->name, "unknown TorqueUnits ", text);
    }
    rc = read_xml_tag_attribute(r, tag, "GainMultiplier", text);
    if (rc > 0 && (parse_decimal_number(text, &gain) || gain != 1.0)) {
        return set_ati_file_error(r, tag->name, "a GainMultiplier other than 1: ", text);
    }
    return rc < 0 ? rc : 0;
}

/* Checks that the matrix has a column for each gauge. */
static int check_gauge_count(const struct ati_file_reader *r)
{
    char text[LONGEST];
    double gauges;
    int rc = r->sensor_tag.name ? read_xml_tag_attribute(r, &r->sensor_tag, "NumGages", text) : 0;
    if (rc > 0 && (parse_decimal_number(text, &gauges) || gauges != r->map->gauges)) {
        return set_ati_file_error(r, r->sensor_tag.name,
                                  "each axis must have as many values as NumGages states, ", text);
    }
    return rc < 0 ? rc : 0;
}

static int parse_calibration_matrix(struct ati_file_reader *r)
{
    double unit[2];
    bool reported = false;
    int rc = find_calibration_elements(r);
    if (rc) {
        return rc;
    }
    if (!r->calibration.name) {
        return set_ati_file_error(r, NULL,
                                  r->count ? "the file has fewer calibrations than file_calibration"
                                           : "no element Calibration",
                                  "");
    }
    rc = parse_force_and_torque_units(r, unit);
    for (int k = 0; k < AXES; k++) {
        reported = reported || r->user[k].name;
    }
    for (int k = 0; !rc && k < AXES; k++) {
        const struct tag *tag = reported ? &r->user[k] : &r->axis[k];
        double scale = 1.0;
        if (!tag->name) {
            return set_ati_file_error(r, r->calibration.name,
                                      reported ? "no UserAxis " : "no axis ", tact_wrench_axes[k]);
        }
        rc = reported ? 0 : parse_xml_number_attribute(r, tag, "scale", &scale);
        if (!rc && scale == 0.0) {
            rc = set_ati_file_error(r, tag->name, "a scale of 0", "");
        }
        rc = rc ? rc : parse_axis_values(r, tag, k, unit[k / 3] / scale);
    }
    rc = rc ? rc : check_gauge_count(r);
    return rc || reported ? rc : apply_tool_transform_to_matrix(r);
}

/* Reads the whole file into memory, ended by a zero byte. Returns NULL with a negative errno in
 * *rc. */
static char *read_ati_file(const char *path, int *rc, struct tact_error *err)
{
    char *text = NULL;
    uint64_t size = 0;
    tact_error_at(err, path, 0, 0, NULL);
    *rc = tact_file_read(path, MAX_FILE_BYTES, &text, &size);
    if (*rc == -EFBIG) {
        tact_error_set(err, *rc, "%s: larger than %d bytes: not a calibration file of ATI", path,
                       MAX_FILE_BYTES);
    } else if (*rc) {
        tact_error_set(err, *rc, "cannot open %s: %s", path, tact_file_failure_reason(*rc));
    } else if (memchr(text, 0, size)) {
        *rc = tact_error_set(err, -EINVAL, "%s: not a text file, so no calibration file of ATI",
                             path);
        free(text);
        text = NULL;
    }
    return text;
}

int tact_wrench_read_ati(const char *path, int calibration_number, struct tact_gauge_map *map,
                         struct tact_error *err)
{
    int rc;
    char *text = read_ati_file(path, &rc, err);
    if (text) {
        struct ati_file_reader r = {.path = path,
                                    .text = text,
                                    .required_calibration_number = calibration_number,
                                    .map = map,
                                    .err = err};
        memset(map, 0, sizeof *map);
        rc = parse_calibration_matrix(&r);
    }
    free(text);
    return rc;
}
