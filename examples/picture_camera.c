/* The camera of a picture. */
#include <math.h>
#include "contact/vec.h"
#include "picture.h"

static const double PI = 3.14159265358979323846;
/* half of the horizontal viewing angle [rad]: small, for little perspective */
static const double CAMERA_VIEW_ANGLE = 0.22;

/* Ratio of the width of the view to that of the bodies in it. */
static const double VIEW_TO_BODIES_WIDTH_RATIO = 1.2;

/* Largest ratio of the width of the view to that which contains the moving bodies at their initial
 * positions. */
static const double FAR = 6.0;

static void set_camera_direction(const struct picture_options *options,
                                 struct picture_camera *camera)
{
    double a = options->azimuth * PI / 180.0, e = options->elevation * PI / 180.0;
    tact_v3_set(camera->forward, -cos(e) * cos(a), -cos(e) * sin(a), -sin(e));
    tact_v3_set(camera->right, -sin(a), cos(a), 0.0);
    tact_v3_cross(camera->up, camera->right, camera->forward);
    camera->scale = tan(CAMERA_VIEW_ANGLE);
}

/* Smallest width of the view that contains a ball, with the camera as far from the middle as it is
 * for this width: a ball in front of the middle appears larger. */
static double view_width_to_contain_ball(const struct picture_camera *camera, const double ball[4],
                                         double picture_aspect_ratio)
{
    double ball_centre_in_view_axes[3];
    tact_v3_sub(ball_centre_in_view_axes, ball, camera->middle);
    double half_width_of_bounds =
        fabs(tact_v3_dot(ball_centre_in_view_axes, camera->right)) + ball[3];
    double half_height_of_bounds =
        fabs(tact_v3_dot(ball_centre_in_view_axes, camera->up)) + ball[3];
    double depth = tact_v3_dot(ball_centre_in_view_axes, camera->forward);
    return 2.0 * (VIEW_TO_BODIES_WIDTH_RATIO *
                      fmax(half_width_of_bounds, picture_aspect_ratio * half_height_of_bounds) -
                  camera->scale * depth);
}

/* Sets the middle and width of the view so that it contains all balls. */
static void fit_view_to_balls(const struct picture_options *options,
                              const struct picture_scene *scenes, int count,
                              struct picture_camera *camera)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const double *axis[3] = {camera->right, camera->up, camera->forward};
    for (int i = 0; i < count; i++) {
        for (int b = 0; b < scenes[i].bounding_ball_count; b++) {
            const double *ball = scenes[i].bounding_balls[b];
            for (int k = 0; k < 3; k++) {
                double at = tact_v3_dot(ball, axis[k]);
                low[k] = fmin(low[k], at - ball[3]);
                high[k] = fmax(high[k], at + ball[3]);
            }
        }
    }
    tact_v3_set(camera->middle, 0.0, 0.0, 0.0);
    camera->width = 1.0;
    if (!(low[0] < high[0])) {
        return; /* nothing moves */
    }
    for (int k = 0; k < 3; k++) {
        tact_v3_axpy(camera->middle, 0.5 * (low[k] + high[k]), axis[k]);
    }
    double picture_aspect_ratio = (double)options->width / options->height;
    camera->width = 0.0;
    for (int i = 0; i < count; i++) {
        for (int b = 0; b < scenes[i].bounding_ball_count; b++) {
            camera->width =
                fmax(camera->width, view_width_to_contain_ball(camera, scenes[i].bounding_balls[b],
                                                               picture_aspect_ratio));
        }
    }
}

/* Sets the view to contain all moving bodies; if they move very far, as in a fall, only their
 * initial positions. */
static void choose_view_of_bodies(const struct picture_options *options,
                                  const struct picture_scene *scenes, int count,
                                  struct picture_camera *camera)
{
    struct picture_camera start = *camera;
    fit_view_to_balls(options, scenes, 1, &start);
    fit_view_to_balls(options, scenes, count, camera);
    camera->does_body_leave_view =
        scenes->bounding_ball_count > 0 && camera->width > FAR * start.width;
    if (camera->does_body_leave_view) {
        tact_v3_copy(camera->middle, start.middle);
        camera->width = 2.0 * start.width;
    }
}

static void compute_bounding_box(const struct picture_scene *scenes, int count, double lower[3],
                                 double upper[3])
{
    tact_v3_set(lower, INFINITY, INFINITY, INFINITY);
    tact_v3_set(upper, -INFINITY, -INFINITY, -INFINITY);
    for (int i = 0; i < count; i++) {
        for (int b = 0; b < scenes[i].bounding_ball_count; b++) {
            const double *ball = scenes[i].bounding_balls[b];
            for (int k = 0; k < 3; k++) {
                lower[k] = fmin(lower[k], ball[k] - 2.0 * ball[3]);
                upper[k] = fmax(upper[k], ball[k] + 2.0 * ball[3]);
            }
        }
    }
}

void picture_aim_camera(const struct picture_options *options, const struct picture_scene *scenes,
                        int count, struct picture_camera *camera, double lower[3], double upper[3])
{
    set_camera_direction(options, camera);
    compute_bounding_box(scenes, count, lower, upper);
    camera->does_body_leave_view = 0;
    if (!(options->view_width > 0.0)) {
        choose_view_of_bodies(options, scenes, count, camera);
    } else {
        tact_v3_copy(camera->middle, options->middle);
        camera->width = options->view_width;
    }
    tact_v3_copy(camera->eye, camera->middle);
    tact_v3_axpy(camera->eye, -0.5 * camera->width / camera->scale, camera->forward);
}

void picture_project_point(const struct picture_camera *camera, int width, int height,
                           const double p[3], double out[3])
{
    double d[3];
    tact_v3_sub(d, p, camera->eye);
    out[2] = tact_v3_dot(d, camera->forward);
    double pixels_per_metre =
        out[2] > 0.01 * camera->width ? 0.5 * width / (camera->scale * out[2]) : NAN;
    out[0] = 0.5 * width + pixels_per_metre * tact_v3_dot(d, camera->right);
    out[1] = 0.5 * height - pixels_per_metre * tact_v3_dot(d, camera->up);
}
