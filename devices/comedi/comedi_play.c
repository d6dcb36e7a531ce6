/* Plays back the raw words of a board from a file. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "devices/comedi/comedi_capture_internal.h"
#include "devices/common/regular_file_internal.h"

enum { MAX_ROWS = 1 << 24, LINE = 2048 };

static const double slack = 1e-9; /* [s] tolerance for rounding errors of summed times */
/* largest accepted term of a voltage polynomial, for raw values of 32 bits */
static const double polynomial_term_magnitude_limit = 1e9;

/* A row of a recording in memory; its raw values are stored separately. */
struct tact_comedi_playback_row {
    int64_t tick;
    int64_t scan_age_at_tick_start_ns;
    int64_t scan_age_ns;
    uint32_t stream_restart_count;
    int16_t error;
    uint8_t output_inhibit_bits;
    bool is_new_scan;
};

static int parse_range_description(struct tact_comedi_recorded_channel *channel, const char *text)
{
    int used = 0, terms = 0;
    double *c = channel->volts.coefficients;
    if (tact_number_scan(text, " range %u from %lf to %lf volts %lf%n", &channel->range,
                         &channel->low, &channel->high, &channel->volts.expansion_origin,
                         &used) != 4 ||
        !(fabs(channel->volts.expansion_origin) < polynomial_term_magnitude_limit)) {
        return -EINVAL;
    }
    while (terms < TACT_COMEDI_MAX_COEFFICIENTS &&
           tact_number_scan(text += used, "%lf%n", &c[terms], &used) == 1) {
        if (!(fabs(c[terms++]) < polynomial_term_magnitude_limit)) {
            return -EINVAL;
        }
    }
    channel->volts.order = (unsigned int)terms - 1;
    return terms ? 0 : -EINVAL;
}

/* Parses "# channel ai4@0 NAME maxdata 65535 range 0 from -10 to 10 volts 0 -10 0.0003". */
static int parse_channel_description(struct tact_comedi_playback *playback, const char *text)
{
    static const char *const words[] = {"ai", "di", "counter"};
    struct tact_comedi_recorded_channel channel = {.volts = {.order = 0}};
    int kind = 0, used = 0;
    while (kind < 3 && strncmp(text, words[kind], strlen(words[kind])) != 0) {
        kind++;
    }
    if (kind == 3 || playback->channels == TACT_DEVICE_CHANNELS ||
        sscanf(text + strlen(words[kind]), "%u@%u %*s maxdata %u%n", &channel.channel,
               &channel.subdevice, &channel.maxdata, &used) != 3) {
        return -EINVAL;
    }
    channel.kind = (enum tact_comedi_channel_kind)kind;
    text += strlen(words[kind]) + (size_t)used;
    int rc = channel.kind == TACT_COMEDI_ANALOG ? parse_range_description(&channel, text) : 0;
    playback->channel[playback->channels++] = channel;
    return rc;
}

static int parse_capture_comment(struct tact_comedi_playback *playback, const char *line)
{
    const char *period;
    if (!strncmp(line, "# channel ", 10)) {
        return playback->rows ? -EINVAL : parse_channel_description(playback, line + 10);
    }
    if (!strncmp(line, "# driver ", 9)) {
        snprintf(playback->driver, sizeof playback->driver, "%.*s", COMEDI_NAMELEN - 1, line + 9);
    } else if (!strncmp(line, "# board ", 8)) {
        snprintf(playback->board, sizeof playback->board, "%.*s", COMEDI_NAMELEN - 1, line + 8);
    } else if (!strncmp(line, "# device ", 9) && (period = strstr(line, ", period "))) {
        playback->period = tact_number_read(period + 9, NULL);
        return playback->period > 0.0 && playback->period < 1e3 ? 0 : -EINVAL;
    }
    return 0;
}

/* Parses the next number of a row, within bounds. */
static int parse_bounded_number(const char **text, long long least, long long most,
                                long long *value)
{
    char *end;
    errno = 0;
    *value = strtoll(*text, &end, 10);
    if (end == *text || errno || *value < least || *value > most || (*end && *end != ',')) {
        return -EINVAL;
    }
    *text = *end ? end + 1 : end;
    return 0;
}

/* Ensures capacity for one more row of the recording. */
static int grow_capture_capacity(struct tact_comedi_playback *playback, size_t *capacity)
{
    if (playback->rows < *capacity) {
        return 0;
    }
    const size_t enlarged_row_capacity = *capacity ? 2 * *capacity : 1024;
    const size_t words = enlarged_row_capacity * ((size_t)playback->channels + 1);
    struct tact_comedi_playback_row *row =
        enlarged_row_capacity > MAX_ROWS
            ? NULL
            : realloc(playback->row, enlarged_row_capacity * sizeof *row);
    playback->row = row ? row : playback->row;
    lsampl_t *raw = row ? realloc(playback->raw, words * sizeof *raw) : NULL;
    playback->raw = raw ? raw : playback->raw;
    *capacity = raw ? enlarged_row_capacity : *capacity;
    return raw ? 0 : -ENOMEM;
}

