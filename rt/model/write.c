/* A hand as YAML, with the line of the file that each line is from. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "rt/model/model_internal.h"

struct writer {
    struct model *model;
    const struct tact_hand_file_options *options;
    char *text;
    size_t used, capacity;
    int *lines;
    uint32_t line_count, line_capacity;
    int line;                 /* line of the hand file from which the next YAML lines come */
    int hand_key_indentation; /* indentation of the hand's keys [characters] */
    bool failed;
};

static void append_yaml_text(struct writer *w, const char *text)
{
    const size_t length = strlen(text);
    while (!w->failed && w->used + length + 1 > w->capacity) {
        const size_t larger_capacity = w->capacity ? 2 * w->capacity : 4096;
        char *enlarged_yaml_buffer = realloc(w->text, larger_capacity);
        w->failed = !enlarged_yaml_buffer;
        w->text = enlarged_yaml_buffer ? enlarged_yaml_buffer : w->text;
        w->capacity = enlarged_yaml_buffer ? larger_capacity : w->capacity;
    }
    if (!w->failed) {
        memcpy(w->text + w->used, text, length + 1);
        w->used += length;
    }
}

/* Ends a line. */
static void end_yaml_line(struct writer *w)
{
    if (w->line_count == w->line_capacity) {
        const uint32_t larger_capacity = w->line_capacity ? 2 * w->line_capacity : 256;
        int *enlarged_yaml_buffer =
            realloc(w->lines, larger_capacity * sizeof *enlarged_yaml_buffer);
        if (!enlarged_yaml_buffer) {
            w->failed = true;
            return;
        }
        w->lines = enlarged_yaml_buffer;
        w->line_capacity = larger_capacity;
    }
    w->lines[w->line_count++] = w->line;
    append_yaml_text(w, "\n");
}

__attribute__((format(printf, 2, 3))) static void append_formatted_yaml(struct writer *w,
                                                                        const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    tact_number_vprint(text, sizeof text, format, args);
    va_end(args);
    append_yaml_text(w, text);
}

/* Begins a line at a level of indentation below the hand's keys. */
__attribute__((format(printf, 3, 4))) static void begin_yaml_line(struct writer *w, int level,
                                                                  const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    tact_number_vprint(text, sizeof text, format, args);
    va_end(args);
    append_formatted_yaml(w, "%*s", w->hand_key_indentation + 2 * level, "");
    append_yaml_text(w, text);
}

/* The shortest decimal number that is read back as the same bits. */
static void append_yaml_number(struct writer *w, double value)
{
    char text[40];
    for (int significant_digits = 15; significant_digits <= 17; significant_digits++) {
        tact_number_print(text, sizeof text, "%.*g", significant_digits, value);
        if (tact_number_read(text, NULL) == value) {
            break;
        }
    }
    append_yaml_text(w, text);
}

static void append_number_list(struct writer *w, const double *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        append_yaml_text(w, i ? ", " : "[");
        append_yaml_number(w, numbers[i]);
    }
    append_yaml_text(w, "]");
}

static void write_number_key(struct writer *w, int level, const char *key, double value)
{
    begin_yaml_line(w, level, "%s: ", key);
    append_yaml_number(w, value);
    end_yaml_line(w);
}

static void write_number_list(struct writer *w, int level, const char *key, const double *numbers,
                              int count)
{
    begin_yaml_line(w, level, "%s: ", key);
    append_number_list(w, numbers, count);
    end_yaml_line(w);
}

/* Appends a text in quotes, which has no control characters: they were refused or replaced. */
static void append_single_quoted_text(struct writer *w, const char *text)
{
    append_yaml_text(w, "'");
    for (const char *c = text; *c; c++) {
        const char escaped_character[3] = {*c, *c == '\'' ? '\'' : '\0', '\0'};
        append_yaml_text(w, escaped_character);
    }
    append_yaml_text(w, "'");
}

static void append_printable_ascii(struct writer *w, char c)
{
    const char printable_character_text[2] = {c < ' ' || c >= 127 ? '?' : c, '\0'};
    append_yaml_text(w, printable_character_text);
}

