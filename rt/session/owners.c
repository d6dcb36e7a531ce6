/* The owners of shapes in the world by their names in the scene. */
#include <string.h>
#include "rt/session/session_internal.h"

struct tact_owner tact_session_body_owner(const struct tact_scene *scene, const char *name)
{
    struct tact_owner owner = {TACT_OWNER_FIXED, 0, 0};
    int movable_body_count = 0;
    for (uint32_t i = 0; name && i < scene->bodies_count; i++) {
        const struct tact_scene_body *body = &scene->bodies[i];
        if (!strcmp(body->name, name)) {
            owner.kind = body->fixed ? TACT_OWNER_FIXED : TACT_OWNER_BODY;
            owner.index = body->fixed ? 1 + (int)i : movable_body_count;
        }
        movable_body_count += !body->fixed;
    }
    return owner;
}

int tact_session_link_index(const struct tact_scene_hand *hand, const char *name)
{
    for (uint32_t i = 0; name && i < hand->links_count; i++) {
        if (!strcmp(hand->links[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

static int has_joint_resistance(const struct tact_scene_joint *joint)
{
    return joint->lower < joint->upper || joint->friction > 0.0;
}

/* The joint that leads a group of joints that are tied together, for any joint of the group. */
static const char *find_leading_joint(const struct tact_scene_link *link)
{
    return link->joint.mimic ? link->joint.mimic->joint : link->name;
}

int tact_session_joint_has_stops(const struct tact_scene_hand *hand, uint32_t link)
{
    const char *leading_joint = find_leading_joint(&hand->links[link]);
    int has_coupled_joint_resistance = has_joint_resistance(&hand->links[link].joint);
    for (uint32_t i = 0; i < hand->links_count; i++) {
        has_coupled_joint_resistance |= has_joint_resistance(&hand->links[i].joint) &&
                                        !strcmp(find_leading_joint(&hand->links[i]), leading_joint);
    }
    return has_coupled_joint_resistance;
}

struct tact_owner tact_session_find_owner(const struct tact_scene *scene, const char *name)
{
    const char *dot = strchr(name, '.');
    for (uint32_t i = 0; dot && i < scene->hands_count; i++) {
        const struct tact_scene_hand *hand = &scene->hands[i];
        const size_t length = strlen(hand->name);
        if (length == (size_t)(dot - name) && !memcmp(hand->name, name, length)) {
            int is_base_link = hand->base && !strcmp(dot + 1, "base");
            if (is_base_link && hand->base->fixed) {
                return tact_session_body_owner(scene, name);
            }
            int link = is_base_link ? (int)tact_scene_base_links(hand) - 1
                                    : tact_session_link_index(hand, dot + 1);
            return (struct tact_owner){TACT_OWNER_HAND, (int)i, link};
        }
    }
    return tact_session_body_owner(scene, name);
}
