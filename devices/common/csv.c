#include "devices/common/csv_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/common/regular_file_internal.h"
#include "devices/common/settings.h"

static int set_csv_error(const struct tact_csv_file *csv, struct tact_error *err, const char *field,
                         const char *key)
{
    int column = field ? (int)(field - csv->text) + 1 : 0;
    tact_error_at(err, csv->path, csv->line, column, key);
    return -EINVAL;
}

/* Reads the next line that is neither empty nor a comment. Returns 1, 0 at the end of the file, or
 * a negative errno. */
static int read_next_csv_line(struct tact_csv_file *csv, struct tact_error *err)
{
    for (;;) {
        errno = 0;
        ssize_t n = getline(&csv->text, &csv->capacity, csv->file);
        if (n < 0) {
            if (feof(csv->file) && errno == 0) {
                return 0;
            }
            int code = errno ? -errno : -EIO;
            tact_error_at(err, csv->path, csv->line, 0, NULL);
            return tact_error_set(err, code, "cannot read on: %s", strerror(-code));
        }
        csv->line++;
        if (strlen(csv->text) != (size_t)n) {
            return tact_error_set(err, set_csv_error(csv, err, NULL, NULL),
                                  "not a text file: it contains a zero byte");
        }
        if (csv->line == 1 && strncmp(csv->text, "\xef\xbb\xbf", 3) == 0) {
            memmove(csv->text, csv->text + 3, (size_t)n - 2);
            n -= 3;
        }
        while (n > 0 && strchr(" \t\r\n", csv->text[n - 1])) {
            /* a trailing tab is removed, although it may be an empty last field: such a row would
             * be incomplete anyway */
            csv->text[--n] = '\0';
        }
        if (n > 0 && csv->text[0] != '#') {
            return 1;
        }
    }
}

/* Splits csv->text at the separator into at most `most` fields; returns their number. */
static int split_line_into_fields(struct tact_csv_file *csv, int most)
{
    int count = 0;
    char *at = csv->text;
    for (;;) {
        at += strspn(at, csv->csv_column_separator == '\t' ? " " : " \t");
        char *end = csv->csv_column_separator == ' ' ? at + strcspn(at, " \t")
                                                     : strchr(at, csv->csv_column_separator);
        if (count < most) {
            csv->fields[count] = at;
        }
        count++;
        if (!end || *end == '\0') {
            return count;
        }
        *end = '\0';
        at = end + 1;
    }
}

/* Removes blanks and quotes around a column's name. */
static void trim_column_name(char **name)
{
    size_t n = strlen(*name);
    while (n > 0 && ((*name)[n - 1] == ' ' || (*name)[n - 1] == '\t')) {
        (*name)[--n] = '\0';
    }
    if (n > 1 && (*name)[0] == '"' && (*name)[n - 1] == '"') {
        (*name)[n - 1] = '\0';
        (*name)++;
    }
}

static int set_column_names(struct tact_csv_file *csv, bool has_header_line, struct tact_error *err)
{
    for (int i = 0; i < csv->columns; i++) {
        char number[32];
        char *name = csv->fields[i];
        if (has_header_line) {
            trim_column_name(&name);
        }
        if (!has_header_line || name[0] == '\0') {
            snprintf(number, sizeof number, "column_%d", i + 1);
            name = number;
        }
        csv->column_names[i] = strdup(name);
        if (!csv->column_names[i]) {
            return tact_error_set(err, -ENOMEM, "out of memory");
        }
    }
    csv->is_first_row_unread = !has_header_line;
    return 0;
}

