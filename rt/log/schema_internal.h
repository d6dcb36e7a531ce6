/*
 * Schemas of the log's topics as ros2msg text: the definition of the message, then each message
 * that it uses after a line of 80 '=' and "MSG: package/Name", as rosbag2 writes them.
 */
#ifndef TACT_RT_LOG_SCHEMA_INTERNAL_H
#define TACT_RT_LOG_SCHEMA_INTERNAL_H

#include "../../contact/error.h"
#include "bytes_internal.h"
#include "layout.h"

#define TACT_SCHEMA_VERSION "2" /* incremented when older readers could not read it */

#define TACT_SCHEMA_NAME_TICK "tact_msgs/msg/Tick"
#define TACT_SCHEMA_NAME_EVENT "tact_msgs/msg/Event"
#define TACT_SCHEMA_NAME_JOINTS "sensor_msgs/msg/JointState"
#define TACT_SCHEMA_NAME_TF "tf2_msgs/msg/TFMessage"
#define TACT_SCHEMA_NAME_WRENCH "geometry_msgs/msg/WrenchStamped"
#define TACT_SCHEMA_NAME_MARKERS "visualization_msgs/msg/MarkerArray"

#define TACT_SCHEMA_NAME_PRESSURE "tact_msgs/msg/Pressure"

extern const char tact_schema_text_event[];
extern const char tact_schema_text_pressure[];
extern const char tact_schema_text_joints[];
extern const char tact_schema_text_tf[];
extern const char tact_schema_text_wrench[];
extern const char tact_schema_text_markers[];

/* Writes the schema of a tick: one line per field, with its kind and unit in a comment. */
void tact_schema_put_tick(const struct tact_layout *layout, struct tact_bytes *out);

/* Parses the layout of a tick from its schema text. The caller frees *layout, also on failure.
 * @retval 0, -EINVAL (*err set, with the line in the schema) or -ENOMEM */
int tact_schema_parse_tick(struct tact_byte_span text, struct tact_layout *layout,
                           struct tact_error *err);

#endif
