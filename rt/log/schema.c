#include "schema_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ROS_SCHEMA_SEPARATOR                                                                       \
    "================================================================================\n"
#define ROS_TIME_DEFINITION                                                                        \
    ROS_SCHEMA_SEPARATOR "MSG: builtin_interfaces/Time\n"                                          \
                         "int32 sec\n"                                                             \
                         "uint32 nanosec\n"
#define ROS_HEADER_DEFINITION                                                                      \
    ROS_SCHEMA_SEPARATOR "MSG: std_msgs/Header\n"                                                  \
                         "builtin_interfaces/Time stamp\n"                                         \
                         "string frame_id\n" ROS_TIME_DEFINITION

const char tact_schema_text_event[] = "# Something that happened in a session of tact.\n"
                                      "builtin_interfaces/Time stamp  # CLOCK_MONOTONIC\n"
                                      "uint64 tick\n"
                                      "string name\n"
                                      "string text\n" ROS_TIME_DEFINITION;

const char tact_schema_text_pressure[] =
    "# Pressure of the contacts of tact in a tick, of those whose model computes one.\n"
    "builtin_interfaces/Time stamp  # CLOCK_MONOTONIC\n"
    "uint64 tick\n"
    "uint32 patches_left_out  # patches and\n"
    "uint32 polygons_left_out  # polygons for which there was no room\n"
    "tact_msgs/PressurePatch[] patches\n" ROS_SCHEMA_SEPARATOR "MSG: tact_msgs/PressurePatch\n"
    "# Sums are those of all polygons of a patch, of those left out too.\n"
    "string name  # bodies or links of the two shapes\n"
    "uint32 a  # number of the first shape, in the order of the scene\n"
    "uint32 b\n"
    "float64[3] center  # of pressure [m], world; origin of the corners\n"
    "float64[3] normal  # direction of the force on a, world\n"
    "float64 area  # m^2\n"
    "float64 load  # integral of the pressure [N]\n"
    "float32 peak  # largest pressure [Pa]\n"
    "uint32 polygons_left_out\n"
    "uint8[] sides  # number of corners of each polygon\n"
    "float32[] corners  # of each x, y, z from the center [m], world axes; pressure "
    "[Pa]\n" ROS_TIME_DEFINITION;

/* The definitions of common_interfaces and geometry2 of ROS 2, without their comments. */
const char tact_schema_text_joints[] = "std_msgs/Header header\n"
                                       "string[] name\n"
                                       "float64[] position\n"
                                       "float64[] velocity\n"
                                       "float64[] effort\n" ROS_HEADER_DEFINITION;

const char tact_schema_text_tf[] =
    "geometry_msgs/TransformStamped[] transforms\n" ROS_SCHEMA_SEPARATOR
    "MSG: geometry_msgs/TransformStamped\n"
    "std_msgs/Header header\n"
    "string child_frame_id\n"
    "geometry_msgs/Transform transform\n" ROS_SCHEMA_SEPARATOR "MSG: geometry_msgs/Transform\n"
    "geometry_msgs/Vector3 translation\n"
    "geometry_msgs/Quaternion rotation\n" ROS_SCHEMA_SEPARATOR "MSG: geometry_msgs/Vector3\n"
    "float64 x\n"
    "float64 y\n"
    "float64 z\n" ROS_SCHEMA_SEPARATOR "MSG: geometry_msgs/Quaternion\n"
    "float64 x 0\n"
    "float64 y 0\n"
    "float64 z 0\n"
    "float64 w 1\n" ROS_HEADER_DEFINITION;

#define VECTOR3_DEFINITION                                                                         \
    ROS_SCHEMA_SEPARATOR "MSG: geometry_msgs/Vector3\n"                                            \
                         "float64 x\n"                                                             \
                         "float64 y\n"                                                             \
                         "float64 z\n"
#define QUATERNION_DEFINITION                                                                      \
    ROS_SCHEMA_SEPARATOR "MSG: geometry_msgs/Quaternion\n"                                         \
                         "float64 x 0\n"                                                           \
                         "float64 y 0\n"                                                           \
                         "float64 z 0\n"                                                           \
                         "float64 w 1\n"

const char tact_schema_text_wrench[] =
    "std_msgs/Header header\n"
    "geometry_msgs/Wrench wrench\n" ROS_SCHEMA_SEPARATOR "MSG: geometry_msgs/Wrench\n"
    "geometry_msgs/Vector3 force\n"
    "geometry_msgs/Vector3 torque\n" VECTOR3_DEFINITION ROS_HEADER_DEFINITION;

