/* Triangles to pixels: depth buffer, one light with its shadow, lines where solids end. The page of
 * the live view draws by WebGL, which needs a browser; pictures need none. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/vec.h"
#include "picture.h"

#define MARK_SAMPLES_PER_PIXEL_AXIS                                                                \
    4                           /* samples of a pixel along each axis in which marks are drawn */
#define SHADOW_MAP_SAMPLES 1400 /* samples along each side of the shadow map */

static const double direction_toward_light[3] = {0.33, -0.40, 0.855}; /* toward it, world */

/* A buffer of samples, as seen by the camera or, for the shadow, from the light. */
struct sample_buffer {
    int width, height;
    float *depth; /* 1 / distance for the camera, minus the distance for the light: larger is nearer
                   */
    int *triangle; /* index of the visible triangle, or -1; NULL for the shadow */
};

struct frame_painter {
    const struct picture_scene *scene;
    const struct picture_camera *camera;
    struct sample_buffer camera_samples, shadow;
    /* axes across the light's direction, scaled to samples of the shadow map [1/m] */
    double shadow_map_axes[2][3];
    double plane_grid_spacing; /* spacing of a plane's lines [m] */
};

/* Range of pixels between two coordinates, clamped to the frame: from *first, up to but without
 * *end. */
static void clamp_span_to_frame(double from, double to, int size, int *first, int *end)
{
    *first = (int)fmin(fmax(floor(from), 0.0), size);
    *end = (int)fmin(fmax(ceil(to) + 1.0, 0.0), size);
}

/* Rasterises a triangle p (x, y, depth): stores it in each sample where it is nearer than what is
 * stored. */
