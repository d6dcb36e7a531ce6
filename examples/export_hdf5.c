/* A log as HDF5: a dataset a field, [ticks] or [ticks, elements], with its unit and kind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <hdf5.h>
#include "export.h"

#define ROWS_PER_WRITE 1024 /* rows that are written at once; also the size of HDF5's chunks */

struct hdf5_tables {
    hid_t file;
    hid_t *set; /* one dataset for each field, then tick, stamp_ns and time */
    const struct export_names *names;
    const struct tact_layout *layout;
    struct tact_record *record;
    double *rows; /* ROWS_PER_WRITE of each field, one field after the other */
    uint64_t tick[ROWS_PER_WRITE];
    int64_t stamp[ROWS_PER_WRITE];
    double time[ROWS_PER_WRITE];
    hsize_t used, done;
};

static int write_text_attribute(hid_t at, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t a = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    int rc = a < 0 || H5Awrite(a, type, &text) < 0 ? -EIO : 0;
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
    return rc;
}

/* Names of a field's elements, in their order. */
static int write_element_names(hid_t at, const struct tact_field *f,
                               const struct export_names *names)
{
    hsize_t count = f->count;
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &count, NULL);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t a = H5Acreate2(at, "elements", type, space, H5P_DEFAULT, H5P_DEFAULT);
    int rc = a < 0 || H5Awrite(a, type, names->element_name + f->offset) < 0 ? -EIO : 0;
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
    return rc;
}

static hid_t create_dataset(hid_t file, const char *name, hid_t type, hsize_t rows, hsize_t columns)
{
    hsize_t size[2] = {rows, columns},
            chunk[2] = {rows < ROWS_PER_WRITE ? rows : ROWS_PER_WRITE, columns};
    int data_set_rank = columns > 1 ? 2 : 1;
    hid_t space = H5Screate_simple(data_set_rank, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, data_set_rank, chunk);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, 1);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    H5Pclose(how);
    H5Sclose(space);
    return set;
}

/* Appends the block of rows to the dataset. */
static int write_dataset_rows(const struct hdf5_tables *o, hid_t set, hid_t type, hsize_t columns,
                              const void *data)
{
    hsize_t start[2] = {o->done, 0}, size[2] = {o->used, columns};
    hid_t to = H5Dget_space(set);
    hid_t from = H5Screate_simple(columns > 1 ? 2 : 1, size, NULL);
    int rc = H5Sselect_hyperslab(to, H5S_SELECT_SET, start, NULL, size, NULL) < 0 ||
                     H5Dwrite(set, type, from, to, H5P_DEFAULT, data) < 0
                 ? -EIO
                 : 0;
    H5Sclose(from);
    H5Sclose(to);
    return rc;
}

static int flush_table_rows(struct hdf5_tables *o)
{
    uint32_t count = o->layout->field_count;
    int rc = 0;
    for (uint32_t i = 0; !rc && o->used && i < count; i++) {
        const struct tact_field *f = &o->layout->fields[i];
        rc = write_dataset_rows(o, o->set[i], H5T_NATIVE_DOUBLE, f->count,
                                o->rows + (size_t)f->offset * ROWS_PER_WRITE);
    }
    if (!rc && o->used) {
        rc = write_dataset_rows(o, o->set[count], H5T_NATIVE_UINT64, 1, o->tick);
        rc = rc ? rc : write_dataset_rows(o, o->set[count + 1], H5T_NATIVE_INT64, 1, o->stamp);
        rc = rc ? rc : write_dataset_rows(o, o->set[count + 2], H5T_NATIVE_DOUBLE, 1, o->time);
    }
    o->done += o->used;
    o->used = 0;
    return rc;
}

static void append_record_to_tables(struct hdf5_tables *o)
{
    for (uint32_t i = 0; i < o->layout->field_count; i++) {
        const struct tact_field *f = &o->layout->fields[i];
        memcpy(o->rows + (size_t)f->offset * ROWS_PER_WRITE + o->used * f->count,
               o->record->values + f->offset, f->count * sizeof(double));
    }
    o->tick[o->used] = o->record->tick;
    o->time[o->used] = (double)o->record->tick * o->names->period;
    o->stamp[o->used++] = o->record->stamp_ns;
}

