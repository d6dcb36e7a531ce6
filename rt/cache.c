#include "rt/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "rt/file.h"

/* 1 where the folder belongs to this user and no other user can write to it. */
static int is_folder_private_to_user(const char *path)
{
    struct stat st;
    return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & (S_IWGRP | S_IWOTH)) && !eaccess(path, W_OK | X_OK);
}

/* Sets path to base/name and creates the folder if absent. Returns 1 where it is private. */
static int create_folder_private_to_user(const char *base, const char *name, char *path,
                                         size_t size)
{
    int n = snprintf(path, size, "%s%s%s", base, name[0] ? "/" : "", name);
    if (base[0] != '/' || n < 0 || (size_t)n >= size) {
        return 0;
    }
    mkdir(path, 0700);
    return is_folder_private_to_user(path);
}

static int choose_cache_folder_in_home(char *path, size_t size)
{
    char cache_folder_path[PATH_MAX];
    const char *home_folder = secure_getenv("HOME");
    return home_folder && home_folder[0] &&
           create_folder_private_to_user(home_folder, ".cache", cache_folder_path,
                                         sizeof cache_folder_path) &&
           create_folder_private_to_user(cache_folder_path, "tact", path, size);
}

/* The first folder of $CACHE_DIRECTORY, a list that systemd sets. */
static int choose_systemd_cache_folder(char *path, size_t size)
{
    const char *list = secure_getenv("CACHE_DIRECTORY");
    char first[PATH_MAX];
    if (!list) {
        return 0;
    }
    snprintf(first, sizeof first, "%.*s", (int)strcspn(list, ":"), list);
    return create_folder_private_to_user(first, "", path, size);
}

int tact_cache_folder(char *path, size_t size)
{
    const char *cache_folder_path = secure_getenv("XDG_CACHE_HOME");
    return (cache_folder_path && cache_folder_path[0] &&
            create_folder_private_to_user(cache_folder_path, "tact", path, size)) ||
                   choose_systemd_cache_folder(path, size) ||
                   choose_cache_folder_in_home(path, size)
               ? 0
               : -ENOENT;
}

static int cache_entry_path(const char *name, const char *end, char *path, size_t size)
{
    char folder[PATH_MAX];
    int rc = tact_cache_folder(folder, sizeof folder);
    int n = rc ? 0 : snprintf(path, size, "%s/%s%s", folder, name, end);
    return rc ? rc : n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int tact_cache_read(const char *name, uint64_t limit, char **data, uint64_t *size)
{
    char path[PATH_MAX];
    struct stat st;
    int rc = cache_entry_path(name, "", path, sizeof path);
    if (!rc && (lstat(path, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid())) {
        rc = -ENOENT;
    }
    rc = rc ? rc : tact_file_read(path, limit, data, size);
    if (!rc) {
        utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
    }
    return rc;
}

static int write_all_bytes(int fd, const char *data, uint64_t size)
{
    while (size) {
        ssize_t written_byte_count = write(fd, data, size);
        if (written_byte_count < 0 && errno != EINTR) {
            return -errno;
        }
        data += written_byte_count > 0 ? written_byte_count : 0;
        size -= written_byte_count > 0 ? (uint64_t)written_byte_count : 0;
    }
    return 0;
}

int tact_cache_write(const char *name, const void *data, uint64_t size)
{
    char path[PATH_MAX], part[PATH_MAX];
    int rc = cache_entry_path(name, "", path, sizeof path);
    rc = rc ? rc : cache_entry_path(name, ".XXXXXX", part, sizeof part);
    int fd = rc ? -1 : mkostemp(part, O_CLOEXEC); /* with mode 0600 */
    if (fd < 0) {
        return rc ? rc : -errno;
    }
    rc = write_all_bytes(fd, data, size);
    if (close(fd) && !rc) {
        rc = -errno;
    }
    if (!rc && rename(part, path)) {
        rc = -errno;
    }
    if (rc) {
        unlink(part);
    }
    return rc;
}

/* A file of the cache folder that may be removed to free space. */
struct entry {
    char *name;
    struct timespec time;
    uint64_t size;
};

static int compare_file_ages(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    if (a->time.tv_sec != b->time.tv_sec) {
        return a->time.tv_sec < b->time.tv_sec ? -1 : 1;
    }
    if (a->time.tv_nsec != b->time.tv_nsec) {
        return a->time.tv_nsec < b->time.tv_nsec ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

/* Appends the file to *list where it is a regular file of this user. */
static int append_cache_file_to_list(int folder, const char *name, struct entry **list,
                                     size_t *count)
{
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
        st.st_uid != geteuid()) {
        return 0;
    }
    struct entry *enlarged_cache_file_list = realloc(*list, (*count + 1) * sizeof **list);
    *list = enlarged_cache_file_list ? enlarged_cache_file_list : *list;
    char *cache_file_name_copy = enlarged_cache_file_list ? strdup(name) : NULL;
    if (!cache_file_name_copy) {
        return -ENOMEM;
    }
    enlarged_cache_file_list[(*count)++] =
        (struct entry){cache_file_name_copy, st.st_mtim, (uint64_t)st.st_size};
    return 0;
}

/* Removes the oldest entries until at most `most` bytes remain; returns their number. */
static int remove_oldest_cache_files(int folder, struct entry *list, size_t count,
                                     uint64_t cache_folder_limit_bytes)
{
    uint64_t cache_files_total_bytes = 0;
    int removed_cache_file_count = 0;
    for (size_t i = 0; i < count; i++) {
        cache_files_total_bytes += list[i].size;
    }
    if (count) {
        qsort(list, count, sizeof *list, compare_file_ages);
    }
    for (size_t i = 0; i < count && cache_files_total_bytes > cache_folder_limit_bytes; i++) {
        cache_files_total_bytes -= list[i].size;
        removed_cache_file_count += !unlinkat(folder, list[i].name, 0);
    }
    return removed_cache_file_count;
}

int tact_cache_trim(int (*is_own)(const char *name), uint64_t most)
{
    char path[PATH_MAX];
    struct entry *list = NULL;
    size_t count = 0;
    int rc = tact_cache_folder(path, sizeof path);
    DIR *folder = rc ? NULL : opendir(path);
    if (!folder) {
        return -ENOENT;
    }
    const struct dirent *cache_folder_entry;
    while (!rc && (cache_folder_entry = readdir(folder))) {
        rc = is_own(cache_folder_entry->d_name)
                 ? append_cache_file_to_list(dirfd(folder), cache_folder_entry->d_name, &list,
                                             &count)
                 : 0;
    }
    rc = rc ? rc : remove_oldest_cache_files(dirfd(folder), list, count, most);
    closedir(folder);
    for (size_t i = 0; i < count; i++) {
        free(list[i].name);
    }
    free(list);
    return rc;
}
