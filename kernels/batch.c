#include "kernels/batch_internal.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/opencl_internal.h"
#include "rt/clock.h"

/* In single precision, a volume below this fraction of the sum of its terms' magnitudes is
 * measured on the host. */
#define MIN_VOLUME_TO_TERMS_RATIO 0.02

enum device_buffer_index {
    VERTEX_BUFFER,
    TRIANGLE_BUFFER,
    ITEM_BUFFER,
    PAIR_VALUES_BUFFER,
    SUMMATION_RANGE_BUFFER, /* items of each chunk, then chunks of each pair */
    PARTIAL_SUMS_BUFFER,
    CHUNK_SUMS_BUFFER,
    RESULT_BUFFER,
    DEVICE_BUFFER_COUNT,
};

struct tact_opencl_moments_batch {
    struct tact_cl_opened_device *cl;
    struct tact_source_scene scene; /* the source's scene, whose arrays belong to the caller */
    uint32_t pair_count;
    uint32_t mesh_count;
    struct tact_batch_mesh *meshes;
    uint32_t *mesh_index_of_shape; /* index into `meshes` for every shape that has a mesh */
    struct tact_batch_pair *pairs;
    struct tact_work_items items;
    uint32_t first_item_of_kernel[TACT_CL_ITEM_KERNEL_COUNT + 1];
    struct tact_summation_range *summation_ranges;
    uint32_t chunk_count;
    void *device_pair_values; /* tact_batch_pair.values of all pairs, in the device's precision */
    void *device_pair_sums;   /* the device's sums, TACT_SUMS_PER_PAIR per pair */
    cl_mem buffers[DEVICE_BUFFER_COUNT];
};

static const enum tact_moments_method moments_method_of_kernel[TACT_CL_ITEM_KERNEL_COUNT] = {
    [TACT_CL_PRISM_PAIR_KERNEL] = TACT_MOMENTS_MESH_MESH,
    [TACT_CL_PLANE_TRIANGLE_KERNEL] = TACT_MOMENTS_MESH_HALFSPACE,
};

static void write_real_to_device_buffer(void *to, size_t floating_point_bytes, size_t i,
                                        double value)
{
    if (floating_point_bytes == sizeof(double)) {
        ((double *)to)[i] = value;
    } else {
        ((float *)to)[i] = (float)value;
    }
}

static double read_real_from_device_buffer(const void *from, size_t floating_point_bytes, size_t i)
{
    return floating_point_bytes == sizeof(double) ? ((const double *)from)[i]
                                                  : (double)((const float *)from)[i];
}

/* Assigns an index to each distinct mesh, as several shapes may use one mesh. */
static int assign_mesh_indices(struct tact_opencl_moments_batch *b,
                               const struct tact_source_scene *scene, struct tact_error *err)
{
    uint64_t vertices = 0, triangles = 0;
    for (uint32_t i = 0; i < scene->shape_count; i++) {
        const struct tact_shape *shape = &scene->shapes[i];
        uint32_t m = 0;
        if (shape->kind == TACT_SHAPE_SPHERE || shape->kind == TACT_SHAPE_HALFSPACE) {
            continue;
        }
        if (!shape->mesh) {
            return tact_error_set(
                err, -EINVAL, "shape %u has no triangle mesh, which the OpenCL kernels need", i);
        }
        while (m < b->mesh_count && b->meshes[m].mesh != shape->mesh) {
            m++;
        }
        if (m == b->mesh_count) {
            b->meshes[b->mesh_count++] =
                (struct tact_batch_mesh){shape->mesh, (uint32_t)vertices, (uint32_t)triangles};
            vertices += shape->mesh->vertex_count;
            triangles += shape->mesh->triangle_count;
        }
        b->mesh_index_of_shape[i] = m;
    }
    if (vertices > UINT32_MAX / 3 || triangles > UINT32_MAX / 3) {
        return tact_error_set(err, -EINVAL,
                              "the shapes have too many triangles or vertices for the 32-bit "
                              "indices of the OpenCL kernels");
    }
    return 0;
}

