/*
 * Joints that are tied together (mimic joints) and drives on fixed tendons.
 *
 * Joints tied together are one coordinate, that of the first of them, and v = T z exactly. T^T M T
 * has an entry for two coordinates that move a common link, which need not be above one another in
 * the tree of the links: so can two fingers be tied. Its factors keep within the elimination tree
 * of that pattern (Liu 1990, The role of elimination trees in sparse factorization, section 3), in
 * which all coordinates that move a link are above one another. Where nothing is tied it is the
 * tree of the links.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/hand_internal.h"

#define MAX_INITIAL_MIMIC_ERROR                                                                    \
    1e-9 /* largest error of a mimic joint's initial value against its law [rad, m] */

static int check_mimic_joint(const struct tact_link_def *links, int count, int index)
{
    const struct tact_link_def *def = &links[index];
    if (!def->mimic) {
        return 0;
    }
    if (def->mimic < 1 || def->mimic > count || def->mimic == index + 1 ||
        !isfinite(def->multiplier) || !isfinite(1.0 / def->multiplier) || !isfinite(def->offset)) {
        return -EINVAL;
    }
    const struct tact_link_def *definition_of_followed_joint = &links[def->mimic - 1];
    const double error =
        def->start - def->offset - def->multiplier * definition_of_followed_joint->start;
    return definition_of_followed_joint->mimic || def->joint == TACT_JOINT_BASE ||
                   definition_of_followed_joint->joint == TACT_JOINT_BASE ||
                   !(fabs(error) <= MAX_INITIAL_MIMIC_ERROR)
               ? -EINVAL
               : 0;
}

static int check_tendon_drive(const struct tact_link_def *links, int count, int index)
{
    const struct tact_link_def *def = &links[index];
    if (def->tendon_count < 0 || def->tendon_count > count ||
        (def->tendon_count && (!def->tendon || def->joint == TACT_JOINT_BASE))) {
        return -EINVAL;
    }
    for (int i = 0; i < def->tendon_count; i++) {
        const struct tact_tendon_term *term_of_tendon = &def->tendon[i];
        int fault = term_of_tendon->joint < 0 || term_of_tendon->joint >= count ||
                    links[term_of_tendon->joint].joint == TACT_JOINT_BASE ||
                    !isfinite(term_of_tendon->coefficient);
        for (int k = 0; k < i; k++) {
            fault |= def->tendon[k].joint == term_of_tendon->joint;
        }
        if (fault) {
            return -EINVAL;
        }
    }
    return 0;
}

int tact_hand_check_mimics_and_tendons(const struct tact_link_def *links, int count)
{
    int rc = 0;
    for (int i = 0; !rc && i < count; i++) {
        rc = check_mimic_joint(links, count, i);
        rc = rc ? rc : check_tendon_drive(links, count, i);
    }
    return rc;
}

int tact_hand_has_mimics_or_tendons(const struct tact_link_def *links, int count)
{
    int has_mimics_or_tendons = 0;
    for (int i = 0; i < count; i++) {
        has_mimics_or_tendons |= links[i].mimic || links[i].tendon_count;
    }
    return has_mimics_or_tendons;
}

/* Rate of a joint over that of the leading joint, which the joints that are tied to it follow. */
static double rate_ratio_to_followed_joint(const struct tact_link_def *def)
{
    return def->mimic ? def->multiplier : 1.0;
}

static int joint_that_mimic_joint_follows(const struct tact_hand *hand, int joint)
{
    const int mimic = hand->links[joint].def.mimic;
    return mimic ? mimic - 1 : joint;
}

static void assign_independent_coordinates(struct tact_hand *hand)
{
    for (int i = 0; i < hand->count; i++) {
        struct tact_link_def *def = &hand->links[i].def;
        if (def->mimic) {
            def->start = def->offset + def->multiplier * hand->links[def->mimic - 1].def.start;
        }
    }
    for (int i = 0; i < hand->count; i++) {
        int first = 0;
        while (joint_that_mimic_joint_follows(hand, first) !=
               joint_that_mimic_joint_follows(hand, i)) {
            first++;
        }
        hand->links[i].coordinate = first;
        hand->links[i].ratio = first == i
                                   ? 1.0
                                   : rate_ratio_to_followed_joint(&hand->links[i].def) /
                                         rate_ratio_to_followed_joint(&hand->links[first].def);
    }
}

