/* The libcyaml schema of a scene. SCENE.md describes every key; a test compares the two. */
#include "rt/scene/scene_internal.h"

#include <stddef.h>
#include "contact/shape/charts.h"

/* Maximum lengths of lists: more than one machine can run at 1 kHz, and few enough for checks of
 * all pairs. */
enum {
    MAX_SCENE_MATERIALS = 128,
    MAX_SCENE_MATERIAL_PAIRS = 4096,
    MAX_SCENE_BODIES = 4096,
    MAX_SCENE_HANDS = 64,
    MAX_HAND_LINKS = 128,
    MAX_OBJECT_SHAPES = 64,
    MAX_PROFILE_ENTRIES = TACT_PROFILE_POINTS,
    MAX_DEVICES = 32,
    MAX_SCENE_INPUTS_OUTPUTS = 1024,
    MAX_NAME_LENGTH = TACT_DEVICE_NAME - 1,
    MAX_TEXT_LENGTH = 1023,
};

#define YAML_REQUIRED_KEY CYAML_FLAG_DEFAULT
#define YAML_OPTIONAL_KEY CYAML_FLAG_OPTIONAL
#define YAML_NUMBER(key, flags, type, member) CYAML_FIELD_FLOAT(key, flags, struct type, member)
#define YAML_TEXT(key, flags, type, member, most)                                                  \
    CYAML_FIELD_STRING_PTR(key, flags, struct type, member, 1, most)
#define YAML_NUMBER_ARRAY(key, flags, type, member, count)                                         \
    CYAML_FIELD_SEQUENCE_FIXED(key, flags, struct type, member, &number, count)
#define YAML_LIST(key, flags, type, member, entry, least, most)                                    \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | (flags), struct type, member, entry, least, most)

static const cyaml_schema_value_t number = {CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double)};
static const cyaml_schema_value_t name = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, MAX_NAME_LENGTH)};
static const cyaml_schema_value_t joint_name = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, 2 * MAX_NAME_LENGTH)};

