/* Settings of a comedi device, matched with the board. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "devices/comedi/comedi_internal.h"
#include "devices/common/regular_file_internal.h"
#include "devices/common/settings.h"

/* Kinds of channels that the settings can name. */
static const struct source {
    const char *word;
    enum tact_comedi_channel_kind kind;
    bool input;
    bool output;
    int type[2]; /* type of subdevices */
} sources[] = {
    {"ai", TACT_COMEDI_ANALOG, true, false, {COMEDI_SUBD_AI, -1}},
    {"ao", TACT_COMEDI_ANALOG, false, true, {COMEDI_SUBD_AO, -1}},
    {"di", TACT_COMEDI_DIGITAL, true, false, {COMEDI_SUBD_DI, COMEDI_SUBD_DIO}},
    {"do", TACT_COMEDI_DIGITAL, false, true, {COMEDI_SUBD_DO, COMEDI_SUBD_DIO}},
    {"counter", TACT_COMEDI_COUNTER, true, false, {COMEDI_SUBD_COUNTER, -1}},
};

/* Names of the settings that describe the inputs, or the outputs. */
struct direction {
    bool output;
    const char *channel_names_key;
    const char *range;
    const char *map;
    const char *units;
    struct tact_comedi_channel *channel;
    int count;
};

/* Finds subdevice and channel of a word such as "ai3" or "di0@2". */
static int
find_board_channel_of_setting_word(const struct tact_device_config *config,
                                   const struct tact_comedi_board_or_recording *board_or_recording,
                                   const struct direction *d, const char *word,
                                   struct tact_comedi_channel *channel, struct tact_error *err)
{
    const struct source *source = NULL;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        size_t n = strlen(sources[i].word);
        if (strncmp(word, sources[i].word, n) == 0 && word[n] >= '0' && word[n] <= '9' &&
            (d->output ? sources[i].output : sources[i].input)) {
            source = &sources[i];
        }
    }
    char *end = NULL;
    unsigned long number = source ? strtoul(word + strlen(source->word), &end, 10) : 0;
    unsigned long subdevice_number = 0;
    bool named = source && *end == '@' && end[1] >= '0' && end[1] <= '9';
    if (named) {
        subdevice_number = strtoul(end + 1, &end, 10);
    }
    if (!source || *end || number > INT_MAX || subdevice_number > INT_MAX) {
        return tact_settings_fault(
            config, tact_settings_find(config, d->channel_names_key), err,
            "'%s' is not a channel such as %s, with or without @SUBDEVICE after it", word,
            d->output ? "ao0, do0 ..." : "ai0, di0, counter0 ...");
    }
    const struct tact_comedi_channel_address board_channel_address = {
        .word = word,
        .number = (unsigned int)number,
        .subdevice = named ? (int)subdevice_number : -1,
        .type = {source->type[0], source->type[1]},
        .output = d->output};
    channel->kind = source->kind;
    return tact_comedi_locate_channel(config, board_or_recording, &board_channel_address, channel,
                                      err);
}

/* Reads names and channels from a text such as "angle=ai0 enable=!do1". */
static int read_channel_names(const struct tact_device_config *config,
                              const struct tact_comedi_board_or_recording *board_or_recording,
                              struct direction *d, struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, d->channel_names_key);
    const char *text = NULL;
    char word[2 * TACT_DEVICE_NAME];
    int rc = tact_settings_text(config, d->channel_names_key, &text, err);
    while (!rc && text && tact_settings_word(&text, word, sizeof word)) {
        struct tact_comedi_channel *channel = &d->channel[d->count];
        char *is = strchr(word, '=');
        if (!is || is == word || is - word >= TACT_DEVICE_NAME) {
            return tact_settings_fault(config, setting, err, "expected NAME=CHANNEL, not '%s'",
                                       word);
        }
        if (d->count == TACT_DEVICE_CHANNELS) {
            return tact_settings_fault(config, setting, err, "more than %d channels",
                                       TACT_DEVICE_CHANNELS);
        }
        *is = '\0';
        snprintf(channel->name, sizeof channel->name, "%.*s", TACT_DEVICE_NAME - 1, word);
        channel->is_digital_channel_active_low = is[1] == '!';
        rc = find_board_channel_of_setting_word(config, board_or_recording, d,
                                                is + 1 + channel->is_digital_channel_active_low,
                                                channel, err);
        if (!rc && channel->is_digital_channel_active_low && channel->kind != TACT_COMEDI_DIGITAL) {
            rc = tact_settings_fault(config, setting, err,
                                     "%s: only a digital channel is active "
                                     "low (!); give analog ones a map",
                                     word);
        }
        for (int i = 0; !rc && i < d->count; i++) {
            if (strcmp(d->channel[i].name, word) == 0 ||
                (d->channel[i].subdevice == channel->subdevice &&
                 d->channel[i].channel == channel->channel)) {
                rc = tact_settings_fault(config, setting, err,
                                         "%s: this name or this channel of the card is given twice",
                                         word);
            }
        }
        d->count++;
    }
    return rc;
}

