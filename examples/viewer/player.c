/* Shows a log in the viewer at the speed that the pages request. */
#include "player.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "playback.h"
#include "rt/clock.h"
#include "server.h"
#include "page_requests.h"

/* part of a frame's time in which ticks are run; further ticks are skipped */
#define TICK_RUNNING_TIME_PER_FRAME_NS 9000000

extern char **environ;

struct player {
    struct playback playback;
    struct tact_topics *topics;
    struct page_requests page_requests;
    struct server *server;
};

/* Reports the log's first fault to the pages once the shown tick is in fault. */
static void show_logged_fault(struct player *p)
{
    const struct tact_log_event *event;
    for (size_t i = 0; (event = tact_log_event(p->playback.log, i)); i++) {
        if (!strcmp(event->name, "fault")) {
            server_send_fault_text(p->server, event->text);
            return;
        }
    }
}

static void send_logged_record(struct player *p, const struct tact_record *record, int sample)
{
    size_t bytes = tact_layout_bytes(tact_log_layout(p->playback.log));
    server_copy_record(p->server, record, bytes, sample);
}

static void send_record_of_tick(void *user, const struct tact_record *record)
{
    send_logged_record(user, record, 0);
}

static int open_viewer_server(struct player *p, const struct player_options *options,
                              struct tact_error *err)
{
    const struct playback *play = &p->playback;
    struct server_options o = {
        .hello = play->hello,
        .mesh_count = play->shapes,
        .meshes = play->meshes,
        .mesh_sizes = play->mesh_sizes,
        .world = tact_session_world(play->scene_log.session),
        .device_count = (size_t)play->scene_log.device_count,
        .name = play->scene_log.scene->name ? play->scene_log.scene->name : "log",
        .topics = p->topics,
        .layout = tact_log_layout(play->log),
        .allowed_origin = options->allowed_origin,
        .port = options->port,
        .excluded_cpu = -1,
        .ask = page_requests_merge,
        .user = &p->page_requests,
    };
    int rc = server_open(&o, &p->server, err);
    if (!rc) {
        show_logged_fault(p);
        p->playback.on_record = send_record_of_tick;
        p->playback.user = p;
    }
    return rc;
}

/* Sets the position [records] to that of a tick, as far as the log goes. 0 or a negative errno. */
static int seek_replayed_tick(struct player *p, double tick, double *position)
{
    const struct tact_log_state *state = tact_log_state(p->playback.log);
    uint64_t index = 0;
    int rc =
        playback_find_record(&p->playback, (uint64_t)fmin(tick, (double)state->last_tick), &index);
    *position = (double)index;
    return rc;
}

/* Changes the position [records] as the pages requested. Returns 1 where a frame is due, or a
 * negative errno. */
static int apply_page_requests(struct player *p, double *position, int *is_playing)
{
    int rc = 0;
    struct page_request w = page_requests_read_and_clear(&p->page_requests);
    const struct tact_log_state *state = tact_log_state(p->playback.log);
    double last = (double)(state->ticks - 1);
    if (w.requested_seek_tick >= 0.0) {
        rc = seek_replayed_tick(p, w.requested_seek_tick, position);
    } else if (w.step) {
        *position = floor(*position) + (double)w.step;
    } else if (w.is_playing) {
        *position += w.speed * PAGE_FRAME_INTERVAL_NS * 1e-9 / p->playback.scene_log.scene->period;
    }
    *position = fmin(fmax(*position, 1.0), last);
    *is_playing = w.is_playing && *position < last;
    if (w.is_playing && !*is_playing) {
        page_requests_pause(&p->page_requests);
    }
    return rc ? rc : w.is_playing || w.is_page_frame_due;
}

static int serve_player_requests(struct player *p, const struct tact_stop *stop, double start_tick)
{
    int64_t next = tact_clock_now();
    double position;
    int is_playing, rc = seek_replayed_tick(p, start_tick, &position);
    while (!rc && !tact_stop_requested(stop)) {
        const int due = apply_page_requests(p, &position, &is_playing);
        rc = due < 0 ? due : 0;
        if (due > 0) {
            rc = playback_go_to_tick(&p->playback, (uint64_t)position,
                                     TICK_RUNNING_TIME_PER_FRAME_NS);
            if (!rc) {
                send_logged_record(p, p->playback.now, 1);
                playback_fill_sample(&p->playback, is_playing ? 0 : WIRE_PAUSED,
                                     server_get_sample_to_fill(p->server));
                server_publish_sample(p->server);
            }
        }
        next += PAGE_FRAME_INTERVAL_NS;
        tact_clock_sleep_until(next);
        next = tact_clock_now() > next + PAGE_FRAME_INTERVAL_NS ? tact_clock_now() : next;
    }
    return rc;
}

void player_print_and_open_address(FILE *to, const char *address, int must_open_browser)
{
    char *argv[] = {"xdg-open", (char *)address, NULL};
    pid_t pid;
    fprintf(to, "%s\n", address);
    fflush(to);
    if (must_open_browser && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"))) {
        /* a failure to open a browser is ignored, as the address is printed */
        posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    }
}

int player_run(const struct player_options *options, struct tact_error *err)
{
    struct player p = {.server = NULL};
    page_requests_open(&p.page_requests, !options->starts_paused);
    struct tact_log *log = NULL;
    int rc = tact_log_open(options->path, &log, err);
    rc = rc ? rc : playback_open(&p.playback, log, err);
    rc = rc ? rc : tact_session_topics(p.playback.scene_log.session, &p.topics, err);
    rc = rc ? rc : open_viewer_server(&p, options, err);
    if (!rc) {
        player_print_and_open_address(stdout, server_address(p.server), options->must_open_browser);
        rc = serve_player_requests(&p, options->stop,
                                   round(options->time / p.playback.scene_log.scene->period));
        if (rc) {
            tact_error_set(err, rc, "the log %s cannot be shown further: %s", options->path,
                           strerror(-rc));
        }
    }
    server_close(p.server);
    tact_topics_free(p.topics);
    playback_close(&p.playback);
    tact_log_close(log);
    page_requests_close(&p.page_requests);
    return rc;
}
