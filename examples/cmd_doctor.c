/* tact doctor: whether this machine is ready for real time, and how to fix what is not. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include "command.h"
#include "kernels/opencl.h"
#include "rt/doctor.h"
#include "text.h"

#define MAX_TESTED_DEVICES 8 /* maximum number of OpenCL devices to test */

static const char help[] =
    "usage: tact doctor [OPTION]...\n\n"
    "Looks at what this machine has and lacks for a 1 kHz loop: kernel, scheduler, memory, a loop\n"
    "measured for a second, processors, devices, disk, OpenCL; and says how to fix what is "
    "bad.\n\n"
    "  --json   one JSON object on stdout: {checks: [{name, status, found, fix}]}, status one of\n"
    "           ok, warn, fail\n"
    "  --help   this text\n\n"
    "exit codes:\n"
    "  0  all is well\n"
    "  1  something works, but worse than it could (warn)\n"
    "  2  something does not work as it is (fail), or bad usage\n\n"
    "example:\n"
    "  tact doctor\n";

static void add_opencl_device(struct tact_doctor_report *report, const struct tact_opencl_device *d)
{
    const char *fix = d->status ? "install or update the device's driver, or name another device "
                                  "in the scene (moments.device); the host computes meanwhile"
                                : "";
    tact_doctor_add(report, "opencl", d->status ? TACT_DOCTOR_WARN : TACT_DOCTOR_OK, fix,
                    "%s (%s), %s precision: %s; a launch takes %.1f us", d->name, d->platform,
                    d->fp64 ? "double" : "single", d->verdict, d->launch_us);
}

/* OpenCL is never a failure: without it the host computes moments. */
static void test_opencl_devices(struct tact_doctor_report *report)
{
    struct tact_opencl_device tested_opencl_devices[MAX_TESTED_DEVICES];
    struct tact_error err = {.line = 0};
    size_t count = 0;
    if (tact_opencl_list(tested_opencl_devices, MAX_TESTED_DEVICES, &count, 1, &err)) {
        tact_doctor_add(report, "opencl", TACT_DOCTOR_WARN,
                        "apt-get install pocl-opencl-icd, or the driver of the GPU", "%s",
                        err.text);
    }
    for (size_t i = 0; i < count && i < MAX_TESTED_DEVICES; i++) {
        add_opencl_device(report, &tested_opencl_devices[i]);
    }
}

static int print_doctor_json(const struct tact_doctor_report *report)
{
    json_t *checks = json_array();
    for (int i = 0; i < report->count; i++) {
        const struct tact_doctor_check *c = &report->check[i];
        json_array_append_new(checks, json_pack("{s:s, s:s, s:s, s:s}", "name", c->name, "status",
                                                tact_doctor_status_name(c->status), "found",
                                                c->found, "fix", c->fix));
    }
    json_t *all = json_pack("{s:o}", "checks", checks);
    return text_print_json(all);
}

static void print_doctor_table(const struct tact_doctor_report *report)
{
    int warning_count = 0, failure_count = 0;
    for (int i = 0; i < report->count; i++) {
        const struct tact_doctor_check *c = &report->check[i];
        printf("%-5s %-13s %s\n", tact_doctor_status_name(c->status), c->name, c->found);
        if (c->status != TACT_DOCTOR_OK && c->fix[0]) {
            printf("%-5s %-13s fix: %s\n", "", "", c->fix);
        }
        warning_count += c->status == TACT_DOCTOR_WARN;
        failure_count += c->status == TACT_DOCTOR_FAIL;
    }
    printf("\n%d checks, %d warnings, %d failures\n", report->count, warning_count, failure_count);
}

int cmd_doctor(int argc, char **argv)
{
    int json = 0, end = command_parse_only_json(argc, argv, help, &json);
    if (end >= 0) {
        return end;
    }
    if (argc != optind) {
        return command_print_usage_error(argv[0], "no argument is expected, not \"%s\"",
                                         argv[optind]);
    }
    struct tact_doctor_report *report = malloc(sizeof *report);
    if (!report || tact_doctor_run(report)) {
        fprintf(stderr, "%s: no memory\n", argv[0]);
        free(report);
        return EXIT_USAGE;
    }
    test_opencl_devices(report);
    int worst = tact_doctor_worst(report);
    if (!json) {
        print_doctor_table(report);
    } else if (print_doctor_json(report)) {
        worst = TACT_DOCTOR_FAIL;
    }
    free(report);
    return worst == TACT_DOCTOR_OK ? 0 : (worst == TACT_DOCTOR_WARN ? 1 : 2);
}
