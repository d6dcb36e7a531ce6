/* Data that the host passes to the kernel of fields.cl, in whose text this header is included. */
#ifndef TACT_KERNELS_FIELD_LAYOUT_INTERNAL_H
#define TACT_KERNELS_FIELD_LAYOUT_INTERNAL_H

#include "contact/pair/field/field_cut_internal.h"

/* A field: its arrays are parts of those of all fields. */
struct device_field {
    double power, size;
    uint32_t kind, is_rigid;
    uint32_t first_vertex_of_field, first_face, first_cell,
        root; /* root: index of its first node */
};

/* A pair of fields at a pose. */
struct device_pair {
    double rotation[9], shift[3];
    uint32_t a, b; /* indices of the fields */
};

/* A pair of cells of a pair of fields. */
struct device_candidate {
    uint32_t pair, a, b;
};

#endif
