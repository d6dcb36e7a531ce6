/* Messages derived from a record: joint states, frames, wrenches, and arrows of the contacts. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../../contact/vec.h"
#include "cdr_internal.h"
#include "encode_internal.h"
#include "marker_internal.h"

static void put_ros_header(struct tact_cdr_writer *cdr, const struct tact_encoder *encoder,
                           int64_t stamp_ns, const char *frame)
{
    tact_cdr_put_time(cdr, (int64_t)tact_encoder_wall_clock_time(encoder, stamp_ns));
    tact_cdr_put_string(cdr, frame);
}

/* One sequence of JointState: empty if no joint has the quantity, else one value per joint (NaN if
 * absent). */
static void put_joint_states(struct tact_cdr_writer *cdr,
                             const struct tact_derived_topics *derived_topics,
                             const struct tact_record *record, size_t joint_value_offset_member)
{
    size_t count_of_joints_with_value = 0;
    uint32_t offset;

    for (size_t i = 0; i < derived_topics->joint_count; i++) {
        memcpy(&offset, (const char *)&derived_topics->joints[i] + joint_value_offset_member,
               sizeof offset);
        count_of_joints_with_value += offset != TACT_RECORDER_NONE;
    }
    tact_cdr_put_u32(cdr, count_of_joints_with_value ? (uint32_t)derived_topics->joint_count : 0);
    for (size_t i = 0; count_of_joints_with_value && i < derived_topics->joint_count; i++) {
        memcpy(&offset, (const char *)&derived_topics->joints[i] + joint_value_offset_member,
               sizeof offset);
        tact_cdr_put_f64(cdr, offset != TACT_RECORDER_NONE ? record->values[offset] : (double)NAN);
    }
}

static void encode_joint_states(struct tact_encoder *encoder, const struct tact_record *record)
{
    const struct tact_derived_topics *derived_topics = &encoder->derived_topics;
    struct tact_cdr_writer cdr = tact_encoder_begin_message(
        encoder, encoder->channels[TACT_LOG_CHANNEL_JOINTS], record->stamp_ns);

    put_ros_header(&cdr, encoder, record->stamp_ns, "");
    tact_cdr_put_u32(&cdr, (uint32_t)derived_topics->joint_count);
    for (size_t i = 0; i < derived_topics->joint_count; i++) {
        tact_cdr_put_string(&cdr, derived_topics->joints[i].name);
    }
    put_joint_states(&cdr, derived_topics, record, offsetof(struct tact_recorder_joint, position));
    put_joint_states(&cdr, derived_topics, record, offsetof(struct tact_recorder_joint, velocity));
    put_joint_states(&cdr, derived_topics, record, offsetof(struct tact_recorder_joint, effort));
    encoder->message_sink.end(encoder->message_sink.self);
}

/* Writes a Transform. pose: position, then quat_wxyz; ROS puts w last. */
static void encode_pose_as_ros_transform(struct tact_cdr_writer *cdr,
                                         const struct tact_encoder *encoder, int64_t stamp_ns,
                                         const char *parent, const char *child, const double *pose)
{
    put_ros_header(cdr, encoder, stamp_ns, parent);
    tact_cdr_put_string(cdr, child);
    tact_cdr_put_f64_array(cdr, pose, 3);
    tact_cdr_put_f64_array(cdr, pose + 4, 3);
    tact_cdr_put_f64(cdr, pose[3]);
}

/* The frame of a base that moves in the world, as in contact/world/hand.h. */
static void compute_moving_base_pose(const struct tact_pose *base_start_pose, const double *q,
                                     double out[7])
{
    struct tact_pose pose;
    double rotation[4];
    tact_quat_from_rotvec(rotation, q + 3);
    tact_quat_mul(pose.quat_wxyz, rotation, base_start_pose->quat_wxyz);
    tact_v3_add(pose.position, base_start_pose->position, q);
    memcpy(out, &pose, sizeof pose);
}

