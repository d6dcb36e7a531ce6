/* Sessions recorded in several files: without a gap between them, read as one log, and recovered
 * after a kill. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>
#include "log_session.h"
#include "rt/log/recover.h"
#include "support/campaign.h"

#define KILL_TRIAL_COUNT campaign_trial_count(8, 25)

static const struct tact_messages no_messages = {NULL, NULL};
static char first[512];

static void sleep_for_microseconds(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static struct tact_recorder_options options_with_split_limits(uint64_t bytes, int64_t ns)
{
    struct tact_recorder_options options = session_recorder_options();
    options.split_bytes = bytes;
    options.split_ns = ns;
    options.chunk_ns = 50000000;
    options.ring_ticks = 512;
    options.ring_events = 8192; /* the recorder's thread may be delayed on a busy machine */
    return options;
}

/* Removes the files of the session; returns their number. */
static unsigned remove_log_parts(void)
{
    for (unsigned number = 1;; number++) {
        char *path = tact_log_part_path(first, number);
        int rc = unlink(path);
        free(path);
        if (rc != 0)
            return number - 1;
    }
}

static int set_first_part_path(void **state)
{
    (void)state;
    snprintf(first, sizeof first, "%s", test_log_path("split"));
    remove_log_parts();
    return 0;
}

static void names_of_log_parts_follow_a_pattern(void **state)
{
    static const struct {
        const char *first;
        unsigned number;
        const char *path;
    } cases[] = {{"a.mcap", 1, "a.mcap"}, {"a.mcap", 2, "a.2.mcap"}, {"/x.y/a", 3, "/x.y/a.3"},
                 {".mcap", 2, ".mcap.2"}, {"/x/.a", 12, "/x/.a.12"}, {"a.b.c", 7, "a.b.7.c"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = tact_log_part_path(cases[i].first, cases[i].number);
        assert_string_equal(path, cases[i].path);
        free(path);
    }
}

struct event_recording_thread {
    struct tact_recorder *recorder;
    atomic_bool stop;
    uint64_t events;
    int failed;
};

static void *record_events_in_thread(void *argument)
{
    struct event_recording_thread *t = argument;
    while (!atomic_load(&t->stop)) {
        t->failed |= tact_recorder_event(t->recorder, t->events, 0, "note", "");
        t->events++;
        sleep_for_microseconds(300);
    }
    return NULL;
}

/* Checks that each event is present once and in order, over all files. */
static void check_every_event_is_logged(const struct tact_log *log, const char *name,
                                        uint64_t expected)
{
    const struct tact_log_event *event;
    uint64_t next = 0;

    for (size_t i = 0; (event = tact_log_event(log, i)); i++) {
        if (strcmp(event->name, name) == 0)
            assert_int_equal(event->tick, next++);
    }
    assert_int_equal(next, expected);
}

static void record_split_session(const struct tact_recorder_options *options, uint64_t ticks,
                                 unsigned min_log_part_count)
{
    struct tact_recorder_report report;
    struct event_recording_thread event_recording_thread = {.events = 0};
    struct tact_log *log;
    pthread_t thread;

    assert_int_equal(
        open_session_recorder(first, options, no_messages, &event_recording_thread.recorder), 0);
    assert_int_equal(
        pthread_create(&thread, NULL, record_events_in_thread, &event_recording_thread), 0);
    int failed = 0;
    for (uint64_t tick = 0; tick < ticks; tick++) {
        record_session_ticks(event_recording_thread.recorder, tick, 1);
        failed |= tact_recorder_event_rt(event_recording_thread.recorder, tick, 0, "tick", "");
        sleep_for_microseconds(150);
    }
    atomic_store(&event_recording_thread.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(failed | event_recording_thread.failed, 0);
    assert_int_equal(tact_recorder_close(event_recording_thread.recorder, &report), 0);
    assert_int_equal(report.records, ticks);
    assert_int_equal(report.overruns + report.event_overruns + report.discarded, 0);
    assert_int_equal(report.events, ticks + event_recording_thread.events);

    assert_int_equal(tact_log_open(first, &log, NULL), 0);
    const struct tact_log_state *state = tact_log_state(log);
    assert_true(state->complete);
    assert_int_equal(state->missing, 0);
    assert_int_equal(state->file_bytes, report.bytes);
    assert_int_equal(tact_log_parts(log), report.parts);
    assert_true(report.parts >= min_log_part_count);
    assert_int_equal(count_equal_records(log, 0), ticks);
    for (uint64_t tick = 7; tick < ticks; tick += 97) {
        struct tact_record *one = new_session_record();
        assert_int_equal(tact_log_seek(log, tick), 0);
        assert_int_equal(tact_log_next(log, one), 1);
        assert_int_equal(one->tick, tick);
        free(one);
    }
    assert_int_equal(tact_log_seek(log, ticks), 0);
    assert_int_equal(tact_log_seek(log, ticks + 1), -ERANGE);
    check_every_event_is_logged(log, "tick", ticks);
    check_every_event_is_logged(log, "note", event_recording_thread.events);
    for (size_t i = 0; tact_log_topic(log, i); i++) {
        if (strcmp(tact_log_topic(log, i)->name, "/tact/tick") == 0)
            assert_int_equal(tact_log_topic(log, i)->messages, ticks);
    }
    tact_log_close(log);
}

static void session_log_is_split_by_bytes(void **state)
{
    (void)state;
    struct tact_recorder_options options = options_with_split_limits(100000, 0);
    record_split_session(&options, 3000, 5);
    assert_true(remove_log_parts() >= 5);
}

static void session_log_is_split_by_time(void **state)
{
    (void)state;
    struct tact_recorder_options options = options_with_split_limits(0, 400000000);
    record_split_session(&options, 3000, 4);

    /* Each file of the session is a complete log. */
    char *path = tact_log_part_path(first, 2);
    struct tact_log *log;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_true(tact_log_state(log)->complete);
    uint64_t from = tact_log_state(log)->first_tick, to = tact_log_state(log)->last_tick;
    assert_true(from >= 400 && to < 2999);
    assert_int_equal(count_equal_records(log, from), to - from + 1);
    tact_log_close(log);

    /* A missing file is reported, and so is one of another session. */
    assert_int_equal(unlink(path), 0);
    for (int is_log_part_of_other_session = 0; is_log_part_of_other_session < 2;
         is_log_part_of_other_session++) {
        if (is_log_part_of_other_session)
            assert_int_equal(symlink(first, path), 0);
        assert_int_equal(tact_log_open(first, &log, NULL), 0);
        assert_false(tact_log_state(log)->complete);
        assert_non_null(strstr(tact_log_state(log)->why, "missing"));
        assert_int_equal(tact_log_state(log)->ticks, from);
        tact_log_close(log);
    }
    unlink(path);
    free(path);
    unlink(first);
    for (unsigned number = 3; number < 100; number++) {
        path = tact_log_part_path(first, number);
        unlink(path);
        free(path);
    }
}

/* If the next file cannot be created, recording continues in the present one. */
static void log_part_that_cannot_be_created_is_reported(void **state)
{
    (void)state;
    struct tact_recorder_options options = options_with_split_limits(100000, 0);
    char *path = tact_log_part_path(first, 2);
    assert_int_equal(mkdir(path, 0700), 0);
    record_split_session(&options, 1000, 1);
    struct tact_log *log;
    assert_int_equal(tact_log_open(first, &log, NULL), 0);
    assert_int_equal(tact_log_parts(log), 1);
    tact_log_close(log);
    assert_int_equal(rmdir(path), 0);
    free(path);
    remove_log_parts();
}

/* A kill during the creation of the next file leaves a file shorter than its magic bytes, which is
 * neither a loss nor damage. */
static void empty_last_log_part_is_no_loss(void **state)
{
    (void)state;
    struct tact_recorder_options options = options_with_split_limits(0, 0);
    record_split_session(&options, 300, 1);
    char *path = tact_log_part_path(first, 2);
    for (size_t length = 0; length < 8; length++) {
        struct tact_error err = {0};
        struct tact_log *log;
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite("\x89MCAP0\r\n", 1, length, file), length);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(tact_log_recover(path, NULL, NULL, &err), -ENODATA);
        assert_int_equal(tact_log_open(path, &log, &err), -ENODATA);
        assert_int_equal(tact_log_open(first, &log, &err), 0);
        assert_true(tact_log_state(log)->complete);
        assert_int_equal(tact_log_state(log)->ticks, 300);
        tact_log_close(log);
    }
    free(path);
    remove_log_parts();
}

static void wrong_log_split_sizes_are_refused(void **state)
{
    (void)state;
    struct tact_recorder *recorder;
    struct tact_recorder_options options = options_with_split_limits(65535, 0);
    assert_int_equal(open_session_recorder(first, &options, no_messages, &recorder), -EINVAL);
    options = options_with_split_limits(0, -1);
    assert_int_equal(open_session_recorder(first, &options, no_messages, &recorder), -EINVAL);
}

static void record_until_killed_by_parent(_Atomic uint64_t *ticks)
{
    struct tact_recorder_options options = options_with_split_limits(65536, 0);
    struct tact_recorder *recorder;

    if (open_session_recorder(first, &options, no_messages, &recorder) != 0)
        _exit(1);
    for (uint64_t tick = 0;; tick++) {
        record_session_ticks(recorder, tick, 1);
        atomic_store(ticks, tick + 1);
        sleep_for_microseconds(20);
    }
}

/* Every committed tick is in exactly one of the files. */
static void ticks_before_a_kill_are_in_one_of_the_log_parts(void **state)
{
    (void)state;
    _Atomic uint64_t *ticks =
        mmap(NULL, sizeof *ticks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t seed = 5 ^ campaign_seed_offset();
    unsigned most = 0;

    for (int i = 0; i < KILL_TRIAL_COUNT; i++) {
        atomic_store(ticks, 0);
        pid_t child = fork();
        if (child == 0)
            record_until_killed_by_parent(ticks);
        /* A part takes about 150 ticks, which last as long as the machine makes them wait. */
        const uint64_t wanted = i == 0 ? 1000 : next_random_of_seed(&seed) % 2500;
        for (int ms = 0; atomic_load(ticks) < wanted && ms < 30000; ms++)
            sleep_for_microseconds(1000);
        sleep_for_microseconds((long)(next_random_of_seed(&seed) % 20000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        if (atomic_load(ticks) == 0) {
            remove_log_parts();
            continue;
        }
        unsigned parts = 0;
        for (unsigned number = 1;; number++) {
            char *path = tact_log_part_path(first, number);
            if (access(path, F_OK) == 0) {
                struct tact_error err = {0};
                int rc = tact_log_recover(path, NULL, NULL, &err);
                if (rc != 0 && !(rc == -ENODATA && number > 1))
                    fail_msg("%s: %s", path, err.text);
                parts = number;
            }
            free(path);
            if (parts < number)
                break;
        }
        struct tact_log *log;
        assert_int_equal(tact_log_open(first, &log, NULL), 0);
        assert_true(tact_log_state(log)->complete || tact_log_parts(log) == parts);
        assert_int_equal(tact_log_state(log)->missing, 0);
        assert_true(tact_log_state(log)->ticks >= atomic_load(ticks));
        assert_int_equal(count_equal_records(log, 0), tact_log_state(log)->ticks);
        tact_log_close(log);
        most = parts > most ? parts : most;
        remove_log_parts();
    }
    assert_true(most > 3);
    print_message("%d kills of a session of up to %u files: no tick lost\n", KILL_TRIAL_COUNT,
                  most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_log_parts_follow_a_pattern),
        cmocka_unit_test(session_log_is_split_by_bytes),
        cmocka_unit_test(session_log_is_split_by_time),
        cmocka_unit_test(log_part_that_cannot_be_created_is_reported),
        cmocka_unit_test(wrong_log_split_sizes_are_refused),
        cmocka_unit_test(empty_last_log_part_is_no_loss),
        cmocka_unit_test(ticks_before_a_kill_are_in_one_of_the_log_parts),
    };
    return cmocka_run_group_tests(tests, set_first_part_path, NULL);
}
