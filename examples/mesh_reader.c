/* tact-mesh: reads a mesh file of a type that tact has no reader of its own for, by assimp, whose
 * importers are no wall against hostile files: this process has only its standard input, on which
 * the file comes, and its standard output, to which the triangles go as OBJ. Started by tact
 * import. */
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "reader_process.h"

#define MIN_CPU_SECONDS 2             /* processor time that any file may take [s] */
#define MAX_MEMORY_BYTES (4ull << 30) /* [bytes] */
#define ALLOW_SYSTEM_CALL(call) READER_SYSCALL_ACTION(call, SECCOMP_RET_ALLOW)

/* Restricts this process to its memory, its open files and its exit: it can then open no file or
 * socket, and start no process or program. Returns 0 or -1. */
static int sandbox_process(void)
{
    static struct sock_filter system_call_filter[] = {
        READER_SYSCALL_FILTER_BEGIN,
        ALLOW_SYSTEM_CALL(SYS_read),
        ALLOW_SYSTEM_CALL(SYS_write),
        ALLOW_SYSTEM_CALL(SYS_close),
        ALLOW_SYSTEM_CALL(SYS_fstat),
        ALLOW_SYSTEM_CALL(SYS_lseek),
        ALLOW_SYSTEM_CALL(SYS_brk),
        ALLOW_SYSTEM_CALL(SYS_mmap),
        ALLOW_SYSTEM_CALL(SYS_munmap),
        ALLOW_SYSTEM_CALL(SYS_mremap),
        ALLOW_SYSTEM_CALL(SYS_madvise),
        ALLOW_SYSTEM_CALL(SYS_futex),
        ALLOW_SYSTEM_CALL(SYS_getrandom),
        ALLOW_SYSTEM_CALL(SYS_clock_gettime),
        ALLOW_SYSTEM_CALL(SYS_rt_sigreturn),
        ALLOW_SYSTEM_CALL(SYS_rt_sigprocmask),
        ALLOW_SYSTEM_CALL(SYS_exit),
        ALLOW_SYSTEM_CALL(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog program = {sizeof system_call_filter / sizeof *system_call_filter,
                                       system_call_filter};
    reader_limit_resource(RLIMIT_CORE, 0);
    reader_limit_resource(RLIMIT_AS, MAX_MEMORY_BYTES);
    return reader_filter_system_calls(&program);
}

/* Writes the triangles of all meshes. Returns their number. */
static size_t write_triangles_of_meshes(const struct aiScene *scene)
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
        reader_limit_cpu_time(strtoul(argv[2], NULL, 10), MIN_CPU_SECONDS);
    }
    if (argc != 3 || sandbox_process()) {
        fputs("tact-mesh reads mesh files for tact import, which starts it\n", stderr);
        return 2;
    }
    char *data = reader_read_input(&size);
    /* coordinates are written in the axes of the file */
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
    return write_triangles_of_meshes(scene) && !fflush(stdout) ? 0 : 1;
}
