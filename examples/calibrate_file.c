/* tact calibrate: the file that it writes, which is YAML that a scene's device refers to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate.h"
#include "command.h"
#include "output.h"
#include "text.h"

/* The entry of that key, created if absent. */
static struct calibration_entry *find_or_add_calibration_entry(struct calibrate_file *file,
                                                               const char *key)
{
    for (int i = 0; i < file->count; i++) {
        if (!strcmp(file->entry[i].key, key)) {
            return &file->entry[i];
        }
    }
    if (file->count == CALIBRATE_MOST || strlen(key) >= sizeof file->entry[0].key) {
        fprintf(stderr,
                "tact: the calibration file cannot have the key %s: it is too long, or the file "
                "has %d keys already\n",
                text_make_printable(key), CALIBRATE_MOST);
        return NULL;
    }
    struct calibration_entry *entry = &file->entry[file->count++];
    *entry = (struct calibration_entry){.count = 0};
    snprintf(entry->key, sizeof entry->key, "%s", key);
    return entry;
}

int calibrate_set_numbers(struct calibrate_file *file, const char *key, const double *numbers,
                          int count)
{
    struct calibration_entry *entry = find_or_add_calibration_entry(file, key);
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
    struct calibration_entry *entry = find_or_add_calibration_entry(file, key);
    if (!entry) {
        return EXIT_BAD;
    }
    entry->count = 0;
    snprintf(entry->text, sizeof entry->text, "%s", text);
    return EXIT_GOOD;
}

void calibrate_choose_file_path(const struct calibrate_options *o,
                                const struct tact_scene_device *def, const char *scene_folder,
                                char *path, size_t size)
{
    if (o->output) {
        snprintf(path, size, "%s", o->output);
    } else if (def->calibration) {
        const int is_absolute_path = def->calibration[0] == '/';
        snprintf(path, size, "%s%s%s", is_absolute_path ? "" : scene_folder,
                 is_absolute_path ? "" : "/", def->calibration);
    } else {
        size_t n = 0;
        for (const char *c = o->device; *c && n + 24 < size; c++) {
            int is_kept_in_file_name = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                                       (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';
            if (is_kept_in_file_name || (n > 0 && path[n - 1] != '-')) {
                path[n++] = is_kept_in_file_name ? *c : '-';
            }
        }
        snprintf(path + n, size - n, "%scalibration.yaml", n ? "." : "");
    }
}

int calibrate_is_plain_yaml_text(const char *text)
{
    const char *c = text;
    while ((unsigned char)*c >= ' ' && (unsigned char)*c < 127) {
        c++;
    }
    return c > text && !*c;
}

int calibrate_set_haptic_axis(struct calibrate_file *file,
                              const struct tact_scene_haptic_axis *axis)
{
    const struct tact_scene_port *p = &axis->port;
    const double numbers[] = {p->mass,     p->damping,    p->delay,
                              p->friction, p->resolution, axis->stiffest};
    char key[sizeof file->entry[0].key];
    snprintf(key, sizeof key, "haptic.%s", axis->channel);
    return calibrate_set_numbers(file, key, numbers, 6);
}

/* Copies one setting of the device's calibration file. */
static int copy_calibration_setting(struct calibrate_file *file,
                                    const struct tact_device_setting *s)
{
    const char *dot = strchr(s->key, '.');
    const int numbers = s->numbers ? s->rows * s->columns : 0;
    if (strchr(s->key, '[') || (dot && strchr(dot + 1, '.')) || numbers > CALIBRATE_NUMBERS ||
        (s->text && strlen(s->text) >= sizeof file->entry[0].text)) {
        fprintf(stderr,
                "tact: %s:%d: %s: not written by tact calibrate, which would lose it; give "
                "--output\n",
                s->file, s->line, s->key);
        return EXIT_BAD;
    }
    return numbers ? calibrate_set_numbers(file, s->key, s->numbers, numbers)
                   : calibrate_set_text(file, s->key, s->text);
}

int calibrate_copy_settings(struct calibrate_file *file, const struct tact_scene_device *def)
{
    int code =
        def->haptic_model ? calibrate_set_text(file, "haptic_model", def->haptic_model) : EXIT_GOOD;
    for (uint32_t i = 0; !code && i < def->settings_count; i++) {
        code =
            def->settings[i].file ? copy_calibration_setting(file, &def->settings[i]) : EXIT_GOOD;
    }
    for (uint32_t i = 0; !code && i < def->haptic_count; i++) {
        code = calibrate_set_haptic_axis(file, &def->haptic[i]);
    }
    return code;
}

/* Writes a text in the double quotes of YAML. */
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

static void print_calibration_value(FILE *to, const struct calibration_entry *entry)
{
    if (!entry->count) {
        write_quoted_text(to, entry->text);
    }
    for (int i = 0; i < entry->count; i++) {
        fprintf(to, "%s%.10g", i ? ", " : "[", entry->number[i]);
    }
    fputs(entry->count ? "]\n" : "\n", to);
}

/* Prints the entries as YAML. Those of one map are adjacent: "axis.abs_x" is written below "axis".
 */
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
                !strncmp(key, "axis.", 5) ? "  # lowest, at rest, highest, half the width of rest"
                : !strncmp(key, "haptic.", 7) ? "  # mass, damping, delay, friction, resolution, "
                                                "stiffest stable wall"
                                              : "");
        for (int k = i; k < file->count; k++) {
            if (!strncmp(file->entry[k].key, key, (size_t)length)) {
                fprintf(to, "  %s: ", file->entry[k].key + length);
                print_calibration_value(to, &file->entry[k]);
            }
        }
    }
}

int calibrate_write_file(const struct calibrate_file *file, const char *path, int force)
{
    struct output out;
    int code = output_open(&out, "tact calibrate", path, force);
    if (code) {
        return code;
    }
    print_calibration_file(out.to, file);
    return output_close(&out, EXIT_GOOD, 1);
}
