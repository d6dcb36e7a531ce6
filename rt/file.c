#include "rt/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_open_file(int fd, uint64_t limit, char **data, uint64_t *size)
{
    struct stat info;
    if (fstat(fd, &info)) {
        return -errno;
    }
    if (!S_ISREG(info.st_mode)) {
        return -EISDIR;
    }
    if ((uint64_t)info.st_size > limit) {
        return -EFBIG;
    }
    size_t file_buffer_size = (size_t)info.st_size, used = 0;
    char *bytes = malloc(file_buffer_size + 1);
    if (!bytes) {
        return -ENOMEM;
    }
    while (used < file_buffer_size) {
        ssize_t read_byte_count = read(fd, bytes + used, file_buffer_size - used);
        if (read_byte_count < 0 && errno != EINTR) {
            int rc = -errno;
            free(bytes);
            return rc;
        }
        if (read_byte_count == 0) {
            break;
        }
        used += read_byte_count > 0 ? (size_t)read_byte_count : 0;
    }
    bytes[used] = '\0';
    *data = bytes;
    *size = used;
    return 0;
}

int tact_file_read(const char *path, uint64_t limit, char **data, uint64_t *size)
{
    /* O_NONBLOCK: opening a named pipe must not block */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return -errno;
    }
    int rc = read_open_file(fd, limit, data, size);
    close(fd);
    return rc;
}

const char *tact_file_failure_reason(int rc)
{
    return rc == -EISDIR ? "not a regular file" : strerror(-rc);
}
