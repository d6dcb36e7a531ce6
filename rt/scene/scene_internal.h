/*
 * Shared by the parts of scene loading. Not installed.
 *
 * A scene is read twice: by libyaml into an index with the line and column of every key, and by
 * libcyaml into the structs of scene.h. With the index a check of a number can report its line, and
 * an absent key is distinguished from one that is 0.
 */
#ifndef TACT_RT_SESSION_SCENE_INTERNAL_H
#define TACT_RT_SESSION_SCENE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cyaml/cyaml.h>
#include "rt/scene/scene.h"

/* Limits of a scene file, so that a hostile file is refused instead of filling memory. */
enum {
    TACT_SCENE_MAX_DEPTH = 16,       /* maximum nesting of lists and maps */
    TACT_SCENE_MAX_NODES = 1 << 20,  /* maximum number of keys and list entries */
    TACT_SCENE_MAX_BYTES = 16 << 20, /* maximum size of a scene file */
    TACT_SCENE_PATH_BYTES = 128,     /* maximum key path, with the zero */
};

enum tact_scene_index_kind { TACT_INDEX_SCALAR, TACT_INDEX_LIST, TACT_INDEX_MAP };

/* One value of the file. Nodes are numbered in the order of the file; 0 is the whole scene. */
struct tact_scene_index_node {
    uint32_t parent;
    uint32_t first;          /* first child, or 0: none */
    uint32_t next;           /* next child of the same parent, or 0: none */
    uint32_t count;          /* number of children */
    uint32_t index;          /* index in a list; 0 in a map */
    char *key;               /* key in a map, or NULL in a list */
    char *text;              /* scalar as written, or NULL */
    bool is_unquoted_scalar; /* scalar without quotes */
    enum tact_scene_index_kind kind;
    int key_line;
    int yaml_key_column;
    int line; /* line of the value */
    int column;
    uint32_t file; /* index of the file that the node is from: 0 the scene, else a file that it
                      names */
};

struct tact_scene_index {
    struct tact_scene_index_node *nodes;
    uint32_t count;
    uint32_t capacity;
    uint32_t *slots; /* hash table over (parent, key or index): node number, 0 = free */
    uint32_t hash_slot_count;
    char (*files)[256]; /* the scene file, and the hand files that it names */
    uint32_t indexed_file_count;
};

/* Arguments of every check: the index and the error to set. */
struct tact_scene_check_context {
    const struct tact_scene_index *index;
    struct tact_error *err;
};

/* Parses text into an index. Returns 0, -ENOMEM, or -EINVAL (not YAML, too deep, too large, a
 * duplicate key, an alias, several documents, not a map) with *err set. */
int tact_scene_index_create(const char *text, size_t size, const char *name,
                            struct tact_scene_index **out, struct tact_error *err);
void tact_scene_index_free(struct tact_scene_index *index);

/* Copies the entries of a map or list of another index, which has one file, below a node of the
 * same kind; keys that are there stay as they are, and maps are joined. lines: [line_count] line of
 * `file` for each line of the other. 0, -ENOMEM, or -EINVAL with *err set. */
int tact_scene_index_merge(struct tact_scene_index *index, uint32_t to,
                           const struct tact_scene_index *merged_index, uint32_t from,
                           const char *file, const int *lines, uint32_t line_count,
                           struct tact_error *err);
/* Number of a child of a node, or 0: none. */
uint32_t tact_scene_index_child(const struct tact_scene_index *index, uint32_t parent,
                                const char *key);
/* Appends an empty list with a key to a map, at the place of the map. Its number, or 0 where
 * memory is short. */
uint32_t tact_scene_index_add_list(struct tact_scene_index *index, uint32_t map, const char *key);
/* Appends a node as the last child of a map or list, which has no child of its key; takes over its
 * texts. Its number, or 0 where memory is short or the index is full. */
uint32_t tact_scene_index_append(struct tact_scene_index *index, uint32_t parent,
                                 const struct tact_scene_index_node *node);
