#include "devices/common/tape_internal.h"

#include <errno.h>
#include <fcntl.h>
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

int tact_tape_create(const struct tact_device_config *config, const char *ending, char *path,
                     size_t size, FILE **file, struct tact_error *err)
{
    int n = snprintf(path, size, "%s/%s.%s", config->record, config->name, ending);
    if (n < 0 || (size_t)n >= size) {
        return tact_error_set(err, -ENAMETOOLONG, "%s: too long a path", config->record);
    }
    int rc = config->replace ? remove_tape(path) : 0;
    int fd = rc ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!*file) {
        rc = rc ? rc : -errno;
        if (fd >= 0) {
            close(fd);
        }
        return tact_error_set(err, rc, "%s: %s%s", path, strerror(-rc),
                              rc == -EEXIST  ? ", and is not written over: name another folder"
                              : rc == -EBUSY ? ": another session writes it"
                                             : "");
    }
    flock(fd, LOCK_EX | LOCK_NB); /* where the file system knows no locks, nothing is kept out */
    return 0;
}