/* Definition of visualization_msgs/MarkerArray as of ROS 2 Humble. */
const char tact_schema_text_markers[] =
    "visualization_msgs/Marker[] markers\n" ROS_SCHEMA_SEPARATOR "MSG: visualization_msgs/Marker\n"
    "int32 ARROW=0\n"
    "int32 CUBE=1\n"
    "int32 SPHERE=2\n"
    "int32 TRIANGLE_LIST=11\n"
    "int32 ADD=0\n"
    "int32 DELETE=2\n"
    "std_msgs/Header header\n"
    "string ns\n"
    "int32 id\n"
    "int32 type\n"
    "int32 action\n"
    "geometry_msgs/Pose pose\n"
    "geometry_msgs/Vector3 scale\n"
    "std_msgs/ColorRGBA color\n"
    "builtin_interfaces/Duration lifetime\n"
    "bool frame_locked\n"
    "geometry_msgs/Point[] points\n"
    "std_msgs/ColorRGBA[] colors\n"
    "string texture_resource\n"
    "sensor_msgs/CompressedImage texture\n"
    "visualization_msgs/UVCoordinate[] uv_coordinates\n"
    "string text\n"
    "string mesh_resource\n"
    "visualization_msgs/MeshFile mesh_file\n"
    "bool mesh_use_embedded_materials\n" ROS_SCHEMA_SEPARATOR
    "MSG: visualization_msgs/UVCoordinate\n"
    "float32 u\n"
    "float32 v\n" ROS_SCHEMA_SEPARATOR "MSG: visualization_msgs/MeshFile\n"
    "string filename\n"
    "uint8[] data\n" ROS_SCHEMA_SEPARATOR "MSG: sensor_msgs/CompressedImage\n"
    "std_msgs/Header header\n"
    "string format\n"
    "uint8[] data\n" ROS_SCHEMA_SEPARATOR "MSG: std_msgs/ColorRGBA\n"
    "float32 r\n"
    "float32 g\n"
    "float32 b\n"
    "float32 a\n" ROS_SCHEMA_SEPARATOR "MSG: geometry_msgs/Pose\n"
    "geometry_msgs/Point position\n"
    "geometry_msgs/Quaternion orientation\n" ROS_SCHEMA_SEPARATOR "MSG: geometry_msgs/Point\n"
    "float64 x\n"
    "float64 y\n"
    "float64 z\n" VECTOR3_DEFINITION QUATERNION_DEFINITION ROS_SCHEMA_SEPARATOR
    "MSG: builtin_interfaces/Duration\n"
    "int32 sec\n"
    "uint32 nanosec\n" ROS_HEADER_DEFINITION;

static const char tick_schema_heading[] =
    "# One tick of tact. [input] fields are fed to a replay, [output] "
    "fields are compared by it,\n"
    "# [timing] fields are wall-clock measurements.\n"
    "builtin_interfaces/Time stamp  # CLOCK_MONOTONIC\n"
    "uint64 tick\n";

static const char contact_list_schema_line[] =
    "tact_msgs/Contact[] contacts  # what touches, or keeps something "
    "for the next tick\n";
static const char contact_schema_heading[] = ROS_SCHEMA_SEPARATOR
    "MSG: tact_msgs/Contact\n"
    "# Two shapes. Where they are not in the list, each field has its default value, or 0.\n"
    "string name\n"
    "uint32 a  # number of the first shape, in the order of the scene\n"
    "uint32 b\n"
    "uint32 same  # number of the pair among those of this name\n";

/* A field's line: type, name, default, kind and unit. */
#define MAX_SCHEMA_LINE_BYTES (TACT_FIELD_NAME + TACT_FIELD_UNIT + 64)
#define LIST_HEAD_LINE_COUNT                                                                       \
    8 /* number of lines of contact_list_schema_line and contact_schema_heading */

static const char *const kind_names[] = {
    [TACT_FIELD_INPUT] = "input",
    [TACT_FIELD_OUTPUT] = "output",
    [TACT_FIELD_TIMING] = "timing",
};

static void put_schema_field_lines(const struct tact_layout *layout, struct tact_bytes *out)
{
    char line[MAX_SCHEMA_LINE_BYTES];

    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *field = &layout->fields[i];
        char count[16] = "", absent[16] = "";
        if (field->count != 1) {
            snprintf(count, sizeof count, "[%u]", field->count);
        }
        if (field->absent != 0.0) {
            snprintf(absent, sizeof absent, " %d", (int)field->absent);
        }
        int length = snprintf(line, sizeof line, "float64%s %s%s  # [%s] %s\n", count, field->name,
                              absent, kind_names[field->kind], field->unit);
        tact_bytes_append(out, line, (size_t)length);
    }
}

void tact_schema_put_tick(const struct tact_layout *layout, struct tact_bytes *out)
{
    tact_bytes_append(out, tick_schema_heading, sizeof tick_schema_heading - 1);
    put_schema_field_lines(layout, out);
    if (layout->element) {
        tact_bytes_append(out, contact_list_schema_line, sizeof contact_list_schema_line - 1);
        tact_bytes_append(out, contact_schema_heading, sizeof contact_schema_heading - 1);
        put_schema_field_lines(layout->element, out);
    }
    tact_bytes_append(out, ROS_TIME_DEFINITION, sizeof ROS_TIME_DEFINITION - 1);
}

