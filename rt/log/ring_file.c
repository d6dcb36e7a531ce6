#include "ring_file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h> /* selects by processor: the same value, two to three times as fast */
#else
#include <xxhash.h>
#endif
#include "layout.h"

#define RING_FILE_MAGIC UINT64_C(0x33474e5254434154) /* "TACTRNG3", written last */
#define TMPFS_MAGIC_NUMBER UINT32_C(0x01021994)
#define CHUNK_MARKS_FILE_OFFSET 256
#define SESSION_DESCRIPTION_FILE_OFFSET 512
#define RING_ELEMENT_ALIGNMENT_BYTES 64
#define MAX_SESSION_DESCRIPTION_BYTES (UINT32_C(64) << 20)
#define MAX_RING_ELEMENTS (UINT32_C(1) << 24)

/* At the start of the file, in the machine's byte order (little-endian): it is not moved to another
 * machine. */
struct head {
    _Atomic uint64_t magic;
    uint32_t crc; /* checksum of the rest of the header and of the description */
    uint32_t session_description_bytes;
    struct tact_ring_sizes ring_sizes;
};

_Static_assert(sizeof(struct head) <= CHUNK_MARKS_FILE_OFFSET,
               "the header of a ring file must end before its marks of written chunks");
_Static_assert(CHUNK_MARKS_FILE_OFFSET + 2 * sizeof(struct tact_ring_chunk_mark) <=
                   SESSION_DESCRIPTION_FILE_OFFSET,
               "then the description");

#if defined(__x86_64__)
/* The library's AVX code leaves the upper halves of the registers dirty; until they are cleared,
 * SSE code, as most of a tick is, takes two to three times as long. */
__attribute__((target("avx"))) static void clear_avx_upper_halves(void)
{
    __builtin_ia32_vzeroupper();
}
#endif

uint64_t tact_ring_checksum(uint64_t index, const void *content, size_t bytes)
{
    uint64_t check = XXH3_64bits_withSeed(content, bytes, index);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx")) {
        clear_avx_upper_halves();
    }
#endif
    return check;
}

static size_t round_up_to_element_alignment(size_t bytes)
{
    return (bytes + RING_ELEMENT_ALIGNMENT_BYTES - 1) / RING_ELEMENT_ALIGNMENT_BYTES *
           RING_ELEMENT_ALIGNMENT_BYTES;
}

static size_t compute_ring_element_bytes(const struct tact_ring_sizes *ring_sizes, int ring)
{
    return sizeof(uint64_t) + ring_sizes->content[ring];
}

static bool is_contact_list_size_valid(const struct tact_ring_sizes *ring_sizes)
{
    uint32_t content = ring_sizes->content[TACT_RING_TICKS];

    return ring_sizes->list_count_offset == 0 ||
           (ring_sizes->list_count_offset % 8 == 0 &&
            ring_sizes->list_count_offset <= content - 8 && ring_sizes->list_element_bytes >= 8 &&
            ring_sizes->list_element_bytes % 8 == 0);
}

/* Number of bytes in use of a ring element's content; 0 if its list has an invalid count. */
static size_t ring_element_used_bytes(const struct tact_ring_sizes *ring_sizes, int ring,
                                      const void *content)
{
    double count;

    if (ring != TACT_RING_TICKS || ring_sizes->list_count_offset == 0) {
        return ring_sizes->content[ring];
    }
    memcpy(&count, (const char *)content + ring_sizes->list_count_offset, sizeof count);
    uint32_t room = (ring_sizes->content[ring] - ring_sizes->list_count_offset - 8) /
                    ring_sizes->list_element_bytes;
    return count >= 0.0 && count <= room
               ? ring_sizes->list_count_offset + 8 + (size_t)count * ring_sizes->list_element_bytes
               : 0;
}

