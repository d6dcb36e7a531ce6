/* Addresses of a link, as people write them. */
#ifndef TACT_DEVICES_NETWORK_ADDRESS_INTERNAL_H
#define TACT_DEVICES_NETWORK_ADDRESS_INTERNAL_H

#include "devices/network/endpoint_internal.h"

/* Resolves "HOST:PORT" or "[IPV6]:PORT"; with listen also "PORT" alone, for every address of this
 * machine or, with must_be_loopback_address, 127.0.0.1. May ask a name server; not with
 * must_be_loopback_address, for which localhost is 127.0.0.1. Returns 0, or -EINVAL or -EPERM (an
 * address that other machines reach or a name that may be one, with must_be_loopback_address) with
 * *err set. */
int tact_network_resolve_address(const char *text, int is_listening_end,
                                 int must_be_loopback_address, struct tact_network_address *out,
                                 struct tact_error *err);

/* Whether two addresses are equal, with their ports. */
int tact_network_are_addresses_equal(const struct tact_network_address *a,
                                     const struct tact_network_address *b);

/* "192.0.2.7:4710". */
void tact_network_format_address(const struct tact_network_address *address, char *text,
                                 size_t size);

#endif
