/* Locations at which the user wrote the nodes of a scene that teleop_scene() made: in the file of
 * the teleoperation, or in the original scene. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "teleop.h"
#include "teleop_yaml.h"

/* Location of a node of the made scene; lines and columns from 1. */
struct teleop_node_location {
    int line, column;
    int user_file_line, user_file_column; /* line and column where the user wrote the node */
    int is_node_in_teleop_file; /* 1: in the file of the teleoperation; 0: in the original scene */
};

/* A walk over the nodes of a YAML document, parents before children. */
struct node_location_walk {
    yaml_document_t *document;
    struct teleop_node_locations *out;
    size_t
        capacity; /* capacity while source locations are recorded; 0 while the written ones are */
    size_t next;  /* index of the next location whose written line and column are set */
    int first_node_of_teleop_file; /* number of the first node from the file of the teleoperation */
};

static int record_source_location(struct node_location_walk *w, int node, const yaml_mark_t *mark)
{
    if (w->out->count == w->capacity) {
        struct teleop_node_location *larger_location_array =
            realloc(w->out->location, 2 * w->capacity * sizeof *w->out->location);
        if (!larger_location_array) {
            return -ENOMEM;
        }
        w->out->location = larger_location_array;
        w->capacity *= 2;
    }
    w->out->location[w->out->count++] = (struct teleop_node_location){
        .user_file_line = (int)mark->line + 1,
        .user_file_column = (int)mark->column + 1,
        .is_node_in_teleop_file = node >= w->first_node_of_teleop_file};
    return 0;
}

static void record_written_location(struct node_location_walk *w, const yaml_mark_t *mark)
{
    if (w->next < w->out->count) {
        w->out->location[w->next].line = (int)mark->line + 1;
        w->out->location[w->next++].column = (int)mark->column + 1;
    }
}

/* Recursion is bounded: both texts were read as scenes, which have at most 16 levels. */
static int record_node_locations(struct node_location_walk *w, int node)
{
    const yaml_node_t *n = yaml_document_get_node(w->document, node);
    int rc = 0;
    if (w->capacity) {
        rc = record_source_location(w, node, &n->start_mark);
    } else {
        record_written_location(w, &n->start_mark);
    }
    if (n->type == YAML_SEQUENCE_NODE) {
        for (const yaml_node_item_t *x = n->data.sequence.items.start;
             !rc && x < n->data.sequence.items.top; x++) {
            rc = record_node_locations(w, *x);
        }
    } else if (n->type == YAML_MAPPING_NODE) {
        for (const yaml_node_pair_t *x = n->data.mapping.pairs.start;
             !rc && x < n->data.mapping.pairs.top; x++) {
            rc = record_node_locations(w, x->key);
            rc = rc ? rc : record_node_locations(w, x->value);
        }
    }
    return rc;
}

int teleop_node_locations_begin(struct teleop_node_locations *out, yaml_document_t *document,
                                int first_node_of_teleop_file)
{
    struct node_location_walk w = {.document = document,
                                   .out = out,
                                   .capacity = 256,
                                   .first_node_of_teleop_file = first_node_of_teleop_file};
    out->count = 0;
    out->location = calloc(w.capacity, sizeof *out->location);
    return out->location ? record_node_locations(&w, 1) : -ENOMEM;
}

int teleop_node_locations_end(struct teleop_node_locations *out, const char *text, size_t size)
{
    yaml_document_t written_document;
    struct node_location_walk w = {.document = &written_document, .out = out};
    if (teleop_yaml_load(text, size, &written_document)) {
        return -ENOMEM;
    }
    record_node_locations(&w, 1);
    yaml_document_delete(&written_document);
    return 0;
}

void teleop_node_locations_free(struct teleop_node_locations *node_locations)
{
    free(node_locations->name);
    free(node_locations->from);
    free(node_locations->location);
    *node_locations = (struct teleop_node_locations){.count = 0};
}

/* Finds the innermost node that begins at the line and column, or before them. */
static const struct teleop_node_location *
find_node_location(const struct teleop_node_locations *node_locations, int line, int column)
{
    const struct teleop_node_location *found = NULL;
    for (size_t i = 0; i < node_locations->count; i++) {
        const struct teleop_node_location *p = &node_locations->location[i];
        if (p->line == line && p->column == column) {
            return p; /* a map, where its first key begins there too */
        }
        found = p->line < line || (p->line == line && p->column < column) ? p : found;
    }
    return found;
}

/* Finds the key of the file of the teleoperation whose value begins at the location, as
 * "local.listen"; "" where there is none. */
static void find_key_of_teleop_file(const struct teleop *t,
                                    const struct teleop_node_location *location, char key[128])
{
    yaml_document_t file;
    key[0] = '\0';
    if (teleop_yaml_load(t->text, t->text_size, &file)) {
        return;
    }
    const yaml_node_t *top = yaml_document_get_root_node(&file);
    for (const yaml_node_pair_t *p = top->data.mapping.pairs.start; p < top->data.mapping.pairs.top;
         p++) {
        const yaml_node_t *value = yaml_document_get_node(&file, p->value);
        const char *name = teleop_yaml_text(&file, p->key);
        if (teleop_yaml_begins_at(value, location->user_file_line, location->user_file_column)) {
            snprintf(key, 128, "%s", name);
        }
        const int is_mapping_node = value->type == YAML_MAPPING_NODE;
        for (const yaml_node_pair_t *q = is_mapping_node ? value->data.mapping.pairs.start : NULL;
             is_mapping_node && q < value->data.mapping.pairs.top; q++) {
            if (teleop_yaml_begins_at(yaml_document_get_node(&file, q->value),
                                      location->user_file_line, location->user_file_column)) {
                snprintf(key, 128, "%s.%s", name, teleop_yaml_text(&file, q->key));
            }
        }
    }
    yaml_document_delete(&file);
}

void teleop_relocate_error(const struct teleop *t,
                           const struct teleop_node_locations *node_locations,
                           struct tact_error *err)
{
    char key[128];
    if (!node_locations->name ||
        strncmp(err->file, node_locations->name, sizeof err->file - 1) != 0) {
        return;
    }
    const struct teleop_node_location *location =
        err->line > 0 ? find_node_location(node_locations, err->line, err->column) : NULL;
    err->line = err->column = 0;
    if (location && location->is_node_in_teleop_file) {
        find_key_of_teleop_file(t, location, key);
        tact_error_at(err, t->file, location->user_file_line, location->user_file_column,
                      key[0] ? key : NULL);
        return;
    }
    tact_error_at(err, node_locations->from, location ? location->user_file_line : 0,
                  location ? location->user_file_column : 0, NULL);
    if (t->mode && !strncmp(err->key, "remotes[", strlen("remotes["))) {
        char text[sizeof err->text];
        snprintf(text, sizeof text, "%.250s (in the mode that %.100s sets)", err->text, t->file);
        tact_error_set(err, 0, "%s", text);
    }
}

void teleop_set_error_location_of_key(const struct teleop *t, const char *key,
                                      struct tact_error *err)
{
    yaml_document_t file;
    tact_error_at(err, t->file, 0, 0, key);
    if (!teleop_yaml_load(t->text, t->text_size, &file)) {
        const yaml_node_t *n = yaml_document_get_node(&file, teleop_yaml_find(&file, key));
        tact_error_at(err, NULL, (int)n->start_mark.line + 1, (int)n->start_mark.column + 1, NULL);
        yaml_document_delete(&file);
    }
}
