/* What the process that reads a STEP file can no longer do once it is confined to its folder. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "examples/reader_process.h"

/* numbers of calls that the headers of older systems lack */
enum { CALL_FCHMODAT2 = 452, CALL_SETXATTRAT = 463 };

/* Tries what only the folder's files permit. Returns a number of what went wrong, 0: nothing. */
static int try_accesses_from_confined_process(const char *folder, const char *file, pid_t other)
{
    char inside[64];
    snprintf(inside, sizeof inside, "%s/a", folder);
    if (reader_confine_to_folder(folder)) {
        return errno == ENOSYS ? 77 : 1;
    }
    FILE *stream = fopen(inside, "w");
    if (!stream || fputs("text", stream) < 0 || fclose(stream) || unlink(inside)) {
        return 2;
    }
    if (open(file, O_RDONLY) >= 0 || open(file, O_WRONLY) >= 0) {
        return 3;
    }
    if (!kill(other, SIGKILL) || !syscall(SYS_tgkill, other, other, SIGKILL)) {
        return 4;
    }
    if (!chmod(file, 0666) || !syscall(CALL_FCHMODAT2, AT_FDCWD, file, 0666, 0)) {
        return 5;
    }
    if (syscall(CALL_SETXATTRAT, AT_FDCWD, file, 0, "user.x", NULL, 0) != -1 || errno != EPERM) {
        return 6;
    }
    if (syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) != -1 || errno != EPERM ||
        syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL) != -1 ||
        errno != EPERM) {
        return 7;
    }
    return !syscall(SYS_clone3, NULL, 0) || errno != ENOSYS ? 8 : 0;
}

static void confined_reader_changes_nothing_outside_its_folder(void **state)
{
    (void)state;
    char folder[] = "/tmp/tact-folder-XXXXXX", file[] = "/tmp/tact-outside-XXXXXX";
    struct stat status;
    int reader_wait_status;
    assert_non_null(mkdtemp(folder));
    close(mkstemp(file));
    const pid_t other = fork();
    if (other == 0) {
        pause();
        _exit(0);
    }
    const pid_t reader = fork();
    if (reader == 0) {
        _exit(try_accesses_from_confined_process(folder, file, other));
    }
    assert_int_equal(waitpid(reader, &reader_wait_status, 0), reader);
    assert_int_equal(waitpid(other, NULL, WNOHANG), 0); /* it lives */
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    assert_int_equal(stat(file, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(remove(file), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_true(WIFEXITED(reader_wait_status));
    if (WEXITSTATUS(reader_wait_status) == 77) {
        print_message("skipped: this kernel has no Landlock\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(reader_wait_status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(confined_reader_changes_nothing_outside_its_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