/* Writes a text as YAML comment: each byte that is not plain ASCII becomes a '?', as it may end a
 * line. */
static void append_comment(struct writer *w, const char *what, const char *text)
{
    append_formatted_yaml(w, "  # %s ", what);
    for (const char *c = text; *c && c - text < 60; c++) {
        append_printable_ascii(w, *c);
    }
}

static bool is_identity_quaternion(const double q[4])
{
    return q[0] == 1.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0;
}

static bool is_zero_vector(const double v[3])
{
    return v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0;
}

/* Writes type and sizes of a shape in the terms of a scene. */
static void append_shape_sizes(struct writer *w, const struct model_geom *g)
{
    double box_edge_lengths[3];
    tact_v3_scale(box_edge_lengths, g->size, 2.0);
    switch (g->kind) {
    case MODEL_GEOM_SPHERE:
        append_yaml_text(w, "type: sphere, radius: ");
        append_yaml_number(w, g->size[0]);
        break;
    case MODEL_GEOM_CAPSULE:
    case MODEL_GEOM_CYLINDER:
        append_formatted_yaml(
            w, "type: %s, radius: ", g->kind == MODEL_GEOM_CAPSULE ? "capsule" : "cylinder");
        append_yaml_number(w, g->size[0]);
        append_yaml_text(w, ", length: ");
        append_yaml_number(w, box_edge_lengths[1]);
        break;
    default:
        append_formatted_yaml(w,
                              "type: %s, size: ", g->kind == MODEL_GEOM_BOX ? "box" : "ellipsoid");
        append_number_list(w, box_edge_lengths, 3);
    }
}

static void append_mesh_shape(struct writer *w, const struct model_mesh *mesh)
{
    const double *s = mesh->scale;
    append_formatted_yaml(w, "type: %s, file: ", w->options->meshes ? "mesh" : "convex");
    append_single_quoted_text(w, mesh->path);
    if (s[0] == s[1] && s[1] == s[2] && s[0] > 0.0) {
        if (s[0] != 1.0) {
            append_yaml_text(w, ", scale: ");
            append_yaml_number(w, s[0]);
        }
    } else {
        append_yaml_text(w, ", scale_xyz: ");
        append_number_list(w, s, 3);
    }
}

static void write_shape_of_link(struct writer *w, int level, const struct model_geom *g)
{
    const struct model *m = w->model;
    struct tact_pose pose;
    w->line = g->line;
    begin_yaml_line(w, level, "- {");
    if (g->kind == MODEL_GEOM_MESH) {
        append_mesh_shape(w, &m->meshes.at[g->mesh]);
    } else {
        append_shape_sizes(w, g);
    }
    tact_pose_mul(&pose, &m->bodies.at[g->body].place, &g->pose);
    if (!is_zero_vector(pose.position)) {
        append_yaml_text(w, ", position: ");
        append_number_list(w, pose.position, 3);
    }
    if (!is_identity_quaternion(pose.quat_wxyz)) {
        append_yaml_text(w, ", quat_wxyz: ");
        append_number_list(w, pose.quat_wxyz, 4);
    }
    if (g->type != 1 || g->affinity != 1) {
        append_formatted_yaml(w, ", collides: %u, collides_with: %u", g->type, g->affinity);
    }
    append_yaml_text(w, ", material: ");
    append_single_quoted_text(w, w->options->material);
    append_yaml_text(w, "}");
    end_yaml_line(w);
}

static void write_shapes_of_link(struct writer *w, int level, int link)
{
    const struct model *m = w->model;
    bool first = true;
    for (size_t i = 0; i < m->geoms.count; i++) {
        const struct model_geom *g = &m->geoms.at[i];
        if (m->bodies.at[g->body].link == link && tact_model_geom_collides(g)) {
            if (first) {
                begin_yaml_line(w, level, "shapes:");
                end_yaml_line(w);
            }
            first = false;
            write_shape_of_link(w, level + 1, g);
        }
    }
}

