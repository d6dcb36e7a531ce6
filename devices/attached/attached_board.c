/* Describes a measurement card and its channels in a scene. */
#include <comedilib.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "devices/attached/attached_internal.h"

/* Subdevice types with a word in a scene. */
static const struct word {
    int type;
    const char *text; /* description of the subdevice type, for people */
    const char *input;
    const char *output;
} words[] = {
    {COMEDI_SUBD_AI, "analog input", "ai", NULL},
    {COMEDI_SUBD_AO, "analog output", NULL, "ao"},
    {COMEDI_SUBD_DI, "digital input", "di", NULL},
    {COMEDI_SUBD_DO, "digital output", NULL, "do"},
    {COMEDI_SUBD_DIO, "digital, either way", "di", "do"},
    {COMEDI_SUBD_COUNTER, "counter", "counter", NULL},
};

static const struct word *find_subdevice_type_word(int type)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].type == type) {
            return &words[i];
        }
    }
    return NULL;
}

/* Whether a word selects this subdevice without its number: no earlier one has the word. */
static bool is_first_subdevice_of_type(const struct tact_attached_board *board, const char *word)
{
    for (int i = 0; i < board->subdevice_count; i++) {
        const struct tact_attached_subdevice *s = &board->subdevice[i];
        size_t n = strlen(word);
        if (strncmp(s->input, word, n) == 0 || strncmp(s->output, word, n) == 0) {
            return false;
        }
    }
    return true;
}

/* Writes the names of a subdevice's channels in a scene: "ai0 .. ai7", "di0@2 .. di7@2". */
static void describe_channel_range(const struct tact_attached_board *board, const char *word,
                                   int number, int channels, char *text, size_t size)
{
    char at[16] = "";
    text[0] = '\0';
    if (!word || channels < 1) {
        return;
    }
    if (!is_first_subdevice_of_type(board, word)) {
        snprintf(at, sizeof at, "@%d", number);
    }
    snprintf(text, size, "%s0%s", word, at);
    if (channels > 1) {
        tact_attached_append_text(text, size, " .. %s%d%s", word, channels - 1, at);
    }
}

static void describe_voltage_ranges(comedi_t *dev, unsigned int number,
                                    struct tact_attached_subdevice *s)
{
    int count = comedi_get_n_ranges(dev, number, 0);
    for (int i = 0; i < count && s->range_count < TACT_ATTACHED_RANGES; i++) {
        const comedi_range *range = comedi_get_range(dev, number, 0, (unsigned int)i);
        if (range) {
            struct tact_attached_range *to = &s->range[s->range_count++];
            to->low = range->min;
            to->high = range->max;
            snprintf(to->unit, sizeof to->unit, "%s",
                     range->unit == UNIT_volt ? "V"
                     : range->unit == UNIT_mA ? "mA"
                                              : "");
        }
    }
}

static void describe_board_subdevice(comedi_t *dev, int number, struct tact_attached_board *board)
{
    struct tact_attached_subdevice s = {.number = number};
    unsigned int n = (unsigned int)number;
    int type = comedi_get_subdevice_type(dev, n);
    int comedi_subdevice_flags = comedi_get_subdevice_flags(dev, n);
    const struct word *word = find_subdevice_type_word(type);
    if (type == COMEDI_SUBD_UNUSED) {
        return;
    }
    int channels = comedi_get_n_channels(dev, n);
    s.channels = channels > 0 ? channels : 0;
    snprintf(s.type, sizeof s.type, "%s", word ? word->text : "not for tact");
    if (word) {
        describe_channel_range(board, word->input, number, channels, s.input, sizeof s.input);
        describe_channel_range(board, word->output, number, channels, s.output, sizeof s.output);
    }
    s.busy = comedi_subdevice_flags >= 0 && (comedi_subdevice_flags & (SDF_BUSY | SDF_LOCKED));
    s.calibrates = comedi_subdevice_flags >= 0 && (comedi_subdevice_flags & SDF_SOFT_CALIBRATED);
    s.streams = comedi_subdevice_flags >= 0 && (comedi_subdevice_flags & SDF_CMD_READ) &&
                type == COMEDI_SUBD_AI;
    if (channels > 0) {
        s.maxdata = comedi_get_maxdata(dev, n, 0);
    }
    if (channels > 0 && (type == COMEDI_SUBD_AI || type == COMEDI_SUBD_AO)) {
        describe_voltage_ranges(dev, n, &s);
    }
    board->subdevice[board->subdevice_count++] = s;
}

/* Writes the example entry of a scene with the first input and the first output channel of the
 * board, analog before digital, as the board has them. */
static void write_example_scene_entry_of_board(struct tact_attached_board *board)
{
    const char *input = "";
    const char *output = "";
    const size_t size = sizeof board->scene;
    for (int i = board->subdevice_count - 1; i >= 0; i--) {
        const struct tact_attached_subdevice *s = &board->subdevice[i];
        bool is_analog_subdevice = strncmp(s->type, "analog", 6) == 0;
        input = s->input[0] && (is_analog_subdevice || input[0] != 'a') ? s->input : input;
        output = s->output[0] && (is_analog_subdevice || output[0] != 'a') ? s->output : output;
    }
    snprintf(board->scene, size, "- {name: board, type: comedi, settings: {board: %s", board->path);
    if (input[0]) {
        tact_attached_append_text(board->scene, size, ", inputs: x=%.*s", (int)strcspn(input, " "),
                                  input);
    }
    if (output[0]) {
        tact_attached_append_text(board->scene, size, ", outputs: y=%.*s",
                                  (int)strcspn(output, " "), output);
    }
    tact_attached_append_text(board->scene, size, "}}");
}

static bool is_board_tagged_uaccess(struct udev *udev, int number)
{
    char name[32];
    snprintf(name, sizeof name, "comedi%d", number);
    struct udev_device *node =
        udev ? udev_device_new_from_subsystem_sysname(udev, "comedi", name) : NULL;
    bool is_open_to_user_at_seat = node && udev_device_has_tag(node, "uaccess") == 1;
    udev_device_unref(node);
    return is_open_to_user_at_seat;
}

bool tact_attached_read_board(struct udev *udev, int number, struct tact_attached_board *board)
{
    char rule[96];
    memset(board, 0, sizeof *board);
    snprintf(board->path, sizeof board->path, "/dev/comedi%d", number);
    if (access(board->path, F_OK)) {
        return false;
    }
    errno = 0;
    comedi_t *dev = comedi_open(board->path);
    if (!dev) {
        board->access.error = errno ? -errno : -EIO;
        snprintf(rule, sizeof rule, "SUBSYSTEM==\"comedi\", KERNEL==\"comedi%d\"", number);
        tact_attached_explain_access(board->path, board->access.error, "opening", rule,
                                     is_board_tagged_uaccess(udev, number), &board->access);
        return true;
    }
    snprintf(board->name, sizeof board->name, "%s", comedi_get_board_name(dev));
    snprintf(board->driver, sizeof board->driver, "%s", comedi_get_driver_name(dev));
    int count = comedi_get_n_subdevices(dev);
    for (int i = 0; i < count && board->subdevice_count < TACT_ATTACHED_SUBDEVICES; i++) {
        describe_board_subdevice(dev, i, board);
    }
    comedi_close(dev);
    write_example_scene_entry_of_board(board);
    return true;
}
