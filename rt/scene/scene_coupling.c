/* The coupling of a joint to what a person holds: its values, its input and its outputs. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "contact/number.h"
#include "rt/passivity.h"
#include "rt/passivity_internal.h"
#include "rt/scene/scene_internal.h"

#define DEFAULT_STIFFNESS_OVER_STIFFEST_WALL                                                       \
    0.5 /* default stiffness by the stiffest that the device renders [1] */
#define DEFAULT_COUPLING_DAMPING_FACTOR 0.1 /* default damping by sqrt(stiffness 1 kg) [1] */
#define MAX_DEFAULT_COUPLING_DAMPING_FACTOR                                                        \
    0.4 /* bound of that by the device's mass over the period [1] */

static int report_missing_key(const struct tact_scene_check_context *check, const char *path,
                              const char *key, const char *alternative_key_text)
{
    return tact_scene_report_bad_value(check, path, "missing; expected the key \"%s\" here%s", key,
                                       alternative_key_text);
}

/* True where a coupling has this number, one for all axes or, of a base, one for each. */
static bool has_coupling_number_key(const struct tact_scene_check_context *check, const char *path,
                                    const char *number)
{
    return tact_scene_has_key(check, "%s.%s", path, number) ||
           tact_scene_has_key(check, "%s.axis_%s", path, number);
}

/* Key of a coupling's number in the scene. */
static const char *key_of_coupling_number(const struct tact_scene_check_context *check,
                                          const char *path, const char *number,
                                          char key[TACT_SCENE_PATH_BYTES])
{
    const bool has_number_of_each_axis = tact_scene_has_key(check, "%s.axis_%s", path, number);
    snprintf(key, TACT_SCENE_PATH_BYTES, "%s%s", has_number_of_each_axis ? "axis_" : "", number);
    return key;
}

/* Index of the device that an output goes to; the number of devices: there is none. */
static uint32_t find_device_of_output(const struct tact_scene *scene,
                                      const struct tact_scene_output *out)
{
    const char *channel = strchr(out->to, '.');
    uint32_t device = 0;
    while (channel && device < scene->devices_count &&
           (strncmp(scene->devices[device].name, out->to, (size_t)(channel - out->to)) ||
            scene->devices[device].name[channel - out->to])) {
        device++;
    }
    return device;
}

double tact_scene_lowest_reaction_filter(const struct tact_scene *scene, uint32_t hand,
                                         uint32_t link, int device)
{
    char joint[TACT_SCENE_PATH_BYTES];
    double lowest = 0.0;
    snprintf(joint, sizeof joint, "%s.%s", scene->hands[hand].name,
             scene->hands[hand].links[link].name);
    for (uint32_t i = 0; i < scene->outputs_count; i++) {
        const struct tact_scene_output *out = &scene->outputs[i];
        const bool is_reaction_of_joint =
            !strcmp(out->from, joint) && !strcmp(out->what, "reaction") && out->scale != 0.0;
        if (is_reaction_of_joint && out->filter > 0.0 &&
            (device < 0 || find_device_of_output(scene, out) == (uint32_t)device)) {
            lowest = lowest > 0.0 ? fmin(lowest, out->filter) : out->filter;
        }
    }
    return lowest;
}

struct tact_scene_device_loop tact_scene_find_device_loop(const struct tact_scene *scene,
                                                          uint32_t hand, uint32_t link)
{
    return (struct tact_scene_device_loop){
        .period = scene->period,
        .gain = link < tact_scene_base_links(&scene->hands[hand])
                    ? tact_scene_tool_force_gain(scene, hand, link >= 3)
                    : 1.0,
        .filter_delay = tact_passivity_filter_delay(
            tact_scene_lowest_reaction_filter(scene, hand, link, -1), scene->period)};
}

char *tact_scene_format_filter_term(char out[TACT_SCENE_FILTER_TERM_BYTES], double filter_delay)
{
    out[0] = '\0';
    if (filter_delay > 0.0) {
        tact_number_print(out, TACT_SCENE_FILTER_TERM_BYTES, " + %.4g s of the filter",
                          filter_delay);
    }
    return out;
}

/* The stiffest wall that a device renders, its force filtered. */
static double max_passive_stiffness_of_device(const struct tact_scene_port *device,
                                              const struct tact_scene_device_loop *loop)
{
    return tact_passivity_stiffest(device->damping, device->delay + loop->filter_delay,
                                   device->friction, device->resolution, loop->period);
}

