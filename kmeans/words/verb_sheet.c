/* coll-words sheet: draws the most used visual words as the patches nearest to their centroids. */
#include "config.h"

#include "app/drawer.h"
#include "app/options.h"
#include "kmeans/words/exemplars.h"
#include "kmeans/words/words.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: coll-words sheet [OPTIONS] --features FILE.npy --centroids FILE.npy\n"
    "                        --assign FILE.npy --output FILE.png\n"
    "\n"
    "Draws the most used visual words: for each, the number of its patches, and the patches\n"
    "nearest to its centroid, nearest first. Words are ordered down the columns. Give the\n"
    "same --images, --limit, --patch and --stride as for the features.\n";

struct request {
    const char *features, *centroids, *assign, *output;
    uint64_t words, per_word;
    patch_choice choice;
};

/* --- A picture in memory: grey pixels on which patches and numbers are drawn --- */

enum { PIXELS_MOST = 1 << 28, DIGIT_WIDTH = 6, DIGIT_HEIGHT = 7, DIGIT_COLUMNS = 5 };

struct canvas {
    size_t width, height;
    uint8_t *pixels;
};

/* The ten digits, 5 x 7: one byte a row, with bit 4 at the left. */
static const uint8_t digit_rows[10][DIGIT_HEIGHT] = {
    {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}, {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e},
    {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f}, {0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e},
    {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}, {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e},
    {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e}, {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08},
    {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}, {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c},
};

/*
 * Creates a canvas of one grey; refuses more than PIXELS_MOST pixels. The caller frees its pixels.
 */
static bool begin_canvas(struct canvas *canvas, size_t width, size_t height, uint8_t grey,
                         app_problem *problem) {
    if (!width || !height || height > PIXELS_MOST / width)
        return app_refuse(problem, "a picture of %zu x %zu pixels is too large", width, height);
    canvas->pixels = malloc(width * height);
    if (!canvas->pixels)
        return app_refuse(problem, "out of memory");
    canvas->width = width;
    canvas->height = height;
    memset(canvas->pixels, grey, width * height);
    return true;
}

/* Fills a rectangle, which must be within the canvas. */
static void fill_rectangle(struct canvas *canvas, size_t x, size_t y, size_t width, size_t height,
                           uint8_t grey) {
    for (size_t row = y; row < y + height; row++)
        memset(canvas->pixels + row * canvas->width + x, grey, width);
}

/* Draws a PATCH x PATCH picture, each pixel as a square of SCALE; it must fit the canvas. */
static void draw_patch(struct canvas *canvas, size_t x, size_t y, const uint8_t *pixels,
                       size_t patch, size_t scale) {
    for (size_t row = 0; row < patch; row++)
        for (size_t column = 0; column < patch; column++)
            fill_rectangle(canvas, x + column * scale, y + row * scale, scale, scale,
                           pixels[row * patch + column]);
}

static void draw_digit(struct canvas *canvas, size_t x, size_t y, const uint8_t *rows, size_t scale,
                       uint8_t grey) {
    for (size_t row = 0; row < DIGIT_HEIGHT; row++)
        for (size_t column = 0; column < DIGIT_COLUMNS; column++)
            if (rows[row] >> (DIGIT_COLUMNS - 1 - column) & 1)
                fill_rectangle(canvas, x + column * scale, y + row * scale, scale, scale, grey);
}

/* Draws NUMBER in decimal digits that end at x; it must fit the canvas. */
static void draw_number(struct canvas *canvas, size_t x, size_t y, uint64_t number, size_t scale,
                        uint8_t grey) {
    do {
        x -= DIGIT_WIDTH * scale;
        draw_digit(canvas, x, y, digit_rows[number % 10], scale, grey);
        number /= 10;
    } while (number);
}