static const cyaml_schema_field_t field_fields[] = {
    YAML_NUMBER("modulus", YAML_REQUIRED_KEY, tact_scene_field, modulus),
    YAML_NUMBER("thickness", YAML_REQUIRED_KEY, tact_scene_field, thickness),
    YAML_NUMBER("power", YAML_OPTIONAL_KEY, tact_scene_field, power),
    YAML_NUMBER("cell", YAML_OPTIONAL_KEY, tact_scene_field, cell),
    YAML_TEXT("kind", YAML_OPTIONAL_KEY, tact_scene_field, kind, MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t material_fields[] = {
    YAML_TEXT("name", YAML_REQUIRED_KEY, tact_scene_material, name, MAX_NAME_LENGTH),
    YAML_NUMBER("modulus", YAML_OPTIONAL_KEY, tact_scene_material, modulus),
    YAML_NUMBER("tip_radius", YAML_OPTIONAL_KEY, tact_scene_material, tip_radius),
    YAML_NUMBER("tip_power", YAML_OPTIONAL_KEY, tact_scene_material, tip_power),
    CYAML_FIELD_MAPPING("field", YAML_OPTIONAL_KEY, struct tact_scene_material, field,
                        field_fields),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t material = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_material, material_fields)};

static const cyaml_schema_field_t pair_fields[] = {
    CYAML_FIELD_SEQUENCE_FIXED("materials", YAML_REQUIRED_KEY, struct tact_scene_pair, materials,
                               &name, 2),
    YAML_NUMBER("friction", YAML_REQUIRED_KEY, tact_scene_pair, law.friction),
    YAML_NUMBER("dissipation", YAML_OPTIONAL_KEY, tact_scene_pair, law.dissipation),
    YAML_NUMBER("compliance", YAML_OPTIONAL_KEY, tact_scene_pair, law.compliance),
    YAML_NUMBER("tangential_compliance", YAML_OPTIONAL_KEY, tact_scene_pair,
                law.tangential_compliance),
    YAML_NUMBER("overlap", YAML_OPTIONAL_KEY, tact_scene_pair, law.overlap),
    YAML_NUMBER("restitution", YAML_OPTIONAL_KEY, tact_scene_pair, law.restitution),
    YAML_NUMBER("hunt_crossley", YAML_OPTIONAL_KEY, tact_scene_pair, law.hunt_crossley),
    YAML_NUMBER("tip_radius", YAML_OPTIONAL_KEY, tact_scene_pair, law.tip_radius),
    YAML_NUMBER("tip_power", YAML_OPTIONAL_KEY, tact_scene_pair, law.tip_power),
    YAML_NUMBER("rolling_loss", YAML_OPTIONAL_KEY, tact_scene_pair, law.rolling_loss),
    YAML_TEXT("model", YAML_OPTIONAL_KEY, tact_scene_pair, model, MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t pair = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_pair, pair_fields)};

#define YAML_COUNT(key, member)                                                                    \
    CYAML_FIELD_UINT(key, YAML_OPTIONAL_KEY, struct tact_scene_generate, member)
static const cyaml_schema_field_t generate_fields[] = {
    YAML_TEXT("kind", YAML_REQUIRED_KEY, tact_scene_generate, kind, MAX_NAME_LENGTH),
    YAML_NUMBER("edge", YAML_OPTIONAL_KEY, tact_scene_generate, edge),
    YAML_NUMBER("radius", YAML_OPTIONAL_KEY, tact_scene_generate, radius),
    YAML_NUMBER("height", YAML_OPTIONAL_KEY, tact_scene_generate, height),
    YAML_NUMBER("tube", YAML_OPTIONAL_KEY, tact_scene_generate, tube),
    YAML_NUMBER("bump", YAML_OPTIONAL_KEY, tact_scene_generate, bump),
    YAML_COUNT("count", count),
    YAML_COUNT("triangles", triangles),
    YAML_COUNT("seed", seed),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t profile_point = {
    CYAML_VALUE_SEQUENCE_FIXED(CYAML_FLAG_DEFAULT, double[2], &number, 2)};

static const cyaml_schema_field_t shape_fields[] = {
    YAML_TEXT("type", YAML_REQUIRED_KEY, tact_scene_shape, type, MAX_NAME_LENGTH),
    YAML_NUMBER("radius", YAML_OPTIONAL_KEY, tact_scene_shape, radius),
    YAML_NUMBER("tube", YAML_OPTIONAL_KEY, tact_scene_shape, tube),
    YAML_NUMBER("length", YAML_OPTIONAL_KEY, tact_scene_shape, length),
    YAML_NUMBER_ARRAY("size", YAML_OPTIONAL_KEY, tact_scene_shape, size, 3),
    YAML_TEXT("file", YAML_OPTIONAL_KEY, tact_scene_shape, file, MAX_TEXT_LENGTH),
    CYAML_FIELD_MAPPING_PTR("generate", YAML_OPTIONAL_KEY, struct tact_scene_shape, generate,
                            generate_fields),
    YAML_NUMBER("scale", YAML_OPTIONAL_KEY, tact_scene_shape, scale),
    CYAML_FIELD_UINT("collides", YAML_OPTIONAL_KEY, struct tact_scene_shape, collides),
    CYAML_FIELD_UINT("collides_with", YAML_OPTIONAL_KEY, struct tact_scene_shape, collides_with),
    YAML_TEXT("unit", YAML_OPTIONAL_KEY, tact_scene_shape, unit, MAX_NAME_LENGTH),
    YAML_NUMBER_ARRAY("scale_xyz", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER, tact_scene_shape,
                      scale_xyz, 3),
    YAML_LIST("profile", YAML_OPTIONAL_KEY, tact_scene_shape, profile, &profile_point, 3,
              MAX_PROFILE_ENTRIES),
    YAML_NUMBER_ARRAY("position", YAML_OPTIONAL_KEY, tact_scene_shape, position, 3),
    YAML_NUMBER_ARRAY("quat_wxyz", YAML_OPTIONAL_KEY, tact_scene_shape, quat_wxyz, 4),
    YAML_TEXT("material", YAML_REQUIRED_KEY, tact_scene_shape, material, MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t shape = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_shape, shape_fields)};

static const cyaml_schema_field_t body_fields[] = {
    YAML_TEXT("name", YAML_REQUIRED_KEY, tact_scene_body, name, MAX_NAME_LENGTH),
    CYAML_FIELD_BOOL("fixed", YAML_OPTIONAL_KEY, struct tact_scene_body, fixed),
    CYAML_FIELD_BOOL("fast", YAML_OPTIONAL_KEY, struct tact_scene_body, fast),
    YAML_NUMBER("mass", YAML_OPTIONAL_KEY, tact_scene_body, mass),
    YAML_NUMBER_ARRAY("center_of_mass", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER, tact_scene_body,
                      center_of_mass, 3),
    YAML_NUMBER_ARRAY("inertia", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER, tact_scene_body, inertia,
                      6),
    YAML_NUMBER_ARRAY("position", YAML_OPTIONAL_KEY, tact_scene_body, position, 3),
    YAML_NUMBER_ARRAY("quat_wxyz", YAML_OPTIONAL_KEY, tact_scene_body, quat_wxyz, 4),
    YAML_NUMBER_ARRAY("velocity", YAML_OPTIONAL_KEY, tact_scene_body, velocity, 3),
    YAML_NUMBER_ARRAY("angular_velocity", YAML_OPTIONAL_KEY, tact_scene_body, angular_velocity, 3),
    YAML_NUMBER("support_until", YAML_OPTIONAL_KEY, tact_scene_body, support_until),
    YAML_LIST("shapes", YAML_OPTIONAL_KEY, tact_scene_body, shapes, &shape, 0, MAX_OBJECT_SHAPES),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t body = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_body, body_fields)};

static const cyaml_schema_field_t constraint_fields[] = {
    YAML_TEXT("name", YAML_REQUIRED_KEY, tact_scene_constraint, name, MAX_NAME_LENGTH),
    YAML_TEXT("type", YAML_REQUIRED_KEY, tact_scene_constraint, type, MAX_NAME_LENGTH),
    YAML_LIST("bodies", YAML_REQUIRED_KEY, tact_scene_constraint, bodies, &name, 1, 2),
    YAML_NUMBER_ARRAY("position", YAML_OPTIONAL_KEY, tact_scene_constraint, position, 3),
    YAML_NUMBER_ARRAY("axis", YAML_OPTIONAL_KEY, tact_scene_constraint, axis, 3),
    YAML_NUMBER("lower", YAML_OPTIONAL_KEY, tact_scene_constraint, lower),
    YAML_NUMBER("upper", YAML_OPTIONAL_KEY, tact_scene_constraint, upper),
    YAML_NUMBER("damping", YAML_OPTIONAL_KEY, tact_scene_constraint, damping),
    YAML_NUMBER("friction", YAML_OPTIONAL_KEY, tact_scene_constraint, friction),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t constraint = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_constraint, constraint_fields)};

