/* Writes a session's log and a text file with the values that a reader must find in it: one line a
 * tick, the doubles as their 64 bits in hexadecimal. Usage: write_log LOG.mcap EXPECTED.txt
 * ZSTD_LEVEL */
#include <inttypes.h>
#include "../unit/log_session.h"

#define TICKS 3000

int main(int argc, char **argv)
{
    struct tact_recorder_options options = session_recorder_options();
    struct tact_record *record = new_session_record();
    struct tact_recorder *recorder;

    if (argc != 4 || !record)
        return 2;
    options.zstd_level = atoi(argv[3]);
    if (open_session_recorder(argv[1], &options, (struct tact_messages){0}, &recorder) != 0)
        return 1;
    record_session_ticks(recorder, 0, TICKS);
    if (tact_recorder_event(recorder, 7, 8, "marker", "released \xe2\x9c\x93") != 0 ||
        tact_recorder_event_rt(recorder, 9, -10, "fault", "") != 0 ||
        tact_recorder_close(recorder, NULL) != 0)
        return 1;
    FILE *expected = fopen(argv[2], "w");
    if (!expected)
        return 1;
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        fill_session_record(tick, record);
        fprintf(expected, "%" PRIu64 " %" PRId64, record->tick, record->stamp_ns);
        for (int i = 0; i < SESSION_DOUBLE_COUNT; i++) {
            uint64_t bits;
            memcpy(&bits, &record->values[i], sizeof bits);
            fprintf(expected, " %016" PRIx64, bits);
        }
        fputc('\n', expected);
    }
    free(record);
    return fclose(expected) == 0 ? 0 : 1;
}
