/**
 * Small fixed-size vectors, matrices, quaternions and poses: inline, double precision.
 *
 * Vectors are double[3]; matrices are double[9], row-major; quaternions are double[4], w first, and
 * rotate from the body frame to the world frame. An output may be the same array as an input only
 * where stated. All functions are real-time safe.
 */
#ifndef TACT_CONTACT_VEC_H
#define TACT_CONTACT_VEC_H

#include <math.h>
#include "elementary.h"

/** Pose of a frame in the world: position [m] and unit quaternion, w first, frame to world. */
struct tact_pose {
    double position[3];  /**< position of the frame's origin [m] */
    double quat_wxyz[4]; /**< orientation, unit quaternion */
};

/** The smaller of two numbers, in one instruction; b where either is NaN. */
static inline double tact_min(double a, double b)
{
    return a < b ? a : b;
}

/** The larger of two numbers, in one instruction; b where either is NaN. */
static inline double tact_max(double a, double b)
{
    return a > b ? a : b;
}

/** Sets a vector: r = (x, y, z). */
static inline void tact_v3_set(double *r, double x, double y, double z)
{
    r[0] = x;
    r[1] = y;
    r[2] = z;
}

/** Copies a vector: r = a. */
static inline void tact_v3_copy(double *r, const double *a)
{
    r[0] = a[0];
    r[1] = a[1];
    r[2] = a[2];
}

/** r = a + b; r may be a or b. */
static inline void tact_v3_add(double *r, const double *a, const double *b)
{
    r[0] = a[0] + b[0];
    r[1] = a[1] + b[1];
    r[2] = a[2] + b[2];
}

/** r = a - b; r may be a or b. */
static inline void tact_v3_sub(double *r, const double *a, const double *b)
{
    r[0] = a[0] - b[0];
    r[1] = a[1] - b[1];
    r[2] = a[2] - b[2];
}

/** r = s a; r may be a. */
static inline void tact_v3_scale(double *r, const double *a, double s)
{
    r[0] = a[0] * s;
    r[1] = a[1] * s;
    r[2] = a[2] * s;
}

/** r += s a. */
static inline void tact_v3_axpy(double *r, double s, const double *a)
{
    r[0] += s * a[0];
    r[1] += s * a[1];
    r[2] += s * a[2];
}

/** Inner product of two vectors. */
static inline double tact_v3_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** Length of a vector. */
static inline double tact_v3_norm(const double *a)
{
    return sqrt(tact_v3_dot(a, a));
}

/** Cross product r = a x b; r must be neither a nor b. */
static inline void tact_v3_cross(double *r, const double *a, const double *b)
{
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}

/** Normalises a vector: r = a / |a| and returns |a|; leaves r = 0 where |a| = 0. r may be a. */
static inline double tact_v3_normalize(double *r, const double *a)
{
    double n = tact_v3_norm(a);
    tact_v3_scale(r, a, n > 0.0 ? 1.0 / n : 0.0);
    return n;
}

/** Sets two unit vectors that make (n, t1, t2) right-handed, n a unit vector. They depend
 * continuously on n, except at n = -z (Duff et al. 2017, Building an orthonormal basis, revisited).
 */
static inline void tact_v3_tangents(const double *n, double *t1, double *t2)
{
    double s = copysign(1.0, n[2]);
    double a = -1.0 / (s + n[2]);
    double b = n[0] * n[1] * a;
    tact_v3_set(t1, 1.0 + s * n[0] * n[0] * a, s * b, -s * n[0]);
    tact_v3_set(t2, b, s + n[1] * n[1] * a, -n[1]);
}

/** r = M a; r must not be a. */
static inline void tact_m3_mul_v3(double *r, const double *m, const double *a)
{
    r[0] = m[0] * a[0] + m[1] * a[1] + m[2] * a[2];
    r[1] = m[3] * a[0] + m[4] * a[1] + m[5] * a[2];
    r[2] = m[6] * a[0] + m[7] * a[1] + m[8] * a[2];
}

