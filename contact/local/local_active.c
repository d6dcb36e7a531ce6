#include "contact/local/local_active_internal.h"

#include <math.h>
#include <string.h>
#include "contact/local/normal_internal.h"
#include "contact/vec.h"

enum { STEPS = 8, SWITCHES = 6 };

#define AT_LIMIT (1.0 - 1e-9) /* share of a limit that counts as all of it */
#define SMALL_STEP 1e-8       /* of the unknowns: the next would be of rounding's size */
#define REST 1e-10            /* of the size of velocities, that counts as none */
#define SLACK 1e-12           /* of the size of velocities, that rounding may leave */

/* Puts the normal part on the face. */
static void project(struct active *a)
{
    double *x = a->x, along = 0.0;
    if (a->face == FACE_RIM) {
        double far = hypot(a->x[4], a->x[5]), by = far > 0.0 ? x[0] / far : 0.0;
        x[4] *= by;
        x[5] *= by;
    } else if (a->face == FACE_CORNER || a->face == FACE_EDGE) {
        const double *p = a->corner[a->first], *q = a->corner[(a->first + 1) % a->corners];
        double e[2] = {q[0] - p[0], q[1] - p[1]};
        if (a->face == FACE_EDGE) {
            double d[2] = {-x[5] / x[0] - p[0], x[4] / x[0] - p[1]};
            along = (d[0] * e[0] + d[1] * e[1]) / (e[0] * e[0] + e[1] * e[1]);
            along = tact_max(0.0, tact_min(1.0, along));
        }
        x[4] = x[0] * (p[1] + along * e[1]);
        x[5] = -x[0] * (p[0] + along * e[0]);
    }
}

/* 1 where the velocities along the face are none: what cannot move there, or would fall away from
 * the solution, did not. */
static int rests(struct active *a)
{
    for (int i = 1; i < 4 && !a->slips; i++) {
        if (fabs(a->u[i]) > REST * a->size) {
            return 0;
        }
    }
    tact_active_basis(a);
    for (int i = 0; i < a->free; i++) {
        const double *e = a->basis[i];
        double unit = a->face == FACE_RIM && i == 1 ? a->x[0] : 1.0;
        if (fabs(e[0] * a->u[0] + e[1] * a->u[4] + e[2] * a->u[5]) > REST * unit * a->size) {
            return 0;
        }
    }
    return 1;
}

/* Newton's steps on the face and with the slip that are supposed. Returns 1 where they end. */
static int polish(struct active *a)
{
    int linear = a->face != FACE_RIM && !a->slips;
    project(a);
    tact_active_look(a);
    tact_active_basis(a);
    tact_active_eliminate(a);
    for (int step = 0; step < STEPS; step++) {
        double moved = 0.0, dx[6], left[4];
        tact_active_equations(a, left);
        if (!tact_active_factor(a)) {
            return 0;
        }
        double rest[6] = {a->u[0], 0.0, 0.0, 0.0, a->u[4], a->u[5]};
        tact_active_respond(a, rest, left, dx);
        for (int i = 0; i < 6; i++) {
            a->x[i] += dx[i];
            moved = tact_max(moved, fabs(dx[i]));
        }
        a->gamma += a->slips ? left[3] : 0.0;
        if (!(a->x[0] > 0.0) || !isfinite(moved)) {
            return 0;
        }
        if (a->face == FACE_RIM) {
            project(a);
        }
        tact_active_look(a);
        if (linear || moved <= SMALL_STEP * a->x[0]) {
            return rests(a);
        }
        if (a->face == FACE_RIM) {
            tact_active_basis(a);
            tact_active_eliminate(a);
        }
    }
    return 0;
}

/* Multiplier of slip that comes nearest to the velocity. */
static void guess_gamma(struct active *a)
{
    const double g[3] = {a->w[0] * a->x[1], a->w[0] * a->x[2], a->w[1] * a->m};
    const double v[3] = {a->u[1] - a->beta * a->y[1] * a->u[3],
                         a->u[2] + a->alpha * a->y[0] * a->u[3], a->u[3]};
    double size = tact_v3_dot(g, g);
    a->gamma = size > 0.0 ? tact_max(0.0, -tact_v3_dot(g, v) / size) : 0.0;
}

/* Friction at its limit from now on. */
static void begin_slip(struct active *a)
{
    double by = sqrt(a->g) / a->x[0];
    for (int i = 1; i < 4 && by > 0.0; i++) {
        a->x[i] /= by;
    }
    a->slips = 1;
    tact_active_look(a);
    guess_gamma(a);
}

/* The edge that the centre of pressure is beyond, or nearest to; the corner, where it is there. */
static void find_edge(struct active *a)
{
    double most = -INFINITY;
    for (int i = 0; i < a->corners; i++) {
        const double *p = a->corner[i], *q = a->corner[(i + 1) % a->corners];
        double e[2] = {q[0] - p[0], q[1] - p[1]}, far = e[1] * p[0] - e[0] * p[1];
        double at = far > 0.0 ? (e[1] * a->y[0] - e[0] * a->y[1]) / far : -INFINITY;
        double along = e[0] * (a->y[0] - p[0]) + e[1] * (a->y[1] - p[1]);
        double share = along / (e[0] * e[0] + e[1] * e[1]);
        if (at > most) {
            most = at;
            a->first = share < 1.0 - AT_LIMIT ? i : share > AT_LIMIT ? (i + 1) % a->corners : i;
            a->face = share < 1.0 - AT_LIMIT || share > AT_LIMIT ? FACE_CORNER : FACE_EDGE;
        }
    }
}

