/* Computes the extent of a mesh: chooses the lattice, and calls the steps from there to tetrahedra.
 */
#include "contact/pair/field/extent.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/field/lattice_internal.h"
#include "contact/vec.h"

/* Default number of cells along the longest side of a mesh. */
#define DEFAULT_CELLS_ALONG_SIDE 48.0
/* Smallest number of lattice cells across the thinnest part of a mesh. */
#define MIN_CELLS_ACROSS_PART 2.0
/* Largest ratio of cell size to layer thickness that resolves the pressure. */
#define MAX_CELL_TO_LAYER_THICKNESS 2.0
/* Tolerance within which cells may be joined, relative to the cell size. */
#define CELL_JOIN_TOLERANCE 0.1
/* Upper limit of the tolerance within which cells may be joined, relative to the extent. */
#define CELL_JOIN_TOLERANCE_LIMIT 0.02
/* Maximum number of nodes of a lattice; a quarter for one that is refined automatically. */
#define MAX_LATTICE_NODES 4e6

const char *const tact_extent_kind_names[] = {"auto", "screened", "laplace", "distance", NULL};

static double longest_bounding_side(const struct tact_mesh *mesh)
{
    double longest_bounding_box_side = 0.0;
    for (int k = 0; k < 3; k++) {
        longest_bounding_box_side =
            tact_max(longest_bounding_box_side, mesh->nodes[0].upper[k] - mesh->nodes[0].lower[k]);
    }
    return longest_bounding_box_side;
}

static int report_refused_cell_size(const struct tact_mesh *mesh, double cell,
                                    struct tact_error *err)
{
    return tact_error_set(err, -EDOM,
                          "cells of %.3g m make over %g nodes of a mesh of %.3g m; expected a "
                          "larger field cell, or a thickness over %.2g m",
                          cell, MAX_LATTICE_NODES, longest_bounding_side(mesh),
                          longest_bounding_side(mesh) / 150.0);
}

static int report_too_thin_part(const struct lattice_thin_part *thin_part_of_mesh, double cell,
                                struct tact_error *err)
{
    return tact_error_set(err, -EDOM,
                          "the mesh is %.3g m thin at (%.4g, %.4g, %.4g), which cells of %.3g m do "
                          "not resolve; expected a field cell of at most %.3g m",
                          thin_part_of_mesh->thickness, thin_part_of_mesh->place[0],
                          thin_part_of_mesh->place[1], thin_part_of_mesh->place[2], cell,
                          thin_part_of_mesh->thickness / MIN_CELLS_ACROSS_PART);
}

/* Replaces the default lattice by a finer one where a part of the mesh is thinner than two of its
 * cells. */
static int refine_default_lattice(const struct tact_mesh *mesh, struct lattice *l,
                                  struct lattice_thin_part *thin_part_of_mesh)
{
    struct lattice lattice_with_fine_cells;
    int rc = tact_lattice_create(mesh, thin_part_of_mesh->thickness / MIN_CELLS_ACROSS_PART,
                                 0.25 * MAX_LATTICE_NODES, &lattice_with_fine_cells);
    if (rc) {
        tact_lattice_release(&lattice_with_fine_cells);
        return rc == -EDOM ? 0 : rc;
    }
    tact_lattice_release(l);
    *l = lattice_with_fine_cells;
    tact_lattice_thinnest_part(l, thin_part_of_mesh);
    return 0;
}

/* Makes the lattice with the given cell size, or with a default cell that resolves the mesh's
 * thinnest part. */