static const cyaml_schema_field_t port_fields[] = {
    YAML_NUMBER("mass", YAML_REQUIRED_KEY, tact_scene_file_port, port.mass),
    YAML_NUMBER("damping", YAML_REQUIRED_KEY, tact_scene_file_port, port.damping),
    YAML_NUMBER("delay", YAML_OPTIONAL_KEY, tact_scene_file_port, port.delay),
    YAML_NUMBER("friction", YAML_OPTIONAL_KEY, tact_scene_file_port, port.friction),
    YAML_NUMBER("resolution", YAML_OPTIONAL_KEY, tact_scene_file_port, port.resolution),
    YAML_NUMBER("stiffness", YAML_OPTIONAL_KEY, tact_scene_file_port, stiffness),
    CYAML_FIELD_END,
};

/* A mapping whose struct begins with the one that the scene shows as `member` of `owner`. */
#define YAML_EXTENDED(name, owner, member, extended, inner_fields)                                 \
    {                                                                                              \
        .key = (name), .data_offset = offsetof(struct owner, member), .value = {                   \
            .type = CYAML_MAPPING,                                                                 \
            .flags = YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER,                                       \
            .data_size = sizeof(struct extended),                                                  \
            .mapping = {.fields = (inner_fields)},                                                 \
        }                                                                                          \
    }
#define YAML_COUPLING(name, owner, member)                                                         \
    YAML_EXTENDED(name, owner, member, tact_scene_file_coupling, coupling_fields)

