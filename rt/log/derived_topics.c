#include "derived_topics_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* maximum number of entries of a list (joints, bodies, links, ...) */
#define MAX_DERIVED_TOPIC_LIST_ENTRIES 65536

int tact_recorder_content_set_error(struct tact_error *err, const char *what, const char *name,
                                    const char *why)
{
    return tact_error_set(err, -EINVAL, "%s \"%s\": %s", what, name ? name : "", why);
}

/* Whether `count` doubles at offset are inside the record. */
static bool is_range_inside_record(uint32_t offset, uint32_t count, uint32_t size)
{
    return size >= count && offset <= size - count;
}

/* Whether the kind of a link's joint is known, and its values are inside the record. */
static bool is_joint_inside_record(const struct tact_recorder_link *link, uint32_t size)
{
    return link->slides <= TACT_RECORDER_BASE &&
           is_range_inside_record(link->position, link->slides == TACT_RECORDER_BASE ? 6 : 1, size);
}

static bool is_offset_inside_record_or_absent(uint32_t offset, uint32_t size)
{
    return offset == TACT_RECORDER_NONE || offset < size;
}

static bool is_recorder_name_valid(const char *name)
{
    return name && *name && tact_utf8_valid(name);
}

/* Whether the name is a valid part of a topic's name. */
static bool is_valid_topic_path_component(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)name[i]) && name[i] != '_') {
            return false;
        }
    }
    return length > 0 && length <= TACT_RECORDER_TOPIC_NAME && !isdigit((unsigned char)*name);
}

static bool is_joint_record_valid(const struct tact_recorder_joint *joint, uint32_t size)
{
    return is_offset_inside_record_or_absent(joint->position, size) &&
           is_offset_inside_record_or_absent(joint->velocity, size) &&
           is_offset_inside_record_or_absent(joint->effort, size);
}

static bool is_contact_record_valid(const struct tact_recorder_contact *contact, uint32_t size)
{
    return is_range_inside_record(contact->wrench, 6, size) &&
           is_range_inside_record(contact->patch, 7, size) &&
           is_range_inside_record(contact->limits, 1, size);
}

static int check_recorder_bodies(const struct tact_recorder_content *content,
                                 struct tact_error *err)
{
    uint32_t size = content->layout->size;

    for (size_t i = 0; i < content->body_count; i++) {
        const struct tact_recorder_body *body = &content->bodies[i];
        if (!is_recorder_name_valid(body->name)) {
            return tact_recorder_content_set_error(err, "body", body->name,
                                                   "its name is empty or not UTF-8");
        }
        if (!is_range_inside_record(body->pose, 7, size)) {
            return tact_recorder_content_set_error(
                err, "body", body->name, "the offset of its pose is outside the tick's record");
        }
    }
    for (size_t i = 0; i < content->link_count; i++) {
        const struct tact_recorder_link *link = &content->links[i];
        if (!is_recorder_name_valid(link->name) || !is_recorder_name_valid(link->parent)) {
            return tact_recorder_content_set_error(
                err, "link", link->name, "its name or its parent's is empty or not UTF-8");
        }
        if (!is_joint_inside_record(link, size)) {
            return tact_recorder_content_set_error(
                err, "link", link->name,
                "the offset of its joint value is outside the tick's record");
        }
    }
    return 0;
}

/* Size of the record, or of the list element, to which a contact's offsets refer [doubles]. */
static uint32_t contact_values_size_in_doubles(uint32_t size, uint32_t stride)
{
    return stride ? stride - TACT_ELEMENT_HEAD : size;
}

static int check_shape_owners(const struct tact_recorder_content *content, struct tact_error *err)
{
    for (size_t i = 0; i < content->owner_count; i++) {
        if (!is_recorder_name_valid(content->owners[i])) {
            return tact_recorder_content_set_error(
                err, "shape", content->owners[i],
                "the name of the body or link that has the shape is empty or not UTF-8");
        }
    }
    return 0;
}

static int check_recorder_wrenches(const struct tact_recorder_content *content,
                                   struct tact_error *err)
{
    uint32_t size = content->layout->size;
    uint32_t element_size =
        contact_values_size_in_doubles(size, tact_layout_stride(content->layout));

