#include "mock_pad.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

static const char *json_text_of_key(const json_t *device, const char *key)
{
    const char *text = json_string_value(json_object_get(device, key));
    return text ? text : "";
}

json_t *mock_pad_devices(void)
{
    json_t *all = json_array(), *entry, *other;
    size_t i, k;
    for (int which = 0; which < 2; which++) {
        char path[DATA_PATH];
        snprintf(path, sizeof path, "%s/input_devices/capabilities.json", test_data_folder(which));
        json_t *root = json_load_file(path, 0, NULL);
        json_array_foreach(json_object_get(root, "devices"), i, entry)
        {
            bool known = false;
            json_array_foreach(all, k, other)
            {
                known |=
                    strcmp(json_text_of_key(other, "name"), json_text_of_key(entry, "name")) == 0;
            }
            if (!known) {
                json_array_append(all, entry);
            }
        }
        json_decref(root);
    }
    return all;
}

#ifndef TACT_UMOCKDEV

struct mock_pad *mock_pad_new(const char *device, const char **mock_failure_reason)
{
    (void)device;
    *mock_failure_reason = "built without umockdev";
    return NULL;
}

const char *mock_pad_node(const struct mock_pad *pad)
{
    (void)pad;
    return "";
}

void mock_pad_set_axis(struct mock_pad *pad, int code, int minimum, int maximum, int flat,
                       int value)
{
    (void)pad, (void)code, (void)minimum, (void)maximum, (void)flat, (void)value;
}

void mock_pad_send_events(struct mock_pad *pad, const int (*events)[3], int count)
{
    (void)pad, (void)events, (void)count;
}

void mock_pad_drop_events(struct mock_pad *pad, const int (*events)[3], int count)
{
    (void)pad, (void)events, (void)count;
}

void mock_pad_unplug(struct mock_pad *pad, bool error)
{
    (void)pad, (void)error;
}

void mock_pad_plug(struct mock_pad *pad)
{
    (void)pad;
}

void mock_pad_free(struct mock_pad *pad)
{
    (void)pad;
}

#else

#include <errno.h>
#include <linux/input.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <umockdev.h>
#include <unistd.h>

enum { PACKET = 65 }; /* most events of a packet, including the SYN_REPORT */

struct mock_pad {
    UMockdevTestbed *testbed;
    UMockdevIoctlBase *ioctls;
    GMainContext *context; /* GLib context of the thread that answers ioctls */
    GThread *thread;
    atomic_bool is_ending; /* the thread ends; a GMainLoop would not, quit before it has begun */
    int number;            /* number N of the device node /dev/input/eventN */
    bool is_plugged_in;
    atomic_bool read_fails; /* as of an unplugged device: reads of the node fail with ENODEV */
    char node[64];
    char sysfs_path[128];
    char name[128];
    struct input_id id;
    pthread_mutex_t lock; /* protects the members below: the test's thread sends events while
                             another thread answers ioctls */
    unsigned char ev[(EV_CNT + 7) / 8];
    unsigned char key[(KEY_CNT + 7) / 8];
    unsigned char abs[(ABS_CNT + 7) / 8];
    unsigned char rel[(REL_CNT + 7) / 8];
    unsigned char pressed[(KEY_CNT + 7) / 8];
    struct input_absinfo info[ABS_CNT];
};

static bool is_bit_set(const unsigned char *bits, int bit)
{
    return (bits[bit / 8] >> (bit % 8)) & 1;
}

static void set_or_clear_bit(unsigned char *bits, int bit, bool on)
{
    unsigned char event_bit_mask = (unsigned char)(1U << (bit % 8));
    bits[bit / 8] =
        (unsigned char)(on ? bits[bit / 8] | event_bit_mask : bits[bit / 8] & ~event_bit_mask);
}

static void set_mock_pad_axes_to_rest(struct mock_pad *pad)
{
    memset(pad->pressed, 0, sizeof pad->pressed);
    for (int i = 0; i < ABS_CNT; i++) {
        bool is_stick_axis = i == ABS_X || i == ABS_Y || i == ABS_RX || i == ABS_RY;
        bool is_hat_axis = i >= ABS_HAT0X && i <= ABS_HAT3Y;
        pad->info[i] = is_stick_axis ? (struct input_absinfo){0, -32768, 32767, 16, 128, 0}
                       : is_hat_axis ? (struct input_absinfo){0, -1, 1, 0, 0, 0}
                                     : (struct input_absinfo){0, 0, 255, 0, 0, 0};
    }
}

