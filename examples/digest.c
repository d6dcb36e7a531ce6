/* A hash over all values that a session of the same scene must reproduce. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "difference.h"
#include "info.h"
#include "text.h"

/* FNV-1a, 64 bits. */
static uint64_t hash_bytes(uint64_t results_hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        results_hash = (results_hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return results_hash;
}

static uint64_t hash_layout(uint64_t results_hash, const struct tact_layout *layout)
{
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        if (f->kind != TACT_FIELD_TIMING) {
            results_hash = hash_bytes(results_hash, f->name, strlen(f->name));
            results_hash = hash_bytes(results_hash, &f->count, sizeof f->count);
        }
    }
    return results_hash;
}

static uint64_t hash_tick_record(uint64_t results_hash, const struct tact_layout *layout,
                                 const struct tact_record *r)
{
    results_hash = hash_bytes(results_hash, &r->tick, sizeof r->tick);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        const uint32_t stamp = difference_index_of_device_time_stamp(f);
        for (uint32_t k = 0; k < f->count && f->kind != TACT_FIELD_TIMING; k++) {
            if (k != stamp) {
                results_hash =
                    hash_bytes(results_hash, &r->values[f->offset + k], sizeof *r->values);
            }
        }
    }
    return results_hash;
}

static int compute_digest_of_all_values(struct tact_log *log, char out[INFO_DIGEST_TEXT_BYTES])
{
    const struct tact_layout *layout = tact_log_layout(log);
    struct tact_record *r = malloc(tact_layout_bytes(layout));
    int rc = r ? 1 : -ENOMEM;
    uint64_t results_hash = hash_layout(UINT64_C(0xcbf29ce484222325), layout);
    while (rc > 0 && (rc = tact_log_next(log, r)) > 0) {
        results_hash = hash_tick_record(results_hash, layout, r);
    }
    free(r);
    snprintf(out, INFO_DIGEST_TEXT_BYTES, "%016" PRIx64, results_hash);
    return rc;
}

static int compute_digest_of_results(struct tact_log *log, char out[INFO_DIGEST_TEXT_BYTES],
                                     struct tact_error *err)
{
    struct tact_messages messages = {command_print_message, NULL};
    struct tact_scene_log scene_log;
    int rc = tact_scene_log_open(log, messages, &scene_log, err);
    rc = rc ? rc : info_compute_results_digest(log, &scene_log, out);
    tact_scene_log_close(&scene_log);
    return rc;
}

/* Prints a line, or a message if the log cannot be read. Returns the exit code. */
static int print_digest_line(const char *path, int is_digest_of_results)
{
    struct tact_error err = {.line = 0};
    struct tact_log *log;
    char digest_text[INFO_DIGEST_TEXT_BYTES];
    if (tact_log_open(path, &log, &err)) {
        return command_print_error(&err);
    }
    int rc = is_digest_of_results ? compute_digest_of_results(log, digest_text, &err)
                                  : compute_digest_of_all_values(log, digest_text);
    int code = tact_log_state(log)->complete ? EXIT_GOOD : EXIT_DAMAGED_LOG;
    tact_log_close(log);
    if (rc) {
        struct tact_error error = {.line = 0};
        char why[sizeof error.text];
        tact_error_format(&err, why, sizeof why);
        tact_error_at(&error, path, 0, 0, NULL);
        tact_error_set(&error, rc, "%s", why[0] ? why : strerror(-rc));
        return command_print_error(&error);
    }
    printf("%s  %s\n", digest_text, text_make_printable(path));
    return code;
}

int info_print_digests(char **log_paths, int count, int is_digest_of_results)
{
    int code = EXIT_GOOD;
    for (int i = 0; i < count && code != EXIT_USAGE; i++) {
        int one = print_digest_line(log_paths[i], is_digest_of_results);
        code = one ? one : code;
    }
    return code;
}
