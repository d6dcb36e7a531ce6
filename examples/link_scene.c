/* Link settings of a scene: address and keys, and how its ties behave over the measured link. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "devices/common/settings.h"
#include "devices/network/network_internal.h"
#include "link.h"
#include "text.h"

/* The device of type `network` of a scene; NULL and a message where there is none or more than one.
 */
static const struct tact_scene_device *
find_only_network_device_of_scene(const struct tact_scene *scene, const char *path,
                                  struct tact_error *err)
{
    const struct tact_scene_device *found = NULL;
    int count = 0;
    for (uint32_t i = 0; i < scene->devices_count; i++) {
        if (!strcmp(scene->devices[i].type, "network")) {
            found = &scene->devices[i];
            count++;
        }
    }
    if (count != 1) {
        tact_error_at(err, path, 0, 0, "devices");
        tact_error_set(err, -EINVAL, "expected one device of type network, not %d", count);
    }
    return count == 1 ? found : NULL;
}

int link_scene_open(struct link_options *options, struct link_scene *out, struct tact_error *err)
{
    const int rc = tact_scene_load(options->scene, &out->scene, err);
    return rc ? rc : link_scene_read(options, out, err);
}

int link_scene_read(struct link_options *options, struct link_scene *out, struct tact_error *err)
{
    struct tact_network_channel_options channel;
    const struct tact_scene_device *device =
        find_only_network_device_of_scene(out->scene, out->scene->path, err);
    if (!device) {
        return -EINVAL;
    }
    const struct tact_device_config config = {.name = device->name,
                                              .directory = out->scene->directory,
                                              .file = out->scene->path,
                                              .settings = device->settings,
                                              .setting_count = (int)device->settings_count,
                                              .period = out->scene->period};
    out->device = device->name;
    int rc = tact_settings_text(&config, "listen", &options->listen, err);
    rc = rc ? rc : tact_settings_text(&config, "connect", &options->connect, err);
    if (!rc && !options->listen == !options->connect) {
        rc = tact_settings_fault(&config, NULL, err,
                                 "expected either the key \"listen\" or the key \"connect\"");
    }
    rc = rc ? rc : tact_settings_path(&config, "key", out->key, sizeof out->key, err);
    rc = rc ? rc : tact_settings_path(&config, "peer", out->peer, sizeof out->peer, err);
    rc = rc ? rc : tact_network_read_channel_options(&config, &channel, err);
    if (!rc) {
        out->jitter = channel.jitter * channel.period;
        out->repeats = channel.repeats;
    }
    options->key = *out->key ? out->key : NULL;
    options->peer = *out->peer ? out->peer : NULL;
    options->rate = 1.0 / out->scene->period;
    return rc;
}

/* Modes of the ties that slide (index 0), and of those that turn (index 1). */
struct modes_by_joint_kind {
    struct link_modes of[2];
};

static struct modes_by_joint_kind find_modes_by_joint_kind(const struct link_scene *s, double delay)
{
    struct modes_by_joint_kind modes;
    for (int is_rotational = 0; is_rotational < 2; is_rotational++) {
        link_modes(s, delay, is_rotational, &modes.of[is_rotational]);
    }
    return modes;
}

/* Whether modes of a kind are shown: those of ties that turn where there are such ties, and the
 * others but where there are only ties that turn. */
static int must_show_modes_of_joint_kind(const struct modes_by_joint_kind *modes, int is_rotational)
{
    return modes->of[is_rotational].tie_count > 0 ||
           (!is_rotational && modes->of[1].tie_count == 0);
}

/* Whether the link supports a tie's mode, with the numbers of the ties of its kind. */
static int is_tie_supported(const struct tact_scene *scene, const struct tact_scene_remote *tie,
                            const struct modes_by_joint_kind *modes)
{
    return modes->of[link_is_tie_rotational(scene, tie)]
        .mode[link_mode_of_name(tie->mode)]
        .is_tie_mode_supported;
}

static void print_tie_at_measured_delay(const struct tact_scene *scene,
                                        const struct tact_scene_remote *tie,
                                        const struct modes_by_joint_kind *modes, double delay)
{
    const int mode = link_mode_of_name(tie->mode);
    const int is_rotational = link_is_tie_rotational(scene, tie);
    printf("  %-20s ", text_make_printable(tie->joint));
    if (mode == LINK_WAVES) {
        printf("waves of impedance %g %s: a wall feels at first as through a spring of %.*f %s, "
               "later as stiff as it is\n",
               tie->impedance, is_rotational ? "N m s/rad" : "N s/m", is_rotational ? 3 : 0,
               link_wave_stiffness(tie->impedance, delay), is_rotational ? "N m/rad" : "N/m");
        return;
    }
    printf("%s: %s\n", text_make_printable(tie->mode),
           !is_tie_supported(scene, tie, modes)
               ? "a wall is not stable at this delay: use mode: waves"
           : mode == LINK_MODEL ? "a wall is stable at any delay"
                                : "a wall is stable at this delay");
}

