/* tact export: the records of a log for other programs. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "export.h"
#include "text.h"

#define EXIT_DAMAGED_LOG 3

static const char help[] =
    "usage: tact export FILE --csv OUT.csv | --hdf5 OUT.h5 | --html OUT.html [OPTION]...\n\n"
    "Writes every field of every tick of a log, bit for bit: what is read back are the log's\n"
    "own doubles.\n\n"
    "  --csv OUT    a line a tick: time [s], tick, stamp_ns, then each field: name, name[0],\n"
    "               name[1], ... or, of joints, devices and outputs, name[JOINT], name[CHANNEL];\n"
    "               17 digits; nan and inf as C and Python read them\n"
    "  --hdf5 OUT   a dataset a field, [ticks] or [ticks, elements], with the attributes unit, "
    "kind\n"
    "               and, of joints, devices and outputs, elements: their names; time [s], tick "
    "and\n"
    "               stamp_ns; the facts of the session as attributes of the file\n"
    "  --html OUT   one page that any browser opens, without a network: what tact view shows, 60\n"
    "               frames a second of the session, and of a long one at most 20000 in all;\n"
    "               fields of the log as many as fit in 32 MiB, and a message names the others\n"
    "  --force      replace OUT where it exists\n"
    "  --help       this text\n\n"
    "All may be asked for at once.\n\n"
    "exit codes:\n"
    "  0  written\n"
    "  1  the output could not be written: then it is not there\n"
    "  2  bad usage, a file that is no log of tact or cannot be read, or OUT exists\n"
    "  3  the log is damaged or cut: what is left of it was written\n\n"
    "example:\n"
    "  tact export ruler.mcap --csv ruler.csv --hdf5 ruler.h5\n"
    "  python3 -c 'import h5py; print(h5py.File(\"ruler.h5\")[\"ruler_pose\"][-1])'\n";

struct query {
    const char *name, *log, *csv, *hdf5, *html;
    int force;
};

/* Writes one format to a temporary file, which is renamed when complete. */
static int write_export_file(const struct query *q, struct tact_log *log,
                             const struct export_names *names, const char *path,
                             export_writer_function *write)
{
    struct tact_error err = {.line = 0};
    struct output out;
    int code = path ? output_open(&out, q->name, path, q->force) : EXIT_GOOD;
    if (code || !path) {
        return code;
    }
    int rc = tact_log_seek(log, 0);
    rc = rc ? tact_error_set(&err, rc, "%s", strerror(-rc)) : write(log, names, &out, &err);
    code = output_close(&out, rc ? EXIT_BAD : EXIT_GOOD, !rc);
    if (rc) {
        fprintf(stderr, "%s: %s: cannot be written: %s\n", q->name, text_make_printable(path),
                err.text);
    }
    return code;
}

static int export_log_to_files(const struct query *q)
{
    struct tact_error err = {.line = 0};
    struct tact_log *log;
    if (tact_log_open(q->log, &log, &err)) {
        return command_print_error(&err);
    }
    struct export_names names;
    int code = EXIT_GOOD;
    if (export_names_read_log(&names, log)) {
        fprintf(stderr, "%s: no memory\n", q->name);
        code = EXIT_BAD;
    }
    code = code ? code : write_export_file(q, log, &names, q->csv, export_csv);
    code = code ? code : write_export_file(q, log, &names, q->hdf5, export_hdf5);
    code = code ? code : write_export_file(q, log, &names, q->html, export_html);
    export_names_close(&names);
    if (!code && !tact_log_state(log)->complete) {
        code = EXIT_DAMAGED_LOG;
    }
    tact_log_close(log);
    return code;
}

/* Checks the requested output files: at least one, with different names, each of which may be
 * created. */
static int check_export_output_paths(const struct query *q)
{
    const char *const paths[] = {q->csv, q->hdf5, q->html};
    int code = EXIT_GOOD, count = 0;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < i; k++) {
            if (paths[i] && paths[k] && !strcmp(paths[i], paths[k])) {
                return command_print_usage_error(q->name, "both go to %s", paths[i]);
            }
        }
        count += paths[i] != NULL;
        code =
            code || !paths[i] ? code : is_output_allowed(q->name, paths[i], q->force, &q->log, 1);
    }
    return count
               ? code
               : command_print_usage_error(q->name, "expected --csv OUT, --hdf5 OUT or --html OUT");
}

int cmd_export(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"csv", required_argument, NULL, 'c'},  {"hdf5", required_argument, NULL, '5'},
        {"html", required_argument, NULL, 'm'}, {"force", no_argument, NULL, 'F'},
        {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0}};
    struct query q = {.name = argv[0]};
    int c, code = 0;
    while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        if (c == '?') {
            return EXIT_USAGE;
        }
        q.force |= c == 'F';
        q.csv = c == 'c' ? optarg : q.csv;
        q.hdf5 = c == '5' ? optarg : q.hdf5;
        q.html = c == 'm' ? optarg : q.html;
    }
    if (argc - optind != 1) {
        return command_print_usage_error(argv[0], "one log is expected, not %d", argc - optind);
    }
    q.log = argv[optind];
    code = check_export_output_paths(&q);
    return code ? code : export_log_to_files(&q);
}
