/* Shared by the parts of the reader of MJCF. Not installed. */
#ifndef TACT_RT_MODEL_MJCF_INTERNAL_H
#define TACT_RT_MODEL_MJCF_INTERNAL_H

#include "rt/model/model_internal.h"

/* Attitude of an MJCF element: a quaternion, or one of the alternative notations. That of an
 * element replaces that of its default class, whatever the notations. */
struct mjcf_attitude {
    double quat_wxyz[4];
    enum mjcf_attitude_kind { MJCF_QUAT, MJCF_AXISANGLE, MJCF_XYAXES, MJCF_ZAXIS, MJCF_EULER } kind;
    double numbers[6];
};

/* The words of the MJCF attribute `type` of geoms and joints, in the order of the enums. */
#define MJCF_GEOM_TYPES "plane hfield sphere capsule ellipsoid cylinder box mesh sdf"
enum mjcf_geom_type {
    MJCF_PLANE,
    MJCF_HEIGHT_FIELD,
    MJCF_SPHERE,
    MJCF_CAPSULE,
    MJCF_ELLIPSOID,
    MJCF_CYLINDER,
    MJCF_BOX,
    MJCF_MESH,
    MJCF_SDF,
    MJCF_GEOM_TYPE_COUNT
};
#define MJCF_JOINT_TYPES "free ball slide hinge"
enum mjcf_joint_type { MJCF_FREE, MJCF_BALL, MJCF_SLIDE, MJCF_HINGE };

struct mjcf_geom {
    int type; /* enum mjcf_geom_type */
    int geom_size_count;
    double size[3], position[3], fromto[6];
    bool has_fromto;
    struct mjcf_attitude attitude;
    double mass, density, friction; /* a mass below 0 means: computed from the density */
    uint32_t contact_type_bits, contact_affinity_bits;
    int group;
    const char *mesh;
    bool has_shell_inertia;
};

struct mjcf_joint {
    int type; /* enum mjcf_joint_type */
    double position[3], axis[3], range[2], force_range[2];
    int limited, force_limited; /* index in MJCF_FALSE_TRUE_AUTO_WORDS */
    double stiffness, damping, friction, armature, reference;
};

struct mjcf_actuator {
    int dynamics, gain, bias; /* index of the word of dyntype, gaintype or biastype in the list of
                                 words of that attribute; 0: none, fixed, none */
    double gear, gain_numbers[3], bias_numbers[3];
    int is_control_limited, force_limited;
    double control_range[2], force_range[2];
    double target_range_per_joint_range;
};

struct mjcf_mesh {
    double scale[3];
    enum model_mesh_mass_rule rule;
};

struct mjcf_default_class {
    const char *name;
    struct mjcf_geom geom;
    struct mjcf_joint joint;
    struct mjcf_actuator actuator;
    struct mjcf_mesh mesh;
    bool is_equality_active;
};

struct mjcf_reader {
    struct model *model;
    bool angles_in_degrees, autolimits, strip_path;
    int inertia_from_geom; /* index in MJCF_FALSE_TRUE_AUTO_WORDS */
    double groups[2];
    char euler_sequence[4];
    const char *mesh_folder;
    double min_body_mass, total_mass;
    MODEL_ARRAY_OF(struct mjcf_default_class) classes;
};

#define MJCF_FALSE_TRUE_AUTO_WORDS "false true auto"
#define RADIANS_PER_DEGREE (3.14159265358979323846 / 180.0)
enum { MJCF_FALSE, MJCF_TRUE, MJCF_AUTOMATIC };

/* mjcf_default.c */
int tact_mjcf_read_defaults(struct mjcf_reader *r, const xmlNode *node, int parent);
/* Index of the default class of an element: that of its attribute, else `inherited_default_class`.
 * Negative errno with message. */
int tact_mjcf_class_of_node(struct mjcf_reader *r, const xmlNode *node, const char *attribute,
                            int inherited_default_class);

/* mjcf_element.c: read the attributes of a node; members without an attribute keep their value. */
int tact_mjcf_read_geom(struct mjcf_reader *r, const xmlNode *node, struct mjcf_geom *geom);
int tact_mjcf_read_joint(struct mjcf_reader *r, const xmlNode *node, struct mjcf_joint *joint);
/* Reads one word of MJCF_FALSE_TRUE_AUTO_WORDS; leaves *out as it is where the attribute is absent.
 * 0 or -EINVAL. */
int tact_mjcf_read_flag(struct mjcf_reader *r, const xmlNode *node, const char *name, int *out);
int tact_mjcf_read_mesh(struct mjcf_reader *r, const xmlNode *node, struct mjcf_mesh *mesh);
int tact_mjcf_read_attitude(struct mjcf_reader *r, const xmlNode *node, struct mjcf_attitude *out);
#define MJCF_ATTITUDE_ATTRIBUTES "quat axisangle xyaxes zaxis euler"
/* Computes the quaternion of an attitude. -EINVAL for an axis or quaternion of length 0. */
int tact_mjcf_resolve_attitude(struct mjcf_reader *r, const xmlNode *node,
                               const struct mjcf_attitude *attitude, double quat_wxyz[4]);
/* Quaternion of the shortest rotation from the z axis to a direction. */
void tact_mjcf_rotation_from_z(const double direction[3], double quat_wxyz[4]);
/* Whether a range limits its joint or actuator: as `limited` states, or where a range is given.
 * Negative errno with message. */
int tact_mjcf_is_range_active(struct mjcf_reader *r, const xmlNode *node, int limited,
                              const double range[2], const char *name);
void tact_mjcf_init_default_class(struct mjcf_default_class *c);

/* mjcf_body.c */
int tact_mjcf_read_body(struct mjcf_reader *r, const xmlNode *node, int parent,
                        int inherited_default_class, const struct tact_pose *frame, int body);

/* mjcf_actuator.c */
int tact_mjcf_read_actuator_attributes(struct mjcf_reader *r, const xmlNode *node,
                                       struct mjcf_actuator *a);
int tact_mjcf_read_actuators(struct mjcf_reader *r, const xmlNode *node);
#define MJCF_ACTUATOR_TAGS "general position motor"

/* mjcf_relation.c: tendons, equalities, exclusions. */
int tact_mjcf_read_tendons(struct mjcf_reader *r, const xmlNode *node);
/* Index of the tendon of that name, or -1. */
int tact_mjcf_find_tendon(const struct mjcf_reader *r, const char *name);
/* Adds a note for each tendon that no actuator drives. */
void tact_mjcf_note_undriven_tendons(struct mjcf_reader *r);
int tact_mjcf_read_equalities(struct mjcf_reader *r, const xmlNode *node);
int tact_mjcf_read_contact(struct mjcf_reader *r, const xmlNode *node);

#endif
