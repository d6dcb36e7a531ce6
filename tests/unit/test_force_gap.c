/*
 * A guard of a pad or wheel, and one of a board, which are not run for a time, or whose driver does
 * not return, in a time of their own: while the force rises it continues without a step, and what
 * falls falls at once. A heartbeat that was read late is not written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <cmocka.h>
#include "devices/guard/comedi_output_internal.h"
#include "devices/guard/force_internal.h"
#include "devices/guard/serve_internal.h"
#include "support/mock_board.h"
#include "support/stalled_guard.h"

enum { UPLOAD_NS = 200000, WRITE_NS = 20000, SAFE = 0x8000, FULL = 0x6000 };

static const struct tact_guard_requests requests = {.end = NULL};

static void start_simulated_controller_loop(struct tact_guard *guard, void (*send)(double),
                                            double full)
{
    memset(&loop, 0, sizeof loop);
    memset(&device, 0, sizeof device);
    now_ns = loop.next_tick_due_ns = 1000000000;
    stopped_until_ns = 0;
    loop.guard = guard;
    loop.send = send;
    loop.full = full;
    guard->head->timeout_ns = GUARD_TIMEOUT_NS;
    atomic_store(&guard->head->period_ns, CONTROLLER_PERIOD_NS);
}

/* A simulated pad in place of the kernel's device. */
int __wrap_tact_force_open(struct tact_force_feedback_node *force, const char *path,
                           const struct tact_force_rendering_plan *plan);
void __wrap_tact_force_close(struct tact_force_feedback_node *force);
int __wrap_tact_force_mute(struct tact_force_feedback_node *force);
int __wrap_tact_force_unmute(struct tact_force_feedback_node *force);
int __wrap_tact_force_play(struct tact_force_feedback_node *force, const double *level,
                           int64_t stamp_ns, int64_t now, int64_t period_ns);

static double largest_spring_force_rise; /* largest rise of the spring's force at the left end */
static double spring_force;

int __wrap_tact_force_open(struct tact_force_feedback_node *force, const char *path,
                           const struct tact_force_rendering_plan *plan)
{
    (void)path;
    (void)plan;
    force->fd = 0;
    return 0;
}

void __wrap_tact_force_close(struct tact_force_feedback_node *force)
{
    force->fd = -1;
}

int __wrap_tact_force_mute(struct tact_force_feedback_node *force)
{
    (void)force;
    device.force = spring_force = 0.0;
    return 0;
}

int __wrap_tact_force_unmute(struct tact_force_feedback_node *force)
{
    (void)force;
    return 0;
}

int __wrap_tact_force_play(struct tact_force_feedback_node *force, const double *level,
                           int64_t stamp_ns, int64_t now, int64_t period_ns)
{
    (void)force;
    (void)stamp_ns;
    (void)now;
    (void)period_ns;
    const double spring = level[TACT_FORCE_SPRING] * (level[TACT_FORCE_SPRING_CENTER] + 1.0);
    assert_true(level[TACT_FORCE_ALONG_Y] == 0.5 * level[TACT_FORCE_ALONG_X]);
    assert_true(level[TACT_FORCE_STRONG_MOTOR] >= 0.0 && level[TACT_FORCE_STRONG_MOTOR] <= 1.0);
    deliver_force_to_simulated_device(level[TACT_FORCE_ALONG_X], UPLOAD_NS);
    largest_spring_force_rise = fmax(largest_spring_force_rise, fabs(spring) - fabs(spring_force));
    spring_force = spring;
    return 0;
}

static struct tact_guard_force_page pad_guard_page = {.period_ns = CONTROLLER_PERIOD_NS,
                                                      .path = {"pad"}};
static struct tact_guard simulated_pad_guard = {.head = &pad_guard_page.head};

