/**
 * YAML text into structs by a libcyaml schema, with errors as struct tact_error.
 *
 * The schema is libcyaml's own (cyaml/cyaml.h); memory is malloc()'s. Not real-time safe.
 */
#ifndef TACT_RT_SCENE_YAML_H
#define TACT_RT_SCENE_YAML_H

#include <stddef.h>
#include "../../contact/api.h"
#include "../../contact/error.h"

TACT_BEGIN_DECLS

struct cyaml_schema_value;

/** Parses one document of `size` bytes, a map. Unknown, repeated and missing keys, aliases and
 * numbers that are not finite are refused.
 *
 * @param file    its name, for messages
 * @param text    the document, UTF-8
 * @param size    of text [bytes]
 * @param schema  of the whole document: a value that is a pointer
 * @param out     the value, freed with tact_yaml_free(); unchanged on error
 * @param err     what is wrong, and where
 * @retval 0, -EINVAL (*err has file, line, column and key), or -ENOMEM */
TACT_API int tact_yaml_load(const char *file, const char *text, size_t size,
                            const struct cyaml_schema_value *schema, void **out,
                            struct tact_error *err);

/** Frees a value and everything it points to; NULL is allowed. */
TACT_API void tact_yaml_free(const struct cyaml_schema_value *schema, void *value);

TACT_END_DECLS

#endif
