/* A scene in other units: its text with every length multiplied by a power of two, every mass by
 * another, and every time by a third. What a solver computes of it is then that of the scene
 * itself, multiplied likewise. */
#ifndef TACT_TESTS_SCALED_SCENE_H
#define TACT_TESTS_SCALED_SCENE_H

/* Exponents of two by which lengths, masses and times are multiplied. */
struct unit_scaling {
    double length;
    double mass;
    double time;
};

/* The text of a scene in other units, without its outputs, freed with free(). Values that a scene
 * may leave out and that have a unit are written out. Fails the test where the scene has a key of
 * no known unit. directory: of the scene's files. */
char *scale_scene_text(const char *text, const char *directory, const struct unit_scaling *by);

#endif
