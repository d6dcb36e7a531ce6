/* The confinement of a process that reads a file in a folder of its own. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "reader_process.h"

/* Place of the flags in the data of a call to clone: the lower half of its first argument, on the
 * little-endian machines that reader_process.h knows. */
#define CLONE_FLAGS_OFFSET ((__u32)offsetof(struct seccomp_data, args))

/* Restricts the process to the contents of the files in the folder; it can still find out which
 * files exist elsewhere. Returns 0 or -1. */
static int restrict_file_access_to_folder(const char *path)
{
    const __u64 all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
    const struct landlock_ruleset_attr ruleset_attributes = {.handled_access_fs = all};
    struct landlock_path_beneath_attr folder_rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                          LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                          LANDLOCK_ACCESS_FS_REMOVE_FILE};
    const int ruleset_fd = (int)syscall(SYS_landlock_create_ruleset, &ruleset_attributes,
                                        sizeof ruleset_attributes, 0);
    folder_rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    int rc =
        ruleset_fd < 0 || folder_rule.parent_fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &folder_rule, 0) ||
        syscall(SYS_landlock_restrict_self, ruleset_fd, 0);
    close(folder_rule.parent_fd);
    close(ruleset_fd);
    return rc ? -1 : 0;
}

#define ALLOW_SYSTEM_CALL(call) READER_SYSCALL_ACTION(call, SECCOMP_RET_ALLOW)

int reader_confine_to_folder(const char *path)
{
    static struct sock_filter folder_system_call_filter[] = {
        READER_SYSCALL_FILTER_BEGIN,
#ifdef __x86_64__
        ALLOW_SYSTEM_CALL(SYS_open),
        ALLOW_SYSTEM_CALL(SYS_stat),
        ALLOW_SYSTEM_CALL(SYS_lstat),
        ALLOW_SYSTEM_CALL(SYS_access),
        ALLOW_SYSTEM_CALL(SYS_readlink),
        ALLOW_SYSTEM_CALL(SYS_unlink),
#endif
        ALLOW_SYSTEM_CALL(SYS_openat), /* opens files, of the folder only by Landlock's rule */
        ALLOW_SYSTEM_CALL(SYS_newfstatat),
        ALLOW_SYSTEM_CALL(SYS_statx),
        ALLOW_SYSTEM_CALL(SYS_faccessat),
        ALLOW_SYSTEM_CALL(SYS_readlinkat),
        ALLOW_SYSTEM_CALL(SYS_unlinkat),
        ALLOW_SYSTEM_CALL(SYS_getdents64),
        ALLOW_SYSTEM_CALL(SYS_getcwd),
        ALLOW_SYSTEM_CALL(SYS_read), /* open files */
        ALLOW_SYSTEM_CALL(SYS_readv),
        ALLOW_SYSTEM_CALL(SYS_pread64),
        ALLOW_SYSTEM_CALL(SYS_write),
        ALLOW_SYSTEM_CALL(SYS_writev),
        ALLOW_SYSTEM_CALL(SYS_lseek),
        ALLOW_SYSTEM_CALL(SYS_fstat),
        ALLOW_SYSTEM_CALL(SYS_close),
        ALLOW_SYSTEM_CALL(SYS_brk), /* memory and threads */
        ALLOW_SYSTEM_CALL(SYS_mmap),
        ALLOW_SYSTEM_CALL(SYS_munmap),
        ALLOW_SYSTEM_CALL(SYS_mremap),
        ALLOW_SYSTEM_CALL(SYS_mprotect),
        ALLOW_SYSTEM_CALL(SYS_madvise),
        ALLOW_SYSTEM_CALL(SYS_futex),
        ALLOW_SYSTEM_CALL(SYS_set_robust_list),
        ALLOW_SYSTEM_CALL(SYS_rseq),
        ALLOW_SYSTEM_CALL(SYS_sched_yield),
        ALLOW_SYSTEM_CALL(SYS_getpid),
        ALLOW_SYSTEM_CALL(SYS_gettid),
        ALLOW_SYSTEM_CALL(SYS_getrandom),
        ALLOW_SYSTEM_CALL(SYS_getrusage),
        ALLOW_SYSTEM_CALL(SYS_times),
        ALLOW_SYSTEM_CALL(SYS_clock_gettime),
        ALLOW_SYSTEM_CALL(SYS_clock_nanosleep),
        ALLOW_SYSTEM_CALL(SYS_rt_sigaction),
        ALLOW_SYSTEM_CALL(SYS_rt_sigprocmask),
        ALLOW_SYSTEM_CALL(SYS_rt_sigreturn),
        ALLOW_SYSTEM_CALL(SYS_sigaltstack),
        ALLOW_SYSTEM_CALL(SYS_exit),
        ALLOW_SYSTEM_CALL(SYS_exit_group),
        /* clone3 is refused, as its arguments cannot be checked: glibc uses clone in its place */
        READER_SYSCALL_ACTION(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, CLONE_FLAGS_OFFSET),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog program = {sizeof folder_system_call_filter /
                                           sizeof *folder_system_call_filter,
                                       folder_system_call_filter};
    reader_limit_resource(RLIMIT_CORE, 0);
    return restrict_file_access_to_folder(path) ? -1 : reader_filter_system_calls(&program);
}
