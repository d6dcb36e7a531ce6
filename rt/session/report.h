/**
 * The report of a run as JSON; the same object in real time and free-wheeling.
 */
#ifndef TACT_RT_SESSION_REPORT_H
#define TACT_RT_SESSION_REPORT_H

#include "../../contact/api.h"
#include "session.h"

TACT_BEGIN_DECLS

/**
 * One JSON object, to be freed with free(); NULL where memory is short. Not real-time safe. Numbers
 * that are not finite are null. Keys: ticks, executed, skipped, late, missed; wake_latency_us and
 * compute_us {p50, p99, p99.9, max}; moments {source, age, age_max, fallbacks, fallback_ticks,
 * source_pairs (measured beside the tick: by OpenCL, or pressure fields by a thread), host_pairs,
 * unmeasured (pairs, times ticks, that could not be measured), ages
 * (pairs by age from 0, the last one: older), time_us {p50, p99, p99.9, max} of a tick's moments,
 * missed: ticks that missed and whose moments took over half a period, methods {NAME: pairs, times
 * ticks, that the host measured so, as named by tact_moments_count_name()}, polygons (of pressure
 * fields beside the tick, where a device could compute them) {device, device_polygons,
 * host_polygons, device_frames, host_frames, device_us, host_us (mean time of a frame with and
 * without the device)}}, age in ticks since the poses were submitted (0: host); contacts (touching
 * pairs at the end), contacts_max; solver {iterations (mean over ticks with contacts),
 * iterations_max, residual (at the end), residual_max, unconverged, counts {NAME: of all ticks, as
 * named by tact_solve_count_name()}}; bodies {NAME: {position [m], quat_wxyz, twist [m/s, rad/s at
 * the centre of mass]}}; joints {NAME: {position, velocity, target, torque, clamped_ticks (in which
 * its target was clamped to its range, of hands with such ranges)}}; ports {NAME of struct
 * tact_session_port: {engaged, force, energy_J,
 * least_energy_J, limited_ticks, and where forces move the joint rate [rad/s, m/s], held_ticks,
 * missing_ticks}}; grips [of struct tact_session_grip: {links, commanded [N],
 * force [N], short_ticks}]; holds [of each body that a hand has touched: {body, hand, touching,
 * slip [m] and turn [rad] so far, grip_force, load_force (sums of the magnitudes of the normal and
 * friction forces at the end [N]), grip_over_load (null without load), touches, slips, releases
 * (their numbers), events [{event: touch, slip or release, time [s]}: the first 32, also in the
 * log], events_left_out}], holds_left_out (bodies times hands beyond the first 256, not followed):
 * a contact slips in the ticks in which its law is at the limit of friction or torsion, by the
 * relative velocity at the centre of its patch, of several contacts the largest; more than 10 um or
 * 1 mrad of it in one go are an event, at its first tick, and a release is one after 10 ms; remotes
 * {NAME of the joint: {engaged, lost_since, force [N m, N], end_of_line [rad, m], tank_J, work_J,
 * link {NAME: of the device's inputs that are of no joint}}}; pairs [{of those whose bounding
 * spheres met or that touched: name (unique: floor/plate#2 is the second between the two), model,
 * touching, normal_force [N], friction_force [N], spin_torque [N m], spin_arm [m], depth [m],
 * mode_ticks {sliding, rolling, without spin: ticks in each enum tact_friction_mode}, limits,
 * ticks, margin, least_margin, outrun_ticks (in which its shapes passed by more than the thinner of
 * them, and its model does not know their gap), meets_inside {body (that both press on, and inside
 * which they overlap each other), time [s] when it was found} where it occurred, moments {by (host
 * or source), cost_us (that the host takes or would take), host_ticks, source_ticks,
 * unmeasured_ticks, age_max}}]; safety {state, trips, fault (what went wrong first, or null)};
 * realtime {granted, refused, why}; log {records, bytes, overruns (ticks lost), event_overruns
 * (events lost)} where one was recorded.
 */
TACT_API char *tact_session_report_json(struct tact_session *session,
                                        const struct tact_session_report *report);

/**
 * Why the pairs slipped, as a JSON array to be freed with free(); NULL where memory is short. Of
 * every pair whose bounding spheres met {name, mode_ticks, limits (those active at the end), margin
 * (at the end; null where it does not touch), ticks {touching, open, friction, edge, spin, joint}:
 * how many ticks it touched, and of those how many at each limit, least_margin}: the least over
 * those ticks, null where there were none. A margin is {normal, slip, friction, spin, edge, joint},
 * see struct tact_margins. Not real-time safe.
 */
TACT_API char *tact_session_slips_json(struct tact_session *session);

TACT_END_DECLS

#endif
