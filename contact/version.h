/**
 * The version of the library, and of its binary interface (ABI).
 *
 * While the major version is 0 the minor version is the version of the ABI: a change of the layout
 * of a public struct or of the parameters of a public function increments it, and with it the file
 * name by which programs load the library, libtact.so.0.MINOR. `tests/abi/check` rejects such a
 * change without the increment.
 */
#ifndef TACT_CONTACT_VERSION_H
#define TACT_CONTACT_VERSION_H

#include <stddef.h>
#include <stdint.h>
#include "api.h"

TACT_BEGIN_DECLS

#define TACT_VERSION_MAJOR 0 /**< major version of the headers */
/** Minor version of the headers, and of the ABI while the major version is 0. */
#define TACT_VERSION_MINOR 15
/** Patch version of the headers: incremented where neither API nor ABI changes. */
#define TACT_VERSION_PATCH 0

/** Makes a version text of three numbers. */
#define TACT_VERSION_TEXT_OF(major, minor, patch) #major "." #minor "." #patch
/** Makes a version text of three macros. */
#define TACT_VERSION_TEXT(major, minor, patch) TACT_VERSION_TEXT_OF(major, minor, patch)

/** Version of the headers as text, "MAJOR.MINOR.PATCH". */
#define TACT_VERSION TACT_VERSION_TEXT(TACT_VERSION_MAJOR, TACT_VERSION_MINOR, TACT_VERSION_PATCH)

/** The headers' ABI version as one number, as in the file name libtact.so.MAJOR.MINOR. */
#define TACT_ABI_VERSION (TACT_VERSION_MAJOR * 1000 + TACT_VERSION_MINOR)

/** First member of every table of functions that a program or a plug-in implements, so that a table
 * compiled for another ABI is rejected instead of called. Set by TACT_ABI().
 * Callbacks with their user pointer are not tables and have no such member: those for messages, for
 * the files of a scene or hand, and in the options of loops, replays and sessions. Only a program
 * that is linked with this library passes them, to a function that it calls, and the file name of
 * the library, libtact.so.MAJOR.MINOR, makes the loader compare the versions. */
struct tact_abi {
    uint32_t size;    /**< size of the whole function table [bytes] */
    uint32_t version; /**< TACT_ABI_VERSION of the headers that the table was compiled with */
};

/** Initialises the `abi` member of a function table of the given type: `{.abi = TACT_ABI(struct
 * tact_device_type), ...}`. */
/* clang-format off */
#define TACT_ABI(type) {(uint32_t)sizeof(type), TACT_ABI_VERSION}
/* clang-format on */

/** Version of the loaded library as text, "MAJOR.MINOR.PATCH", static. Real-time safe. */
TACT_API const char *tact_version(void);

/** Version of the ABI of the loaded library, to be compared with TACT_ABI_VERSION. Real-time safe.
 */
TACT_API uint32_t tact_abi_version(void);

/** Checks that a table of `size` bytes was compiled for the ABI of this library. Real-time safe.
 * @retval 0
 * @retval -EINVAL  its size or its ABI version differs, or abi is NULL */
TACT_API int tact_abi_check(const struct tact_abi *abi, size_t size);

TACT_END_DECLS

#endif