static void set_up_batch_pairs(struct tact_opencl_moments_batch *b,
                               const struct tact_source_scene *scene)
{
    for (uint32_t i = 0; i < b->pair_count; i++) {
        struct tact_batch_pair *c = &b->pairs[i];
        uint32_t first = scene->pairs[i].a, second = scene->pairs[i].b;
        c->method = tact_moments_method(&scene->shapes[first], &scene->shapes[second], &c->swapped);
        if (c->swapped) {
            first = scene->pairs[i].b;
            second = scene->pairs[i].a;
        }
        c->first = &scene->shapes[first];
        c->second = &scene->shapes[second];
        c->first_mesh_index = b->mesh_index_of_shape[first];
        c->second_mesh_index = b->mesh_index_of_shape[second];
        c->is_computed_on_host =
            c->method != TACT_MOMENTS_MESH_MESH && c->method != TACT_MOMENTS_MESH_HALFSPACE;
    }
}

static int upload_meshes_to_device(struct tact_opencl_moments_batch *b, struct tact_error *err)
{
    const struct tact_batch_mesh *last = b->mesh_count ? &b->meshes[b->mesh_count - 1] : NULL;
    size_t vertices = last ? last->first_vertex_index + last->mesh->vertex_count : 1;
    size_t triangles = last ? last->first_triangle_index + last->mesh->triangle_count : 1;
    size_t floating_point_bytes = b->cl->bytes_per_real;
    void *v = calloc(3 * vertices, floating_point_bytes);
    cl_uint *t = calloc(3 * triangles, sizeof *t);
    cl_int code[2] = {CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_HOST_MEMORY};
    if (v && t) {
        for (uint32_t m = 0; m < b->mesh_count; m++) {
            const struct tact_batch_mesh *mesh = &b->meshes[m];
            for (size_t i = 0; i < 3 * mesh->mesh->vertex_count; i++) {
                write_real_to_device_buffer(v, floating_point_bytes,
                                            3 * (size_t)mesh->first_vertex_index + i,
                                            mesh->mesh->vertices[i]);
            }
            for (size_t i = 0; i < 3 * mesh->mesh->triangle_count; i++) {
                t[3 * (size_t)mesh->first_triangle_index + i] =
                    mesh->mesh->triangles[i] + mesh->first_vertex_index;
            }
        }
        const cl_mem_flags flags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
        b->buffers[VERTEX_BUFFER] =
            clCreateBuffer(b->cl->context, flags, 3 * vertices * floating_point_bytes, v, &code[0]);
        b->buffers[TRIANGLE_BUFFER] =
            clCreateBuffer(b->cl->context, flags, 3 * triangles * sizeof *t, t, &code[1]);
    }
    free(v);
    free(t);
    if (code[0] != CL_SUCCESS || code[1] != CL_SUCCESS) {
        return tact_cl_set_error(err, code[0] != CL_SUCCESS ? code[0] : code[1],
                                 "copying the meshes");
    }
    return 0;
}

