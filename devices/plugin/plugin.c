#include "devices/plugin/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "devices/plugin/plugin_internal.h"
#include "devices/registry.h"

enum { FOLDERS = 3, COUNT_BITS = 32, UNIQUE_PATH_SIZE = 2 * COUNT_BITS + 32 };

struct tact_plugins {
    /* device types: built-in ones, then those loaded from plug-ins */
    const struct tact_device_type **types;
    size_t count;
    void **plugin_library_handles;
    size_t plugin_library_handle_count;
    struct {
        const char *path; /* path of the installed folder of plug-ins; NULL: there is none */
        int fd;
    } folder[FOLDERS];
};

static bool is_plugin_name(const char *text)
{
    static const char digits_and_underscore[] = "0123456789_", letters[] =
                                                                   "abcdefghijklmnopqrstuvwxyz"
                                                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t length = strspn(text, letters);
    for (size_t plugin_name_part_length = length; plugin_name_part_length > 0;
         length += plugin_name_part_length) {
        plugin_name_part_length = strspn(text + length, digits_and_underscore);
        plugin_name_part_length += strspn(text + length + plugin_name_part_length, letters);
    }
    return length > 0 && length < TACT_DEVICE_NAME && !text[length];
}

/* Opens the folders in which plug-ins are searched. A folder that the user names must exist and is
 * checked even if no plug-in is needed. */
static int open_plugin_folders(struct tact_plugins *p, const char *named, bool wanted,
                               struct tact_error *err)
{
    const char *plugin_folders_variable = secure_getenv("TACT_PLUGINS");
    const bool has_installed_plugins = wanted && !access(TACT_PLUGIN_FOLDER, F_OK);
    const char *const paths[FOLDERS] = {
        named, plugin_folders_variable && *plugin_folders_variable ? plugin_folders_variable : NULL,
        has_installed_plugins ? TACT_PLUGIN_FOLDER : NULL};
    for (int i = 0; i < FOLDERS; i++) {
        if (!paths[i]) {
            continue;
        }
        const int fd = tact_plugin_open_folder(paths[i], err);
        if (fd < 0) {
            return fd;
        }
        p->folder[i].path = paths[i];
        p->folder[i].fd = fd;
    }
    return 0;
}

static bool does_scene_need_plugin(const struct tact_plugins *p, const struct tact_scene *scene)
{
    for (uint32_t i = 0; i < scene->devices_count; i++) {
        if (!tact_device_type_find(p->types, p->count, scene->devices[i].type)) {
            return true;
        }
    }
    return false;
}

/* Checks the table that a plug-in exports: its members are read only once its ABI version is known.
 */
static int check_plugin_table(const struct tact_plugin *plugin_table, const char *name,
                              const char *file, struct tact_error *err)
{
    if (!plugin_table) {
        return tact_error_set(err, -EINVAL, "plug-in %.150s does not export the symbol tact_plugin",
                              file);
    }
    if (plugin_table->abi.version != TACT_ABI_VERSION ||
        plugin_table->abi.size != sizeof *plugin_table) {
        return tact_error_set(err, -EINVAL,
                              "plug-in %.150s was compiled for ABI version %u with a table of %u "
                              "bytes; expected %u with %zu",
                              file, plugin_table->abi.version, plugin_table->abi.size,
                              TACT_ABI_VERSION, sizeof *plugin_table);
    }
    const struct tact_device_type *type = plugin_table->type;
    if (!type || tact_abi_check(&type->abi, sizeof *type) || !type->name || !type->open) {
        return tact_error_set(err, -EINVAL, "plug-in %.150s has no usable device type%s", file,
                              type ? ": expected one of this ABI version with a name and open()"
                                   : "");
    }
    if (strcmp(type->name, name)) {
        return tact_error_set(
            err, -EINVAL,
            "plug-in %.150s defines the device type \"%.47s\", which is not its file name", file,
            type->name);
    }
    return 0;
}

/* Writes a path of the open file fd that this process has not used before: the loader returns a
 * library that it has under the same path without opening the file, also one that is not unloaded
 * when its handle is closed, and descriptors are used again. The path differs from others in bits
 * of a count, which are written as "/." and "//". */
static void write_unique_path_of_descriptor(int fd, char path[UNIQUE_PATH_SIZE])
{
    static atomic_uint path_count;
    const unsigned number = atomic_fetch_add(&path_count, 1);
    char unique_path_suffix[2 * COUNT_BITS + 1] = "";
    for (int i = 0; i < COUNT_BITS; i++) {
        memcpy(unique_path_suffix + 2 * i, number >> i & 1 ? "/." : "//", 3);
    }
    snprintf(path, UNIQUE_PATH_SIZE, "/proc/self/fd%s/%d", unique_path_suffix, fd);
}

/* Loads the plug-in from the open file fd, by /proc/self/fd, so that it is the file that was
 * checked. */
