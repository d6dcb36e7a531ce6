#include "devices/evdev/evdev_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define INPUT_DEVICE_FOLDER "/dev/input"

/* libevdev prints messages unless a handler is set. */
static void ignore_libevdev_message(const struct libevdev *dev, enum libevdev_log_priority priority,
                                    void *data, const char *file, int line,
                                    const char *source_function_name, const char *format,
                                    va_list args)
{
    (void)dev, (void)priority, (void)data, (void)file, (void)line, (void)source_function_name,
        (void)format, (void)args;
}

void tact_evdev_source_free(struct tact_evdev_source *source)
{
    if (source) {
        libevdev_free(source->dev);
        if (source->fd >= 0) {
            close(source->fd);
        }
        free(source);
    }
}

struct tact_evdev_source *tact_evdev_node_open(const char *path, int *error)
{
    struct stat st;
    struct tact_evdev_source *source = calloc(1, sizeof *source);
    *error = -ENOMEM;
    if (!source) {
        return NULL;
    }
    snprintf(source->path, sizeof source->path, "%s", path);
    source->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (source->fd < 0 || fstat(source->fd, &st) != 0 || stat(path, &st) != 0) {
        *error = -errno;
        tact_evdev_source_free(source);
        return NULL;
    }
    source->rdev = st.st_rdev;
    source->inode = st.st_ino;
    source->dev = libevdev_new();
    if (source->dev) {
        libevdev_set_device_log_function(source->dev, ignore_libevdev_message, LIBEVDEV_LOG_ERROR,
                                         NULL);
        *error = libevdev_set_fd(source->dev, source->fd);
    }
    if (*error) {
        tact_evdev_source_free(source);
        return NULL;
    }
    source->is_clock_monotonic = libevdev_set_clock_id(source->dev, CLOCK_MONOTONIC) == 0;
    return source;
}

static bool is_criterion_absent_or_equal(const char *device_selection_criterion, const char *found)
{
    return device_selection_criterion[0] == '\0' ||
           (found && strcmp(device_selection_criterion, found) == 0);
}

static bool does_device_match_selector(const struct tact_evdev_selector *selector,
                                       const struct libevdev *dev)
{
    const char *device_unique_identifier = libevdev_get_uniq(dev);
    if (selector->has_hardware_identity &&
        (strcmp(libevdev_get_name(dev), selector->name) != 0 ||
         !is_criterion_absent_or_equal(selector->unique_identifier_to_match,
                                       device_unique_identifier) ||
         libevdev_get_id_vendor(dev) != selector->vendor ||
         libevdev_get_id_product(dev) != selector->product)) {
        return false;
    }
    return (selector->name_to_match[0] == '\0' ||
            strstr(libevdev_get_name(dev), selector->name_to_match)) &&
           is_criterion_absent_or_equal(selector->serial, device_unique_identifier) &&
           is_criterion_absent_or_equal(selector->phys, libevdev_get_phys(dev));
}

void tact_evdev_store_identity(struct tact_evdev_selector *selector, const struct libevdev *dev)
{
    const char *device_unique_identifier = libevdev_get_uniq(dev);
    selector->has_hardware_identity = true;
    snprintf(selector->name, sizeof selector->name, "%s", libevdev_get_name(dev));
    snprintf(selector->unique_identifier_to_match, sizeof selector->unique_identifier_to_match,
             "%s", device_unique_identifier ? device_unique_identifier : "");
    selector->vendor = libevdev_get_id_vendor(dev);
    selector->product = libevdev_get_id_product(dev);
}

bool tact_evdev_device_is_present(const struct tact_evdev_source *source)
{
    struct stat st;
    return stat(source->path, &st) == 0 && st.st_rdev == source->rdev && st.st_ino == source->inode;
}

static int compare_node_numbers(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int tact_evdev_list_nodes(int *numbers)
{
    int count = 0;
    DIR *folder = opendir(INPUT_DEVICE_FOLDER);
    struct dirent *entry;
    while (folder && count < TACT_EVDEV_NODES && (entry = readdir(folder))) {
        const char *event_node_number_text = entry->d_name + 5;
        if (strncmp(entry->d_name, "event", 5) == 0 && event_node_number_text[0] &&
            event_node_number_text[strspn(event_node_number_text, "0123456789")] == '\0' &&
            strlen(event_node_number_text) < 6) {
            numbers[count++] = atoi(event_node_number_text);
        }
    }
    if (folder) {
        closedir(folder);
    }
    qsort(numbers, (size_t)count, sizeof *numbers, compare_node_numbers);
    return count;
}

/* Opens one event node and stores it as *best if it matches the selector better than *best does. */
static void open_node_if_it_matches(const struct tact_evdev_selector *selector, const char *path,
                                    struct tact_evdev_device_search *search,
                                    struct tact_evdev_source **best)
{
    int error;
    struct tact_evdev_source *source = tact_evdev_node_open(path, &error);
    if (!source) {
        search->error = error;
        search->refused += error == -EACCES || error == -EPERM;
        return;
    }
    search->readable_device_count++;
    if (does_device_match_selector(selector, source->dev)) {
        search->matching_device_count++;
        if (!*best || (strcmp(libevdev_get_name(source->dev), selector->name_to_match) == 0 &&
                       strcmp(libevdev_get_name((*best)->dev), selector->name_to_match) != 0)) {
            tact_evdev_source_free(*best);
            *best = source;
            return;
        }
    }
    tact_evdev_source_free(source);
}

struct tact_evdev_source *tact_evdev_find_device(const struct tact_evdev_selector *selector,
                                                 struct tact_evdev_device_search *search)
{
    struct tact_evdev_source *best = NULL;
    memset(search, 0, sizeof *search);
    if (selector->path[0]) {
        open_node_if_it_matches(selector, selector->path, search, &best);
        return best;
    }
    int numbers[TACT_EVDEV_NODES];
    int count = tact_evdev_list_nodes(numbers);
    for (int i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, INPUT_DEVICE_FOLDER "/event%d", numbers[i]);
        open_node_if_it_matches(selector, path, search, &best);
    }
    return best;
}
