/* A temporary folder with stand-ins of the makers' libraries, where the guard process finds them by
 * LD_LIBRARY_PATH. */
#ifndef TACT_TESTS_HAPTIC_FOLDER_H
#define TACT_TESTS_HAPTIC_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "unit/haptic/stand_in.h"

static char haptic_folder[] = "/dev/shm/tact_haptic_XXXXXX";
static struct simulated_haptic *simulated_haptic;

static inline void write_path_in_haptic_folder(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/%s", haptic_folder, name);
}

static inline void symlink_stand_in_as_maker_library(const char *name)
{
    char to[512], from[512];
    snprintf(to, sizeof to, TACT_BINARY_DIR "/tests/haptic/%s", name);
    write_path_in_haptic_folder(from, sizeof from, name);
    assert_int_equal(symlink(to, from), 0);
}

static inline int make_haptic_folder(void **state)
{
    (void)state;
    if (!mkdtemp(haptic_folder)) {
        return -1;
    }
    symlink_stand_in_as_maker_library("libdhd.so");
    symlink_stand_in_as_maker_library("libHD.so");
    simulated_haptic = map_simulated_haptic(haptic_folder);
    return simulated_haptic ? setenv("LD_LIBRARY_PATH", haptic_folder, 1) : -1;
}

static inline int remove_haptic_folder(void **state)
{
    static const char *const files[] = {"libdhd.so", "libHD.so", "device", "scene.yaml",
                                        "messages"};
    (void)state;
    for (int i = 0; i < 5; i++) {
        char path[512];
        write_path_in_haptic_folder(path, sizeof path, files[i]);
        remove(path);
    }
    return rmdir(haptic_folder);
}

/* Force along x that was last sent to the simulated device [N], and the number of forces sent. */
static inline double last_sent_force_x(unsigned int *count)
{
    *count = atomic_load(&simulated_haptic->count);
    return *count ? atomic_load(&simulated_haptic->sent[(*count - 1) % STAND_IN_SENT].wrench[0])
                  : 0.0;
}

#endif
