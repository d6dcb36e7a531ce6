/* Contents of a log besides its records: the scene, its meshes, the devices, and the topics. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "rt/realtime.h"
#include "rt/session/facts.h"
#include "rt/session/session_internal.h"

static json_t *wrenches_json(const struct tact_device_info *info)
{
    json_t *list = json_array();
    for (int i = 0; i < info->wrench_count; i++) {
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:i}", "name", info->wrench[i].name, "frame",
                                        info->wrench[i].frame, "channel", info->wrench[i].channel));
    }
    return list;
}

static json_t *channels_json(const struct tact_device_channel *channels, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, json_pack("{s:s, s:s, s:f}", "name", channels[i].name, "unit",
                                              channels[i].unit, "rest", channels[i].rest));
    }
    return list;
}

/* Lists the outputs of a device as JSON; of one that is a position, `measured_by` is the name of
 * the input that measures it. */
static json_t *outputs_json(const struct tact_device_info *info)
{
    json_t *list = channels_json(info->output, info->output_count);
    for (int i = 0; i < info->output_count; i++) {
        if (info->output[i].raw > 0) {
            json_object_set_new(json_array_get(list, (size_t)i), "measured_by",
                                json_string(info->input[info->output[i].raw - 1].name));
        }
    }
    return list;
}

/* Describes the devices as JSON, so that a replay needs no device. Freed with free(). */
static char *devices_json(const struct tact_session *s)
{
    json_t *list = json_array();
    for (int i = 0; i < s->device_count; i++) {
        const struct tact_device_info *info = &s->devices[i].device.info;
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", info->name, "type", info->type,
                            "inputs", channels_json(info->input, info->input_count), "outputs",
                            outputs_json(info), "wrenches", wrenches_json(info)));
    }
    char *text = json_dumps(list, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(list);
    return text;
}

static size_t attach_mesh_files(const struct tact_scene_shape *shapes, uint32_t count,
                                struct tact_log_attachment *out, size_t attachment_count)
{
    for (uint32_t i = 0; i < count; i++) {
        int is_file_attached_to_log = !shapes[i].file_data;
        for (size_t k = 0; k < attachment_count && !is_file_attached_to_log; k++) {
            is_file_attached_to_log = !strcmp(out[k].name, shapes[i].file);
        }
        if (!is_file_attached_to_log) {
            out[attachment_count++] =
                (struct tact_log_attachment){shapes[i].file, "application/octet-stream",
                                             shapes[i].file_data, (size_t)shapes[i].file_size};
        }
    }
    return attachment_count;
}

/* Attaches the calibration file of a device once, also if two devices use it. */
static size_t attach_calibration_file(const struct tact_scene_device *device,
                                      struct tact_log_attachment *out, size_t attachment_count)
{
    bool is_file_attached_to_log = !device->calibration;
    for (size_t k = 0; k < attachment_count && !is_file_attached_to_log; k++) {
        is_file_attached_to_log = !strcmp(out[k].name, device->calibration);
    }
    if (!is_file_attached_to_log) {
        out[attachment_count++] =
            (struct tact_log_attachment){device->calibration, "application/yaml",
                                         device->calibration_text, device->calibration_size};
    }
    return attachment_count;
}

/* Attaches the hand files of the scene (MJCF, URDF and their meshes). */
static size_t attach_hand_files(const struct tact_scene_hand *hand, struct tact_log_attachment *out,
                                size_t attachment_count)
{
    for (uint32_t i = 0; i < hand->sources_count; i++) {
        const struct tact_scene_hand_source *file = &hand->sources[i];
        int is_file_attached_to_log = 0;
        for (size_t k = 0; k < attachment_count && !is_file_attached_to_log; k++) {
            is_file_attached_to_log = !strcmp(out[k].name, file->name);
        }
        if (!is_file_attached_to_log) {
            out[attachment_count++] = (struct tact_log_attachment){
                file->name, "application/octet-stream", file->data, (size_t)file->size};
        }
    }
    return attachment_count;
}

