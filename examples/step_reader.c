/* tact-step: reads the surfaces of a solid from a STEP file, by gmsh and its OpenCASCADE, and
 * writes them as free-form surfaces of an OBJ file, in metres. Started by tact import, with the
 * file on its standard input; what reads it is a process of its own again, whose files are those of
 * one folder, and which can open no socket and start no program.
 *
 * gmsh's C interface evaluates surfaces but has no control points, which are read from the text
 * that gmsh writes of the solid. Each surface is the one that has the points that gmsh finds on a
 * face. */
#include <errno.h>
#include <fcntl.h>
#include <gmshc.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "reader_process.h"
#include "step_surface.h"

#define MIN_CPU_SECONDS 20 /* minimum limit of the processor time, for any file [s] */
/* time after which reading is given up, for any file [s]; tact import waits 120 s */
#define MAX_WALL_CLOCK_SECONDS 110
#define MAX_MEMORY_BYTES (4ull << 30) /* [bytes] */
/* tolerance of equal points of a surface, relative to the size of the solid */
#define FACE_POINT_TOLERANCE 1e-9
#define RELATIVE_PARAMETER_TOLERANCE                                                               \
    1e-6 /* tolerance of equal parameters, relative to their range */

enum { MOST_FACES = 4096, EDGE_SAMPLES = 17, FACE_SAMPLES = 3, MOST_OBJ_DEGREE = 3 };

/* The folder of the process, and its files: the solid, gmsh's text of it, and what OpenCASCADE
 * prints while it reads. */
struct folder {
    char path[32], step[48], brep[48], notes[48];
};

/* Streams of this program's own output and messages, to which gmsh and OpenCASCADE do not print. */
static FILE *written_surfaces_stream, *message_stream;

static int report_refused_solid(const char *what)
{
    fprintf(message_stream, "%s\n", what);
    return 1;
}

static int report_refused_face(int face, const char *name, const char *why)
{
    fprintf(message_stream, "face %d, %s: %s\n", face, name, why);
    return 1;
}

static bool write_whole_file(const char *path, const char *data, size_t size)
{
    FILE *to = fopen(path, "w");
    const bool is_file_completely_written = to && fwrite(data, 1, size, to) == size;
    return to && !fclose(to) && is_file_completely_written;
}

/* Text of a file, to be freed; NULL where there is none. */
static char *read_file_text(const char *path)
{
    FILE *from = fopen(path, "r");
    char *text = NULL;
    if (from && !fseek(from, 0, SEEK_END)) {
        const long size = ftell(from);
        text = size > 0 ? malloc((size_t)size + 1) : NULL;
        rewind(from);
        if (text) {
            text[fread(text, 1, (size_t)size, from)] = '\0';
        }
    }
    if (from) {
        fclose(from);
    }
    return text;
}

/* Keeps standard output and error for this program, and has what others print in a file. Returns 0
 * or -1. */
static int redirect_library_output(const char *path)
{
    const int library_output_fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    written_surfaces_stream = fdopen(dup(1), "w");
    message_stream = fdopen(dup(2), "w");
    return library_output_fd < 0 || !written_surfaces_stream || !message_stream ||
                   dup2(library_output_fd, 1) < 0 || dup2(library_output_fd, 2) < 0
               ? -1
               : 0;
}

/* Whether OpenCASCADE has found errors in the text of the solid, of which it leaves a part out. */
static bool has_step_import_errors(const char *path)
{
    fflush(NULL);
    char *notes = read_file_text(path);
    const bool has = notes && (strstr(notes, "ERR ") || strstr(notes, "Syntax"));
    free(notes);
    return has;
}

static int start_gmsh(void)
{
    int rc = 0;
#if GMSH_API_VERSION_MAJOR > 4 || GMSH_API_VERSION_MINOR > 8
    gmshInitialize(0, NULL, 0, 0, &rc);
#else
    gmshInitialize(0, NULL, 0, &rc);
#endif
    if (!rc) {
        gmshOptionSetNumber("General.Terminal", 0.0, &rc);
    }
    if (!rc) {
        gmshOptionSetString("Geometry.OCCTargetUnit", "M", &rc);
    }
    return rc;
}

/* Has gmsh read the solid and write it as text. Returns the number of its faces and their tags, to
 * be freed by gmshFree(), or 0 after a message. */