/* Sets stiffness and damping of a coupling that states none, from its device; slides: of a joint
 * along an axis. Bad numbers of the device are refused later, by another check. */
static int set_coupling_defaults(const struct tact_scene_check_context *check,
                                 struct tact_scene_coupling *coupling, bool slides,
                                 const struct tact_scene_device_loop *loop, const char *path)
{
    const struct tact_scene_port *device = coupling->device;
    char key[TACT_SCENE_PATH_BYTES];
    if (!has_coupling_number_key(check, path, "stiffness")) {
        if (!device || coupling->hard) {
            return report_missing_key(
                check, tact_scene_path_of_key(key, path, "stiffness"), "stiffness",
                device ? " beside \"hard: true\""
                       : ", or \"device\", from which the stiffness is computed");
        }
        const double max_passive_stiffness = max_passive_stiffness_of_device(device, loop);
        const double wall_stiffness_by_device_maker =
            ((const struct tact_scene_file_port *)device)->stiffness;
        const double default_stiffness_at_device =
            wall_stiffness_by_device_maker > 0.0
                ? fmin(wall_stiffness_by_device_maker,
                       DEFAULT_STIFFNESS_OVER_STIFFEST_WALL * max_passive_stiffness)
                : DEFAULT_STIFFNESS_OVER_STIFFEST_WALL * max_passive_stiffness;
        coupling->stiffness =
            max_passive_stiffness > 0.0 ? default_stiffness_at_device / loop->gain : 1.0;
    }
    if (!has_coupling_number_key(check, path, "damping")) {
        if (!slides) {
            return report_missing_key(check, tact_scene_path_of_key(key, path, "damping"),
                                      "damping", ": a coupling of rotations has no default");
        }
        coupling->damping = DEFAULT_COUPLING_DAMPING_FACTOR * sqrt(fmax(0.0, coupling->stiffness));
        if (device && device->mass > 0.0) {
            coupling->damping = fmin(coupling->damping, MAX_DEFAULT_COUPLING_DAMPING_FACTOR *
                                                            device->mass / loop->period);
        }
    }
    return 0;
}

static bool is_slide_joint(const struct tact_scene_joint *joint)
{
    return joint->type && !strcmp(joint->type, "slide");
}

static const char *key_of_coupling_kind(bool is_base_coupling, bool is_rotation)
{
    return !is_base_coupling ? "joint.coupling" : is_rotation ? "turn_coupling" : "coupling";
}

int tact_scene_set_coupling_defaults(const struct tact_scene_check_context *check,
                                     struct tact_scene *scene)
{
    char owner[TACT_SCENE_PATH_BYTES], path[TACT_SCENE_PATH_BYTES];
    int rc = 0;
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        struct tact_scene_hand *hand = &scene->hands[i];
        const uint32_t base_coordinate_count = tact_scene_base_links(hand);
        for (uint32_t k = 0; !rc && k < hand->links_count; k++) {
            struct tact_scene_coupling *coupling = hand->links[k].joint.coupling;
            const bool is_rotation = k >= 3;
            if (!coupling) {
                continue;
            }
            tact_scene_path_of_key(path, tact_scene_link_key_path(scene, i, k, owner),
                                   key_of_coupling_kind(k < base_coordinate_count, is_rotation));
            const bool has_base_matrices =
                k < base_coordinate_count && tact_scene_file_base_with_matrices(hand);
            const struct tact_scene_device_loop loop = tact_scene_find_device_loop(scene, i, k);
            rc = has_base_matrices
                     ? 0
                     : set_coupling_defaults(check, coupling, is_slide_joint(&hand->links[k].joint),
                                             &loop, path);
            if (k < base_coordinate_count && k % 3 == 0) {
                struct tact_scene_coupling *first =
                    is_rotation ? hand->base->turn_coupling : hand->base->coupling;
                first->stiffness = coupling->stiffness;
                first->damping = coupling->damping;
            }
        }
    }
    return rc;
}

