/* What a running session publishes for the viewer (examples/viewer/stream.c), tick by tick: a
 * server that keeps what it is given, and a clock that is set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/number.h"
#include "devices/registry.h"
#include "examples/viewer/player.h"
#include "examples/viewer/server.h"
#include "examples/viewer/stream.h"
#include "rt/clock.h"
#include "rt/log/log_reader.h"
#include "rt/loop.h"
#include "support/grip_scene.h"
#include "support/run_scene.h"

#define PERIOD_NS INT64_C(1000000)
#define TICKS_PER_VIEW_SAMPLE                                                                      \
    17 /* number of ticks of 1 ms in a frame of a sixtieth of a second, rounded up */
#define MAX_TICKS_PER_VIEW_SAMPLE 21 /* a quarter more */
#define USUAL_TICK_ELAPSED_NS                                                                      \
    INT64_C(200000) /* elapsed time of a tick, short enough that it publishes [ns] */
#define MAX_STORED_SAMPLES 4096
#define MAX_STORED_EVENTS 64
#define LOG "stream.mcap"

struct published_sample {
    uint64_t at, tick; /* tick in which the sample was published, and tick that it shows */
    uint32_t ticks, bins;
    int flags, patches; /* patches: with their pressure; -1: no map */
};

struct published_record {
    uint64_t at, tick;
};

struct sent_event {
    uint64_t tick;
    const char *name;
    char text[128];
};

struct server {
    struct server_options options;
    struct wire_sample *sample;
    struct tact_record *record;
    /* What clients want. */
    int do_clients_want_frames, pages, viewers;
    unsigned wanted_tick_interval;
    /* What was published. */
    struct published_sample samples[MAX_STORED_SAMPLES];
    struct published_record records[MAX_STORED_SAMPLES];
    struct sent_event events[MAX_STORED_EVENTS];
    int published_sample_count, record_count, fault_count, fetched_sample_count, event_count;
    const char *fault;
};

/* The session under test, its time, and what its pages ask in each frame. */
struct bench {
    struct stream stream;
    struct server server;
    struct tact_stop stop;
    uint64_t tick, ticks_run;
    int64_t now_ns;
    const char *log;                      /* path of the session's log, or NULL */
    int64_t (*elapsed_ns)(uint64_t tick); /* returns the time that the tick has taken so far [ns] */
    int frames;
    void (*ask)(struct bench *bench, int frame);
    uint64_t tick_of_published_frame[64];
};

static struct bench bench;

/* The clock of the whole program. */
int64_t __wrap_tact_clock_now(void);
int64_t __wrap_tact_clock_now(void)
{
    return bench.now_ns;
}

/* A paced simulation sleeps at the end of each frame. */
void __wrap_tact_clock_sleep_until(int64_t sleep_until_ns);
void __wrap_tact_clock_sleep_until(int64_t sleep_until_ns)
{
    bench.now_ns = sleep_until_ns;
    if (bench.ask) {
        assert_in_range(bench.frames, 0, 63);
        bench.tick_of_published_frame[bench.frames] = bench.ticks_run;
        bench.ask(&bench, bench.frames++);
    }
}

int server_open(const struct server_options *options, struct server **out, struct tact_error *err)
{
    (void)err;
    bench.server.options = *options;
    bench.server.sample = calloc(1, wire_sample_bytes(options->world, (int)options->device_count));
    bench.server.record = calloc(1, tact_layout_bytes(options->layout));
    *out = &bench.server;
    return 0;
}

void server_close(struct server *s)
{
    s->options.add_events(s->options.user, s);
    free(s->sample);
    free(s->record);
}

const char *server_address(const struct server *s)
{
    (void)s;
    return "";
}

void player_print_and_open_address(FILE *to, const char *address, int opens_browser)
{
    (void)to;
    (void)address;
    (void)opens_browser;
}

struct wire_sample *server_get_sample_to_fill(struct server *s)
{
    return s->sample;
}

