#include "rt/session/scene_log.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/session/admittance_internal.h"
#include "rt/session/facts.h"
#include "rt/session/hold_internal.h"
#include "rt/session/remote_internal.h"
#include "rt/session/session_internal.h"

static int find_log_attachment(void *user, const char *name, const void **data, uint64_t *size)
{
    const struct tact_log_attachment *a = tact_log_attachment(user, name);
    if (!a) {
        return -ENOENT;
    }
    *data = a->data;
    *size = a->size;
    return 0;
}

static int parse_device_channels(json_t *list, struct tact_device_channel *out)
{
    int count = (int)json_array_size(list);
    if (count > TACT_DEVICE_CHANNELS) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        const char *name, *unit;
        if (json_unpack(json_array_get(list, (size_t)i), "{s:s, s:s, s:F}", "name", &name, "unit",
                        &unit, "rest", &out[i].rest)) {
            return -1;
        }
        snprintf(out[i].name, sizeof out[i].name, "%s", name);
        snprintf(out[i].unit, sizeof out[i].unit, "%s", unit);
    }
    return count;
}

/* list: description of the wrench sensors; NULL in logs of earlier versions. */
static int parse_wrench_sensors(json_t *list, struct tact_device_info *info)
{
    if (json_array_size(list) > TACT_DEVICE_WRENCHES) {
        return -EINVAL;
    }
    for (; info->wrench_count < (int)json_array_size(list); info->wrench_count++) {
        struct tact_device_wrench *w = &info->wrench[info->wrench_count];
        const char *name, *frame;
        if (json_unpack(json_array_get(list, (size_t)info->wrench_count), "{s:s, s:s, s:i}", "name",
                        &name, "frame", &frame, "channel", &w->channel) ||
            w->channel < 0 || w->channel > info->input_count - 6) {
            return -EINVAL;
        }
        snprintf(w->name, sizeof w->name, "%s", name);
        snprintf(w->frame, sizeof w->frame, "%s", frame);
    }
    return 0;
}

/* Logs of earlier versions have no outputs that take positions. */
static int parse_position_outputs(json_t *outputs, struct tact_device_info *info)
{
    for (int i = 0; i < info->output_count; i++) {
        json_t *name = json_object_get(json_array_get(outputs, (size_t)i), "measured_by");
        for (int k = 0; k < info->input_count && json_is_string(name); k++) {
            if (!strcmp(info->input[k].name, json_string_value(name))) {
                info->output[i].raw = 1 + k;
            }
        }
        if (name && !info->output[i].raw) {
            return -EINVAL;
        }
    }
    return 0;
}

static int parse_logged_device(json_t *item, struct tact_device_info *info)
{
    const char *name, *type;
    json_t *inputs, *outputs;
    if (json_unpack(item, "{s:s, s:s, s:o, s:o}", "name", &name, "type", &type, "inputs", &inputs,
                    "outputs", &outputs)) {
        return -EINVAL;
    }
    snprintf(info->name, sizeof info->name, "%s", name);
    snprintf(info->type, sizeof info->type, "%s", type);
    info->input_count = parse_device_channels(inputs, info->input);
    info->output_count = parse_device_channels(outputs, info->output);
    return info->input_count < 0 || info->output_count < 0 || parse_position_outputs(outputs, info)
               ? -EINVAL
               : parse_wrench_sensors(json_object_get(item, "wrenches"), info);
}

static int load_logged_devices(const struct tact_log *log, struct tact_scene_log *view,
                               struct tact_error *err)
{
    const struct tact_log_attachment *a = tact_log_attachment(log, TACT_LOG_DEVICES);
    json_error_t why;
    json_t *list = a ? json_loadb(a->data, a->size, 0, &why) : NULL;
    int count = (int)json_array_size(list);
    view->devices = calloc((size_t)count + 1, sizeof *view->devices);
    view->device_count = view->devices ? count : 0;
    int rc = !list ? -EINVAL : (!view->devices ? -ENOMEM : 0);
    for (int i = 0; !rc && i < count; i++) {
        rc = parse_logged_device(json_array_get(list, (size_t)i), &view->devices[i]);
    }
    json_decref(list);
    return rc ? tact_error_set(err, rc, "the log's attachment %s cannot be read", TACT_LOG_DEVICES)
              : 0;
}

