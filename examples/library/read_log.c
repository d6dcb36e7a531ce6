/* Reads a log and prints when each pair touched and the largest force between its shapes:
 *
 *     read_log FILE */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tact/tact.h>

/* One printed row: a pair. */
struct last_touch {
    double first, last; /* [s] */
    double most;        /* [N] */
    unsigned long long ticks;
};

static int read_ticks(struct tact_log *log, const struct tact_scene_log *view,
                      struct last_touch *last_touch)
{
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    int rc = record ? 1 : -1;
    while (rc > 0 && (rc = tact_log_next(log, record)) > 0) {
        const double time = (double)record->tick * view->scene->period;
        for (int i = 0; i < view->pair_count; i++) {
            const double force = tact_v3_norm(record->values + view->pairs[i].wrench);
            if (force > 0.0) {
                last_touch[i].first = last_touch[i].ticks++ ? last_touch[i].first : time;
                last_touch[i].last = time;
                last_touch[i].most = fmax(last_touch[i].most, force);
            }
        }
    }
    free(record);
    return rc;
}

int main(int argc, char **argv)
{
    const struct tact_messages silent = {.fn = NULL};
    struct tact_scene_log view = {.pair_count = 0};
    struct tact_error err = {.line = 0};
    struct tact_log *log = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: read_log FILE\n");
        return 2;
    }
    int rc = tact_log_open(argv[1], &log, &err);
    rc = rc ? rc : tact_scene_log_open(log, silent, &view, &err);
    struct last_touch *last_touch =
        rc ? NULL : calloc((size_t)view.pair_count + 1, sizeof *last_touch);
    if (rc || !last_touch || read_ticks(log, &view, last_touch) < 0) {
        fprintf(stderr, "read_log: %s: %s\n", argv[1], err.text);
        return 1;
    }
    const struct tact_log_state *state = tact_log_state(log);
    printf("%llu ticks%s\n", (unsigned long long)state->ticks,
           state->complete ? "" : ", not complete");
    for (int i = 0; i < view.pair_count; i++) {
        if (last_touch[i].ticks) {
            printf("%s: %llu ticks from %.3f to %.3f s, at most %.3f N\n", view.pairs[i].name,
                   last_touch[i].ticks, last_touch[i].first, last_touch[i].last,
                   last_touch[i].most);
        }
    }
    free(last_touch);
    tact_scene_log_close(&view);
    tact_log_close(log);
    return 0;
}
