/* The scene of one end, with the link and the ties that the file of the teleoperation has: an edit
 * of the scene's YAML. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>
#include "contact/number.h"
#include "teleop.h"

/* A YAML document that is edited. Nodes are by number, as they move when one is added; 0: none. */
struct edit {
    yaml_document_t document;
    int failed; /* 1: out of memory */
};

static const char *text_of(struct edit *e, int node)
{
    const yaml_node_t *n = yaml_document_get_node(&e->document, node);
    return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
}

static yaml_node_pair_t *find_pair(struct edit *e, int map, const char *key)
{
    yaml_node_t *n = yaml_document_get_node(&e->document, map);
    if (!n || n->type != YAML_MAPPING_NODE) {
        return NULL;
    }
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
        if (!strcmp(text_of(e, p->key), key)) {
            return p;
        }
    }
    return NULL;
}

static int child_of(struct edit *e, int map, const char *key)
{
    const yaml_node_pair_t *pair = find_pair(e, map, key);
    return pair ? pair->value : 0;
}

static void remove_key(struct edit *e, int map, const char *key)
{
    yaml_node_pair_t *pair = find_pair(e, map, key);
    if (pair) {
        yaml_node_t *n = yaml_document_get_node(&e->document, map);
        memmove(pair, pair + 1, (size_t)(n->data.mapping.pairs.top - pair - 1) * sizeof *pair);
        n->data.mapping.pairs.top--;
    }
}

static int add_scalar(struct edit *e, const char *text, yaml_scalar_style_t style)
{
    const int node =
        yaml_document_add_scalar(&e->document, NULL, (const yaml_char_t *)text, -1, style);
    e->failed |= !node;
    return node;
}

static void set_node(struct edit *e, int map, const char *key, int node)
{
    remove_key(e, map, key);
    const int name = add_scalar(e, key, YAML_PLAIN_SCALAR_STYLE);
    if (map && name && node) {
        e->failed |= !yaml_document_append_mapping_pair(&e->document, map, name, node);
    }
}

/* text: NULL leaves the key as it is. */
static void set_text(struct edit *e, int map, const char *key, const char *text, int quoted)
{
    if (text) {
        set_node(e, map, key,
                 add_scalar(e, text,
                            quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE));
    }
}

static int set_map(struct edit *e, int map, const char *key)
{
    const int node = yaml_document_add_mapping(&e->document, NULL, YAML_FLOW_MAPPING_STYLE);
    e->failed |= !node;
    set_node(e, map, key, node);
    return node;
}

/* Entry k of a list, or 0. */
static int entry_of(struct edit *e, int list, int k)
{
    const yaml_node_t *n = yaml_document_get_node(&e->document, list);
    if (!n || n->type != YAML_SEQUENCE_NODE) {
        return 0;
    }
    const ptrdiff_t count = n->data.sequence.items.top - n->data.sequence.items.start;
    return k < count ? n->data.sequence.items.start[k] : 0;
}

static void set_simulated_link(struct edit *e, int settings,
                               const struct teleop_simulated_link *link)
{
    const struct {
        const char *key;
        double value;
    } values[] = {{"delay", link->delay},     {"jitter", link->jitter},
                  {"loss", link->loss},       {"burst", link->burst},
                  {"reorder", link->reorder}, {"duplicate", link->duplicate},
                  {"seed", link->seed}};
    const int map = set_map(e, settings, "link");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[40];
        tact_number_print(text, sizeof text, strcmp(values[i].key, "seed") ? "%.10g" : "%.0f",
                          values[i].value);
        set_text(e, map, values[i].key, values[i].value != 0.0 ? text : NULL, 0);
    }
}

static int set_file_name(struct edit *e, int settings, const char *key, const char *file,
                         const char *name)
{
    char *path = name ? teleop_path(file, name, 1) : NULL;
    set_text(e, settings, key, path, 1);
    const int failed = name && !path;
    free(path);
    return failed ? -ENOMEM : 0;
}

static int set_device(struct edit *e, int device, const char *file, const struct teleop *t,
                      const struct teleop_site *site)
{
    int settings = child_of(e, device, "settings");
    static const char *const replaced[] = {"listen", "connect", "key", "peer", "link"};
    if (!settings) {
        settings = set_map(e, device, "settings");
    }
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
        remove_key(e, settings, replaced[i]);
    }
    set_text(e, settings, "listen", site->listen, 1);
    set_text(e, settings, "connect", site->connect, 1);
    set_text(e, settings, "jitter", t->jitter, 0);
    set_text(e, settings, "repeats", t->repeats, 0);
    set_text(e, settings, "hold", t->hold, 0);
    if (t->link) {
        set_simulated_link(e, settings, t->link);
    }
    const int rc = set_file_name(e, settings, "key", file, site->key);
    return rc ? rc : set_file_name(e, settings, "peer", file, site->peer);
}