static size_t read_step_solid(const struct folder *folder, int **faces)
{
    size_t imported_entity_count = 0, solids = 0, count = 0;
    int rc = 0, *tags = NULL;
    gmshModelOccImportShapes(folder->step, &tags, &imported_entity_count, 1, "step", &rc);
    gmshFree(tags);
    if (!rc) {
        gmshModelOccSynchronize(&rc);
    }
    if (rc || has_step_import_errors(folder->notes)) {
        report_refused_solid(rc ? "OpenCASCADE cannot read the file as STEP"
                                : "OpenCASCADE finds errors in the STEP file");
        return 0;
    }
    tags = NULL;
    gmshModelGetEntities(&tags, &solids, 3, &rc);
    gmshFree(tags);
    if (rc || solids != 2) {
        fprintf(message_stream, "the STEP file has %zu solids; expected one\n", solids / 2);
        return 0;
    }
    gmshWrite(folder->brep, &rc);
    if (!rc) {
        gmshModelGetEntities(faces, &count, 2, &rc);
    }
    if (rc) {
        report_refused_solid("gmsh cannot write the solid of the STEP file");
        return 0;
    }
    if (!count || count / 2 > MOST_FACES) {
        fprintf(message_stream, "the solid of the STEP file has %zu faces; expected 1 to %d\n",
                count / 2, MOST_FACES);
        return 0;
    }
    return count / 2;
}

/* Points on a face, with their parameters. */
struct face {
    int tag;
    double low[2], high[2];
    double uv[2 * FACE_SAMPLES], at[3 * FACE_SAMPLES];
    bool is_outward_normal_reversed; /* 1: the face's outward normal is opposite to that of u and v
                                      */
};

static int read_range_and_points_of_face(int tag, struct face *face)
{
    static const double share[FACE_SAMPLES][2] = {{0.37, 0.59}, {0.81, 0.23}, {0.13, 0.91}};
    double *low = NULL, *high = NULL, *at = NULL;
    size_t n = 0, m = 0, points = 0;
    int rc = 0;
    face->tag = tag;
    gmshModelGetParametrizationBounds(2, tag, &low, &n, &high, &m, &rc);
    rc = rc || n != 2 || m != 2;
    for (int k = 0; k < 2 && !rc; k++) {
        face->low[k] = low[k];
        face->high[k] = high[k];
        for (int i = 0; i < FACE_SAMPLES; i++) {
            face->uv[2 * i + k] = low[k] + share[i][k] * (high[k] - low[k]);
        }
    }
    if (!rc) {
        gmshModelGetValue(2, tag, face->uv, 2 * FACE_SAMPLES, &at, &points, &rc);
        rc = rc || points != 3 * FACE_SAMPLES;
    }
    if (!rc) {
        memcpy(face->at, at, sizeof face->at);
    }
    gmshFree(low);
    gmshFree(high);
    gmshFree(at);
    return rc;
}

/* Largest distance of points of a surface from those of a face with the same parameters. */
static double find_largest_distance_from_face(const struct step_surface *s, const struct face *face)
{
    double most = 0.0;
    for (int i = 0; i < FACE_SAMPLES; i++) {
        double at[3];
        step_spline_evaluate_point(s, face->uv + 2 * i, at);
        for (int k = 0; k < 3; k++) {
            const double off = fabs(at[k] - face->at[3 * i + k]);
            most = isfinite(off) ? fmax(most, off) : INFINITY;
        }
    }
    return most;
}

/* 1 where the edges of a face are its smallest and largest parameters, 0 where it is trimmed. */
static int is_face_untrimmed(const struct face *face)
{
    int face_dimension_and_tag[2] = {2, face->tag}, *edges = NULL, rc = 0, is_untrimmed = 1;
    size_t count = 0;
    gmshModelGetBoundary(face_dimension_and_tag, 2, &edges, &count, 0, 0, 0, &rc);
    for (size_t e = 0; e < count && !rc; e += 2) {
        double *low = NULL, *high = NULL, *uv = NULL, t[EDGE_SAMPLES];
        size_t n = 0, m = 0, points = 0;
        gmshModelGetParametrizationBounds(1, edges[e + 1], &low, &n, &high, &m, &rc);
        rc = rc || n != 1 || m != 1;
        for (int i = 0; i < EDGE_SAMPLES && !rc; i++) {
            t[i] = low[0] + (high[0] - low[0]) * i / (EDGE_SAMPLES - 1);
        }
        if (!rc) {
            gmshModelReparametrizeOnSurface(1, edges[e + 1], t, EDGE_SAMPLES, face->tag, &uv,
                                            &points, 0, &rc);
            rc = rc || points != 2 * EDGE_SAMPLES;
        }
        for (size_t i = 0; i + 1 < points && !rc; i += 2) {
            double nearest = INFINITY;
            for (int k = 0; k < 2; k++) {
                const double range = face->high[k] - face->low[k], x = uv[i + (size_t)k];
                nearest =
                    fmin(nearest, fmin(fabs(x - face->low[k]), fabs(x - face->high[k])) / range);
            }
            is_untrimmed &= nearest <= RELATIVE_PARAMETER_TOLERANCE;
        }
        gmshFree(low);
        gmshFree(high);
        gmshFree(uv);
    }
    gmshFree(edges);
    return is_untrimmed && !rc;
}

