#include "rt/scene/yaml.h"

#include "rt/scene/scene_internal.h"

int tact_yaml_load(const char *file, const char *text, size_t size,
                   const struct cyaml_schema_value *schema, void **out, struct tact_error *err)
{
    struct tact_scene_index *index;
    int rc = tact_scene_index_create(text, size, file, &index, err);
    if (rc) {
        return rc;
    }
    const struct tact_scene_check_context check = {index, err};
    rc = tact_scene_load_values(&check, schema, out);
    tact_scene_index_free(index);
    return rc;
}

void tact_yaml_free(const struct cyaml_schema_value *schema, void *value)
{
    const cyaml_config_t config = {.mem_fn = cyaml_mem};
    cyaml_free(&config, schema, value, 0);
}