void server_publish_sample(struct server *s)
{
    const struct wire_sample *sample = s->sample;
    assert_in_range(s->published_sample_count, 0, MAX_STORED_SAMPLES - 1);
    struct published_sample *out = &s->samples[s->published_sample_count++];
    assert_int_equal(sample->number, s->published_sample_count);
    *out = (struct published_sample){.at = bench.tick,
                                     .tick = sample->state.tick,
                                     .ticks = sample->ticks,
                                     .flags = sample->state.flags,
                                     .patches =
                                         sample->has_pressure_map ? (int)sample->map.patches : -1};
    for (int i = 0; i < WIRE_HISTOGRAM_BINS; i++) {
        out->bins += sample->latency_bins[1][i];
    }
    s->options.add_events(s->options.user, s);
}

struct tact_record *server_get_record_buffer_if_wanted(struct server *s, uint64_t tick, int sample)
{
    const int is_record_of_tick_wanted =
        s->wanted_tick_interval && tick % s->wanted_tick_interval == 0;
    return is_record_of_tick_wanted || (sample && s->do_clients_want_frames) ? s->record : NULL;
}

void server_push_record(struct server *s, struct tact_record *record, size_t bytes)
{
    assert_ptr_equal(record, s->record);
    assert_true(bytes > 0 && bytes <= tact_layout_bytes(s->options.layout));
    assert_in_range(s->record_count, 0, MAX_STORED_SAMPLES - 1);
    s->records[s->record_count++] = (struct published_record){bench.tick, record->tick};
}

int server_needs_ticks_between_samples(const struct server *s)
{
    return s->wanted_tick_interval > 0;
}

void server_bring_sample_buffer_into_cache(struct server *s)
{
    s->fetched_sample_count++;
}

void server_bring_record_buffer_into_cache(struct server *s)
{
    (void)s;
}

void server_send_fault_text(struct server *s, const char *text)
{
    s->fault = text;
    s->fault_count++;
}

void server_send_event(struct server *s, uint64_t tick, const char *name, const char *text)
{
    assert_in_range(s->event_count, 0, MAX_STORED_EVENTS - 1);
    struct sent_event *event = &s->events[s->event_count++];
    *event = (struct sent_event){.tick = tick, .name = name};
    snprintf(event->text, sizeof event->text, "%s", text);
}

uint64_t server_newest_tick(const struct server *s)
{
    (void)s;
    return bench.tick;
}

int server_has_viewers(const struct server *s)
{
    return s->viewers;
}

int server_client_count(const struct server *s)
{
    return s->pages;
}

static int64_t usual_elapsed_time_of_tick(uint64_t tick)
{
    (void)tick;
    return USUAL_TICK_ELAPSED_NS;
}

static void record_observed_tick(void *user, struct tact_session *session,
                                 const struct tact_session_status *status)
{
    bench.tick = status->tick;
    bench.ticks_run++;
    if (!bench.ask) { /* in real time */
        bench.now_ns =
            (int64_t)status->tick * PERIOD_NS + status->wake_ns + bench.elapsed_ns(status->tick);
    }
    stream_publish_tick(user, session, status);
}

static void reset_viewer_stream_bench(void)
{
    memset(&bench, 0, sizeof bench);
    bench.elapsed_ns = usual_elapsed_time_of_tick;
}

