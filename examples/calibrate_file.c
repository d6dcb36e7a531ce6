/* tact calibrate: the file that it writes, which is YAML that a scene's device refers to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate.h"
#include "command.h"
#include "output.h"
#include "text.h"

/* The entry of that key, created if absent. */
static struct calibrate_entry *find_entry(struct calibrate_file *file, const char *key)
{
    for (int i = 0; i < file->count; i++) {
        if (!strcmp(file->entry[i].key, key)) {
            return &file->entry[i];
        }
    }
    if (file->count == CALIBRATE_MOST || strlen(key) >= sizeof file->entry[0].key) {
        fprintf(stderr, "tact: %s: too long, or more than %d keys\n", text_shown(key),
                CALIBRATE_MOST);
        return NULL;
    }
    struct calibrate_entry *entry = &file->entry[file->count++];
    *entry = (struct calibrate_entry){.count = 0};
    snprintf(entry->key, sizeof entry->key, "%s", key);
    return entry;
}

int calibrate_set_numbers(struct calibrate_file *file, const char *key, const double *numbers,
                          int count)
{
    struct calibrate_entry *entry = find_entry(file, key);
    if (!entry) {
        return EXIT_BAD;
    }
    entry->text[0] = '\0';
    entry->count = count;
    memcpy(entry->number, numbers, (size_t)count * sizeof *numbers);
    return EXIT_GOOD;
}

int calibrate_set_text(struct calibrate_file *file, const char *key, const char *text)
{
    struct calibrate_entry *entry = find_entry(file, key);
    if (!entry) {
        return EXIT_BAD;
    }
    entry->count = 0;
    snprintf(entry->text, sizeof entry->text, "%s", text);
    return EXIT_GOOD;
}

int calibrate_copy_settings(struct calibrate_file *file, const struct tact_device_setting *settings,
                            int count)
{
    for (int i = 0; i < count; i++) {
        const struct tact_device_setting *s = &settings[i];
        const char *dot = strchr(s->key, '.');
        int numbers = s->numbers ? s->rows * s->columns : 0;
        if (!s->file) {
            continue;
        }
        if (strchr(s->key, '[') || (dot && strchr(dot + 1, '.')) || numbers > CALIBRATE_NUMBERS ||
            (s->text && strlen(s->text) >= sizeof file->entry[0].text)) {
            fprintf(stderr,
                    "tact: %s:%d: %s: not written by tact calibrate, which would lose it; give "
                    "--output\n",
                    s->file, s->line, s->key);
            return EXIT_BAD;
        }
        if (numbers ? calibrate_set_numbers(file, s->key, s->numbers, numbers)
                    : calibrate_set_text(file, s->key, s->text)) {
            return EXIT_BAD;
        }
    }
    return EXIT_GOOD;
}

/* A text in double quotes, as YAML has it. */
static void write_quoted_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            fprintf(to, "\\%c", *text);
        } else if ((unsigned char)*text < ' ') {
            fprintf(to, "\\x%02x", (unsigned int)(unsigned char)*text);
        } else {
            fputc(*text, to);
        }
    }
    fputc('"', to);
}

static void print_calibration_value(FILE *to, const struct calibrate_entry *entry)
{
    if (!entry->count) {
        write_quoted_text(to, entry->text);
    }
    for (int i = 0; i < entry->count; i++) {
        fprintf(to, "%s%.10g", i ? ", " : "[", entry->number[i]);
    }
    fputs(entry->count ? "]\n" : "\n", to);
}

/* Keys of one map are adjacent: "axis.abs_x" below "axis". */
static void print_calibration_file(FILE *to, const struct calibrate_file *file)
{
    fputs("# What tact calibrate measured. A scene refers to it: devices[].calibration\n", to);
    for (int i = 0; i < file->count; i++) {
        const char *key = file->entry[i].key;
        int length = (int)strcspn(key, ".") + 1;
        int known = 0;
        if (!key[length - 1]) {
            fprintf(to, "%s: ", key);
            print_calibration_value(to, &file->entry[i]);
            continue;
        }
        for (int k = 0; k < i; k++) {
            known += !strncmp(file->entry[k].key, key, (size_t)length);
        }
        if (known) {
            continue;
        }
        fprintf(to, "%.*s:%s\n", length - 1, key,
                strncmp(key, "axis.", 5) ? ""
                                         : "  # lowest, at rest, highest, half the width of rest");
        for (int k = i; k < file->count; k++) {
            if (!strncmp(file->entry[k].key, key, (size_t)length)) {
                fprintf(to, "  %s: ", file->entry[k].key + length);
                print_calibration_value(to, &file->entry[k]);
            }
        }
    }
}

int calibrate_write(const struct calibrate_file *file, const char *path, int force)
{
    struct output out;
    int code = output_open(&out, "tact calibrate", path, force);
    if (code) {
        return code;
    }
    print_calibration_file(out.to, file);
    return output_close(&out, EXIT_GOOD, 1);
}
