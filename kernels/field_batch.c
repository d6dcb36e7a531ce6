#include "kernels/field_batch_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields_cl.h"
#include "kernels/field_layout_internal.h"

/* Arguments of the kernel, in its order; those of COUNTS are numbers. */
enum field_buffer {
    FIELD_BUFFER,
    VERTEX_BUFFER,
    PRESSURE_BUFFER,
    FACE_BUFFER,
    CELL_BUFFER,
    ROOT_BUFFER,
    PAIR_BUFFER,
    CANDIDATE_BUFFER,
    CANDIDATE_COUNT_ARGUMENT,
    POLYGON_CAPACITY_ARGUMENT,
    RESULT_BUFFER,
    POLYGON_COUNT_BUFFER,
    CUT_BUFFER,
    KERNEL_ARGUMENT_COUNT,
};

struct tact_field_batch {
    struct tact_field_program *program;
    const struct tact_pressure_field **fields;
    struct device_field *device_fields;
    struct tact_field_cutter_scene scene; /* its fields are those above */
    struct device_pair *pairs;
    struct device_candidate *candidates;
    struct tact_field_cuts **gathered; /* the pair of fields of each of `pairs` */
    size_t pair_count, candidate_count;
    cl_uint polygon_count; /* number of polygons of the last run */
    int32_t *results;
    struct field_cut *cuts;
    cl_mem buffers[KERNEL_ARGUMENT_COUNT];
};

int tact_field_program_open(const struct tact_cl_device_request *request,
                            struct tact_field_program *program, struct tact_error *err)
{
    char options[160];
    cl_int code = CL_SUCCESS;
    program->cut_cells = NULL;
    int rc = tact_cl_open_device(request, &program->cl, err);
    if (rc) {
        return rc;
    }
    snprintf(options, sizeof options,
             "-cl-std=CL1.2 -DTACT_CELL_BYTES=%zu -DTACT_NODE_BYTES=%zu -DTACT_CUT_BYTES=%zu %s",
             sizeof(struct field_cell), sizeof(struct field_node), sizeof(struct field_cut),
             request->fault ? "-DTACT_FAULT" : "");
    rc = tact_cl_build_program(&program->cl, fields_cl, options, err);
    if (!rc) {
        program->cut_cells = clCreateKernel(program->cl.program, "cut_cells", &code);
        rc = code == CL_SUCCESS ? 0 : tact_cl_set_error(err, code, "creating cut_cells");
    }
    if (rc) {
        tact_field_program_close(program);
    }
    return rc;
}

void tact_field_program_close(struct tact_field_program *program)
{
    if (program->cut_cells) {
        clReleaseKernel(program->cut_cells);
    }
    program->cut_cells = NULL;
    tact_cl_close(&program->cl);
}

/* Sets where the arrays of each field are among those of all; *all: the sums of their lengths. */
static int lay_out_fields(struct tact_field_batch *b, struct tact_pressure_field *all,
                          struct tact_error *err)
{
    memset(all, 0, sizeof *all);
    for (uint32_t i = 0; i < b->scene.field_count; i++) {
        const struct tact_pressure_field *f = b->fields[i];
        b->device_fields[i] = (struct device_field){
            .power = f->power,
            .size = f->size,
            .kind = (uint32_t)f->kind,
            .is_rigid = (uint32_t)f->is_rigid,
            .first_vertex_of_field = (uint32_t)all->vertex_count,
            .first_face = (uint32_t)all->face_count,
            .first_cell = (uint32_t)all->cell_count,
            .root = i,
        };
        all->vertex_count += f->vertex_count;
        all->face_count += f->face_count;
        all->cell_count += f->cell_count;
        if (all->vertex_count > UINT32_MAX || all->face_count > UINT32_MAX ||
            all->cell_count > UINT32_MAX) {
            return tact_error_set(err, -EINVAL,
                                  "the pressure fields have too many cells for the 32-bit indices "
                                  "of the OpenCL kernel");
        }
    }
    return 0;
}

