/* Compares the file with libcyaml's schema, so that each error is one message in the user's terms.
 * libcyaml makes the same comparison when it loads, but with its own messages, and accepts numbers
 * that are not finite and misspelt truth values. */
#include "rt/scene/scene_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"a single value", "a list", "a map of keys"};

static int bad_node(const struct tact_scene_check *check, const struct tact_index_node *node,
                    const char *expected)
{
    char path[TACT_SCENE_PATH];
    tact_scene_index_path(check->index, node, path);
    tact_error_at(check->err, check->index->file, node->line, node->column, path);
    if (node->kind != TACT_INDEX_SCALAR) {
        return tact_error_set(check->err, -EINVAL, "expected %s, got %s", expected,
                              kind_names[node->kind]);
    }
    if (!node->text[0]) {
        return tact_error_set(check->err, -EINVAL, "expected %s, got nothing", expected);
    }
    return tact_error_set(check->err, -EINVAL, "expected %s, got \"%.60s\"", expected, node->text);
}

/** Edit distance of a and b, up to the limit that the lengths imply. */
static size_t edit_distance(const char *a, const char *b)
{
    enum { MAX_LENGTH = 32 };
    size_t la = strlen(a), lb = strlen(b), row[MAX_LENGTH + 1];
    if (la > MAX_LENGTH || lb > MAX_LENGTH) {
        return MAX_LENGTH;
    }
    for (size_t j = 0; j <= lb; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= la; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            row[j] = corner + 1 < best ? corner + 1 : best;
        }
    }
    return row[lb];
}

static int unknown_key(const struct tact_scene_check *check, const struct tact_index_node *node,
                       const cyaml_schema_field_t *fields)
{
    char list[300] = "", path[TACT_SCENE_PATH];
    const char *nearest = NULL;
    size_t used = 0, fewest = 3;
    for (const cyaml_schema_field_t *f = fields; f->key; f++) {
        int n = snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", f->key);
        used = used + (size_t)n < sizeof list ? used + (size_t)n : sizeof list - 1;
        size_t distance = edit_distance(node->key, f->key);
        if (distance < fewest) {
            fewest = distance;
            nearest = f->key;
        }
    }
    tact_scene_index_path(check->index, node, path);
    tact_error_at(check->err, check->index->file, node->key_line, node->key_column, path);
    if (nearest) {
        return tact_error_set(check->err, -EINVAL, "unknown key; did you mean \"%s\"?", nearest);
    }
    return tact_error_set(check->err, -EINVAL, "unknown key; expected one of: %s", list);
}

static const cyaml_schema_field_t *find_field(const cyaml_schema_field_t *fields, const char *key)
{
    while (fields->key && strcmp(fields->key, key) != 0) {
        fields++;
    }
    return fields->key ? fields : NULL;
}

/** The child of a map with that key, or NULL. */
static const struct tact_index_node *find_child(const struct tact_scene_index *index,
                                                const struct tact_index_node *map, const char *key)
{
    for (uint32_t i = map->first; i; i = index->nodes[i].next) {
        if (strcmp(index->nodes[i].key, key) == 0) {
            return &index->nodes[i];
        }
    }
    return NULL;
}

static int check_value(const struct tact_scene_check *check, const cyaml_schema_value_t *schema,
                       const struct tact_index_node *node);

static int check_map(const struct tact_scene_check *check, const cyaml_schema_value_t *schema,
                     const struct tact_index_node *node)
{
    if (node->kind != TACT_INDEX_MAP) {
        return bad_node(check, node, kind_names[TACT_INDEX_MAP]);
    }
    const struct tact_scene_index *index = check->index;
    for (uint32_t i = node->first; i; i = index->nodes[i].next) {
        const cyaml_schema_field_t *f = find_field(schema->mapping.fields, index->nodes[i].key);
        int rc = f ? check_value(check, &f->value, &index->nodes[i])
                   : unknown_key(check, &index->nodes[i], schema->mapping.fields);
        if (rc) {
            return rc;
        }
    }
    for (const cyaml_schema_field_t *f = schema->mapping.fields; f->key; f++) {
        if (!(f->value.flags & CYAML_FLAG_OPTIONAL) && !find_child(index, node, f->key)) {
            char path[TACT_SCENE_PATH], missing[TACT_SCENE_PATH + 64];
            tact_scene_index_path(index, node, path);
            snprintf(missing, sizeof missing, "%s%s%s", path, path[0] ? "." : "", f->key);
            missing[TACT_SCENE_PATH - 1] = '\0';
            return tact_scene_bad(check, missing, "missing; expected the key \"%s\" here", f->key);
        }
    }
    return 0;
}

