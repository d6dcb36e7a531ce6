/* A running session is killed (kill -9) at random times: every completed tick is in the recovered
 * log, and replays bit for bit. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "rt/log/recorder.h"
#include "rt/log/recover.h"
#include "rt/session/replay.h"
#include "support/campaign.h"
#include "support/run_scene.h"

#define KILL_TRIAL_COUNT campaign_trial_count(40, 200)

/* number of ticks that the child completed, in shared memory */
static _Atomic uint64_t *completed_ticks;

void __real_tact_recorder_commit(struct tact_recorder *recorder);
void __wrap_tact_recorder_commit(struct tact_recorder *recorder);

void __wrap_tact_recorder_commit(struct tact_recorder *recorder)
{
    __real_tact_recorder_commit(recorder);
    atomic_fetch_add(completed_ticks, 1);
}

/* Of Vigna's splitmix64. */
static uint64_t next_splitmix64_number(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

static void run_session_in_child(const char *log, int clock)
{
    struct rlimit cpu_time_limit = {5000000, 5000000};
    struct run_options o = {.scene = "ruler.yaml",
                            .seconds = clock == TACT_LOOP_REAL ? 2 : 4,
                            .clock = clock,
                            .source = "host",
                            .record = log};
    struct run_result r;

    setrlimit(RLIMIT_RTTIME, &cpu_time_limit);
    run_scene(&o, &r);
    _exit(0);
}

static void ticks_before_a_kill_are_recovered_and_replay(void **state)
{
    (void)state;
    const struct tact_messages no_messages = {NULL, NULL};
    uint64_t seed = 20 ^ campaign_seed_offset(), ticks = 0, added_tick_count = 0, differing = 0,
             lost = 0, early = 0;
    char log[256];

    completed_ticks = mmap(NULL, sizeof *completed_ticks, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(completed_ticks, MAP_FAILED);
    snprintf(log, sizeof log, "%s/killed_%d.mcap", TACT_BINARY_DIR, (int)getpid());
    for (int run = 0; run < KILL_TRIAL_COUNT; run++) {
        struct tact_recover_report found;
        struct tact_replay_report replay_report;
        struct tact_error err = {0};
        int wait_status;
        unlink(log);
        atomic_store(completed_ticks, 0);
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            run_session_in_child(log, run % 4 == 0 ? TACT_LOOP_REAL : TACT_LOOP_FREE);
        }
        while (run % 8 != 7 && atomic_load(completed_ticks) == 0 &&
               waitpid(child, &wait_status, WNOHANG) == 0) {
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)(next_splitmix64_number(&seed) % 100000000)},
                  NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &wait_status, 0), child);
        uint64_t completed_tick_count = atomic_load(completed_ticks);
        int rc = tact_log_recover(log, NULL, &found, &err);
        if (completed_tick_count == 0) {
            early++;
            continue;
        }
        if (rc || tact_replay_run(log, no_messages, &replay_report, &err)) {
            fail_msg("after %lu ticks: %s", (unsigned long)completed_tick_count, err.text);
        }
        assert_true(replay_report.complete);
        assert_int_equal(replay_report.resyncs, 0);
        assert_in_range(replay_report.ticks, 0, completed_tick_count + 1);
        lost += completed_tick_count > replay_report.ticks
                    ? completed_tick_count - replay_report.ticks
                    : 0;
        differing += replay_report.differing;
        ticks += completed_tick_count;
        added_tick_count += found.ticks_added;
    }
    unlink(log);
    print_message("%d kills (%lu before the first tick): %lu ticks completed, %lu of them only in "
                  "memory; count lost: %lu; differing in the replay: %lu\n",
                  KILL_TRIAL_COUNT, (unsigned long)early, (unsigned long)ticks,
                  (unsigned long)added_tick_count, (unsigned long)lost, (unsigned long)differing);
    assert_int_equal(lost, 0);
    assert_int_equal(differing, 0);
    assert_in_range(early, 0, KILL_TRIAL_COUNT / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_before_a_kill_are_recovered_and_replay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