/* The link's frame in its parent's: the pose at joint value 0 composed with the joint's motion. */
static void link_pose_in_parent(const struct tact_recorder_link *link, const double *values,
                                double out[7])
{
    const double q = values[link->position], half_joint_angle = 0.5 * q;
    struct tact_pose link_pose_at_zero_position, motion = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
                                                 pose;

    memcpy(&link_pose_at_zero_position, link->pose, sizeof link_pose_at_zero_position);
    if (link->slides == TACT_RECORDER_BASE) {
        compute_moving_base_pose(&link_pose_at_zero_position, values + link->position, out);
        return;
    }
    if (link->slides) {
        tact_v3_scale(motion.position, link->axis, q);
    } else {
        motion.quat_wxyz[0] = tact_cos(half_joint_angle);
        tact_v3_scale(motion.quat_wxyz + 1, link->axis, tact_sin(half_joint_angle));
    }
    tact_pose_mul(&pose, &link_pose_at_zero_position, &motion);
    memcpy(out, &pose, sizeof pose);
}

/* Locates the values of each shown contact: in the record, or in its list, which is in the same
 * order. */
static void locate_values_of_each_contact(struct tact_encoder *encoder,
                                          const struct tact_record *record)
{
    const struct tact_derived_topics *derived_topics = &encoder->derived_topics;
    const double *element = record->values + encoder->size + 1;
    size_t remaining_contact_element_count = encoder->stride > 0 ? (size_t)element[-1] : 0;

    for (size_t i = 0; i < derived_topics->contact_count; i++) {
        const struct tact_recorder_contact *c = &derived_topics->contacts[i];
        encoder->at[i] = encoder->stride > 0 ? NULL : record->values;
        for (; remaining_contact_element_count > 0 &&
               (element[0] < c->a || (element[0] == c->a && element[1] < c->b));
             remaining_contact_element_count--) {
            element += encoder->stride;
        }
        if (remaining_contact_element_count > 0 && element[0] == c->a && element[1] == c->b) {
            encoder->at[i] = element + TACT_ELEMENT_HEAD;
        }
    }
}

/* Whether a contact touches: its patch then has a normal. */
static bool is_contact_touching(const struct tact_encoder *encoder, size_t contact)
{
    const double *at = encoder->at[contact];
    return at && tact_v3_norm(at + encoder->derived_topics.contacts[contact].patch + 3) > 0.0;
}

/* Name of a contact's frame. */
static void contact_frame_name(const struct tact_recorder_contact *contact, char *out, size_t size)
{
    snprintf(out, size, "contact/%s", contact->name);
}

static void encode_transforms(struct tact_encoder *encoder, const struct tact_record *record)
{
    const struct tact_derived_topics *derived_topics = &encoder->derived_topics;
    struct tact_cdr_writer cdr = tact_encoder_begin_message(
        encoder, encoder->channels[TACT_LOG_CHANNEL_TF], record->stamp_ns);
    size_t count = derived_topics->body_count + derived_topics->link_count;
    double pose[7] = {[3] = 1.0};
    char frame[TACT_RECORDER_TOPIC_NAME + 16];

    for (size_t i = 0; i < derived_topics->contact_count; i++) {
        count += is_contact_touching(encoder, i);
    }
    tact_cdr_put_u32(&cdr, (uint32_t)count);
    for (size_t i = 0; i < derived_topics->body_count; i++) {
        encode_pose_as_ros_transform(&cdr, encoder, record->stamp_ns, "world",
                                     derived_topics->bodies[i].name,
                                     record->values + derived_topics->bodies[i].pose);
    }
    for (size_t i = 0; i < derived_topics->contact_count; i++) {
        if (!is_contact_touching(encoder, i)) {
            continue;
        }
        memcpy(pose, encoder->at[i] + derived_topics->contacts[i].patch, 3 * sizeof *pose);
        contact_frame_name(&derived_topics->contacts[i], frame, sizeof frame);
        encode_pose_as_ros_transform(&cdr, encoder, record->stamp_ns, "world", frame, pose);
    }
    for (size_t i = 0; i < derived_topics->link_count; i++) {
        const struct tact_recorder_link *link = &derived_topics->links[i];
        link_pose_in_parent(link, record->values, pose);
        encode_pose_as_ros_transform(&cdr, encoder, record->stamp_ns, link->parent, link->name,
                                     pose);
    }
    encoder->message_sink.end(encoder->message_sink.self);
}

