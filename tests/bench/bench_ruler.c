/*
 * A ruler pinched off its centre of mass by two soft tips, for tests/bench/ruler: a ruler of 30 g,
 * 300 x 2 x 30 mm, between balls of 8 mm on slides, which drives press with 4 N; friction 0.8,
 * pressure 5e5 Pa (1 - r / R). The margin is the torsion that the tips' pressure can transmit over
 * that of the weight, by quadrature over the very pressure of the tips, which shares nothing with
 * the solver but the polygons.
 *
 *     bench_ruler hold TIPS MARGIN SECONDS [TOLERANCE]        the weight from the start, at rest
 *     bench_ruler shaken TIPS MARGIN SECONDS [TOLERANCE]      gravity shaken by 0.1 g at 5 Hz
 *     bench_ruler tractions TIPS MARGIN SECONDS SLIP PERIOD   fixed tips, by tractions.h
 *
 * TIPS: ball, in closed form, or a number n from 2 to 6: 8 x 4^n tetrahedra. Prints one JSON
 * object; times are those of the thread's processor time for a whole tick [us].
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/compare/tractions.h"
#include "contact/mesh/tets.h"
#include "contact/world/world.h"
#include "../unit/support/field_triangulation.h"
#include "timing.h"

#define G 9.81
#define PI 3.14159265358979323846

static const double radius = 0.008, modulus = 5e5, mu = 0.8, grip = 4.0, mass = 0.03;
static const double half_ruler[3] = {0.15, 0.001, 0.015};
static const double stiffness = 400.0, damping = 4.0, settling_seconds = 1.0;

enum { SHAKEN_TICKS = 200, MATERIAL_RULER = 0, MATERIAL_TIP = 1 };

struct pinch {
    struct tact_world *world;
    struct tact_moments_scratch *scratch;
    struct tact_shape ruler, tip;
    struct tact_mesh *tip_mesh;        /* of a tip of tetrahedra; NULL: a ball in closed form */
    struct tact_pressure_field *field; /* of such a tip, for the quadrature */
    struct tact_pressure_field *ruler_field;
    struct tact_field_scratch *field_scratch;
    size_t polygons;
    double load, arm; /* of both tips, mean [N, m] */
    double shaken;    /* acceleration of this tick along z beside gravity [m/s^2] */
};

static void exit_unless(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "bench_ruler: %s\n", what);
        exit(2);
    }
}

/* The depth at which the pressure of a ball on a flat pushes with a force. */
static double depth_of_ball_force(double force)
{
    double low = 0.0, high = radius;
    for (int i = 0; i < 60; i++) {
        double depth = 0.5 * (low + high);
        double at = PI / 3.0 * modulus * depth * depth * (3.0 - 2.0 * depth / radius);
        low = at < force ? depth : low;
        high = at < force ? high : depth;
    }
    return low;
}

/* A ball of 8 x 4^level tetrahedra with a common corner in its middle, and their pressure. */
static struct tact_mesh *make_tip_of_tets(int level)
{
    struct surface_mesh s = make_ball_surface(level);
    struct tact_tets *tets = calloc(1, sizeof *tets);
    struct tact_soup soup = {.vertex_count = 0};
    struct tact_mesh *mesh = NULL;
    exit_unless(tets != NULL, "no memory");
    scale_surface_mesh(&s, radius, radius, radius);
    tets->vertex_count = s.vertex_count + 1;
    tets->tet_count = s.triangle_count;
    tets->vertices = calloc(3 * tets->vertex_count, sizeof(double));
    tets->values = calloc(tets->vertex_count, sizeof(double));
    tets->tets = calloc(4 * tets->tet_count, sizeof(uint32_t));
    tets->pressure = 1;
    exit_unless(tets->vertices && tets->values && tets->tets, "no memory");
    memcpy(tets->vertices, s.vertices, 3 * s.vertex_count * sizeof(double));
    tets->values[s.vertex_count] = modulus;
    for (size_t i = 0; i < s.triangle_count; i++) {
        tets->tets[4 * i] = (uint32_t)s.vertex_count;
        memcpy(tets->tets + 4 * i + 1, s.triangles + 3 * i, 3 * sizeof(uint32_t));
    }
    exit_unless(!tact_tets_surface(tets, &soup), "no surface of the tetrahedra");
    soup.tets = tets;
    exit_unless(!tact_mesh_of_soup(&soup, &mesh, NULL), "no mesh of the tetrahedra");
    tact_soup_free(&soup);
    free_surface_mesh(&s);
    return mesh;
}

