/* The doctor: every check is listed with a text, and with a fix where it is not ok. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/clock.h"
#include "rt/doctor.h"
#include "rt/realtime_internal.h"

static struct tact_doctor_report report;

static const struct tact_doctor_check *find_doctor_check(const char *name)
{
    for (int i = 0; i < report.count; i++) {
        if (strcmp(report.check[i].name, name) == 0) {
            return &report.check[i];
        }
    }
    return NULL;
}

static const char *const expected[] = {
    "kernel",      "scheduler",     "rtprio_limit", "memory",     "memlock_limit", "affinity",
    "dma_latency", "rt_throttling", "latency",      "processors", "isolation",     "governor",
    "cstates",     "hypervisor",    "input",        "comedi",     "disk",
};

/* Returns the number of doctor checks that lack a text, or a fix where they are not ok. */
static int count_incomplete_checks(void)
{
    int bad = 0;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const struct tact_doctor_check *c = find_doctor_check(expected[i]);
        bad += !c || !c->found[0] || (c->status != TACT_DOCTOR_OK && !c->fix[0]);
    }
    return bad;
}

static void every_doctor_check_is_reported_completely(void **state)
{
    (void)state;
    const int64_t t0 = tact_clock_now();
    assert_int_equal(tact_doctor_run(&report), 0);
    assert_true(tact_clock_now() - t0 < 5000000000);
    for (int i = 0; i < report.count; i++) {
        const struct tact_doctor_check *c = &report.check[i];
        /* no suggested fix makes a device node accessible to everybody */
        assert_null(strstr(c->fix, "0666"));
        assert_null(strstr(c->fix, "chmod"));
        print_message("%-14s %-4s %s%s%s\n", c->name, tact_doctor_status_name(c->status), c->found,
                      c->fix[0] ? "; " : "", c->fix);
    }
    assert_int_equal(report.count, sizeof expected / sizeof expected[0]);
    assert_int_equal(count_incomplete_checks(), 0);
    assert_true(report.wake_latency.count > 0);
}

static void doctor_checks_are_added_until_the_report_is_full(void **state)
{
    (void)state;
    memset(&report, 0, sizeof report);
    assert_int_equal(tact_doctor_worst(&report), TACT_DOCTOR_OK);
    assert_int_equal(tact_doctor_add(&report, "opencl", TACT_DOCTOR_WARN, "do it", "%d found", 0),
                     0);
    assert_string_equal(find_doctor_check("opencl")->found, "0 found");
    assert_int_equal(tact_doctor_worst(&report), TACT_DOCTOR_WARN);
    for (int i = 1; i < TACT_DOCTOR_CHECKS; i++) {
        assert_int_equal(tact_doctor_add(&report, "x", TACT_DOCTOR_FAIL, "", "y"), 0);
    }
    assert_int_equal(tact_doctor_add(&report, "x", TACT_DOCTOR_OK, "", "y"), -ENOSPC);
    assert_int_equal(report.count, TACT_DOCTOR_CHECKS);
    assert_int_equal(tact_doctor_worst(&report), TACT_DOCTOR_FAIL);
}

/* The text of the check for a device node without access, whatever devices this machine has. */
static void doctor_fixes_open_no_device_to_all_users(void **state)
{
    (void)state;
    const char *const fixes[] = {TACT_FIX_DMA_LATENCY, TACT_FIX_DMA_LATENCY_ABSENT, TACT_FIX_RTPRIO,
                                 TACT_FIX_MEMLOCK, TACT_FIX_RTPRIO_GROUP};
    struct tact_doctor_check c;
    for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++) {
        assert_null(strstr(fixes[i], "MODE="));
        assert_null(strstr(fixes[i], "0666"));
        assert_null(strstr(fixes[i], "chmod"));
        assert_true(strlen(fixes[i]) < sizeof c.fix);
    }
}

static void doctor_reports_a_missing_folder(void **state)
{
    (void)state;
    char *old = getenv("TMPDIR");
    char kept[512] = "";
    if (old) {
        strncpy(kept, old, sizeof kept - 1);
    }
    setenv("TMPDIR", "/nonexistent/folder", 1);
    assert_int_equal(tact_doctor_run(&report), 0);
    assert_int_equal(find_doctor_check("disk")->status, TACT_DOCTOR_FAIL);
    assert_non_null(strstr(find_doctor_check("disk")->found, "/nonexistent/folder: No such file"));
    if (old) {
        setenv("TMPDIR", kept, 1);
    } else {
        unsetenv("TMPDIR");
    }
}

static void doctor_reports_without_privileges(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("not root: the other tests ran without privileges already\n");
        skip();
    }
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setgid(65534) || setuid(65534) || tact_doctor_run(&report)) {
            _exit(1);
        }
        _exit(count_incomplete_checks()                                    ? 2
              : find_doctor_check("scheduler")->status != TACT_DOCTOR_WARN ? 3
                                                                           : 0);
    }
    int wait_status = 0;
    assert_int_equal(waitpid(child, &wait_status, 0), child);
    assert_true(WIFEXITED(wait_status));
    assert_int_equal(WEXITSTATUS(wait_status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_doctor_check_is_reported_completely),
        cmocka_unit_test(doctor_checks_are_added_until_the_report_is_full),
        cmocka_unit_test(doctor_fixes_open_no_device_to_all_users),
        cmocka_unit_test(doctor_reports_a_missing_folder),
        cmocka_unit_test(doctor_reports_without_privileges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
