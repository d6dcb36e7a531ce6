/**
 * A scene: the content of a YAML file as plain structs, loaded and checked, without open devices.
 *
 * SI units, radians, z up, quaternions w first. Every pointer is owned by the scene. After loading,
 * numbers are finite and physical; names are unique and all references to them are valid; meshes
 * are read and closed.
 */
#ifndef TACT_RT_SESSION_SCENE_H
#define TACT_RT_SESSION_SCENE_H

#include <stdbool.h>
#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"
#include "../../contact/mesh/mesh.h"
#include "../../contact/pair/options.h"
#include "../../contact/shape/shape.h"
#include "../device.h"

TACT_BEGIN_DECLS

/** A surface material. */
struct tact_scene_material {
    char *name;        /**< name of the material */
    double modulus;    /**< effective elastic modulus E* [Pa] of a soft material, 1/E* = sum of
                            (1 - nu^2)/E; 0 (default): rigid */
    double tip_radius; /**< radius of a fingertip's patch at 1 N [m]; 0: not a fingertip */
    double tip_power;  /**< exponent of the force in that radius; default 1/3 [1] */
                       /** A surface material. */
    struct tact_scene_field {
        double modulus;   /**< modulus E of a soft layer [Pa]; required if the key `field` is set */
        double thickness; /**< thickness T of the layer [m], required: the pressure is E (depth /
                             T)^power */
        double power;     /**< exponent of the pressure, 0.5 to 5; default 0: 1 [1] */
        double cell;      /**< edge of a mesh's finest cells [m]; default 0: by the mesh */
        char *kind;       /**< pressure field: auto (default), screened, laplace or distance */
    } field;              /**< parameters of the model `field`; all 0 if not set: rigid */
};

/**
 * Contact law of two materials; `materials` names both (the same name twice is allowed).
 *
 * Shapes of two different objects (bodies or hands) can touch if at least one of them moves. Every
 * pair of materials for which this is possible is required. Two links of one hand touch only if
 * there is an entry for their materials and neither is the other's parent; fixed bodies never
 * touch.
 */
struct tact_scene_pair {
    char *materials[2]; /**< names of the two materials */
    /** friction is required; overlap, compliance, tangential_compliance and dissipation default to
     * scene.contact's, tip_radius 0 to that of the materials. Members that follow from materials
     * and names are set by a session */
    struct tact_contact_law law;
    char *model; /**< name of a contact model (contact/pair/model.h), or auto; NULL: that of
                    scene.contact.model */
};

/** A procedural solid: the members of struct tact_generate. */
struct tact_scene_generate {
    char *kind;         /**< kind of generated mesh, one of tact_generate_names; required */
    double edge;        /**< [m] */
    double radius;      /**< [m] */
    double height;      /**< [m] */
    double tube;        /**< [m] */
    double bump;        /**< [m] */
    uint32_t count;     /**< number of sides, teeth or bumps */
    uint32_t triangles; /**< requested number of triangles */
    uint32_t seed;      /**< default 0 */
};

