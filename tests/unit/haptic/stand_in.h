/*
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

enum { STAND_IN_SENT = 1 << 16 }; /* capacity of the record of sent forces: 16 s at 4 kHz */

struct simulated_haptic {
    /* the members up to numbers_poses are set by the test */
    _Atomic double x, y, z;  /* position [m] */
    _Atomic double turn;     /* attitude: a rotation about z [rad] */
    atomic_uint buttons;     /* pressed buttons, one bit each */
    atomic_int present;      /* 0: the simulated device is unplugged, each library call fails */
    atomic_int call_us;      /* duration of a library call [us] */
    atomic_int long_call_us; /* duration of each call_every-th library call [us] */
    atomic_int call_every;
    atomic_int numbers_poses; /* 1: x is the number of times a pose was asked for, in um */
    /* the members from here on are set by the stand-in of the library */
    atomic_uint calls;
    atomic_int enabled; /* 1: the program has enabled the device's forces */
    atomic_int open;    /* 1: the program has opened the device */
    atomic_uint poses;  /* number of times a pose was asked for */
    /* time at which the pose of a number, modulo STAND_IN_SENT, was asked for, CLOCK_MONOTONIC */
    _Atomic int64_t pose_request_ns[STAND_IN_SENT];
    atomic_uint count; /* number of forces sent; the last is sent[(count - 1) % STAND_IN_SENT] */
    struct {
        /* time at which the call that sent the force returned, CLOCK_MONOTONIC */
        _Atomic int64_t ns;
        _Atomic double wrench[6]; /* [N, N m] */
    } sent[STAND_IN_SENT];
};

/* Maps the simulated device's file in the folder into memory; NULL on failure. */
static inline struct simulated_haptic *map_simulated_haptic(const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/device", folder);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct simulated_haptic)) != 0) {
        return NULL;
    }
    void *map =
        mmap(NULL, sizeof(struct simulated_haptic), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}

/* The simulated device whose file is in the folder from which this library was loaded. */
static inline struct simulated_haptic *simulated_haptic_of_this_library(void)
{
    static struct simulated_haptic *device;
    Dl_info info;
    char folder[256];
    if (!device && dladdr((void *)&device, &info) && info.dli_fname) {
        snprintf(folder, sizeof folder, "%s", info.dli_fname);
        char *slash = strrchr(folder, '/');
        if (slash) {
            *slash = '\0';
            device = map_simulated_haptic(folder);
        }
    }
    return device;
}

static inline void sleep_for_us(int us)
{
    const struct timespec time = {us / 1000000, us % 1000000 * 1000L};
    nanosleep(&time, NULL);
}

/* Simulates the duration of one library call. Returns 0, or -1 where the device is unplugged. */
static inline int simulate_haptic_library_call(struct simulated_haptic *device)
{
    const unsigned int library_call_number = atomic_fetch_add(&device->calls, 1) + 1;
    const int calls_per_long_call = atomic_load(&device->call_every);
    const int us =
        calls_per_long_call > 0 && library_call_number % (unsigned int)calls_per_long_call == 0
            ? atomic_load(&device->long_call_us)
            : atomic_load(&device->call_us);
    if (us > 0) {
        sleep_for_us(us);
    }
    return atomic_load(&device->present) ? 0 : -1;
}

static inline int64_t monotonic_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Counts a request for the device's pose, and stores its time. Returns x of the pose [m]. */
static inline double count_pose_request_and_read_x(struct simulated_haptic *device)
{
    const unsigned int number = atomic_fetch_add(&device->poses, 1) + 1;
    atomic_store(&device->pose_request_ns[number % STAND_IN_SENT], monotonic_clock_ns());
    return atomic_load(&device->numbers_poses) ? 1e-6 * number : atomic_load(&device->x);
}

static inline void store_sent_wrench(struct simulated_haptic *device, const double wrench[6])
{
    const unsigned int count = atomic_load(&device->count), slot = count % STAND_IN_SENT;
    for (int i = 0; i < 6; i++) {
        atomic_store(&device->sent[slot].wrench[i],
                     atomic_load(&device->enabled) ? wrench[i] : 0.0);
    }
    atomic_store(&device->sent[slot].ns, monotonic_clock_ns());
    atomic_store(&device->count, count + 1);
}

#endif