/* Runs a scene for that many ticks, at the pace of the pages where bench.ask is set. */
static void run_observed_scene(const char *text, uint64_t ticks)
{
    struct tact_session_options options = tact_session_options_default();
    const struct stream_options stream_options_of_viewer = {.loop_cpu = -1};
    struct tact_session_report report;
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct tact_error err = {.line = 0};
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.ticks = ticks;
    options.record = bench.log;
    options.replace = 1;
    options.observe = record_observed_tick;
    options.observe_user = &bench.stream;
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(stream_open_server(&bench.stream, session, scene, "simulation", &bench.stop,
                                        &stream_options_of_viewer, &err),
                     0);
    assert_int_equal(bench.ask ? stream_run_session(&bench.stream, ticks, &report)
                               : tact_session_run(session, &report),
                     0);
    stream_close(&bench.stream);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

static void run_observed_ruler(uint64_t ticks, const struct edit *edits)
{
    static const struct edit none[] = {{NULL, NULL}};
    char *text = load_scene_text_with_edits("ruler.yaml", edits ? edits : none);
    run_observed_scene(text, ticks);
    free(text);
}

/* Each tick is in one sample, and the histogram has all so far. */
static void check_samples_have_all_ticks(uint32_t least, uint32_t most)
{
    uint32_t sum = 0;
    for (int i = 0; i < bench.server.published_sample_count; i++) {
        const struct published_sample *s = &bench.server.samples[i];
        assert_int_equal(s->at, s->tick);
        assert_in_range(s->ticks, least, most);
        sum += s->ticks;
        assert_int_equal(s->bins, sum);
        assert_int_equal(s->tick - bench.server.samples[0].tick + bench.server.samples[0].ticks,
                         sum);
    }
}

static void real_time_view_sample_has_17_ticks_and_a_record_halfway(void **unused)
{
    (void)unused;
    reset_viewer_stream_bench();
    bench.server.do_clients_want_frames = 1;
    run_observed_ruler(1000, NULL);
    assert_int_equal(bench.server.published_sample_count, 1000 / TICKS_PER_VIEW_SAMPLE);
    check_samples_have_all_ticks(TICKS_PER_VIEW_SAMPLE, TICKS_PER_VIEW_SAMPLE);
    assert_in_range(bench.server.record_count, bench.server.published_sample_count,
                    bench.server.published_sample_count + 1);
    assert_true(bench.server.fetched_sample_count >= bench.server.published_sample_count);
    for (int i = 0; i < bench.server.published_sample_count; i++) {
        const struct published_record *r = &bench.server.records[i];
        const struct published_sample *s = &bench.server.samples[i];
        assert_int_equal(r->at, r->tick);
        assert_true(r->tick < s->tick && r->tick + s->ticks > s->tick);
        assert_int_equal(s->tick - r->tick, TICKS_PER_VIEW_SAMPLE - TICKS_PER_VIEW_SAMPLE / 2);
    }
}

static int64_t elapsed_time_late_in_seven_of_ten_ticks(uint64_t tick)
{
    return USUAL_TICK_ELAPSED_NS + (tick % 10 < 7 ? 500000 : 0);
}

static int64_t elapsed_time_that_grows_each_tick(uint64_t tick)
{
    return USUAL_TICK_ELAPSED_NS + 20000 * (int64_t)tick;
}

static void late_tick_publishes_nothing_to_viewers(void **unused)
{
    (void)unused;
    reset_viewer_stream_bench();
    bench.server.do_clients_want_frames = 1;
    bench.elapsed_ns = elapsed_time_late_in_seven_of_ten_ticks;
    run_observed_ruler(2000, NULL);
    int sample_count_published_in_late_ticks = 0, record_count_published_in_late_ticks = 0;
    check_samples_have_all_ticks(TICKS_PER_VIEW_SAMPLE, MAX_TICKS_PER_VIEW_SAMPLE);
    for (int i = 0; i < bench.server.published_sample_count; i++) {
        sample_count_published_in_late_ticks +=
            bench.server.samples[i].tick % 10 < 7 &&
            bench.server.samples[i].ticks < MAX_TICKS_PER_VIEW_SAMPLE;
    }
    for (int i = 0; i < bench.server.record_count; i++) {
        record_count_published_in_late_ticks += bench.server.records[i].tick % 10 < 7;
    }
    /* The first ticks are compared with an average that begins with one of them. */
    assert_in_range(sample_count_published_in_late_ticks, 0, 2);
    assert_in_range(record_count_published_in_late_ticks, 0, 2);
    assert_true(bench.server.published_sample_count > 2000 / MAX_TICKS_PER_VIEW_SAMPLE - 1);
}

static void view_samples_come_a_quarter_later_if_all_ticks_are_late(void **unused)
{
    (void)unused;
    reset_viewer_stream_bench();
    bench.server.do_clients_want_frames = 1;
    bench.elapsed_ns = elapsed_time_that_grows_each_tick;
    run_observed_ruler(1000, NULL);
    check_samples_have_all_ticks(TICKS_PER_VIEW_SAMPLE, MAX_TICKS_PER_VIEW_SAMPLE);
    for (int i = 1; i < bench.server.published_sample_count; i++) {
        assert_int_equal(bench.server.samples[i].ticks, MAX_TICKS_PER_VIEW_SAMPLE);
        assert_int_equal(bench.server.samples[i].tick - bench.server.records[i].tick,
                         MAX_TICKS_PER_VIEW_SAMPLE - TICKS_PER_VIEW_SAMPLE + 1);
    }
}

static void stream_records_are_made_only_on_request(void **unused)
{
    (void)unused;
    reset_viewer_stream_bench();
    run_observed_ruler(300, NULL);
    assert_int_equal(bench.server.record_count, 0);
    assert_int_equal(bench.server.published_sample_count, 300 / TICKS_PER_VIEW_SAMPLE);
    for (unsigned interval_of_requested_ticks = 1; interval_of_requested_ticks <= 10;
         interval_of_requested_ticks += 9) {
        reset_viewer_stream_bench();
        bench.server.wanted_tick_interval = interval_of_requested_ticks;
        run_observed_ruler(300, NULL);
        assert_int_equal(bench.server.record_count, 300 / interval_of_requested_ticks);
        for (int i = 0; i < bench.server.record_count; i++) {
            assert_int_equal(bench.server.records[i].tick,
                             (uint64_t)i * interval_of_requested_ticks);
        }
        check_samples_have_all_ticks(TICKS_PER_VIEW_SAMPLE, MAX_TICKS_PER_VIEW_SAMPLE);
    }
}

static void session_fault_is_sent_to_viewers_once(void **unused)
{
    (void)unused;
    const struct edit edits_of_ruler_over_max_speed[] = {
        {"name: ruler", "name: ruler\nmax_speed: 0.001"}, {NULL, NULL}};
    reset_viewer_stream_bench();
    run_observed_ruler(1200, edits_of_ruler_over_max_speed);
    assert_int_equal(bench.server.fault_count, 1);
    assert_ptr_not_equal(bench.server.fault, NULL);
    reset_viewer_stream_bench();
    run_observed_ruler(1200, NULL);
    assert_int_equal(bench.server.fault_count, 0);
}

static const char soft_ball_scene[] =
    "name: soft\nmaterials: [{name: rubber, field: {modulus: 2e5, thickness: 0.01}}, {name: "
    "steel}]\n"
    "pairs: [{materials: [rubber, steel], friction: 0.6, model: field}]\nbodies:\n"
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: steel}]}\n"
    "  - {name: ball, mass: 0.1, position: [0, 0, 0.0199], shapes: [{type: sphere, radius: 0.02, "
    "material: rubber}]}\n";