int tact_scene_check_coupling_device(const struct tact_scene_check_context *check,
                                     const struct tact_scene_coupling *coupling,
                                     const struct tact_scene_device_loop *loop, const char *path,
                                     const char *stiffness_key_path)
{
    const struct tact_scene_port *device = coupling->device;
    char owner[TACT_SCENE_PATH_BYTES];
    if (!device) {
        return 0;
    }
    tact_scene_path_of_key(owner, path, "device");
    int rc = tact_scene_require_positive(check, owner, "mass", device->mass, "kg m^2 or kg");
    rc = rc ? rc
            : tact_scene_require_positive(check, owner, "damping", device->damping,
                                          "N m s/rad or N s/m");
    rc = rc ? rc : tact_scene_require_nonnegative(check, owner, "delay", device->delay, "s");
    rc =
        rc ? rc
           : tact_scene_require_nonnegative(check, owner, "friction", device->friction, "N m or N");
    rc = rc ? rc
            : tact_scene_require_nonnegative(check, owner, "resolution", device->resolution,
                                             "rad or m");
    rc = rc ? rc
            : tact_scene_require_nonnegative(
                  check, owner, "stiffness",
                  ((const struct tact_scene_file_port *)device)->stiffness, "N m/rad or N/m");
    const double max_passive_stiffness = max_passive_stiffness_of_device(device, loop);
    if (!rc && !coupling->hard && loop->gain * coupling->stiffness > max_passive_stiffness) {
        char filter_term_text[TACT_SCENE_FILTER_TERM_BYTES];
        rc = tact_scene_report_bad_value(
            check, stiffness_key_path,
            "%g%s is over %g N m/rad or N/m, the stiffest that this device renders "
            "without rattling (damping / (period / 2 + delay%s)%s); expected less, "
            "or \"hard: true\"",
            loop->gain * coupling->stiffness,
            loop->gain != 1.0 ? " (at the device, after the scales of its tool)" : "",
            max_passive_stiffness,
            tact_scene_format_filter_term(filter_term_text, loop->filter_delay),
            device->resolution > 0.0 ? " and 2 friction / resolution" : "");
    }
    return rc;
}

int tact_scene_forbid_numbers_of_axes(const struct tact_scene_check_context *check,
                                      const char *path)
{
    static const char *const axes[] = {"axis_stiffness", "axis_damping"};
    char key[TACT_SCENE_PATH_BYTES];
    for (int i = 0; i < 2; i++) {
        if (tact_scene_has_key(check, "%s.%s", path, axes[i])) {
            return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, axes[i]),
                                               "is of the three axes of a base; expected \"%s\"",
                                               axes[i] + strlen("axis_"));
        }
    }
    return 0;
}

int tact_scene_check_coupling(const struct tact_scene_check_context *check,
                              const struct tact_scene_coupling *coupling,
                              const struct tact_scene_device_loop *loop, const char *joint,
                              const char *path)
{
    static const char *const drive[] = {"stiffness", "damping"};
    char key[TACT_SCENE_PATH_BYTES], number[TACT_SCENE_PATH_BYTES];
    for (int i = 0; i < 2; i++) {
        if (tact_scene_has_key(check, "%s.%s", joint, drive[i])) {
            return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, joint, drive[i]),
                                               "is of a drive; a joint with \"coupling\" has none");
        }
    }
    for (int i = 0; i < 2; i++) {
        if (tact_scene_has_key(check, "%s.%s", path, drive[i]) &&
            tact_scene_has_key(check, "%s.axis_%s", path, drive[i])) {
            return tact_scene_report_bad_value(
                check, tact_scene_path_of_key(key, path, drive[i]),
                "is also given for each axis; expected one of the two keys");
        }
    }
    int rc = tact_scene_require_positive(check, path,
                                         key_of_coupling_number(check, path, "stiffness", number),
                                         coupling->stiffness, "N m/rad or N/m");
    rc = rc ? rc
            : tact_scene_require_gain(check, path, number, coupling->stiffness, "N m/rad or N/m");
    rc = rc ? rc
            : tact_scene_require_gain(check, path,
                                      key_of_coupling_number(check, path, "damping", number),
                                      coupling->damping, "N m s/rad or N s/m");
    rc = rc ? rc : tact_scene_require_nonnegative(check, path, "filter", coupling->filter, "Hz");
    tact_scene_path_of_key(key, path, key_of_coupling_number(check, path, "stiffness", number));
    return rc ? rc : tact_scene_check_coupling_device(check, coupling, loop, path, key);
}

