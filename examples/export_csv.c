/* A log as a table of text: a line a tick, 17 digits a number, which is every bit of a double. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "export.h"
#include "text.h"

/* Names of scenes and devices, quoted as in RFC 4180 if they contain a comma or a quote. */
static void write_column_name(FILE *to, const char *field, const char *element_name)
{
    const char *name = text_make_printable(element_name);
    int is_name_quoted = strpbrk(name, ",\"") != NULL;
    fprintf(to, is_name_quoted ? ",\"%s[" : ",%s[", field);
    for (; *name; name++) {
        fputs(*name == '"' ? "\"" : "", to);
        fputc(*name, to);
    }
    fputs(is_name_quoted ? "]\"" : "]", to);
}

/* time, tick, stamp_ns, then name of a field, or name[0], name[1], ... of one with several
   elements, with the name of the joint or channel in place of its number. */
static void write_csv_header(FILE *to, const struct tact_layout *layout,
                             const struct export_names *names)
{
    fprintf(to, "%s,tick,stamp_ns", names->time);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        for (uint32_t k = 0; k < f->count; k++) {
            const char *element_name = names->element_name[f->offset + k];
            if (element_name) {
                write_column_name(to, f->name, element_name);
            } else if (f->count > 1) {
                fprintf(to, ",%s[%" PRIu32 "]", f->name, k);
            } else {
                fprintf(to, ",%s", f->name);
            }
        }
    }
    fputs("\n", to);
}

int export_csv(struct tact_log *log, const struct export_names *names, struct output *out,
               struct tact_error *err)
{
    const struct tact_layout *layout = tact_log_layout(log);
    struct tact_record *r = malloc(tact_layout_bytes(layout));
    FILE *to = out->to;
    int rc = r ? 1 : -ENOMEM;
    write_csv_header(to, layout, names);
    while (rc > 0 && (rc = tact_log_next(log, r)) > 0) {
        fprintf(to, "%.17g,%" PRIu64 ",%" PRId64, (double)r->tick * names->period, r->tick,
                r->stamp_ns);
        for (uint32_t i = 0; i < layout->size; i++) {
            fprintf(to, ",%.17g", r->values[i]);
        }
        fputs("\n", to);
        if (ferror(to)) {
            rc = 0; /* output_close() reports the reason of a failed write */
        }
    }
    free(r);
    return rc ? tact_error_set(err, rc, "%s", strerror(-rc)) : 0;
}