static void pressures_are_sent_with_samples_to_pages_only(void **unused)
{
    (void)unused;
    for (int pages = 0; pages < 2; pages++) {
        reset_viewer_stream_bench();
        bench.server.pages = pages;
        run_observed_scene(soft_ball_scene, 200);
        assert_int_equal(bench.server.published_sample_count, 200 / TICKS_PER_VIEW_SAMPLE);
        for (int i = 0; i < bench.server.published_sample_count; i++) {
            assert_int_equal(bench.server.samples[i].patches, pages ? 1 : -1);
        }
    }
}

static void session_without_a_viewer_server_publishes_nothing(void **unused)
{
    (void)unused;
    const struct tact_session_status status = {.tick = 5};
    reset_viewer_stream_bench();
    stream_publish_tick(&bench.stream, NULL, &status);
    assert_int_equal(bench.stream.tick_statistics.ticks, 0);
}

/* Frames 0 to 4: nobody is there; 5 to 9: played; 10 to 13: paused, with steps of 3 ticks at 12; 14
 * on: ten times as fast; 20: the end. */
static void request_as_a_page_does(struct bench *b, int frame)
{
    void *user = b->server.options.user;
    if (frame == 4) {
        b->server.viewers = 1;
    } else if (frame == 9) {
        b->server.options.ask(user, SERVER_PAUSE, 0.0);
    } else if (frame == 11) {
        b->server.options.ask(user, SERVER_STEP, 3.0);
    } else if (frame == 13) {
        b->server.options.ask(user, SERVER_SET_SPEED, 10.0);
        b->server.options.ask(user, SERVER_PLAY, 0.0);
    } else if (frame == 20) {
        b->server.options.ask(user, SERVER_STOP, 0.0);
    }
}

