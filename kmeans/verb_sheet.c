/*
 * coll-words sheet: the most used visual words, each as the patches nearest to its centroid.
 *
 * The files are read in passes, and only the words on the sheet and their patches are kept: count
 * the uses of every word, find the nearest rows of the most used, cut those rows' patches from the
 * images, draw.
 */
#include "config.h"

#include "kmeans/canvas.h"
#include "kmeans/npy.h"
#include "kmeans/options.h"
#include "kmeans/output.h"
#include "kmeans/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: coll-words sheet [OPTIONS] --features FILE.npy --centroids FILE.npy\n"
    "                        --assign FILE.npy --output FILE.png\n"
    "\n"
    "Draws the most used visual words: how many patches each has, and those nearest to\n"
    "its centroid, nearest first. Words go down the columns. Give --images, --limit,\n"
    "--patch and --stride as for the features.\n";

struct request {
    const char *features, *centroids, *assign, *output;
    uint64_t words, per_word;
    patch_choice choice;
};

/* An open .npy file, read row by row. */
struct table {
    const char *path;
    FILE *file;
    npy_header header;
};

struct near {
    uint64_t row, distance;
};

struct word {
    uint64_t centroid, uses;
    size_t found;
    struct near *nearest; /* found of them, nearest first */
    uint8_t *patches;     /* of those rows */
};

/* The sheet's geometry, in pixels. */
struct layout {
    size_t scale, tile;           /* of a patch: pixels a pixel, and pixels a side */
    size_t label;                 /* width of the numbers */
    size_t word_width, row_pitch; /* of one word */
    size_t rows, columns;
    size_t width, height;
};

struct sheet {
    struct table features, centroids, assign;
    uint64_t rows, width; /* of the features */
    struct word *words;   /* most used first */
    size_t count, per_word, patch;
    uint8_t *centers; /* of the words, WIDTH bytes each */
    struct layout layout;
    struct canvas canvas;
};

/* Opens a .npy file of DIMENSIONS whose elements have FIRST or SECOND type. */
static bool table_open(struct table *table, const char *path, int dimensions, npy_type first,
                       npy_type second, struct problem *problem) {
    char why[NPY_PROBLEM_SIZE];
    table->path = path;
    table->file = fopen(path, "rb");
    if (!table->file)
        return problem_set(problem, "%s: %s", path, strerror(errno));
    if (!npy_read_header(table->file, &table->header, why))
        return problem_set(problem, "%s: %s", path, why);
    npy_type type = table->header.type;
    if (table->header.dimensions != dimensions || (type != first && type != second))
        return problem_set(problem, "%s: has %d dimensions of %s; %d of %s are needed", path,
                           table->header.dimensions, npy_type_name(type), dimensions,
                           npy_type_name(first));
    if (!table->header.shape[0] || !table->header.shape[1])
        return problem_set(problem, "%s: is empty", path);
    return true;
}

static void table_close(struct table *table) {
    if (table->file)
        fclose(table->file);
}

static bool table_seek(struct table *table, uint64_t row, struct problem *problem) {
    uint64_t row_size = table->header.shape[1] * npy_type_size(table->header.type);
    if (!fseeko(table->file, (off_t)(table->header.offset + row * row_size), SEEK_SET))
        return true;
    return problem_set(problem, "%s: %s", table->path, strerror(errno));
}

/* Reads the next row; rows are short of the file's size, which the header was checked against. */
static bool table_read(struct table *table, void *row, struct problem *problem) {
    size_t row_size = table->header.shape[1] * npy_type_size(table->header.type);
    if (fread(row, row_size, 1, table->file) == 1)
        return true;
    return problem_set(problem, "%s: %s", table->path,
                       ferror(table->file) ? strerror(errno) : "was cut off while it was read");
}

static bool open_tables(struct sheet *sheet, const struct request *request,
                        struct problem *problem) {
    struct table *features = &sheet->features, *centroids = &sheet->centroids;
    if (!table_open(features, request->features, 2, NPY_UINT8, NPY_UINT8, problem) ||
        !table_open(centroids, request->centroids, 2, NPY_UINT8, NPY_UINT8, problem) ||
        !table_open(&sheet->assign, request->assign, 1, NPY_INT32, NPY_UINT32, problem))
        return false;
    sheet->rows = features->header.shape[0];
    sheet->width = features->header.shape[1];
    if (centroids->header.shape[1] != sheet->width)
        return problem_set(problem, "%s has %" PRIu64 " columns where %s has %" PRIu64,
                           centroids->path, centroids->header.shape[1], features->path,
                           sheet->width);
    if (sheet->assign.header.shape[0] != sheet->rows)
        return problem_set(problem, "%s has %" PRIu64 " rows where %s has %" PRIu64,
                           sheet->assign.path, sheet->assign.header.shape[0], features->path,
                           sheet->rows);
    return true;
}

