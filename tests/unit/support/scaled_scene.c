#include "scaled_scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>
#include <cmocka.h>
#include "contact/number.h"

/* A unit: exponents of metre, kilogram and second. */
struct unit {
    double m;
    double kg;
    double s;
};

static const struct unit metre_unit = {1, 0, 0}, second = {0, 0, 1}, none = {0, 0, 0};

/* Units of the keys of the YAML map called `map`; the name of a joint's map ends with the joint's
 * kind, hinge or slide. */
static const struct {
    const char *map;
    const char *key;
    struct unit unit;
} units[] = {
    {"", "gravity", {1, 0, -2}},
    {"", "period", {0, 0, 1}},
    {"", "duration", {0, 0, 1}},
    {"", "max_speed", {1, 0, -1}},
    {"contact", "overlap", {1, 0, 0}},
    {"contact", "compliance", {0, -1, 2}},
    {"contact", "tangential_compliance", {0, -1, 2}},
    {"contact", "dissipation", {0, 0, 1}},
    {"contact", "iterations", {0, 0, 0}},
    {"contact", "tolerance", {0, 0, 0}},
    {"contact", "points", {0, 0, 0}},
    {"materials", "modulus", {-1, 1, -2}},
    {"materials", "tip_power", {0, 0, 0}},
    {"field", "modulus", {-1, 1, -2}},
    {"field", "thickness", {1, 0, 0}},
    {"field", "power", {0, 0, 0}},
    {"field", "cell", {1, 0, 0}},
    {"pairs", "friction", {0, 0, 0}},
    {"pairs", "dissipation", {0, 0, 1}},
    {"pairs", "compliance", {0, -1, 2}},
    {"pairs", "tangential_compliance", {0, -1, 2}},
    {"pairs", "overlap", {1, 0, 0}},
    {"pairs", "tip_power", {0, 0, 0}},
    {"pairs", "rolling_loss", {0, 0, 0}},
    {"pairs", "restitution", {0, 0, 0}},
    {"pairs", "hunt_crossley", {-1, 0, 1}},
    {"bodies", "mass", {0, 1, 0}},
    {"bodies", "center_of_mass", {1, 0, 0}},
    {"bodies", "inertia", {2, 1, 0}},
    {"bodies", "position", {1, 0, 0}},
    {"bodies", "quat_wxyz", {0, 0, 0}},
    {"bodies", "velocity", {1, 0, -1}},
    {"bodies", "angular_velocity", {0, 0, -1}},
    {"bodies", "support_until", {0, 0, 1}},
    {"joints hinge", "lower", {0, 0, 0}},
    {"joints hinge", "upper", {0, 0, 0}},
    {"joints hinge", "damping", {2, 1, -1}},
    {"joints hinge", "friction", {2, 1, -2}},
    {"joints slider", "lower", {1, 0, 0}},
    {"joints slider", "upper", {1, 0, 0}},
    {"joints slider", "damping", {0, 1, -1}},
    {"joints slider", "friction", {1, 1, -2}},
    {"joints", "position", {1, 0, 0}},
    {"joints", "axis", {0, 0, 0}},
    {"shapes", "radius", {1, 0, 0}},
    {"shapes", "tube", {1, 0, 0}},
    {"shapes", "length", {1, 0, 0}},
    {"shapes", "size", {1, 0, 0}},
    {"shapes", "scale", {1, 0, 0}},
    {"shapes", "scale_xyz", {0, 0, 0}},
    {"shapes", "profile", {1, 0, 0}},
    {"shapes", "position", {1, 0, 0}},
    {"shapes", "quat_wxyz", {0, 0, 0}},
    {"shapes", "collides", {0, 0, 0}},
    {"shapes", "collides_with", {0, 0, 0}},
    {"generate", "edge", {1, 0, 0}},
    {"generate", "radius", {1, 0, 0}},
    {"generate", "height", {1, 0, 0}},
    {"generate", "tube", {1, 0, 0}},
    {"generate", "bump", {1, 0, 0}},
    {"generate", "count", {0, 0, 0}},
    {"generate", "triangles", {0, 0, 0}},
    {"generate", "seed", {0, 0, 0}},
    {"hands", "position", {1, 0, 0}},
    {"hands", "quat_wxyz", {0, 0, 0}},
    {"base", "mass", {0, 1, 0}},
    {"base", "center_of_mass", {1, 0, 0}},
    {"base", "inertia", {2, 1, 0}},
    {"base", "limit", {1, 1, -2}},
    {"base", "turn_limit", {2, 1, -2}},
    {"turn_coupling", "stiffness", {2, 1, -2}},
    {"turn_coupling", "damping", {2, 1, -1}},
    {"turn_coupling", "filter", {0, 0, -1}},
    {"coupling", "filter", {0, 0, -1}},
    {"coupling hinge", "stiffness", {2, 1, -2}},
    {"coupling hinge", "damping", {2, 1, -1}},
    {"coupling slide", "stiffness", {0, 1, -2}},
    {"coupling slide", "damping", {0, 1, -1}},
    {"links", "mass", {0, 1, 0}},
    {"links", "center_of_mass", {1, 0, 0}},
    {"links", "inertia", {2, 1, 0}},
    {"joint", "axis", {0, 0, 0}},
    {"joint", "position", {1, 0, 0}},
    {"joint", "quat_wxyz", {0, 0, 0}},
    {"joint hinge", "stiffness", {2, 1, -2}},
    {"joint hinge", "damping", {2, 1, -1}},
    {"joint hinge", "limit", {2, 1, -2}},
    {"joint hinge", "start", {0, 0, 0}},
    {"joint hinge", "lower", {0, 0, 0}},
    {"joint hinge", "upper", {0, 0, 0}},
    {"joint hinge", "target_lower", {0, 0, 0}},
    {"joint hinge", "target_upper", {0, 0, 0}},
    {"joint hinge", "armature", {2, 1, 0}},
    {"joint hinge", "viscous", {2, 1, -1}},
    {"joint hinge", "friction", {2, 1, -2}},
    {"joint slide", "stiffness", {0, 1, -2}},
    {"joint slide", "damping", {0, 1, -1}},
    {"joint slide", "limit", {1, 1, -2}},
    {"joint slide", "start", {1, 0, 0}},
    {"joint slide", "lower", {1, 0, 0}},
    {"joint slide", "upper", {1, 0, 0}},
    {"joint slide", "target_lower", {1, 0, 0}},
    {"joint slide", "target_upper", {1, 0, 0}},
    {"joint slide", "armature", {0, 1, 0}},
    {"joint slide", "viscous", {0, 1, -1}},
    {"joint slide", "friction", {1, 1, -2}},
    {"grips", "scale", {1, 1, -2}},
    {"grips", "offset", {1, 1, -2}},
    {"grips", "limit", {1, 1, -2}},
    {"grips", "speed", {1, 0, -1}},
};

