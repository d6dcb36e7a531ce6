/**
 * Schemas of the log's topics as ros2msg text: the definition of the message, then each message
 * that it uses after a line of 80 '=' and "MSG: package/Name", as rosbag2 writes them.
 */
#ifndef TACT_RT_LOG_SCHEMA_INTERNAL_H
#define TACT_RT_LOG_SCHEMA_INTERNAL_H

#include "../../contact/error.h"
#include "bytes_internal.h"
#include "layout.h"

#define TACT_SCHEMA_VERSION "2" /* raised when a reader of today could not read it */

#define TACT_SCHEMA_TICK "tact_msgs/msg/Tick"
#define TACT_SCHEMA_EVENT "tact_msgs/msg/Event"
#define TACT_SCHEMA_JOINTS "sensor_msgs/msg/JointState"
#define TACT_SCHEMA_TF "tf2_msgs/msg/TFMessage"
#define TACT_SCHEMA_WRENCH "geometry_msgs/msg/WrenchStamped"
#define TACT_SCHEMA_MARKERS "visualization_msgs/msg/MarkerArray"

extern const char tact_schema_event[];
extern const char tact_schema_joints[];
extern const char tact_schema_tf[];
extern const char tact_schema_wrench[];
extern const char tact_schema_markers[];

/** Text of the tick's message: one line a field, its kind and unit in the comment. */
void tact_schema_tick(const struct tact_layout *layout, struct tact_bytes *out);

/** Rebuilds the layout from that text. *layout is freed by the caller, on failure as well.
 *  @retval 0, -EINVAL (*err filled, with the line in the schema) or -ENOMEM */
int tact_schema_parse_tick(struct tact_span text, struct tact_layout *layout,
                           struct tact_error *err);

#endif
