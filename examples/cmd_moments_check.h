/* tact moments --check. */
#ifndef TACT_EXAMPLES_CMD_MOMENTS_CHECK_H
#define TACT_EXAMPLES_CMD_MOMENTS_CHECK_H

/* Prints what is in a mesh file and whether it is a closed surface. Gives the exit code: 0 it is,
 * 1 it is not, 3 it cannot be read. */
int moments_check(const char *path, double scale, int json);

#endif