    if (content->contact_count > TACT_RECORDER_WRENCHES ||
        content->sensor_count > TACT_RECORDER_WRENCHES) {
        return tact_error_set(err, -EINVAL,
                              "more than %d contacts or force-torque sensors with a wrench topic",
                              TACT_RECORDER_WRENCHES);
    }
    for (size_t i = 0; i < content->contact_count; i++) {
        const struct tact_recorder_contact *contact = &content->contacts[i];
        if (!is_valid_topic_path_component(contact->name)) {
            return tact_recorder_content_set_error(
                err, "contact", contact->name,
                "its name cannot be part of the name of a topic: letters, "
                "digits and _ only, and no digit first");
        }
        if (!is_contact_record_valid(contact, element_size)) {
            return tact_recorder_content_set_error(
                err, "contact", contact->name,
                "the offset of one of its values is outside the tick's record");
        }
    }
    for (size_t i = 0; i < content->sensor_count; i++) {
        const struct tact_recorder_sensor *sensor = &content->sensors[i];
        if (!is_valid_topic_path_component(sensor->name)) {
            return tact_recorder_content_set_error(
                err, "sensor", sensor->name,
                "its name cannot be part of the name of a topic: letters, "
                "digits and _ only, and no digit first");
        }
        if (!is_recorder_name_valid(sensor->frame)) {
            return tact_recorder_content_set_error(err, "sensor", sensor->name,
                                                   "the name of its frame is empty or not UTF-8");
        }
        if (!is_range_inside_record(sensor->wrench, 6, size)) {
            return tact_recorder_content_set_error(
                err, "sensor", sensor->name,
                "the offset of its wrench is outside the tick's record");
        }
    }
    return 0;
}

int tact_derived_topics_check(const struct tact_recorder_content *content, struct tact_error *err)
{
    for (size_t i = 0; i < content->joint_count; i++) {
        const struct tact_recorder_joint *joint = &content->joints[i];
        if (!is_recorder_name_valid(joint->name)) {
            return tact_recorder_content_set_error(err, "joint", joint->name,
                                                   "its name is empty or not UTF-8");
        }
        if (!is_joint_record_valid(joint, content->layout->size)) {
            return tact_recorder_content_set_error(
                err, "joint", joint->name,
                "the offset of one of its values is outside the tick's record");
        }
    }
    int rc = check_recorder_bodies(content, err);
    rc = rc ? rc : check_shape_owners(content, err);
    return rc ? rc : check_recorder_wrenches(content, err);
}

/* Copies a list; the caller then replaces each name by a copy, or NULL if out of memory. */
static void *copy_recorder_list(const void *list, size_t count, size_t element)
{
    void *recorder_list_copy = calloc(count + 1, element);
    if (recorder_list_copy && count > 0) {
        memcpy(recorder_list_copy, list, count * element);
    }
    return recorder_list_copy;
}

static bool copy_name_text(const char **name)
{
    *name = strdup(*name);
    return *name != NULL;
}

int tact_derived_topics_copy(struct tact_derived_topics *s, const struct tact_recorder_content *c)
{
    bool are_all_names_copied = true;

    *s = (struct tact_derived_topics){
        .joints = copy_recorder_list(c->joints, c->joint_count, sizeof *c->joints),
        .bodies = copy_recorder_list(c->bodies, c->body_count, sizeof *c->bodies),
        .links = copy_recorder_list(c->links, c->link_count, sizeof *c->links),
        .contacts = copy_recorder_list(c->contacts, c->contact_count, sizeof *c->contacts),
        .sensors = copy_recorder_list(c->sensors, c->sensor_count, sizeof *c->sensors),
        .owners = copy_recorder_list(c->owners, c->owner_count, sizeof *c->owners),
    };
    for (; s->joints && s->joint_count < c->joint_count; s->joint_count++) {
        are_all_names_copied =
            copy_name_text(&s->joints[s->joint_count].name) && are_all_names_copied;
    }
    for (; s->bodies && s->body_count < c->body_count; s->body_count++) {
        are_all_names_copied =
            copy_name_text(&s->bodies[s->body_count].name) && are_all_names_copied;
    }
    for (; s->links && s->link_count < c->link_count; s->link_count++) {
        are_all_names_copied =
            copy_name_text(&s->links[s->link_count].name) && are_all_names_copied;
        are_all_names_copied =
            copy_name_text(&s->links[s->link_count].parent) && are_all_names_copied;
    }
    for (; s->contacts && s->contact_count < c->contact_count; s->contact_count++) {
        are_all_names_copied =
            copy_name_text(&s->contacts[s->contact_count].name) && are_all_names_copied;
    }
    for (; s->sensors && s->sensor_count < c->sensor_count; s->sensor_count++) {
        are_all_names_copied =
            copy_name_text(&s->sensors[s->sensor_count].name) && are_all_names_copied;
        are_all_names_copied =
            copy_name_text(&s->sensors[s->sensor_count].frame) && are_all_names_copied;
    }
    for (; s->owners && s->owner_count < c->owner_count; s->owner_count++) {
        are_all_names_copied = copy_name_text(&s->owners[s->owner_count]) && are_all_names_copied;
    }
    return are_all_names_copied && s->joints && s->bodies && s->links && s->contacts &&
                   s->sensors && s->owners
               ? 0
               : -ENOMEM;
}

