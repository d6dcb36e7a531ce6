#include "kernels/cache_internal.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "rt/cache.h"

static struct {
    char path[PATH_MAX]; /* path of a temporary cache folder of this process; "": none */
    pid_t owner;         /* the process that created the folder: forked children do not remove it */
} private_cache;

static int remove_cache_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

__attribute__((destructor)) static void remove_private_cache_folder(void)
{
    if (private_cache.path[0] && private_cache.owner == getpid()) {
        nftw(private_cache.path, remove_cache_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
}

static int make_private_cache_folder(char *path, size_t size)
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

int tact_cl_choose_cache_folder(char *path, size_t size)
{
    return tact_cache_folder(path, size) ? make_private_cache_folder(path, size) : 0;
}
