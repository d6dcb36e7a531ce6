/* PoCL's cache of compiled kernels: it is in a folder of tact's, whatever HOME is. */
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
static int devices; /* number of OpenCL devices that are found with the environment of this test */

static const char *path_in_test_folder(const char *name)
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
    struct stat st; /* status of the cache folder while the process ran */
};

/* The devices and the cache folder of a child process that has these variables ("NAME=VALUE" ...,
 * NULL) and no others that name folders. are_kernels_built: 1 where it also builds the kernels,
 * which takes seconds in an empty cache; it has chosen the folder before that. */
static struct answer run_opencl_child_with_environment(const char *const *variables,
                                                       int are_kernels_built)
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
        setenv("TMPDIR", path_in_test_folder("tmp"), 1);
        for (; *variables; variables++) {
            putenv((char *)*variables);
        }
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "test_opencl_cache", are_kernels_built ? "compile" : "find", NULL);
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
    int wait_status = -1;
    waitpid(child, &wait_status, 0);
    assert_int_equal(wait_status, 0);
    return a;
}

static int print_devices_and_cache_folder(int are_kernels_built)
{
    struct tact_opencl_device device;
    struct tact_error err = {0};
    struct stat st;
    size_t count = 0;
    int rc = tact_opencl_list(&device, 1, &count, are_kernels_built, &err);
    const char *cache = getenv("POCL_CACHE_DIR");
    if (rc || (are_kernels_built && device.status)) {
        fprintf(stderr, "%s\n", rc ? err.text : device.verdict);
        count = 0;
    }
    printf("\ndevices %zu\ncache %s\n", count, cache ? cache : "-");
    if (cache && !stat(cache, &st)) {
        printf("mode %o of %u\n", (unsigned)st.st_mode & 07777, (unsigned)st.st_uid);
    }
    return 0;
}

/* Expects the same devices, and a private folder below TMPDIR that was removed at the end. */
static void expect_private_kernel_cache_folder(const char *const *variables, int are_kernels_built)
{
    struct answer a = run_opencl_child_with_environment(variables, are_kernels_built);
    assert_int_equal(a.devices, devices);
    if (strncmp(a.cache, path_in_test_folder("tmp/tact-opencl-"),
                strlen(path_in_test_folder("tmp/tact-opencl-")))) {
        fail_msg("%s", a.cache);
    }
    assert_int_equal(a.st.st_mode & 07777, 0700);
    assert_int_equal(a.st.st_uid, geteuid());
    assert_int_equal(access(a.cache, F_OK), -1);
}

static void expect_opencl_kernel_cache_folder(const char *const *variables, const char *path,
                                              int are_kernels_built)
{
    struct answer a = run_opencl_child_with_environment(variables, are_kernels_built);
    assert_int_equal(a.devices, devices);
    assert_string_equal(a.cache, path);
    assert_int_equal(access(path, F_OK), 0);
    if (strcmp(path, path_in_test_folder("users"))) {
        assert_int_equal(a.st.st_mode & 0077, 0);
    }
}

static void kernel_cache_folder_is_private_without_a_home(void **state)
{
    (void)state;
    struct stat before = {0}, after = {0};
    int was = !stat("/tmp/pocl", &before);
    expect_private_kernel_cache_folder((const char *const[]){"HOME=/dev/null/home", NULL}, 1);
    expect_private_kernel_cache_folder(
        (const char *const[]){"HOME=/dev/null/home", "XDG_CACHE_HOME=/dev/null/x", NULL}, 0);
    expect_private_kernel_cache_folder((const char *const[]){NULL},
                                       0); /* an environment without HOME */
    expect_private_kernel_cache_folder(
        (const char *const[]){"XDG_CACHE_HOME=relative", "HOME=", NULL}, 0);
    /* PoCL's default cache folder, which any user could have created */
    assert_true(was == !stat("/tmp/pocl", &after));
    assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec);
}