/* Computes the size of the ring file; 0 if a size is invalid. */
static size_t file_bytes(const struct tact_ring_sizes *ring_sizes, size_t session_description_bytes)
{
    if (session_description_bytes > MAX_SESSION_DESCRIPTION_BYTES) {
        return 0;
    }
    size_t bytes =
        round_up_to_element_alignment(SESSION_DESCRIPTION_FILE_OFFSET + session_description_bytes);
    for (int i = 0; i < TACT_RINGS; i++) {
        if (ring_sizes->capacity[i] < 1 || ring_sizes->capacity[i] > MAX_RING_ELEMENTS ||
            ring_sizes->content[i] < 8 || ring_sizes->content[i] > TACT_RECORD_BYTES_MAX ||
            ring_sizes->content[i] % 8 != 0) {
            return 0;
        }
        bytes +=
            tact_ring_bytes(ring_sizes->capacity[i], compute_ring_element_bytes(ring_sizes, i));
    }
    return is_contact_list_size_valid(ring_sizes) ? bytes : 0;
}

static void set_ring_file_path(struct tact_ring_file *file, const char *folder,
                               const struct stat *log)
{
    int n = snprintf(file->path, sizeof file->path, "%s/tact-%llx-%llx.ring", folder,
                     (unsigned long long)log->st_dev, (unsigned long long)log->st_ino);
    if (n < 0 || (size_t)n >= sizeof file->path) {
        file->path[0] = '\0';
    }
}

static struct head *ring_file_head(const struct tact_ring_file *file)
{
    return file->mapped_ring_file_memory;
}

static uint32_t ring_head_checksum(const struct tact_ring_file *file)
{
    const struct head *head = ring_file_head(file);
    uint32_t crc = tact_crc32(0, &head->session_description_bytes,
                              sizeof *head - offsetof(struct head, session_description_bytes));
    return tact_crc32(crc, file->session.data, file->session.size);
}

static int locate_rings_in_file(struct tact_ring_file *file, size_t session_description_bytes,
                                bool is_new_ring_file)
{
    unsigned char *at =
        (unsigned char *)file->mapped_ring_file_memory +
        round_up_to_element_alignment(SESSION_DESCRIPTION_FILE_OFFSET + session_description_bytes);
    int rc = 0;

    file->marks = (struct tact_ring_chunk_mark *)((unsigned char *)file->mapped_ring_file_memory +
                                                  CHUNK_MARKS_FILE_OFFSET);
    for (int i = 0; rc == 0 && i < TACT_RINGS; i++) {
        uint32_t capacity = file->ring_sizes.capacity[i];
        size_t element = compute_ring_element_bytes(&file->ring_sizes, i);
        rc = is_new_ring_file ? tact_ring_create_at(&file->rings[i], at, capacity, element, 0)
                              : tact_ring_attach(&file->rings[i], at, capacity, element);
        at += tact_ring_bytes(capacity, element);
    }
    return rc;
}

/* Replaces an old ring file of this user; another user's is an error. */
static int create_ring_file(const char *path, bool *was_ring_file_replaced)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = open(path, flags, 0600);

    if (fd < 0 && errno == EEXIST && unlink(path) == 0) {
        *was_ring_file_replaced = true;
        fd = open(path, flags, 0600);
    }
    return fd < 0 ? -errno : fd;
}

/* Pages of a file on a disk are written back, and a tick that stores to them may have to wait for
 * that. */
static int check_file_is_on_tmpfs(int fd)
{
    struct statfs status;

    if (fstatfs(fd, &status) != 0) {
        return -errno;
    }
    return (uint32_t)status.f_type == TMPFS_MAGIC_NUMBER ? 0 : -EMEDIUMTYPE;
}

static int map_ring_file(struct tact_ring_file *file, int fd, int flags)
{
    file->mapped_ring_file_memory =
        mmap(NULL, file->bytes, PROT_READ | PROT_WRITE, flags | MAP_POPULATE, fd, 0);
    if (file->mapped_ring_file_memory != MAP_FAILED) {
        return 0;
    }
    file->mapped_ring_file_memory = NULL;
    return -errno;
}