/* Collects the attachments: scene, devices, and every other file once. */
static size_t collect_attachments(const struct tact_session *s, const char *devices,
                                  struct tact_log_attachment *out)
{
    const struct tact_scene *scene = s->scene;
    out[0] = (struct tact_log_attachment){TACT_LOG_SCENE, "application/yaml", scene->text,
                                          (size_t)scene->text_size};
    out[1] = (struct tact_log_attachment){TACT_LOG_DEVICES, "application/json", devices,
                                          strlen(devices)};
    size_t attachment_count = 2;
    for (uint32_t i = 0; i < scene->devices_count; i++) {
        attachment_count = attach_calibration_file(&scene->devices[i], out, attachment_count);
    }
    for (uint32_t i = 0; i < scene->bodies_count; i++) {
        attachment_count = attach_mesh_files(scene->bodies[i].shapes, scene->bodies[i].shapes_count,
                                             out, attachment_count);
    }
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        for (uint32_t k = 0; k < scene->hands[i].links_count; k++) {
            const struct tact_scene_link *link = &scene->hands[i].links[k];
            attachment_count =
                attach_mesh_files(link->shapes, link->shapes_count, out, attachment_count);
        }
        attachment_count = attach_hand_files(&scene->hands[i], out, attachment_count);
    }
    return attachment_count;
}

/* Arrays for the log topics of a session, and those added by its caller. */
struct recorder_content_lists {
    struct tact_recorder_content content;
    struct tact_log_attachment *attachments;
    struct tact_log_fact *facts;
    struct tact_recorder_joint *joints;
    struct tact_recorder_body *bodies;
    struct tact_recorder_link *links;
    struct tact_recorder_contact *contacts;
    struct tact_recorder_sensor *sensors;
    struct tact_recorder_shape *shapes;
    char (*contact_names)[TACT_FIELD_NAME];
    char (*sensor_names)[2 * TACT_DEVICE_NAME];
};

static const struct tact_recorder_content empty_recorder_content;

/* The caller's entries come first; their offsets also count from the start of the record. */
#define RESERVE_RECORDER_LIST(list, count)                                                         \
    do {                                                                                           \
        if (also->count > 0) {                                                                     \
            memcpy(l->list, also->list, also->count * sizeof *l->list);                            \
        }                                                                                          \
        l->content.list = l->list;                                                                 \
        l->content.count = also->count;                                                            \
    } while (0)

static int allocate_content_lists(const struct tact_session *s, struct recorder_content_lists *l)
{
    const struct tact_recorder_content *also =
        s->options.also ? s->options.also : &empty_recorder_content;
    size_t shapes = (size_t)tact_world_shape_count(s->world), links = 0, files = 0;
    size_t bodies = (size_t)tact_world_body_count(s->world);
    for (uint32_t i = 0; i < s->scene->hands_count; i++) {
        links += s->scene->hands[i].links_count;
        files += s->scene->hands[i].sources_count;
    }
    l->attachments = calloc(2 + s->scene->devices_count + shapes + files + also->attachment_count,
                            sizeof *l->attachments);
    l->facts = calloc(20 + also->fact_count, sizeof *l->facts);
    l->joints = calloc(1 + links + also->joint_count, sizeof *l->joints);
    l->bodies = calloc(1 + bodies + also->body_count, sizeof *l->bodies);
    l->links = calloc(1 + links, sizeof *l->links);
    l->contacts = calloc(TACT_RECORDER_WRENCHES, sizeof *l->contacts);
    l->contact_names = calloc(TACT_RECORDER_WRENCHES, sizeof *l->contact_names);
    l->sensors = calloc(TACT_RECORDER_WRENCHES + also->sensor_count, sizeof *l->sensors);
    l->sensor_names = calloc(TACT_RECORDER_WRENCHES, sizeof *l->sensor_names);
    l->shapes = calloc(1 + shapes, sizeof *l->shapes);
    if (!l->attachments || !l->facts || !l->joints || !l->bodies || !l->links || !l->contacts ||
        !l->contact_names || !l->sensors || !l->sensor_names || !l->shapes) {
        return -ENOMEM;
    }
    RESERVE_RECORDER_LIST(facts, fact_count);
    RESERVE_RECORDER_LIST(joints, joint_count);
    RESERVE_RECORDER_LIST(bodies, body_count);
    RESERVE_RECORDER_LIST(sensors, sensor_count);
    l->content.attachments = l->attachments;
    l->content.links = l->links;
    l->content.contacts = l->contacts;
    l->content.shapes = l->shapes;
    return 0;
}

