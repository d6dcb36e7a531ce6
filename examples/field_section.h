/* A section through a pressure field, drawn. */
#ifndef TACT_EXAMPLES_FIELD_SECTION_H
#define TACT_EXAMPLES_FIELD_SECTION_H

#include "contact/mesh/mesh.h"
#include "contact/pair/field/field.h"

struct pressure_field_section {
    const struct tact_mesh *mesh;
    const struct tact_pressure_field *field;
    double slope;   /* slope of the pressure over the extent [Pa/m] */
    int axis;       /* axis normal to the section: 0 x, 1 y, 2 z */
    double at;      /* coordinate of the section along that axis [m] */
    double deepest; /* largest extent [m] */
};

/* Draws the section into a file as drawing.h does: lines of equal extent, and the surface of the
 * mesh. EXIT_GOOD, or another code after a message. */
int field_section_draw(const struct pressure_field_section *s, const char *command, const char *out,
                       int force);

#endif
