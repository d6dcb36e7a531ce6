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
struct head {
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

static struct head make_extent_file_header(const struct tact_mesh *mesh,
                                           const struct tact_extent_recipe *recipe)
{
    struct head head;
    memset(&head, 0, sizeof head);
    head.magic = EXTENT_FILE_MAGIC;
    head.mesh_vertices = mesh->vertex_count;
    head.mesh_triangles = mesh->triangle_count;
    head.kind = recipe->kind == TACT_EXTENT_AUTO ? TACT_EXTENT_SCREENED : recipe->kind;
    head.thickness = recipe->thickness;
    head.wanted_cell = recipe->cell;
    return head;
}

/* Sets the name of a stored extent from a hash of its input. Returns 0 where memory is short. */
static int make_extent_file_name(const struct tact_mesh *mesh, const struct head *head,
                                 char name[40])
{
    XXH3_state_t *state = XXH3_createState();
    if (!state) {
        return 0;
    }
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, head, offsetof(struct head, vertices));
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
    struct head head = make_extent_file_header(mesh, recipe);
    char name[40];
    if (!store || !store->save || !make_extent_file_name(mesh, &head, name)) {
        return;
    }
    head.vertices = extent->vertex_count;
    head.tets = extent->tet_count;
    head.cell = extent->cell;
    head.quality = extent->quality;
    size_t size = sizeof head + mesh_byte_count(mesh) + extent_byte_count(head.vertices, head.tets);
    uint8_t *data = malloc(size + sizeof(uint64_t));
    if (!data) {
        return;
    }
    uint8_t *at = append_bytes(data, &head, sizeof head);
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

/* 1 where the bytes are a complete stored extent of this mesh and recipe. Sets *head. */
static int is_extent_of_mesh_and_recipe(const uint8_t *data, size_t size,
                                        const struct tact_mesh *mesh, const struct head *expected,
                                        struct head *head)
{
    const size_t input = offsetof(struct head, vertices), vertices = 3 * mesh->vertex_count;
    uint64_t sum;
    if (size < sizeof *head + mesh_byte_count(mesh) + sizeof sum) {
        return 0;
    }
    memcpy(head, data, sizeof *head);
    if (memcmp(head, expected, input) != 0 || head->vertices >= UINT32_MAX ||
        head->tets >= UINT32_MAX ||
        size != sizeof *head + mesh_byte_count(mesh) +
                    extent_byte_count(head->vertices, head->tets) + sizeof sum) {
        return 0;
    }
    memcpy(&sum, data + size - sizeof sum, sizeof sum);
    const uint8_t *mesh_bytes = data + sizeof *head;
    return sum == XXH3_64bits(data, size - sizeof sum) &&
           !memcmp(mesh_bytes, mesh->vertices, vertices * sizeof(double)) &&
           !memcmp(mesh_bytes + vertices * sizeof(double), mesh->triangles,
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
    struct head expected = make_extent_file_header(mesh, recipe), head;
    char name[40];
    void *data = NULL;
    size_t size;
    *out = NULL;
    if (!store || !store->load || !make_extent_file_name(mesh, &expected, name) ||
        store->load(store->user, name, &data, &size)) {
        return 0;
    }
    struct tact_extent *extent = is_extent_of_mesh_and_recipe(data, size, mesh, &expected, &head)
                                     ? calloc(1, sizeof *extent)
                                     : NULL;
    if (extent) {
        const uint8_t *at = (const uint8_t *)data + sizeof head + mesh_byte_count(mesh);
        extent->vertex_count = (size_t)head.vertices;
        extent->tet_count = (size_t)head.tets;
        extent->cell = head.cell;
        extent->quality = head.quality;
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