/** A shape of a body or link. */
struct tact_scene_shape {
    char *type; /**< a name of contact/shape/shape.h; convex: the hull of the points of the file or
                     of generate, mesh: their triangles, which must be closed */
    double radius;  /**< radius of a sphere, capsule, cylinder, or of a torus's ring [m] */
    double tube;    /**< radius of the tube of a torus [m] */
    double length;  /**< length of a cylinder, or of the axis segment of a capsule [m] */
    double size[3]; /**< full edge lengths of a box, whole axes of an ellipsoid [m] */
    char *file;     /**< convex, mesh: OBJ or STL, mesh: also VTK or Gmsh, relative to the scene's
                       folder */
    /** generator of the shape's mesh; convex, mesh: instead of a file, else NULL */
    struct tact_scene_generate *generate;
    double scale;      /**< scale of the file's coordinates; default 1 [1] */
    char *unit;        /**< unit of the file's coordinates: m (default), cm, mm or in; or NULL */
    double *scale_xyz; /**< 3: further scales of a mesh file's x, y, z, not 0; of negative product:
                          a mirror image; or NULL [1] */
    double (*profile)[2];   /**< revolution: [profile_count] points (r, z) of its profile [m],
                                 contact/shape/charts.h */
    uint32_t profile_count; /**< number of points */
    double position[3];     /**< position of the shape in its body's frame [m]; default 0 */
    double quat_wxyz[4];    /**< default identity [1] */
    uint32_t collides;      /**< collision classes of the shape, one bit each; default 1 */
    /** collision classes that the shape touches; default 1. Two shapes touch only if one's collides
     * and the other's collides_with have a common bit */
    uint32_t collides_with;
    char *material;          /**< required */
    struct tact_shape shape; /**< filled on load: tessellated, mesh attached */
    struct tact_mesh *mesh; /**< mesh, or NULL; that of a file belongs to the first shape with it */
    struct tact_charts *charts; /**< owned parametric surface, or NULL */
    void *file_data;    /**< content of the mesh file, for the log's attachment; NULL: an earlier
                             shape has it, or there is none */
    uint64_t file_size; /**< bytes of file_data */
};

/** A free or fixed rigid body. Its frame is chosen in the scene; the centre of mass follows from
 * the shapes unless `center_of_mass` is set. */
struct tact_scene_body {
    char *name;             /**< name of the body */
    bool fixed;             /**< 1: does not move; needs no mass */
    bool fast;              /**< 1: contacts of the body are found ahead of touch at any speed */
    double mass;            /**< [kg] > 0; required unless fixed */
    double *center_of_mass; /**< 3 [m], body frame; default: of the shapes, uniform density (filled
                                 on load for every moving body; NULL only for fixed ones) */
    double *inertia;        /**< 6: ixx iyy izz ixy ixz iyz [kg m^2] about the centre of mass, body
                                 axes; default: of the shapes, uniform density (filled on load
                                 for every moving body; NULL only for fixed ones) */
    double position[3];     /**< position of the body frame at the start [m]; default 0 */
    double quat_wxyz[4];    /**< default identity; normalised on load [1] */
    double velocity[3];     /**< velocity of the centre of mass at the start [m/s], world */
    double angular_velocity[3]; /**< [rad/s], world */
    double support_until; /**< the body's weight is compensated until this time [s]; default 0 */
    struct tact_scene_shape *shapes; /**< [shapes_count] shapes */
    uint32_t shapes_count;           /**< number of shapes */
    uint32_t hand; /**< once loaded: 1 + index of the hand whose fixed base it is; 0: of the file */
};

/** A joint of a mechanism: between two bodies, or a body and the world
 * (../../contact/world/constraint.h). Its reference is the initial pose. */
struct tact_scene_constraint {
    char *name;    /**< name of the joint */
    char *type;    /**< type of the joint: ball, hinge, slider or fixed */
    char **bodies; /**< names of one or two bodies; one: the other is the world. A fixed body counts
                      as the world, except that bodies joined to it do not touch it */
    uint32_t bodies_count; /**< number of bodies, 1 or 2 */
    double position[3];    /**< initial position of the joint [m], world; default 0 */
    double axis[3]; /**< axis of a hinge or slider, world at the start; normalised on load; default
                       0 0 1 [1] */
    double lower; /**< stops of the first body's rotation [rad] or displacement [m] from the start,
                     both or neither; a hinge's within -pi to pi */
    double upper; /**< upper stop, in the unit of lower */
    double damping;  /**< damping of a hinge [N m s/rad] or slider [N s/m], >= 0 */
    double friction; /**< dry friction torque of a hinge [N m] or force of a slider [N], >= 0 */
};

/** The device at the other end of a coupling, in the units of the joint: what bounds the stiffness
 * that it can render. */
struct tact_scene_port {
    double mass;       /**< [kg m^2] or [kg], > 0 */
    double damping;    /**< viscous [N m s/rad] or [N s/m], > 0 */
    double delay;      /**< delay from sensor to force [s], >= 0; default 0 */
    double friction;   /**< dry [N m] or [N], >= 0; default 0 */
    double resolution; /**< step of its sensor [rad] or [m], >= 0; default 0 */
};

