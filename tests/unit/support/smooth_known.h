/* Searches of smooth surfaces that begin with a contact which is already known. */
#ifndef TACT_TESTS_SMOOTH_KNOWN_H
#define TACT_TESTS_SMOOTH_KNOWN_H

#include <math.h>
#include "contact/pair/smooth/search_internal.h"

/* How many of the contacts that a search found without any are missed by searches that begin with
 * one of them, each in turn. same_contact_distance: distance up to which contacts are the same [m].
 */
static inline int count_contacts_missed_by_warm_search(const struct smooth_pair *pair, double near,
                                                       const struct smooth_contact *contact,
                                                       int found, double same_contact_distance)
{
    int missed_contact_count = 0;
    for (int i = 0; i < found && found <= TACT_PIECES; i++) {
        struct smooth_contact again[TACT_PIECES] = {contact[i]};
        int lost, count = tact_smooth_search_contacts(pair, near, 1, again, &lost);
        for (int k = 0; k < found && count <= TACT_PIECES; k++) {
            double best = INFINITY, d[3];
            for (int m = 0; m < count; m++) {
                tact_v3_sub(d, again[m].arm[0], contact[k].arm[0]);
                best = fmin(best, tact_v3_norm(d));
            }
            missed_contact_count += best > same_contact_distance;
        }
    }
    return missed_contact_count;
}

#endif