static void read_capability_bits(const json_t *device, const char *key, unsigned char *bits,
                                 int count)
{
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(device, key), i, value)
    {
        json_int_t bit = json_integer_value(value);
        if (bit >= 0 && bit < count) {
            set_or_clear_bit(bits, (int)bit, true);
        }
    }
}

static void set_mock_puck_capabilities(struct mock_pad *pad)
{
    snprintf(pad->name, sizeof pad->name, "%s", MOCK_PUCK);
    pad->id = (struct input_id){BUS_USB, 0x046d, 0xc626, 0x0111};
    set_or_clear_bit(pad->ev, EV_SYN, true);
    set_or_clear_bit(pad->ev, EV_KEY, true);
    set_or_clear_bit(pad->ev, EV_REL, true);
    set_or_clear_bit(pad->key, BTN_0, true);
    set_or_clear_bit(pad->key, BTN_1, true);
    for (int i = REL_X; i <= REL_RZ; i++) {
        set_or_clear_bit(pad->rel, i, true);
    }
}

static void set_bit_range(unsigned char *bits, int first, int last)
{
    for (int i = first; i <= last; i++) {
        set_or_clear_bit(bits, i, true);
    }
}

/* Capabilities of attached devices that are no haptic input: keyboard, receiver, headset, lid
 * switch. */
static bool make_device_that_is_no_pad(struct mock_pad *pad, const char *device)
{
    bool is_wireless_receiver = !strcmp(device, MOCK_WIRELESS_RECEIVER),
         is_headset = !strcmp(device, MOCK_HEADSET);
    bool is_keyboard = !strcmp(device, MOCK_KEYBOARD);
    snprintf(pad->name, sizeof pad->name, "%s", device);
    pad->id = is_wireless_receiver ? (struct input_id){BUS_USB, 0x045e, 0x0745, 0x0111}
              : is_headset         ? (struct input_id){BUS_USB, 0x047f, 0xac01, 0x0111}
                                   : (struct input_id){BUS_I8042, 1, 1, 0xab41};
    set_or_clear_bit(pad->ev, EV_SYN, true);
    if (is_keyboard || is_wireless_receiver || is_headset) {
        set_or_clear_bit(pad->ev, EV_KEY, true);
    }
    if (is_keyboard) {
        set_bit_range(pad->key, KEY_ESC, KEY_KPDOT);
    } else if (is_wireless_receiver) {
        set_or_clear_bit(pad->ev, EV_ABS, true);
        set_or_clear_bit(pad->ev, EV_REL, true);
        set_bit_range(pad->key, KEY_ESC, KEY_MICMUTE);
        set_or_clear_bit(pad->key, BTN_MISC, true);
        set_bit_range(pad->key, KEY_OK, KEY_MAX / 2 + 0x3b);
        set_or_clear_bit(pad->rel, REL_HWHEEL, true);
        set_bit_range(pad->abs, ABS_X, ABS_WHEEL);
        set_bit_range(pad->abs, ABS_HAT0X, ABS_HAT1X);
        set_or_clear_bit(pad->abs, ABS_VOLUME, true);
    } else if (is_headset) {
        set_or_clear_bit(pad->ev, EV_ABS, true);
        set_bit_range(pad->key, KEY_VOLUMEDOWN, KEY_VOLUMEUP);
        set_bit_range(pad->key, BTN_MISC, BTN_GAMEPAD + 10);
        set_bit_range(pad->abs, ABS_MISC, ABS_MT_SLOT - 1);
    }
    return is_keyboard || is_wireless_receiver || is_headset || !strcmp(device, MOCK_LID_SWITCH);
}

