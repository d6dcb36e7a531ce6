/**
 * The recorder's rings in memory that outlives the process: a file of a tmpfs.
 *
 * The file is named after device and inode of its log, so that whoever has the log finds it. It
 * starts with a head under a checksum: sizes of the rings and what is needed to finish the log (the
 * session's description, opaque here). Then come two marks, and the rings themselves. An element is
 * a checksum over its index and content, and the content: after a kill, whether an element is whole
 * is seen from itself. The kernel keeps what a killed process stored; a power cut loses all of it.
 *
 * Marks tell what a chunk held, so that nothing is written twice: before a chunk is written, one
 * says where it will start in the file and what is taken from the rings once it is there. They
 * alternate; a mark counts if the file holds that chunk.
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

/** The rings: ticks, events of the real-time thread, events of all others. */
enum { TACT_RING_TICKS, TACT_RING_EVENTS, TACT_RING_NOTES, TACT_RINGS };

struct tact_ring_sizes {
    uint32_t capacity[TACT_RINGS]; /* elements */
    uint32_t content[TACT_RINGS];  /* bytes of an element's content, a multiple of 8 */
    /* A tick may end with a list: only what is used of it counts. */
    uint32_t list_at;     /* where a double in its content says how many there are; 0: no list */
    uint32_t list_stride; /* bytes of each */
};

/** What a chunk took from the rings. */
struct tact_ring_mark {
    uint64_t chunk_at;         /* where the chunk starts in the log */
    uint32_t next[TACT_RINGS]; /* index of the first element that is not in it */
    uint32_t zero;
    uint64_t check;
};

struct tact_ring_file {
    char path[512]; /* "" where the memory is private */
    void *memory;
    size_t bytes;
    struct tact_ring_sizes sizes;
    struct tact_ring *rings[TACT_RINGS];
    struct tact_ring_mark *marks; /* two */
    uint32_t mark_count;          /* how often one was written */
    struct tact_span session;     /* the description, inside memory */
    bool finished;                /* creation was completed: there may be elements */
};

/** Makes rings for a log; a leftover of the same name is replaced (*replaced, where it was one that
 *  held elements). @retval 0, or a negative errno: the folder has no room, is no tmpfs, ... */
int tact_ring_file_create(struct tact_ring_file *file, const char *folder, const struct stat *log,
                          const struct tact_ring_sizes *sizes, const struct tact_bytes *session,
                          bool *replaced);

/** The same in memory that ends with the process. @retval 0 or -ENOMEM */
int tact_ring_file_private(struct tact_ring_file *file, const struct tact_ring_sizes *sizes);

/** The rings that a killed recorder of this log left; not `finished` where it was killed while it
 *  made them.
 *  @retval -ENOENT  there are none
 *  @retval -EPERM   they belong to somebody else than the log and this process
 *  @retval -EBADMSG they are cut or their head is damaged; *err tells */
int tact_ring_file_open(struct tact_ring_file *file, const char *folder, const struct stat *log,
                        struct tact_error *err);

/** Whether a log has rings left; asks for no more than a name. */
bool tact_ring_file_exists(const char *folder, const struct stat *log);

/** Unmaps, and removes the file unless it is to be kept. Also for a zeroed structure. */
void tact_ring_file_close(struct tact_ring_file *file, bool keep);

/** Producer: content of the next element, and the end of it. Real-time safe, wait-free. */
void *tact_ring_file_begin(struct tact_ring_file *file, int ring);
void tact_ring_file_commit(struct tact_ring_file *file, int ring);

/** Consumer: content of the element `ahead` places behind the oldest, or NULL. */
const void *tact_ring_file_peek(struct tact_ring_file *file, int ring, uint32_t ahead);

/** Content of the element of that index if it is whole, else NULL. */
const void *tact_ring_file_element(struct tact_ring_file *file, int ring, uint32_t index);

/** Before the chunk that will start at chunk_at is written. */
void tact_ring_file_mark(struct tact_ring_file *file, uint64_t chunk_at,
                         const uint32_t next[TACT_RINGS]);

/** Whether marks[which] is whole. */
bool tact_ring_file_mark_is_whole(const struct tact_ring_file *file, int which);

/** Checksum of an element: XXH3 with the index as its seed, so that the content of another index
 * does not pass for this one. Real-time safe. */
uint64_t tact_ring_check(uint64_t index, const void *content, size_t bytes);

#endif
