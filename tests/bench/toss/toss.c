/*
 * Rolls recorded tosses of a cube out in tact and compares them with what was recorded.
 *
 *     bench_toss FOLDER --parameters FILE [--half identify|held|all] [--json] [--each]
 *     bench_toss shared --parameters FILE --half held --ticks 24 --at-most 15 18.5
 *     bench_toss FOLDER --parameters FILE --half identify --serve
 *
 * "shared" is data/cube_toss beside the project, or in $TACT_SHARED. --ticks: between two
 * samples, in place of the file's. --at-most: exits with 1 where an error is larger (percent of the
 * edge, degrees). --serve takes lines of "name=value ..." that
 * replace parameters of the file and answers each with the two errors: what toss.py searches with.
 * Exits with 2 on an error, 77 where there are no data.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/world.h"
#include "toss_data.h"

static const double TOSS_SAMPLES_PER_SECOND = 148.0; /* samples a second */
/* edge of the cube [m], by which position errors are divided */
static const double CUBE_EDGE_LENGTH = 0.1048;
static const double CUBE_MASS = 0.37;          /* [kg] */
static const double MEASURED_INERTIA = 8.1e-4; /* measured [kg m^2] */
static const double GRAVITY = 9.81;

/* Parameters of a simulated toss: those that are identified, then those that are fixed. */
enum toss_parameter {
    PARAM_LENGTH_SCALE, /* ratio of measured lengths to true lengths */
    PARAM_FRICTION,
    PARAM_RESTITUTION,
    PARAM_DISSIPATION,
    PARAM_COMPLIANCE,
    PARAM_TARGET_OVERLAP,
    PARAM_HUNT_CROSSLEY,
    PARAM_TICKS_PER_SAMPLE,     /* number of simulated ticks between two recorded samples */
    LAG,                        /* delay of the recorded velocities [samples] */
    PARAM_EDGE_ROUNDING_RADIUS, /* radius of the cube's rounded edges and corners [m] */
    PARAM_TOSS_STRIDE,          /* n: only every n-th toss is simulated */
    PARAM_FIRST_TOSS,           /* index of the first simulated toss within its half of the data */
    PARAMETERS
};

static const char *const parameter_names[PARAMETERS] = {
    "length",        "friction", "restitution", "dissipation", "compliance", "overlap",
    "hunt_crossley", "substeps", "lag",         "rounding",    "stride",     "phase"};

struct toss_score {
    /* position error: mean distance over the samples, divided by CUBE_EDGE_LENGTH */
    double position;
    double rotation; /* mean angle [deg] */
};

static struct tact_world *make_toss_world(const struct toss *t, const double *p,
                                          const struct tact_shape *cube)
{
    static const struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};
    const struct tact_pose here = tact_pose_identity();
    const struct tact_owner fixed = {TACT_OWNER_FIXED, 0, 0}, own = {TACT_OWNER_BODY, 0, 0};
    const double inertia[6] = {MEASURED_INERTIA, MEASURED_INERTIA, MEASURED_INERTIA, 0, 0, 0};
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = {.friction = p[PARAM_FRICTION],
                                   .overlap = p[PARAM_TARGET_OVERLAP],
                                   .compliance = p[PARAM_COMPLIANCE],
                                   .dissipation = p[PARAM_DISSIPATION],
                                   .hunt_crossley = p[PARAM_HUNT_CROSSLEY],
                                   .restitution = p[PARAM_RESTITUTION]};
    struct tact_body body = {.pose = here};
    struct tact_world *world;
    o.period = 1.0 / (TOSS_SAMPLES_PER_SECOND * round(p[PARAM_TICKS_PER_SAMPLE]));
    o.gravity[2] = -GRAVITY;
    o.tolerance = 1e-6; /* a smaller tolerance does not change the errors */
    tact_body_set_mass(&body, CUBE_MASS, inertia);
    tact_v3_scale(body.pose.position, t->samples[0].position, 1.0 / p[PARAM_LENGTH_SCALE]);
    memcpy(body.pose.quat_wxyz, t->samples[0].quat_wxyz, sizeof body.pose.quat_wxyz);
    tact_v3_scale(body.twist, t->velocity, 1.0 / p[PARAM_LENGTH_SCALE]);
    tact_v3_axpy(body.twist, p[LAG] / TOSS_SAMPLES_PER_SECOND, o.gravity);
    tact_v3_copy(body.twist + 3, t->angular_velocity);
    if (tact_world_create(&o, &world)) {
        return NULL;
    }
    if (tact_world_add_body(world, &body) < 0 ||
        tact_world_add_shape(world, fixed, &ground, &here, 0) < 0 ||
        tact_world_add_shape(world, own, cube, &here, 1) < 0 ||
        tact_world_set_law(world, 0, 1, &law) || tact_world_finish(world)) {
        tact_world_destroy(world);
        return NULL;
    }
    return world;
}

