/* The coupling of a base by matrices of all six coordinates: its keys and values, and what cannot
 * be beside it. */
#include <stdio.h>
#include <string.h>
#include "contact/symmetric_six_internal.h"
#include "contact/world/hand.h"
#include "rt/scene/scene_internal.h"

static const char *const matrix_keys[] = {"stiffness_matrix", "damping_matrix"};

static int check_matrix_values(const struct tact_scene_check_context *check, const double *matrix,
                               const char *path)
{
    static const char *const fault_texts[] = {
        [TACT_MATRIX_6X6_NOT_FINITE] = "has a number that is not finite",
        [TACT_MATRIX_6X6_NEGATIVE_DIAGONAL] = "has a number below 0 on its diagonal",
        [TACT_MATRIX_6X6_NOT_SYMMETRIC] = "is not symmetric",
        [TACT_MATRIX_6X6_INDEFINITE] =
            "is not positive semidefinite: one of its eigenvalues is below 0",
    };
    const enum tact_matrix_6x6_symmetry_fault fault = tact_matrix_6x6_find_symmetry_fault(matrix);
    return fault
               ? tact_scene_report_bad_value(
                     check, path,
                     "this 6 x 6 matrix %s; expected a symmetric, positive semidefinite one, rows "
                     "of force then torque",
                     fault_texts[fault])
               : 0;
}

/* Refuses numbers of the couplings of a base, which its matrices replace. */
static int forbid_coupling_beside_matrices(const struct tact_scene_check_context *check,
                                           const char *base)
{
    static const char *const couplings[] = {"coupling", "turn_coupling"};
    static const char *const numbers[] = {"stiffness", "damping", "axis_stiffness", "axis_damping"};
    char owner[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    for (int i = 0; i < 8; i++) {
        const char *number = numbers[i % 4];
        tact_scene_path_of_key(owner, base, couplings[i / 4]);
        if (tact_scene_has_key(check, "%s.%s", owner, number)) {
            return tact_scene_report_bad_value(
                check, tact_scene_path_of_key(key, owner, number),
                "is in \"%s\" of this base too; expected one of both",
                matrix_keys[strstr(number, "damping") != NULL]);
        }
    }
    return 0;
}

/* The scale of a tool divides the motion of the device but not its rotation: force and torque that
 * both go to the device would then not be those of one spring. */
static int check_tool_scale_of_matrix_base(const struct tact_scene_check_context *check,
                                           const struct tact_scene *scene, uint32_t hand)
{
    char path[TACT_SCENE_PATH_BYTES];
    for (uint32_t i = 0; i < scene->tools_count; i++) {
        const struct tact_scene_tool *tool = &scene->tools[i];
        const bool is_tool_motion_scaled =
            tool->scale != 1.0 || (tool->fine && tool->fine_scale != 1.0);
        if (!strcmp(tool->hand, scene->hands[hand].name) && is_tool_motion_scaled &&
            tool->force_count && tool->torque_count) {
            snprintf(path, sizeof path, "tools[%u].%s", i, tool->scale != 1.0 ? "scale" : "fine");
            return tact_scene_report_bad_value(
                check, path,
                "force and torque of %s are of one spring, whose motion and rotation must have the "
                "same scale; expected 1",
                tool->hand);
        }
    }
    return 0;
}

static int forbid_ties_of_base_with_matrices(const struct tact_scene_check_context *check,
                                             const struct tact_scene *scene, uint32_t hand)
{
    char path[TACT_SCENE_PATH_BYTES];
    for (uint32_t i = 0; i < scene->remotes_count; i++) {
        uint32_t of, link;
        if (tact_scene_find_coordinate(scene, scene->remotes[i].joint, &of, &link) && of == hand) {
            snprintf(path, sizeof path, "remotes[%u].joint", i);
            return tact_scene_report_bad_value(check, path,
                                               "%s is coupled by a \"stiffness_matrix\"; expected "
                                               "a base with \"coupling\" alone",
                                               scene->remotes[i].joint);
        }
    }
    return 0;
}

static int check_devices_of_matrices(const struct tact_scene_check_context *check,
                                     const struct tact_scene *scene, uint32_t number,
                                     const char *base)
{
    const struct tact_scene_hand *hand = &scene->hands[number];
    char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    int rc = 0;
    for (uint32_t i = 0; !rc && i < TACT_HAND_BASE; i++) {
        const struct tact_scene_coupling *coupling = hand->links[i].joint.coupling;
        const struct tact_scene_device_loop loop = tact_scene_find_device_loop(scene, number, i);
        tact_scene_path_of_key(path, base, i < 3 ? "coupling" : "turn_coupling");
        rc = tact_scene_require_nonnegative(check, path, "filter", coupling->filter, "Hz");
        rc = rc ? rc
                : tact_scene_check_coupling_device(
                      check, coupling, &loop, path,
                      tact_scene_path_of_key(key, base, "stiffness_matrix"));
    }
    return rc;
}

int tact_scene_check_base_matrices(const struct tact_scene_check_context *check,
                                   const struct tact_scene *scene, uint32_t number)
{
    const struct tact_scene_hand *hand = &scene->hands[number];
    const struct tact_scene_file_base *file = (const struct tact_scene_file_base *)hand->base;
    const double *const matrices[2] = {file->stiffness_matrix, file->damping_matrix};
    char base[TACT_SCENE_PATH_BYTES], path[TACT_SCENE_PATH_BYTES];
    int rc = 0;
    if (!matrices[0] && !matrices[1]) {
        return 0;
    }
    snprintf(base, sizeof base, "hands[%u].base", number);
    for (int i = 0; !rc && i < 2; i++) {
        tact_scene_path_of_key(path, base, matrix_keys[i]);
        if (!matrices[i]) {
            return tact_scene_report_bad_value(check,
                                               tact_scene_path_of_key(path, base, matrix_keys[!i]),
                                               "needs \"%s\" beside it", matrix_keys[i]);
        }
        rc = check_matrix_values(check, matrices[i], path);
        rc = rc ? rc
                : tact_scene_require_magnitude(check, base, matrix_keys[i], matrices[i], 36,
                                               TACT_SCENE_MAX_GAIN,
                                               i ? "N s/m or N m s/rad" : "N/m or N m/rad");
    }
    rc = rc ? rc : forbid_coupling_beside_matrices(check, base);
    rc = rc ? rc : check_tool_scale_of_matrix_base(check, scene, number);
    rc = rc ? rc : forbid_ties_of_base_with_matrices(check, scene, number);
    return rc ? rc : check_devices_of_matrices(check, scene, number, base);
}