/* Finds the row of a table in the settings for the i-th channel that is not digital; *row is NULL
 * if the key is absent. A single row applies to all. */
static int table_row_of_channel(const struct tact_device_config *config, const struct direction *d,
                                const char *key, int least, int most, int i, const double **row,
                                int *columns, struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, key);
    int rows = 0;
    int at = 0;
    *row = NULL;
    if (!setting) {
        return 0;
    }
    for (int k = 0; k < d->count; k++) {
        at = k == i ? rows : at;
        rows += d->channel[k].kind != TACT_COMEDI_DIGITAL;
    }
    if (!setting->numbers || (setting->rows != 1 && setting->rows != rows) ||
        setting->columns < least || setting->columns > most) {
        return tact_settings_fault(config, setting, err,
                                   "expected one row of %d to %d numbers for all of %s, or one row "
                                   "for each of the %d channels that are not digital",
                                   least, most, d->channel_names_key, rows);
    }
    *row = setting->numbers + (ptrdiff_t)(setting->rows == 1 ? 0 : at) * setting->columns;
    *columns = setting->columns;
    for (int k = 0; k < *columns; k++) {
        if (!isfinite((*row)[k])) {
            return tact_settings_fault(config, setting, err, "not finite");
        }
    }
    return 0;
}

static int choose_voltage_range(const struct tact_device_config *config,
                                const struct tact_comedi_board_or_recording *board_or_recording,
                                const struct direction *d, int i, struct tact_error *err)
{
    const double *row;
    int columns;
    int rc = table_row_of_channel(config, d, d->range, 2, 2, i, &row, &columns, err);
    return rc ? rc
              : tact_comedi_find_range(config, board_or_recording, d->range, row, &d->channel[i],
                                       err);
}

/* Chooses the polynomial between raw values and volts: from the calibration file, or from the
 * range. */
static int choose_volt_polynomial(const struct tact_device_config *config,
                                  const struct tact_comedi_board_or_recording *board_or_recording,
                                  const comedi_calibration_t *calibration, bool output,
                                  struct tact_comedi_channel *channel, struct tact_error *err)
{
    enum comedi_conversion_direction direction = output ? COMEDI_FROM_PHYSICAL : COMEDI_TO_PHYSICAL;
    if (board_or_recording->playback && output) {
        return 0;
    }
    int rc = calibration ? comedi_get_softcal_converter(channel->subdevice, channel->channel,
                                                        channel->range, direction, calibration,
                                                        &channel->volts)
                         : tact_comedi_find_volt_polynomial(board_or_recording, output, channel);
    if (rc < 0) {
        return tact_settings_fault(
            config, tact_settings_find(config, calibration ? "calibration" : "board"), err,
            calibration
                ? "%s: the calibration file has no polynomial for this channel and voltage range"
                : "%s: the board does not report a range in volts",
            channel->name);
    }
    return 0;
}

/* Checks that the calibration file can be opened before comedilib's parser reads it, which would
 * print messages of its own. */