static const cyaml_schema_field_t coupling_fields[] = {
    YAML_NUMBER("stiffness", YAML_OPTIONAL_KEY, tact_scene_file_coupling, coupling.stiffness),
    YAML_NUMBER("damping", YAML_OPTIONAL_KEY, tact_scene_file_coupling, coupling.damping),
    YAML_NUMBER_ARRAY("axis_stiffness", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER,
                      tact_scene_file_coupling, axis_stiffness, 3),
    YAML_NUMBER_ARRAY("axis_damping", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER,
                      tact_scene_file_coupling, axis_damping, 3),
    YAML_NUMBER("filter", YAML_OPTIONAL_KEY, tact_scene_file_coupling, coupling.filter),
    YAML_EXTENDED("device", tact_scene_file_coupling, coupling.device, tact_scene_file_port,
                  port_fields),
    CYAML_FIELD_BOOL("hard", YAML_OPTIONAL_KEY, struct tact_scene_file_coupling, coupling.hard),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t mimic_fields[] = {
    YAML_TEXT("joint", YAML_REQUIRED_KEY, tact_scene_mimic, joint, MAX_NAME_LENGTH),
    YAML_NUMBER("multiplier", YAML_OPTIONAL_KEY, tact_scene_mimic, multiplier),
    YAML_NUMBER("offset", YAML_OPTIONAL_KEY, tact_scene_mimic, offset),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t tendon_fields[] = {
    YAML_TEXT("joint", YAML_REQUIRED_KEY, tact_scene_tendon, joint, MAX_NAME_LENGTH),
    YAML_NUMBER("coefficient", YAML_OPTIONAL_KEY, tact_scene_tendon, coefficient),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t tendon = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_tendon, tendon_fields)};

static const cyaml_schema_field_t joint_fields[] = {
    YAML_TEXT("type", YAML_REQUIRED_KEY, tact_scene_joint, type, MAX_NAME_LENGTH),
    YAML_NUMBER_ARRAY("axis", YAML_REQUIRED_KEY, tact_scene_joint, axis, 3),
    YAML_NUMBER_ARRAY("position", YAML_OPTIONAL_KEY, tact_scene_joint, position, 3),
    YAML_NUMBER_ARRAY("quat_wxyz", YAML_OPTIONAL_KEY, tact_scene_joint, quat_wxyz, 4),
    YAML_NUMBER("stiffness", YAML_OPTIONAL_KEY, tact_scene_joint, stiffness),
    YAML_NUMBER("damping", YAML_OPTIONAL_KEY, tact_scene_joint, damping),
    YAML_NUMBER("limit", YAML_OPTIONAL_KEY, tact_scene_joint, limit),
    YAML_NUMBER("start", YAML_OPTIONAL_KEY, tact_scene_joint, start),
    YAML_NUMBER("lower", YAML_OPTIONAL_KEY, tact_scene_joint, lower),
    YAML_NUMBER("upper", YAML_OPTIONAL_KEY, tact_scene_joint, upper),
    YAML_NUMBER("target_lower", YAML_OPTIONAL_KEY, tact_scene_joint, target_lower),
    YAML_NUMBER("target_upper", YAML_OPTIONAL_KEY, tact_scene_joint, target_upper),
    YAML_NUMBER("armature", YAML_OPTIONAL_KEY, tact_scene_joint, armature),
    YAML_NUMBER("viscous", YAML_OPTIONAL_KEY, tact_scene_joint, viscous),
    YAML_NUMBER("friction", YAML_OPTIONAL_KEY, tact_scene_joint, friction),
    YAML_COUPLING("coupling", tact_scene_joint, coupling),
    CYAML_FIELD_MAPPING_PTR("mimic", YAML_OPTIONAL_KEY, struct tact_scene_joint, mimic,
                            mimic_fields),
    YAML_LIST("tendon", YAML_OPTIONAL_KEY, tact_scene_joint, tendon, &tendon, 1, MAX_HAND_LINKS),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t link_fields[] = {
    YAML_TEXT("name", YAML_REQUIRED_KEY, tact_scene_link, name, MAX_NAME_LENGTH),
    YAML_TEXT("parent", YAML_OPTIONAL_KEY, tact_scene_link, parent, MAX_NAME_LENGTH),
    CYAML_FIELD_MAPPING("joint", YAML_REQUIRED_KEY, struct tact_scene_link, joint, joint_fields),
    YAML_NUMBER("mass", YAML_REQUIRED_KEY, tact_scene_link, mass),
    YAML_NUMBER_ARRAY("center_of_mass", YAML_OPTIONAL_KEY, tact_scene_link, center_of_mass, 3),
    YAML_NUMBER_ARRAY("inertia", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER, tact_scene_link, inertia,
                      6),
    YAML_LIST("shapes", YAML_OPTIONAL_KEY, tact_scene_link, shapes, &shape, 0, MAX_OBJECT_SHAPES),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t link = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_link, link_fields)};

static const cyaml_schema_field_t base_fields[] = {
    CYAML_FIELD_BOOL("fixed", YAML_OPTIONAL_KEY, struct tact_scene_file_base, base.fixed),
    YAML_NUMBER("mass", YAML_OPTIONAL_KEY, tact_scene_file_base, base.mass),
    YAML_NUMBER_ARRAY("center_of_mass", YAML_OPTIONAL_KEY, tact_scene_file_base,
                      base.center_of_mass, 3),
    YAML_NUMBER_ARRAY("inertia", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER, tact_scene_file_base,
                      base.inertia, 6),
    YAML_LIST("shapes", YAML_OPTIONAL_KEY, tact_scene_file_base, base.shapes, &shape, 0,
              MAX_OBJECT_SHAPES),
    YAML_COUPLING("coupling", tact_scene_file_base, base.coupling),
    YAML_COUPLING("turn_coupling", tact_scene_file_base, base.turn_coupling),
    YAML_NUMBER("limit", YAML_OPTIONAL_KEY, tact_scene_file_base, base.limit),
    YAML_NUMBER("turn_limit", YAML_OPTIONAL_KEY, tact_scene_file_base, base.turn_limit),
    YAML_NUMBER_ARRAY("stiffness_matrix", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER,
                      tact_scene_file_base, stiffness_matrix, 36),
    YAML_NUMBER_ARRAY("damping_matrix", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER,
                      tact_scene_file_base, damping_matrix, 36),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t drive_fields[] = {
    YAML_NUMBER("stiffness", YAML_REQUIRED_KEY, tact_scene_drive, stiffness),
    YAML_NUMBER("damping", YAML_REQUIRED_KEY, tact_scene_drive, damping),
    YAML_NUMBER("limit", YAML_OPTIONAL_KEY, tact_scene_drive, limit),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t hand_fields[] = {
    YAML_TEXT("name", YAML_REQUIRED_KEY, tact_scene_hand, name, MAX_NAME_LENGTH),
    YAML_NUMBER_ARRAY("position", YAML_OPTIONAL_KEY, tact_scene_hand, position, 3),
    YAML_NUMBER_ARRAY("quat_wxyz", YAML_OPTIONAL_KEY, tact_scene_hand, quat_wxyz, 4),
    CYAML_FIELD_BOOL("weightless", YAML_OPTIONAL_KEY, struct tact_scene_hand, weightless),
    YAML_TEXT("file", YAML_OPTIONAL_KEY, tact_scene_hand, file, MAX_TEXT_LENGTH),
    YAML_TEXT("material", YAML_OPTIONAL_KEY, tact_scene_hand, material, MAX_NAME_LENGTH),
    YAML_TEXT("collision", YAML_OPTIONAL_KEY, tact_scene_hand, collision, MAX_NAME_LENGTH),
    CYAML_FIELD_MAPPING_PTR("drive", YAML_OPTIONAL_KEY, struct tact_scene_hand, drive,
                            drive_fields),
    YAML_EXTENDED("base", tact_scene_hand, base, tact_scene_file_base, base_fields),
    YAML_TEXT("start_overlap", YAML_OPTIONAL_KEY, tact_scene_hand, start_overlap, MAX_NAME_LENGTH),
    YAML_LIST("links", YAML_OPTIONAL_KEY, tact_scene_hand, links, &link, 0, MAX_HAND_LINKS),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t hand = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_hand, hand_fields)};

static const cyaml_schema_value_t object_name = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, 2 * MAX_NAME_LENGTH)};
static const cyaml_schema_field_t exclusion_fields[] = {
    CYAML_FIELD_SEQUENCE_FIXED("objects", YAML_REQUIRED_KEY, struct tact_scene_exclusion, objects,
                               &object_name, 2),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t exclusion = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_exclusion, exclusion_fields)};

