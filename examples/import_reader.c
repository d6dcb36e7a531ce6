/* Reading a file of a foreign type by another process, which is given nothing but the file, and
 * whose output is read as any OBJ file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "import_reader.h"
#include "rt/file.h"

enum {
    MAX_READER_SECONDS = 120,          /* maximum time for the reader process [s] */
    MAX_READER_OUTPUT_BYTES = 1 << 29, /* maximum size of the reader's OBJ text [bytes] */
    MAX_READER_MESSAGE_BYTES = 256,    /* maximum size of the reader's message [bytes] */
};

/* Data sent to the reader process and received from it. */
struct reader_exchange {
    const char *data;
    size_t size, sent;
    char *out; /* OBJ text */
    size_t reader_output_size, output_capacity;
    char message[MAX_READER_MESSAGE_BYTES];
    size_t reader_message_size;
    int ends[3]; /* pipes to the reader's standard input, output and error; -1: closed */
};

/* Finds the reader program: beside this program, or where it is installed. */
static void find_reader_program(const char *reader_program_name, char path[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 16);
    path[length > 0 ? length : 0] = '\0';
    char *last_slash = strrchr(path, '/');
    if (last_slash) {
        snprintf(last_slash + 1, 16, "%s", reader_program_name);
    }
    if (!last_slash || access(path, X_OK)) {
        snprintf(path, PATH_MAX, "%s/%s", TACT_READERS, reader_program_name);
    }
}

static void close_reader_pipes(int (*reader_pipes)[2], int count)
{
    for (int i = 0; i < count; i++) {
        close(reader_pipes[i][0]);
        close(reader_pipes[i][1]);
    }
}

/* Starts the reader with three pipes, of which x->ends are this side's. Returns 0 or -errno. */
static int start_reader_process(struct reader_exchange *x, const char *reader_program,
                                const char *type, pid_t *pid)
{
    char path[PATH_MAX], size[24];
    char *const arguments[] = {(char *)(uintptr_t)reader_program, (char *)(uintptr_t)type, size,
                               NULL};
    char *const environment[] = {NULL};
    posix_spawn_file_actions_t files;
    int reader_pipes[3][2], rc = 0;
    find_reader_program(reader_program, path);
    snprintf(size, sizeof size, "%zu", x->size);
    for (int i = 0; i < 3; i++) {
        if (pipe2(reader_pipes[i], O_CLOEXEC)) {
            rc = -errno;
            close_reader_pipes(reader_pipes, i);
            return rc;
        }
    }
    posix_spawn_file_actions_init(&files);
    for (int i = 0; i < 3; i++) {
        posix_spawn_file_actions_adddup2(&files, reader_pipes[i][i > 0], i);
    }
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    rc = posix_spawn(pid, path, &files, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&files);
    if (rc) {
        close_reader_pipes(reader_pipes, 3);
        return -rc;
    }
    for (int i = 0; i < 3; i++) {
        close(reader_pipes[i][i > 0]);
        x->ends[i] = reader_pipes[i][i == 0];
    }
    return 0;
}

static void close_reader_pipe_end(struct reader_exchange *x, int i)
{
    close(x->ends[i]);
    x->ends[i] = -1;
}

static void send_pending_input(struct reader_exchange *x)
{
    const ssize_t n = write(x->ends[0], x->data + x->sent, x->size - x->sent);
    x->sent += n > 0 ? (size_t)n : 0;
    if (x->sent == x->size || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close_reader_pipe_end(x, 0);
    }
}

/* Receives the available output of the reader. Returns 0, or a negative errno if it is too large.
 */
static int receive_available_output(struct reader_exchange *x)
{
    if (x->reader_output_size == x->output_capacity) {
        const size_t grown_output_capacity = x->output_capacity ? 2 * x->output_capacity : 1 << 16;
        char *grown_output_buffer = grown_output_capacity <= MAX_READER_OUTPUT_BYTES
                                        ? realloc(x->out, grown_output_capacity + 1)
                                        : NULL;
        if (!grown_output_buffer) {
            return grown_output_capacity <= MAX_READER_OUTPUT_BYTES ? -ENOMEM : -EFBIG;
        }
        x->out = grown_output_buffer;
        x->output_capacity = grown_output_capacity;
    }
    const ssize_t n = read(x->ends[1], x->out + x->reader_output_size,
                           x->output_capacity - x->reader_output_size);
    x->reader_output_size += n > 0 ? (size_t)n : 0;
    if (n == 0) {
        close_reader_pipe_end(x, 1);
    }
    return 0;
}

