#include "rewrite.h"

#include <stdlib.h>
#include <string.h>

static int copy_layout_fields(struct tact_layout *to, const struct tact_layout *from,
                              uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct tact_field *f = &from->fields[i];
        if (tact_layout_add(to, f->kind, f->name, f->unit, f->count) < 0) {
            return -1;
        }
        to->fields[i].absent = f->absent;
    }
    return 0;
}

/* Sets the owners' names from the pairs' names, such as "a/b#2". */
static int set_contact_owner_names(struct log_rewrite *r)
{
    const struct tact_log_pair *p;
    for (size_t i = 0; (p = tact_log_pair(r->log, i)); i++) {
        r->owner_count = p->b >= r->owner_count ? p->b + 1 : r->owner_count;
    }
    r->owners = calloc(r->owner_count + 1, sizeof *r->owners);
    for (size_t i = 0; r->owners && (p = tact_log_pair(r->log, i)); i++) {
        const char *slash = strchr(p->name, '/');
        free((char *)r->owners[p->a]);
        free((char *)r->owners[p->b]);
        r->owners[p->a] = strndup(p->name, (size_t)(slash - p->name));
        r->owners[p->b] = strndup(slash + 1, strcspn(slash + 1, "#"));
    }
    for (size_t i = 0; r->owners && i < r->owner_count; i++) {
        r->owners[i] = r->owners[i] ? r->owners[i] : strdup("other");
    }
    return r->owners ? 0 : -1;
}

int open_recorder_of_log_copy(struct log_rewrite *r, const struct tact_log *log)
{
    const struct tact_layout *all = tact_log_layout(log), *element = tact_log_element(log);
    uint32_t pairs = 0;
    *r = (struct log_rewrite){.log = log};
    while (tact_log_pair(log, pairs)) {
        pairs++;
    }
    if (!element) {
        return copy_layout_fields(&r->layout, all, all->field_count);
    }
    if (copy_layout_fields(&r->layout, all, all->field_count - pairs * element->field_count) ||
        tact_layout_add_list(&r->layout, pairs + 1) ||
        copy_layout_fields(r->layout.element, element, element->field_count)) {
        return -1;
    }
    return set_contact_owner_names(r);
}

void free_log_copy_buffers(struct log_rewrite *r)
{
    for (size_t i = 0; r->owners && i < r->owner_count; i++) {
        free((char *)r->owners[i]);
    }
    free(r->owners);
    tact_layout_free(&r->layout);
}

struct tact_recorder_content recorder_content_of_log_copy(const struct log_rewrite *r)
{
    return (struct tact_recorder_content){
        .layout = &r->layout, .owners = r->owners, .owner_count = r->owner_count};
}

static int is_list_element_absent(const struct tact_layout *element, const double *values)
{
    for (uint32_t i = 0; i < element->field_count; i++) {
        const struct tact_field *f = &element->fields[i];
        for (uint32_t k = 0; k < f->count; k++) {
            if (memcmp(values + f->offset + k, &f->absent, sizeof f->absent) != 0) {
                return 0;
            }
        }
    }
    return 1;
}

void convert_record_to_copy_layout(const struct log_rewrite *r, const struct tact_record *from,
                                   struct tact_record *to)
{
    const struct tact_log_pair *p;
    double *list = to->values + r->layout.size, *element = list + 1;
    memcpy(to, from, sizeof *to + r->layout.size * sizeof(double));
    for (size_t i = 0; (p = tact_log_pair(r->log, i)); i++) {
        const double *values = from->values + p->offset;
        const char *hash_character = strchr(p->name, '#');
        if (is_list_element_absent(r->layout.element, values)) {
            continue;
        }
        element[0] = p->a;
        element[1] = p->b;
        element[2] = hash_character ? atoi(hash_character + 1) : 1;
        memcpy(element + TACT_ELEMENT_HEAD, values, r->layout.element->size * sizeof(double));
        element += tact_layout_stride(&r->layout);
    }
    if (r->layout.element) {
        list[0] = (double)((size_t)(element - list - 1) / tact_layout_stride(&r->layout));
    }
}

int append_record_to_log_copy(const struct log_rewrite *r, const struct tact_record *from,
                              struct tact_recorder *to)
{
    tact_recorder_wait_room(to);
    struct tact_record *slot = tact_recorder_begin(to);
    if (!slot) {
        return -1;
    }
    convert_record_to_copy_layout(r, from, slot);
    tact_recorder_commit(to);
    return 0;
}