/* Values with a unit that a scene may leave out. */
static const struct {
    const char *map;
    const char *key;
    const char *value;
} defaults[] = {
    {"", "gravity", "[0, 0, -9.81]"},    {"", "period", "0.001"},
    {"", "max_speed", "1000"},           {"contact", "overlap", "2e-5"},
    {"contact", "dissipation", "0.005"}, {"grips", "speed", "0.1"},
};

struct writer {
    yaml_document_t *document;
    const char *directory;
    const struct unit_scaling *by;
    FILE *out;
};

/* The value of a key of a map, or NULL. */
static yaml_node_t *find_value(yaml_document_t *document, const yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE) {
        return NULL;
    }
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        yaml_node_t *name = yaml_document_get_node(document, p->key);
        if (!strcmp((const char *)name->data.scalar.value, key)) {
            return yaml_document_get_node(document, p->value);
        }
    }
    return NULL;
}

/* The text of a key of a map, or "". */
static const char *find_value_of_key(yaml_document_t *document, const yaml_node_t *map,
                                     const char *key)
{
    yaml_node_t *node = find_value(document, map, key);
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

/* The kind of the joint "hand.link": hinge or slide. */
static const char *find_joint_type_in_yaml(yaml_document_t *document, const char *joint)
{
    const char *link = strrchr(joint, '.') + 1;
    yaml_node_t *hands = find_value(document, yaml_document_get_root_node(document), "hands");
    if (!strncmp(link, "base_", 5)) {
        return link[5] == 'r' ? "hinge" : "slide";
    }
    for (yaml_node_item_t *h = hands->data.sequence.items.start; h < hands->data.sequence.items.top;
         h++) {
        yaml_node_t *hand = yaml_document_get_node(document, *h);
        yaml_node_t *links = find_value(document, hand, "links");
        if (strncmp(joint, find_value_of_key(document, hand, "name"), (size_t)(link - joint) - 1) ||
            !links) {
            continue;
        }
        for (yaml_node_item_t *l = links->data.sequence.items.start;
             l < links->data.sequence.items.top; l++) {
            yaml_node_t *node = yaml_document_get_node(document, *l);
            if (!strcmp(find_value_of_key(document, node, "name"), link)) {
                return find_value_of_key(document, find_value(document, node, "joint"), "type");
            }
        }
    }
    fail_msg("no joint %s", joint);
    return NULL;
}

/* Unit of a number under `inputs`: that of the joint; of a scale, the joint's over that of the
 * channel. */
static struct unit find_unit_of_input_key(yaml_document_t *document, const yaml_node_t *map,
                                          const char *key)
{
    const char *from = find_value_of_key(document, map, "from");
    struct unit unit = none;
    unit.m =
        !strcmp(find_joint_type_in_yaml(document, find_value_of_key(document, map, "to")), "slide");
    if (!strcmp(key, "scale") && !strcmp(strrchr(from, '.'), ".lift")) {
        unit.m -= 1;
    }
    return unit;
}

/* The unit of a fingertip's radius, which is that at a force of 1 N. */
static struct unit find_unit_of_tip_radius(yaml_document_t *document, const yaml_node_t *map)
{
    const char *text = find_value_of_key(document, map, "tip_power");
    const double power = *text ? tact_number_read(text, NULL) : 1.0 / 3.0;
    const struct unit unit = {1 - power, -power, 2 * power};
    return unit;
}

static struct unit find_unit_of_scene_key(struct writer *w, const yaml_node_t *map,
                                          const char *name, const char *key)
{
    char kind[64];
    if (!strcmp(name, "inputs")) {
        return find_unit_of_input_key(w->document, map, key);
    }
    if (!strcmp(key, "tip_radius")) {
        return find_unit_of_tip_radius(w->document, map);
    }
    snprintf(kind, sizeof kind, "%.30s %.30s", name, find_value_of_key(w->document, map, "type"));
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!strcmp(units[i].key, key) &&
            (!strcmp(units[i].map, name) || !strcmp(units[i].map, kind))) {
            return units[i].unit;
        }
    }
    fail_msg("%s of %s has no known unit", key, kind);
    return none;
}

