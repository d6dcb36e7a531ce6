/* The mapping of an import: which columns are which quantities, in which units. */
#include <cyaml/cyaml.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/common/regular_file_internal.h"
#include "import.h"
#include "rt/scene/yaml.h"

enum { MOST = TACT_DEVICE_CHANNELS, LONGEST = 200, LONGEST_NAME = 24 };

struct import_map_joint {
    char *name, *position, *velocity, *effort, *unit, *effort_unit;
};
struct import_map_pose {
    char *name, *unit;
    char **position, **quat_wxyz, **quat_xyzw;
    uint32_t position_count, quat_wxyz_count, quat_xyzw_count;
};
struct import_map_wrench {
    char *name, *frame, *force_unit, *torque_unit;
    char **force, **torque;
    uint32_t force_count, torque_count;
};
struct import_map_signal {
    char *name, *column, *unit;
};
struct import_map {
    char *name, *scene, *time, *time_unit, *repeats;
    double rate, period;
    struct import_map_joint *joints;
    struct import_map_pose *poses;
    struct import_map_wrench *wrenches;
    struct import_map_signal *signals;
    uint32_t joints_count, poses_count, wrenches_count, signals_count;
};

#define YAML_TEXT_FIELD(key, flags, type, member)                                                  \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | (flags), struct type, member, 1, LONGEST)
#define YAML_NAME_FIELD(key, flags, type, member)                                                  \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | (flags), struct type, member, 1, LONGEST_NAME)
#define SCHEMA_WORD_LIST(key, flags, type, member, least, most)                                    \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | (flags), struct type, member, &word, least, most)
#define YAML_LIST_FIELD(key, member, entry)                                                        \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct import_map, member, \
                         entry, 0, MOST)
#define YAML_REQUIRED_KEY CYAML_FLAG_DEFAULT
#define YAML_OPTIONAL_KEY CYAML_FLAG_OPTIONAL

static const cyaml_schema_value_t word = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, LONGEST)};

static const cyaml_schema_field_t joint_fields[] = {
    YAML_NAME_FIELD("name", YAML_REQUIRED_KEY, import_map_joint, name),
    YAML_TEXT_FIELD("position", YAML_REQUIRED_KEY, import_map_joint, position),
    YAML_TEXT_FIELD("velocity", YAML_OPTIONAL_KEY, import_map_joint, velocity),
    YAML_TEXT_FIELD("effort", YAML_OPTIONAL_KEY, import_map_joint, effort),
    YAML_TEXT_FIELD("unit", YAML_OPTIONAL_KEY, import_map_joint, unit),
    YAML_TEXT_FIELD("effort_unit", YAML_OPTIONAL_KEY, import_map_joint, effort_unit),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t joint = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct import_map_joint, joint_fields)};

static const cyaml_schema_field_t pose_fields[] = {
    YAML_NAME_FIELD("name", YAML_REQUIRED_KEY, import_map_pose, name),
    SCHEMA_WORD_LIST("position", YAML_REQUIRED_KEY, import_map_pose, position, 3, 3),
    SCHEMA_WORD_LIST("quat_wxyz", YAML_OPTIONAL_KEY, import_map_pose, quat_wxyz, 4, 4),
    SCHEMA_WORD_LIST("quat_xyzw", YAML_OPTIONAL_KEY, import_map_pose, quat_xyzw, 4, 4),
    YAML_TEXT_FIELD("unit", YAML_OPTIONAL_KEY, import_map_pose, unit),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t pose = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct import_map_pose, pose_fields)};

static const cyaml_schema_field_t wrench_fields[] = {
    YAML_NAME_FIELD("name", YAML_REQUIRED_KEY, import_map_wrench, name),
    YAML_TEXT_FIELD("frame", YAML_OPTIONAL_KEY, import_map_wrench, frame),
    SCHEMA_WORD_LIST("force", YAML_REQUIRED_KEY, import_map_wrench, force, 3, 3),
    SCHEMA_WORD_LIST("torque", YAML_OPTIONAL_KEY, import_map_wrench, torque, 3, 3),
    YAML_TEXT_FIELD("force_unit", YAML_OPTIONAL_KEY, import_map_wrench, force_unit),
    YAML_TEXT_FIELD("torque_unit", YAML_OPTIONAL_KEY, import_map_wrench, torque_unit),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t wrench = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct import_map_wrench, wrench_fields)};

static const cyaml_schema_field_t signal_fields[] = {
    YAML_NAME_FIELD("name", YAML_REQUIRED_KEY, import_map_signal, name),
    YAML_TEXT_FIELD("column", YAML_REQUIRED_KEY, import_map_signal, column),
    YAML_TEXT_FIELD("unit", YAML_OPTIONAL_KEY, import_map_signal, unit),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t signal = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct import_map_signal, signal_fields)};