/** A haptic axis of a device as its calibration file has it, in the units of the device. */
struct tact_scene_haptic_axis {
    char channel[TACT_DEVICE_NAME]; /**< input channel: its position [m] or angle [rad] */
    struct tact_scene_port port;    /**< properties of the axis; its damping may be 0 */
    double stiffest; /**< stiffest wall without damping that was stable [N/m, N m/rad]; 0: none was
                        measured */
};

/** A linear law by which a joint follows another one: q = offset + multiplier q of the other. */
struct tact_scene_mimic {
    char *joint;       /**< link of the other joint, which has no law itself */
    double multiplier; /**< multiplier of the other joint's value, not 0; default 1 [1], [m/rad] or
                          [rad/m] */
    double offset;     /**< default 0 [rad] or [m] */
};

/** What a joint adds to the length of a fixed tendon. */
struct tact_scene_tendon {
    char *joint; /**< link of the joint */
    /** tendon length per joint value, not 0; default 1 [1], [m/rad] or [rad/m] */
    double coefficient;
};

/** Ties a joint to what a person holds, in place of a drive: a spring and a damper between the
 * joint and its target, both of which move. */
struct tact_scene_coupling {
    double stiffness; /**< [N m/rad] or [N/m], > 0; default half of what the device renders */
    double damping;   /**< damping of the rate relative to the target [N m s/rad] or [N s/m], >= 0;
                         default along an axis 0.1 sqrt(stiffness 1 kg), at most 0.4 mass / period
                         of the device */
    double filter;    /**< cut-off of the low-pass of the target's rate [Hz]; default 0: none */
    struct tact_scene_port *device; /**< properties of the device; NULL: as calibrated, or else its
                                       port is not controlled */
    bool hard; /**< true: the force is kept within the energy bound; false: a passivity controller
                    acts; see ../passivity.h. Needs the numbers of the device; default false */
};

/** The joint between a link and its parent. */
struct tact_scene_joint {
    char *type;     /**< hinge (about axis) or slide (along axis) */
    double axis[3]; /**< unit vector, joint frame (= the link's frame); normalised on load */
    /** position of the link's frame in the parent's frame at joint value 0 [m] */
    double position[3];
    double quat_wxyz[4]; /**< orientation of the link's frame in the parent's frame at joint value
                            0; default identity [1] */
    double stiffness;    /**< stiffness of the drive [N m/rad] or [N/m], >= 0 */
    double damping;      /**< damping of the drive [N m s/rad] or [N s/m], >= 0 */
    double limit; /**< limit of the torque [N m] or force [N] of drive or coupling; 0: none */
    double start; /**< joint value and target at the start [rad] or [m] */
    double lower; /**< lower stop of the joint value [rad] or [m]; set together with upper, or
                       neither */
    double upper; /**< upper stop, in the unit of lower */
    double target_lower; /**< the target of the drive is clamped to [target_lower, target_upper];
                            both or neither [rad] or [m] */
    double target_upper; /**< upper end of the target range, in the unit of target_lower */
    double armature;     /**< inertia or mass of the drive's rotor as it acts at the joint, >= 0
                              [kg m^2] or [kg] */
    double viscous;      /**< viscous friction, >= 0 [N m s/rad] or [N s/m] */
    double friction;     /**< largest dry friction, >= 0 [N m] or [N] */
    /** coupling to a device in place of stiffness and damping, or NULL */
    struct tact_scene_coupling *coupling;
    struct tact_scene_mimic *mimic;   /**< the joint follows another one, or NULL */
    struct tact_scene_tendon *tendon; /**< [tendon_count] the drive, its limit and its target are of
                                           the sum of coefficient times joint value, or NULL */
    uint32_t tendon_count;            /**< number of joints of the tendon */
};

