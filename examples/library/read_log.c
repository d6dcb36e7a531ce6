/* Reads a log and prints when each pair touched and the largest force between its shapes:
 *
 *     read_log FILE */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tact/tact.h>

/* One printed row: a pair. */
struct pair_touch_times {
    double first, last; /* [s] */
    double most;        /* [N] */
    unsigned long long ticks;
};

static int read_touch_times_of_pairs(struct tact_log *log, const struct tact_scene_log *scene_log,
                                     struct pair_touch_times *pair_touch_times)
{
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    int rc = record ? 1 : -1;
    while (rc > 0 && (rc = tact_log_next(log, record)) > 0) {
        const double time = (double)record->tick * scene_log->scene->period;
        for (int i = 0; i < scene_log->pair_count; i++) {
            const double force = tact_v3_norm(record->values + scene_log->pairs[i].wrench);
            if (force > 0.0) {
                pair_touch_times[i].first =
                    pair_touch_times[i].ticks++ ? pair_touch_times[i].first : time;
                pair_touch_times[i].last = time;
                pair_touch_times[i].most = fmax(pair_touch_times[i].most, force);
            }
        }
    }
    free(record);
    return rc;
}

int main(int argc, char **argv)
{
    const struct tact_messages no_messages = {.fn = NULL};
    struct tact_scene_log scene_log = {.pair_count = 0};
    struct tact_error err = {.line = 0};
    struct tact_log *log = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: read_log FILE\n");
        return 2;
    }
    int rc = tact_log_open(argv[1], &log, &err);
    rc = rc ? rc : tact_scene_log_open(log, no_messages, &scene_log, &err);
    struct pair_touch_times *pair_touch_times =
        rc ? NULL : calloc((size_t)scene_log.pair_count + 1, sizeof *pair_touch_times);
    if (rc || !pair_touch_times ||
        read_touch_times_of_pairs(log, &scene_log, pair_touch_times) < 0) {
        fprintf(stderr, "read_log: %s: %s\n", argv[1], err.text);
        return 1;
    }
    const struct tact_log_state *state = tact_log_state(log);
    printf("%llu ticks%s\n", (unsigned long long)state->ticks,
           state->complete ? "" : ", not complete");
    for (int i = 0; i < scene_log.pair_count; i++) {
        if (pair_touch_times[i].ticks) {
            printf("%s: %llu ticks from %.3f to %.3f s, at most %.3f N\n", scene_log.pairs[i].name,
                   pair_touch_times[i].ticks, pair_touch_times[i].first, pair_touch_times[i].last,
                   pair_touch_times[i].most);
        }
    }
    free(pair_touch_times);
    tact_scene_log_close(&scene_log);
    tact_log_close(log);
    return 0;
}
