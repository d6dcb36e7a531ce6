/* Requirements on single values. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "rt/scene/scene_internal.h"

const char *tact_scene_path_of_key(char path[TACT_SCENE_PATH_BYTES], const char *owner,
                                   const char *key)
{
    /* key paths come from the schema, so they fit; the precision shows it to the compiler */
    snprintf(path, TACT_SCENE_PATH_BYTES, "%.80s.%.40s", owner, key);
    return path;
}

int tact_scene_require_positive(const struct tact_scene_check_context *check, const char *owner,
                                const char *key, double value, const char *unit)
{
    char path[TACT_SCENE_PATH_BYTES];
    return value > 0.0
               ? 0
               : tact_scene_report_bad_value(check, tact_scene_path_of_key(path, owner, key),
                                             "must be greater than 0%s%s, got %g",
                                             unit[0] ? " " : "", unit, value);
}

int tact_scene_require_nonnegative(const struct tact_scene_check_context *check, const char *owner,
                                   const char *key, double value, const char *unit)
{
    char path[TACT_SCENE_PATH_BYTES];
    return value >= 0.0
               ? 0
               : tact_scene_report_bad_value(check, tact_scene_path_of_key(path, owner, key),
                                             "must be 0%s%s or more, got %g", unit[0] ? " " : "",
                                             unit, value);
}

int tact_scene_require_gain(const struct tact_scene_check_context *check, const char *owner,
                            const char *key, double value, const char *unit)
{
    char path[TACT_SCENE_PATH_BYTES];
    const int rc = tact_scene_require_nonnegative(check, owner, key, value, unit);
    return rc ? rc
              : tact_scene_require_between(check, tact_scene_path_of_key(path, owner, key), value,
                                           0.0, TACT_SCENE_MAX_GAIN, unit);
}

int tact_scene_require_between(const struct tact_scene_check_context *check, const char *path,
                               double value, double lower, double upper, const char *unit)
{
    return value >= lower && value <= upper
               ? 0
               : tact_scene_report_bad_value(check, path, "must be from %g to %g%s%s, got %g",
                                             lower, upper, unit[0] ? " " : "", unit, value);
}

int tact_scene_require_magnitude(const struct tact_scene_check_context *check, const char *owner,
                                 const char *key, const double *values, int count,
                                 double value_magnitude_limit, const char *unit)
{
    char path[TACT_SCENE_PATH_BYTES];
    for (int i = 0; i < count; i++) {
        if (!(fabs(values[i]) <= value_magnitude_limit)) {
            snprintf(path, sizeof path, count > 1 ? "%.80s.%.30s[%d]" : "%.80s.%.30s", owner, key,
                     i);
            return tact_scene_report_bad_value(check, path, "must be from %g to %g %s, got %g",
                                               -value_magnitude_limit, value_magnitude_limit, unit,
                                               values[i]);
        }
    }
    return 0;
}

int tact_scene_require_coordinates(const struct tact_scene_check_context *check, const char *owner,
                                   const char *key, const double *values, int count)
{
    return tact_scene_require_magnitude(check, owner, key, values, count, TACT_MESH_MAX_COORDINATE,
                                        "m");
}

int tact_scene_require_word(const struct tact_scene_check_context *check, const char *path,
                            const char *text, const char *const *words)
{
    char list[160] = "";
    size_t used = 0;
    for (; *words; words++) {
        if (strcmp(text, *words) == 0) {
            return 0;
        }
        int n = snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", *words);
        used += (size_t)n;
    }
    return tact_scene_report_bad_value(check, path, "expected one of %s; got \"%.60s\"", list,
                                       text);
}
