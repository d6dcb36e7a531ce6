/* A device type: a sine on one channel, and on the other the last value written to it. The same
 * source is linked into a program (with_type.c) and made a plug-in, swing.so, that `tact run
 * --plugins` loads. */
#include <errno.h>
#include <stdlib.h>
#include <tact/tact.h>

struct swing {
    double amplitude;             /* [rad] */
    double oscillation_frequency; /* [Hz] */
    double written_torque;        /* value written in the last tick [N m] */
};

/* Called in every tick. Uses the scene's time, so that a session has the same bits on every clock.
 */
static void swing_read(void *self, uint64_t tick, double t, int64_t now_ns,
                       struct tact_device_input *in)
{
    const struct swing *s = self;
    (void)tick;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now_ns;
    in->channel[0] =
        s->amplitude * tact_sin(2.0 * 3.14159265358979323846 * s->oscillation_frequency * t);
}

/* Also called once after the last tick, with zeros. */
static void swing_write(void *self, const double *out, int64_t now_ns)
{
    (void)now_ns;
    ((struct swing *)self)->written_torque = out[0];
}

static void swing_close(void *self)
{
    free(self);
}

/* Opens the device with the `settings` of the scene; an error in them is reported with file, line
 * and key.
 */
static int swing_open(const struct tact_device_config *config, struct tact_device *out,
                      struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), swing_read,
                                               swing_write, swing_close};
    static const char *const keys[] = {"amplitude", "frequency"};
    struct swing *s = calloc(1, sizeof *s);
    if (!s) {
        return tact_error_set(err, -ENOMEM, "no memory for the device");
    }
    s->amplitude = 0.1;
    s->oscillation_frequency = 1.0;
    int rc = tact_settings_check(config, keys, 2, err);
    rc = rc ? rc : tact_settings_number(config, "amplitude", &s->amplitude, err);
    rc = rc ? rc : tact_settings_positive(config, "frequency", &s->oscillation_frequency, err);
    if (rc) {
        free(s);
        return rc;
    }
    out->ops = &ops;
    out->self = s;
    out->info.input_count = out->info.output_count = 1;
    out->info.input[0] = (struct tact_device_channel){.name = "angle", .unit = "rad"};
    out->info.output[0] = (struct tact_device_channel){.name = "felt", .unit = "N m"};
    return 0;
}

const struct tact_device_type swing_type = {TACT_ABI(struct tact_device_type), "swing",
                                            "a sine, for examples", swing_open, NULL};
TACT_PLUGIN(swing_type);
