/* Plays back the raw words of a board from a file. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "devices/comedi/comedi_capture_internal.h"

enum { MAX_ROWS = 1 << 24, LINE = 2048 };

static const double slack = 1e-9; /* [s] tolerance for rounding errors of summed times */
/* largest accepted term of a voltage polynomial, for raw values of 32 bits */
static const double highest_polynomial_term = 1e9;

/* A row of a recording in memory; its raw values are stored separately. */
struct tact_comedi_captured_row {
    int64_t tick;
    int64_t scan_age_before_tick_ns;
    int64_t age_ns;
    uint32_t lost;
    int16_t error;
    uint8_t held;
    bool is_new_scan;
};

static int parse_range_description(struct tact_comedi_captured *channel, const char *text)
{
    int used = 0, terms = 0;
    double *c = channel->volts.coefficients;
    if (tact_number_scan(text, " range %u from %lf to %lf volts %lf%n", &channel->range,
                         &channel->low, &channel->high, &channel->volts.expansion_origin,
                         &used) != 4 ||
        !(fabs(channel->volts.expansion_origin) < highest_polynomial_term)) {
        return -EINVAL;
    }
    while (terms < TACT_COMEDI_MAX_COEFFICIENTS &&
           tact_number_scan(text += used, "%lf%n", &c[terms], &used) == 1) {
        if (!(fabs(c[terms++]) < highest_polynomial_term)) {
            return -EINVAL;
        }
    }
    channel->volts.order = (unsigned int)terms - 1;
    return terms ? 0 : -EINVAL;
}

/* Parses "# channel ai4@0 NAME maxdata 65535 range 0 from -10 to 10 volts 0 -10 0.0003". */
static int parse_channel_description(struct tact_comedi_play *play, const char *text)
{
    static const char *const words[] = {"ai", "di", "counter"};
    struct tact_comedi_captured channel = {.volts = {.order = 0}};
    int kind = 0, used = 0;
    while (kind < 3 && strncmp(text, words[kind], strlen(words[kind])) != 0) {
        kind++;
    }
    if (kind == 3 || play->channels == TACT_DEVICE_CHANNELS ||
        sscanf(text + strlen(words[kind]), "%u@%u %*s maxdata %u%n", &channel.channel,
               &channel.subdevice, &channel.maxdata, &used) != 3) {
        return -EINVAL;
    }
    channel.kind = (enum tact_comedi_kind)kind;
    text += strlen(words[kind]) + (size_t)used;
    int rc = channel.kind == TACT_COMEDI_ANALOG ? parse_range_description(&channel, text) : 0;
    play->channel[play->channels++] = channel;
    return rc;
}

