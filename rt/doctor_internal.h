/* The doctor's groups of checks; each appends to the report. */
#ifndef TACT_RT_DOCTOR_INTERNAL_H
#define TACT_RT_DOCTOR_INTERNAL_H

#include <stddef.h>

#include "rt/doctor.h"

/* Reads the first line of a small file without its newline; buf is empty on failure. Returns 0 or a
 * negative errno. */
int tact_doctor_read_text(const char *path, char *buf, size_t size);

/* Adds the timing checks: granted real-time settings, their limits, and a measured loop. */
void tact_doctor_check_timing(struct tact_doctor_report *report);

/* Adds the hardware checks: processors, power saving, virtualisation, devices and their
 * permissions. */
void tact_doctor_check_hardware(struct tact_doctor_report *report);

/* Adds the check of the write latency of the disk under $TMPDIR. */
void tact_doctor_check_disk(struct tact_doctor_report *report);

#endif
