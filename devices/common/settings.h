/**
 * Reading a device's settings: typed, checked; errors have file, line and key.
 *
 * Every reader leaves its output unchanged if the key is absent, so set the default before the
 * call. No function here is real-time safe: factories call them while a scene is opened.
 */
#ifndef TACT_DEVICES_SETTINGS_H
#define TACT_DEVICES_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include "../../contact/api.h"
#include "../../rt/device.h"

TACT_BEGIN_DECLS

/**
 * Refuses keys that are not among the `count` of `keys`, and duplicate keys. A key of `keys` that
 * ends in '[' or '.' matches all keys with that prefix: the entries of a list or a map.
 * @retval 0, or -EINVAL with *err set
 */
TACT_API int tact_settings_check(const struct tact_device_config *config, const char *const *keys,
                                 size_t count, struct tact_error *err);

/** Finds the setting with a key. Returns NULL if it is absent. */
TACT_API const struct tact_device_setting *
tact_settings_find(const struct tact_device_config *config, const char *key);

/**
 * Selects the settings whose keys begin with `prefix` ("wrenches[0]."): *part is a copy of *config
 * that has only these, at most `most`, with the prefix removed; room: storage for them. Returns
 * their number.
 */
TACT_API int tact_settings_select(const struct tact_device_config *config, const char *prefix,
                                  struct tact_device_setting *room, int most,
                                  struct tact_device_config *part);

/**
 * Reads a finite number, in the unit of its key.
 * @retval 0, or -EINVAL with *err filled where it is no number, or not finite
 */
TACT_API int tact_settings_number(const struct tact_device_config *config, const char *key,
                                  double *value, struct tact_error *err);

/** Reads a finite number > 0, in the unit of its key; otherwise as tact_settings_number(). */
TACT_API int tact_settings_positive(const struct tact_device_config *config, const char *key,
                                    double *value, struct tact_error *err);

/**
 * Reads true or false.
 * @retval 0, or -EINVAL with *err filled
 */
TACT_API int tact_settings_flag(const struct tact_device_config *config, const char *key,
                                bool *value, struct tact_error *err);

/**
 * Reads a text that is not empty; *value points into the config.
 * @retval 0, or -EINVAL with *err filled where it is a list or empty
 */
TACT_API int tact_settings_text(const struct tact_device_config *config, const char *key,
                                const char **value, struct tact_error *err);

/**
 * Reads the name of a file; one that is relative starts at the scene's folder.
 * @retval 0, or -EINVAL with *err filled where it is a list, empty or too long
 */
TACT_API int tact_settings_path(const struct tact_device_config *config, const char *key,
                                char *path, size_t size, struct tact_error *err);

/**
 * Reads one of `count` words into its index.
 * @retval 0, or -EINVAL with *err filled, listing the words
 */
TACT_API int tact_settings_choice(const struct tact_device_config *config, const char *key,
                                  const char *const *words, int count, int *index,
                                  struct tact_error *err);

/**
 * Reads a list of finite numbers, in the unit of its key, or a single one as a list of one;
 * *numbers points into the config or at *single. A row and a column of n numbers are both n
 * numbers.
 * @retval 0, or -EINVAL with *err filled
 */
TACT_API int tact_settings_list(const struct tact_device_config *config, const char *key,
                                double *single, const double **numbers, int *count,
                                struct tact_error *err);

/** Fills *err with file, line, column and key of a setting (NULL: of the device's name only) and
 * the message; returns -EINVAL. */
TACT_API int tact_settings_fault(const struct tact_device_config *config,
                                 const struct tact_device_setting *setting, struct tact_error *err,
                                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Reads a number [1] written in the C locale from the whole of text (blanks around it are
 * allowed).
 *  @retval 0, or -EINVAL where it is none, or hexadecimal; inf and nan are numbers here */
TACT_API int tact_settings_parse(const char *text, double *value);

/** Copies the next word of *text (separated by blanks) into word, truncated to its size, and
 * advances *text. @retval false after the last word */
TACT_API bool tact_settings_word(const char **text, char *word, size_t size);

/** Clears *info and sets its name and type. */
TACT_API void tact_settings_info(const struct tact_device_config *config, const char *type,
                                 struct tact_device_info *info);

/** Fills one channel; name and unit are cut where too long. */
TACT_API void tact_settings_channel(struct tact_device_channel *channel, const char *name,
                                    const char *unit, double rest);

TACT_END_DECLS

#endif