static int
check_and_parse_board_calibration(const struct tact_device_config *config,
                                  const struct tact_comedi_board_or_recording *board_or_recording,
                                  comedi_calibration_t **calibration, struct tact_error *err)
{
    char calibration_file_path[1024] = "";
    int rc = tact_settings_path(config, "calibration", calibration_file_path,
                                sizeof calibration_file_path, err);
    if (rc || !calibration_file_path[0]) {
        return rc;
    }
    const struct tact_device_setting *setting = tact_settings_find(config, "calibration");
    struct tact_error why = {.line = 0};
    FILE *file = tact_regular_file_open(calibration_file_path, &rc, &why);
    if (!file) {
        return tact_settings_fault(config, setting, err, "%s: %s", calibration_file_path, why.text);
    }
    fclose(file);
    void *saved_locale = tact_number_begin();
    *calibration = comedi_parse_calibration_file(calibration_file_path);
    tact_number_end(saved_locale);
    if (!*calibration) {
        return tact_settings_fault(config, setting, err, "%s is not a calibration file of comedi",
                                   calibration_file_path);
    }
    if (strcmp((*calibration)->driver_name, board_or_recording->driver) != 0 ||
        strcmp((*calibration)->board_name, board_or_recording->board) != 0) {
        return tact_settings_fault(
            config, setting, err,
            "the calibration file %s is for the board %s (driver %s), this board is %s (driver %s)",
            calibration_file_path, (*calibration)->board_name, (*calibration)->driver_name,
            board_or_recording->board, board_or_recording->driver);
    }
    return 0;
}

/* Reads "maps.angle": the map of the input with that name, as tact calibrate writes it. */
static int read_polynomial_map_of_input(const struct tact_device_config *config,
                                        const struct direction *d,
                                        struct tact_comedi_channel *channel, struct tact_error *err)
{
    char key[TACT_DEVICE_NAME + 8];
    const double *polynomial_coefficients = NULL;
    double constant_map_coefficient;
    int count = 0;
    snprintf(key, sizeof key, "maps.%s", channel->name);
    int rc = tact_settings_list(config, key, &constant_map_coefficient, &polynomial_coefficients,
                                &count, err);
    if (rc || !polynomial_coefficients || d->output) {
        return rc;
    }
    if (tact_settings_find(config, d->map) || count < 2 || count > TACT_COMEDI_MAX_COEFFICIENTS) {
        return tact_settings_fault(
            config, tact_settings_find(config, key), err,
            "expected 2 to %d coefficients of a polynomial, and not the key %s as well",
            TACT_COMEDI_MAX_COEFFICIENTS, d->map);
    }
    channel->has_scaling_map = true;
    for (int k = 0; k < TACT_COMEDI_MAX_COEFFICIENTS; k++) {
        channel->map[k] = k < count ? polynomial_coefficients[k] : 0.0;
    }
    return 0;
}

/* A map of an unknown input is an error in the scene; a calibration file may have more inputs. */
static int
check_calibration_setting(const struct tact_device_config *config,
                          const struct tact_comedi_board_or_recording *board_or_recording,
                          const struct direction *in, struct tact_error *err)
{
    const char *name = NULL;
    int rc = tact_settings_text(config, "calibrated_for", &name, err);
    if (!rc && name && strcmp(name, board_or_recording->board) != 0) {
        return tact_settings_fault(config, tact_settings_find(config, "calibrated_for"), err,
                                   "the calibration is for the board %s, this board is %s", name,
                                   board_or_recording->board);
    }
    for (int i = 0; !rc && i < config->setting_count; i++) {
        const struct tact_device_setting *setting = &config->settings[i];
        if (strncmp(setting->key, "maps.", 5) != 0 || setting->file) {
            continue;
        }
        int k = 0;
        while (k < in->count && (in->channel[k].kind == TACT_COMEDI_DIGITAL ||
                                 strcmp(setting->key + 5, in->channel[k].name) != 0)) {
            k++;
        }
        if (k == in->count) {
            rc = tact_settings_fault(config, setting, err,
                                     "the key \"inputs\" lists no analog channel named %s",
                                     setting->key + 5);
        }
    }
    return rc;
}

