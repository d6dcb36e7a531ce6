/** Reading untrusted files whole: scenes, meshes, calibrations. */
#ifndef TACT_RT_FILE_H
#define TACT_RT_FILE_H

#include <stdint.h>
#include "../contact/api.h"

TACT_BEGIN_DECLS

#define TACT_FILE_MESH_BYTES (1 << 28) /**< largest mesh file */

/** Reads a whole regular file of at most `limit` bytes, with a zero after its end, freed with
 * free(). A pipe, a device or a folder is refused before it is read. Not real-time safe.
 * @retval 0
 * @retval -EFBIG  larger than the limit
 * @retval -EISDIR  not a regular file
 * @retval -ENOMEM, or the negative errno of opening or reading */
TACT_API int tact_file_read(const char *path, uint64_t limit, char **data, uint64_t *size);

/** The reason for which tact_file_read() failed, as a phrase for a message, from its negative
 * result. Not real-time safe. */
TACT_API const char *tact_file_failure_reason(int rc);

TACT_END_DECLS

#endif
