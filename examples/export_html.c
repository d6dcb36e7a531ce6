/* The page of the viewer as one file, with the session in it: text and scripts of the page, then
 * all messages that a server would send. A message is u32 kind (1 text, 2 binary), u32 bytes, and
 * the bytes up to a multiple of 8; all of them stand in base64 in the element `recording`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "export.h"
#include "text.h"
#include "viewer/pages.h"
#include "viewer/playback.h"

#define MAX_EXPORTED_FRAMES 20000
#define EXPORTED_FRAMES_PER_SECOND 60.0
#define UNLIMITED_TIME_BUDGET_NS (INT64_MAX / 2)
/* Maximum total size of the records' values in the page, which has those of the first fields, as
 * many as fit. */
#define MAX_EXPORTED_VALUE_BYTES (32.0 * 1024.0 * 1024.0)
#define MAX_LISTED_OMITTED_FIELDS                                                                  \
    16 /* most fields that are named where the page does not have them */

/* The page loads no other file, whatever the session contains. */
static const char content_security_policy[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n";

/* Bytes to base64, three at a time. */
struct base64_encoder {
    FILE *to;
    unsigned char kept[3];
    int count;
};

static void flush_base64_group(struct base64_encoder *b)
{
    static const char base64_alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned encoded_24_bits = (unsigned)b->kept[0] << 16 | (unsigned)b->kept[1] << 8 | b->kept[2];
    char out[4];
    for (int i = 0; i < 4; i++) {
        out[i] = i <= b->count ? base64_alphabet[encoded_24_bits >> (18 - 6 * i) & 63] : '=';
    }
    fwrite(out, 1, sizeof out, b->to);
    memset(b->kept, 0, sizeof b->kept);
    b->count = 0;
}

static void write_base64(struct base64_encoder *b, const void *data, size_t size)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < size; i++) {
        b->kept[b->count++] = at[i];
        if (b->count == 3) {
            flush_base64_group(b);
        }
    }
}

static void write_message_base64(struct base64_encoder *b, int text, const void *data, size_t size)
{
    static const unsigned char zero_padding[8];
    const uint32_t fields[2] = {text ? 1 : 2, (uint32_t)size};
    unsigned char head[sizeof fields];
    memcpy(head, fields, sizeof head);
    write_base64(b, head, sizeof head);
    write_base64(b, data, size);
    write_base64(b, zero_padding, (8 - size % 8) % 8);
}

/* Ticks from one exported frame to the next. */
static double compute_ticks_per_frame(const struct playback *p)
{
    const double ticks = (double)tact_log_state(p->log)->ticks;
    double step = 1.0 / (EXPORTED_FRAMES_PER_SECOND * p->scene_log.scene->period);
    step = step < 1.0 ? 1.0 : step;
    return ticks / step > MAX_EXPORTED_FRAMES ? ticks / MAX_EXPORTED_FRAMES : step;
}

/* The number of the log's first fields that the page can list and whose values in all frames do not
 * exceed the limit. *values: how many values a record has of them. */
static uint32_t count_exported_fields(const struct playback *p, size_t *values)
{
    const struct tact_layout *layout = tact_log_layout(p->log);
    const double exported_frame_count =
        (double)tact_log_state(p->log)->ticks / compute_ticks_per_frame(p);
    uint32_t count = 0;
    *values = 0;
    for (; count < layout->field_count; count++) {
        const size_t end = (size_t)layout->fields[count].offset + layout->fields[count].count;
        const size_t bytes = sizeof(struct wire_record_values) + sizeof(float) * end;
        if (end > WIRE_MAX_HELLO_VALUES ||
            exported_frame_count * (double)bytes > MAX_EXPORTED_VALUE_BYTES) {
            break;
        }
        *values = end;
    }
    return count;
}

/* Names on stderr the fields of the log that the page does not have. */
static void report_omitted_fields(const struct playback *p, const struct output *out)
{
    const struct tact_layout *layout = tact_log_layout(p->log);
    const uint32_t count = layout->field_count;
    size_t values;
    const uint32_t kept = count_exported_fields(p, &values);
    if (kept == count) {
        return;
    }
    fprintf(stderr,
            "%s: %s: left out %u of %u fields of the log, as the page takes at most %d values and "
            "%.0f MiB:",
            out->command, text_make_printable(out->path), count - kept, count,
            WIRE_MAX_HELLO_VALUES, MAX_EXPORTED_VALUE_BYTES / (1024.0 * 1024.0));
    for (uint32_t i = kept; i < count && i < kept + MAX_LISTED_OMITTED_FIELDS; i++) {
        fprintf(stderr, "%s %s", i > kept ? "," : "", text_make_printable(layout->fields[i].name));
    }
    if (count - kept > MAX_LISTED_OMITTED_FIELDS) {
        fprintf(stderr, ", and all up to %s", text_make_printable(layout->fields[count - 1].name));
    }
    fputs("; --csv and --hdf5 write all\n", stderr);
}

