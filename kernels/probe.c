/* The first query of OpenCL drivers, made by a child process. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/probe_internal.h"

#define PROBE_SUCCESS_BYTE '\001'
#define PROBE_TIMEOUT_MS 20000

static struct {
    pthread_mutex_t lock;
    int has_child_run; /* 1: the child process has been run */
    const char *fault; /* "blocks" or "terminates" the child; NULL if it returned from its query */
    char output[160];
} probe = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The child: the drivers' output goes to the parent, followed by PROBE_SUCCESS_BYTE. _exit() does
 * not flush the stream buffers copied from the parent. */
static void run_in_child(void (*query)(void), int out)
{
    const struct rlimit no_core_dump_limit = {0, 0};
    const char probe_success_byte = PROBE_SUCCESS_BYTE;
    setrlimit(RLIMIT_CORE, &no_core_dump_limit);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    query();
    _exit(write(out, &probe_success_byte, 1) == 1 ? 0 : 1);
}

/* Stores the end of the child's output in `words`. Returns 1 if its last byte is
 * PROBE_SUCCESS_BYTE, 0 if the child ended without it, -1 if nothing came for PROBE_TIMEOUT_MS. */
static int read_child_answer(int in, char *words, size_t size)
{
    size_t used = 0;
    struct pollfd child_answer_poll = {.fd = in, .events = POLLIN};
    char child_answer_bytes[512], last = 0;
    while (last != PROBE_SUCCESS_BYTE) {
        int rc = poll(&child_answer_poll, 1, PROBE_TIMEOUT_MS);
        ssize_t got = rc > 0 ? read(in, child_answer_bytes, sizeof child_answer_bytes) : 0;
        if ((rc < 0 || got < 0) && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return rc ? 0 : -1;
        }
        for (ssize_t i = 0; i < got; i++) {
            last = child_answer_bytes[i];
            if (used == size - 1) {
                memmove(words, words + 1, --used);
            }
            words[used++] = last == '\n' ? ' ' : last;
        }
    }
    return 1;
}

static void run_query_in_child(void (*query)(void))
{
    int ends[2];
    if (pipe(ends)) {
        return; /* the drivers are then queried without a probe */
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_in_child(query, ends[1]);
    }
    close(ends[1]);
    if (child > 0) {
        int back = read_child_answer(ends[0], probe.output, sizeof probe.output);
        if (back < 0) {
            kill(child, SIGKILL);
        }
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
        for (size_t n = strlen(probe.output); n > 0 && probe.output[n - 1] == ' ';) {
            probe.output[--n] = '\0';
        }
        probe.fault = back > 0 ? NULL : (back ? "blocks" : "terminates");
    }
    close(ends[0]);
}

int tact_cl_probe_driver(void (*query)(void), struct tact_error *err)
{
    pthread_mutex_lock(&probe.lock);
    if (!probe.has_child_run) {
        probe.has_child_run = 1;
        run_query_in_child(query);
    }
    pthread_mutex_unlock(&probe.lock);
    if (!probe.fault) {
        return 0;
    }
    return tact_error_set(
        err, -ENODEV,
        "an OpenCL driver %s any process that lists its devices, and is not used; "
        "its output: %s",
        probe.fault, probe.output);
}