/** A link of a hand, with the joint that connects it to its parent. */
struct tact_scene_link {
    char *name;                    /**< unique in its hand; also names its joint */
    char *parent;                  /**< an earlier link of the hand, or NULL: the hand's base */
    struct tact_scene_joint joint; /**< joint to the parent */
    double mass;                   /**< [kg] > 0 */
    double center_of_mass[3];      /**< centre of mass of the link [m], link frame; default: of the
                                      shapes, uniform density */
    double *inertia; /**< 6: ixx iyy izz ixy ixz iyz [kg m^2] about the centre of mass, link
                          axes; default: of the shapes, filled on load, never NULL */
    struct tact_scene_shape *shapes; /**< [shapes_count] shapes */
    uint32_t shapes_count;           /**< number of shapes */
};

/** The base of a hand: its palm, fixed, or moving as the pose of a hand or tool that a device
 * leads. A fixed one is, once loaded, a fixed body named "hand.base" behind those of the file. */
struct tact_scene_base {
    bool fixed;               /**< true: it does not move; default false */
    double mass;              /**< [kg] > 0; required unless fixed */
    double center_of_mass[3]; /**< centre of mass of the base [m], base frame; default: of the
                                 shapes, uniform density */
    double *inertia; /**< 6: ixx iyy izz ixy ixz iyz [kg m^2] about the centre of mass, base axes;
                          once loaded NULL: it is that of the last coordinate */
    struct tact_scene_shape *shapes;      /**< once loaded NULL: those of the last coordinate, or of
                                               the body that a fixed base is */
    uint32_t shapes_count;                /**< number of shapes, 0 once loaded */
    struct tact_scene_coupling *coupling; /**< coupling of the base's position, or NULL: free */
    /** coupling of the base's attitude, or NULL: the attitude is free */
    struct tact_scene_coupling *turn_coupling;
    double limit;      /**< limit of the length of the coupling's force [N]; 0: none */
    double turn_limit; /**< limit of the length of the coupling's torque [N m]; 0: none */
};

/** A tree of links on a base. */
struct tact_scene_hand {
    char *name;          /**< name of the hand */
    double position[3];  /**< position of the base [m] */
    double quat_wxyz[4]; /**< orientation of its base, world [1] */
    bool weightless; /**< true: gravity does not act on its links (compensated); default false */
    char *file;     /**< MJCF or URDF file that it was read from, relative to the scene's folder, or
                         NULL */
    char *material; /**< material of the shapes in `file`, or NULL */
    char *collision; /**< type of the meshes in `file` that collide: convex (default) or mesh; or
                        NULL */
    /** A file that a hand was read from: its MJCF or URDF file, or a mesh. */
    struct tact_scene_hand_source {
        char *name;    /**< as the scene or the file names it, relative to the scene's folder */
        void *data;    /**< bytes of the file */
        uint64_t size; /**< bytes of data */
    } * sources;       /**< [sources_count] `file` and the meshes of which it has masses, for the
                            log's attachments */
    uint32_t sources_count; /**< number of files in sources; 0 where the hand has no `file` */
    char *file_notes;       /**< notes on what of the hand file is left out, in lines; or NULL */
    /** The default drive of a hand's joints. */
    struct tact_scene_drive {
        double stiffness; /**< [N m/rad] or [N/m], >= 0 */
        double damping;   /**< [N m s/rad] or [N s/m], >= 0 */
        double limit;     /**< [N m] or [N], >= 0; 0: none */
    } * drive; /**< default drive of the joints that have neither drive nor coupling, or NULL */
    struct tact_scene_base *base; /**< a palm or a base that moves, or NULL: fixed, no shapes */
    char *start_overlap; /**< links of this hand that overlap each other at the start: exclude
                            (default), their pair never touches; keep, they are not pushed apart;
                            refuse */
    struct tact_scene_link *links; /**< [links_count] links, parents first. Of a base that moves the
                                      first six are its coordinates, base_x to base_rz: displacement
                                      [m] and rotation vector [rad] from the start, world axes */
    uint32_t links_count;          /**< number of links */
};

/** Two objects whose shapes do not touch each other. */
struct tact_scene_exclusion {
    char *objects[2]; /**< the two objects whose shapes do not touch: each a body, "hand.link" or,
                         where the hand has a `base`, "hand.base" */
};

