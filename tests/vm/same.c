#include "same.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rt/log/log_reader.h"

/* A log, read record by record. */
struct side {
    struct tact_log *log;
    struct tact_record *record;
    uint32_t size;
    long offset;
};

static struct side open_side(const char *path, const char *field)
{
    struct side side = {.log = NULL};
    assert_int_equal(tact_log_open(path, &side.log, NULL), 0);
    side.record = malloc(tact_layout_bytes(tact_log_layout(side.log)));
    side.offset = tact_log_field(side.log, field, &side.size);
    assert_true(side.record && side.offset >= 0);
    return side;
}

static void close_side(struct side *side)
{
    free(side->record);
    tact_log_close(side->log);
}

/* State, stamp before the tick, channels. */
static double *values(struct side *side, uint64_t stamped)
{
    double *v = side->record->values + side->offset;
    v[1] = side->record->tick < stamped ? 0.0 : v[1] - (double)side->record->stamp_ns;
    return v;
}

int same_device(const char *live, const char *again, const char *field, uint64_t stamped,
                int states[4])
{
    struct side a = open_side(live, field);
    struct side b = open_side(again, field);
    int ticks = 0;
    memset(states, 0, 4 * sizeof *states);
    assert_int_equal(a.size, b.size);
    while (tact_log_next(a.log, a.record) > 0) {
        do { /* a loop that was late has left ticks out */
            assert_int_equal(tact_log_next(b.log, b.record), 1);
        } while (b.record->tick < a.record->tick);
        const double *reported = values(&a, stamped), *played = values(&b, stamped);
        for (uint32_t i = 0; i < a.size; i++) {
            if (memcmp(&reported[i], &played[i], sizeof *reported) != 0) {
                fail_msg("%s in tick %llu: %.17g was reported, %.17g is played (value %u)", field,
                         (unsigned long long)a.record->tick, reported[i], played[i], i);
            }
        }
        states[(int)reported[0]]++;
        ticks++;
    }
    close_side(&a);
    close_side(&b);
    return ticks;
}
