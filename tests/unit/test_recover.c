/* Recovery of killed recorders: nothing committed is lost, and damage is refused or stated. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <dirent.h>
#include <time.h>
#include <cmocka.h>
#include "log_session.h"
#include "rt/log/recover.h"
#include "support/campaign.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define KILLS 20
#define FUZZ 100
#else
#define KILLS campaign_size(20, 100)
#define FUZZ campaign_size(300, 1500)
#endif

/* What a child had done when it was killed. */
struct shared {
    _Atomic uint64_t ticks, events, notes;
};

static struct shared *shared;
static char folder[64]; /* for the rings, in memory */

static const struct tact_messages silent = {NULL, NULL};

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/dev/shm/tact_test_XXXXXX");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return mkdtemp(folder) && shared != MAP_FAILED ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* no test leaves anything there */
}

static struct tact_recorder_options small_options(void)
{
    struct tact_recorder_options options = session_options();
    options.ring_folder = folder;
    options.ring_ticks = 512;
    options.chunk_ns = 50000000;
    return options;
}

/* Ticks as fast as they are taken, or one in 50 us; every 7th with an event, every 101st a note. */
static void record_for_ever(const char *path, const struct tact_recorder_options *options, int slow)
{
    struct tact_recorder *recorder;

    if (session_open(path, options, silent, &recorder) != 0)
        _exit(1);
    for (uint64_t tick = 0;; tick++) {
        session_run(recorder, tick, 1);
        atomic_store(&shared->ticks, tick + 1);
        if (tick % 7 == 0 &&
            tact_recorder_event_rt(recorder, atomic_load(&shared->events), 0, "event", "") == 0)
            atomic_fetch_add(&shared->events, 1);
        if (tick % 101 == 0 &&
            tact_recorder_event(recorder, atomic_load(&shared->notes), 0, "note", "") == 0)
            atomic_fetch_add(&shared->notes, 1);
        if (slow)
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

static void kill_child(pid_t child)
{
    int status;

    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

static void wait_us(uint64_t us)
{
    struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

/* Leaves a log and its rings at `path`, killed `us` after at least `ticks` ticks. */
static void record_and_kill(const char *path, const struct tact_recorder_options *options, int slow,
                            uint64_t ticks, uint64_t us)
{
    atomic_store(&shared->ticks, 0);
    atomic_store(&shared->events, 0);
    atomic_store(&shared->notes, 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        record_for_ever(path, options, slow);
    while (atomic_load(&shared->ticks) < ticks && waitpid(child, NULL, WNOHANG) == 0)
        wait_us(100);
    wait_us(us);
    kill_child(child);
}

/* Each kind of event was numbered by its maker: all of them are there, once and in order. */
static void check_events(const struct tact_log *log, const char *name, uint64_t least)
{
    const struct tact_log_event *event;
    uint64_t next = 0;

    for (size_t i = 0; (event = tact_log_event(log, i)); i++) {
        if (strcmp(event->name, name) == 0)
            assert_int_equal(event->tick, next++);
    }
    assert_in_range(next, least, least + 1);
}

static uint64_t check_recovered(const char *path)
{
    uint64_t committed = atomic_load(&shared->ticks);
    struct tact_log *log;

    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    const struct tact_log_state *found = tact_log_state(log);
    assert_true(found->complete);
    assert_in_range(found->ticks, committed, committed + 1);
    assert_int_equal(found->missing, 0);
    assert_int_equal(session_compare(log, 0), found->ticks);
    check_events(log, "event", atomic_load(&shared->events));
    check_events(log, "note", atomic_load(&shared->notes));
    assert_string_equal(tact_log_fact(log, "build_id"), "0123abcd");
    assert_int_equal(tact_log_attachment_count(log), 3);
    tact_log_close(log);
    return committed;
}

/* The rings that are in the folder; "" where there are none. */
static const char *ring_path(void)
{
    static char path[400];
    DIR *dir = opendir(folder);
    struct dirent *entry;

    path[0] = '\0';
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] != '.')
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    }
    closedir(dir);
    return path;
}

static void every_committed_tick_is_recovered(void **state)
{
    (void)state;
    const char *path = session_path("recovered");
    struct tact_recover_report report;
    uint64_t seed = 1 ^ campaign_seed(), ticks = 0, added = 0, cut = 0;

    for (int run = 0; run < KILLS; run++) {
        struct tact_recorder_options options = small_options();
        options.zstd_level = run % 3 == 0 ? 0 : 1;
        options.derived_every = run % 2 ? 10 : 0;
        options.chunk_bytes = run % 5 == 0 ? 10000 : 1 << 20;
        options.ring_events = 4096;
        unlink(path);
        record_and_kill(path, &options, run % 4 == 0, (uint64_t)(run % 4 != 1),
                        session_random(&seed) % 40000);
        struct tact_error err = {0};
        int rc = tact_log_recover(path, folder, &report, &err);
        if (rc != 0 && atomic_load(&shared->ticks) == 0) {
            if (rc != -ENODATA && rc != -EINVAL && rc != -ENOENT)
                fail_msg("run %d: %d %s", run, rc, err.text);
            unlink(ring_path()); /* of a log that was killed before its head was written */
            continue;
        }
        if (rc != 0)
            fail_msg("run %d: %s", run, err.text);
        assert_true(report.rings && !report.counters_damaged);
        assert_int_equal(report.ticks_lost + report.events_lost, 0);
        ticks += check_recovered(path);
        added += report.ticks_added;
        cut += report.bytes_cut > 0;
        assert_int_equal(tact_log_recover(path, folder, &report, NULL), 0);
        assert_true(report.was_complete);
    }
    print_message("%d kills: %lu ticks committed, %lu of them only in memory, %lu records cut, "
                  "count lost: 0\n",
                  KILLS, (unsigned long)ticks, (unsigned long)added, (unsigned long)cut);
    unlink(path);
}

/* Recovery is itself killed, again and again. */
static void recovery_may_be_killed(void **state)
{
    (void)state;
    const char *path = session_path("twice");
    struct tact_recover_report report;
    uint64_t seed = 2 ^ campaign_seed();
    int unfinished = 0;

    for (int run = 0; run < KILLS / 4; run++) {
        struct tact_recorder_options options = small_options();
        options.ring_ticks = 4096;
        options.ring_events = 4096;
        options.zstd_level = 9;
        options.chunk_bytes = 20000;
        record_and_kill(path, &options, 0, 3000, session_random(&seed) % 3000);
        for (int k = 0; k < 5; k++) {
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0)
                _exit(tact_log_recover(path, folder, NULL, NULL) != 0);
            wait_us(session_random(&seed) % 15000);
            kill_child(child);
        }
        assert_int_equal(tact_log_recover(path, folder, &report, NULL), 0);
        unfinished += !report.was_complete;
        assert_int_equal(report.ticks_lost + report.events_lost, 0);
        check_recovered(path);
    }
    print_message("%d recoveries, %d of them left to the last attempt\n", KILLS / 4, unfinished);
    unlink(path);
}

struct bytes {
    uint8_t *data;
    size_t size;
};

static struct bytes read_file(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0 && fstat(fd, &status) == 0);
    struct bytes bytes = {malloc((size_t)status.st_size + 1), (size_t)status.st_size};
    assert_int_equal(read(fd, bytes.data, bytes.size), bytes.size);
    close(fd);
    return bytes;
}

