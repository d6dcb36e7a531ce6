/* Contacts as they lie over a picture: patches, forces, torsions. */
#include <math.h>
#include <string.h>
#include "contact/vec.h"
#include "picture.h"

static const uint8_t patch_colour[3] = {255, 122, 0};
static const uint8_t rim_colour[3] = {120, 40, 0};
static const uint8_t force_colour[3] = {200, 16, 32};
static const uint8_t torsion_colour[3] = {112, 32, 176};

/* Length of the longest force's arrow, of the width that is seen. */
static const double FORCE = 0.22;

struct marks {
    const struct picture_camera *camera;
    const struct picture_options *options;
    struct picture_mark *out;
    size_t count, room;
};

static void put_triangle(struct marks *m, const double *a, const double *b, const double *c,
                         const uint8_t *colour, double cover)
{
    if (m->count < m->room) {
        struct picture_mark *mark = &m->out[m->count++];
        const double *from[3] = {a, b, c};
        for (int i = 0; i < 3; i++) {
            memcpy(mark->corner[i], from[i], sizeof mark->corner[i]);
        }
        memcpy(mark->colour, colour, sizeof mark->colour);
        mark->cover = cover;
    }
}

static void draw_line(struct marks *m, const double *a, const double *b, double width,
                      const uint8_t *colour)
{
    double x = b[0] - a[0], y = b[1] - a[1], length = hypot(x, y);
    if (length > 0.0) {
        double nx = -0.5 * width * y / length, ny = 0.5 * width * x / length;
        const double p[4][2] = {{a[0] + nx, a[1] + ny},
                                {a[0] - nx, a[1] - ny},
                                {b[0] - nx, b[1] - ny},
                                {b[0] + nx, b[1] + ny}};
        put_triangle(m, p[0], p[1], p[2], colour, 1.0);
        put_triangle(m, p[0], p[2], p[3], colour, 1.0);
    }
}

/* From a to b, with `heads` heads at its end: two, for a turning moment. */
static void arrow(struct marks *m, const double a[3], const double b[3], int heads,
                  const uint8_t *colour)
{
    double p[3], q[3];
    int w = m->options->width, h = m->options->height;
    picture_project(m->camera, w, h, a, p);
    picture_project(m->camera, w, h, b, q);
    double x = q[0] - p[0], y = q[1] - p[1], length = hypot(x, y);
    double size = fmin(0.028 * w, 0.5 * length / heads);
    if (length < 2.0) {
        return;
    }
    x /= length;
    y /= length;
    const double neck[2] = {q[0] - heads * size * x, q[1] - heads * size * y};
    draw_line(m, p, neck, 0.008 * w, colour);
    for (int i = 0; i < heads; i++) {
        double back = length - (i + 1) * size, tip = back + size;
        const double t[3][2] = {
            {p[0] + tip * x, p[1] + tip * y},
            {p[0] + back * x - 0.45 * size * y, p[1] + back * y + 0.45 * size * x},
            {p[0] + back * x + 0.45 * size * y, p[1] + back * y - 0.45 * size * x}};
        put_triangle(m, t[0], t[1], t[2], colour, 1.0);
    }
}

static void patch(struct marks *m, const struct picture_contact *c)
{
    double p[TACT_PATCH_CORNERS][3];
    for (int i = 0; i < c->corners; i++) {
        picture_project(m->camera, m->options->width, m->options->height, c->outline[i], p[i]);
    }
    for (int i = 1; i + 1 < c->corners; i++) {
        put_triangle(m, p[0], p[i], p[i + 1], patch_colour, 0.55);
    }
    for (int i = 0; i < c->corners; i++) {
        draw_line(m, p[i], p[(i + 1) % c->corners], 1.2, rim_colour);
    }
}

static void vector(struct marks *m, const double from[3], const double v[3], double longest,
                   double share, int heads, const uint8_t *colour)
{
    double to[3];
    tact_v3_copy(to, from);
    if (longest > 0.0) {
        tact_v3_axpy(to, share * m->camera->width / longest, v);
        arrow(m, from, to, heads, colour);
    }
}

size_t picture_marks(const struct picture_scene *scene, const struct picture_camera *camera,
                     const struct picture_options *options, const double longest[2],
                     struct picture_mark *out, size_t room)
{
    struct marks m = {.camera = camera, .options = options, .out = out, .room = room};
    for (int i = 0; i < scene->contact_count; i++) {
        patch(&m, &scene->contacts[i]);
    }
    for (int i = 0; i < scene->contact_count; i++) {
        const struct picture_contact *c = &scene->contacts[i];
        double from[3];
        tact_v3_copy(from, c->centre);
        if (c->pushes && longest[0] > 0.0) {
            tact_v3_axpy(from, -FORCE * camera->width / longest[0], c->force);
        }
        vector(&m, from, c->force, longest[0], FORCE, 1, force_colour);
        vector(&m, c->centre, c->torsion, longest[1], 0.15, 2, torsion_colour);
    }
    return m.count;
}
