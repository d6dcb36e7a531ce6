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
struct extent_file_header {
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

static struct extent_file_header make_extent_file_header(const struct tact_mesh *mesh,
                                                         const struct tact_extent_recipe *recipe)
{
    struct extent_file_header extent_file_header;
    memset(&extent_file_header, 0, sizeof extent_file_header);
    extent_file_header.magic = EXTENT_FILE_MAGIC;
    extent_file_header.mesh_vertices = mesh->vertex_count;
    extent_file_header.mesh_triangles = mesh->triangle_count;
    extent_file_header.kind =
        recipe->kind == TACT_EXTENT_AUTO ? TACT_EXTENT_SCREENED : recipe->kind;
    extent_file_header.thickness = recipe->thickness;
    extent_file_header.wanted_cell = recipe->cell;
    return extent_file_header;
}

/* Sets the name of a stored extent from a hash of its input. Returns 0 where memory is short. */
static int make_extent_file_name(const struct tact_mesh *mesh,
                                 const struct extent_file_header *extent_file_header, char name[40])
{
    XXH3_state_t *state = XXH3_createState();
    if (!state) {
        return 0;
    }
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, extent_file_header, offsetof(struct extent_file_header, vertices));
    XXH3_128bits_update(state, mesh->vertices, 3 * mesh->vertex_count * sizeof(double));
    XXH3_128bits_update(state, mesh->triangles, 3 * mesh->triangle_count * sizeof(uint32_t));
    XXH128_hash_t field_extent_hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    snprintf(name, 40, "field-%016llx%016llx", (unsigned long long)field_extent_hash.high64,
             (unsigned long long)field_extent_hash.low64);
    return 1;
}

static uint8_t *append_extent_bytes(uint8_t *at, const void *from, size_t size)
{
    memcpy(at, from, size);
    return at + size;
}

void tact_extent_save(const struct tact_extent_store *store, const struct tact_mesh *mesh,
                      const struct tact_extent_recipe *recipe, const struct tact_extent *extent)
{
    struct extent_file_header extent_file_header = make_extent_file_header(mesh, recipe);
    char name[40];
    if (!store || tact_abi_check(&store->abi, sizeof *store) || !store->save ||
        !make_extent_file_name(mesh, &extent_file_header, name)) {
        return;
    }
    extent_file_header.vertices = extent->vertex_count;
    extent_file_header.tets = extent->tet_count;
    extent_file_header.cell = extent->cell;
    extent_file_header.quality = extent->quality;
    size_t size = sizeof extent_file_header + mesh_byte_count(mesh) +
                  extent_byte_count(extent_file_header.vertices, extent_file_header.tets);
    uint8_t *data = malloc(size + sizeof(uint64_t));
    if (!data) {
        return;
    }
    uint8_t *at = append_extent_bytes(data, &extent_file_header, sizeof extent_file_header);
    at = append_extent_bytes(at, mesh->vertices, 3 * mesh->vertex_count * sizeof(double));
    at = append_extent_bytes(at, mesh->triangles, 3 * mesh->triangle_count * sizeof(uint32_t));
    at = append_extent_bytes(at, extent->vertices, 3 * extent->vertex_count * sizeof(double));
    at = append_extent_bytes(at, extent->extent, extent->vertex_count * sizeof(double));
    at = append_extent_bytes(at, extent->tets, 4 * extent->tet_count * sizeof(uint32_t));
    uint64_t sum = XXH3_64bits(data, size);
    append_extent_bytes(at, &sum, sizeof sum);
    store->save(store->user, name, data, size + sizeof sum);
    free(data);
}

/* 1 where the bytes are a complete stored extent of this mesh and recipe. Sets *extent_file_header.
 */
static int
is_extent_of_mesh_and_recipe(const uint8_t *data, size_t size, const struct tact_mesh *mesh,
                             const struct extent_file_header *expected_extent_file_header,
                             struct extent_file_header *extent_file_header)
{
    const size_t input = offsetof(struct extent_file_header, vertices),
                 vertices = 3 * mesh->vertex_count;
    uint64_t sum;
    if (size < sizeof *extent_file_header + mesh_byte_count(mesh) + sizeof sum) {
        return 0;
    }
    memcpy(extent_file_header, data, sizeof *extent_file_header);
    if (memcmp(extent_file_header, expected_extent_file_header, input) != 0 ||
        extent_file_header->vertices >= UINT32_MAX || extent_file_header->tets >= UINT32_MAX ||
        size != sizeof *extent_file_header + mesh_byte_count(mesh) +
                    extent_byte_count(extent_file_header->vertices, extent_file_header->tets) +
                    sizeof sum) {
        return 0;
    }
    memcpy(&sum, data + size - sizeof sum, sizeof sum);
    const uint8_t *mesh_bytes_in_extent_file = data + sizeof *extent_file_header;
    return sum == XXH3_64bits(data, size - sizeof sum) &&
           !memcmp(mesh_bytes_in_extent_file, mesh->vertices, vertices * sizeof(double)) &&
           !memcmp(mesh_bytes_in_extent_file + vertices * sizeof(double), mesh->triangles,
                   3 * mesh->triangle_count * sizeof(uint32_t));
}

static void *copy_next_array_of_extent_file(const uint8_t **at, size_t size)
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
    struct extent_file_header expected_extent_file_header = make_extent_file_header(mesh, recipe),
                              extent_file_header;
    char name[40];
    void *data = NULL;
    size_t size;
    *out = NULL;
    if (!store || tact_abi_check(&store->abi, sizeof *store) || !store->load ||
        !make_extent_file_name(mesh, &expected_extent_file_header, name) ||
        store->load(store->user, name, &data, &size)) {
        return 0;
    }
    struct tact_extent *extent =
        is_extent_of_mesh_and_recipe(data, size, mesh, &expected_extent_file_header,
                                     &extent_file_header)
            ? calloc(1, sizeof *extent)
            : NULL;
    if (extent) {
        const uint8_t *at =
            (const uint8_t *)data + sizeof extent_file_header + mesh_byte_count(mesh);
        extent->vertex_count = (size_t)extent_file_header.vertices;
        extent->tet_count = (size_t)extent_file_header.tets;
        extent->cell = extent_file_header.cell;
        extent->quality = extent_file_header.quality;
        extent->vertices =
            copy_next_array_of_extent_file(&at, 3 * extent->vertex_count * sizeof(double));
        extent->extent = copy_next_array_of_extent_file(&at, extent->vertex_count * sizeof(double));
        extent->tets =
            copy_next_array_of_extent_file(&at, 4 * extent->tet_count * sizeof(uint32_t));
    }
    free(data);
    if (extent && (!extent->vertices || !extent->extent || !extent->tets)) {
        tact_extent_free(extent);
        return 0;
    }
    *out = extent;
    return extent != NULL;
}
