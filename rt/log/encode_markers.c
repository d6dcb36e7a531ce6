/* Markers: the shapes of a scene, written once, and an arrow per contact. */
#include <string.h>

#include "../../contact/limits.h"
#include "../../contact/mesh/mesh.h"
#include "encode_internal.h"
#include "marker_internal.h"

#define MAX_DRAWN_MESH_TRIANGLES 50000 /* largest number of triangles of a mesh that is drawn */
#define ARROW_METRES_PER_NEWTON 0.01
#define DRAWN_HALFSPACE_EDGE_LENGTH 1.0 /* edge of the drawn square of a half-space [m] */

enum { ARROW = 0, CUBE = 1, SPHERE = 2, TRIANGLE_LIST = 11 };
enum { ADD = 0, DELETE = 2 };

struct ros_marker {
    int64_t wall_ns;
    const char *frame, *group;
    int32_t id, type, action;
    struct tact_pose pose;
    double scale[3];
    float marker_color_rgba[4];
    bool marker_moves_with_frame; /* the marker moves with its frame */
};

static void put_marker_header(struct tact_cdr_writer *cdr, const struct ros_marker *m)
{
    tact_cdr_put_time(cdr, m->wall_ns);
    tact_cdr_put_string(cdr, m->frame);
    tact_cdr_put_string(cdr, m->group);
    tact_cdr_put_u32(cdr, (uint32_t)m->id);
    tact_cdr_put_u32(cdr, (uint32_t)m->type);
    tact_cdr_put_u32(cdr, (uint32_t)m->action);
    tact_cdr_put_f64_array(cdr, m->pose.position, 3);
    tact_cdr_put_f64_array(cdr, m->pose.quat_wxyz + 1, 3); /* ROS puts w last */
    tact_cdr_put_f64(cdr, m->pose.quat_wxyz[0]);
    tact_cdr_put_f64_array(cdr, m->scale, 3);
    for (int i = 0; i < 4; i++) {
        tact_cdr_put_f32(cdr, m->marker_color_rgba[i]);
    }
    tact_cdr_put_u32(cdr, 0); /* lifetime: unlimited */
    tact_cdr_put_u32(cdr, 0);
    tact_cdr_put_u8(cdr, m->marker_moves_with_frame);
}

/* Writes the fields of a Marker after the colours per point: no texture, text or mesh file. */
static void put_marker_fields_after_colours(struct tact_cdr_writer *cdr)
{
    tact_cdr_put_string(cdr, "");
    tact_cdr_put_time(cdr, 0);
    tact_cdr_put_string(cdr, "");
    tact_cdr_put_string(cdr, "");
    tact_cdr_put_u32(cdr, 0);
    tact_cdr_put_u32(cdr, 0);
    tact_cdr_put_string(cdr, "");
    tact_cdr_put_string(cdr, "");
    tact_cdr_put_string(cdr, "");
    tact_cdr_put_u32(cdr, 0);
    tact_cdr_put_u8(cdr, 0);
}

/* Writes the fields of a Marker after the points, without colours per point. */
static void put_marker_fields_after_points(struct tact_cdr_writer *cdr)
{
    tact_cdr_put_u32(cdr, 0);
    put_marker_fields_after_colours(cdr);
}

void tact_put_arrow_marker(struct tact_cdr_writer *cdr, int64_t wall_ns, int32_t id, bool touching,
                           const double center[3], const double force[3], int limits)
{
    bool slips = limits & (TACT_LIMIT_CONE | TACT_LIMIT_SPIN);
    struct ros_marker m = {
        .wall_ns = wall_ns,
        .frame = "world",
        .group = "force",
        .id = id,
        .type = ARROW,
        .action = touching ? ADD : DELETE,
        .pose.quat_wxyz = {1.0},
        .scale = {0.002, 0.004, 0.004}, /* diameter of shaft and head, length of head [m] */
        .marker_color_rgba = {slips ? 0.8F : 0.0F, slips ? 0.1F : 0.6F, 0.1F, 1.0F},
    };
    double tip[3];

    put_marker_header(cdr, &m);
    tact_cdr_put_u32(cdr, touching ? 2 : 0);
    if (touching) {
        for (int i = 0; i < 3; i++) {
            tip[i] = center[i] + ARROW_METRES_PER_NEWTON * force[i];
        }
        tact_cdr_put_f64_array(cdr, center, 3);
        tact_cdr_put_f64_array(cdr, tip, 3);
    }
    put_marker_fields_after_points(cdr);
}

