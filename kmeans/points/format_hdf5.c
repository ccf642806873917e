/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datasets of HDF5 files, such as those of ann-benchmarks: two dimensions of uint8, int8, float32
 * or float64, in either byte order. libhdf5 reads the datasets, and decompresses them if they are
 * compressed; each rank reads its own rows.
 */
#include "config.h"

#include "kmeans/points/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool recognise(const char *path, const unsigned char *head, size_t count) {
    return (count >= 8 && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0) ||
           km_has_suffix(path, ".h5") || km_has_suffix(path, ".hdf5");
}

#if defined(HAVE_HDF5) && !defined(KM_WITHOUT_HDF5)
#include <hdf5.h>

/* An open dataset; members below 0 are not open. */
typedef struct hdf5 {
    hid_t file, dataset, space;
} hdf5;

static herr_t copy_reason(unsigned depth, const H5E_error2_t *error, void *text) {
    if (depth == 0)
        snprintf(text, 128, "%s", error->desc ? error->desc : "unknown error");
    return 0;
}

/* Reports a failure of libhdf5, with its innermost reason. */
static bool refuse(const km_source *source, const char *what, app_problem *problem) {
    char reason[128] = "no reason is given";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, copy_reason, reason);
    for (char *at = reason; *at; at++) /* names in a damaged file may have any bytes */
        if (*at < ' ' || *at > '~')
            *at = '?';
    return app_refuse(problem, "%s: %s: %s; copy it again, or check it with h5dump -H %s",
                      source->path, what, reason, source->file);
}

/*
 * Writes "FILE:/NAME" of the datasets in the root group, separated by ", ", to TEXT, as far as they
 * fit.
 */
static void list_datasets(const km_source *source, hid_t file, char *text, size_t size) {
    H5G_info_t root;
    char name[64];
    size_t used = 0;
    text[0] = '\0';
    if (H5Gget_info(file, &root) < 0)
        return;
    for (hsize_t i = 0; i < root.nlinks && i < 64; i++) {
        hid_t object = H5Oopen_by_idx(file, "/", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT);
        ssize_t length = H5Lget_name_by_idx(file, "/", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                            sizeof name, H5P_DEFAULT);
        if (object >= 0 && H5Iget_type(object) == H5I_DATASET && length > 0 &&
            (size_t)length < sizeof name && !strpbrk(name, "\r\n") &&
            used + strlen(source->file) + (size_t)length + 8 < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s:/%s", used ? ", " : "",
                                     source->file, name);
        if (object >= 0)
            H5Oclose(object);
    }
}

static void close_dataset(hdf5 *open) {
    if (open->space >= 0)
        H5Sclose(open->space);
    if (open->dataset >= 0)
        H5Dclose(open->dataset);
    if (open->file >= 0)
        H5Fclose(open->file);
}