static void rasterise_triangle(struct sample_buffer *b, double p[3][3], int triangle)
{
    double area =
        (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
    int x0, x1, y0, y1;
    if (!(fabs(area) > 0.0)) {
        return;
    }
    clamp_span_to_frame(fmin(p[0][0], fmin(p[1][0], p[2][0])),
                        fmax(p[0][0], fmax(p[1][0], p[2][0])), b->width, &x0, &x1);
    clamp_span_to_frame(fmin(p[0][1], fmin(p[1][1], p[2][1])),
                        fmax(p[0][1], fmax(p[1][1], p[2][1])), b->height, &y0, &y1);
    for (int y = y0; y < y1; y++) {
        for (int x = x0; x < x1; x++) {
            double c[3], sx = x + 0.5, sy = y + 0.5;
            for (int k = 0; k < 3; k++) {
                const double *a = p[(k + 1) % 3], *e = p[(k + 2) % 3];
                c[k] = ((a[0] - sx) * (e[1] - sy) - (e[0] - sx) * (a[1] - sy)) / area;
            }
            double depth = c[0] * p[0][2] + c[1] * p[1][2] + c[2] * p[2][2];
            size_t at = (size_t)y * (size_t)b->width + (size_t)x;
            if (c[0] >= 0.0 && c[1] >= 0.0 && c[2] >= 0.0 && (float)depth > b->depth[at]) {
                b->depth[at] = (float)depth;
                if (b->triangle) {
                    b->triangle[at] = triangle;
                }
            }
        }
    }
}

/* Clips a triangle at the near plane and fills the rest. */
static void fill_visible_triangle(struct frame_painter *q, const struct picture_triangle *t,
                                  int index)
{
    double near = 0.02 * q->camera->width, p[4][3], z[3];
    int used = 0;
    for (int i = 0; i < 3; i++) {
        double d[3];
        tact_v3_sub(d, t->corner[i], q->camera->eye);
        z[i] = tact_v3_dot(d, q->camera->forward) - near;
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        if (z[i] >= 0.0) {
            tact_v3_copy(p[used++], t->corner[i]);
        }
        if ((z[i] < 0.0) != (z[j] < 0.0)) {
            double d[3];
            tact_v3_sub(d, t->corner[j], t->corner[i]);
            tact_v3_copy(p[used], t->corner[i]);
            tact_v3_axpy(p[used++], z[i] / (z[i] - z[j]), d);
        }
    }
    for (int i = 1; i + 1 < used; i++) {
        double corner[3][3];
        const double *from[3] = {p[0], p[i], p[i + 1]};
        for (int k = 0; k < 3; k++) {
            picture_project_point(q->camera, q->camera_samples.width, q->camera_samples.height,
                                  from[k], corner[k]);
            corner[k][2] = 1.0 / corner[k][2];
        }
        rasterise_triangle(&q->camera_samples, corner, index);
    }
}

static void point_to_shadow_map(const struct frame_painter *q, const double p[3], double out[3])
{
    double d[3];
    tact_v3_sub(d, p, q->camera->middle);
    out[0] = 0.5 * SHADOW_MAP_SAMPLES + tact_v3_dot(d, q->shadow_map_axes[0]);
    out[1] = 0.5 * SHADOW_MAP_SAMPLES + tact_v3_dot(d, q->shadow_map_axes[1]);
    out[2] = tact_v3_dot(d, direction_toward_light);
}

static void fill_shadow_of_triangle(struct frame_painter *q, const struct picture_triangle *t)
{
    double p[3][3];
    for (int k = 0; k < 3; k++) {
        point_to_shadow_map(q, t->corner[k], p[k]);
    }
    rasterise_triangle(&q->shadow, p, 0);
}

/* Fraction of the light that reaches a point: the mean over 3 x 3 samples of the shadow's depth. */
static double fraction_of_light_at_point(const struct frame_painter *q, const double p[3])
{
    double s[3], sum = 0.0;
    point_to_shadow_map(q, p, s);
    double shadow_depth_tolerance = 0.004 * q->camera->width;
    for (int i = 0; i < 9; i++) {
        int x = (int)floor(s[0]) + 2 * (i % 3 - 1), y = (int)floor(s[1]) + 2 * (i / 3 - 1);
        int is_sample_in_shadow_map =
            x >= 0 && y >= 0 && x < SHADOW_MAP_SAMPLES && y < SHADOW_MAP_SAMPLES;
        sum += !is_sample_in_shadow_map ||
               q->shadow.depth[y * SHADOW_MAP_SAMPLES + x] < s[2] + shadow_depth_tolerance;
    }
    return sum / 9.0;
}

/* Weight of a plane's grid of lines at a point: 0 on a line, 1 off it. The lines follow the two
 * world axes that are most parallel to the plane. */
static double plane_grid_weight(const struct frame_painter *q, const double p[3], const double n[3])
{
    int axis_dropped_by_projection = fabs(n[2]) > 0.5 ? 2 : (fabs(n[0]) > fabs(n[1]) ? 0 : 1);
    double nearest = 1.0;
    for (int k = 0; k < 3; k++) {
        double x = p[k] / q->plane_grid_spacing;
        nearest = k == axis_dropped_by_projection ? nearest : fmin(nearest, fabs(x - round(x)));
    }
    return nearest < 0.012 ? 0.0 : 1.0;
}

/* Weights of a triangle's corners at a point of its plane. */
static void barycentric_weights(const struct picture_triangle *t, const double p[3], double w[3])
{
    double a[3], b[3], d[3];
    tact_v3_sub(a, t->corner[1], t->corner[0]);
    tact_v3_sub(b, t->corner[2], t->corner[0]);
    tact_v3_sub(d, p, t->corner[0]);
    double aa = tact_v3_dot(a, a), ab = tact_v3_dot(a, b), bb = tact_v3_dot(b, b);
    double da = tact_v3_dot(d, a), db = tact_v3_dot(d, b), det = aa * bb - ab * ab;
    w[1] = (bb * da - ab * db) / det;
    w[2] = (aa * db - ab * da) / det;
    w[0] = 1.0 - w[1] - w[2];
}

/* Colour of the sample at x, y (red, green, blue, 0 to 255); white where no surface is. */
static void shade_picture_sample(const struct frame_painter *q, int x, int y, double out[3])
{
    size_t at = (size_t)y * (size_t)q->camera_samples.width + (size_t)x;
    int index = q->camera_samples.triangle[at];
    tact_v3_set(out, 255.0, 255.0, 255.0);
    if (index < 0) {
        return;
    }
    const struct picture_triangle *t = &q->scene->triangles[index];
    const struct picture_camera *c = q->camera;
    double far = 1.0 / q->camera_samples.depth[at], ray[3], p[3], w[3], n[3] = {0, 0, 0};
    double step = 2.0 * c->scale / q->camera_samples.width;
    tact_v3_copy(ray, c->forward);
    tact_v3_axpy(ray, step * (x + 0.5 - 0.5 * q->camera_samples.width), c->right);
    tact_v3_axpy(ray, -step * (y + 0.5 - 0.5 * q->camera_samples.height), c->up);
    tact_v3_copy(p, c->eye);
    tact_v3_axpy(p, far, ray);
    barycentric_weights(t, p, w);
    for (int k = 0; k < 3; k++) {
        tact_v3_axpy(n, w[k], t->normal[k]);
    }
    tact_v3_normalize(n, n);
    double cosine_to_light = tact_v3_dot(n, direction_toward_light);
    double direct_light_fraction =
        cosine_to_light > 0.0 ? cosine_to_light * fraction_of_light_at_point(q, p) : 0.0;
    double surface_brightness = 0.52 + 0.08 * n[2] + 0.45 * direct_light_fraction;
    double line =
        t->surface_pattern == PATTERN_GRID ? 0.88 + 0.12 * plane_grid_weight(q, p, n) : 1.0;
    for (int k = 0; k < 3; k++) {
        out[k] = fmin(255.0, t->colour[k] * surface_brightness * line);
    }
}

/* 1 where a sample and its neighbour at the offset dx, dy belong to two solids, or to two faces of
 * one solid. */
static int is_outline_edge(const struct frame_painter *q, int x, int y, int dx, int dy)
{
    int w = q->camera_samples.width, h = q->camera_samples.height;
    if (x + dx >= w || y + dy >= h) {
        return 0;
    }
    int i = q->camera_samples.triangle[y * w + x],
        j = q->camera_samples.triangle[(y + dy) * w + x + dx];
    if (i < 0 || j < 0) {
        return i != j;
    }
    const struct picture_triangle *a = &q->scene->triangles[i], *b = &q->scene->triangles[j];
    return a->id != b->id || tact_v3_dot(a->normal[0], b->normal[0]) < 0.5;
}

static void average_pixel_samples(const struct frame_painter *q, int x, int y, double out[3])
{
    const int n = PICTURE_SAMPLES_PER_PIXEL_AXIS;
    tact_v3_set(out, 0, 0, 0);
    for (int i = 0; i < n * n; i++) {
        double one[3];
        int sx = n * x + i % n, sy = n * y + i / n;
        shade_picture_sample(q, sx, sy, one);
        if (is_outline_edge(q, sx, sy, 1, 0) || is_outline_edge(q, sx, sy, 0, 1)) {
            tact_v3_scale(one, one, 0.35);
        }
        tact_v3_axpy(out, 1.0 / (n * n), one);
    }
}

/* The frame in MARK_SAMPLES_PER_PIXEL_AXIS times its resolution, on which marks are drawn: polygons
 * that share an edge leave no seam there, as they do where each is blended by its part of a pixel.
 */
struct supersampled_frame {
    int width, height; /* [samples] */
    uint8_t *rgb;
};

/* Draws a mark over the samples whose middles it covers. */
static void rasterise_mark(const struct picture_overlay_mark *m,
                           struct supersampled_frame *supersampled)
{
    const double(*p)[2] = m->corner;
    double area =
        (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
    const double scale = MARK_SAMPLES_PER_PIXEL_AXIS;
    int from, to, top, end;
    if (!isfinite(area) || area == 0.0) {
        return; /* a part of the mark is behind the camera */
    }
    clamp_span_to_frame(scale * fmin(p[0][0], fmin(p[1][0], p[2][0])),
                        scale * fmax(p[0][0], fmax(p[1][0], p[2][0])), supersampled->width, &from,
                        &to);
    clamp_span_to_frame(scale * fmin(p[0][1], fmin(p[1][1], p[2][1])),
                        scale * fmax(p[0][1], fmax(p[1][1], p[2][1])), supersampled->height, &top,
                        &end);
    for (int y = top; y < end; y++) {
        for (int x = from; x < to; x++) {
            double sx = (x + 0.5) / scale, sy = (y + 0.5) / scale;
            int inside = 1;
            for (int k = 0; inside && k < 3; k++) {
                const double *a = p[(k + 1) % 3], *b = p[(k + 2) % 3];
                inside = ((a[0] - sx) * (b[1] - sy) - (b[0] - sx) * (a[1] - sy)) / area >= 0.0;
            }
            uint8_t *sample =
                supersampled->rgb + 3 * ((size_t)y * (size_t)supersampled->width + (size_t)x);
            for (int k = 0; inside && k < 3; k++) {
                sample[k] =
                    (uint8_t)lround((1.0 - m->opacity) * sample[k] + m->opacity * m->colour[k]);
            }
        }
    }
}

/* Copies the frame at x0, y0 of an image to the samples (must_copy_to_image = 0), or their means
 * back. */
static void copy_frame_samples(struct supersampled_frame *supersampled, struct picture_image *image,
                               int x0, int y0, int must_copy_to_image)
{
    for (int y = 0; y < supersampled->height / MARK_SAMPLES_PER_PIXEL_AXIS; y++) {
        for (int x = 0; x < supersampled->width / MARK_SAMPLES_PER_PIXEL_AXIS; x++) {
            uint8_t *pixel_rgb = image->rgb + 3 * ((y0 + y) * image->width + x0 + x);
            int sum[3] = {0, 0, 0};
            for (int i = 0; i < MARK_SAMPLES_PER_PIXEL_AXIS * MARK_SAMPLES_PER_PIXEL_AXIS; i++) {
                const size_t row =
                    (size_t)(MARK_SAMPLES_PER_PIXEL_AXIS * y + i / MARK_SAMPLES_PER_PIXEL_AXIS);
                const size_t column =
                    (size_t)(MARK_SAMPLES_PER_PIXEL_AXIS * x + i % MARK_SAMPLES_PER_PIXEL_AXIS);
                uint8_t *sample =
                    supersampled->rgb + 3 * (row * (size_t)supersampled->width + column);
                for (int k = 0; k < 3; k++) {
                    sample[k] = must_copy_to_image ? sample[k] : pixel_rgb[k];
                    sum[k] += sample[k];
                }
            }
            for (int k = 0; k < 3; k++) {
                const int count = MARK_SAMPLES_PER_PIXEL_AXIS * MARK_SAMPLES_PER_PIXEL_AXIS;
                pixel_rgb[k] = (uint8_t)((sum[k] + count / 2) / count);
            }
        }
    }
}

static int allocate_sample_buffer(struct sample_buffer *b, int width, int height, int triangles)
{
    size_t count = (size_t)width * (size_t)height;
    b->width = width;
    b->height = height;
    b->depth = malloc(count * sizeof *b->depth);
    b->triangle = triangles ? malloc(count * sizeof *b->triangle) : NULL;
    if (!b->depth || (triangles && !b->triangle)) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        b->depth[i] = triangles ? 0.0F : -INFINITY;
        if (triangles) {
            b->triangle[i] = -1;
        }
    }
    return 0;
}

double picture_choose_grid_spacing(double width)
{
    double ten = pow(10.0, floor(log10(0.12 * width))), more = 0.12 * width / ten;
    return ten * (more >= 5.0 ? 5.0 : (more >= 2.0 ? 2.0 : 1.0));
}

static void paint_frame_pixels(struct frame_painter *q, const struct picture_options *o,
                               struct picture_image *image, int x0, int y0)
{
    double samples_per_metre = 0.45 * SHADOW_MAP_SAMPLES / q->camera->width;
    tact_v3_tangents(direction_toward_light, q->shadow_map_axes[0], q->shadow_map_axes[1]);
    tact_v3_scale(q->shadow_map_axes[0], q->shadow_map_axes[0], samples_per_metre);
    tact_v3_scale(q->shadow_map_axes[1], q->shadow_map_axes[1], samples_per_metre);
    q->plane_grid_spacing = picture_choose_grid_spacing(q->camera->width);
    for (size_t i = 0; i < q->scene->triangle_count; i++) {
        const struct picture_triangle *t = &q->scene->triangles[i];
        fill_visible_triangle(q, t, (int)i);
        if (t->surface_pattern != PATTERN_GRID) {
            fill_shadow_of_triangle(q, t);
        }
    }
    for (int y = 0; y < o->height; y++) {
        for (int x = 0; x < o->width; x++) {
            double colour[3];
            average_pixel_samples(q, x, y, colour);
            for (int k = 0; k < 3; k++) {
                image->rgb[3 * ((y0 + y) * image->width + x0 + x) + k] = (uint8_t)lround(colour[k]);
            }
        }
    }
}

static int paint_picture_marks(const struct frame_painter *q, const struct picture_options *options,
                               const struct picture_mark_scale *scale, struct picture_image *image,
                               int x, int y)
{
    struct supersampled_frame supersampled = {.width = MARK_SAMPLES_PER_PIXEL_AXIS * options->width,
                                              .height =
                                                  MARK_SAMPLES_PER_PIXEL_AXIS * options->height};
    size_t count = picture_make_contact_marks(q->scene, q->camera, options, scale, NULL, 0);
    struct picture_overlay_mark *marks = malloc((count + 1) * sizeof *marks);
    supersampled.rgb = malloc(3 * (size_t)supersampled.width * (size_t)supersampled.height);
    if (marks && supersampled.rgb) {
        picture_make_contact_marks(q->scene, q->camera, options, scale, marks, count);
        copy_frame_samples(&supersampled, image, x, y, 0);
        for (size_t i = 0; i < count; i++) {
            rasterise_mark(&marks[i], &supersampled);
        }
        copy_frame_samples(&supersampled, image, x, y, 1);
    }
    const int rc = marks && supersampled.rgb ? 0 : -ENOMEM;
    free(marks);
    free(supersampled.rgb);
    return rc;
}

int picture_draw_frame(const struct picture_scene *scene, const struct picture_camera *camera,
                       const struct picture_options *options,
                       const struct picture_mark_scale *scale, struct picture_image *image, int x,
                       int y)
{
    struct frame_painter q = {.scene = scene, .camera = camera};
    int rc =
        allocate_sample_buffer(&q.camera_samples, PICTURE_SAMPLES_PER_PIXEL_AXIS * options->width,
                               PICTURE_SAMPLES_PER_PIXEL_AXIS * options->height, 1);
    rc = rc ? rc : allocate_sample_buffer(&q.shadow, SHADOW_MAP_SAMPLES, SHADOW_MAP_SAMPLES, 0);
    if (!rc) {
        paint_frame_pixels(&q, options, image, x, y);
        rc = paint_picture_marks(&q, options, scale, image, x, y);
    }
    free(q.camera_samples.depth);
    free(q.camera_samples.triangle);
    free(q.shadow.depth);
    return rc;
}
