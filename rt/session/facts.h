/**
 * Facts about the machine and the build that decide whether two runs can agree to the last bit.
 */
#ifndef TACT_RT_SESSION_FACTS_H
#define TACT_RT_SESSION_FACTS_H

#include "../../contact/api.h"

TACT_BEGIN_DECLS

#define TACT_LOG_SCENE "scene.yaml"     /**< attachment of a log: the scene as loaded */
#define TACT_LOG_DEVICES "devices.json" /**< attachment: names and channels of the devices */

struct tact_facts {
    char build[160];   /**< version and compiler */
    char build_id[64]; /**< of the library or program that tact is in, hexadecimal; or "unknown" */
    char cpu[96];      /**< model name */
    char libc[48];
    char libm[256];   /**< file that the mathematical functions come from */
    char lapack[256]; /**< file that LAPACK comes from */
    char kernel[160];
};

/** Not real-time safe. */
TACT_API void tact_facts_gather(struct tact_facts *facts);

TACT_END_DECLS

#endif
