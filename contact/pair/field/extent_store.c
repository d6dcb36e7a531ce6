/*
 * Converts extents to bytes, which are stored from one run to the next: the head, the vertices and
 * triangles of the mesh, the vertices, extents and tetrahedra, then a checksum. The byte order is
 * that of the machine, which the magic number identifies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "contact/pair/field/extent.h"

/* Magic number of the file, which reads differently in another byte order. */
#define EXTENT_FILE_MAGIC 0x3145544e45545854u

/* Head of a stored extent. Its members before `vertices`, and the mesh, are the complete input of
 * the extent. */
struct file_header {
    uint64_t magic, mesh_vertices, mesh_triangles, kind;
    double thickness, wanted_cell;
    uint64_t vertices, tets;
    double cell;
    struct tact_field_quality quality;
};

static size_t mesh_byte_count(const struct tact_mesh *mesh)
{
    return 3 * mesh->vertex_count * sizeof(double) + 3 * mesh->triangle_count * sizeof(uint32_t);
}

/* The byte count cannot overflow for counts that were read from a file: both are less than 2^32. */
static size_t extent_byte_count(uint64_t vertices, uint64_t tets)
{
    return (size_t)(4 * vertices * sizeof(double) + 4 * tets * sizeof(uint32_t));
}

static struct file_header make_extent_file_header(const struct tact_mesh *mesh,
                                                  const struct tact_extent_recipe *recipe)
{
    struct file_header file_header;
    memset(&file_header, 0, sizeof file_header);
    file_header.magic = EXTENT_FILE_MAGIC;
    file_header.mesh_vertices = mesh->vertex_count;
    file_header.mesh_triangles = mesh->triangle_count;
    file_header.kind = recipe->kind == TACT_EXTENT_AUTO ? TACT_EXTENT_SCREENED : recipe->kind;
    file_header.thickness = recipe->thickness;
    file_header.wanted_cell = recipe->cell;
    return file_header;
}

/* Sets the name of a stored extent from a hash of its input. Returns 0 where memory is short. */
static int make_extent_file_name(const struct tact_mesh *mesh,
                                 const struct file_header *file_header, char name[40])
{
    XXH3_state_t *state = XXH3_createState();
    if (!state) {
        return 0;
    }
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, file_header, offsetof(struct file_header, vertices));
    XXH3_128bits_update(state, mesh->vertices, 3 * mesh->vertex_count * sizeof(double));
    XXH3_128bits_update(state, mesh->triangles, 3 * mesh->triangle_count * sizeof(uint32_t));
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    snprintf(name, 40, "field-%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    return 1;
}

static uint8_t *append_bytes(uint8_t *at, const void *from, size_t size)
{
    memcpy(at, from, size);
    return at + size;
}

void tact_extent_save(const struct tact_extent_store *store, const struct tact_mesh *mesh,
                      const struct tact_extent_recipe *recipe, const struct tact_extent *extent)
{
    struct file_header file_header = make_extent_file_header(mesh, recipe);
    char name[40];
    if (!store || tact_abi_check(&store->abi, sizeof *store) || !store->save ||
        !make_extent_file_name(mesh, &file_header, name)) {
        return;
    }
    file_header.vertices = extent->vertex_count;
    file_header.tets = extent->tet_count;
    file_header.cell = extent->cell;
    file_header.quality = extent->quality;
    size_t size = sizeof file_header + mesh_byte_count(mesh) +
                  extent_byte_count(file_header.vertices, file_header.tets);
    uint8_t *data = malloc(size + sizeof(uint64_t));
    if (!data) {
        return;
    }
    uint8_t *at = append_bytes(data, &file_header, sizeof file_header);
    at = append_bytes(at, mesh->vertices, 3 * mesh->vertex_count * sizeof(double));
    at = append_bytes(at, mesh->triangles, 3 * mesh->triangle_count * sizeof(uint32_t));
    at = append_bytes(at, extent->vertices, 3 * extent->vertex_count * sizeof(double));
    at = append_bytes(at, extent->extent, extent->vertex_count * sizeof(double));
    at = append_bytes(at, extent->tets, 4 * extent->tet_count * sizeof(uint32_t));
    uint64_t sum = XXH3_64bits(data, size);
    append_bytes(at, &sum, sizeof sum);
    store->save(store->user, name, data, size + sizeof sum);
    free(data);
}

/* 1 where the bytes are a complete stored extent of this mesh and recipe. Sets *file_header. */
static int is_extent_of_mesh_and_recipe(const uint8_t *data, size_t size,
                                        const struct tact_mesh *mesh,
                                        const struct file_header *expected_header,
                                        struct file_header *file_header)
{
    const size_t input = offsetof(struct file_header, vertices), vertices = 3 * mesh->vertex_count;
    uint64_t sum;
    if (size < sizeof *file_header + mesh_byte_count(mesh) + sizeof sum) {
        return 0;
    }
    memcpy(file_header, data, sizeof *file_header);
    if (memcmp(file_header, expected_header, input) != 0 || file_header->vertices >= UINT32_MAX ||
        file_header->tets >= UINT32_MAX ||
        size != sizeof *file_header + mesh_byte_count(mesh) +
                    extent_byte_count(file_header->vertices, file_header->tets) + sizeof sum) {
        return 0;
    }
    memcpy(&sum, data + size - sizeof sum, sizeof sum);
    const uint8_t *stored_mesh_bytes = data + sizeof *file_header;
    return sum == XXH3_64bits(data, size - sizeof sum) &&
           !memcmp(stored_mesh_bytes, mesh->vertices, vertices * sizeof(double)) &&
           !memcmp(stored_mesh_bytes + vertices * sizeof(double), mesh->triangles,
                   3 * mesh->triangle_count * sizeof(uint32_t));
}

static void *copy_next_array(const uint8_t **at, size_t size)
{
    void *out = malloc(size + 1);
    if (out) {
        memcpy(out, *at, size);
    }
    *at += size;
    return out;
}

int tact_extent_load(const struct tact_extent_store *store, const struct tact_mesh *mesh,
                     const struct tact_extent_recipe *recipe, struct tact_extent **out)
{
    struct file_header expected_header = make_extent_file_header(mesh, recipe), file_header;
    char name[40];
    void *data = NULL;
    size_t size;
    *out = NULL;
    if (!store || tact_abi_check(&store->abi, sizeof *store) || !store->load ||
        !make_extent_file_name(mesh, &expected_header, name) ||
        store->load(store->user, name, &data, &size)) {
        return 0;
    }
    struct tact_extent *extent =
        is_extent_of_mesh_and_recipe(data, size, mesh, &expected_header, &file_header)
            ? calloc(1, sizeof *extent)
            : NULL;
    if (extent) {
        const uint8_t *at = (const uint8_t *)data + sizeof file_header + mesh_byte_count(mesh);
        extent->vertex_count = (size_t)file_header.vertices;
        extent->tet_count = (size_t)file_header.tets;
        extent->cell = file_header.cell;
        extent->quality = file_header.quality;
        extent->vertices = copy_next_array(&at, 3 * extent->vertex_count * sizeof(double));
        extent->extent = copy_next_array(&at, extent->vertex_count * sizeof(double));
        extent->tets = copy_next_array(&at, 4 * extent->tet_count * sizeof(uint32_t));
    }
    free(data);
    if (extent && (!extent->vertices || !extent->extent || !extent->tets)) {
        tact_extent_free(extent);
        return 0;
    }
    *out = extent;
    return extent != NULL;
}