static void copy_fields(const struct tact_field_batch *b, const struct tact_pressure_field *all)
{
    for (uint32_t i = 0; i < b->scene.field_count; i++) {
        const struct tact_pressure_field *f = b->fields[i];
        const struct device_field *at = &b->device_fields[i];
        memcpy(all->cells + at->first_cell, f->cells, f->cell_count * sizeof *f->cells);
        if (f->vertex_count) {
            memcpy(all->vertices + 3 * (size_t)at->first_vertex_of_field, f->vertices,
                   3 * f->vertex_count * sizeof *f->vertices);
        }
        if (f->pressure) {
            memcpy(all->pressure + at->first_vertex_of_field, f->pressure,
                   f->vertex_count * sizeof *f->pressure);
        }
        if (f->face_count) {
            memcpy(all->faces + at->first_face, f->faces, f->face_count * sizeof *f->faces);
        }
        if (f->node_count) {
            all->nodes[i] = f->nodes[0];
        }
    }
}

/* Creates a buffer of `count` elements, at least one; data: its contents, or NULL. */
static void create_field_buffer(struct tact_field_batch *b, enum field_buffer buffer, size_t count,
                                size_t bytes, void *data, cl_int *code)
{
    const cl_mem_flags flags =
        data ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
    if (*code == CL_SUCCESS) {
        b->buffers[buffer] =
            clCreateBuffer(b->program->cl.context, flags, (count ? count : 1) * bytes, data, code);
    }
}

static int upload_fields(struct tact_field_batch *b, struct tact_error *err)
{
    struct tact_pressure_field all;
    cl_int code = CL_SUCCESS;
    int rc = lay_out_fields(b, &all, err);
    if (rc) {
        return rc;
    }
    all.vertices = calloc(3 * all.vertex_count + 1, sizeof *all.vertices);
    all.pressure = calloc(all.vertex_count + 1, sizeof *all.pressure);
    all.faces = calloc(all.face_count + 1, sizeof *all.faces);
    all.cells = calloc(all.cell_count + 1, sizeof *all.cells);
    all.nodes = calloc(b->scene.field_count + (size_t)1, sizeof *all.nodes);
    if (!all.vertices || !all.pressure || !all.faces || !all.cells || !all.nodes) {
        rc = tact_error_set(err, -ENOMEM, "no memory for the pressure fields");
    } else {
        copy_fields(b, &all);
        create_field_buffer(b, FIELD_BUFFER, b->scene.field_count, sizeof *b->device_fields,
                            b->device_fields, &code);
        create_field_buffer(b, VERTEX_BUFFER, 3 * all.vertex_count, sizeof *all.vertices,
                            all.vertices, &code);
        create_field_buffer(b, PRESSURE_BUFFER, all.vertex_count, sizeof *all.pressure,
                            all.pressure, &code);
        create_field_buffer(b, FACE_BUFFER, all.face_count, sizeof *all.faces, all.faces, &code);
        create_field_buffer(b, CELL_BUFFER, all.cell_count, sizeof *all.cells, all.cells, &code);
        create_field_buffer(b, ROOT_BUFFER, b->scene.field_count, sizeof *all.nodes, all.nodes,
                            &code);
        rc = code == CL_SUCCESS ? 0 : tact_cl_set_error(err, code, "uploading pressure fields");
    }
    free(all.vertices);
    free(all.pressure);
    free(all.faces);
    free(all.cells);
    free(all.nodes);
    return rc;
}

