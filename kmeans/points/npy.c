/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/points/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE '<'
#else
#define NATIVE '>'
#endif

static const struct {
    const char *name;
    char code[3]; /* kind and bytes, as in NumPy's descr after the byte order */
    size_t size;
} types[] = {
    [NPY_UINT8] = {"uint8", "u1", 1},     [NPY_INT8] = {"int8", "i1", 1},
    [NPY_INT32] = {"int32", "i4", 4},     [NPY_UINT32] = {"uint32", "u4", 4},
    [NPY_INT64] = {"int64", "i8", 8},     [NPY_FLOAT16] = {"float16", "f2", 2},
    [NPY_FLOAT32] = {"float32", "f4", 4}, [NPY_FLOAT64] = {"float64", "f8", 8},
};
enum { TYPES = sizeof types / sizeof *types };

static const char magic[] = "\x93NUMPY";
enum { MAGIC_SIZE = sizeof magic - 1 };

const char *npy_type_name(npy_type type) {
    return types[type].name;
}

size_t npy_type_size(npy_type type) {
    return types[type].size;
}

uint64_t npy_data_size(const npy_header *header) {
    return header->shape[0] * header->shape[1] * types[header->type].size;
}

/* The rest of the dictionary being parsed, from the file PATH. */
typedef struct cursor {
    const char *at;
    const char *end;
    const char *path;
    app_problem *problem;
} cursor;

__attribute__((format(printf, 2, 3))) static bool fail(const cursor *text, const char *format,
                                                       ...) {
    char why[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return app_refuse(text->problem, "%s: %s", text->path, why);
}

static void skip_blanks(cursor *text) {
    while (text->at < text->end && strchr(" \t\n", *text->at) && *text->at)
        text->at++;
}

/* Consumes blanks and then WORD, if it comes next. */
static bool consume(cursor *text, const char *word) {
    skip_blanks(text);
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length))
        return false;
    text->at += length;
    return true;
}

/* Consumes a quoted string of printable characters, without escapes, that fits SIZE. */
static bool consume_string(cursor *text, char *value, size_t size) {
    skip_blanks(text);
    if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
        return false;
    char quote = *text->at++;
    size_t length = 0;
    for (; text->at < text->end && *text->at != quote; text->at++) {
        if (*text->at < ' ' || *text->at > '~' || *text->at == '\\' || length + 1 == size)
            return false;
        value[length++] = *text->at;
    }
    value[length] = '\0';
    return consume(text, (const char[]){quote, '\0'});
}

static bool parse_type(cursor *text, npy_header *header) {
    char descr[32];
    if (!consume_string(text, descr, sizeof descr))
        return fail(text, "elements are not plain numbers (a structured dtype?)");
    char order = descr[0];
    for (int type = 0; type < TYPES; type++) {
        if (!order || strcmp(descr + 1, types[type].code))
            continue;
        if (!strchr("<>|=", order))
            break;
        if (types[type].size > 1 && order != NATIVE && order != '=')
            return fail(text, "elements '%s' are in another byte order; save them as '%c%s'", descr,
                        NATIVE, types[type].code);
        header->type = (npy_type)type;
        return true;
    }
    return fail(text, "elements '%s' are not read; save them as uint8, int8 or float16 to 64",
                descr);
}

static bool parse_order(cursor *text) {
    if (consume(text, "False"))
        return true;
    if (consume(text, "True"))
        return fail(text, "in Fortran order; save it with numpy.ascontiguousarray");
    return fail(text, "damaged header: fortran_order is neither True nor False");
}

/* Consumes one length of the shape; Python 2 appended an L. */
static bool parse_length(cursor *text, uint64_t *length) {
    skip_blanks(text);
    if (text->at < text->end && *text->at == '-')
        return fail(text, "damaged header: a negative length in its shape");
    if (text->at == text->end || *text->at < '0' || *text->at > '9')
        return fail(text, "damaged header: its shape is not a tuple of lengths");
    uint64_t value = 0;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
        uint64_t digit = (uint64_t)(*text->at - '0');
        if (value > (INT64_MAX - digit) / 10)
            return fail(text, "damaged header: a length in its shape is past 2^63");
        value = value * 10 + digit;
    }
    consume(text, "L");
    *length = value;
    return true;
}

