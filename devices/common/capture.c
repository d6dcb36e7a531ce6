#include "devices/common/capture_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* the file of a recording is locked while it is written */
static int remove_capture_file(const char *path)
{
    struct stat capture_file_status;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? 0 : errno == ELOOP ? -EEXIST : -errno;
    }
    int rc = fstat(fd, &capture_file_status)        ? -errno
             : S_ISREG(capture_file_status.st_mode) ? 0
                                                    : -EEXIST;
    rc = !rc && flock(fd, LOCK_EX | LOCK_NB) ? -EBUSY : rc;
    rc = !rc && unlink(path) ? -errno : rc;
    close(fd);
    return rc;
}

static int create_capture_file(struct tact_capture_file *capture,
                               const struct tact_device_config *config,
                               const char *file_name_suffix, struct tact_error *err)
{
    int n = snprintf(capture->path, sizeof capture->path, "%s/%s.%s", config->record, config->name,
                     file_name_suffix);
    if (n < 0 || (size_t)n >= sizeof capture->path) {
        return tact_error_set(err, -ENAMETOOLONG, "%s: too long a path", config->record);
    }
    int rc = config->replace ? remove_capture_file(capture->path) : 0;
    int fd =
        rc ? -1 : open(capture->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    capture->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!capture->file) {
        rc = rc ? rc : -errno;
        if (fd >= 0) {
            close(fd);
        }
        return tact_error_set(err, rc, "%s: %s%s", capture->path, strerror(-rc),
                              rc == -EEXIST
                                  ? ", and a recording is replaced only with --force, if it is a "
                                    "regular file that the scene does not play: name another folder"
                              : rc == -EBUSY ? ": another session is writing this recording"
                                             : "");
    }
    /* a file system without locks does not detect a second writer */
    flock(fd, LOCK_EX | LOCK_NB);
    return 0;
}

int tact_capture_open(struct tact_capture_file *capture, const struct tact_device_config *config,
                      const char *file_name_suffix, const char *what, uint32_t kept, size_t size,
                      struct tact_error *err)
{
    int rc = tact_ring_create(&capture->ring, kept, size, 0);
    if (rc) {
        return tact_error_set(err, rc, "out of memory");
    }
    capture->what = what;
    rc = create_capture_file(capture, config, file_name_suffix, err);
    if (rc) {
        tact_ring_free(capture->ring);
        capture->ring = NULL;
    }
    return rc;
}

void *tact_capture_reserve_entry(struct tact_capture_file *capture)
{
    return capture->ring ? tact_ring_reserve(capture->ring) : NULL;
}

void tact_capture_write_queued_entries(struct tact_capture_file *capture,
                                       void (*write)(FILE *file, const void *kept, void *user),
                                       void *user, const char *name, struct tact_messages messages)
{
    const void *kept;
    if (!capture->file) {
        return;
    }
    while ((kept = tact_ring_peek(capture->ring))) {
        write(capture->file, kept, user);
        tact_ring_release(capture->ring);
    }
    fflush(capture->file);
    uint64_t capture_ring_overruns = tact_ring_overruns(capture->ring);
    bool has_capture_write_failed = ferror(capture->file) && !capture->is_write_failure_reported;
    if (capture_ring_overruns != capture->capture_ring_overruns || has_capture_write_failed) {
        tact_message(messages, TACT_MESSAGE_ERROR,
                     "%s: the recording %s is incomplete: %" PRIu64
                     " %s were lost before they were written%s",
                     name, capture->path, capture_ring_overruns, capture->what,
                     has_capture_write_failed ? ", and writing to the disk failed" : "");
        capture->capture_ring_overruns = capture_ring_overruns;
        capture->is_write_failure_reported =
            capture->is_write_failure_reported || has_capture_write_failed;
    }
}

void tact_capture_close(struct tact_capture_file *capture, const char *name,
                        struct tact_messages messages)
{
    if (!capture->file) {
        return;
    }
    if (fclose(capture->file) && !capture->is_write_failure_reported) {
        tact_message(messages, TACT_MESSAGE_ERROR, "%s: %s: writing to the disk failed", name,
                     capture->path);
    }
    tact_ring_free(capture->ring);
    capture->file = NULL;
    capture->ring = NULL;
}