/* In place, so that the log keeps its inode and with it its rings. */
static void write_file(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

/* One flipped byte, or an end that is missing, in the rings or in the log. */
static void damaged_rings_are_refused_or_stated(void **state)
{
    (void)state;
    const char *path = session_path("fuzz");
    struct tact_recorder_options options = small_options();
    uint64_t seed = 3 ^ campaign_seed();
    int refused = 0, stated = 0, harmless = 0;

    options.ring_ticks = 64;
    options.ring_events = 8;
    record_and_kill(path, &options, 1, 400, 7000);
    char rings[400];
    strcpy(rings, ring_path());
    struct bytes log = read_file(path), ring = read_file(rings);
    for (int run = 0; run < FUZZ; run++) {
        uint64_t at = session_random(&seed) % (run % 3 == 0 ? 1500 : ring.size);
        uint8_t flip = (uint8_t)(1 + session_random(&seed) % 255);
        size_t size = run % 10 == 9 ? at : ring.size;
        struct tact_recover_report report;

        ring.data[at] ^= flip;
        write_file(path, log.data, log.size);
        write_file(rings, ring.data, size);
        int rc = tact_log_recover(path, folder, &report, NULL);
        ring.data[at] ^= flip;
        if (rc != 0) {
            struct bytes left = read_file(path);
            assert_int_equal(left.size, log.size);
            assert_memory_equal(left.data, log.data, log.size);
            assert_int_equal(access(rings, F_OK), 0);
            free(left.data);
            refused++;
        } else if (report.ticks_lost + report.events_lost > 0 || report.counters_damaged) {
            struct tact_log *read;
            assert_int_equal(tact_log_open(path, &read, NULL), 0);
            assert_true(tact_log_state(read)->complete);
            tact_log_close(read);
            stated++;
        } else {
            check_recovered(path);
            harmless++;
        }
    }
    print_message("%d damaged rings: %d refused, %d with the loss stated, %d without a loss\n",
                  FUZZ, refused, stated, harmless);
    assert_true(refused > 0 && stated > 0 && harmless > 0);
    unlink(rings);
    free(log.data);
    free(ring.data);
    unlink(path);
}

/* The log is cut or changed after the kill: the rings fill in, or recovery refuses. */
static void damaged_logs_are_completed_or_refused(void **state)
{
    (void)state;
    const char *path = session_path("changed");
    struct tact_recorder_options options = small_options();
    struct tact_recover_report report;
    uint64_t seed = 4 ^ campaign_seed();
    int refused = 0, completed = 0;

    options.ring_ticks = 256;
    options.chunk_bytes = 30000;
    record_and_kill(path, &options, 1, 400, 3000);
    char rings[400];
    strcpy(rings, ring_path());
    struct bytes log = read_file(path), ring = read_file(rings);
    for (int run = 0; run < FUZZ / 5; run++) {
        uint64_t at = session_random(&seed) % log.size;
        bool cut = run % 2;
        log.data[at] ^= 0x10;
        write_file(path, log.data, cut ? at : log.size);
        log.data[at] ^= 0x10;
        write_file(rings, ring.data, ring.size);
        int rc = tact_log_recover(path, folder, &report, NULL);
        if (rc != 0) {
            refused++;
        } else {
            check_recovered(path);
            completed++;
        }
    }
    print_message("%d cut or changed logs: %d refused, %d completed\n", FUZZ / 5, refused,
                  completed);
    assert_true(refused > 0);
    /* Another session's log in the same place, with these rings. */
    write_file(path, log.data, log.size);
    write_file(rings, ring.data, ring.size);
    log.data[100] ^= 1;
    write_file(path, log.data, log.size);
    assert_int_equal(tact_log_recover(path, folder, &report, NULL), -EBADMSG);
    unlink(rings);
    free(log.data);
    free(ring.data);
    unlink(path);
}

static void without_rings_the_file_is_finished(void **state)
{
    (void)state;
    const char *path = session_path("alone");
    struct tact_recorder_options options = small_options();
    struct tact_recover_report report;
    struct tact_log *log;

    record_and_kill(path, &options, 1, 400, 0);
    unlink(ring_path());
    assert_int_equal(tact_log_recover(path, folder, &report, NULL), 0);
    assert_false(report.rings || report.was_complete);
    assert_int_equal(report.ticks_added, 0);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_true(tact_log_state(log)->complete);
    assert_int_equal(session_compare(log, 0), report.ticks);
    assert_string_equal(tact_log_fact(log, "recovered_ticks"), "0");
    tact_log_close(log);

    /* No tmpfs, and no folder: recording goes on without, and says so. */
    const char *const elsewhere[] = {TACT_BINARY_DIR, "/nonexistent"};
    for (int i = 0; i < 2; i++) {
        struct heard heard = {0};
        struct tact_recorder *recorder;
        options.ring_folder = elsewhere[i];
        assert_int_equal(
            session_open(path, &options, (struct tact_messages){hear, &heard}, &recorder), 0);
        assert_int_equal(heard.warnings, 1);
        assert_non_null(strstr(heard.text, "if this process is killed"));
        session_run(recorder, 0, 100);
        assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    }
    unlink(path);
}

static void a_log_in_use_is_left_alone(void **state)
{
    (void)state;
    const char *path = session_path("used");
    struct tact_recorder_options options = small_options();
    struct tact_recorder *recorder;
    struct heard heard = {0};
    struct tact_log *log;

    assert_int_equal(session_open(path, &options, silent, &recorder), 0);
    session_run(recorder, 0, 10);
    assert_int_equal(tact_log_recover(path, folder, NULL, NULL), -EBUSY);
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    assert_int_equal(tact_log_recover("/nonexistent/x.mcap", folder, NULL, NULL), -ENOENT);

    /* The reader says what to do, and a new recording what it destroys. */
    options.ring_folder = NULL;
    record_and_kill(path, &options, 1, 300, 0);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_non_null(strstr(tact_log_state(log)->why, "run `tact recover "));
    assert_int_equal(tact_log_recover(path, NULL, NULL, NULL), -EBUSY);
    tact_log_close(log);
    assert_int_equal(session_open(path, &options, (struct tact_messages){hear, &heard}, &recorder),
                     0);
    assert_int_equal(heard.warnings, 1);
    assert_non_null(strstr(heard.text, "not recovered"));
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    unlink(path);
}

static void a_deleted_log_is_told(void **state)
{
    (void)state;
    const char *path = session_path("deleted");
    struct tact_recorder_options options = small_options();
    struct tact_recorder_report report;
    struct tact_recorder *recorder;
    struct heard heard = {0};

    assert_int_equal(session_open(path, &options, (struct tact_messages){hear, &heard}, &recorder),
                     0);
    session_run(recorder, 0, 100);
    unlink(path);
    session_run(recorder, 100, 100);
    assert_int_equal(tact_recorder_close(recorder, &report), -ENOENT);
    assert_int_equal(report.records, 200);
    assert_int_equal(heard.errors, 1);
    assert_non_null(strstr(heard.text, "was deleted"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_committed_tick_is_recovered),
        cmocka_unit_test(recovery_may_be_killed),
        cmocka_unit_test(damaged_rings_are_refused_or_stated),
        cmocka_unit_test(damaged_logs_are_completed_or_refused),
        cmocka_unit_test(without_rings_the_file_is_finished),
        cmocka_unit_test(a_log_in_use_is_left_alone),
        cmocka_unit_test(a_deleted_log_is_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
