/* tact export: the records of a log for other programs. */
#include <getopt.h>
#include <stdio.h>
#include "command.h"
#include "export.h"

#define EXIT_DAMAGED 3

static const char help[] =
    "usage: tact export FILE --csv OUT.csv | --hdf5 OUT.h5 [OPTION]...\n\n"
    "Writes every field of every tick of a log, to the last bit: what is read back are the log's\n"
    "own doubles.\n\n"
    "  --csv OUT    a line a tick: tick, stamp_ns, then name or name[0], name[1], ... of each "
    "field;\n"
    "               17 digits; nan and inf as C and Python read them\n"
    "  --hdf5 OUT   a dataset a field, [ticks] or [ticks, elements], with the attributes unit and\n"
    "               kind; tick and stamp_ns; the facts of the session as attributes of the file\n"
    "  --help       this text\n\n"
    "Both may be asked for at once.\n\n"
    "exit codes:\n"
    "  0  written\n"
    "  1  the output could not be written\n"
    "  2  bad usage, or a file that is no log of tact or cannot be read\n"
    "  3  the log is damaged or cut: what is left of it was written\n\n"
    "example:\n"
    "  tact export ruler.mcap --csv ruler.csv --hdf5 ruler.h5\n"
    "  python3 -c 'import h5py; print(h5py.File(\"ruler.h5\")[\"ruler_pose\"][-1])'\n";

static int answer(const char *path, const char *csv, const char *hdf5)
{
    struct tact_error err = {.line = 0};
    struct tact_log *log;
    if (tact_log_open(path, &log, &err)) {
        return command_error(&err);
    }
    int rc = csv ? export_csv(log, csv, &err) : 0;
    rc = rc ? rc : tact_log_seek(log, 0);
    rc = rc || !hdf5 ? rc : export_hdf5(log, hdf5, &err);
    int code = tact_log_state(log)->complete ? EXIT_GOOD : EXIT_DAMAGED;
    if (rc) {
        command_error(&err);
        code = EXIT_BAD;
    }
    tact_log_close(log);
    return code;
}

int cmd_export(int argc, char **argv)
{
    static const struct option longs[] = {{"csv", required_argument, NULL, 'c'},
                                          {"hdf5", required_argument, NULL, '5'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const char *csv = NULL, *hdf5 = NULL;
    int c;
    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        if (c == '?') {
            return EXIT_USAGE;
        }
        *(c == 'c' ? &csv : &hdf5) = optarg;
    }
    if (argc - optind != 1) {
        return command_usage(argv[0], "one log is expected, not %d", argc - optind);
    }
    if (!csv && !hdf5) {
        return command_usage(argv[0], "--csv OUT or --hdf5 OUT is expected");
    }
    return answer(argv[optind], csv, hdf5);
}
