#include "rt/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "contact/number.h"
#include "rt/doctor_internal.h"

int tact_doctor_add(struct tact_doctor_report *report, const char *name,
                    enum tact_doctor_status status, const char *fix, const char *found, ...)
{
    if (report->count >= TACT_DOCTOR_CHECKS) {
        return -ENOSPC;
    }
    struct tact_doctor_check *check = &report->check[report->count++];
    memset(check, 0, sizeof *check);
    snprintf(check->name, sizeof check->name, "%s", name);
    snprintf(check->fix, sizeof check->fix, "%s", fix);
    check->status = (int)status;
    va_list args;
    va_start(args, found);
    tact_number_vprint(check->found, sizeof check->found, found, args);
    va_end(args);
    return 0;
}

int tact_doctor_read_text(const char *path, char *buf, size_t size)
{
    buf[0] = '\0';
    FILE *f = fopen(path, "re");
    if (!f) {
        return -errno;
    }
    const int rc = fgets(buf, (int)size, f) ? 0 : -EIO;
    fclose(f);
    buf[strcspn(buf, "\n")] = '\0';
    return rc;
}

static void check_kernel_is_real_time(struct tact_doctor_report *report)
{
    struct utsname name;
    char realtime[16];
    uname(&name);
    tact_doctor_read_text("/sys/kernel/realtime", realtime, sizeof realtime);
    const int is_preempt_rt_kernel = realtime[0] == '1' || strstr(name.version, "PREEMPT_RT");
    const int arm = strcmp(name.machine, "aarch64") == 0;
    char fix[128] = "";
    if (!is_preempt_rt_kernel) {
        snprintf(fix, sizeof fix, "sudo apt-get install linux-image-rt-%s; reboot into it",
                 arm ? "arm64" : "amd64");
    }
    tact_doctor_add(report, "kernel", is_preempt_rt_kernel ? TACT_DOCTOR_OK : TACT_DOCTOR_WARN, fix,
                    "%s %.64s, %s", name.sysname, name.release,
                    is_preempt_rt_kernel ? "PREEMPT_RT" : "not PREEMPT_RT");
}

int tact_doctor_run(struct tact_doctor_report *report)
{
    memset(report, 0, sizeof *report);
    check_kernel_is_real_time(report);
    tact_doctor_check_timing(report);
    tact_doctor_check_hardware(report);
    tact_doctor_check_disk(report);
    return 0;
}

int tact_doctor_worst(const struct tact_doctor_report *report)
{
    int worst = TACT_DOCTOR_OK;
    for (int i = 0; i < report->count; i++) {
        worst = report->check[i].status > worst ? report->check[i].status : worst;
    }
    return worst;
}

const char *tact_doctor_status_name(int status)
{
    static const char *const names[] = {"ok", "warn", "fail"};
    return status >= 0 && status <= TACT_DOCTOR_FAIL ? names[status] : "unknown";
}