/* Opens the dataset of SOURCE; close_dataset closes OPEN, also after a failure. */
static bool open_dataset(const km_source *source, hdf5 *open, app_problem *problem) {
    char datasets[256];
    *open = (hdf5){-1, -1, -1};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* otherwise libhdf5 prints its errors */
    open->file = H5Fopen(source->file, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (open->file < 0)
        return refuse(source, "can't be opened as HDF5", problem);
    if (!source->dataset) {
        list_datasets(source, open->file, datasets, sizeof datasets);
        return app_refuse(problem, "%s: is an HDF5 file; name one of its datasets, such as %s",
                          source->path, datasets[0] ? datasets : "file.h5:/train");
    }
    open->dataset = H5Dopen2(open->file, source->dataset, H5P_DEFAULT);
    if (open->dataset >= 0)
        open->space = H5Dget_space(open->dataset);
    if (open->space >= 0)
        return true;
    list_datasets(source, open->file, datasets, sizeof datasets);
    return datasets[0] ? app_refuse(problem, "%s: there is no such dataset; the file has %s",
                                    source->path, datasets)
                       : refuse(source, "can't be opened", problem);
}

/* Finds the type of the elements. */
static bool find_element(const km_source *source, hid_t dataset, npy_type *element,
                         app_problem *problem) {
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t class = H5Tget_class(type);
    const size_t size = H5Tget_size(type);
    const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    if (type >= 0)
        H5Tclose(type);
    if (class == H5T_INTEGER && size == 1)
        *element = is_signed ? NPY_INT8 : NPY_UINT8;
    else if (class == H5T_FLOAT && size <= 8)
        *element = size <= 4 ? NPY_FLOAT32 : NPY_FLOAT64;
    else
        return app_refuse(problem,
                          "%s: elements are %s of %zu bytes; save them as uint8, int8, float32 or "
                          "float64",
                          source->path,
                          class == H5T_INTEGER ? "integers"
                          : class == H5T_FLOAT ? "floats"
                                               : "no numbers",
                          size);
    return true;
}

/*
 * Returns whether the file has all chunks of the dataset, whose lengths are in LENGTHS.
 * libhdf5 1.10.5 is the first that counts chunks.
 */
static bool has_all_chunks(const hdf5 *open, const hsize_t lengths[2]) {
    bool all = false;
#if H5_VERSION_GE(1, 10, 5)
    hsize_t chunk[2] = {0, 0}, found = 0;
    const hid_t create = H5Dget_create_plist(open->dataset);
    if (create >= 0 && H5Pget_layout(create) == H5D_CHUNKED &&
        H5Pget_chunk(create, 2, chunk) == 2 && chunk[0] && chunk[1] &&
        H5Dget_num_chunks(open->dataset, open->space, &found) >= 0) {
        const double rows = ceil((double)lengths[0] / (double)chunk[0]),
                     columns = ceil((double)lengths[1] / (double)chunk[1]);
        all = (double)found >= rows * columns;
    }
    if (create >= 0)
        H5Pclose(create);
#endif
    (void)open, (void)lengths;
    return all;
}

static bool describe_open(const hdf5 *open, km_source *source, app_problem *problem) {
    km_layout *layout = &source->layout;
    hsize_t lengths[2] = {0, 0};
    const int dimensions = H5Sget_simple_extent_ndims(open->space);
    if (dimensions != 2)
        return app_refuse(problem, "%s: has %d dimensions; points are a dataset of rows x features",
                          source->path, dimensions);
    if (H5Sget_simple_extent_dims(open->space, lengths, NULL) < 0)
        return refuse(source, "can't be read", problem);
    if (!find_element(source, open->dataset, &layout->element, problem))
        return false;
    /*
     * Deflate, the usual compression of HDF5, shrinks data by a factor of 1032 at most. Without a
     * limit, a damaged length could ask for any amount of memory. Other compressions and several in
     * a row have no such factor, but a dataset with a damaged length lacks chunks.
     */
    enum { COMPRESSION = 4096 };
    const double promised =
        (double)lengths[0] * (double)lengths[1] * (double)npy_type_size(layout->element);
    if (promised > (double)layout->bytes * COMPRESSION && !has_all_chunks(open, lengths))
        return app_refuse(problem,
                          "%s: damaged or never written: it promises %g bytes of features, the "
                          "file has %" PRIu64 "; write it again",
                          source->path, promised, layout->bytes);
    layout->rows = lengths[0];
    layout->dim = lengths[1];
    layout->start = layout->prefix = 0;
    return true;
}

static bool describe(int file, km_source *source, app_problem *problem) {
    hdf5 open;
    (void)file;
    bool good = open_dataset(source, &open, problem) && describe_open(&open, source, problem);
    close_dataset(&open);
    return good;
}

/* Reads ROWS rows from row FIRST on into BUFFER. */
static bool read_piece(const hdf5 *open, const km_source *source, uint64_t first, size_t rows,
                       void *buffer, app_problem *problem) {
    const npy_type element = source->layout.element;
    const hid_t type = element == NPY_UINT8     ? H5T_NATIVE_UINT8
                       : element == NPY_INT8    ? H5T_NATIVE_INT8
                       : element == NPY_FLOAT32 ? H5T_NATIVE_FLOAT
                                                : H5T_NATIVE_DOUBLE;
    const hsize_t start[] = {first, 0}, count[] = {rows, source->layout.dim};
    char what[64];
    const hid_t memory = H5Screate_simple(2, count, NULL);
    bool good = memory >= 0 &&
                H5Sselect_hyperslab(open->space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dread(open->dataset, type, memory, open->space, H5P_DEFAULT, buffer) >= 0;
    if (!good) {
        snprintf(what, sizeof what, "rows %" PRIu64 " to %" PRIu64 " can't be read", first,
                 first + rows - 1);
        refuse(source, what, problem);
    }
    if (memory >= 0)
        H5Sclose(memory);
    return good;
}

static bool read_rows(const hdf5 *open, const km_source *source, uint64_t first, size_t rows,
                      uint8_t *into, app_problem *problem) {
    enum { BUFFER = 1 << 22 };
    const km_layout *layout = &source->layout;
    const size_t record = layout->dim * npy_type_size(layout->element);
    const bool plain = layout->element == NPY_UINT8 && !source->reals;
    const size_t size = source->reals ? sizeof(float) : 1;
    const size_t most = record < BUFFER ? BUFFER / record : 1;
    unsigned char *buffer = plain ? NULL : malloc(most * record);
    bool good = plain || buffer || app_refuse(problem, "%s: out of memory", source->path);
    for (size_t done = 0; good && done < rows;) {
        const size_t count = rows - done < most ? rows - done : most;
        uint8_t *to = into + done * layout->dim * size;
        km_report_read(source, "reading", done, rows);
        good = read_piece(open, source, first + done, count, plain ? to : buffer, problem);
        for (size_t i = 0; good && !plain && i < count; i++)
            good = km_convert_record(source, first + done + i, buffer + i * record,
                                     to + i * layout->dim * size, problem);
        done += count;
    }
    free(buffer);
    return good;
}

static bool read_dataset(int file, const km_source *source, uint64_t first, size_t rows,
                         uint8_t *into, app_problem *problem) {
    hdf5 open;
    (void)file;
    bool good = open_dataset(source, &open, problem) &&
                read_rows(&open, source, first, rows, into, problem);
    close_dataset(&open);
    return good;
}

#else

static bool describe(int file, km_source *source, app_problem *problem) {
    (void)file;
    return app_refuse(problem,
                      "%s: this build has no libhdf5; install libhdf5-dev, configure and make "
                      "again, or save the dataset as .npy",
                      source->path);
}

#define read_dataset NULL /* never called, since describe fails for every file */

#endif

const km_format km_format_hdf5 = {
    .recognise = recognise,
    .describe = describe,
    .read = read_dataset,
    .typed = true,
};
