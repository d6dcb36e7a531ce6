/**
 * The folder in which tact stores what it can compute again, and files in it. Nothing depends on it
 * but time: it may be removed, or be absent.
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

/** Reads a whole file of the folder, which must be this user's own, of at most `limit` bytes; freed
 *  with free(). 0, -ENOENT, or as tact_file_read(). Not real-time safe. */
TACT_API int tact_cache_read(const char *name, uint64_t limit, char **data, uint64_t *size);

/** Writes a file of the folder: whole under another name, then renamed. 0, -ENOENT where there is
 * no folder, or another negative errno. Not real-time safe. */
TACT_API int tact_cache_write(const char *name, const void *data, uint64_t size);

TACT_END_DECLS

#endif
