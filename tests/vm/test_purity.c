/* System calls of devices in a tick: 8 channels of a guarded board and a stick with forces are
 * read, written and recorded, under interposed allocators and a system-call filter that permits
 * only one list of instructions for the board's inputs, the wake-up of its guard, and reading
 * events. */
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "board.h"
#include "devices/comedi/comedi.h"
#include "devices/evdev/evdev.h"
#include "rt/clock.h"
#include "stick.h"
#include "unit/support/device_config.h"

enum {
    TIMED_START_TICK = 100,
    TIMED_END_TICK = 1000,
    TICKS = 3000
}; /* ticks from TIMED_START_TICK to TIMED_END_TICK are timed; later ticks run under the system-call
      filter */
enum { BOARD, STICK, DEVICES };
#define RECORDINGS_FOLDER "/dev/shm" /* folder of the recordings */

/* Results of the child process in shared memory, as the filter kills a child that makes a forbidden
 * call. */
static struct {
    int ticks;
    int allocation_count;
    int64_t thread_cpu_ns[DEVICES]; /* CPU time of the tick's thread in all timed ticks [ns] */
    int64_t took_ns[DEVICES]; /* elapsed time of all timed ticks [ns]; on one processor it includes
                                 the guard's work */
    int tick_count_with_bad_device_state;
} * seen;

static int is_allocation_counting_on;

void *__libc_malloc(size_t size);
void __libc_free(void *block);

void *malloc(size_t size)
{
    if (is_allocation_counting_on) {
        seen->allocation_count++;
    }
    return __libc_malloc(size);
}

void free(void *block)
{
    if (is_allocation_counting_on && block) {
        seen->allocation_count++;
    }
    __libc_free(block);
}

#define SYSCALL_NUMBER_OFFSET offsetof(struct seccomp_data, nr)
#define SYSCALL_ARGUMENT_OFFSET(i)                                                                 \
    offsetof(struct seccomp_data, args[i]) /* lower 32 bits of an argument of the system call */

static void forbid_system_calls(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SYSCALL_NUMBER_OFFSET),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_nanosleep, 7, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SYSCALL_ARGUMENT_OFFSET(1)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, COMEDI_INSNLIST, 3, 2),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
        BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)) {
        _exit(99);
    }
}

static int64_t thread_cpu_time_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Runs one tick of one device. */
static void run_device_tick(struct tact_device *devices, int i, int tick, const double *out)
{
    struct tact_device *device = &devices[i];
    struct tact_device_input in;
    int64_t own = tick < TIMED_END_TICK ? thread_cpu_time_ns() : 0;
    int64_t device_calls_start_ns = tact_clock_now();
    device->ops->read(device->self, (uint64_t)tick, tick * 1e-3, device_calls_start_ns, &in);
    device->ops->write(device->self, out, device_calls_start_ns);
    if (tick >= TIMED_START_TICK && tick < TIMED_END_TICK) {
        seen->took_ns[i] += tact_clock_now() - device_calls_start_ns;
        seen->thread_cpu_ns[i] += thread_cpu_time_ns() - own;
    }
    seen->tick_count_with_bad_device_state +=
        tick >= TIMED_START_TICK && in.state != TACT_DEVICE_OK;
}

static void run_controller(void)
{
    static struct device_config config[DEVICES];
    const struct tact_device_setting board[] = {SETTING("inputs", "a=ai4 b=ai5 c=ai6 d=ai7"),
                                                SETTING("outputs", "e=ao0 f=ao1 g=ao2 h=ao3")};
    const struct tact_device_setting joystick_settings[] = {SETTING("match", JOYSTICK_NAME),
                                                            SETTING("forces", "force_x damper")};
    const struct sched_param priority = {.sched_priority = 80};
    struct tact_device device[DEVICES];
    device_config_init(&config[BOARD], board, 2);
    config[BOARD].config.name = "board"; /* of its recording */
    device_config_init(&config[STICK], joystick_settings, 2);
    config[BOARD].config.record = config[STICK].config.record = RECORDINGS_FOLDER;
    if (tact_comedi_type.open(&config[BOARD].config, &device[BOARD], &config[BOARD].err) ||
        tact_evdev_type.open(&config[STICK].config, &device[STICK], &config[STICK].err)) {
        fprintf(stderr, "%s%s\n", config[BOARD].err.text, config[STICK].err.text);
        _exit(1);
    }
    mlockall(MCL_CURRENT | MCL_FUTURE);
    sched_setscheduler(0, SCHED_FIFO, &priority);
    int64_t next = tact_clock_now();
    for (int tick = 0; tick < TICKS; tick++) {
        const double out[] = {0.001 * (tick % 500), 0.5, 0.25, -0.5};
        if (tick == TIMED_END_TICK) {
            forbid_system_calls();
            is_allocation_counting_on = 1;
        }
        for (int i = 0; i < DEVICES; i++) {
            run_device_tick(device, i, tick, out);
        }
        seen->ticks++;
        next += 1000000;
        tact_clock_sleep_until(next);
    }
    syscall(SYS_getpid); /* the child is killed at a forbidden call, which shows that the filter is
                            active */
    _exit(0);
}

static int count_lines_of_file(const char *path)
{
    FILE *file = fopen(path, "r");
    int count = 0;
    assert_non_null(file);
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        count += c == '\n';
    }
    fclose(file);
    return count;
}

static void tick_of_board_and_stick_makes_no_forbidden_call(void **unused)
{
    static const int effects[] = {FF_CONSTANT, FF_DAMPER, FF_GAIN, 0};
    int status = 0;
    (void)unused;
    plug_in_joystick(effects);
    pid_t child = fork();
    if (child == 0) {
        run_controller();
    }
    for (int i = 0; waitpid(child, &status, WNOHANG) == 0; i++) {
        send_joystick_event(EV_ABS, ABS_X, i % 1000);
        usleep(3000);
    }
    const double ticks = (TIMED_END_TICK - TIMED_START_TICK) * 1e3;
    print_message("a tick: 8 channels of a board %.1f us (with the guard's part, on one processor, "
                  "%.1f), a stick %.1f us (%.1f); %d allocations\n",
                  (double)seen->thread_cpu_ns[BOARD] / ticks, (double)seen->took_ns[BOARD] / ticks,
                  (double)seen->thread_cpu_ns[STICK] / ticks, (double)seen->took_ns[STICK] / ticks,
                  seen->allocation_count);
    assert_int_equal(seen->ticks, TICKS);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
    assert_int_equal(seen->allocation_count, 0);
    assert_int_equal(seen->tick_count_with_bad_device_state, 0);
    /* a recording has a line for each tick, except those that its thread has not written yet */
    assert_true(count_lines_of_file(RECORDINGS_FOLDER "/board.csv") > TICKS - 200);
    assert_true(count_lines_of_file(RECORDINGS_FOLDER "/device.evemu") > TICKS / 3 - 200);
    assert_true((double)seen->thread_cpu_ns[BOARD] / ticks < 15.0);
    assert_true((double)seen->thread_cpu_ns[STICK] / ticks < 15.0);
    unplug_joystick();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tick_of_board_and_stick_makes_no_forbidden_call)};
    set_up_boards();
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