/* Determines separator, number of columns and column names from the first line of a CSV file. */
static int read_csv_header(struct tact_csv_file *csv, struct tact_error *err)
{
    size_t most = 1;
    int numbers = 0;
    double value;
    csv->csv_column_separator = strchr(csv->text, ',')    ? ','
                                : strchr(csv->text, ';')  ? ';'
                                : strchr(csv->text, '\t') ? '\t'
                                                          : ' ';
    for (const char *at = csv->text; *at; at++) {
        most += *at == csv->csv_column_separator || *at == '\t';
    }
    csv->fields = calloc(most + 1, sizeof *csv->fields);
    csv->column_names = calloc(most + 1, sizeof *csv->column_names);
    if (!csv->fields || !csv->column_names) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    csv->columns = split_line_into_fields(csv, (int)most);
    for (int i = 0; i < csv->columns; i++) {
        numbers += tact_settings_parse(csv->fields[i], &value) == 0;
    }
    if (numbers != 0 && numbers != csv->columns) {
        return tact_error_set(
            err, set_csv_error(csv, err, NULL, NULL),
            "expected a header line (a name in every column) or a row of numbers");
    }
    return set_column_names(csv, numbers == 0, err);
}

int tact_csv_open(struct tact_csv_file *csv, const char *path, struct tact_error *err)
{
    memset(csv, 0, sizeof *csv);
    if ((size_t)snprintf(csv->path, sizeof csv->path, "%s", path) >= sizeof csv->path) {
        return tact_error_set(err, -ENAMETOOLONG, "the path of the CSV file is too long");
    }
    int rc;
    csv->file = tact_regular_file_open(csv->path, &rc, err);
    if (rc) {
        tact_error_at(err, csv->path, 0, 0, NULL);
        return rc;
    }
    rc = read_next_csv_line(csv, err);
    if (rc == 0) {
        tact_error_at(err, csv->path, 0, 0, NULL);
        return tact_error_set(err, -EINVAL, "the CSV file is empty");
    }
    return rc < 0 ? rc : read_csv_header(csv, err);
}

int tact_csv_find_column(const struct tact_csv_file *csv, const char *word)
{
    int found = -ENOENT;
    for (int i = 0; i < csv->columns; i++) {
        if (strcmp(csv->column_names[i], word) == 0) {
            found = found == -ENOENT ? i : -EEXIST;
        }
    }
    if (found == -ENOENT && word[0] && word[strspn(word, "0123456789")] == '\0') {
        long number = strtol(word, NULL, 10);
        if (number >= 1 && number <= csv->columns) {
            found = (int)number - 1;
        }
    }
    return found;
}

int tact_csv_read_row(struct tact_csv_file *csv, const int *columns_to_read, int count,
                      double *values, struct tact_error *err)
{
    if (csv->is_first_row_unread) {
        csv->is_first_row_unread = false;
    } else {
        int rc = read_next_csv_line(csv, err);
        if (rc <= 0) {
            return rc;
        }
        int field_count = split_line_into_fields(csv, csv->columns + 1);
        if (field_count != csv->columns) {
            return tact_error_set(err, set_csv_error(csv, err, NULL, NULL),
                                  "the row has %d fields, expected %d as in the first line",
                                  field_count, csv->columns);
        }
    }
    for (int i = 0; i < count; i++) {
        char *field = csv->fields[columns_to_read[i]];
        const char *name = csv->column_names[columns_to_read[i]];
        if (tact_settings_parse(field, &values[i])) {
            return tact_error_set(err, set_csv_error(csv, err, field, name),
                                  "expected a number, not '%.40s'", field);
        }
        /* Values beyond this magnitude are refused, as their differences overflow. */
        if (!isfinite(values[i]) || fabs(values[i]) > 1e100) {
            return tact_error_set(err, set_csv_error(csv, err, field, name),
                                  "expected a finite number, not %.40s", field);
        }
    }
    return 1;
}

void tact_csv_close(struct tact_csv_file *csv)
{
    for (int i = 0; csv->column_names && i < csv->columns; i++) {
        free(csv->column_names[i]);
    }
    free(csv->column_names);
    free(csv->fields);
    free(csv->text);
    if (csv->file) {
        fclose(csv->file);
    }
    memset(csv, 0, sizeof *csv);
}