static int check_list(const struct tact_scene_check *check, const cyaml_schema_value_t *schema,
                      const struct tact_index_node *node)
{
    char expected[80];
    uint32_t least = schema->sequence.min, most = schema->sequence.max;
    if (least == most) {
        snprintf(expected, sizeof expected, "a list of %" PRIu32 " %s", least,
                 schema->sequence.entry->type == CYAML_FLOAT ? "numbers" : "names");
    } else {
        snprintf(expected, sizeof expected, "a list of %" PRIu32 " to %" PRIu32 " entries", least,
                 most);
    }
    if (node->kind != TACT_INDEX_LIST) {
        return bad_node(check, node, expected);
    }
    if (node->count < least || node->count > most) {
        char path[TACT_SCENE_PATH];
        tact_scene_index_path(check->index, node, path);
        return tact_scene_bad(check, path, "expected %s, got %" PRIu32, expected, node->count);
    }
    for (uint32_t i = node->first; i; i = check->index->nodes[i].next) {
        int rc = check_value(check, schema->sequence.entry, &check->index->nodes[i]);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

static int check_integer(const struct tact_scene_check *check, const cyaml_schema_value_t *schema,
                         const struct tact_index_node *node)
{
    bool is_signed = schema->type == CYAML_INT;
    char *end;
    errno = 0;
    long long value = strtoll(node->text, &end, 10);
    if (end == node->text || *end || errno || strspn(node->text, "+-0123456789") == 0) {
        return bad_node(check, node, "a whole number");
    }
    if (is_signed ? value < INT32_MIN || value > INT32_MAX : value < 0 || value > UINT32_MAX) {
        return bad_node(check, node,
                        is_signed ? "a whole number that fits 32 bits"
                                  : "a whole number of at least 0");
    }
    return 0;
}

static int check_text(const struct tact_scene_check *check, const cyaml_schema_value_t *schema,
                      const struct tact_index_node *node)
{
    if (strlen(node->text) < schema->string.min) {
        return bad_node(check, node, "text");
    }
    if (strlen(node->text) > schema->string.max) {
        char expected[64];
        snprintf(expected, sizeof expected, "at most %" PRIu32 " characters", schema->string.max);
        return bad_node(check, node, expected);
    }
    return 0;
}

static int check_scalar(const struct tact_scene_check *check, const cyaml_schema_value_t *schema,
                        const struct tact_index_node *node)
{
    static const char *const truths[] = {"true", "false", "yes", "no"};
    double value;
    switch (schema->type) {
    case CYAML_FLOAT:
        return node->kind != TACT_INDEX_SCALAR || !tact_scene_number(node->text, &value) ||
                       !isfinite(value)
                   ? bad_node(check, node, "a finite number")
                   : 0;
    case CYAML_INT:
    case CYAML_UINT:
        return node->kind != TACT_INDEX_SCALAR ? bad_node(check, node, "a whole number")
                                               : check_integer(check, schema, node);
    case CYAML_BOOL:
        for (size_t i = 0; node->kind == TACT_INDEX_SCALAR && i < 4; i++) {
            if (strcmp(node->text, truths[i]) == 0) {
                return 0;
            }
        }
        return bad_node(check, node, "true or false");
    default:
        return node->kind != TACT_INDEX_SCALAR ? bad_node(check, node, "text")
                                               : check_text(check, schema, node);
    }
}

static int check_value(const struct tact_scene_check *check, const cyaml_schema_value_t *schema,
                       const struct tact_index_node *node)
{
    switch (schema->type) {
    case CYAML_MAPPING:
        return check_map(check, schema, node);
    case CYAML_SEQUENCE:
    case CYAML_SEQUENCE_FIXED:
        return check_list(check, schema, node);
    case CYAML_IGNORE:
        return 0;
    default:
        return check_scalar(check, schema, node);
    }
}

int tact_scene_check_keys(const struct tact_scene_check *check)
{
    return check_value(check, tact_scene_schema(), check->index->nodes);
}
