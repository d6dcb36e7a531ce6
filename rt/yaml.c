#include "rt/yaml.h"

#include <cyaml/cyaml.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "contact/number.h"

/** What libcyaml said: the first line is what is wrong; the backtrace names the place. */
struct said {
    char text[256];
    char key[64]; /**< innermost mapping field of the backtrace */
    int line;
    int column;
};

/** Keeps the first message and the first place of the backtrace, which is the innermost. Lines read
 *  "Load:   in mapping field 'mass' (line: 3, column: 5)". */
static void listen(cyaml_log_t level, void *user, const char *format, va_list args)
{
    struct said *said = user;
    char line[512];
    tact_number_vprint(line, sizeof line, format, args);
    if (level < CYAML_LOG_ERROR) {
        return;
    }
    const char *place = strstr(line, "(line: ");
    if (place && !said->line) {
        sscanf(place, "(line: %d, column: %d)", &said->line, &said->column);
    }
    const char *field = strstr(line, "mapping field '");
    if (field && !said->key[0]) {
        sscanf(field, "mapping field '%63[^']", said->key);
    }
    if (!said->text[0]) {
        const char *start = strncmp(line, "Load: ", 6) == 0 ? line + 6 : line;
        snprintf(said->text, sizeof said->text, "%.255s", start);
        for (size_t n = strlen(said->text); n > 0 && isspace((unsigned char)said->text[n - 1]);) {
            said->text[--n] = '\0';
        }
    }
}

static cyaml_config_t configure(struct said *said)
{
    return (cyaml_config_t){.log_fn = said ? listen : NULL,
                            .log_ctx = said,
                            .log_level = CYAML_LOG_ERROR,
                            .mem_fn = cyaml_mem,
                            .flags = CYAML_CFG_NO_ALIAS};
}

int tact_yaml_load(const char *file, const char *text, size_t size,
                   const struct cyaml_schema_value *schema, void **out, struct tact_error *err)
{
    struct said said = {0};
    cyaml_config_t config = configure(&said);
    cyaml_data_t *data = NULL;
    void *locale = tact_number_begin(); /* libcyaml reads numbers by the locale */
    cyaml_err_t rc = cyaml_load_data((const uint8_t *)text, size, &config, schema, &data, NULL);
    tact_number_end(locale);
    if (rc == CYAML_ERR_OOM) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    if (rc != CYAML_OK) {
        tact_error_at(err, file, said.line, said.column, said.key);
        return tact_error_set(err, -EINVAL, "%s", said.text[0] ? said.text : cyaml_strerror(rc));
    }
    *out = data;
    return 0;
}

void tact_yaml_free(const struct cyaml_schema_value *schema, void *value)
{
    cyaml_config_t config = configure(NULL);
    cyaml_free(&config, schema, value, 0);
}