static bool read_capabilities(struct mock_pad *pad, const char *device)
{
    size_t i;
    json_t *entry;
    bool found = false;
    if (strcmp(device, MOCK_PUCK) == 0) {
        set_mock_puck_capabilities(pad);
        return true;
    }
    if (make_device_that_is_no_pad(pad, device)) {
        return true;
    }
    pad->id = (struct input_id){0};
    memset(pad->ev, 0, sizeof pad->ev);
    json_t *devices = mock_pad_devices();
    json_array_foreach(devices, i, entry)
    {
        if (strcmp(json_text_of_key(entry, "name"), device) != 0) {
            continue;
        }
        const char *name = json_text_of_key(entry, "eviocgname");
        snprintf(pad->name, sizeof pad->name, "%s", name[0] ? name : device);
        pad->id.bustype = (__u16)json_integer_value(json_object_get(entry, "bus_type"));
        pad->id.vendor = (__u16)json_integer_value(json_object_get(entry, "vendor_id"));
        pad->id.product = (__u16)json_integer_value(json_object_get(entry, "product_id"));
        pad->id.version = (__u16)json_integer_value(json_object_get(entry, "version"));
        read_capability_bits(entry, "ev", pad->ev, EV_CNT);
        read_capability_bits(entry, "keys", pad->key, KEY_CNT);
        read_capability_bits(entry, "abs", pad->abs, ABS_CNT);
        /* force feedback is left out: uploads of effects are not simulated */
        set_or_clear_bit(pad->ev, EV_FF, false);
        found = true;
        break;
    }
    json_decref(devices);
    return found;
}

/* The answer to an ioctl request: its bytes and their number; NULL for one without data. */
static const void *answer_ioctl_request(const struct mock_pad *pad, unsigned int number,
                                        size_t *size)
{
    static const unsigned char zero_bits[KEY_CNT];
    static const int version = EV_VERSION;
    *size = sizeof zero_bits;
    if (number >= _IOC_NR(EVIOCGABS(0)) && number < _IOC_NR(EVIOCGABS(ABS_CNT))) {
        *size = sizeof pad->info[0];
        return &pad->info[number - _IOC_NR(EVIOCGABS(0))];
    }
    switch (number) {
    case _IOC_NR(EVIOCGVERSION):
        *size = sizeof version;
        return &version;
    case _IOC_NR(EVIOCGID):
        *size = sizeof pad->id;
        return &pad->id;
    case _IOC_NR(EVIOCGNAME(0)):
        *size = strlen(pad->name) + 1;
        return pad->name;
    case _IOC_NR(EVIOCGKEY(0)):
        *size = sizeof pad->pressed;
        return pad->pressed;
    case _IOC_NR(EVIOCGBIT(0, 0)):
        *size = sizeof pad->ev;
        return pad->ev;
    case _IOC_NR(EVIOCGBIT(EV_KEY, 0)):
        *size = sizeof pad->key;
        return pad->key;
    case _IOC_NR(EVIOCGBIT(EV_ABS, 0)):
        *size = sizeof pad->abs;
        return pad->abs;
    case _IOC_NR(EVIOCGBIT(EV_REL, 0)):
        *size = sizeof pad->rel;
        return pad->rel;
    default:
        return zero_bits;
    }
}

static gboolean on_ioctl(UMockdevIoctlBase *base, UMockdevIoctlClient *client, gpointer user)
{
    struct mock_pad *pad = user;
    unsigned long request = umockdev_ioctl_client_get_request(client);
    unsigned int number = _IOC_NR(request);
    (void)base;
    if (_IOC_TYPE(request) != 'E') {
        return FALSE;
    }
    if (_IOC_DIR(request) == _IOC_WRITE) {
        umockdev_ioctl_client_complete(client, 0, 0); /* EVIOCSCLOCKID, EVIOCGRAB */
        return TRUE;
    }
    if (number == _IOC_NR(EVIOCGPHYS(0)) || number == _IOC_NR(EVIOCGUNIQ(0))) {
        umockdev_ioctl_client_complete(client, -1, ENOENT);
        return TRUE;
    }
    size_t size;
    pthread_mutex_lock(&pad->lock);
    const void *bytes = answer_ioctl_request(pad, number, &size);
    size = size < _IOC_SIZE(request) ? size : _IOC_SIZE(request);
    UMockdevIoctlData *data = umockdev_ioctl_data_resolve(umockdev_ioctl_client_get_arg(client), 0,
                                                          _IOC_SIZE(request), NULL);
    if (data) {
        guint8 copy[1024];
        memcpy(copy, bytes, size);
        umockdev_ioctl_data_update(data, 0, copy, (gint)size);
        g_object_unref(data);
    }
    pthread_mutex_unlock(&pad->lock);
    umockdev_ioctl_client_complete(client, data ? (glong)size : -1, data ? 0 : EFAULT);
    return TRUE;
}

