/* tact view: a log in a browser. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include "command.h"
#include "viewer/player.h"
#include "words.h"

static const char help[] =
    "usage: tact view FILE [OPTION]...\n\n"
    "Shows a log in a browser: solids, contact patches, forces, the limits that each contact\n"
    "uses, plots, latency. Prints the address of the page, which only this machine can open, and\n"
    "serves it until Ctrl-C.\n\n"
    "  --time T       begin at T seconds; default: 0\n"
    "  --paused       do not play at once\n"
    "  --port N       serve at this port; default: the first free one from 8765\n"
    "  --no-browser   open none; it opens by itself where there is a display\n"
    "  --help         this text\n\n"
    "exit codes:\n"
    "  0  ended by Ctrl-C, SIGTERM or SIGHUP\n"
    "  1  the log could not be read to its end, or memory was short\n"
    "  2  bad usage, a file that is no log of tact, or no port\n\n"
    "example:\n"
    "  tact sim examples/scenes/ruler.yaml --record ruler.mcap\n"
    "  tact view ruler.mcap\n";

int cmd_view(int argc, char **argv)
{
    static const struct option longs[] = {
        {"time", required_argument, NULL, 't'}, {"paused", no_argument, NULL, 'p'},
        {"port", required_argument, NULL, 'n'}, {"no-browser", no_argument, NULL, 'b'},
        {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0}};
    struct player_options o = {.browser = 1, .stop = command_stop()};
    struct tact_error err = {.line = 0};
    double port = 0.0;
    int c;
    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        int good = 1;
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        } else if (c == 't') {
            good = !word_to_number(optarg, &o.time) && o.time >= 0.0;
        } else if (c == 'n') {
            good = !word_to_number(optarg, &port) && port >= 1.0 && port <= 65535.0 &&
                   port == (double)(int)port;
        } else if (c == 'p') {
            o.paused = 1;
        } else if (c == 'b') {
            o.browser = 0;
        } else {
            return EXIT_USAGE;
        }
        if (!good) {
            return command_usage(argv[0], "\"%s\" is not what this option takes", optarg);
        }
    }
    if (optind + 1 != argc) {
        return command_usage(argv[0], "one FILE is expected");
    }
    o.path = argv[optind];
    o.port = (int)port;
    command_catch_signals();
    return player_run(&o, &err) ? command_error(&err) : EXIT_GOOD;
}
