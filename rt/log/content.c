#include "content_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int copy_field_layout(struct tact_layout *to, const struct tact_layout *from)
{
    int rc = tact_layout_add_fields(to, from);
    if (rc == 0 && from->element) {
        rc = tact_layout_add_list(to, from->most);
    }
    return rc == 0 && from->element ? tact_layout_add_fields(to->element, from->element) : rc;
}

static char *copy_text_or_null(const char *text)
{
    return text ? strdup(text) : NULL;
}

static int copy_log_attachments(struct tact_owned_recorder_content *to,
                                const struct tact_recorder_content *from)
{
    to->attachments = calloc(from->attachment_count + 1, sizeof *to->attachments);
    for (; to->attachments && to->attachment_count < from->attachment_count;
         to->attachment_count++) {
        const struct tact_log_attachment *a = &from->attachments[to->attachment_count];
        void *data = malloc(a->size + 1);
        if (data && a->size > 0) {
            memcpy(data, a->data, a->size);
        }
        to->attachments[to->attachment_count] = (struct tact_log_attachment){
            copy_text_or_null(a->name), copy_text_or_null(a->media_type), data, a->size};
        if (!data || !to->attachments[to->attachment_count].name ||
            (a->media_type && !to->attachments[to->attachment_count].media_type)) {
            to->attachment_count++;
            return -ENOMEM;
        }
    }
    return to->attachments ? 0 : -ENOMEM;
}

static int copy_log_facts(struct tact_owned_recorder_content *to,
                          const struct tact_recorder_content *from, const char *session)
{
    to->facts = calloc(from->fact_count + 1, sizeof *to->facts);
    for (; to->facts && to->fact_count < from->fact_count + 1; to->fact_count++) {
        bool is_fact_that_identifies_session = to->fact_count == from->fact_count;
        to->facts[to->fact_count] = (struct tact_log_fact){
            copy_text_or_null(is_fact_that_identifies_session ? "session"
                                                              : from->facts[to->fact_count].key),
            copy_text_or_null(is_fact_that_identifies_session ? session
                                                              : from->facts[to->fact_count].value)};
        if (!to->facts[to->fact_count].key || !to->facts[to->fact_count].value) {
            to->fact_count++;
            return -ENOMEM;
        }
    }
    return to->facts ? 0 : -ENOMEM;
}

int tact_recorder_content_copy(struct tact_owned_recorder_content *to,
                               const struct tact_recorder_content *from, const char *session)
{
    int rc = copy_field_layout(&to->layout, from->layout);
    if (rc == 0) {
        rc = tact_derived_topics_copy(&to->derived_topics, from);
    }
    if (rc == 0) {
        rc = copy_log_attachments(to, from);
    }
    if (rc == 0) {
        rc = copy_log_facts(to, from, session);
    }
    to->content = (struct tact_recorder_content){
        .layout = &to->layout,
        .attachments = to->attachments,
        .attachment_count = to->attachment_count,
        .facts = to->facts,
        .fact_count = to->fact_count,
        .joints = to->derived_topics.joints,
        .joint_count = to->derived_topics.joint_count,
        .bodies = to->derived_topics.bodies,
        .body_count = to->derived_topics.body_count,
        .links = to->derived_topics.links,
        .link_count = to->derived_topics.link_count,
        .contacts = to->derived_topics.contacts,
        .contact_count = to->derived_topics.contact_count,
        .sensors = to->derived_topics.sensors,
        .sensor_count = to->derived_topics.sensor_count,
        .owners = to->derived_topics.owners,
        .owner_count = to->derived_topics.owner_count,
    };
    return rc;
}

void tact_recorder_content_free(struct tact_owned_recorder_content *c)
{
    for (size_t i = 0; i < c->attachment_count; i++) {
        free((char *)c->attachments[i].name);
        free((char *)c->attachments[i].media_type);
        free((void *)c->attachments[i].data);
    }
    for (size_t i = 0; i < c->fact_count; i++) {
        free((char *)c->facts[i].key);
        free((char *)c->facts[i].value);
    }
    free(c->attachments);
    free(c->facts);
    tact_derived_topics_free(&c->derived_topics);
    tact_layout_free(&c->layout);
    tact_bytes_free(&c->scene);
    *c = (struct tact_owned_recorder_content){0};
}