/* Whether a tie belongs to the measured device; also records whether the link supports its mode. */
static int is_tie_of_measured_link(struct link_scene *s, const struct modes_by_joint_kind *modes,
                                   const struct tact_scene_remote *tie)
{
    if (strcmp(tie->device, s->device) != 0) {
        return 0;
    }
    s->has_unstable_tie |= !is_tie_supported(s->scene, tie, modes);
    return 1;
}

/* Time by which 99.9 % of the packets arrive at most later than the fastest one [s]. */
static double get_measured_jitter(const struct link_quality *quality)
{
    return 1e-9 * (double)(quality->delay_p999 - quality->smallest_packet_delay);
}

/* One-way delay with jitter and repeats as the scene sets them [s]. */
static double get_channel_delay(const struct link_scene *s, const struct link_quality *quality)
{
    return 1e-9 * fmax((double)quality->smallest_packet_delay, 0.0) + s->jitter +
           s->repeats * s->scene->period;
}

json_t *link_scene_json(struct link_scene *s, const struct link_quality *quality)
{
    const double delay = get_channel_delay(s, quality);
    const struct modes_by_joint_kind modes = find_modes_by_joint_kind(s, delay);
    json_t *ties_json = json_array();
    for (uint32_t i = 0; i < s->scene->remotes_count; i++) {
        const struct tact_scene_remote *tie = &s->scene->remotes[i];
        if (is_tie_of_measured_link(s, &modes, tie)) {
            const int mode = link_mode_of_name(tie->mode);
            json_array_append_new(
                ties_json,
                json_pack("{s:s, s:s, s:b, s:o*}", "joint", tie->joint, "mode", tie->mode, "stable",
                          is_tie_supported(s->scene, tie, &modes), "stiffness",
                          mode == LINK_WAVES ? json_real(link_wave_stiffness(tie->impedance, delay))
                                             : NULL));
        }
    }
    return json_pack(
        "{s:s, s:f, s:f, s:i, s:I, s:f, s:o, s:o*, s:o*}", "device", s->device, "jitter", s->jitter,
        "jitter_measured", get_measured_jitter(quality), "repeats", s->repeats, "longest_gap",
        (json_int_t)quality->longest_loss_gap, "delay", delay, "ties", ties_json, "modes",
        must_show_modes_of_joint_kind(&modes, 0) ? link_modes_json(&modes.of[0]) : NULL,
        "turn_modes",
        must_show_modes_of_joint_kind(&modes, 1) ? link_modes_json(&modes.of[1]) : NULL);
}

void link_scene_print(const struct link_options *options, struct link_scene *s,
                      const struct link_quality *quality)
{
    const double jitter = get_measured_jitter(quality), delay = get_channel_delay(s, quality);
    const struct modes_by_joint_kind modes = find_modes_by_joint_kind(s, delay);
    printf("\n  %s, device %s:\n", text_make_printable(options->scene),
           text_make_printable(s->device));
    printf("  jitter       %g s: %s", s->jitter, jitter <= s->jitter ? "enough" : "too little");
    printf("; 99.9 %% come within %.4f s of the fastest\n", jitter);
    printf("  repeats      %d: %s the longest gap of %llu\n", s->repeats,
           quality->longest_loss_gap <= (uint64_t)s->repeats ? "cover" : "do not cover",
           (unsigned long long)quality->longest_loss_gap);
    printf("  delay        %.1f ms one way, with this jitter and these repeats\n", 1e3 * delay);
    for (uint32_t i = 0; i < s->scene->remotes_count; i++) {
        if (is_tie_of_measured_link(s, &modes, &s->scene->remotes[i])) {
            print_tie_at_measured_delay(s->scene, &s->scene->remotes[i], &modes, delay);
        }
    }
    for (int is_rotational = 0; is_rotational < 2; is_rotational++) {
        if (must_show_modes_of_joint_kind(&modes, is_rotational)) {
            link_modes_print(&modes.of[is_rotational], delay);
        }
    }
}