static int load_plugin_file(struct tact_plugins *p, int fd, const char *name, const char *file,
                            struct tact_error *err)
{
    char path[UNIQUE_PATH_SIZE];
    write_unique_path_of_descriptor(fd, path);
    void *maker_library_handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    close(fd);
    if (!maker_library_handle) {
        const char *why = dlerror();
        const size_t length = strlen(path);
        if (why && !strncmp(why, path, length)) {
            why += length + strspn(why + length, ": ");
        }
        return tact_error_set(err, -EINVAL, "plug-in %.150s cannot be loaded: %.150s", file,
                              why ? why : "");
    }
    p->plugin_library_handles[p->plugin_library_handle_count++] = maker_library_handle;
    const struct tact_plugin *plugin_table = dlsym(maker_library_handle, "tact_plugin");
    const int rc = check_plugin_table(plugin_table, name, file, err);
    if (!rc) {
        p->types[p->count++] = plugin_table->type;
    }
    return rc;
}

static int report_plugin_not_found(const struct tact_plugins *p, const char *name,
                                   struct tact_error *err)
{
    char known[256] = "", searched[256] = "";
    for (size_t i = 0; i < p->count; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", p->types[i]->name);
    }
    for (int i = 0; i < FOLDERS; i++) {
        const size_t used = strlen(searched);
        if (p->folder[i].path) {
            snprintf(searched + used, sizeof searched - used, " %.100s", p->folder[i].path);
        }
    }
    return tact_error_set(err, -ENOENT, "no device type \"%.47s\"; known: %s; no %.47s.so in%s",
                          name, known, name, searched[0] ? searched : " " TACT_PLUGIN_FOLDER);
}

/* Loads a device type from the first folder that has its plug-in. */
static int load_plugin_of_device_type(struct tact_plugins *p, const char *name,
                                      struct tact_error *err)
{
    char file[TACT_DEVICE_NAME + 4], full[4096 + 64];
    if (!is_plugin_name(name)) {
        return tact_error_set(
            err, -EINVAL,
            "\"%.64s\" is no device type; expected 1 to 47 letters, digits and _, "
            "a letter first",
            name);
    }
    snprintf(file, sizeof file, "%s.so", name);
    for (int i = 0; i < FOLDERS; i++) {
        if (!p->folder[i].path) {
            continue;
        }
        const int fd = tact_plugin_open_file(p->folder[i].fd, p->folder[i].path, file, err);
        if (fd >= 0) {
            snprintf(full, sizeof full, "%s/%s", p->folder[i].path, file);
            return load_plugin_file(p, fd, name, full, err);
        }
        if (fd != -ENOENT) {
            return fd;
        }
    }
    return report_plugin_not_found(p, name, err);
}

static int load_needed_plugins(struct tact_plugins *p, const struct tact_scene *scene,
                               struct tact_error *err)
{
    for (uint32_t i = 0; i < scene->devices_count; i++) {
        const char *name = scene->devices[i].type;
        if (tact_device_type_find(p->types, p->count, name)) {
            continue;
        }
        const int rc = load_plugin_of_device_type(p, name, err);
        if (rc) {
            char key[48];
            snprintf(key, sizeof key, "devices[%u].type", i);
            tact_scene_where(scene, key, err);
            return rc;
        }
    }
    return 0;
}

int tact_plugins_open(const struct tact_scene *scene, const char *folder, struct tact_plugins **out,
                      struct tact_error *err)
{
    size_t count;
    const struct tact_device_type *const *builtin = tact_devices_builtin(&count);
    struct tact_plugins *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p) {
        return tact_error_set(err, -ENOMEM, "no memory for the list of plug-ins");
    }
    p->types = calloc(count + scene->devices_count, sizeof *p->types);
    p->plugin_library_handles = calloc(scene->devices_count + 1, sizeof *p->plugin_library_handles);
    int rc = 0;
    if (!p->types || !p->plugin_library_handles) {
        rc = tact_error_set(err, -ENOMEM, "no memory for the list of plug-ins");
    } else {
        memcpy(p->types, builtin, count * sizeof *builtin);
        p->count = count;
        rc = open_plugin_folders(p, folder, does_scene_need_plugin(p, scene), err);
        rc = rc ? rc : load_needed_plugins(p, scene, err);
    }
    for (int i = 0; i < FOLDERS; i++) {
        if (p->folder[i].path) {
            close(p->folder[i].fd);
        }
    }
    if (rc) {
        tact_plugins_close(p);
        return rc;
    }
    *out = p;
    return 0;
}

const struct tact_device_type *const *tact_plugins_types(const struct tact_plugins *plugins,
                                                         size_t *count)
{
    *count = plugins->count;
    return plugins->types;
}

void tact_plugins_close(struct tact_plugins *plugins)
{
    if (!plugins) {
        return;
    }
    for (size_t i = 0; i < plugins->plugin_library_handle_count; i++) {
        dlclose(plugins->plugin_library_handles[i]);
    }
    free(plugins->plugin_library_handles);
    free(plugins->types);
    free(plugins);
}
