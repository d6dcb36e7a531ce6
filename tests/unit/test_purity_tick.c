/*
 * The tick never allocates, locks, or makes a system call but the clock's and those that send and
 * receive without waiting: 10,000 ticks of the pinch in real time, recorded, with moments from
 * another thread, both ends of a link and a puck of spacenavd, under interposed malloc, calloc,
 * realloc, free and pthread_mutex_lock, and under a system-call filter on the loop's thread that
 * kills the process. A device of the test's own, read first in every tick, puts all this on its
 * thread.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/network/network_internal.h"
#include "devices/registry.h"
#include "kernels/source.h"
#include "rt/session/session.h"
#include "support/free_port.h"
#include "support/run_scene.h"

#define TICKS 10000
#define FIRST_TICK_OF_CHECKED_CALLS 10 /* ticks at the start in which calls are not checked */

/* Shared with the parent: the filter kills the child when it leaves the loop. */
static struct {
    uint64_t ticks;
    uint64_t allocation_count, free_count, lock_count;
    uint64_t packets_received;       /* packets that one end of the link has received */
    uint64_t pushed_puck_tick_count; /* ticks in which the puck is pushed */
} * seen;

static __thread int is_thread_watched;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

void *malloc(size_t size)
{
    if (is_thread_watched) {
        seen->allocation_count++;
    }
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    if (is_thread_watched) {
        seen->allocation_count++;
    }
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    if (is_thread_watched) {
        seen->allocation_count++;
    }
    return __libc_realloc(p, size);
}

void free(void *p)
{
    if (is_thread_watched) {
        seen->free_count++;
    }
    __libc_free(p);
}

static int (*real_lock)(pthread_mutex_t *);

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (is_thread_watched) {
        seen->lock_count++;
    }
    if (!real_lock) {
        *(void **)&real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    }
    return real_lock(mutex);
}

/* From now on a system call of this thread other than reading a clock, sleeping, and sending and
 * receiving datagrams kills the process. */
static void forbid_system_calls(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvfrom, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_nanosleep, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)) {
        _exit(99);
    }
}

/* The simulated operator, wrapped so that its read() counts forbidden calls and installs the
 * filter. */
static struct tact_device operator_device_without_wrapper;
static struct tact_network_device *network_device;

static void count_calls_and_read(void *self, uint64_t tick, double t, int64_t now,
                                 struct tact_device_input *in)
{
    if (tick == FIRST_TICK_OF_CHECKED_CALLS) {
        forbid_system_calls();
        is_thread_watched = 1;
    }
    seen->ticks = tick;
    seen->packets_received = network_device->channel.counts.received_packet_count;
    operator_device_without_wrapper.ops->read(self, tick, t, now, in);
}

static struct tact_device_ops device_ops_that_count_calls;

static int open_watched_operator(const struct tact_device_config *config, struct tact_device *out,
                                 struct tact_error *err)
{
    size_t count;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    int rc = tact_device_type_find(types, count, "operator")
                 ->open(config, &operator_device_without_wrapper, err);
    device_ops_that_count_calls = *operator_device_without_wrapper.ops;
    device_ops_that_count_calls.read = count_calls_and_read;
    *out = operator_device_without_wrapper;
    out->ops = &device_ops_that_count_calls;
    return rc;
}

static int open_watched_link_end(const struct tact_device_config *config, struct tact_device *out,
                                 struct tact_error *err)
{
    size_t count;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    int rc = tact_device_type_find(types, count, "network")->open(config, out, err);
    network_device = out->self;
    return rc;
}

/* The puck, wrapped so that it counts the ticks in which it is pushed. */
static struct tact_device wrapped_puck;

static void count_pushes_and_read(void *self, uint64_t tick, double t, int64_t now,
                                  struct tact_device_input *in)
{
    wrapped_puck.ops->read(self, tick, t, now, in);
    seen->pushed_puck_tick_count += in->channel[0] != 0.0;
}

static int open_puck(const struct tact_device_config *config, struct tact_device *out,
                     struct tact_error *err)
{
    static struct tact_device_ops ops;
    size_t count;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    int rc = tact_device_type_find(types, count, "spacenav")->open(config, &wrapped_puck, err);
    ops = *wrapped_puck.ops;
    ops.read = count_pushes_and_read;
    *out = wrapped_puck;
    out->ops = &ops;
    return rc;
}

/* A stand-in of spacenavd, which answers one program and sends a motion every millisecond, until
 * that program ends. Its socket is there before it returns. */
static pid_t start_daemon(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    const int listening_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listening_socket, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listening_socket, 1), 0);
    const pid_t child = fork();
    if (child != 0) {
        close(listening_socket);
        return child;
    }
    int32_t version, packet[8] = {0, 100, 0, 0, 0, 0, 0, 1};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int spacenav_client_socket = accept(listening_socket, NULL, NULL);
    if (recv(spacenav_client_socket, &version, sizeof version, MSG_WAITALL) == sizeof version) {
        send(spacenav_client_socket, &version, sizeof version, MSG_NOSIGNAL);
    }
    while (send(spacenav_client_socket, packet, sizeof packet, MSG_NOSIGNAL) == sizeof packet) {
        usleep(1000);
    }
    _exit(0);
}

