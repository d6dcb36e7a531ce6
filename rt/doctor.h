/**
 * The checks of `tact doctor`: whether this machine is ready for a 1 kHz loop, and how to fix it.
 *
 * Needs no root and changes nothing; takes about two seconds, less than five on any machine. Device
 * nodes are examined without opening them, as that could block.
 *
 * Nothing here is real-time safe but tact_doctor_worst() and tact_doctor_status_name().
 */
#ifndef TACT_RT_DOCTOR_H
#define TACT_RT_DOCTOR_H

#include "../contact/api.h"
#include "histogram.h"

TACT_BEGIN_DECLS

#define TACT_DOCTOR_CHECKS 32 /**< maximum number of checks */

/** What a check found. */
enum tact_doctor_status {
    TACT_DOCTOR_OK,
    TACT_DOCTOR_WARN, /**< works, but not as well as possible */
    TACT_DOCTOR_FAIL, /**< will not work */
};

/** One check of this machine. */
struct tact_doctor_check {
    char name[24];   /**< "kernel", "scheduler", "latency", ... */
    int status;      /**< enum tact_doctor_status */
    char found[256]; /**< what was found */
    char fix[384];   /**< how to fix it: a command or setting; may be empty if status is ok */
};

/** All checks. */
struct tact_doctor_report {
    int count;                                          /**< number of checks */
    struct tact_doctor_check check[TACT_DOCTOR_CHECKS]; /**< [count] checks, in a fixed order */
    /** wake-up latency of the measured loop [ns]; count 0: not measured */
    struct tact_histogram_summary wake_latency;
};

/**
 * Adds a check; found is printf-like. For checks outside rt (OpenCL). Not real-time safe.
 * @retval 0
 * @retval -ENOSPC the report is full
 */
TACT_API int tact_doctor_add(struct tact_doctor_report *report, const char *name,
                             enum tact_doctor_status status, const char *fix, const char *found,
                             ...) __attribute__((format(printf, 5, 6)));

/**
 * Clears the report and makes every check of rt: kernel, scheduler, memory, timing of a 1 kHz
 * loop over one second, processors, power saving, virtualisation, input and comedi devices, and the
 * disk under $TMPDIR. Not real-time safe.
 * @retval 0; for the worst status see tact_doctor_worst()
 */
TACT_API int tact_doctor_run(struct tact_doctor_report *report);

/** The worst status in the report, enum tact_doctor_status. */
TACT_API int tact_doctor_worst(const struct tact_doctor_report *report);

/** "ok", "warn", "fail". */
TACT_API const char *tact_doctor_status_name(int status);

TACT_END_DECLS

#endif