static void free_content_lists(struct recorder_content_lists *l)
{
    void *blocks[] = {l->attachments, l->facts,   l->joints,        l->bodies, l->links,
                      l->contacts,    l->sensors, l->contact_names, l->shapes, l->sensor_names};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        free(blocks[i]);
    }
}

static void list_recorder_shapes(const struct tact_scene_shape *shapes, uint32_t count,
                                 const char *frame, const struct tact_pose *fixed,
                                 struct recorder_content_lists *l)
{
    for (uint32_t i = 0; i < count; i++) {
        struct tact_recorder_shape *out = &l->shapes[l->content.shape_count++];
        struct tact_pose pose;
        memcpy(pose.position, shapes[i].position, sizeof pose.position);
        memcpy(pose.quat_wxyz, shapes[i].quat_wxyz, sizeof pose.quat_wxyz);
        *out = (struct tact_recorder_shape){frame, &shapes[i].shape, pose};
        if (fixed) {
            tact_pose_mul(&out->pose, fixed, &pose);
        }
    }
}

static struct tact_pose make_body_pose(const double position[3], const double quat_wxyz[4])
{
    struct tact_pose pose;
    memcpy(pose.position, position, sizeof pose.position);
    memcpy(pose.quat_wxyz, quat_wxyz, sizeof pose.quat_wxyz);
    return pose;
}

static void list_recorder_bodies(const struct tact_session *s, struct recorder_content_lists *l)
{
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        l->bodies[l->content.body_count++] =
            (struct tact_recorder_body){s->bodies[i].name, s->bodies[i].pose};
    }
    for (uint32_t i = 0; i < s->scene->bodies_count; i++) {
        const struct tact_scene_body *b = &s->scene->bodies[i];
        struct tact_pose pose = make_body_pose(b->position, b->quat_wxyz);
        list_recorder_shapes(b->shapes, b->shapes_count, b->fixed ? "world" : b->name,
                             b->fixed ? &pose : NULL, l);
    }
}

/* The frame of a link, for /tf; of a base that moves one for all six coordinates. */
static void list_recorder_link_and_joint(const struct tact_session *s, uint32_t index, uint32_t k,
                                         struct recorder_content_lists *l)
{
    const struct tact_scene_hand *hand = &s->scene->hands[index];
    const struct session_hand *h = &s->hands[index];
    const struct tact_scene_link *link = &hand->links[k];
    const struct tact_pose base = make_body_pose(hand->position, hand->quat_wxyz),
                           pose = make_body_pose(link->joint.position, link->joint.quat_wxyz);
    const bool is_base_coordinate = k < (uint32_t)h->base_coordinate_count,
               fixed = !link->parent && !h->base_coordinate_count;
    struct tact_pose world;
    struct tact_recorder_link *out = &l->links[l->content.link_count++];
    *out = (struct tact_recorder_link){
        .name = tact_session_link_name(s, (int)index, (int)k),
        .parent = fixed || is_base_coordinate ? "world" : h->base_name,
        .slides = is_base_coordinate ? TACT_RECORDER_BASE : !strcmp(link->joint.type, "slide"),
        .position = is_base_coordinate ? h->q : h->q + k};
    for (uint32_t p = 0; link->parent && p < k; p++) {
        if (!strcmp(hand->links[p].name, link->parent)) {
            out->parent = h->joint_names[p];
        }
    }
    tact_pose_mul(&world, &base, &pose);
    memcpy(out->pose, is_base_coordinate ? &base : fixed ? &world : &pose, sizeof out->pose);
    memcpy(out->axis, link->joint.axis, sizeof out->axis);
}

