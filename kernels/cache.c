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
    char path[PATH_MAX]; /* of the folder of this process alone; "": none */
    pid_t owner;         /* whoever is forked from it removes nothing */
} own;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

__attribute__((destructor)) static void remove_own(void)
{
    if (own.path[0] && own.owner == getpid()) {
        nftw(own.path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
}

/* Whether what is cached there is this user's, and nobody else can put kernels in its place. */
static int is_ours(const char *path)
{
    struct stat st;
    return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & (S_IWGRP | S_IWOTH)) && !eaccess(path, W_OK | X_OK);
}

/* base/name, made where it is not there. Whether it may be used. */
static int take(const char *base, const char *name, char *path, size_t size)
{
    int n = snprintf(path, size, "%s%s%s", base, name[0] ? "/" : "", name);
    if (base[0] != '/' || n < 0 || (size_t)n >= size) {
        return 0;
    }
    mkdir(path, 0700);
    return is_ours(path);
}

static int take_home(char *path, size_t size)
{
    char caches[PATH_MAX];
    const char *home = secure_getenv("HOME");
    return home && home[0] && take(home, ".cache", caches, sizeof caches) &&
           take(caches, "tact", path, size);
}

/* The first of what systemd lists. */
static int take_service(char *path, size_t size)
{
    const char *list = secure_getenv("CACHE_DIRECTORY");
    char first[PATH_MAX];
    if (!list) {
        return 0;
    }
    snprintf(first, sizeof first, "%.*s", (int)strcspn(list, ":"), list);
    return take(first, "", path, size);
}

static int make_own(char *path, size_t size)
{
    const char *folder = secure_getenv("TMPDIR");
    int n = snprintf(own.path, sizeof own.path, "%s/tact-opencl-XXXXXX",
                     folder && folder[0] == '/' ? folder : "/tmp");
    int rc = n < 0 || (size_t)n >= sizeof own.path || (size_t)n >= size ? -ENAMETOOLONG : 0;
    if (!rc && !mkdtemp(own.path)) {
        rc = -errno;
    }
    if (rc) {
        own.path[0] = '\0';
        return rc;
    }
    own.owner = getpid();
    snprintf(path, size, "%s", own.path);
    return 0;
}

int tact_cl_cache(char *path, size_t size)
{
    const char *caches = secure_getenv("XDG_CACHE_HOME");
    if ((caches && caches[0] && take(caches, "tact", path, size)) || take_service(path, size) ||
        take_home(path, size)) {
        return 0;
    }
    return make_own(path, size);
}
