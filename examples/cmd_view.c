/* tact view: a log, or a scene that is simulated, in a browser. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "viewer/player.h"
#include "viewer/server.h"
#include "words.h"

static const char help[] =
    "usage: tact view FILE|SCENE [OPTION]...\n\n"
    "Shows a log in a browser: solids, contact patches, forces, the limits that each contact\n"
    "uses, plots, latency. Prints the address of the page, which only this machine can open, and\n"
    "serves it until Ctrl-C. A scene is simulated, as by tact sim SCENE --view, once it is "
    "open.\n\n"
    "  --time T       begin at T seconds; default: 0\n"
    "  --paused       do not play at once\n"
    "  --port N       serve at this port; default: the first free one from 8765\n"
    "  --no-browser   open none; it opens by itself where there is a display\n"
    "  --allow-origin URL  a page of this origin may watch as well, by foxglove.sdk.v1:\n"
    "                 --allow-origin https://app.foxglove.dev\n"
    "  --plugins DIR  of a scene: folder of device types beside those built in, as of tact sim\n"
    "  --help         this text\n\n"
    "exit codes:\n"
    "  0  ended by Ctrl-C, SIGTERM or SIGHUP\n"
    "  1  the log could not be read to its end, or memory was short\n"
    "  2  bad usage, a file that is no log of tact, or no port\n\n"
    "example:\n"
    "  tact sim examples/scenes/ruler.yaml --record ruler.mcap\n"
    "  tact view ruler.mcap\n"
    "  tact view examples/scenes/stack.yaml\n";

/* Whether a file starts like a log; an unreadable file does not. */
static int is_log_file(const char *path)
{
    static const char magic[] = "\x89MCAP0\r\n";
    char head[sizeof magic - 1];
    FILE *file = fopen(path, "rb");
    int whole = file && fread(head, sizeof head, 1, file) == 1;
    if (file) {
        fclose(file);
    }
    return whole && !memcmp(head, magic, sizeof head);
}

/* Simulates a scene as `tact sim SCENE --view` does, with messages that name this command. */
static int view_scene(const char *command, const struct player_options *o, const char *plugins)
{
    char page[32] = "--view";
    if (o->port) {
        snprintf(page, sizeof page, "--view=%d", o->port);
    }
    char *argv[12] = {(char *)command, (char *)o->path, page};
    int argc = 3;
    if (!o->must_open_browser) {
        argv[argc++] = "--no-browser";
    }
    if (o->allowed_origin) {
        argv[argc++] = "--allow-origin";
        argv[argc++] = (char *)o->allowed_origin;
    }
    if (plugins) {
        argv[argc++] = "--plugins";
        argv[argc++] = (char *)plugins;
    }
    if (o->time > 0.0 || o->starts_paused) {
        return command_print_usage_error(
            command, "--time and --paused are only for a log, and %s is not one", o->path);
    }
    optind = 1;
    return cmd_sim(argc, argv);
}

int cmd_view(int argc, char **argv)
{
    static const struct option long_options[] = {{"time", required_argument, NULL, 't'},
                                                 {"paused", no_argument, NULL, 'p'},
                                                 {"port", required_argument, NULL, 'n'},
                                                 {"no-browser", no_argument, NULL, 'b'},
                                                 {"allow-origin", required_argument, NULL, 'O'},
                                                 {"plugins", required_argument, NULL, 'g'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    struct player_options o = {.must_open_browser = 1, .stop = command_stop_flag()};
    struct tact_error err = {.line = 0};
    const char *plugins = NULL;
    int c;
    while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        int is_option_value_valid = 1;
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        } else if (c == 't') {
            is_option_value_valid = !parse_finite_number(optarg, &o.time) && o.time >= 0.0;
        } else if (c == 'n') {
            is_option_value_valid = !parse_port_number(optarg, &o.port);
        } else if (c == 'p') {
            o.starts_paused = 1;
        } else if (c == 'O') {
            is_option_value_valid = server_is_valid_origin(optarg);
            o.allowed_origin = optarg;
        } else if (c == 'g') {
            plugins = optarg;
        } else if (c == 'b') {
            o.must_open_browser = 0;
        } else {
            return EXIT_USAGE;
        }
        if (!is_option_value_valid) {
            return command_print_usage_error(argv[0], "\"%s\" is not a valid value of this option",
                                             optarg);
        }
    }
    if (optind + 1 != argc) {
        return command_print_usage_error(argv[0], "one log or scene is expected, not %d",
                                         argc - optind);
    }
    o.path = argv[optind];
    const char *dot = strrchr(o.path, '.');
    if (dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")) && !is_log_file(o.path)) {
        return view_scene(argv[0], &o, plugins);
    }
    if (plugins) {
        return command_print_usage_error(
            argv[0], "--plugins is only for a scene, and %s is a log, which needs no devices",
            o.path);
    }
    command_install_stop_signals();
    return player_run(&o, &err) ? command_print_error(&err) : EXIT_GOOD;
}
