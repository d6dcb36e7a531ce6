/* tact run and tact sim: a scene as a session, in real time or free-wheeling. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "devices/plugin/plugin.h"
#include "kernels/field_cutter.h"
#include "kernels/opencl.h"
#include "kernels/source.h"
#include "rt/realtime.h"
#include "rt/session/report.h"
#include "run.h"
#include "text.h"

#define EXIT_REALTIME_REFUSED 3 /* real time was required, and refused */

/* Replaces values of the scene by those of the command line. */
static int override_scene_values(struct run *run, struct tact_scene *scene)
{
    if (run->moments) {
        char *source = strdup(run->moments);
        if (!source) {
            return -ENOMEM;
        }
        free(scene->moments.source);
        scene->moments.source = source;
    }
    double ticks = round((run->duration > 0.0 ? run->duration : scene->duration) / scene->period);
    run->options.ticks = ticks < 1.0 ? 1 : (ticks > 1e15 ? (uint64_t)1e15 : (uint64_t)ticks);
    return 0;
}

/* Whether the run went well, and one line about it where it did not. */
static int print_failure_and_find_exit_code(const struct run *run,
                                            const struct tact_session *session, int rc,
                                            const struct tact_session_report *report)
{
    const char *path = tact_session_log_path(session);
    const struct tact_realtime_report *rt = &report->loop.realtime;
    if (rc && run->options.require_realtime && rt->refused) {
        for (int i = 0; i < rt->count; i++) {
            if (!rt->item[i].granted) {
                fprintf(stderr, "%s: refused: %s: %s; to get it: %s\n", run->name, rt->item[i].name,
                        rt->item[i].why, rt->item[i].fix);
            }
        }
        return EXIT_REALTIME_REFUSED;
    }
    if (rc == -ETIME) {
        fprintf(stderr, "%s: a tick took too long: the run-time limit (fuse) stopped the loop\n",
                run->name);
    } else if (report->recorder.error) {
        fprintf(stderr, "%s: the log %s is not complete: %s\n", run->name,
                text_make_printable(path), strerror(-report->recorder.error));
    } else if (rc) {
        fprintf(stderr, "%s: the run failed: %s\n", run->name, strerror(-rc));
    } else if (report->recorder.overruns) {
        fprintf(stderr, "%s: the log %s is not complete: %llu ticks were lost\n", run->name,
                text_make_printable(path), (unsigned long long)report->recorder.overruns);
        rc = 1;
    } else if (report->safety == TACT_SAFETY_FAULT) {
        fprintf(stderr, "%s: the run ended with a fault, which began at tick %llu: %s\n", run->name,
                (unsigned long long)report->fault.tick, report->fault.text);
        rc = 1;
    }
    return rc ? EXIT_BAD : EXIT_GOOD;
}

static struct tact_pose *copy_body_poses(struct tact_session *session)
{
    int count = tact_world_body_count(tact_session_world(session));
    struct tact_pose *list = calloc((size_t)count + 1, sizeof *list);
    for (int i = 0; list && i < count; i++) {
        tact_session_body_pose(session, i, &list[i]);
    }
    return list;
}

static int print_run_report(const struct run *run, struct tact_session *session,
                            const struct tact_session_report *report,
                            const struct tact_scene *scene, const struct tact_pose *start)
{
    if (!run->json) {
        table_print_session(session, report, scene, start, &run->options);
        return EXIT_GOOD;
    }
    char *text = tact_session_report_json(session, report);
    if (!text) {
        fprintf(stderr, "%s: no memory for the report\n", run->name);
        return EXIT_BAD;
    }
    puts(text);
    free(text);
    return EXIT_GOOD;
}

/* Runs the session, in the viewer if requested: a simulation then runs at the speed set in its
 * page. */
static int run_session_in_viewer(const struct run *run, const struct tact_scene *scene,
                                 struct stream *stream, struct tact_session *session,
                                 struct tact_session_report *report)
{
    struct tact_error err = {.line = 0};
    int is_real_time = run->options.clock == TACT_LOOP_REAL;
    if (!run->view) {
        return tact_session_run(session, report);
    }
    int rc = stream_open_server(stream, session, scene, is_real_time ? "real time" : "simulation",
                                run->options.stop, &run->viewer_page_options, &err);
    if (rc) {
        command_print_error(&err);
        return rc;
    }
    return is_real_time ? tact_session_run(session, report)
                        : stream_run_session(stream, run->options.ticks, report);
}

