/* The scene of one end, with the link and the ties that the file of the teleoperation has: an edit
 * of the scene's YAML. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "contact/number.h"
#include "teleop.h"
#include "teleop_yaml.h"

/* A YAML document that is edited. Nodes are by number, as they move when one is added; 0: none. */
struct scene_edit {
    yaml_document_t document, file;
    const struct teleop *t;
    const struct teleop_site *site;
    const char *site_name; /* key of this end in the file of the teleoperation: local or remote */
    int failed;            /* 1: out of memory */
};

static int find_child_node(struct scene_edit *e, int map, const char *key)
{
    return teleop_yaml_child(&e->document, map, key);
}

static const char *get_text_of_yaml_node(struct scene_edit *e, int node)
{
    return teleop_yaml_text(&e->document, node);
}

static void remove_mapping_key(struct scene_edit *e, int map, const char *key)
{
    yaml_node_pair_t *pair = teleop_yaml_pair(&e->document, map, key);
    if (pair) {
        yaml_node_t *n = yaml_document_get_node(&e->document, map);
        memmove(pair, pair + 1, (size_t)(n->data.mapping.pairs.top - pair - 1) * sizeof *pair);
        n->data.mapping.pairs.top--;
    }
}

/* Sets the location of an added node to that of its key in the file of the teleoperation. */
static int set_location_of_added_node(struct scene_edit *e, int node,
                                      const char *key_in_teleop_file)
{
    yaml_node_t *n = yaml_document_get_node(&e->document, node);
    if (n) {
        n->start_mark =
            yaml_document_get_node(&e->file, teleop_yaml_find(&e->file, key_in_teleop_file))
                ->start_mark;
    }
    e->failed |= !n;
    return node;
}

static int add_scalar_node(struct scene_edit *e, const char *text, yaml_scalar_style_t style,
                           const char *key_in_teleop_file)
{
    return set_location_of_added_node(
        e, yaml_document_add_scalar(&e->document, NULL, (const yaml_char_t *)text, -1, style),
        key_in_teleop_file);
}

static void set_value_node_of_mapping_key(struct scene_edit *e, int map, const char *key, int node,
                                          const char *key_in_teleop_file)
{
    remove_mapping_key(e, map, key);
    const int name = add_scalar_node(e, key, YAML_PLAIN_SCALAR_STYLE, key_in_teleop_file);
    if (map && name && node) {
        e->failed |= !yaml_document_append_mapping_pair(&e->document, map, name, node);
    }
}

/* Sets a key of a map to a text; NULL leaves the key as it is. key_in_teleop_file: key from which
 * the text is. */
static void set_mapping_text(struct scene_edit *e, int map, const char *key, const char *text,
                             const char *key_in_teleop_file, yaml_scalar_style_t style)
{
    if (text) {
        set_value_node_of_mapping_key(
            e, map, key, add_scalar_node(e, text, style, key_in_teleop_file), key_in_teleop_file);
    }
}

/* Sets a number or word that is the same for both ends. */
static void set_scalar_key_if_present(struct scene_edit *e, int map, const char *key,
                                      const char *text)
{
    set_mapping_text(e, map, key, text, key, YAML_PLAIN_SCALAR_STYLE);
}

/* Sets a text that belongs to this end. */
static void set_yaml_text_of_this_site(struct scene_edit *e, int map, const char *key,
                                       const char *text, yaml_scalar_style_t style)
{
    char key_in_teleop_file[32];
    snprintf(key_in_teleop_file, sizeof key_in_teleop_file, "%s.%s", e->site_name, key);
    set_mapping_text(e, map, key, text, key_in_teleop_file, style);
}

static int add_mapping_node(struct scene_edit *e, int map, const char *key,
                            const char *key_in_teleop_file)
{
    const int node = set_location_of_added_node(
        e, yaml_document_add_mapping(&e->document, NULL, YAML_FLOW_MAPPING_STYLE),
        key_in_teleop_file);
    set_value_node_of_mapping_key(e, map, key, node, key_in_teleop_file);
    return node;
}