/* Transfers dry friction and range of a mimic joint to its coordinate. -EINVAL where no range is
 * left. */
static int transfer_mimic_bounds(struct tact_hand *hand, int joint)
{
    const struct link *link = &hand->links[joint];
    struct tact_link_def *from = &hand->links[joint].def, *to = &hand->links[link->coordinate].def;
    to->friction += fabs(link->ratio) * from->friction;
    if (from->lower < from->upper) {
        const double one = to->start + (from->lower - from->start) / link->ratio;
        const double two = to->start + (from->upper - from->start) / link->ratio;
        const int has = to->lower < to->upper;
        /* the range of a joint that starts at a stop is not narrowed past its initial value by
         * rounding */
        const double lower = fmin(fmin(one, two), to->start),
                     upper = fmax(fmax(one, two), to->start);
        to->lower = has ? fmax(to->lower, lower) : lower;
        to->upper = has ? fmin(to->upper, upper) : upper;
        if (!(to->lower < to->upper)) {
            return -EINVAL;
        }
    }
    from->friction = from->lower = from->upper = 0.0;
    return 0;
}

/* Marks as coupled with each other all coordinates that move one link, or on which one tendon acts.
 */
static void mark_coordinates_as_coupled(const int *coordinates, int found, int n,
                                        unsigned char *coordinate_coupling_flags)
{
    for (int a = 0; a < found; a++) {
        for (int b = 0; b < found; b++) {
            coordinate_coupling_flags[(size_t)coordinates[a] * (size_t)n + (size_t)coordinates[b]] =
                1;
        }
    }
}

static void mark_coupled_coordinates_of_hand(struct tact_hand *hand, int *list,
                                             unsigned char *coordinate_coupling_flags)
{
    for (int i = 0; i < hand->count; i++) {
        struct link *link = &hand->links[i];
        int found = 0;
        link->deepest = 0;
        for (int j = i; j >= 0; j = hand->links[j].def.parent) {
            list[found++] = hand->links[j].coordinate;
            link->deepest = list[found - 1] > link->deepest ? list[found - 1] : link->deepest;
        }
        mark_coordinates_as_coupled(list, found, hand->count, coordinate_coupling_flags);
        for (int k = 0; k < link->def.tendon_count; k++) {
            list[k] = hand->links[link->def.tendon[k].joint].coordinate;
        }
        mark_coordinates_as_coupled(list, link->def.tendon_count, hand->count,
                                    coordinate_coupling_flags);
    }
}

/* Sets the elimination tree of the coordinates: eliminating one couples all those that it is
 * coupled to with each other. */
static int set_elimination_tree(struct tact_hand *hand)
{
    const int n = hand->count;
    unsigned char *coordinate_coupling_flags = calloc((size_t)n * (size_t)n + 1, 1);
    int *list = calloc((size_t)n + 1, sizeof *list);
    if (coordinate_coupling_flags && list) {
        mark_coupled_coordinates_of_hand(hand, list, coordinate_coupling_flags);
        for (int k = n - 1; k >= 0; k--) {
            int found = 0;
            for (int j = 0; j < k; j++) {
                if (coordinate_coupling_flags[(size_t)k * (size_t)n + (size_t)j]) {
                    list[found++] = j;
                }
            }
            hand->up[k] = found ? list[found - 1] : -1;
            mark_coordinates_as_coupled(list, found, n, coordinate_coupling_flags);
        }
    }
    const int rc = coordinate_coupling_flags && list ? 0 : -ENOMEM;
    free(coordinate_coupling_flags);
    free(list);
    return rc;
}

/* Copies the tendons' terms into the hand, so that the caller's arrays need not outlive its
 * creation. */
static int copy_tendon_terms(struct tact_hand *hand)
{
    size_t count = 0;
    for (int i = 0; i < hand->count; i++) {
        count += (size_t)hand->links[i].def.tendon_count;
    }
    hand->tendon_terms = calloc(count + 1, sizeof *hand->tendon_terms);
    struct tact_tendon_term *next = hand->tendon_terms;
    for (int i = 0; next && i < hand->count; i++) {
        struct tact_link_def *def = &hand->links[i].def;
        const size_t own = (size_t)def->tendon_count;
        if (own) {
            memcpy(next, def->tendon, own * sizeof *next);
        }
        def->tendon = next;
        next += own;
    }
    return hand->tendon_terms ? 0 : -ENOMEM;
}

