/**
 * Device types that are loaded while tact runs: plug-ins.
 *
 * A plug-in is a shared object TYPE.so for one device type of that name, built against the
 * installed headers, and made of the same source as a type that a program links: its last line is
 * TACT_PLUGIN(type), see examples/library/swing.c. `tact run` and `tact sim` load one where a scene
 * names a type that is not built in, from the first of these folders that has it:
 *   1. `--plugins DIR`
 *   2. $TACT_PLUGINS, which a program with more rights than its user ignores (secure_getenv)
 *   3. the installed folder, LIBDIR/tact/plugins
 * A scene names the type and never a file or folder; a log names neither, and a replay loads none.
 *
 * A plug-in runs with all rights of the program. Its file and its folder must therefore be no
 * symbolic links, belong to root or to the effective user of the program, and be writable by nobody
 * else. What is checked is the file that is then loaded, by its open descriptor, so that nothing
 * can be put in its place meanwhile; folders above are not checked. A plug-in stands alone:
 * libraries beside it are not found by $ORIGIN.
 */
#ifndef TACT_DEVICES_PLUGIN_H
#define TACT_DEVICES_PLUGIN_H

#include <stddef.h>
#include "../../contact/api.h"
#include "../../contact/error.h"
#include "../../contact/version.h"
#include "../../rt/device.h"
#include "../../rt/scene/scene.h"

TACT_BEGIN_DECLS

/** What a plug-in exports under the name tact_plugin. */
struct tact_plugin {
    struct tact_abi abi;                 /**< TACT_ABI(struct tact_plugin) */
    const struct tact_device_type *type; /**< of which the file is named: TYPE.so */
};

#ifdef __cplusplus
#define TACT_PLUGIN_LINKAGE extern "C"
#else
#define TACT_PLUGIN_LINKAGE extern /**< linkage of the table in C and C++ */
#endif

/** Exports a device type of this source file; static initialisation, nothing runs. */
#define TACT_PLUGIN(device_type)                                                                   \
    TACT_PLUGIN_LINKAGE __attribute__((visibility("default")))                                     \
    const struct tact_plugin tact_plugin;                                                          \
    const struct tact_plugin tact_plugin = {TACT_ABI(struct tact_plugin), &(device_type)}

/** The device types of a scene, those of plug-ins loaded. */
struct tact_plugins;

/**
 * Loads the plug-ins of the types that the scene names and tact has not built in. folder: searched
 * first, or NULL. Not real-time safe.
 * @retval 0
 * @retval -ENOENT  no folder has a type, or a folder that was named does not exist
 * @retval -EPERM   a file or folder that others could have changed
 * @retval -EINVAL  a type whose name is no word, a file that is no plug-in, or one for another ABI
 *                  version or another type
 * @retval -errno   of opening. *err names scene and key, file or folder, and what was expected
 */
TACT_API int tact_plugins_open(const struct tact_scene *scene, const char *folder,
                               struct tact_plugins **out, struct tact_error *err);

/** The built-in types, then those that were loaded; *count receives how many. Valid until
 *  tact_plugins_close(). Real-time safe. */
TACT_API const struct tact_device_type *const *
tact_plugins_types(const struct tact_plugins *plugins, size_t *count);

/** Unloads them: after the sessions that use them are destroyed. NULL is allowed. Not real-time
 *  safe. */
TACT_API void tact_plugins_close(struct tact_plugins *plugins);

TACT_END_DECLS

#endif
