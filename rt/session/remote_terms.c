/* Terms of a scene's ties, on which the other site must agree. */
#include <string.h>
#include "rt/remote_terms_internal.h"
#include "rt/session/remote_internal.h"

/* Type of the joint that a tie is of, or name of its coordinate of a base that moves. */
static const char *joint_kind_by_name(const struct tact_scene *scene, const char *name)
{
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        const struct tact_scene_hand *hand = &scene->hands[i];
        const size_t length = strlen(hand->name);
        if (strncmp(name, hand->name, length) != 0 || name[length] != '.') {
            continue;
        }
        for (uint32_t k = 0; k < hand->links_count; k++) {
            const struct tact_scene_link *link = &hand->links[k];
            if (!strcmp(name + length + 1, link->name)) {
                return k < tact_scene_base_links(hand) ? link->name : link->joint.type;
            }
        }
    }
    return "slide";
}

double tact_session_remote_terms(const struct tact_scene *scene, const char *device)
{
    uint64_t terms = 0;
    double tie_wave_impedances[6];
    size_t count = 0;
    for (uint64_t axis = 0; axis < 6; axis++) {
        for (uint32_t i = 0; i < scene->remotes_count; i++) {
            const struct tact_scene_remote *remote = &scene->remotes[i];
            if (remote->axis == axis && !strcmp(remote->device, device)) {
                terms += tact_remote_terms_of_axis(axis, remote->mode,
                                                   joint_kind_by_name(scene, remote->joint));
                tie_wave_impedances[count++] = remote->impedance;
            }
        }
    }
    return count ? (double)(terms + tact_remote_terms_of_impedances(tie_wave_impedances, count))
                 : 0.0;
}