static int parse_logged_scene(const struct tact_log *log, struct tact_scene **out,
                              struct tact_error *err)
{
    const struct tact_log_attachment *text = tact_log_attachment(log, TACT_LOG_SCENE);
    struct tact_scene_files files = {find_log_attachment, (void *)log};
    struct tact_error discarded_error = {.line = 0};
    err = err ? err : &discarded_error;
    const struct tact_error before = *err; /* names the log */
    const char *name = tact_log_fact(log, "scene");
    if (!text) {
        tact_error_set(err, -EINVAL, "the log contains no attachment %s", TACT_LOG_SCENE);
        return -EINVAL;
    }
    int rc =
        tact_scene_parse(text->data, text->size, name ? name : TACT_LOG_SCENE, &files, out, err);
    if (!rc) {
        *err = before; /* errors found after this point are not in the scene */
    }
    return rc;
}

static void list_logged_pairs(struct tact_scene_log *view)
{
    struct tact_session *s = view->session;
    for (; view->pair_count < s->recorded_pair_count; view->pair_count++) {
        int pair = s->recorded_pairs[view->pair_count];
        uint32_t at = tact_session_find_known_pair(s, pair)->record_offset_plus_one - 1;
        view->pairs[view->pair_count] = (struct tact_scene_log_pair){
            .name = tact_session_pair_name(s, pair),
            .pair = pair,
            .friction = tact_world_law(s->world, pair)->friction,
            .model = tact_world_model(s->world, pair)->name,
            .status = at + CONTACT_STATUS_OFFSET,
            .moments = at + CONTACT_MOMENTS_OFFSET,
            .wrench = at + CONTACT_WRENCH_OFFSET,
            .patch = at + CONTACT_PATCH_OFFSET,
            .impulse = at + CONTACT_WARM_START_OFFSET,
            .direction = at + CONTACT_LAST_NORMAL_OFFSET,
            .limits = at + CONTACT_LIMITS_OFFSET,
            .margins = at + CONTACT_MARGINS_OFFSET,
        };
    }
}

static void list_logged_joints(struct tact_scene_log *view)
{
    const struct tact_session *s = view->session;
    for (uint32_t i = 0; i < s->scene->hands_count; i++) {
        const struct session_hand *h = &s->hands[i];
        for (uint32_t k = 0; k < s->scene->hands[i].links_count; k++) {
            view->joints[view->joint_count++] = (struct tact_scene_log_joint){
                .name = h->joint_names[k],
                .slides = !strcmp(s->scene->hands[i].links[k].joint.type, "slide"),
                .position = h->q + k,
                .velocity = h->v + k,
                .target = h->target + k,
                .torque = h->torque + k,
                .resists = tact_session_joint_has_stops(&s->scene->hands[i], k),
                .reaction = h->reaction + k,
                .stop = h->stop + k,
            };
        }
    }
}

static void list_logged_constraints(struct tact_scene_log *view)
{
    const struct tact_session *s = view->session;
    for (; view->constraint_count < tact_world_constraint_count(s->world);
         view->constraint_count++) {
        const struct session_constraint *b = &s->constraints[view->constraint_count];
        view->constraints[view->constraint_count] = (struct tact_scene_log_constraint){
            s->scene->joints[view->constraint_count].name, b->wrench, b->joint};
    }
}

