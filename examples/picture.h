/* Pictures of a session: the drawn scene, and the raster on which it is drawn. */
#ifndef TACT_EXAMPLES_PICTURE_H
#define TACT_EXAMPLES_PICTURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "rt/log/log_reader.h"
#include "rt/session/scene_log.h"

#define PICTURE_MAX_FRAMES 12
#define PICTURE_SAMPLES_PER_PIXEL_AXIS 3 /* samples of a pixel along each axis */

/* How a surface is coloured. */
enum picture_surface_pattern { PATTERN_PLAIN, PATTERN_GRID };

struct picture_triangle {
    double corner[3][3]; /* world [m] */
    double normal[3][3]; /* normals at the corners, world */
    int id;              /* index of the solid: lines are drawn where it changes */
    enum picture_surface_pattern surface_pattern;
    uint8_t colour[3];
};

/* A contact to be drawn: the outline of its patch, and the force at its centre of pressure and its
 * torsion, both as they act on the moving body, or on the upper one of two. */
struct picture_contact {
    double outline[TACT_PATCH_CORNERS][3]; /* world [m] */
    int corners;
    double centre[3];    /* centre of pressure, world [m] */
    double force[3];     /* contact force that is drawn, on the moving body [N], world */
    double torsion[3];   /* torsion that is drawn, a torque about the normal [N m], world */
    int is_finger_force; /* 1: the force is a finger's, and its arrow ends where the finger pushes
                          */
    /* index of the contact's patch in the scene's pressure map; -1: it has none */
    int map;
};

/* One moment of a session. */
struct picture_scene {
    double time; /* [s] */
    struct picture_triangle *triangles;
    size_t triangle_count, triangle_room;
    struct picture_contact *contacts;
    int contact_count;
    struct tact_pressure *pressure; /* pressure of the contacts whose model computes one */
    /* centre and radius of the moving bodies, which the picture must contain [m] */
    double (*bounding_balls)[4];
    int bounding_ball_count, bounding_ball_capacity;
    int failed; /* 1: memory was short */
};

/* A perspective camera. */
struct picture_camera {
    double eye[3], right[3], up[3], forward[3]; /* world */
    double middle[3];                           /* bounds of the visible part, world [m] */
    double scale;                               /* half of the picture's width at distance 1 */
    double width;                               /* visible width at the centre of the view [m] */
    int does_body_leave_view;                   /* 1: a moving body leaves the view */
};

/* The options of the command line. */
struct picture_options {
    double time[PICTURE_MAX_FRAMES]; /* [s] */
    int frame_count;
    int width, height;            /* width and height of a frame [pixels] */
    double azimuth, elevation;    /* azimuth and elevation of the camera [deg] */
    double middle[3], view_width; /* point at the centre of the view, and width of the view [m]; 0:
                               chosen to show everything */
    int columns;                  /* number of frames side by side */
};

struct picture_image {
    int width, height; /* [pixels] */
    uint8_t *rgb;      /* pixels, row by row from the top */
};

/* picture_scene.c: fills *out with the world as it was in the tick of `now`. */
void picture_gather_scene(struct tact_scene_log *scene_log, const struct tact_record *before,
                          const struct tact_record *now, struct picture_scene *out);
/* Adds the planes of the fixed half-spaces, within the view of the camera. */
void picture_add_planes(struct tact_scene_log *scene_log, const struct picture_camera *camera,
                        const double lower[3], const double upper[3], struct picture_scene *scene);
void picture_add_triangle(struct picture_scene *scene, const struct picture_triangle *triangle);
void picture_free(struct picture_scene *scene);

/* picture_camera.c: a camera whose view contains all balls of all scenes, unless set by the
 * options; and the bounding box of the balls. */
void picture_aim_camera(const struct picture_options *options, const struct picture_scene *scenes,
                        int count, struct picture_camera *camera, double lower[3], double upper[3]);
/* Projects a point into a picture of that size: position [pixels], and distance from the camera
 * along its axis [m]. The position is not finite for a point that is not in front of the camera. */
void picture_project_point(const struct picture_camera *camera, int width, int height,
                           const double p[3], double out[3]);

/* Scales of the marks: the largest force, torsion and pressure in all frames. */
struct picture_mark_scale {
    double force, torsion; /* [N], [N m] */
    double pressure;       /* [Pa] */
};

/* picture_raster.c: draws a scene into the image with its left upper corner at x, y. 0 or -ENOMEM.
 */
int picture_draw_frame(const struct picture_scene *scene, const struct picture_camera *camera,
                       const struct picture_options *options,
                       const struct picture_mark_scale *scale, struct picture_image *image, int x,
                       int y);
/* Spacing of the grid of planes in a view of that width: 1, 2 or 5 times a power of ten. */
double picture_choose_grid_spacing(double width);

/* picture_marks.c: the contacts as triangles drawn over the solids. */
struct picture_overlay_mark {
    double corner[3][2]; /* positions in pixels of the frame */
    uint8_t colour[3];
    double opacity; /* 0 to 1 */
};
/* Returns the number of marks, of which the first `room` are written. */
size_t picture_make_contact_marks(const struct picture_scene *scene,
                                  const struct picture_camera *camera,
                                  const struct picture_options *options,
                                  const struct picture_mark_scale *scale,
                                  struct picture_overlay_mark *out, size_t room);
/* Colour for a pressure as a fraction of the largest one: 0 dark, 1 light. */
void picture_pressure_colour(double share, uint8_t out[3]);

/* The content of the page. */
struct picture_page {
    const char *name; /* name of the scene */
    const struct picture_options *options;
    const struct picture_scene *scenes;
    const struct picture_camera *camera;
    struct picture_mark_scale scale;
    struct picture_image image;
};

/* picture_page.c: the size of the page, and where the left upper corner of a frame is [pixels]. */
void picture_set_page_size(struct picture_page *page);
void picture_find_frame_corner(const struct picture_page *page, int frame, int *x, int *y);
/* The page as a script for gnuplot: terminal "pngcairo", "svg" or "pdfcairo". */
void picture_write_gnuplot_script(FILE *to, const struct picture_page *page, const char *terminal);

#endif
