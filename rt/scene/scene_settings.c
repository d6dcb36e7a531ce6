/* Settings of devices, collected from the index, as no schema describes them. */
#include "rt/scene/scene_internal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Settings of one device while they are collected. */
struct device_settings_collector {
    const struct tact_scene_check_context *check;
    struct tact_scene_device *device;
    uint32_t capacity;
};

static int report_no_memory_for_settings(const struct device_settings_collector *c)
{
    return tact_error_set(c->check->err, -ENOMEM, "out of memory");
}

static const struct tact_scene_index_node *
first_child_of_setting_node(const struct device_settings_collector *c,
                            const struct tact_scene_index_node *node)
{
    return node->first ? &c->check->index->nodes[node->first] : NULL;
}

static const struct tact_scene_index_node *
next_sibling_of_setting_node(const struct device_settings_collector *c,
                             const struct tact_scene_index_node *node)
{
    return node->next ? &c->check->index->nodes[node->next] : NULL;
}

static bool is_number_node(const struct tact_scene_index_node *node)
{
    static const char *const not_finite[] = {".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",
                                             "+.inf", "-.inf", "-.Inf", "-.INF", ".INF"};
    double value;
    if (node->kind != TACT_INDEX_SCALAR || !node->is_unquoted_scalar) {
        return false;
    }
    for (size_t i = 0; i < sizeof not_finite / sizeof *not_finite; i++) {
        if (strcmp(node->text, not_finite[i]) == 0) {
            return true;
        }
    }
    return tact_scene_parse_number(node->text, &value);
}

/* Number of columns if node is a list of numbers (0: an empty one), else -1. */
static int count_numbers_in_row(const struct device_settings_collector *c,
                                const struct tact_scene_index_node *node)
{
    if (node->kind != TACT_INDEX_LIST || node->count > INT_MAX) {
        return -1;
    }
    for (const struct tact_scene_index_node *n = first_child_of_setting_node(c, node); n;
         n = next_sibling_of_setting_node(c, n)) {
        if (!is_number_node(n)) {
            return -1;
        }
    }
    return (int)node->count;
}

/* Whether node is a list of numbers, or a list of lists of numbers. */
static bool is_table_of_numbers(const struct device_settings_collector *c,
                                const struct tact_scene_index_node *node)
{
    if (count_numbers_in_row(c, node) > 0) {
        return true;
    }
    const struct tact_scene_index_node *row = first_child_of_setting_node(c, node);
    if (node->kind != TACT_INDEX_LIST || !row) {
        return false;
    }
    for (; row; row = next_sibling_of_setting_node(c, row)) {
        if (count_numbers_in_row(c, row) < 0) {
            return false;
        }
    }
    return true;
}

static int read_table_row(const struct device_settings_collector *c,
                          const struct tact_scene_index_node *row, double *values)
{
    for (const struct tact_scene_index_node *n = first_child_of_setting_node(c, row); n;
         n = next_sibling_of_setting_node(c, n)) {
        if (!tact_scene_parse_number(n->text, values) || !isfinite(*values)) {
            char path[TACT_SCENE_PATH_BYTES];
            tact_scene_index_path(c->check->index, n, path);
            return tact_scene_report_bad_value(c->check, path,
                                               "expected a finite number, got \"%.60s\"", n->text);
        }
        values++;
    }
    return 0;
}

