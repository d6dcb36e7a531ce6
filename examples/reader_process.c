#include "reader_process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define MIN_BYTES_PER_CPU_SECOND (1u << 22)

void reader_limit_resource(int what, rlim_t most)
{
    const struct rlimit limit = {most, most};
    setrlimit((__rlimit_resource_t)what, &limit);
}

void reader_limit_cpu_time(size_t size, unsigned min_cpu_time_limit_seconds)
{
    const rlim_t seconds = min_cpu_time_limit_seconds + size / MIN_BYTES_PER_CPU_SECOND;
    const struct rlimit limit = {seconds, seconds + 1};
    setrlimit(RLIMIT_CPU, &limit);
}

int reader_filter_system_calls(const struct sock_fprog *program)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)
               ? -1
               : 0;
}

char *reader_read_input(size_t *size)
{
    size_t room = 1 << 16;
    char *data = malloc(room);
    *size = 0;
    ssize_t n = 1;
    while (data && n != 0 && *size <= READER_MOST_BYTES) {
        n = read(0, data + *size, room - *size);
        if (n < 0 && errno != EINTR) {
            break;
        }
        *size += n > 0 ? (size_t)n : 0;
        if (*size == room) {
            room *= 2;
            char *larger_input_buffer = realloc(data, room);
            if (!larger_input_buffer) {
                free(data);
            }
            data = larger_input_buffer;
        }
    }
    if (n != 0) { /* the input is larger than READER_MOST_BYTES, or could not be read to its end */
        free(data);
        data = NULL;
    }
    return data;
}
