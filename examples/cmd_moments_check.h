/* tact moments --check. */
#ifndef TACT_EXAMPLES_CMD_MOMENTS_CHECK_H
#define TACT_EXAMPLES_CMD_MOMENTS_CHECK_H

/* Prints the content of a mesh file and whether it is a closed surface. Returns the exit code: 0
 * closed, 1 not closed, 3 unreadable. */
int check_mesh_of_file(const char *path, double scale, int json);

#endif