static double angle_between_deg(const double *a, const double *b)
{
    double c[4] = {b[0], -b[1], -b[2], -b[3]}, d[4];
    tact_quat_mul(d, a, c);
    return 2.0 * atan2(tact_v3_norm(d + 1), fabs(d[0])) * 180.0 / M_PI;
}

/* Whether the cube rests, so that the remaining ticks need not be simulated. */
static int has_come_to_rest(const struct tact_body *body)
{
    return tact_v3_norm(body->twist) < 1e-7 && tact_v3_norm(body->twist + 3) < 1e-6;
}

/* Simulates a toss. *toss_score: mean errors over the samples after the start. Returns 0 or a
 * negative errno. */
static int simulate_toss(const struct toss *t, const double *p, const struct tact_shape *cube,
                         struct tact_moments_scratch *scratch, struct toss_score *toss_score)
{
    struct tact_world *world = make_toss_world(t, p, cube);
    if (!world) {
        return -1;
    }
    const struct tact_pose *pose = &tact_world_body(world, 0)->pose;
    int rc = 0, substeps = (int)round(p[PARAM_TICKS_PER_SAMPLE]);
    memset(toss_score, 0, sizeof *toss_score);
    for (int k = 1; k < t->count && !rc; k++) {
        double apart[3];
        for (int i = 0; i < substeps && !rc && !has_come_to_rest(tact_world_body(world, 0)); i++) {
            struct tact_solve_stats stats;
            rc = tact_world_step(world, scratch, &stats);
        }
        tact_v3_scale(apart, pose->position, p[PARAM_LENGTH_SCALE]);
        tact_v3_sub(apart, apart, t->samples[k].position);
        toss_score->position += tact_v3_norm(apart) / CUBE_EDGE_LENGTH / (t->count - 1);
        toss_score->rotation +=
            angle_between_deg(pose->quat_wxyz, t->samples[k].quat_wxyz) / (t->count - 1);
    }
    tact_world_destroy(world);
    return rc;
}

struct job {
    struct toss_data data;
    double p[PARAMETERS];
    int half; /* half of the tosses; 0: every second one from the first, 1: the others, 2: all */
    int each;
    int json;
};

/* Points of an eighth of a sphere, each side of which is divided into SPLIT parts. */
enum { SPLIT = 4, POINTS = (SPLIT + 1) * (SPLIT + 2) / 2 };

/* Makes the eighth of the rounded cube at the corner whose coordinates' signs are the bits of
 * `corner`. */
static void make_rounded_cube_corner(double radius, int corner, double (*point)[3])
{
    for (int i = 0; i <= SPLIT; i++) {
        for (int j = 0; i + j <= SPLIT; j++, point++) {
            double d[3] = {i, j, SPLIT - i - j};
            for (int k = 0; k < 3; k++) {
                d[k] = tan(M_PI / 4 * d[k] / SPLIT);
            }
            tact_v3_scale(d, d, radius / tact_v3_norm(d));
            for (int k = 0; k < 3; k++) {
                (*point)[k] = (corner >> k & 1 ? 1 : -1) * (CUBE_EDGE_LENGTH / 2 - radius + d[k]);
            }
        }
    }
}

