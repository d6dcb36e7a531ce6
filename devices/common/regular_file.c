#include "devices/common/regular_file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Why the file is not read: 0, or a negative errno with *err set. */
static int check_that_file_is_regular(int fd, struct tact_error *err)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int code = -errno;
        return tact_error_set(err, code, "cannot open: %s", strerror(-code));
    }
    if (S_ISDIR(st.st_mode)) {
        return tact_error_set(err, -EINVAL, "this path is a folder: expected a file");
    }
    return S_ISREG(st.st_mode) ? 0 : tact_error_set(err, -EINVAL, "not a regular file");
}

FILE *tact_regular_file_open(const char *path, int *rc, struct tact_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *rc = check_that_file_is_regular(fd, err);
    FILE *file = *rc ? NULL : fdopen(fd, "r");
    if (!file && !*rc) {
        *rc = tact_error_set(err, -ENOMEM, "out of memory");
    }
    if (!file && fd >= 0) {
        close(fd);
    }
    return file;
}
