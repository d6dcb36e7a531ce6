/* Actuators of MJCF as drives: force = gain control + bias0 + bias1 length + bias2 rate. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "rt/model/mjcf_internal.h"

/* Reads one number of an attribute. Returns 1 where the attribute exists. */
static int read_number(struct mjcf_reader *r, const xmlNode *node, const char *name, double *out)
{
    return tact_xml_read_numbers(r->model, node, name, out, 1, 1);
}

/* Sets gain and bias of an actuator from its tag, as MuJoCo's shortcuts (motor, position) do. */
static int set_actuator_by_element_name(struct mjcf_reader *r, const xmlNode *node,
                                        struct mjcf_actuator *a)
{
    struct model *m = r->model;
    const char *tag = tact_xml_node_name(node);
    double kp = a->gain_numbers[0], kv = 0.0, unsupported_number = 0.0;
    if (!strcmp(tag, "motor")) {
        a->gain_numbers[0] = 1.0;
        a->bias = a->gain = a->dynamics = 0;
        return 0;
    }
    if (strcmp(tag, "position")) {
        return 0;
    }
    int has_position_gain = read_number(r, node, "kp", &kp);
    int has_velocity_gain = has_position_gain < 0 ? 0 : read_number(r, node, "kv", &kv);
    int has_damping_ratio =
        has_velocity_gain < 0 ? 0 : read_number(r, node, "dampratio", &unsupported_number);
    if (has_position_gain < 0 || has_velocity_gain < 0 || has_damping_ratio < 0 || kp < 0.0 ||
        kv < 0.0 || has_damping_ratio) {
        return has_damping_ratio > 0 || kp < 0.0 || kv < 0.0
                   ? tact_model_report_error(
                         m, tact_xml_node_line(node),
                         "position: expected kp and kv of 0 or more, and no dampratio")
                   : -EINVAL;
    }
    int has_time_constant = read_number(r, node, "timeconst", &unsupported_number);
    if (has_time_constant > 0 && unsupported_number != 0.0) {
        return tact_model_report_error(m, tact_xml_node_line(node),
                                       "position: timeconst is not supported");
    }
    a->gain_numbers[0] = kp;
    a->bias_numbers[1] = -kp;
    a->bias_numbers[2] = has_velocity_gain ? -kv : a->bias_numbers[2];
    a->gain = 0;
    a->bias = 1;
    return has_time_constant < 0 ? has_time_constant : 0;
}

/* Reads up to 10 actuator parameters, of which those after the third are expected to be 0. */
static int read_actuator_parameters(struct mjcf_reader *r, const xmlNode *node, const char *name,
                                    double out[3])
{
    double numbers[10] = {0.0}, nonzero_count_after_third = 0.0;
    int n = tact_xml_read_numbers(r->model, node, name, numbers, 1, 10);
    for (int i = 0; i < n; i++) {
        nonzero_count_after_third += i < 3 ? 0.0 : numbers[i] != 0.0;
        if (i < 3) {
            out[i] = numbers[i];
        }
    }
    return nonzero_count_after_third > 0.0
               ? tact_model_report_error(r->model, tact_xml_node_line(node),
                                         "%s: %s: expected 3 numbers", tact_xml_node_name(node),
                                         name)
               : (n < 0 ? n : 0);
}

