#include "devices/common/tape_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whoever writes a tape has it locked. */
static int remove_tape(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? 0 : errno == ELOOP ? -EEXIST : -errno;
    }
    int rc = fstat(fd, &status) ? -errno : S_ISREG(status.st_mode) ? 0 : -EEXIST;
    rc = !rc && flock(fd, LOCK_EX | LOCK_NB) ? -EBUSY : rc;
    rc = !rc && unlink(path) ? -errno : rc;
    close(fd);
    return rc;
}

static int make_file(struct tact_tape *tape, const struct tact_device_config *config,
                     const char *ending, struct tact_error *err)
{
    int n =
        snprintf(tape->path, sizeof tape->path, "%s/%s.%s", config->record, config->name, ending);
    if (n < 0 || (size_t)n >= sizeof tape->path) {
        return tact_error_set(err, -ENAMETOOLONG, "%s: too long a path", config->record);
    }
    int rc = config->replace ? remove_tape(tape->path) : 0;
    int fd = rc ? -1 : open(tape->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    tape->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!tape->file) {
        rc = rc ? rc : -errno;
        if (fd >= 0) {
            close(fd);
        }
        return tact_error_set(err, rc, "%s: %s%s", tape->path, strerror(-rc),
                              rc == -EEXIST  ? ", and is not written over: name another folder"
                              : rc == -EBUSY ? ": another session writes it"
                                             : "");
    }
    flock(fd, LOCK_EX | LOCK_NB); /* where the file system knows no locks, nothing is kept out */
    return 0;
}

int tact_tape_open(struct tact_tape *tape, const struct tact_device_config *config,
                   const char *ending, const char *what, uint32_t kept, size_t size,
                   struct tact_error *err)
{
    int rc = tact_ring_create(&tape->ring, kept, size, 0);
    if (rc) {
        return tact_error_set(err, rc, "out of memory");
    }
    tape->what = what;
    rc = make_file(tape, config, ending, err);
    if (rc) {
        tact_ring_free(tape->ring);
        tape->ring = NULL;
    }
    return rc;
}

void *tact_tape_reserve(struct tact_tape *tape)
{
    return tape->ring ? tact_ring_reserve(tape->ring) : NULL;
}

void tact_tape_drain(struct tact_tape *tape,
                     void (*write)(FILE *file, const void *kept, void *user), void *user,
                     const char *name, struct tact_messages messages)
{
    const void *kept;
    if (!tape->file) {
        return;
    }
    while ((kept = tact_ring_peek(tape->ring))) {
        write(tape->file, kept, user);
        tact_ring_release(tape->ring);
    }
    fflush(tape->file);
    uint64_t overruns = tact_ring_overruns(tape->ring);
    bool refused = ferror(tape->file) && !tape->failed;
    if (overruns != tape->overruns || refused) {
        tact_message(messages, TACT_MESSAGE_ERROR, "%s: %s: %" PRIu64 " %s could not be kept%s",
                     name, tape->path, overruns, tape->what,
                     refused ? ", and the disk refuses what is written" : "");
        tape->overruns = overruns;
        tape->failed = tape->failed || refused;
    }
}

void tact_tape_close(struct tact_tape *tape, const char *name, struct tact_messages messages)
{
    if (!tape->file) {
        return;
    }
    if (fclose(tape->file) && !tape->failed) {
        tact_message(messages, TACT_MESSAGE_ERROR, "%s: %s: the disk refuses what is written", name,
                     tape->path);
    }
    tact_ring_free(tape->ring);
    tape->file = NULL;
    tape->ring = NULL;
}
