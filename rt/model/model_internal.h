/*
 * The hand of an MJCF or URDF file as it is read, and what its readers share. Not installed.
 *
 * Bodies are in the order of the file, parents first; body 0 is the world, which is the base of the
 * hand. Angles are radians, lengths metres, quaternions w first.
 */
#ifndef TACT_RT_MODEL_INTERNAL_H
#define TACT_RT_MODEL_INTERNAL_H

#include <libxml/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contact/error.h"
#include "contact/mesh/mesh.h"
#include "contact/vec.h"
#include "rt/model/hand_file.h"

/* Limits of a file, so that a hostile one is refused instead of filling memory. */
enum {
    MODEL_MAX_NESTING = 64,      /* maximum nesting of elements */
    MODEL_MAX_ATTRIBUTES = 8192, /* maximum number of = between two <, which are in comments too */
    MODEL_MAX_ENTRIES = 1024, /* maximum number of bodies, shapes, joints, classes of each kind */
    MODEL_MAX_NOTES = 64,     /* maximum number of different notes; further ones are counted */
    MODEL_NOTE_BYTES = 384,   /* longest note, with the zero */
    MODEL_NAME_BYTES = 48,    /* name of a link, with the zero */
};

enum model_geom_kind {
    MODEL_GEOM_SPHERE,
    MODEL_GEOM_CAPSULE,
    MODEL_GEOM_CYLINDER,
    MODEL_GEOM_BOX,
    MODEL_GEOM_ELLIPSOID,
    MODEL_GEOM_MESH,
    MODEL_GEOM_UNSUPPORTED, /* plane, hfield, sdf: refused where it collides or weighs */
};

/* How the mass of a mesh is computed (MuJoCo's attribute `inertia`). */
enum model_mesh_mass_rule {
    MODEL_MESH_MASS_LEGACY,
    MODEL_MESH_MASS_EXACT,
    MODEL_MESH_MASS_CONVEX,
    MODEL_MASS_SHELL
};

struct model_mesh {
    int line;
    const char *name;
    const char *path; /* path of the mesh file, relative to the folder of the scene */
    double scale[3];
    enum model_mesh_mass_rule rule;
    struct tact_soup soup; /* triangles in metres, read where the mass of the mesh is needed */
    bool is_mesh_loaded;
};

struct model_geom {
    int line;
    int body;
    enum model_geom_kind kind;
    double size[3]; /* sizes by kind: radius and half length; half edges; half axes [m] */
    struct tact_pose pose;
    int mesh;
    double mass;            /* [kg]; below 0: from the density */
    double density;         /* [kg/m^3] */
    bool adds_to_body_mass; /* true: the shape contributes to the mass of its body */
    bool convex;            /* true: a mesh collides as its convex hull */
    uint32_t type, affinity;
    double friction;
};

struct model_drive {
    int line; /* 0: none */
    double stiffness, damping, limit;
    bool has_target_range;
    double lower, upper; /* of the target */
};

/* Contribution of a joint to the length of a tendon: coefficient times joint value. */
struct model_tendon_joint {
    int tendon, joint;
    double coefficient;
};

struct model_tendon {
    int line;
    const char *name;
    bool has_joint_drive;
};

struct model_joint {
    int line;
    const char *name;
    int body;
    bool is_prismatic;
    double position[3], axis[3]; /* body frame */
    bool limited;
    double lower, upper;
    double damping, friction, armature, reference, limit;
    struct model_drive drive;
    int tendon; /* 1 + index of the tendon that its drive acts on, or 0 */
    struct {
        int line; /* 0: none */
        int joint;
        double multiplier, offset;
    } mimic;  /* the joint follows another one by a linear law */
    int link; /* once fused */
};

/* Mass [kg], centre of mass [m], and inertia about it [kg m^2]. */
struct model_mass_properties {
    double mass, center[3], inertia[9];
};

struct model_body {
    int line;
    const char *name;
    int parent;
    struct tact_pose pose; /* in its parent */
    bool has_mass_in_file; /* true: the file gives the mass of the body */
    struct model_mass_properties mass;
    int link; /* after merging rigid bodies: the link that the body is part of, or -1: the base */
    struct tact_pose place; /* after merging: pose of the body in the frame of its link */
};

struct model_contact_exclusion {
    int line;
    int bodies[2];
};

/* A link of the hand: one joint, and all that is rigidly connected to it. */
struct model_link {
    int line;
    const char *name;
    int parent; /* parent link, or -1: the base */
    int joint;
    int earlier_joint_link_count; /* number of links before this one for further joints of the same
                  body, with the smallest allowed mass */
    struct tact_pose origin;
    struct model_mass_properties mass;
};

#define MODEL_ARRAY_OF(type)                                                                       \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, capacity;                                                                    \
    }

struct model {
    const char *name;
    const char *kind;   /* MJCF or URDF */
    const char *file;   /* file name as given by the user */
    const char *folder; /* folder of the file, relative to that of the scene, "" or with a slash at
                           its end */
    const struct tact_hand_file_reader *files;
    struct tact_error *err;
    MODEL_ARRAY_OF(struct model_body) bodies;
    MODEL_ARRAY_OF(struct model_joint) joints;
    MODEL_ARRAY_OF(struct model_geom) geoms;
    MODEL_ARRAY_OF(struct model_mesh) meshes;
    MODEL_ARRAY_OF(struct model_contact_exclusion) exclusions;
    MODEL_ARRAY_OF(struct model_tendon) tendons;
    MODEL_ARRAY_OF(struct model_tendon_joint) tendon_joints;
    MODEL_ARRAY_OF(struct model_link) links;
    MODEL_ARRAY_OF(char *) texts;
    double min_body_mass; /* smallest mass of each body [kg]; 0: none */
    double total_mass;    /* total mass to which all bodies are scaled [kg]; 0 or less: unscaled */
    struct model_link base; /* mass of the bodies that are fixed to the world */
    struct {
        char text[MODEL_NOTE_BYTES];
        int line, count;
    } notes[MODEL_MAX_NOTES];
    int note_count, omitted_note_count;
};

