/**
 * Plug-ins: device types that are loaded at run time.
 *
 * A plug-in is a shared object TYPE.so for one device type of that name, built against the
 * installed headers from the same source as a type that a program links: its last line is
 * TACT_PLUGIN(type), see examples/library/swing.c. `tact run` and `tact sim` load one where a scene
 * names a type that is not built in, from the first of these folders that contains it:
 *
 *     1. `--plugins DIR`
 *     2. $TACT_PLUGINS, which a program with more rights than its user ignores (secure_getenv)
 *     3. the installed folder, LIBDIR/tact/plugins
 *
 * A scene names the type and never a file or folder; a log names neither, and a replay loads none.
 *
 * A plug-in has all rights of the program. Its file and its folder must therefore be no symbolic
 * links, belong to root or to the effective user of the program, and be writable by nobody else.
 * The checks use the descriptor of the file that is then loaded, so that the file cannot be
 * exchanged in between; parent folders are not checked, so the path of a folder must not end in
 * "/." or "/..". A plug-in must be self-contained: libraries
 * beside it are not found by $ORIGIN.
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

/** Table that a plug-in exports under the name tact_plugin. */
struct tact_plugin {
    struct tact_abi abi;                 /**< TACT_ABI(struct tact_plugin) */
    const struct tact_device_type *type; /**< the file is named after it: TYPE.so */
};

#ifdef __cplusplus
#define TACT_PLUGIN_LINKAGE extern "C"
#else
#define TACT_PLUGIN_LINKAGE extern /**< linkage of the table in C and C++ */
#endif

/** Exports a device type of this source file, by static initialisation. */
#define TACT_PLUGIN(device_type)                                                                   \
    TACT_PLUGIN_LINKAGE __attribute__((visibility("default")))                                     \
    const struct tact_plugin tact_plugin;                                                          \
    const struct tact_plugin tact_plugin = {TACT_ABI(struct tact_plugin), &(device_type)}

/** The device types of a scene, including loaded plug-ins. */
struct tact_plugins;

/**
 * Loads the plug-ins for types that the scene names and tact has not built in. folder: searched
 * first, or NULL. Not real-time safe.
 * @retval 0
 * @retval -ENOENT  no folder has a type, or a given folder does not exist
 * @retval -EPERM   a file or folder that others may have changed
 * @retval -EINVAL  an invalid path of a folder or name of a type, a file that is no plug-in, or one
 * for another ABI version or another type
 * @retval -errno   of opening. *err names scene and key, file or folder, and what was expected
 */
TACT_API int tact_plugins_open(const struct tact_scene *scene, const char *folder,
                               struct tact_plugins **out, struct tact_error *err);

/** The built-in types, then the loaded ones; *count is set to their number. Valid until
 * tact_plugins_close(). Real-time safe. */
TACT_API const struct tact_device_type *const *
tact_plugins_types(const struct tact_plugins *plugins, size_t *count);

/** Unloads them; call it after the sessions that use them are destroyed. NULL is allowed. Not
 * real-time safe. */
TACT_API void tact_plugins_close(struct tact_plugins *plugins);

TACT_END_DECLS

#endif