/* Handles a read of the node: fails where the pad is unplugged, else umockdev answers it. */
static gboolean on_read(UMockdevIoctlBase *base, UMockdevIoctlClient *client, gpointer user)
{
    struct mock_pad *pad = user;
    (void)base;
    if (!atomic_load(&pad->read_fails)) {
        return FALSE;
    }
    umockdev_ioctl_client_complete(client, -1, ENODEV);
    return TRUE;
}

static gpointer serve_ioctl_requests(gpointer user)
{
    struct mock_pad *pad = user;
    g_main_context_push_thread_default(pad->context);
    while (!atomic_load(&pad->is_ending)) {
        g_main_context_iteration(pad->context, TRUE);
    }
    g_main_context_pop_thread_default(pad->context);
    return NULL;
}

void mock_pad_plug(struct mock_pad *pad)
{
    char text[512];
    GError *error = NULL;
    pad->number++;
    snprintf(pad->node, sizeof pad->node, "/dev/input/event%d", pad->number);
    snprintf(pad->sysfs_path, sizeof pad->sysfs_path, "/sys/devices/virtual/input/input%d/event%d",
             pad->number, pad->number);
    snprintf(text, sizeof text,
             "P: %s\nN: input/event%d\nE: DEVNAME=%s\nE: SUBSYSTEM=input\nE: MAJOR=13\n"
             "E: MINOR=%d\nA: dev=13:%d\n",
             pad->sysfs_path + strlen("/sys"), pad->number, pad->node, 64 + pad->number,
             64 + pad->number);
    pthread_mutex_lock(&pad->lock);
    set_mock_pad_axes_to_rest(pad);
    pthread_mutex_unlock(&pad->lock);
    atomic_store(&pad->read_fails, false);
    /* The node exists only while its requests are answered: the preloaded library ends the program
     * that opens a node whose socket is bound and does not listen yet, or no more. */
    pad->is_plugged_in =
        umockdev_testbed_attach_ioctl(pad->testbed, pad->node, pad->ioctls, &error) &&
        umockdev_testbed_add_from_string(pad->testbed, text, &error);
    if (error) {
        fprintf(stderr, "umockdev: %s\n", error->message);
        g_error_free(error);
    }
}

void mock_pad_unplug(struct mock_pad *pad, bool error)
{
    atomic_store(&pad->read_fails, error);
    umockdev_testbed_remove_device(pad->testbed, pad->sysfs_path);
    umockdev_testbed_detach_ioctl(pad->testbed, pad->node, NULL);
    pad->is_plugged_in = false;
}

struct mock_pad *mock_pad_new(const char *device, const char **mock_failure_reason)
{
    const char *preload = getenv("LD_PRELOAD");
    struct mock_pad *pad = calloc(1, sizeof *pad);
    struct stat st;
    *mock_failure_reason = "out of memory";
    if (!pad) {
        return NULL;
    }
    if (!preload || !strstr(preload, "umockdev")) {
        *mock_failure_reason = "umockdev's library is not preloaded (umockdev-wrapper)";
        free(pad);
        return NULL;
    }
    if (!read_capabilities(pad, device)) {
        *mock_failure_reason = "no such device in the data of the tests";
        free(pad);
        return NULL;
    }
    pthread_mutex_init(&pad->lock, NULL);
    pad->number = 6;
    pad->testbed = umockdev_testbed_new();
    pad->context = g_main_context_new();
    g_main_context_push_thread_default(pad->context);
    pad->ioctls = umockdev_ioctl_base_new();
    g_signal_connect(pad->ioctls, "handle-ioctl", G_CALLBACK(on_ioctl), pad);
    g_signal_connect(pad->ioctls, "handle-read", G_CALLBACK(on_read), pad);
    mock_pad_plug(pad);
    g_main_context_pop_thread_default(pad->context);
    pad->thread = g_thread_new("mock-pad", serve_ioctl_requests, pad);
    if (!pad->is_plugged_in || stat(pad->node, &st) != 0) {
        *mock_failure_reason = "umockdev does not work here";
        mock_pad_free(pad);
        return NULL;
    }
    *mock_failure_reason = NULL;
    return pad;
}

