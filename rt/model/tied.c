/* Joints that follow others, and drives of tendons: what the readers of MJCF and URDF share. */
#include <errno.h>
#include <math.h>
#include "rt/model/model_internal.h"

static const char *joint_name_or_empty(const struct model_joint *joint)
{
    return joint->name ? joint->name : "";
}

int tact_model_add_mimic(struct model *m, int line, int joint, int leading_joint, double multiplier,
                         double offset)
{
    struct model_joint *j = &m->joints.at[joint];
    if (j->mimic.line) {
        return tact_model_report_error(m, line,
                                       "joint \"%.60s\" already follows another joint, by line %d",
                                       joint_name_or_empty(j), j->mimic.line);
    }
    if (joint == leading_joint || multiplier == 0.0 || !isfinite(1.0 / multiplier)) {
        return tact_model_report_error(
            m, line,
            "joint \"%.60s\" must follow another joint than itself, with a factor other than 0",
            joint_name_or_empty(j));
    }
    j->mimic.line = line;
    j->mimic.joint = leading_joint;
    j->mimic.multiplier = multiplier;
    j->mimic.offset = offset;
    return 0;
}

int tact_model_resolve_mimics(struct model *m)
{
    for (size_t i = 0; i < m->joints.count; i++) {
        struct model_joint *j = &m->joints.at[i];
        for (size_t mimic_chain_length = 0;
             j->mimic.line && m->joints.at[j->mimic.joint].mimic.line; mimic_chain_length++) {
            const struct model_joint *leading_joint = &m->joints.at[j->mimic.joint];
            if (mimic_chain_length > m->joints.count) {
                return tact_model_report_error(m, j->mimic.line, "joint \"%.60s\" follows itself",
                                               joint_name_or_empty(j));
            }
            j->mimic.offset += j->mimic.multiplier * leading_joint->mimic.offset;
            j->mimic.multiplier *= leading_joint->mimic.multiplier;
            j->mimic.joint = leading_joint->mimic.joint;
        }
    }
    return 0;
}

int tact_model_assign_tendon_drive(struct model *m, int tendon, const struct model_drive *drive)
{
    struct model_tendon *of = &m->tendons.at[tendon];
    struct model_joint *joint_with_tendon_drive = NULL;
    if (of->has_joint_drive) {
        return tact_model_report_error(
            m, drive->line, "the tendon of line %d has a second drive: it can have one", of->line);
    }
    for (size_t i = 0; i < m->tendon_joints.count; i++) {
        struct model_joint *joint = &m->joints.at[m->tendon_joints.at[i].joint];
        if (m->tendon_joints.at[i].tendon != tendon) {
            continue;
        }
        if (joint->limit > 0.0) {
            return tact_model_report_error(m, joint->line,
                                           "joint \"%.60s\": actuatorfrcrange is not supported for "
                                           "a joint that a tendon drives",
                                           joint_name_or_empty(joint));
        }
        joint_with_tendon_drive =
            joint_with_tendon_drive || joint->drive.line ? joint_with_tendon_drive : joint;
    }
    if (!joint_with_tendon_drive) {
        return tact_model_report_error(
            m, drive->line,
            "a drive of the tendon of line %d, whose joints all have drives "
            "of their own, is not supported",
            of->line);
    }
    of->has_joint_drive = true;
    joint_with_tendon_drive->drive = *drive;
    joint_with_tendon_drive->tendon = 1 + tendon;
    return 0;
}