static void write_mass_of_link(struct writer *w, int level,
                               const struct model_mass_properties *mass)
{
    const double *i = mass->inertia;
    const double six[6] = {i[0], i[4], i[8], i[1], i[2], i[5]};
    write_number_key(w, level, "mass", mass->mass);
    write_number_list(w, level, "center_of_mass", mass->center, 3);
    write_number_list(w, level, "inertia", six, 6);
}

static bool has_drive_gains(const struct model_drive *drive)
{
    return drive->stiffness > 0.0 || drive->damping > 0.0;
}

static void write_drive(struct writer *w, int level, const struct model_drive *drive, double limit)
{
    if (!drive->line && !(limit > 0.0)) {
        return;
    }
    w->line = drive->line ? drive->line : w->line;
    limit = drive->limit > 0.0 && (limit == 0.0 || drive->limit < limit) ? drive->limit : limit;
    if (has_drive_gains(drive)) {
        write_number_key(w, level, "stiffness", drive->stiffness);
        write_number_key(w, level, "damping", drive->damping);
    }
    if (limit > 0.0) {
        write_number_key(w, level, "limit", limit);
    }
    if (drive->has_target_range) {
        write_number_key(w, level, "target_lower", drive->lower);
        write_number_key(w, level, "target_upper", drive->upper);
    }
}

/* Start value of a joint: its reference value in the file or, beyond its range, the nearest stop.
 */
static double joint_start_position(struct writer *w, const struct model_joint *j)
{
    if (j->limited && (j->reference < j->lower || j->reference > j->upper)) {
        tact_model_add_note(w->model, j->line,
                            "joint \"%.60s\" starts at the stop nearest to %g, its value in the "
                            "file, which is outside its range",
                            j->name ? j->name : "", j->reference);
        return j->reference < j->lower ? j->lower : j->upper;
    }
    return j->reference;
}

/* Writes the linear law by which a joint follows another one. */
static void write_mimic(struct writer *w, int level, const struct model_joint *j)
{
    w->line = j->mimic.line;
    begin_yaml_line(w, level, "mimic: {joint: ");
    append_yaml_text(w, w->model->links.at[w->model->joints.at[j->mimic.joint].link].name);
    append_yaml_text(w, ", multiplier: ");
    append_yaml_number(w, j->mimic.multiplier);
    append_yaml_text(w, ", offset: ");
    append_yaml_number(w, j->mimic.offset);
    append_yaml_text(w, "}");
    end_yaml_line(w);
}

/* Writes the tendon that a joint's drive acts on. */
static void write_tendon(struct writer *w, int level, const struct model_joint *j)
{
    const struct model *m = w->model;
    w->line = m->tendons.at[j->tendon - 1].line;
    begin_yaml_line(w, level, "tendon:");
    end_yaml_line(w);
    for (size_t i = 0; i < m->tendon_joints.count; i++) {
        const struct model_tendon_joint *of = &m->tendon_joints.at[i];
        if (of->tendon == j->tendon - 1) {
            begin_yaml_line(w, level + 1, "- {joint: ");
            append_yaml_text(w, m->links.at[m->joints.at[of->joint].link].name);
            append_yaml_text(w, ", coefficient: ");
            append_yaml_number(w, of->coefficient);
            append_yaml_text(w, "}");
            end_yaml_line(w);
        }
    }
}

static void write_joint_of_link(struct writer *w, int level, const struct model_link *link)
{
    const struct model_joint *j = &w->model->joints.at[link->joint];
    const double start = j->mimic.line ? 0.0 : joint_start_position(w, j);
    w->line = j->line;
    begin_yaml_line(w, level++, "joint:");
    if (j->name) {
        append_comment(w, "joint", j->name);
    }
    end_yaml_line(w);
    begin_yaml_line(w, level, "type: %s", j->is_prismatic ? "slide" : "hinge");
    end_yaml_line(w);
    write_number_list(w, level, "axis", j->axis, 3);
    if (!is_zero_vector(link->origin.position)) {
        write_number_list(w, level, "position", link->origin.position, 3);
    }
    if (!is_identity_quaternion(link->origin.quat_wxyz)) {
        write_number_list(w, level, "quat_wxyz", link->origin.quat_wxyz, 4);
    }
    if (start != 0.0) {
        write_number_key(w, level, "start", start);
    }
    if (j->limited) {
        write_number_key(w, level, "lower", j->lower);
        write_number_key(w, level, "upper", j->upper);
    }
    const struct {
        const char *key;
        double value;
    } losses[] = {{"armature", j->armature}, {"viscous", j->damping}, {"friction", j->friction}};
    for (int i = 0; i < 3; i++) {
        if (losses[i].value > 0.0) {
            write_number_key(w, level, losses[i].key, losses[i].value);
        }
    }
    write_drive(w, level, &j->drive, j->limit);
    if (j->tendon) {
        write_tendon(w, level, j);
    }
    if (j->mimic.line) {
        write_mimic(w, level, j);
    }
}

