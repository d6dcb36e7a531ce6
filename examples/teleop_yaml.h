/* Keys and places in a YAML document, by libyaml. Nodes are by number; 0: none. */
#ifndef TACT_EXAMPLES_TELEOP_YAML_H
#define TACT_EXAMPLES_TELEOP_YAML_H

#include <stddef.h>
#include <yaml.h>

/* teleop_yaml.c: parses a text that was checked to be one document without aliases; to be deleted
 * by yaml_document_delete(). 0 or -ENOMEM, also where it is not YAML. */
int teleop_yaml_load(const char *text, size_t size, yaml_document_t *out);

/* The text of a scalar node; "" for other nodes. */
const char *teleop_yaml_text(yaml_document_t *document, int node);

/* The pair of a key in a map, or NULL. */
yaml_node_pair_t *teleop_yaml_pair(yaml_document_t *document, int map, const char *key);

/* The value of a key in a map. */
int teleop_yaml_child(yaml_document_t *document, int map, const char *key);

/* 1 where a node begins at a line and column, from 1. */
int teleop_yaml_begins_at(const yaml_node_t *node, int line, int column);

/* The value of a key of the whole document, "jitter" or "local.listen", or the nearest parent. */
int teleop_yaml_find(yaml_document_t *document, const char *path);

struct teleop_node_locations;

/* teleop_place.c: record the locations of the nodes of a document, before it is written as a text
 * and deleted, and then their locations in the text. Nodes from number first_node_of_teleop_file on
 * are from the file of the teleoperation. 0 or -ENOMEM. */
int teleop_node_locations_begin(struct teleop_node_locations *out, yaml_document_t *document,
                                int first_node_of_teleop_file);
int teleop_node_locations_end(struct teleop_node_locations *out, const char *text, size_t size);

#endif
