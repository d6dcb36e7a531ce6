/* Checks on the descriptor by which a plug-in is then loaded: who may have changed it. */
#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "devices/plugin/plugin_internal.h"

/* printf format of a path in a message, truncated at its end */
#define TRUNCATED_PATH_FORMAT "%.150s"

bool tact_plugin_is_trusted_file(const struct stat *file, uid_t user)
{
    return (file->st_uid == 0 || file->st_uid == user) && !(file->st_mode & (S_IWGRP | S_IWOTH));
}

static int check_owner_and_mode(int fd, const char *what, const char *path, struct tact_error *err)
{
    struct stat s;
    const uid_t user = geteuid();
    if (fstat(fd, &s)) {
        return tact_error_set(err, -errno, "%s " TRUNCATED_PATH_FORMAT ": %s", what, path,
                              strerror(errno));
    }
    if (tact_plugin_is_trusted_file(&s, user)) {
        return 0;
    }
    if (s.st_uid != 0 && s.st_uid != user) {
        return tact_error_set(
            err, -EPERM, "%s " TRUNCATED_PATH_FORMAT " belongs to user %u; expected root or %u",
            what, path, (unsigned)s.st_uid, (unsigned)user);
    }
    return tact_error_set(err, -EPERM,
                          "%s " TRUNCATED_PATH_FORMAT
                          " can be written by others (mode %04o); expected: chmod go-w",
                          what, path, (unsigned)s.st_mode & 07777);
}

/* Reports why a file could not be opened; the errno of open() for a symbolic link depends on its
 * flags. */
static int set_plugin_open_error(int at, const char *name, const char *what, const char *path,
                                 struct tact_error *err)
{
    const int code = errno;
    struct stat s;
    if (!fstatat(at, name, &s, AT_SYMLINK_NOFOLLOW) && S_ISLNK(s.st_mode)) {
        return tact_error_set(err, -EPERM,
                              "%s " TRUNCATED_PATH_FORMAT " is a symbolic link; expected none",
                              what, path);
    }
    return tact_error_set(err, -code, "%s " TRUNCATED_PATH_FORMAT ": %s", what, path,
                          strerror(code));
}

/* Whether a path ends in "/." or "/..": open() would follow a symbolic link before it. */
static bool is_last_path_component_dots(const char *path)
{
    const char *last_slash_in_path = strrchr(path, '/');
    return last_slash_in_path &&
           (!strcmp(last_slash_in_path, "/.") || !strcmp(last_slash_in_path, "/.."));
}

int tact_plugin_open_folder(const char *path, struct tact_error *err)
{
    static const char what[] = "plug-in folder";
    char path_without_trailing_slash[4096];
    const int length =
        snprintf(path_without_trailing_slash, sizeof path_without_trailing_slash, "%s", path);
    if (length <= 0 || length >= (int)sizeof path_without_trailing_slash) {
        return tact_error_set(err, -EINVAL,
                              "%s " TRUNCATED_PATH_FORMAT ": expected a path of 1 to 4095 bytes",
                              what, path);
    }
    /* the slash at the end is removed, as with it open() would follow a symbolic link */
    for (char *end = path_without_trailing_slash + length - 1;
         end > path_without_trailing_slash && *end == '/'; end--) {
        *end = '\0';
    }
    if (is_last_path_component_dots(path_without_trailing_slash)) {
        return tact_error_set(err, -EINVAL,
                              "%s " TRUNCATED_PATH_FORMAT
                              " ends in /. or /..; expected the name of the folder",
                              what, path);
    }
    const int fd =
        open(path_without_trailing_slash, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return set_plugin_open_error(AT_FDCWD, path_without_trailing_slash, what, path, err);
    }
    const int rc = check_owner_and_mode(fd, what, path, err);
    if (rc) {
        close(fd);
    }
    return rc ? rc : fd;
}

/* 1 where all segments of a shared object that are to be mapped exist: the loader does not check,
 * and a file that was copied in part would end the process. A file that is no shared object is left
 * to the loader to refuse. */
static bool is_shared_object_complete(int fd, off_t size)
{
    ElfW(Ehdr) head;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) {
        return true;
    }
    for (int i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) part;
        const off_t at = (off_t)head.e_phoff + (off_t)i * (off_t)sizeof part;
        if (at < 0 || pread(fd, &part, sizeof part, at) != (ssize_t)sizeof part) {
            return false;
        }
        if (part.p_type == PT_LOAD &&
            (part.p_filesz > (size_t)size || part.p_offset > (size_t)size - part.p_filesz)) {
            return false;
        }
    }
    return true;
}

int tact_plugin_open_file(int folder, const char *path, const char *name, struct tact_error *err)
{
    static const char what[] = "plug-in";
    char plugin_file_path[4096 + 64];
    struct stat s;
    snprintf(plugin_file_path, sizeof plugin_file_path, "%s/%s", path, name);
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? -ENOENT
                               : set_plugin_open_error(folder, name, what, plugin_file_path, err);
    }
    int rc = check_owner_and_mode(fd, what, plugin_file_path, err);
    if (!rc && (fstat(fd, &s) || !S_ISREG(s.st_mode))) {
        rc = tact_error_set(err, -EINVAL, "%s " TRUNCATED_PATH_FORMAT " is no file", what,
                            plugin_file_path);
    } else if (!rc && !is_shared_object_complete(fd, s.st_size)) {
        rc = tact_error_set(err, -EINVAL,
                            "%s " TRUNCATED_PATH_FORMAT " is truncated: it cannot be loaded", what,
                            plugin_file_path);
    }
    if (rc) {
        close(fd);
    }
    return rc ? rc : fd;
}
