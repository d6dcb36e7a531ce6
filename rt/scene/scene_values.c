/* Stores the values of a file in structs by a schema of libcyaml, from the index: the text is
 * parsed once, and each error is one message in the user's terms. libcyaml's own loading would
 * parse it again, says an error without the path of its key, and accepts numbers that are not
 * finite and misspelt truth values. */
#include "rt/scene/scene_internal.h"
#include "rt/scene/yaml.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"a single value", "a list", "a map of keys"};

static int report_bad_yaml_node(const struct tact_scene_check_context *check,
                                const struct tact_scene_index_node *node, const char *expected)
{
    char path[TACT_SCENE_PATH_BYTES];
    tact_scene_index_path(check->index, node, path);
    tact_error_at(check->err, tact_scene_index_file(check->index, node), node->line, node->column,
                  path);
    if (node->kind != TACT_INDEX_SCALAR) {
        return tact_error_set(check->err, -EINVAL, "expected %s, got %s", expected,
                              kind_names[node->kind]);
    }
    if (!node->text[0]) {
        return tact_error_set(check->err, -EINVAL, "expected %s, got nothing", expected);
    }
    return tact_error_set(check->err, -EINVAL, "expected %s, got \"%.60s\"", expected, node->text);
}

/* Edit distance of the keys a and b, up to a limit that depends on their lengths. */
static size_t key_edit_distance(const char *a, const char *b)
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
            size_t min_key_edit_distance = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            min_key_edit_distance =
                row[j - 1] + 1 < min_key_edit_distance ? row[j - 1] + 1 : min_key_edit_distance;
            row[j] = corner + 1 < min_key_edit_distance ? corner + 1 : min_key_edit_distance;
        }
    }
    return row[lb];
}

