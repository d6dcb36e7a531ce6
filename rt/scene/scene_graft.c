/* Joins the index of a hand's file to that of the scene that names it, so that a hand from a file
 * and one in the scene are read by one schema and checked by one set of checks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/scene/scene_internal.h"

struct scene_index_merge {
    struct tact_scene_index *index;
    const struct tact_scene_index *merged_index;
    const int *lines;
    uint32_t line_count;
    uint32_t file;
};

const char *tact_scene_index_file(const struct tact_scene_index *index,
                                  const struct tact_scene_index_node *node)
{
    return index->files[node->file];
}

uint32_t tact_scene_index_child(const struct tact_scene_index *index, uint32_t parent,
                                const char *key)
{
    for (uint32_t i = index->nodes[parent].first; i; i = index->nodes[i].next) {
        if (index->nodes[i].key && !strcmp(index->nodes[i].key, key)) {
            return i;
        }
    }
    return 0;
}

static char *copy_text_or_null(const char *text)
{
    return text ? strdup(text) : NULL;
}

static int hand_file_line_of_yaml_line(const struct scene_index_merge *g, int line)
{
    return line > 0 && (uint32_t)line <= g->line_count ? g->lines[line - 1] : 0;
}

/* Copies one node, without its children. Returns the number of the copy, or 0 where memory is
 * short. */
static uint32_t copy_index_node(const struct scene_index_merge *g, uint32_t to,
                                const struct tact_scene_index_node *n)
{
    struct tact_scene_index_node node_copy = {.key = copy_text_or_null(n->key),
                                              .text = copy_text_or_null(n->text),
                                              .is_unquoted_scalar = n->is_unquoted_scalar,
                                              .kind = n->kind,
                                              .key_line =
                                                  hand_file_line_of_yaml_line(g, n->key_line),
                                              .line = hand_file_line_of_yaml_line(g, n->line),
                                              .file = g->file};
    const bool is_node_fully_copied = (node_copy.key || !n->key) && (node_copy.text || !n->text);
    const uint32_t number =
        is_node_fully_copied ? tact_scene_index_append(g->index, to, &node_copy) : 0;
    if (!number) {
        free(node_copy.key);
        free(node_copy.text);
    }
    return number;
}

static int merge_child_index_nodes(const struct scene_index_merge *g, uint32_t to, uint32_t from)
{
    for (uint32_t i = g->merged_index->nodes[from].first; i; i = g->merged_index->nodes[i].next) {
        const struct tact_scene_index_node *n = &g->merged_index->nodes[i];
        uint32_t existing_index_node = n->key ? tact_scene_index_child(g->index, to, n->key) : 0;
        if (existing_index_node &&
            (n->kind != TACT_INDEX_MAP || g->index->nodes[existing_index_node].kind != n->kind)) {
            continue;
        }
        existing_index_node = existing_index_node ? existing_index_node : copy_index_node(g, to, n);
        int rc = existing_index_node ? merge_child_index_nodes(g, existing_index_node, i) : -ENOMEM;
        if (rc) {
            return rc;
        }
    }
    return 0;
}

int tact_scene_index_merge(struct tact_scene_index *index, uint32_t to,
                           const struct tact_scene_index *merged_index, uint32_t from,
                           const char *file, const int *lines, uint32_t line_count,
                           struct tact_error *err)
{
    char(*enlarged_file_names)[256] =
        realloc(index->files, (index->indexed_file_count + 1) * sizeof *enlarged_file_names);
    if (!enlarged_file_names) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    index->files = enlarged_file_names;
    snprintf(index->files[index->indexed_file_count], sizeof *enlarged_file_names, "%s", file);
    const struct scene_index_merge g = {index, merged_index, lines, line_count,
                                        index->indexed_file_count++};
    return merge_child_index_nodes(&g, to, from) ? tact_error_set(err, -ENOMEM, "out of memory")
                                                 : 0;
}

uint32_t tact_scene_index_add_list(struct tact_scene_index *index, uint32_t map, const char *key)
{
    const struct tact_scene_index_node *at = &index->nodes[map];
    struct tact_scene_index_node list = {.key = strdup(key),
                                         .kind = TACT_INDEX_LIST,
                                         .key_line = at->line,
                                         .yaml_key_column = at->column,
                                         .line = at->line,
                                         .column = at->column,
                                         .file = at->file};
    const uint32_t number = list.key ? tact_scene_index_append(index, map, &list) : 0;
    if (!number) {
        free(list.key);
    }
    return number;
}
