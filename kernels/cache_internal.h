/** The folder in which OpenCL drivers cache compiled kernels. Not installed. */
#ifndef TACT_KERNELS_CACHE_INTERNAL_H
#define TACT_KERNELS_CACHE_INTERNAL_H

#include <stddef.h>

/* Chooses a folder that only this user can write to, and creates it if absent: the first usable of
 * $XDG_CACHE_HOME/tact, $CACHE_DIRECTORY (set by systemd for a service), $HOME/.cache/tact; else a
 * temporary folder that is removed at exit. A symbolic link, another user's folder or one writable
 * by others is skipped. The environment is ignored in a setuid program (secure_getenv()). Called
 * once per process, by one thread.
 * Returns 0, -ENAMETOOLONG, or the negative errno of creating the temporary folder. */
int tact_cl_cache(char *path, size_t size);

#endif
