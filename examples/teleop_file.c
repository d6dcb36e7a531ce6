/* Reads the file of a teleoperation. */
#include <cyaml/cyaml.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/file.h"
#include "rt/scene/yaml.h"
#include "teleop.h"

enum { LONGEST = 4000, MOST_BYTES = 1 << 20 };

#define TEXT_FIELD(key, flags, type, member)                                                       \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | (flags), struct type, member, 1, LONGEST)
#define NUMBER_FIELD(key, member)                                                                  \
    CYAML_FIELD_FLOAT(key, CYAML_FLAG_OPTIONAL, struct teleop_simulated_link, member)

static const cyaml_schema_field_t site_fields[] = {
    TEXT_FIELD("scene", CYAML_FLAG_DEFAULT, teleop_site, scene),
    TEXT_FIELD("listen", CYAML_FLAG_OPTIONAL, teleop_site, listen),
    TEXT_FIELD("connect", CYAML_FLAG_OPTIONAL, teleop_site, connect),
    TEXT_FIELD("key", CYAML_FLAG_OPTIONAL, teleop_site, key),
    TEXT_FIELD("peer", CYAML_FLAG_OPTIONAL, teleop_site, peer),
    TEXT_FIELD("stiffness", CYAML_FLAG_OPTIONAL, teleop_site, stiffness),
    TEXT_FIELD("damping", CYAML_FLAG_OPTIONAL, teleop_site, damping),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t time_value = {CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double)};

static const cyaml_schema_field_t link_fields[] = {
    NUMBER_FIELD("delay", delay),
    NUMBER_FIELD("jitter", jitter),
    NUMBER_FIELD("loss", loss),
    NUMBER_FIELD("burst", mean_loss_burst_duration),
    NUMBER_FIELD("duplicate", duplicate),
    NUMBER_FIELD("reorder", reordered_packet_fraction),
    NUMBER_FIELD("seed", seed),
    CYAML_FIELD_SEQUENCE_FIXED("blackout", CYAML_FLAG_OPTIONAL, struct teleop_simulated_link,
                               blackout, &time_value, 2),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t file_fields[] = {
    TEXT_FIELD("name", CYAML_FLAG_DEFAULT, teleop, name),
    CYAML_FIELD_MAPPING_PTR("local", CYAML_FLAG_POINTER, struct teleop, local, site_fields),
    CYAML_FIELD_MAPPING_PTR("remote", CYAML_FLAG_POINTER, struct teleop, remote, site_fields),
    TEXT_FIELD("mode", CYAML_FLAG_OPTIONAL, teleop, mode),
    TEXT_FIELD("impedance", CYAML_FLAG_OPTIONAL, teleop, impedance),
    TEXT_FIELD("tank", CYAML_FLAG_OPTIONAL, teleop, tank),
    TEXT_FIELD("jitter", CYAML_FLAG_OPTIONAL, teleop, jitter),
    TEXT_FIELD("repeats", CYAML_FLAG_OPTIONAL, teleop, repeats),
    TEXT_FIELD("hold", CYAML_FLAG_OPTIONAL, teleop, hold),
    CYAML_FIELD_MAPPING_PTR("link", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct teleop, link,
                            link_fields),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t file_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct teleop, file_fields)};

static int set_error_in_teleop_file(const struct teleop *t, const char *key, struct tact_error *err,
                                    const char *text)
{
    teleop_set_error_location_of_key(t, key, err);
    return tact_error_set(err, -EINVAL, "%s", text);
}

static int check_settings_of_site(const struct teleop *t, const char *name,
                                  const struct teleop_site *site, struct tact_error *err)
{
    if (!site->listen == !site->connect) {
        return set_error_in_teleop_file(
            t, name, err, "expected either the key \"listen\" or the key \"connect\"");
    }
    if (!site->key != !site->peer) {
        return set_error_in_teleop_file(t, name, err,
                                        "expected both keys key and peer, or neither");
    }
    return 0;
}

/* Keys of waves are refused in other modes, as in a scene. */
static int check_mode_of_ties(const struct teleop *t, struct tact_error *err)
{
    if (!t->mode || !strcmp(t->mode, "waves") || (!t->impedance && !t->tank)) {
        return 0;
    }
    return set_error_in_teleop_file(t, t->impedance ? "impedance" : "tank", err,
                                    "this key is only for \"mode: waves\"");
}

static int check_teleop_file(const struct teleop *t, struct tact_error *err)
{
    int rc = check_settings_of_site(t, "local", t->local, err);
    rc = rc ? rc : check_settings_of_site(t, "remote", t->remote, err);
    if (!rc && !t->local->listen == !t->remote->listen) {
        rc = set_error_in_teleop_file(t, "remote", err,
                                      t->local->listen
                                          ? "both ends listen; expected one that connects"
                                          : "both ends connect; expected one that listens");
    }
    if (!rc && !t->local->key != !t->remote->key) {
        rc = set_error_in_teleop_file(t, t->local->key ? "remote" : "local", err,
                                      "the other end has keys; expected key and peer here too");
    }
    return rc ? rc : check_mode_of_ties(t, err);
}

int teleop_read(const char *path, struct teleop **out, struct tact_error *err)
{
    char *text = NULL;
    uint64_t size = 0;
    void *loaded_teleop_settings = NULL;
    int rc = tact_file_read(path, MOST_BYTES, &text, &size);
    *out = NULL;
    if (rc) {
        tact_error_at(err, path, 0, 0, NULL);
        return tact_error_set(err, rc, "cannot be read: %s", tact_file_failure_reason(rc));
    }
    rc = tact_yaml_load(path, text, size, &file_schema, &loaded_teleop_settings, err);
    if (rc) {
        free(text);
        return rc;
    }
    struct teleop *t = loaded_teleop_settings;
    t->text = text;
    t->text_size = size;
    t->file = strdup(path);
    rc = t->file ? check_teleop_file(t, err) : tact_error_set(err, -ENOMEM, "out of memory");
    if (rc) {
        teleop_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

void teleop_free(struct teleop *teleop)
{
    free(teleop->file);
    free(teleop->text);
    tact_yaml_free(&file_schema, teleop);
}

char *teleop_resolve_path(const char *file, const char *path, int must_return_absolute_path)
{
    char *file_path_copy = strdup(file), *folder = file_path_copy ? dirname(file_path_copy) : NULL,
         *joined = NULL;
    char *whole =
        folder && must_return_absolute_path && path[0] != '/' ? realpath(folder, NULL) : NULL;
    const int must_prefix_folder =
        strcmp(folder ? folder : "", ".") != 0 || must_return_absolute_path;
    if (path[0] == '/' || !must_prefix_folder) {
        joined = strdup(path);
    } else if (folder && (whole || !must_return_absolute_path) &&
               asprintf(&joined, "%s/%s", whole ? whole : folder, path) < 0) {
        joined = NULL;
    }
    free(whole);
    free(file_path_copy);
    return joined;
}
