/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text format of the papers: a line for each point with its picture id, row id, column id and
 * features, separated by blanks (Zhang and Qiu, section 2).
 *
 * So that any rank can read any range of lines, the ranks first count the newlines in each block of
 * the file, every rank in its share of the blocks. With these counts each rank finds the block of a
 * row.
 */
#include "config.h"

#include "kmeans/points/format.h"
#include "kmeans/points/points.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    BLOCK = 1 << 20, /* bytes of the file for each entry of the index */
    STRIDE = 1024,   /* lines between two progress reports */
    IDS = 3,         /* fields before the features */
    WORD = 24        /* bytes of the buffer for a field; longer fields end in "..." there */
};

/* A file that is read byte by byte. */
typedef struct stream {
    int file;
    const km_source *source;
    uint64_t offset; /* file offset of the byte after those in the buffer */
    size_t used, filled;
    uint64_t line; /* the number of the line being read, from 1 */
    app_problem *problem;
    unsigned char buffer[1 << 16];
} stream;

static stream *open_stream(int file, const km_source *source, uint64_t offset, uint64_t line,
                           app_problem *problem) {
    stream *in = malloc(sizeof *in);
    if (!in) {
        app_refuse(problem, "%s: out of memory", source->path);
        return NULL;
    }
    in->file = file;
    in->source = source;
    in->offset = offset;
    in->used = in->filled = 0;
    in->line = line;
    in->problem = problem;
    return in;
}

/* Refills the buffer. Returns false at the end of the file, or with a problem. */
static bool fill_buffer(stream *in) {
    uint64_t left = in->source->layout.bytes - in->offset;
    size_t count = left < sizeof in->buffer ? (size_t)left : sizeof in->buffer;
    if (count == 0 ||
        !km_read_at(in->file, in->source->path, in->offset, in->buffer, count, in->problem))
        return false;
    in->offset += count;
    in->used = 0;
    in->filled = count;
    return true;
}

/* Returns the next byte without consuming it; -1 at the end of the file or with a problem. */
static inline int peek(stream *in) {
    if (in->used == in->filled && !fill_buffer(in))
        return -1;
    return in->buffer[in->used];
}

/*
 * Reads the next field of the line, and stores as much of it as fits in WORD. Returns false at the
 * end of the line, without consuming the newline.
 */
static bool read_field(stream *in, char word[WORD]) {
    int c;
    while ((c = peek(in)) == ' ' || c == '\t' || c == '\r')
        in->used++;
    size_t length = 0, all = 0;
    for (; c != -1 && c != ' ' && c != '\t' && c != '\r' && c != '\n'; c = peek(in)) {
        if (length + 1 < WORD)
            word[length++] = c > ' ' && c < 0x7f ? (char)c : '?';
        all++;
        in->used++;
    }
    word[length] = '\0';
    if (all > length)
        memcpy(word + length - strlen("..."), "...", strlen("..."));
    return length > 0;
}

static bool parse_feature(const char *word, uint8_t *feature) {
    unsigned value = 0;
    const char *at = word;
    for (; *at >= '0' && *at <= '9' && value <= 255; at++)
        value = 10 * value + (unsigned)(*at - '0');
    if (*at || value > 255)
        return false;
    *feature = (uint8_t)value;
    return true;
}

static bool wrong_length(stream *in, uint64_t features) {
    return app_refuse(in->problem,
                      "%s:%" PRIu64 ": has %" PRIu64
                      " features after its %d ids where the first line "
                      "has %" PRIu64,
                      in->source->path, in->line, features, IDS, in->source->layout.dim);
}

static bool read_line(stream *in, uint8_t *into) {
    char word[WORD];
    uint64_t dim = in->source->layout.dim, fields = 0;
    while (fields < IDS && read_field(in, word))
        fields++;
    if (fields < IDS)
        return app_refuse(in->problem,
                          "%s:%" PRIu64 ": has %" PRIu64 " fields; a line is picture id, row id, "
                          "column id and features",
                          in->source->path, in->line, fields);
    for (uint64_t i = 0; i < dim; i++) {
        if (!read_field(in, word))
            return wrong_length(in, i);
        if (!parse_feature(word, &into[i]))
            return app_refuse(in->problem,
                              "%s:%" PRIu64 ": feature %" PRIu64 " is '%s'; features are whole "
                              "numbers from 0 to 255",
                              in->source->path, in->line, i + 1, word);
    }
    uint64_t more = 0;
    while (read_field(in, word))
        more++;
    if (more)
        return wrong_length(in, dim + more);
    if (peek(in) == '\n')
        in->used++;
    in->line++;
    return true;
}

static bool recognise(const char *path, const unsigned char *head, size_t count) {
    (void)path, (void)head, (void)count;
    return true;
}

/* Takes the number of features from the first line; all ranks count the rows later. */
static bool read_layout(int file, km_source *source, app_problem *problem) {
    char word[WORD];
    if (source->layout.bytes == 0)
        return app_refuse(problem, "%s: is empty", source->path);
    stream *in = open_stream(file, source, 0, 1, problem);
    if (!in)
        return false;
    uint64_t fields = 0;
    while (read_field(in, word))
        fields++;
    free(in);
    if (problem->text[0])
        return false;
    if (fields <= IDS)
        return app_refuse(problem,
                          "%s:1: has %" PRIu64
                          " fields; a line is picture id, row id, column id and "
                          "features",
                          source->path, fields);
    source->layout.dim = fields - IDS;
    source->layout.rows = 0;
    return true;
}