/* Node of entry k of a list; 0 if there is none. */
static int get_list_entry_node(struct scene_edit *e, int list, int k)
{
    const yaml_node_t *n = yaml_document_get_node(&e->document, list);
    if (!n || n->type != YAML_SEQUENCE_NODE) {
        return 0;
    }
    const ptrdiff_t count = n->data.sequence.items.top - n->data.sequence.items.start;
    return k < count ? n->data.sequence.items.start[k] : 0;
}

static void set_blackout_of_link(struct scene_edit *e, int link, const double blackout[2])
{
    const char *key_in_teleop_file = "link.blackout";
    const int list = set_location_of_added_node(
        e, yaml_document_add_sequence(&e->document, NULL, YAML_FLOW_SEQUENCE_STYLE),
        key_in_teleop_file);
    for (int i = 0; i < 2; i++) {
        char text[40];
        tact_number_print(text, sizeof text, "%.10g", blackout[i]);
        const int time = add_scalar_node(e, text, YAML_PLAIN_SCALAR_STYLE, key_in_teleop_file);
        e->failed |=
            !list || !time || !yaml_document_append_sequence_item(&e->document, list, time);
    }
    set_value_node_of_mapping_key(e, link, "blackout", list, key_in_teleop_file);
}

static void set_simulated_link(struct scene_edit *e, int settings,
                               const struct teleop_simulated_link *link)
{
    const struct {
        const char *key;
        double value;
    } values[] = {{"delay", link->delay},
                  {"jitter", link->jitter},
                  {"loss", link->loss},
                  {"burst", link->mean_loss_burst_duration},
                  {"reorder", link->reordered_packet_fraction},
                  {"duplicate", link->duplicate},
                  {"seed", link->seed}};
    const int map = add_mapping_node(e, settings, "link", "link");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[40], key_in_teleop_file[32];
        tact_number_print(text, sizeof text, strcmp(values[i].key, "seed") ? "%.10g" : "%.0f",
                          values[i].value);
        snprintf(key_in_teleop_file, sizeof key_in_teleop_file, "link.%s", values[i].key);
        set_mapping_text(e, map, values[i].key, values[i].value != 0.0 ? text : NULL,
                         key_in_teleop_file, YAML_PLAIN_SCALAR_STYLE);
    }
    if (link->blackout[0] != 0.0 || link->blackout[1] != 0.0) {
        set_blackout_of_link(e, map, link->blackout);
    }
}

static int set_error_at_teleop_value(const struct scene_edit *e, const char *key,
                                     struct tact_error *err, const char *text)
{
    char key_in_teleop_file[32];
    snprintf(key_in_teleop_file, sizeof key_in_teleop_file, "%s.%s", e->site_name, key);
    teleop_set_error_location_of_key(e->t, key_in_teleop_file, err);
    return tact_error_set(err, -EINVAL, "%s", text);
}

/* Whether a text is valid UTF-8, as a scene needs. */
static int is_valid_utf8_text(const char *text)
{
    json_t *string = json_string(text); /* which refuses others */
    const int is_valid = string != NULL;
    json_decref(string);
    return is_valid;
}

