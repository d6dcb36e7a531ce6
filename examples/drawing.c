#include "drawing.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include "command.h"

int ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n > m && !strcmp(text + n - m, ending);
}

int drawing_open(struct drawing *d, const char *command, const char *out)
{
    int script = ends_with(out, ".gp");
    d->command = command;
    d->out = out;
    d->terminal = script ? NULL : (ends_with(out, ".svg") ? "svg" : "pngcairo");
    d->to = script ? fopen(out, "w")
                   : popen("command -v gnuplot >/dev/null || exit 127; exec gnuplot -", "w");
    signal(SIGPIPE, SIG_IGN); /* a gnuplot that ends early is told by its exit code */
    if (!d->to) {
        fprintf(stderr, "%s: %s: %s\n", command, out, strerror(errno));
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

int drawing_close(struct drawing *d)
{
    int failed = ferror(d->to);
    int status = d->terminal ? pclose(d->to) : fclose(d->to);
    if (!d->terminal) {
        return failed || status ? EXIT_BAD : EXIT_GOOD;
    }
    if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127) {
        fprintf(stderr,
                "%s: there is no gnuplot: apt-get install gnuplot-nox, or -o OUT.gp for "
                "the script\n",
                d->command);
    } else if (status) {
        fprintf(stderr, "%s: gnuplot could not draw %s\n", d->command, d->out);
    }
    return status ? EXIT_BAD : EXIT_GOOD;
}