static int create_hdf5_file(struct hdf5_tables *o, const struct tact_log *log, const char *path)
{
    static const char *const kinds[] = {"input", "output", "timing"};
    uint32_t count = o->layout->field_count;
    hsize_t rows = tact_log_state(log)->ticks;
    int rc = 0;
    o->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (o->file < 0) {
        return errno ? -errno : -EIO;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct tact_field *f = &o->layout->fields[i];
        o->set[i] = create_dataset(o->file, f->name, H5T_IEEE_F64LE, rows, f->count);
        rc = rc || o->set[i] < 0 ? -EIO : write_text_attribute(o->set[i], "unit", f->unit);
        rc = rc ? rc : write_text_attribute(o->set[i], "kind", kinds[f->kind]);
        rc = rc || !o->names->element_name[f->offset] ? rc
                                                      : write_element_names(o->set[i], f, o->names);
    }
    o->set[count] = create_dataset(o->file, "tick", H5T_STD_U64LE, rows, 1);
    o->set[count + 1] = create_dataset(o->file, "stamp_ns", H5T_STD_I64LE, rows, 1);
    o->set[count + 2] = create_dataset(o->file, o->names->time, H5T_IEEE_F64LE, rows, 1);
    rc = rc || o->set[count] < 0 || o->set[count + 1] < 0 || o->set[count + 2] < 0 ? -EIO : 0;
    rc = rc ? rc : write_text_attribute(o->set[count + 1], "unit", "ns, CLOCK_MONOTONIC");
    rc = rc ? rc
            : write_text_attribute(o->set[count + 2], "unit", "s, of the scene: tick times period");
    for (size_t i = 0; !rc && i < tact_log_fact_count(log); i++) {
        const struct tact_log_fact *f = tact_log_fact_at(log, i);
        rc = write_text_attribute(o->file, f->key, f->value);
    }
    return rc;
}

static int fill_tables_from_log(struct hdf5_tables *o, struct tact_log *log)
{
    int rc = 1;
    while (rc > 0 && (rc = tact_log_next(log, o->record)) > 0) {
        append_record_to_tables(o);
        if (o->used == ROWS_PER_WRITE && flush_table_rows(o)) {
            rc = -EIO;
        }
    }
    return rc ? rc : flush_table_rows(o);
}

int export_hdf5(struct tact_log *log, const struct export_names *names, struct output *out,
                struct tact_error *err)
{
    const struct tact_layout *layout = tact_log_layout(log);
    struct hdf5_tables *o = calloc(1, sizeof *o);
    int rc = -ENOMEM;
    if (o) {
        o->layout = layout;
        o->names = names;
        o->record = malloc(tact_layout_bytes(layout));
        o->rows = malloc(ROWS_PER_WRITE * sizeof(double) * layout->size);
        o->set = calloc((size_t)layout->field_count + 3, sizeof *o->set);
        rc = o->record && o->rows && o->set ? 0 : -ENOMEM;
    }
    H5dont_atexit();                       /* HDF5's cleanup crashes after a failed write */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* errors are reported once, by the caller */
    errno = 0;
    rc = rc ? rc : (out->temporary_path ? create_hdf5_file(o, log, out->temporary_path) : -ESPIPE);
    rc = rc ? rc : fill_tables_from_log(o, log);
    for (uint32_t i = 0; o && o->set && i < layout->field_count + 3; i++) {
        if (o->set[i] > 0) {
            H5Dclose(o->set[i]);
        }
    }
    if (o && o->file > 0 && H5Fclose(o->file) < 0 && !rc) {
        rc = -EIO;
    }
    if (o) {
        free(o->record);
        free(o->rows);
        free(o->set);
    }
    free(o);
    /* HDF5 does not report the cause; a write to the disk does. */
    rc = rc == -EIO && errno ? -errno : rc;
    return rc ? tact_error_set(err, rc, "%s", strerror(-rc)) : 0;
}