static bool is_text_node_a_number(const yaml_node_t *node)
{
    char *end = NULL;
    const char *text = (const char *)node->data.scalar.value;
    if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || !strchr("+-.0123456789", *text)) {
        return false;
    }
    (void)tact_number_read(text, &end);
    return *end == '\0';
}

static void write_scaled_scalar(struct writer *w, const yaml_node_t *node, const struct unit *unit,
                                const char *key)
{
    const char *text = (const char *)node->data.scalar.value;
    char number[64];
    if (!strcmp(key, "file") && *text != '/') {
        fprintf(w->out, "\"%s/%s\"", w->directory, text);
    } else if (!unit || !is_text_node_a_number(node)) {
        fprintf(w->out, strchr("+-.0123456789tf", *text) && *text ? "%s" : "\"%s\"", text);
    } else {
        const double exponent =
            unit->m * w->by->length + unit->kg * w->by->mass + unit->s * w->by->time;
        const double value = tact_number_read(text, NULL) * exp2(exponent);
        tact_number_print(number, sizeof number,
                          value == rint(value) && fabs(value) < 1e9 ? "%.0f" : "%.17g", value);
        fputs(number, w->out);
    }
}

static void write_scaled_node(struct writer *w, const yaml_node_t *node, const yaml_node_t *map,
                              const char *name, const char *key);

/* The rows of an operator's script: time, grip, turn and lift. */
static void write_scaled_operator_script(struct writer *w, const yaml_node_t *rows)
{
    static const struct unit *const columns[] = {&second, &none, &none, &metre_unit};
    fputc('[', w->out);
    for (yaml_node_item_t *r = rows->data.sequence.items.start; r < rows->data.sequence.items.top;
         r++) {
        const yaml_node_t *row = yaml_document_get_node(w->document, *r);
        fputc('[', w->out);
        for (int i = 0; i < 4; i++) {
            yaml_node_t *value =
                yaml_document_get_node(w->document, row->data.sequence.items.start[i]);
            write_scaled_scalar(w, value, columns[i], "");
            fputs(i < 3 ? ", " : "], ", w->out);
        }
    }
    fputc(']', w->out);
}

