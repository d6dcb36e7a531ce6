#include "rt/doctor_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "rt/loop.h"
#include "rt/realtime_internal.h"

static void add_resource_limit_check(struct tact_doctor_report *report, const char *name,
                                     struct rlimit limit, rlim_t sufficient_limit,
                                     int is_realtime_setting_granted, const char *fix)
{
    char text[32] = "unlimited";
    if (limit.rlim_cur != RLIM_INFINITY) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)limit.rlim_cur);
    }
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= sufficient_limit) {
        tact_doctor_add(report, name, TACT_DOCTOR_OK, "", "%s", text);
    } else if (is_realtime_setting_granted) {
        tact_doctor_add(
            report, name, TACT_DOCTOR_OK, "",
            "%s: the limit does not apply, as this process has the privilege to exceed it", text);
    } else {
        tact_doctor_add(report, name, TACT_DOCTOR_WARN, fix, "%s", text);
    }
}

/* The loop takes a few per cent of a processor; a small budget would stop it in every period. */
static void check_real_time_throttling(struct tact_doctor_report *report)
{
    char real_time_runtime_limit_text[32], rt_period_text[32];
    if (tact_doctor_read_text("/proc/sys/kernel/sched_rt_runtime_us", real_time_runtime_limit_text,
                              sizeof real_time_runtime_limit_text) ||
        tact_doctor_read_text("/proc/sys/kernel/sched_rt_period_us", rt_period_text,
                              sizeof rt_period_text)) {
        tact_doctor_add(report, "rt_throttling", TACT_DOCTOR_OK, "",
                        "the kernel does not limit the processor time of real-time threads");
        return;
    }
    const long real_time_runtime_limit_us = strtol(real_time_runtime_limit_text, NULL, 10),
               period = strtol(rt_period_text, NULL, 10);
    const int is_runtime_share_sufficient =
        real_time_runtime_limit_us < 0 ||
        (double)real_time_runtime_limit_us >= 0.9 * (double)period;
    tact_doctor_add(
        report, "rt_throttling", is_runtime_share_sufficient ? TACT_DOCTOR_OK : TACT_DOCTOR_WARN,
        is_runtime_share_sufficient ? "" : "sudo sysctl -w kernel.sched_rt_runtime_us=950000",
        "the kernel allows real-time threads %ld us of every %ld us", real_time_runtime_limit_us,
        period);
}

static int add_realtime_setting_checks(struct tact_doctor_report *report,
                                       const struct tact_realtime_report *realtime,
                                       const char *name)
{
    for (int i = 0; i < realtime->count; i++) {
        const struct tact_realtime_item *item = &realtime->item[i];
        if (strcmp(item->name, name) == 0) {
            const int is_realtime_granted_with_warning = item->granted && item->why[0];
            tact_doctor_add(report, name,
                            item->granted && !is_realtime_granted_with_warning ? TACT_DOCTOR_OK
                                                                               : TACT_DOCTOR_WARN,
                            item->fix, "%s", item->why[0] ? item->why : "granted");
            return item->granted;
        }
    }
    return 0;
}

static void empty_tick_callback(void *user, uint64_t tick, int64_t planned_ns, int64_t woke_ns)
{
    (void)user;
    (void)tick;
    (void)planned_ns;
    (void)woke_ns;
}

static void add_wake_latency_check(struct tact_doctor_report *report,
                                   const struct tact_loop_stats *stats)
{
    const struct tact_histogram_summary s = tact_histogram_summarise(&stats->wake_latency);
    enum tact_doctor_status status = TACT_DOCTOR_OK;
    if (stats->missed * 100 > stats->ticks || s.p99 > 500000) {
        status = TACT_DOCTOR_FAIL;
    } else if (stats->missed || s.p99 > 100000) {
        status = TACT_DOCTOR_WARN;
    }
    report->wake_latency = s;
    tact_doctor_add(
        report, "latency", status,
        status == TACT_DOCTOR_OK
            ? ""
            : "fix what is listed as warn here, stop other programs, and measure for longer: sudo "
              "apt-get install rt-tests; sudo cyclictest -m -p 80 -i 1000 -D 60",
        "1 kHz for 1 s: wake-up p50 %.1f, p99 %.1f, max %.1f us; %llu late, %llu missed",
        (double)s.p50 / 1e3, (double)s.p99 / 1e3, (double)s.max / 1e3,
        (unsigned long long)stats->late, (unsigned long long)stats->missed);
}

void tact_doctor_check_timing(struct tact_doctor_report *report)
{
    static const char busy[] =
        "run the checks of tact doctor while no loop runs in the same process";
    struct tact_loop_options options = tact_loop_default();
    struct tact_loop_stats *stats = malloc(sizeof *stats);
    if (!stats) {
        tact_doctor_add(report, "latency", TACT_DOCTOR_FAIL, "free some memory", "out of memory");
        return;
    }
    options.ticks = 1000;
    options.tick = empty_tick_callback;
    struct rlimit priority = {0, 0}, memory = {0, 0};
    getrlimit(RLIMIT_RTPRIO, &priority);
    getrlimit(RLIMIT_MEMLOCK, &memory);
    const int rc = tact_loop_run(&options, stats);
    const int is_fifo_granted = add_realtime_setting_checks(report, &stats->realtime, "scheduler");
    add_resource_limit_check(report, "rtprio_limit", priority, (rlim_t)options.realtime.priority,
                             is_fifo_granted, TACT_FIX_RTPRIO);
    const int is_memory_locked = add_realtime_setting_checks(report, &stats->realtime, "memory");
    add_resource_limit_check(report, "memlock_limit", memory, (rlim_t)1 << 30, is_memory_locked,
                             TACT_FIX_MEMLOCK);
    add_realtime_setting_checks(report, &stats->realtime, "affinity");
    add_realtime_setting_checks(report, &stats->realtime, "dma_latency");
    check_real_time_throttling(report);
    if (rc) {
        tact_doctor_add(report, "latency", TACT_DOCTOR_FAIL,
                        rc == -EBUSY ? busy : "see the checks \"scheduler\" and \"memory\"",
                        "not measured: %s", strerror(-rc));
    } else {
        add_wake_latency_check(report, stats);
    }
    free(stats);
}