/* Keys of another mode than the file's are refused in a scene, and go. */
static void set_tie(struct edit *e, int tie, const struct teleop *t, const struct teleop_site *site)
{
    const int follows = site->stiffness || child_of(e, tie, "stiffness");
    set_text(e, tie, "mode", t->mode, 0);
    const char *mode = text_of(e, child_of(e, tie, "mode"));
    const int is_wave = !*mode || !strcmp(mode, "waves");
    if (t->mode && !is_wave) {
        remove_key(e, tie, "impedance");
    }
    if (t->mode && (!is_wave || !follows)) {
        remove_key(e, tie, "tank");
    }
    if (t->mode && is_wave && !follows) {
        remove_key(e, tie, "damping");
    }
    set_text(e, tie, "impedance", is_wave ? t->impedance : NULL, 0);
    set_text(e, tie, "tank", is_wave && follows ? t->tank : NULL, 0);
    set_text(e, tie, "stiffness", site->stiffness, 0);
    set_text(e, tie, "damping", site->damping, 0);
}

static int apply(struct edit *e, const char *file, const struct teleop *t,
                 const struct teleop_site *site, struct tact_error *err)
{
    const int devices = child_of(e, 1, "devices"), remotes = child_of(e, 1, "remotes");
    int found = 0, rc = 0, tied = 0;
    const char *name = "";
    for (int k = 0, device; (device = entry_of(e, devices, k)) != 0; k++) {
        if (!strcmp(text_of(e, child_of(e, device, "type")), "network")) {
            rc = set_device(e, device, file, t, site);
            name = text_of(e, child_of(e, device, "name"));
            found++;
        }
    }
    for (int k = 0, tie; (tie = entry_of(e, remotes, k)) != 0; k++) {
        if (!strcmp(text_of(e, child_of(e, tie, "device")), name)) {
            set_tie(e, tie, t, site);
            tied++;
        }
    }
    if (rc || e->failed) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    tact_error_at(err, NULL, 0, 0, found == 1 ? "remotes" : "devices");
    if (found != 1) {
        return tact_error_set(err, -EINVAL, "expected one device of type network, not %d", found);
    }
    return tied ? 0 : tact_error_set(err, -EINVAL, "no joint is tied to the other end by %s", name);
}

/* Frees the document. The text, which is to be freed, or NULL: out of memory. */
static char *write_document(struct edit *e, size_t *size)
{
    char *text = NULL;
    yaml_emitter_t emitter;
    FILE *to = open_memstream(&text, size);
    if (!to || !yaml_emitter_initialize(&emitter)) {
        yaml_document_delete(&e->document);
        if (to) {
            fclose(to);
        }
        free(text);
        return NULL;
    }
    yaml_emitter_set_output_file(&emitter, to);
    yaml_emitter_set_unicode(&emitter, 1);
    const int good = yaml_emitter_open(&emitter) && yaml_emitter_dump(&emitter, &e->document) &&
                     yaml_emitter_close(&emitter);
    yaml_emitter_delete(&emitter);
    if (fclose(to) || !good) {
        free(text);
        return NULL;
    }
    return text;
}

static int edit_scene(const char *file, const struct teleop *t, int local,
                      const struct tact_scene *scene, char **text, size_t *size,
                      struct tact_error *err)
{
    struct edit e = {.failed = 0};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)scene->text, scene->text_size);
    const int read = yaml_parser_load(&parser, &e.document);
    yaml_parser_delete(&parser);
    if (!read) {
        return tact_error_set(err, -EINVAL, "is not YAML");
    }
    const int rc = apply(&e, file, t, local ? t->local : t->remote, err);
    if (rc) {
        yaml_document_delete(&e.document);
        return rc;
    }
    *text = write_document(&e, size);
    return *text ? 0 : tact_error_set(err, -ENOMEM, "out of memory");
}

int teleop_scene(const char *file, const struct teleop *t, int local, struct tact_scene **out,
                 struct tact_error *err)
{
    const struct teleop_site *site = local ? t->local : t->remote;
    char *path = teleop_path(file, site->scene, 0), *name = NULL, *text = NULL;
    struct tact_scene *scene = NULL;
    size_t size = 0;
    *out = NULL;
    if (!path || asprintf(&name, "%s (as tact teleop --print shows it)", path) < 0) {
        free(path);
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    int rc = tact_scene_load(path, &scene, err);
    if (!rc) {
        tact_error_at(err, path, 0, 0, NULL);
        rc = edit_scene(file, t, local, scene, &text, &size, err);
    }
    rc = rc ? rc : tact_scene_parse(text, size, name, NULL, out, err);
    tact_scene_free(scene);
    free(text);
    free(name);
    free(path);
    return rc;
}
