/* One number for all that a session of the same scene must give again. */
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
static uint64_t add(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static uint64_t add_layout(uint64_t hash, const struct tact_layout *layout)
{
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        if (f->kind != TACT_FIELD_TIMING) {
            hash = add(hash, f->name, strlen(f->name));
            hash = add(hash, &f->count, sizeof f->count);
        }
    }
    return hash;
}

static uint64_t add_record(uint64_t hash, const struct tact_layout *layout,
                           const struct tact_record *r)
{
    hash = add(hash, &r->tick, sizeof r->tick);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        const uint32_t stamp = difference_stamp(f);
        for (uint32_t k = 0; k < f->count && f->kind != TACT_FIELD_TIMING; k++) {
            if (k != stamp) {
                hash = add(hash, &r->values[f->offset + k], sizeof *r->values);
            }
        }
    }
    return hash;
}

static int digest(struct tact_log *log, uint64_t *hash)
{
    const struct tact_layout *layout = tact_log_layout(log);
    struct tact_record *r = malloc(tact_layout_bytes(layout));
    int rc = r ? 1 : -ENOMEM;
    *hash = add_layout(UINT64_C(0xcbf29ce484222325), layout);
    while (rc > 0 && (rc = tact_log_next(log, r)) > 0) {
        *hash = add_record(*hash, layout, r);
    }
    free(r);
    return rc;
}

int info_print_digests(char **paths, int count)
{
    int code = EXIT_GOOD;
    for (int i = 0; i < count; i++) {
        struct tact_error err = {.line = 0};
        struct tact_log *log;
        uint64_t hash;
        if (tact_log_open(paths[i], &log, &err)) {
            return command_error(&err);
        }
        int rc = digest(log, &hash);
        code = tact_log_state(log)->complete ? code : EXIT_DAMAGED;
        tact_log_close(log);
        if (rc) {
            tact_error_set(&err, rc, "%s: %s", paths[i], strerror(-rc));
            return command_error(&err);
        }
        printf("%016" PRIx64 "  %s\n", hash, text_shown(paths[i]));
    }
    return code;
}
