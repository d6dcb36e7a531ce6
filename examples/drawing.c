#include "drawing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "text.h"

int text_ends_with(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    return n > m && !strcmp(text + n - m, suffix);
}

void drawing_print_quoted(FILE *to, const char *prefix, const char *text)
{
    fprintf(to, "'%s", prefix);
    for (const char *c = text_make_printable(text); *c; c++) {
        /* In gnuplot 5.4 four quotes in a row end a text, so doubling a quote is not a safe
         * escape. */
        fputs(*c == '\'' ? "'.\"'\".'" : (char[]){*c, 0}, to);
    }
    fputs("'", to);
}

/* The script is collected in memory: gnuplot reads it from there and writes the picture to a pipe,
 * so that it opens no file and a failed write is detected. */
int drawing_open(struct drawing *d, const char *command, const char *out, int force)
{
    int is_script_output = text_ends_with(out, ".gp");
    d->terminal = is_script_output              ? NULL
                  : text_ends_with(out, ".svg") ? "svg"
                  : text_ends_with(out, ".pdf") ? "pdfcairo"
                                                : "pngcairo";
    int code = output_open(&d->out, command, out, force);
    if (code) {
        return code;
    }
    int fd = is_script_output ? -1 : memfd_create("script", MFD_CLOEXEC);
    d->to = is_script_output ? d->out.to : (fd >= 0 ? fdopen(fd, "w+") : NULL);
    if (!d->to) {
        fprintf(stderr, "%s: %s: %s\n", command, text_make_printable(out), strerror(errno));
        return output_close(&d->out, EXIT_BAD, 0);
    }
    return EXIT_GOOD;
}

/* Starts gnuplot with pipes for the script, the picture and its messages. Returns 0 or an errno. */
static int start_gnuplot(int gnuplot_script_fd, int gnuplot_picture_fd, int gnuplot_message_fd,
                         pid_t *child)
{
    extern char **environ;
    /* option -d: gnuplot ignores the user's settings */
    char *const gnuplot_arguments[] = {"gnuplot", "-d", "-", NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_adddup2(&files, gnuplot_script_fd, 0);
    posix_spawn_file_actions_adddup2(&files, gnuplot_picture_fd, 1);
    posix_spawn_file_actions_adddup2(&files, gnuplot_message_fd, 2);
    int rc = posix_spawnp(child, "gnuplot", &files, &attributes, gnuplot_arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return rc;
}

/* Copies gnuplot's output to the file; returns 0 or an errno, and its last bytes in end. */
static int copy_gnuplot_output(int from, FILE *to, char end[16])
{
    char gnuplot_output_part[16384];
    ssize_t n;
    memset(end, 0, 16);
    while ((n = read(from, gnuplot_output_part, sizeof gnuplot_output_part)) > 0 ||
           (n < 0 && errno == EINTR)) {
        size_t size = n > 0 ? (size_t)n : 0, kept = size < 16 ? size : 16;
        if (fwrite(gnuplot_output_part, 1, size, to) != size) {
            return errno; /* after a failed write, gnuplot ends, as its output is closed */
        }
        memmove(end, end + kept, 16 - kept);
        memcpy(end + 16 - kept, gnuplot_output_part + size - kept, kept);
    }
    return n < 0 || fflush(to) ? errno : 0;
}

/* A complete picture has the end of its format; otherwise it was truncated. */
static int is_picture_file_complete(const struct drawing *d, const char end[16])
{
    if (!strcmp(d->terminal, "pngcairo")) {
        return !memcmp(end + 8, "IEND", 4);
    }
    const char *last = strcmp(d->terminal, "svg") ? "%%EOF" : "</svg>";
    return memmem(end, 16, last, strlen(last)) != NULL;
}

static int run_gnuplot(struct drawing *d, int message)
{
    int ends[2], wait_status = 0;
    char end[16];
    pid_t child;
    if (fflush(d->to) || ferror(d->to) || lseek(fileno(d->to), 0, SEEK_SET) < 0 ||
        pipe2(ends, O_CLOEXEC)) {
        return errno;
    }
    int rc = start_gnuplot(fileno(d->to), ends[1], message, &child);
    close(ends[1]);
    int is_gnuplot_started = !rc;
    rc = rc ? rc : copy_gnuplot_output(ends[0], d->out.to, end);
    close(ends[0]);
    while (is_gnuplot_started && waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
    }
    return rc ? rc : (!wait_status && is_picture_file_complete(d, end) ? 0 : EPROTO);
}

static void report_gnuplot_failure(const struct drawing *d, int rc, int message)
{
    char words[512] = "";
    if (rc == ENOENT) {
        fprintf(stderr,
                "%s: there is no gnuplot: apt-get install gnuplot-nox, or -o OUT.gp for "
                "the script\n",
                d->out.command);
        return;
    }
    ssize_t n = rc == EPROTO && message >= 0 ? pread(message, words, sizeof words - 1, 0) : 0;
    words[n > 0 ? n : 0] = '\0';
    fprintf(stderr, "%s: %s: %s: %s\n", d->out.command, text_make_printable(d->out.path),
            rc == EPROTO ? "gnuplot could not draw the picture" : "cannot be written",
            rc == EPROTO ? text_make_printable(words) : strerror(rc));
}

int drawing_close(struct drawing *d)
{
    if (!d->terminal) {
        return output_close(&d->out, EXIT_GOOD, 1);
    }
    int message = memfd_create("said", MFD_CLOEXEC);
    int rc = message < 0 ? errno : run_gnuplot(d, message);
    if (rc) {
        report_gnuplot_failure(d, rc, message);
    }
    if (message >= 0) {
        close(message);
    }
    fclose(d->to);
    return output_close(&d->out, rc ? EXIT_BAD : EXIT_GOOD, !rc);
}