static bool read_assignment(struct sheet *sheet, uint64_t row, uint32_t *centroid,
                            struct problem *problem) {
    uint64_t centroids = sheet->centroids.header.shape[0];
    if (!table_read(&sheet->assign, centroid, problem))
        return false;
    /* A negative int32 is large here. */
    if (*centroid < centroids)
        return true;
    return problem_set(
        problem, "%s: row %" PRIu64 " is assigned to %" PRId64 ", but %s has %" PRIu64 " centroids",
        sheet->assign.path, row,
        sheet->assign.header.type == NPY_INT32 ? (int64_t)(int32_t)*centroid : (int64_t)*centroid,
        sheet->centroids.path, centroids);
}

static int compare_uses(const void *a, const void *b) {
    const struct word *one = a, *other = b;
    if (one->uses != other->uses)
        return one->uses > other->uses ? -1 : 1;
    return (one->centroid > other->centroid) - (one->centroid < other->centroid);
}

/* Ranks all centroids by use and keeps those of the sheet, without unused ones. */
static bool rank_words(struct sheet *sheet, uint64_t words, struct problem *problem) {
    uint64_t centroids = sheet->centroids.header.shape[0];
    sheet->words = calloc(centroids, sizeof *sheet->words);
    if (!sheet->words)
        return problem_set(problem, "out of memory");
    for (uint64_t row = 0; row < sheet->rows; row++) {
        uint32_t centroid;
        if (!read_assignment(sheet, row, &centroid, problem))
            return false;
        sheet->words[centroid].uses++;
    }
    for (uint64_t centroid = 0; centroid < centroids; centroid++)
        sheet->words[centroid].centroid = centroid;
    qsort(sheet->words, centroids, sizeof *sheet->words, compare_uses);
    while (sheet->count < centroids && sheet->count < words && sheet->words[sheet->count].uses)
        sheet->count++;
    return true;
}

enum {
    TILE = 40, /* roughly a patch's side */
    TILE_GAP = 2,
    WORD_GAP = 10,
    COLUMN_GAP = 36,
    LABEL_GAP = 8,
    MARGIN = 36,
    TEXT_SCALE = 2,
    BACKGROUND = 246,
    FRAME = 214,
    INK = 96
};

/* As many columns as make the sheet at least as wide as high. */
static struct layout lay_out(const struct sheet *sheet) {
    struct layout layout = {.scale = sheet->patch < TILE ? TILE / sheet->patch : 1};
    layout.tile = sheet->patch * layout.scale + 2; /* with a frame of one pixel */
    layout.label =
        canvas_digits(sheet->words[0].uses) * CANVAS_DIGIT_WIDTH * TEXT_SCALE + LABEL_GAP;
    layout.word_width = layout.label + sheet->per_word * (layout.tile + TILE_GAP) - TILE_GAP;
    layout.row_pitch = layout.tile + WORD_GAP;
    do {
        layout.columns++;
        layout.rows = (sheet->count + layout.columns - 1) / layout.columns;
        layout.width = 2 * MARGIN + layout.columns * (layout.word_width + COLUMN_GAP) - COLUMN_GAP;
        layout.height = 2 * MARGIN + layout.rows * layout.row_pitch - WORD_GAP;
    } while (layout.width < layout.height && layout.columns < sheet->count);
    return layout;
}

/* Makes the canvas, whose bound bounds what the words on it take, and room for the words. */
static bool allocate_words(struct sheet *sheet, struct problem *problem) {
    sheet->layout = lay_out(sheet);
    if (!canvas_begin(&sheet->canvas, sheet->layout.width, sheet->layout.height, BACKGROUND,
                      problem))
        return false;
    for (size_t i = 0; i < sheet->count; i++) {
        struct word *word = &sheet->words[i];
        word->nearest = calloc(sheet->per_word, sizeof *word->nearest);
        word->patches = calloc(sheet->per_word, sheet->patch * sheet->patch);
        if (!word->nearest || !word->patches)
            return problem_set(problem, "out of memory");
    }
    sheet->centers = calloc(sheet->count, sheet->width);
    return sheet->centers || problem_set(problem, "out of memory");
}

