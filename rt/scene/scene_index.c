#include "rt/scene/scene_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>
#include "contact/number.h"

/* FNV-1a over the parent's number and the key, or the index in the list. */
static uint32_t hash_child_key(uint32_t parent, const char *key, size_t length,
                               uint32_t index_in_yaml_list)
{
    uint32_t h = 2166136261u;
    for (int i = 0; i < 4; i++) {
        h = (h ^ ((parent >> (8 * i)) & 255u)) * 16777619u;
    }
    if (!key) {
        for (int i = 0; i < 4; i++) {
            h = (h ^ ((index_in_yaml_list >> (8 * i)) & 255u)) * 16777619u;
        }
    }
    for (size_t i = 0; key && i < length; i++) {
        h = (h ^ (unsigned char)key[i]) * 16777619u;
    }
    return h;
}

/* Slot of a child in the hash table, or the free slot for it. */
static uint32_t find_child_hash_slot(const struct tact_scene_index *index, uint32_t parent,
                                     const char *key, size_t length, uint32_t index_in_yaml_list)
{
    uint32_t hash_slot_mask = index->hash_slot_count - 1;
    uint32_t s = hash_child_key(parent, key, length, index_in_yaml_list) & hash_slot_mask;
    for (; index->slots[s]; s = (s + 1) & hash_slot_mask) {
        const struct tact_scene_index_node *n = &index->nodes[index->slots[s]];
        if (n->parent != parent || !n->key != !key) {
            continue;
        }
        if (key ? strlen(n->key) == length && memcmp(n->key, key, length) == 0
                : n->index == index_in_yaml_list) {
            break;
        }
    }
    return s;
}

void tact_scene_index_free(struct tact_scene_index *index)
{
    if (!index) {
        return;
    }
    for (uint32_t i = 0; i < index->count; i++) {
        free(index->nodes[i].key);
        free(index->nodes[i].text);
    }
    free(index->nodes);
    free(index->slots);
    free(index->files);
    free(index);
}

const struct tact_scene_index_node *tact_scene_index_find(const struct tact_scene_index *index,
                                                          const char *path)
{
    uint32_t node = 0;
    while (*path) {
        uint32_t s;
        if (*path == '[') {
            char *end;
            unsigned long index_in_yaml_list = strtoul(path + 1, &end, 10);
            s = find_child_hash_slot(index, node, NULL, 0, (uint32_t)index_in_yaml_list);
            path = *end == ']' ? end + 1 : end;
        } else {
            size_t length = strcspn(path, ".[");
            s = find_child_hash_slot(index, node, path, length, 0);
            path += length;
        }
        path += *path == '.';
        node = index->slots[s];
        if (!node) {
            return NULL;
        }
    }
    return &index->nodes[node];
}

bool tact_scene_has_key(const struct tact_scene_check_context *check, const char *format, ...)
{
    char path[TACT_SCENE_PATH_BYTES];
    va_list args;
    va_start(args, format);
    tact_number_vprint(path, sizeof path, format, args);
    va_end(args);
    return tact_scene_index_find(check->index, path) != NULL;
}

void tact_scene_index_path(const struct tact_scene_index *index,
                           const struct tact_scene_index_node *node,
                           char path[TACT_SCENE_PATH_BYTES])
{
    const struct tact_scene_index_node *ancestor_index_nodes[TACT_SCENE_MAX_DEPTH + 1];
    int depth = 0;
    for (; node != index->nodes && depth <= TACT_SCENE_MAX_DEPTH;
         node = &index->nodes[node->parent]) {
        ancestor_index_nodes[depth++] = node;
    }
    size_t used = 0;
    path[0] = '\0';
    while (depth-- > 0 && used < TACT_SCENE_PATH_BYTES - 1) {
        const struct tact_scene_index_node *n = ancestor_index_nodes[depth];
        int written_key_length =
            n->key ? snprintf(path + used, TACT_SCENE_PATH_BYTES - used, "%s%s", used ? "." : "",
                              n->key)
                   : snprintf(path + used, TACT_SCENE_PATH_BYTES - used, "[%u]", n->index);
        used += (size_t)written_key_length;
    }
}

void tact_scene_index_locate(const struct tact_scene_index *index, const char *path,
                             struct tact_error *err)
{
    char part[TACT_SCENE_PATH_BYTES];
    snprintf(part, sizeof part, "%s", path);
    const struct tact_scene_index_node *node;
    while (!(node = tact_scene_index_find(index, part))) {
        size_t n = strlen(part);
        while (n > 0 && part[n - 1] != '.' && part[n - 1] != '[') {
            n--;
        }
        part[n > 0 ? n - 1 : 0] = '\0';
    }
    tact_error_at(err, tact_scene_index_file(index, node), node->line, node->column, path);
}