/* Colour for a value from 0 to 1: a sequential map in order of lightness, also for people who
 * confuse red and green. */
static void put_pressure_color(struct tact_cdr_writer *cdr, float pressure_over_peak_pressure)
{
    static const float pressure_colour_map_stops[4][3] = {
        {0.20F, 0.05F, 0.35F}, {0.70F, 0.15F, 0.35F}, {0.95F, 0.50F, 0.15F}, {1.0F, 0.95F, 0.45F}};
    float at =
        3.0F * (pressure_over_peak_pressure > 0.0F
                    ? (pressure_over_peak_pressure < 1.0F ? pressure_over_peak_pressure : 1.0F)
                    : 0.0F);
    int i = at < 2.0F ? (int)at : 2;
    for (int k = 0; k < 3; k++) {
        tact_cdr_put_f32(cdr, pressure_colour_map_stops[i][k] +
                                  (at - (float)i) * (pressure_colour_map_stops[i + 1][k] -
                                                     pressure_colour_map_stops[i][k]));
    }
    tact_cdr_put_f32(cdr, 1.0F);
}

/* Corners of the triangles of a map's polygons: their number, each visited if cdr is not NULL, as
 * points or, with a peak, as colours. */
static uint32_t put_pressure_triangles(struct tact_cdr_writer *cdr, const struct tact_pressure *map,
                                       float peak)
{
    const float(*corner)[4] = map->corner;
    const uint8_t *sides = map->sides;
    uint32_t count = 0;

    for (uint32_t i = 0; i < map->patches; i++) {
        const double *center = map->patch[i].center;
        for (uint32_t k = 0; k < map->patch[i].polygons; corner += *sides++, k++) {
            for (uint32_t t = 0; t + 2 < *sides; t++) {
                for (uint32_t n = 0; n < 3; n++, count++) {
                    const float *at = corner[n ? t + n : 0];
                    const double p[3] = {center[0] + (double)at[0], center[1] + (double)at[1],
                                         center[2] + (double)at[2]};
                    if (cdr && peak > 0.0F) {
                        put_pressure_color(cdr, at[3] / peak);
                    } else if (cdr) {
                        tact_cdr_put_f64_array(cdr, p, 3);
                    }
                }
            }
        }
    }
    return count;
}

void tact_put_pressure_marker(struct tact_cdr_writer *cdr, int64_t wall_ns,
                              const struct tact_pressure *map)
{
    uint32_t count = put_pressure_triangles(NULL, map, 0.0F);
    float peak = 0.0F;
    struct ros_marker m = {
        .wall_ns = wall_ns,
        .frame = "world",
        .group = "pressure",
        .type = TRIANGLE_LIST,
        .action = count > 0 ? ADD : DELETE,
        .pose.quat_wxyz = {1.0},
        .scale = {1.0, 1.0, 1.0},
        .marker_color_rgba = {1.0F, 1.0F, 1.0F, 1.0F},
    };

    for (uint32_t i = 0; i < map->patches; i++) {
        peak = map->patch[i].peak > peak ? map->patch[i].peak : peak;
    }
    put_marker_header(cdr, &m);
    tact_cdr_put_u32(cdr, count);
    put_pressure_triangles(cdr, map, 0.0F);
    tact_cdr_put_u32(cdr, peak > 0.0F ? count : 0);
    if (peak > 0.0F) {
        put_pressure_triangles(cdr, map, peak);
    }
    put_marker_fields_after_colours(cdr);
}

/* Whether a shape has a marker. */
static bool is_shape_drawable(const struct tact_shape *shape)
{
    return shape->kind == TACT_SHAPE_SPHERE || shape->kind == TACT_SHAPE_BOX ||
           shape->kind == TACT_SHAPE_HALFSPACE ||
           (shape->mesh && shape->mesh->triangle_count <= MAX_DRAWN_MESH_TRIANGLES);
}