static int create_device_buffers(struct tact_opencl_moments_batch *b, struct tact_error *err)
{
    const size_t pairs = b->pair_count ? b->pair_count : 1,
                 floating_point_bytes = b->cl->bytes_per_real;
    const size_t chunk_capacity = b->items.capacity / TACT_ITEMS_PER_CHUNK + pairs;
    const size_t device_buffer_sizes[DEVICE_BUFFER_COUNT] = {
        [ITEM_BUFFER] = b->items.capacity * sizeof(struct tact_work_item),
        [PAIR_VALUES_BUFFER] = pairs * TACT_PAIR_VALUES * floating_point_bytes,
        [SUMMATION_RANGE_BUFFER] = (chunk_capacity + pairs) * sizeof(struct tact_summation_range),
        [PARTIAL_SUMS_BUFFER] = b->items.capacity * TACT_SUMS_PER_PAIR * floating_point_bytes,
        [CHUNK_SUMS_BUFFER] = chunk_capacity * TACT_SUMS_PER_PAIR * floating_point_bytes,
        [RESULT_BUFFER] = pairs * TACT_SUMS_PER_PAIR * floating_point_bytes,
    };
    b->items.items = calloc(1, device_buffer_sizes[ITEM_BUFFER]);
    b->summation_ranges = calloc(1, device_buffer_sizes[SUMMATION_RANGE_BUFFER]);
    b->device_pair_values = calloc(1, device_buffer_sizes[PAIR_VALUES_BUFFER]);
    b->device_pair_sums = calloc(1, device_buffer_sizes[RESULT_BUFFER]);
    b->items.scratch = tact_moments_scratch_create(b->items.capacity);
    if (!b->items.items || !b->summation_ranges || !b->device_pair_values || !b->device_pair_sums ||
        !b->items.scratch) {
        return tact_error_set(err, -ENOMEM, "no memory on the host for %u triangle pairs",
                              b->items.capacity);
    }
    for (int i = ITEM_BUFFER; i < DEVICE_BUFFER_COUNT; i++) {
        cl_int code = CL_SUCCESS;
        b->buffers[i] =
            clCreateBuffer(b->cl->context, CL_MEM_READ_WRITE, device_buffer_sizes[i], NULL, &code);
        if (code != CL_SUCCESS) {
            return tact_cl_set_error(err, code, "reserving memory");
        }
    }
    return 0;
}

/* Sets the arguments of an item kernel, or of the kernel that sums from one buffer to another. */
static cl_int set_arguments(const struct tact_opencl_moments_batch *b, enum tact_cl_kernel kernel,
                            uint32_t first, uint32_t count, enum device_buffer_index from,
                            enum device_buffer_index to)
{
    const enum device_buffer_index item_kernel_buffers[] = {
        ITEM_BUFFER, PAIR_VALUES_BUFFER, VERTEX_BUFFER, TRIANGLE_BUFFER, PARTIAL_SUMS_BUFFER};
    const enum device_buffer_index sum[] = {SUMMATION_RANGE_BUFFER, from, to};
    const enum device_buffer_index *kernel_buffers =
        kernel == TACT_CL_SUM_KERNEL ? sum : item_kernel_buffers;
    const cl_uint n = kernel == TACT_CL_SUM_KERNEL ? 3 : 5;
    cl_kernel k = b->cl->kernels[kernel];
    cl_int code = clSetKernelArg(k, 0, sizeof(cl_mem), &b->buffers[kernel_buffers[0]]);
    code |= clSetKernelArg(k, 1, sizeof first, &first);
    code |= clSetKernelArg(k, 2, sizeof count, &count);
    for (cl_uint i = 1; i < n; i++) {
        code |= clSetKernelArg(k, i + 2, sizeof(cl_mem), &b->buffers[kernel_buffers[i]]);
    }
    return code;
}

/* PoCL compiles a kernel at its first launch, separately for small and for large index ranges:
 * launch both here so that no frame compiles. */
static int compile_kernels_by_launch(struct tact_opencl_moments_batch *b, struct tact_error *err)
{
    cl_int code = CL_SUCCESS;
    for (int k = 0; k < TACT_CL_KERNEL_COUNT; k++) {
        code |=
            set_arguments(b, (enum tact_cl_kernel)k, 0, 0, PARTIAL_SUMS_BUFFER, CHUNK_SUMS_BUFFER);
        code |= tact_cl_launch_kernel(b->cl, (enum tact_cl_kernel)k, 1);
        code |= tact_cl_launch_kernel(b->cl, (enum tact_cl_kernel)k, 1u << 17);
    }
    code |= clFinish(b->cl->queue);
    return code == CL_SUCCESS ? 0 : tact_cl_set_error(err, code, "warming up");
}

