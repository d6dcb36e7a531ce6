/* An output file of a subcommand, complete or absent. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "text.h"

static int report_output_error(const struct output *o, int error)
{
    fprintf(stderr, "%s: %s: cannot be written: %s\n", o->command, text_make_printable(o->path),
            strerror(error));
    return EXIT_BAD;
}

int is_output_allowed(const char *command, const char *path, int force, const char *const *inputs,
                      int count)
{
    struct stat existing_file_status, input;
    const char *printable_path = text_make_printable(path);
    if (lstat(path, &existing_file_status)) {
        return EXIT_GOOD;
    }
    int target = stat(path, &existing_file_status); /* fails for a link without target */
    for (int i = 0; i < count && !target; i++) {
        if (inputs[i] && !stat(inputs[i], &input) && input.st_ino == existing_file_status.st_ino &&
            input.st_dev == existing_file_status.st_dev && S_ISREG(existing_file_status.st_mode)) {
            fprintf(stderr, "%s: %s is an input of this command: it is not overwritten\n", command,
                    printable_path);
            return EXIT_USAGE;
        }
    }
    if (!target && S_ISDIR(existing_file_status.st_mode)) {
        fprintf(stderr, "%s: %s: is a folder\n", command, printable_path);
        return EXIT_USAGE;
    }
    if (force || (!target && !S_ISREG(existing_file_status.st_mode))) {
        return EXIT_GOOD;
    }
    fprintf(stderr, "%s: %s: exists already; --force replaces it\n", command, printable_path);
    return EXIT_USAGE;
}

/* "folder/tact-part-XXXXXX" */
static char *make_temporary_path(const char *path)
{
    const char *last_slash = strrchr(path, '/');
    int folder = last_slash ? (int)(last_slash - path) + 1 : 0;
    char *name = NULL;
    return asprintf(&name, "%.*stact-part-XXXXXX", folder, path) < 0 ? NULL : name;
}

/* The mode that open() would set, or that of the replaced file. */
static mode_t file_mode_of_output(const char *path)
{
    struct stat existing_file_status;
    if (!stat(path, &existing_file_status)) {
        return existing_file_status.st_mode & 0777;
    }
    mode_t file_mode_mask = umask(0);
    umask(file_mode_mask);
    return 0666 & ~file_mode_mask;
}

/* Write function of the stream of an output; it writes nothing more after a failure, so that no
 * part in the middle is missing. */
static ssize_t write_to_output(void *cookie, const char *data, size_t size)
{
    struct output *o = cookie;
    size_t written_byte_count = 0;
    while (written_byte_count < size && !o->write_error) {
        ssize_t n = write(o->fd, data + written_byte_count, size - written_byte_count);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            o->write_error = n < 0 ? errno : EIO;
        }
        written_byte_count += n > 0 ? (size_t)n : 0;
    }
    if (o->write_error) {
        errno = o->write_error;
    }
    return (ssize_t)written_byte_count; /* a result below `size` is an error to stdio */
}

static FILE *open_stream_of_output(struct output *o)
{
    return o->fd < 0 ? NULL
                     : fopencookie(o, "w", (cookie_io_functions_t){.write = write_to_output});
}

int output_open(struct output *o, const char *command, const char *path, int force)
{
    struct stat existing_file_status;
    *o = (struct output){.command = command, .path = path, .force = force};
    if (!stat(path, &existing_file_status) && !S_ISREG(existing_file_status.st_mode)) {
        o->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        o->to = open_stream_of_output(o);
        if (o->to) {
            return EXIT_GOOD;
        }
        int why = errno;
        if (o->fd >= 0) {
            close(o->fd);
        }
        return report_output_error(o, why);
    }
    o->target_path = realpath(path, NULL);
    o->target_path = o->target_path ? o->target_path : strdup(path);
    char *temporary_path = o->target_path ? make_temporary_path(o->target_path) : NULL;
    o->temporary_path = temporary_path;
    o->fd = temporary_path ? mkostemp(temporary_path, O_CLOEXEC) : -1;
    o->to = open_stream_of_output(o);
    if (o->to) {
        /* if fchmod() fails, the file is readable by its owner only, which is no error */
        fchmod(o->fd, file_mode_of_output(o->target_path));
        return EXIT_GOOD;
    }
    int code = report_output_error(o, temporary_path ? errno : ENOMEM);
    if (o->fd >= 0) {
        close(o->fd);
        unlink(temporary_path);
    }
    free(temporary_path);
    free(o->target_path);
    return code;
}

/* Without --force the name must still be free; some file systems cannot check that atomically. */
static int rename_temporary_to_target(const struct output *o)
{
    if (o->force) {
        return rename(o->temporary_path, o->target_path);
    }
    if (!renameat2(AT_FDCWD, o->temporary_path, AT_FDCWD, o->target_path, RENAME_NOREPLACE)) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -1;
    }
    return link(o->temporary_path, o->target_path) || unlink(o->temporary_path) ? -1 : 0;
}

int output_close(struct output *o, int code, int must_keep_incomplete_file)
{
    int error = 0;
    errno = 0;
    if (fflush(o->to) || ferror(o->to)) {
        error = o->write_error ? o->write_error : errno ? errno : EIO;
    }
    if (!error && o->temporary_path && fsync(o->fd) && errno != EINVAL) {
        error = errno;
    }
    fclose(o->to); /* the stream has been flushed, or its error is already stored */
    if (close(o->fd) && !error) {
        error = errno;
    }
    if (o->temporary_path && must_keep_incomplete_file && !error && rename_temporary_to_target(o)) {
        error = errno;
    }
    if (o->temporary_path && (!must_keep_incomplete_file || error)) {
        unlink(o->temporary_path);
    }
    free(o->temporary_path);
    free(o->target_path);
    return error && must_keep_incomplete_file ? report_output_error(o, error) : code;
}