static int make_extent_lattice(const struct tact_mesh *mesh,
                               const struct tact_extent_recipe *recipe, struct lattice *l,
                               struct tact_error *err)
{
    int is_lattice_cell_size_given = recipe->cell > 0.0;
    double cell =
        is_lattice_cell_size_given
            ? recipe->cell
            : tact_min(longest_bounding_side(mesh) / DEFAULT_CELLS_ALONG_SIDE, recipe->thickness);
    struct lattice_thin_part thin_part_of_mesh;
    if (!(cell <= MAX_CELL_TO_LAYER_THICKNESS * recipe->thickness)) {
        return tact_error_set(err, -EDOM,
                              "cells of %.3g m do not resolve a field of thickness %.3g m; "
                              "expected a field cell of at most %.3g m",
                              cell, recipe->thickness,
                              MAX_CELL_TO_LAYER_THICKNESS * recipe->thickness);
    }
    int rc = tact_lattice_create(mesh, cell, MAX_LATTICE_NODES, l);
    if (rc) {
        return rc == -EDOM ? report_refused_cell_size(mesh, cell, err) : rc;
    }
    tact_lattice_thinnest_part(l, &thin_part_of_mesh);
    for (int cell_size_refinement_round = 0;
         cell_size_refinement_round < 3 && !is_lattice_cell_size_given && !rc &&
         thin_part_of_mesh.cells < MIN_CELLS_ACROSS_PART;
         cell_size_refinement_round++) {
        rc = refine_default_lattice(mesh, l, &thin_part_of_mesh);
    }
    if (!rc && thin_part_of_mesh.cells < MIN_CELLS_ACROSS_PART) {
        rc = report_too_thin_part(&thin_part_of_mesh, cell, err);
    }
    return rc;
}

static int fill_extent_lattice(const struct tact_mesh *mesh,
                               const struct tact_extent_recipe *recipe, struct lattice *l,
                               struct tact_extent *out, struct tact_error *err)
{
    int rc = make_extent_lattice(mesh, recipe, l, err);
    rc = rc ? rc : tact_lattice_compute_extent(l, recipe, err);
    rc = rc ? rc : tact_lattice_extrapolate_extent(l);
    if (!rc && recipe->kind != TACT_EXTENT_LAPLACE && recipe->kind != TACT_EXTENT_DISTANCE) {
        rc = tact_lattice_correct_mean_extent(l, recipe->thickness);
    }
    if (rc) {
        return rc;
    }
    out->cell = tact_max(l->step[0], tact_max(l->step[1], l->step[2]));
    double tolerance = CELL_JOIN_TOLERANCE * tact_lattice_node_spacing(l);
    rc = tact_lattice_divide_into_tets(
        l, tolerance, tact_min(CELL_JOIN_TOLERANCE_LIMIT, 2.0 * tolerance / recipe->thickness),
        out);
    return rc == -EDOM ? tact_error_set(err, rc,
                                        "the cells of the lattice are too large for the pressure "
                                        "field of this mesh: no lattice node is inside the mesh")
                       : rc;
}

int tact_extent_of_mesh(const struct tact_mesh *mesh, const struct tact_extent_recipe *recipe,
                        struct tact_extent **out, struct tact_error *err)
{
    struct lattice l;
    *out = NULL;
    if (!(recipe->thickness > 0.0) || !isfinite(recipe->thickness) || !(recipe->cell >= 0.0) ||
        !isfinite(recipe->cell)) {
        return tact_error_set(err, -EINVAL,
                              "the thickness of the elastic layer must be positive and the lattice "
                              "cell size 0 or more, not %g m and %g m",
                              recipe->thickness, recipe->cell);
    }
    struct tact_extent *extent = calloc(1, sizeof *extent);
    if (!extent) {
        return -ENOMEM;
    }
    memset(&l, 0, sizeof l);
    int rc = fill_extent_lattice(mesh, recipe, &l, extent, err);
    tact_lattice_release(&l);
    if (rc) {
        tact_extent_free(extent);
        return rc;
    }
    *out = extent;
    return 0;
}

void tact_extent_free(struct tact_extent *extent)
{
    if (extent) {
        free(extent->vertices);
        free(extent->extent);
        free(extent->tets);
        free(extent);
    }
}
