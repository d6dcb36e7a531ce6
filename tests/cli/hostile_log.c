/* hostile_log IN OUT STRINGS: copies a log and inserts strings in every place that a reader
 * displays: units of the fields, names and texts of events, facts, names and units of devices'
 * channels. STRINGS contains them one after the other, each ended by a zero byte. The copy is
 * complete with correct checksums. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/log/encode_internal.h"
#include "rt/log/log_reader.h"
#include "support/rewrite.h"

#define MAX_HOSTILE_TEXTS 64

static const char *hostile_texts[MAX_HOSTILE_TEXTS];
static size_t count;

static int read_hostile_texts(const char *path)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    for (size_t at = 0; at < size && count < MAX_HOSTILE_TEXTS; at += strlen(text + at) + 1) {
        hostile_texts[count++] = text + at;
    }
    return file && count ? fclose(file) : -1;
}

/* A line end in a unit would end the line of the schema, and the log would be refused. */
static void overwrite_units_with_hostile_text(struct tact_layout *layout)
{
    for (uint32_t i = 0; i < layout->field_count; i++) {
        char *unit = layout->fields[i].unit;
        snprintf(unit, sizeof layout->fields[i].unit, "%s", hostile_texts[i % count]);
        for (char *c = unit; *c; c++) {
            *c = *c == '\n' ? ' ' : *c;
        }
    }
}

/* The names of a session's channels must match its scene, so they are not changed there. */
static void overwrite_names_with_hostile_text(json_t *channels, int names)
{
    for (size_t i = 0; i < json_array_size(channels); i++) {
        json_t *channel = json_array_get(channels, i);
        if (names) {
            json_object_set_new(channel, "name", json_string(hostile_texts[i % count]));
        }
        json_object_set_new(channel, "unit", json_string(hostile_texts[(i + 1) % count]));
    }
}

static char *devices; /* text of the attachment that describes the devices; freed by copy_log() */

static struct tact_log_attachment corrupt_device_attachment(struct tact_log_attachment attachment,
                                                            int names)
{
    json_t *list = json_loadb(attachment.data, attachment.size, 0, NULL);
    for (size_t i = 0; i < json_array_size(list); i++) {
        overwrite_names_with_hostile_text(json_object_get(json_array_get(list, i), "inputs"),
                                          names);
    }
    devices = json_dumps(list, 0);
    attachment.data = devices;
    attachment.size = strlen(devices);
    json_decref(list);
    return attachment;
}

static int copy_log(struct tact_log *log, struct tact_mcap_writer *writer)
{
    struct log_rewrite log_rewrite;
    struct tact_log_fact facts[2 * MAX_HOSTILE_TEXTS];
    struct tact_log_attachment attachments[MAX_HOSTILE_TEXTS];
    struct tact_recorder_content content;
    struct tact_encoder encoder;
    struct tact_bytes scene = {0};
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    struct tact_record *record_with_hostile_units = NULL;
    const int names = tact_log_attachment(log, "import.yaml") != NULL;
    if (!open_recorder_of_log_copy(&log_rewrite, log)) {
        overwrite_units_with_hostile_text(&log_rewrite.layout);
        record_with_hostile_units = malloc(tact_layout_bytes(&log_rewrite.layout));
    }
    content = recorder_content_of_log_copy(&log_rewrite);
    content.facts = facts;
    content.attachments = attachments;
    for (size_t i = 0; i < tact_log_fact_count(log) && i < MAX_HOSTILE_TEXTS; i++) {
        facts[content.fact_count++] = *tact_log_fact_at(log, i);
    }
    for (size_t i = 0; i < count; i++) {
        facts[content.fact_count++] = (struct tact_log_fact){hostile_texts[i], hostile_texts[i]};
    }
    for (size_t i = 0; i < tact_log_attachment_count(log) && i < MAX_HOSTILE_TEXTS; i++) {
        struct tact_log_attachment a = *tact_log_attachment_at(log, i);
        attachments[content.attachment_count++] =
            strcmp(a.name, "devices.json") ? a : corrupt_device_attachment(a, names);
    }
    int rc = tact_encoder_init(&encoder, writer, &content, &scene, 0, 0, 0, 0);
    for (uint64_t i = 0;
         rc == 0 && record && record_with_hostile_units && tact_log_next(log, record) > 0; i++) {
        convert_record_to_copy_layout(&log_rewrite, record, record_with_hostile_units);
        tact_encode_record(&encoder, record_with_hostile_units);
        if (i < count) {
            tact_encode_event(&encoder, record->tick, record->stamp_ns,
                              i % 2 ? "marker" : hostile_texts[i], hostile_texts[i]);
        }
    }
    rc = rc ? rc : tact_mcap_writer_flush(writer);
    tact_encoder_free(&encoder);
    free_log_copy_buffers(&log_rewrite);
    free(record_with_hostile_units);
    free(record);
    free(devices);
    return rc;
}

int main(int argc, char **argv)
{
    struct tact_log *log;
    struct tact_mcap_writer *writer;
    if (argc != 4 || read_hostile_texts(argv[3]) || tact_log_open(argv[1], &log, NULL)) {
        return 2;
    }
    int fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || tact_mcap_writer_open(fd, "ros2", "hostile", 1, &writer)) {
        return 1;
    }
    int rc = copy_log(log, writer);
    tact_log_close(log);
    return tact_mcap_writer_close(writer, NULL) || rc ? 1 : 0;
}
