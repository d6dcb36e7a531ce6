#include "same.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rt/log/log_reader.h"

/* A log that is read record by record, and the place of one device's fields. */
struct log_cursor {
    struct tact_log *log;
    struct tact_record *record;
    uint32_t size;
    long offset;
};

static struct log_cursor open_log_cursor(const char *path, const char *field)
{
    struct log_cursor log_cursor = {.log = NULL};
    assert_int_equal(tact_log_open(path, &log_cursor.log, NULL), 0);
    log_cursor.record = malloc(tact_layout_bytes(tact_log_layout(log_cursor.log)));
    log_cursor.offset = tact_log_field(log_cursor.log, field, &log_cursor.size);
    assert_true(log_cursor.record && log_cursor.offset >= 0);
    return log_cursor;
}

static void close_log_cursor(struct log_cursor *log_cursor)
{
    free(log_cursor->record);
    tact_log_close(log_cursor->log);
}

/* Values of a device in the present record: state, age of the stamp, channels. */
static double *read_compared_values(struct log_cursor *log_cursor, uint64_t first_stamped_tick)
{
    double *v = log_cursor->record->values + log_cursor->offset;
    v[1] = log_cursor->record->tick < first_stamped_tick
               ? 0.0
               : v[1] - (double)log_cursor->record->stamp_ns;
    return v;
}

int compare_replayed_device(const char *live_log_path, const char *replayed_log_path,
                            const char *field, uint64_t first_stamped_tick,
                            int tick_counts_by_device_state[4])
{
    struct log_cursor a = open_log_cursor(live_log_path, field);
    struct log_cursor b = open_log_cursor(replayed_log_path, field);
    int ticks = 0;
    memset(tick_counts_by_device_state, 0, 4 * sizeof *tick_counts_by_device_state);
    assert_int_equal(a.size, b.size);
    while (tact_log_next(a.log, a.record) > 0) {
        do { /* the recorded session may have skipped ticks of a late loop */
            assert_int_equal(tact_log_next(b.log, b.record), 1);
        } while (b.record->tick < a.record->tick);
        const double *recorded_device_values = read_compared_values(&a, first_stamped_tick),
                     *played_values = read_compared_values(&b, first_stamped_tick);
        for (uint32_t i = 0; i < a.size; i++) {
            if (memcmp(&recorded_device_values[i], &played_values[i],
                       sizeof *recorded_device_values) != 0) {
                fail_msg("%s in tick %llu: %.17g was reported, %.17g is played (value %u)", field,
                         (unsigned long long)a.record->tick, recorded_device_values[i],
                         played_values[i], i);
            }
        }
        tick_counts_by_device_state[(int)recorded_device_values[0]]++;
        ticks++;
    }
    close_log_cursor(&a);
    close_log_cursor(&b);
    return ticks;
}