static void send_pad_force(double force)
{
    const double level[TACT_FORCE_CHANNELS] = {[TACT_FORCE_ALONG_X] = force,
                                               [TACT_FORCE_ALONG_Y] = 0.5 * force,
                                               [TACT_FORCE_SPRING] = 0.5 * force,
                                               [TACT_FORCE_SPRING_CENTER] = 1.0,
                                               [TACT_FORCE_STRONG_MOTOR] = 3.0 * force};
    tact_guard_send_force_levels(&simulated_pad_guard, level, now_ns);
}

static void guard_stalls_cause_no_force_step_on_a_pad(void **state)
{
    (void)state;
    start_simulated_controller_loop(&simulated_pad_guard, send_pad_force, 1.0);
    tact_guard_serve_force(&pad_guard_page, &requests);
    check_force_steps_of_simulated_device();
    print_message("the spring's force rises by %.3f at most\n", largest_spring_force_rise);
    assert_true(largest_spring_force_rise > 0.0 && largest_spring_force_rise < 1.0 / 12.0);
}

/* A board in place of comedi's: an analog output, and a digital one, which has no bridge. */
static struct tact_guard_page board_guard_page = {
    .output_count = 2,
    .driver = "driver",
    .name = "name",
    .output = {{.instruction = INSN_WRITE, .words = 1, .maxdata = 0xffff, .safe = {SAFE}},
               {.instruction = INSN_BITS, .words = 2, .subdevice = 1, .safe = {1, 0}}}};
static struct tact_guard simulated_board_guard = {.head = &board_guard_page.head};
static int
    outdated_digital_write_count; /* writes whose digital output is not that of the newest force */

int comedi_get_subdevice_type(comedi_t *dev, unsigned int subdevice)
{
    (void)dev;
    return subdevice ? COMEDI_SUBD_DO : COMEDI_SUBD_AO;
}

int comedi_do_insnlist(comedi_t *dev, comedi_insnlist *list)
{
    (void)dev;
    const double force = (double)list->insns[0].data[0] - SAFE;
    if (atomic_load(&board_guard_page.head.is_guard_ready)) {
        outdated_digital_write_count += force > 0.0 && list->insns[1].data[1] != 1;
        deliver_force_to_simulated_device(force, WRITE_NS);
    }
    return (int)list->n_insns;
}

static void send_board_force(double force)
{
    const uint32_t words[2][2] = {{SAFE + (uint32_t)lrint(force)}, {1, force > 0.0}};
    tact_guard_send(&simulated_board_guard, words, now_ns);
}

long __wrap_syscall(long number, ...);

/* Simulates the guard's wait for a heartbeat, or the controller's wake-up of the guard. */
long __wrap_syscall(long number, ...)
{
    va_list rest;
    va_start(rest, number);
    const _Atomic uint32_t *word = va_arg(rest, const _Atomic uint32_t *);
    const int futex_operation = va_arg(rest, int);
    const uint32_t value = va_arg(rest, uint32_t);
    const struct timespec *futex_timeout = va_arg(rest, const struct timespec *);
    va_end(rest);
    if (number != SYS_futex || futex_operation != FUTEX_WAIT) {
        return 0;
    }
    const int64_t wait_end_ns =
        now_ns + (int64_t)futex_timeout->tv_sec * 1000000000 + futex_timeout->tv_nsec;
    while (atomic_load(word) == value && now_ns < wait_end_ns) {
        const int64_t next = next_tick_time_ns();
        advance_simulated_time((next < wait_end_ns ? next : wait_end_ns) - now_ns);
    }
    advance_simulated_time_with_stall(0);
    return 0;
}

static void guard_stalls_cause_no_force_step_on_a_board(void **state)
{
    (void)state;
    start_simulated_controller_loop(&simulated_board_guard, send_board_force, FULL);
    assert_int_equal(tact_guard_serve_board(&board_guard_page, &requests), 0);
    check_force_steps_of_simulated_device();
    assert_int_equal(outdated_digital_write_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guard_stalls_cause_no_force_step_on_a_pad),
        cmocka_unit_test(guard_stalls_cause_no_force_step_on_a_board)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
