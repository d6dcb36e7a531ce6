/* The recorder and the log reader together: what is recorded is read back bit for bit. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>
#include "contact/version.h"
#include "log_session.h"
#include "rt/log/recover.h"
#include "rt/realtime.h"

static void check_log_content(const struct tact_log *log)
{
    struct tact_layout layout = {0};
    const struct tact_layout *found = tact_log_layout(log);
    uint32_t count = 0;

    add_session_fields(&layout);
    assert_int_equal(found->field_count, layout.field_count);
    assert_int_equal(found->size, SESSION_DOUBLE_COUNT);
    for (uint32_t i = 0; i < layout.field_count; i++) {
        assert_string_equal(found->fields[i].name, layout.fields[i].name);
        assert_string_equal(found->fields[i].unit, layout.fields[i].unit);
        assert_int_equal(found->fields[i].kind, layout.fields[i].kind);
        assert_int_equal(found->fields[i].offset, layout.fields[i].offset);
        assert_int_equal(found->fields[i].count, layout.fields[i].count);
    }
    tact_layout_free(&layout);
    assert_int_equal(tact_log_field(log, "ruler_pose", &count), 2);
    assert_int_equal(count, 7);
    assert_int_equal(tact_log_field(log, "none", NULL), -ENOENT);

    assert_string_equal(tact_log_fact(log, "build_id"), "0123abcd");
    assert_string_equal(tact_log_fact(log, "empty"), "");
    assert_string_equal(tact_log_fact(log, "tact_version"), TACT_VERSION);
    assert_string_equal(tact_log_fact(log, "wall_anchor_ns"), "1763725461000000001");
    assert_null(tact_log_fact(log, "crc32"));
    assert_int_equal(tact_log_fact_count(log), 7);
    assert_string_equal(tact_log_fact_at(log, 4)->key, "build_id");
    assert_null(tact_log_fact_at(log, 7));

    assert_int_equal(tact_log_attachment_count(log), 3);
    for (size_t i = 0; i < 3; i++) {
        const struct tact_log_attachment *a = tact_log_attachment_at(log, i);
        assert_string_equal(a->name, session_attachments[i].name);
        assert_int_equal(a->size, session_attachments[i].size);
        assert_memory_equal(a->data, session_attachments[i].data, a->size);
        assert_ptr_equal(tact_log_attachment(log, a->name), a);
    }
    assert_null(tact_log_attachment(log, "none"));
    assert_null(tact_log_attachment_at(log, 3));
}

static void round_trip(const struct tact_recorder_options *options, uint64_t ticks)
{
    const char *path = test_log_path("round_trip");
    struct tact_recorder_report report;
    struct tact_recorder *recorder;
    struct tact_log *log;
    struct stat status;
    char text[400];

    assert_int_equal(open_session_recorder(path, options, (struct tact_messages){0}, &recorder), 0);
    record_session_ticks(recorder, 0, ticks / 5);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(tact_recorder_event(recorder, ticks / 5, -5, "marker", text), 0);
    record_session_ticks(recorder, ticks / 5, ticks - ticks / 5);
    /* The ring of events is emptied before the queue. */
    assert_int_equal(tact_recorder_close(recorder, &report), 0);
    assert_int_equal(report.records, ticks);
    assert_int_equal(report.events, 1);
    assert_int_equal(report.overruns, 0);
    assert_int_equal(report.discarded, 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(report.bytes, status.st_size);
    assert_in_range(report.occupancy_max, 1, report.ring_ticks);

    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    const struct tact_log_state *state = tact_log_state(log);
    assert_string_equal(state->why, "");
    assert_true(state->complete && state->data_complete);
    assert_int_equal(state->ticks, ticks);
    assert_int_equal(state->first_tick, 0);
    assert_int_equal(state->last_tick, ticks - 1);
    assert_int_equal(state->missing, 0);
    assert_int_equal(state->bytes_lost, 0);
    assert_int_equal(state->events, 1);
    assert_int_equal(tact_log_event(log, 0)->tick, ticks / 5);
    assert_int_equal(tact_log_event(log, 0)->stamp_ns, -5);
    assert_string_equal(tact_log_event(log, 0)->name, "marker");
    assert_string_equal(tact_log_event(log, 0)->text, text);
    assert_null(tact_log_event(log, 1));
    check_log_content(log);
    assert_int_equal(count_equal_records(log, 0), ticks);
    for (uint64_t at = 0; at < ticks; at += 333) {
        assert_int_equal(tact_log_seek(log, at), 0);
        assert_int_equal(count_equal_records(log, at), ticks - at);
    }
    assert_int_equal(tact_log_seek(log, ticks), 0);
    assert_int_equal(count_equal_records(log, ticks), 0);
    assert_int_equal(tact_log_seek(log, ticks + 1), -ERANGE);
    tact_log_close(log);
    unlink(path);
}

