/* Gmsh files, versions 2.2 and 4.1, ASCII. Nodes have arbitrary numbers. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/mesh/tets_internal.h"

enum { TET = 4, NODES_OF_TET = 4 };

/* A node of a Gmsh file: its number in the file, and its index. */
struct node {
    uint64_t tag;
    uint32_t index;
};

struct msh {
    struct tets_reader *r;
    struct node *nodes; /* sorted by number */
    size_t node_count;
    int is_msh_section_read; /* 1: the present section of the file has been read to its end */
};

/* Elements by Gmsh's type: solids other than the tetrahedron of four nodes cannot be read. */
static int is_unsupported_solid_element(uint64_t type)
{
    static const unsigned char msh_types_without_volume[] = {1,  2,  3,  8,  9,  10, 15, 16, 20,
                                                             21, 22, 23, 24, 25, 26, 27, 28};
    return type != TET && (type > 28 || !memchr(msh_types_without_volume, (int)type,
                                                sizeof msh_types_without_volume));
}

static int compare_msh_node_numbers(const void *a, const void *b)
{
    const struct node *p = a, *q = b;
    return (p->tag > q->tag) - (p->tag < q->tag);
}

static int find_msh_node(const struct msh *m, uint64_t tag, const char *of, uint32_t *out)
{
    const struct node node_search_key = {tag, 0};
    const struct node *found = m->nodes ? bsearch(&node_search_key, m->nodes, m->node_count,
                                                  sizeof node_search_key, compare_msh_node_numbers)
                                        : NULL;
    if (!found) {
        return tact_tets_report_error(m->r, "%s has node %llu, which does not exist", of,
                                      (unsigned long long)tag);
    }
    *out = found->index;
    return 0;
}

static int allocate_msh_nodes(struct msh *m, size_t count)
{
    int rc = tact_tets_alloc_vertices(m->r, count);
    if (rc) {
        return rc;
    }
    m->node_count = count;
    m->nodes = calloc(count + 1, sizeof *m->nodes);
    return m->nodes ? 0 : -ENOMEM;
}

static int sort_msh_nodes_by_number(struct msh *m)
{
    qsort(m->nodes, m->node_count, sizeof *m->nodes, compare_msh_node_numbers);
    for (size_t i = 1; i < m->node_count; i++) {
        if (m->nodes[i].tag == m->nodes[i - 1].tag) {
            return tact_tets_report_error(m->r, "two nodes have the number %llu",
                                          (unsigned long long)m->nodes[i].tag);
        }
    }
    return 0;
}

static int read_number_of_msh_node(struct msh *m, size_t i)
{
    m->nodes[i].index = (uint32_t)i;
    return tact_tets_read_integer(m->r, "a node's number", &m->nodes[i].tag);
}

static int read_msh_node_coordinates(struct msh *m, size_t i)
{
    int rc = 0;
    for (size_t k = 0; !rc && k < 3; k++) {
        rc = tact_tets_read_number(m->r, "a coordinate", &m->r->tets->vertices[3 * i + k]);
    }
    return rc;
}

static int read_msh_nodes_of_format_2(struct msh *m)
{
    size_t count;
    int rc = tact_tets_read_count(m->r, 8, "the number of nodes", &count);
    rc = rc ? rc : allocate_msh_nodes(m, count);
    for (size_t i = 0; !rc && i < count; i++) {
        rc = read_number_of_msh_node(m, i);
        rc = rc ? rc : read_msh_node_coordinates(m, i);
    }
    return rc ? rc : sort_msh_nodes_by_number(m);
}

static int read_msh_integers(struct msh *m, const char *what, uint64_t *out, int count)
{
    int rc = 0;
    for (int i = 0; !rc && i < count; i++) {
        rc = tact_tets_read_integer(m->r, what, &out[i]);
    }
    return rc;
}

/* Reads nodes in blocks of format 4: dimension, entity, whether with parameters, number of nodes;
 * then the nodes' numbers, then their coordinates. */
