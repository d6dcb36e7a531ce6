"""Ports for the ends of a link."""
import itertools
import os
import socket

TRIED = itertools.count()


def free_port():
    """A UDP port below those that the system gives to others, so that it is still free when it is opened."""
    while True:
        port = 16384 + (8 * os.getpid() + next(TRIED)) % 16384
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
