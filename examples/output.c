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
    fprintf(stderr, "%s: %s: cannot be written: %s\n", o->command, text_shown(o->path),
            strerror(error));
    return EXIT_BAD;
}

int is_output_allowed(const char *command, const char *path, int force, const char *const *inputs,
                      int count)
{
    struct stat existing_file, input;
    const char *shown_path = text_shown(path);
    if (lstat(path, &existing_file)) {
        return EXIT_GOOD;
    }
    int target = stat(path, &existing_file); /* fails for a link without target */
    for (int i = 0; i < count && !target; i++) {
        if (inputs[i] && !stat(inputs[i], &input) && input.st_ino == existing_file.st_ino &&
            input.st_dev == existing_file.st_dev && S_ISREG(existing_file.st_mode)) {
            fprintf(stderr, "%s: %s is an input of this command: it is not overwritten\n", command,
                    shown_path);
            return EXIT_USAGE;
        }
    }
    if (!target && S_ISDIR(existing_file.st_mode)) {
        fprintf(stderr, "%s: %s: is a folder\n", command, shown_path);
        return EXIT_USAGE;
    }
    if (force || (!target && !S_ISREG(existing_file.st_mode))) {
        return EXIT_GOOD;
    }
    fprintf(stderr, "%s: %s: exists already; --force replaces it\n", command, shown_path);
    return EXIT_USAGE;
}

/* "folder/tact-part-XXXXXX" */
static char *temporary_name_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    char *name = NULL;
    return asprintf(&name, "%.*stact-part-XXXXXX", folder, path) < 0 ? NULL : name;
}

/* The mode that open() would set, or that of the replaced file. */
static mode_t file_mode_of_output(const char *path)
{
    struct stat existing_file;
    if (!stat(path, &existing_file)) {
        return existing_file.st_mode & 0777;
    }
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Write function of the stream of an output; it writes nothing more after a failure, so that no
 * part in the middle is missing. */
static ssize_t write_to_output(void *cookie, const char *data, size_t size)
{
    struct output *o = cookie;
    size_t done = 0;
    while (done < size && !o->write_error) {
        ssize_t n = write(o->fd, data + done, size - done);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            o->write_error = n < 0 ? errno : EIO;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    if (o->write_error) {
        errno = o->write_error;
    }
    return (ssize_t)done; /* a result below `size` is an error to stdio */
}

static FILE *open_stream_of_output(struct output *o)
{
    return o->fd < 0 ? NULL
                     : fopencookie(o, "w", (cookie_io_functions_t){.write = write_to_output});
}

int output_open(struct output *o, const char *command, const char *path, int force)
{
    struct stat existing_file;
    *o = (struct output){.command = command, .path = path, .force = force};
    if (!stat(path, &existing_file) && !S_ISREG(existing_file.st_mode)) {
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
    char *beside = o->target_path ? temporary_name_beside(o->target_path) : NULL;
    o->beside = beside;
    o->fd = beside ? mkostemp(beside, O_CLOEXEC) : -1;
    o->to = open_stream_of_output(o);
    if (o->to) {
        /* if fchmod() fails, the file is readable by its owner only, which is no error */
        fchmod(o->fd, file_mode_of_output(o->target_path));
        return EXIT_GOOD;
    }
    int code = report_output_error(o, beside ? errno : ENOMEM);
    if (o->fd >= 0) {
        close(o->fd);
        unlink(beside);
    }
    free(beside);
    free(o->target_path);
    return code;
}

/* Without --force the name must still be free; some file systems cannot check that atomically. */
static int rename_to_path(const struct output *o)
{
    if (o->force) {
        return rename(o->beside, o->target_path);
    }
    if (!renameat2(AT_FDCWD, o->beside, AT_FDCWD, o->target_path, RENAME_NOREPLACE)) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -1;
    }
    return link(o->beside, o->target_path) || unlink(o->beside) ? -1 : 0;
}

int output_close(struct output *o, int code, int keep_on_failure)
{
    int error = 0;
    errno = 0;
    if (fflush(o->to) || ferror(o->to)) {
        error = o->write_error ? o->write_error : errno ? errno : EIO;
    }
    if (!error && o->beside && fsync(o->fd) && errno != EINVAL) {
        error = errno;
    }
    fclose(o->to); /* the stream has been flushed, or its error is already stored */
    if (close(o->fd) && !error) {
        error = errno;
    }
    if (o->beside && keep_on_failure && !error && rename_to_path(o)) {
        error = errno;
    }
    if (o->beside && (!keep_on_failure || error)) {
        unlink(o->beside);
    }
    free(o->beside);
    free(o->target_path);
    return error && keep_on_failure ? report_output_error(o, error) : code;
}
