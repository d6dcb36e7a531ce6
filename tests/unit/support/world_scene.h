/*
 * Small worlds for tests of physics: bodies of simple solids on a plane, stepped with exact
 * moments.
 *
 * Material 0 is that of add_scene_ground(), 1 that of add_scene_solid(); set_scene_contact_law()
 * sets the law between two materials. An error in building fails the test.
 */
#ifndef TACT_TESTS_WORLD_SCENE_H
#define TACT_TESTS_WORLD_SCENE_H

#include "contact/world/world.h"

enum { MAX_SCENE_SHAPES = 128 };

struct world_scene {
    struct tact_world *world;
    struct tact_world_options options;
    struct tact_moments_scratch *scratch;
    struct tact_shape shapes[MAX_SCENE_SHAPES];
    struct tact_mesh *meshes[MAX_SCENE_SHAPES];
    int shape_count, mesh_count;

    struct tact_solve_stats stats; /* pressures of the last tick */
    long ticks;
    long unsolved_ticks;     /* number of ticks that ended with a solver residual over 1e-8 */
    int max_tick_iterations; /* largest number of solver iterations in a tick */
    double worst_residual;   /* largest solver residual of a tick */
};

/* Creates an empty world with these options; NULL: the defaults. */
void open_empty_scene(struct world_scene *scene, const struct tact_world_options *options);
void close_scene(struct world_scene *scene);

/* World options with gravity tilted about y by `slope` [rad], so that +x points downhill. */
struct tact_world_options options_with_tilted_gravity(double slope);

/* The half-space z < 0. */
void add_scene_ground(struct world_scene *scene);

/* Make shapes with the origin at their centre and their axis along z; their meshes are freed with
 * the scene. */
struct tact_shape box_of_sides(double x, double y, double z); /* sides [m] */
struct tact_shape make_sphere(double radius);
struct tact_shape make_cylinder_mesh_shape(struct world_scene *scene, double radius, double height,
                                           int sides);
/* Makes one mesh shape of several boxes; boxes: centre and sides, 6 numbers each. */
struct tact_shape make_shape_of_boxes(struct world_scene *scene, const double *boxes, int count);

/* Adds a body of one uniform solid at a position, turned about z by yaw. Returns the body's index.
 */
int add_scene_solid(struct world_scene *scene, const struct tact_shape *shape, double mass,
                    const double position[3], double yaw);

/* Adds a body of one uniform solid of a given material, not turned. */
int add_scene_solid_of_material(struct world_scene *scene, const struct tact_shape *shape,
                                double mass, const double position[3], int material);

/* A box above the ground with random velocities, determined by ten numbers from 0 to 1, in a
 * started world with that law. */
enum { THROWN_BOX_DRAW_COUNT = 10 };
void start_thrown_box_scene(struct world_scene *scene, const struct tact_world_options *options,
                            const double unit_random_numbers[THROWN_BOX_DRAW_COUNT], double mass,
                            const struct tact_contact_law *law);

/* Adds a shape to an existing body, or fixed in the world (body -1). */
void add_scene_shape(struct world_scene *scene, int body, const struct tact_shape *shape,
                     const struct tact_pose *local, int material);

/* Makes a rigid contact law of this friction, with the overlap and dissipation that scenes have by
 * default. */
struct tact_contact_law make_rigid_law(double friction);
void set_scene_contact_law(struct world_scene *scene, int a, int b,
                           const struct tact_contact_law *law);

/* Starts the world: no body or shape can be added afterwards. */
void finish_scene_building(struct world_scene *scene);

/* Runs one tick, or the first half of it: the solve of velocities without the integration. */
void solve_scene_velocities(struct world_scene *scene);
void step_scene(struct world_scene *scene);
void run_scene_for_seconds(struct world_scene *scene, double seconds);

/* Kinetic and gravitational energy of the free bodies [J]. */
double compute_scene_energy(struct world_scene *scene);

/* Energy of the free bodies less m g h v_z / 2, the correction for the integrator's phase: exactly
 * constant in free fall [J]. */
double compute_phase_corrected_energy(struct world_scene *scene);

/* Angle of the body's z axis from the vertical of the ground [rad]. */
double body_tilt_from_vertical(struct world_scene *scene, int body);

/* Power that the contact `pair` exerts on the bodies at the velocities after the last solve [W]: of
 * normal force and rolling moments, and of friction and torsion, both at the centre of pressure. */
void compute_contact_power(struct world_scene *scene, int pair, double *normal, double *friction);

#endif
