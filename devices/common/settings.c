#include "devices/common/settings.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"

int tact_settings_fault(const struct tact_device_config *config,
                        const struct tact_device_setting *setting, struct tact_error *err,
                        const char *format, ...)
{
    char text[sizeof((struct tact_error *)0)->text];
    va_list args;
    va_start(args, format);
    tact_number_vprint(text, sizeof text, format, args);
    va_end(args);
    if (setting) {
        tact_error_at(err, setting->file ? setting->file : config->file, setting->line,
                      setting->column, setting->key);
    } else {
        tact_error_at(err, config->file, 0, 0, config->name);
    }
    return tact_error_set(err, -EINVAL, "%s", text);
}

const struct tact_device_setting *tact_settings_find(const struct tact_device_config *config,
                                                     const char *key)
{
    for (int i = 0; i < config->setting_count; i++) {
        if (strcmp(config->settings[i].key, key) == 0) {
            return &config->settings[i];
        }
    }
    return NULL;
}

/* Writes "a, b, c" into buf, truncated to its size. */
static void join_allowed_words(const char *const *words, size_t count, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        int n = snprintf(buf + used, size - used, "%s%s", i ? ", " : "", words[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* known: an allowed key or, ending in '[' or '.', the prefix of allowed keys */
static bool is_key_of_allowed_pattern(const char *key, const char *known)
{
    size_t n = strlen(known);
    bool is_key_prefix = n > 0 && (known[n - 1] == '[' || known[n - 1] == '.');
    return is_key_prefix ? strncmp(key, known, n) == 0 : strcmp(key, known) == 0;
}

int tact_settings_check(const struct tact_device_config *config, const char *const *keys,
                        size_t count, struct tact_error *err)
{
    for (int i = 0; i < config->setting_count; i++) {
        const struct tact_device_setting *setting = &config->settings[i];
        size_t k = 0;
        while (k < count && !is_key_of_allowed_pattern(setting->key, keys[k])) {
            k++;
        }
        if (k == count) {
            char known[256];
            join_allowed_words(keys, count, known, sizeof known);
            return tact_settings_fault(config, setting, err, "unknown key, expected one of %s",
                                       known);
        }
        if (tact_settings_find(config, setting->key) != setting) {
            return tact_settings_fault(config, setting, err, "key given twice");
        }
    }
    return 0;
}

int tact_settings_select(const struct tact_device_config *config, const char *prefix,
                         struct tact_device_setting *room, int most,
                         struct tact_device_config *part)
{
    size_t n = strlen(prefix);
    *part = *config;
    part->settings = room;
    part->setting_count = 0;
    for (int i = 0; i < config->setting_count && part->setting_count < most; i++) {
        if (strncmp(config->settings[i].key, prefix, n) == 0) {
            room[part->setting_count] = config->settings[i];
            room[part->setting_count++].key += n;
        }
    }
    return part->setting_count;
}

int tact_settings_parse(const char *text, double *value)
{
    char *end = NULL;
    double parsed_setting_number = tact_number_read(text, &end);
    if (strpbrk(text, "xX") || end == text || end[strspn(end, " \t\r\n")] != '\0') {
        return -EINVAL;
    }
    *value = parsed_setting_number;
    return 0;
}

int tact_settings_number(const struct tact_device_config *config, const char *key, double *value,
                         struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, key);
    double parsed_setting_number;
    if (!setting) {
        return 0;
    }
    if (setting->text) {
        if (tact_settings_parse(setting->text, &parsed_setting_number)) {
            return tact_settings_fault(config, setting, err, "expected a number, not '%s'",
                                       setting->text);
        }
    } else if (setting->numbers && setting->rows == 1 && setting->columns == 1) {
        parsed_setting_number = setting->numbers[0];
    } else {
        return tact_settings_fault(config, setting, err,
                                   "expected a number, not a list of numbers");
    }
    if (!isfinite(parsed_setting_number)) {
        return tact_settings_fault(config, setting, err, "expected a finite number");
    }
    *value = parsed_setting_number;
    return 0;
}

int tact_settings_positive(const struct tact_device_config *config, const char *key, double *value,
                           struct tact_error *err)
{
    double parsed_setting_number = 1.0;
    int rc = tact_settings_number(config, key, &parsed_setting_number, err);
    if (rc) {
        return rc;
    }
    if (!(parsed_setting_number > 0.0)) {
        return tact_settings_fault(config, tact_settings_find(config, key), err,
                                   "expected a number above 0, not %g", parsed_setting_number);
    }
    if (tact_settings_find(config, key)) {
        *value = parsed_setting_number;
    }
    return 0;
}

int tact_settings_text(const struct tact_device_config *config, const char *key, const char **value,
                       struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, key);
    if (!setting) {
        return 0;
    }
    if (!setting->text || setting->text[strspn(setting->text, " \t\r\n")] == '\0') {
        return tact_settings_fault(config, setting, err, "expected a text%s",
                                   setting->text ? ", not an empty one"
                                                 : ", not a list of numbers");
    }
    *value = setting->text;
    return 0;
}

int tact_settings_flag(const struct tact_device_config *config, const char *key, bool *value,
                       struct tact_error *err)
{
    static const char *const words[] = {"false", "true"};
    int index = *value;
    int rc = tact_settings_choice(config, key, words, 2, &index, err);
    if (rc == 0) {
        *value = index != 0;
    }
    return rc;
}

int tact_settings_path(const struct tact_device_config *config, const char *key, char *path,
                       size_t size, struct tact_error *err)
{
    const char *name = NULL;
    int rc = tact_settings_text(config, key, &name, err);
    if (rc || !name) {
        return rc;
    }
    const bool is_relative_path = name[0] != '/' && config->directory && config->directory[0];
    const int n = snprintf(path, size, "%s%s%s", is_relative_path ? config->directory : "",
                           is_relative_path ? "/" : "", name);
    return n >= 0 && (size_t)n < size ? 0
                                      : tact_settings_fault(config, tact_settings_find(config, key),
                                                            err, "file name too long");
}

int tact_settings_choice(const struct tact_device_config *config, const char *key,
                         const char *const *words, int count, int *index, struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, key);
    if (!setting) {
        return 0;
    }
    for (int i = 0; setting->text && i < count; i++) {
        if (strcmp(setting->text, words[i]) == 0) {
            *index = i;
            return 0;
        }
    }
    char known[256];
    join_allowed_words(words, (size_t)count, known, sizeof known);
    return tact_settings_fault(config, setting, err, "expected one of %s, not %s", known,
                               setting->text ? setting->text : "a list");
}

