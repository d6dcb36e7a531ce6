/* Shared by the files of plugin/. */
#ifndef TACT_DEVICES_PLUGIN_INTERNAL_H
#define TACT_DEVICES_PLUGIN_INTERNAL_H

#include <stdbool.h>
#include <sys/stat.h>
#include "devices/plugin/plugin.h"

/* Whether only root and the user can have changed a file with this owner and mode. */
bool tact_plugin_is_trusted_file(const struct stat *file, uid_t user);

/* Opens and checks a folder of plug-ins; returns a descriptor or a negative errno with *err set. */
int tact_plugin_open_folder(const char *path, struct tact_error *err);

/* Opens and checks a file of an open folder; -ENOENT without *err where the folder has none. */
int tact_plugin_open_file(int folder, const char *path, const char *name, struct tact_error *err);

#endif
