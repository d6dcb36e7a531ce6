/* tact link: measures the link between two machines. */
#include <getopt.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include "command.h"
#include "contact/number.h"
#include "link.h"

static const char help[] =
    "usage: tact link (--listen [ADDRESS:]PORT | --connect ADDRESS:PORT) [OPTION]...\n"
    "       tact link --scene FILE [OPTION]...\n\n"
    "Measures the link between two machines before they touch each other through it: run it at\n"
    "both ends. Each sends an encrypted packet every period, of the size that a session sends,\n"
    "and measures what arrives. From delay, jitter and loss follow the constant delay of a\n"
    "channel of wave variables over it, and how stiff a wall can be felt through it.\n"
    "An end accepts only the other whose public key it was given. Without keys only addresses\n"
    "of this machine are allowed.\n\n"
    "  --listen [ADDRESS:]PORT  wait for the other end\n"
    "  --connect ADDRESS:PORT   call the other end\n"
    "  --key FILE               secret key of this end, made by tact keygen\n"
    "  --peer FILE              public key of the other end\n"
    "  --scene FILE             take address, keys and rate from the device of type network of a\n"
    "                           scene, and say what its ties are like over this link,\n"
    "                           without the delay that its settings may simulate\n"
    "  --seconds S              duration, 0.1 to 600; default 10\n"
    "  --rate HZ                packets a second, 10 to 4000; default 1000\n"
    "  --wait S                 how long to wait for the other end, 0 to 3600; default 60\n"
    "  --json                   one JSON object on stdout; times in s\n"
    "  --help                   this text\n\n"
    "exit codes:\n"
    "  0  measured\n"
    "  1  the other end did not come, has another key, or stopped at once\n"
    "  2  bad usage, an address that cannot be used, or a key file that is refused\n\n"
    "example: on one machine, without keys, in two terminals\n"
    "  tact link --listen 4710\n"
    "  tact link --connect 127.0.0.1:4710\n";

static int parse_bounded_option_number(const char *command_name, double least, double most,
                                       double *out)
{
    char *end;
    const double value = tact_number_read(optarg, &end);
    if (end == optarg || *end || !(value >= least && value <= most)) {
        return command_print_usage_error(command_name, "%s: expected a number from %g to %g",
                                         optarg, least, most);
    }
    *out = value;
    return EXIT_GOOD;
}

static int parse_link_option(const char *command_name, int c, struct link_options *o)
{
    switch (c) {
    case 'l':
        o->listen = optarg;
        return EXIT_GOOD;
    case 'c':
        o->connect = optarg;
        return EXIT_GOOD;
    case 'k':
        o->key = optarg;
        return EXIT_GOOD;
    case 'p':
        o->peer = optarg;
        return EXIT_GOOD;
    case 'S':
        o->scene = optarg;
        return EXIT_GOOD;
    case 's':
        return parse_bounded_option_number(command_name, 0.1, 600.0, &o->seconds);
    case 'r':
        return parse_bounded_option_number(command_name, 10.0, 4000.0, &o->rate);
    case 'w':
        return parse_bounded_option_number(command_name, 0.0, 3600.0, &o->wait);
    case 'j':
        o->json = 1;
        return EXIT_GOOD;
    default:
        return EXIT_USAGE;
    }
}

static int open_scene_of_link(struct link_options *o, struct link_scene *scene)
{
    struct tact_error err = {.line = 0};
    return link_scene_open(o, scene, &err) ? command_print_error(&err) : EXIT_GOOD;
}

int cmd_link(int argc, char **argv)
{
    static const struct option long_options[] = {{"listen", required_argument, NULL, 'l'},
                                                 {"connect", required_argument, NULL, 'c'},
                                                 {"key", required_argument, NULL, 'k'},
                                                 {"peer", required_argument, NULL, 'p'},
                                                 {"scene", required_argument, NULL, 'S'},
                                                 {"seconds", required_argument, NULL, 's'},
                                                 {"rate", required_argument, NULL, 'r'},
                                                 {"wait", required_argument, NULL, 'w'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    static struct link_measurement measurement;
    static struct link_scene scene;
    struct link_options o = {.seconds = 10.0, .rate = 1000.0, .wait = 60.0};
    int c;
    measurement.endpoint.socket = -1;
    while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        if (parse_link_option(argv[0], c, &o)) {
            return EXIT_USAGE;
        }
    }
    if (argc != optind || (!o.scene && !o.listen == !o.connect) ||
        (o.scene && (o.listen || o.connect || o.key || o.peer))) {
        return command_print_usage_error(argv[0],
                                         "expected one of --listen, --connect and --scene, and "
                                         "--scene without --key and --peer");
    }
    int code = o.scene ? open_scene_of_link(&o, &scene) : EXIT_GOOD;
    if (!code && !o.key != !o.peer) {
        code = command_print_usage_error(argv[0], "expected both --key and --peer, or neither");
    }
    code = code ? code : link_measure(argv[0], &o, &measurement);
    code = code ? code : link_print(&o, &scene, &measurement);
    tact_scene_free(scene.scene);
    free(measurement.packet_arrivals);
    if (measurement.endpoint.socket >= 0) {
        tact_network_endpoint_close(&measurement.endpoint);
    }
    return code;
}