static const cyaml_schema_field_t device_fields[] = {
    YAML_TEXT("name", YAML_REQUIRED_KEY, tact_scene_device, name, MAX_NAME_LENGTH),
    YAML_TEXT("type", YAML_REQUIRED_KEY, tact_scene_device, type, MAX_NAME_LENGTH),
    CYAML_FIELD_IGNORE("settings", YAML_OPTIONAL_KEY),
    YAML_TEXT("calibration", YAML_OPTIONAL_KEY, tact_scene_device, calibration, MAX_TEXT_LENGTH),
    CYAML_FIELD_BOOL("calibration_required", YAML_OPTIONAL_KEY, struct tact_scene_device,
                     calibration_required),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t device = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_device, device_fields)};

static const cyaml_schema_field_t input_fields[] = {
    YAML_TEXT("from", YAML_REQUIRED_KEY, tact_scene_input, from, 2 * MAX_NAME_LENGTH),
    YAML_TEXT("to", YAML_REQUIRED_KEY, tact_scene_input, to, 2 * MAX_NAME_LENGTH),
    YAML_TEXT("what", YAML_OPTIONAL_KEY, tact_scene_input, what, MAX_NAME_LENGTH),
    YAML_NUMBER("scale", YAML_OPTIONAL_KEY, tact_scene_input, scale),
    YAML_NUMBER("offset", YAML_OPTIONAL_KEY, tact_scene_input, offset),
    YAML_NUMBER("lower", YAML_OPTIONAL_KEY, tact_scene_input, lower),
    YAML_NUMBER("upper", YAML_OPTIONAL_KEY, tact_scene_input, upper),
    YAML_NUMBER("filter", YAML_OPTIONAL_KEY, tact_scene_input, filter),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t input = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_input, input_fields)};

