#include "stick.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/uinput.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "rt/clock.h"

static struct {
    int fd;
    pthread_t driver;
    atomic_int quit;
    atomic_int slow_us;
    atomic_int count;
    atomic_int push;
    atomic_int uploads; /* in progress */
    atomic_int_fast64_t gone_ns;
    struct joystick_event event[MAX_STORED_JOYSTICK_EVENTS];
} stick;

static void fail_unless_success(int rc, const char *what)
{
    if (rc < 0) {
        fprintf(stderr, "stick: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

/* Updates the stick's present force level after the driver received an event: upload, play, stop,
 * gain or erase. */
static void update_current_joystick_force_level(enum joystick_event_kind kind, int id, int value,
                                                const struct ff_effect *effect)
{
    static int level[JOYSTICK_EFFECT_COUNT];
    static int is_joystick_effect_playing[JOYSTICK_EFFECT_COUNT];
    static int gain = 0xffff;
    int push = 0;
    if (kind == STICK_GAIN) {
        gain = value;
    } else if (kind == STICK_UPLOAD) {
        level[id] = effect->type == FF_CONSTANT ? effect->u.constant.level : 0;
    } else {
        is_joystick_effect_playing[id] = kind == STICK_PLAY;
    }
    for (int i = 0; i < JOYSTICK_EFFECT_COUNT; i++) {
        push += is_joystick_effect_playing[i] && gain ? level[i] : 0;
    }
    atomic_store(&stick.push, push);
}

static void store_joystick_driver_event(enum joystick_event_kind kind, int id, int value,
                                        const struct ff_effect *effect)
{
    update_current_joystick_force_level(kind, id, value, effect);
    int n = atomic_load(&stick.count);
    if (n < MAX_STORED_JOYSTICK_EVENTS) {
        stick.event[n] = (struct joystick_event){tact_clock_now(), kind, id, value, {0}};
        if (effect) {
            stick.event[n].effect = *effect;
        }
        atomic_store(&stick.count, n + 1);
    }
}

static void answer_upload_request(int request)
{
    struct uinput_ff_upload up = {.request_id = (uint32_t)request};
    if (ioctl(stick.fd, UI_BEGIN_FF_UPLOAD, &up) < 0) {
        return; /* read() of the uinput device fails once the stick is unplugged */
    }
    atomic_fetch_add(&stick.uploads, 1);
    if (atomic_load(&stick.slow_us)) {
        usleep((unsigned int)atomic_load(&stick.slow_us));
    }
    atomic_fetch_sub(&stick.uploads, 1);
    store_joystick_driver_event(STICK_UPLOAD, up.effect.id, 0, &up.effect);
    up.retval = 0;
    ioctl(stick.fd, UI_END_FF_UPLOAD, &up);
}

static void answer_erase_request(int request)
{
    struct uinput_ff_erase erase_request = {.request_id = (uint32_t)request};
    if (ioctl(stick.fd, UI_BEGIN_FF_ERASE, &erase_request) < 0) {
        return;
    }
    store_joystick_driver_event(STICK_ERASE, (int)erase_request.effect_id, 0, NULL);
    erase_request.retval = 0;
    ioctl(stick.fd, UI_END_FF_ERASE, &erase_request);
}

static void *run_joystick_driver(void *unused)
{
    (void)unused;
    while (!atomic_load(&stick.quit)) {
        struct pollfd stick_pollfd = {.fd = stick.fd, .events = POLLIN};
        struct input_event event;
        if (poll(&stick_pollfd, 1, 100) < 1 ||
            read(stick.fd, &event, sizeof event) != sizeof event) {
            continue;
        }
        if (event.type == EV_UINPUT && event.code == UI_FF_UPLOAD) {
            answer_upload_request(event.value);
        } else if (event.type == EV_UINPUT && event.code == UI_FF_ERASE) {
            answer_erase_request(event.value);
        } else if (event.type == EV_FF && event.code == FF_GAIN) {
            store_joystick_driver_event(STICK_GAIN, -1, event.value, NULL);
        } else if (event.type == EV_FF && event.code < FF_GAIN) {
            store_joystick_driver_event(event.value ? STICK_PLAY : STICK_STOP, event.code, 0, NULL);
        }
    }
    return NULL;
}

static void create_uinput_joystick(const int *effects)
{
    struct uinput_setup setup = {.id = {.bustype = BUS_USB, .vendor = 0x1209, .product = 2},
                                 .name = JOYSTICK_NAME,
                                 .ff_effects_max = JOYSTICK_EFFECT_COUNT};
    stick.fd = open("/dev/uinput", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    fail_unless_success(stick.fd, "/dev/uinput");
    fail_unless_success(ioctl(stick.fd, UI_SET_EVBIT, EV_KEY), "EV_KEY");
    fail_unless_success(ioctl(stick.fd, UI_SET_KEYBIT, BTN_TRIGGER), "BTN_TRIGGER");
    fail_unless_success(ioctl(stick.fd, UI_SET_EVBIT, EV_ABS), "EV_ABS");
    for (int code = ABS_X; code <= ABS_Y; code++) {
        struct uinput_abs_setup axis = {.code = (uint16_t)code,
                                        .absinfo = {.minimum = -1000, .maximum = 1000}};
        fail_unless_success(ioctl(stick.fd, UI_ABS_SETUP, &axis), "UI_ABS_SETUP");
    }
    fail_unless_success(ioctl(stick.fd, UI_SET_EVBIT, EV_FF), "EV_FF");
    for (int i = 0; effects[i]; i++) {
        fail_unless_success(ioctl(stick.fd, UI_SET_FFBIT, effects[i]), "UI_SET_FFBIT");
    }
    fail_unless_success(ioctl(stick.fd, UI_DEV_SETUP, &setup), "UI_DEV_SETUP");
    fail_unless_success(ioctl(stick.fd, UI_DEV_CREATE), "UI_DEV_CREATE");
}

const char *joystick_device_path(void)
{
    static char node[64];
    char name[64] = "";
    char path[256];
    snprintf(node, sizeof node, "none");
    fail_unless_success(ioctl(stick.fd, UI_GET_SYSNAME(sizeof name), name), "UI_GET_SYSNAME");
    for (int i = 0; i < 32; i++) {
        snprintf(path, sizeof path, "/sys/devices/virtual/input/%s/event%d", name, i);
        if (access(path, F_OK) == 0) {
            snprintf(node, sizeof node, "/dev/input/event%d", i);
        }
    }
    return node;
}

void plug_in_joystick(const int *effects)
{
    const struct sched_param driver_priority = {
        .sched_priority = 92}; /* thread priority: the simulated driver must not be delayed */
    pthread_attr_t attr;
    static int loaded;
    if (!loaded++) {
        fail_unless_success(system("modprobe uinput && modprobe evdev") ? -1 : 0, "modprobe");
    }
    create_uinput_joystick(effects);
    atomic_store(&stick.quit, 0);
    atomic_store(&stick.count, 0);
    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &driver_priority);
    fail_unless_success(-pthread_create(&stick.driver, &attr, run_joystick_driver, NULL), "driver");
    pthread_attr_destroy(&attr);
}

void unplug_joystick(void)
{
    atomic_store(&stick.quit, 1);
    fail_unless_success(ioctl(stick.fd, UI_DEV_DESTROY), "UI_DEV_DESTROY");
    atomic_store(&stick.gone_ns, tact_clock_now());
    pthread_join(stick.driver, NULL);
    close(stick.fd);
}

void set_joystick_upload_delay(int us)
{
    atomic_store(&stick.slow_us, us);
}

void send_joystick_event(int type, int code, int value)
{
    const struct input_event events[2] = {
        {.type = (uint16_t)type, .code = (uint16_t)code, .value = value},
        {.type = EV_SYN, .code = SYN_REPORT}};
    fail_unless_success((int)write(stick.fd, events, sizeof events), "write");
}

int pending_joystick_upload_count(void)
{
    return atomic_load(&stick.uploads);
}

int64_t joystick_removal_time_ns(void)
{
    return atomic_load(&stick.gone_ns);
}

int joystick_event_count(void)
{
    return atomic_load(&stick.count);
}

const struct joystick_event *get_joystick_event(int index)
{
    return &stick.event[index];
}

int current_joystick_force_level(void)
{
    return atomic_load(&stick.push);
}

const struct ff_effect *joystick_effect_playing_at_time(int type, int64_t ns)
{
    const struct ff_effect *effect[JOYSTICK_EFFECT_COUNT] = {NULL};
    int64_t effect_start_ns[JOYSTICK_EFFECT_COUNT] = {0};
    for (int i = 0; i < joystick_event_count() && stick.event[i].ns <= ns; i++) {
        const struct joystick_event *e = &stick.event[i];
        if (e->kind == STICK_UPLOAD) {
            effect[e->id] = &e->effect;
        } else if (e->kind == STICK_ERASE) {
            effect[e->id] = NULL;
        }
        if (e->kind == STICK_PLAY) {
            effect_start_ns[e->id] = e->ns;
        } else if (e->kind == STICK_STOP || e->kind == STICK_ERASE) {
            effect_start_ns[e->id] = 0;
        }
    }
    for (int i = 0; i < JOYSTICK_EFFECT_COUNT; i++) {
        if (effect[i] && effect[i]->type == type && effect_start_ns[i] &&
            ns - effect_start_ns[i] < effect[i]->replay.length * 1000000LL) {
            return effect[i];
        }
    }
    return NULL;
}

int joystick_gain_at_time(int64_t ns)
{
    int gain = 0xffff;
    for (int i = 0; i < joystick_event_count() && stick.event[i].ns <= ns; i++) {
        gain = stick.event[i].kind == STICK_GAIN ? stick.event[i].value : gain;
    }
    return gain;
}

double joystick_force_at_time(int64_t ns)
{
    const struct ff_effect *e = joystick_effect_playing_at_time(FF_CONSTANT, ns);
    const double pi = 3.14159265358979323846;
    /* direction 0x4000 is left */
    return e ? -sin(e->direction / 32768.0 * pi) * e->u.constant.level * joystick_gain_at_time(ns) /
                   65535.0
             : 0.0;
}
