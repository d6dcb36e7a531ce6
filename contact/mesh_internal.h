/** What the files of the mesh module share; not installed. */
#ifndef TACT_CONTACT_MESH_INTERNAL_H
#define TACT_CONTACT_MESH_INTERNAL_H

#include "mesh.h"

/**
 * Merges vertices with equal coordinates and drops those that no triangle uses; the rest keep the
 * order of their first appearance. Works in place on both arrays.
 * Returns 0 with the new number of vertices in *vertex_count, or -ENOMEM.
 */
int tact_mesh_weld(double *vertices, size_t *vertex_count, uint32_t *triangles,
                   size_t triangle_count);

/** Counts defects of welded triangles. Returns 0 or -ENOMEM. */
int tact_mesh_count_defects(const double *vertices, size_t vertex_count, const uint32_t *triangles,
                            size_t triangle_count, struct tact_mesh_defects *defects);

/** Allocates and fills mesh->nodes and sorts mesh->triangles. Returns 0 or -ENOMEM. */
int tact_mesh_build_tree(struct tact_mesh *mesh);

/** Fills volume, centroid, second and radius from vertices and triangles. */
void tact_mesh_integrate(struct tact_mesh *mesh);

/** tact_mesh_create() that, where flat_allowed, takes triangles without area that keep the surface
 *  closed: they add nothing to any integral. */
int tact_mesh_create_checked(const double *vertices, size_t vertex_count, const uint32_t *triangles,
                             size_t triangle_count, int flat_allowed, struct tact_mesh **out,
                             struct tact_error *err);

#endif
