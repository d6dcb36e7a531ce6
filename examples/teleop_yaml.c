#include "teleop_yaml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int teleop_yaml_load(const char *text, size_t size, yaml_document_t *out)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        return -ENOMEM;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    const int is_yaml_loaded = yaml_parser_load(&parser, out);
    yaml_parser_delete(&parser);
    return is_yaml_loaded ? 0 : -ENOMEM;
}

const char *teleop_yaml_text(yaml_document_t *document, int node)
{
    const yaml_node_t *n = yaml_document_get_node(document, node);
    return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
}

yaml_node_pair_t *teleop_yaml_pair(yaml_document_t *document, int map, const char *key)
{
    yaml_node_t *n = yaml_document_get_node(document, map);
    if (!n || n->type != YAML_MAPPING_NODE) {
        return NULL;
    }
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
        if (!strcmp(teleop_yaml_text(document, p->key), key)) {
            return p;
        }
    }
    return NULL;
}

int teleop_yaml_child(yaml_document_t *document, int map, const char *key)
{
    const yaml_node_pair_t *pair = teleop_yaml_pair(document, map, key);
    return pair ? pair->value : 0;
}

int teleop_yaml_begins_at(const yaml_node_t *node, int line, int column)
{
    return (int)node->start_mark.line + 1 == line && (int)node->start_mark.column + 1 == column;
}

int teleop_yaml_find(yaml_document_t *document, const char *path)
{
    int node = 1;
    while (*path) {
        char key[64];
        const size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        const int child = teleop_yaml_child(document, node, key);
        if (!child) {
            break;
        }
        node = child;
        path += length + (path[length] == '.');
    }
    return node;
}
