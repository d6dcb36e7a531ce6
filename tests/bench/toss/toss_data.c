#include "toss_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/vec.h"

/* numbers in a line: position 3, quaternion 4, velocity 3, angular velocity 3 */
enum { NUMBERS_PER_ROW = 13 };

/* Reads a line of numbers separated by commas; returns how many there are. */
static int parse_comma_separated_numbers(const char *line, double *out, int most)
{
    int n = 0;
    while (n < most) {
        char *end;
        out[n] = strtod(line, &end);
        if (end == line) {
            break;
        }
        n++;
        if (*end != ',') {
            break;
        }
        line = end + 1;
    }
    return n;
}

static FILE *open_csv(const char *folder, const char *name, char *message, unsigned message_size)
{
    char path[1024], header[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    if (!f) {
        snprintf(message, message_size, "%s: %s", path, strerror(errno));
    } else if (!fgets(header, sizeof header, f)) {
        snprintf(message, message_size, "%s: empty", path);
        fclose(f);
        f = NULL;
    }
    return f;
}

static int report_wrong_columns(const char *folder, const char *name, int line, char *message,
                                unsigned message_size)
{
    snprintf(message, message_size, "%s/%s:%d: not the columns that are expected", folder, name,
             line);
    return -EINVAL;
}

static void set_toss_sample(struct toss_sample *s, const double *v)
{
    memcpy(s->position, v, sizeof s->position);
    memcpy(s->quat_wxyz, v + 3, sizeof s->quat_wxyz);
    tact_quat_normalize(s->quat_wxyz);
}

static int read_toss_start_indices(const char *folder, struct toss_data *out, int *first,
                                   char *message, unsigned message_size)
{
    char line[1024];
    FILE *f = open_csv(folder, "starts.csv", message, message_size);
    if (!f) {
        return -ENOENT;
    }
    int rc = 0;
    for (int at = 2; !rc && fgets(line, sizeof line, f); at++) {
        double v[3 + NUMBERS_PER_ROW];
        struct toss *more = realloc(out->tosses, sizeof *more * ((size_t)out->count + 1));
        if (!more) {
            rc = -ENOMEM;
            break;
        }
        out->tosses = more;
        struct toss *t = &more[out->count];
        memset(t, 0, sizeof *t);
        if (parse_comma_separated_numbers(line, v, 3 + NUMBERS_PER_ROW) != 3 + NUMBERS_PER_ROW ||
            v[1] < 0 || v[2] < 2 || v[2] > 1e6) {
            rc = report_wrong_columns(folder, "starts.csv", at, message, message_size);
            break;
        }
        t->number = (int)v[0];
        first[out->count] = (int)v[1];
        t->count = (int)v[2];
        t->samples = calloc((size_t)t->count, sizeof *t->samples);
        rc = t->samples ? 0 : -ENOMEM;
        set_toss_sample(&t->samples[0], v + 3);
        memcpy(t->velocity, v + 10, sizeof t->velocity);
        tact_quat_rotate(t->angular_velocity, t->samples[0].quat_wxyz, v + 13);
        out->count += 1;
        if (out->count == 4096) {
            break;
        }
    }
    fclose(f);
    return rc;
}

static int read_toss_samples(const char *folder, struct toss_data *out, const int *first,
                             char *message, unsigned message_size)
{
    char line[1024];
    FILE *f = open_csv(folder, "tosses.csv", message, message_size);
    if (!f) {
        return -ENOENT;
    }
    int rc = 0, i = 0;
    for (int at = 2; !rc && fgets(line, sizeof line, f); at++) {
        double v[10];
        if (parse_comma_separated_numbers(line, v, 10) != 10) {
            rc = report_wrong_columns(folder, "tosses.csv", at, message, message_size);
            break;
        }
        while (i < out->count && out->tosses[i].number < (int)v[0]) {
            i++; /* both files are in ascending order of the number of the toss */
        }
        int k = i < out->count && out->tosses[i].number == (int)v[0] ? (int)v[1] - first[i] : -1;
        if (k > 0 && k < out->tosses[i].count) {
            set_toss_sample(&out->tosses[i].samples[k], v + 3);
        }
    }
    fclose(f);
    return rc;
}

int toss_data_read(const char *folder, struct toss_data *out, char *message, unsigned message_size)
{
    int first[4096];
    memset(out, 0, sizeof *out);
    int rc = read_toss_start_indices(folder, out, first, message, message_size);
    rc = rc ? rc : read_toss_samples(folder, out, first, message, message_size);
    for (int i = 0; !rc && i < out->count; i++) {
        for (int k = 0; !rc && k < out->tosses[i].count; k++) {
            const double *q = out->tosses[i].samples[k].quat_wxyz;
            if (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 0.5)) {
                snprintf(message, message_size, "%s: toss %d has no sample %d", folder,
                         out->tosses[i].number, first[i] + k);
                rc = -EINVAL;
            }
        }
    }
    if (rc) {
        toss_data_free(out);
    }
    return rc;
}

void toss_data_free(struct toss_data *data)
{
    for (int i = 0; i < data->count; i++) {
        free(data->tosses[i].samples);
    }
    free(data->tosses);
    memset(data, 0, sizeof *data);
}
