/* The libcyaml schema of a scene. SCENE.md describes every key; a test compares the two. */
#include "rt/scene/scene_internal.h"

#include <stddef.h>
#include "contact/shape/charts.h"

/* Maximum lengths of lists: more than one machine can run at 1 kHz, and few enough for checks of
 * all pairs. */
enum {
    MAX_SCENE_MATERIALS = 128,
    MAX_SCENE_PAIRS = 4096,
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

#define NEEDED CYAML_FLAG_DEFAULT
#define OPTIONAL CYAML_FLAG_OPTIONAL
#define NUMBER(key, flags, type, member) CYAML_FIELD_FLOAT(key, flags, struct type, member)
#define TEXT(key, flags, type, member, most)                                                       \
    CYAML_FIELD_STRING_PTR(key, flags, struct type, member, 1, most)
#define NUMBERS(key, flags, type, member, count)                                                   \
    CYAML_FIELD_SEQUENCE_FIXED(key, flags, struct type, member, &number, count)
#define LIST(key, flags, type, member, entry, least, most)                                         \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | (flags), struct type, member, entry, least, most)

static const cyaml_schema_value_t number = {CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double)};
static const cyaml_schema_value_t name = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, MAX_NAME_LENGTH)};

static const cyaml_schema_field_t field_fields[] = {
    NUMBER("modulus", NEEDED, tact_scene_field, modulus),
    NUMBER("thickness", NEEDED, tact_scene_field, thickness),
    NUMBER("power", OPTIONAL, tact_scene_field, power),
    NUMBER("cell", OPTIONAL, tact_scene_field, cell),
    TEXT("kind", OPTIONAL, tact_scene_field, kind, MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t material_fields[] = {
    TEXT("name", NEEDED, tact_scene_material, name, MAX_NAME_LENGTH),
    NUMBER("modulus", OPTIONAL, tact_scene_material, modulus),
    NUMBER("tip_radius", OPTIONAL, tact_scene_material, tip_radius),
    NUMBER("tip_power", OPTIONAL, tact_scene_material, tip_power),
    CYAML_FIELD_MAPPING("field", OPTIONAL, struct tact_scene_material, field, field_fields),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t material = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_material, material_fields)};

static const cyaml_schema_field_t pair_fields[] = {
    CYAML_FIELD_SEQUENCE_FIXED("materials", NEEDED, struct tact_scene_pair, materials, &name, 2),
    NUMBER("friction", NEEDED, tact_scene_pair, law.friction),
    NUMBER("dissipation", OPTIONAL, tact_scene_pair, law.dissipation),
    NUMBER("compliance", OPTIONAL, tact_scene_pair, law.compliance),
    NUMBER("tangential_compliance", OPTIONAL, tact_scene_pair, law.tangential_compliance),
    NUMBER("overlap", OPTIONAL, tact_scene_pair, law.overlap),
    NUMBER("restitution", OPTIONAL, tact_scene_pair, law.restitution),
    NUMBER("hunt_crossley", OPTIONAL, tact_scene_pair, law.hunt_crossley),
    NUMBER("tip_radius", OPTIONAL, tact_scene_pair, law.tip_radius),
    NUMBER("tip_power", OPTIONAL, tact_scene_pair, law.tip_power),
    TEXT("model", OPTIONAL, tact_scene_pair, model, MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t pair = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_pair, pair_fields)};

#define COUNT(key, member) CYAML_FIELD_UINT(key, OPTIONAL, struct tact_scene_generate, member)
static const cyaml_schema_field_t generate_fields[] = {
    TEXT("kind", NEEDED, tact_scene_generate, kind, MAX_NAME_LENGTH),
    NUMBER("edge", OPTIONAL, tact_scene_generate, edge),
    NUMBER("radius", OPTIONAL, tact_scene_generate, radius),
    NUMBER("height", OPTIONAL, tact_scene_generate, height),
    NUMBER("tube", OPTIONAL, tact_scene_generate, tube),
    NUMBER("bump", OPTIONAL, tact_scene_generate, bump),
    COUNT("count", count),
    COUNT("triangles", triangles),
    COUNT("seed", seed),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t profile_point = {
    CYAML_VALUE_SEQUENCE_FIXED(CYAML_FLAG_DEFAULT, double[2], &number, 2)};

static const cyaml_schema_field_t shape_fields[] = {
    TEXT("type", NEEDED, tact_scene_shape, type, MAX_NAME_LENGTH),
    NUMBER("radius", OPTIONAL, tact_scene_shape, radius),
    NUMBER("tube", OPTIONAL, tact_scene_shape, tube),
    NUMBER("length", OPTIONAL, tact_scene_shape, length),
    NUMBERS("size", OPTIONAL, tact_scene_shape, size, 3),
    TEXT("file", OPTIONAL, tact_scene_shape, file, MAX_TEXT_LENGTH),
    CYAML_FIELD_MAPPING_PTR("generate", OPTIONAL, struct tact_scene_shape, generate,
                            generate_fields),
    NUMBER("scale", OPTIONAL, tact_scene_shape, scale),
    LIST("profile", OPTIONAL, tact_scene_shape, profile, &profile_point, 3, MAX_PROFILE_ENTRIES),
    NUMBERS("position", OPTIONAL, tact_scene_shape, position, 3),
    NUMBERS("quat_wxyz", OPTIONAL, tact_scene_shape, quat_wxyz, 4),
    TEXT("material", NEEDED, tact_scene_shape, material, MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t shape = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_shape, shape_fields)};

static const cyaml_schema_field_t body_fields[] = {
    TEXT("name", NEEDED, tact_scene_body, name, MAX_NAME_LENGTH),
    CYAML_FIELD_BOOL("fixed", OPTIONAL, struct tact_scene_body, fixed),
    CYAML_FIELD_BOOL("fast", OPTIONAL, struct tact_scene_body, fast),
    NUMBER("mass", OPTIONAL, tact_scene_body, mass),
    NUMBERS("center_of_mass", OPTIONAL | CYAML_FLAG_POINTER, tact_scene_body, center_of_mass, 3),
    NUMBERS("inertia", OPTIONAL | CYAML_FLAG_POINTER, tact_scene_body, inertia, 6),
    NUMBERS("position", OPTIONAL, tact_scene_body, position, 3),
    NUMBERS("quat_wxyz", OPTIONAL, tact_scene_body, quat_wxyz, 4),
    NUMBERS("velocity", OPTIONAL, tact_scene_body, velocity, 3),
    NUMBERS("angular_velocity", OPTIONAL, tact_scene_body, angular_velocity, 3),
    NUMBER("support_until", OPTIONAL, tact_scene_body, support_until),
    LIST("shapes", OPTIONAL, tact_scene_body, shapes, &shape, 0, MAX_OBJECT_SHAPES),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t body = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_body, body_fields)};

static const cyaml_schema_field_t constraint_fields[] = {
    TEXT("name", NEEDED, tact_scene_constraint, name, MAX_NAME_LENGTH),
    TEXT("type", NEEDED, tact_scene_constraint, type, MAX_NAME_LENGTH),
    LIST("bodies", NEEDED, tact_scene_constraint, bodies, &name, 1, 2),
    NUMBERS("position", OPTIONAL, tact_scene_constraint, position, 3),
    NUMBERS("axis", OPTIONAL, tact_scene_constraint, axis, 3),
    NUMBER("lower", OPTIONAL, tact_scene_constraint, lower),
    NUMBER("upper", OPTIONAL, tact_scene_constraint, upper),
    NUMBER("damping", OPTIONAL, tact_scene_constraint, damping),
    NUMBER("friction", OPTIONAL, tact_scene_constraint, friction),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t constraint = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_constraint, constraint_fields)};