static void kernel_cache_environment_variables_are_respected(void **state)
{
    (void)state;
    char environment_variable_assignment[3][200];
    snprintf(environment_variable_assignment[0], sizeof environment_variable_assignment[0],
             "XDG_CACHE_HOME=%s", path_in_test_folder("xdg"));
    snprintf(environment_variable_assignment[1], sizeof environment_variable_assignment[1],
             "CACHE_DIRECTORY=%s:/nowhere", path_in_test_folder("service"));
    snprintf(environment_variable_assignment[2], sizeof environment_variable_assignment[2],
             "HOME=%s", path_in_test_folder("home"));
    assert_int_equal(mkdir(path_in_test_folder("xdg"), 0755), 0);
    assert_int_equal(mkdir(path_in_test_folder("service"), 0700), 0);
    assert_int_equal(mkdir(path_in_test_folder("home"), 0755), 0);
    expect_opencl_kernel_cache_folder(
        (const char *const[]){environment_variable_assignment[2], NULL},
        path_in_test_folder("home/.cache/tact"), 1);
    expect_opencl_kernel_cache_folder((const char *const[]){environment_variable_assignment[2],
                                                            environment_variable_assignment[1],
                                                            NULL},
                                      path_in_test_folder("service"), 0);
    expect_opencl_kernel_cache_folder((const char *const[]){environment_variable_assignment[2],
                                                            environment_variable_assignment[1],
                                                            environment_variable_assignment[0],
                                                            NULL},
                                      path_in_test_folder("xdg/tact"), 0);
    /* PoCL's own variable has priority over the others. */
    snprintf(environment_variable_assignment[1], sizeof environment_variable_assignment[1],
             "POCL_CACHE_DIR=%s", path_in_test_folder("users"));
    assert_int_equal(mkdir(path_in_test_folder("users"), 0755), 0);
    expect_opencl_kernel_cache_folder((const char *const[]){environment_variable_assignment[2],
                                                            environment_variable_assignment[1],
                                                            environment_variable_assignment[0],
                                                            NULL},
                                      path_in_test_folder("users"), 0);
}

/* A cache folder that other users can write to is not used, as the kernels that they put there
 * would be executed. */
static void kernel_cache_folder_writable_by_others_is_not_used(void **state)
{
    (void)state;
    char environment_variable_assignment[200];
    snprintf(environment_variable_assignment, sizeof environment_variable_assignment,
             "XDG_CACHE_HOME=%s", path_in_test_folder("bad"));
    assert_int_equal(mkdir(path_in_test_folder("bad"), 0755), 0);
    assert_int_equal(mkdir(path_in_test_folder("elsewhere"), 0700), 0);
    assert_int_equal(symlink(path_in_test_folder("elsewhere"), path_in_test_folder("bad/tact")), 0);
    expect_private_kernel_cache_folder((const char *const[]){environment_variable_assignment, NULL},
                                       0);
    assert_int_equal(unlink(path_in_test_folder("bad/tact")), 0);
    assert_int_equal(mkdir(path_in_test_folder("bad/tact"), 0700), 0);
    assert_int_equal(chmod(path_in_test_folder("bad/tact"), 0777), 0);
    expect_private_kernel_cache_folder((const char *const[]){environment_variable_assignment, NULL},
                                       0);
    assert_int_equal(chmod(path_in_test_folder("bad/tact"), 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path_in_test_folder("bad/tact"), 65534, 0), 0);
        expect_private_kernel_cache_folder(
            (const char *const[]){environment_variable_assignment, NULL}, 0);
    }
}

static int make_test_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && !mkdir(path_in_test_folder("tmp"), 0700) ? 0 : -1;
}

static int remove_test_folder(void **state)
{
    char remove_command[64];
    (void)state;
    snprintf(remove_command, sizeof remove_command, "rm -r %s", folder);
    return system(remove_command);
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        return print_devices_and_cache_folder(!strcmp(argv[1], "compile"));
    }
    struct tact_opencl_device device;
    size_t count = 0;
    pid_t child = fork(); /* a child process, as this process must not load a driver */
    if (child == 0) {
        _exit(tact_opencl_list(&device, 1, &count, 0, NULL) ? 0 : (int)count);
    }
    int wait_status;
    waitpid(child, &wait_status, 0);
    devices = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
    if (!devices) {
        puts("skipped: no OpenCL device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_cache_folder_is_private_without_a_home),
        cmocka_unit_test(kernel_cache_environment_variables_are_respected),
        cmocka_unit_test(kernel_cache_folder_writable_by_others_is_not_used),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
