/**
 * OpenCL devices: list, default choice, self-test.
 *
 * Before the first OpenCL call of the process these functions set, where the user has not,
 * POCL_WORK_GROUP_METHOD=loops (the default vectoriser of PoCL 3.1 miscompiles plain kernels
 * silently), POCL_DEVICES=basic (runs in the calling thread: 0.7 us a launch instead of 15-120)
 * and, for POCL_DEVICES=pthread, POCL_MAX_PTHREAD_COUNT=1 (one thread wakes up sooner than several;
 * set it higher for overlaps of tens of thousands of triangle pairs). PoCL needs a cache folder,
 * POCL_CACHE_DIR: the first of $XDG_CACHE_HOME/tact, $CACHE_DIRECTORY (set by systemd for a
 * service) and $HOME/.cache/tact that belongs to this user and that no other can write to, or a
 * temporary folder that is removed at exit. No function here is real-time safe.
 */
#ifndef TACT_KERNELS_OPENCL_H
#define TACT_KERNELS_OPENCL_H

#include <stddef.h>
#include <stdint.h>
#include "../contact/api.h"
#include "../contact/error.h"

TACT_BEGIN_DECLS

/** Precision of the device's arithmetic. */
enum tact_opencl_precision {
    TACT_OPENCL_AUTO,   /**< double where the device has cl_khr_fp64, else single */
    TACT_OPENCL_DOUBLE, /**< double precision; creation fails where the device lacks it */
    TACT_OPENCL_SINGLE, /**< single, even where the device has double */
};

/** One OpenCL device, for reports. */
struct tact_opencl_device {
    char platform[64];      /**< name of the platform */
    char name[128];         /**< name of the device */
    char driver[64];        /**< driver version */
    int gpu;                /**< 1 for a GPU, 0 for a CPU or another kind */
    int fp64;               /**< 1 where it has double precision */
    uint32_t compute_units; /**< number of compute units, as the driver reports it */
    int status; /**< 0: self-test passed; negative errno: it, or setting it up, failed */
    /** result of the self-test as text: its largest error, or the reason of its failure; then
     * whether polygons of pressure fields (field_cutter.h) have the bits of the host */
    char verdict[384];
    double error;     /**< largest relative error of the self-test [1] */
    double launch_us; /**< median time of an empty kernel and the wait for it [us] */
};

/**
 * Sets the environment variables of PoCL listed above, once per process. setenv() is not safe while
 * another thread reads the environment: a program with threads calls this before it starts them.
 * Otherwise the first function that needs a driver calls it.
 * @retval 0
 * @retval <0  errno of creating PoCL's cache folder, without which PoCL has no device; err is set
 */
TACT_API int tact_opencl_prepare(struct tact_error *err);

/**
 * Describes up to `capacity` OpenCL devices; *count is the number of devices present. With probe !=
 * 0 each device is set up and self-tested (seconds if the driver's cache is cold), else status is
 * -EAGAIN and launch_us 0.
 * @retval 0
 * @retval -ENODEV  no OpenCL platform or no device; err names the packages to install
 * @retval -EIO     the driver failed
 */
TACT_API int tact_opencl_list(struct tact_opencl_device *devices, size_t capacity, size_t *count,
                              int probe, struct tact_error *err);

TACT_END_DECLS

#endif
