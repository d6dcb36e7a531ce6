/* Procedural shapes: `generate` in a scene. */
#include "rt/scene/scene_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "contact/mesh/generate.h"

/* Required and allowed keys of each kind; others of this list are errors. */
static const struct {
    const char *key, *kinds;
    bool needed;
} key_uses[] = {{"edge", "bumpy_cube", true},
                {"radius", "prism gear torus knot blob", true},
                {"height", "prism gear", true},
                {"tube", "torus knot", true},
                {"bump", "blob bumpy_cube", true},
                {"count", "prism gear blob bumpy_cube", true},
                {"triangles", "gear torus knot blob bumpy_cube", true},
                {"seed", "blob bumpy_cube", false}};

static int index_of_mesh_generator_kind(const char *name)
{
    for (int i = 0; tact_generate_names[i]; i++) {
        if (strcmp(name, tact_generate_names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static int report_bad_generate_key(const struct tact_scene_check_context *check, const char *path,
                                   const char *key, const char *format, const char *kind)
{
    char key_path[TACT_SCENE_PATH_BYTES];
    snprintf(key_path, sizeof key_path, "%.80s.generate.%.20s", path, key);
    return tact_scene_report_bad_value(check, key_path, format, kind, key);
}

int tact_scene_check_generate(const struct tact_scene_check_context *check,
                              const struct tact_scene_shape *shape, const char *path)
{
    const char *kind = shape->generate->kind;
    if (index_of_mesh_generator_kind(kind) < 0) {
        return report_bad_generate_key(
            check, path, "kind",
            "expected one of prism, gear, torus, knot, blob, bumpy_cube; got \"%.60s\"", kind);
    }
    for (size_t i = 0; i < sizeof key_uses / sizeof *key_uses; i++) {
        bool does_kind_use_key = strstr(key_uses[i].kinds, kind) != NULL;
        bool is_key_in_scene = tact_scene_has_key(check, "%s.generate.%s", path, key_uses[i].key);
        if (does_kind_use_key && key_uses[i].needed && !is_key_in_scene) {
            return report_bad_generate_key(check, path, key_uses[i].key,
                                           "missing; a %.60s needs the key \"%s\"", kind);
        }
        if (is_key_in_scene && !does_kind_use_key) {
            return report_bad_generate_key(check, path, key_uses[i].key, "a %.60s has no %s", kind);
        }
    }
    return 0;
}

int tact_scene_generate(const struct tact_scene_check_context *check,
                        const struct tact_scene_shape *shape, const char *path,
                        struct tact_soup *soup)
{
    const struct tact_scene_generate *g = shape->generate;
    const struct tact_generate what = {
        .kind = (enum tact_generate_kind)index_of_mesh_generator_kind(g->kind),
        .edge = g->edge,
        .radius = g->radius,
        .height = g->height,
        .tube = g->tube,
        .bump = g->bump,
        .count = g->count,
        .triangles = g->triangles,
        .seed = g->seed};
    const char *rejected_generator_key = "kind";
    int rc = tact_soup_generate(&what, soup, &rejected_generator_key);
    if (rc == -EINVAL) {
        return report_bad_generate_key(
            check, path, rejected_generator_key,
            "this value is out of range for a generated %.60s: see SCENE.md, `generate`", g->kind);
    }
    return rc ? tact_error_set(check->err, rc, "out of memory") : 0;
}