void tact_derived_topics_free(struct tact_derived_topics *s)
{
    for (size_t i = 0; i < s->joint_count; i++) {
        free((char *)s->joints[i].name);
    }
    for (size_t i = 0; i < s->body_count; i++) {
        free((char *)s->bodies[i].name);
    }
    for (size_t i = 0; i < s->link_count; i++) {
        free((char *)s->links[i].name);
        free((char *)s->links[i].parent);
    }
    for (size_t i = 0; i < s->contact_count; i++) {
        free((char *)s->contacts[i].name);
    }
    for (size_t i = 0; i < s->sensor_count; i++) {
        free((char *)s->sensors[i].name);
        free((char *)s->sensors[i].frame);
    }
    for (size_t i = 0; i < s->owner_count; i++) {
        free((char *)s->owners[i]);
    }
    free(s->owners);
    free(s->joints);
    free(s->bodies);
    free(s->links);
    free(s->contacts);
    free(s->sensors);
    *s = (struct tact_derived_topics){0};
}

void tact_derived_topics_write(const struct tact_derived_topics *s, struct tact_bytes *out)
{
    const size_t counts[] = {s->joint_count,   s->body_count,   s->link_count,
                             s->contact_count, s->sensor_count, s->owner_count};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        tact_bytes_append_u32(out, (uint32_t)counts[i]);
    }
    for (size_t i = 0; i < s->joint_count; i++) {
        tact_bytes_append_text(out, s->joints[i].name);
        tact_bytes_append_u32(out, s->joints[i].position);
        tact_bytes_append_u32(out, s->joints[i].velocity);
        tact_bytes_append_u32(out, s->joints[i].effort);
    }
    for (size_t i = 0; i < s->body_count; i++) {
        tact_bytes_append_text(out, s->bodies[i].name);
        tact_bytes_append_u32(out, s->bodies[i].pose);
    }
    for (size_t i = 0; i < s->link_count; i++) {
        const struct tact_recorder_link *link = &s->links[i];
        tact_bytes_append_text(out, link->name);
        tact_bytes_append_text(out, link->parent);
        tact_bytes_append(out, link->pose, sizeof link->pose);
        tact_bytes_append(out, link->axis, sizeof link->axis);
        tact_bytes_append_u32(out, link->slides);
        tact_bytes_append_u32(out, link->position);
    }
    for (size_t i = 0; i < s->contact_count; i++) {
        tact_bytes_append_text(out, s->contacts[i].name);
        tact_bytes_append_u32(out, s->contacts[i].a);
        tact_bytes_append_u32(out, s->contacts[i].b);
        tact_bytes_append_u32(out, s->contacts[i].wrench);
        tact_bytes_append_u32(out, s->contacts[i].patch);
        tact_bytes_append_u32(out, s->contacts[i].limits);
    }
    for (size_t i = 0; i < s->sensor_count; i++) {
        tact_bytes_append_text(out, s->sensors[i].name);
        tact_bytes_append_text(out, s->sensors[i].frame);
        tact_bytes_append_u32(out, s->sensors[i].wrench);
    }
    for (size_t i = 0; i < s->owner_count; i++) {
        tact_bytes_append_text(out, s->owners[i]);
    }
}

static void read_double_values(struct tact_byte_cursor *in, double *out, size_t count)
{
    struct tact_byte_span span = tact_byte_cursor_read_bytes(in, count * sizeof *out);
    if (!in->bad) {
        memcpy(out, span.data, count * sizeof *out);
    }
}

