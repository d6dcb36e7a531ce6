/* tact-mesh: reads a mesh file of a type that tact has no reader of its own for, by assimp, whose
 * importers are no wall against hostile files: this process has only its standard input, on which
 * the file comes, and its standard output, to which the triangles go as OBJ. Started by tact
 * import. */
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MOST_BYTES = 1 << 28, /* of the file */
    LEAST_SECONDS = 2,    /* of processor time that it may take in any case */
    BYTES_A_SECOND = 1 << 22,
};
#define MOST_MEMORY (4ull << 30) /* [bytes] */

#if defined __x86_64__
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define THIS_ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#error "the architecture of system calls is not known here"
#endif

static void limit_process_resource(int what, rlim_t most)
{
    const struct rlimit limit = {most, most};
    setrlimit((__rlimit_resource_t)what, &limit);
}

/* A file may take as long as it is large: some make the importers loop for ever. SIGXCPU ends it.
 */
static void limit_time(size_t size)
{
    const rlim_t seconds = LEAST_SECONDS + size / BYTES_A_SECOND;
    const struct rlimit limit = {seconds, seconds + 1};
    setrlimit(RLIMIT_CPU, &limit);
}

#define ALLOW(call)                                                                                \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* From here on only memory, the open files and the end are left: no file, socket, process or
 * program can be opened or started. Returns 0 or -1. */
static int close_process(void)
{
    static struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_read),
        ALLOW(SYS_write),
        ALLOW(SYS_close),
        ALLOW(SYS_fstat),
        ALLOW(SYS_lseek),
        ALLOW(SYS_brk),
        ALLOW(SYS_mmap),
        ALLOW(SYS_munmap),
        ALLOW(SYS_mremap),
        ALLOW(SYS_madvise),
        ALLOW(SYS_futex),
        ALLOW(SYS_getrandom),
        ALLOW(SYS_clock_gettime),
        ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_rt_sigprocmask),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    limit_process_resource(RLIMIT_CORE, 0);
    limit_process_resource(RLIMIT_AS, MOST_MEMORY);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
               ? -1
               : 0;
}

static char *read_input(size_t *size)
{
    size_t room = 1 << 16;
    char *data = malloc(room);
    *size = 0;
    for (ssize_t n; data && (n = read(0, data + *size, room - *size)) > 0;) {
        *size += (size_t)n;
        if (*size == room) {
            room *= 2;
            char *grown = room <= 2 * (size_t)MOST_BYTES ? realloc(data, room) : NULL;
            if (!grown) {
                free(data);
            }
            data = grown;
        }
    }
    return data;
}

/* Writes the triangles of all meshes. Returns their number. */
static size_t write_triangles(const struct aiScene *scene)
{
    size_t triangles = 0;
    unsigned first = 1;
    for (unsigned i = 0; i < scene->mNumMeshes; i++) {
        const struct aiMesh *mesh = scene->mMeshes[i];
        for (unsigned k = 0; k < mesh->mNumVertices; k++) {
            const struct aiVector3D *v = &mesh->mVertices[k];
            printf("v %.9g %.9g %.9g\n", (double)v->x, (double)v->y, (double)v->z);
        }
        for (unsigned k = 0; k < mesh->mNumFaces; k++) {
            const struct aiFace *face = &mesh->mFaces[k];
            if (face->mNumIndices == 3) {
                printf("f %u %u %u\n", first + face->mIndices[0], first + face->mIndices[1],
                       first + face->mIndices[2]);
                triangles++;
            }
        }
        first += mesh->mNumVertices;
    }
    return triangles;
}

int main(int argc, char **argv)
{
    size_t size = 0;
    if (argc == 3) {
        limit_time(strtoul(argv[2], NULL, 10));
    }
    if (argc != 3 || close_process()) {
        fputs("tact-mesh is started by tact import\n", stderr);
        return 2;
    }
    char *data = read_input(&size);
    /* the axes are those of the file */
    struct aiPropertyStore *settings = aiCreatePropertyStore();
    aiSetImportPropertyInteger(settings, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, 1);
    const struct aiScene *scene =
        data ? aiImportFileFromMemoryWithProperties(
                   data, (unsigned)size,
                   aiProcess_Triangulate | aiProcess_JoinIdenticalVertices |
                       aiProcess_PreTransformVertices | aiProcess_SortByPType,
                   argv[1], settings)
             : NULL;
    if (!scene) {
        fprintf(stderr, "%.200s\n", data ? aiGetErrorString() : "too large");
        return 1;
    }
    return write_triangles(scene) && !fflush(stdout) ? 0 : 1;
}
