/* Data files of tests: the project's own in tests/data, and real ones in the folder `data` of
 * $TACT_SHARED (by default ../shared). Both folders have the same layout. */
#ifndef TACT_TESTS_DATA_H
#define TACT_TESTS_DATA_H

#include <stdio.h>

enum { DATA_PATH = 1024 };

/* Path of the folder of the project's own test data (0), or of the real measured data (1). */
const char *test_data_folder(int is_shared_data_folder_wanted);

/* Opens the test data file `name` of the project's own folder or else of the folder of real data;
 * NULL, with a message, where both lack it. `path` (DATA_PATH bytes) gets the path that was opened
 * or tried last. */
FILE *open_test_data_file(const char *name, char *path);

/* Reads a closed mesh of the folder `meshes`; NULL where it is absent, with a message. The caller
 * frees it by tact_mesh_free(). */
struct tact_mesh *load_test_data_mesh(const char *name, double scale);

#endif