/* Reports an error in the scene, at the place where the user wrote it. Returns EXIT_USAGE. */
static int report_scene_error(const struct run *run, struct tact_error *err)
{
    if (run->relocate_error) {
        run->relocate_error(run->relocate_error_user_data, err);
    }
    return command_print_error(err);
}

static int run_session_of_scene(struct run *run, const struct tact_scene *scene)
{
    struct tact_error err = {.line = 0};
    struct tact_session *session;
    struct tact_session_report report = {.source_pairs = 0};
    struct stream stream = {.session = NULL};
    run->options.observe = run->view ? stream_publish_tick : NULL;
    run->options.observe_user = &stream;
    run->viewer_page_options.loop_cpu = tact_realtime_processor(scene->realtime.cpu);
    run->options.source_user = run;
    run->viewer_page_options.source = "host";
    if (strcmp(scene->moments.source, "host")) {
        tact_opencl_prepare(NULL); /* before devices start threads; a failure is reported when the
                                      moment source is opened */
    }
    int session_creation_error = tact_session_create(scene, &run->options, &session, &err);
    if (session_creation_error) {
        report_scene_error(run, &err);
        return session_creation_error == -EINTR ? EXIT_BAD : EXIT_USAGE;
    }
    (void)tact_session_add_field_cutter(session, tact_opencl_field_cutter_factory, NULL);
    struct tact_pose *start = copy_body_poses(session);
    int rc = start ? run_session_in_viewer(run, scene, &stream, session, &report) : -ENOMEM;
    live_clear_status_line();
    int code = start ? print_failure_and_find_exit_code(run, session, rc, &report) : EXIT_BAD;
    if (start && code != EXIT_REALTIME_REFUSED &&
        print_run_report(run, session, &report, scene, start)) {
        code = EXIT_BAD;
    }
    free(start);
    stream_close(&stream);
    tact_session_destroy(session);
    return code;
}

/* The session's moment source, whose name the viewer's page shows. user: the struct run. */
static int open_moment_source(void *user, const struct tact_source_scene *scene, const char *device,
                              int64_t period_ns, struct tact_messages messages,
                              struct tact_source *out, struct tact_error *err)
{
    struct run *run = user;
    int rc = tact_opencl_source_factory(NULL, scene, device, period_ns, messages, out, err);
    if (!rc) {
        snprintf(run->source, sizeof run->source, "%s", out->name);
        run->viewer_page_options.source = run->source;
    }
    return rc;
}

int run_loaded_scene(struct run *run, struct tact_scene *scene)
{
    struct tact_plugins *plugins = NULL;
    struct tact_error err = {.line = 0};
    int code = EXIT_BAD;
    if (tact_plugins_open(scene, run->plugins, &plugins, &err)) {
        tact_scene_free(scene);
        return report_scene_error(run, &err);
    }
    run->options.types = tact_plugins_types(plugins, &run->options.type_count);
    run->options.source = open_moment_source;
    run->options.stop = command_stop_flag();
    run->options.messages = (struct tact_messages){command_print_message, &run->quiet};
    run->options.watch = !run->quiet && isatty(STDERR_FILENO) ? live_print_status_line : NULL;
    run->live_status = (struct live_status){.is_real_time = run->options.clock == TACT_LOOP_REAL,
                                            .period = scene->period};
    run->options.watch_user = &run->live_status;
    run->viewer_page_options.must_open_browser = !run->must_not_open_browser;
    run->viewer_page_options.address_stream = stderr;
    command_install_stop_signals();
    if (!override_scene_values(run, scene)) {
        code = run->tractions ? run_tractions(run, scene)
               : run->reduced ? run_reduced(run, scene)
                              : run_session_of_scene(run, scene);
    }
    tact_plugins_close(plugins);
    tact_scene_free(scene);
    return code;
}

static int run_scene_of_command(int argc, char **argv, int clock)
{
    struct run run = {.name = argv[0], .options = tact_session_options_default()};
    struct tact_scene *scene;
    struct tact_error err = {.line = 0};
    run.options.clock = clock;
    int code = run_parse_options(&run, argc, argv);
    if (code || run.help) {
        return code;
    }
    return tact_scene_load(run.scene, &scene, &err) ? command_print_error(&err)
                                                    : run_loaded_scene(&run, scene);
}

int cmd_run(int argc, char **argv)
{
    return run_scene_of_command(argc, argv, TACT_LOOP_REAL);
}

int cmd_sim(int argc, char **argv)
{
    return run_scene_of_command(argc, argv, TACT_LOOP_FREE);
}
