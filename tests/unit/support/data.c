#include "data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "contact/mesh/mesh.h"

const char *test_data_folder(int is_shared_data_folder_wanted)
{
    static char shared_data_folder[DATA_PATH / 2];
    const char *shared_folder = getenv("TACT_SHARED");
    snprintf(shared_data_folder, sizeof shared_data_folder, "%s/data",
             shared_folder ? shared_folder : TACT_SOURCE_DIR "/../shared");
    return is_shared_data_folder_wanted ? shared_data_folder : TACT_SOURCE_DIR "/tests/data";
}

FILE *open_test_data_file(const char *name, char *path)
{
    FILE *file = NULL;
    for (int is_shared_data_folder_wanted = 0; is_shared_data_folder_wanted < 2 && !file;
         is_shared_data_folder_wanted++) {
        snprintf(path, DATA_PATH, "%s/%s", test_data_folder(is_shared_data_folder_wanted), name);
        file = fopen(path, "rb");
    }
    if (!file) {
        print_message("absent: %s\n", path);
    }
    return file;
}

struct tact_mesh *load_test_data_mesh(const char *name, double scale)
{
    char path[DATA_PATH], inside[DATA_PATH];
    static char data[16 << 20];
    snprintf(inside, sizeof inside, "meshes/%s", name);
    FILE *file = open_test_data_file(inside, path);
    if (!file) {
        return NULL;
    }
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    struct tact_soup soup;
    struct tact_mesh *mesh = NULL;
    assert_int_equal(tact_soup_read(data, size, name, scale, &soup, NULL), 0);
    assert_int_equal(tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles,
                                      soup.triangle_count, &mesh, NULL),
                     0);
    tact_soup_free(&soup);
    return mesh;
}