int tact_scene_report_bad_value(const struct tact_scene_check_context *check, const char *path,
                                const char *format, ...)
{
    char text[sizeof check->err->text];
    va_list args;
    va_start(args, format);
    tact_number_vprint(text, sizeof text, format, args);
    va_end(args);
    tact_scene_index_locate(check->index, path, check->err);
    return tact_error_set(check->err, -EINVAL, "%s", text);
}

bool tact_scene_parse_number(const char *text, double *value)
{
    /* strtod() alone would also accept hexadecimal, "nan" and "infinity" */
    if (strspn(text, "+-.0123456789eE") != strlen(text)) {
        return false;
    }
    char *end;
    *value = tact_number_read(text, &end);
    return end != text && *end == '\0';
}

/* --- building ----------------------------------------------------------------------------------
 */

/* Ensures capacity of both arrays for one more node; the hash table stays at most half full. */
static int reserve_index_node(struct tact_scene_index *index)
{
    if (index->count < index->capacity) {
        return 0;
    }
    uint32_t capacity = index->capacity ? 2 * index->capacity : 256;
    struct tact_scene_index_node *nodes = realloc(index->nodes, capacity * sizeof *nodes);
    if (!nodes) {
        return -ENOMEM;
    }
    index->nodes = nodes;
    uint32_t *slots = calloc(2 * (size_t)capacity, sizeof *slots);
    if (!slots) {
        return -ENOMEM;
    }
    free(index->slots);
    index->slots = slots;
    index->hash_slot_count = 2 * capacity;
    index->capacity = capacity;
    for (uint32_t i = 1; i < index->count; i++) {
        const struct tact_scene_index_node *n = &nodes[i];
        slots[find_child_hash_slot(index, n->parent, n->key, n->key ? strlen(n->key) : 0,
                                   n->index)] = i;
    }
    return 0;
}

uint32_t tact_scene_index_append(struct tact_scene_index *index, uint32_t parent,
                                 const struct tact_scene_index_node *node)
{
    if (index->count >= TACT_SCENE_MAX_NODES || reserve_index_node(index)) {
        return 0;
    }
    struct tact_scene_index_node *p = &index->nodes[parent], *n = &index->nodes[index->count];
    *n = *node;
    n->parent = parent;
    n->index = p->kind == TACT_INDEX_LIST ? p->count : 0;
    index->slots[find_child_hash_slot(index, parent, n->key, n->key ? strlen(n->key) : 0,
                                      n->index)] = index->count;
    uint32_t *link = &p->first;
    while (*link) {
        link = &index->nodes[*link].next;
    }
    *link = index->count;
    p->count++;
    return index->count++;
}

/* State of the reader: the stack of open lists and maps. */
struct reader {
    struct tact_scene_index *index;
    struct tact_error *err;
    uint32_t open[TACT_SCENE_MAX_DEPTH]; /* nodes of the open lists and maps */
    uint32_t last[TACT_SCENE_MAX_DEPTH]; /* last child of each open list or map, or 0 */
    int depth;
    char *key; /* key read in the innermost map, without its value */
    yaml_mark_t key_mark;
    int yaml_document_count;
};

static int report_index_error(struct reader *r, yaml_mark_t mark, const char *text)
{
    tact_error_at(r->err, r->index->files[0], (int)mark.line + 1, (int)mark.column + 1, NULL);
    return tact_error_set(r->err, -EINVAL, "%s", text);
}

static int add_index_node(struct reader *r, const yaml_event_t *event,
                          enum tact_scene_index_kind kind)
{
    struct tact_scene_index *index = r->index;
    if (index->count >= TACT_SCENE_MAX_NODES) {
        return report_index_error(r, event->start_mark,
                                  "the scene file has too many keys and list entries");
    }
    if (reserve_index_node(index)) {
        return tact_error_set(r->err, -ENOMEM, "out of memory");
    }
    uint32_t number = index->count;
    struct tact_scene_index_node *n = &index->nodes[number];
    *n = (struct tact_scene_index_node){.kind = kind,
                                        .line = (int)event->start_mark.line + 1,
                                        .column = (int)event->start_mark.column + 1};
    if (r->depth > 0) {
        struct tact_scene_index_node *parent = &index->nodes[r->open[r->depth - 1]];
        n->parent = r->open[r->depth - 1];
        n->index = parent->kind == TACT_INDEX_LIST ? parent->count : 0;
        uint32_t s =
            find_child_hash_slot(index, n->parent, r->key, r->key ? strlen(r->key) : 0, n->index);
        if (index->slots[s]) {
            char path[TACT_SCENE_PATH_BYTES];
            tact_scene_index_path(index, &index->nodes[index->slots[s]], path);
            tact_error_at(r->err, NULL, 0, 0, path);
            return report_index_error(r, r->key_mark, "this key is given twice; expected it once");
        }
        n->key = r->key;
        n->key_line = (int)r->key_mark.line + 1;
        n->yaml_key_column = (int)r->key_mark.column + 1;
        r->key = NULL;
        index->slots[s] = number;
        uint32_t *link =
            r->last[r->depth - 1] ? &index->nodes[r->last[r->depth - 1]].next : &parent->first;
        *link = number;
        r->last[r->depth - 1] = number;
        parent->count++;
    }
    index->count++;
    if (kind == TACT_INDEX_SCALAR) {
        n->is_unquoted_scalar = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        n->text = strdup((const char *)event->data.scalar.value);
        return n->text ? 0 : tact_error_set(r->err, -ENOMEM, "out of memory");
    }
    if (r->depth == TACT_SCENE_MAX_DEPTH) {
        return report_index_error(r, event->start_mark,
                                  "nested too deeply; expected at most 16 levels");
    }
    r->open[r->depth] = number;
    r->last[r->depth++] = 0;
    return 0;
}