/* model.c */

/* Appends one zeroed entry to a list of the model. Returns its index, or a negative errno. */
#define MODEL_APPEND_ENTRY(model, list, where)                                                     \
    tact_model_append_entry(model, (void **)&(model)->list.at, &(model)->list.count,               \
                            &(model)->list.capacity, sizeof *(model)->list.at, where)
int tact_model_append_entry(struct model *m, void **at, size_t *count, size_t *capacity,
                            size_t size, int line);
/* Copies a text to memory that is freed with the model; NULL where memory is short. */
const char *tact_model_copy_text(struct model *m, const char *text);
/* Reports an error at a line of the hand file. Returns -EINVAL. */
int tact_model_report_error(struct model *m, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int tact_model_report_no_memory(struct model *m);
/* Reports that an element has the name of another one of its kind, which a reference to it would
 * then find: -EINVAL. line_of_first_use: line of the element that already has the name. */
int tact_model_report_repeated_name(struct model *m, const xmlNode *node, const char *name,
                                    int line_of_first_use);
/* Adds a note on what is left out or changed; each text is reported once, with the line of its
 * first use. */
void tact_model_add_note(struct model *m, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tact_model_free(struct model *m);
int tact_model_find_body(const struct model *m, const char *name);
int tact_model_find_joint(const struct model *m, const char *name);

/* tied.c */

/* Makes a joint follow another one. -EINVAL with the message where it follows one already. */
int tact_model_add_mimic(struct model *m, int line, int joint, int leading_joint, double multiplier,
                         double offset);
/* Resolves chains of mimic joints, so that each follows an independent joint. -EINVAL for a circle.
 */
int tact_model_resolve_mimics(struct model *m);
/* Assigns the drive of a tendon to the first of its joints that has none. -EINVAL with the message
 * where all have one. */
int tact_model_assign_tendon_drive(struct model *m, int tendon, const struct model_drive *drive);

/* xml.c: attributes and elements. */

/* Parses a file. Returns 0, or a negative errno with the message. */
int tact_model_parse_xml(struct model *m, const char *text, size_t size, xmlDoc **out);
const char *tact_xml_node_name(const xmlNode *node);
int tact_xml_node_line(const xmlNode *node);
/* The first XML element at or after a node, or NULL. */
const xmlNode *tact_xml_next_element(const xmlNode *node);
/* Text of an attribute, copied to memory of the model, or NULL. */
const char *tact_xml_read_text(struct model *m, const xmlNode *node, const char *name);
bool tact_xml_has_attribute(const xmlNode *node, const char *name);
/* Reads `least` to `most` numbers of an attribute. Returns their count, 0 where the attribute is
 * absent, or a negative errno with the message. */
int tact_xml_read_numbers(struct model *m, const xmlNode *node, const char *name, double *out,
                          int least, int most);
/* Reads an attribute that is one of the words in a list separated by spaces. Returns the word's
 * index, -1 where the attribute is absent, or a negative errno below -1 with the message. */
int tact_xml_read_word(struct model *m, const xmlNode *node, const char *name, const char *words);
/* Whether a list of words separated by spaces contains a word. */
bool tact_xml_list_has_word(const char *words, const char *word);
/* Checks that each attribute is known, or has no effect on motion (ignored), or is left out with a
 * note. */
int tact_xml_check_attributes(struct model *m, const xmlNode *node, const char *known,
                              const char *ignored_attribute_names,
                              const char *attribute_names_to_note);

/* The path of a file that the model names, in memory of the model: relative to the folder of the
 * scene, within the folder of the file. NULL with the message where it is not. */
const char *tact_model_resolve_path(struct model *m, int line, const char *folder,
                                    const char *name);

/* Whether a text has no control character and no separator of lines, which YAML may end a line at.
 */
bool tact_model_is_one_line(const char *text);

/* mjcf.c, urdf.c: read all from the root element. */
int tact_model_read_mjcf(struct model *m, const xmlNode *root);
int tact_model_read_urdf(struct model *m, const xmlNode *root);

/* mass.c: masses of the bodies that have shapes in place of a mass. */
int tact_model_compute_masses(struct model *m);
/* Adds a rigid part, whose frame has the pose `place`, to a sum of masses. */
void tact_model_add_mass(struct model_mass_properties *sum,
                         const struct model_mass_properties *part, const struct tact_pose *place);

/* fuse.c: bodies without a joint become part of their parents; the rest become links. */
int tact_model_merge_rigid_bodies(struct model *m);
/* Makes a valid link name of at most 40 letters, digits, _ and - (not first) from a name of the
 * file. */
void tact_model_sanitize_name(const char *preferred_name, const char *name_if_preferred_is_empty,
                              char out[MODEL_NAME_BYTES]);

/* touch.c: which links touch by the exclusions of their bodies, as
 * a matrix over all links and, last, the base; freed with free(). NULL where memory is short. */
enum { MODEL_TOUCH_NONE = 1, MODEL_TOUCH_ALL = 2, MODEL_TOUCH_SOME = 3 };
unsigned char *tact_model_link_contact_matrix(const struct model *m);
bool tact_model_geom_collides(const struct model_geom *g);

/* write.c */
int tact_model_write(struct model *m, const struct tact_hand_file_options *options,
                     struct tact_hand_file *out);

#endif
