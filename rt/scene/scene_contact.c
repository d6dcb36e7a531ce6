/* Checks of contact laws of materials, and of the options of contact and solver. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "contact/pair/field/extent.h"
#include "contact/pair/model.h"
#include "rt/scene/scene_internal.h"

enum { MAX_MODELS = 32 };
#define MAX_CONTACT_COMPLIANCE 1e6 /* [m/N] */

static int check_fingertip_radius(const struct tact_scene_check_context *check, const char *path,
                                  double radius, double power)
{
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_scene_require_nonnegative(check, path, "tip_radius", radius, "m");
    return rc ? rc
              : tact_scene_require_between(check, tact_scene_path_of_key(key, path, "tip_power"),
                                           power, 0.0, 1.0, "");
}

static int check_contact_model(const struct tact_scene_check_context *check, const char *path,
                               const char *name)
{
    const char *words[MAX_MODELS + 2] = {"auto"};
    const struct tact_contact_model *model;
    int count = 1;
    while (count < MAX_MODELS && (model = tact_contact_model_at(count - 1))) {
        words[count++] = model->name;
    }
    words[count] = strcmp(name, "patch")
                       ? NULL
                       : "patch"; /* "patch" is the former name of the model "volume" */
    return tact_scene_require_word(check, path, name, words);
}

static int pair_uses_pressure_field(const struct tact_scene *scene,
                                    const struct tact_scene_pair *pair)
{
    return !strcmp(pair->model ? pair->model : scene->contact.model, "field");
}

/* Exponent of a material's pressure over depth: that of Hertz with a modulus alone; 0 of a rigid
 * material. */
static double get_pressure_field_power(const struct tact_scene_material *material)
{
    const struct tact_scene_field *field = &material->field;
    if (field->modulus > 0.0) {
        return field->power > 0.0 ? field->power : 1.0;
    }
    return material->modulus > 0.0 ? 0.5 : 0.0;
}

/* Two soft materials whose pressures follow the same power of the depth, or one soft one. */
static int check_pressure_powers(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene, const char *path,
                                 const struct tact_scene_pair *pair)
{
    const char *const *name = (const char *const *)pair->materials;
    double power[2] = {1.0, 1.0}; /* no such material: another check refuses it */
    for (uint32_t i = 0; i < scene->materials_count; i++) {
        for (int k = 0; k < 2; k++) {
            if (!strcmp(scene->materials[i].name, name[k])) {
                power[k] = get_pressure_field_power(&scene->materials[i]);
            }
        }
    }
    if (!(power[0] > 0.0) && !(power[1] > 0.0)) {
        return tact_scene_report_bad_value(
            check, path,
            "the contact model \"field\" needs a soft material: expected the key \"field\" or "
            "\"modulus\" in material \"%s\" or \"%s\"",
            name[0], name[1]);
    }
    if (power[0] > 0.0 && power[1] > 0.0 && power[0] != power[1]) {
        return tact_scene_report_bad_value(
            check, path,
            "the pressure of material \"%s\" grows with depth to the power %g, that of \"%s\" with "
            "%g (a modulus without a field has 0.5): two soft materials need the same power",
            name[0], power[0], name[1], power[1]);
    }
    return 0;
}

/* Refuses options that have no effect in pairs with pressure fields. */
static int check_pressure_field_pair(const struct tact_scene_check_context *check,
                                     const struct tact_scene *scene, const char *path,
                                     const struct tact_scene_pair *pair)
{
    static const char *const incompatible_keys[] = {"overlap", "restitution", "compliance",
                                                    "tip_radius", "tip_power"};
    const struct tact_contact_law *law = &pair->law;
    char key[TACT_SCENE_PATH_BYTES];
    for (size_t i = 0; i < sizeof incompatible_keys / sizeof *incompatible_keys; i++) {
        if (tact_scene_has_key(check, "%s.%s", path, incompatible_keys[i])) {
            return tact_scene_report_bad_value(
                check, tact_scene_path_of_key(key, path, incompatible_keys[i]),
                "the contact model \"field\" does not use this key: the pressure fields of the "
                "materials determine the compliance of the contact");
        }
    }
    if (law->compliance > 0.0) {
        return tact_scene_report_bad_value(
            check, "contact.compliance", "the contact model \"field\" of %s does not use this key",
            path);
    }
    return check_pressure_powers(check, scene, path, pair);
}

