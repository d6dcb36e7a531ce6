/* A log as a table of text: a line a tick, 17 digits a number, which is every bit of a double. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "export.h"

/* tick, stamp_ns, then name of a field, or name[0], name[1], ... of one with several elements. */
static void header(FILE *to, const struct tact_layout *layout)
{
    fputs("tick,stamp_ns", to);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        for (uint32_t k = 0; k < f->count; k++) {
            fprintf(to, ",%s", f->name);
            if (f->count > 1) {
                fprintf(to, "[%" PRIu32 "]", k);
            }
        }
    }
    fputs("\n", to);
}

int export_csv(struct tact_log *log, struct output *out, struct tact_error *err)
{
    const struct tact_layout *layout = tact_log_layout(log);
    struct tact_record *r = malloc(tact_layout_bytes(layout));
    FILE *to = out->to;
    int rc = r ? 1 : -ENOMEM;
    header(to, layout);
    while (rc > 0 && (rc = tact_log_next(log, r)) > 0) {
        fprintf(to, "%" PRIu64 ",%" PRId64, r->tick, r->stamp_ns);
        for (uint32_t i = 0; i < layout->size; i++) {
            fprintf(to, ",%.17g", r->values[i]);
        }
        fputs("\n", to);
        if (ferror(to)) {
            rc = 0; /* output_close() tells why */
        }
    }
    free(r);
    return rc ? tact_error_set(err, rc, "%s", strerror(-rc)) : 0;
}
