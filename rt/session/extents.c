/* The session's store of extents: in the cache folder of tact, with messages for the user. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/cache.h"
#include "rt/session/facts.h"
#include "rt/session/session_internal.h"

#define MAX_STORED_FIELD_EXTENT_BYTES (1u << 30) /* size limit for one stored extent */
#define MAX_FIELD_EXTENT_FOLDER_BYTES (1u << 29) /* size limit for all stored extents together */

/* The name contains the results version, so that no extent of another version is loaded. */
static void make_field_extent_cache_name(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s-%d", name, TACT_RESULTS_VERSION);
}

/* 1 for a name that make_field_extent_cache_name() makes, or one under which tact_cache_write()
 * writes such a file. */
static int is_field_extent_cache_name(const char *name)
{
    const char *at = name;
    if (strncmp(at, "field-", 6) != 0 || strspn(at += 6, "0123456789abcdef") != 32 ||
        *(at += 32) != '-') {
        return 0;
    }
    size_t digit_count_of_key_hash = strspn(++at, "0123456789");
    at += digit_count_of_key_hash;
    return digit_count_of_key_hash &&
           (!*at || (*at == '.' && strlen(at) == 7 && !strchr(at + 1, '.')));
}

static int load_cached_field_extent(void *user, const char *name, void **data, size_t *size)
{
    char file[80], *bytes;
    uint64_t count;
    (void)user;
    make_field_extent_cache_name(name, file, sizeof file);
    int rc = tact_cache_read(file, MAX_STORED_FIELD_EXTENT_BYTES, &bytes, &count);
    if (!rc) {
        *data = bytes;
        *size = (size_t)count;
    }
    return rc;
}

static void save_cached_field_extent(void *user, const char *name, const void *data, size_t size)
{
    const struct tact_session *s = user;
    char file[80];
    make_field_extent_cache_name(name, file, sizeof file);
    int rc = tact_cache_write(file, data, size);
    if (!rc) {
        tact_cache_trim(is_field_extent_cache_name, MAX_FIELD_EXTENT_FOLDER_BYTES);
    } else {
        tact_message(s->options.messages, TACT_MESSAGE_INFO,
                     "the computed pressure field of %s could not be stored and will be computed "
                     "again in the next run: %s",
                     tact_session_owner_name(s, s->shape_in_preparation),
                     rc == -ENOENT ? "this user has no private cache folder" : strerror(-rc));
    }
}

static void warn_of_field_extent_cache_error(void *user, const char *text)
{
    const struct tact_session *s = user;
    struct tact_error at = {.line = 0};
    char located_warning_text[1024];
    tact_session_set_error_location(s, s->shape_in_preparation, &at);
    tact_error_set(&at, 0, "a shape of %s: %s", tact_session_owner_name(s, s->shape_in_preparation),
                   text);
    tact_error_format(&at, located_warning_text, sizeof located_warning_text);
    tact_message(s->options.messages, TACT_MESSAGE_WARNING, "%s", located_warning_text);
}

void tact_session_open_field_extent_store(struct tact_session *s)
{
    s->extents =
        (struct tact_extent_store){TACT_ABI(struct tact_extent_store), s, load_cached_field_extent,
                                   save_cached_field_extent, warn_of_field_extent_cache_error};
}