/** r = M^T a; r must not be a. */
static inline void tact_m3_tmul_v3(double *r, const double *m, const double *a)
{
    r[0] = m[0] * a[0] + m[3] * a[1] + m[6] * a[2];
    r[1] = m[1] * a[0] + m[4] * a[1] + m[7] * a[2];
    r[2] = m[2] * a[0] + m[5] * a[1] + m[8] * a[2];
}

/** r = A B; r must be neither. */
static inline void tact_m3_mul(double *r, const double *a, const double *b)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            r[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
}

/** r = A B^T; r must be neither. */
static inline void tact_m3_mul_t(double *r, const double *a, const double *b)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            r[3 * i + j] = tact_v3_dot(a + 3 * i, b + 3 * j);
        }
    }
}

/** r = A^T B; r must be neither. */
static inline void tact_m3_tmul(double *r, const double *a, const double *b)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            r[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
        }
    }
}

/** Sets the rotation matrix of a unit quaternion. */
static inline void tact_quat_to_m3(double *r, const double *q)
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    r[0] = 1.0 - 2.0 * (y * y + z * z);
    r[1] = 2.0 * (x * y - w * z);
    r[2] = 2.0 * (x * z + w * y);
    r[3] = 2.0 * (x * y + w * z);
    r[4] = 1.0 - 2.0 * (x * x + z * z);
    r[5] = 2.0 * (y * z - w * x);
    r[6] = 2.0 * (x * z - w * y);
    r[7] = 2.0 * (y * z + w * x);
    r[8] = 1.0 - 2.0 * (x * x + y * y);
}

/** Product of two quaternions, r = a b (Hamilton product); r must be neither a nor b. */
static inline void tact_quat_mul(double *r, const double *a, const double *b)
{
    r[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    r[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    r[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    r[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/** Normalises the quaternion q in place and returns its former norm; sets the identity where that
 * is 0. */
static inline double tact_quat_normalize(double *q)
{
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(n > 0.0)) {
        q[0] = 1.0;
        q[1] = q[2] = q[3] = 0.0;
        return n;
    }
    for (int i = 0; i < 4; i++) {
        q[i] /= n;
    }
    return n;
}

/** Sets the unit quaternion of the rotation vector v [rad]: axis times angle. */
static inline void tact_quat_from_rotvec(double *q, const double *v)
{
    double angle = tact_v3_norm(v);
    double s = angle > 1e-8 ? tact_sin(0.5 * angle) / angle : 0.5;
    q[0] = tact_cos(0.5 * angle);
    tact_v3_scale(q + 1, v, s);
}

/** Sets the rotation vector [rad] of a unit quaternion, by at most half a turn. */
static inline void tact_quat_to_rotvec(double *v, const double *q)
{
    double sign = q[0] < 0.0 ? -1.0 : 1.0, sine = tact_v3_norm(q + 1);
    double angle = 2.0 * tact_atan2(sine, sign * q[0]);
    tact_v3_scale(v, q + 1, sine > 0.0 ? sign * angle / sine : 2.0 * sign);
}

/** r = R(q) a; r must not be a. */
static inline void tact_quat_rotate(double *r, const double *q, const double *a)
{
    double m[9];
    tact_quat_to_m3(m, q);
    tact_m3_mul_v3(r, m, a);
}

/** Transforms point a from the frame `pose` to the world; r must not be a. */
static inline void tact_pose_point(double *r, const struct tact_pose *pose, const double *a)
{
    tact_quat_rotate(r, pose->quat_wxyz, a);
    tact_v3_add(r, r, pose->position);
}

/** Composes two poses, r = a b: the pose in the world of a frame b given relative to a. r must be
 * neither a nor b. */
static inline void tact_pose_mul(struct tact_pose *r, const struct tact_pose *a,
                                 const struct tact_pose *b)
{
    tact_pose_point(r->position, a, b->position);
    tact_quat_mul(r->quat_wxyz, a->quat_wxyz, b->quat_wxyz);
    tact_quat_normalize(r->quat_wxyz);
}

/** The pose at the origin of the world [m], with its axes. */
static inline struct tact_pose tact_pose_identity(void)
{
    struct tact_pose p = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    return p;
}

#endif
