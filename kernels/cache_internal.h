/** Where OpenCL drivers keep the kernels that they have compiled. Not installed. */
#ifndef TACT_KERNELS_CACHE_INTERNAL_H
#define TACT_KERNELS_CACHE_INTERNAL_H

#include <stddef.h>

/* Chooses a folder that nobody else can write to, and makes it where it is not there:
 * $XDG_CACHE_HOME/tact, $CACHE_DIRECTORY (of a service of systemd), $HOME/.cache/tact; else one of
 * this process alone, which is removed with what is in it when the process ends. A folder that is a
 * link, another user's or open to others is passed over. The environment counts only in a program
 * that has no more rights than its user. Once a process, by one thread.
 * 0, or -ENAMETOOLONG or the negative errno of making the last of these. */
int tact_cl_cache(char *path, size_t size);

#endif