int tact_mjcf_read_actuator_attributes(struct mjcf_reader *r, const xmlNode *node,
                                       struct mjcf_actuator *a)
{
    struct model *m = r->model;
    int rc = tact_xml_check_attributes(
        m, node,
        "joint tendon gear ctrlrange ctrllimited forcerange forcelimited inheritrange kp kv "
        "dampratio timeconst dyntype gaintype biastype gainprm biasprm dynprm class",
        "name group user lengthrange", "");
    double gear[6] = {0.0};
    int gear_number_count = rc ? 0 : tact_xml_read_numbers(m, node, "gear", gear, 1, 6);
    a->gear = gear_number_count > 0 ? gear[0] : a->gear;
    rc = rc ? rc : gear_number_count < 0 ? gear_number_count : 0;
    int n = rc ? 0 : tact_xml_read_numbers(m, node, "ctrlrange", a->control_range, 2, 2);
    rc = rc ? rc : n < 0 ? n : 0;
    n = rc ? 0 : tact_xml_read_numbers(m, node, "forcerange", a->force_range, 2, 2);
    rc = rc ? rc : n < 0 ? n : 0;
    n = rc ? 0 : read_number(r, node, "inheritrange", &a->target_range_per_joint_range);
    rc = rc ? rc : n < 0 ? n : 0;
    rc = rc ? rc : tact_mjcf_read_flag(r, node, "ctrllimited", &a->is_control_limited);
    rc = rc ? rc : tact_mjcf_read_flag(r, node, "forcelimited", &a->force_limited);
    if (!rc && !strcmp(tact_xml_node_name(node), "general")) {
        int actuator_dynamics_type = tact_xml_read_word(
            m, node, "dyntype", "none integrator filter filterexact muscle user");
        int gain = tact_xml_read_word(m, node, "gaintype", "fixed affine muscle user");
        int actuator_bias_type = tact_xml_read_word(m, node, "biastype", "none affine muscle user");
        rc = actuator_dynamics_type < -1 || gain < -1 || actuator_bias_type < -1 ? -EINVAL : 0;
        a->dynamics = actuator_dynamics_type >= 0 ? actuator_dynamics_type : a->dynamics;
        a->gain = gain >= 0 ? gain : a->gain;
        a->bias = actuator_bias_type >= 0 ? actuator_bias_type : a->bias;
        rc = rc ? rc : read_actuator_parameters(r, node, "gainprm", a->gain_numbers);
        rc = rc ? rc : read_actuator_parameters(r, node, "biasprm", a->bias_numbers);
    }
    return rc ? rc : set_actuator_by_element_name(r, node, a);
}

/* Range of the actuator's control: given, or that of the joint scaled about its middle. Returns
 * whether there is one. */
static int find_control_range(struct mjcf_reader *r, const xmlNode *node,
                              const struct mjcf_actuator *a, const struct model_joint *joint,
                              double range[2])
{
    memcpy(range, a->control_range, sizeof a->control_range);
    if (a->target_range_per_joint_range != 0.0) {
        if (!joint || !joint->limited || a->target_range_per_joint_range < 0.0 || range[0] != 0.0 ||
            range[1] != 0.0) {
            return tact_model_report_error(
                r->model, tact_xml_node_line(node),
                "%s: inheritrange needs a joint with a range, and an actuator without ctrlrange",
                tact_xml_node_name(node));
        }
        const double center_of_joint_range = 0.5 * (joint->lower + joint->upper);
        const double half_of_target_range =
            0.5 * (joint->upper - joint->lower) * a->target_range_per_joint_range;
        range[0] = center_of_joint_range - half_of_target_range;
        range[1] = center_of_joint_range + half_of_target_range;
    }
    return tact_mjcf_is_range_active(r, node, a->is_control_limited, range, "ctrlrange");
}