int tact_settings_list(const struct tact_device_config *config, const char *key, double *single,
                       const double **numbers, int *count, struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, key);
    if (!setting) {
        return 0;
    }
    if (setting->text) {
        int rc = tact_settings_number(config, key, single, err);
        if (rc == 0) {
            *numbers = single;
            *count = 1;
        }
        return rc;
    }
    if (!setting->numbers || setting->rows < 1 || setting->columns < 1 ||
        (setting->rows > 1 && setting->columns > 1)) {
        return tact_settings_fault(config, setting, err, "expected one row of numbers");
    }
    int n = setting->rows * setting->columns;
    for (int i = 0; i < n; i++) {
        if (!isfinite(setting->numbers[i])) {
            return tact_settings_fault(config, setting, err, "number %d of the list is not finite",
                                       i + 1);
        }
    }
    *numbers = setting->numbers;
    *count = n;
    return 0;
}

bool tact_settings_word(const char **text, char *word, size_t size)
{
    static const char blank_characters[] = " \t\r\n";
    *text += strspn(*text, blank_characters);
    size_t n = strcspn(*text, blank_characters);
    snprintf(word, size, "%.*s", (int)n, *text);
    *text += n;
    return n > 0;
}

void tact_settings_info(const struct tact_device_config *config, const char *type,
                        struct tact_device_info *info)
{
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "%s", config->name ? config->name : "");
    snprintf(info->type, sizeof info->type, "%s", type);
}

void tact_settings_channel(struct tact_device_channel *channel, const char *name, const char *unit,
                           double rest)
{
    snprintf(channel->name, sizeof channel->name, "%s", name);
    snprintf(channel->unit, sizeof channel->unit, "%s", unit);
    channel->rest = rest;
}
