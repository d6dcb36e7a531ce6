/**
 * The guard: a small separate process that alone writes a board's outputs, and zeroes them when
 * the controller stops.
 *
 * The controller writes its output words to shared memory once a tick: its heartbeat. The guard,
 * woken by it, writes them to the board. If no heartbeat comes for `timeout` it writes the safe
 * values and keeps them, whatever stopped the controller: kill -9, a stop, a hang, memory. From
 * then on the outputs are inhibited until tact_guard_arm() is called for this trip. The guard has
 * the lock of the outputs as long as the controller lives, and leaves them safe when it ends.
 */
#ifndef TACT_DEVICES_GUARD_GUARD_H
#define TACT_DEVICES_GUARD_GUARD_H

#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"

TACT_BEGIN_DECLS

#define TACT_GUARD_MAX_OUTPUTS 32 /**< maximum number of instructions */

/** One comedi instruction that writes: INSN_WRITE with one word, or INSN_BITS with a mask and bits.
 */
struct tact_guard_output {
    uint32_t instruction; /**< INSN_WRITE or INSN_BITS of comedi */
    uint32_t words;       /**< number of words of data */
    uint32_t subdevice;   /**< index of the subdevice */
    uint32_t chanspec;    /**< packed channel, range and reference */
    uint32_t maxdata;     /**< largest first word of INSN_WRITE */
    uint32_t safe[2];     /**< words of zero output */
};

/** Options with which a guard process is started. */
struct tact_guard_options {
    const char *board;  /**< node */
    const char *driver; /**< driver of the board; a board that returns must have the same */
    const char *name;   /**< name of the board */
    /** [output_count] outputs that the guard writes, and zeroes after a trip */
    const struct tact_guard_output *outputs;
    int output_count;   /**< number of outputs */
    int64_t timeout_ns; /**< longest time between two heartbeats [ns], > 0 */
};

/** State of the guard. */
enum tact_guard_state {
    TACT_GUARD_INHIBITED, /**< outputs are inhibited: at their safe values */
    TACT_GUARD_PASSING,   /**< outputs pass */
    TACT_GUARD_LOST,      /**< the board is gone, and the guard searches for it, or its outputs
                             cannot be written, and the guard repeats zeroing them */
    TACT_GUARD_ENDED,     /**< the guard does not respond, or has ended */
};

struct tact_guard;

/**
 * Starts the guard and waits until it has claimed the outputs, at their safe values. Outputs pass
 * from the first tact_guard_send() after tact_guard_arm(). The program is $TACT_GUARD (ignored in a
 * setuid program), or the installed one; in the build tree, the one built there. Not real-time
 * safe.
 * @retval 0
 * @retval -ENOENT no guard to run
 * @retval -EBUSY  another process has the outputs
 * @retval -ENOMEM, other negative errno of starting a process or of the board
 */
TACT_API int tact_guard_start(const struct tact_guard_options *options, struct tact_guard **out,
                              struct tact_error *err);

/** Sends one tick's words, words[i] for outputs[i], with the heartbeat. One futex(2) call that does
 * not block. Real-time safe. */
TACT_API void tact_guard_send(struct tact_guard *guard, const uint32_t (*words)[2], int64_t now_ns);

/** enum tact_guard_state as of now_ns, CLOCK_MONOTONIC. TACT_GUARD_ENDED if the guard has not
 * acknowledged heartbeats for two timeouts. From the thread that sends. Real-time safe. */
TACT_API int tact_guard_state(struct tact_guard *guard, int64_t now_ns);

/** Lets outputs pass from the next heartbeat on, for the present trip only. Real-time safe. */
TACT_API void tact_guard_arm(struct tact_guard *guard);

/** Number of times that the guard has inhibited the outputs, its start included. Real-time safe. */
TACT_API uint32_t tact_guard_trips(const struct tact_guard *guard);

/** Kills a guard that does not respond, to free the outputs. Real-time safe. */
TACT_API void tact_guard_kill(struct tact_guard *guard);

/** Process id of the guard, for display: if the host program waits for any child, the id may be
 * reused. Real-time safe. */
TACT_API int tact_guard_pid(const struct tact_guard *guard);

/** Ends the guard, which leaves the outputs safe, and frees everything; NULL is allowed. Not
 * real-time safe. @retval 0, or -EIO if the guard had to be killed or was dead: the caller should
 * write the safe values itself */
TACT_API int tact_guard_stop(struct tact_guard *guard);

TACT_END_DECLS

#endif