int tact_batch_create(struct tact_cl_opened_device *cl, const struct tact_source_scene *scene,
                      uint32_t capacity, struct tact_opencl_moments_batch **out,
                      struct tact_error *err)
{
    struct tact_opencl_moments_batch *b = calloc(1, sizeof *b);
    if (!b) {
        return tact_error_set(err, -ENOMEM, "no memory");
    }
    b->cl = cl;
    b->scene = *scene;
    b->pair_count = scene->pair_count;
    b->items.capacity = capacity > TACT_ITEMS_PER_CHUNK ? capacity : TACT_ITEMS_PER_CHUNK;
    b->meshes = calloc(scene->shape_count + 1u, sizeof *b->meshes);
    b->mesh_index_of_shape = calloc(scene->shape_count + 1u, sizeof *b->mesh_index_of_shape);
    b->pairs = calloc(scene->pair_count + 1u, sizeof *b->pairs);
    int rc = b->meshes && b->mesh_index_of_shape && b->pairs ? 0 : -ENOMEM;
    if (rc == 0) {
        rc = assign_mesh_indices(b, scene, err);
    }
    if (rc == 0) {
        set_up_batch_pairs(b, scene);
        rc = upload_meshes_to_device(b, err);
    }
    if (rc == 0) {
        rc = create_device_buffers(b, err);
    }
    if (rc == 0) {
        rc = compile_kernels_by_launch(b, err);
    }
    if (rc < 0) {
        tact_batch_destroy(b);
        return rc;
    }
    *out = b;
    return 0;
}

void tact_batch_destroy(struct tact_opencl_moments_batch *b)
{
    if (!b) {
        return;
    }
    for (int i = 0; i < DEVICE_BUFFER_COUNT; i++) {
        if (b->buffers[i]) {
            clReleaseMemObject(b->buffers[i]);
        }
    }
    tact_moments_scratch_destroy(b->items.scratch);
    free(b->items.items);
    free(b->summation_ranges);
    free(b->device_pair_values);
    free(b->device_pair_sums);
    free(b->meshes);
    free(b->mesh_index_of_shape);
    free(b->pairs);
    free(b);
}

/* Time in which the host integrates one item [ns], from tests/bench/bench_moments. */
static double host_ns_per_item(enum tact_moments_method method)
{
    return method == TACT_MOMENTS_MESH_MESH ? 60.0 : 20.0;
}

static void collect_pair_items(struct tact_opencl_moments_batch *b, uint32_t i,
                               const double *direction)
{
    struct tact_batch_pair *c = &b->pairs[i];
    int64_t start_ns = tact_clock_now();
    c->items.first = b->items.count;
    if (c->method == TACT_MOMENTS_MESH_MESH) {
        double d[3];
        tact_v3_scale(d, direction, c->swapped ? -1.0 : 1.0);
        tact_collect_prism_items(c, b->meshes, d, i, &b->items);
    } else {
        tact_collect_plane_items(c, b->meshes, i, &b->items);
    }
    c->items.count = b->items.count - c->items.first;
    if (b->cl->bytes_per_real < sizeof(double)) {
        double size = c->first->mesh->radius + (c->second->mesh ? c->second->mesh->radius : 0.0);
        c->values[24] = tact_max(c->values[24], 16.0 * FLT_EPSILON * size);
    }
    /* the host would need as long for its own broad phase */
    c->estimated_host_time_ns =
        (double)(tact_clock_now() - start_ns) + host_ns_per_item(c->method) * c->items.count;
}

/* Collects the work items of a frame, kernel by kernel, so that the items of a kernel, and those of
 * a pair, are contiguous. */
