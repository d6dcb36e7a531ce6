/* Both ends of a teleoperation in one file: which scene each runs, the link between them and the
 * mode of the ties. */
#ifndef TACT_EXAMPLES_TELEOP_H
#define TACT_EXAMPLES_TELEOP_H

#include "rt/scene/scene.h"

/* Settings of one end of a teleoperation. Texts are as in the file, or NULL. */
struct teleop_site {
    /* path of the scene of this end, relative to the folder of the file */
    char *scene;
    char *listen, *connect; /* address of this end, or of the other; one of them is NULL */
    /* paths of the own secret key and of the other end's public key, relative to the folder of the
     * file */
    char *key, *peer;
    /* stiffness and damping of the ties of this end [N/m, N s/m]; NULL: as in the scene */
    char *stiffness, *damping;
};

/* A simulated link, as of the device type network; 0: as that has it. */
struct teleop_simulated_link {
    double delay, jitter, loss, mean_loss_burst_duration, duplicate, reordered_packet_fraction,
        seed;
    double blackout[2]; /* start and end, in the time of each scene [s] */
};

struct teleop {
    char *name;
    struct teleop_site *local, *remote; /* settings of the person's end and of the robot's end */
    char *mode; /* mode of all ties; NULL: as in the scenes, as with the next members: */
    char *impedance, *tank, *jitter, *repeats, *hold;
    struct teleop_simulated_link *link; /* NULL: none */
    /* path of the file of the teleoperation, and its content: */
    char *file, *text;
    size_t text_size; /* [bytes] */
};

/* The locations at which the user wrote the nodes of a scene that teleop_scene() made. */
struct teleop_node_locations {
    char *name,
        *from; /* name of the made scene in messages; path of the scene from which it was made */
    struct teleop_node_location *location;
    size_t count;
};

/* teleop_file.c: reads and checks the file; to be freed. 0 or a negative errno with *err set. */
int teleop_read(const char *path, struct teleop **out, struct tact_error *err);
void teleop_free(struct teleop *teleop);

/* A path of the file, which begins at its folder; must_return_absolute_path: 1 from the root, as
 * other folders do not matter then. To be freed; NULL: out of memory, or no such folder. */
char *teleop_resolve_path(const char *file, const char *path, int must_return_absolute_path);

/* teleop_scene.c: the scene of an end, with the link and the ties as the file has them, which is
 * what a session runs and its log keeps. local: 1 the person's end, 0 the robot's; places: to be
 * freed by teleop_node_locations_free() in any case. 0 or a negative errno with *err set, at the
 * place where the user has the fault. */
int teleop_scene(const struct teleop *teleop, int local, struct tact_scene **out,
                 struct teleop_node_locations *node_locations, struct tact_error *err);

/* teleop_place.c: moves an error in the made scene to the location at which the user wrote the
 * fault, in the file of the teleoperation or in the original scene. Other errors are not changed.
 */
void teleop_relocate_error(const struct teleop *teleop,
                           const struct teleop_node_locations *node_locations,
                           struct tact_error *err);
/* Sets the location of an error to a key of the file of the teleoperation, as "jitter" or
 * "local.listen". */
void teleop_set_error_location_of_key(const struct teleop *teleop, const char *key,
                                      struct tact_error *err);
void teleop_node_locations_free(struct teleop_node_locations *node_locations);

#endif
