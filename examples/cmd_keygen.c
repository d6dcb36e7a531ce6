/* tact keygen: a pair of keys for one end of a link. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "devices/network/key_internal.h"
#include "text.h"

static const char help[] =
    "usage: tact keygen FILE\n\n"
    "Makes a new pair of keys for this end of a link: FILE, the secret key, which only its owner\n"
    "can read and which stays on this machine, and FILE.pub, the public key, which the other end\n"
    "needs. Bring it there by a way on which nobody can exchange it, or compare the line that\n"
    "is printed. Files that exist are never replaced.\n\n"
    "  --help   this text\n\n"
    "exit codes:\n"
    "  0  both files were written\n"
    "  1  a file could not be written; neither remains\n"
    "  2  bad usage, or a file exists already\n\n"
    "example: keys for the site at the operator\n"
    "  tact keygen operator.key\n";

/* Writes a file that must not exist. Returns the exit code. */
static int write_new_key_file(const char *command_name, const char *path, const char *text,
                              mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0) {
        int error = errno;
        fprintf(stderr, "%s: %s: %s\n", command_name, text_make_printable(path),
                error == EEXIST ? "exists already, and a key is never replaced" : strerror(error));
        return error == EEXIST ? EXIT_USAGE : EXIT_BAD;
    }
    const size_t size = strlen(text);
    int error = write(fd, text, size) == (ssize_t)size && !fsync(fd) ? 0 : errno ? errno : EIO;
    error = close(fd) && !error ? errno : error;
    if (error) {
        unlink(path);
        fprintf(stderr, "%s: %s: cannot be written: %s\n", command_name, text_make_printable(path),
                strerror(error));
    }
    return error ? EXIT_BAD : EXIT_GOOD;
}

static int write_key_pair(const char *command_name, const char *path)
{
    unsigned char secret_key[TACT_NETWORK_KEY_BYTES], public_key[TACT_NETWORK_KEY_BYTES];
    char text[TACT_NETWORK_KEY_TEXT], public_path[4096];
    struct tact_error err = {.line = 0};
    int n = snprintf(public_path, sizeof public_path, "%s.pub", path);
    if (n < 0 || (size_t)n >= sizeof public_path) {
        return command_print_usage_error(command_name, "the path is too long");
    }
    if (tact_network_make_key_pair(secret_key, public_key, &err)) {
        command_print_error(&err);
        return EXIT_BAD;
    }
    tact_network_format_key_text(TACT_NETWORK_SECRET_KEY, secret_key, text);
    errno = 0;
    int code = write_new_key_file(command_name, path, text, 0600);
    sodium_memzero(secret_key, sizeof secret_key);
    sodium_memzero(text, sizeof text);
    if (code) {
        return code;
    }
    tact_network_format_key_text(TACT_NETWORK_PUBLIC_KEY, public_key, text);
    code = write_new_key_file(command_name, public_path, text, 0644);
    if (code) {
        unlink(path);
        return code;
    }
    fputs(text, stdout);
    return EXIT_GOOD;
}

int cmd_keygen(int argc, char **argv)
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    int c = getopt_long(argc, argv, "h", long_options, NULL);
    if (c == 'h') {
        fputs(help, stdout);
        return EXIT_GOOD;
    }
    if (c != -1) {
        return EXIT_USAGE;
    }
    if (argc - optind != 1 || !*argv[optind]) {
        return command_print_usage_error(argv[0], "expected one file");
    }
    return write_key_pair(argv[0], argv[optind]);
}
