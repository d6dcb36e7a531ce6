/* Finds channels, ranges and voltage polynomials in a board, or in a recording of one. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "contact/number.h"
#include "devices/comedi/comedi_capture_internal.h"
#include "devices/common/settings.h"

static const char *
channel_list_key_of_address(const struct tact_comedi_channel_address *board_channel_address)
{
    return board_channel_address->output ? "outputs" : "inputs";
}

/* Finds the recorded channel of that kind and number; if several subdevices have it, the first. */
static int
locate_channel_of_recording(const struct tact_device_config *config,
                            const struct tact_comedi_playback *playback,
                            const struct tact_comedi_channel_address *board_channel_address,
                            struct tact_comedi_channel *channel, struct tact_error *err)
{
    static const char *const words[] = {"ai", "di", "counter"};
    char has[160] = "";
    const struct tact_comedi_recorded_channel *found = NULL;
    for (int i = 0; i < playback->channels; i++) {
        const struct tact_comedi_recorded_channel *recorded_channel = &playback->channel[i];
        size_t used = strlen(has);
        tact_number_print(has + used, sizeof has - used, "%s%s%u", i ? ", " : "",
                          words[recorded_channel->kind], recorded_channel->channel);
        if (recorded_channel->kind == channel->kind &&
            recorded_channel->channel == board_channel_address->number &&
            (board_channel_address->subdevice < 0
                 ? !found || recorded_channel->subdevice < found->subdevice
                 : recorded_channel->subdevice == (unsigned int)board_channel_address->subdevice)) {
            found = recorded_channel;
        }
    }
    if (!found) {
        return tact_settings_fault(
            config, tact_settings_find(config, channel_list_key_of_address(board_channel_address)),
            err, "%s was not recorded; recorded are: %s", board_channel_address->word, has);
    }
    channel->subdevice = found->subdevice;
    channel->channel = found->channel;
    channel->maxdata = found->maxdata;
    channel->range = found->range;
    channel->recording_column = (int)(found - playback->channel);
    return 0;
}

static bool is_subdevice_of_kind(comedi_t *dev, int subdevice,
                                 const struct tact_comedi_channel_address *board_channel_address)
{
    int type = comedi_get_subdevice_type(dev, (unsigned int)subdevice);
    return type == board_channel_address->type[0] || type == board_channel_address->type[1];
}

int tact_comedi_locate_channel(const struct tact_device_config *config,
                               const struct tact_comedi_board_or_recording *board_or_recording,
                               const struct tact_comedi_channel_address *board_channel_address,
                               struct tact_comedi_channel *channel, struct tact_error *err)
{
    const struct tact_device_setting *setting =
        tact_settings_find(config, channel_list_key_of_address(board_channel_address));
    if (board_or_recording->playback && board_channel_address->output) { /* not written anywhere */
        channel->subdevice = board_channel_address->subdevice < 0
                                 ? 0
                                 : (unsigned int)board_channel_address->subdevice;
        channel->channel = board_channel_address->number;
        return 0;
    }
    if (board_or_recording->playback) {
        return locate_channel_of_recording(config, board_or_recording->playback,
                                           board_channel_address, channel, err);
    }
    const int count = comedi_get_n_subdevices(board_or_recording->dev);
    int subdevice = board_channel_address->subdevice;
    if (subdevice < 0) {
        for (subdevice = 0;
             subdevice < count &&
             !is_subdevice_of_kind(board_or_recording->dev, subdevice, board_channel_address);) {
            subdevice++;
        }
    }
    if (subdevice >= count ||
        !is_subdevice_of_kind(board_or_recording->dev, subdevice, board_channel_address)) {
        return tact_settings_fault(config, setting, err,
                                   "%s: the board (%s) has no subdevice with this number and type",
                                   board_channel_address->word, board_or_recording->board);
    }
    int channels = comedi_get_n_channels(board_or_recording->dev, (unsigned int)subdevice);
    if (channels < 0 || board_channel_address->number >= (unsigned int)channels) {
        return tact_settings_fault(
            config, setting, err,
            "%s: the subdevice of this channel of the board (%s) has only %d channels",
            board_channel_address->word, board_or_recording->board, channels);
    }
    channel->subdevice = (unsigned int)subdevice;
    channel->channel = board_channel_address->number;
    channel->maxdata =
        comedi_get_maxdata(board_or_recording->dev, channel->subdevice, channel->channel);
    return 0;
}

static bool is_voltage_range_equal_to_row(double low, double high, const double *row)
{
    const double slack = 1e-6 * (high - low);
    return fabs(low - row[0]) < slack && fabs(high - row[1]) < slack;
}

int tact_comedi_find_range(const struct tact_device_config *config,
                           const struct tact_comedi_board_or_recording *board_or_recording,
                           const char *setting, const double *row,
                           struct tact_comedi_channel *channel, struct tact_error *err)
{
    char has[160] = "";
    const bool output = strcmp(setting, "output_range") == 0;
    if (!row || (board_or_recording->playback && output)) {
        return 0;
    }
    if (board_or_recording->playback) {
        const struct tact_comedi_recorded_channel *recorded_channel =
            &board_or_recording->playback->channel[channel->recording_column];
        tact_number_print(has, sizeof has, "[%g, %g]", recorded_channel->low,
                          recorded_channel->high);
        return is_voltage_range_equal_to_row(recorded_channel->low, recorded_channel->high, row)
                   ? 0
                   : tact_settings_fault(config, tact_settings_find(config, setting), err,
                                         "%s was recorded in %s", channel->name, has);
    }
    const int count =
        comedi_get_n_ranges(board_or_recording->dev, channel->subdevice, channel->channel);
    for (int k = 0; k < count; k++) {
        const comedi_range *range = comedi_get_range(board_or_recording->dev, channel->subdevice,
                                                     channel->channel, (unsigned int)k);
        if (is_voltage_range_equal_to_row(range->min, range->max, row)) {
            channel->range = (unsigned int)k;
            return 0;
        }
        size_t used = strlen(has);
        tact_number_print(has + used, sizeof has - used, "%s[%g, %g]", k ? ", " : "", range->min,
                          range->max);
    }
    return tact_settings_fault(config, tact_settings_find(config, setting), err,
                               "%s: no range [%g, %g]; the board has %s", channel->name, row[0],
                               row[1], has);
}

int tact_comedi_find_volt_polynomial(
    const struct tact_comedi_board_or_recording *board_or_recording, bool output,
    struct tact_comedi_channel *channel)
{
    if (board_or_recording->dev) {
        return comedi_get_hardcal_converter(
            board_or_recording->dev, channel->subdevice, channel->channel, channel->range,
            output ? COMEDI_FROM_PHYSICAL : COMEDI_TO_PHYSICAL, &channel->volts);
    }
    if (!output) {
        channel->volts = board_or_recording->playback->channel[channel->recording_column].volts;
    }
    return 0;
}