static void write_scaled_list(struct writer *w, const yaml_node_t *list, const yaml_node_t *map,
                              const char *name, const char *key)
{
    fputc('[', w->out);
    for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top;
         i++) {
        write_scaled_node(w, yaml_document_get_node(w->document, *i), map, name, key);
        fputs(", ", w->out);
    }
    fputc(']', w->out);
}

/* Writes the defaults of the keys with a unit that the YAML map called `name` omits. */
static void write_defaults_of_omitted_keys(struct writer *w, const yaml_node_t *map,
                                           const char *name)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        if (!strcmp(defaults[i].map, name) && !find_value(w->document, map, defaults[i].key)) {
            const struct unit unit = find_unit_of_scene_key(w, map, name, defaults[i].key);
            const double factor =
                exp2(unit.m * w->by->length + unit.kg * w->by->mass + unit.s * w->by->time);
            char text[64];
            tact_number_print(
                text, sizeof text, *defaults[i].value == '[' ? "[0, 0, %.17g]" : "%.17g",
                factor * (*defaults[i].value == '[' ? -9.81
                                                    : tact_number_read(defaults[i].value, NULL)));
            fprintf(w->out, "%s: %s, ", defaults[i].key, text);
        }
    }
    if (!*name && !find_value(w->document, map, "contact")) {
        fputs("contact: {", w->out);
        write_defaults_of_omitted_keys(w, NULL, "contact");
        fputs("}, ", w->out);
    }
    if (!strcmp(name, "shapes") && find_value(w->document, map, "file") &&
        !find_value(w->document, map, "scale")) {
        char text[64];
        tact_number_print(text, sizeof text, "scale: %.17g, ", exp2(w->by->length));
        fputs(text, w->out);
    }
}

static void write_scaled_map(struct writer *w, const yaml_node_t *map, const char *name)
{
    fputc('{', w->out);
    write_defaults_of_omitted_keys(w, map, name);
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        const char *key =
            (const char *)yaml_document_get_node(w->document, p->key)->data.scalar.value;
        const yaml_node_t *value = yaml_document_get_node(w->document, p->value);
        if (!*name && (!strcmp(key, "outputs") || !strcmp(key, "deadman"))) {
            continue;
        }
        fprintf(w->out, "%s: ", key);
        if (!strcmp(key, "script")) {
            write_scaled_operator_script(w, value);
        } else {
            write_scaled_node(w, value, map, name, key);
        }
        fputs(", ", w->out);
    }
    fputc('}', w->out);
}

/* Writes the value of a key of the YAML map called `name`. */
static void write_scaled_node(struct writer *w, const yaml_node_t *node, const yaml_node_t *map,
                              const char *name, const char *key)
{
    char kind[64];
    if (node->type == YAML_MAPPING_NODE) {
        const char *joint =
            strcmp(name, "base") ? find_value_of_key(w->document, map, "type") : "slide";
        snprintf(kind, sizeof kind, !strcmp(key, "coupling") ? "%.30s %.30s" : "%.30s", key, joint);
        write_scaled_map(w, node, kind);
    } else if (node->type == YAML_SEQUENCE_NODE) {
        write_scaled_list(w, node, map, name, key);
    } else if (is_text_node_a_number(node)) {
        const struct unit unit = find_unit_of_scene_key(w, map, name, key);
        write_scaled_scalar(w, node, &unit, key);
    } else {
        write_scaled_scalar(w, node, NULL, key);
    }
}

char *scale_scene_text(const char *text, const char *directory, const struct unit_scaling *by)
{
    yaml_parser_t parser;
    yaml_document_t document;
    char *out = NULL;
    size_t size = 0;
    struct writer w = {&document, directory, by, open_memstream(&out, &size)};
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    if (!yaml_parser_load(&parser, &document)) {
        fail_msg("not YAML: %s", parser.problem);
    }
    write_scaled_map(&w, yaml_document_get_root_node(&document), "");
    fclose(w.out);
    yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    return out;
}