/* Makes the cube, whose edges and corners are rounded as by a ball that rolls inside. */
static int make_cube(double radius, struct tact_shape *cube)
{
    double points[8 * POINTS][3];
    struct tact_mesh *mesh;
    struct tact_error err;
    *cube = (struct tact_shape){
        .kind = TACT_SHAPE_BOX,
        .size = {CUBE_EDGE_LENGTH / 2, CUBE_EDGE_LENGTH / 2, CUBE_EDGE_LENGTH / 2}};
    if (!(radius > 0.0)) {
        return tact_shape_tessellate(cube);
    }
    for (int corner = 0; corner < 8; corner++) {
        make_rounded_cube_corner(radius, corner, points + corner * POINTS);
    }
    int rc = tact_mesh_hull(points[0], 8 * POINTS, &mesh, &err);
    *cube = (struct tact_shape){.kind = TACT_SHAPE_CONVEX};
    cube->mesh = cube->owned = rc ? NULL : mesh;
    return rc;
}

/* Mean errors over the tosses of one half of the data. Returns the number of tosses, or a negative
 * errno. */
static int compute_mean_error_of_tosses(const struct job *job, const double *p,
                                        struct toss_score *mean)
{
    struct tact_shape cube;
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(1024);
    int rc = scratch ? make_cube(p[PARAM_EDGE_ROUNDING_RADIUS], &cube) : -1, count = 0;
    memset(mean, 0, sizeof *mean);
    for (int i = 0; i < job->data.count && !rc; i++) {
        struct toss_score one = {0.0, 0.0};
        int at = job->half < 2 ? i / 2 : i;
        if ((job->half < 2 && i % 2 != job->half) ||
            at % (int)p[PARAM_TOSS_STRIDE] != (int)p[PARAM_FIRST_TOSS]) {
            continue;
        }
        rc = simulate_toss(&job->data.tosses[i], p, &cube, scratch, &one);
        mean->position += one.position;
        mean->rotation += one.rotation;
        count++;
        if (job->each) {
            printf("%d %.6f %.4f\n", job->data.tosses[i].number, one.position, one.rotation);
        }
    }
    tact_shape_release(&cube);
    tact_moments_scratch_destroy(scratch);
    if (count) {
        mean->position /= count;
        mean->rotation /= count;
    }
    return rc ? rc : count;
}

static int set_named_parameter(double *p, const char *name, size_t length, const char *value)
{
    for (int i = 0; i < PARAMETERS; i++) {
        if (strlen(parameter_names[i]) == length && !strncmp(parameter_names[i], name, length)) {
            p[i] = atof(value);
            return 1;
        }
    }
    return 0;
}

/* Reads the lines "name: value" under "tact:" of the parameter file; # starts a comment. Every
 * parameter must be present. */
static int read_parameters(const char *path, double *p)
{
    char line[512];
    int found = 0, ours = 0;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "#\n")] = 0;
        const char *name = line + strspn(line, " "), *colon = strchr(name, ':');
        if (colon && name == line) {
            ours = !strncmp(name, "tact:", 5);
        } else if (colon && ours) {
            found += set_named_parameter(p, name, (size_t)(colon - name), colon + 1);
        }
    }
    if (f) {
        fclose(f);
    }
    p[PARAM_TOSS_STRIDE] = 1;
    p[PARAM_FIRST_TOSS] = 0;
    return found == PARAM_FIRST_TOSS - 1;
}

static void score_parameter_sets_from_stdin(const struct job *job)
{
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        double p[PARAMETERS];
        struct toss_score mean;
        memcpy(p, job->p, sizeof p);
        for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
            char *equals_sign = strchr(word, '=');
            if (!equals_sign ||
                !set_named_parameter(p, word, (size_t)(equals_sign - word), equals_sign + 1)) {
                fprintf(stderr, "bench_toss: no parameter %s\n", word);
                exit(2);
            }
        }
        if (compute_mean_error_of_tosses(job, p, &mean) < 0) {
            printf("nan nan\n");
        } else {
            printf("%.9f %.9f\n", mean.position, mean.rotation);
        }
        fflush(stdout);
    }
}

