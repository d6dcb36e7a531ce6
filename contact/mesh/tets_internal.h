/* Shared by the sources that read tetrahedra. */
#ifndef TACT_CONTACT_TETS_INTERNAL_H
#define TACT_CONTACT_TETS_INTERNAL_H

#include "contact/mesh/tets.h"

enum { TACT_TETS_WORD = 64 }; /* size of the longest word of a file, with the final zero */

/* Reader of a file's content, word by word. */
struct tets_reader {
    const char *name;
    const char *at, *end; /* part of the file that is not read yet; *end is 0 */
    int line;
    double scale;
    int are_vertex_values_read; /* 1: the values at the vertices have been read */
    struct tact_tets *tets;
    struct tact_error *err;
};

/* Sets the error message of a file's reader, with file and line. Returns -EINVAL. */
int tact_tets_report_error(struct tets_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads the next word of the file, "" at its end; -EINVAL where the word is too long. */
int tact_tets_read_word(struct tets_reader *r, char word[TACT_TETS_WORD]);

/* Skips the rest of the file's present line. */
void tact_tets_skip_line(struct tets_reader *r);

/* Reads a count of items of at least `bytes` bytes each; -EINVAL where the rest of the file is too
 * short for them. */
int tact_tets_read_count(struct tets_reader *r, size_t bytes, const char *what, size_t *out);

/* Reads an integer from 0, or a finite number, from the file. */
int tact_tets_read_integer(struct tets_reader *r, const char *what, uint64_t *out);
int tact_tets_read_number(struct tets_reader *r, const char *what, double *out);

/* Allocates the arrays of vertices and values, or of tetrahedra. -EINVAL where the file has listed
 * them already. */
int tact_tets_alloc_vertices(struct tets_reader *r, size_t count);
int tact_tets_alloc_tets(struct tets_reader *r, size_t count);

/* 1 for a dataset of values that is to be read: "pressure" or "extent"; -EINVAL for a second. */
int tact_tets_is_name_of_vertex_values(struct tets_reader *r, const char *name);

/* Read a whole file. */
int tact_tets_read_vtk(struct tets_reader *r);
int tact_tets_read_msh(struct tets_reader *r);

#endif