static int read_msh_nodes_of_format_4(struct msh *m)
{
    size_t msh_block_count, count, read_element_count = 0;
    uint64_t tag_range_of_msh_section[2], msh_record_numbers[4];
    int rc = tact_tets_read_count(m->r, 8, "the number of node blocks", &msh_block_count);
    rc = rc ? rc : tact_tets_read_count(m->r, 8, "the number of nodes", &count);
    rc = rc ? rc : read_msh_integers(m, "a node's number", tag_range_of_msh_section, 2);
    rc = rc ? rc : allocate_msh_nodes(m, count);
    for (size_t b = 0; !rc && b < msh_block_count; b++) {
        rc = read_msh_integers(m, "the four numbers at the start of a node block",
                               msh_record_numbers, 4);
        if (!rc && (msh_record_numbers[3] > count - read_element_count || msh_record_numbers[2])) {
            rc = tact_tets_report_error(
                m->r,
                "a node block of %llu nodes%s, where %zu of the %zu nodes of the file are not yet "
                "listed",
                (unsigned long long)msh_record_numbers[3],
                msh_record_numbers[2] ? " with parametric coordinates, which cannot be read" : "",
                count - read_element_count, count);
        }
        for (size_t i = 0; !rc && i < msh_record_numbers[3]; i++) {
            rc = read_number_of_msh_node(m, read_element_count + i);
        }
        for (size_t i = 0; !rc && i < msh_record_numbers[3]; i++) {
            rc = read_msh_node_coordinates(m, read_element_count + i);
        }
        read_element_count += rc ? 0 : msh_record_numbers[3];
    }
    if (!rc && read_element_count < count) {
        rc = tact_tets_report_error(
            m->r,
            "the node blocks list fewer nodes than the file states: %zu of %zu nodes are missing",
            count - read_element_count, count);
    }
    return rc ? rc : sort_msh_nodes_by_number(m);
}

/* Reads the nodes of an element, if it is a tetrahedron; skips its line otherwise. */
static int read_msh_element(struct msh *m, uint64_t type)
{
    struct tact_tets *t = m->r->tets;
    uint64_t tag;
    int rc = 0;
    if (is_unsupported_solid_element(type)) {
        return tact_tets_report_error(
            m->r,
            "an element has Gmsh's type %llu; of solids only tetrahedra of "
            "four nodes (4) can be read",
            (unsigned long long)type);
    }
    for (size_t k = 0; !rc && type == TET && k < NODES_OF_TET; k++) {
        rc = tact_tets_read_integer(m->r, "a node's number", &tag);
        rc = rc ? rc
                : find_msh_node(m, tag, "a tetrahedron", &t->tets[NODES_OF_TET * t->tet_count + k]);
    }
    t->tet_count += !rc && type == TET;
    tact_tets_skip_line(m->r);
    return rc;
}

static int read_msh_elements_of_format_2(struct msh *m)
{
    size_t count;
    uint64_t msh_record_numbers[3], tag;
    int rc = tact_tets_read_count(m->r, 8, "the number of elements", &count);
    rc = rc ? rc : tact_tets_alloc_tets(m->r, count);
    for (size_t i = 0; !rc && i < count; i++) {
        rc = read_msh_integers(m, "an element's number, type and number of tags",
                               msh_record_numbers, 3);
        for (uint64_t k = 0; !rc && k < msh_record_numbers[2]; k++) {
            rc = tact_tets_read_integer(m->r, "an element's tag", &tag);
        }
        rc = rc ? rc : read_msh_element(m, msh_record_numbers[1]);
    }
    return rc;
}

/* Reads elements in blocks of format 4: dimension, entity, type and number of elements; then each
 * element with its number. */