static void list_logged_ports(struct tact_scene_log *view)
{
    const struct tact_session *s = view->session;
    for (int i = 0; i < s->coupling_count; i += tact_session_coupling_group_size(s, i)) {
        const uint32_t field = s->couplings[i].field;
        view->ports[view->port_count++] = (struct tact_scene_log_port){
            .name = tact_session_coupling_group_name(s, i),
            .components = tact_session_coupling_group_size(s, i),
            .stride = sizeof(struct session_coupling_state) / sizeof(double),
            .target = field,
            .engaged = field + COUPLING_STATE_OFFSET(ticks),
            .force = field + COUPLING_STATE_OFFSET(force),
            .energy = field + COUPLING_STATE_OFFSET(energy),
            .least_energy = field + COUPLING_STATE_OFFSET(least_energy),
            .limited = field + COUPLING_STATE_OFFSET(limited)};
    }
    for (int i = 0; i < s->admittance_count && s->admittances[i].field; i++) {
        const struct session_admittance *a = &s->admittances[i];
        view->ports[view->port_count++] = (struct tact_scene_log_port){
            .name = s->hands[a->hand].joint_names[a->link],
            .components = 1,
            .is_admittance = 1,
            .engaged = a->field + ADMITTANCE_STATE_OFFSET(ticks_up_to_last_valid_input),
            .force = a->field + ADMITTANCE_STATE_OFFSET(force),
            .energy = a->field + ADMITTANCE_STATE_OFFSET(energy),
            .least_energy = a->field + ADMITTANCE_STATE_OFFSET(least_energy),
            .rate = a->field + ADMITTANCE_STATE_OFFSET(rate),
            .held = a->field + ADMITTANCE_STATE_OFFSET(held),
            .missing = a->field + ADMITTANCE_STATE_OFFSET(missing)};
    }
    for (int i = 0; i < s->drive_port_count; i++) {
        const struct session_drive_port *p = &s->drive_ports[i];
        view->ports[view->port_count++] = (struct tact_scene_log_port){
            .name = p->name,
            .components = 1,
            .engaged = p->field + DRIVE_PORT_STATE_OFFSET(ticks),
            .force = p->field + DRIVE_PORT_STATE_OFFSET(force),
            .energy = p->field + DRIVE_PORT_STATE_OFFSET(energy),
            .least_energy = p->field + DRIVE_PORT_STATE_OFFSET(least_energy)};
    }
}

static void list_logged_holds(struct tact_scene_log *view)
{
    const struct tact_session *s = view->session;
    for (int i = 0; i < s->hold_count && s->holds[i].field; i++) {
        view->holds[view->hold_count++] =
            (struct tact_scene_log_hold){s->bodies[s->holds[i].body].name,
                                         s->scene->hands[s->holds[i].hand].name, s->holds[i].field};
    }
}

static int list_logged_objects(struct tact_scene_log *view)
{
    const struct tact_session *s = view->session;
    size_t joints = 1;
    for (uint32_t i = 0; i < s->scene->hands_count; i++) {
        joints += s->scene->hands[i].links_count;
    }
    view->pairs = calloc((size_t)s->recorded_pair_count + 1, sizeof *view->pairs);
    view->joints = calloc(joints, sizeof *view->joints);
    view->constraints =
        calloc((size_t)tact_world_constraint_count(s->world) + 1, sizeof *view->constraints);
    view->ports = calloc((size_t)tact_session_port_count(s) + 1, sizeof *view->ports);
    view->holds = calloc((size_t)s->hold_count + 1, sizeof *view->holds);
    view->bodies = calloc((size_t)tact_world_body_count(s->world) + 1, sizeof *view->bodies);
    view->device_inputs = calloc((size_t)s->device_count + 1, sizeof *view->device_inputs);
    if (!view->pairs || !view->joints || !view->constraints || !view->ports || !view->holds ||
        !view->bodies || !view->device_inputs) {
        return -ENOMEM;
    }
    list_logged_pairs(view);
    list_logged_joints(view);
    list_logged_constraints(view);
    list_logged_ports(view);
    list_logged_holds(view);
    for (; view->body_count < tact_world_body_count(s->world); view->body_count++) {
        const struct session_body *b = &s->bodies[view->body_count];
        view->bodies[view->body_count] =
            (struct tact_scene_log_body){b->name, b->center, b->twist, b->pose};
    }
    for (int i = 0; i < s->device_count; i++) {
        view->device_inputs[i] = s->devices[i].field;
    }
    view->wanted = s->requested_outputs_field;
    view->sent = s->sent_outputs_field;
    view->output_count = s->output_count;
    view->safety = s->safety_field;
    view->solver = s->solver_field;
    view->counts = s->solver_counts_field;
    view->methods = s->methods_field;
    view->timing = s->tick_timing_field;
    return 0;
}

