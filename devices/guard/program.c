/* Path of the guard program: it has the controller's rights, so nobody else may choose it. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "devices/guard/process_internal.h"

/* Whether this code was loaded from the build tree: by the file that the loader mapped, or
 * /proc/self/exe for a static link, never by argv. */
static bool is_run_from_build_tree(void)
{
    static const char symbol_of_this_library;
    struct link_map *map = NULL;
    Dl_info info;
    char self[PATH_MAX], tree[PATH_MAX];
    if (!dladdr1(&symbol_of_this_library, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) {
        return false;
    }
    if (!realpath(map->l_name[0] ? map->l_name : "/proc/self/exe", self) ||
        !realpath(TACT_BUILD_TREE, tree)) {
        return false;
    }
    size_t length = strlen(tree);
    return strncmp(self, tree, length) == 0 && self[length] == '/';
}

int tact_guard_program_path(char *path, size_t size)
{
    const char *guard_path_in_environment = secure_getenv("TACT_GUARD");
    if (guard_path_in_environment && guard_path_in_environment[0]) {
        snprintf(path, size, "%s", guard_path_in_environment);
    } else {
        snprintf(path, size, "%s",
                 is_run_from_build_tree() ? TACT_GUARD_BUILT : TACT_GUARD_PROGRAM);
    }
    return access(path, X_OK) ? -ENOENT : 0;
}
