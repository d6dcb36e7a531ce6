#include "rt/yaml.h"

#include <cyaml/cyaml.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "contact/number.h"

/** From libcyaml's log: the first line is the error; the backtrace has its location. */
struct log_excerpt {
    char text[256];
    char key[64]; /**< innermost mapping field of the backtrace */
    int line;
    int column;
};

/** Stores the first message and the first location of the backtrace, which is the innermost. Lines
 * read "Load:   in mapping field 'mass' (line: 3, column: 5)". */
static void store_log_line(cyaml_log_t level, void *user, const char *format, va_list args)
{
    struct log_excerpt *log_excerpt = user;
    char line[512];
    tact_number_vprint(line, sizeof line, format, args);
    if (level < CYAML_LOG_ERROR) {
        return;
    }
    const char *place = strstr(line, "(line: ");
    if (place && !log_excerpt->line) {
        sscanf(place, "(line: %d, column: %d)", &log_excerpt->line, &log_excerpt->column);
    }
    const char *field = strstr(line, "mapping field '");
    if (field && !log_excerpt->key[0]) {
        sscanf(field, "mapping field '%63[^']", log_excerpt->key);
    }
    if (!log_excerpt->text[0]) {
        const char *start = strncmp(line, "Load: ", 6) == 0 ? line + 6 : line;
        snprintf(log_excerpt->text, sizeof log_excerpt->text, "%.255s", start);
        for (size_t n = strlen(log_excerpt->text);
             n > 0 && isspace((unsigned char)log_excerpt->text[n - 1]);) {
            log_excerpt->text[--n] = '\0';
        }
    }
}

static cyaml_config_t yaml_config(struct log_excerpt *log_excerpt)
{
    return (cyaml_config_t){.log_fn = log_excerpt ? store_log_line : NULL,
                            .log_ctx = log_excerpt,
                            .log_level = CYAML_LOG_ERROR,
                            .mem_fn = cyaml_mem,
                            .flags = CYAML_CFG_NO_ALIAS};
}

int tact_yaml_load(const char *file, const char *text, size_t size,
                   const struct cyaml_schema_value *schema, void **out, struct tact_error *err)
{
    struct log_excerpt log_excerpt = {0};
    cyaml_config_t config = yaml_config(&log_excerpt);
    cyaml_data_t *data = NULL;
    void *locale = tact_number_begin(); /* libcyaml parses numbers by the locale */
    cyaml_err_t rc = cyaml_load_data((const uint8_t *)text, size, &config, schema, &data, NULL);
    tact_number_end(locale);
    if (rc == CYAML_ERR_OOM) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    if (rc != CYAML_OK) {
        tact_error_at(err, file, log_excerpt.line, log_excerpt.column, log_excerpt.key);
        return tact_error_set(err, -EINVAL, "%s",
                              log_excerpt.text[0] ? log_excerpt.text : cyaml_strerror(rc));
    }
    *out = data;
    return 0;
}

void tact_yaml_free(const struct cyaml_schema_value *schema, void *value)
{
    cyaml_config_t config = yaml_config(NULL);
    cyaml_free(&config, schema, value, 0);
}
