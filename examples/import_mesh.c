/* tact import MESH: a mesh of a type that scenes do not read, as OBJ. Its reader is another process
 * (mesh_reader.c), which is given nothing but the file; what it makes is read as any OBJ file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "contact/mesh/mesh.h"
#include "import.h"
#include "output.h"
#include "rt/file.h"
#include "text.h"

enum {
    MOST_SECONDS = 120,    /* that the reader may take */
    MOST_OUTPUT = 1 << 29, /* bytes of its OBJ text */
    MOST_MESSAGE = 256,    /* bytes of its message */
};

/* What goes to the reader and comes from it. */
struct exchange {
    const char *data;
    size_t size, sent;
    char *out; /* OBJ text */
    size_t out_size, out_room;
    char message[MOST_MESSAGE];
    size_t message_size;
    int ends[3]; /* its standard input, output and error; -1: closed */
};

bool is_mesh_file(const char *path)
{
    static const char *const types[] = {".ply", ".glb", ".dae"};
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && i < 3; i++) {
        if (!strcasecmp(dot, types[i])) {
            return true;
        }
    }
    return false;
}

/* The program beside this one, or where it is installed. */
static void find_reader(char path[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 16);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash) {
        snprintf(slash + 1, 16, "tact-mesh");
    }
    if (!slash || access(path, X_OK)) {
        snprintf(path, PATH_MAX, "%s", TACT_MESH_PROGRAM);
    }
}

static void close_pipes(int (*pipes)[2], int count)
{
    for (int i = 0; i < count; i++) {
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
}

/* Starts the reader with three pipes, of which x->ends are this side's. Returns 0 or -errno. */
static int start_reader(struct exchange *x, const char *type, pid_t *pid)
{
    char path[PATH_MAX], size[24];
    char *const arguments[] = {"tact-mesh", (char *)(uintptr_t)type, size, NULL};
    char *const environment[] = {NULL};
    posix_spawn_file_actions_t files;
    int pipes[3][2], rc = 0;
    find_reader(path);
    snprintf(size, sizeof size, "%zu", x->size);
    for (int i = 0; i < 3; i++) {
        if (pipe2(pipes[i], O_CLOEXEC)) {
            rc = -errno;
            close_pipes(pipes, i);
            return rc;
        }
    }
    posix_spawn_file_actions_init(&files);
    for (int i = 0; i < 3; i++) {
        posix_spawn_file_actions_adddup2(&files, pipes[i][i > 0], i);
    }
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    rc = posix_spawn(pid, path, &files, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&files);
    if (rc) {
        close_pipes(pipes, 3);
        return -rc;
    }
    for (int i = 0; i < 3; i++) {
        close(pipes[i][i > 0]);
        x->ends[i] = pipes[i][i == 0];
    }
    return 0;
}

static void close_end(struct exchange *x, int i)
{
    close(x->ends[i]);
    x->ends[i] = -1;
}

static void send_part(struct exchange *x)
{
    const ssize_t n = write(x->ends[0], x->data + x->sent, x->size - x->sent);
    x->sent += n > 0 ? (size_t)n : 0;
    if (x->sent == x->size || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close_end(x, 0);
    }
}

/* Reads what is there. Returns 0, or a negative errno where it is too much. */
static int receive_part(struct exchange *x)
{
    if (x->out_size == x->out_room) {
        const size_t larger = x->out_room ? 2 * x->out_room : 1 << 16;
        char *grown = larger <= MOST_OUTPUT ? realloc(x->out, larger + 1) : NULL;
        if (!grown) {
            return larger <= MOST_OUTPUT ? -ENOMEM : -EFBIG;
        }
        x->out = grown;
        x->out_room = larger;
    }
    const ssize_t n = read(x->ends[1], x->out + x->out_size, x->out_room - x->out_size);
    x->out_size += n > 0 ? (size_t)n : 0;
    if (n == 0) {
        close_end(x, 1);
    }
    return 0;
}

static void receive_message(struct exchange *x)
{
    char beyond[MOST_MESSAGE];
    const size_t room = MOST_MESSAGE - 1 - x->message_size;
    const ssize_t n = room ? read(x->ends[2], x->message + x->message_size, room)
                           : read(x->ends[2], beyond, sizeof beyond);
    x->message_size += room && n > 0 ? (size_t)n : 0;
    if (n == 0) {
        close_end(x, 2);
    }
}

/* Until the reader has closed its output, or its time is over. Returns 0 or a negative errno. */
static int exchange_all(struct exchange *x, time_t end)
{
    int rc = 0;
    fcntl(x->ends[0], F_SETFL, O_NONBLOCK);
    while (!rc && (x->ends[1] >= 0 || x->ends[2] >= 0)) {
        struct pollfd wait[3] = {
            {x->ends[0], POLLOUT, 0}, {x->ends[1], POLLIN, 0}, {x->ends[2], POLLIN, 0}};
        if (time(NULL) >= end) {
            return -ETIMEDOUT;
        }
        if (poll(wait, 3, 1000) <= 0) {
            continue;
        }
        if (wait[0].revents) {
            send_part(x);
        }
        if (wait[1].revents) {
            rc = receive_part(x);
        }
        if (wait[2].revents) {
            receive_message(x);
        }
    }
    return rc;
}

/* Waits for the end of the reader, which is killed where it does not end in time. Returns 0 or a
 * negative errno. */
static int wait_for_reader(pid_t pid, time_t end, int *status)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    bool killed = false;
    for (;;) {
        const pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid) {
            return killed ? -ETIMEDOUT : 0;
        }
        if (ended < 0 && errno != EINTR) {
            return -errno;
        }
        if (!killed && time(NULL) >= end) {
            kill(pid, SIGKILL);
            killed = true;
        }
        nanosleep(&pause, NULL);
    }
}