static int parse_field_kind(const char *name, enum tact_field_kind *kind)
{
    for (int k = TACT_FIELD_INPUT; k <= TACT_FIELD_TIMING; k++) {
        if (strcmp(name, kind_names[k]) == 0) {
            *kind = (enum tact_field_kind)k;
            return 0;
        }
    }
    return -EINVAL;
}

/* "float64[7] name  # [output] m, quat_wxyz", the line without its end; "float64 name 1  # ..."
 * where an element's field has a default. */
static int parse_schema_field(const char *line, struct tact_layout *layout)
{
    char name[TACT_FIELD_NAME], kind_name[8];
    enum tact_field_kind kind;
    unsigned count = 1, absent = 0;
    int parsed_character_count = 0;

    if (strncmp(line, "float64[", 8) == 0) {
        if (sscanf(line, "float64[%7u]%n", &count, &parsed_character_count) != 1 ||
            parsed_character_count == 0) {
            return -EINVAL;
        }
    } else if (strncmp(line, "float64 ", 8) == 0) {
        parsed_character_count = 7;
    } else {
        return -EINVAL;
    }
    line += parsed_character_count;
    parsed_character_count = 0;
    if ((sscanf(line, " %63[a-z0-9_]  # [%7[a-z]]%n", name, kind_name, &parsed_character_count) !=
             2 ||
         parsed_character_count == 0) &&
        (sscanf(line, " %63[a-z0-9_] %3u  # [%7[a-z]]%n", name, &absent, kind_name,
                &parsed_character_count) != 3 ||
         parsed_character_count == 0)) {
        return -EINVAL;
    }
    if (parse_field_kind(kind_name, &kind) != 0) {
        return -EINVAL;
    }
    const char *unit = line[parsed_character_count] == ' ' ? line + parsed_character_count + 1
                                                           : line + parsed_character_count;
    long offset = tact_layout_add(layout, kind, name, unit, count);
    if (offset < 0) {
        return (int)offset;
    }
    layout->fields[layout->field_count - 1].absent = absent;
    /* tact writes no name that sanitising would change: the schema is not one of tact */
    return strcmp(layout->fields[layout->field_count - 1].name, name) == 0 ? 0 : -EINVAL;
}

/* Skips the lines between the fields and those of an element, if they are next. */
static bool is_contact_list_header(const struct tact_layout *layout, struct tact_byte_cursor *in)
{
    const size_t line = sizeof contact_list_schema_line - 1,
                 head = sizeof contact_schema_heading - 1;

    if (layout->element || in->left < line + head ||
        memcmp(in->at, contact_list_schema_line, line) != 0 ||
        memcmp(in->at + line, contact_schema_heading, head) != 0) {
        return false;
    }
    tact_byte_cursor_read_bytes(in, line + head);
    return true;
}

int tact_schema_parse_tick(struct tact_byte_span text, struct tact_layout *layout,
                           struct tact_error *err)
{
    struct tact_byte_cursor in = {text.data, text.size, false};
    struct tact_byte_span head = tact_byte_cursor_read_bytes(&in, sizeof tick_schema_heading - 1);
    struct tact_layout *to = layout;

    if (!tact_byte_span_equals_text(head, tick_schema_heading)) {
        return tact_error_set(
            err, -EINVAL, "the log's schema of /tact/tick was not written by this version of tact");
    }
    for (int number = 5; in.left > 0; number++) {
        char line[MAX_SCHEMA_LINE_BYTES];
        if (is_contact_list_header(layout, &in)) {
            int rc = tact_layout_add_list(layout, 0);
            if (rc != 0) {
                return rc;
            }
            to = layout->element;
            number += LIST_HEAD_LINE_COUNT;
        }
        const uint8_t *end = memchr(in.at, '\n', in.left);
        size_t length = end ? (size_t)(end - in.at) : in.left;
        if (in.left == sizeof ROS_TIME_DEFINITION - 1 &&
            memcmp(in.at, ROS_TIME_DEFINITION, in.left) == 0) {
            return 0;
        }
        if (!end || length >= sizeof line) {
            break;
        }
        struct tact_byte_span span = tact_byte_cursor_read_bytes(&in, length + 1);
        memcpy(line, span.data, length);
        line[length] = '\0';
        int rc = strlen(line) == length ? parse_schema_field(line, to) : -EINVAL;
        if (rc != 0) {
            tact_error_at(err, NULL, number, 0, NULL);
            return tact_error_set(err, rc,
                                  "this line of the schema of /tact/tick is not a field of a tick");
        }
    }
    return tact_error_set(err, -EINVAL, "the schema of /tact/tick has no end");
}
