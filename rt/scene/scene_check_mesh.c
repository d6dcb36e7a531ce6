/* Checks the source of a mesh or a surface: a file with its unit and scales, or `generate`. */
#include <errno.h>
#include <string.h>
#include "rt/scene/scene_internal.h"

/* The unit and the scales of a file's coordinates. */
static int check_file_scales(const struct tact_scene_check_context *check,
                             const struct tact_scene_shape *shape, bool is_mesh_shape,
                             const char *path)
{
    char key[TACT_SCENE_PATH_BYTES];
    if (shape->unit) {
        static const char *const units[] = {"m", "cm", "mm", "in", NULL};
        tact_scene_path_of_key(key, path, "unit");
        if (!shape->file) {
            return tact_scene_report_bad_value(
                check, key, "the key \"unit\" is only for a shape with a \"file\"");
        }
        int rc = tact_scene_require_word(check, key, shape->unit, units);
        if (rc) {
            return rc;
        }
    }
    if (shape->scale_xyz) {
        const double *s = shape->scale_xyz;
        tact_scene_path_of_key(key, path, "scale_xyz");
        if (!is_mesh_shape || !shape->file) {
            return tact_scene_report_bad_value(
                check, key,
                "the key \"scale_xyz\" is only for a shape of type convex or mesh with a \"file\"");
        }
        if (s[0] * s[1] * s[2] == 0.0) {
            return tact_scene_report_bad_value(check, key,
                                               "expected three scale factors, none of them 0");
        }
    }
    return 0;
}

int tact_scene_check_mesh_source(const struct tact_scene_check_context *check,
                                 const struct tact_scene_shape *shape, const char *path)
{
    char key[TACT_SCENE_PATH_BYTES];
    bool is_mesh_shape = strcmp(shape->type, "convex") == 0 || strcmp(shape->type, "mesh") == 0;
    if (is_mesh_shape && !shape->file && !shape->generate) {
        return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "file"),
                                           "missing; a %s needs the key \"file\" or \"generate\"",
                                           shape->type);
    }
    int rc = check_file_scales(check, shape, is_mesh_shape, path);
    if (rc) {
        return rc;
    }
    bool patches = strcmp(shape->type, "patches") == 0;
    bool surface = patches || strcmp(shape->type, "subdivision") == 0;
    if (surface && shape->file && shape->generate) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, "generate"),
            "shapes of type patches and subdivision cannot have \"generate\"");
    }
    if (surface && !shape->file) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, "file"), "missing; %s the key \"file\"",
            patches ? "patches need" : "a subdivision surface needs");
    }
    if (!shape->generate) {
        return 0;
    }
    if (shape->file || tact_scene_has_key(check, "%s.scale", path)) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, shape->file ? "file" : "scale"),
            "a shape with \"generate\" cannot have the key %s", shape->file ? "file" : "scale");
    }
    return tact_scene_check_generate(check, shape, path);
}