static int set_kernel_arguments(struct tact_field_batch *b, struct tact_error *err)
{
    const struct tact_field_cutter_scene *s = &b->scene;
    const cl_uint polygon_capacity = s->polygon_capacity;
    cl_int code = CL_SUCCESS;
    create_field_buffer(b, PAIR_BUFFER, s->pair_capacity, sizeof *b->pairs, NULL, &code);
    create_field_buffer(b, CANDIDATE_BUFFER, s->candidate_capacity, sizeof *b->candidates, NULL,
                        &code);
    create_field_buffer(b, RESULT_BUFFER, s->candidate_capacity, sizeof *b->results, NULL, &code);
    create_field_buffer(b, POLYGON_COUNT_BUFFER, 1, sizeof(cl_uint), NULL, &code);
    create_field_buffer(b, CUT_BUFFER, s->polygon_capacity, sizeof *b->cuts, NULL, &code);
    for (cl_uint i = 0; i < KERNEL_ARGUMENT_COUNT && code == CL_SUCCESS; i++) {
        if (i == POLYGON_CAPACITY_ARGUMENT) {
            code = clSetKernelArg(b->program->cut_cells, i, sizeof polygon_capacity,
                                  &polygon_capacity);
        } else if (i != CANDIDATE_COUNT_ARGUMENT) {
            code = clSetKernelArg(b->program->cut_cells, i, sizeof(cl_mem), &b->buffers[i]);
        }
    }
    return code == CL_SUCCESS
               ? 0
               : tact_cl_set_error(err, code, "allocating buffers for pressure fields");
}

int tact_field_batch_create(struct tact_field_program *program,
                            const struct tact_field_cutter_scene *scene,
                            struct tact_field_batch **out, struct tact_error *err)
{
    struct tact_field_batch *b = calloc(1, sizeof *b);
    *out = b;
    if (!b) {
        return tact_error_set(err, -ENOMEM, "no memory");
    }
    b->program = program;
    b->scene = *scene;
    b->fields = calloc(scene->field_count + (size_t)1, sizeof *b->fields);
    b->device_fields = calloc(scene->field_count + (size_t)1, sizeof *b->device_fields);
    b->pairs = calloc(scene->pair_capacity, sizeof *b->pairs);
    b->gathered = calloc(scene->pair_capacity, sizeof *b->gathered);
    b->candidates = calloc(scene->candidate_capacity, sizeof *b->candidates);
    b->results = calloc(scene->candidate_capacity, sizeof *b->results);
    b->cuts = calloc(scene->polygon_capacity, sizeof *b->cuts);
    int rc = b->fields && b->device_fields && b->pairs && b->gathered && b->candidates &&
                     b->results && b->cuts
                 ? 0
                 : tact_error_set(err, -ENOMEM, "no memory");
    if (!rc && scene->field_count) {
        memcpy(b->fields, scene->fields, scene->field_count * sizeof *b->fields);
    }
    rc = rc ? rc : upload_fields(b, err);
    rc = rc ? rc : set_kernel_arguments(b, err);
    if (rc) {
        tact_field_batch_destroy(b);
        *out = NULL;
    }
    return rc;
}

void tact_field_batch_destroy(struct tact_field_batch *b)
{
    if (!b) {
        return;
    }
    for (int i = 0; i < KERNEL_ARGUMENT_COUNT; i++) {
        if (b->buffers[i]) {
            clReleaseMemObject(b->buffers[i]);
        }
    }
    free(b->fields);
    free(b->device_fields);
    free(b->pairs);
    free(b->gathered);
    free(b->candidates);
    free(b->results);
    free(b->cuts);
    free(b);
}

/* Index of a field; that of none: the number of fields. */
static uint32_t find_index_of_field(const struct tact_field_batch *b,
                                    const struct tact_pressure_field *field)
{
    uint32_t i = 0;
    while (i < b->scene.field_count && b->fields[i] != field) {
        i++;
    }
    return i;
}

/* Adds a pair of fields and its candidates to the frame, as far as there is room. */
static void add_field_pair_to_frame(struct tact_field_batch *b, struct tact_field_cuts *cuts)
{
    const uint32_t index_of_first_field = find_index_of_field(b, cuts->pair.a),
                   index_of_second_field = find_index_of_field(b, cuts->pair.b);
    const size_t room = b->scene.candidate_capacity - b->candidate_count;
    cuts->count = cuts->count < room ? cuts->count : room;
    if (!cuts->count || b->pair_count == b->scene.pair_capacity ||
        index_of_first_field == b->scene.field_count ||
        index_of_second_field == b->scene.field_count) {
        return;
    }
    struct device_pair *pair = &b->pairs[b->pair_count];
    memcpy(pair->rotation, cuts->pair.rotation, sizeof pair->rotation);
    memcpy(pair->shift, cuts->pair.shift, sizeof pair->shift);
    pair->a = index_of_first_field;
    pair->b = index_of_second_field;
    for (size_t i = 0; i < cuts->count; i++) {
        b->candidates[b->candidate_count++] = (struct device_candidate){
            (uint32_t)b->pair_count, cuts->candidate[i].a, cuts->candidate[i].b};
    }
    b->gathered[b->pair_count++] = cuts;
}