static int parse_capture_comment(struct tact_comedi_play *play, const char *line)
{
    const char *period;
    if (!strncmp(line, "# channel ", 10)) {
        return play->rows ? -EINVAL : parse_channel_description(play, line + 10);
    }
    if (!strncmp(line, "# driver ", 9)) {
        snprintf(play->driver, sizeof play->driver, "%.*s", COMEDI_NAMELEN - 1, line + 9);
    } else if (!strncmp(line, "# board ", 8)) {
        snprintf(play->board, sizeof play->board, "%.*s", COMEDI_NAMELEN - 1, line + 8);
    } else if (!strncmp(line, "# device ", 9) && (period = strstr(line, ", period "))) {
        play->period = tact_number_read(period + 9, NULL);
        return play->period > 0.0 && play->period < 1e3 ? 0 : -EINVAL;
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
static int grow_capture_capacity(struct tact_comedi_play *play, size_t *capacity)
{
    if (play->rows < *capacity) {
        return 0;
    }
    const size_t more = *capacity ? 2 * *capacity : 1024;
    const size_t words = more * ((size_t)play->channels + 1);
    struct tact_comedi_captured_row *row =
        more > MAX_ROWS ? NULL : realloc(play->row, more * sizeof *row);
    play->row = row ? row : play->row;
    lsampl_t *raw = row ? realloc(play->raw, words * sizeof *raw) : NULL;
    play->raw = raw ? raw : play->raw;
    *capacity = raw ? more : *capacity;
    return raw ? 0 : -ENOMEM;
}

static int parse_scan_row(struct tact_comedi_play *play, const char *text, size_t *capacity)
{
    static const long long least[] = {TACT_COMEDI_TARE, 0, 0, INT64_MIN, 0, 0, 0};
    static const long long most[] = {INT64_MAX / 2, 4095, 15, INT64_MAX, INT64_MAX, UINT32_MAX, 1};
    enum { COLUMNS = sizeof least / sizeof *least };
    long long v[COLUMNS];
    int rc = play->period > 0.0 ? grow_capture_capacity(play, capacity) : -EINVAL;
    for (int i = 0; !rc && i < COLUMNS; i++) {
        rc = parse_bounded_number(&text, least[i], most[i], &v[i]);
    }
    lsampl_t *raw = rc ? NULL : play->raw + play->rows * (size_t)play->channels;
    for (int i = 0; !rc && i < play->channels; i++) {
        const struct tact_comedi_captured *c = &play->channel[i];
        long long word;
        rc = parse_bounded_number(&text, 0, c->kind == TACT_COMEDI_DIGITAL ? 1 : c->maxdata, &word);
        raw[i] = (lsampl_t)word;
    }
    const int64_t before = play->rows ? play->row[play->rows - 1].tick : TACT_COMEDI_TARE;
    if (rc || *text || v[0] < before || (v[0] == before && v[0] > TACT_COMEDI_TARE) ||
        (v[2] & 3) == 3) {
        return rc ? rc : -EINVAL;
    }
    play->row[play->rows++] = (struct tact_comedi_captured_row){.tick = v[0],
                                                                .error = (int16_t)v[1],
                                                                .held = (uint8_t)v[2],
                                                                .scan_age_before_tick_ns = v[3],
                                                                .age_ns = v[4],
                                                                .lost = (uint32_t)v[5],
                                                                .is_new_scan = v[6] != 0};
    return 0;
}

int tact_comedi_play_open(const char *path, struct tact_comedi_play *play, struct tact_error *err)
{
    char line[LINE];
    size_t capacity = 0;
    int rc = 0, number = 0;
    tact_error_at(err, path, 0, 0, NULL);
    FILE *file = fopen(path, "re");
    if (!file) {
        rc = -errno;
        return tact_error_set(err, rc, "%s", strerror(-rc));
    }
    while (!rc && fgets(line, sizeof line, file)) {
        char *end = strchr(line, '\n');
        number++;
        if (!end && feof(file)) {
            break; /* an incomplete last line is no error: the recording program was killed */
        }
        line[end ? end - line : 0] = '\0';
        rc = !end             ? -EINVAL
             : line[0] == '#' ? parse_capture_comment(play, line)
                              : parse_scan_row(play, line, &capacity);
    }
    fclose(file);
    if (rc) {
        tact_error_at(err, NULL, number, 0, NULL);
        return tact_error_set(
            err, rc, "%s",
            rc == -ENOMEM ? "too long" : "expected a line of a recording of a measurement card");
    }
    if (!play->rows || play->row[play->rows - 1].tick < 0) {
        return tact_error_set(err, -EINVAL,
                              "not a recording of a measurement card: it has no tick");
    }
    return 0;
}

void tact_comedi_play_close(struct tact_comedi_play *play)
{
    if (play) {
        free(play->row);
        free(play->raw);
        free(play);
    }
}

static void fill_recorded_words(const struct tact_comedi_play *play,
                                const struct tact_comedi_layout *layout, size_t at,
                                struct tact_comedi_raw_values *words)
{
    const struct tact_comedi_captured_row *row = &play->row[at];
    const lsampl_t *raw = play->raw + at * (size_t)play->channels;
    words->scan_age_before_tick_ns = row->scan_age_before_tick_ns;
    words->age_ns = row->age_ns;
    words->lost = row->lost;
    words->is_new_scan = row->is_new_scan;
    for (int i = 0; i < layout->input_count; i++) {
        words->raw[i] = raw[layout->input[i].captured_column];
    }
}

int tact_comedi_play_row_before_ticks(struct tact_comedi_play *play,
                                      const struct tact_comedi_layout *layout, int64_t tick,
                                      struct tact_comedi_raw_values *words)
{
    while (play->next < play->rows && play->row[play->next].tick < tick) {
        play->next++;
    }
    if (play->next == play->rows || play->row[play->next].tick != tick) {
        return -ENODATA;
    }
    fill_recorded_words(play, layout, play->next, words);
    return -play->row[play->next++].error;
}

bool tact_comedi_play_row_at_time(struct tact_comedi_play *play,
                                  const struct tact_comedi_layout *layout, double t,
                                  struct tact_comedi_row *row)
{
    const size_t before = play->next;
    bool is_new_scan = false, was_rearmed = false;
    while (play->next < play->rows &&
           (double)play->row[play->next].tick * play->period <= t + slack) {
        is_new_scan = is_new_scan || play->row[play->next].is_new_scan;
        was_rearmed = was_rearmed || (play->row[play->next].held & 4U);
        play->next++;
    }
    const size_t at = play->next ? play->next - 1 : 0;
    const struct tact_comedi_captured_row *captured_column = &play->row[at];
    const double since = fmax(0.0, t - (double)captured_column->tick * play->period);
    const bool again = play->next == before && since > slack;
    fill_recorded_words(play, layout, at, &row->words);
    row->tick = captured_column->tick;
    row->error = captured_column->error;
    row->held = (struct tact_comedi_inhibit_reasons){captured_column->held & 3, was_rearmed,
                                                     captured_column->held & 8};
    row->words.is_new_scan = is_new_scan;
    if (again && captured_column->tick >= 0) {
        row->words.scan_age_before_tick_ns += llround(since * 1e9);
    }
    return play->next == play->rows && since > slack;
}