static const cyaml_schema_field_t port_fields[] = {
    NUMBER("mass", NEEDED, tact_scene_port, mass),
    NUMBER("damping", NEEDED, tact_scene_port, damping),
    NUMBER("delay", OPTIONAL, tact_scene_port, delay),
    NUMBER("friction", OPTIONAL, tact_scene_port, friction),
    NUMBER("resolution", OPTIONAL, tact_scene_port, resolution),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t coupling_fields[] = {
    NUMBER("stiffness", NEEDED, tact_scene_coupling, stiffness),
    NUMBER("damping", NEEDED, tact_scene_coupling, damping),
    NUMBER("filter", OPTIONAL, tact_scene_coupling, filter),
    CYAML_FIELD_MAPPING_PTR("device", OPTIONAL, struct tact_scene_coupling, device, port_fields),
    CYAML_FIELD_BOOL("hard", OPTIONAL, struct tact_scene_coupling, hard),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t joint_fields[] = {
    TEXT("type", NEEDED, tact_scene_joint, type, MAX_NAME_LENGTH),
    NUMBERS("axis", NEEDED, tact_scene_joint, axis, 3),
    NUMBERS("position", OPTIONAL, tact_scene_joint, position, 3),
    NUMBERS("quat_wxyz", OPTIONAL, tact_scene_joint, quat_wxyz, 4),
    NUMBER("stiffness", OPTIONAL, tact_scene_joint, stiffness),
    NUMBER("damping", OPTIONAL, tact_scene_joint, damping),
    NUMBER("limit", OPTIONAL, tact_scene_joint, limit),
    NUMBER("start", OPTIONAL, tact_scene_joint, start),
    NUMBER("lower", OPTIONAL, tact_scene_joint, lower),
    NUMBER("upper", OPTIONAL, tact_scene_joint, upper),
    NUMBER("armature", OPTIONAL, tact_scene_joint, armature),
    NUMBER("viscous", OPTIONAL, tact_scene_joint, viscous),
    NUMBER("friction", OPTIONAL, tact_scene_joint, friction),
    CYAML_FIELD_MAPPING_PTR("coupling", OPTIONAL, struct tact_scene_joint, coupling,
                            coupling_fields),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t link_fields[] = {
    TEXT("name", NEEDED, tact_scene_link, name, MAX_NAME_LENGTH),
    TEXT("parent", OPTIONAL, tact_scene_link, parent, MAX_NAME_LENGTH),
    CYAML_FIELD_MAPPING("joint", NEEDED, struct tact_scene_link, joint, joint_fields),
    NUMBER("mass", NEEDED, tact_scene_link, mass),
    NUMBERS("center_of_mass", OPTIONAL, tact_scene_link, center_of_mass, 3),
    NUMBERS("inertia", OPTIONAL | CYAML_FLAG_POINTER, tact_scene_link, inertia, 6),
    LIST("shapes", OPTIONAL, tact_scene_link, shapes, &shape, 0, MAX_OBJECT_SHAPES),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t link = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_link, link_fields)};

static const cyaml_schema_field_t base_fields[] = {
    NUMBER("mass", NEEDED, tact_scene_base, mass),
    NUMBERS("center_of_mass", OPTIONAL, tact_scene_base, center_of_mass, 3),
    NUMBERS("inertia", OPTIONAL | CYAML_FLAG_POINTER, tact_scene_base, inertia, 6),
    LIST("shapes", OPTIONAL, tact_scene_base, shapes, &shape, 0, MAX_OBJECT_SHAPES),
    CYAML_FIELD_MAPPING_PTR("coupling", OPTIONAL, struct tact_scene_base, coupling,
                            coupling_fields),
    CYAML_FIELD_MAPPING_PTR("turn_coupling", OPTIONAL, struct tact_scene_base, turn_coupling,
                            coupling_fields),
    NUMBER("limit", OPTIONAL, tact_scene_base, limit),
    NUMBER("turn_limit", OPTIONAL, tact_scene_base, turn_limit),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t hand_fields[] = {
    TEXT("name", NEEDED, tact_scene_hand, name, MAX_NAME_LENGTH),
    NUMBERS("position", OPTIONAL, tact_scene_hand, position, 3),
    NUMBERS("quat_wxyz", OPTIONAL, tact_scene_hand, quat_wxyz, 4),
    CYAML_FIELD_BOOL("weightless", OPTIONAL, struct tact_scene_hand, weightless),
    CYAML_FIELD_MAPPING_PTR("base", OPTIONAL, struct tact_scene_hand, base, base_fields),
    LIST("links", OPTIONAL, tact_scene_hand, links, &link, 0, MAX_HAND_LINKS),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t hand = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_hand, hand_fields)};

static const cyaml_schema_value_t object_name = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, 2 * MAX_NAME_LENGTH)};
static const cyaml_schema_field_t exclusion_fields[] = {
    CYAML_FIELD_SEQUENCE_FIXED("objects", NEEDED, struct tact_scene_exclusion, objects,
                               &object_name, 2),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t exclusion = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_exclusion, exclusion_fields)};