long tact_scene_find_input(const struct tact_scene *scene, uint32_t count, const char *what,
                           const char *joint)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!strcmp(scene->inputs[i].what, what) && !strcmp(scene->inputs[i].to, joint)) {
            return i;
        }
    }
    return -1;
}

int tact_scene_output_group(const struct tact_scene *scene, uint32_t output)
{
    const struct tact_scene_output *out = &scene->outputs[output];
    uint32_t hand, link;
    if (!tact_scene_find_coordinate(scene, out->from, &hand, &link)) {
        return 0;
    }
    const struct tact_scene_joint *joint = &scene->hands[hand].links[link].joint;
    const bool is_rate_of_admittance_base = !strcmp(out->what, "rate") && joint->damping > 0.0;
    return is_rate_of_admittance_base || !strcmp(out->what, "reaction")
               ? 1 + (int)((2 * hand + (link >= 3)) * (scene->devices_count + 1) +
                           find_device_of_output(scene, out))
               : 0;
}

/* Refuses a filter of an output whose force has an energy bound: the filtered force could exceed
 * the bound. */
static int forbid_filter_of_energy_bounded_output(const struct tact_scene_check_context *check,
                                                  const struct tact_scene *scene, const char *joint)
{
    char path[TACT_SCENE_PATH_BYTES];
    for (uint32_t i = 0; i < scene->outputs_count; i++) {
        const struct tact_scene_output *out = &scene->outputs[i];
        if (!strcmp(out->from, joint) && !strcmp(out->what, "reaction") && out->filter > 0.0) {
            snprintf(path, sizeof path, out->tool ? "tools[%u].filter" : "outputs[%u].filter",
                     out->tool ? out->tool - 1 : i);
            return tact_scene_report_bad_value(
                check, path,
                "would exceed the energy bound of %s (\"hard: true\"); expected "
                "no filter",
                joint);
        }
    }
    return 0;
}

static bool has_calibrated_axis(const struct tact_scene *scene)
{
    uint32_t axes = 0;
    for (uint32_t i = 0; i < scene->devices_count; i++) {
        axes += scene->devices[i].haptic_count;
    }
    return axes > 0;
}

/* Checks that no input measures a coupled joint, and that one sets its target; coordinates of a
 * base without an input stay where they are. */
static int check_coupling_input(const struct tact_scene_check_context *check,
                                const struct tact_scene *scene, uint32_t hand, uint32_t link)
{
    char owner[TACT_SCENE_PATH_BYTES], path[TACT_SCENE_PATH_BYTES], joint[TACT_SCENE_PATH_BYTES];
    const struct tact_scene_link *l = &scene->hands[hand].links[link];
    snprintf(joint, sizeof joint, "%s.%s", scene->hands[hand].name, l->name);
    const bool is_base_coordinate = link < tact_scene_base_links(&scene->hands[hand]);
    tact_scene_path_of_key(path, tact_scene_link_key_path(scene, hand, link, owner),
                           key_of_coupling_kind(is_base_coordinate, link >= 3));
    const long measured = tact_scene_find_input(scene, scene->inputs_count, "state", joint);
    if (!l->joint.coupling) {
        return 0;
    }
    if (measured >= 0) {
        return tact_scene_report_bad_value(
            check, path, "the joint %s cannot have a coupling: inputs[%ld] measures its state",
            joint, measured);
    }
    if (!is_base_coordinate &&
        tact_scene_find_input(scene, scene->inputs_count, "target", joint) < 0) {
        return tact_scene_report_bad_value(
            check, path, "no input leads to %s; a coupling ties the joint to the value of one",
            joint);
    }
    if (l->joint.coupling->hard && !l->joint.coupling->device && !has_calibrated_axis(scene)) {
        char key[TACT_SCENE_PATH_BYTES];
        return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "hard"),
                                           "needs the numbers of the device; expected \"device\" "
                                           "beside it, or a calibration file of the device");
    }
    return l->joint.coupling->hard ? forbid_filter_of_energy_bounded_output(check, scene, joint)
                                   : 0;
}

int tact_scene_check_coupling_io(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->hands_count; i++) {
        for (uint32_t k = 0; !rc && k < scene->hands[i].links_count; k++) {
            rc = check_coupling_input(check, scene, i, k);
        }
    }
    return rc;
}