static void paced_simulation_follows_requests_of_its_pages(void **unused)
{
    (void)unused;
    reset_viewer_stream_bench();
    bench.server.do_clients_want_frames = 1;
    bench.ask = request_as_a_page_does;
    run_observed_ruler(5000, NULL);
    const uint64_t *at = bench.tick_of_published_frame;
    assert_int_equal(at[4], 0);     /* a paced simulation waits for its first viewer */
    assert_in_range(at[9], 82, 84); /* five frames of 16.67 ticks */
    assert_int_equal(at[11], at[9]);
    assert_int_equal(at[12], at[9] + 3);
    assert_int_equal(at[13], at[12]);
    assert_in_range(at[20] - at[13], 1165, 1168); /* seven frames of 166.7 ticks */
    assert_int_equal(bench.frames, 21);
    for (int i = 0; i < bench.server.published_sample_count; i++) {
        assert_int_equal(bench.server.samples[i].at, bench.server.samples[i].tick);
    }
    assert_true(bench.server.record_count >= bench.server.published_sample_count);
    for (int i = 0; i < bench.server.record_count; i++) {
        assert_int_equal(bench.server.records[i].at, bench.server.records[i].tick);
    }
    const struct published_sample *start = &bench.server.samples[0];
    assert_true(start->tick == 0 && start->ticks == 0 && start->flags == 0); /* for the first one */
    int sample_count_while_paused = 0;
    for (int i = 1; i < bench.server.published_sample_count; i++) {
        const struct published_sample *s = &bench.server.samples[i];
        sample_count_while_paused += (s->flags & WIRE_PAUSED) != 0;
        assert_true(s->ticks > 0 || s->flags & WIRE_PAUSED); /* no tick is published twice */
        assert_true(!(s->flags & WIRE_PAUSED) || s->tick + 1 == at[9] || s->tick + 1 == at[12]);
    }
    assert_int_equal(sample_count_while_paused,
                     2); /* one sample when the simulation is paused, one after the steps */
}

static void end_simulation_after_a_second(struct bench *b, int frame)
{
    b->server.viewers = 1;
    if (frame == 40) {
        b->server.options.ask(b->server.options.user, SERVER_STOP, 0.0);
    }
}

static void end_of_a_simulation_is_shown_until_it_is_stopped(void **unused)
{
    (void)unused;
    reset_viewer_stream_bench();
    bench.ask = end_simulation_after_a_second;
    run_observed_ruler(100, NULL);
    assert_int_equal(bench.ticks_run, 100);
    assert_int_equal(bench.frames, 41);
    const struct published_sample *last =
        &bench.server.samples[bench.server.published_sample_count - 1];
    assert_int_equal(last->tick, 99);
    assert_int_equal(last->flags & (WIRE_PAUSED | WIRE_ENDED), WIRE_PAUSED | WIRE_ENDED);
}

/* Checks that what was sent to the pages is what the log has, each event once; of other kinds than
 * these the log of a simulation has none. Returns their number. */
static int check_sent_events_are_those_of_the_log(void)
{
    struct tact_log *log;
    const struct tact_log_event *event;
    int count = 0;
    assert_int_equal(tact_log_open(LOG, &log, NULL), 0);
    for (size_t i = 0; (event = tact_log_event(log, i)); i++, count++) {
        int sent_event_count = 0;
        for (int k = 0; k < bench.server.event_count; k++) {
            const struct sent_event *sent = &bench.server.events[k];
            sent_event_count += sent->tick == event->tick && !strcmp(sent->name, event->name) &&
                                !strcmp(sent->text, event->text);
        }
        print_message("tick %llu: %s, %s\n", (unsigned long long)event->tick, event->name,
                      event->text);
        assert_int_equal(sent_event_count, 1);
    }
    assert_int_equal(count, bench.server.event_count);
    tact_log_close(log);
    unlink(LOG);
    return count;
}

