/* A UDP port of this machine that nobody uses. Include after cmocka.h. It is below those that the
 * system gives to others that ask for any (from 32768 on), and processes side by side begin at
 * different ones, so that it is still free when it is opened. */
#ifndef TACT_TESTS_FREE_PORT_H
#define TACT_TESTS_FREE_PORT_H

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static inline int free_port(void)
{
    static unsigned tried;
    int port = 0;
    for (int found = 0; !found;) {
        assert_true(++tried < 10000);
        port = 16384 + (int)((8U * (unsigned)getpid() + tried) % 16384U);
        const struct sockaddr_in address = {.sin_family = AF_INET,
                                            .sin_port = htons((uint16_t)port),
                                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        const int fd = socket(AF_INET, SOCK_DGRAM, 0);
        assert_true(fd >= 0);
        found = !bind(fd, (const struct sockaddr *)&address, sizeof address);
        close(fd);
    }
    return port;
}

#endif