/* Adds the tips, at the depth of the grip in the ruler: fixed, or on slides with drives. */
static void add_tips(struct pinch *p, int driven)
{
    const double place = half_ruler[1] + radius - depth_of_ball_force(grip);
    const struct tact_pose here = tact_pose_identity();
    struct tact_link_def links[2];
    struct tact_hand *hand = NULL;
    for (int i = 0; i < 2; i++) {
        const double side = i ? -1.0 : 1.0;
        links[i] = (struct tact_link_def){.parent = -1,
                                          .joint = TACT_JOINT_SLIDE,
                                          .axis = {0.0, -side, 0.0},
                                          .origin = tact_pose_identity(),
                                          .stiffness = stiffness,
                                          .damping = damping,
                                          .mass = 0.03,
                                          .inertia = {1e-6, 1e-6, 1e-6, 0.0, 0.0, 0.0}};
        links[i].origin.position[1] = side * place;
    }
    if (driven) {
        exit_unless(!tact_hand_create(links, 2, &here, &hand) &&
                        tact_world_add_hand(p->world, hand, 1) == 0,
                    "no hand");
        tact_hand_refresh(hand);
    }
    for (int i = 0; i < 2; i++) {
        const struct tact_owner owner = {driven ? TACT_OWNER_HAND : TACT_OWNER_FIXED, 0,
                                         driven ? i : 0};
        exit_unless(tact_world_add_shape(p->world, owner, &p->tip,
                                         driven ? &here : &links[i].origin, MATERIAL_TIP) >= 0,
                    "no tip");
        if (driven) {
            tact_hand_state(hand).target[i] = grip / stiffness;
        }
    }
}

static void add_ruler(struct pinch *p)
{
    static const int at[6] = {0, 4, 8, 1, 2, 5};
    const struct tact_owner owner = {TACT_OWNER_BODY, 0, 0};
    const struct tact_pose here = tact_pose_identity();
    struct tact_body body = {.pose = here};
    struct tact_shape_mass m;
    double inertia[6];
    p->ruler = (struct tact_shape){.kind = TACT_SHAPE_BOX};
    memcpy(p->ruler.size, half_ruler, sizeof half_ruler);
    exit_unless(!tact_shape_tessellate(&p->ruler), "no ruler");
    tact_shape_mass(&p->ruler, &m);
    for (int i = 0; i < 6; i++) {
        inertia[i] = mass / m.volume * m.inertia[at[i]];
    }
    exit_unless(!tact_body_set_mass(&body, mass, inertia) &&
                    tact_world_add_body(p->world, &body) == 0 &&
                    tact_world_add_shape(p->world, owner, &p->ruler, &here, MATERIAL_RULER) == 0,
                "no ruler");
}

/* In the tick's solve, once the patches are measured: adds what shakes the ruler. */
static int shake_ruler(void *user, enum tact_solve_phase phase,
                       const struct tact_solve_stats *stats)
{
    struct pinch *p = user;
    (void)stats;
    if (phase == TACT_SOLVE_PATCHES) {
        tact_world_body(p->world, 0)->twist[2] += p->shaken;
    }
    return 0;
}

static void make_tip(struct pinch *p, const char *tips)
{
    const int level = strcmp(tips, "ball") ? atoi(tips) : -1;
    exit_unless(level == -1 || (level >= 2 && level <= 6), "TIPS is ball, or 2 to 6");
    p->tip = (struct tact_shape){.kind = TACT_SHAPE_SPHERE, .size = {radius}};
    if (level >= 0) {
        p->tip_mesh = make_tip_of_tets(level);
        p->tip = (struct tact_shape){.kind = TACT_SHAPE_MESH, .mesh = p->tip_mesh};
        p->field = make_ball_field(radius, modulus, level);
        exit_unless(p->field != NULL, "no field");
    }
    exit_unless(!tact_shape_tessellate(&p->tip), "no tip");
}

