/* Shapes and poses as a person writes them on a command line. */
#ifndef TACT_EXAMPLES_WORDS_H
#define TACT_EXAMPLES_WORDS_H

#include "contact/error.h"
#include "contact/shape/shape.h"

/* A shape and the mesh that it owns. */
struct parsed_shape {
    struct tact_shape shape;
    struct tact_mesh *mesh; /* mesh of a file, or NULL */
    struct tact_soup soup;  /* triangles of a file that was not checked, otherwise empty */
};

/* A kind of shape and its sizes, as sphere:R, capsule:R,LENGTH or box:X,Y,Z, full lengths in m
 * (struct tact_shape_type); halfspace; or the path of an OBJ or STL file whose coordinates are
 * multiplied by scale. Must be released in any case. -EDOM: not a valid primitive; other negative
 * errno: an unusable file; *err is set. */
int parse_shape_argument(const char *word, double scale, struct parsed_shape *out,
                         struct tact_error *err);
/* Parses a shape as parse_shape_argument() does, but the triangles of a file are not checked: they
 * are stored in out->soup, and the shape has no mesh. */
int parse_shape_or_soup_argument(const char *word, double scale, struct parsed_shape *out,
                                 struct tact_error *err);
/* Reads the triangles of an OBJ or STL file, unchecked. To be freed with tact_soup_free(). */
int read_soup_of_file(const char *path, double scale, struct tact_soup *out,
                      struct tact_error *err);
void release_parsed_shape(struct parsed_shape *shape);

/* "x y z" or "x y z qw qx qy qz", with blanks or commas; the quaternion is normalised. 0, -1, or
 * -ERANGE for a coordinate beyond 1e9 m. */
int parse_pose_words(const char *word, struct tact_pose *out);

/* Parses a finite number without trailing text. Returns 0 or -1. */
int parse_finite_number(const char *word, double *out);

/* --allow-origin ORIGIN, see server_is_valid_origin(). 0, or EXIT_USAGE after a message. */
int parse_allowed_origin(const char *command, const char *text, const char **out);

/* The options common to the commands that measure two shapes. */
struct shape_pair_options {
    struct tact_pose pose[2];
    double scale; /* scale of the coordinates of mesh files */
    int json;
};

/* The options of struct shape_pair_options for getopt_long(), and --help, 'h'. */
/* clang-format off */
#define SHAPE_PAIR_OPTIONS                                                                          \
    {"pose-a", required_argument, NULL, 'a'}, {"pose-b", required_argument, NULL, 'b'},             \
    {"scale", required_argument, NULL, 's'}, {"json", no_argument, NULL, 'j'},                      \
    {"help", no_argument, NULL, 'h'}
/* clang-format on */

/* Defaults: both poses at the origin, scale 1. */
struct shape_pair_options shape_pair_options_default(void);
/* Parses one of the options of SHAPE_PAIR_OPTIONS, except --help. Returns 0, or EXIT_USAGE after a
 * message. */
int parse_shape_pair_option(struct shape_pair_options *q, const char *command, int option,
                            const char *text);

/* Parses a TCP port, 1 to 65535. Returns 0 or -1. */
int parse_port_number(const char *word, int *port);

#endif