const char *mock_pad_node(const struct mock_pad *pad)
{
    return pad->node;
}

void mock_pad_set_axis(struct mock_pad *pad, int code, int minimum, int maximum, int flat,
                       int value)
{
    pthread_mutex_lock(&pad->lock);
    pad->info[code] = (struct input_absinfo){value, minimum, maximum, 0, flat, 0};
    pthread_mutex_unlock(&pad->lock);
}

/* Applies an event to the pad's state; returns false where the kernel would drop the event. */
static bool apply_event_to_mock_pad(struct mock_pad *pad, const int *event)
{
    int code = event[1];
    if (event[0] == EV_ABS && code >= 0 && code < ABS_CNT && is_bit_set(pad->abs, code)) {
        bool change = pad->info[code].value != event[2];
        pad->info[code].value = event[2];
        return change;
    }
    if (event[0] == EV_KEY && code >= 0 && code < KEY_CNT && is_bit_set(pad->key, code)) {
        bool change = is_bit_set(pad->pressed, code) != (event[2] != 0);
        set_or_clear_bit(pad->pressed, code, event[2] != 0);
        return change;
    }
    if (event[0] == EV_REL) {
        return code >= 0 && code < REL_CNT && is_bit_set(pad->rel, code) && event[2] != 0;
    }
    return event[0] != EV_ABS && event[0] != EV_KEY;
}

/* Stamps n events, ends their packet with SYN_REPORT and writes it to the node. */
static void write_event_packet(struct mock_pad *pad, struct input_event *packet, int n)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    packet[n].type = EV_SYN;
    packet[n++].code = SYN_REPORT;
    for (int i = 0; i < n; i++) {
        packet[i].input_event_sec = now.tv_sec;
        packet[i].input_event_usec = now.tv_nsec / 1000;
    }
    size_t size = (size_t)n * sizeof *packet;
    int fd = umockdev_testbed_get_dev_fd(pad->testbed, pad->node);
    if (write(fd, packet, size) != (ssize_t)size) {
        fprintf(stderr, "mock_pad: %s takes no more events\n", pad->node);
    }
}

/* Applies events to the pad's state; the packet gets the events that changed the state. */
static int apply_events_to_mock_pad(struct mock_pad *pad, const int (*events)[3], int count,
                                    struct input_event packet[PACKET])
{
    int n = 0;
    memset(packet, 0, PACKET * sizeof *packet);
    pthread_mutex_lock(&pad->lock);
    for (int i = 0; i < count && n < PACKET - 1; i++) {
        if (apply_event_to_mock_pad(pad, events[i])) {
            packet[n].type = (__u16)events[i][0];
            packet[n].code = (__u16)events[i][1];
            packet[n++].value = events[i][2];
        }
    }
    pthread_mutex_unlock(&pad->lock);
    return n;
}

void mock_pad_send_events(struct mock_pad *pad, const int (*events)[3], int count)
{
    struct input_event packet[PACKET];
    int n = apply_events_to_mock_pad(pad, events, count, packet);
    if (n > 0) {
        write_event_packet(pad, packet, n);
    }
}

void mock_pad_drop_events(struct mock_pad *pad, const int (*events)[3], int count)
{
    struct input_event packet[PACKET];
    apply_events_to_mock_pad(pad, events, count, packet);
    memset(packet, 0, sizeof packet);
    packet[0].type = EV_SYN;
    packet[0].code = SYN_DROPPED;
    write_event_packet(pad, packet, 1);
}

void mock_pad_free(struct mock_pad *pad)
{
    if (pad->is_plugged_in) {
        mock_pad_unplug(pad, true);
    }
    atomic_store(&pad->is_ending, true);
    g_main_context_wakeup(pad->context);
    g_thread_join(pad->thread);
    g_object_unref(pad->ioctls);
    g_object_unref(pad->testbed);
    g_main_context_unref(pad->context);
    pthread_mutex_destroy(&pad->lock);
    free(pad);
}

#endif