static const cyaml_schema_field_t device_fields[] = {
    TEXT("name", NEEDED, tact_scene_device, name, MAX_NAME_LENGTH),
    TEXT("type", NEEDED, tact_scene_device, type, MAX_NAME_LENGTH),
    CYAML_FIELD_IGNORE("settings", OPTIONAL),
    TEXT("calibration", OPTIONAL, tact_scene_device, calibration, MAX_TEXT_LENGTH),
    CYAML_FIELD_BOOL("calibration_required", OPTIONAL, struct tact_scene_device,
                     calibration_required),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t device = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_device, device_fields)};

static const cyaml_schema_field_t input_fields[] = {
    TEXT("from", NEEDED, tact_scene_input, from, 2 * MAX_NAME_LENGTH),
    TEXT("to", NEEDED, tact_scene_input, to, 2 * MAX_NAME_LENGTH),
    TEXT("what", OPTIONAL, tact_scene_input, what, MAX_NAME_LENGTH),
    NUMBER("scale", OPTIONAL, tact_scene_input, scale),
    NUMBER("offset", OPTIONAL, tact_scene_input, offset),
    NUMBER("lower", OPTIONAL, tact_scene_input, lower),
    NUMBER("upper", OPTIONAL, tact_scene_input, upper),
    NUMBER("filter", OPTIONAL, tact_scene_input, filter),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t input = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_input, input_fields)};

