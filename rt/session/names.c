/* Names of the indices of a session's world, and the reverse. */
#include <errno.h>
#include <string.h>
#include "rt/session/session_internal.h"

const char *tact_session_body_name(const struct tact_session *session, int body)
{
    return session->bodies[body].name;
}

const char *tact_session_joint_name(const struct tact_session *session, int hand, int link)
{
    return session->hands[hand].joint_names[link];
}

const char *tact_session_link_name(const struct tact_session *s, int hand, int link)
{
    const struct session_hand *h = &s->hands[hand];
    return link < h->base_coordinate_count ? h->base_name : h->joint_names[link];
}

int tact_session_find_body(const struct tact_session *session, const char *name)
{
    for (int i = 0; i < tact_world_body_count(session->world); i++) {
        if (!strcmp(session->bodies[i].name, name)) {
            return i;
        }
    }
    return -ENOENT;
}

int tact_session_find_joint(const struct tact_session *session, const char *name)
{
    int joint = 0;
    for (int i = 0; i < tact_world_hand_count(session->world); i++) {
        const int count = tact_hand_count(tact_world_hand(session->world, i));
        for (int k = 0; k < count; k++, joint++) {
            if (!strcmp(session->hands[i].joint_names[k], name)) {
                return joint;
            }
        }
    }
    return -ENOENT;
}

int tact_session_find_pair(struct tact_session *session, const char *name)
{
    for (int i = tact_world_next_pair(session->world, -1); i >= 0;
         i = tact_world_next_pair(session->world, i)) {
        char pair_name[PAIR_NAME_BYTES];
        tact_session_name_pair(session, i, pair_name);
        if (!strcmp(pair_name, name)) {
            return i;
        }
    }
    return -ENOENT;
}
