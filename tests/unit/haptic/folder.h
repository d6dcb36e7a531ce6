/* A folder with a stand-in of a maker's library, which the loader of a guard finds. */
#ifndef TACT_TESTS_HAPTIC_FOLDER_H
#define TACT_TESTS_HAPTIC_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "unit/haptic/stand_in.h"

static char haptic_folder[] = "/dev/shm/tact_haptic_XXXXXX";
static struct stand_in *stand_in;

static inline void haptic_path(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/%s", haptic_folder, name);
}

static inline void link_library(const char *name)
{
    char to[512], from[512];
    snprintf(to, sizeof to, TACT_BINARY_DIR "/tests/haptic/%s", name);
    haptic_path(from, sizeof from, name);
    assert_int_equal(symlink(to, from), 0);
}

static inline int make_haptic_folder(void **state)
{
    (void)state;
    if (!mkdtemp(haptic_folder)) {
        return -1;
    }
    link_library("libdhd.so");
    link_library("libHD.so");
    stand_in = stand_in_map(haptic_folder);
    return stand_in ? setenv("LD_LIBRARY_PATH", haptic_folder, 1) : -1;
}

static inline int remove_haptic_folder(void **state)
{
    static const char *const files[] = {"libdhd.so", "libHD.so", "device", "scene.yaml",
                                        "messages"};
    (void)state;
    for (int i = 0; i < 5; i++) {
        char path[512];
        haptic_path(path, sizeof path, files[i]);
        remove(path);
    }
    return rmdir(haptic_folder);
}

/* Force along x of the last call, and how many there were. */
static inline double last_force(unsigned int *count)
{
    *count = atomic_load(&stand_in->count);
    return *count ? atomic_load(&stand_in->sent[(*count - 1) % STAND_IN_SENT].wrench[0]) : 0.0;
}

#endif
