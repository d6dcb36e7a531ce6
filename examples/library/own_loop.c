/* A program that runs its own loop at 1 kHz in real time and gets the same bits as `tact run`:
 *
 *     own_loop SCENE SECONDS LOG */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tact/tact.h>

#define PERIOD_NS 1000000 /* must equal the scene's `period`, 0.001 s */

/* Time of the clock that tact uses for stamps [ns]. */
static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void sleep_until_ns(int64_t ns)
{
    const struct timespec t = {ns / 1000000000, ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

/* Steps a session once a period. The program's other work of each period belongs here. */
static int run_own_loop(struct tact_session *session, long ticks)
{
    struct tact_session_status status;
    const int64_t start = now_ns() + PERIOD_NS;
    for (long k = 0; k < ticks; k++) {
        sleep_until_ns(start + k * PERIOD_NS);
        const int rc = tact_session_step(session, start + k * PERIOD_NS, &status);
        if (rc) {
            return rc;
        }
        if (status.safety == TACT_SAFETY_FAULT && status.fault.tick == status.tick) {
            fprintf(stderr, "own_loop: %s\n", status.fault.text);
        }
    }
    return 0;
}

static int run_session_in_own_loop(const char *path, double seconds, const char *log,
                                   struct tact_error *err)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_session *session = NULL;
    struct tact_scene *scene = NULL;
    options.types = tact_devices_builtin(&options.type_count);
    options.record = log;
    options.replace = 1;
    int rc = tact_scene_load(path, &scene, err);
    rc = rc ? rc : tact_session_create(scene, &options, &session, err);
    rc = rc ? rc : tact_session_begin(session);
    if (!rc) {
        /* The program makes its own thread a real-time thread. Where the system refuses, ticks may
         * be late. */
        const struct tact_realtime_options realtime_options = tact_realtime_default();
        tact_realtime_enter(&realtime_options, NULL);
        rc = run_own_loop(session, (long)(seconds * 1e9 / PERIOD_NS + 0.5));
        tact_realtime_leave();
        const int session_end_error = tact_session_end(session, &report);
        rc = rc ? rc : session_end_error;
        printf("%llu ticks, of which %llu missed their deadline\n",
               (unsigned long long)report.loop.executed, (unsigned long long)report.loop.missed);
    }
    tact_session_destroy(session);
    tact_scene_free(scene);
    return rc;
}

int main(int argc, char **argv)
{
    struct tact_error err = {.line = 0};
    char *end;
    const double seconds = argc == 4 ? tact_number_read(argv[2], &end) : 0.0;
    if (!(seconds > 0.0)) {
        fprintf(stderr, "usage: own_loop SCENE SECONDS LOG\n");
        return 2;
    }
    const int rc = run_session_in_own_loop(argv[1], seconds, argv[3], &err);
    if (rc) {
        fprintf(stderr, "own_loop: %s:%d: %s (%s)\n", err.file, err.line, err.text, strerror(-rc));
    }
    return rc != 0;
}