static int replace_folder_of_logged_scene(struct tact_scene *scene, const char *local)
{
    char *copy_of_local_contact_method = local ? strdup(local) : NULL;
    if (copy_of_local_contact_method) {
        free(scene->contact.local);
        scene->contact.local = copy_of_local_contact_method;
    }
    return local && !copy_of_local_contact_method ? -ENOMEM : 0;
}

int tact_scene_log_open(const struct tact_log *log, struct tact_messages messages,
                        struct tact_scene_log *out, struct tact_error *err)
{
    return tact_scene_log_open_with(log, NULL, messages, out, err);
}

int tact_scene_log_open_with(const struct tact_log *log, const char *local,
                             struct tact_messages messages, struct tact_scene_log *out,
                             struct tact_error *err)
{
    struct tact_session_options options = tact_session_options_default();
    memset(out, 0, sizeof *out);
    options.clock = TACT_LOOP_FREE;
    options.messages = messages;
    int rc = parse_logged_scene(log, &out->scene, err);
    rc = rc ? rc : replace_folder_of_logged_scene(out->scene, local);
    rc = rc ? rc : load_logged_devices(log, out, err);
    rc = rc ? rc
            : tact_session_create_unstarted(out->scene, &options, out->devices, out->device_count,
                                            log, &out->session, err);
    if (!rc && !tact_layout_equal(&out->session->layout, tact_log_layout(log))) {
        rc = tact_error_set(err, -EINVAL,
                            "the ticks in the log have another layout than this version of tact "
                            "derives from the log's scene");
    }
    rc = rc ? rc : list_logged_objects(out);
    if (rc && err && !err->text[0]) {
        tact_error_set(err, rc, "cannot create a session from the scene in the log: %s",
                       strerror(-rc));
    }
    return rc;
}

void tact_scene_log_step(struct tact_scene_log *view, const struct tact_record *before,
                         const struct tact_record *now)
{
    struct tact_session *s = view->session;
    tact_session_restore_state(s, before);
    s->replayed_input_record = now;
    tact_session_tick(s, now->tick, now->stamp_ns, now->stamp_ns);
    s->replayed_input_record = NULL;
}

int tact_scene_log_remote(const struct tact_scene_log *view, uint32_t index,
                          struct tact_scene_log_remote *out)
{
    const struct tact_session *s = view->session;
    if (!s || index >= s->scene->remotes_count) {
        return -ERANGE;
    }
    const struct session_remote *r = &s->remotes[index];
    const struct tact_scene_link *link = &s->scene->hands[r->hand].links[r->link];
    *out = (struct tact_scene_log_remote){
        .name = s->hands[r->hand].joint_names[r->link],
        .slides = !strcmp(link->joint.type, "slide"),
        .device = r->device,
        .line_end = r->field + REMOTE_STATE_OFFSET(target),
        .force = r->field + REMOTE_STATE_OFFSET(force),
        .used_wave = r->field + REMOTE_STATE_OFFSET(used_wave),
        .sent_wave = r->field + REMOTE_STATE_OFFSET(sent_wave),
        .engaged = r->field + REMOTE_STATE_OFFSET(ticks),
        .tank = r->field + REMOTE_STATE_OFFSET(remaining_tank_energy),
        .work = r->field + REMOTE_STATE_OFFSET(work),
    };
    return 0;
}

void tact_scene_log_close(struct tact_scene_log *view)
{
    tact_session_destroy(view->session);
    tact_scene_free(view->scene);
    free(view->devices);
    free(view->pairs);
    free(view->joints);
    free(view->constraints);
    free(view->ports);
    free(view->holds);
    free(view->bodies);
    free(view->device_inputs);
    memset(view, 0, sizeof *view);
}
