/* Plays a log to the pages of the viewer. */
#include "player.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "playback.h"
#include "rt/clock.h"
#include "server.h"

#define FRAME_NS 16666667
#define BUDGET_NS 9000000 /* of a frame's time, for ticks run again; the rest is left out */

extern char **environ;

/* What the pages asked for; written by the server's thread. */
struct wishes {
    pthread_mutex_t lock;
    int playing;
    double speed;
    int64_t step;
    double seek; /* tick, or -1 */
    int changed; /* 1: a frame is due although nothing plays */
};

struct player {
    struct playback playback;
    struct wishes wishes;
    struct server *server;
};

static void on_ask(void *user, enum server_ask what, double value)
{
    struct wishes *w = user;
    pthread_mutex_lock(&w->lock);
    w->changed = 1;
    switch (what) {
    case SERVER_PLAY:
    case SERVER_PAUSE:
        w->playing = what == SERVER_PLAY;
        break;
    case SERVER_STEP:
        w->playing = 0;
        w->step += value >= -1e6 && value <= 1e6 ? (int64_t)value : 0;
        break;
    case SERVER_SEEK:
        w->seek = value >= 0.0 ? value : 0.0;
        break;
    case SERVER_SPEED:
        w->speed = value >= 1e-3 && value <= 1e3 ? value : w->speed;
        break;
    default:
        break; /* a log takes no markers, and ends by itself */
    }
    pthread_mutex_unlock(&w->lock);
}

/* The first fault of the log, which the page shows while the session is in one. */
static void report_fault(struct player *p)
{
    const struct tact_log_event *event;
    for (size_t i = 0; (event = tact_log_event(p->playback.log, i)); i++) {
        if (!strcmp(event->name, "fault")) {
            server_fault(p->server, event->text);
            return;
        }
    }
}

static int open_server(struct player *p, const struct player_options *options,
                       struct tact_error *err)
{
    const struct playback *play = &p->playback;
    struct tact_world *world = tact_session_world(play->view.session);
    struct server_options o = {
        .hello = play->hello,
        .mesh_count = play->shapes,
        .meshes = play->meshes,
        .mesh_sizes = play->mesh_sizes,
        .frame_room = wire_room(world, play->view.device_count),
        .port = options->port,
        .ask = on_ask,
        .user = &p->wishes,
    };
    int rc = server_open(&o, &p->server, err);
    if (!rc) {
        report_fault(p);
    }
    return rc;
}

/* Takes what the pages asked for since the last frame. Returns the record that is to be shown. */
static uint64_t take_wishes(struct player *p, double *position, int *playing, int *due)
{
    struct wishes *w = &p->wishes;
    const struct tact_log_state *state = tact_log_state(p->playback.log);
    double last = (double)(state->ticks - 1);
    pthread_mutex_lock(&w->lock);
    if (w->seek >= 0.0) {
        *position = w->seek - (double)state->first_tick;
    } else if (w->step) {
        *position = floor(*position) + (double)w->step;
    } else if (w->playing) {
        *position += w->speed * FRAME_NS * 1e-9 / p->playback.view.scene->period;
    }
    *position = fmin(fmax(*position, 1.0), last);
    w->playing = w->playing && *position < last;
    *due = w->playing || w->changed || w->seek >= 0.0 || w->step;
    *playing = w->playing;
    w->seek = -1.0;
    w->step = 0;
    w->changed = 0;
    pthread_mutex_unlock(&w->lock);
    return (uint64_t)*position;
}

static int serve(struct player *p, const struct tact_stop *stop, double position)
{
    int64_t next = tact_clock_now();
    int rc = 0, playing, due;
    while (!rc && !tact_stop_requested(stop)) {
        uint64_t target = take_wishes(p, &position, &playing, &due);
        if (due) {
            rc = playback_go(&p->playback, target, BUDGET_NS);
            if (!rc) {
                server_publish(p->server, playback_frame(&p->playback, playing ? 0 : WIRE_PAUSED,
                                                         server_frame(p->server)));
            }
        }
        next += FRAME_NS;
        tact_clock_sleep_until(next);
        next = tact_clock_now() > next + FRAME_NS ? tact_clock_now() : next;
    }
    return rc;
}

void player_announce(const char *address, int browser)
{
    char *argv[] = {"xdg-open", (char *)address, NULL};
    pid_t pid;
    printf("%s\n", address);
    fflush(stdout);
    if (browser && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"))) {
        posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ); /* without one the address is all */
    }
}

int player_run(const struct player_options *options, struct tact_error *err)
{
    struct player p = {.wishes = {.speed = 1.0, .seek = -1.0, .changed = 1}};
    pthread_mutex_init(&p.wishes.lock, NULL);
    p.wishes.playing = !options->paused;
    struct tact_log *log = NULL;
    int rc = tact_log_open(options->path, &log, err);
    rc = rc ? rc : playback_open(&p.playback, log, err);
    rc = rc ? rc : open_server(&p, options, err);
    if (!rc) {
        player_announce(server_address(p.server), options->browser);
        rc = serve(&p, options->stop, options->time / p.playback.view.scene->period);
        if (rc) {
            tact_error_set(err, rc, "%s cannot be read on: %s", options->path, strerror(-rc));
        }
    }
    server_close(p.server);
    playback_close(&p.playback);
    tact_log_close(log);
    pthread_mutex_destroy(&p.wishes.lock);
    return rc;
}
