/* Reading the contents of a log's records into struct tact_log; log_records.c. */
#ifndef TACT_RT_LOG_LOG_SCAN_INTERNAL_H
#define TACT_RT_LOG_LOG_SCAN_INTERNAL_H

#include "log_internal.h"
#include "mcap_internal.h"

/* Ensures capacity for one more element of an array that grows by doubling; array: its address. */
int tact_log_grow_array(void *array, size_t count, size_t element);

/* The functions below each parse one record and store it in log. @retval 0, -EBADMSG or -ENOMEM,
 * or as stated */
int tact_log_scan_facts(struct tact_log *log, struct tact_byte_span content);
int tact_log_scan_attachment(struct tact_log *log, struct tact_byte_span content);
int tact_log_scan_channel(struct tact_log *log, struct tact_byte_span content);
int tact_log_scan_tick(struct tact_log *log, const struct tact_mcap_message *message);
int tact_log_scan_event(struct tact_log *log, const struct tact_mcap_message *message);

/* A schema that is intact but not of tact is an error, not damage: -EINVAL with *err set. */
int tact_log_scan_schema(struct tact_log *log, struct tact_byte_span content,
                         struct tact_error *err);

/* Counts a message in its topic, and the sequence numbers that are missing before it as lost. */
void tact_log_count_message(struct tact_log *log, const struct tact_mcap_message *message);

#endif
