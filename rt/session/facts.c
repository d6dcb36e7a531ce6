/* Facts about the machine, kernel, libraries and build. */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "contact/version.h"
#include "rt/session/facts.h"

static void read_cpu_model(char *out, size_t size)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
    snprintf(out, size, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        char *colon_position = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon_position) {
            colon_position[strcspn(colon_position, "\n")] = 0;
            snprintf(out, size, "%s", colon_position + 2);
            break;
        }
    }
    if (f) {
        fclose(f);
    }
}

/* The file that contains a symbol of this process, links resolved. */
static void find_library_of_symbol(const char *symbol, char *out, size_t size)
{
    Dl_info info;
    char resolved_library_path[4096];
    void *at = dlsym(RTLD_DEFAULT, symbol);
    snprintf(out, size, "unknown");
    if (at && dladdr(at, &info) && info.dli_fname) {
        const char *path = realpath(info.dli_fname, resolved_library_path);
        snprintf(out, size, "%s", path ? path : info.dli_fname);
    }
}

/* Searches the build id of the object that contains this function. */
struct build_id {
    uintptr_t address_in_library;
    char *out;
    size_t size;
};

static void format_build_id(const struct build_id *id, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count && 2 * i + 2 < id->size; i++) {
        snprintf(id->out + 2 * i, 3, "%02x", bytes[i]);
    }
}

/* Notes: three words, then a name and a content, each padded to words. */
static void find_build_id_in_notes(const struct build_id *id, const char *at,
                                   size_t remaining_bytes)
{
    ElfW(Nhdr) note;
    while (remaining_bytes >= sizeof note) {
        memcpy(&note, at, sizeof note);
        size_t name = (note.n_namesz + 3) & ~(size_t)3,
               note_size = name + ((note.n_descsz + 3) & ~(size_t)3);
        if (note_size > remaining_bytes - sizeof note) {
            return;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            !memcmp(at + sizeof note, "GNU", 4)) {
            format_build_id(id, (const unsigned char *)at + sizeof note + name, note.n_descsz);
        }
        at += sizeof note + note_size;
        remaining_bytes -= sizeof note + note_size;
    }
}

static int find_build_id_of_library(struct dl_phdr_info *info, size_t size, void *user)
{
    const struct build_id *id = user;
    int is_library_of_symbol = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        is_library_of_symbol |= p->p_type == PT_LOAD &&
                                id->address_in_library - info->dlpi_addr - p->p_vaddr < p->p_memsz;
    }
    for (int i = 0; is_library_of_symbol && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_NOTE) {
            find_build_id_in_notes(id, (const char *)(info->dlpi_addr + p->p_vaddr), p->p_memsz);
        }
    }
    return is_library_of_symbol;
}

int tact_results_version(void)
{
    return TACT_RESULTS_VERSION;
}

int tact_log_results_version(const struct tact_log *log)
{
    const char *text = tact_log_fact(log, "results_version");
    if (!text) {
        return 1;
    }
    int is_positive_whole_number = text[0] >= '1' && text[0] <= '9' && strlen(text) < 10 &&
                                   text[strspn(text, "0123456789")] == 0;
    return is_positive_whole_number ? (int)strtol(text, NULL, 10) : 0;
}

void tact_facts_gather(struct tact_facts *f)
{
    struct utsname os;
    memset(f, 0, sizeof *f);
    read_cpu_model(f->cpu, sizeof f->cpu);
    snprintf(f->build_id, sizeof f->build_id, "unknown");
    dl_iterate_phdr(find_build_id_of_library, &(struct build_id){(uintptr_t)&tact_facts_gather,
                                                                 f->build_id, sizeof f->build_id});
    snprintf(f->libc, sizeof f->libc, "glibc %s", gnu_get_libc_version());
    if (!uname(&os)) {
        snprintf(f->kernel, sizeof f->kernel, "%s %s", os.release, os.version);
        snprintf(f->machine, sizeof f->machine, "%s", os.machine);
    }
    find_library_of_symbol("Sleef_cinz_sind1_u10purec", f->sleef, sizeof f->sleef);
    find_library_of_symbol("dpotrf_", f->lapack, sizeof f->lapack);
    find_library_of_symbol("dsyrk_", f->blas, sizeof f->blas);
    snprintf(f->build, sizeof f->build, "tact %s, %s %s", TACT_VERSION,
#ifdef __clang__
             "clang",
#else
             "gcc",
#endif
             __VERSION__);
}