static void collect_frame_items(struct tact_opencl_moments_batch *b, const struct tact_pose *poses,
                                const uint8_t *active, const double *directions)
{
    b->items.count = 0;
    for (uint32_t i = 0; i < b->pair_count; i++) {
        struct tact_batch_pair *c = &b->pairs[i];
        const struct tact_source_pair *pair = &b->scene.pairs[i];
        c->pose_of_first_shape = &poses[c->swapped ? pair->b : pair->a];
        c->pose_of_second_shape = &poses[c->swapped ? pair->a : pair->b];
        c->items = (struct tact_summation_range){0, 0};
        c->estimated_host_time_ns = 0.0;
        c->status = !active[i]                       ? 0
                    : c->method == TACT_MOMENTS_NONE ? -ENOTSUP
                                                     : c->is_computed_on_host;
    }
    for (int k = 0; k < TACT_CL_ITEM_KERNEL_COUNT; k++) {
        b->first_item_of_kernel[k] = b->items.count;
        for (uint32_t i = 0; i < b->pair_count; i++) {
            if (active[i] && b->pairs[i].method == moments_method_of_kernel[k]) {
                collect_pair_items(b, i, directions + 3 * (size_t)i);
            }
        }
    }
    b->first_item_of_kernel[TACT_CL_ITEM_KERNEL_COUNT] = b->items.count;
}

/* Ranges of items for each chunk, then of chunks for each pair. */
static void plan_summation_ranges(struct tact_opencl_moments_batch *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->pair_count; i++) {
        const struct tact_summation_range *items = &b->pairs[i].items;
        for (uint32_t k = 0; k < items->count; k += TACT_ITEMS_PER_CHUNK) {
            uint32_t left = items->count - k;
            b->summation_ranges[n++] = (struct tact_summation_range){
                items->first + k, left < TACT_ITEMS_PER_CHUNK ? left : TACT_ITEMS_PER_CHUNK};
        }
    }
    b->chunk_count = n;
    uint32_t first_chunk_of_pair = 0;
    for (uint32_t i = 0; i < b->pair_count; i++) {
        uint32_t count =
            (b->pairs[i].items.count + TACT_ITEMS_PER_CHUNK - 1) / TACT_ITEMS_PER_CHUNK;
        b->summation_ranges[n + i] = (struct tact_summation_range){first_chunk_of_pair, count};
        first_chunk_of_pair += count;
    }
}

static cl_int upload_frame(struct tact_opencl_moments_batch *b)
{
    const size_t floating_point_bytes = b->cl->bytes_per_real;
    for (uint32_t i = 0; i < b->pair_count; i++) {
        for (size_t k = 0; k < TACT_PAIR_VALUES; k++) {
            write_real_to_device_buffer(b->device_pair_values, floating_point_bytes,
                                        (size_t)i * TACT_PAIR_VALUES + k, b->pairs[i].values[k]);
        }
    }
    const struct {
        enum device_buffer_index to;
        const void *from;
        size_t size;
    } parts[] = {
        {ITEM_BUFFER, b->items.items, b->items.count * sizeof *b->items.items},
        {PAIR_VALUES_BUFFER, b->device_pair_values,
         b->pair_count * TACT_PAIR_VALUES * floating_point_bytes},
        {SUMMATION_RANGE_BUFFER, b->summation_ranges,
         (b->chunk_count + b->pair_count) * sizeof *b->summation_ranges},
    };
    cl_int code = CL_SUCCESS;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        code |= clEnqueueWriteBuffer(b->cl->queue, b->buffers[parts[i].to], CL_FALSE, 0,
                                     parts[i].size, parts[i].from, 0, NULL, NULL);
    }
    return code;
}