static int set_file_name_setting(struct scene_edit *e, int settings, const char *key,
                                 const char *name, struct tact_error *err)
{
    char *path = name ? teleop_resolve_path(e->t->file, name, 1) : NULL;
    int rc = 0;
    if (name && !path) {
        rc = set_error_at_teleop_value(e, key, err, "the folder of this file cannot be found");
    } else if (path && !is_valid_utf8_text(path)) {
        rc = set_error_at_teleop_value(
            e, key, err,
            "the name of its folder is not in UTF-8, which a scene is written in; "
            "expected a folder whose name is");
    } else {
        set_yaml_text_of_this_site(e, settings, key, path, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    }
    free(path);
    return rc;
}

static int set_device_settings(struct scene_edit *e, int device, struct tact_error *err)
{
    int settings = find_child_node(e, device, "settings");
    static const char *const removed_keys[] = {"listen", "connect", "key", "peer", "link"};
    if (!settings) {
        settings = add_mapping_node(e, device, "settings", e->site_name);
    }
    for (size_t i = 0; i < sizeof removed_keys / sizeof *removed_keys; i++) {
        remove_mapping_key(e, settings, removed_keys[i]);
    }
    set_yaml_text_of_this_site(e, settings, "listen", e->site->listen,
                               YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    set_yaml_text_of_this_site(e, settings, "connect", e->site->connect,
                               YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    set_scalar_key_if_present(e, settings, "jitter", e->t->jitter);
    set_scalar_key_if_present(e, settings, "repeats", e->t->repeats);
    set_scalar_key_if_present(e, settings, "hold", e->t->hold);
    if (e->t->link) {
        set_simulated_link(e, settings, e->t->link);
    }
    const int rc = set_file_name_setting(e, settings, "key", e->site->key, err);
    return rc ? rc : set_file_name_setting(e, settings, "peer", e->site->peer, err);
}

/* Sets mode and parameters of a tie, and removes keys of other modes, which a scene would refuse.
 * Returns 1 for waves. */
static int set_tie_settings(struct scene_edit *e, int tie)
{
    const struct teleop *t = e->t;
    const int is_tie_stiffness_set = e->site->stiffness || find_child_node(e, tie, "stiffness");
    set_scalar_key_if_present(e, tie, "mode", t->mode);
    const char *mode = get_text_of_yaml_node(e, find_child_node(e, tie, "mode"));
    const int does_tie_use_waves = !*mode || !strcmp(mode, "waves");
    if (t->mode && !does_tie_use_waves) {
        remove_mapping_key(e, tie, "impedance");
    }
    if (t->mode && (!does_tie_use_waves || !is_tie_stiffness_set)) {
        remove_mapping_key(e, tie, "tank");
    }
    if (t->mode && does_tie_use_waves && !is_tie_stiffness_set) {
        remove_mapping_key(e, tie, "damping");
    }
    set_scalar_key_if_present(e, tie, "impedance", does_tie_use_waves ? t->impedance : NULL);
    set_scalar_key_if_present(e, tie, "tank",
                              does_tie_use_waves && is_tie_stiffness_set ? t->tank : NULL);
    set_yaml_text_of_this_site(e, tie, "stiffness", e->site->stiffness, YAML_PLAIN_SCALAR_STYLE);
    set_yaml_text_of_this_site(e, tie, "damping", e->site->damping, YAML_PLAIN_SCALAR_STYLE);
    return does_tie_use_waves;
}

/* Checks that settings of ties apply to a tie. tie_count: number of ties of this end;
 * wave_tie_count: number of these with waves. */
static int check_that_ties_use_settings(const struct scene_edit *e, int tie_count,
                                        int wave_tie_count, const char *device,
                                        struct tact_error *err)
{
    if (!tie_count) {
        return tact_error_set(err, -EINVAL,
                              "no joint of this scene is tied to the other end by the device %s",
                              device);
    }
    if (!wave_tie_count && (e->t->impedance || e->t->tank)) {
        teleop_set_error_location_of_key(e->t, e->t->impedance ? "impedance" : "tank", err);
        return tact_error_set(
            err, -EINVAL,
            "this key is only for \"mode: waves\", which no tie of %s has; expected \"mode: "
            "waves\" beside it",
            e->site->scene);
    }
    return 0;
}

static int apply_teleop_settings(struct scene_edit *e, const struct tact_scene *scene,
                                 struct tact_error *err)
{
    const int device_list_node = find_child_node(e, 1, "devices"),
              remote_list_node = find_child_node(e, 1, "remotes");
    int found = 0, rc = 0, tied = 0, wave_mode_tie_count = 0;
    const char *name = "";
    for (int k = 0, device; !rc && (device = get_list_entry_node(e, device_list_node, k)) != 0;
         k++) {
        if (!strcmp(get_text_of_yaml_node(e, find_child_node(e, device, "type")), "network")) {
            rc = set_device_settings(e, device, err);
            name = get_text_of_yaml_node(e, find_child_node(e, device, "name"));
            found++;
        }
    }
    for (int k = 0, tie; (tie = get_list_entry_node(e, remote_list_node, k)) != 0; k++) {
        if (!strcmp(get_text_of_yaml_node(e, find_child_node(e, tie, "device")), name)) {
            wave_mode_tie_count += set_tie_settings(e, tie);
            tied++;
        }
    }
    if (rc || e->failed) {
        return rc ? rc : tact_error_set(err, -ENOMEM, "out of memory");
    }
    tact_scene_where(scene, found == 1 ? "remotes" : "devices", err);
    if (found != 1) {
        return tact_error_set(err, -EINVAL, "expected one device of type network, not %d", found);
    }
    return check_that_ties_use_settings(e, tied, wave_mode_tie_count, name, err);
}

/* Writes the document as a text, and frees the document. The text is to be freed; NULL: out of
 * memory. */
static char *write_yaml_document(yaml_document_t *document, size_t *size)
{
    char *text = NULL;
    yaml_emitter_t emitter;
    FILE *to = open_memstream(&text, size);
    if (!to || !yaml_emitter_initialize(&emitter)) {
        yaml_document_delete(document);
        if (to) {
            fclose(to);
        }
        free(text);
        return NULL;
    }
    yaml_emitter_set_output_file(&emitter, to);
    yaml_emitter_set_unicode(&emitter, 1);
    const int was_document_written = yaml_emitter_open(&emitter) &&
                                     yaml_emitter_dump(&emitter, document) &&
                                     yaml_emitter_close(&emitter);
    yaml_emitter_delete(&emitter);
    if (fclose(to) || !was_document_written) {
        free(text);
        return NULL;
    }
    return text;
}

/* Writes the document as a text, frees the document, and records the locations of its nodes in the
 * text. */
static char *write_with_node_locations(struct scene_edit *e, int first_node_of_teleop_file,
                                       struct teleop_node_locations *node_locations, size_t *size)
{
    if (teleop_node_locations_begin(node_locations, &e->document, first_node_of_teleop_file)) {
        yaml_document_delete(&e->document);
        return NULL;
    }
    char *text = write_yaml_document(&e->document, size);
    if (text && teleop_node_locations_end(node_locations, text, *size)) {
        free(text);
        return NULL;
    }
    return text;
}

static int apply_site_settings(struct scene_edit *e, const struct tact_scene *scene,
                               struct teleop_node_locations *node_locations, char **text,
                               size_t *size, struct tact_error *err)
{
    if (teleop_yaml_load(e->t->text, e->t->text_size, &e->file)) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    if (teleop_yaml_load(scene->text, scene->text_size, &e->document)) {
        yaml_document_delete(&e->file);
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    const int count = (int)(e->document.nodes.top - e->document.nodes.start);
    const int rc = apply_teleop_settings(e, scene, err);
    if (rc) {
        yaml_document_delete(&e->document);
    } else {
        *text = write_with_node_locations(e, count + 1, node_locations, size);
    }
    yaml_document_delete(&e->file);
    return rc || *text ? rc : tact_error_set(err, -ENOMEM, "out of memory");
}

int teleop_scene(const struct teleop *t, int local, struct tact_scene **out,
                 struct teleop_node_locations *node_locations, struct tact_error *err)
{
    struct scene_edit e = {
        .t = t, .site = local ? t->local : t->remote, .site_name = local ? "local" : "remote"};
    struct tact_scene *scene = NULL;
    char *text = NULL;
    size_t size = 0;
    *out = NULL;
    *node_locations =
        (struct teleop_node_locations){.from = teleop_resolve_path(t->file, e.site->scene, 0)};
    if (!node_locations->from ||
        asprintf(&node_locations->name, "%s (as tact teleop --print shows it)",
                 node_locations->from) < 0) {
        node_locations->name = NULL;
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    int rc = tact_scene_load(node_locations->from, &scene, err);
    rc = rc ? rc : apply_site_settings(&e, scene, node_locations, &text, &size, err);
    rc = rc ? rc : tact_scene_parse(text, size, node_locations->name, NULL, out, err);
    if (rc) {
        teleop_relocate_error(t, node_locations, err);
    }
    tact_scene_free(scene);
    free(text);
    return rc;
}
