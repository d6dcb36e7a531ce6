/* Sessions recorded by a child process that is killed, and the files that it leaves behind: for the
 * tests of recovery. */
#ifndef TACT_TESTS_KILLED_SESSION_H
#define TACT_TESTS_KILLED_SESSION_H

#include <dirent.h>
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
#include <time.h>
#include <cmocka.h>
#include "log_session.h"
#include "rt/log/recover.h"

/* Number of ticks that the child process recorded before it was killed, in memory shared with the
 * test. */
struct shared {
    _Atomic uint64_t ticks, events, notes;
};

static struct shared *shared;
static char folder[64]; /* folder of the ring files, on a tmpfs */

static inline int make_test_folder(void **state)
{
    (void)state;
    strcpy(folder, "/dev/shm/tact_test_XXXXXX");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return mkdtemp(folder) && shared != MAP_FAILED ? 0 : -1;
}

static inline int remove_test_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* rmdir() fails where a test left a file in the folder */
}

/* The ring file has room for RING_FILE_TICK_CAPACITY ticks: once more ticks were committed, some of
 * them are in the log. */
#define RING_FILE_TICK_CAPACITY 512
#define TICK_COUNT_BEYOND_RING_CAPACITY (RING_FILE_TICK_CAPACITY + 100)

static inline struct tact_recorder_options recorder_options_with_small_ring(void)
{
    struct tact_recorder_options options = session_recorder_options();
    options.ring_folder = folder;
    options.ring_ticks = RING_FILE_TICK_CAPACITY;
    options.chunk_ns = 50000000;
    return options;
}

/* Records ticks without a pause, or one each 50 us where `is_recording_slowed` is set; a real-time
 * event with every 7th tick, an ordinary event ("note") with every 101st. */
static inline void record_until_killed_by_parent(const char *path,
                                                 const struct tact_recorder_options *options,
                                                 int is_recording_slowed)
{
    struct tact_recorder *recorder;

    if (open_session_recorder(path, options, (struct tact_messages){NULL, NULL}, &recorder) != 0)
        _exit(1);
    for (uint64_t tick = 0;; tick++) {
        record_session_ticks(recorder, tick, 1);
        atomic_store(&shared->ticks, tick + 1);
        if (tick % 7 == 0 &&
            tact_recorder_event_rt(recorder, atomic_load(&shared->events), 0, "event", "") == 0)
            atomic_fetch_add(&shared->events, 1);
        if (tick % 101 == 0 &&
            tact_recorder_event(recorder, atomic_load(&shared->notes), 0, "note", "") == 0)
            atomic_fetch_add(&shared->notes, 1);
        if (is_recording_slowed)
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

static inline void kill_and_reap_child(pid_t child)
{
    int wait_status;

    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &wait_status, 0), child);
    assert_true(WIFSIGNALED(wait_status) ||
                (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0));
}

static inline void sleep_microseconds(uint64_t us)
{
    struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

/* Records in a child process, which is killed `us` microseconds after at least `ticks` ticks:
 * leaves the log at `path` and its ring file. */
static inline void record_then_kill_recorder(const char *path,
                                             const struct tact_recorder_options *options,
                                             int is_recording_slowed, uint64_t ticks, uint64_t us)
{
    atomic_store(&shared->ticks, 0);
    atomic_store(&shared->events, 0);
    atomic_store(&shared->notes, 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        record_until_killed_by_parent(path, options, is_recording_slowed);
    while (atomic_load(&shared->ticks) < ticks && waitpid(child, NULL, WNOHANG) == 0)
        sleep_microseconds(100);
    sleep_microseconds(us);
    kill_and_reap_child(child);
}

/* The child numbers the events of each name from 0: checks that all are in the log, once and in
 * order. */
static inline void check_every_event_is_logged(const struct tact_log *log, const char *name,
                                               uint64_t least)
{
    const struct tact_log_event *event;
    uint64_t next = 0;

    for (size_t i = 0; (event = tact_log_event(log, i)); i++) {
        if (strcmp(event->name, name) == 0)
            assert_int_equal(event->tick, next++);
    }
    assert_in_range(next, least, least + 1);
}

static inline uint64_t check_recovered_log(const char *path)
{
    uint64_t committed_tick_count = atomic_load(&shared->ticks);
    struct tact_log *log;

    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    const struct tact_log_state *found = tact_log_state(log);
    assert_true(found->complete);
    assert_in_range(found->ticks, committed_tick_count, committed_tick_count + 1);
    assert_int_equal(found->missing, 0);
    assert_int_equal(count_equal_records(log, 0), found->ticks);
    check_every_event_is_logged(log, "event", atomic_load(&shared->events));
    check_every_event_is_logged(log, "note", atomic_load(&shared->notes));
    assert_string_equal(tact_log_fact(log, "build_id"), "0123abcd");
    assert_int_equal(tact_log_attachment_count(log), 3);
    tact_log_close(log);
    return committed_tick_count;
}

/* Path of the ring file in the folder; "" where there is none. */
static inline const char *find_ring_file_path(void)
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

static inline void kill_recovery_after_delay(const char *path, uint64_t us)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(tact_log_recover(path, folder, NULL, NULL) != 0);
    sleep_microseconds(us);
    kill_and_reap_child(child);
}

struct bytes {
    uint8_t *data;
    size_t size;
};

static inline struct bytes read_file_bytes(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0 && fstat(fd, &status) == 0);
    struct bytes bytes = {malloc((size_t)status.st_size + 1), (size_t)status.st_size};
    assert_int_equal(read(fd, bytes.data, bytes.size), bytes.size);
    close(fd);
    return bytes;
}

/* Overwrites the log in place: the log keeps its inode number, by which its ring file is found. */
static inline void write_file(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

#endif