/* Launches the kernel for the gathered candidates and reads its results. Returns the OpenCL code.
 */
static cl_int compute_polygons(struct tact_field_batch *b)
{
    const struct tact_cl_opened_device *cl = &b->program->cl;
    static const cl_uint zero = 0;
    const cl_uint candidate_count = (cl_uint)b->candidate_count;
    const size_t rounded_work_item_count =
        (b->candidate_count + cl->group - 1) / cl->group * cl->group;
    cl_int code = clSetKernelArg(b->program->cut_cells, CANDIDATE_COUNT_ARGUMENT,
                                 sizeof candidate_count, &candidate_count);
    if (code == CL_SUCCESS) {
        code = clEnqueueWriteBuffer(cl->queue, b->buffers[PAIR_BUFFER], CL_FALSE, 0,
                                    b->pair_count * sizeof *b->pairs, b->pairs, 0, NULL, NULL);
    }
    if (code == CL_SUCCESS) {
        code = clEnqueueWriteBuffer(cl->queue, b->buffers[CANDIDATE_BUFFER], CL_FALSE, 0,
                                    b->candidate_count * sizeof *b->candidates, b->candidates, 0,
                                    NULL, NULL);
    }
    if (code == CL_SUCCESS) {
        code = clEnqueueWriteBuffer(cl->queue, b->buffers[POLYGON_COUNT_BUFFER], CL_FALSE, 0,
                                    sizeof zero, &zero, 0, NULL, NULL);
    }
    if (code == CL_SUCCESS) {
        code = clEnqueueNDRangeKernel(cl->queue, b->program->cut_cells, 1, NULL,
                                      &rounded_work_item_count, &cl->group, 0, NULL, NULL);
    }
    if (code == CL_SUCCESS) {
        code =
            clEnqueueReadBuffer(cl->queue, b->buffers[RESULT_BUFFER], CL_FALSE, 0,
                                b->candidate_count * sizeof *b->results, b->results, 0, NULL, NULL);
    }
    if (code == CL_SUCCESS) {
        code = clEnqueueReadBuffer(cl->queue, b->buffers[POLYGON_COUNT_BUFFER], CL_TRUE, 0,
                                   sizeof b->polygon_count, &b->polygon_count, 0, NULL, NULL);
    }
    if (b->polygon_count > b->scene.polygon_capacity) {
        b->polygon_count = b->scene.polygon_capacity;
    }
    if (code == CL_SUCCESS && b->polygon_count) {
        code = clEnqueueReadBuffer(cl->queue, b->buffers[CUT_BUFFER], CL_TRUE, 0,
                                   b->polygon_count * sizeof *b->cuts, b->cuts, 0, NULL, NULL);
    }
    return code;
}

int tact_field_batch_run(struct tact_field_batch *b, struct tact_field_cuts *const *cuts,
                         size_t count)
{
    const int32_t *results = b->results;
    b->pair_count = b->candidate_count = 0;
    for (size_t i = 0; i < count; i++) {
        add_field_pair_to_frame(b, cuts[i]);
    }
    if (!b->candidate_count) {
        return 0;
    }
    if (compute_polygons(b) != CL_SUCCESS) {
        clFinish(b->program->cl.queue);
        return -EIO;
    }
    for (size_t i = 0; i < b->pair_count; i++) {
        tact_field_cuts_set(b->gathered[i], results, b->cuts, b->polygon_count);
        results += b->gathered[i]->count;
    }
    return 0;
}
