/* The folder in which OpenCL drivers cache compiled kernels. Not installed. */
#ifndef TACT_KERNELS_CACHE_INTERNAL_H
#define TACT_KERNELS_CACHE_INTERNAL_H

#include <stddef.h>

/* Chooses tact_cache_folder(), else a temporary folder that is removed at exit. Called once per
 * process, by one thread. Returns 0, -ENAMETOOLONG, or the negative errno of creating the temporary
 * folder. */
int tact_cl_choose_cache_folder(char *path, size_t size);

#endif