static const cyaml_schema_field_t map_fields[] = {
    YAML_NAME_FIELD("name", YAML_REQUIRED_KEY, import_map, name),
    YAML_TEXT_FIELD("scene", YAML_OPTIONAL_KEY, import_map, scene),
    YAML_TEXT_FIELD("time", YAML_OPTIONAL_KEY, import_map, time),
    YAML_TEXT_FIELD("time_unit", YAML_OPTIONAL_KEY, import_map, time_unit),
    YAML_TEXT_FIELD("repeats", YAML_OPTIONAL_KEY, import_map, repeats),
    CYAML_FIELD_FLOAT("rate", YAML_OPTIONAL_KEY, struct import_map, rate),
    CYAML_FIELD_FLOAT("period", YAML_OPTIONAL_KEY, struct import_map, period),
    YAML_LIST_FIELD("joints", joints, &joint),
    YAML_LIST_FIELD("poses", poses, &pose),
    YAML_LIST_FIELD("wrenches", wrenches, &wrench),
    YAML_LIST_FIELD("signals", signals, &signal),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t map_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct import_map, map_fields)};

static const struct unit {
    const char *word, *si;
    double factor;
} units[] = {
    {"m", "m", 1.0},
    {"cm", "m", 1e-2},
    {"mm", "m", 1e-3},
    {"rad", "rad", 1.0},
    {"deg", "rad", 0.017453292519943295},
    {"m/s", "m/s", 1.0},
    {"mm/s", "m/s", 1e-3},
    {"rad/s", "rad/s", 1.0},
    {"deg/s", "rad/s", 0.017453292519943295},
    {"m/s^2", "m/s^2", 1.0},
    {"N", "N", 1.0},
    {"mN", "N", 1e-3},
    {"kN", "N", 1e3},
    {"N m", "N m", 1.0},
    {"N mm", "N m", 1e-3},
    {"mN m", "N m", 1e-3},
    {"s", "s", 1.0},
    {"ms", "s", 1e-3},
    {"us", "s", 1e-6},
    {"ns", "s", 1e-9},
    {"V", "V", 1.0},
    {"A", "A", 1.0},
    {"1", "1", 1.0},
};

/* Finds a unit by its name. of: "m" if a length is expected; NULL: any unit. Returns NULL with *err
 * filled if it is not known. */
static const struct unit *find_unit_by_name(const struct recording_import *i, const char *word,
                                            const char *of, struct tact_error *err)
{
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        if (!strcmp(units[k].word, word) && (!of || !strcmp(units[k].si, of))) {
            return &units[k];
        }
    }
    tact_error_at(err, i->map_path, 0, 0, "unit");
    tact_error_set(err, -EINVAL, "\"%s\" is not a unit%s%s that is known", word, of ? " of " : "",
                   of ? of : "");
    return NULL;
}

static int add_imported_channel(struct recording_import *i, const char *name,
                                const char *channel_name_suffix, const char *word, const char *unit,
                                double factor, struct tact_error *err)
{
    if (i->channel_count == TACT_DEVICE_CHANNELS) {
        tact_error_at(err, i->map_path, 0, 0, name);
        return tact_error_set(err, -EINVAL, "more than %d channels", TACT_DEVICE_CHANNELS);
    }
    struct import_channel *c = &i->channel[i->channel_count];
    snprintf(c->name, sizeof c->name, "%s%s", name, channel_name_suffix);
    snprintf(c->unit, sizeof c->unit, "%s", unit);
    for (int k = 0; k < i->channel_count; k++) {
        if (!strcmp(i->channel[k].name, c->name)) {
            tact_error_at(err, i->map_path, 0, 0, name);
            return tact_error_set(err, -EINVAL,
                                  "two mapped columns would become a channel with the name \"%s\"",
                                  c->name);
        }
    }
    c->word = word;
    c->key = name;
    c->column = IMPORT_NO_COLUMN;
    c->factor = factor;
    i->channel_count++;
    i->group[i->group_count - 1].count++;
    return 0;
}

static void start_csv_column_group(struct recording_import *i, const char *name)
{
    struct import_channel_group *g = &i->group[i->group_count++];
    snprintf(g->name, sizeof g->name, "%s", name);
    g->first = i->channel_count;
    g->quaternion_channel = -1;
}

/* Offset in a record of the next channel that is added, after state and stamp of the first device.
 */
static uint32_t next_channel_record_offset(const struct recording_import *i)
{
    return (uint32_t)i->channel_count + 2;
}