static void open_pinch(struct pinch *p, const char *tips, int driven, double tolerance,
                       double period)
{
    const struct tact_material soft = {
        .field = {.modulus = modulus, .thickness = radius, .power = 1.0}};
    const struct tact_field_material rigid = {.modulus = 0.0};
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = {.friction = mu, .overlap = 2e-5, .dissipation = 0.003};
    memset(p, 0, sizeof *p);
    o.tolerance = tolerance;
    o.period = period;
    law.model = tact_contact_model_find("field");
    p->scratch = tact_moments_scratch_create(65536);
    p->field_scratch = tact_field_scratch_create(8192);
    exit_unless(p->scratch && p->field_scratch && !tact_world_create(&o, &p->world), "no world");
    make_tip(p, tips);
    exit_unless(!tact_world_set_material(p->world, MATERIAL_TIP, &soft), "no material");
    add_ruler(p);
    add_tips(p, driven);
    exit_unless(!tact_field_of_shape(&p->ruler, &rigid, &p->ruler_field, NULL), "no field");
    exit_unless(!tact_world_set_law(p->world, MATERIAL_RULER, MATERIAL_TIP, &law) &&
                    !tact_world_finish(p->world),
                "the world cannot be finished");
    tact_world_start(p->world, p->scratch);
    tact_world_set_observer(p->world, shake_ruler, p);
}

static void close_pinch(struct pinch *p)
{
    tact_world_destroy(p->world);
    tact_moments_scratch_destroy(p->scratch);
    tact_shape_release(&p->ruler);
    tact_shape_release(&p->tip);
    tact_mesh_free(p->tip_mesh);
    tact_field_free(p->field);
    tact_field_free(p->ruler_field);
    tact_field_scratch_destroy(p->field_scratch);
}

/* Integral of p |x - c| over a triangle whose pressure is linear, divided into FINE^2 of one point;
 * values: the pressure at the corners. */
static double integrate_lever(const double corner[3][3], const double values[3], const double *c)
{
    enum { FINE = 24 };
    double a[3], b[3], across[3], sum = 0.0;
    tact_v3_sub(a, corner[1], corner[0]);
    tact_v3_sub(b, corner[2], corner[0]);
    tact_v3_cross(across, a, b);
    for (int i = 0; i < FINE; i++) {
        for (int j = 0; j < 2 * (FINE - i) - 1; j++) {
            /* the middle of the j-th triangle of a strip, upright or upside down */
            const double shift = j % 2 ? 2.0 / 3.0 : 1.0 / 3.0;
            const double u = (j / 2 + shift) / FINE, v = (i + shift) / FINE;
            double x[3];
            tact_v3_sub(x, corner[0], c);
            tact_v3_axpy(x, u, a);
            tact_v3_axpy(x, v, b);
            sum += tact_v3_norm(x) *
                   (values[0] + u * (values[1] - values[0]) + v * (values[2] - values[0]));
        }
    }
    return sum * 0.5 * tact_v3_norm(across) / (FINE * FINE);
}

/* Adds load and torsion arm times load of the pressure of a tip of tetrahedra on the ruler. */
static void add_tet_pressure(struct pinch *p, const struct tact_pose *tip,
                             const struct tact_pose *ruler)
{
    struct contact_surface_of_fields surface;
    double load = 0.0, first[3] = {0.0}, lever = 0.0;
    exit_unless(tact_field_find_contact_surface(p->field, tip, p->ruler_field, ruler,
                                                p->field_scratch, &surface) == 1,
                "a tip does not touch");
    for (size_t i = 0; i < surface.count; i++) {
        const struct contact_surface_polygon *q = &surface.polygon[i];
        load += q->load;
        tact_v3_add(first, first, q->lever);
        tact_v3_axpy(first, q->load, q->corner[0]);
    }
    tact_v3_scale(first, first, 1.0 / load);
    for (size_t i = 0; i < surface.count; i++) {
        const struct contact_surface_polygon *q = &surface.polygon[i];
        for (int k = 1; k + 1 < q->corners; k++) {
            const int of[3] = {0, k, k + 1};
            double corner[3][3], values[3];
            for (int j = 0; j < 3; j++) {
                tact_v3_copy(corner[j], q->corner[of[j]]);
                values[j] = tact_field_pressure_level(q, corner[j]);
            }
            lever += integrate_lever(corner, values, first);
        }
    }
    p->polygons += surface.count;
    p->load += load;
    p->arm += lever;
}

/* Adds the same of a ball, by the pressure modulus (1 - r / radius) on the disc where it is cut. */
static void add_ball_pressure(struct pinch *p, double depth)
{
    enum { FINE = 20000 };
    const double rim = sqrt(depth * (2.0 * radius - depth));
    for (int i = 0; i < FINE; i++) {
        const double rho = (i + 0.5) / FINE * rim;
        const double load =
            2.0 * PI * rho * rim / FINE * modulus * (1.0 - hypot(rho, radius - depth) / radius);
        p->load += load;
        p->arm += load * rho;
    }
}