/* Whether a surface has the same ranges of parameters as the face: where not, the face is trimmed.
 */
static bool has_parameter_range_of_face(const struct step_surface *s, const struct face *face)
{
    bool has_range_of_face_parameters = true;
    for (int k = 0; k < 2; k++) {
        double parameter_range_of_surface[2],
            parameter_tolerance = RELATIVE_PARAMETER_TOLERANCE * (face->high[k] - face->low[k]);
        step_spline_parameter_range(s, k, parameter_range_of_surface);
        has_range_of_face_parameters &=
            fabs(parameter_range_of_surface[0] - face->low[k]) <= parameter_tolerance &&
            fabs(parameter_range_of_surface[1] - face->high[k]) <= parameter_tolerance;
    }
    return has_range_of_face_parameters;
}

/* Sets is_outward_normal_reversed: gmsh's normals of a solid point outward. */
static int find_whether_face_is_reversed(const struct step_surface *s, struct face *face)
{
    double at[3][3], *normal = NULL, uv[2], side[2][3];
    size_t n = 0;
    int rc = 0;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            uv[k] = face->uv[k] + (i == k + 1 ? 1e-4 * (face->high[k] - face->low[k]) : 0.0);
        }
        step_spline_evaluate_point(s, uv, at[i]);
    }
    for (int k = 0; k < 3; k++) {
        side[0][k] = at[1][k] - at[0][k];
        side[1][k] = at[2][k] - at[0][k];
    }
    gmshModelGetNormal(face->tag, face->uv, 2, &normal, &n, &rc);
    double outward_to_uv_normal_product = 0.0;
    for (int k = 0; k < 3 && !rc && n == 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        outward_to_uv_normal_product +=
            normal[k] * (side[0][a] * side[1][b] - side[0][b] * side[1][a]);
    }
    gmshFree(normal);
    face->is_outward_normal_reversed = outward_to_uv_normal_product < 0.0;
    return rc || outward_to_uv_normal_product == 0.0;
}

/* Writes the surface of one face. Returns 0, or 1 after a message. */
static int write_surface_of_face(const struct step_surface *surfaces, int count, struct face *face,
                                 double size)
{
    const struct step_surface *found = NULL;
    double least = FACE_POINT_TOLERANCE * size;
    char *type = NULL;
    int rc = 0;
    for (int i = 0; i < count; i++) {
        const double off =
            surfaces[i].point ? find_largest_distance_from_face(&surfaces[i], face) : INFINITY;
        if (off <= least) {
            least = off;
            found = &surfaces[i];
        }
    }
    if (!found) {
        gmshModelGetType(2, face->tag, &type, &rc);
        rc = report_refused_face(face->tag, type && !rc ? type : "a surface of an unknown type",
                                 "expected a B-spline, a Bezier surface or a torus");
        gmshFree(type);
        return rc;
    }
    if (!has_parameter_range_of_face(found, face) || !is_face_untrimmed(face)) {
        return report_refused_face(face->tag, found->name, "trimmed; expected a whole surface");
    }
    if (found->degree[0] > MOST_OBJ_DEGREE || found->degree[1] > MOST_OBJ_DEGREE) {
        return report_refused_face(face->tag, found->name, "expected degrees of at most 3");
    }
    if (find_whether_face_is_reversed(found, face)) {
        return report_refused_face(face->tag, found->name,
                                   "the outward side of a face cannot be determined");
    }
    step_spline_write_as_obj(written_surfaces_stream, found, face->is_outward_normal_reversed);
    return 0;
}

/* Writes the faces of the solid. Returns 0, or 1 after a message. */
static int write_surfaces_of_faces(const int *gmsh_face_tags, size_t count, const char *text)
{
    const char *what = NULL;
    int surface_count = 0, rc = 0;
    double size = 0.0;
    struct step_surface *surfaces = step_surfaces_read(text, &surface_count, &what);
    struct face *faces = calloc(count, sizeof *faces);
    for (size_t i = 0; surfaces && faces && i < count && !rc; i++) {
        if (read_range_and_points_of_face(gmsh_face_tags[2 * i + 1], &faces[i])) {
            rc = report_refused_solid("gmsh cannot evaluate a face of the STEP file");
        }
        for (int k = 0; k < 3 * FACE_SAMPLES && !rc; k++) {
            rc = isfinite(faces[i].at[k])
                     ? 0
                     : report_refused_face(gmsh_face_tags[2 * i + 1], "a surface evaluated by gmsh",
                                           "a coordinate of it is infinite or not a number; "
                                           "expected a STEP file with finite surfaces");
            size = fmax(size, fabs(faces[i].at[k]));
        }
    }
    rc = rc || faces ? rc : report_refused_solid("no memory");
    rc = rc || surfaces ? rc : report_refused_solid(what);
    for (size_t i = 0; i < count && !rc; i++) {
        rc = write_surface_of_face(surfaces, surface_count, &faces[i], size);
    }
    step_surfaces_free(surfaces, surface_count);
    free(faces);
    return rc;
}