/* Makes the drive of an actuator, in the units of the joint or tendon that it drives. */
static int make_actuator_drive(struct mjcf_reader *r, const xmlNode *node,
                               const struct mjcf_actuator *a, const struct model_joint *joint,
                               struct model_drive *drive)
{
    struct model *m = r->model;
    double range[2];
    const int has_affine_bias = a->bias != 0;
    int has_force_limit =
        tact_mjcf_is_range_active(r, node, a->force_limited, a->force_range, "forcerange");
    int has_target_range = has_force_limit < 0 ? -1 : find_control_range(r, node, a, joint, range);
    if (has_force_limit < 0 || has_target_range < 0) {
        return -EINVAL;
    }
    if (a->dynamics || a->gain || a->bias > 1 || a->gear == 0.0 || a->bias_numbers[1] > 0.0 ||
        a->bias_numbers[2] > 0.0) {
        return tact_model_report_error(
            m, tact_xml_node_line(node),
            "%s: expected no dynamics, a fixed gain, an affine bias of a spring and "
            "a damper, and a gear other than 0",
            tact_xml_node_name(node));
    }
    if (has_force_limit && -a->force_range[0] != a->force_range[1]) {
        return tact_model_report_error(m, tact_xml_node_line(node),
                                       "%s: forcerange is expected to be symmetric",
                                       tact_xml_node_name(node));
    }
    drive->line = tact_xml_node_line(node);
    drive->stiffness = 0.0 - has_affine_bias * a->bias_numbers[1] * a->gear * a->gear;
    drive->damping = 0.0 - has_affine_bias * a->bias_numbers[2] * a->gear * a->gear;
    drive->limit = has_force_limit ? a->force_range[1] * (a->gear < 0.0 ? -a->gear : a->gear) : 0.0;
    if (!(drive->stiffness > 0.0)) {
        tact_model_add_note(
            m, tact_xml_node_line(node),
            drive->damping > 0.0
                ? "<%s> commands a velocity: its drive has damping, but no stiffness until the "
                  "scene sets one"
                : "<%s> commands a force: its joint has no drive until the scene sets one",
            tact_xml_node_name(node));
        return 0;
    }
    drive->has_target_range = has_target_range;
    for (int i = 0; has_target_range && i < 2; i++) {
        range[i] = (a->gain_numbers[0] * range[i] + has_affine_bias * a->bias_numbers[0]) /
                   (-a->bias_numbers[1] * a->gear);
    }
    drive->lower = has_target_range ? tact_min(range[0], range[1]) : 0.0;
    drive->upper = has_target_range ? tact_max(range[0], range[1]) : 0.0;
    return 0;
}

static int read_actuator(struct mjcf_reader *r, const xmlNode *node)
{
    struct model *m = r->model;
    int default_class_index = tact_mjcf_class_of_node(r, node, "class", 0);
    if (default_class_index < 0) {
        return default_class_index;
    }
    struct mjcf_actuator a = r->classes.at[default_class_index].actuator;
    struct model_drive drive = {0};
    int rc = tact_mjcf_read_actuator_attributes(r, node, &a);
    if (rc) {
        return rc;
    }
    const char *name = tact_xml_read_text(m, node, "joint"),
               *line = tact_xml_read_text(m, node, "tendon");
    const int joint = name ? tact_model_find_joint(m, name) : -1;
    const int tendon = line && !name ? tact_mjcf_find_tendon(r, line) : -1;
    if (tendon >= 0) {
        rc = make_actuator_drive(r, node, &a, NULL, &drive);
        return rc ? rc : tact_model_assign_tendon_drive(m, tendon, &drive);
    }
    if (joint < 0) {
        return tact_model_report_error(
            m, tact_xml_node_line(node),
            "%s: expected the name of a joint or of a fixed tendon: a drive on "
            "anything else is not supported",
            tact_xml_node_name(node));
    }
    rc = make_actuator_drive(r, node, &a, &m->joints.at[joint], &drive);
    struct model_drive *of = &m->joints.at[joint].drive;
    if (!rc && m->joints.at[joint].tendon) {
        return tact_model_report_error(m, tact_xml_node_line(node),
                                       "%s: a drive of a joint that the tendon drive of line %d "
                                       "moves already is not supported",
                                       tact_xml_node_name(node), of->line);
    }
    if (!rc && of->line && (of->stiffness > 0.0 || of->damping > 0.0) &&
        (drive.stiffness > 0.0 || drive.damping > 0.0)) {
        return tact_model_report_error(m, tact_xml_node_line(node),
                                       "%s: its joint or tendon already has the drive of line %d: "
                                       "a second one is not supported",
                                       tact_xml_node_name(node), of->line);
    }
    if (!rc && (!of->line || drive.stiffness > 0.0 || drive.damping > 0.0)) {
        *of = drive;
    }
    return rc;
}

int tact_mjcf_read_actuators(struct mjcf_reader *r, const xmlNode *node)
{
    int rc = 0;
    for (const xmlNode *n = tact_xml_next_element(node->children); !rc && n;
         n = tact_xml_next_element(n->next)) {
        rc = tact_xml_list_has_word(MJCF_ACTUATOR_TAGS, tact_xml_node_name(n))
                 ? read_actuator(r, n)
                 : tact_model_report_error(r->model, tact_xml_node_line(n),
                                           "actuator: <%.60s> is not supported",
                                           tact_xml_node_name(n));
    }
    return rc;
}
