/*
 * Reading numbers from a CSV file, row by row; errors have file, line and column.
 *
 * The separator follows from the first line: comma, else semicolon, else tab, else blanks. A first
 * line without any number is the header; names may be in double quotes (without a separator in
 * them). Empty lines and those that start with '#' are skipped. CRLF and a UTF-8 mark are accepted.
 */
#ifndef TACT_DEVICES_CSV_INTERNAL_H
#define TACT_DEVICES_CSV_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "../../contact/error.h"

struct tact_csv_file {
    char path[4096];
    FILE *file;
    int line;   /* number of the line in `text`, from 1 */
    char *text; /* the line, whose separators are replaced by zero bytes */
    size_t capacity;
    char csv_column_separator;
    int columns;
    char **fields;            /* [columns + 1] pointers to the fields of the line in `text` */
    char **column_names;      /* [columns] names of the columns; "column_N" without a header */
    bool is_first_row_unread; /* 1: the file has no header, and `fields` has its first row */
};

/* Opens the file and reads its header. The caller closes it also after a failure.
 * @retval 0, or a negative errno with *err set */
int tact_csv_open(struct tact_csv_file *csv, const char *path, struct tact_error *err);

/* Index of a column by its name or, if no column has that name, its number from 1.
 * @retval >= 0, -ENOENT, or -EEXIST if two columns have the name */
int tact_csv_find_column(const struct tact_csv_file *csv, const char *word);

/* Reads the next row's fields `columns_to_read` (count column indices) as finite numbers into
 * values.
 * @retval 1 for a row, 0 at the end of the file, or a negative errno with *err filled */
int tact_csv_read_row(struct tact_csv_file *csv, const int *columns_to_read, int count,
                      double *values, struct tact_error *err);

void tact_csv_close(struct tact_csv_file *csv);

#endif