static int print_usage(void)
{
    fprintf(stderr, "usage: bench_toss FOLDER|shared --parameters FILE [--half identify|held|all] "
                    "[--ticks N] [--json] [--each] [--serve] [--at-most PERCENT DEGREES]\n");
    return 2;
}

struct toss_arguments {
    char folder[1024];
    const char *parameter_file_path;
    double most[2]; /* percent, degrees */
    double ticks;   /* a sample; 0: the file's */
    int scores_sets_from_stdin;
};

static void find_toss_data_folder(const char *folder_argument, struct toss_arguments *a)
{
    const char *shared_folder = getenv("TACT_SHARED");
    if (strcmp(folder_argument, "shared")) {
        snprintf(a->folder, sizeof a->folder, "%s", folder_argument);
    } else {
        snprintf(a->folder, sizeof a->folder, "%s/data/cube_toss",
                 shared_folder ? shared_folder : TACT_SOURCE_DIR "/../shared");
    }
}

static int read_arguments(int argc, char **argv, struct toss_arguments *a, struct job *job)
{
    for (int i = 2; i < argc; i++) {
        int left = argc - 1 - i;
        if (!strcmp(argv[i], "--parameters") && left > 0) {
            a->parameter_file_path = argv[++i];
        } else if (!strcmp(argv[i], "--half") && left > 0) {
            const char *half = argv[++i];
            job->half = !strcmp(half, "identify") ? 0 : !strcmp(half, "held") ? 1 : 2;
        } else if (!strcmp(argv[i], "--ticks") && left > 0) {
            a->ticks = atof(argv[++i]);
        } else if (!strcmp(argv[i], "--at-most") && left > 1) {
            a->most[0] = atof(argv[++i]);
            a->most[1] = atof(argv[++i]);
        } else if (!strcmp(argv[i], "--json")) {
            job->json = 1;
        } else if (!strcmp(argv[i], "--each")) {
            job->each = 1;
        } else if (!strcmp(argv[i], "--serve")) {
            a->scores_sets_from_stdin = 1;
        } else {
            return 0;
        }
    }
    if (argc < 2 || !a->parameter_file_path) {
        return 0;
    }
    find_toss_data_folder(argv[1], a);
    return 1;
}

static int print_mean_score(const struct job *job, const struct toss_arguments *a)
{
    struct toss_score mean;
    int count = compute_mean_error_of_tosses(job, job->p, &mean);
    if (count <= 0) {
        fprintf(stderr, "bench_toss: no toss could be rolled out\n");
        return 2;
    }
    double position_error_percent = 100.0 * mean.position;
    if (job->json) {
        printf("{\"tosses\": %d, \"position_percent\": %.4f, \"rotation_deg\": %.4f}\n", count,
               position_error_percent, mean.rotation);
    } else {
        printf("%d tosses: position error %.2f %%, rotation error %.2f deg\n", count,
               position_error_percent, mean.rotation);
    }
    return position_error_percent <= a->most[0] && mean.rotation <= a->most[1] ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct job job = {.half = 2};
    struct toss_arguments a = {.most = {INFINITY, INFINITY}};
    char message[1200] = "";
    if (!read_arguments(argc, argv, &a, &job)) {
        return print_usage();
    }
    if (!read_parameters(a.parameter_file_path, job.p)) {
        fprintf(stderr, "bench_toss: %s lacks parameters of tact\n", a.parameter_file_path);
        return 2;
    }
    job.p[PARAM_TICKS_PER_SAMPLE] = a.ticks > 0.0 ? a.ticks : job.p[PARAM_TICKS_PER_SAMPLE];
    int rc = toss_data_read(a.folder, &job.data, message, sizeof message);
    if (rc) {
        fprintf(stderr, "bench_toss: %s%s\n", rc == -ENOENT ? "skipped: " : "", message);
        return rc == -ENOENT ? 77 : 2;
    }
    if (a.scores_sets_from_stdin) {
        score_parameter_sets_from_stdin(&job);
    } else {
        rc = print_mean_score(&job, &a);
    }
    toss_data_free(&job.data);
    return rc;
}