static int read_calibration_tables(const struct tact_device_config *config,
                                   const struct tact_comedi_board_or_recording *board_or_recording,
                                   const comedi_calibration_t *calibration, int voltage_reference,
                                   const struct direction *d, struct tact_error *err)
{
    const char *units = NULL;
    int rc = tact_settings_text(config, d->units, &units, err);
    for (int i = 0; !rc && i < d->count; i++) {
        struct tact_comedi_channel *channel = &d->channel[i];
        const double *row = NULL;
        int columns = 0;
        bool is_analog_channel = channel->kind == TACT_COMEDI_ANALOG;
        channel->map[1] = 1.0;
        channel->low = -INFINITY;
        channel->high = INFINITY;
        snprintf(channel->unit, sizeof channel->unit, "%s",
                 is_analog_channel                      ? "V"
                 : channel->kind == TACT_COMEDI_DIGITAL ? "1"
                                                        : "count");
        if (channel->kind == TACT_COMEDI_DIGITAL) {
            continue;
        }
        if (units && !tact_settings_word(&units, channel->unit, sizeof channel->unit)) {
            return tact_settings_fault(config, tact_settings_find(config, d->units), err,
                                       "expected the unit of each channel that is not digital");
        }
        rc = table_row_of_channel(config, d, d->map, 1, TACT_COMEDI_MAX_COEFFICIENTS, i, &row,
                                  &columns, err);
        for (int k = 0; !rc && row && k < TACT_COMEDI_MAX_COEFFICIENTS; k++) {
            channel->map[k] = k < columns ? row[k] : 0.0;
        }
        channel->has_scaling_map = row != NULL;
        rc = rc ? rc : read_polynomial_map_of_input(config, d, channel, err);
        if (!rc && !d->output) {
            rc = table_row_of_channel(config, d, "limits", 2, 2, i, &row, &columns, err);
        }
        if (!rc && !d->output && row) {
            channel->low = row[0];
            channel->high = row[1];
            if (!(row[0] < row[1])) {
                rc = tact_settings_fault(config, tact_settings_find(config, "limits"), err,
                                         "%s: %g is not below %g", channel->name, row[0], row[1]);
            }
        }
        if (!rc && is_analog_channel) {
            channel->voltage_reference = (unsigned int)voltage_reference;
            rc = choose_voltage_range(config, board_or_recording, d, i, err);
            rc = rc ? rc
                    : choose_volt_polynomial(config, board_or_recording, calibration, d->output,
                                             channel, err);
        }
    }
    return rc;
}

int tact_comedi_choose_channels(const struct tact_device_config *config,
                                const struct tact_comedi_board_or_recording *board_or_recording,
                                struct tact_comedi_channel_layout *layout, struct tact_error *err)
{
    static const char *const references[] = {"ground", "common", "differential", "other"};
    struct direction in = {false,         "inputs", "input_range", "input_map", "input_units",
                           layout->input, 0};
    struct direction out = {true,           "outputs", "output_range", "output_map", "output_units",
                            layout->output, 0};
    comedi_calibration_t *calibration = NULL;
    int voltage_reference = AREF_GROUND;
    int rc = tact_settings_choice(config, "reference", references, 4, &voltage_reference, err);
    rc = rc ? rc : read_channel_names(config, board_or_recording, &in, err);
    rc = rc ? rc : read_channel_names(config, board_or_recording, &out, err);
    rc = rc ? rc : check_calibration_setting(config, board_or_recording, &in, err);
    rc = rc ? rc : check_and_parse_board_calibration(config, board_or_recording, &calibration, err);
    rc = rc ? rc
            : read_calibration_tables(config, board_or_recording, calibration, voltage_reference,
                                      &in, err);
    rc = rc ? rc
            : read_calibration_tables(config, board_or_recording, calibration, AREF_GROUND, &out,
                                      err);
    if (calibration) {
        comedi_cleanup_calibration(calibration);
    }
    layout->input_count = in.count;
    layout->output_count = out.count;
    if (!rc && in.count + out.count == 0) {
        rc = tact_settings_fault(config, NULL, err,
                                 "missing key \"inputs\" or \"outputs\", such as "
                                 "\"angle=ai0\"");
    }
    snprintf(layout->driver, sizeof layout->driver, "%s", board_or_recording->driver);
    snprintf(layout->board, sizeof layout->board, "%s", board_or_recording->board);
    return rc;
}
