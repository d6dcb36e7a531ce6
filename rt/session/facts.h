/**
 * Facts about the machine and the build that decide whether two runs can agree bit for bit.
 */
#ifndef TACT_RT_SESSION_FACTS_H
#define TACT_RT_SESSION_FACTS_H

#include "../../contact/api.h"
#include "../log/log_reader.h"

TACT_BEGIN_DECLS

/**
 * Version of the results: incremented in every commit that deliberately changes a value that a
 * session computes from the same inputs. rt/log/README.md has a line for each. Logs contain it, so
 * that a replay which differs can state the reason.
 */
#define TACT_RESULTS_VERSION 67

#define TACT_LOG_SCENE "scene.yaml"     /**< attachment of a log: the scene as loaded */
#define TACT_LOG_DEVICES "devices.json" /**< attachment: names and channels of the devices */

/** Facts of the machine, its libraries and this build, for a log. */
struct tact_facts {
    char build[160];   /**< version and compiler */
    char build_id[64]; /**< build id of the library or program that contains tact, hexadecimal; or
                          "unknown" */
    char machine[72];  /**< architecture, "x86_64": results are the same bit for bit within one */
    char cpu[96];      /**< CPU model name; results do not depend on it */
    char libc[48];     /**< version of the C library */
    char sleef[256];   /**< file of the library with the elementary functions, links resolved: the
                          version is in its name */
    char lapack[256];  /**< file of the LAPACK library */
    char blas[256];    /**< file of the BLAS library that LAPACK calls */
    char kernel[160];  /**< release and version of the kernel */
};

/** Collects the facts. Not real-time safe. */
TACT_API void tact_facts_gather(struct tact_facts *facts);

/** Returns TACT_RESULTS_VERSION of the loaded library, which may differ from that of the header.
 * Real-time safe. */
TACT_API int tact_results_version(void);

/** Results version of the library that wrote a log: 1 where the log states none, as the first logs;
 * 0 where it is not a positive integer. Not real-time safe. */
TACT_API int tact_log_results_version(const struct tact_log *log);

TACT_END_DECLS

#endif
