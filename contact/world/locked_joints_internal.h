/* Joints whose bounds prescribe their rates in a step of Newton's method (locked_joints.c).
 * Real-time safe. */
#ifndef TACT_CONTACT_LOCKED_JOINTS_INTERNAL_H
#define TACT_CONTACT_LOCKED_JOINTS_INTERNAL_H

struct island;
struct tact_world;

/* Sets the unknowns of the hands of an island, and the Jacobians of its contacts by these. Returns
 * 0 where the matrix of a hand cannot be factored. */
int tact_locked_joints_set_unknowns(struct tact_world *world, const struct island *island);

/* Adds to the right side of the step what the changes of the rates of the locked joints take. */
void tact_locked_joints_add_to_step_rhs(struct tact_world *world, const struct island *island);

/* Sets the impulses of the joint bounds of an island after Newton's step. from, to: impulses of the
 * contacts before and after the step; the bounds' impulses follow the contacts' in `to`. */
void tact_locked_joints_step_impulses(struct tact_world *world, const struct island *island,
                                      const double *from, double *to);

#endif