/* Has the file read by the other process. Returns 0 or a negative errno with the message. */
static int read_elsewhere(struct exchange *x, const char *type, struct tact_error *err)
{
    const time_t end = time(NULL) + MOST_SECONDS;
    pid_t pid = 0;
    int status = 0;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    int rc = start_reader(x, type, &pid);
    if (rc) {
        signal(SIGPIPE, before);
        return tact_error_set(err, rc, "its reader tact-mesh cannot be started: %s", strerror(-rc));
    }
    rc = exchange_all(x, end);
    if (rc) {
        kill(pid, SIGKILL);
    }
    for (int i = 0; i < 3; i++) {
        if (x->ends[i] >= 0) {
            close_end(x, i);
        }
    }
    const int waited = wait_for_reader(pid, end, &status);
    rc = rc ? rc : waited;
    signal(SIGPIPE, before);
    x->message[strcspn(x->message, "\n")] = '\0';
    if (rc) {
        return tact_error_set(err, rc, "its reader was stopped: %s", strerror(-rc));
    }
    if (!WIFEXITED(status)) {
        return tact_error_set(err, -EINVAL, "its reader was killed by signal %d%s",
                              WTERMSIG(status),
                              WTERMSIG(status) == SIGXCPU ? ": it took too long" : "");
    }
    return WEXITSTATUS(status) ? tact_error_set(err, -EINVAL, "cannot be read: %s",
                                                x->message[0] ? x->message : "it has no triangles")
                               : 0;
}

static void print_soup(FILE *to, const struct tact_soup *soup)
{
    for (size_t i = 0; i < soup->vertex_count; i++) {
        const double *v = soup->vertices + 3 * i;
        fprintf(to, "v %.9g %.9g %.9g\n", v[0], v[1], v[2]);
    }
    for (size_t i = 0; i < soup->triangle_count; i++) {
        const uint32_t *t = soup->triangles + 3 * i;
        fprintf(to, "f %u %u %u\n", t[0] + 1, t[1] + 1, t[2] + 1);
    }
}

static int write_soup(const struct tact_soup *soup, const char *command,
                      const struct hand_import *h)
{
    struct output output;
    int code = output_open(&output, command, h->out, h->force);
    if (code) {
        return code;
    }
    print_soup(output.to, soup);
    return output_close(&output, EXIT_GOOD, 1);
}

/* What a scene will say of the mesh. */
static void report_soup(const struct tact_soup *soup, const struct hand_import *h)
{
    struct tact_mesh_defects d;
    double lower[3] = {0.0}, upper[3] = {0.0};
    for (size_t i = 0; i < 3 * soup->vertex_count; i++) {
        const double x = soup->vertices[i];
        lower[i % 3] = i < 3 || x < lower[i % 3] ? x : lower[i % 3];
        upper[i % 3] = i < 3 || x > upper[i % 3] ? x : upper[i % 3];
    }
    if (h->quiet || tact_mesh_inspect(soup->vertices, soup->vertex_count, soup->triangles,
                                      soup->triangle_count, &d)) {
        return;
    }
    const bool closed = !d.boundary_edges && !d.nonmanifold_edges && !d.misoriented_edges &&
                        !d.degenerate && !d.crossings && !d.misplaced && d.volume > 0.0;
    printf("%s: %zu triangles, %.6g x %.6g x %.6g in the file's unit; %s\n", text_shown(h->out),
           soup->triangle_count, upper[0] - lower[0], upper[1] - lower[1], upper[2] - lower[2],
           closed ? "closed: `type: mesh` takes it"
                  : "not closed: `type: convex` takes its hull, `tact moments --check` says why");
}

int import_mesh(const char *command, const struct hand_import *h)
{
    struct tact_error err = {.line = 0};
    struct exchange x = {.ends = {-1, -1, -1}};
    struct tact_soup soup = {0};
    char *data = NULL;
    uint64_t size = 0;
    tact_error_at(&err, h->path, 0, 0, NULL);
    int rc = tact_file_read(h->path, TACT_FILE_MESH_BYTES, &data, &size);
    if (rc) {
        tact_error_set(&err, rc, "cannot be read: %s", strerror(-rc));
        return command_error(&err);
    }
    x.data = data;
    x.size = (size_t)size;
    rc = read_elsewhere(&x, strrchr(h->path, '.') + 1, &err);
    rc = rc ? rc : tact_soup_read(x.out ? x.out : "", x.out_size, h->path, 1.0, &soup, &err);
    free(data);
    free(x.out);
    if (rc) {
        return command_error(&err);
    }
    int code = write_soup(&soup, command, h);
    if (code == EXIT_GOOD) {
        report_soup(&soup, h);
    }
    tact_soup_free(&soup);
    return code;
}
