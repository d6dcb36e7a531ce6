/* Signals request a clean stop, which zeroes the forces of devices. */
#include <signal.h>
#include <stddef.h>
#include "command.h"

static struct tact_stop stop;

static void handle_stop_signal(int number)
{
    (void)number;
    tact_stop_request(&stop);
}

struct tact_stop *command_stop_flag(void)
{
    return &stop;
}

void command_install_stop_signals(void)
{
    struct sigaction action = {.sa_handler = handle_stop_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}