static void tick_records_are_read_as_recorded(void **state)
{
    (void)state;
    struct tact_recorder_options options = session_recorder_options();
    round_trip(&options, 5000);
    options.zstd_level = 0;
    options.derived_every = 0;
    round_trip(&options, 5000);
    options.chunk_bytes = 1; /* one record per chunk, each synced to the disk */
    options.sync_ns = 0;
    options.ring_ticks = 3;
    options.zstd_level = 3;
    options.derived_every = 1;
    round_trip(&options, 500);
}

static void real_time_events_are_recorded(void **state)
{
    (void)state;
    const char *path = test_log_path("events");
    struct tact_recorder_options options = session_recorder_options();
    struct tact_recorder_report report;
    struct tact_recorder *recorder;
    struct tact_log *log;
    char text[1000];

    options.ring_events = 8;
    assert_int_equal(open_session_recorder(path, &options, (struct tact_messages){0}, &recorder),
                     0);
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    int lost = 0;
    for (uint64_t i = 0; i < 1000; i++)
        lost += tact_recorder_event_rt(recorder, i, (int64_t)i, "fault", text) == -ENOBUFS;
    assert_int_equal(tact_recorder_close(recorder, &report), 0);
    assert_int_equal(report.event_overruns, lost);
    assert_int_equal(report.events, 1000 - lost);
    assert_in_range(report.events, 8, 999);

    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_true(tact_log_state(log)->complete);
    assert_int_equal(tact_log_state(log)->ticks, 0);
    assert_int_equal(tact_log_state(log)->events, report.events);
    assert_string_equal(tact_log_event(log, 0)->name, "fault");
    assert_int_equal(strlen(tact_log_event(log, 0)->text), TACT_RECORDER_EVENT_TEXT - 1);
    tact_log_close(log);
    unlink(path);
}

static void session_without_ticks_makes_a_valid_log(void **state)
{
    (void)state;
    const char *path = test_log_path("empty");
    struct tact_recorder_options options = session_recorder_options();
    struct tact_recorder *recorder;
    struct tact_log *log;

    assert_int_equal(open_session_recorder(path, &options, (struct tact_messages){0}, &recorder),
                     0);
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_true(tact_log_state(log)->complete);
    check_log_content(log);
    assert_int_equal(count_equal_records(log, 0), 0);
    tact_log_close(log);
    unlink(path);
    assert_int_equal(tact_recorder_close(NULL, NULL), 0);
}

/* Ticks for which the ring is full are counted, reported, and missing from the log as a stated
 * gap. */
static void recorder_ring_overruns_are_counted(void **state)
{
    (void)state;
    const uint64_t ticks = 200000;
    const char *path = test_log_path("overruns");
    struct tact_recorder_options options = session_recorder_options();
    struct tact_recorder_report report;
    struct tact_recorder *recorder;
    struct message_summary message_summary = {0};
    struct tact_log *log;
    uint64_t lost = 0, last = 0;

    options.ring_ticks = 16;
    assert_int_equal(
        open_session_recorder(path, &options,
                              (struct tact_messages){count_message_and_keep_text, &message_summary},
                              &recorder),
        0);
    for (uint64_t tick = 0; tick < ticks; tick++) {
        struct tact_record *record = tact_recorder_begin(recorder);
        if (!record) {
            lost++;
            continue;
        }
        memset(record->values, 0, SESSION_DOUBLE_COUNT * sizeof(double));
        record->tick = tick;
        record->stamp_ns = 0;
        tact_recorder_commit(recorder);
        last = tick;
    }
    assert_int_equal(tact_recorder_overruns(recorder), lost);
    assert_int_equal(tact_recorder_close(recorder, &report), 0);
    assert_int_equal(report.overruns, lost);
    assert_int_equal(report.records, ticks - lost);
    assert_int_equal(report.occupancy_max, 16);
    assert_in_range(lost, 1, ticks - 16);
    assert_int_equal(message_summary.warning_count, 1);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_int_equal(tact_log_state(log)->ticks, ticks - lost);
    assert_int_equal(tact_log_state(log)->last_tick, last);
    assert_int_equal(tact_log_state(log)->missing, last + 1 - (ticks - lost));
    tact_log_close(log);
    unlink(path);
}

