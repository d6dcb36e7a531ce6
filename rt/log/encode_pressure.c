/* Pressure maps as messages: the polygons of each patch, and a marker for viewers. */
#include <inttypes.h>
#include <stdio.h>

#include "cdr_internal.h"
#include "encode_internal.h"
#include "marker_internal.h"

static void put_pressure_patch(struct tact_cdr_writer *cdr, const struct tact_encoder *encoder,
                               const struct tact_pressure_patch *patch, const uint8_t *sides,
                               const float (*corner)[4], uint32_t corners)
{
    char name[512];

    snprintf(name, sizeof name, "%.240s/%.240s", tact_encoder_shape_owner_name(encoder, patch->a),
             tact_encoder_shape_owner_name(encoder, patch->b));
    tact_utf8_repair(name); /* the text may be cut within a UTF-8 character */
    tact_cdr_put_string(cdr, name);
    tact_cdr_put_u32(cdr, patch->a);
    tact_cdr_put_u32(cdr, patch->b);
    tact_cdr_put_f64_array(cdr, patch->center, 3);
    tact_cdr_put_f64_array(cdr, patch->normal, 3);
    tact_cdr_put_f64(cdr, patch->area);
    tact_cdr_put_f64(cdr, patch->load);
    tact_cdr_put_f32(cdr, patch->peak);
    tact_cdr_put_u32(cdr, patch->left_out);
    tact_cdr_put_u32(cdr, patch->polygons);
    for (uint32_t i = 0; i < patch->polygons; i++) {
        tact_cdr_put_u8(cdr, sides[i]);
    }
    tact_cdr_put_u32(cdr, 4 * corners);
    for (uint32_t i = 0; i < corners; i++) {
        for (int k = 0; k < 4; k++) {
            tact_cdr_put_f32(cdr, corner[i][k]);
        }
    }
}

static void encode_pressure_patches(struct tact_encoder *encoder, uint64_t tick, int64_t stamp_ns,
                                    const struct tact_pressure *map)
{
    struct tact_cdr_writer cdr =
        tact_encoder_begin_message(encoder, encoder->pressure_map_log_channel, stamp_ns);
    const float(*corner)[4] = map->corner;
    const uint8_t *sides = map->sides;

    tact_cdr_put_time(&cdr, stamp_ns);
    tact_cdr_put_u64(&cdr, tick);
    tact_cdr_put_u32(&cdr, map->patches_left_out);
    tact_cdr_put_u32(&cdr, map->left_out);
    tact_cdr_put_u32(&cdr, map->patches);
    for (uint32_t i = 0; i < map->patches; i++) {
        uint32_t corners = 0;
        for (uint32_t k = 0; k < map->patch[i].polygons; k++) {
            corners += sides[k];
        }
        put_pressure_patch(&cdr, encoder, &map->patch[i], sides, corner, corners);
        sides += map->patch[i].polygons;
        corner += corners;
    }
    encoder->message_sink.end(encoder->message_sink.self);
}

/* Encodes one marker for all patches of a map; the marker of the next map replaces it. */
static void encode_pressure_marker(struct tact_encoder *encoder, int64_t stamp_ns,
                                   const struct tact_pressure *map)
{
    int channel = encoder->channels[TACT_LOG_CHANNEL_ARROWS];

    if (channel < 0 || (map->polygons == 0 && !encoder->is_pressure_marker_shown)) {
        return;
    }
    encoder->is_pressure_marker_shown = map->polygons > 0;
    struct tact_cdr_writer cdr = tact_encoder_begin_message(encoder, channel, stamp_ns);
    tact_cdr_put_u32(&cdr, 1);
    tact_put_pressure_marker(&cdr, (int64_t)tact_encoder_wall_clock_time(encoder, stamp_ns), map);
    encoder->message_sink.end(encoder->message_sink.self);
}

void tact_encode_pressure(struct tact_encoder *encoder, uint64_t tick, int64_t stamp_ns,
                          const struct tact_pressure *map)
{
    encode_pressure_patches(encoder, tick, stamp_ns, map);
    encode_pressure_marker(encoder, stamp_ns, map);
}
