/* change_log IN OUT FIELD ELEMENT TICK [KEY=VALUE]: copies a log and changes the last bit of one
 * number in it, and one of its facts. The copy is complete with correct checksums: only a replay
 * can detect the change. Instead of a fact, number=X sets the number, gap=N leaves out N ticks from
 * that one on, and end=0 that tick and all after it: with TICK 0 the copy has no tick, but an
 * event. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/log/log_reader.h"
#include "rt/log/recorder.h"
#include "support/rewrite.h"

#define MAX_LOG_FACTS 64

static int copy_log_with_changed_value(struct tact_log *log, const struct log_rewrite *log_rewrite,
                                       struct tact_recorder *out, long value, uint64_t tick,
                                       const char *set)
{
    const int ends = set && !strcmp(set, "end=0");
    const char *number = set && !strncmp(set, "number=", 7) ? set + 7 : NULL;
    const uint64_t gap = set && !strncmp(set, "gap=", 4) ? strtoull(set + 4, NULL, 10) : 0;
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    int rc, is_log_changed = 0;
    while (record && (rc = tact_log_next(log, record)) > 0) {
        if (record->tick == tick && ends) {
            is_log_changed = tact_recorder_event(out, tick, record->stamp_ns, "end", "here") == 0;
            break;
        }
        if (record->tick >= tick && record->tick - tick < gap) {
            is_log_changed = 1;
            continue;
        }
        if (record->tick == tick && number) {
            record->values[value] = strtod(number, NULL);
            is_log_changed = 1;
        } else if (record->tick == tick) {
            uint64_t bits;
            memcpy(&bits, &record->values[value], sizeof bits);
            bits ^= 1;
            memcpy(&record->values[value], &bits, sizeof bits);
            is_log_changed = 1;
        }
        if (append_record_to_log_copy(log_rewrite, record, out)) {
            break;
        }
    }
    free(record);
    return is_log_changed;
}

/* Opens the recorder of the copy. "KEY=VALUE" replaces a fact of the log; NULL replaces none. */
static struct tact_recorder *open_recorder_of_changed_copy(struct tact_log *log,
                                                           const struct log_rewrite *log_rewrite,
                                                           const char *path, const char *set)
{
    static const char *const keys[] = {"results_version", "build",  "machine", "cpu",   "libc",
                                       "sleef",           "lapack", "blas",    "scene", "period_s"};
    struct tact_log_fact facts[MAX_LOG_FACTS];
    struct tact_recorder_content content = recorder_content_of_log_copy(log_rewrite);
    content.facts = facts;
    struct tact_recorder_options options = tact_recorder_options_default();
    struct tact_messages messages = {NULL, NULL};
    options.replace = 1;
    struct tact_recorder *out;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t length = strlen(keys[i]);
        int is_log_changed = set && !strncmp(set, keys[i], length) && set[length] == '=';
        const char *value = is_log_changed ? set + length + 1 : tact_log_fact(log, keys[i]);
        if (value) {
            facts[content.fact_count++] = (struct tact_log_fact){keys[i], value};
        }
    }
    content.attachment_count = tact_log_attachment_count(log);
    content.attachments = content.attachment_count ? tact_log_attachment_at(log, 0) : NULL;
    return tact_recorder_open(path, &options, &content, messages, &out, NULL) ? NULL : out;
}

int main(int argc, char **argv)
{
    struct tact_log *log;
    struct log_rewrite log_rewrite;
    uint32_t count = 0;
    if (argc < 6 || argc > 7 || tact_log_open(argv[1], &log, NULL)) {
        fprintf(stderr, "change_log IN OUT FIELD ELEMENT TICK [KEY=VALUE]\n");
        return 2;
    }
    long field = tact_log_field(log, argv[3], &count), element = strtol(argv[4], NULL, 10);
    struct tact_recorder *out =
        field >= 0 && element < count && !open_recorder_of_log_copy(&log_rewrite, log)
            ? open_recorder_of_changed_copy(log, &log_rewrite, argv[2], argv[6])
            : NULL;
    if (!out) {
        fprintf(stderr, "no field %s[%ld], or the copy cannot be opened\n", argv[3], element);
        return 2;
    }
    int is_log_changed = copy_log_with_changed_value(log, &log_rewrite, out, field + element,
                                                     strtoull(argv[5], NULL, 10), argv[6]);
    int rc = tact_recorder_close(out, NULL);
    free_log_copy_buffers(&log_rewrite);
    tact_log_close(log);
    return rc || !is_log_changed ? 1 : 0;
}