static int read_yaml_scalar(struct reader *r, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    if (strlen(text) != event->data.scalar.length) {
        return report_index_error(r, event->start_mark,
                                  "a zero byte inside a value; expected text");
    }
    if (r->depth <= 0) {
        return report_index_error(r, event->start_mark,
                                  "expected a map of keys, as in `name: ruler`");
    }
    if (r->index->nodes[r->open[r->depth - 1]].kind == TACT_INDEX_MAP && !r->key) {
        if (!text[0] || strcspn(text, ".[]") != strlen(text)) {
            return report_index_error(r, event->start_mark,
                                      "expected a key: letters, digits and underscores");
        }
        r->key = strdup(text);
        r->key_mark = event->start_mark;
        return r->key ? 0 : tact_error_set(r->err, -ENOMEM, "out of memory");
    }
    return add_index_node(r, event, TACT_INDEX_SCALAR);
}

static int read_yaml_collection_start(struct reader *r, const yaml_event_t *event,
                                      enum tact_scene_index_kind kind)
{
    if (r->depth == 0 && kind == TACT_INDEX_LIST) {
        return report_index_error(r, event->start_mark,
                                  "expected a map of keys, as in `name: ruler`");
    }
    if (r->depth > 0 && !r->key && r->index->nodes[r->open[r->depth - 1]].kind == TACT_INDEX_MAP) {
        return report_index_error(r, event->start_mark,
                                  "expected a key: letters, digits and underscores");
    }
    return add_index_node(r, event, kind);
}

static int read_yaml_event(struct reader *r, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return r->yaml_document_count++ == 0
                   ? 0
                   : report_index_error(r, event->start_mark,
                                        "a second document; expected one per file");
    case YAML_ALIAS_EVENT:
        return report_index_error(r, event->start_mark,
                                  "aliases (*name) are not supported; expected the value");
    case YAML_SCALAR_EVENT:
        return read_yaml_scalar(r, event);
    case YAML_SEQUENCE_START_EVENT:
        return read_yaml_collection_start(r, event, TACT_INDEX_LIST);
    case YAML_MAPPING_START_EVENT:
        return read_yaml_collection_start(r, event, TACT_INDEX_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        r->depth--;
        return 0;
    default:
        return 0;
    }
}

static int read_yaml_events(struct reader *r, yaml_parser_t *parser)
{
    for (bool has_more_yaml_events = true; has_more_yaml_events;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            if (parser->error == YAML_MEMORY_ERROR) {
                return tact_error_set(r->err, -ENOMEM, "out of memory");
            }
            report_index_error(r, parser->problem_mark, "");
            return tact_error_set(r->err, -EINVAL, "not YAML: %s; expected `key: value` lines",
                                  parser->problem ? parser->problem : "cannot be read");
        }
        has_more_yaml_events = event.type != YAML_STREAM_END_EVENT;
        int rc = read_yaml_event(r, &event);
        yaml_event_delete(&event);
        if (rc) {
            return rc;
        }
    }
    if (r->index->count == 0) {
        tact_error_at(r->err, r->index->files[0], 1, 1, NULL);
        return tact_error_set(r->err, -EINVAL, "the file is empty; expected a map of keys");
    }
    return 0;
}

int tact_scene_index_create(const char *text, size_t size, const char *name,
                            struct tact_scene_index **out, struct tact_error *err)
{
    *out = NULL;
    struct reader r = {.index = calloc(1, sizeof *r.index), .err = err};
    yaml_parser_t parser;
    if (r.index) {
        r.index->files = calloc(1, sizeof *r.index->files);
        r.index->indexed_file_count = 1;
    }
    if (!r.index || !r.index->files || !yaml_parser_initialize(&parser)) {
        tact_scene_index_free(r.index);
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    snprintf(r.index->files[0], sizeof r.index->files[0], "%s", name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    int rc = read_yaml_events(&r, &parser);
    yaml_parser_delete(&parser);
    free(r.key);
    if (rc) {
        tact_scene_index_free(r.index);
        return rc;
    }
    *out = r.index;
    return 0;
}