static void list_recorder_hand(const struct tact_session *s, uint32_t index,
                               struct recorder_content_lists *l)
{
    const struct tact_scene_hand *hand = &s->scene->hands[index];
    const struct session_hand *h = &s->hands[index];
    for (uint32_t k = 0; k < hand->links_count; k++) {
        if (k + 1 >= (uint32_t)h->base_coordinate_count) {
            list_recorder_link_and_joint(s, index, k, l);
            list_recorder_shapes(hand->links[k].shapes, hand->links[k].shapes_count,
                                 tact_session_link_name(s, (int)index, (int)k), NULL, l);
        }
        l->joints[l->content.joint_count++] =
            (struct tact_recorder_joint){h->joint_names[k], h->q + k, h->v + k, h->torque + k};
    }
}

/* Names of topics are unique, as those of fields, and only contain characters that are allowed in a
 * topic. at: offset of the pair's fields. */
static int list_recorder_contact(struct tact_session *s, int pair, uint32_t at,
                                 struct tact_layout *topics, struct recorder_content_lists *l)
{
    char name[PAIR_NAME_BYTES];
    size_t i = l->content.contact_count;
    int a, b;
    tact_world_pair_shapes(s->world, pair, &a, &b);
    tact_session_name_pair(s, pair, name);
    if (tact_layout_add(topics, TACT_FIELD_OUTPUT, name, "", 1) < 0) {
        return -ENOMEM;
    }
    memcpy(l->contact_names[i], topics->fields[i].name, sizeof l->contact_names[i]);
    l->contacts[i] = (struct tact_recorder_contact){l->contact_names[i],
                                                    (uint32_t)a,
                                                    (uint32_t)b,
                                                    at + CONTACT_WRENCH_OFFSET,
                                                    at + CONTACT_PATCH_OFFSET,
                                                    at + CONTACT_LIMITS_OFFSET};
    l->content.contact_count++;
    return 0;
}

/* In a replay contacts have fields of their own in the record, otherwise an element of its list. */
static int list_recorder_contacts(struct tact_session *s, struct recorder_content_lists *l)
{
    struct tact_layout topics = {0};
    int rc = 0;
    if (s->recorded_pairs) {
        for (int i = 0; i < s->recorded_pair_count && i < TACT_RECORDER_WRENCHES && !rc; i++) {
            int pair = s->recorded_pairs[i];
            rc = list_recorder_contact(
                s, pair, tact_session_find_known_pair(s, pair)->record_offset_plus_one - 1, &topics,
                l);
        }
    } else {
        int pair = tact_world_next_pair(s->world, -1);
        for (int i = 0; pair >= 0 && i < TACT_RECORDER_WRENCHES && !rc; i++) {
            rc = list_recorder_contact(s, pair, 0, &topics, l);
            pair = tact_world_next_pair(s->world, pair);
        }
    }
    tact_layout_free(&topics);
    return rc;
}

/* Lists the measured wrenches of force-torque sensors, named by device and sensor: "board_wrist".
 */
static void list_recorder_sensors(const struct tact_session *s, struct recorder_content_lists *l)
{
    for (int i = 0, n = 0; i < s->device_count; i++) {
        const struct session_device *d = &s->devices[i];
        for (int k = 0; k < d->device.info.wrench_count; k++, n++) {
            const struct tact_device_wrench *w = &d->device.info.wrench[k];
            if (l->content.sensor_count == TACT_RECORDER_WRENCHES) {
                return;
            }
            snprintf(l->sensor_names[n], sizeof *l->sensor_names, "%s%.36s_%s",
                     isdigit((unsigned char)s->scene->devices[i].name[0]) ? "n_" : "",
                     s->scene->devices[i].name, w->name);
            for (char *c = strchr(l->sensor_names[n], '-'); c; c = strchr(c, '-')) {
                *c = '_';
            }
            l->sensors[l->content.sensor_count++] = (struct tact_recorder_sensor){
                l->sensor_names[n], w->frame, d->field + 2 + (uint32_t)w->channel};
        }
    }
}

static void add_recorder_facts(struct recorder_content_lists *l, const struct tact_log_fact *facts,
                               size_t count)
{
    memcpy(l->facts + l->content.fact_count, facts, count * sizeof *facts);
    l->content.fact_count += count;
}

