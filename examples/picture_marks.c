/* Marks of contacts drawn over a picture: patches, forces, torsions. */
#include <math.h>
#include <string.h>
#include "contact/vec.h"
#include "picture.h"

static const uint8_t patch_colour[3] = {255, 122, 0};
static const uint8_t patch_rim_colour[3] = {120, 40, 0};
static const uint8_t force_colour[3] = {200, 16, 32};
static const uint8_t torsion_colour[3] = {112, 32, 176};

/* Lengths of the arrows for the largest force and the largest torsion, as fractions of the visible
 * width. */
static const double FORCE_ARROW_LENGTH = 0.22, TORSION_ARROW_LENGTH = 0.15;

/* Length of an arrow as a fraction of the frame's width or, where that is over twice the height, of
 * twice the height, so that arrows that point up stay in the frame. */
static double arrow_length(const struct picture_options *options, double length_fraction)
{
    return length_fraction * fmin(1.0, 2.0 * options->height / options->width);
}

struct mark_list {
    const struct picture_camera *camera;
    const struct picture_options *options;
    struct picture_overlay_mark *out;
    size_t count, room;
};

static void add_triangle_mark(struct mark_list *m, const double *a, const double *b,
                              const double *c, const uint8_t *colour, double opacity)
{
    if (m->count++ < m->room) {
        struct picture_overlay_mark *mark = &m->out[m->count - 1];
        const double *from[3] = {a, b, c};
        for (int i = 0; i < 3; i++) {
            memcpy(mark->corner[i], from[i], sizeof mark->corner[i]);
        }
        memcpy(mark->colour, colour, sizeof mark->colour);
        mark->opacity = opacity;
    }
}

static void add_line_mark(struct mark_list *m, const double *a, const double *b, double width,
                          const uint8_t *colour)
{
    double x = b[0] - a[0], y = b[1] - a[1], length = hypot(x, y);
    if (length > 0.0) {
        double nx = -0.5 * width * y / length, ny = 0.5 * width * x / length;
        const double p[4][2] = {{a[0] + nx, a[1] + ny},
                                {a[0] - nx, a[1] - ny},
                                {b[0] - nx, b[1] - ny},
                                {b[0] + nx, b[1] + ny}};
        add_triangle_mark(m, p[0], p[1], p[2], colour, 1.0);
        add_triangle_mark(m, p[0], p[2], p[3], colour, 1.0);
    }
}

/* Adds an arrow from a to b with one head, or with two heads for a torque. */
static void add_arrow_marks(struct mark_list *m, const double a[3], const double b[3],
                            int arrow_head_count, const uint8_t *colour)
{
    double p[3], q[3];
    int w = m->options->width, h = m->options->height;
    picture_project_point(m->camera, w, h, a, p);
    picture_project_point(m->camera, w, h, b, q);
    double x = q[0] - p[0], y = q[1] - p[1], length = hypot(x, y);
    double size = fmin(0.028 * w, 0.5 * length / arrow_head_count);
    if (length < 2.0) {
        return;
    }
    x /= length;
    y /= length;
    const double arrow_head_base_point[2] = {q[0] - arrow_head_count * size * x,
                                             q[1] - arrow_head_count * size * y};
    add_line_mark(m, p, arrow_head_base_point, 0.008 * w, colour);
    for (int i = 0; i < arrow_head_count; i++) {
        double distance_to_head_base = length - (i + 1) * size,
               distance_to_head_tip = distance_to_head_base + size;
        const double t[3][2] = {{p[0] + distance_to_head_tip * x, p[1] + distance_to_head_tip * y},
                                {p[0] + distance_to_head_base * x - 0.45 * size * y,
                                 p[1] + distance_to_head_base * y + 0.45 * size * x},
                                {p[0] + distance_to_head_base * x + 0.45 * size * y,
                                 p[1] + distance_to_head_base * y - 0.45 * size * x}};
        add_triangle_mark(m, t[0], t[1], t[2], colour, 1.0);
    }
}

void picture_pressure_colour(double share, uint8_t out[3])
{
    static const double colour_scale_stops[4][3] = {
        {51, 13, 89}, {179, 38, 89}, {242, 128, 38}, {255, 242, 115}};
    double at = 3.0 * fmin(fmax(share, 0.0), 1.0);
    int i = at < 2.0 ? (int)at : 2;
    for (int k = 0; k < 3; k++) {
        out[k] =
            (uint8_t)lround(colour_scale_stops[i][k] +
                            (at - i) * (colour_scale_stops[i + 1][k] - colour_scale_stops[i][k]));
    }
}