static bool read_centers(struct sheet *sheet, struct problem *problem) {
    for (size_t i = 0; i < sheet->count; i++)
        if (!table_seek(&sheet->centroids, sheet->words[i].centroid, problem) ||
            !table_read(&sheet->centroids, sheet->centers + i * sheet->width, problem))
            return false;
    return true;
}

static uint64_t distance_of(const uint8_t *a, const uint8_t *b, uint64_t width) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < width; i++) {
        int difference = a[i] - b[i];
        sum += (uint64_t)(difference * difference);
    }
    return sum;
}

/* Takes a row into the nearest of a word. Rows come in order, so that of equals the first stays
 * first. */
static void consider(struct word *word, size_t per_word, struct near candidate) {
    size_t place = word->found;
    while (place && word->nearest[place - 1].distance > candidate.distance)
        place--;
    if (place == per_word)
        return;
    word->found += word->found < per_word;
    for (size_t i = word->found - 1; i > place; i--)
        word->nearest[i] = word->nearest[i - 1];
    word->nearest[place] = candidate;
}

/* Goes through the features; PLACES has the index of each centroid's word, or the words' count. */
static bool scan_features(struct sheet *sheet, const size_t *places, uint8_t *features,
                          struct problem *problem) {
    if (!table_seek(&sheet->assign, 0, problem))
        return false;
    for (uint64_t row = 0; row < sheet->rows; row++) {
        uint32_t centroid;
        if (!table_read(&sheet->features, features, problem) ||
            !read_assignment(sheet, row, &centroid, problem))
            return false;
        size_t place = places[centroid];
        if (place == sheet->count)
            continue;
        const uint8_t *center = sheet->centers + place * sheet->width;
        consider(&sheet->words[place], sheet->per_word,
                 (struct near){row, distance_of(features, center, sheet->width)});
    }
    return true;
}

static bool find_nearest(struct sheet *sheet, struct problem *problem) {
    uint64_t centroids = sheet->centroids.header.shape[0];
    size_t *places = malloc(centroids * sizeof *places);
    uint8_t *features = malloc(sheet->width);
    bool good = false;
    if (!places || !features) {
        problem_set(problem, "out of memory");
        goto release;
    }
    for (uint64_t centroid = 0; centroid < centroids; centroid++)
        places[centroid] = sheet->count;
    for (size_t i = 0; i < sheet->count; i++)
        places[sheet->words[i].centroid] = i;
    good = scan_features(sheet, places, features, problem);
release:
    free(features);
    free(places);
    return good;
}

/* A patch to be cut: its row, and where it goes. */
struct cut {
    uint64_t row;
    uint8_t *to;
};

static int compare_rows(const void *a, const void *b) {
    const struct cut *one = a, *other = b;
    return (one->row > other->row) - (one->row < other->row);
}

/* Goes through the patches of the images, which must be as many as the features have rows. */
static bool scan_patches(const struct sheet *sheet, patch_stream *stream, const struct cut *cuts,
                         size_t count, uint8_t *pixels, struct problem *problem) {
    size_t size = sheet->patch * sheet->patch;
    uint64_t row = 0;
    next_state state;
    while ((state = patches_next(stream, pixels, problem)) == NEXT_READ && row < sheet->rows) {
        for (; count && cuts->row == row; cuts++, count--)
            memcpy(cuts->to, pixels, size);
        row++;
    }
    if (state == NEXT_FAILED)
        return false;
    if (state == NEXT_NONE && row == sheet->rows)
        return true;
    return problem_set(problem,
                       "%s has %" PRIu64 " rows but the images have %s%" PRIu64
                       " patches; give the --images, --limit, --patch and --stride of the features",
                       sheet->features.path, sheet->rows, state == NEXT_READ ? "more than " : "",
                       row);
}

static bool cut_patches(struct sheet *sheet, const patch_choice *choice, struct problem *problem) {
    size_t size = sheet->patch * sheet->patch, count = 0;
    struct cut *cuts = calloc(sheet->count * sheet->per_word, sizeof *cuts);
    uint8_t *pixels = malloc(size);
    patch_stream *stream = NULL;
    bool good = false;
    if (!cuts || !pixels) {
        problem_set(problem, "out of memory");
        goto release;
    }
    for (struct word *word = sheet->words; word < sheet->words + sheet->count; word++)
        for (size_t i = 0; i < word->found; i++)
            cuts[count++] = (struct cut){word->nearest[i].row, word->patches + i * size};
    qsort(cuts, count, sizeof *cuts, compare_rows);
    stream = patches_open(choice, problem);
    good = stream && scan_patches(sheet, stream, cuts, count, pixels, problem);
release:
    patches_close(stream);
    free(pixels);
    free(cuts);
    return good;
}