static int check_pressure_field(const struct tact_scene_check_context *check, const char *path,
                                const struct tact_scene_field *field)
{
    char owner[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    tact_scene_path_of_key(owner, path, "field");
    if (!tact_scene_has_key(check, "%s", owner)) {
        return 0;
    }
    int rc = tact_scene_require_positive(check, owner, "modulus", field->modulus, "Pa");
    rc = rc ? rc : tact_scene_require_positive(check, owner, "thickness", field->thickness, "m");
    if (!rc && tact_scene_has_key(check, "%s.power", owner)) {
        rc = tact_scene_require_between(check, tact_scene_path_of_key(key, owner, "power"),
                                        field->power, 0.5, 5.0, "");
    }
    if (!rc && !isfinite(field->modulus / field->thickness)) {
        rc = tact_scene_report_bad_value(
            check, owner, "the ratio of modulus to thickness of a soft layer is too large");
    }
    rc = rc ? rc : tact_scene_require_nonnegative(check, owner, "cell", field->cell, "m");
    return rc || !field->kind
               ? rc
               : tact_scene_require_word(check, tact_scene_path_of_key(key, owner, "kind"),
                                         field->kind, tact_extent_kind_names);
}

/* 1 where a pair has a contact patch that grows with the force: from a modulus or a fingertip
 * radius. */
static int has_soft_patch(const struct tact_scene *scene, const struct tact_scene_pair *pair)
{
    int is_any_material_soft = pair->law.tip_radius > 0.0;
    for (uint32_t i = 0; i < scene->materials_count; i++) {
        const struct tact_scene_material *m = &scene->materials[i];
        if (!strcmp(m->name, pair->materials[0]) || !strcmp(m->name, pair->materials[1])) {
            is_any_material_soft |= m->modulus > 0.0 || m->tip_radius > 0.0;
        }
    }
    return is_any_material_soft;
}

static int check_rolling_loss(const struct tact_scene_check_context *check,
                              const struct tact_scene *scene, const char *path,
                              const struct tact_scene_pair *pair)
{
    const char *model = pair->model ? pair->model : scene->contact.model;
    char key[TACT_SCENE_PATH_BYTES];
    if (!tact_scene_has_key(check, "%s.rolling_loss", path)) {
        return 0;
    }
    tact_scene_path_of_key(key, path, "rolling_loss");
    int rc = tact_scene_require_between(check, key, pair->law.rolling_loss, 0.0, 1.0, "");
    if (!rc && pair->law.rolling_loss > 0.0 && strcmp(model, "smooth") != 0) {
        return tact_scene_report_bad_value(
            check, key, "is not used by the model %s; expected \"model: smooth\"", model);
    }
    if (!rc && pair->law.rolling_loss > 0.0 && !has_soft_patch(scene, pair)) {
        return tact_scene_report_bad_value(
            check, key,
            "is that of a soft patch; expected \"modulus\" or \"tip_radius\" of \"%s\" or \"%s\": "
            "rigid surfaces touch in a point, which does not resist rolling",
            pair->materials[0], pair->materials[1]);
    }
    return rc;
}

/* A patch that yields by so much bears nothing in any scene; by 1e250 m/N it overflowed in the
 * solver, and the contact was left out. */
static int check_contact_compliance(const struct tact_scene_check_context *check, const char *owner,
                                    const char *name, double compliance)
{
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_scene_require_nonnegative(check, owner, name, compliance, "m/N");
    return rc ? rc
              : tact_scene_require_between(check, tact_scene_path_of_key(key, owner, name),
                                           compliance, 0.0, MAX_CONTACT_COMPLIANCE, "m/N");
}

static int check_contact_law_of_materials(const struct tact_scene_check_context *check,
                                          const struct tact_scene *scene, const char *path,
                                          const struct tact_scene_pair *pair)
{
    const struct tact_contact_law *law = &pair->law;
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_scene_require_nonnegative(check, path, "friction", law->friction, "");
    rc =
        rc ? rc : tact_scene_require_nonnegative(check, path, "dissipation", law->dissipation, "s");
    rc = rc ? rc : check_contact_compliance(check, path, "compliance", law->compliance);
    rc = rc ? rc
            : check_contact_compliance(check, path, "tangential_compliance",
                                       law->tangential_compliance);
    rc = rc ? rc : tact_scene_require_positive(check, path, "overlap", law->overlap, "m");
    rc = rc ? rc
            : tact_scene_require_nonnegative(check, path, "hunt_crossley", law->hunt_crossley,
                                             "s/m");
    int field = pair_uses_pressure_field(scene, pair);
    if (!rc && law->hunt_crossley > 0.0 && !(law->compliance > 0.0) && !field) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, "hunt_crossley"),
            "damps the spring of a compliant contact; expected \"compliance\" "
            "over 0 beside it");
    }
    if (!rc && !(law->restitution >= 0.0 && law->restitution <= 1.0)) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, "restitution"),
            "the coefficient of restitution must be from 0 to 1, got %g", law->restitution);
    }
    if (!rc && pair->model) {
        rc = check_contact_model(check, tact_scene_path_of_key(key, path, "model"), pair->model);
    }
    rc = rc ? rc : check_fingertip_radius(check, path, law->tip_radius, law->tip_power);
    rc = rc ? rc : check_rolling_loss(check, scene, path, pair);
    return rc || !field ? rc : check_pressure_field_pair(check, scene, path, pair);
}

