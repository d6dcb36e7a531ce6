/* Shared by the sources that read tetrahedra. */
#ifndef TACT_CONTACT_TETS_INTERNAL_H
#define TACT_CONTACT_TETS_INTERNAL_H

#include "contact/mesh/tets.h"

enum { TACT_TETS_WORD = 64 }; /* size of the longest word of a file, with the final zero */

/* Content of a file, read word by word. */
struct tets_reader {
    const char *name;
    const char *at, *end; /* unread part of the file; *end is 0 */
    int line;
    double scale;
    int values_are_read; /* 1: the values have been read */
    struct tact_tets *tets;
    struct tact_error *err;
};

/* Sets the error, with file and line. -EINVAL. */
int tact_tets_report_error(struct tets_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The next word, "" at the end of the file; -EINVAL where it is too long. */
int tact_tets_read_word(struct tets_reader *r, char word[TACT_TETS_WORD]);

/* Skips the rest of the line. */
void tact_tets_skip_line(struct tets_reader *r);

/* A number of things of at least `bytes` bytes each, which the file must have room for. */
int tact_tets_read_count(struct tets_reader *r, size_t bytes, const char *what, size_t *out);

/* An integer from 0, or a finite number. */
int tact_tets_read_integer(struct tets_reader *r, const char *what, uint64_t *out);
int tact_tets_read_number(struct tets_reader *r, const char *what, double *out);

/* Allocates vertices and values, or tetrahedra. -EINVAL where the file has them already. */
int tact_tets_alloc_vertices(struct tets_reader *r, size_t count);
int tact_tets_alloc_tets(struct tets_reader *r, size_t count);

/* 1 for a dataset of values that is to be read: "pressure" or "extent"; -EINVAL for a second. */
int tact_tets_is_field_name(struct tets_reader *r, const char *name);

/* Read a whole file. */
int tact_tets_read_vtk(struct tets_reader *r);
int tact_tets_read_msh(struct tets_reader *r);

#endif
