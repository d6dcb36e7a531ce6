/* A UDP port of this machine that no program uses. Include after cmocka.h. The port is below the
 * range from which the system assigns ports (from 32768 on), and tests that run side by side begin
 * their searches at different ports, so that it is still free when the test opens it. */
#ifndef TACT_TESTS_FREE_PORT_H
#define TACT_TESTS_FREE_PORT_H

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static inline int find_free_udp_port(void)
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
