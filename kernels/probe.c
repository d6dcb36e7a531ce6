/* The first look at OpenCL, taken by a child process. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/probe_internal.h"

#define ALIVE '\001'
#define PATIENCE_MS 20000

static struct {
    pthread_mutex_t lock;
    int taken;         /* 1: the child has been sent */
    const char *fault; /* what became of it where it did not come back from its look */
    char last_words[160];
} probe = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The child: what drivers print goes to the parent, and after it a sign that all went well. Buffers
 * of the parent's streams are left alone: they are the parent's to write. */
static void look_in_child(void (*look)(void), int out)
{
    const struct rlimit no_core = {0, 0};
    const char alive = ALIVE;
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    look();
    _exit(write(out, &alive, 1) == 1 ? 0 : 1);
}

/* Keeps the end of what the child says. Gives 1 where its last byte is the sign, 0 where it ended
 * without, -1 where it hangs. */
static int listen_to_child(int in, char *words, size_t size)
{
    size_t used = 0;
    struct pollfd ready = {.fd = in, .events = POLLIN};
    char block[512], last = 0;
    while (last != ALIVE) {
        int rc = poll(&ready, 1, PATIENCE_MS);
        ssize_t got = rc > 0 ? read(in, block, sizeof block) : 0;
        if ((rc < 0 || got < 0) && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return rc ? 0 : -1;
        }
        for (ssize_t i = 0; i < got; i++) {
            last = block[i];
            if (used == size - 1) {
                memmove(words, words + 1, --used);
            }
            words[used++] = last == '\n' ? ' ' : last;
        }
    }
    return 1;
}

static void send_child(void (*look)(void))
{
    int ends[2];
    if (pipe(ends)) {
        return; /* no probe: as it would be without this file */
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        look_in_child(look, ends[1]);
    }
    close(ends[1]);
    if (child > 0) {
        int back = listen_to_child(ends[0], probe.last_words, sizeof probe.last_words);
        if (back < 0) {
            kill(child, SIGKILL);
        }
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
        for (size_t n = strlen(probe.last_words); n > 0 && probe.last_words[n - 1] == ' ';) {
            probe.last_words[--n] = '\0';
        }
        probe.fault = back > 0 ? NULL : (back ? "hangs" : "ends");
    }
    close(ends[0]);
}

int tact_cl_probe(void (*look)(void), struct tact_error *err)
{
    pthread_mutex_lock(&probe.lock);
    if (!probe.taken) {
        probe.taken = 1;
        send_child(look);
    }
    pthread_mutex_unlock(&probe.lock);
    if (!probe.fault) {
        return 0;
    }
    return tact_error_set(err, -ENODEV,
                          "an OpenCL driver %s the process that asks it for its devices, and is "
                          "left alone: %s",
                          probe.fault, probe.last_words);
}
