/*
 * Building a device's config in a test: settings as a table, messages kept as text.
 *
 *   const struct tact_device_setting s[] = {SETTING("rate", "695"), NUMBERS("scale", 1, 3,
 * values)}; struct device_config c; device_config_init(&c, s, 2); int rc =
 * tact_trajectory_type.open(&c.config, &device, &c.err);
 *
 * Each setting stands, for the messages, in line 10 + its index, column 5 of "scene.yaml".
 */
#ifndef TACT_TEST_DEVICE_CONFIG_H
#define TACT_TEST_DEVICE_CONFIG_H

#include <stdio.h>
#include <string.h>
#include "rt/device.h"

#define SETTING(k, v)                                                                              \
    {                                                                                              \
        .key = (k), .text = (v)                                                                    \
    }
#define NUMBERS(k, r, c, v)                                                                        \
    {                                                                                              \
        .key = (k), .numbers = (v), .rows = (r), .columns = (c)                                    \
    }

struct device_config {
    struct tact_device_setting settings[16];
    struct tact_device_config config;
    struct tact_error err;
    char messages[4096]; /* the device's messages, one line each, after "info: ", "warning: " or
                            "error: " */
};

static inline void keep_device_message(void *user, enum tact_message_level level, const char *text)
{
    static const char *const levels[] = {"info", "warning", "error"};
    struct device_config *c = user;
    size_t used = strlen(c->messages);
    snprintf(c->messages + used, sizeof c->messages - used, "%s: %s\n", levels[level], text);
}

static inline void device_config_init(struct device_config *c,
                                      const struct tact_device_setting *settings, int count)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < count; i++) {
        c->settings[i] = settings[i];
        c->settings[i].line = 10 + i;
        c->settings[i].column = 5;
    }
    c->config = (struct tact_device_config){
        .name = "device",
        .directory = "",
        .file = "scene.yaml",
        .settings = c->settings,
        .setting_count = count,
        .period = 0.001,
        .messages = {keep_device_message, c},
    };
}

#endif
