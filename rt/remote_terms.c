/* Terms on which two sites must agree. */
#include "rt/remote_terms_internal.h"

#include <stdio.h>
#include <string.h>

enum { AXES = 6, MODES = 4, JOINTS = 8, AXIS_VALUES = 1 + MODES * JOINTS };

static const uint64_t wave_impedance_hash_place_value =
    UINT64_C(1291467969); /* values of all axes together: AXIS_VALUES to the power of AXES */
static const uint32_t wave_impedance_hash_bit_mask = 0x3fffff; /* 22 bits */

static const char *const mode_names[MODES] = {"waves", "position_force", "position_position",
                                              "model"};
/* Kinds of tied joints. The coordinates of a base are no hinges or slides: three of them are one
 * vector along the axes of the world, and an attitude is no sum of three angles. */
static const char *const joint_names[JOINTS] = {"slide",  "hinge",   "base_x",  "base_y",
                                                "base_z", "base_rx", "base_ry", "base_rz"};

static uint32_t index_of_name_or_last(const char *const *names, uint32_t count, const char *name)
{
    uint32_t i = 0;
    while (i < count - 1 && strcmp(names[i], name) != 0) {
        i++;
    }
    return i;
}

uint64_t tact_remote_terms_of_axis(uint64_t axis, const char *mode, const char *joint)
{
    uint64_t value = 1 + JOINTS * index_of_name_or_last(mode_names, MODES, mode) +
                     index_of_name_or_last(joint_names, JOINTS, joint);
    for (uint64_t i = 0; i < axis; i++) {
        value *= AXIS_VALUES;
    }
    return value;
}

uint64_t tact_remote_terms_of_impedances(const double *wave_impedances, size_t count)
{
    uint32_t wave_impedance_hash = 2166136261u;
    for (size_t i = 0; i < count * sizeof *wave_impedances; i++) { /* FNV-1a */
        wave_impedance_hash =
            (wave_impedance_hash ^ ((const unsigned char *)wave_impedances)[i]) * 16777619u;
    }
    return wave_impedance_hash_place_value *
           ((wave_impedance_hash ^ wave_impedance_hash >> 22) & wave_impedance_hash_bit_mask);
}

/* Appends to text, of which `used` bytes are used; returns how many are then. */
static size_t append_terms_difference(char *text, size_t size, size_t length_of_difference_text,
                                      const char *what, int axis, const char *term_value_here,
                                      const char *term_value_at_other_site)
{
    const int n =
        snprintf(text + length_of_difference_text, size - length_of_difference_text,
                 "%saxis %d: %s%s here, %s at the other end", length_of_difference_text ? "; " : "",
                 axis, what, term_value_here, term_value_at_other_site);
    return n > 0 && (size_t)n < size - length_of_difference_text
               ? length_of_difference_text + (size_t)n
               : size - 1;
}

void tact_remote_terms_difference(uint64_t terms_here, uint64_t terms_at_other_site, char *text,
                                  size_t size)
{
    uint64_t a = terms_here, b = terms_at_other_site;
    size_t length_of_difference_text = 0;
    text[0] = '\0';
    for (int axis = 0; axis < AXES; axis++, a /= AXIS_VALUES, b /= AXIS_VALUES) {
        const uint64_t axis_terms_here = a % AXIS_VALUES,
                       axis_terms_at_other_site = b % AXIS_VALUES;
        if (axis_terms_here == axis_terms_at_other_site) {
            continue;
        }
        if (!axis_terms_here || !axis_terms_at_other_site) {
            length_of_difference_text =
                append_terms_difference(text, size, length_of_difference_text, "", axis,
                                        axis_terms_here ? "tied" : "not tied",
                                        axis_terms_at_other_site ? "tied" : "not tied");
        } else if ((axis_terms_here - 1) / JOINTS != (axis_terms_at_other_site - 1) / JOINTS) {
            length_of_difference_text =
                append_terms_difference(text, size, length_of_difference_text, "mode ", axis,
                                        mode_names[(axis_terms_here - 1) / JOINTS],
                                        mode_names[(axis_terms_at_other_site - 1) / JOINTS]);
        } else {
            length_of_difference_text =
                append_terms_difference(text, size, length_of_difference_text, "joint ", axis,
                                        joint_names[(axis_terms_here - 1) % JOINTS],
                                        joint_names[(axis_terms_at_other_site - 1) % JOINTS]);
        }
    }
    if (a != b && !length_of_difference_text) {
        snprintf(text, size, "the wave impedance is not that of the other end");
    }
}