static void draw_word(struct canvas *canvas, const struct layout *layout, const struct word *word,
                      size_t patch, size_t x, size_t y) {
    size_t text_height = CANVAS_DIGIT_HEIGHT * TEXT_SCALE;
    size_t text_y = layout->tile > text_height ? y + (layout->tile - text_height) / 2 : y;
    canvas_number(canvas, x + layout->label - LABEL_GAP, text_y, word->uses, TEXT_SCALE, INK);
    x += layout->label;
    for (size_t i = 0; i < word->found; i++, x += layout->tile + TILE_GAP) {
        canvas_fill(canvas, x, y, layout->tile, layout->tile, FRAME);
        canvas_patch(canvas, x + 1, y + 1, word->patches + i * patch * patch, patch, layout->scale);
    }
}

static bool draw(struct sheet *sheet, const char *path, struct problem *problem) {
    const struct layout *layout = &sheet->layout;
    struct output output = {0};
    for (size_t i = 0; i < sheet->count; i++) {
        size_t x = MARGIN + i / layout->rows * (layout->word_width + COLUMN_GAP);
        size_t y = MARGIN + i % layout->rows * layout->row_pitch;
        draw_word(&sheet->canvas, layout, &sheet->words[i], sheet->patch, x, y);
    }
    if (!output_open(&output, path, problem))
        return false;
    bool good = canvas_write(&sheet->canvas, &output, problem) && output_commit(&output, problem);
    output_discard(&output);
    if (good)
        printf("%s: the %zu most used of %" PRIu64 " words, %zu x %zu pixels\n", path, sheet->count,
               sheet->centroids.header.shape[0], layout->width, layout->height);
    return good;
}

static void release(struct sheet *sheet) {
    for (size_t i = 0; i < sheet->count; i++) {
        free(sheet->words[i].nearest);
        free(sheet->words[i].patches);
    }
    free(sheet->words);
    free(sheet->centers);
    free(sheet->canvas.pixels);
    table_close(&sheet->features);
    table_close(&sheet->centroids);
    table_close(&sheet->assign);
}

static bool run(const struct request *request, struct problem *problem) {
    struct sheet sheet = {.per_word = request->per_word, .patch = request->choice.patch};
    bool good = open_tables(&sheet, request, problem) &&
                rank_words(&sheet, request->words, problem) && allocate_words(&sheet, problem) &&
                read_centers(&sheet, problem) && find_nearest(&sheet, problem) &&
                cut_patches(&sheet, &request->choice, problem) &&
                draw(&sheet, request->output, problem);
    release(&sheet);
    return good;
}

int verb_sheet(int argc, char **argv) {
    enum { OPTIONS = PATCH_OPTIONS + 6, WORDS_MOST = 1000000, PER_WORD_MOST = 1000 };
    struct request request = {.words = 200, .per_word = 12};
    struct problem problem;
    option_row options[OPTIONS] = {
        [PATCH_OPTIONS] = {"features", "FILE.npy", "the vectors that were clustered", OPTION_TEXT,
                           true, &request.features, 0, 0},
        {"centroids", "FILE.npy", "the words, uint8", OPTION_TEXT, true, &request.centroids, 0, 0},
        {"assign", "FILE.npy", "the word of each vector, int32", OPTION_TEXT, true, &request.assign,
         0, 0},
        {"words", "W", "draw the W most used words", OPTION_INTEGER, false, &request.words, 1,
         WORDS_MOST},
        {"per-word", "M", "draw M patches of each", OPTION_INTEGER, false, &request.per_word, 1,
         PER_WORD_MOST},
        {"output", "FILE.png", "the sheet", OPTION_TEXT, true, &request.output, 0, 0},
    };
    options_of_patches(&request.choice, options);
    options_state state = options_parse(argc, argv, usage, options, OPTIONS, &problem);
    bool good = state == OPTIONS_HELP || (state == OPTIONS_GOOD && run(&request, &problem));
    free(request.choice.paths.words);
    return good ? EXIT_SUCCESS : verb_failed(&problem);
}