/** A device and its settings, which the device's factory checks. */
struct tact_scene_device {
    char *name; /**< name of the device */
    char *type; /**< name of its type */
    /** collected on load with line and column. Nested maps get keys with dots ("axes.abs_x"),
     * entries of lists of maps get "names[0]" */
    struct tact_device_setting *settings;
    uint32_t settings_count; /**< number of settings */
    char *calibration; /**< file with further, measured settings, relative to the scene's folder, or
                          NULL. They are appended to `settings`, but for haptic axes */
    bool calibration_required; /**< true: outputs are not armed without that file; default false */
    char *calibration_text;    /**< content of the calibration file, for the log's attachment */
    uint64_t calibration_size; /**< bytes of calibration_text */
    struct tact_scene_haptic_axis *haptic; /**< [haptic_count] axes of that file's `haptic` */
    uint32_t haptic_count;                 /**< number of them */
    char *haptic_model; /**< model name of the device that the haptic axes were measured on, or
                           NULL: any */
};

/** An input channel sets a joint's target, or measures its state: value = offset + scale * channel,
 * clamped to [lower, upper] if lower < upper. Several targets of one joint are added; at most one
 * input measures a joint. */
struct tact_scene_input {
    char *from; /**< "device.channel" */
    char *to;   /**< joint that the input acts on: "hand.link", or "hand.base_x" and the like of a
                   base */
    char *what; /**< target: of the drive (default); state: measured value of the joint, from which
                   the tick starts; force: of a person, which moves the joint */
    double scale;  /**< factor of the channel, in the joint's unit per channel's unit; default 1 */
    double offset; /**< [rad] or [m]; default 0 */
    double lower;  /**< [rad] or [m]; set together with upper, or neither */
    double upper;  /**< largest value of the joint, in the unit of lower */
    double filter; /**< state: cut-off of the low-pass of the joint's rate [Hz]; 0: none */
};

/** A joint's torque, or the contact on a link or body, as output to a device's channel through the
 * safety chain. */
struct tact_scene_output {
    char *from;    /**< "hand.link", or a body for force and moment */
    char *to;      /**< "device.channel" */
    char *what;    /**< reaction: minus the coupling's torque, for a haptic joint (default);
                        drive: the PD torque, for a robot joint; force: of all contacts on the
                        link or body [N]; moment: theirs about the origin of its frame [N m];
                        rate: of the joint, for a device that takes a speed [rad/s, m/s];
                        position: of a device that takes one, from where it is, by the joint's
                        motion [rad, m] */
    double *along; /**< 3: world direction of the component of force or moment that is sent; NULL:
                      its magnitude. Unit length once loaded */
    double scale;  /**< factor of the value, in the output's unit per N m or N; default 1 */
    double limit;  /**< largest magnitude of the output, in its unit, > 0; required */
    double rate;   /**< maximum rate of change, output unit per second, > 0; required */
    double filter; /**< cut-off of the first-order low-pass [Hz]; 0: none */
    uint32_t tool; /**< once loaded: 1 + index of the tool that the output belongs to; 0: an output
                      of the file */
};

/** Leads the base of a hand by the pose of a device, and sends its wrench there in the axes of the
 * device. The base moves as the device does from where it is when the device becomes good. */
