/* run_log SECONDS [FOLDER]: the fuzz target without libFuzzer. Makes small logs, changes some of
 * their bytes at random (seeded), and hands them to the target until the time is over. With a
 * folder, the logs are only written there, as libFuzzer's initial corpus. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "../unit/log_session.h"
#include "fuzz_log.h"
#include "rt/log/mcap_internal.h"

#define SEED_LOG_COUNT 6
#define MAX_SEED_LOG_BYTES (1 << 20)

struct seed {
    uint8_t *data;
    size_t size;
};

/* A log of 30 ticks, compressed or not, truncated or not; the byte before it selects the mode. */
static int make_seed_log(int number, struct seed *out)
{
    struct tact_recorder_options options = session_recorder_options();
    struct tact_layout layout = {0};
    struct tact_recorder *recorder;
    const char *path = test_log_path("fuzz");

    options.zstd_level = number % 2;
    options.derived_every = number < 2 ? 10 : 0;
    options.split_bytes = number == 5 ? 65536 : 0;
    tact_layout_add(&layout, TACT_FIELD_OUTPUT, "pose", "m", 7);
    tact_layout_add(&layout, TACT_FIELD_TIMING, "time", "ns", 1);
    struct tact_recorder_content content = make_test_log_content(&layout);
    content.joint_count = content.body_count = 0;
    int rc =
        tact_recorder_open(path, &options, &content, (struct tact_messages){0}, &recorder, NULL);
    for (uint64_t tick = 0; rc == 0 && tick < 30; tick++) {
        struct tact_record *record = tact_recorder_begin(recorder);
        record->tick = tick;
        record->stamp_ns = (int64_t)tick * 1000000;
        for (uint32_t i = 0; i < layout.size; i++)
            record->values[i] = (double)(tick + i);
        tact_recorder_commit(recorder);
        if (tick % 10 == 0)
            tact_recorder_event(recorder, tick, 0, "marker", "x");
    }
    rc = rc ? rc : tact_recorder_close(recorder, NULL);
    tact_layout_free(&layout);
    FILE *file = rc ? NULL : fopen(path, "rb");
    out->data = malloc(MAX_SEED_LOG_BYTES);
    if (!file || !out->data)
        return -1;
    out->data[0] = (uint8_t)(number % 3);
    out->size = 1 + fread(out->data + 1, 1, MAX_SEED_LOG_BYTES - 1, file);
    fclose(file);
    unlink(path);
    return 0;
}

/* Replaces an uncompressed log by the records of its first chunk, the input of mode 2. */
static void replace_log_by_first_chunk(struct seed *s)
{
    for (size_t at = 1 + TACT_MCAP_MAGIC_SIZE; at + 60 < s->size;) {
        uint64_t length;
        memcpy(&length, s->data + at + 1, sizeof length);
        if (s->data[at] == TACT_MCAP_CHUNK) {
            s->size = (size_t)length - 40 + 1;
            memmove(s->data + 1, s->data + at + TACT_MCAP_RECORD_HEADER + 40, s->size - 1);
            return;
        }
        at += TACT_MCAP_RECORD_HEADER + (size_t)length;
    }
}

static void mutate_seed_log(uint8_t *data, size_t *size, uint64_t *random_state)
{
    size_t byte_change_count = 1 + next_random_of_seed(random_state) % 8;
    for (size_t i = 0; i<byte_change_count && * size> 1; i++) {
        size_t at = next_random_of_seed(random_state) % *size;
        switch (next_random_of_seed(random_state) % 5) {
        case 0:
            data[at] ^= (uint8_t)(1U << next_random_of_seed(random_state) % 8);
            break;
        case 1:
            data[at] = (uint8_t)next_random_of_seed(random_state);
            break;
        case 2: /* writes a number that is out of range */
            memset(data + at, 0xFF, *size - at < 8 ? *size - at : 8);
            break;
        case 3: /* removes a piece */
            memmove(data + at, data + at + (*size - at) / 2, *size - at - (*size - at) / 2);
            *size -= (*size - at) / 2;
            break;
        default: /* moves a piece */
            memmove(data + at / 2, data + at, *size - at);
        }
    }
}

static int write_seed_log(const char *folder, int number, const struct seed *s)
{
    char path[512];
    snprintf(path, sizeof path, "%s/seed%d", folder, number);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(s->data, 1, s->size, file) != s->size)
        return -1;
    return fclose(file);
}

int main(int argc, char **argv)
{
    struct seed seeds[SEED_LOG_COUNT];
    uint64_t random_state = 1, runs = 0;
    uint8_t *data = malloc(MAX_SEED_LOG_BYTES);
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 1.0;
    time_t end = time(NULL) + (time_t)seconds;

    for (int i = 0; i < SEED_LOG_COUNT; i++) {
        if (!data || make_seed_log(i, &seeds[i]) != 0)
            return 1;
        if (i % 3 == 2)
            replace_log_by_first_chunk(&seeds[i]);
        LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].size);
        if (argc > 2 && write_seed_log(argv[2], i, &seeds[i]) != 0)
            return 1;
    }
    while (argc <= 2 && time(NULL) < end) {
        const struct seed *from = &seeds[next_random_of_seed(&random_state) % SEED_LOG_COUNT];
        size_t size = from->size;
        memcpy(data, from->data, size);
        mutate_seed_log(data + 1, &size, &random_state);
        LLVMFuzzerTestOneInput(data, size);
        runs++;
    }
    for (int i = 0; i < SEED_LOG_COUNT; i++)
        free(seeds[i].data);
    free(data);
    printf("%llu inputs read\n", (unsigned long long)runs);
    return 0;
}