static void second_recorder_of_a_file_is_refused(void **state)
{
    (void)state;
    const char *path = test_log_path("busy");
    struct tact_recorder_options options = session_recorder_options();
    struct tact_recorder *recorder, *second = NULL;
    struct tact_log *log;

    assert_int_equal(open_session_recorder(path, &options, (struct tact_messages){0}, &recorder),
                     0);
    record_session_ticks(recorder, 0, 10);
    assert_int_equal(open_session_recorder(path, &options, (struct tact_messages){0}, &second),
                     -EBUSY);
    assert_null(second);
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    /* An older, longer log of the same name is replaced completely. */
    assert_int_equal(open_session_recorder(path, &options, (struct tact_messages){0}, &recorder),
                     0);
    record_session_ticks(recorder, 0, 3);
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_true(tact_log_state(log)->complete);
    assert_int_equal(count_equal_records(log, 0), 3);
    /* A log is not emptied by a new recording while a replay reads it. */
    assert_int_equal(open_session_recorder(path, &options, (struct tact_messages){0}, &second),
                     -EBUSY);
    assert_int_equal(count_equal_records(log, 3), 0);
    tact_log_close(log);
    assert_int_equal(open_session_recorder(path, &options, (struct tact_messages){0}, &recorder),
                     0);
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    unlink(path);
}

struct stalled_pipe {
    const char *pipe_path;
    int file;
    useconds_t stall_us;
};

/* Reader that stalls: it reads nothing from the pipe for a while, then everything. */
static void *read_pipe_after_stall(void *argument)
{
    const struct stalled_pipe *pipe_of_stalled_reader = argument;
    int from = open(pipe_of_stalled_reader->pipe_path, O_RDONLY);
    char bytes[65536];
    ssize_t n;

    usleep(pipe_of_stalled_reader->stall_us);
    while ((n = read(from, bytes, sizeof bytes)) > 0) {
        if (write(pipe_of_stalled_reader->file, bytes, (size_t)n) != n)
            break;
    }
    close(from);
    return NULL;
}

/* Records `ticks` ticks, one each tick_interval_ns, to a pipe whose reader stalls, and checks every
 * one; returns the maximum occupancy of the ring. */
static uint64_t record_through_a_stall(uint64_t ticks, long tick_interval_ns, useconds_t stall_us)
{
    const char *pipe_path = test_log_path("pipe");
    struct tact_recorder_options options = session_recorder_options();
    struct tact_recorder_report report;
    struct tact_recorder *recorder;
    struct timespec next;
    struct tact_log *log;
    char path[64];
    pthread_t thread;

    unlink(pipe_path);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    struct stalled_pipe pipe_of_stalled_reader = {pipe_path, memfd_create("disk", MFD_CLOEXEC),
                                                  stall_us};
    assert_int_equal(pthread_create(&thread, NULL, read_pipe_after_stall, &pipe_of_stalled_reader),
                     0);
    assert_int_equal(
        open_session_recorder(pipe_path, &options, (struct tact_messages){0}, &recorder), 0);
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint64_t tick = 0; tick < ticks; tick++) {
        struct tact_record *record = tact_recorder_begin(recorder);
        assert_non_null(record);
        fill_session_record(tick, record);
        tact_recorder_commit(recorder);
        next.tv_sec += next.tv_nsec + tick_interval_ns >= 1000000000;
        next.tv_nsec = (next.tv_nsec + tick_interval_ns) % 1000000000;
        if (tick_interval_ns) {
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        }
    }
    assert_int_equal(tact_recorder_close(recorder, &report), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(report.records, ticks);
    assert_int_equal(report.overruns, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", pipe_of_stalled_reader.file);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_true(tact_log_state(log)->complete);
    assert_int_equal(count_equal_records(log, 0), ticks);
    tact_log_close(log);
    close(pipe_of_stalled_reader.file);
    unlink(pipe_path);
    return report.occupancy_max;
}

/* A disk that stalls for no longer than the ring can buffer loses nothing. */
static void stalled_disk_loses_no_tick(void **state)
{
    (void)state;
    assert_in_range(record_through_a_stall(8192, 0, 500000), 8192 / 2, 8192);
}

/* Recording to a pipe at 1 kHz with a stall of two seconds, as of a disk that spins up, loses
 * nothing. */
static void disk_stall_of_two_seconds_loses_no_tick(void **state)
{
    (void)state;
    assert_in_range(record_through_a_stall(2500, 1000000, 2000000), 1000, 3000);
}

/* The processors that this process's recorder thread may use; none where there is no such thread.
 */
static cpu_set_t recorder_processors(void)
{
    cpu_set_t found;
    DIR *tasks = opendir("/proc/self/task");
    CPU_ZERO(&found);
    for (struct dirent *task_folder_entry = readdir(tasks); task_folder_entry;
         task_folder_entry = readdir(tasks)) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task_folder_entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(name, sizeof name, file) && !strcmp(name, "tact-recorder\n"))
            sched_getaffinity(atoi(task_folder_entry->d_name), sizeof found, &found);
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return found;
}

