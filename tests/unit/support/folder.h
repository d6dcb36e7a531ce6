/* The folder that a test writes its files to. */
#ifndef TACT_TESTS_FOLDER_H
#define TACT_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Makes a folder by the template of mkdtemp(), and one file in it. Returns 0, else another number.
 */
static inline int make_folder_with_file(char *folder, const char *name, const char *content)
{
    char path[512];
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    return file ? (fputs(content, file) < 0) | fclose(file) : -1;
}

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
