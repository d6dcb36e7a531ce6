#include "board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fail_unless_success(const char *command)
{
    if (system(command) != 0) {
        fprintf(stderr, "board: this failed: %s\n", command);
        exit(1);
    }
}

void set_up_boards(void)
{
    if (!getenv("TACT_VM")) {
        puts("skipped: for a virtual machine only, see tests/vm/run");
        exit(77);
    }
    fail_unless_success(
        "modprobe comedi comedi_num_legacy_minors=4 && modprobe comedi_test noauto=1 && "
        "modprobe comedi_parport");
    attach_board_driver("/dev/comedi0", "comedi_test 2000000,50000");
    attach_board_driver("/dev/comedi1", "comedi_test 2000000,50000");
}

void attach_board_driver(const char *node, const char *driver)
{
    char command[160];
    snprintf(command, sizeof command, "comedi_config %s %s %s", driver ? "" : "-r", node,
             driver ? driver : "");
    fail_unless_success(command);
}

static int find_descriptor_of_node(int pid, const char *node)
{
    char path[64];
    char target[64];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    int found = -1;
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);
        if (n > 0) {
            target[n] = '\0';
            found = strcmp(target, node) == 0 ? atoi(entry->d_name) : found;
        }
    }
    if (dir) {
        closedir(dir);
    }
    return found;
}

int open_channels_of_process(int pid, const char *node)
{
    int fd = find_descriptor_of_node(pid ? pid : getpid(), node);
    if (fd < 0) {
        return -1;
    }
    if (!pid) {
        return dup(fd);
    }
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    int copied_fd = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
    close(process);
    return copied_fd;
}

int find_guard_process(void)
{
    return find_guard_process_of_node(NULL);
}

int find_guard_process_of_node(const char *node)
{
    DIR *dir = opendir("/proc");
    int found = 0;
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[300];
        char name[32] = "";
        char state = 'Z';
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = atoi(entry->d_name) > 0 ? fopen(path, "re") : NULL;
        if (file && fscanf(file, "%*d (%31[^)]) %c", name, &state) == 2 &&
            strcmp(name, "tact-guard") == 0 && state != 'Z' &&
            (!node || find_descriptor_of_node(atoi(entry->d_name), node) >= 0)) {
            found = atoi(entry->d_name);
        }
        if (file) {
            fclose(file);
        }
    }
    closedir(dir);
    return found;
}

static void send_board_instruction(int fd, unsigned int kind, unsigned int subdevice,
                                   unsigned int channel, lsampl_t *data)
{
    comedi_insn insn = {.insn = kind,
                        .n = 1,
                        .data = data,
                        .subdev = subdevice,
                        .chanspec = CR_PACK(channel, 0, AREF_GROUND)};
    if (ioctl(fd, COMEDI_INSN, &insn) < 0) {
        fprintf(stderr, "board: instruction: %s\n", strerror(errno));
        exit(1);
    }
}

void write_board_channel(int fd, unsigned int subdevice, unsigned int channel, lsampl_t raw)
{
    send_board_instruction(fd, INSN_WRITE, subdevice, channel, &raw);
}

lsampl_t read_board_channel(int fd, unsigned int subdevice, unsigned int channel)
{
    lsampl_t raw = 0;
    send_board_instruction(fd, INSN_READ, subdevice, channel, &raw);
    return raw;
}

long read_board_output(const char *node, unsigned int channel)
{
    lsampl_t raw = 0;
    comedi_t *dev = comedi_open(node);
    /* The output is read through the input that it is wired to, as outputs may be locked. */
    long value =
        dev && comedi_data_read(dev, 0, channel, 0, AREF_GROUND, &raw) >= 0 ? (long)raw : -1;
    if (dev) {
        comedi_close(dev);
    }
    return value;
}