static int read_msh_elements_of_format_4(struct msh *m)
{
    size_t msh_block_count, count, read_element_count = 0;
    uint64_t tag_range_of_msh_section[2], msh_record_numbers[4], tag;
    int rc = tact_tets_read_count(m->r, 8, "the number of element blocks", &msh_block_count);
    rc = rc ? rc : tact_tets_read_count(m->r, 4, "the number of elements", &count);
    rc = rc ? rc : read_msh_integers(m, "an element's number", tag_range_of_msh_section, 2);
    rc = rc ? rc : tact_tets_alloc_tets(m->r, count);
    for (size_t b = 0; !rc && b < msh_block_count; b++) {
        rc = read_msh_integers(m, "the four numbers at the start of an element block",
                               msh_record_numbers, 4);
        if (!rc && msh_record_numbers[3] > count - read_element_count) {
            rc = tact_tets_report_error(m->r,
                                        "an element block of %llu elements, where %zu of the %zu "
                                        "elements of the file are not yet listed",
                                        (unsigned long long)msh_record_numbers[3],
                                        count - read_element_count, count);
        }
        for (size_t i = 0; !rc && i < msh_record_numbers[3]; i++) {
            rc = tact_tets_read_integer(m->r, "an element's number", &tag);
            rc = rc ? rc : read_msh_element(m, msh_record_numbers[2]);
        }
        read_element_count += rc ? 0 : msh_record_numbers[3];
    }
    if (!rc && read_element_count < count) {
        rc = tact_tets_report_error(m->r,
                                    "the element blocks list fewer elements than the file states: "
                                    "%zu of %zu elements are missing",
                                    count - read_element_count, count);
    }
    return rc;
}

/* Reads the rest of a line as a string without its quotes, cut to the size of a word. */
static void read_quoted_string(struct msh *m, char name[TACT_TETS_WORD])
{
    struct tets_reader *r = m->r;
    size_t n = 0;
    for (; r->at < r->end && strchr(" \t\r\n\"", *r->at); r->at++) {
        r->line += *r->at == '\n';
    }
    for (; r->at < r->end && !strchr("\r\n\"", *r->at); r->at++) {
        if (n + 1 < TACT_TETS_WORD) {
            name[n++] = *r->at;
        }
    }
    name[n] = '\0';
    tact_tets_skip_line(r);
}

/* Reads the head of node data: strings, real numbers, and integers (step, components, nodes).
 * *name: the first string.
 */
static int read_head_of_msh_node_data(struct msh *m, char name[TACT_TETS_WORD],
                                      uint64_t node_data_integer_tags[3])
{
    char ignored_node_data_string_tag[TACT_TETS_WORD];
    uint64_t count, ignored;
    double number;
    name[0] = '\0';
    memset(node_data_integer_tags, 0, 3 * sizeof *node_data_integer_tags);
    int rc = tact_tets_read_integer(m->r, "the number of string tags of the node data", &count);
    tact_tets_skip_line(m->r);
    for (uint64_t i = 0; !rc && i < count && m->r->at < m->r->end; i++) {
        read_quoted_string(m, i ? ignored_node_data_string_tag : name);
    }
    rc = rc ? rc : tact_tets_read_integer(m->r, "the number of real tags of the node data", &count);
    for (uint64_t i = 0; !rc && i < count; i++) {
        rc = tact_tets_read_number(m->r, "a real tag of the node data", &number);
    }
    rc = rc ? rc
            : tact_tets_read_integer(m->r, "the number of integer tags of the node data", &count);
    for (uint64_t i = 0; !rc && i < count; i++) {
        rc = tact_tets_read_integer(m->r, "an integer tag of the node data",
                                    i < 3 ? &node_data_integer_tags[i] : &ignored);
    }
    return rc;
}

static int read_msh_node_data(struct msh *m)
{
    char name[TACT_TETS_WORD];
    uint64_t node_data_integer_tags[3], tag = 0;
    uint32_t index = 0;
    int rc = read_head_of_msh_node_data(m, name, node_data_integer_tags);
    int is_node_data_of_vertex_values = rc ? rc : tact_tets_is_name_of_vertex_values(m->r, name);
    if (is_node_data_of_vertex_values > 0 && node_data_integer_tags[1] != 1) {
        return tact_tets_report_error(m->r, "\"%.40s\" has %llu components; expected 1", name,
                                      (unsigned long long)node_data_integer_tags[1]);
    }
    for (uint64_t i = 0; is_node_data_of_vertex_values > 0 && !rc && i < node_data_integer_tags[2];
         i++) {
        rc = tact_tets_read_integer(m->r, "a node's number", &tag);
        rc = rc ? rc : find_msh_node(m, tag, name, &index);
        if (!rc && !isnan(m->r->tets->values[index])) {
            rc = tact_tets_report_error(m->r, "the node data have a second value for node %llu",
                                        (unsigned long long)tag);
        }
        rc = rc ? rc : tact_tets_read_number(m->r, name, &m->r->tets->values[index]);
    }
    m->is_msh_section_read = is_node_data_of_vertex_values > 0;
    return is_node_data_of_vertex_values < 0 ? is_node_data_of_vertex_values : rc;
}

