/**
 * The cache folder, in which tact stores results that it could compute again. No result depends on
 * it, only the time that is needed: it may be absent, or removed at any time.
 */
#ifndef TACT_RT_CACHE_H
#define TACT_RT_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include "../contact/api.h"

TACT_BEGIN_DECLS

/**
 * Chooses a folder that only this user can write to, and creates it with mode 0700 if absent: the
 * first usable of $XDG_CACHE_HOME/tact, $CACHE_DIRECTORY (set by systemd for a service),
 * $HOME/.cache/tact. A symbolic link, another user's folder or one writable by others is skipped.
 * The environment is ignored in a setuid program (secure_getenv()). Not real-time safe.
 * @retval 0  path is the folder, absolute
 * @retval -ENOENT  there is none
 */
TACT_API int tact_cache_folder(char *path, size_t size);

/** Reads a file of the folder that belongs to this user and has at most `limit` bytes, and sets its
 * time to now, for tact_cache_trim(). *data is to be freed with free(). Returns 0, -ENOENT where
 * there is no folder or no such file, or as tact_file_read(). Not real-time safe. */
TACT_API int tact_cache_read(const char *name, uint64_t limit, char **data, uint64_t *size);

/** Writes a file of the folder: under a temporary name, then renamed, so that no reader finds it
 * incomplete. Returns 0, -ENOENT where there is no folder, or another negative errno. Not real-time
 * safe. */
TACT_API int tact_cache_write(const char *name, const void *data, uint64_t size);

/** Removes files of the folder until those that remain have at most `most` bytes together: those
 * written or read longest ago first, among regular files of this user whose names `is_own` accepts.
 * Others are neither removed nor counted. Returns the number of files removed, -ENOENT where there
 * is no folder, or -ENOMEM. Not real-time safe. */
TACT_API int tact_cache_trim(int (*is_own)(const char *name), uint64_t most);

TACT_END_DECLS

#endif
