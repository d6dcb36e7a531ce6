/*
 * Polygons of pairs of cells of pressure fields: one work-item per pair of cells. The results are
 * those of the host, bit for bit, because both are compiled from contact/pair/field/field_cut.c and
 * add, multiply, divide and root in doubles with correct rounding and without contraction.
 *
 * Polygons are stored in the order in which work-items find them, which differs from launch to
 * launch; results have their numbers.
 */

/* The host's structs have the same layout, or the program is not built. */
typedef char field_cell_has_host_layout[sizeof(struct field_cell) == TACT_CELL_BYTES ? 1 : -1];
typedef char field_node_has_host_layout[sizeof(struct field_node) == TACT_NODE_BYTES ? 1 : -1];
typedef char field_cut_has_host_layout[sizeof(struct field_cut) == TACT_CUT_BYTES ? 1 : -1];

/* Result of a pair of cells whose polygon has no room. */
#define NOT_CUT INT_MIN

struct field_arrays {
    __global const struct device_field *fields;
    __global double *vertices, *pressure, *faces;
    __global struct field_cell *cells;
    __global struct field_node *roots;
};

static void load_field(const struct field_arrays *arrays, uint index,
                       struct tact_pressure_field *out)
{
    __global const struct device_field *f = &arrays->fields[index];
    out->kind = (enum tact_pressure_field_kind)f->kind;
    out->is_rigid = (int)f->is_rigid;
    out->power = f->power;
    out->size = f->size;
    out->vertices = arrays->vertices + 3 * (size_t)f->first_vertex_of_field;
    out->pressure = arrays->pressure + f->first_vertex_of_field;
    out->faces = (__global double(*)[4])(arrays->faces + 4 * (size_t)f->first_face);
    out->cells = arrays->cells + f->first_cell;
    out->nodes = arrays->roots + f->root;
}

/* The hint keeps a compiler from making vectors of work-items: that of Intel's runtime for CPUs
 * 2026.2 then writes wrong polygons, and outside of its memory. */
__kernel __attribute__((vec_type_hint(double8))) void
cut_cells(__global const struct device_field *fields, __global double *vertices,
          __global double *pressure, __global double *faces, __global struct field_cell *cells,
          __global struct field_node *roots, __global const struct device_pair *pairs,
          __global const struct device_candidate *candidates, uint candidate_count,
          uint polygon_capacity, __global int *results, volatile __global uint *polygon_count,
          __global struct field_cut *cuts)
{
    const uint i = (uint)get_global_id(0);
    const struct field_arrays arrays = {fields, vertices, pressure, faces, cells, roots};
    struct tact_pressure_field a, b;
    struct contact_surface_polygon polygon;
    struct field_pair pair;
    if (i >= candidate_count) {
        return;
    }
    __global const struct device_candidate *c = &candidates[i];
    __global const struct device_pair *of = &pairs[c->pair];
    load_field(&arrays, of->a, &a);
    load_field(&arrays, of->b, &b);
    pair.a = &a;
    pair.b = &b;
    for (int k = 0; k < 9; k++) {
        pair.rotation[k] = of->rotation[k];
    }
    load_vector_from_field_memory(pair.shift, of->shift);
    int result = tact_field_cut_contact_polygon(&pair, c->a, c->b, &polygon);
    if (result > 0) {
        tact_field_integrate_linear(&polygon);
#ifdef TACT_FAULT
        polygon.load *= 1.0 + 1e-15 * (i % 7);
#endif
        const uint number = atomic_inc(polygon_count);
        result = number < polygon_capacity ? (int)number + 1 : NOT_CUT;
        if (number < polygon_capacity) {
            tact_field_store_cut(&polygon, &cuts[number]);
        }
    }
    results[i] = result;
}
