#include "log_file_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log_reader.h"
#include "ring_file_internal.h"

#define FILE_NUMBER_PLACEHOLDER "%n"
#define MAX_FILE_NUMBER_DIGITS 9 /* numbers with more digits in file names are ignored */

struct tact_sigxfsz_mask tact_sigxfsz_block(void)
{
    struct tact_sigxfsz_mask state;
    sigset_t size, pending;

    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    sigpending(&pending);
    state.was_sigxfsz_pending = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &size, &state.before);
    return state;
}

void tact_sigxfsz_restore(const struct tact_sigxfsz_mask *state)
{
    const struct timespec now = {0};
    sigset_t size;

    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    while (!state->was_sigxfsz_pending && sigtimedwait(&size, NULL, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &state->before, NULL);
}

static bool is_regular_file(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* The file is truncated only after it is locked. */
static int open_log_file(const char *path, int replace, bool *is_log_file_created,
                         struct tact_error *err)
{
    const int flags = O_WRONLY | O_CLOEXEC;
    bool is_regular_log_file = is_regular_file(path);
    int fd = is_regular_log_file ? open(path, flags | O_CREAT | O_EXCL, 0666) : open(path, flags);

    *is_log_file_created = is_regular_log_file && fd >= 0;
    if (fd < 0 && is_regular_log_file && errno == EEXIST && replace) {
        fd = open(path, flags | O_CREAT, 0666);
    }
    tact_error_at(err, path, 0, 0, NULL);
    if (fd < 0) {
        return tact_error_set(err, -errno, "cannot create the log: %s", strerror(errno));
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(fd);
        return tact_error_set(err, -EBUSY, "this log is being written or read by another process");
    }
    if (ftruncate(fd, 0) != 0 && errno != EINVAL) {
        int rc = -errno;
        close(fd);
        return tact_error_set(err, rc, "cannot truncate the existing log: %s", strerror(-rc));
    }
    return fd;
}

int tact_log_file_create_part(const char *path, int replace, bool *is_log_file_created,
                              struct tact_error *err)
{
    return open_log_file(path, replace, is_log_file_created, err);
}

/* Number between the prefix `head` and `text_after_file_number` in a file name, or -1. */
static long parse_file_number(const char *name, const char *head, size_t head_size,
                              const char *text_after_file_number)
{
    size_t file_number_digit_count = 0;

    if (strncmp(name, head, head_size) != 0) {
        return -1;
    }
    name += head_size;
    while (file_number_digit_count <= MAX_FILE_NUMBER_DIGITS &&
           isdigit((unsigned char)name[file_number_digit_count])) {
        file_number_digit_count++;
    }
    return file_number_digit_count > 0 && file_number_digit_count <= MAX_FILE_NUMBER_DIGITS &&
                   strcmp(name + file_number_digit_count, text_after_file_number) == 0
               ? strtol(name, NULL, 10)
               : -1;
}

/* Largest number between `head` and `text_after_file_number` in the file names of the folder of
 * `path`; -1: none. */
static long find_largest_file_number(const char *path, const char *head, size_t head_size,
                                     const char *text_after_file_number)
{
    const char *last_slash = strrchr(path, '/');
    char *folder = last_slash ? strndup(path, (size_t)(last_slash - path) + 1) : strdup(".");
    DIR *list = folder ? opendir(folder) : NULL;
    long largest = -1;

    for (struct dirent *entry; list && (entry = readdir(list));) {
        long number = parse_file_number(entry->d_name, head, head_size, text_after_file_number);
        largest = number > largest ? number : largest;
    }
    if (list) {
        closedir(list);
    }
    free(folder);
    return largest;
}

static const char *file_name_of_path(const char *path)
{
    const char *last_slash = strrchr(path, '/');
    return last_slash ? last_slash + 1 : path;
}

/* Number of a later file of the session whose first file has this name, or -1: "a.2.mcap" for
 * "a.mcap". */
static long later_log_part_number(const char *path)
{
    const char *name = file_name_of_path(path), *dot = strrchr(name, '.');
    size_t length_before_log_extension = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    char head[NAME_MAX + 2];

    if (length_before_log_extension > NAME_MAX) {
        return -1;
    }
    snprintf(head, sizeof head, "%.*s.", (int)length_before_log_extension, name);
    long number = find_largest_file_number(path, head, length_before_log_extension + 1,
                                           name + length_before_log_extension);
    return number > 1 ? number : -1;
}

int tact_recorder_check(const char *path, int replace, const char *ring_folder,
                        struct tact_error *err)
{
    struct stat status;

    tact_error_at(err, path, 0, 0, NULL);
    if (replace || !is_regular_file(path) ||
        strstr(file_name_of_path(path), FILE_NUMBER_PLACEHOLDER)) {
        return 0;
    }
    if (lstat(path, &status) == 0) {
        bool was_recorder_killed =
            S_ISREG(status.st_mode) &&
            tact_ring_file_exists(ring_folder ? ring_folder : TACT_RING_FILE_FOLDER, &status);
        return tact_error_set(err, -EEXIST, "this file exists already%s; --force replaces it",
                              was_recorder_killed
                                  ? ", and its recorder runs or was killed: `tact recover` "
                                    "finishes the log"
                                  : "");
    }
    long number = later_log_part_number(path);
    if (number < 0) {
        return 0;
    }
    char *later_log_part_path = tact_log_part_path(path, (unsigned)number);
    tact_error_at(err, later_log_part_path, 0, 0, NULL);
    free(later_log_part_path);
    return tact_error_set(err, -EEXIST,
                          "this file of a session of the same name exists already; --force "
                          "replaces it once the new session reaches it");
}

/* Creates the file with the first free number after the largest one; concurrent recorders get
 * different numbers. */
static int open_next_numbered_file(const char *path, const char *at, const char *ring_folder,
                                   char **name, bool *is_log_file_created, struct tact_error *err)
{
    const char *base = file_name_of_path(path),
               *text_after_file_number = at + sizeof FILE_NUMBER_PLACEHOLDER - 1;
    long number = find_largest_file_number(path, base, (size_t)(at - base), text_after_file_number);
    size_t log_path_capacity = strlen(path) + MAX_FILE_NUMBER_DIGITS + 2;
    char *numbered_log_path = malloc(log_path_capacity);
    int rc = numbered_log_path ? -EEXIST : -ENOMEM;

    while (rc == -EEXIST && ++number < 1000000000) {
        number = number > 0 ? number : 1;
        snprintf(numbered_log_path, log_path_capacity, "%.*s%ld%s", (int)(at - path), path, number,
                 text_after_file_number);
        rc = tact_recorder_check(numbered_log_path, 0, ring_folder, err);
        if (rc == 0) {
            rc = open_log_file(numbered_log_path, 0, is_log_file_created, err);
        }
    }
    if (rc < 0) {
        free(numbered_log_path);
    } else {
        *name = numbered_log_path;
    }
    return rc;
}

int tact_log_file_create_first(const char *path, const struct tact_recorder_options *options,
                               char **name, bool *is_log_file_created, struct tact_error *err)
{
    const char *at = strstr(file_name_of_path(path), FILE_NUMBER_PLACEHOLDER);

    if (at) {
        return open_next_numbered_file(path, at, options->ring_folder, name, is_log_file_created,
                                       err);
    }
    int rc = tact_recorder_check(path, options->replace, options->ring_folder, err);
    if (rc != 0) {
        return rc;
    }
    *name = strdup(path);
    if (!*name) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    rc = open_log_file(path, options->replace, is_log_file_created, err);
    if (rc < 0) {
        free(*name);
    }
    return rc;
}