static char *read_name_text(struct tact_byte_cursor *in)
{
    char *name = tact_byte_span_copy_to_text(tact_byte_cursor_read_text(in));
    in->bad = in->bad || !name;
    return name;
}

static void read_body_and_link_frames(struct tact_derived_topics *s, uint32_t size, size_t bodies,
                                      size_t links, struct tact_byte_cursor *in)
{
    while (!in->bad && s->body_count < bodies) {
        struct tact_recorder_body *body = &s->bodies[s->body_count++];
        body->name = read_name_text(in);
        body->pose = tact_byte_cursor_read_u32(in);
        in->bad = in->bad || !is_range_inside_record(body->pose, 7, size);
    }
    while (!in->bad && s->link_count < links) {
        struct tact_recorder_link *link = &s->links[s->link_count++];
        link->name = read_name_text(in);
        link->parent = read_name_text(in);
        read_double_values(in, link->pose, 7);
        read_double_values(in, link->axis, 3);
        link->slides = tact_byte_cursor_read_u32(in);
        link->position = tact_byte_cursor_read_u32(in);
        in->bad = in->bad || !is_joint_inside_record(link, size);
    }
}

static void read_wrench_sensors(struct tact_derived_topics *s, uint32_t size, uint32_t element_size,
                                size_t contacts, size_t sensors, struct tact_byte_cursor *in)
{
    while (!in->bad && s->contact_count < contacts) {
        struct tact_recorder_contact *contact = &s->contacts[s->contact_count++];
        contact->name = read_name_text(in);
        contact->a = tact_byte_cursor_read_u32(in);
        contact->b = tact_byte_cursor_read_u32(in);
        contact->wrench = tact_byte_cursor_read_u32(in);
        contact->patch = tact_byte_cursor_read_u32(in);
        contact->limits = tact_byte_cursor_read_u32(in);
        in->bad = in->bad || !is_contact_record_valid(contact, element_size);
    }
    while (!in->bad && s->sensor_count < sensors) {
        struct tact_recorder_sensor *sensor = &s->sensors[s->sensor_count++];
        sensor->name = read_name_text(in);
        sensor->frame = read_name_text(in);
        sensor->wrench = tact_byte_cursor_read_u32(in);
        in->bad = in->bad || !is_range_inside_record(sensor->wrench, 6, size);
    }
}

int tact_derived_topics_read(struct tact_derived_topics *s, uint32_t size, uint32_t stride,
                             struct tact_byte_cursor *in)
{
    uint32_t counts[6];

    *s = (struct tact_derived_topics){0};
    for (int i = 0; i < 6; i++) {
        counts[i] = tact_byte_cursor_read_u32(in);
        if (in->bad || counts[i] > MAX_DERIVED_TOPIC_LIST_ENTRIES) {
            return -EBADMSG;
        }
    }
    s->joints = calloc((size_t)counts[0] + 1, sizeof *s->joints);
    s->bodies = calloc((size_t)counts[1] + 1, sizeof *s->bodies);
    s->links = calloc((size_t)counts[2] + 1, sizeof *s->links);
    s->contacts = calloc((size_t)counts[3] + 1, sizeof *s->contacts);
    s->sensors = calloc((size_t)counts[4] + 1, sizeof *s->sensors);
    s->owners = calloc((size_t)counts[5] + 1, sizeof *s->owners);
    if (!s->joints || !s->bodies || !s->links || !s->contacts || !s->sensors || !s->owners) {
        return -ENOMEM;
    }
    while (!in->bad && s->joint_count < counts[0]) {
        struct tact_recorder_joint *joint = &s->joints[s->joint_count++];
        joint->name = read_name_text(in);
        joint->position = tact_byte_cursor_read_u32(in);
        joint->velocity = tact_byte_cursor_read_u32(in);
        joint->effort = tact_byte_cursor_read_u32(in);
        in->bad = in->bad || !is_joint_record_valid(joint, size);
    }
    read_body_and_link_frames(s, size, counts[1], counts[2], in);
    read_wrench_sensors(s, size, contact_values_size_in_doubles(size, stride), counts[3], counts[4],
                        in);
    while (!in->bad && s->owner_count < counts[5]) {
        s->owners[s->owner_count++] = read_name_text(in);
    }
    return in->bad ? -EBADMSG : 0;
}
