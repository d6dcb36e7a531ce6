/*
 * The recorder's rings in memory that outlives the process: a file of a tmpfs.
 *
 * The file is named after device and inode of its log. It starts with a header under a checksum:
 * the sizes of the rings and the description of the session (opaque here), with which the log can
 * be completed. Then follow two marks and the rings. An element is a checksum over its index and
 * content, and the content: so after a kill each element can be validated by itself. Stored data
 * survives the death of the process, but not a power failure.
 *
 * Marks record which elements a chunk contains, so that none is written twice: before a chunk is
 * written, a mark stores its future offset in the file and the elements that follow it. Two marks
 * alternate; a mark is valid if the file contains that chunk.
 */
#ifndef TACT_RT_LOG_RING_FILE_INTERNAL_H
#define TACT_RT_LOG_RING_FILE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include "../../contact/error.h"
#include "../ring.h"
#include "bytes_internal.h"

#define TACT_RING_FILE_FOLDER "/dev/shm"

/* The rings: ticks, events of the real-time thread, events of all other threads. */
enum { TACT_RING_TICKS, TACT_RING_EVENTS, TACT_RING_ASYNC_EVENTS, TACT_RINGS };

struct tact_ring_sizes {
    uint32_t capacity[TACT_RINGS]; /* elements */
    uint32_t content[TACT_RINGS];  /* bytes of an element's content, a multiple of 8 */
    /* A tick may end with a list, whose capacity need not be full. */
    uint32_t list_count_offset;  /* offset in the content of a double with the number of
                                    elements; 0:  no list */
    uint32_t list_element_bytes; /* bytes per element */
};

/* The elements that a chunk contains. */
struct tact_ring_chunk_mark {
    uint64_t chunk_file_offset; /* offset of the chunk in the log */
    uint32_t next[TACT_RINGS];  /* index of the first ring element after the chunk */
    uint32_t zero_padding;
    uint64_t check;
};

struct tact_ring_file {
    char path[512]; /* file name of the rings; empty for private memory */
    void *mapped_ring_file_memory;
    size_t bytes;
    struct tact_ring_sizes ring_sizes;
    struct tact_ring *rings[TACT_RINGS];
    struct tact_ring_chunk_mark *marks; /* two */
    uint32_t chunk_mark_count;          /* number of marks written so far */
    struct tact_byte_span session; /* description of the session, inside mapped_ring_file_memory */
    bool is_ring_file_complete; /* 1: the creation was completed, so that there may be elements */
};

/* Creates rings for a log; an old file of the same name is replaced (*was_ring_file_replaced:
 * there was one). @retval 0, or a negative errno: no space, not a tmpfs, ... */
int tact_ring_file_create(struct tact_ring_file *file, const char *folder, const struct stat *log,
                          const struct tact_ring_sizes *ring_sizes,
                          const struct tact_bytes *session, bool *was_ring_file_replaced);

/* Creates rings in private memory, which ends with the process. @retval 0 or -ENOMEM */
int tact_ring_file_create_in_private_memory(struct tact_ring_file *file,
                                            const struct tact_ring_sizes *ring_sizes);

/* Opens the rings of a killed recorder of this log; not `is_ring_file_complete` if it was killed
 * while creating them.
 * @retval -ENOENT  there are none
 * @retval -EPERM   they belong to another user than the log and this process
 * @retval -EBADMSG they are truncated or their header is damaged; *err is set */
int tact_ring_file_open(struct tact_ring_file *file, const char *folder, const struct stat *log,
                        struct tact_error *err);

/* Whether a ring file of the log's name exists; does not open it. */
bool tact_ring_file_exists(const char *folder, const struct stat *log);

/* Unmaps the file, and removes it unless should_keep_ring_file. Valid for a zeroed structure. */
void tact_ring_file_close(struct tact_ring_file *file, bool should_keep_ring_file);

/* Producer: content of the next element, and its commit. Real-time safe, wait-free. */
void *tact_ring_file_begin_element(struct tact_ring_file *file, int ring);
void tact_ring_file_commit_element(struct tact_ring_file *file, int ring);

/* Consumer: content of the element that is `elements_ahead_of_tail` after the oldest one, or NULL.
 */
const void *tact_ring_file_peek_element(struct tact_ring_file *file, int ring,
                                        uint32_t elements_ahead_of_tail);

/* Content of the element with that index if it is valid, else NULL. */
const void *tact_ring_file_element(struct tact_ring_file *file, int ring, uint32_t index);

/* Stores a mark, before the chunk at file offset chunk_file_offset is written. */
void tact_ring_file_write_chunk_mark(struct tact_ring_file *file, uint64_t chunk_file_offset,
                                     const uint32_t next[TACT_RINGS]);

/* Whether the checksum of marks[chunk_mark_index] is valid. */
bool tact_ring_file_is_mark_valid(const struct tact_ring_file *file, int chunk_mark_index);

/* Checksum of an element: XXH3 seeded with its index, so that content at another index does not
 * match. Real-time safe. */
uint64_t tact_ring_checksum(uint64_t index, const void *content, size_t bytes);

#endif