static int add_imported_joint(struct recording_import *i, const struct import_map_joint *j,
                              struct tact_error *err)
{
    const struct unit *unit = find_unit_by_name(i, j->unit ? j->unit : "rad", NULL, err);
    int is_sliding_joint = unit && !strcmp(unit->si, "m");
    const char *default_effort_unit = is_sliding_joint ? "N" : "N m";
    const struct unit *effort_unit =
        unit ? find_unit_by_name(i, j->effort_unit ? j->effort_unit : default_effort_unit,
                                 default_effort_unit, err)
             : NULL;
    if (!effort_unit) {
        return -EINVAL;
    }
    struct tact_recorder_joint *out = &i->joint[i->joint_count];
    *out = (struct tact_recorder_joint){j->name, next_channel_record_offset(i), TACT_RECORDER_NONE,
                                        TACT_RECORDER_NONE};
    start_csv_column_group(i, j->name);
    int rc =
        add_imported_channel(i, j->name, "_position", j->position, unit->si, unit->factor, err);
    if (!rc && j->velocity) {
        out->velocity = next_channel_record_offset(i);
        rc = add_imported_channel(i, j->name, "_velocity", j->velocity,
                                  is_sliding_joint ? "m/s" : "rad/s", unit->factor, err);
    }
    if (!rc && j->effort) {
        out->effort = next_channel_record_offset(i);
        rc = add_imported_channel(i, j->name, "_effort", j->effort, effort_unit->si,
                                  effort_unit->factor, err);
    }
    i->joint_count++;
    return rc;
}

static int add_imported_pose(struct recording_import *i, const struct import_map_pose *p,
                             struct tact_error *err)
{
    static const char *const axes[] = {"_x", "_y", "_z"};
    static const char *const parts[] = {"_qw", "_qx", "_qy", "_qz"};
    const struct unit *unit = find_unit_by_name(i, p->unit ? p->unit : "m", "m", err);
    int rc = unit ? 0 : -EINVAL;
    if (!rc && p->quat_wxyz && p->quat_xyzw) {
        tact_error_at(err, i->map_path, 0, 0, p->name);
        rc = tact_error_set(err, -EINVAL,
                            "quat_wxyz and quat_xyzw are both given: expected one of them");
    }
    i->body[i->body_count++] = (struct tact_recorder_body){p->name, next_channel_record_offset(i)};
    start_csv_column_group(i, p->name);
    struct import_channel_group *g = &i->group[i->group_count - 1];
    for (int k = 0; !rc && k < 3; k++) {
        rc = add_imported_channel(i, p->name, axes[k], p->position[k], unit->si, unit->factor, err);
    }
    for (int k = 0; !rc && k < 4; k++) {
        const char *column = p->quat_wxyz ? p->quat_wxyz[k] : NULL;
        column = p->quat_xyzw ? p->quat_xyzw[(k + 3) % 4] : column;
        g->quaternion_channel = column && k == 0 ? i->channel_count : g->quaternion_channel;
        rc = add_imported_channel(i, p->name, parts[k], column, "1", column ? 1.0 : (k == 0), err);
    }
    return rc;
}

static int add_imported_wrench(struct recording_import *i, const struct import_map_wrench *w,
                               struct tact_error *err)
{
    static const char *const parts[] = {"_fx", "_fy", "_fz", "_tx", "_ty", "_tz"};
    const struct unit *force = find_unit_by_name(i, w->force_unit ? w->force_unit : "N", "N", err);
    const struct unit *torque =
        force ? find_unit_by_name(i, w->torque_unit ? w->torque_unit : "N m", "N m", err) : NULL;
    int rc = torque ? 0 : -EINVAL;
    i->sensor[i->sensor_count++] = (struct tact_recorder_sensor){
        w->name, w->frame ? w->frame : "world", next_channel_record_offset(i)};
    start_csv_column_group(i, w->name);
    for (int k = 0; !rc && k < 6; k++) {
        const char *column = k < 3 ? w->force[k] : (w->torque ? w->torque[k - 3] : NULL);
        const struct unit *unit = k < 3 ? force : torque;
        rc = add_imported_channel(i, w->name, parts[k], column, unit->si,
                                  column ? unit->factor : 0.0, err);
    }
    return rc;
}