static bool parse_shape(cursor *text, npy_header *header) {
    if (!consume(text, "("))
        return fail(text, "damaged header: its shape is not a tuple of lengths");
    header->dimensions = 0;
    header->shape[1] = 1;
    while (!consume(text, ")")) {
        if (header->dimensions == 2)
            return fail(text, "has more than two dimensions");
        if (!parse_length(text, &header->shape[header->dimensions]))
            return false;
        header->dimensions++;
        if (consume(text, ","))
            continue;
        if (header->dimensions == 1 || !consume(text, ")"))
            return fail(text, "damaged header: its shape is not a tuple of lengths");
        return true;
    }
    if (header->dimensions == 0)
        return fail(text, "is a single number, not an array");
    return true;
}

/* Parses {'descr': ..., 'fortran_order': ..., 'shape': ...} with its members in any order. */
static bool parse_dictionary(cursor *text, npy_header *header) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false, false, false};
    if (!consume(text, "{"))
        return fail(text, "damaged header: no dictionary");
    while (!consume(text, "}")) {
        char key[16];
        int which = 0;
        if (!consume_string(text, key, sizeof key) || !consume(text, ":"))
            return fail(text, "damaged header: no dictionary of named members");
        while (which < 3 && strcmp(key, keys[which]))
            which++;
        if (which == 3 || seen[which])
            return fail(text, "damaged header: member '%s' is unknown or comes twice", key);
        seen[which] = true;
        if (!(which == 0   ? parse_type(text, header)
              : which == 1 ? parse_order(text)
                           : parse_shape(text, header)))
            return false;
        if (consume(text, ","))
            continue;
        if (!consume(text, "}"))
            return fail(text, "damaged header: its dictionary has no end");
        break;
    }
    for (int which = 0; which < 3; which++)
        if (!seen[which])
            return fail(text, "damaged header: no member '%s'", keys[which]);
    return true;
}

bool npy_parse_header(const char *path, const void *bytes, size_t count, npy_header *header,
                      app_problem *problem) {
    const unsigned char *byte = bytes;
    cursor text = {.path = path, .problem = problem};
    if (count < MAGIC_SIZE || memcmp(bytes, magic, MAGIC_SIZE))
        return fail(&text, "is not a .npy file");
    if (count < MAGIC_SIZE + 2)
        return fail(&text, "is cut off within its header");
    int version = byte[MAGIC_SIZE];
    if (version < 1 || version > 3)
        return fail(&text, "has .npy version %d; versions 1 to 3 are read", version);
    /* The length of the dictionary has two bytes in version 1 and four in later versions. */
    size_t prefix = MAGIC_SIZE + 2 + (version == 1 ? 2 : 4);
    if (count < prefix)
        return fail(&text, "is cut off within its header");
    size_t length = 0;
    for (size_t i = prefix; i-- > MAGIC_SIZE + 2;)
        length = length << 8 | byte[i];
    if (length > NPY_HEADER_LONGEST - prefix)
        return fail(&text, "has a header of %zu bytes; %d are the most", length + prefix,
                    NPY_HEADER_LONGEST);
    if (count < prefix + length)
        return fail(&text, "is cut off within its header");

    npy_header found;
    text.at = (const char *)bytes + prefix;
    text.end = text.at + length;
    if (!parse_dictionary(&text, &found))
        return false;
    skip_blanks(&text);
    if (text.at != text.end)
        return fail(&text, "damaged header: more text after its dictionary");
    found.offset = prefix + length;
    /* Offset and data together must fit a signed file offset. */
    uint64_t room = (INT64_MAX - found.offset) / types[found.type].size;
    if (found.shape[1] && found.shape[0] > room / found.shape[1])
        return fail(&text, "damaged header: %" PRIu64 " x %" PRIu64 " elements are past 2^63 bytes",
                    found.shape[0], found.shape[1]);
    *header = found;
    return true;
}

