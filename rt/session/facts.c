/* What a log holds beside its records: the scene, its meshes, the devices, and where it was made.
 */
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "rt/session/facts.h"
#include "rt/session/session_internal.h"

static void cpu_model(char *out, size_t size)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
    snprintf(out, size, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon) {
            colon[strcspn(colon, "\n")] = 0;
            snprintf(out, size, "%s", colon + 2);
            break;
        }
    }
    if (f) {
        fclose(f);
    }
}

/* The file that a symbol of this process comes from, links resolved. */
static void library_of(const char *symbol, char *out, size_t size)
{
    Dl_info info;
    char real[4096];
    void *at = dlsym(RTLD_DEFAULT, symbol);
    snprintf(out, size, "unknown");
    if (at && dladdr(at, &info) && info.dli_fname) {
        const char *path = realpath(info.dli_fname, real);
        snprintf(out, size, "%s", path ? path : info.dli_fname);
    }
}

void tact_facts_gather(struct tact_facts *f)
{
    struct utsname os;
    memset(f, 0, sizeof *f);
    cpu_model(f->cpu, sizeof f->cpu);
    snprintf(f->libc, sizeof f->libc, "glibc %s", gnu_get_libc_version());
    if (!uname(&os)) {
        snprintf(f->kernel, sizeof f->kernel, "%s %s", os.release, os.version);
    }
    library_of("dpotrf_", f->lapack, sizeof f->lapack);
    library_of("sin", f->libm, sizeof f->libm);
    snprintf(f->build, sizeof f->build, "tact %s, %s %s", TACT_VERSION,
#ifdef __clang__
             "clang",
#else
             "gcc",
#endif
             __VERSION__);
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

/* The devices' descriptions, so that a replay needs none of them. Freed with free(). */
static char *devices_json(const struct tact_session *s)
{
    json_t *list = json_array();
    for (int i = 0; i < s->device_count; i++) {
        const struct tact_device_info *info = &s->devices[i].device.info;
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:o}", "name", info->name, "type", info->type,
                            "inputs", channels_json(info->input, info->input_count), "outputs",
                            channels_json(info->output, info->output_count)));
    }
    char *text = json_dumps(list, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(list);
    return text;
}

static size_t attach_meshes(const struct tact_scene_shape *shapes, uint32_t count,
                            struct tact_log_attachment *out, size_t used)
{
    for (uint32_t i = 0; i < count; i++) {
        int known = !shapes[i].file_data;
        for (size_t k = 0; k < used && !known; k++) {
            known = !strcmp(out[k].name, shapes[i].file);
        }
        if (!known) {
            out[used++] =
                (struct tact_log_attachment){shapes[i].file, "application/octet-stream",
                                             shapes[i].file_data, (size_t)shapes[i].file_size};
        }
    }
    return used;
}

/* Scene, devices, and every mesh file once; there is room for one a shape. */
static size_t attach(const struct tact_session *s, const char *devices,
                     struct tact_log_attachment *out)
{
    const struct tact_scene *scene = s->scene;
    out[0] = (struct tact_log_attachment){TACT_LOG_SCENE, "application/yaml", scene->text,
                                          (size_t)scene->text_size};
    out[1] = (struct tact_log_attachment){TACT_LOG_DEVICES, "application/json", devices,
                                          strlen(devices)};
    size_t used = 2;
    for (uint32_t i = 0; i < scene->bodies_count; i++) {
        used = attach_meshes(scene->bodies[i].shapes, scene->bodies[i].shapes_count, out, used);
    }
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        for (uint32_t k = 0; k < scene->hands[i].links_count; k++) {
            const struct tact_scene_link *link = &scene->hands[i].links[k];
            used = attach_meshes(link->shapes, link->shapes_count, out, used);
        }
    }
    return used;
}

static size_t list_joints(const struct tact_session *s, struct tact_recorder_joint *out)
{
    size_t used = 0;
    for (uint32_t i = 0; i < s->scene->hands_count; i++) {
        const struct session_hand *h = &s->hands[i];
        for (uint32_t k = 0; k < s->scene->hands[i].links_count; k++) {
            out[used++] =
                (struct tact_recorder_joint){h->names[k], h->q + k, h->v + k, h->torque + k};
        }
    }
    return used;
}

static int open_recorder(struct tact_session *s, struct tact_recorder_content *content,
                         struct tact_recorder_joint *joints, struct tact_recorder_body *bodies,
                         struct tact_error *err)
{
    struct tact_recorder_options options = tact_recorder_options_default();
    content->joints = joints;
    content->joint_count = list_joints(s, joints);
    content->bodies = bodies;
    content->body_count = (size_t)tact_world_body_count(s->world);
    for (size_t i = 0; i < content->body_count; i++) {
        bodies[i] = (struct tact_recorder_body){s->bodies[i].name, s->bodies[i].pose};
    }
    return tact_recorder_open(s->options.record, &options, content, s->options.messages,
                              &s->recorder, err);
}

int tact_session_open_log(struct tact_session *s, struct tact_error *err)
{
    if (!s->options.record) {
        return 0;
    }
    struct tact_facts f;
    char period[32], ticks[32];
    tact_facts_gather(&f);
    snprintf(period, sizeof period, "%.17g", s->period);
    snprintf(ticks, sizeof ticks, "%llu", (unsigned long long)s->ticks);
    const struct tact_log_fact facts[] = {
        {"build", f.build},
        {"cpu", f.cpu},
        {"libc", f.libc},
        {"libm", f.libm},
        {"lapack", f.lapack},
        {"kernel", f.kernel},
        {"period_s", period},
        {"ticks", ticks},
        {"moments", s->report.source},
        {"scene", s->scene->path ? s->scene->path : ""},
        {"realtime", s->options.clock == TACT_LOOP_REAL ? "real" : "free-wheeling"}};
    size_t joint_room = 1;
    for (uint32_t i = 0; i < s->scene->hands_count; i++) {
        joint_room += s->scene->hands[i].links_count;
    }
    char *devices = devices_json(s);
    struct tact_log_attachment *attachments =
        calloc(2 + (size_t)tact_world_shape_count(s->world), sizeof *attachments);
    struct tact_recorder_joint *joints = calloc(joint_room, sizeof *joints);
    struct tact_recorder_body *bodies =
        calloc((size_t)tact_world_body_count(s->world) + 1, sizeof *bodies);
    int rc = -ENOMEM;
    if (devices && attachments && joints && bodies) {
        struct tact_recorder_content content = {.layout = &s->layout,
                                                .attachments = attachments,
                                                .attachment_count = attach(s, devices, attachments),
                                                .facts = facts,
                                                .fact_count = sizeof facts / sizeof *facts};
        rc = open_recorder(s, &content, joints, bodies, err);
    }
    free(devices);
    free(attachments);
    free(joints);
    free(bodies);
    return rc;
}