/* Fills all content of the log except attachments and facts. */
static int fill_content_lists(struct tact_session *s, struct recorder_content_lists *l)
{
    l->content.layout = &s->layout;
    list_recorder_bodies(s, l);
    for (uint32_t i = 0; i < s->scene->hands_count; i++) {
        list_recorder_hand(s, i, l);
    }
    int rc = list_recorder_contacts(s, l);
    if (rc) {
        return rc;
    }
    list_recorder_sensors(s, l);
    l->content.owners = s->shape_owner_names;
    l->content.owner_count = (size_t)tact_world_shape_count(s->world);
    return 0;
}

static int open_session_log(struct tact_session *s, struct recorder_content_lists *l,
                            const char *devices, struct tact_error *err)
{
    struct tact_recorder_options options = tact_recorder_options_default();
    const struct tact_recorder_content *also =
        s->options.also ? s->options.also : &empty_recorder_content;
    const struct tact_scene_recorder *split = &s->scene->recorder;
    double seconds =
        s->options.split_seconds > 0.0 ? s->options.split_seconds : split->split_seconds;
    options.loop_cpu =
        s->options.clock == TACT_LOOP_REAL ? tact_realtime_processor(s->scene->realtime.cpu) : -1;
    options.wall_anchor_ns = s->wall_anchor_ns;
    options.split_ns = (int64_t)(seconds * 1e9);
    options.split_bytes =
        s->options.split_bytes ? s->options.split_bytes : (uint64_t)split->split_bytes;
    l->content.attachment_count = collect_attachments(s, devices, l->attachments);
    for (size_t i = 0; i < also->attachment_count; i++) {
        l->attachments[l->content.attachment_count++] = also->attachments[i];
    }
    int rc = fill_content_lists(s, l);
    if (rc) {
        return rc;
    }
    options.replace = s->options.replace;
    rc = tact_session_open_logged_pressure(s, &options);
    if (rc) {
        return rc;
    }
    rc = tact_recorder_open(s->options.record, &options, &l->content, s->options.messages,
                            &s->recorder, err);
    s->log_path = rc ? NULL : strdup(tact_recorder_path(s->recorder));
    return rc || s->log_path ? rc : -ENOMEM;
}

int tact_session_open_log(struct tact_session *s, struct tact_error *err)
{
    if (!s->options.record) {
        return 0;
    }
    struct tact_facts f;
    struct recorder_content_lists l = {0};
    char period[32], ticks[32], results[32];
    tact_facts_gather(&f);
    tact_number_print(period, sizeof period, "%.17g", s->period);
    snprintf(ticks, sizeof ticks, "%llu", (unsigned long long)s->ticks);
    snprintf(results, sizeof results, "%d", tact_results_version());
    const struct tact_log_fact facts[] = {
        {"results_version", results},
        {"build", f.build},
        {"build_id", f.build_id},
        {"machine", f.machine},
        {"cpu", f.cpu},
        {"libc", f.libc},
        {"sleef", f.sleef},
        {"lapack", f.lapack},
        {"blas", f.blas},
        {"kernel", f.kernel},
        {"period_s", period},
        {"ticks", ticks},
        {"moments", s->report.source},
        {"scene", s->scene->path ? s->scene->path : ""},
        {"realtime", s->options.clock == TACT_LOOP_REAL ? "real" : "free-wheeling"}};
    char *devices = devices_json(s);
    int rc = devices ? allocate_content_lists(s, &l) : -ENOMEM;
    if (!rc) {
        add_recorder_facts(&l, facts, sizeof facts / sizeof *facts);
        rc = open_session_log(s, &l, devices, err);
    }
    free(devices);
    free_content_lists(&l);
    return rc;
}

int tact_session_topics(struct tact_session *s, struct tact_topics **out, struct tact_error *err)
{
    struct recorder_content_lists l = {0};
    int rc = allocate_content_lists(s, &l);
    rc = rc ? rc : fill_content_lists(s, &l);
    rc = rc ? tact_error_set(err, rc, "out of memory")
            : tact_topics_create(&l.content, s->wall_anchor_ns, out, err);
    free_content_lists(&l);
    return rc;
}
