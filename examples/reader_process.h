/* What the programs that read files of foreign types have in common: each is a process that has
 * little but the file, as the libraries that it uses are no wall against hostile files. */
#ifndef TACT_EXAMPLES_READER_PROCESS_H
#define TACT_EXAMPLES_READER_PROCESS_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { READER_MOST_BYTES = 1 << 28 /* maximum size of a file [bytes] */ };

#if defined __x86_64__
#define READER_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define READER_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define READER_ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#error "the sandbox has no list of system calls for this processor architecture"
#endif

/* Beginning of a filter of system calls: ends the process where they are of another architecture,
 * and loads their number. */
#define READER_SYSCALL_FILTER_BEGIN                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),                       \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, READER_ARCHITECTURE, 1, 0),                            \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),                                       \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))

/* The part of a filter that takes this action at a system call. */
#define READER_SYSCALL_ACTION(call, action)                                                        \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, (action))

void reader_limit_resource(int what, rlim_t most);

/* Limits the processor time by the size of the file, as some files make the importers loop for
 * ever. SIGXCPU ends the process. */
void reader_limit_cpu_time(size_t size, unsigned min_cpu_time_limit_seconds);

/* Filters all further system calls. Returns 0 or -1. */
int reader_filter_system_calls(const struct sock_fprog *program);

/* From here on the process has the contents of the files of the folder, its open files, threads,
 * memory and its end: no other call is permitted, as those that change or signal what is elsewhere,
 * which Landlock does not cover, have grown with every kernel. Returns 0 or -1. */
int reader_confine_to_folder(const char *path);

/* All of standard input, to be freed; NULL where it is larger than READER_MOST_BYTES or cannot be
 * read to its end. */
char *reader_read_input(size_t *size);

#endif