static void receive_reader_message(struct reader_exchange *x)
{
    char discarded_message[MAX_READER_MESSAGE_BYTES];
    const size_t room = MAX_READER_MESSAGE_BYTES - 1 - x->reader_message_size;
    const ssize_t n = room ? read(x->ends[2], x->message + x->reader_message_size, room)
                           : read(x->ends[2], discarded_message, sizeof discarded_message);
    x->reader_message_size += room && n > 0 ? (size_t)n : 0;
    if (n == 0) {
        close_reader_pipe_end(x, 2);
    }
}

/* Exchanges data until the reader has closed its output, or its time is over. Returns 0 or a
 * negative errno. */
static int exchange_with_reader_until_closed(struct reader_exchange *x, time_t end)
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
            send_pending_input(x);
        }
        if (wait[1].revents) {
            rc = receive_available_output(x);
        }
        if (wait[2].revents) {
            receive_reader_message(x);
        }
    }
    return rc;
}

/* Waits for the end of the reader, which is killed where it does not end in time. Returns 0 or a
 * negative errno. */
static int wait_for_reader(pid_t pid, time_t end, int *wait_status)
{
    const struct timespec pause_between_polls = {.tv_nsec = 2000000};
    bool is_reader_killed = false;
    for (;;) {
        const pid_t ended = waitpid(pid, wait_status, WNOHANG);
        if (ended == pid) {
            return is_reader_killed ? -ETIMEDOUT : 0;
        }
        if (ended < 0 && errno != EINTR) {
            return -errno;
        }
        if (!is_reader_killed && time(NULL) >= end) {
            kill(pid, SIGKILL);
            is_reader_killed = true;
        }
        nanosleep(&pause_between_polls, NULL);
    }
}

/* Runs the reader process on the file's text. Returns 0 or a negative errno with the message. */
static int exchange_with_reader(struct reader_exchange *x, const char *reader_program,
                                const char *type, struct tact_error *err)
{
    const time_t end = time(NULL) + MAX_READER_SECONDS;
    pid_t pid = 0;
    int wait_status = 0;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    int rc = start_reader_process(x, reader_program, type, &pid);
    if (rc) {
        signal(SIGPIPE, before);
        return tact_error_set(
            err, rc, "the program %s that reads this file cannot be started: %s%s", reader_program,
            strerror(-rc), rc == -ENOENT ? "; this build of tact was made without it" : "");
    }
    rc = exchange_with_reader_until_closed(x, end);
    if (rc) {
        kill(pid, SIGTERM); /* SIGTERM first, as the reader may have files to remove */
    }
    for (int i = 0; i < 3; i++) {
        if (x->ends[i] >= 0) {
            close_reader_pipe_end(x, i);
        }
    }
    const int reader_wait_error = wait_for_reader(pid, end, &wait_status);
    rc = rc ? rc : reader_wait_error;
    signal(SIGPIPE, before);
    x->message[strcspn(x->message, "\n")] = '\0';
    if (rc) {
        return tact_error_set(err, rc, "the process that reads this file was stopped: %s",
                              strerror(-rc));
    }
    if (!WIFEXITED(wait_status)) {
        return tact_error_set(
            err, -EINVAL, "the process that reads this file was killed by signal %d%s",
            WTERMSIG(wait_status), WTERMSIG(wait_status) == SIGXCPU ? ": it took too long" : "");
    }
    return WEXITSTATUS(wait_status) ? tact_error_set(err, -EINVAL, "cannot be read: %s",
                                                     x->message[0] ? x->message : "it is empty")
                                    : 0;
}

int import_read_in_other_process(const char *path, const char *reader_program, const char *type,
                                 char **text, size_t *text_size, struct tact_error *err)
{
    struct reader_exchange x = {.ends = {-1, -1, -1}};
    char *data = NULL;
    uint64_t size = 0;
    *text = NULL;
    *text_size = 0;
    tact_error_at(err, path, 0, 0, NULL);
    int rc = tact_file_read(path, TACT_FILE_MESH_BYTES, &data, &size);
    if (rc) {
        return tact_error_set(err, rc, "cannot be read: %s", tact_file_failure_reason(rc));
    }
    x.data = data;
    x.size = (size_t)size;
    rc = exchange_with_reader(&x, reader_program, type, err);
    free(data);
    if (rc) {
        free(x.out);
        return rc;
    }
    if (x.out) {
        x.out[x.reader_output_size] = '\0'; /* the buffer has room for this byte */
    }
    *text = x.out;
    *text_size = x.reader_output_size;
    return 0;
}
