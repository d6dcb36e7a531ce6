/*
 * The device type network: one end of a link to another site, as a session sees it.
 *
 * The thread that ticks owns the endpoint while packets come. After 0.5 s without one it hands the
 * endpoint over to the monitor thread, which makes a new handshake, whose steps take 0.2 ms, and
 * hands it back: one atomic word, no lock.
 */
#ifndef TACT_DEVICES_NETWORK_NETWORK_INTERNAL_H
#define TACT_DEVICES_NETWORK_NETWORK_INTERNAL_H

#include <stdatomic.h>
#include "devices/common/monitor_internal.h"
#include "devices/network/channel_internal.h"
#include "devices/network/endpoint_internal.h"
#include "devices/network/seeded_link_internal.h"
#include "rt/device.h"
#include "rt/remote_terms_internal.h"

enum { TACT_NETWORK_OF_MONITOR, TACT_NETWORK_OF_LOOP }; /* thread that owns the endpoint */

/* Indices of the inputs and outputs that belong to no axis. */
enum { TACT_NETWORK_HELD, TACT_NETWORK_ROUND_TRIP, TACT_NETWORK_FIRST_AXIS_INPUT };
enum {
    TACT_NETWORK_TERMS_OUTPUT = 1,
    TACT_NETWORK_CLUTCHED_OUTPUT,
    TACT_NETWORK_FAULT_OUTPUT,
    TACT_NETWORK_FIRST_AXIS_OUTPUT
};
/* Flags of a sample: bit 0: the deadman is held; bit 1: the site has no deadman; bit 2: its clutch
 * is pressed; bit 3: it is at fault; bit 4: its deadman was not held since the other site was
 * lost. */
enum {
    TACT_NETWORK_FLAG_DEADMAN_HELD = 1,
    TACT_NETWORK_FLAG_NO_DEADMAN = 2,
    TACT_NETWORK_FLAG_CLUTCHED = 4,
    TACT_NETWORK_FLAG_FAULT = 8,
    TACT_NETWORK_FLAG_LOST = 16
};
enum { TACT_NETWORK_AXIS_NUMBERS = 3 }; /* wave, position, force */

/* Input channels that describe the link, after those of the axes: name, unit, value. */
#define TACT_NETWORK_LINK_INPUTS(INPUT)                                                            \
    INPUT(one_way, "s", get_one_way_delay(self))                                                   \
    INPUT(clock_offset, "s", get_clock_offset(self))                                               \
    INPUT(playout, "s", get_playout_delay(self))                                                   \
    INPUT(playout_fill, "s", get_playout_fill(self))                                               \
    INPUT(channel_energy, "J", tact_network_channel_energy(&self->channel))                        \
    INPUT(least_energy, "J", self->channel.least_energy)                                           \
    INPUT(lost, "packets", self->channel.counts.lost_packet_count)                                 \
    INPUT(repeated, "packets", self->channel.counts.recovered_wave_count)                          \
    INPUT(late, "packets", self->channel.counts.late_packet_count)                                 \
    INPUT(duplicate, "packets", self->channel.counts.duplicate_packet_count)                       \
    INPUT(missing, "waves", self->channel.counts.missing_wave_count)                               \
    INPUT(bridged, "waves", self->channel.counts.bridged_wave_count)                               \
    INPUT(limited, "waves", self->channel.counts.limited_wave_count)                               \
    INPUT(kept, "waves", self->channel.counts.held_wave_count)                                     \
    INPUT(dropped, "waves", self->channel.counts.dropped_wave_count)                               \
    INPUT(inserted, "waves", self->channel.counts.inserted_wave_count)                             \
    INPUT(restarts, "1", self->channel.counts.channel_restart_count)                               \
    INPUT(refused, "packets", self->refused_packet_count)                                          \
    INPUT(unsent, "packets", self->unsent_packet_count)                                            \
    INPUT(unsendable, "ticks", self->unsendable_tick_count)                                        \
    INPUT(sessions, "1", self->session)                                                            \
    INPUT(other_clutched, "1", (self->other_end_flags & TACT_NETWORK_FLAG_CLUTCHED) != 0)          \
    INPUT(other_fault, "1", (self->other_end_flags & TACT_NETWORK_FLAG_FAULT) != 0)

struct tact_network_device {
    char name[TACT_DEVICE_NAME];
    struct tact_messages messages;
    int axes;
    int has_own_and_peer_key;
    struct tact_network_endpoint endpoint; /* used only by the thread that `owner` names */
    _Atomic int owner;
    struct tact_monitor_thread monitor;
    int has_monitor_thread;

    /* Used by the thread that runs the ticks: */
    struct tact_network_channel channel;
    struct tact_simulated_link *link; /* simulated link through which packets are sent, or NULL */
    int is_endpoint_owned_by_loop, is_lost;
    uint64_t next_tick;          /* tick that follows the last one read */
    uint64_t skipped_tick_count; /* ticks that the loop skipped before this one */
    int has_read_first_tick;
    int64_t time_in_scene_ns;          /* time of the scene */
    int64_t newest_packet_received_ns; /* time of the newest packet, or at which the monitor
                                          returned the endpoint */
    uint64_t session;               /* number of handshakes for which the channel was restarted */
    uint64_t refused_packet_count;  /* received packets that were refused, for any reason */
    uint64_t unsent_packet_count;   /* packets that could not be sent */
    uint64_t unsendable_tick_count; /* ticks not sent, as a number was not finite or out of range */
    uint64_t terms; /* terms of this end, on which both must agree: rt/remote_terms_internal.h */
    uint32_t other_end_flags; /* flags of the newest sample of the other end; 0 while it is LOST */

    /* number of packets from the other end whose axes or period differ from this end's */
    _Atomic uint64_t mismatched_packet_count;
    /* terms of this end and of the other end, where they differed while the other end's deadman was
     * held; else 0 */
    _Atomic uint64_t terms_of_differing_sites[2];
    _Atomic int has_other_end_fault; /* 1: the other end is at fault */

    /* Used by the monitor thread: */
    int is_searching_for_other_end, is_forgery_reported, is_mismatch_reported, is_terms_reported;
    int is_other_version_reported, is_fault_reported, is_search_reported;
    int64_t search_start_ns; /* time at which the search for the other end began */
    uint64_t reported_session_count, forged_packet_count_at_start;
    int64_t last_fault_report_ns; /* time of the last message about a fault of the other end */
};

/* Reads the number of a setting within a range; whole: it must be a whole number. In
 * channel_settings.c. */
int tact_network_read_range(const struct tact_device_config *config, const char *key, double least,
                            double most, int whole, double *value, struct tact_error *err);
/* Reads the settings axes, repeats, jitter and hold of a device. Returns 0, or -EINVAL with *err
 * set. */
int tact_network_read_channel_options(const struct tact_device_config *config,
                                      struct tact_network_channel_options *out,
                                      struct tact_error *err);

/* network_tick.c: real-time safe. */
void tact_network_device_read(void *self, uint64_t tick, double t, int64_t now_ns,
                              struct tact_device_input *in);
void tact_network_device_write(void *self, const double *out, int64_t now_ns);

/* Number of packets that were refused. Only for the thread that owns the endpoint. */
uint64_t tact_network_device_refused_packet_count(const struct tact_network_device *self);

/* network_monitor.c: makes handshakes while the monitor owns the endpoint, and prints messages. */
void tact_network_device_poll(void *self);
/* Reports the counts of packets when the device is closed. */
void tact_network_device_report(const struct tact_network_device *self);

#endif
