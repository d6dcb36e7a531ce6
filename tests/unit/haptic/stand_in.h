/**
 * A simulated haptic device behind stand-ins of its makers' libraries: memory shared by the test
 * and the process that loads the library, in the file `device` of the library's folder.
 */
#ifndef TACT_TESTS_HAPTIC_STAND_IN_H
#define TACT_TESTS_HAPTIC_STAND_IN_H

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { STAND_IN_SENT = 1 << 16 }; /* forces kept: 16 s at 4 kHz */

struct stand_in {
    /* of the test */
    _Atomic double x, y, z;  /* position [m] */
    _Atomic double turn;     /* attitude: a rotation about z [rad] */
    atomic_uint buttons;     /* pressed ones, as bits */
    atomic_int present;      /* 0: unplugged, each call fails */
    atomic_int call_us;      /* duration of a call [us] */
    atomic_int long_call_us; /* duration of each call_every-th call [us] */
    atomic_int call_every;
    /* of the library */
    atomic_uint calls;
    atomic_int enabled; /* 1: its forces are on */
    atomic_int open;    /* 1: the device is open */
    atomic_uint count;  /* forces sent; the last is sent[(count - 1) % STAND_IN_SENT] */
    struct {
        _Atomic int64_t ns;       /* when the call returned, CLOCK_MONOTONIC */
        _Atomic double wrench[6]; /* [N, N m] */
    } sent[STAND_IN_SENT];
};

/* Maps the file of a folder; NULL where that fails. */
static inline struct stand_in *stand_in_map(const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/device", folder);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct stand_in)) != 0) {
        return NULL;
    }
    void *map = mmap(NULL, sizeof(struct stand_in), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}

/* The device of the folder that the library was loaded from. */
static inline struct stand_in *stand_in_own(void)
{
    static struct stand_in *device;
    Dl_info info;
    char folder[256];
    if (!device && dladdr((void *)&device, &info) && info.dli_fname) {
        snprintf(folder, sizeof folder, "%s", info.dli_fname);
        char *slash = strrchr(folder, '/');
        if (slash) {
            *slash = '\0';
            device = stand_in_map(folder);
        }
    }
    return device;
}

static inline void stand_in_wait_us(int us)
{
    const struct timespec time = {us / 1000000, us % 1000000 * 1000L};
    nanosleep(&time, NULL);
}

/* A call takes its time. Returns 0, or -1 where the device is unplugged. */
static inline int stand_in_call(struct stand_in *device)
{
    const unsigned int call = atomic_fetch_add(&device->calls, 1) + 1;
    const int every = atomic_load(&device->call_every);
    const int us = every > 0 && call % (unsigned int)every == 0 ? atomic_load(&device->long_call_us)
                                                                : atomic_load(&device->call_us);
    if (us > 0) {
        stand_in_wait_us(us);
    }
    return atomic_load(&device->present) ? 0 : -1;
}

static inline void stand_in_keep(struct stand_in *device, const double wrench[6])
{
    const unsigned int count = atomic_load(&device->count), slot = count % STAND_IN_SENT;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (int i = 0; i < 6; i++) {
        atomic_store(&device->sent[slot].wrench[i],
                     atomic_load(&device->enabled) ? wrench[i] : 0.0);
    }
    atomic_store(&device->sent[slot].ns, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    atomic_store(&device->count, count + 1);
}

#endif