static int write_frames_base64(struct playback *p, struct base64_encoder *b)
{
    struct tact_world *world = tact_session_world(p->scene_log.session);
    uint64_t ticks = tact_log_state(p->log)->ticks;
    const double step = compute_ticks_per_frame(p);
    size_t values;
    count_exported_fields(p, &values);
    unsigned char *frame = malloc(wire_max_frame_bytes(world, p->scene_log.device_count) +
                                  wire_record_values_bytes(values));
    struct wire_sample *sample = malloc(wire_sample_bytes(world, p->scene_log.device_count));
    int rc = frame && sample ? 0 : -ENOMEM;
    for (double at = 1.0; !rc && p->index + 1 < ticks && !ferror(b->to); at += step) {
        uint64_t target = (uint64_t)at;
        rc = playback_go_to_tick(p, target < ticks - 1 ? target : ticks - 1,
                                 UNLIMITED_TIME_BUDGET_NS);
        if (!rc) {
            playback_fill_sample(p, 0, sample);
            size_t bytes = wire_write_frame(sample, world, frame);
            bytes += values ? wire_write_record_values(p->now->tick, p->now->values, NULL, values,
                                                       frame + bytes)
                            : 0;
            write_message_base64(b, 0, frame, bytes);
        }
    }
    free(sample);
    free(frame);
    return rc;
}

static int write_recording_base64(struct playback *p, FILE *to)
{
    struct base64_encoder b = {.to = to};
    fputs("<script type=\"application/octet-stream\" id=\"recording\">", to);
    write_message_base64(&b, 1, p->hello, strlen(p->hello));
    for (size_t i = 0; i < p->shapes; i++) {
        if (p->meshes[i]) {
            write_message_base64(&b, 0, p->meshes[i], p->mesh_sizes[i]);
        }
    }
    int rc = write_frames_base64(p, &b);
    if (b.count) {
        flush_base64_group(&b);
    }
    fputs("</script>\n", to);
    return rc;
}

/* The file that an attribute of a line of the page names: src="view.js". */
static const struct page_file *find_page_file_named_in_line(const char *line, const char *attribute)
{
    char path[64];
    const char *at = strstr(line, attribute);
    return at && sscanf(at + strlen(attribute), "%62[^\"]", path + 1) == 1
               ? (path[0] = '/', page_file(path))
               : NULL;
}

static void write_page_file_inline(const struct page_file *file, const char *tag, FILE *to)
{
    fprintf(to, "<%s>\n", tag);
    fwrite(file->data, 1, file->size, to);
    fprintf(to, "</%s>\n", tag);
}

/* Writes the lines of the page with the referenced files inline, scripts at the end. */
static int write_viewer_page_inline(struct playback *p, char *page, FILE *to)
{
    const struct page_file *page_script_files[8];
    int inline_script_file_count = 0, rc = 0;
    for (char *line = strtok(page, "\n"); line && !rc; line = strtok(NULL, "\n")) {
        const struct page_file *page_style_file = find_page_file_named_in_line(line, "href=\""),
                               *code = find_page_file_named_in_line(line, "src=\"");
        if (page_style_file) {
            fputs(content_security_policy, to);
            write_page_file_inline(page_style_file, "style", to);
        } else if (code && inline_script_file_count < 8) {
            page_script_files[inline_script_file_count++] = code;
        } else if (!strcmp(line, "</body>")) {
            rc = write_recording_base64(p, to);
            for (int i = 0; i < inline_script_file_count; i++) {
                write_page_file_inline(page_script_files[i], "script", to);
            }
            fprintf(to, "%s\n", line);
        } else {
            fprintf(to, "%s\n", line);
        }
    }
    return rc;
}

int export_html(struct tact_log *log, const struct export_names *names, struct output *out,
                struct tact_error *err)
{
    const struct page_file *index = page_file("/index.html");
    struct playback log_playback;
    char *page = calloc(1, index->size + 1);
    (void)names;
    int rc = playback_open(&log_playback, log, err);
    rc = rc || page ? rc : tact_error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
    if (!rc && page) {
        memcpy(page, index->data, index->size);
        rc = write_viewer_page_inline(&log_playback, page, out->to);
        rc = rc ? tact_error_set(err, rc, "the log cannot be read: %s", strerror(-rc)) : 0;
    }
    if (!rc) {
        report_omitted_fields(&log_playback, out);
    }
    playback_close(&log_playback);
    free(page);
    return rc;
}