static const cyaml_schema_field_t output_fields[] = {
    TEXT("from", NEEDED, tact_scene_output, from, 2 * MAX_NAME_LENGTH),
    TEXT("to", NEEDED, tact_scene_output, to, 2 * MAX_NAME_LENGTH),
    TEXT("what", OPTIONAL, tact_scene_output, what, MAX_NAME_LENGTH),
    NUMBERS("along", OPTIONAL | CYAML_FLAG_POINTER, tact_scene_output, along, 3),
    NUMBER("scale", OPTIONAL, tact_scene_output, scale),
    NUMBER("limit", NEEDED, tact_scene_output, limit),
    NUMBER("rate", NEEDED, tact_scene_output, rate),
    NUMBER("filter", OPTIONAL, tact_scene_output, filter),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t output = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_output, output_fields)};

#define CHANNELS(key, member, most) LIST(key, OPTIONAL, tact_scene_tool, member, &name, 0, most)
static const cyaml_schema_field_t tool_fields[] = {
    TEXT("hand", NEEDED, tact_scene_tool, hand, MAX_NAME_LENGTH),
    TEXT("device", NEEDED, tact_scene_tool, device, MAX_NAME_LENGTH),
    TEXT("mode", OPTIONAL, tact_scene_tool, mode, MAX_NAME_LENGTH),
    CHANNELS("position", position, 3),
    CHANNELS("attitude", attitude, 4),
    CHANNELS("force", force, 3),
    CHANNELS("torque", torque, 3),
    NUMBERS("quat_wxyz", OPTIONAL, tact_scene_tool, quat_wxyz, 4),
    NUMBER("scale", OPTIONAL, tact_scene_tool, scale),
    NUMBER("force_scale", OPTIONAL, tact_scene_tool, force_scale),
    TEXT("clutch", OPTIONAL, tact_scene_tool, clutch, 2 * MAX_NAME_LENGTH),
    TEXT("fine", OPTIONAL, tact_scene_tool, fine, 2 * MAX_NAME_LENGTH),
    NUMBER("fine_scale", OPTIONAL, tact_scene_tool, fine_scale),
    NUMBERS("lower", OPTIONAL | CYAML_FLAG_POINTER, tact_scene_tool, lower, 3),
    NUMBERS("upper", OPTIONAL | CYAML_FLAG_POINTER, tact_scene_tool, upper, 3),
    NUMBER("dead_zone", OPTIONAL, tact_scene_tool, dead_zone),
    NUMBER("speed", OPTIONAL, tact_scene_tool, speed),
    NUMBER("turn_speed", OPTIONAL, tact_scene_tool, turn_speed),
    NUMBER("limit", OPTIONAL, tact_scene_tool, limit),
    NUMBER("rate", OPTIONAL, tact_scene_tool, rate),
    NUMBER("turn_limit", OPTIONAL, tact_scene_tool, turn_limit),
    NUMBER("turn_rate", OPTIONAL, tact_scene_tool, turn_rate),
    NUMBER("filter", OPTIONAL, tact_scene_tool, filter),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t tool = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_tool, tool_fields)};