struct tact_scene_tool {
    char *hand;              /**< name of a hand whose base moves and is coupled */
    char *device;            /**< name of the device */
    char *mode;              /**< position (default), or rate: its channels are speeds */
    char **position;         /**< 3 input channels [m], of mode rate [1]; or none */
    uint32_t position_count; /**< 0 or 3 */
    char **attitude;         /**< 3 input channels of a rotation vector [rad], of mode rate [1]; or
                                  4 of a quaternion, w first; or none */
    uint32_t attitude_count; /**< 0, 3 or 4 */
    char **force;            /**< 3 output channels of the tool's force [N], or none */
    uint32_t force_count;    /**< 0 or 3 */
    char **torque;           /**< 3 output channels of the tool's torque [N m], or none */
    uint32_t torque_count;   /**< 0 or 3 */
    double quat_wxyz[4]; /**< attitude of the device's axes in the world; default identity [1] */
    double scale;        /**< ratio of the base's displacement to the device's; default 1 [1] */
    double force_scale;  /**< ratio of the device's wrench to the base's; default 1 [1] */
    char *clutch;      /**< "device.channel": above 0.5 the tool is disengaged (clutch), or NULL */
    char *fine;        /**< "device.channel": over 0.5 fine_scale acts, or NULL */
    double fine_scale; /**< scale of the motion while `fine` is pressed, in place of scale [1] */
    double *lower;    /**< smallest displacement of the target from the start, 3 numbers [m], world;
                         NULL: unbounded */
    double *upper;    /**< largest displacement of the target from the start, 3 numbers [m], world;
                         NULL: unbounded */
    double center[3]; /**< middle of the device's workspace, along its axes [m]; default 0 */
    double edge; /**< distance from the workspace's middle beyond which the target moves on [m]; 0:
                    none */
    double edge_speed; /**< largest speed of the target beyond the edge, reached at twice that
                          distance [m/s] */
    double dead_zone;  /**< mode rate: length of a channel vector that counts as 0 [1] */
    double speed;      /**< mode rate: largest speed, at a channel vector of length 1 [m/s] */
    double turn_speed; /**< mode rate: largest angular speed, at a channel vector of length 1
                          [rad/s] */
    double limit;      /**< limit of the length of the force that is sent [N] */
    double rate;       /**< limit of the rate of change of that force [N/s] */
    double turn_limit; /**< limit of the length of the torque that is sent [N m] */
    double turn_rate;  /**< limit of the rate of change of that torque [N m/s] */
    double filter;     /**< cut-off of the low-pass of force and torque [Hz]; 0: none */
};

/** Ties a joint to the joint of another site, by the channels of a device (type network). */
struct tact_scene_remote {
    char *joint;  /**< "hand.link", or "hand.base_x" and the like of a base that moves */
    char *device; /**< name of the device */
    /** number of the joint among the joints of the network device, 0 to 5; default 0 */
    uint32_t axis;
    char *mode; /**< mode of the tie: waves (default), position_force, position_position or model */
    double impedance; /**< b of the waves, the same at both sites [N m s/rad, N s/m] */
    double stiffness; /**< stiffness of the coupling to the line [N m/rad, N/m]; default 0: the
                         joint itself is the end of the line, as where a person holds it */
    double damping;   /**< damping of the coupling to the line, on the relative rate [N m s/rad, N
                         s/m] */
    double tank;      /**< energy in the tank for corrections of the position [J]; default 1 */
};

#define TACT_SCENE_GRIP_JOINTS 32 /**< most joints that move the two fingers of a grip */

/** Commands the force with which two fingers of a hand press toward each other. */
struct tact_scene_grip {
    char *links[2]; /**< each "hand.link", of one hand; the joints that move only one of the two
                         links, or only the other, have a drive each */
    char *from;     /**< "device.channel" */
    double scale;   /**< force per channel's unit [N]; default 1 */
    double offset;  /**< force at a channel of 0 [N]; default 0 */
    double limit;   /**< largest force [N]; 0: none */
    double speed;   /**< fastest change of the distance that the drives aim at [m/s]; default 0.1 */
    uint32_t hand;  /**< once loaded: index of the hand */
    uint32_t link[2];                       /**< once loaded: indices of the links */
    uint32_t joint[TACT_SCENE_GRIP_JOINTS]; /**< once loaded: links of the hand whose joints the
                                               grip commands: those that move only link 0, then
                                               those that move only link 1 */
    /** once loaded: number of joints that move only link 0, and only link 1 */
    uint32_t joint_count[2];
};