static int report_unknown_key(const struct tact_scene_check_context *check,
                              const struct tact_scene_index_node *node,
                              const cyaml_schema_field_t *fields)
{
    char list[300] = "", path[TACT_SCENE_PATH_BYTES];
    const char *nearest = NULL;
    size_t used = 0, min_edit_distance = 3;
    for (const cyaml_schema_field_t *f = fields; f->key; f++) {
        int n = snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", f->key);
        used = used + (size_t)n < sizeof list ? used + (size_t)n : sizeof list - 1;
        size_t distance = key_edit_distance(node->key, f->key);
        if (distance < min_edit_distance) {
            min_edit_distance = distance;
            nearest = f->key;
        }
    }
    tact_scene_index_path(check->index, node, path);
    tact_error_at(check->err, tact_scene_index_file(check->index, node), node->key_line,
                  node->yaml_key_column, path);
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

/* Child of a map node with that key, or NULL. */
static const struct tact_scene_index_node *find_child_node(const struct tact_scene_index *index,
                                                           const struct tact_scene_index_node *map,
                                                           const char *key)
{
    for (uint32_t i = map->first; i; i = index->nodes[i].next) {
        if (strcmp(index->nodes[i].key, key) == 0) {
            return &index->nodes[i];
        }
    }
    return NULL;
}

static int load_yaml_value(const struct tact_scene_check_context *check,
                           const cyaml_schema_value_t *schema,
                           const struct tact_scene_index_node *node, char *to);

/* Where a value is stored: at `to`, or in `size` bytes of its own, to which `to` then points. NULL
 * where memory is short. */
static char *reserve_value_memory(const struct tact_scene_check_context *check,
                                  const cyaml_schema_value_t *schema, size_t size, char *to)
{
    if (schema->flags & CYAML_FLAG_POINTER) {
        char *zeroed_value_memory = calloc(1, size);
        if (!zeroed_value_memory) {
            tact_error_set(check->err, -ENOMEM, "out of memory");
            return NULL;
        }
        memcpy(to, &zeroed_value_memory, sizeof zeroed_value_memory);
        to = zeroed_value_memory;
    }
    return to;
}

static int load_map_value(const struct tact_scene_check_context *check,
                          const cyaml_schema_value_t *schema,
                          const struct tact_scene_index_node *node, char *to)
{
    if (node->kind != TACT_INDEX_MAP) {
        return report_bad_yaml_node(check, node, kind_names[TACT_INDEX_MAP]);
    }
    if (!(to = reserve_value_memory(check, schema, schema->data_size, to))) {
        return -ENOMEM;
    }
    const struct tact_scene_index *index = check->index;
    for (uint32_t i = node->first; i; i = index->nodes[i].next) {
        const cyaml_schema_field_t *f = find_field(schema->mapping.fields, index->nodes[i].key);
        if (!f) {
            return report_unknown_key(check, &index->nodes[i], schema->mapping.fields);
        }
        if (f->value.type == CYAML_SEQUENCE) {
            memcpy(to + f->count_offset, &index->nodes[i].count, sizeof index->nodes[i].count);
        }
        int rc = load_yaml_value(check, &f->value, &index->nodes[i], to + f->data_offset);
        if (rc) {
            return rc;
        }
    }
    for (const cyaml_schema_field_t *f = schema->mapping.fields; f->key; f++) {
        if (!(f->value.flags & CYAML_FLAG_OPTIONAL) && !find_child_node(index, node, f->key)) {
            char path[TACT_SCENE_PATH_BYTES], missing[TACT_SCENE_PATH_BYTES + 64];
            tact_scene_index_path(index, node, path);
            snprintf(missing, sizeof missing, "%s%s%s", path, path[0] ? "." : "", f->key);
            missing[TACT_SCENE_PATH_BYTES - 1] = '\0';
            return tact_scene_report_bad_value(check, missing,
                                               "missing; expected the key \"%s\" here", f->key);
        }
    }
    return 0;
}

/* Address of entry `place` of a list that starts at `to`; the sizes are those that cyaml_free()
 * expects. */
static char *list_entry_address(const cyaml_schema_value_t *entry, char *to,
                                uint32_t list_entry_index)
{
    return to +
           list_entry_index * (entry->flags & CYAML_FLAG_POINTER ? sizeof to : entry->data_size);
}

static int load_list_value(const struct tact_scene_check_context *check,
                           const cyaml_schema_value_t *schema,
                           const struct tact_scene_index_node *node, char *to)
{
    const cyaml_schema_value_t *entry = schema->sequence.entry;
    char expected_count_text[80];
    uint32_t least = schema->sequence.min, most = schema->sequence.max;
    if (least == most) {
        snprintf(expected_count_text, sizeof expected_count_text, "a list of %" PRIu32 " %s", least,
                 entry->type == CYAML_FLOAT ? "numbers" : "names");
    } else {
        snprintf(expected_count_text, sizeof expected_count_text,
                 "a list of %" PRIu32 " to %" PRIu32 " entries", least, most);
    }
    if (node->kind != TACT_INDEX_LIST) {
        return report_bad_yaml_node(check, node, expected_count_text);
    }
    if (node->count < least || node->count > most) {
        char path[TACT_SCENE_PATH_BYTES];
        tact_scene_index_path(check->index, node, path);
        return tact_scene_report_bad_value(check, path, "expected %s, got %" PRIu32,
                                           expected_count_text, node->count);
    }
    if (node->count &&
        !(to = reserve_value_memory(
              check, schema, (size_t)(list_entry_address(entry, to, node->count) - to), to))) {
        return -ENOMEM;
    }
    for (uint32_t i = node->first; i; i = check->index->nodes[i].next) {
        const struct tact_scene_index_node *n = &check->index->nodes[i];
        int rc = load_yaml_value(check, entry, n, list_entry_address(entry, to, n->index));
        if (rc) {
            return rc;
        }
    }
    return 0;
}

static int load_integer_value(const struct tact_scene_check_context *check,
                              const cyaml_schema_value_t *schema,
                              const struct tact_scene_index_node *node, char *to)
{
    bool is_signed_integer = schema->type == CYAML_INT;
    char *end;
    errno = 0;
    long long value = strtoll(node->text, &end, 10);
    if (end == node->text || *end || errno || strspn(node->text, "+-0123456789") == 0) {
        return report_bad_yaml_node(check, node, "a whole number");
    }
    if (is_signed_integer ? value < INT32_MIN || value > INT32_MAX
                          : value < 0 || value > UINT32_MAX) {
        return report_bad_yaml_node(check, node,
                                    is_signed_integer ? "an integer that fits in 32 bits"
                                                      : "an integer of at least 0");
    }
    const int32_t number = (int32_t)value; /* as an unsigned integer it has the same bits */
    memcpy(to, &number, sizeof number);
    return 0;
}

static int load_bool_value(const struct tact_scene_check_context *check,
                           const struct tact_scene_index_node *node, char *to)
{
    static const char *const words[] = {"false", "true", "no", "yes"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(node->text, words[i]) == 0) {
            const bool value = i % 2;
            memcpy(to, &value, sizeof value);
            return 0;
        }
    }
    return report_bad_yaml_node(check, node, "true or false");
}

