/* What the files of plugin/ share. */
#ifndef TACT_DEVICES_PLUGIN_INTERNAL_H
#define TACT_DEVICES_PLUGIN_INTERNAL_H

#include <stdbool.h>
#include <sys/stat.h>
#include "devices/plugin/plugin.h"

/* Whether a file with this owner and mode can have been changed by nobody but root and user. */
bool tact_plugin_trusted(const struct stat *file, uid_t user);

/* Opens a folder of plug-ins, checked; a descriptor or a negative errno with *err filled. */
int tact_plugin_open_folder(const char *path, struct tact_error *err);

/* Opens a file of a folder that is open, checked; -ENOENT without *err where it has none. */
int tact_plugin_open_file(int folder, const char *path, const char *name, struct tact_error *err);

#endif
