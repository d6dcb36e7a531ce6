/* Where the user has what a scene of teleop_scene() has: in the file, or in the scene as it was. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "teleop.h"
#include "teleop_yaml.h"

/* A node of the scene that is run; lines and columns from 1. */
struct teleop_place {
    int line, column;
    int source_line, source_column; /* line and column where the user wrote the node */
    int is_node_in_teleop_file;     /* 1: in the file; 0: in the scene as it was */
};

/* A walk over the nodes of a YAML document, parents before children. */
struct node_places_walk {
    yaml_document_t *document;
    struct teleop_places *out;
    size_t capacity;        /* while places are added; 0 while those of the text are set */
    size_t next;            /* index of the next place to be set */
    int first_node_of_file; /* number of the first node of the file */
};

static int record_source_place(struct node_places_walk *w, int node, const yaml_mark_t *mark)
{
    if (w->out->count == w->capacity) {
        struct teleop_place *grown =
            realloc(w->out->place, 2 * w->capacity * sizeof *w->out->place);
        if (!grown) {
            return -ENOMEM;
        }
        w->out->place = grown;
        w->capacity *= 2;
    }
    w->out->place[w->out->count++] =
        (struct teleop_place){.source_line = (int)mark->line + 1,
                              .source_column = (int)mark->column + 1,
                              .is_node_in_teleop_file = node >= w->first_node_of_file};
    return 0;
}

static void record_written_place(struct node_places_walk *w, const yaml_mark_t *mark)
{
    if (w->next < w->out->count) {
        w->out->place[w->next].line = (int)mark->line + 1;
        w->out->place[w->next++].column = (int)mark->column + 1;
    }
}

/* Recursion is bounded: both texts were read as scenes, which have at most 16 levels. */
static int record_node_places(struct node_places_walk *w, int node)
{
    const yaml_node_t *n = yaml_document_get_node(w->document, node);
    int rc = 0;
    if (w->capacity) {
        rc = record_source_place(w, node, &n->start_mark);
    } else {
        record_written_place(w, &n->start_mark);
    }
    if (n->type == YAML_SEQUENCE_NODE) {
        for (const yaml_node_item_t *x = n->data.sequence.items.start;
             !rc && x < n->data.sequence.items.top; x++) {
            rc = record_node_places(w, *x);
        }
    } else if (n->type == YAML_MAPPING_NODE) {
        for (const yaml_node_pair_t *x = n->data.mapping.pairs.start;
             !rc && x < n->data.mapping.pairs.top; x++) {
            rc = record_node_places(w, x->key);
            rc = rc ? rc : record_node_places(w, x->value);
        }
    }
    return rc;
}

int teleop_places_begin(struct teleop_places *out, yaml_document_t *document,
                        int first_node_of_file)
{
    struct node_places_walk w = {.document = document,
                                 .out = out,
                                 .capacity = 256,
                                 .first_node_of_file = first_node_of_file};
    out->count = 0;
    out->place = calloc(w.capacity, sizeof *out->place);
    return out->place ? record_node_places(&w, 1) : -ENOMEM;
}

int teleop_places_end(struct teleop_places *out, const char *text, size_t size)
{
    yaml_document_t shown;
    struct node_places_walk w = {.document = &shown, .out = out};
    if (teleop_yaml_load(text, size, &shown)) {
        return -ENOMEM;
    }
    record_node_places(&w, 1);
    yaml_document_delete(&shown);
    return 0;
}

void teleop_places_free(struct teleop_places *places)
{
    free(places->name);
    free(places->from);
    free(places->place);
    *places = (struct teleop_places){.count = 0};
}

/* The innermost node that begins at the place, or before it. */
static const struct teleop_place *find_node_place(const struct teleop_places *places, int line,
                                                  int column)
{
    const struct teleop_place *found = NULL;
    for (size_t i = 0; i < places->count; i++) {
        const struct teleop_place *p = &places->place[i];
        if (p->line == line && p->column == column) {
            return p; /* a map, where its first key begins there too */
        }
        found = p->line < line || (p->line == line && p->column < column) ? p : found;
    }
    return found;
}

/* The key of the file whose value begins at a place, as "local.listen"; "" where none does. */
static void find_key(const struct teleop *t, const struct teleop_place *place, char key[128])
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
        if (teleop_yaml_begins_at(value, place->source_line, place->source_column)) {
            snprintf(key, 128, "%s", name);
        }
        const int is_mapping_node = value->type == YAML_MAPPING_NODE;
        for (const yaml_node_pair_t *q = is_mapping_node ? value->data.mapping.pairs.start : NULL;
             is_mapping_node && q < value->data.mapping.pairs.top; q++) {
            if (teleop_yaml_begins_at(yaml_document_get_node(&file, q->value), place->source_line,
                                      place->source_column)) {
                snprintf(key, 128, "%s.%s", name, teleop_yaml_text(&file, q->key));
            }
        }
    }
    yaml_document_delete(&file);
}

void teleop_place(const struct teleop *t, const struct teleop_places *places,
                  struct tact_error *err)
{
    char key[128];
    if (!places->name || strncmp(err->file, places->name, sizeof err->file - 1) != 0) {
        return;
    }
    const struct teleop_place *place =
        err->line > 0 ? find_node_place(places, err->line, err->column) : NULL;
    err->line = err->column = 0;
    if (place && place->is_node_in_teleop_file) {
        find_key(t, place, key);
        tact_error_at(err, t->file, place->source_line, place->source_column, key[0] ? key : NULL);
        return;
    }
    tact_error_at(err, places->from, place ? place->source_line : 0,
                  place ? place->source_column : 0, NULL);
    if (t->mode && !strncmp(err->key, "remotes[", strlen("remotes["))) {
        char text[sizeof err->text];
        snprintf(text, sizeof text, "%.250s (in the mode that %.100s sets)", err->text, t->file);
        tact_error_set(err, 0, "%s", text);
    }
}

void teleop_locate(const struct teleop *t, const char *key, struct tact_error *err)
{
    yaml_document_t file;
    tact_error_at(err, t->file, 0, 0, key);
    if (!teleop_yaml_load(t->text, t->text_size, &file)) {
        const yaml_node_t *n = yaml_document_get_node(&file, teleop_yaml_find(&file, key));
        tact_error_at(err, NULL, (int)n->start_mark.line + 1, (int)n->start_mark.column + 1, NULL);
        yaml_document_delete(&file);
    }
}
