/* The folder of a test's files. */
#ifndef TACT_TESTS_FOLDER_H
#define TACT_TESTS_FOLDER_H

#include <stdio.h>
#include <unistd.h>

/* Removes the files, where they are, then the folder. Returns 0, or -1 where it is not empty. */
static inline int remove_folder_with(const char *folder, const char *const *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    return rmdir(folder);
}

#endif
