/* A session in several files, read as one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log_internal.h"

char *tact_log_part_path(const char *first, unsigned number)
{
    const char *slash = strrchr(first, '/'), *dot = strrchr(first, '.');
    size_t length_before_log_extension =
        dot && dot > (slash ? slash + 1 : first) ? (size_t)(dot - first) : strlen(first);
    size_t log_path_capacity = strlen(first) + 16;
    char *path = malloc(log_path_capacity);

    if (path && number == 1) {
        snprintf(path, log_path_capacity, "%s", first);
    } else if (path) {
        snprintf(path, log_path_capacity, "%.*s.%u%s", (int)length_before_log_extension, first,
                 number, first + length_before_log_extension);
    }
    return path;
}

static unsigned log_part_number(const struct tact_log *log)
{
    const char *part = tact_log_fact(log, "part");
    return part ? (unsigned)strtoul(part, NULL, 10) : 0;
}

static bool is_same_session(const struct tact_log *a, const struct tact_log *b)
{
    const char *sa = tact_log_fact(a, "session"), *sb = tact_log_fact(b, "session");
    return sa && sb && strcmp(sa, sb) == 0;
}

/* A file without a tick has the layout in its first chunk only, not in an index. */
static bool has_log_part_same_layout(const struct tact_layout *a, const struct tact_log *part)
{
    const struct tact_layout *b = &part->layout;

    if (part->tick_log_channel < 0) {
        return true;
    }
    return tact_layout_equal(a, b);
}

static void merge_topics_of_part(struct tact_log *merged_log, const struct tact_log *part)
{
    for (size_t i = 0; i < part->topic_count; i++) {
        const struct tact_log_topic *log_part_topic = &part->topics[i];
        size_t k = 0;
        while (k < merged_log->topic_count &&
               strcmp(merged_log->topics[k].name, log_part_topic->name) != 0) {
            k++;
        }
        if (k == merged_log->topic_count || log_part_topic->messages == 0) {
            continue;
        }
        struct tact_log_topic *topic = &merged_log->topics[k];
        if (topic->messages == 0 || log_part_topic->first_ns < topic->first_ns) {
            topic->first_ns = log_part_topic->first_ns;
        }
        if (log_part_topic->last_ns > topic->last_ns) {
            topic->last_ns = log_part_topic->last_ns;
        }
        topic->messages += log_part_topic->messages;
    }
}

/* Keeps the first damage found in the session, with the name of its file. */
static void merge_first_damage_of_parts(struct tact_log_state *merged_log_state,
                                        const struct tact_log_state *log_part_state,
                                        const char *path, const char *why)
{
    const char *slash = strrchr(path, '/');

    merged_log_state->bytes_lost += log_part_state ? log_part_state->bytes_lost : 0;
    if (merged_log_state->complete) {
        snprintf(merged_log_state->why, sizeof merged_log_state->why, "in %.60s: %.180s",
                 slash ? slash + 1 : path, why);
        merged_log_state->damage_at = log_part_state ? log_part_state->damage_at : 0;
    }
    merged_log_state->complete = false;
}

static void merge_log_state(struct tact_log *merged_log, const struct tact_log *part,
                            const char *path)
{
    struct tact_log_state *to = &merged_log->state;
    const struct tact_log_state *from = &part->state;

    if (from->ticks > 0) {
        if (to->ticks == 0) {
            to->first_tick = from->first_tick;
        } else if (from->first_tick > to->last_tick) {
            to->missing += from->first_tick - to->last_tick - 1;
        }
        to->last_tick = from->last_tick;
    }
    to->ticks += from->ticks;
    to->missing += from->missing;
    if (to->lost == 0) {
        to->lost_first = from->lost_first;
    }
    if (from->lost > 0) {
        to->lost_last = from->lost_last;
    }
    to->lost += from->lost;
    to->lost_events += from->lost_events;
    to->events += from->events;
    to->file_bytes += from->file_bytes;
    to->data_complete = to->data_complete && from->data_complete;
    to->recording = to->recording || from->recording;
    if (!from->complete) {
        merge_first_damage_of_parts(to, from, path, from->why);
    }
    merge_topics_of_part(merged_log, part);
}

/* Loads the next file of the session, if there is one; *part may be NULL. */
static int load_next_part(const struct tact_log *first, const char *path, unsigned number,
                          struct tact_log **part)
{
    struct tact_log *log = NULL;
    struct tact_error discarded_error = {0};

    *part = NULL;
    int rc = tact_log_load(path, &log, &discarded_error);
    if (rc == -ENOMEM) {
        return rc;
    }
    if (rc == 0 && (log_part_number(log) != number || !is_same_session(first, log) ||
                    !has_log_part_same_layout(&first->layout, log))) {
        tact_log_close(log);
        log = NULL;
    }
    *part = rc == 0 ? log : NULL;
    return 0;
}

int tact_log_load_parts(struct tact_log *first, const char *path)
{
    struct tact_log **end = &first->next_log_part, *before = first;
    int rc = 0;

    first->tick_count_of_log_file = first->state.ticks;
    if (log_part_number(first) != 1) {
        return 0;
    }
    for (unsigned number = 2; rc == 0; number++) {
        const char *expected_part_name = tact_log_fact(before, "continued_in");
        char *next = tact_log_part_path(path, number);
        rc = next ? load_next_part(first, next, number, end) : -ENOMEM;
        if (rc == 0 && *end) {
            (*end)->tick_count_of_log_file = (*end)->state.ticks;
            merge_log_state(first, *end, next);
            rc = tact_log_pairs_merge(first, &(*end)->pairs);
            first->session_log_part_count = number;
        } else if (rc == 0 && expected_part_name) {
            merge_first_damage_of_parts(&first->state, NULL, next,
                                        "the next file of the session's log is missing or damaged");
        }
        free(next);
        if (rc != 0 || !*end) {
            break;
        }
        before = *end;
        end = &before->next_log_part;
    }
    return rc;
}

int tact_log_next(struct tact_log *log, struct tact_record *record)
{
    struct tact_log *part = log->current_log_part ? log->current_log_part : log;
    int rc;

    while ((rc = tact_log_read_next_in_file(part, &log->pairs, record)) == 0 &&
           part->next_log_part) {
        part = part->next_log_part;
        rc = tact_log_seek_in_file(part, 0);
        if (rc != 0) {
            return rc;
        }
    }
    log->current_log_part = part;
    return rc;
}

int tact_log_seek(struct tact_log *log, uint64_t index)
{
    struct tact_log *part = log;

    if (index > log->state.ticks) {
        return -ERANGE;
    }
    while (index > part->tick_count_of_log_file ||
           (index == part->tick_count_of_log_file && part->next_log_part)) {
        index -= part->tick_count_of_log_file;
        part = part->next_log_part;
    }
    log->current_log_part = part;
    return tact_log_seek_in_file(part, index);
}

const struct tact_log_event *tact_log_event(const struct tact_log *log, size_t index)
{
    while (log && index >= log->event_count) {
        index -= log->event_count;
        log = log->next_log_part;
    }
    return log ? &log->events[index] : NULL;
}

unsigned tact_log_parts(const struct tact_log *log)
{
    return log->session_log_part_count > 0 ? log->session_log_part_count : 1;
}