/* Returns the number of digits of NUMBER. */
static size_t count_digits(uint64_t number) {
    size_t digits = 1;
    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

/* --- The sheet --- */

/* The sheet's geometry, in pixels. */
struct layout {
    size_t scale, tile;           /* drawn pixels for a patch's pixel, and for a patch's side */
    size_t label;                 /* width of the numbers */
    size_t word_width, row_pitch; /* size of one word */
    size_t rows, columns;
    size_t width, height;
};

enum {
    TILE = 40, /* approximate side of a patch */
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

/* Computes the layout, with as many columns as make the sheet at least as wide as high. */
static struct layout lay_out(const struct exemplars *words, size_t per_word, size_t patch) {
    struct layout layout = {.scale = patch < TILE ? TILE / patch : 1};
    layout.tile = patch * layout.scale + 2; /* with a frame of one pixel */
    layout.label = count_digits(words->words[0].uses) * DIGIT_WIDTH * TEXT_SCALE + LABEL_GAP;
    layout.word_width = layout.label + per_word * (layout.tile + TILE_GAP) - TILE_GAP;
    layout.row_pitch = layout.tile + WORD_GAP;
    do {
        layout.columns++;
        layout.rows = (words->count + layout.columns - 1) / layout.columns;
        layout.width = 2 * MARGIN + layout.columns * (layout.word_width + COLUMN_GAP) - COLUMN_GAP;
        layout.height = 2 * MARGIN + layout.rows * layout.row_pitch - WORD_GAP;
    } while (layout.width < layout.height && layout.columns < words->count);
    return layout;
}

static void draw_word(struct canvas *canvas, const struct layout *layout, const struct word *word,
                      size_t patch, size_t x, size_t y) {
    size_t text_height = DIGIT_HEIGHT * TEXT_SCALE;
    draw_number(canvas, x + layout->label - LABEL_GAP, y + (layout->tile - text_height) / 2,
                word->uses, TEXT_SCALE, INK);
    x += layout->label;
    for (size_t i = 0; i < word->found; i++, x += layout->tile + TILE_GAP) {
        fill_rectangle(canvas, x, y, layout->tile, layout->tile, FRAME);
        draw_patch(canvas, x + 1, y + 1, word->patches + i * patch * patch, patch, layout->scale);
    }
}

static void draw(struct canvas *canvas, const struct layout *layout,
                 const struct exemplars *words) {
    for (size_t i = 0; i < words->count; i++) {
        size_t x = MARGIN + i / layout->rows * (layout->word_width + COLUMN_GAP);
        size_t y = MARGIN + i % layout->rows * layout->row_pitch;
        draw_word(canvas, layout, &words->words[i], words->patch, x, y);
    }
}

static bool make_sheet(const struct request *request, app_problem *problem) {
    struct exemplars words = {0};
    struct canvas canvas = {0};
    struct layout layout;
    bool good = false;
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--output", &request->output, 1, NULL},
                                  {APP_FILE_READ, "--features", &request->features, 1, NULL},
                                  {APP_FILE_READ, "--centroids", &request->centroids, 1, NULL},
                                  {APP_FILE_READ, "--assign", &request->assign, 1, NULL},
                                  patches_files(&request->choice)};
    if (!app_files_check(files, sizeof files / sizeof *files, problem))
        return false;
    if (!exemplars_open(&words, request->features, request->centroids, request->assign, problem) ||
        !exemplars_rank(&words, request->words, problem))
        goto release;
    /* The canvas is created first because its limit also bounds the memory of the patches. */
    layout = lay_out(&words, request->per_word, request->choice.patch);
    if (!begin_canvas(&canvas, layout.width, layout.height, BACKGROUND, problem) ||
        !exemplars_find(&words, request->per_word, &request->choice, problem))
        goto release;
    draw(&canvas, &layout, &words);
    good =
        app_png_write(request->output, false, canvas.width, canvas.height, canvas.pixels, problem);
    if (good)
        printf("%s: the %zu most used of %" PRIu64 " words, %zu x %zu pixels\n", request->output,
               words.count, words.centroids.header.shape[0], layout.width, layout.height);
release:
    free(canvas.pixels);
    exemplars_close(&words);
    return good;
}

bool verb_sheet(int argc, char **argv, app_problem *problem) {
    enum { WORDS_MOST = 1000000, PER_WORD_MOST = 1000 };
    struct request request = {.words = 200, .per_word = 12, .choice = default_patches};
    const app_option options[] = {
        PATCH_OPTIONS(&request.choice),
        {"features", "FILE.npy", "the vectors that were clustered", .text = &request.features,
         .required = true},
        {"centroids", "FILE.npy", "the words, uint8", .text = &request.centroids, .required = true},
        {"assign", "FILE.npy", "the word of each vector, int32", .text = &request.assign,
         .required = true},
        {"words", "W", "draw the W most used words", .size = &request.words, .least = 1,
         .most = WORDS_MOST},
        {"per-word", "M", "draw M patches of each", .size = &request.per_word, .least = 1,
         .most = PER_WORD_MOST},
        {"output", "FILE.png", "the sheet", .text = &request.output, .required = true},
    };
    const app_command command = {"coll-words sheet", usage, NULL, APP_TABLE(options)};
    bool good = app_parse(&command, argc, argv, problem) && make_sheet(&request, problem);
    app_words_free(&request.choice.paths);
    return good;
}