static cl_int integrate_frame(struct tact_opencl_moments_batch *b)
{
    cl_int code = upload_frame(b);
    for (int k = 0; k < TACT_CL_ITEM_KERNEL_COUNT && code == CL_SUCCESS; k++) {
        const enum tact_cl_kernel kernel = (enum tact_cl_kernel)k;
        uint32_t first = b->first_item_of_kernel[k], count = b->first_item_of_kernel[k + 1] - first;
        if (count > 0) {
            code |= set_arguments(b, kernel, first, count, PARTIAL_SUMS_BUFFER, CHUNK_SUMS_BUFFER);
            code |= tact_cl_launch_kernel(b->cl, kernel, count);
        }
    }
    code |= set_arguments(b, TACT_CL_SUM_KERNEL, 0, b->chunk_count, PARTIAL_SUMS_BUFFER,
                          CHUNK_SUMS_BUFFER);
    code |= tact_cl_launch_kernel(b->cl, TACT_CL_SUM_KERNEL,
                                  (size_t)b->chunk_count * TACT_SUMS_PER_PAIR);
    code |= set_arguments(b, TACT_CL_SUM_KERNEL, b->chunk_count, b->pair_count, CHUNK_SUMS_BUFFER,
                          RESULT_BUFFER);
    code |= tact_cl_launch_kernel(b->cl, TACT_CL_SUM_KERNEL,
                                  (size_t)b->pair_count * TACT_SUMS_PER_PAIR);
    code |= clEnqueueReadBuffer(b->cl->queue, b->buffers[RESULT_BUFFER], CL_TRUE, 0,
                                b->pair_count * TACT_SUMS_PER_PAIR * b->cl->bytes_per_real,
                                b->device_pair_sums, 0, NULL, NULL);
    return code;
}

static int set_all_pairs_failed(const struct tact_opencl_moments_batch *b,
                                struct tact_source_moments *out)
{
    for (uint32_t i = 0; i < b->pair_count; i++) {
        memset(&out[i], 0, sizeof out[i]);
        out[i].status = -EIO;
    }
    return -EIO;
}

static int32_t compute_pair_moments_on_host(const struct tact_opencl_moments_batch *b, uint32_t i,
                                            const struct tact_pose *poses, struct tact_moments *out)
{
    const struct tact_source_pair *pair = &b->scene.pairs[i];
    const struct tact_shape *shapes = b->scene.shapes;
    return tact_moments_pair(&shapes[pair->a], &poses[pair->a], &shapes[pair->b], &poses[pair->b],
                             NULL, b->items.scratch, out);
}

/* Whether the host measures the pair: no kernel for its shapes, or single precision with
 * cancellation in the volume. */
static int must_host_compute_moments(const struct tact_opencl_moments_batch *b,
                                     const struct tact_batch_pair *c, const double *s)
{
    return c->is_computed_on_host ||
           (b->cl->bytes_per_real < sizeof(double) && s[0] < MIN_VOLUME_TO_TERMS_RATIO * s[16]);
}

int tact_batch_run(struct tact_opencl_moments_batch *b, const struct tact_pose *poses,
                   const uint8_t *active, const double *directions, struct tact_source_moments *out)
{
    collect_frame_items(b, poses, active, directions);
    if (b->items.count > 0) {
        plan_summation_ranges(b);
        if (integrate_frame(b) != CL_SUCCESS) {
            return set_all_pairs_failed(b, out);
        }
    } else {
        memset(b->device_pair_sums, 0, b->pair_count * TACT_SUMS_PER_PAIR * b->cl->bytes_per_real);
    }
    for (uint32_t i = 0; i < b->pair_count; i++) {
        const struct tact_batch_pair *c = &b->pairs[i];
        double s[TACT_SUMS_PER_PAIR];
        for (size_t k = 0; k < TACT_SUMS_PER_PAIR; k++) {
            s[k] = read_real_from_device_buffer(b->device_pair_sums, b->cl->bytes_per_real,
                                                (size_t)i * TACT_SUMS_PER_PAIR + k);
        }
        memset(&out[i], 0, sizeof out[i]);
        out[i].status = c->status;
        out[i].cost_ns = (int32_t)tact_min(c->estimated_host_time_ns, 1e9);
        if (c->status == 1 && must_host_compute_moments(b, c, s)) {
            int64_t start_ns = tact_clock_now();
            out[i].status = compute_pair_moments_on_host(b, i, poses, &out[i].moments);
            out[i].cost_ns = (int32_t)tact_min((double)(tact_clock_now() - start_ns), 1e9);
        } else if (c->status == 1) {
            out[i].status = tact_batch_pair_finish(c, s, &out[i].moments);
        }
    }
    return 0;
}
