/* Raw words of measurement cards, recorded beside a session and played into a second one without
 * the cards: all values have the same bits, with a gauge that saturates, a stream, switches, and a
 * board that is unplugged. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "board.h"
#include "devices/comedi/comedi.h"
#include "rt/session/session.h"
#include "same.h"
#include "sensor.h"
#include "unit/support/run_scene.h"
#include "unit/support/script_device.h"

#define RECORDING_FOLDER "/dev/shm/cards"
enum { TICKS = 1200, SATURATED = 200, LASTING = 20, PULLED = 500, PLUGGED = 600, CARDS = 3 };

static atomic_int ticks;    /* number of ticks of the session so far */
static int board_output_fd; /* descriptor by which the test writes the board's outputs, which are
                               wired to its inputs */

/* The device's read: sets voltages of the simulated gauges until the board is unplugged. */
static void read_plant_device(void *self, uint64_t tick, double t, int64_t now,
                              struct tact_device_input *in)
{
    (void)self, (void)t;
    for (unsigned int i = 1; i < 7 && board_output_fd >= 0 && tick < PULLED; i++) {
        const int saturated = tick >= SATURATED && tick < SATURATED + LASTING && i == 4;
        write_board_channel(board_output_fd, 1, i,
                            saturated ? LARGEST_BOARD_RAW_VALUE
                                      : BOARD_RAW_VALUE_OF_ZERO_VOLTS +
                                            37U * i * (unsigned int)(tick % 90));
    }
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    atomic_store(&ticks, (int)tick);
}

static int open_plant_device(const struct tact_device_config *config, struct tact_device *out,
                             struct tact_error *err)
{
    (void)config, (void)err;
    return open_script_device(read_plant_device, NULL, out);
}

/* Scene of three cards; %s: the setting that selects each card. */
static const char scene_text[] =
    "name: cards\n"
    "devices:\n"
    "  - {name: plant, type: plant}\n"
    "  - name: board\n"
    "    type: comedi\n"
    "    settings:\n"
    "      %s\n"
    "      inputs: g0=ai1 g1=ai2 g2=ai3 g3=ai4 g4=ai5 g5=ai6\n"
    "      outputs: motor=ao0\n"
    "      input_range: [[-10, 10]]\n"
    "      recover: 0.02\n"
    "      timeout: 0.5\n"
    "      wrenches:\n"
    "        - name: wrist\n"
    "          channels: g0 g1 g2 g3 g4 g5\n"
    "          tare: 0.05\n"
    "          matrix: [[1, 2, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 3],\n"
    "                   [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]\n"
    "  - name: waves\n"
    "    type: comedi\n"
    "    settings: {%s, inputs: saw=ai0 square=ai1, stream: 2000}\n"
    "  - name: port\n"
    "    type: comedi\n"
    "    settings: {%s, inputs: paper=di2@1 idle=!di3@1, outputs: lamp=do0}\n"
    "hands:\n"
    "  - name: robot\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 0.1\n"
    "        inertia: [2e-3, 2e-3, 2e-3, 0, 0, 0]\n"
    "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 8, damping: 0.2}\n"
    "inputs:\n"
    "  - {from: board.wrist_fx, to: robot.tip, scale: 0.1}\n"
    "outputs:\n"
    "  - {from: robot.tip, to: board.motor, limit: 1, rate: 100}\n";

/* Thread that unplugs the board and plugs it in again during the session. */
static void *unplug_and_replug_board(void *unused)
{
    const int at[] = {PULLED, PLUGGED};
    for (int i = 0; i < 2; i++) {
        while (atomic_load(&ticks) < at[i]) {
            usleep(1000);
        }
        attach_board_driver("/dev/comedi0", i ? "comedi_test 2000000,50000" : NULL);
    }
    return unused;
}

static void run_session(const char *const card_source_yaml[CARDS], int is_board_real,
                        const char *log)
{
    static const struct tact_device_type simulated_plant_type = {
        TACT_ABI(struct tact_device_type), "plant", "turns gauges", open_plant_device, NULL};
    static const struct tact_device_type *const types[] = {&simulated_plant_type,
                                                           &tact_comedi_type};
    static struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    char text[sizeof scene_text + 256];
    pthread_t thread;
    snprintf(text, sizeof text, scene_text, card_source_yaml[0], card_source_yaml[1],
             card_source_yaml[2]);
    options.types = types;
    options.type_count = 2;
    options.ticks = TICKS;
    options.record = log;
    options.replace = 1;
    options.record_devices = is_board_real ? RECORDING_FOLDER : NULL;
    options.clock = is_board_real ? TACT_LOOP_REAL : TACT_LOOP_FREE;
    open_session_of_scene_text(text, &options, &scene, &session);
    board_output_fd =
        is_board_real
            ? open_channels_of_process(find_guard_process_of_node("/dev/comedi0"), "/dev/comedi0")
            : -1;
    atomic_store(&ticks, 0);
    assert_true(!is_board_real ||
                (board_output_fd >= 0 &&
                 pthread_create(&thread, NULL, unplug_and_replug_board, NULL) == 0));
    assert_int_equal(tact_session_run(session, &report), 0);
    if (is_board_real) {
        pthread_join(thread, NULL);
        close(board_output_fd);
    }
    tact_session_destroy(session);
    tact_scene_free(scene);
}

void card_recordings_are_played_to_the_bit(void **state)
{
    static const char *const attached[CARDS] = {"board: /dev/comedi0", "board: /dev/comedi1",
                                                "board: /dev/comedi2"};
    static const char *const recordings[CARDS] = {"recording: /dev/shm/cards/board.csv",
                                                  "recording: /dev/shm/cards/waves.csv",
                                                  "recording: /dev/shm/cards/port.csv"};
    int tick_counts_by_device_state[4];
    (void)state;
    assert_int_equal(system("mkdir -p " RECORDING_FOLDER), 0);
    attach_board_driver("/dev/comedi2", "comedi_parport 0x378");
    run_session(attached, 1, RECORDING_FOLDER "/live.mcap");
    attach_board_driver("/dev/comedi2", NULL);
    /* the drivers are detached, so that the replay has no card to read from */
    attach_board_driver("/dev/comedi1", NULL);
    run_session(recordings, 0, RECORDING_FOLDER "/again.mcap");
    attach_board_driver("/dev/comedi1", "comedi_test 2000000,50000");
    compare_replayed_device(RECORDING_FOLDER "/live.mcap", RECORDING_FOLDER "/again.mcap",
                            "port_input", 0, tick_counts_by_device_state);
    compare_replayed_device(RECORDING_FOLDER "/live.mcap", RECORDING_FOLDER "/again.mcap",
                            "waves_input", 0, tick_counts_by_device_state);
    compare_replayed_device(RECORDING_FOLDER "/live.mcap", RECORDING_FOLDER "/again.mcap",
                            "board_input", 0, tick_counts_by_device_state);
    print_message("cards played to the bit: board %d ticks well, %d at fault, %d unplugged\n",
                  tick_counts_by_device_state[TACT_DEVICE_OK],
                  tick_counts_by_device_state[TACT_DEVICE_STALE],
                  tick_counts_by_device_state[TACT_DEVICE_LOST]);
    /* how long the board is unplugged depends on the host that runs the virtual machine */
    assert_true(tick_counts_by_device_state[TACT_DEVICE_LOST] > 10);
    assert_true(tick_counts_by_device_state[TACT_DEVICE_STALE] > LASTING &&
                tick_counts_by_device_state[TACT_DEVICE_OK] > TICKS / 4);
    assert_int_equal(system("rm -r " RECORDING_FOLDER), 0);
}