static const cyaml_schema_field_t grip_fields[] = {
    CYAML_FIELD_SEQUENCE_FIXED("links", YAML_REQUIRED_KEY, struct tact_scene_grip, links,
                               &joint_name, 2),
    YAML_TEXT("from", YAML_REQUIRED_KEY, tact_scene_grip, from, 2 * MAX_NAME_LENGTH),
    YAML_NUMBER("scale", YAML_OPTIONAL_KEY, tact_scene_grip, scale),
    YAML_NUMBER("offset", YAML_OPTIONAL_KEY, tact_scene_grip, offset),
    YAML_NUMBER("limit", YAML_OPTIONAL_KEY, tact_scene_grip, limit),
    YAML_NUMBER("speed", YAML_OPTIONAL_KEY, tact_scene_grip, speed),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t grip = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_grip, grip_fields)};

static const cyaml_schema_field_t output_fields[] = {
    YAML_TEXT("from", YAML_REQUIRED_KEY, tact_scene_output, from, 2 * MAX_NAME_LENGTH),
    YAML_TEXT("to", YAML_REQUIRED_KEY, tact_scene_output, to, 2 * MAX_NAME_LENGTH),
    YAML_TEXT("what", YAML_OPTIONAL_KEY, tact_scene_output, what, MAX_NAME_LENGTH),
    YAML_NUMBER_ARRAY("along", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER, tact_scene_output, along, 3),
    YAML_NUMBER("scale", YAML_OPTIONAL_KEY, tact_scene_output, scale),
    YAML_NUMBER("limit", YAML_REQUIRED_KEY, tact_scene_output, limit),
    YAML_NUMBER("rate", YAML_REQUIRED_KEY, tact_scene_output, rate),
    YAML_NUMBER("filter", YAML_OPTIONAL_KEY, tact_scene_output, filter),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t output = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_output, output_fields)};

#define YAML_CHANNEL_LIST(key, member, most)                                                       \
    YAML_LIST(key, YAML_OPTIONAL_KEY, tact_scene_tool, member, &name, 0, most)
static const cyaml_schema_field_t tool_fields[] = {
    YAML_TEXT("hand", YAML_REQUIRED_KEY, tact_scene_tool, hand, MAX_NAME_LENGTH),
    YAML_TEXT("device", YAML_REQUIRED_KEY, tact_scene_tool, device, MAX_NAME_LENGTH),
    YAML_TEXT("mode", YAML_OPTIONAL_KEY, tact_scene_tool, mode, MAX_NAME_LENGTH),
    YAML_CHANNEL_LIST("position", position, 3),
    YAML_CHANNEL_LIST("attitude", attitude, 4),
    YAML_CHANNEL_LIST("force", force, 3),
    YAML_CHANNEL_LIST("torque", torque, 3),
    YAML_NUMBER_ARRAY("quat_wxyz", YAML_OPTIONAL_KEY, tact_scene_tool, quat_wxyz, 4),
    YAML_NUMBER("scale", YAML_OPTIONAL_KEY, tact_scene_tool, scale),
    YAML_NUMBER("force_scale", YAML_OPTIONAL_KEY, tact_scene_tool, force_scale),
    YAML_TEXT("clutch", YAML_OPTIONAL_KEY, tact_scene_tool, clutch, 2 * MAX_NAME_LENGTH),
    YAML_TEXT("fine", YAML_OPTIONAL_KEY, tact_scene_tool, fine, 2 * MAX_NAME_LENGTH),
    YAML_NUMBER("fine_scale", YAML_OPTIONAL_KEY, tact_scene_tool, fine_scale),
    YAML_NUMBER_ARRAY("lower", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER, tact_scene_tool, lower, 3),
    YAML_NUMBER_ARRAY("upper", YAML_OPTIONAL_KEY | CYAML_FLAG_POINTER, tact_scene_tool, upper, 3),
    YAML_NUMBER_ARRAY("center", YAML_OPTIONAL_KEY, tact_scene_tool, center, 3),
    YAML_NUMBER("edge", YAML_OPTIONAL_KEY, tact_scene_tool, edge),
    YAML_NUMBER("edge_speed", YAML_OPTIONAL_KEY, tact_scene_tool, edge_speed),
    YAML_NUMBER("dead_zone", YAML_OPTIONAL_KEY, tact_scene_tool, dead_zone),
    YAML_NUMBER("speed", YAML_OPTIONAL_KEY, tact_scene_tool, speed),
    YAML_NUMBER("turn_speed", YAML_OPTIONAL_KEY, tact_scene_tool, turn_speed),
    YAML_NUMBER("limit", YAML_OPTIONAL_KEY, tact_scene_tool, limit),
    YAML_NUMBER("rate", YAML_OPTIONAL_KEY, tact_scene_tool, rate),
    YAML_NUMBER("turn_limit", YAML_OPTIONAL_KEY, tact_scene_tool, turn_limit),
    YAML_NUMBER("turn_rate", YAML_OPTIONAL_KEY, tact_scene_tool, turn_rate),
    YAML_NUMBER("filter", YAML_OPTIONAL_KEY, tact_scene_tool, filter),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t tool = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_tool, tool_fields)};

