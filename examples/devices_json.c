/* The survey of attached devices as JSON. */
#include <jansson.h>
#include <stdio.h>
#include "devices.h"
#include "text.h"

json_t *devices_text(const char *value)
{
    json_t *made = json_string(value);
    if (made) {
        return made;
    }
    char ascii_property_value[1024];
    size_t n = 0;
    for (; value[n] && n < sizeof ascii_property_value - 1; n++) {
        ascii_property_value[n] = (char)((unsigned char)value[n] < 0x80 ? value[n] : '?');
    }
    ascii_property_value[n] = '\0';
    return json_string(ascii_property_value);
}

static json_t *access_object(const struct tact_attached_access *access)
{
    return json_pack("{s:i, s:i, s:o, s:o, s:o}", "error", -access->error, "force_error",
                     -access->force_error, "why", devices_text(access->why), "fix",
                     devices_text(access->fix), "rule", devices_text(access->rule));
}

static json_t *channels_json(const struct tact_attached_input *input)
{
    json_t *all = json_array();
    for (int i = 0; i < input->channel_count; i++) {
        const struct tact_attached_channel *c = &input->channel[i];
        json_array_append_new(all, json_pack("{s:s, s:b, s:s, s:[i, i], s:i}", "name", c->name,
                                             "axis", c->axis, "span", c->span, "raw", c->low,
                                             c->high, "flat", c->flat));
    }
    return all;
}

static json_t *forces_json(const struct tact_attached_input *input)
{
    json_t *all = json_array();
    for (int i = 0; i < input->force_count; i++) {
        json_array_append_new(all, json_pack("{s:s, s:s}", "name", input->force[i].name, "effect",
                                             input->force[i].effect));
    }
    return all;
}

static json_t *input_object(const struct tact_attached_input *input)
{
    return json_pack("{s:s, s:o, s:o, s:s, s:o, s:o, s:i, s:i, s:i, s:o, s:s, s:i, s:o, s:o, s:o, "
                     "s:o}",
                     "path", input->path, "link", devices_text(input->link), "name",
                     devices_text(input->name), "kind", input->kind, "serial",
                     devices_text(input->serial), "phys", devices_text(input->phys), "bus",
                     (int)input->bus, "vendor", (int)input->vendor, "product", (int)input->product,
                     "channels", channels_json(input), "effects", input->effects,
                     "effects_at_a_time", input->effect_most, "forces", forces_json(input), "note",
                     devices_text(input->note), "access", access_object(&input->access), "scene",
                     devices_text(input->scene));
}

static json_t *subdevices_json(const struct tact_attached_board *board)
{
    json_t *all = json_array();
    for (int i = 0; i < board->subdevice_count; i++) {
        const struct tact_attached_subdevice *s = &board->subdevice[i];
        json_t *ranges = json_array();
        for (int k = 0; k < s->range_count; k++) {
            json_array_append_new(ranges,
                                  json_pack("{s:f, s:f, s:s}", "low", s->range[k].low, "high",
                                            s->range[k].high, "unit", s->range[k].unit));
        }
        json_array_append_new(all,
                              json_pack("{s:i, s:s, s:s, s:s, s:i, s:I, s:o, s:b, s:b, s:b}",
                                        "number", s->number, "type", s->type, "input", s->input,
                                        "output", s->output, "channels", s->channels, "maxdata",
                                        (json_int_t)s->maxdata, "ranges", ranges, "busy", s->busy,
                                        "calibrates", s->calibrates, "streams", s->streams));
    }
    return all;
}

static json_t *board_object(const struct tact_attached_board *board)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:s}", "path", board->path, "name",
                     devices_text(board->name), "driver", devices_text(board->driver), "subdevices",
                     subdevices_json(board), "access", access_object(&board->access), "scene",
                     board->scene);
}

int devices_print_json(json_t *all)
{
    return text_print_json(all);
}

int devices_json(const struct tact_attached *attached)
{
    json_t *inputs = json_array(), *boards = json_array();
    int rc = 0;
    for (int i = 0; i < attached->input_count; i++) {
        rc |= json_array_append_new(inputs, input_object(&attached->input[i]));
    }
    for (int i = 0; i < attached->board_count; i++) {
        rc |= json_array_append_new(boards, board_object(&attached->board[i]));
    }
    json_t *all = json_pack("{s:o, s:o}", "inputs", inputs, "boards", boards);
    if (rc) {
        json_decref(all);
    }
    return rc ? -1 : devices_print_json(all);
}