/* Sets load and torsion arm of the tips, means of both, at the present poses. */
static void measure_tip_pressure(struct pinch *p)
{
    tact_world_begin(p->world);
    const struct tact_pose *poses = tact_world_shape_poses(p->world);
    p->load = p->arm = 0.0;
    p->polygons = 0;
    for (int i = 1; i < 3; i++) {
        if (p->field) {
            add_tet_pressure(p, &poses[i], &poses[0]);
        } else {
            add_ball_pressure(p, half_ruler[1] + radius - fabs(poses[i].position[1]));
        }
    }
    p->arm /= p->load;
    p->load *= 0.5;
}

/* Places the centre of mass beside the tips, so that their torsion can carry `margin` times the
 * weight. */
static void place_ruler(struct pinch *p, double margin)
{
    measure_tip_pressure(p);
    tact_world_body(p->world, 0)->pose.position[0] =
        2.0 * mu * p->load * p->arm / (margin * mass * G);
    tact_world_refresh(p->world);
}

/* What was measured in ticks. */
struct tick_figures {
    double *us;
    long count, sweeps, linearised, unsolved;
    int most_sweeps, most_linearised;
};

static void step_pinch(struct pinch *p, struct tick_figures *f)
{
    struct tact_solve_stats stats;
    const double start = thread_cpu_time_seconds();
    exit_unless(!tact_world_step(p->world, p->scratch, &stats), "a tick failed");
    f->us[f->count++] = 1e6 * (thread_cpu_time_seconds() - start);
    f->sweeps += stats.iterations;
    f->linearised += stats.eliminations;
    f->unsolved += stats.counts[TACT_COUNT_UNSOLVED] > 0;
    f->most_sweeps = stats.iterations > f->most_sweeps ? stats.iterations : f->most_sweeps;
    f->most_linearised =
        stats.eliminations > f->most_linearised ? stats.eliminations : f->most_linearised;
}

/* Presses the tips on the ruler without its weight until they are at rest. */
static void settle_tips(struct pinch *p, struct tick_figures *f)
{
    tact_world_set_weight(p->world, 0, 0);
    for (int i = 0; i < (int)(settling_seconds / 1e-3); i++) {
        step_pinch(p, f);
    }
    f->count = f->sweeps = f->linearised = f->unsolved = f->most_sweeps = f->most_linearised = 0;
    tact_world_set_weight(p->world, 0, 1);
}

/* Angle by which the ruler has turned about the line between the tips [rad]. */
static double turned_angle(const struct tact_body *body)
{
    double axes[9];
    tact_quat_to_m3(axes, body->pose.quat_wxyz);
    return atan2(-axes[6], axes[0]);
}

static void print_figures(const struct pinch *p, struct tick_figures *f, double period)
{
    qsort(f->us, (size_t)f->count, sizeof *f->us, compare_durations_ascending);
    printf("\"tets\": %zu, \"polygons\": %zu, \"load\": %.9g, \"arm\": %.9g, \"period\": %g, "
           "\"ticks\": %ld, \"p50\": %.3f, \"p99\": %.3f, \"sweeps\": %.4f, \"most_sweeps\": %d, "
           "\"linearised\": %.4f, \"most_linearised\": %d, \"unsolved\": %ld}\n",
           p->field ? tact_field_cells(p->field) : (size_t)0, p->polygons, p->load, p->arm, period,
           f->count, f->us[f->count / 2], f->us[f->count * 99 / 100],
           (double)f->sweeps / (double)f->count, f->most_sweeps,
           (double)f->linearised / (double)f->count, f->most_linearised, f->unsolved);
}

/* How far the ruler moves and turns in the second half of the time under its weight. */
static void run_hold(struct pinch *p, double margin, double seconds, struct tick_figures *f)
{
    const struct tact_body *body = tact_world_body(p->world, 0);
    const int ticks = (int)lround(seconds / 1e-3);
    double at[3] = {0.0}, angle = 0.0, creep = 0.0, turn = 0.0;
    settle_tips(p, f);
    place_ruler(p, margin);
    for (int i = 0; i < ticks; i++) {
        step_pinch(p, f);
        if (i == ticks / 2) {
            tact_v3_copy(at, body->pose.position);
            angle = turned_angle(body);
        } else if (i > ticks / 2) {
            double moved[3];
            tact_v3_sub(moved, body->pose.position, at);
            creep = fmax(creep, tact_v3_norm(moved));
            turn = fmax(turn, fabs(turned_angle(body) - angle));
        }
    }
    printf("{\"creep_m\": %.4g, \"creep_rad\": %.4g, \"turned_degrees\": %.6g, ", creep, turn,
           180.0 / PI * turned_angle(body));
    print_figures(p, f, 1e-3);
}