static int read_number_table(const struct device_settings_collector *c,
                             const struct tact_scene_index_node *node,
                             struct tact_device_setting *setting)
{
    const struct tact_scene_index_node *row = first_child_of_setting_node(c, node);
    bool is_setting_single_number = row->kind == TACT_INDEX_SCALAR;
    uint32_t rows = is_setting_single_number ? 1 : node->count,
             columns = is_setting_single_number ? node->count : row->count;
    double *numbers = calloc((size_t)rows * columns + 1, sizeof *numbers);
    if (!numbers) {
        return report_no_memory_for_settings(c);
    }
    setting->numbers = numbers;
    setting->rows = (int)rows;
    setting->columns = (int)columns;
    if (is_setting_single_number) {
        return read_table_row(c, node, numbers);
    }
    for (uint32_t i = 0; row; row = next_sibling_of_setting_node(c, row), i++) {
        if (row->count != columns || columns == 0) {
            char path[TACT_SCENE_PATH_BYTES];
            tact_scene_index_path(c->check->index, row, path);
            return tact_scene_report_bad_value(
                c->check, path, "expected %u numbers in this row, as in the first row, got %u",
                columns ? columns : 1, row->count);
        }
        int rc = read_table_row(c, row, numbers + (size_t)i * columns);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

static int add_device_setting(struct device_settings_collector *c,
                              const struct tact_scene_index_node *node, const char *key)
{
    struct tact_scene_device *device = c->device;
    if (device->settings_count == c->capacity) {
        uint32_t capacity = c->capacity ? 2 * c->capacity : 8;
        void *enlarged_device_settings =
            realloc(device->settings, capacity * sizeof *device->settings);
        if (!enlarged_device_settings) {
            return report_no_memory_for_settings(c);
        }
        device->settings = enlarged_device_settings;
        c->capacity = capacity;
    }
    struct tact_device_setting *setting = &device->settings[device->settings_count];
    *setting = (struct tact_device_setting){.line = node->line, .column = node->column};
    setting->key = strdup(key);
    if (!setting->key) {
        return report_no_memory_for_settings(c);
    }
    device->settings_count++;
    if (node->kind != TACT_INDEX_SCALAR) {
        return read_number_table(c, node, setting);
    }
    setting->text = strdup(node->text);
    return setting->text ? 0 : report_no_memory_for_settings(c);
}

static int collect_device_settings(struct device_settings_collector *c,
                                   const struct tact_scene_index_node *node, const char *key)
{
    if (node->kind == TACT_INDEX_SCALAR || is_table_of_numbers(c, node)) {
        return add_device_setting(c, node, key);
    }
    if (!node->first && key[0]) {
        char path[TACT_SCENE_PATH_BYTES];
        tact_scene_index_path(c->check->index, node, path);
        return tact_scene_report_bad_value(
            c->check, path, "expected a value of this device setting, got an empty list or map");
    }
    for (const struct tact_scene_index_node *n = first_child_of_setting_node(c, node); n;
         n = next_sibling_of_setting_node(c, n)) {
        char nested_setting_key[TACT_SCENE_PATH_BYTES];
        int length = n->key ? snprintf(nested_setting_key, sizeof nested_setting_key, "%s%s%s", key,
                                       key[0] ? "." : "", n->key)
                            : snprintf(nested_setting_key, sizeof nested_setting_key, "%s[%u]", key,
                                       n->index);
        if (length >= (int)sizeof nested_setting_key) {
            char path[TACT_SCENE_PATH_BYTES];
            tact_scene_index_path(c->check->index, n, path);
            return tact_scene_report_bad_value(
                c->check, path, "expected a device setting whose key has at most %d characters",
                TACT_SCENE_PATH_BYTES - 1);
        }
        int rc = collect_device_settings(c, n, nested_setting_key);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

int tact_scene_collect_settings(const struct tact_scene_check_context *check,
                                struct tact_scene *scene)
{
    for (uint32_t i = 0; i < scene->devices_count; i++) {
        char path[TACT_SCENE_PATH_BYTES];
        snprintf(path, sizeof path, "devices[%u].settings", i);
        const struct tact_scene_index_node *node = tact_scene_index_find(check->index, path);
        if (!node || (node->kind == TACT_INDEX_SCALAR && !node->text[0])) {
            continue;
        }
        if (node->kind != TACT_INDEX_MAP) {
            return tact_scene_report_bad_value(
                check, path, "expected a map of device settings, as in `file: a.csv`");
        }
        struct device_settings_collector c = {.check = check, .device = &scene->devices[i]};
        int rc = collect_device_settings(&c, node, "");
        if (rc) {
            return rc;
        }
    }
    return 0;
}

int tact_scene_append_settings(const struct tact_scene_check_context *check,
                               struct tact_scene_device *device)
{
    struct device_settings_collector c = {check, device, device->settings_count};
    return collect_device_settings(&c, check->index->nodes, "");
}

void tact_scene_free_setting(struct tact_device_setting *setting)
{
    free((char *)setting->key);
    free((char *)setting->text);
    free((double *)setting->numbers);
}

void tact_scene_free_settings(struct tact_scene *scene)
{
    for (uint32_t i = 0; i < scene->devices_count; i++) {
        struct tact_scene_device *device = &scene->devices[i];
        for (uint32_t j = 0; j < device->settings_count; j++) {
            tact_scene_free_setting(&device->settings[j]);
        }
        free(device->settings);
        free(device->calibration_text);
        free(device->haptic);
        free(device->haptic_model);
    }
}
