#include "rt/doctor_internal.h"

#include <glob.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_processor_count(struct tact_doctor_report *report)
{
    cpu_set_t allowed_processors;
    const long online_processor_count = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(&allowed_processors);
    sched_getaffinity(0, sizeof allowed_processors, &allowed_processors);
    const int allowed_processor_count = CPU_COUNT(&allowed_processors);
    tact_doctor_add(
        report, "processors", allowed_processor_count > 1 ? TACT_DOCTOR_OK : TACT_DOCTOR_WARN,
        allowed_processor_count > 1 ? ""
                                    : "let the process use two processors: taskset -c 0,1 tact ...",
        "%ld processors online, of which this process may use %d", online_processor_count,
        allowed_processor_count);
}

/* Isolated processors are optional, so this check is never worse than ok; isolation removes the
 * last microseconds of latency. */
static void check_isolated_processors(struct tact_doctor_report *report)
{
    char isolated_cpu_list[128];
    const long last = sysconf(_SC_NPROCESSORS_ONLN) - 1;
    char fix[256] = "";
    tact_doctor_read_text("/sys/devices/system/cpu/isolated", isolated_cpu_list,
                          sizeof isolated_cpu_list);
    if (!isolated_cpu_list[0] && last > 0) {
        snprintf(fix, sizeof fix,
                 "for the shortest tails boot with isolcpus=%ld irqaffinity=0-%ld "
                 "(GRUB_CMDLINE_LINUX in /etc/default/grub; sudo update-grub; reboot)",
                 last, last - 1);
    }
    tact_doctor_add(report, "isolation", TACT_DOCTOR_OK, fix, "isolated processors: %s",
                    isolated_cpu_list[0] ? isolated_cpu_list : "none");
}

static void check_cpu_governor(struct tact_doctor_report *report)
{
    glob_t found;
    char slow_cpu_governor_name[32] = "", text[32];
    size_t n = 0;
    if (glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor", 0, NULL, &found) == 0) {
        n = found.gl_pathc;
        for (size_t i = 0; i < n; i++) {
            if (!tact_doctor_read_text(found.gl_pathv[i], text, sizeof text) &&
                strcmp(text, "performance") != 0) {
                snprintf(slow_cpu_governor_name, sizeof slow_cpu_governor_name, "%s", text);
            }
        }
        globfree(&found);
    }
    if (n == 0) {
        tact_doctor_add(report, "governor", TACT_DOCTOR_OK, "",
                        "no frequency scaling of the processors is visible");
    } else if (slow_cpu_governor_name[0]) {
        tact_doctor_add(report, "governor", TACT_DOCTOR_WARN,
                        "echo performance | sudo tee "
                        "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
                        "%s", slow_cpu_governor_name);
    } else {
        tact_doctor_add(report, "governor", TACT_DOCTOR_OK, "", "performance");
    }
}

/* Deep sleep states cost wake-up time, unless the loop can use /dev/cpu_dma_latency. */
static void check_processor_sleep_states(struct tact_doctor_report *report)
{
    glob_t found;
    long largest_idle_state_exit_latency_us = 0;
    if (glob("/sys/devices/system/cpu/cpu0/cpuidle/state*/latency", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char text[32];
            tact_doctor_read_text(found.gl_pathv[i], text, sizeof text);
            const long idle_state_exit_latency_us = strtol(text, NULL, 10);
            largest_idle_state_exit_latency_us =
                idle_state_exit_latency_us > largest_idle_state_exit_latency_us
                    ? idle_state_exit_latency_us
                    : largest_idle_state_exit_latency_us;
        }
        globfree(&found);
    }
    const int can_open_dma_latency = access("/dev/cpu_dma_latency", W_OK) == 0;
    const int has_deep_sleep_state =
        largest_idle_state_exit_latency_us > 20 && !can_open_dma_latency;
    tact_doctor_add(
        report, "cstates", has_deep_sleep_state ? TACT_DOCTOR_WARN : TACT_DOCTOR_OK,
        has_deep_sleep_state ? "see the check dma_latency, or: sudo cpupower idle-set -D 20" : "",
        "deepest sleep state wakes up in %ld us; the loop %s prevent it",
        largest_idle_state_exit_latency_us, can_open_dma_latency ? "can" : "cannot");
}

static void check_for_hypervisor(struct tact_doctor_report *report)
{
    char *line = NULL;
    size_t size = 0;
    int is_virtual_machine = 0;
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && !is_virtual_machine && getline(&line, &size, f) > 0) {
        is_virtual_machine = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor");
    }
    if (f) {
        fclose(f);
    }
    free(line);
    tact_doctor_add(
        report, "hypervisor", is_virtual_machine ? TACT_DOCTOR_WARN : TACT_DOCTOR_OK,
        is_virtual_machine ? "run on the bare machine, or on the host: virsh vcpupin DOMAIN VCPU "
                             "CPU for every VCPU"
                           : "",
        "%s",
        is_virtual_machine ? "a virtual machine: its host can stop any processor at any time"
                           : "none");
}

/* Checks nodes without opening them: opening a device with faulty force feedback blocks for 30 s.
 */
static void check_device_nodes(struct tact_doctor_report *report, const char *name,
                               const char *device_node_pattern, int mode,
                               const char *advice_if_no_device_node,
                               const char *advice_if_node_access_denied)
{
    glob_t found;
    size_t n = 0, accessible_node_count = 0;
    if (glob(device_node_pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            /* /dev/comedi0_subd1 is a subdevice, not a device of its own */
            bool is_node_of_whole_device = !strchr(found.gl_pathv[i], '_');
            n += is_node_of_whole_device;
            accessible_node_count +=
                is_node_of_whole_device && access(found.gl_pathv[i], mode) == 0;
        }
        globfree(&found);
    }
    if (n == 0) {
        tact_doctor_add(report, name, TACT_DOCTOR_OK, advice_if_no_device_node, "no %s",
                        device_node_pattern);
    } else {
        tact_doctor_add(report, name, accessible_node_count < n ? TACT_DOCTOR_WARN : TACT_DOCTOR_OK,
                        accessible_node_count < n ? advice_if_node_access_denied : "",
                        "%zu devices present, of which this user may open %zu", n,
                        accessible_node_count);
    }
}

void tact_doctor_check_hardware(struct tact_doctor_report *report)
{
    check_processor_count(report);
    check_isolated_processors(report);
    check_cpu_governor(report);
    check_processor_sleep_states(report);
    check_for_hypervisor(report);
    check_device_nodes(
        report, "input", "/dev/input/event*", R_OK,
        "to use a pad or SpaceMouse plug it in; in a container: docker run --device "
        "/dev/input",
        "tact devices lists the group or udev rule that opens each; for all: sudo usermod "
        "-aG input \"$USER\"; log in again");
    check_device_nodes(
        report, "comedi", "/dev/comedi[0-9]*", R_OK | W_OK,
        "to use a data acquisition board: sudo modprobe its driver (comedi_test to try "
        "without one)",
        "tact devices lists the group or udev rule that opens each");
}