static void write_hand_link(struct writer *w, int number)
{
    const struct model_link *link = &w->model->links.at[number];
    const struct model_joint *j = &w->model->joints.at[link->joint];
    w->line = w->model->bodies.at[j->body].line;
    begin_yaml_line(w, 1, "- name: %s", link->name);
    end_yaml_line(w);
    if (link->parent >= 0) {
        begin_yaml_line(w, 2, "parent: %s", w->model->links.at[link->parent].name);
        end_yaml_line(w);
    }
    write_joint_of_link(w, 2, link);
    w->line = w->model->bodies.at[j->body].line;
    write_mass_of_link(w, 2, &link->mass);
    write_shapes_of_link(w, 2, number);
}

static void write_hand_base(struct writer *w)
{
    const struct model *m = w->model;
    const bool has_base_mass = m->base.mass.mass > 0.0;
    bool has_base_shapes = false;
    for (size_t i = 0; i < m->geoms.count; i++) {
        const struct model_geom *g = &m->geoms.at[i];
        has_base_shapes |= m->bodies.at[g->body].link < 0 && tact_model_geom_collides(g);
    }
    if (!has_base_mass && !has_base_shapes) {
        return;
    }
    w->line = m->bodies.at[m->bodies.count > 1 ? 1 : 0].line;
    begin_yaml_line(w, 0, "base:");
    end_yaml_line(w);
    if (!w->options->moving_base) {
        begin_yaml_line(w, 1, "fixed: true");
        end_yaml_line(w);
    }
    if (has_base_mass) {
        write_mass_of_link(w, 1, &m->base.mass);
    }
    write_shapes_of_link(w, 1, -1);
}

/* Writes one entry of the root list `exclude`. */
static void write_exclusion(struct writer *w, const char *hand, int a, int b)
{
    const struct model *m = w->model;
    const char *first_link_name = a < 0 ? "base" : m->links.at[a].name;
    const char *second_link_name = b < 0 ? "base" : m->links.at[b].name;
    begin_yaml_line(w, w->options->scene ? -2 : -1, "  - {objects: [%s.%s, %s.%s]}", hand,
                    first_link_name, hand, second_link_name);
    end_yaml_line(w);
}

/* The link of the next body towards the base; a body has one link for each of its joints. */
static int parent_body_link(const struct model *m, int link)
{
    return m->links.at[link - m->links.at[link].earlier_joint_link_count].parent;
}

/* Whether the body of one of two links is the parent of the other's. */
static bool are_links_adjacent(const struct model *m, int a, int b)
{
    return parent_body_link(m, a) == b || (b >= 0 && parent_body_link(m, b) == a);
}

/* Writes the pairs of links whose shapes cannot touch each other; a link and its parent never touch
 * and are not written. */