/* Reads the end of a Gmsh section, which must follow at once where the section has been read. */
static int expect_msh_section_end(struct msh *m, const char *name)
{
    char word[TACT_TETS_WORD];
    int rc = tact_tets_read_word(m->r, word);
    if (!rc && (strncmp(word, "$End", 4) != 0 || strcmp(word + 4, name + 1) != 0)) {
        rc = tact_tets_report_error(m->r, "expected $End%.40s, not \"%.40s\"", name + 1,
                                    word[0] ? word : "the end of the file");
    }
    return rc;
}

/* Skips the file up to the end of a section. */
static int skip_msh_section(struct msh *m, const char *name)
{
    char word[TACT_TETS_WORD];
    struct tets_reader *r = m->r;
    while (r->at < r->end) {
        struct tets_reader line = *r;
        line.err = NULL;
        if (!tact_tets_read_word(&line, word) && !strncmp(word, "$End", 4) &&
            !strcmp(word + 4, name + 1)) {
            r->at = line.at;
            r->line = line.line;
            return 0;
        }
        tact_tets_skip_line(r);
    }
    return tact_tets_report_error(r, "the file ends before $End%.40s", name + 1);
}

static int read_msh_format(struct msh *m, int *version)
{
    char word[TACT_TETS_WORD];
    uint64_t is_binary_msh_file;
    int rc = tact_tets_read_word(m->r, word);
    *version = !strcmp(word, "2.2") ? 2 : 4;
    if (!rc && strcmp(word, "2.2") != 0 && strcmp(word, "4.1") != 0) {
        rc = tact_tets_report_error(m->r, "version \"%.40s\" cannot be read; expected 2.2 or 4.1",
                                    word);
    }
    rc = rc ? rc : tact_tets_read_integer(m->r, "0 for ASCII", &is_binary_msh_file);
    return rc ? rc
           : is_binary_msh_file
               ? tact_tets_report_error(m->r, "a binary file; expected ASCII (Mesh.Binary = 0)")
               : 0;
}

static int read_msh_section(struct msh *m, const char *word, int *version)
{
    if (!strcmp(word, "$MeshFormat")) {
        return read_msh_format(m, version);
    }
    if (!*version && strcmp(word, "$Comments") != 0) {
        return tact_tets_report_error(m->r, "%.40s stands before $MeshFormat", word);
    }
    if (!strcmp(word, "$Nodes")) {
        m->is_msh_section_read = 1;
        return *version == 2 ? read_msh_nodes_of_format_2(m) : read_msh_nodes_of_format_4(m);
    }
    if (!strcmp(word, "$Elements")) {
        m->is_msh_section_read = 1;
        return *version == 2 ? read_msh_elements_of_format_2(m) : read_msh_elements_of_format_4(m);
    }
    return strcmp(word, "$NodeData") ? 0 : read_msh_node_data(m);
}

int tact_tets_read_msh(struct tets_reader *r)
{
    struct msh m = {.r = r};
    char word[TACT_TETS_WORD];
    int rc = 0, version = 0;
    while (!rc && !(rc = tact_tets_read_word(r, word)) && word[0]) {
        m.is_msh_section_read = 0;
        rc = word[0] == '$'
                 ? read_msh_section(&m, word, &version)
                 : tact_tets_report_error(r, "expected a section, as $Nodes, not \"%.40s\"", word);
        rc = rc                      ? rc
             : m.is_msh_section_read ? expect_msh_section_end(&m, word)
                                     : skip_msh_section(&m, word);
    }
    if (rc == -ENOMEM) {
        tact_error_set(r->err, rc, "out of memory");
    }
    free(m.nodes);
    return rc;
}
