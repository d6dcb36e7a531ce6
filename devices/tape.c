#include "devices/tape_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int tact_tape_create(const struct tact_device_config *config, const char *ending, char *path,
                     size_t size, FILE **file, struct tact_error *err)
{
    int n = snprintf(path, size, "%s/%s.%s", config->record, config->name, ending);
    if (n < 0 || (size_t)n >= size) {
        return tact_error_set(err, -ENAMETOOLONG, "%s: too long a path", config->record);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!*file) {
        int rc = -errno;
        if (fd >= 0) {
            close(fd);
        }
        return tact_error_set(err, rc, "%s: %s%s", path, strerror(-rc),
                              rc == -EEXIST ? ", and is not written over: name another folder"
                                            : "");
    }
    return 0;
}