static const cyaml_schema_field_t contact_fields[] = {
    NUMBER("overlap", OPTIONAL, tact_scene_contact, overlap),
    NUMBER("compliance", OPTIONAL, tact_scene_contact, compliance),
    NUMBER("tangential_compliance", OPTIONAL, tact_scene_contact, tangential_compliance),
    NUMBER("dissipation", OPTIONAL, tact_scene_contact, dissipation),
    CYAML_FIELD_UINT("iterations", OPTIONAL, struct tact_scene_contact, iterations),
    NUMBER("tolerance", OPTIONAL, tact_scene_contact, tolerance),
    TEXT("local", OPTIONAL, tact_scene_contact, local, MAX_NAME_LENGTH),
    TEXT("patch", OPTIONAL, tact_scene_contact, patch, MAX_NAME_LENGTH),
    TEXT("normal", OPTIONAL, tact_scene_contact, normal, MAX_NAME_LENGTH),
    TEXT("model", OPTIONAL, tact_scene_contact, model, MAX_NAME_LENGTH),
    CYAML_FIELD_UINT("points", OPTIONAL, struct tact_scene_contact, points),
    TEXT("spin", OPTIONAL, tact_scene_contact, spin, MAX_NAME_LENGTH),
    TEXT("metric", OPTIONAL, tact_scene_contact, metric, MAX_NAME_LENGTH),
    TEXT("split", OPTIONAL, tact_scene_contact, split, MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t moments_fields[] = {
    TEXT("source", OPTIONAL, tact_scene_moments, source, MAX_NAME_LENGTH),
    TEXT("device", OPTIONAL, tact_scene_moments, device, MAX_TEXT_LENGTH),
    CYAML_FIELD_UINT("max_age", OPTIONAL, struct tact_scene_moments, max_age),
    NUMBER("host_time", OPTIONAL, tact_scene_moments, host_time),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t realtime_fields[] = {
    CYAML_FIELD_INT("priority", OPTIONAL, struct tact_scene_realtime, priority),
    CYAML_FIELD_INT("cpu", OPTIONAL, struct tact_scene_realtime, cpu),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t recorder_fields[] = {
    NUMBER("split_bytes", OPTIONAL, tact_scene_recorder, split_bytes),
    NUMBER("split_seconds", OPTIONAL, tact_scene_recorder, split_seconds),
    NUMBER("pressure_rate", OPTIONAL, tact_scene_recorder, pressure_rate),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t marker_fields[] = {
    TEXT("from", NEEDED, tact_scene_marker, from, 2 * MAX_NAME_LENGTH),
    TEXT("name", OPTIONAL, tact_scene_marker, name, MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t marker = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tact_scene_marker, marker_fields)};

static const cyaml_schema_field_t scene_fields[] = {
    TEXT("name", NEEDED, tact_scene, name, MAX_NAME_LENGTH),
    NUMBERS("gravity", OPTIONAL, tact_scene, gravity, 3),
    NUMBER("period", OPTIONAL, tact_scene, period),
    NUMBER("duration", OPTIONAL, tact_scene, duration),
    NUMBER("max_speed", OPTIONAL, tact_scene, max_speed),
    CYAML_FIELD_MAPPING("contact", OPTIONAL, struct tact_scene, contact, contact_fields),
    CYAML_FIELD_MAPPING("moments", OPTIONAL, struct tact_scene, moments, moments_fields),
    CYAML_FIELD_MAPPING("realtime", OPTIONAL, struct tact_scene, realtime, realtime_fields),
    CYAML_FIELD_MAPPING("recorder", OPTIONAL, struct tact_scene, recorder, recorder_fields),
    LIST("materials", OPTIONAL, tact_scene, materials, &material, 0, MAX_SCENE_MATERIALS),
    LIST("pairs", OPTIONAL, tact_scene, pairs, &pair, 0, MAX_SCENE_PAIRS),
    LIST("bodies", OPTIONAL, tact_scene, bodies, &body, 0, MAX_SCENE_BODIES),
    LIST("joints", OPTIONAL, tact_scene, joints, &constraint, 0, MAX_SCENE_BODIES),
    LIST("exclude", OPTIONAL, tact_scene, exclude, &exclusion, 0, MAX_SCENE_PAIRS),
    LIST("hands", OPTIONAL, tact_scene, hands, &hand, 0, MAX_SCENE_HANDS),
    LIST("devices", OPTIONAL, tact_scene, devices, &device, 0, MAX_DEVICES),
    LIST("inputs", OPTIONAL, tact_scene, inputs, &input, 0, MAX_SCENE_INPUTS_OUTPUTS),
    LIST("outputs", OPTIONAL, tact_scene, outputs, &output, 0, MAX_SCENE_INPUTS_OUTPUTS),
    LIST("tools", OPTIONAL, tact_scene, tools, &tool, 0, MAX_SCENE_HANDS),
    LIST("markers", OPTIONAL, tact_scene, markers, &marker, 0, MAX_SCENE_INPUTS_OUTPUTS),
    TEXT("deadman", OPTIONAL, tact_scene, deadman, 2 * MAX_NAME_LENGTH),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t scene = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct tact_scene, scene_fields)};

const cyaml_schema_value_t *tact_scene_schema(void)
{
    return &scene;
}