static int write_exclusions(struct writer *w, const char *hand)
{
    struct model *m = w->model;
    const size_t n = m->links.count + 1;
    unsigned char *link_contact_matrix = tact_model_link_contact_matrix(m);
    bool first = true;
    int rc = 0;
    if (!link_contact_matrix) {
        return tact_model_report_no_memory(m);
    }
    w->line = m->exclusions.count ? m->exclusions.at[0].line : m->bodies.at[0].line;
    for (size_t i = 0; !rc && i < n; i++) {
        for (size_t k = 0; !rc && k < i; k++) {
            const int a = (int)k, b = i == n - 1 ? -1 : (int)i;
            if (m->links.at[a].parent == b || (b >= 0 && m->links.at[b].parent == a)) {
                continue;
            }
            const bool is_pair_of_adjacent_links =
                link_contact_matrix[i * n + k] && are_links_adjacent(m, a, b);
            if (link_contact_matrix[i * n + k] == MODEL_TOUCH_SOME && !is_pair_of_adjacent_links) {
                rc = tact_model_report_error(
                    m, m->links.at[a].line,
                    "<exclude> between \"%.60s\" and \"%.60s\" names only some of the bodies that "
                    "are rigidly connected into one of these links: expected all of them",
                    m->links.at[a].name, b < 0 ? "base" : m->links.at[b].name);
            } else if (link_contact_matrix[i * n + k] == MODEL_TOUCH_NONE ||
                       is_pair_of_adjacent_links) {
                if (first) {
                    begin_yaml_line(w, w->options->scene ? -2 : -1, "exclude:");
                    end_yaml_line(w);
                }
                first = false;
                write_exclusion(w, hand, a, b);
            }
        }
    }
    free(link_contact_matrix);
    return rc;
}

/* Writes the keys of a scene that precede the hand, where the output is a whole scene. */
static void write_scene_heading(struct writer *w, const char *name)
{
    const struct model *m = w->model;
    double mass = m->base.mass.mass, friction = 0.0;
    for (size_t i = 0; i < m->geoms.count; i++) {
        const struct model_geom *g = &m->geoms.at[i];
        friction = tact_model_geom_collides(g) ? tact_max(friction, g->friction) : friction;
    }
    for (size_t i = 0; i < m->links.count; i++) {
        mass += m->links.at[i].mass.mass;
    }
    append_yaml_text(w, "# Made by tact import of ");
    for (const char *c = m->file; *c; c++) {
        append_printable_ascii(w, *c);
    }
    append_formatted_yaml(w, " (%s): %zu joints, %.6g kg", m->kind, m->links.count, mass);
    end_yaml_line(w);
    begin_yaml_line(w, -2, "name: %s", name);
    end_yaml_line(w);
    begin_yaml_line(w, -2, "materials:");
    end_yaml_line(w);
    begin_yaml_line(w, -2, "  - {name: ");
    append_single_quoted_text(w, w->options->material);
    append_yaml_text(w, "}");
    end_yaml_line(w);
    begin_yaml_line(w, -2, "pairs:");
    end_yaml_line(w);
    begin_yaml_line(w, -2, "  - {materials: [");
    append_single_quoted_text(w, w->options->material);
    append_yaml_text(w, ", ");
    append_single_quoted_text(w, w->options->material);
    append_yaml_text(w, "], friction: ");
    append_yaml_number(w, friction);
    append_yaml_text(w, "}");
    end_yaml_line(w);
    begin_yaml_line(w, -2, "hands:");
    end_yaml_line(w);
    begin_yaml_line(w, -2, "  - name: %s", name);
    end_yaml_line(w);
}

int tact_model_write(struct model *m, const struct tact_hand_file_options *options,
                     struct tact_hand_file *out)
{
    struct writer w = {
        .model = m, .options = options, .hand_key_indentation = options->scene ? 4 : 2};
    char name[MODEL_NAME_BYTES];
    tact_model_sanitize_name(options->name ? options->name : m->name, "hand", name);
    if (options->scene) {
        write_scene_heading(&w, name);
    } else {
        begin_yaml_line(&w, -1, "hand:");
        end_yaml_line(&w);
    }
    write_hand_base(&w);
    begin_yaml_line(&w, 0, "links:");
    end_yaml_line(&w);
    for (size_t i = 0; i < m->links.count; i++) {
        write_hand_link(&w, (int)i);
    }
    int rc = write_exclusions(&w, name);
    out->yaml = w.text;
    out->size = w.used;
    out->lines = w.lines;
    out->line_count = w.line_count;
    return rc ? rc : w.failed ? tact_model_report_no_memory(m) : 0;
}