int tact_ring_file_create(struct tact_ring_file *file, const char *folder, const struct stat *log,
                          const struct tact_ring_sizes *ring_sizes,
                          const struct tact_bytes *session, bool *was_ring_file_replaced)
{
    *file = (struct tact_ring_file){.ring_sizes = *ring_sizes,
                                    .bytes = file_bytes(ring_sizes, session->size)};
    *was_ring_file_replaced = false;
    set_ring_file_path(file, folder, log);
    if (session->failed) {
        return -ENOMEM;
    }
    if (file->bytes == 0 || file->path[0] == '\0') {
        return -EINVAL;
    }
    int fd = create_ring_file(file->path, was_ring_file_replaced);
    if (fd < 0) {
        file->path[0] = '\0';
        return fd;
    }
    int rc = check_file_is_on_tmpfs(fd);
    /* allocates the pages now: a store to an unavailable page would kill the process */
    if (rc == 0) {
        rc = -posix_fallocate(fd, 0, (off_t)file->bytes);
    }
    if (rc == 0) {
        rc = map_ring_file(file, fd, MAP_SHARED);
    }
    close(fd);
    if (rc == 0) {
        rc = locate_rings_in_file(file, session->size, true);
    }
    if (rc != 0) {
        tact_ring_file_close(file, false);
        return rc;
    }
    struct head *head = ring_file_head(file);
    unsigned char *description =
        (unsigned char *)file->mapped_ring_file_memory + SESSION_DESCRIPTION_FILE_OFFSET;
    if (session->size > 0) {
        memcpy(description, session->data, session->size);
    }
    file->session = (struct tact_byte_span){description, session->size};
    head->session_description_bytes = (uint32_t)session->size;
    head->ring_sizes = *ring_sizes;
    head->crc = ring_head_checksum(file);
    atomic_store_explicit(&head->magic, RING_FILE_MAGIC, memory_order_release);
    file->is_ring_file_complete = true;
    return 0;
}

int tact_ring_file_create_in_private_memory(struct tact_ring_file *file,
                                            const struct tact_ring_sizes *ring_sizes)
{
    *file = (struct tact_ring_file){.ring_sizes = *ring_sizes, .bytes = file_bytes(ring_sizes, 0)};
    int rc = file->bytes == 0 ? -EINVAL : map_ring_file(file, -1, MAP_PRIVATE | MAP_ANONYMOUS);
    if (rc == 0) {
        rc = locate_rings_in_file(file, 0, true);
    }
    if (rc != 0) {
        tact_ring_file_close(file, false);
    }
    return rc;
}

bool tact_ring_file_exists(const char *folder, const struct stat *log)
{
    struct tact_ring_file file;

    set_ring_file_path(&file, folder, log);
    return file.path[0] != '\0' && access(file.path, F_OK) == 0;
}

static int check_ring_file_head(struct tact_ring_file *file, struct tact_error *err)
{
    struct head *head = ring_file_head(file);
    uint64_t magic = atomic_load_explicit(&head->magic, memory_order_acquire);

    if (magic == 0) {
        return 0; /* the recorder was killed while creating the file: no tick was recorded */
    }
    file->ring_sizes = head->ring_sizes;
    if (magic != RING_FILE_MAGIC ||
        file_bytes(&head->ring_sizes, head->session_description_bytes) != file->bytes) {
        return tact_error_set(
            err, -EBADMSG,
            "the rings of its recorder in %s are truncated or damaged; nothing was changed",
            file->path);
    }
    file->session = (struct tact_byte_span){(unsigned char *)file->mapped_ring_file_memory +
                                                SESSION_DESCRIPTION_FILE_OFFSET,
                                            head->session_description_bytes};
    if (ring_head_checksum(file) != head->crc) {
        return tact_error_set(
            err, -EBADMSG,
            "the header of the rings of its recorder in %s is damaged; nothing was changed",
            file->path);
    }
    file->is_ring_file_complete = true;
    return locate_rings_in_file(file, head->session_description_bytes, false);
}

int tact_ring_file_open(struct tact_ring_file *file, const char *folder, const struct stat *log,
                        struct tact_error *err)
{
    struct stat status;

