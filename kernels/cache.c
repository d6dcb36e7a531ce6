#include "kernels/cache_internal.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    char path[PATH_MAX]; /* folder of this process only; "": none */
    pid_t owner;         /* forked children do not remove it */
} private_cache;

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

__attribute__((destructor)) static void remove_private_cache(void)
{
    if (private_cache.path[0] && private_cache.owner == getpid()) {
        nftw(private_cache.path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
}

/* Whether the folder belongs to this user and nobody else can write to it. */
static int is_private(const char *path)
{
    struct stat st;
    return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & (S_IWGRP | S_IWOTH)) && !eaccess(path, W_OK | X_OK);
}

/* Sets path to base/name and creates the folder if absent. Returns whether it is private. */
static int use_folder(const char *base, const char *name, char *path, size_t size)
{
    int n = snprintf(path, size, "%s%s%s", base, name[0] ? "/" : "", name);
    if (base[0] != '/' || n < 0 || (size_t)n >= size) {
        return 0;
    }
    mkdir(path, 0700);
    return is_private(path);
}

static int use_home_cache(char *path, size_t size)
{
    char caches[PATH_MAX];
    const char *home = secure_getenv("HOME");
    return home && home[0] && use_folder(home, ".cache", caches, sizeof caches) &&
           use_folder(caches, "tact", path, size);
}

/* The first folder of systemd's list. */
static int use_service_cache(char *path, size_t size)
{
    const char *list = secure_getenv("CACHE_DIRECTORY");
    char first[PATH_MAX];
    if (!list) {
        return 0;
    }
    snprintf(first, sizeof first, "%.*s", (int)strcspn(list, ":"), list);
    return use_folder(first, "", path, size);
}

static int make_private_cache(char *path, size_t size)
{
    const char *folder = secure_getenv("TMPDIR");
    int n = snprintf(private_cache.path, sizeof private_cache.path, "%s/tact-opencl-XXXXXX",
                     folder && folder[0] == '/' ? folder : "/tmp");
    int rc =
        n < 0 || (size_t)n >= sizeof private_cache.path || (size_t)n >= size ? -ENAMETOOLONG : 0;
    if (!rc && !mkdtemp(private_cache.path)) {
        rc = -errno;
    }
    if (rc) {
        private_cache.path[0] = '\0';
        return rc;
    }
    private_cache.owner = getpid();
    snprintf(path, size, "%s", private_cache.path);
    return 0;
}

int tact_cl_cache(char *path, size_t size)
{
    const char *caches = secure_getenv("XDG_CACHE_HOME");
    if ((caches && caches[0] && use_folder(caches, "tact", path, size)) ||
        use_service_cache(path, size) || use_home_cache(path, size)) {
        return 0;
    }
    return make_private_cache(path, size);
}