static void put_mesh_triangles(struct tact_cdr_writer *cdr, const struct tact_mesh *mesh)
{
    size_t count = 3 * mesh->triangle_count;

    tact_cdr_put_u32(cdr, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        tact_cdr_put_f64_array(cdr, mesh->vertices + 3 * (size_t)mesh->triangles[i], 3);
    }
}

static void put_shape_marker(struct tact_cdr_writer *cdr, int32_t id,
                             const struct tact_recorder_shape *from)
{
    const struct tact_shape *shape = from->shape;
    bool fixed = strcmp(from->frame, "world") == 0;
    struct ros_marker m = {
        .frame = from->frame,
        .group = from->frame,
        .id = id,
        .type = TRIANGLE_LIST,
        .pose = from->pose,
        .scale = {1.0, 1.0, 1.0},
        .marker_color_rgba = {fixed ? 0.6F : 0.35F, fixed ? 0.6F : 0.55F, fixed ? 0.6F : 0.8F,
                              fixed ? 0.5F : 0.9F},
        .marker_moves_with_frame = true,
    };

    if (shape->kind == TACT_SHAPE_SPHERE || shape->kind == TACT_SHAPE_BOX) {
        bool sphere = shape->kind == TACT_SHAPE_SPHERE;
        m.type = sphere ? SPHERE : CUBE;
        for (int i = 0; i < 3; i++) {
            m.scale[i] = 2.0 * shape->size[sphere ? 0 : i];
        }
    } else if (shape->kind == TACT_SHAPE_HALFSPACE) {
        m.type = CUBE;
        m.scale[0] = m.scale[1] = DRAWN_HALFSPACE_EDGE_LENGTH;
        m.scale[2] = 1e-4;
    }
    put_marker_header(cdr, &m);
    if (m.type == TRIANGLE_LIST) {
        put_mesh_triangles(cdr, shape->mesh);
    } else {
        tact_cdr_put_u32(cdr, 0);
    }
    put_marker_fields_after_points(cdr);
}

/* Size that a shape's triangles add to the message: three points of three doubles each. */
static size_t marker_triangle_bytes(const struct tact_shape *shape)
{
    bool solid = shape->kind == TACT_SHAPE_SPHERE || shape->kind == TACT_SHAPE_BOX ||
                 shape->kind == TACT_SHAPE_HALFSPACE;
    return solid ? 0 : shape->mesh->triangle_count * 9 * sizeof(double);
}

/* Returns true where a shape gets a marker; the bytes of its triangles are then no longer available
 * to others. */
static bool reserve_marker_triangle_bytes(const struct tact_shape *shape,
                                          size_t *remaining_marker_triangle_bytes)
{
    if (!is_shape_drawable(shape) ||
        marker_triangle_bytes(shape) > *remaining_marker_triangle_bytes) {
        return false;
    }
    *remaining_marker_triangle_bytes -= marker_triangle_bytes(shape);
    return true;
}

void tact_encode_scene(const struct tact_recorder_content *content, size_t most,
                       struct tact_bytes *out, struct tact_scene_omitted_shapes *omitted_shapes)
{
    struct tact_cdr_writer cdr = tact_cdr_begin_message(out);
    size_t remaining_marker_triangle_bytes = most;
    uint32_t count = 0;

    *omitted_shapes = (struct tact_scene_omitted_shapes){0};
    for (size_t i = 0; i < content->shape_count; i++) {
        bool has_shape_marker = reserve_marker_triangle_bytes(content->shapes[i].shape,
                                                              &remaining_marker_triangle_bytes);
        count += has_shape_marker;
        if (!has_shape_marker && is_shape_drawable(content->shapes[i].shape)) {
            omitted_shapes->first =
                omitted_shapes->count++ > 0 ? omitted_shapes->first : content->shapes[i].frame;
        }
    }
    tact_cdr_put_u32(&cdr, count);
    remaining_marker_triangle_bytes = most;
    for (size_t i = 0; i < content->shape_count; i++) {
        if (reserve_marker_triangle_bytes(content->shapes[i].shape,
                                          &remaining_marker_triangle_bytes)) {
            put_shape_marker(&cdr, (int32_t)i, &content->shapes[i]);
        }
    }
}
