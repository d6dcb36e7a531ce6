/* Names of the columns of an export: joints, channels of devices, outputs. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contact/number.h"
#include "export.h"

/* Elements from `offset` on; the field must be in the log. */
static void set_name_of_exported_element(struct export_names *n, uint32_t offset, const char *name)
{
    if (offset < n->count) {
        n->element_name[offset] = name;
    }
}

static void set_names_of_exported_joints(struct export_names *n)
{
    for (int i = 0; i < n->scene_log.joint_count; i++) {
        const struct tact_scene_log_joint *j = &n->scene_log.joints[i];
        const char *link = strchr(j->name, '.');
        const uint32_t at[] = {j->position, j->velocity, j->target,
                               j->torque,   j->reaction, j->stop};
        for (size_t k = 0; k < (j->resists ? 6 : 4); k++) {
            set_name_of_exported_element(n, at[k], link ? link + 1 : j->name);
        }
    }
}

static void set_names_of_exported_channels(struct export_names *n)
{
    for (int i = 0; i < n->scene_log.device_count; i++) {
        const struct tact_device_info *device = &n->scene_log.devices[i];
        uint32_t at = n->scene_log.device_inputs[i];
        set_name_of_exported_element(n, at, "state");
        set_name_of_exported_element(n, at + 1, "stamp_ns");
        for (int k = 0; k < device->input_count; k++) {
            set_name_of_exported_element(n, at + 2 + (uint32_t)k, device->input[k].name);
        }
    }
    for (uint32_t k = 0; k < n->scene_log.scene->outputs_count; k++) {
        set_name_of_exported_element(n, n->scene_log.wanted + k, n->scene_log.scene->outputs[k].to);
        set_name_of_exported_element(n, n->scene_log.sent + k, n->scene_log.scene->outputs[k].to);
    }
}

/* Whether all elements of a field have names, no two of which are the same. */
static int are_element_names_distinct(const struct export_names *n, const struct tact_field *f)
{
    for (uint32_t k = 0; k < f->count; k++) {
        const char *name = n->element_name[f->offset + k];
        for (uint32_t j = 0; name && j < k; j++) {
            name = strcmp(name, n->element_name[f->offset + j]) ? name : NULL;
        }
        if (!name) {
            return 0;
        }
    }
    return 1;
}

int export_names_read_log(struct export_names *n, struct tact_log *log)
{
    const struct tact_layout *layout = tact_log_layout(log);
    struct tact_messages messages = {command_print_message, NULL};
    struct tact_error err = {.line = 0};
    const char *period = tact_log_fact(log, "period_s");
    memset(n, 0, sizeof *n);
    n->count = layout->size;
    n->time = tact_log_field(log, "time", NULL) < 0 ? "time" : "time_of_tick";
    n->element_name = calloc((size_t)layout->size + 1, sizeof *n->element_name);
    if (!n->element_name) {
        return -ENOMEM;
    }
    n->period = period ? tact_number_read(period, NULL) : NAN;
    if (!(n->period > 0.0)) {
        tact_message(
            messages, TACT_MESSAGE_WARNING,
            "the log does not state the period of its loop: times in seconds are written as NaN");
        n->period = NAN;
    }
    if (tact_scene_log_open(log, messages, &n->scene_log, &err)) {
        tact_message(messages, TACT_MESSAGE_WARNING,
                     "%s: joints and channels are written with numbers instead of names", err.text);
        return 0;
    }
    set_names_of_exported_joints(n);
    set_names_of_exported_channels(n);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        if (!are_element_names_distinct(n, f)) {
            memset(n->element_name + f->offset, 0, f->count * sizeof *n->element_name);
        }
    }
    return 0;
}

void export_names_close(struct export_names *n)
{
    tact_scene_log_close(&n->scene_log);
    free(n->element_name);
}
