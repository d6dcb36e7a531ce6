/* How a person ends what pushes on a device: signals become a request to stop. */
#include <signal.h>
#include <stddef.h>
#include "command.h"

static struct tact_stop stop;

static void on_signal(int number)
{
    (void)number;
    tact_stop_request(&stop);
}

struct tact_stop *command_stop(void)
{
    return &stop;
}

/* A reader of our output that goes away must not kill: writing to it fails instead. */
void command_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}