static double edge_share(const struct active *a)
{
    return a->corners ? tact_normal_reach(a->corner, a->corners, a->y) : hypot(a->y[0], a->y[1]);
}

/* How fast the patch opens at a corner. */
static double opening(const struct active *a, int corner)
{
    const double *p = a->corner[corner % a->corners];
    return a->u[0] + p[1] * a->u[4] - p[0] * a->u[5];
}

/* Whether the face is the one; else goes to another that may be. */
static int keep_face(struct active *a)
{
    double slack = SLACK * a->size;
    int n = a->corners;
    if (a->face == FACE_POINT) {
        return 1;
    }
    if (a->face == FACE_INSIDE) {
        if (edge_share(a) <= 1.0) {
            return 1;
        }
        a->face = n ? FACE_EDGE : FACE_RIM;
        find_edge(a);
        return 0;
    }
    if (a->face == FACE_RIM) {
        a->face = a->u[0] >= -slack ? FACE_RIM : FACE_INSIDE;
        return a->face == FACE_RIM;
    }
    if (a->face == FACE_CORNER) {
        double before = opening(a, a->first + n - 1), after = opening(a, a->first + 1);
        if (tact_min(before, after) < -slack) {
            a->face = FACE_EDGE;
            a->first = before < after ? (a->first + n - 1) % n : a->first;
            return 0;
        }
    } else {
        const double *p = a->corner[a->first], *q = a->corner[(a->first + 1) % n];
        double e[2] = {q[0] - p[0], q[1] - p[1]}, d[2] = {a->y[0] - p[0], a->y[1] - p[1]};
        double along = d[0] * e[0] + d[1] * e[1];
        if (along < 0.0 || along > e[0] * e[0] + e[1] * e[1]) {
            a->face = FACE_CORNER;
            a->first = along < 0.0 ? a->first : (a->first + 1) % n;
            return 0;
        }
    }
    for (int i = 0; i < n; i++) {
        if (opening(a, i) < -slack) {
            a->face = FACE_INSIDE;
            return 0;
        }
    }
    return 1;
}

static int keep_slip(struct active *a)
{
    if (a->slips && a->gamma < 0.0) {
        a->slips = 0;
        return 0;
    }
    if (!a->slips && a->g > a->x[0] * a->x[0]) {
        begin_slip(a);
        return 0;
    }
    return 1;
}

/* The scaled problem at r. Returns 0 where this is no way to solve it. */
static int begin(const struct tact_local_problem *problem, const double *r, struct active *a)
{
    int rolls = tact_local_rolls(problem);
    const double unit[6] = {1.0,
                            problem->mu,
                            problem->mu,
                            problem->mu * problem->spin_arm,
                            rolls ? problem->semi[1] : 0.0,
                            rolls ? problem->semi[0] : 0.0};
    if (!(r[0] > 0.0) || !(unit[3] > 0.0)) {
        return 0;
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            a->s[i][j] = unit[i] * unit[j] * problem->s[6 * i + j];
        }
        a->b[i] = unit[i] * problem->b[i];
        a->unit[i] = unit[i];
        a->x[i] = unit[i] > 0.0 ? r[i] / unit[i] : 0.0;
    }
    a->alpha = problem->semi[0] / problem->spin_arm;
    a->beta = problem->semi[1] / problem->spin_arm;
    a->corners = rolls ? problem->corners : 0;
    for (int i = 0; i < a->corners; i++) {
        a->corner[i][0] = problem->corner[i][0] / problem->semi[0];
        a->corner[i][1] = problem->corner[i][1] / problem->semi[1];
    }
    a->surface = problem->surface;
    a->face = rolls ? FACE_INSIDE : FACE_POINT;
    a->first = 0;
    tact_active_look(a);
    if (rolls && edge_share(a) >= AT_LIMIT) {
        a->face = a->corners ? FACE_EDGE : FACE_RIM;
        find_edge(a);
    }
    a->slips = sqrt(a->g) >= AT_LIMIT * a->x[0];
    guess_gamma(a);
    return 1;
}

int tact_local_active(const struct tact_local_problem *problem, double r[6])
{
    struct active a;
    if (!begin(problem, r, &a)) {
        return -1;
    }
    for (int i = 0; i < SWITCHES; i++) {
        if (!polish(&a)) {
            return -1;
        }
        if (keep_face(&a) && keep_slip(&a)) {
            for (int k = 0; k < 6; k++) {
                r[k] = a.unit[k] * a.x[k];
            }
            return (a.slips ? TACT_LIMIT_CONE : 0) |
                   (a.face == FACE_EDGE || a.face == FACE_CORNER || a.face == FACE_RIM
                        ? TACT_LIMIT_EDGE
                        : 0);
        }
    }
    return -1;
}

int tact_local_slope(const struct tact_local_problem *problem, const double r[6], double *slope)
{
    struct active a;
    memset(slope, 0, 36 * sizeof *slope);
    if (!begin(problem, r, &a)) {
        return 0;
    }
    tact_active_basis(&a);
    tact_active_eliminate(&a);
    if (!tact_active_factor(&a)) {
        return 0;
    }
    for (int k = 0; k < 6; k++) {
        double b[6] = {0.0}, left[4] = {0.0}, dx[6];
        b[k] = a.unit[k];
        tact_active_respond(&a, b, left, dx);
        for (int i = 0; i < 6; i++) {
            slope[6 * i + k] = a.unit[i] * dx[i];
        }
    }
    return 1;
}