/** How contacts are solved. */
struct tact_scene_contact {
    double overlap;               /**< default target depth V/|g| [m]; default 2e-5 */
    double compliance;            /**< [m/N]; default 0 */
    double tangential_compliance; /**< tangential compliance of contacts [m/N]; default 0: see
                                     struct tact_contact_law */
    double dissipation;           /**< relaxation time [s]; default 0.005 */
    uint32_t iterations;          /**< maximum number of sweeps per tick; default 50 */
    double tolerance; /**< relative residual at which sweeping stops; default 1e-10 [1] */
    char *local;      /**< local solver: cone (default) or bouchard */
    char *patch;      /**< shape of the contact patch: polygon (default) or ellipse: see struct
                         tact_world_options */
    char *normal;     /**< normal of the contact: blend (default), gradient or least */
    char *model; /**< default contact model, a name of contact/pair/model.h, or auto (default): by
                    kinds of shape. patch is the old name of volume */
    uint32_t points; /**< maximum number of contact points per tick of the model `points`; default
                        4096 */
    char *metric;    /**< metric of Algorithm 1: euclidean or mass (default) */
    char *split;     /**< split of patches: auto (default) or never; struct tact_world_options */
    char *spin;      /**< kind of the torsion limit: auto (default), corners, uniform, hertz or
                        limit-surface */
};

/** Source of the moments of overlaps. */
struct tact_scene_moments {
    char *source; /**< auto (default): opencl if available, else host; opencl; host */
    char *device; /**< substring of an OpenCL device's or platform's name; NULL: any */
    /** maximum age of a result that is extrapolated [ticks]; default 1. With auto, and for a pair
     * that would take the host longer than host_time, at least 20 */
    uint32_t max_age;
    double host_time; /**< auto: pairs whose total time is less are measured on the host [s];
                         default a fifth of the period */
};

/** Real-time settings of the loop's thread. */
struct tact_scene_realtime {
    int32_t priority; /**< SCHED_FIFO priority of the loop; default 80 */
    int32_t cpu;      /**< processor of the loop; -1 (default): the last one */
};

/** Options of the log. */
struct tact_scene_recorder {
    double split_bytes; /**< size after which the next file is started; default 0: never [bytes] */
    double split_seconds; /**< time after which the next file is started [s]; default 0: never */
    double pressure_rate; /**< pressure maps of the contacts [1/s]; default 0: none */
};

/** A button or a pulse whose rising edges are logged as events. */
struct tact_scene_marker {
    char *from; /**< channel "device.channel": an event at each rise above 0.5 */
    char *name; /**< name of the event, or NULL: "marker" */
};

struct tact_scene_index;

/** A scene, as loaded: every key of SCENE.md, in its unit. */
struct tact_scene {
    char *name;        /**< name of the scene */
    double gravity[3]; /**< [m/s^2]; default 0 0 -9.81 */
    double period;     /**< period of the loop [s]; default 0.001 */
    double duration;   /**< default duration of a run [s]; default 10 */
    double max_speed; /**< maximum speed of a body or sliding joint [m/s], above it a fault; default
                         1000 */
    struct tact_scene_contact contact;     /**< how contacts are solved */
    struct tact_scene_moments moments;     /**< source of the moments of overlaps */
    struct tact_scene_realtime realtime;   /**< real time of the loop */
    struct tact_scene_recorder recorder;   /**< options of the log */
    struct tact_scene_material *materials; /**< [materials_count] materials */
    uint32_t materials_count;              /**< number of materials */
    struct tact_scene_pair *pairs;         /**< [pairs_count] laws of pairs of materials */
    uint32_t pairs_count;                  /**< number of pairs of materials */
    struct tact_scene_body *bodies;        /**< [bodies_count] bodies */
    uint32_t bodies_count;                 /**< number of bodies */
    struct tact_scene_constraint *joints;  /**< [joints_count] joints of mechanisms */
    uint32_t joints_count;                 /**< number of joints of mechanisms */
    struct tact_scene_exclusion *exclude; /**< [exclude_count] pairs of objects that do not touch */
    uint32_t exclude_count;               /**< number of pairs of objects that do not touch */
    struct tact_scene_hand *hands;        /**< [hands_count] hands */
    uint32_t hands_count;                 /**< number of hands */
    struct tact_scene_device *devices;    /**< [devices_count] devices */
    uint32_t devices_count;               /**< number of devices */
    struct tact_scene_input *inputs;      /**< [inputs_count] inputs */
    uint32_t inputs_count;                /**< number of inputs */
    struct tact_scene_grip *grips;        /**< [grips_count] commanded grip forces */
    uint32_t grips_count;                 /**< number of them */
    struct tact_scene_output *outputs;    /**< [outputs_count] outputs, those of tools last */
    uint32_t outputs_count;               /**< number of outputs */
    struct tact_scene_tool *tools;        /**< [tools_count] tools */
    uint32_t tools_count;                 /**< number of tools */
    struct tact_scene_remote *remotes;    /**< [remotes_count] joints tied to another site */
    uint32_t remotes_count;               /**< number of them */
    struct tact_scene_marker *markers;    /**< [markers_count] markers */
    uint32_t markers_count;               /**< number of markers */
    char *deadman; /**< channel "device.channel": outputs are armed only while it is above 0.5;
                      NULL: none */