static void run_observed_grip(double friction, const char *script, const char *grip, double seconds,
                              double support_end_time)
{
    char text[4096];
    reset_viewer_stream_bench();
    bench.log = LOG;
    tact_number_print(text, sizeof text, grip_scene_format, 1e-3, seconds, friction, "0",
                      support_end_time, script, grip);
    run_observed_scene(text, (uint64_t)(seconds / 1e-3 + 0.5));
}

/* A ruler that slips through the fingers, and fingers that open and close 20 times, of which 32
 * events are listed and then one that says that further ones are counted. */
static void touches_and_slips_sent_to_viewers_are_those_of_the_log(void **unused)
{
    (void)unused;
    char script[1024];
    run_observed_grip(0.1, "[0, 0, 0, 0], [0.2, 1, 0, 0]", "scale: 1, speed: 0.5", 0.58, 0.5);
    assert_int_equal(check_sent_events_are_those_of_the_log(), 2);
    assert_string_equal(bench.server.events[0].name, "touch");
    assert_string_equal(bench.server.events[1].name, "slip");
    assert_string_equal(bench.server.events[1].text, "ruler in pinch");
    size_t used = (size_t)snprintf(script, sizeof script, "[0, 0, 0, 0]");
    for (int i = 0; i < 20; i++) {
        used += (size_t)tact_number_print(script + used, sizeof script - used,
                                          ", [%g, 1, 0, 0], [%g, 0, 0, 0]", 0.4 + 0.8 * i,
                                          0.8 + 0.8 * i);
    }
    run_observed_grip(0.8, script, "scale: 4, speed: 1", 16.2, 100.0);
    assert_int_equal(check_sent_events_are_those_of_the_log(), 33);
    assert_string_equal(bench.server.events[32].name, "left out");
}

/* Also where nothing is recorded. */
static void touches_are_sent_to_viewers_without_a_log(void **unused)
{
    (void)unused;
    reset_viewer_stream_bench();
    run_observed_ruler(400, NULL);
    assert_int_equal(bench.server.event_count, 1);
    assert_string_equal(bench.server.events[0].name, "touch");
}

static void session_fault_is_an_event_of_its_tick_for_viewers(void **unused)
{
    (void)unused;
    const struct edit edits_of_ruler_over_max_speed[] = {
        {"name: ruler", "name: ruler\nmax_speed: 0.001"}, {NULL, NULL}};
    reset_viewer_stream_bench();
    bench.log = LOG;
    run_observed_ruler(600, edits_of_ruler_over_max_speed);
    assert_true(check_sent_events_are_those_of_the_log() > 0);
    assert_string_equal(bench.server.events[0].name, "fault");
    assert_non_null(strstr(bench.server.events[0].text, "max_speed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_time_view_sample_has_17_ticks_and_a_record_halfway),
        cmocka_unit_test(late_tick_publishes_nothing_to_viewers),
        cmocka_unit_test(view_samples_come_a_quarter_later_if_all_ticks_are_late),
        cmocka_unit_test(stream_records_are_made_only_on_request),
        cmocka_unit_test(session_fault_is_sent_to_viewers_once),
        cmocka_unit_test(pressures_are_sent_with_samples_to_pages_only),
        cmocka_unit_test(session_without_a_viewer_server_publishes_nothing),
        cmocka_unit_test(paced_simulation_follows_requests_of_its_pages),
        cmocka_unit_test(end_of_a_simulation_is_shown_until_it_is_stopped),
        cmocka_unit_test(touches_and_slips_sent_to_viewers_are_those_of_the_log),
        cmocka_unit_test(touches_are_sent_to_viewers_without_a_log),
        cmocka_unit_test(session_fault_is_an_event_of_its_tick_for_viewers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