static int load_text_value(const struct tact_scene_check_context *check,
                           const cyaml_schema_value_t *schema,
                           const struct tact_scene_index_node *node, char *to)
{
    size_t length = strlen(node->text);
    if (length < schema->string.min) {
        return report_bad_yaml_node(check, node, "text");
    }
    if (length > schema->string.max) {
        char expected_count_text[64];
        snprintf(expected_count_text, sizeof expected_count_text, "at most %" PRIu32 " characters",
                 schema->string.max);
        return report_bad_yaml_node(check, node, expected_count_text);
    }
    to = reserve_value_memory(check, schema, length + 1, to);
    return to ? (memcpy(to, node->text, length), 0) : -ENOMEM;
}

static int load_number_value(const struct tact_scene_check_context *check,
                             const struct tact_scene_index_node *node, char *to)
{
    double value;
    if (!tact_scene_parse_number(node->text, &value) || !isfinite(value)) {
        return report_bad_yaml_node(check, node, "a finite number");
    }
    memcpy(to, &value, sizeof value);
    return 0;
}

static int load_scalar_value(const struct tact_scene_check_context *check,
                             const cyaml_schema_value_t *schema,
                             const struct tact_scene_index_node *node, char *to)
{
    bool is_scalar_node = node->kind == TACT_INDEX_SCALAR;
    switch (schema->type) {
    case CYAML_FLOAT:
        return is_scalar_node ? load_number_value(check, node, to)
                              : report_bad_yaml_node(check, node, "a finite number");
    case CYAML_INT:
    case CYAML_UINT:
        return is_scalar_node ? load_integer_value(check, schema, node, to)
                              : report_bad_yaml_node(check, node, "a whole number");
    case CYAML_BOOL:
        return is_scalar_node ? load_bool_value(check, node, to)
                              : report_bad_yaml_node(check, node, "true or false");
    default:
        return is_scalar_node ? load_text_value(check, schema, node, to)
                              : report_bad_yaml_node(check, node, "text");
    }
}

static int load_yaml_value(const struct tact_scene_check_context *check,
                           const cyaml_schema_value_t *schema,
                           const struct tact_scene_index_node *node, char *to)
{
    switch (schema->type) {
    case CYAML_MAPPING:
        return load_map_value(check, schema, node, to);
    case CYAML_SEQUENCE:
    case CYAML_SEQUENCE_FIXED:
        return load_list_value(check, schema, node, to);
    case CYAML_IGNORE:
        return 0;
    default:
        return load_scalar_value(check, schema, node, to);
    }
}

int tact_scene_load_values(const struct tact_scene_check_context *check,
                           const cyaml_schema_value_t *schema, void **out)
{
    void *value = NULL;
    int rc = load_yaml_value(check, schema, check->index->nodes, (char *)&value);
    if (rc) {
        tact_yaml_free(schema, value);
        return rc;
    }
    *out = value;
    return 0;
}