/* Reads and converts the STEP file, in the child process. Returns its exit code. */
static int convert_step_file(const struct folder *folder)
{
    int *faces = NULL, rc = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (redirect_library_output(folder->notes)) {
        return 1;
    }
    if (start_gmsh()) {
        return report_refused_solid("the library gmsh cannot be initialised");
    }
    reader_limit_resource(RLIMIT_AS, MAX_MEMORY_BYTES);
    reader_limit_resource(RLIMIT_FSIZE, 1ull << 30);
    if (reader_confine_to_folder(folder->path)) {
        return report_refused_solid("a STEP file is read only in a sandbox of Landlock, which this "
                                    "kernel lacks (expected Linux 5.13 or newer)");
    }
    const size_t count = read_step_solid(folder, &faces);
    char *text = count ? read_file_text(folder->brep) : NULL;
    if (text) {
        rc = write_surfaces_of_faces(faces, count, text);
    } else if (count) {
        report_refused_solid(
            "no memory, or no disk space, for the file that gmsh writes of the solid");
    }
    gmshFree(faces);
    free(text);
    return fclose(written_surfaces_stream) | fclose(message_stream) ? 1 : rc;
}

/* The child process that reads. A signal that would end this program ends the child instead, whose
 * files are then removed. */
static volatile sig_atomic_t reader, is_late;

static void exit_on_signal(int number)
{
    is_late |= number == SIGALRM;
    kill((pid_t)reader, SIGKILL);
}

static const int ends[] = {SIGTERM, SIGHUP, SIGALRM};
enum { ENDS = sizeof ends / sizeof *ends };

/* Blocks or unblocks the signals that end this program. */
static void set_reader_signal_mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < ENDS; i++) {
        sigaddset(&set, ends[i]);
    }
    sigprocmask(how, &set, NULL);
}

/* Waits for the child process that reads. Returns its exit code, or 1 after a message. */
static int wait_for_gmsh_process(pid_t pid)
{
    int wait_status = 0;
    reader = pid;
    for (int i = 0; i < ENDS; i++) {
        signal(ends[i], exit_on_signal);
    }
    set_reader_signal_mask(SIG_UNBLOCK);
    while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR) {
    }
    set_reader_signal_mask(SIG_BLOCK);
    if (WIFEXITED(wait_status)) {
        return WEXITSTATUS(wait_status);
    }
    fprintf(stderr, "%s\n",
            is_late || WTERMSIG(wait_status) == SIGXCPU
                ? "the STEP file took too long to read"
                : "gmsh failed while it read the STEP file");
    return 1;
}

int main(int argc, char **argv)
{
    struct folder folder = {.path = "/tmp/tact-step-XXXXXX"};
    size_t size = 0;
    message_stream = stderr;
    if (argc != 3 || strcmp(argv[1], "step") != 0) {
        fputs("tact-step reads STEP files for tact import, which starts it\n", stderr);
        return 2;
    }
    char *data = reader_read_input(&size);
    set_reader_signal_mask(SIG_BLOCK);
    alarm(MAX_WALL_CLOCK_SECONDS);
    if (!data || !mkdtemp(folder.path)) {
        return report_refused_solid(data ? "no temporary folder" : "too large");
    }
    snprintf(folder.step, sizeof folder.step, "%s/solid.step", folder.path);
    snprintf(folder.notes, sizeof folder.notes, "%s/notes", folder.path);
    snprintf(folder.brep, sizeof folder.brep, "%s/solid.brep", folder.path);
    int rc = write_whole_file(folder.step, data, size)
                 ? 0
                 : report_refused_solid("no disk space for a temporary file");
    free(data);
    /* an interrupt ends the child process only, whose files are then removed */
    signal(SIGINT, SIG_IGN);
    const pid_t pid = rc ? -1 : fork();
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        set_reader_signal_mask(SIG_UNBLOCK);
        reader_limit_cpu_time(size, MIN_CPU_SECONDS);
        _exit(convert_step_file(&folder));
    }
    rc = pid > 0 ? wait_for_gmsh_process(pid) : 1;
    unlink(folder.step);
    unlink(folder.brep);
    unlink(folder.notes);
    rmdir(folder.path);
    return rc;
}
