/* XML by libxml2, without network, document types, entities and includes; attributes as numbers and
 * words, with the line of what is wrong. */
#include <errno.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "rt/model/model_internal.h"

/* Stops the parser at a document type, which could bring in entities and other files. */
static void stop_at_document_type(void *xml_parser_context, const xmlChar *name,
                                  const xmlChar *external, const xmlChar *system)
{
    xmlParserCtxt *parser = xml_parser_context;
    (void)name;
    (void)external;
    (void)system;
    *(int *)parser->_private = parser->input ? parser->input->line : 1;
    xmlStopParser(parser);
}

/* Whether an element is one of xacro's, which are macros of URDF. */
static bool is_xacro_element(const xmlNode *node)
{
    return node->ns && node->ns->href && strstr((const char *)node->ns->href, "xacro");
}

/* Checks how deeply elements are nested, and that none is a macro. */
static int check_element_nesting(struct model *m, const xmlNode *node, int depth)
{
    for (; node; node = node->next) {
        if (node->type != XML_ELEMENT_NODE) {
            continue;
        }
        if (depth == MODEL_MAX_NESTING) {
            return tact_model_report_error(m, tact_xml_node_line(node),
                                           "nested too deeply; expected at most %d levels",
                                           MODEL_MAX_NESTING);
        }
        if (is_xacro_element(node)) {
            return tact_model_report_error(m, tact_xml_node_line(node),
                                           "<xacro:%.60s> is a macro: expected the URDF that ROS's "
                                           "program xacro makes of this file",
                                           tact_xml_node_name(node));
        }
        int rc = check_element_nesting(m, node->children, depth + 1);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

static int report_xml_error(struct model *m, xmlParserCtxt *parser)
{
    const xmlError *error = xmlCtxtGetLastError(parser);
    char text[160] = "cannot be parsed";
    if (error && error->message) {
        snprintf(text, sizeof text, "%s", error->message);
        text[strcspn(text, "\n")] = '\0';
    }
    return error && error->code == XML_ERR_NO_MEMORY
               ? tact_model_report_no_memory(m)
               : tact_model_report_error(m, error ? error->line : 0, "not XML: %s", text);
}

/* Refuses a tag with more attributes than a hand has: libxml2 compares each with all others. The
 * tag ends at the next "<". */
static int check_attribute_count(struct model *m, const char *text, size_t size)
{
    int line = 1, count = 0;
    for (size_t i = 0; i < size; i++) {
        line += text[i] == '\n';
        count = text[i] == '<' ? 0 : count + (text[i] == '=');
        if (count > MODEL_MAX_ATTRIBUTES) {
            return tact_model_report_error(m, line, "a tag has over %d attributes",
                                           MODEL_MAX_ATTRIBUTES);
        }
    }
    return 0;
}

int tact_model_parse_xml(struct model *m, const char *text, size_t size, xmlDoc **out)
{
    int doctype_line = 0;
    *out = NULL;
    if (check_attribute_count(m, text, size)) {
        return -EINVAL;
    }
    xmlParserCtxt *parser = xmlNewParserCtxt();
    if (!parser) {
        return tact_model_report_no_memory(m);
    }
    parser->_private = &doctype_line;
    parser->sax->internalSubset = stop_at_document_type;
    xmlDoc *doc = xmlCtxtReadMemory(parser, text, (int)size, NULL, NULL,
                                    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                        XML_PARSE_BIG_LINES | XML_PARSE_NOCDATA);
    int rc = 0;
    if (doctype_line) {
        rc = tact_model_report_error(
            m, doctype_line,
            "a document type (<!DOCTYPE>), which can include entities and other files, is refused");
    } else if (!doc || !xmlDocGetRootElement(doc)) {
        rc = report_xml_error(m, parser);
    } else {
        rc = check_element_nesting(m, xmlDocGetRootElement(doc), 0);
    }
    xmlFreeParserCtxt(parser);
    if (rc) {
        xmlFreeDoc(doc);
        return rc;
    }
    *out = doc;
    return 0;
}

const char *tact_xml_node_name(const xmlNode *node)
{
    return (const char *)node->name;
}

int tact_xml_node_line(const xmlNode *node)
{
    return (int)xmlGetLineNo(node);
}

const xmlNode *tact_xml_next_element(const xmlNode *node)
{
    while (node && node->type != XML_ELEMENT_NODE) {
        node = node->next;
    }
    return node;
}

bool tact_xml_has_attribute(const xmlNode *node, const char *name)
{
    return xmlHasProp(node, BAD_CAST name) != NULL;
}

const char *tact_xml_read_text(struct model *m, const xmlNode *node, const char *name)
{
    xmlChar *value = xmlGetProp(node, BAD_CAST name);
    const char *attribute_value_copy = value ? tact_model_copy_text(m, (const char *)value) : NULL;
    xmlFree(value);
    return attribute_value_copy;
}

int tact_xml_read_numbers(struct model *m, const xmlNode *node, const char *name, double *out,
                          int least, int most)
{
    const char *text = tact_xml_read_text(m, node, name);
    int count = 0;
    if (!text) {
        return 0;
    }
    for (const char *at = text + strspn(text, " \t\r\n"); *at; at += strspn(at, " \t\r\n")) {
        const size_t length = strcspn(at, " \t\r\n");
        char *end;
        const double value = tact_number_read(at, &end);
        if (end != at + length || strspn(at, "+-.0123456789eE") < length || !isfinite(value)) {
            return tact_model_report_error(m, tact_xml_node_line(node),
                                           "%s: %s=\"%.60s\": expected numbers",
                                           tact_xml_node_name(node), name, text);
        }
        if (count < most) {
            out[count] = value;
        }
        count++;
        at = end;
    }
    if (count < least || count > most) {
        return least == most
                   ? tact_model_report_error(m, tact_xml_node_line(node),
                                             "%s: %s=\"%.60s\": expected %d numbers",
                                             tact_xml_node_name(node), name, text, most)
                   : tact_model_report_error(m, tact_xml_node_line(node),
                                             "%s: %s=\"%.60s\": expected %d to %d numbers",
                                             tact_xml_node_name(node), name, text, least, most);
    }
    return count;
}

/* Index of a word in a list separated by spaces, or -1. */
static int find_index_of_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (int i = 0; *words; i++) {
        const size_t n = strcspn(words, " ");
        if (n == length && !memcmp(words, word, n)) {
            return i;
        }
        words += n + (words[n] == ' ');
    }
    return -1;
}

bool tact_xml_list_has_word(const char *words, const char *word)
{
    return find_index_of_word(words, word) >= 0;
}

int tact_xml_read_word(struct model *m, const xmlNode *node, const char *name, const char *words)
{
    const char *text = tact_xml_read_text(m, node, name);
    const int found = text ? find_index_of_word(words, text) : -1;
    if (text && found < 0) {
        return tact_model_report_error(m, tact_xml_node_line(node),
                                       "%s: %s=\"%.60s\": expected one of: %s",
                                       tact_xml_node_name(node), name, text, words);
    }
    return found;
}

int tact_xml_check_attributes(struct model *m, const xmlNode *node,
                              const char *allowed_attribute_names,
                              const char *ignored_attribute_names,
                              const char *attribute_names_to_note)
{
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        const char *name = (const char *)a->name;
        if (tact_xml_list_has_word(allowed_attribute_names, name)) {
            continue;
        }
        if (tact_xml_list_has_word(attribute_names_to_note, name)) {
            tact_model_add_note(
                m, tact_xml_node_line(node),
                "%s: \"%s\" is left out: tact's contact models have no such parameter",
                tact_xml_node_name(node), name);
        } else if (!tact_xml_list_has_word(ignored_attribute_names, name)) {
            return tact_model_report_error(m, tact_xml_node_line(node),
                                           "%s: attribute \"%.60s\" is not supported",
                                           tact_xml_node_name(node), name);
        }
    }
    return 0;
}
