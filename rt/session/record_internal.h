/* The record of a tick: its fields, and the conversion to and from the session. */
#ifndef TACT_RT_SESSION_RECORD_INTERNAL_H
#define TACT_RT_SESSION_RECORD_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include "rt/log/log_reader.h"
#include "rt/session/session.h"

#define SESSION_PRELOAD_UNIT_TEXT "depth beyond the target kept from the start m"

/* Offsets of a contact's values from its first field, and their numbers. */
enum {
    CONTACT_STATUS_OFFSET = 0,  /* input: status, age */
    CONTACT_MOMENTS_OFFSET = 2, /* input: V, c, C, g */
    CONTACT_WRENCH_OFFSET = 18,
    CONTACT_PATCH_OFFSET = 24,      /* patch: centre, normal, depth, spin arm */
    CONTACT_WARM_START_OFFSET = 32, /* impulse, point */
    CONTACT_LAST_NORMAL_OFFSET = 41,
    CONTACT_LIMITS_OFFSET = 44,
    CONTACT_MARGINS_OFFSET = 45,
    CONTACT_EXTRAS_OFFSET = 51
};

/* Optional fields of a contact: how many numbers each has; 0: it is absent. */
struct session_optional_contact_fields {
    int pieces;  /* offset of the pieces of a contact patch that may be split into planar pieces */
    int preload; /* 1: the contact belongs to a pair that starts deeper than its target */
    int springs; /* offset of the tangential springs of a contact with tangential compliance, and of
                    its pieces */
    int state;   /* number of state variables of the contact model */
    int measured; /* number of values of the poses at which a contact may have been measured */
};

/* Numbers of the session's state that a record has, in one field or a part of it. */
struct session_record_copy {
    double *state;
    uint32_t field, number_count; /* field: offset in the record */
};

struct session_record_copies {
    struct session_record_copy *copy;
    uint32_t count, restored_count, capacity; /* restored_count: of the first ones, which a replay
                                                 restores */
};

/* record_copies.c: lists the copies, once the fields are laid out. 0 or -ENOMEM. */
int tact_session_list_record_copies(struct tact_session *s);
/* Real-time safe. values: those of the record. */
void tact_session_copy_state_to_record(const struct tact_session *s, double *values);
void tact_session_copy_record_to_state(const struct tact_session *s, const double *values);

/* contacts.c: layout and values of the contacts in the record. */
int tact_session_layout_contacts(struct tact_session *s, const struct tact_log *log,
                                 struct tact_error *err);
void tact_session_fill_contacts(struct tact_session *s, double *values);
void tact_session_restore_contacts(struct tact_session *s, const double *values);
/* Returns the values of a pair in a replayed record, from its first field on. */
const double *tact_session_logged_contact_values(const struct tact_session *s, int pair,
                                                 const struct tact_record *record);

/* fields.c: the layout, and the record to and from the session. log: the one that is replayed, or
 * NULL. */
int tact_session_layout_record_fields(struct tact_session *s, const struct tact_log *log,
                                      struct tact_error *err);
void tact_session_fill_record(struct tact_session *s, struct tact_record *record);
void tact_session_replay_inputs(struct tact_session *s, const struct tact_record *record);
void tact_session_restore_state(struct tact_session *s, const struct tact_record *record);
/* Number of a remote joint's state numbers in the record. */
size_t tact_session_remote_state_number_count(const struct tact_session *s);

#endif
