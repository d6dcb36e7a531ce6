/* Where PoCL may keep what it compiles: in a folder of ours, whatever HOME is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "kernels/opencl.h"

static char folder[] = "/tmp/tact_cache_XXXXXX";
static int devices; /* that are found as things are */

static const char *in(const char *name)
{
    static char path[4][160];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

struct answer {
    int devices;
    char cache[256];
    struct stat st; /* of the cache, while the process lived */
};

/* What a process finds that is started with these variables ("NAME=VALUE" ..., NULL) and no others
 * that mention folders. */
static struct answer ask(const char *const *variables)
{
    int ends[2];
    struct answer a = {.devices = -1};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        static const char *const unset[] = {"HOME", "XDG_CACHE_HOME", "CACHE_DIRECTORY",
                                            "POCL_CACHE_DIR"};
        for (size_t i = 0; i < 4; i++) {
            unsetenv(unset[i]);
        }
        setenv("TMPDIR", in("tmp"), 1);
        for (; *variables; variables++) {
            putenv((char *)*variables);
        }
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "test_opencl_cache", "find", NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    char line[256];
    unsigned int mode = 0, owner = 0;
    while (fgets(line, sizeof line, from)) {
        sscanf(line, "devices %d", &a.devices);
        sscanf(line, "cache %255s", a.cache);
        sscanf(line, "mode %o of %u", &mode, &owner);
    }
    a.st.st_mode = mode;
    a.st.st_uid = owner;
    fclose(from);
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    return a;
}

static int find(void)
{
    struct tact_opencl_device device;
    struct tact_error err = {0};
    struct stat st;
    size_t count = 0;
    int rc = tact_opencl_list(&device, 1, &count, 1, &err);
    const char *cache = getenv("POCL_CACHE_DIR");
    if (rc || device.status) {
        fprintf(stderr, "%s\n", rc ? err.text : device.verdict);
        count = 0;
    }
    printf("\ndevices %zu\ncache %s\n", count, cache ? cache : "-");
    if (cache && !stat(cache, &st)) {
        printf("mode %o of %u\n", (unsigned)st.st_mode & 07777, (unsigned)st.st_uid);
    }
    return 0;
}

/* It works as it does here, in a private folder below TMPDIR that is gone afterwards. */
static void expect_own(const char *const *variables)
{
    struct answer a = ask(variables);
    assert_int_equal(a.devices, devices);
    if (strncmp(a.cache, in("tmp/tact-opencl-"), strlen(in("tmp/tact-opencl-")))) {
        fail_msg("%s", a.cache);
    }
    assert_int_equal(a.st.st_mode & 07777, 0700);
    assert_int_equal(a.st.st_uid, geteuid());
    assert_int_equal(access(a.cache, F_OK), -1);
}

static void expect_in(const char *const *variables, const char *path)
{
    struct answer a = ask(variables);
    assert_int_equal(a.devices, devices);
    assert_string_equal(a.cache, path);
    assert_int_equal(access(path, F_OK), 0);
    if (strcmp(path, in("users"))) {
        assert_int_equal(a.st.st_mode & 0077, 0);
    }
}

static void a_home_that_cannot_be_written_is_borne(void **state)
{
    (void)state;
    struct stat before = {0}, after = {0};
    int was = !stat("/tmp/pocl", &before);
    expect_own((const char *const[]){"HOME=/dev/null/home", NULL});
    expect_own((const char *const[]){"HOME=/dev/null/home", "XDG_CACHE_HOME=/dev/null/x", NULL});
    expect_own((const char *const[]){NULL}); /* and one that is not said */
    expect_own((const char *const[]){"XDG_CACHE_HOME=relative", "HOME=", NULL});
    assert_true(was == !stat("/tmp/pocl", &after)); /* which anybody could have made */
    assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec);
}

static void a_folder_that_is_named_is_used(void **state)
{
    (void)state;
    char variable[3][200];
    snprintf(variable[0], sizeof variable[0], "XDG_CACHE_HOME=%s", in("xdg"));
    snprintf(variable[1], sizeof variable[1], "CACHE_DIRECTORY=%s:/nowhere", in("service"));
    snprintf(variable[2], sizeof variable[2], "HOME=%s", in("home"));
    assert_int_equal(mkdir(in("xdg"), 0755), 0);
    assert_int_equal(mkdir(in("service"), 0700), 0);
    assert_int_equal(mkdir(in("home"), 0755), 0);
    expect_in((const char *const[]){variable[2], NULL}, in("home/.cache/tact"));
    expect_in((const char *const[]){variable[2], variable[1], NULL}, in("service"));
    expect_in((const char *const[]){variable[2], variable[1], variable[0], NULL}, in("xdg/tact"));
    /* The user's word goes before all. */
    snprintf(variable[1], sizeof variable[1], "POCL_CACHE_DIR=%s", in("users"));
    assert_int_equal(mkdir(in("users"), 0755), 0);
    expect_in((const char *const[]){variable[2], variable[1], variable[0], NULL}, in("users"));
}

/* Kernels that another user has put there would be run. */
static void a_folder_of_others_is_passed_over(void **state)
{
    (void)state;
    char variable[200];
    snprintf(variable, sizeof variable, "XDG_CACHE_HOME=%s", in("bad"));
    assert_int_equal(mkdir(in("bad"), 0755), 0);
    assert_int_equal(mkdir(in("elsewhere"), 0700), 0);
    assert_int_equal(symlink(in("elsewhere"), in("bad/tact")), 0);
    expect_own((const char *const[]){variable, NULL});
    assert_int_equal(unlink(in("bad/tact")), 0);
    assert_int_equal(mkdir(in("bad/tact"), 0700), 0);
    assert_int_equal(chmod(in("bad/tact"), 0777), 0);
    expect_own((const char *const[]){variable, NULL});
    assert_int_equal(chmod(in("bad/tact"), 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(in("bad/tact"), 65534, 0), 0);
        expect_own((const char *const[]){variable, NULL});
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && !mkdir(in("tmp"), 0700) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "find")) {
        return find();
    }
    struct tact_opencl_device device;
    size_t count = 0;
    pid_t child = fork(); /* this process is to look at no driver */
    if (child == 0) {
        _exit(tact_opencl_list(&device, 1, &count, 0, NULL) ? 0 : (int)count);
    }
    int status;
    waitpid(child, &status, 0);
    devices = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (!devices) {
        puts("skipped: no OpenCL device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_home_that_cannot_be_written_is_borne),
        cmocka_unit_test(a_folder_that_is_named_is_used),
        cmocka_unit_test(a_folder_of_others_is_passed_over),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