/* Name of the file that a node is from. */
const char *tact_scene_index_file(const struct tact_scene_index *index,
                                  const struct tact_scene_index_node *node);

/* The node at a key path such as "bodies[0].mass", or NULL if the file does not have it. */
const struct tact_scene_index_node *tact_scene_index_find(const struct tact_scene_index *index,
                                                          const char *path);

/* Whether the file has the key whose path is printed from format. */
bool tact_scene_has_key(const struct tact_scene_check_context *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes the key path of a node, such as "bodies[0].mass". */
void tact_scene_index_path(const struct tact_scene_index *index,
                           const struct tact_scene_index_node *node,
                           char path[TACT_SCENE_PATH_BYTES]);

/* Sets file, line, column and key of err for a key path; an absent key gets the position of the
 * nearest existing parent. */
void tact_scene_index_locate(const struct tact_scene_index *index, const char *path,
                             struct tact_error *err);

/* Sets the position of a key path and the message; returns -EINVAL. */
int tact_scene_report_bad_value(const struct tact_scene_check_context *check, const char *path,
                                const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether text is a decimal number and nothing else; *value may be infinite. */
bool tact_scene_parse_number(const char *text, double *value);

/* The schema, as libcyaml describes one: a pointer to struct tact_scene. */
const cyaml_schema_value_t *tact_scene_schema(void);

/* Stores the values of the file by a schema whose value is a pointer, integers and counts of 32
 * bits, texts in memory of their own. Refuses unknown and missing keys, other kinds of value,
 * counts, numbers that are not finite. 0, -EINVAL or -ENOMEM, with *out unchanged; to be freed with
 * tact_yaml_free(). */
int tact_scene_load_values(const struct tact_scene_check_context *check,
                           const cyaml_schema_value_t *schema, void **out);

/* Sets absent keys to their defaults if not 0. Returns 0 or -ENOMEM. */
int tact_scene_set_defaults(const struct tact_scene_check_context *check, struct tact_scene *scene);

/* Collects the settings of the devices from the index. 0, -ENOMEM, -EINVAL. */
int tact_scene_collect_settings(const struct tact_scene_check_context *check,
                                struct tact_scene *scene);
void tact_scene_free_settings(struct tact_scene *scene);
/* Appends all keys of a file, whose index the check has, to the settings of a device. */
int tact_scene_append_settings(const struct tact_scene_check_context *check,
                               struct tact_scene_device *device);
/* Frees what a setting points to. */
void tact_scene_free_setting(struct tact_device_setting *setting);
/* Appends the settings of the devices' calibration files. Returns 0, or a negative errno with *err
 * set. */
int tact_scene_read_calibrations(const struct tact_scene_check_context *check,
                                 struct tact_scene *scene, const struct tact_scene_files *files);

/* Path of a key of the object at `owner`. */
const char *tact_scene_path_of_key(char path[TACT_SCENE_PATH_BYTES], const char *owner,
                                   const char *key);

/* Require a number in a range, or one of a list of words that ends with NULL. Return 0, or -EINVAL
 * with the message; unit may be "". */
int tact_scene_require_positive(const struct tact_scene_check_context *check, const char *owner,
                                const char *key, double value, const char *unit);
/* Requires the stiffness or damping of a drive or coupling: 0 to TACT_SCENE_MAX_GAIN. Beyond it
 * squares and inverses overflow in the solver. */
#define TACT_SCENE_MAX_GAIN 1e12 /* [N/m, N s/m, N m/rad, N m s/rad] */
int tact_scene_require_gain(const struct tact_scene_check_context *check, const char *owner,
                            const char *key, double value, const char *unit);
int tact_scene_require_nonnegative(const struct tact_scene_check_context *check, const char *owner,
                                   const char *key, double value, const char *unit);
int tact_scene_require_between(const struct tact_scene_check_context *check, const char *path,
                               double value, double lower, double upper, const char *unit);
/* Requires the absolute value of count numbers to be at most `most`. */
int tact_scene_require_magnitude(const struct tact_scene_check_context *check, const char *owner,
                                 const char *key, const double *values, int count, double most,
                                 const char *unit);
/* Requires the absolute value of coordinates to be at most TACT_MESH_MAX_COORDINATE. */
int tact_scene_require_coordinates(const struct tact_scene_check_context *check, const char *owner,
                                   const char *key, const double *values, int count);
int tact_scene_require_word(const struct tact_scene_check_context *check, const char *path,
                            const char *text, const char *const *words);

/* Checks the contact's options, materials and pairs. */
int tact_scene_check_contact(const struct tact_scene_check_context *check,
                             const struct tact_scene *scene);

/* Checks single values, and normalises axes and quaternions. 0 or -EINVAL. */
int tact_scene_check_values(const struct tact_scene_check_context *check, struct tact_scene *scene);
/* Checks one shape's own values; path is its key path. */
int tact_scene_check_shape(const struct tact_scene_check_context *check,
                           struct tact_scene_shape *shape, const char *path);
/* Checks that a convex, a mesh or a surface is defined either by a file or by `generate`. */
int tact_scene_check_mesh_source(const struct tact_scene_check_context *check,
                                 const struct tact_scene_shape *shape, const char *path);
/* Checks the keys of `generate`; path is that of the shape. */
int tact_scene_check_generate(const struct tact_scene_check_context *check,
                              const struct tact_scene_shape *shape, const char *path);
/* Generates the triangles of `generate`; path is that of the shape. Returns 0, -EINVAL, -ENOMEM.
 */
int tact_scene_generate(const struct tact_scene_check_context *check,
                        const struct tact_scene_shape *shape, const char *path,
                        struct tact_soup *soup);
/* Checks six numbers ixx iyy izz ixy ixz iyz [kg m^2]: positive definite, triangle inequality. */
int tact_scene_check_inertia(const struct tact_scene_check_context *check, const double inertia[6],
                             const char *path);
/* Checks that a quaternion is not zero and normalises it. */
int tact_scene_check_quat(const struct tact_scene_check_context *check, double quat_wxyz[4],
                          const char *path);

/* Finds "device.channel"; the channel itself is known once the device is open. 0 or -EINVAL. */
int tact_scene_check_channel(const struct tact_scene_check_context *check,
                             const struct tact_scene *scene, const char *path, const char *channel);

/* Checks names, references between parts, and that every pair that can touch has a friction. */
int tact_scene_check_names(const struct tact_scene_check_context *check,
                           const struct tact_scene *scene);
int tact_scene_check_pairs(const struct tact_scene_check_context *check,
                           const struct tact_scene *scene);

/* Completes every shape (reading mesh files through files, or from disk) and the mass properties
 * that follow from shapes. Returns 0, -EINVAL, -ENOENT, -ENOMEM, other negative errno from reading.
 */
int tact_scene_load_shapes(const struct tact_scene_check_context *check, struct tact_scene *scene,
                           const struct tact_scene_files *files);
void tact_scene_free_shapes(struct tact_scene *scene);

/* scene_base.c: puts the coordinates of bases that move in front of the links of their hands, and
 * fixed bases behind the bodies. */
int tact_scene_insert_bases(const struct tact_scene_check_context *check, struct tact_scene *scene);
/* Gives the bodies that are fixed bases the poses of their hands, once these are checked. */
void tact_scene_set_fixed_base_poses(struct tact_scene *scene);
/* The key of a body, or of the base that it is. Returns out. */
char *tact_scene_body_key_path(const struct tact_scene *scene, uint32_t body,
                               char out[TACT_SCENE_PATH_BYTES]);
/* Number of bodies of the file: those before the fixed bases. */
uint32_t tact_scene_file_body_count(const struct tact_scene *scene);
/* The key of a link, or of the base where the link is one of its coordinates. Returns out. */
char *tact_scene_link_key_path(const struct tact_scene *scene, uint32_t hand, uint32_t link,
                               char out[TACT_SCENE_PATH_BYTES]);

/* scene_tied.c: checks mimic joints and tendons and sets where mimic joints start; checks that
 * joints tied together have a common range. */
int tact_scene_check_tied_joints(const struct tact_scene_check_context *check,
                                 struct tact_scene *scene);
int tact_scene_check_tied_ranges(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene);

/* scene_hand_file.c: reads the files of hands, and joins what they have to the index. */
struct tact_scene_hand_files {
    struct tact_scene_loaded_hand_files {
        uint32_t hand;
        char *notes;
        struct tact_scene_hand_source *sources;
        uint32_t count;
    } * at;
    uint32_t count;
};
int tact_scene_merge_hand_files(const struct tact_scene_check_context *check,
                                struct tact_scene_index *index, const char *name,
                                const struct tact_scene_files *files,
                                struct tact_scene_hand_files *out);
/* Moves the hand files to the hands that own them. */
void tact_scene_store_hand_files(struct tact_scene_hand_files *files, struct tact_scene *scene);
void tact_scene_free_hand_files(struct tact_scene_hand_files *files);
void tact_scene_free_sources(struct tact_scene_hand_source *sources, uint32_t count);
/* Checks the values of `file`, `collision` and `drive` of a hand. */
int tact_scene_check_hand_file(const struct tact_scene_check_context *check,
                               const struct tact_scene_hand *hand, uint32_t number);

/* A coupling with the keys that scene.h does not have. Every struct tact_scene_coupling of a scene
 * is the first member of one; the numbers of the axes of a base go to the couplings of its
 * coordinates. */
struct tact_scene_file_coupling {
    struct tact_scene_coupling coupling;
    double *axis_stiffness; /* 3 [N/m] or [N m/rad], in place of the coupling's, or NULL */
    double *axis_damping;   /* 3 [N s/m] or [N m s/rad], in place of the coupling's, or NULL */
};

/* A base with the keys that scene.h does not have. Every struct tact_scene_base is the first member
 * of one. */
struct tact_scene_file_base {
    struct tact_scene_base base;
    /* 36 each, row-major, or NULL: of force then torque [N/m, N/rad, N, N m/rad] and [N s/m, N
     * s/rad, N s, N m s/rad], in place of the numbers of the couplings */
    double *stiffness_matrix, *damping_matrix;
};

/* A coupling's device with the keys that scene.h does not have. Every `device` of a coupling is the
 * first member of one.
 */
struct tact_scene_file_port {
    struct tact_scene_port port;
    double stiffness; /* stiffest wall by the device's maker [N/m] or [N m/rad]; 0: unknown. Bounds
                         the default stiffness of the coupling */
};

/* The matrices of the coupling of a base that moves, or NULL. */
const struct tact_scene_file_base *
tact_scene_file_base_with_matrices(const struct tact_scene_hand *hand);
/* scene_matrix.c: checks the keys and the values of these matrices, and of what else leads the
 * base.
 */
int tact_scene_check_base_matrices(const struct tact_scene_check_context *check,
                                   const struct tact_scene *scene, uint32_t number);

/* 1 where the couplings of a base's three coordinates of position (is_rotation: 0) or of attitude
 * (1) have different numbers. */
bool tact_scene_has_unequal_axes(const struct tact_scene_hand *hand, bool is_rotation);

/* scene_tool.c: defaults and values of the tools, and outputs for their forces and torques. Returns
 * 0, -EINVAL or -ENOMEM. */
int tact_scene_complete_tools(const struct tact_scene_check_context *check,
                              struct tact_scene *scene);
/* Checks the names that tools refer to. */
int tact_scene_check_tools(const struct tact_scene_check_context *check,
                           const struct tact_scene *scene);
/* Ratio of the stiffness at the device to that of the coupling of a hand's tool, for its base's
 * position or attitude (is_rotation); 1 without a tool. */
double tact_scene_tool_force_gain(const struct tact_scene *scene, uint32_t hand, bool is_rotation);

/* scene_remote.c: defaults and values of the joints that are tied to another site. 0, -EINVAL or
 * -ENOMEM. */
int tact_scene_complete_remotes(const struct tact_scene_check_context *check,
                                struct tact_scene *scene);
/* Finds the link, not a coordinate of a base, that is named "hand.link". False: there is none. */
bool tact_scene_find_link(const struct tact_scene *scene, const char *name, uint32_t *hand,
                          uint32_t *link);
/* Finds the coordinate of a base that is named as "hand.base_x". False: there is none. */
bool tact_scene_find_coordinate(const struct tact_scene *scene, const char *name, uint32_t *hand,
                                uint32_t *link);

/* scene_grip.c: values, links and joints of commanded grips. 0 or -EINVAL. */
int tact_scene_check_grips(const struct tact_scene_check_context *check,
                           const struct tact_scene *scene);
/* Checks the joints and devices that remotes refer to. */
int tact_scene_check_remotes(const struct tact_scene_check_context *check,
                             const struct tact_scene *scene);

/* scene_coupling.c: stiffness and damping of couplings that state none. */
int tact_scene_set_coupling_defaults(const struct tact_scene_check_context *check,
                                     struct tact_scene *scene);
/* Refuses numbers of axes in the coupling of a joint, which has one. */
int tact_scene_forbid_numbers_of_axes(const struct tact_scene_check_context *check,
                                      const char *path);
/* Lowest cut-off of the filters of the outputs that send the reaction of a joint to a device, or to
 * any (-1) [Hz]; 0: none of them has a filter. */
double tact_scene_lowest_reaction_filter(const struct tact_scene *scene, uint32_t hand,
                                         uint32_t link, int device);

/* The loop from the device of a coupling to the force at that device. */
struct tact_scene_device_loop {
    double period;       /* [s] */
    double gain;         /* of the stiffness at the device by that of the coupling [1] */
    double filter_delay; /* of the slowest filter of the force [s] */
};

/* scene_coupling.c: the loop of a joint, or of a coordinate of a base. */
struct tact_scene_device_loop tact_scene_find_device_loop(const struct tact_scene *scene,
                                                          uint32_t hand, uint32_t link);
#define TACT_SCENE_FILTER_TERM_BYTES 64
/* Writes the delay of a filter as a further term of a sum in a message; "" for 0. Returns out. */
char *tact_scene_format_filter_term(char out[TACT_SCENE_FILTER_TERM_BYTES], double filter_delay);
/* Values of a coupling, of which `path` is the key; `joint` is that of its joint. */
int tact_scene_check_coupling(const struct tact_scene_check_context *check,
                              const struct tact_scene_coupling *coupling,
                              const struct tact_scene_device_loop *loop, const char *joint,
                              const char *path);
/* Checks the numbers of a coupling's device, if they are known, and that the coupling is no stiffer
 * than the device can render, unless its energy is bounded ("hard"). stiffness_key_path: key of the
 * coupling's stiffness. */
int tact_scene_check_coupling_device(const struct tact_scene_check_context *check,
                                     const struct tact_scene_coupling *coupling,
                                     const struct tact_scene_device_loop *loop, const char *path,
                                     const char *stiffness_key_path);
/* scene_admittance.c: gives the coordinates of bases that forces of inputs move their damping, once
 * they are inserted; checks the joints that such forces move. */
int tact_scene_set_admittance_bases(const struct tact_scene_check_context *check,
                                    struct tact_scene *scene);
int tact_scene_check_force_inputs(const struct tact_scene_check_context *check,
                                  const struct tact_scene *scene);
/* Checks the inputs and outputs of all coupled joints. */
int tact_scene_check_coupling_io(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene);
/* Index of the input that is a joint's `what`, "state" or "target", among the first `count`, or -1.
 */
long tact_scene_find_input(const struct tact_scene *scene, uint32_t count, const char *what,
                           const char *joint);

#endif
