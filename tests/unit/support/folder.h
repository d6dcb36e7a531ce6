/* Removal of the folder that a test writes its files to. */
#ifndef TACT_TESTS_FOLDER_H
#define TACT_TESTS_FOLDER_H

#include <stdio.h>
#include <unistd.h>

/* Removes these files of the folder, as far as they exist, then the folder. Returns 0, or -1 where
 * other files remain. */
static inline int remove_folder_with_files(const char *folder, const char *const *files,
                                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    return rmdir(folder);
}

#endif