/* The pinch with both ends of a link and a puck. */
static int load_pinch_scene_with_link_and_puck(struct tact_scene **scene, struct tact_error *err)
{
    char devices[512];
    const int port = find_free_udp_port();
    snprintf(
        devices, sizeof devices,
        "  - {name: one, type: network, settings: {listen: \"127.0.0.1:%d\", axes: 6}}\n"
        "  - {name: other, type: network, settings: {connect: \"127.0.0.1:%d\", axes: 6, link: "
        "{delay: 0.01, loss: 0.05}}}\n"
        "  - {name: puck, type: spacenav}\ninputs:\n",
        port, port);
    const struct edit edits[] = {{"inputs:\n", devices}, {NULL, NULL}};
    char *text = load_scene_text_with_edits("ruler.yaml", edits);
    const int rc = tact_scene_parse(text, strlen(text), "ruler.yaml", NULL, scene, err);
    free(text);
    return rc;
}

static void run_watched_session_in_child(void)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "operator",
                                                 "watched", open_watched_operator, NULL};
    static const struct tact_device_type watched_network_type = {
        TACT_ABI(struct tact_device_type), "network", "watched", open_watched_link_end, NULL};
    static const struct tact_device_type spacenav = {TACT_ABI(struct tact_device_type), "spacenav",
                                                     "watched", open_puck, NULL};
    static const struct tact_device_type *const types[] = {&type, &watched_network_type, &spacenav};
    struct tact_error err = {0};
    struct tact_scene *scene;
    struct tact_session *session;
    struct tact_session_report report;
    if (load_pinch_scene_with_link_and_puck(&scene, &err)) {
        _exit(98);
    }
    struct tact_session_options options = tact_session_options_default();
    options.types = types;
    options.type_count = 3;
    options.source = tact_opencl_source_factory;
    options.ticks = TICKS;
    options.record = "/tmp/tact_purity.mcap";
    options.replace = 1;
    if (tact_session_create(scene, &options, &session, &err)) {
        _exit(97);
    }
    tact_session_run(session, &report);
    _exit(0);
}

static void ten_thousand_ticks_make_no_forbidden_call(void **state)
{
    (void)state;
    int wait_status;
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char folder[] = "/tmp/tact_purity_XXXXXX", socket_path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(socket_path, sizeof socket_path, "%s/spnav.sock", folder);
    setenv("SPNAV_SOCKET", socket_path, 1);
    const pid_t daemon = start_daemon(socket_path);
    pid_t child = fork();
    if (child == 0) {
        run_watched_session_in_child();
    }
    waitpid(child, &wait_status, 0);
    unlink("/tmp/tact_purity.mcap");
    kill(daemon, SIGKILL);
    waitpid(daemon, NULL, 0);
    unlink(socket_path);
    rmdir(folder);
    print_message("%lu ticks, %lu packets, %lu with a pushed puck; allocations %lu, frees %lu, "
                  "locks %lu; ended by %s %d\n",
                  (unsigned long)seen->ticks + 1, (unsigned long)seen->packets_received,
                  (unsigned long)seen->pushed_puck_tick_count,
                  (unsigned long)seen->allocation_count, (unsigned long)seen->free_count,
                  (unsigned long)seen->lock_count, WIFSIGNALED(wait_status) ? "signal" : "exit",
                  WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
    assert_int_equal(seen->ticks, TICKS - 1);
    assert_true(seen->packets_received > TICKS / 2);
    assert_true(seen->pushed_puck_tick_count > TICKS / 2);
    assert_int_equal(seen->allocation_count, 0);
    assert_int_equal(seen->free_count, 0);
    assert_int_equal(seen->lock_count, 0);
    /* The filter kills the child at its first forbidden call: the one that leaves real time, after
     * the last tick. */
    assert_true(WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGSYS);
}

/* Each of the forbidden calls is detected by the counters or the filter. */
static void each_call_forbidden_in_a_tick_is_detected(void **state)
{
    (void)state;
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int wait_status;
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        void *volatile p;
        is_thread_watched = 1;
        p = malloc(10);
        free(p);
        pthread_mutex_lock(&mutex);
        forbid_system_calls();
        seen->ticks = 1;
        write(1, "x", 1);
        seen->ticks = 2;
        _exit(0);
    }
    waitpid(child, &wait_status, 0);
    assert_true(seen->allocation_count >= 1 && seen->free_count >= 1 && seen->lock_count >= 1);
    assert_int_equal(seen->ticks, 1);
    assert_true(WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGSYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_forbidden_in_a_tick_is_detected),
        cmocka_unit_test(ten_thousand_ticks_make_no_forbidden_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