static int check_material_values(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene)
{
    char path[TACT_SCENE_PATH_BYTES];
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->materials_count; i++) {
        snprintf(path, sizeof path, "materials[%u]", i);
        const struct tact_scene_material *m = &scene->materials[i];
        rc = tact_scene_require_nonnegative(check, path, "modulus", m->modulus, "Pa");
        rc = rc ? rc : check_fingertip_radius(check, path, m->tip_radius, m->tip_power);
        rc = rc ? rc : check_pressure_field(check, path, &m->field);
    }
    for (uint32_t i = 0; !rc && i < scene->pairs_count; i++) {
        snprintf(path, sizeof path, "pairs[%u]", i);
        rc = check_contact_law_of_materials(check, scene, path, &scene->pairs[i]);
    }
    return rc;
}

static int check_contact_options(const struct tact_scene_check_context *check,
                                 const struct tact_scene_contact *c)
{
    static const char *const local_solver_names[] = {"cone", "bouchard", NULL};
    static const char *const patches[] = {"polygon", "ellipse", NULL};
    static const char *const normals[] = {"blend", "gradient", "least", NULL};
    static const char *const spins[] = {"auto",  "corners",       "uniform",
                                        "hertz", "limit-surface", NULL};
    static const char *const metrics[] = {"euclidean", "mass", NULL};
    static const char *const splits[] = {"auto", "never", NULL};
    int rc = tact_scene_require_positive(check, "contact", "overlap", c->overlap, "m");
    rc = rc ? rc : check_contact_compliance(check, "contact", "compliance", c->compliance);
    rc = rc ? rc
            : check_contact_compliance(check, "contact", "tangential_compliance",
                                       c->tangential_compliance);
    rc = rc ? rc
            : tact_scene_require_nonnegative(check, "contact", "dissipation", c->dissipation, "s");
    rc = rc ? rc
            : tact_scene_require_between(check, "contact.iterations", c->iterations, 1, 10000, "");
    rc = rc ? rc
            : tact_scene_require_between(check, "contact.tolerance", c->tolerance, 0.0, 1.0, "");
    rc = rc ? rc : tact_scene_require_word(check, "contact.local", c->local, local_solver_names);
    rc = rc ? rc : tact_scene_require_word(check, "contact.patch", c->patch, patches);
    rc = rc ? rc : tact_scene_require_word(check, "contact.normal", c->normal, normals);
    rc = rc ? rc : check_contact_model(check, "contact.model", c->model);
    rc = rc ? rc : tact_scene_require_between(check, "contact.points", c->points, 1, 1e6, "");
    rc = rc ? rc : tact_scene_require_word(check, "contact.spin", c->spin, spins);
    rc = rc ? rc : tact_scene_require_word(check, "contact.metric", c->metric, metrics);
    rc = rc ? rc : tact_scene_require_word(check, "contact.split", c->split, splits);
    return rc;
}

int tact_scene_check_contact(const struct tact_scene_check_context *check,
                             const struct tact_scene *scene)
{
    int rc = check_contact_options(check, &scene->contact);
    return rc ? rc : check_material_values(check, scene);
}