static void encode_wrench(struct tact_encoder *encoder, int channel,
                          const struct tact_record *record, const char *frame,
                          const double wrench[6])
{
    struct tact_cdr_writer cdr = tact_encoder_begin_message(encoder, channel, record->stamp_ns);

    put_ros_header(&cdr, encoder, record->stamp_ns, frame);
    tact_cdr_put_f64_array(&cdr, wrench, 6);
    encoder->message_sink.end(encoder->message_sink.self);
}

static void encode_wrenches(struct tact_encoder *encoder, const struct tact_record *record)
{
    const struct tact_derived_topics *derived_topics = &encoder->derived_topics;
    char frame[TACT_RECORDER_TOPIC_NAME + 16];

    for (size_t i = 0; i < derived_topics->contact_count; i++) {
        if (!is_contact_touching(encoder, i)) {
            continue;
        }
        contact_frame_name(&derived_topics->contacts[i], frame, sizeof frame);
        encode_wrench(encoder, encoder->channels[TACT_LOG_CHANNEL_CONTACTS] + (int)i, record, frame,
                      encoder->at[i] + derived_topics->contacts[i].wrench);
    }
    for (size_t i = 0; i < derived_topics->sensor_count; i++) {
        encode_wrench(encoder, encoder->channels[TACT_LOG_CHANNEL_SENSORS] + (int)i, record,
                      derived_topics->sensors[i].frame,
                      record->values + derived_topics->sensors[i].wrench);
    }
}

/* An arrow per touching contact; arrows of separated contacts are deleted. */
static void encode_contact_arrows(struct tact_encoder *encoder, const struct tact_record *record)
{
    static const double zero_vector_without_contact[3];
    const struct tact_derived_topics *derived_topics = &encoder->derived_topics;
    uint32_t count = 0;

    for (size_t i = 0; i < derived_topics->contact_count; i++) {
        count += encoder->is_force_arrow_shown[i] || is_contact_touching(encoder, i);
    }
    if (count == 0) {
        return;
    }
    struct tact_cdr_writer cdr = tact_encoder_begin_message(
        encoder, encoder->channels[TACT_LOG_CHANNEL_ARROWS], record->stamp_ns);
    tact_cdr_put_u32(&cdr, count);
    for (size_t i = 0; i < derived_topics->contact_count; i++) {
        const struct tact_recorder_contact *contact = &derived_topics->contacts[i];
        const double *at = encoder->at[i];
        bool touching = is_contact_touching(encoder, i);
        if (touching || encoder->is_force_arrow_shown[i]) {
            tact_put_arrow_marker(
                &cdr, (int64_t)tact_encoder_wall_clock_time(encoder, record->stamp_ns), (int32_t)i,
                touching, at ? at + contact->patch : zero_vector_without_contact,
                at ? at + contact->wrench : zero_vector_without_contact,
                at ? (int)at[contact->limits] : 0);
        }
        encoder->is_force_arrow_shown[i] = touching;
    }
    encoder->message_sink.end(encoder->message_sink.self);
}

void tact_encode_derived(struct tact_encoder *encoder, const struct tact_record *record)
{
    locate_values_of_each_contact(encoder, record);
    if (encoder->channels[TACT_LOG_CHANNEL_JOINTS] >= 0) {
        encode_joint_states(encoder, record);
    }
    if (encoder->channels[TACT_LOG_CHANNEL_TF] >= 0) {
        encode_transforms(encoder, record);
    }
    encode_wrenches(encoder, record);
    if (encoder->channels[TACT_LOG_CHANNEL_ARROWS] >= 0) {
        encode_contact_arrows(encoder, record);
    }
}