static const cyaml_schema_field_t remote_fields[] = {
    YAML_TEXT("joint", YAML_REQUIRED_KEY, tact_scene_remote, joint, 2 * MAX_NAME_LENGTH),
    YAML_TEXT("device", YAML_REQUIRED_KEY, tact_scene_remote, device, MAX_NAME_LENGTH),
    CYAML_FIELD_UINT("axis", YAML_OPTIONAL_KEY, struct tact_scene_remote, axis),
    YAML_TEXT("mode", YAML_OPTIONAL_KEY, tact_scene_remote, mode, MAX_NAME_LENGTH),
    YAML_NUMBER("impedance", YAML_OPTIONAL_KEY, tact_scene_remote, impedance),
    YAML_NUMBER("stiffness", YAML_OPTIONAL_KEY, tact_scene_remote, stiffness),
    YAML_NUMBER("damping", YAML_OPTIONAL_KEY, tact_scene_remote, damping),
    YAML_NUMBER("tank", YAML_OPTIONAL_KEY, tact_scene_remote, tank),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t remote = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_remote, remote_fields)};

static const cyaml_schema_field_t contact_fields[] = {
    YAML_NUMBER("overlap", YAML_OPTIONAL_KEY, tact_scene_contact, overlap),
    YAML_NUMBER("compliance", YAML_OPTIONAL_KEY, tact_scene_contact, compliance),
    YAML_NUMBER("tangential_compliance", YAML_OPTIONAL_KEY, tact_scene_contact,
                tangential_compliance),
    YAML_NUMBER("dissipation", YAML_OPTIONAL_KEY, tact_scene_contact, dissipation),
    CYAML_FIELD_UINT("iterations", YAML_OPTIONAL_KEY, struct tact_scene_contact, iterations),
    YAML_NUMBER("tolerance", YAML_OPTIONAL_KEY, tact_scene_contact, tolerance),
    YAML_TEXT("local", YAML_OPTIONAL_KEY, tact_scene_contact, local, MAX_NAME_LENGTH),
    YAML_TEXT("patch", YAML_OPTIONAL_KEY, tact_scene_contact, patch, MAX_NAME_LENGTH),
    YAML_TEXT("normal", YAML_OPTIONAL_KEY, tact_scene_contact, normal, MAX_NAME_LENGTH),
    YAML_TEXT("model", YAML_OPTIONAL_KEY, tact_scene_contact, model, MAX_NAME_LENGTH),
    CYAML_FIELD_UINT("points", YAML_OPTIONAL_KEY, struct tact_scene_contact, points),
    YAML_TEXT("spin", YAML_OPTIONAL_KEY, tact_scene_contact, spin, MAX_NAME_LENGTH),
    YAML_TEXT("metric", YAML_OPTIONAL_KEY, tact_scene_contact, metric, MAX_NAME_LENGTH),
    YAML_TEXT("split", YAML_OPTIONAL_KEY, tact_scene_contact, split, MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t moments_fields[] = {
    YAML_TEXT("source", YAML_OPTIONAL_KEY, tact_scene_moments, source, MAX_NAME_LENGTH),
    YAML_TEXT("device", YAML_OPTIONAL_KEY, tact_scene_moments, device, MAX_TEXT_LENGTH),
    CYAML_FIELD_UINT("max_age", YAML_OPTIONAL_KEY, struct tact_scene_moments, max_age),
    YAML_NUMBER("host_time", YAML_OPTIONAL_KEY, tact_scene_moments, host_time),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t realtime_fields[] = {
    CYAML_FIELD_INT("priority", YAML_OPTIONAL_KEY, struct tact_scene_realtime, priority),
    CYAML_FIELD_INT("cpu", YAML_OPTIONAL_KEY, struct tact_scene_realtime, cpu),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t recorder_fields[] = {
    YAML_NUMBER("split_bytes", YAML_OPTIONAL_KEY, tact_scene_recorder, split_bytes),
    YAML_NUMBER("split_seconds", YAML_OPTIONAL_KEY, tact_scene_recorder, split_seconds),
    YAML_NUMBER("pressure_rate", YAML_OPTIONAL_KEY, tact_scene_recorder, pressure_rate),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t marker_fields[] = {
    YAML_TEXT("from", YAML_REQUIRED_KEY, tact_scene_marker, from, 2 * MAX_NAME_LENGTH),
    YAML_TEXT("name", YAML_OPTIONAL_KEY, tact_scene_marker, name, MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t marker = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_marker, marker_fields)};

static const cyaml_schema_field_t scene_fields[] = {
    YAML_TEXT("name", YAML_REQUIRED_KEY, tact_scene, name, MAX_NAME_LENGTH),
    YAML_NUMBER_ARRAY("gravity", YAML_OPTIONAL_KEY, tact_scene, gravity, 3),
    YAML_NUMBER("period", YAML_OPTIONAL_KEY, tact_scene, period),
    YAML_NUMBER("duration", YAML_OPTIONAL_KEY, tact_scene, duration),
    YAML_NUMBER("max_speed", YAML_OPTIONAL_KEY, tact_scene, max_speed),
    CYAML_FIELD_MAPPING("contact", YAML_OPTIONAL_KEY, struct tact_scene, contact, contact_fields),
    CYAML_FIELD_MAPPING("moments", YAML_OPTIONAL_KEY, struct tact_scene, moments, moments_fields),
    CYAML_FIELD_MAPPING("realtime", YAML_OPTIONAL_KEY, struct tact_scene, realtime,
                        realtime_fields),
    CYAML_FIELD_MAPPING("recorder", YAML_OPTIONAL_KEY, struct tact_scene, recorder,
                        recorder_fields),
    YAML_LIST("materials", YAML_OPTIONAL_KEY, tact_scene, materials, &material, 0,
              MAX_SCENE_MATERIALS),
    YAML_LIST("pairs", YAML_OPTIONAL_KEY, tact_scene, pairs, &pair, 0, MAX_SCENE_MATERIAL_PAIRS),
    YAML_LIST("bodies", YAML_OPTIONAL_KEY, tact_scene, bodies, &body, 0, MAX_SCENE_BODIES),
    YAML_LIST("joints", YAML_OPTIONAL_KEY, tact_scene, joints, &constraint, 0, MAX_SCENE_BODIES),
    YAML_LIST("exclude", YAML_OPTIONAL_KEY, tact_scene, exclude, &exclusion, 0,
              MAX_SCENE_MATERIAL_PAIRS),
    YAML_LIST("hands", YAML_OPTIONAL_KEY, tact_scene, hands, &hand, 0, MAX_SCENE_HANDS),
    YAML_LIST("devices", YAML_OPTIONAL_KEY, tact_scene, devices, &device, 0, MAX_DEVICES),
    YAML_LIST("inputs", YAML_OPTIONAL_KEY, tact_scene, inputs, &input, 0, MAX_SCENE_INPUTS_OUTPUTS),
    YAML_LIST("grips", YAML_OPTIONAL_KEY, tact_scene, grips, &grip, 0, MAX_SCENE_HANDS),
    YAML_LIST("outputs", YAML_OPTIONAL_KEY, tact_scene, outputs, &output, 0,
              MAX_SCENE_INPUTS_OUTPUTS),
    YAML_LIST("tools", YAML_OPTIONAL_KEY, tact_scene, tools, &tool, 0, MAX_SCENE_HANDS),
    YAML_LIST("remotes", YAML_OPTIONAL_KEY, tact_scene, remotes, &remote, 0,
              MAX_SCENE_INPUTS_OUTPUTS),
    YAML_LIST("markers", YAML_OPTIONAL_KEY, tact_scene, markers, &marker, 0,
              MAX_SCENE_INPUTS_OUTPUTS),
    YAML_TEXT("deadman", YAML_OPTIONAL_KEY, tact_scene, deadman, 2 * MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t scene = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct tact_scene, scene_fields)};

const cyaml_schema_value_t *tact_scene_schema(void)
{
    return &scene;
}