static void the_recorder_thread_avoids_the_loops_processor(void **test_state)
{
    (void)test_state;
    struct tact_recorder_options options = tact_recorder_options_default();
    options.replace = 1;
    struct tact_recorder *recorder;
    cpu_set_t allowed, expected, found;

    sched_getaffinity(0, sizeof allowed, &allowed);
    options.loop_cpu = tact_realtime_processor(TACT_REALTIME_CPU_LAST);
    assert_true(CPU_ISSET((size_t)options.loop_cpu, &allowed));
    expected = allowed;
    if (CPU_COUNT(&allowed) > 1) /* with a single processor the two threads share it */
        CPU_CLR((size_t)options.loop_cpu, &expected);
    assert_int_equal(open_session_recorder(test_log_path("apart"), &options,
                                           (struct tact_messages){0}, &recorder),
                     0);
    for (int i = 0; i < 2000; i++) {
        found = recorder_processors();
        if (CPU_EQUAL(&found, &expected))
            break;
        usleep(1000);
    }
    assert_true(CPU_EQUAL(&found, &expected));
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
}

static void misuse_of_the_recorder_is_refused(void **state)
{
    (void)state;
    const char *path = test_log_path("refused");
    struct tact_layout layout = {0};
    add_session_fields(&layout);
    const struct tact_recorder_content valid_log_content = make_test_log_content(&layout);
    const struct tact_recorder_options valid_recorder_options = session_recorder_options();
    struct tact_recorder *recorder = NULL;
    struct tact_error err = {0};
    struct tact_recorder_options options[6];
    struct tact_recorder_content invalid_contents[6];
    struct tact_log_attachment twice[] = {{"a", NULL, "", 0}, {"a", NULL, "", 0}};
    struct tact_log_fact own[] = {{"clock", "mine"}};
    struct tact_log_fact invalid_utf8_fact[] = {{"cpu", "\xe4"}};
    struct tact_recorder_joint joint = {"j", SESSION_DOUBLE_COUNT, TACT_RECORDER_NONE, 0};
    struct tact_recorder_body body = {"b", SESSION_DOUBLE_COUNT - 6};

    for (int i = 0; i < 6; i++) {
        options[i] = valid_recorder_options;
        invalid_contents[i] = valid_log_content;
    }
    options[0].ring_ticks = 0;
    options[1].chunk_bytes = 0;
    options[2].chunk_ns = 0;
    options[3].sync_ns = -1;
    options[4].zstd_level = 20;
    options[5].ring_events = 0;
    invalid_contents[0].attachments = twice;
    invalid_contents[0].attachment_count = 2;
    invalid_contents[1].facts = own;
    invalid_contents[1].fact_count = 1;
    invalid_contents[2].facts = invalid_utf8_fact;
    invalid_contents[2].fact_count = 1;
    invalid_contents[3].joints = &joint;
    invalid_contents[3].joint_count = 1;
    invalid_contents[4].bodies = &body;
    invalid_contents[4].body_count = 1;
    invalid_contents[5].layout = NULL;
    for (int i = 0; i < 12; i++) {
        err.text[0] = '\0';
        int rc = tact_recorder_open(path, i < 6 ? &options[i] : &valid_recorder_options,
                                    i < 6 ? &valid_log_content : &invalid_contents[i - 6],
                                    (struct tact_messages){0}, &recorder, &err);
        assert_int_equal(rc, -EINVAL);
        assert_string_not_equal(err.text, "");
        assert_string_equal(err.file, path);
        assert_int_equal(access(path, F_OK), -1);
    }
    assert_int_equal(tact_recorder_open("/nonexistent/x.mcap", &valid_recorder_options,
                                        &valid_log_content, (struct tact_messages){0}, &recorder,
                                        &err),
                     -ENOENT);
    assert_null(recorder);
    tact_layout_free(&layout);
}