static int parse_scan_row(struct tact_comedi_playback *playback, const char *text, size_t *capacity)
{
    static const long long least[] = {TACT_COMEDI_TARE, 0, 0, INT64_MIN, 0, 0, 0};
    static const long long most[] = {INT64_MAX / 2, 4095, 15, INT64_MAX, INT64_MAX, UINT32_MAX, 1};
    enum { COLUMNS = sizeof least / sizeof *least };
    long long v[COLUMNS];
    int rc = playback->period > 0.0 ? grow_capture_capacity(playback, capacity) : -EINVAL;
    for (int i = 0; !rc && i < COLUMNS; i++) {
        rc = parse_bounded_number(&text, least[i], most[i], &v[i]);
    }
    lsampl_t *raw = rc ? NULL : playback->raw + playback->rows * (size_t)playback->channels;
    for (int i = 0; !rc && i < playback->channels; i++) {
        const struct tact_comedi_recorded_channel *c = &playback->channel[i];
        long long word;
        rc = parse_bounded_number(&text, 0, c->kind == TACT_COMEDI_DIGITAL ? 1 : c->maxdata, &word);
        raw[i] = (lsampl_t)word;
    }
    const int64_t before =
        playback->rows ? playback->row[playback->rows - 1].tick : TACT_COMEDI_TARE;
    if (rc || *text || v[0] < before || (v[0] == before && v[0] > TACT_COMEDI_TARE) ||
        (v[2] & 3) == 3) {
        return rc ? rc : -EINVAL;
    }
    playback->row[playback->rows++] =
        (struct tact_comedi_playback_row){.tick = v[0],
                                          .error = (int16_t)v[1],
                                          .output_inhibit_bits = (uint8_t)v[2],
                                          .scan_age_at_tick_start_ns = v[3],
                                          .scan_age_ns = v[4],
                                          .stream_restart_count = (uint32_t)v[5],
                                          .is_new_scan = v[6] != 0};
    return 0;
}

int tact_comedi_playback_open(const char *path, struct tact_comedi_playback *playback,
                              struct tact_error *err)
{
    char line[LINE];
    size_t capacity = 0;
    int rc = 0, number = 0;
    tact_error_at(err, path, 0, 0, NULL);
    FILE *file = tact_regular_file_open(path, &rc, err);
    if (!file) {
        return rc;
    }
    while (!rc && fgets(line, sizeof line, file)) {
        char *end = strchr(line, '\n');
        number++;
        if (!end && feof(file)) {
            break; /* an incomplete last line is no error: the recording program was killed */
        }
        line[end ? end - line : 0] = '\0';
        rc = !end             ? -EINVAL
             : line[0] == '#' ? parse_capture_comment(playback, line)
                              : parse_scan_row(playback, line, &capacity);
    }
    fclose(file);
    if (rc) {
        tact_error_at(err, NULL, number, 0, NULL);
        return tact_error_set(err, rc, "%s",
                              rc == -ENOMEM
                                  ? "too long"
                                  : "this line is not one of a recording of a measurement card");
    }
    if (!playback->rows || playback->row[playback->rows - 1].tick < 0) {
        return tact_error_set(err, -EINVAL,
                              "not a recording of a measurement card: the file has no tick");
    }
    return 0;
}

void tact_comedi_playback_close(struct tact_comedi_playback *playback)
{
    if (playback) {
        free(playback->row);
        free(playback->raw);
        free(playback);
    }
}

static void fill_recorded_raw_values(const struct tact_comedi_playback *playback,
                                     const struct tact_comedi_channel_layout *layout, size_t at,
                                     struct tact_comedi_raw_values *words)
{
    const struct tact_comedi_playback_row *row = &playback->row[at];
    const lsampl_t *raw = playback->raw + at * (size_t)playback->channels;
    words->scan_age_at_tick_start_ns = row->scan_age_at_tick_start_ns;
    words->scan_age_ns = row->scan_age_ns;
    words->stream_restart_count = row->stream_restart_count;
    words->is_new_scan = row->is_new_scan;
    for (int i = 0; i < layout->input_count; i++) {
        words->raw[i] = raw[layout->input[i].recording_column];
    }
}

int tact_comedi_playback_read_row_before_ticks(struct tact_comedi_playback *playback,
                                               const struct tact_comedi_channel_layout *layout,
                                               int64_t tick, struct tact_comedi_raw_values *words)
{
    while (playback->next < playback->rows && playback->row[playback->next].tick < tick) {
        playback->next++;
    }
    if (playback->next == playback->rows || playback->row[playback->next].tick != tick) {
        return -ENODATA;
    }
    fill_recorded_raw_values(playback, layout, playback->next, words);
    return -playback->row[playback->next++].error;
}

bool tact_comedi_playback_tick_at_time(struct tact_comedi_playback *playback,
                                       const struct tact_comedi_channel_layout *layout, double t,
                                       struct tact_comedi_recorded_tick *row)
{
    const size_t before = playback->next;
    bool is_new_scan = false, was_guard_rearmed = false;
    while (playback->next < playback->rows &&
           (double)playback->row[playback->next].tick * playback->period <= t + slack) {
        is_new_scan = is_new_scan || playback->row[playback->next].is_new_scan;
        was_guard_rearmed =
            was_guard_rearmed || (playback->row[playback->next].output_inhibit_bits & 4U);
        playback->next++;
    }
    const size_t at = playback->next ? playback->next - 1 : 0;
    const struct tact_comedi_playback_row *recorded_row = &playback->row[at];
    const double time_since_recorded_row =
        fmax(0.0, t - (double)recorded_row->tick * playback->period);
    const bool is_recorded_row_repeated =
        playback->next == before && time_since_recorded_row > slack;
    fill_recorded_raw_values(playback, layout, at, &row->raw_tick_values);
    row->tick = recorded_row->tick;
    row->error = recorded_row->error;
    row->output_inhibit_reasons = (struct tact_comedi_inhibit_reasons){
        recorded_row->output_inhibit_bits & 3, was_guard_rearmed,
        recorded_row->output_inhibit_bits & 8};
    row->raw_tick_values.is_new_scan = is_new_scan;
    if (is_recorded_row_repeated && recorded_row->tick >= 0) {
        row->raw_tick_values.scan_age_at_tick_start_ns += llround(time_since_recorded_row * 1e9);
    }
    return playback->next == playback->rows && time_since_recorded_row > slack;
}
