/* Parses and prints network addresses of a link. */
#include "devices/network/address_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Splits "HOST:PORT" into host and port, and removes brackets around an IPv6 address. */
static int split_host_and_port(const char *text, int is_listening_end, char host_text[256],
                               char port[8])
{
    const char *port_separator = strrchr(text, ':');
    const char *from = text, *to = port_separator;
    if (!port_separator) {
        from = to = "";
    } else if (*text == '[') {
        from = text + 1;
        to = port_separator - 1;
        if (to < from || *to != ']') {
            return -EINVAL;
        }
    } else if (memchr(text, ':', (size_t)(port_separator - text))) {
        return -EINVAL;
    }
    const char *port_text = port_separator ? port_separator + 1 : text;
    const size_t length = (size_t)(to - from), count = strlen(port_text);
    if ((!port_separator && !is_listening_end) || (port_separator && !length) || length >= 256 ||
        !count || count > 5 || strspn(port_text, "0123456789") != count) {
        return -EINVAL;
    }
    memcpy(host_text, from, length);
    host_text[length] = '\0';
    memcpy(port, port_text, count + 1);
    return 0;
}

static int is_address_of_this_machine(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static int set_error_that_link_needs_keys(struct tact_error *err)
{
    return tact_error_set(
        err, -EPERM,
        "may be reached by other machines, which needs a key for each end (tact keygen); "
        "without keys only localhost and addresses of this machine are allowed");
}

int tact_network_resolve_address(const char *text, int is_listening_end,
                                 int must_be_loopback_address, struct tact_network_address *out,
                                 struct tact_error *err)
{
    char host_text[256], port[8];
    struct addrinfo *found = NULL;
    /* without keys no name server is asked: nothing leaves the machine */
    const struct addrinfo address_lookup_hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_DGRAM,
        .ai_flags = AI_NUMERICSERV | (is_listening_end ? AI_PASSIVE : 0) |
                    (must_be_loopback_address ? AI_NUMERICHOST : 0)};
    tact_error_at(err, NULL, 0, 0, text);
    if (split_host_and_port(text, is_listening_end, host_text, port) ||
        strtol(port, NULL, 10) > 65535) {
        return tact_error_set(err, -EINVAL, "expected %s",
                              is_listening_end ? "HOST:PORT or PORT" : "HOST:PORT");
    }
    const int must_use_loopback_address =
        must_be_loopback_address && (!*host_text || !strcmp(host_text, "localhost"));
    const char *name = must_use_loopback_address ? "127.0.0.1" : *host_text ? host_text : "0.0.0.0";
    int rc = getaddrinfo(name, port, &address_lookup_hints, &found);
    if (rc == EAI_NONAME && must_be_loopback_address) {
        return set_error_that_link_needs_keys(err);
    }
    if (rc || !found) {
        return tact_error_set(err, -EINVAL, "%s", rc ? gai_strerror(rc) : "no address");
    }
    memcpy(&out->socket_address, found->ai_addr, found->ai_addrlen);
    out->size = found->ai_addrlen;
    freeaddrinfo(found);
    if (must_be_loopback_address &&
        !is_address_of_this_machine((const struct sockaddr *)&out->socket_address)) {
        return set_error_that_link_needs_keys(err);
    }
    return 0;
}

int tact_network_are_addresses_equal(const struct tact_network_address *a,
                                     const struct tact_network_address *b)
{
    if (a->socket_address.ss_family != b->socket_address.ss_family) {
        return 0;
    }
    if (a->socket_address.ss_family == AF_INET) {
        const struct sockaddr_in *x = (const struct sockaddr_in *)&a->socket_address,
                                 *y = (const struct sockaddr_in *)&b->socket_address;
        return x->sin_port == y->sin_port && x->sin_addr.s_addr == y->sin_addr.s_addr;
    }
    const struct sockaddr_in6 *x = (const struct sockaddr_in6 *)&a->socket_address,
                              *y = (const struct sockaddr_in6 *)&b->socket_address;
    return x->sin6_port == y->sin6_port && x->sin6_scope_id == y->sin6_scope_id &&
           !memcmp(&x->sin6_addr, &y->sin6_addr, sizeof x->sin6_addr);
}

void tact_network_format_address(const struct tact_network_address *address, char *text,
                                 size_t size)
{
    char host_text[INET6_ADDRSTRLEN + 16], port[8];
    if (getnameinfo((const struct sockaddr *)&address->socket_address, address->size, host_text,
                    sizeof host_text, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV | NI_DGRAM)) {
        snprintf(text, size, "?");
        return;
    }
    const int v6 = address->socket_address.ss_family == AF_INET6;
    snprintf(text, size, "%s%s%s:%s", v6 ? "[" : "", host_text, v6 ? "]" : "", port);
}