/*
 * Counts the newlines of COUNT blocks from block FIRST on into LINES, one entry for each block.
 * *LAST becomes the last byte of these blocks.
 */
static bool count_blocks(const km_source *source, uint64_t first, uint64_t count, uint64_t *lines,
                         unsigned char *last, app_problem *problem) {
    if (count == 0)
        return true;
    bool good = false;
    unsigned char *buffer = malloc(BLOCK);
    int file = km_open(source->path, problem);
    if (!buffer)
        app_refuse(problem, "%s: out of memory", source->path);
    if (file < 0 || !buffer)
        goto free_buffer;
    for (uint64_t i = 0; i < count; i++) {
        km_report_read(source, "counting the lines of", i, count);
        uint64_t offset = (first + i) * BLOCK, left = source->layout.bytes - offset;
        size_t bytes = left < BLOCK ? (size_t)left : BLOCK;
        if (!km_read_at(file, source->path, offset, buffer, bytes, problem))
            goto free_buffer;
        lines[i] = 0;
        for (size_t at = 0; at < bytes; at++)
            lines[i] += buffer[at] == '\n';
        *last = buffer[bytes - 1];
    }
    good = true;
free_buffer:
    if (file >= 0)
        close(file);
    free(buffer);
    return good;
}

/* Gives all ranks the counts of all BLOCKS, of which each rank has counted its share. */
static bool share_counts(uint64_t *lines, uint64_t blocks, MPI_Comm comm, app_problem *problem) {
    int ranks = app_ranks(comm);
    int *counts = malloc(2 * (size_t)ranks * sizeof *counts);
    if (!counts)
        app_refuse(problem, "out of memory");
    if (!app_agree(problem, comm)) {
        free(counts);
        return false;
    }
    int *starts = counts + ranks;
    for (int i = 0; i < ranks; i++) {
        uint64_t first, count;
        km_share(blocks, i, ranks, &first, &count);
        counts[i] = (int)count;
        starts[i] = (int)first;
    }
    app_mpi(problem, MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, lines, counts, starts,
                                    MPI_UINT64_T, comm));
    free(counts);
    return app_agree(problem, comm);
}

/* Replaces each count by the sum of the counts before it; the last entry becomes the total. */
static void sum_up_counts(uint64_t *lines, uint64_t blocks) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i <= blocks; i++) {
        uint64_t count = i < blocks ? lines[i] : 0;
        lines[i] = sum;
        sum += count;
    }
}

static bool count_lines(km_source *source, MPI_Comm comm, app_problem *problem) {
    int rank = app_rank(comm), ranks = app_ranks(comm);
    uint64_t blocks = (source->layout.bytes + BLOCK - 1) / BLOCK, first, count;
    km_share(blocks, rank, ranks, &first, &count);
    source->lines = malloc((blocks + 1) * sizeof *source->lines);
    unsigned char last = '\n';
    if (blocks > INT_MAX)
        app_refuse(problem, "%s: is larger than %d MiB; split it", source->path, INT_MAX);
    else if (!source->lines)
        app_refuse(problem, "%s: out of memory", source->path);
    else
        count_blocks(source, first, count, source->lines + first, &last, problem);
    if (!share_counts(source->lines, blocks, comm, problem))
        return false;
    sum_up_counts(source->lines, blocks);

    /* Only the rank of the last block knows whether the last line lacks a newline. */
    uint64_t open_line = first + count == blocks && last != '\n';
    bool good = app_agree_sum(problem, &open_line, 1, comm);
    source->layout.rows = source->lines[blocks] + open_line;
    return good;
}

/* Finds the offset at which row ROW begins, after the ROWth newline. */
static bool find_row(int file, const km_source *source, uint64_t row, uint64_t *offset,
                     app_problem *problem) {
    *offset = 0;
    if (row == 0)
        return true;
    /* Search for the last block with fewer than ROW newlines before it. */
    uint64_t low = 0, high = (source->layout.bytes + BLOCK - 1) / BLOCK;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (source->lines[middle] < row)
            low = middle;
        else
            high = middle;
    }
    stream *in = open_stream(file, source, low * BLOCK, 1, problem);
    if (!in)
        return false;
    uint64_t seen = source->lines[low];
    int c = 0;
    while (seen < row && (c = peek(in)) != -1) {
        seen += c == '\n';
        in->used++;
    }
    *offset = in->offset - (in->filled - in->used);
    free(in);
    if (seen < row)
        return app_refuse(problem, "%s: changed while it was being read", source->path);
    return true;
}

static bool read_rows(int file, const km_source *source, uint64_t first, size_t rows, uint8_t *into,
                      app_problem *problem) {
    uint64_t offset;
    if (!find_row(file, source, first, &offset, problem))
        return false;
    stream *in = open_stream(file, source, offset, first + 1, problem);
    if (!in)
        return false;
    bool good = true;
    for (size_t i = 0; good && i < rows; i++) {
        if (i % STRIDE == 0)
            km_report_read(source, "reading", i, rows);
        good = read_line(in, into + i * source->layout.dim);
    }
    free(in);
    return good;
}

const km_format km_format_text = {
    .recognise = recognise,
    .describe = read_layout,
    .index = count_lines,
    .read = read_rows,
};
