/* Ties of mode model: the wall that a robot's joint meets, and that a person's joint feels. The
 * robot's tie drives it to the person's position; in place of its own position and force it sends
 * the wall (rt/wall_internal.h). Real-time safe but for the report. */
#include <math.h>
#include <stdio.h>
#include "contact/number.h"
#include "rt/session/remote_internal.h"

/* Force of a contact on a link's point, converted to the joint of the tie; the contact's side A [N,
 * N m]. */
static double compute_joint_force_of_contact(const struct tact_session *s,
                                             const struct session_remote *r,
                                             const struct tact_contact *c, int link)
{
    tact_hand_jacobian(tact_world_hand(s->world, r->hand), link, c->patch.center, r->jacobian);
    const double *column = r->jacobian + 6 * r->link, *frame = c->patch.frame;
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        sum += c->impulse[axis] * tact_v3_dot(frame + 3 * axis, column) +
               c->impulse[3 + axis] * tact_v3_dot(frame + 3 * axis, column + 3);
    }
    return sum / s->period;
}

/* Force with which the tied joint pushes on what its links touch [N, N m]. */
static double joint_force_on_contacts(const struct tact_session *s, const struct session_remote *r)
{
    double sum = 0.0;
    int count;
    const int *near = tact_world_near(s->world, &count);
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(s->world, near[i]);
        const struct tact_owner owner[2] = {tact_world_owner(s->world, c->a),
                                            tact_world_owner(s->world, c->b)};
        for (int contact_side_of_hand = 0; contact_side_of_hand < 2 && c->touching;
             contact_side_of_hand++) {
            if (owner[contact_side_of_hand].kind == TACT_OWNER_HAND &&
                owner[contact_side_of_hand].index == r->hand) {
                const double force =
                    compute_joint_force_of_contact(s, r, c, owner[contact_side_of_hand].link);
                sum += contact_side_of_hand ? force : -force;
            }
        }
    }
    return sum;
}

void tact_session_send_found_wall(const struct tact_session *s, struct session_remote *r,
                                  double *out)
{
    struct tact_wall_estimate *found = &r->model.wall_found_at_robot;
    if (r->state.ticks > 0.0) {
        const double q = tact_hand_state(tact_world_hand(s->world, r->hand)).q[r->link];
        tact_wall_update_estimate(found, q, joint_force_on_contacts(s, r), r->stiffness, s->period);
    } else {
        *found = (struct tact_wall_estimate){.touching = 0.0};
    }
    /* in the coordinate of the person's joint */
    out[r->out.position] = found->wall.position + r->state.offset;
    out[r->out.force] = found->wall.stiffness;
}

/* Largest wall stiffness that the tie's damper renders passively at a joint: b > K h / 2. */
static double max_passive_stiffness(const struct tact_session *s, const struct session_remote *r)
{
    return 2.0 * r->damping / s->period;
}

void tact_session_render_remote_wall(const struct tact_session *s, struct session_remote *r,
                                     double q, double joint_rate)
{
    struct session_remote_state *state = &r->state;
    const struct tact_device_input *in = &s->devices[r->device].input;
    const struct tact_wall received_wall = {in->channel[r->in.position], in->channel[r->in.force]};
    const double max_stiffness = max_passive_stiffness(s, r);
    r->model.limited += fabs(received_wall.stiffness) > max_stiffness;
    /* The damper acts within the wall, as far as it does not pull. */
    const double wall_force = tact_wall_render(&r->model.wall_rendered_at_person, &received_wall, q,
                                               max_stiffness, s->period);
    state->rate = wall_force * (wall_force - r->damping * joint_rate) > 0.0
                      ? state->force_fraction * wall_force / r->damping +
                            (1.0 - state->force_fraction) * joint_rate
                      : joint_rate;
}

void tact_session_report_walls(struct tact_session *s,
                               void (*report)(struct tact_session *s, const char *event,
                                              const char *text))
{
    char text[512];
    for (int i = 0; i < s->remote_count; i++) {
        const struct session_remote *r = &s->remotes[i];
        if (r->model.limited > 0.0) {
            tact_number_print(text, sizeof text,
                              "the wall at the other site was stiffer than %g N/m or N m/rad, the "
                              "most that joint %s can render (2 damping / period), in %.0f ticks",
                              max_passive_stiffness(s, r), s->hands[r->hand].joint_names[r->link],
                              r->model.limited);
            report(s, "clamped", text);
        }
    }
}