/* How far the ruler is from where it was at the same phase, in the second half of the time. */
static void run_shaken(struct pinch *p, double margin, double seconds, struct tick_figures *f)
{
    static double at[SHAKEN_TICKS][7];
    const struct tact_body *body = tact_world_body(p->world, 0);
    const int ticks = (int)lround(seconds / 1e-3);
    double worst = 0.0;
    settle_tips(p, f);
    place_ruler(p, margin);
    for (int i = 0; i < ticks; i++) {
        const int phase = i % SHAKEN_TICKS;
        double is[7];
        p->shaken = 1e-3 * 0.1 * G * sin(2.0 * PI * phase / SHAKEN_TICKS);
        step_pinch(p, f);
        memcpy(is, body->pose.position, 3 * sizeof *is);
        memcpy(is + 3, body->pose.quat_wxyz, 4 * sizeof *is);
        for (int k = 0; k < 7 && i >= ticks / 2 + SHAKEN_TICKS; k++) {
            worst = fmax(worst, fabs(is[k] - at[phase][k]));
        }
        if (i >= ticks / 2 && i < ticks / 2 + SHAKEN_TICKS) {
            memcpy(at[phase], is, sizeof is);
        }
    }
    printf("{\"off_m\": %.4g, \"turned_degrees\": %.6g, ", worst, 180.0 / PI * turned_angle(body));
    print_figures(p, f, 1e-3);
}

/* The same by tractions between fixed tips: rates of creep in the second half of the time. */
static void run_tractions(struct pinch *p, double margin, double seconds, double slip,
                          double period, struct tick_figures *f)
{
    struct tact_tractions_options options = tact_tractions_options_default();
    const struct tact_body *body = tact_world_body(p->world, 0);
    struct tact_tractions *t;
    struct tact_error err;
    const long ticks = lround(seconds / period);
    double at = 0.0, angle = 0.0;
    int rc = 0;
    options.slip_speed = slip;
    place_ruler(p, margin);
    if (tact_tractions_create(p->world, &options, &t, &err)) {
        exit_unless(0, err.text);
    }
    for (long i = 0; i < ticks && !rc; i++) {
        const double start = thread_cpu_time_seconds();
        rc = tact_tractions_step(t);
        f->us[f->count++] = 1e6 * (thread_cpu_time_seconds() - start);
        at = i == ticks / 2 ? body->pose.position[2] : at;
        angle = i == ticks / 2 ? turned_angle(body) : angle;
    }
    printf("{\"stable\": %s, \"stiffest\": %.4g, ", rc ? "false" : "true",
           tact_tractions_report(t)->stiffest);
    if (!rc) {
        printf("\"sinks_m_per_s\": %.6g, \"turns_degrees_per_s\": %.6g, ",
               (at - body->pose.position[2]) / (0.5 * seconds),
               180.0 / PI * (turned_angle(body) - angle) / (0.5 * seconds));
    }
    print_figures(p, f, period);
    tact_tractions_destroy(t);
}

int main(int argc, char **argv)
{
    const int tractions = argc == 7 && !strcmp(argv[1], "tractions");
    const int hold = argc >= 5 && !strcmp(argv[1], "hold");
    const int shaken = argc >= 5 && !strcmp(argv[1], "shaken");
    struct tick_figures f = {.us = NULL};
    struct pinch p;
    exit_unless(tractions || ((hold || shaken) && argc <= 6),
                "usage: bench_ruler hold|shaken TIPS MARGIN SECONDS [TOLERANCE], or "
                "tractions TIPS MARGIN SECONDS SLIP PERIOD");
    const double margin = strtod(argv[3], NULL), seconds = strtod(argv[4], NULL);
    const double last = argc > 5 ? strtod(argv[argc - 1], NULL) : 1e-10;
    const double period = tractions ? last : 1e-3, ticks = (seconds + settling_seconds) / period;
    exit_unless(margin > 0.0 && seconds > 0.0 && last > 0.0 && ticks < 1e8,
                "a number is out of range");
    f.us = malloc(((size_t)ticks + 2) * sizeof *f.us);
    exit_unless(f.us != NULL, "no memory");
    open_pinch(&p, argv[2], !tractions, tractions ? 1e-10 : last, period);
    if (tractions) {
        run_tractions(&p, margin, seconds, strtod(argv[5], NULL), period, &f);
    } else if (hold) {
        run_hold(&p, margin, seconds, &f);
    } else {
        run_shaken(&p, margin, seconds, &f);
    }
    close_pinch(&p);
    free(f.us);
    return 0;
}
