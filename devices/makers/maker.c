/* Loads the libraries of haptic devices' manufacturers by their names. */
#include "devices/makers/maker_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Largest deviation of R R^T from the identity for a rotation matrix R. */
#define MAX_ORTHONORMALITY_ERROR 1e-3

static int load_library_symbols(struct tact_haptic_device *device, const char *file, char *why,
                                size_t size)
{
    for (int i = 0; i < device->ops->library_symbol_count; i++) {
        const struct tact_haptic_library_symbol *library_symbol = &device->ops->symbols[i];
        void *library_function_address = dlsym(device->maker_library_handle, library_symbol->name);
        if (!library_function_address && !library_symbol->is_library_symbol_optional) {
            snprintf(why, size, "%s has no %s()", file, library_symbol->name);
            return -ENOSYS;
        }
        memcpy((char *)&device->call + library_symbol->offset, &library_function_address,
               sizeof library_function_address);
    }
    return 0;
}

/* Stores the loader's reason for a failure: that of the first name, or of a later file that exists.
 */
static void store_loader_error(char *library_loader_error, size_t size, bool is_first_library_file)
{
    const char *text = dlerror();
    if (text && (is_first_library_file || !strstr(text, "No such file"))) {
        snprintf(library_loader_error, size, "%s", text);
    }
}

int tact_haptic_load_library(struct tact_haptic_device *device, int maker, char *why, size_t size)
{
    char library_loader_error[128] = "";
    device->ops =
        maker == TACT_HAPTIC_OPENHAPTICS ? &tact_haptic_ops_of_libhd : &tact_haptic_ops_of_libdhd;
    for (const char *const *file = device->ops->files; *file; file++) {
        device->maker_library_handle = dlopen(*file, RTLD_NOW | RTLD_LOCAL);
        if (device->maker_library_handle) {
            return load_library_symbols(device, *file, why, size);
        }
        store_loader_error(library_loader_error, sizeof library_loader_error,
                           file == device->ops->files);
    }
    snprintf(why, size,
             "the loader finds no usable %s: install the manufacturer's SDK, or name its folder in "
             "LD_LIBRARY_PATH (%s)",
             device->ops->files[0], library_loader_error);
    return -ENOENT;
}

static bool is_rotation_matrix(const double rows[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            double product = i == k ? -1.0 : 0.0;
            for (int j = 0; j < 3; j++) {
                product += rows[i][j] * rows[k][j];
            }
            if (!(fabs(product) < MAX_ORTHONORMALITY_ERROR)) {
                return false;
            }
        }
    }
    return true;
}

bool tact_haptic_rotation_to_quaternion(const double rows[3][3], double quat_wxyz[4])
{
    /* four times the products of each quaternion component with the largest one */
    const double rotation_matrix_trace = rows[0][0] + rows[1][1] + rows[2][2];
    double square[4] = {1.0 + rotation_matrix_trace};
    int largest = 0;
    if (!is_rotation_matrix(rows)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        square[1 + i] = 1.0 - rotation_matrix_trace + 2.0 * rows[i][i];
        largest = square[1 + i] > square[largest] ? 1 + i : largest;
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double turned = rows[k][j] - rows[j][k];
        if (largest == 0 || largest == 1 + i) {
            quat_wxyz[largest == 0 ? 1 + i : 0] = turned;
        } else {
            quat_wxyz[1 + i] = rows[i][largest - 1] + rows[largest - 1][i];
        }
    }
    quat_wxyz[largest] = square[largest];
    const double length = sqrt(quat_wxyz[0] * quat_wxyz[0] + quat_wxyz[1] * quat_wxyz[1] +
                               quat_wxyz[2] * quat_wxyz[2] + quat_wxyz[3] * quat_wxyz[3]);
    for (int i = 0; i < 4; i++) {
        quat_wxyz[i] /= length;
    }
    return true;
}