    struct tact_scene_index *index; /**< line and column of each key, for tact_scene_where() */
    char *path;                     /**< path of the file, as passed to tact_scene_load() */
    char *directory;                /**< folder of that file */
    char *text;                     /**< content of the file, for the log */
    uint64_t text_size;             /**< bytes of text */
};

/** Number of links that are coordinates of its base, 0 or, where it moves, 6. Real-time safe. */
TACT_API uint32_t tact_scene_base_links(const struct tact_scene_hand *hand);

/** Name of what a link's shapes belong to: its own, or "base". Real-time safe. */
TACT_API const char *tact_scene_link_owner(const struct tact_scene_hand *hand, uint32_t link);

/** Returns the number, over 0, of the vector that an output is a component of: outputs that send
 * the reaction of a base's position, or of its attitude, to one device, or its rate where forces
 * move it; 0: of none. Not real-time safe. */
TACT_API int tact_scene_output_group(const struct tact_scene *scene, uint32_t output);

/** Sets file, line, column and key of err for a key path such as "inputs[2].from", so that errors
 * found after loading (a missing channel of a device) can refer to the file. An absent key gets the
 * position of its parent. Not real-time safe. */
TACT_API void tact_scene_where(const struct tact_scene *scene, const char *key,
                               struct tact_error *err);

/**
 * Warns of implausible values, one message each with file, line and key, and after 16 of them
 * their number: bodies over 3 m, denser than iridium or lighter than aerogel (a mesh in
 * millimetres, a mass in grams), friction over 3, joints that start beyond the length of their hand
 * or a full turn (degrees), gravity upward or over 100 m/s^2, positions beyond 100 m, and large
 * overlaps or compliances. Called when a session is created. Returns the number of warnings. Not
 * real-time safe.
 */
TACT_API int tact_scene_doubt(const struct tact_scene *scene, struct tact_messages to);

/** Files that a scene refers to, if not on disk (a replay's attachments). */
struct tact_scene_files {
    /** Sets *data and *size to the content of `name` (as in the scene); returns 0 or -ENOENT. */
    int (*get)(void *user, const char *name, const void **data, uint64_t *size);
    void *user; /**< handed to read */
};

/**
 * Loads and checks a scene file. On failure *err has file, line, column and key, the error and
 * the expectation: unknown key, wrong type, missing key, number not finite or out of range,
 * negative mass, non-physical inertia, duplicate or unknown name, missing or open mesh.
 * @retval 0, -ENOENT, -EINVAL, -ENOMEM, other negative errno from reading files. Not real-time
 *            safe.
 */
TACT_API int tact_scene_load(const char *path, struct tact_scene **out, struct tact_error *err);

/** As tact_scene_load() from memory; name is the path in messages. files may be NULL: then mesh
 * files are read from disk, relative to the folder of name. Not real-time safe. */
TACT_API int tact_scene_parse(const char *text, uint64_t size, const char *name,
                              const struct tact_scene_files *files, struct tact_scene **out,
                              struct tact_error *err);

/** Frees a scene; NULL is allowed. Not real-time safe. */
TACT_API void tact_scene_free(struct tact_scene *scene);

TACT_END_DECLS

#endif