    *file = (struct tact_ring_file){0};
    set_ring_file_path(file, folder, log);
    int fd = open(file->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return tact_error_set(err, -errno, "cannot open %s: %s", file->path, strerror(errno));
    }
    int rc = fstat(fd, &status) != 0 ? -errno : 0;
    if (rc != 0) {
        tact_error_set(err, rc, "cannot open %s: %s", file->path, strerror(-rc));
    } else if (!S_ISREG(status.st_mode) ||
               (status.st_uid != log->st_uid && status.st_uid != geteuid())) {
        rc = tact_error_set(err, -EPERM,
                            "the file of the recorder's rings, %s, belongs to another user",
                            file->path);
    } else if (status.st_size > 0 && status.st_size < SESSION_DESCRIPTION_FILE_OFFSET) {
        rc = tact_error_set(err, -EBADMSG, "%s is truncated; nothing was changed", file->path);
    }
    file->bytes = rc == 0 ? (size_t)status.st_size : 0;
    if (file->bytes > 0) {
        rc = map_ring_file(file, fd, MAP_SHARED);
        if (rc != 0) {
            tact_error_set(err, rc, "cannot map %s: %s", file->path, strerror(-rc));
        }
    }
    close(fd);
    if (file->mapped_ring_file_memory) {
        rc = check_ring_file_head(file, err);
    }
    if (rc != 0) {
        tact_ring_file_close(file, true);
    }
    return rc;
}

void tact_ring_file_close(struct tact_ring_file *file, bool should_keep_ring_file)
{
    for (int i = 0; i < TACT_RINGS; i++) {
        tact_ring_free(file->rings[i]);
    }
    if (file->mapped_ring_file_memory) {
        munmap(file->mapped_ring_file_memory, file->bytes);
    }
    if (file->path[0] != '\0' && !should_keep_ring_file) {
        unlink(file->path);
    }
    *file = (struct tact_ring_file){0};
}

void *tact_ring_file_begin_element(struct tact_ring_file *file, int ring)
{
    uint64_t *element = tact_ring_reserve(file->rings[ring]);
    return element ? element + 1 : NULL;
}

void tact_ring_file_commit_element(struct tact_ring_file *file, int ring)
{
    struct tact_ring *to = file->rings[ring];
    uint32_t index = tact_ring_head(to);
    uint64_t *element = tact_ring_slot(to, index);

    element[0] = tact_ring_checksum(index, element + 1,
                                    ring_element_used_bytes(&file->ring_sizes, ring, element + 1));
    tact_ring_commit(to);
}

const void *tact_ring_file_peek_element(struct tact_ring_file *file, int ring,
                                        uint32_t elements_ahead_of_tail)
{
    const uint64_t *element = tact_ring_peek_at(file->rings[ring], elements_ahead_of_tail);
    return element ? element + 1 : NULL;
}

const void *tact_ring_file_element(struct tact_ring_file *file, int ring, uint32_t index)
{
    const uint64_t *element = tact_ring_slot(file->rings[ring], index);
    size_t used_element_bytes = ring_element_used_bytes(&file->ring_sizes, ring, element + 1);
    return used_element_bytes > 0 &&
                   element[0] == tact_ring_checksum(index, element + 1, used_element_bytes)
               ? element + 1
               : NULL;
}

static uint64_t compute_ring_mark_checksum(const struct tact_ring_chunk_mark *mark)
{
    return tact_ring_checksum(RING_FILE_MAGIC, mark, offsetof(struct tact_ring_chunk_mark, check));
}

void tact_ring_file_write_chunk_mark(struct tact_ring_file *file, uint64_t chunk_file_offset,
                                     const uint32_t next[TACT_RINGS])
{
    struct tact_ring_chunk_mark mark = {.chunk_file_offset = chunk_file_offset};

    memcpy(mark.next, next, sizeof mark.next);
    mark.check = compute_ring_mark_checksum(&mark);
    file->marks[file->chunk_mark_count++ % 2] = mark;
    /* the mark is stored before the chunk is written, also if the process is killed in between */
    atomic_signal_fence(memory_order_seq_cst);
}

bool tact_ring_file_is_mark_valid(const struct tact_ring_file *file, int chunk_mark_index)
{
    return file->marks[chunk_mark_index].check ==
           compute_ring_mark_checksum(&file->marks[chunk_mark_index]);
}