int tact_hand_set_up_coordinates(struct tact_hand *hand)
{
    for (int i = 0; i < hand->count; i++) {
        struct link *link = &hand->links[i];
        link->coordinate = link->deepest = i;
        link->ratio = 1.0;
        hand->up[i] = hand->parent[i] = link->def.parent;
    }
    if (!hand->has_mimics_or_tendons) {
        return 0;
    }
    assign_independent_coordinates(hand);
    int rc = copy_tendon_terms(hand);
    for (int i = 0; !rc && i < hand->count; i++) {
        rc = tact_hand_is_independent_joint(hand, i) ? 0 : transfer_mimic_bounds(hand, i);
    }
    return rc ? rc : set_elimination_tree(hand);
}

void tact_hand_compute_coordinate_mass(struct tact_hand *hand)
{
    const size_t n = (size_t)hand->count;
    if (!hand->has_mimics_or_tendons) {
        return;
    }
    memset(hand->coordinate_mass_matrix, 0, n * n * sizeof *hand->coordinate_mass_matrix);
    for (size_t i = 0; i < n; i++) {
        const struct link *a = &hand->links[i];
        double *row = hand->coordinate_mass_matrix + (size_t)a->coordinate * n;
        for (size_t j = 0; j < n; j++) {
            const struct link *b = &hand->links[j];
            row[b->coordinate] += a->ratio * b->ratio * hand->mass[i * n + j];
        }
        if (!tact_hand_is_independent_joint(hand, (int)i)) {
            hand->coordinate_mass_matrix[i * n + i] = 1.0;
        }
    }
}

void tact_hand_add_tendon_drives(struct tact_hand *hand)
{
    for (int i = 0; i < hand->count && hand->has_mimics_or_tendons; i++) {
        const struct tact_link_def *def = &hand->links[i].def;
        for (int k = 0; k < def->tendon_count * def->tendon_count; k++) {
            const struct tact_tendon_term *a = &def->tendon[k / def->tendon_count];
            const struct tact_tendon_term *b = &def->tendon[k % def->tendon_count];
            const struct link *of_a = &hand->links[a->joint], *of_b = &hand->links[b->joint];
            if (of_b->coordinate > of_a->coordinate) {
                continue; /* the factorisation reads only the lower half of the hand's matrix */
            }
            const double tendon_stiffness_entry = hand->links[i].tendon_drive_gain *
                                                  a->coefficient * of_a->ratio * b->coefficient *
                                                  of_b->ratio;
            hand->matrix[of_a->coordinate * hand->count + of_b->coordinate] +=
                tendon_stiffness_entry;
            hand->implicit_drive_gains[of_a->coordinate] +=
                of_a->coordinate == of_b->coordinate ? tendon_stiffness_entry : 0.0;
        }
    }
}

void tact_hand_project_to_coordinates(const struct tact_hand *hand, double *x)
{
    for (int i = 0; i < hand->count && hand->has_mimics_or_tendons; i++) {
        const struct link *link = &hand->links[i];
        if (!tact_hand_is_independent_joint(hand, i)) {
            x[link->coordinate] += link->ratio * x[i];
            x[i] = 0.0;
        }
    }
}

void tact_hand_expand_to_joints(const struct tact_hand *hand, double *x)
{
    for (int i = 0; i < hand->count && hand->has_mimics_or_tendons; i++) {
        const struct link *link = &hand->links[i];
        if (!tact_hand_is_independent_joint(hand, i)) {
            x[i] = link->ratio * x[link->coordinate];
        }
    }
}

void tact_hand_apply_mimic_laws(struct tact_hand *hand)
{
    double *q = hand->state.q;
    for (int i = 0; i < hand->count && hand->has_mimics_or_tendons; i++) {
        const struct link *link = &hand->links[i], *of = &hand->links[link->coordinate];
        if (!tact_hand_is_independent_joint(hand, i)) {
            q[i] = link->def.start + link->ratio * (q[link->coordinate] - of->def.start);
        }
    }
}

double tact_hand_drive_value_or_rate(const struct tact_hand *hand, int i, const double *joints)
{
    const struct tact_link_def *def = &hand->links[i].def;
    double sum = 0.0;
    if (!def->tendon_count) {
        return joints[i];
    }
    for (int k = 0; k < def->tendon_count; k++) {
        sum += def->tendon[k].coefficient * joints[def->tendon[k].joint];
    }
    return sum;
}