/* Draws a polygon of pressure as triangles, each in the colour of its mean pressure. */
static void draw_pressure_polygon(struct mark_list *m, const double *center,
                                  const float (*corner)[4], int sides, double largest)
{
    double p[3][3], mean = 0.0;
    uint8_t colour[3];
    for (int i = 0; i < sides; i++) {
        mean += (double)corner[i][3] / sides;
    }
    picture_pressure_colour(mean / largest, colour);
    for (int i = 1; i + 1 < sides; i++) {
        for (int k = 0; k < 3; k++) {
            const float *from = corner[k ? i + k - 1 : 0];
            const double at[3] = {center[0] + (double)from[0], center[1] + (double)from[1],
                                  center[2] + (double)from[2]};
            picture_project_point(m->camera, m->options->width, m->options->height, at, p[k]);
        }
        add_triangle_mark(m, p[0], p[1], p[2], colour, 1.0);
    }
}

static void draw_pressure_patch(struct mark_list *m, const struct tact_pressure *map, int index,
                                double largest)
{
    const uint8_t *sides = map->sides;
    const float(*corner)[4] = map->corner;
    for (int i = 0; i <= index; i++) {
        const struct tact_pressure_patch *patch = &map->patch[i];
        for (uint32_t k = 0; k < patch->polygons; k++) {
            if (i == index) {
                draw_pressure_polygon(m, patch->center, corner, *sides, largest);
            }
            corner += *sides++;
        }
    }
}

static void draw_contact_patch(struct mark_list *m, const struct picture_contact *c)
{
    double p[TACT_PATCH_CORNERS][3];
    for (int i = 0; i < c->corners; i++) {
        picture_project_point(m->camera, m->options->width, m->options->height, c->outline[i],
                              p[i]);
    }
    for (int i = 1; c->map < 0 && i + 1 < c->corners; i++) {
        add_triangle_mark(m, p[0], p[i], p[i + 1], patch_colour, 0.55);
    }
    for (int i = 0; i < c->corners; i++) {
        add_line_mark(m, p[i], p[(i + 1) % c->corners], 1.2, patch_rim_colour);
    }
}

static void add_pressure_centre_dot(struct mark_list *m, const struct picture_contact *c)
{
    static const uint8_t centre_dot_colour[3] = {16, 16, 16};
    double at[3], from[2], to[2], radius = fmax(1.5, 0.007 * m->options->width);
    picture_project_point(m->camera, m->options->width, m->options->height, c->centre, at);
    for (int i = 0; i <= 12; i++) {
        double angle = 6.283185307179586 * i / 12;
        to[0] = at[0] + radius * cos(angle);
        to[1] = at[1] + radius * sin(angle);
        if (i) {
            add_triangle_mark(m, at, from, to, centre_dot_colour, 1.0);
        }
        memcpy(from, to, sizeof from);
    }
}

static void draw_vector_arrow(struct mark_list *m, const double from[3], const double v[3],
                              double longest, double share, int arrow_head_count,
                              const uint8_t *colour)
{
    double to[3];
    tact_v3_copy(to, from);
    if (longest > 0.0) {
        tact_v3_axpy(to, share * m->camera->width / longest, v);
        add_arrow_marks(m, from, to, arrow_head_count, colour);
    }
}

size_t picture_make_contact_marks(const struct picture_scene *scene,
                                  const struct picture_camera *camera,
                                  const struct picture_options *options,
                                  const struct picture_mark_scale *scale,
                                  struct picture_overlay_mark *out, size_t room)
{
    struct mark_list m = {.camera = camera, .options = options, .out = out, .room = room};
    for (int i = 0; i < scene->contact_count; i++) {
        const struct picture_contact *c = &scene->contacts[i];
        if (c->map >= 0 && scale->pressure > 0.0) {
            draw_pressure_patch(&m, scene->pressure, c->map, scale->pressure);
        }
        draw_contact_patch(&m, c);
    }
    const double force = arrow_length(m.options, FORCE_ARROW_LENGTH);
    const double torsion = arrow_length(m.options, TORSION_ARROW_LENGTH);
    for (int i = 0; i < scene->contact_count; i++) {
        const struct picture_contact *c = &scene->contacts[i];
        double from[3];
        tact_v3_copy(from, c->centre);
        if (c->is_finger_force && scale->force > 0.0) {
            tact_v3_axpy(from, -force * camera->width / scale->force, c->force);
        }
        draw_vector_arrow(&m, from, c->force, scale->force, force, 1, force_colour);
        draw_vector_arrow(&m, c->centre, c->torsion, scale->torsion, torsion, 2, torsion_colour);
        add_pressure_centre_dot(&m, c);
    }
    return m.count;
}
