/*
 * A haptic device through its manufacturer's library, which is loaded by its name where the loader
 * finds it. Only the guard process uses it, as its calls block.
 */
#ifndef TACT_DEVICES_HAPTIC_MAKER_INTERNAL_H
#define TACT_DEVICES_HAPTIC_MAKER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Manufacturer whose library is used. */
enum tact_haptic_maker { TACT_HAPTIC_FORCE_DIMENSION, TACT_HAPTIC_OPENHAPTICS };

#define TACT_HAPTIC_NUMBERS_PER_POSE 7 /* x y z [m], attitude as a unit quaternion w x y z */
#define TACT_HAPTIC_NUMBERS_PER_WRENCH                                                             \
    6                             /* force [N], torque [N m], in the device's axes, on the person */
#define TACT_HAPTIC_MAX_BUTTONS 4 /* buttons, bits 0 .. 3 */

/* Which device is opened, and how. */
struct tact_haptic_device_choice {
    int32_t maker;      /* enum tact_haptic_maker */
    int32_t serial;     /* serial number of the device; negative: the first device is used */
    int32_t gravity;    /* 1: the library compensates the device's weight */
    char device[64];    /* name of the device in the library's configuration; empty: the default */
    int64_t timeout_ns; /* time without a command after which the forces are switched off */
};

/* Functions of Force Dimension's libdhd (libdrd has them too). The last argument identifies the
 * device; int results are negative after a failure. */
struct tact_libdhd_functions {
    int (*open_first)(void);
    int (*open_serial)(int serial);
    int (*close)(char id);
    int (*enable_force)(unsigned char on, char id);
    const char *(*system_name)(char id);
    const char *(*last_error)(void);
    bool (*has_wrist)(char id);
    bool (*has_active_wrist)(char id);
    int (*set_gravity)(int on, char id);
    int (*read_position)(double *x, double *y, double *z, char id);
    int (*read_orientation)(double matrix[3][3], char id);
    unsigned int (*buttons)(char id);
    int (*set_wrench)(double fx, double fy, double fz, double tx, double ty, double tz, char id);
    int (*enable_expert)(void);  /* NULL: the library lacks it */
    int (*disable_expert)(void); /* NULL: the library lacks it */
    int (*set_watchdog)(unsigned char watchdog_time_in_eighths_of_ms,
                        char id); /* NULL: the library lacks it */
};

/* An error of OpenHaptics' libHD. */
struct tact_libhd_error {
    unsigned int code; /* error code of libHD; 0: no error */
    int internal_error_code;
    unsigned int device;
};

/* Functions of OpenHaptics' libHD. */
struct tact_libhd_functions {
    unsigned int (*init)(const char *name);
    void (*disable_device)(unsigned int device);
    void (*make_current)(unsigned int device);
    void (*enable)(unsigned int what);
    void (*disable)(unsigned int what);
    void (*start)(void);
    void (*stop)(void);
    void (*begin_frame)(unsigned int device);
    void (*end_frame)(unsigned int device);
    void (*get_doubles)(unsigned int what, double *values);
    void (*get_integers)(unsigned int what, int *values);
    void (*set_doubles)(unsigned int what, const double *values);
    const char *(*get_string)(unsigned int what);
    struct tact_libhd_error (*last_error)(void);
    const char *(*error_text)(unsigned int code);
    void (*run)(unsigned int (*frame)(void *), void *data, unsigned short priority);
};

struct tact_haptic_pose {
    double value[TACT_HAPTIC_NUMBERS_PER_POSE]; /* x y z [m], unit quaternion w x y z */
    uint32_t buttons;
};

/* A haptic device with its library. All zero before the library is loaded. */
struct tact_haptic_device {
    const struct tact_haptic_ops *ops;
    /* handle of the library, which stays loaded until the process ends, as its threads may still
     * run */
    void *maker_library_handle;
    union {
        struct tact_libdhd_functions dhd;
        struct tact_libhd_functions hd;
    } call;
    int id;                   /* identifier of the open device */
    bool measures_attitude;   /* the device measures its attitude */
    bool renders_torques;     /* the device renders torques */
    char model[64];           /* name of the model, from the library */
    bool is_last_frame_valid; /* the last frame of libHD had no error */
    double wrench[TACT_HAPTIC_NUMBERS_PER_WRENCH];
    struct tact_haptic_pose pose;
};

/* Operations of a haptic device, implemented by calls of a manufacturer's library. Results: 0, or
 * a negative errno with the reason in why. */
struct tact_haptic_ops {
    const char *const *files; /* file names of the library, tried in this order; ends in NULL */
    const struct tact_haptic_library_symbol *symbols;
    int library_symbol_count;
    /* Opens the device, with forces on and zero; sets turns, torques and model. */
    int (*open)(struct tact_haptic_device *device,
                const struct tact_haptic_device_choice *haptic_device_choice, char *why,
                size_t size);
    /* Reads device->pose. */
    int (*read)(struct tact_haptic_device *device);
    /* Sends a force [N] and torque [N m] in the device's axes. */
    int (*write)(struct tact_haptic_device *device,
                 const double wrench[TACT_HAPTIC_NUMBERS_PER_WRENCH]);
    /* Zeroes the forces, switches them off and closes the device. */
    void (*close)(struct tact_haptic_device *device);
};

/* A function of a library, and the offset in tact_haptic_device.call at which its address is
 * stored. */
struct tact_haptic_library_symbol {
    const char *name;
    size_t offset;
    bool is_library_symbol_optional;
};

extern const struct tact_haptic_ops tact_haptic_ops_of_libdhd, tact_haptic_ops_of_libhd;

/* Loads a manufacturer's library (enum tact_haptic_maker).
 * @retval 0, -ENOENT: there is none, -ENOSYS: it lacks a function; the reason is in why */
int tact_haptic_load_library(struct tact_haptic_device *device, int maker, char *why, size_t size);

/* Attitude of a rotation matrix, by rows. @retval false if the matrix is no rotation to 1e-3 */
bool tact_haptic_rotation_to_quaternion(const double rows[3][3], double quat_wxyz[4]);

#endif