void npy_format_header(npy_type type, int dimensions, uint64_t rows, uint64_t columns,
                       char bytes[NPY_HEADER_SIZE]) {
    enum { PREFIX = MAGIC_SIZE + 4 };
    char shape[48];
    if (dimensions == 1)
        snprintf(shape, sizeof shape, "(%" PRIu64 ",)", rows);
    else
        snprintf(shape, sizeof shape, "(%" PRIu64 ", %" PRIu64 ")", rows, columns);
    memcpy(bytes, magic, MAGIC_SIZE);
    bytes[MAGIC_SIZE] = 1;
    bytes[MAGIC_SIZE + 1] = 0;
    bytes[MAGIC_SIZE + 2] = NPY_HEADER_SIZE - PREFIX;
    bytes[MAGIC_SIZE + 3] = 0;
    char text[NPY_HEADER_SIZE - PREFIX + 1];
    int length =
        snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
                 types[type].size == 1 ? '|' : NATIVE, types[type].code, shape);
    memset(bytes + PREFIX, ' ', NPY_HEADER_SIZE - PREFIX);
    memcpy(bytes + PREFIX, text, (size_t)length);
    bytes[NPY_HEADER_SIZE - 1] = '\n';
}

/* Reads the header and seeks to the data, all of which must be there. */
static bool read_header(struct table *table, app_problem *problem) {
    struct stat about;
    npy_header *header = &table->header;
    unsigned char *bytes = malloc(NPY_HEADER_LONGEST);
    if (!bytes)
        return app_refuse(problem, "%s: out of memory", table->path);
    size_t count = fread(bytes, 1, NPY_HEADER_LONGEST, table->file);
    bool unread = ferror(table->file);
    bool good = !unread && npy_parse_header(table->path, bytes, count, header, problem);
    free(bytes);
    if (unread || (good && (fstat(fileno(table->file), &about) ||
                            fseeko(table->file, (off_t)header->offset, SEEK_SET))))
        return app_refuse(problem, "%s: cannot be read: %s", table->path, strerror(errno));
    uint64_t promised = good ? npy_data_size(header) : 0;
    if (good && (uint64_t)about.st_size - header->offset != promised)
        return app_refuse(problem,
                          "%s: holds %" PRIu64 " bytes of data where its header promises %" PRIu64,
                          table->path, (uint64_t)about.st_size - header->offset, promised);
    return good;
}

bool table_open(struct table *table, const char *path, int dimensions, npy_type first,
                npy_type second, app_problem *problem) {
    table->path = path;
    table->file = fopen(path, "rb");
    if (!table->file)
        return app_refuse(problem, "%s: %s", path, strerror(errno));
    if (!read_header(table, problem))
        return false;
    npy_type type = table->header.type;
    if (table->header.dimensions != dimensions || (type != first && type != second))
        return app_refuse(problem, "%s: has %d dimensions of %s; %d of %s are needed", path,
                          table->header.dimensions, npy_type_name(type), dimensions,
                          npy_type_name(first));
    if (!table->header.shape[0] || !table->header.shape[1])
        return app_refuse(problem, "%s: is empty", path);
    return true;
}

void table_close(struct table *table) {
    if (table->file)
        fclose(table->file);
}

bool table_seek(struct table *table, uint64_t row, app_problem *problem) {
    uint64_t row_size = table->header.shape[1] * npy_type_size(table->header.type);
    if (!fseeko(table->file, (off_t)(table->header.offset + row * row_size), SEEK_SET))
        return true;
    return app_refuse(problem, "%s: %s", table->path, strerror(errno));
}

bool table_read(struct table *table, void *row, app_problem *problem) {
    size_t row_size = table->header.shape[1] * npy_type_size(table->header.type);
    if (fread(row, row_size, 1, table->file) == 1)
        return true;
    return app_refuse(problem, "%s: %s", table->path,
                      ferror(table->file) ? strerror(errno) : "was cut off while it was read");
}