static int add_imported_channels(struct recording_import *i, struct tact_error *err)
{
    const struct import_map *m = i->map;
    int rc = 0;
    if (m->joints_count + m->poses_count + m->wrenches_count + m->signals_count > MOST) {
        tact_error_at(err, i->map_path, 0, 0, NULL);
        return tact_error_set(err, -EINVAL, "more than %d joints, poses, wrenches and signals",
                              MOST);
    }
    for (uint32_t k = 0; !rc && k < m->joints_count; k++) {
        rc = add_imported_joint(i, &m->joints[k], err);
    }
    for (uint32_t k = 0; !rc && k < m->poses_count; k++) {
        rc = add_imported_pose(i, &m->poses[k], err);
    }
    for (uint32_t k = 0; !rc && k < m->wrenches_count; k++) {
        rc = add_imported_wrench(i, &m->wrenches[k], err);
    }
    for (uint32_t k = 0; !rc && k < m->signals_count; k++) {
        const struct import_map_signal *s = &m->signals[k];
        const struct unit *unit = find_unit_by_name(i, s->unit ? s->unit : "1", NULL, err);
        start_csv_column_group(i, s->name);
        rc = unit ? add_imported_channel(i, s->name, "", s->column, unit->si, unit->factor, err)
                  : -EINVAL;
    }
    if (!rc && i->channel_count == 0) {
        tact_error_at(err, i->map_path, 0, 0, NULL);
        rc = tact_error_set(err, -EINVAL, "the map has no joints, poses, wrenches or signals");
    }
    return rc;
}

static int check_import_map(struct recording_import *i, struct tact_error *err)
{
    const struct import_map *m = i->map;
    const char *key = NULL, *why = NULL;
    if (!m->time == !(m->rate > 0.0)) {
        key = m->time ? "time" : "rate";
        why = "expected either rate, that of the rows [Hz], or time, the column with their times";
    } else if (!(isfinite(m->rate) && m->rate >= 0.0 && m->rate < 1e7)) {
        key = "rate";
        why = "must be above 0 and below 1e7 Hz";
    } else if (m->period != 0.0 && !(m->period >= 1e-5 && m->period <= 0.1)) {
        key = "period";
        why = "the period of the ticks must be from 1e-5 to 0.1 s";
    } else if (m->repeats && strcmp(m->repeats, "keep") && strcmp(m->repeats, "fill")) {
        key = "repeats";
        why = "expected keep or fill";
    }
    if (why) {
        tact_error_at(err, i->map_path, 0, 0, key);
        return tact_error_set(err, -EINVAL, "%s", why);
    }
    i->period = m->period > 0.0 ? m->period : 1e-3;
    bool known = !m->time || find_unit_by_name(i, m->time_unit ? m->time_unit : "s", "s", err);
    return known ? 0 : -EINVAL;
}

static int read_import_map_text(struct recording_import *i, struct tact_error *err)
{
    size_t room = 1 << 20;
    int rc;
    tact_error_at(err, i->map_path, 0, 0, NULL);
    FILE *file = tact_regular_file_open(i->map_path, &rc, err);
    if (!file) {
        return rc;
    }
    i->import_map_text = malloc(room);
    i->import_map_bytes = i->import_map_text ? fread(i->import_map_text, 1, room, file) : 0;
    rc = ferror(file) ? -EIO : (!i->import_map_text ? -ENOMEM : 0);
    rc = rc ? rc : (i->import_map_bytes == room ? -EFBIG : 0);
    fclose(file);
    return rc ? tact_error_set(err, rc, "cannot read: %s", strerror(-rc)) : 0;
}

int import_read_map(struct recording_import *i, struct tact_error *err)
{
    void *map = NULL;
    int rc = read_import_map_text(i, err);
    rc = rc ? rc
            : tact_yaml_load(i->map_path, i->import_map_text, i->import_map_bytes, &map_schema,
                             &map, err);
    if (rc) {
        return rc;
    }
    i->map = map;
    rc = check_import_map(i, err);
    return rc ? rc : add_imported_channels(i, err);
}

void import_free_recording(struct recording_import *i)
{
    tact_yaml_free(&map_schema, i->map);
    free(i->import_map_text);
    free(i->time);
    free(i->values);
    free(i->gap);
}

const char *get_session_name_of_import_map(const struct recording_import *i)
{
    return i->map->name;
}

const char *get_scene_of_import_map(const struct recording_import *i)
{
    return i->map->scene;
}

const char *get_import_time_unit(const struct recording_import *i, double *factor)
{
    const char *word = i->map->time_unit;
    struct tact_error unused = {.line = 0};
    const struct unit *unit = word ? find_unit_by_name(i, word, "s", &unused) : NULL;
    *factor = unit ? unit->factor : 1.0;
    return i->map->time;
}

const char *get_import_time_unit_name(const struct recording_import *i)
{
    return i->map->time_unit ? i->map->time_unit : "s";
}

double get_import_rate(const struct recording_import *i)
{
    return i->map->rate;
}

bool import_must_interpolate_repeats(const struct recording_import *i)
{
    return i->map->repeats && !strcmp(i->map->repeats, "fill");
}
