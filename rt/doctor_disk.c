#include "rt/doctor_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rt/clock.h"
#include "rt/thread_internal.h"

#define DISK_TRIAL_BLOCK_BYTES (256 * 1024)
#define DISK_TRIAL_BLOCK_COUNT 32
#define DISK_TRIAL_TIMEOUT_NS 1000000000LL

/* Data shared with a thread that a faulty disk may block forever; freed by whichever of the two
 * ends last. */
struct disk_write_trial {
    _Atomic int disk_trial_reference_count;
    _Atomic int is_disk_trial_done;
    char path[512];
    int error;
    int blocks;
    int64_t elapsed_ns;
    struct tact_histogram write_latency_histogram; /* latency of one write and fdatasync */
    unsigned char block[DISK_TRIAL_BLOCK_BYTES];
};

static void free_disk_trial(struct disk_write_trial *t)
{
    if (atomic_fetch_sub(&t->disk_trial_reference_count, 1) == 1) {
        free(t);
    }
}

static int write_disk_trial_block(int fd, const unsigned char *data, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(fd, data, size);
        if (n < 0) {
            return errno;
        }
        data += n;
        size -= (size_t)n;
    }
    return fdatasync(fd) ? errno : 0;
}

static void *run_disk_trial(void *arg)
{
    struct disk_write_trial *t = arg;
    const int fd = mkstemp(t->path);
    if (fd < 0) {
        t->error = errno;
    } else {
        unlink(t->path);
        const int64_t start = tact_clock_now();
        int64_t before = start;
        while (t->blocks < DISK_TRIAL_BLOCK_COUNT && before - start < DISK_TRIAL_TIMEOUT_NS &&
               !t->error) {
            t->error = write_disk_trial_block(fd, t->block, sizeof t->block);
            const int64_t block_write_end_ns = tact_clock_now();
            tact_histogram_add(&t->write_latency_histogram, block_write_end_ns - before);
            before = block_write_end_ns;
            t->blocks++;
        }
        t->elapsed_ns = before - start;
        close(fd);
    }
    atomic_store(&t->is_disk_trial_done, 1);
    free_disk_trial(t);
    return NULL;
}

static int did_disk_trial_finish_in_time(struct disk_write_trial *t)
{
    const int64_t end = tact_clock_now() + 2 * DISK_TRIAL_TIMEOUT_NS;
    while (!atomic_load(&t->is_disk_trial_done) && tact_clock_now() < end) {
        tact_clock_sleep_until(tact_clock_now() + 1000000);
    }
    return atomic_load(&t->is_disk_trial_done);
}

static void report_disk_trial(struct tact_doctor_report *report, struct disk_write_trial *t,
                              const char *directory)
{
    static const char advice_to_use_other_disk[] =
        "record to another disk (tact run --record /other/disk/FILE), "
        "and export TMPDIR=/other/disk before tact doctor";
    if (!did_disk_trial_finish_in_time(t)) {
        tact_doctor_add(report, "disk", TACT_DOCTOR_FAIL, advice_to_use_other_disk,
                        "%.128s: a test write to this folder did not finish within 2 s", directory);
        return;
    }
    if (t->error) {
        tact_doctor_add(report, "disk", TACT_DOCTOR_FAIL, advice_to_use_other_disk, "%.128s: %s",
                        directory, strerror(t->error));
        return;
    }
    const double rate = (double)t->blocks * DISK_TRIAL_BLOCK_BYTES * 1e3 / (double)t->elapsed_ns;
    const int is_disk_slow = rate < 20.0 || t->write_latency_histogram.max > 250000000;
    tact_doctor_add(report, "disk", is_disk_slow ? TACT_DOCTOR_WARN : TACT_DOCTOR_OK,
                    is_disk_slow ? advice_to_use_other_disk : "",
                    "%.128s: write and fdatasync of 256 KiB p50 %.2f, max %.2f ms; %.0f MB/s",
                    directory,
                    (double)tact_histogram_quantile(&t->write_latency_histogram, 0.5) / 1e6,
                    (double)t->write_latency_histogram.max / 1e6, rate);
}

void tact_doctor_check_disk(struct tact_doctor_report *report)
{
    const char *temporary_directory_from_environment = getenv("TMPDIR");
    const char *directory =
        temporary_directory_from_environment && temporary_directory_from_environment[0]
            ? temporary_directory_from_environment
            : "/tmp";
    struct disk_write_trial *t = calloc(1, sizeof *t);
    pthread_t thread;
    if (!t) {
        return;
    }
    const int n = snprintf(t->path, sizeof t->path, "%s/tact-doctor-XXXXXX", directory);
    atomic_init(&t->disk_trial_reference_count, 2);
    tact_histogram_reset(&t->write_latency_histogram);
    const struct tact_thread_options options = {.name = "tact-doctor"};
    const int rc = n < (int)sizeof t->path ? tact_thread_start(&thread, &options, run_disk_trial, t)
                                           : -ENAMETOOLONG;
    if (rc) {
        tact_doctor_add(report, "disk", TACT_DOCTOR_FAIL, "export TMPDIR=/tmp", "%.128s: %s",
                        directory, strerror(-rc));
        free(t);
        return;
    }
    pthread_detach(thread);
    report_disk_trial(report, t, directory);
    free_disk_trial(t);
}