/* A full disk is reported once, the loop continues, and what was written before can be read. */
static void full_disk_ends_only_the_recording(void **state)
{
    (void)state;
    const char *path = test_log_path("full");
    struct tact_recorder_options options = session_recorder_options();
    struct rlimit old, limit;
    struct tact_recorder_report report;
    struct tact_recorder *recorder;
    struct message_summary message_summary = {0};
    struct tact_log *log;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = (struct rlimit){1000000, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(
        open_session_recorder(path, &options,
                              (struct tact_messages){count_message_and_keep_text, &message_summary},
                              &recorder),
        0);
    record_session_ticks(recorder, 0, 20000);
    int rc = tact_recorder_close(recorder, &report);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(rc, -EFBIG);
    assert_int_equal(report.error, -EFBIG);
    assert_int_equal(message_summary.errors, 1);
    assert_in_range(report.records, 250, 3000);
    assert_int_equal(report.records + report.discarded, 20000);

    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_false(tact_log_state(log)->complete);
    assert_int_equal(tact_log_state(log)->ticks, report.records);
    assert_int_equal(tact_log_state(log)->bytes_lost, 0);
    assert_int_equal(tact_log_state(log)->file_bytes, report.bytes);
    assert_int_equal(count_equal_records(log, 0), report.records);
    tact_log_close(log);
    unlink(path);

    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(
            open_session_recorder("/dev/full", &options, (struct tact_messages){0}, &recorder),
            -ENOSPC);
}

struct shared {
    _Atomic uint64_t committed_ticks;
};

static void record_until_killed(const char *path, struct shared *shared)
{
    struct tact_recorder_options options = session_recorder_options();
    struct tact_recorder *recorder;
    struct timespec next;

    if (open_session_recorder(path, &options, (struct tact_messages){0}, &recorder) != 0)
        _exit(1);
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint64_t tick = 0;; tick++) {
        struct tact_record *record = tact_recorder_begin(recorder);
        if (!record)
            _exit(2);
        fill_session_record(tick, record);
        tact_recorder_commit(recorder);
        atomic_store(&shared->committed_ticks, tick + 1);
        next.tv_nsec += 1000000;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
}

/* kill -9 at 1 kHz: ticks missing from the file are younger than a chunk, and are recovered from
 * the ring file. */
static void a_killed_recorder_keeps_a_chunk_in_memory(void **state)
{
    (void)state;
    const char *path = test_log_path("killed");
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t least = UINT64_MAX;
    struct tact_log *log;

    assert_ptr_not_equal(shared, MAP_FAILED);
    for (int run = 0; run < 5; run++) {
        int wait_status;
        atomic_store(&shared->committed_ticks, 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            record_until_killed(path, shared);
        uint64_t until = 300 + 217 * (uint64_t)run;
        while (atomic_load(&shared->committed_ticks) < until &&
               waitpid(child, &wait_status, WNOHANG) == 0)
            usleep(1000);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &wait_status, 0), child);
        assert_true(WIFSIGNALED(wait_status));
        uint64_t committed_ticks = atomic_load(&shared->committed_ticks);
        assert_int_equal(tact_log_open(path, &log, NULL), 0);
        const struct tact_log_state *found = tact_log_state(log);
        assert_false(found->complete);
        assert_non_null(strstr(found->why, "no end"));
        assert_in_range(found->ticks, 1, committed_ticks);
        printf("killed after %llu ticks: %llu read\n", (unsigned long long)committed_ticks,
               (unsigned long long)found->ticks);
        /* A busy machine may keep the recorder's thread waiting. */
        assert_in_range(committed_ticks - found->ticks, 0, 1000);
        if (committed_ticks - found->ticks < least)
            least = committed_ticks - found->ticks;
        assert_int_equal(count_equal_records(log, 0), found->ticks);
        check_log_content(log);
        tact_log_close(log);
        struct tact_recover_report report;
        assert_int_equal(tact_log_recover(path, NULL, &report, NULL), 0);
        assert_in_range(report.ticks, committed_ticks, committed_ticks + 1);
    }
    /* At most 250 ms of records in memory, and the poll interval, are missing from the file. */
    assert_in_range(least, 0, 250 + 5);
    munmap(shared, sizeof *shared);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tick_records_are_read_as_recorded),
        cmocka_unit_test(real_time_events_are_recorded),
        cmocka_unit_test(session_without_ticks_makes_a_valid_log),
        cmocka_unit_test(recorder_ring_overruns_are_counted),
        cmocka_unit_test(second_recorder_of_a_file_is_refused),
        cmocka_unit_test(stalled_disk_loses_no_tick),
        cmocka_unit_test(disk_stall_of_two_seconds_loses_no_tick),
        cmocka_unit_test(the_recorder_thread_avoids_the_loops_processor),
        cmocka_unit_test(misuse_of_the_recorder_is_refused),
        cmocka_unit_test(full_disk_ends_only_the_recording),
        cmocka_unit_test(a_killed_recorder_keeps_a_chunk_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
