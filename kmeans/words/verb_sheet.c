/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-words sheet: draws the most used visual words as the patches nearest to their centroids. */
#include "config.h"

#include "app/canvas.h"
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

/* The sheet's geometry, in pixels. */
struct layout {
    size_t scale, tile;           /* drawn pixels for a patch's pixel, and for a patch's side */
    size_t label;                 /* width of the numbers */
    size_t word_width, row_pitch; /* size of one word */
    size_t rows, columns;
    size_t width, height;
    char title[3][64];
};

enum {
    PIXELS_MOST = 1 << 28,
    TILE = 40, /* approximate side of a patch */
    TILE_GAP = 2,
    WORD_GAP = 10,
    COLUMN_GAP = 36,
    LABEL_GAP = 8,
    MARGIN = 36,
    TEXT_SCALE = 2,
    LINE_PITCH = APP_LINE_HEIGHT * TEXT_SCALE,
    TITLE = 4 * LINE_PITCH, /* height of the title with the gap below it */
    BACKGROUND = 246,
    FRAME = 214,
    INK = 96,
    TITLE_INK = 32
};

/*
 * Computes the layout, with the fewest columns that make the sheet at least as wide as high, if
 * there are enough words. The sheet is also at least as wide as its title.
 */
static struct layout lay_out(const struct exemplars *words, size_t per_word, size_t patch) {
    struct layout layout = {.scale = patch < TILE ? TILE / patch : 1};
    char uses[32];
    snprintf(uses, sizeof uses, "%" PRIu64, words->words[0].uses);
    snprintf(layout.title[0], sizeof layout.title[0],
             "The %zu most used of %" PRIu64 " visual words", words->count,
             words->centroids.header.shape[0]);
    snprintf(layout.title[1], sizeof layout.title[1], "Each row is a word: its number of patches,");
    snprintf(layout.title[2], sizeof layout.title[2],
             "and those nearest to its centroid, nearest first");
    layout.tile = patch * layout.scale + 2; /* with a frame of one pixel */
    layout.label = app_canvas_text_width(uses, TEXT_SCALE) + LABEL_GAP;
    layout.word_width = layout.label + per_word * (layout.tile + TILE_GAP) - TILE_GAP;
    layout.row_pitch = layout.tile + WORD_GAP;
    do {
        layout.columns++;
        layout.rows = (words->count + layout.columns - 1) / layout.columns;
        layout.width = 2 * MARGIN + layout.columns * (layout.word_width + COLUMN_GAP) - COLUMN_GAP;
        layout.height = 2 * MARGIN + TITLE + layout.rows * layout.row_pitch - WORD_GAP;
    } while (layout.width < layout.height && layout.columns < words->count);
    for (size_t i = 0; i < sizeof layout.title / sizeof *layout.title; i++) {
        size_t width = 2 * MARGIN + app_canvas_text_width(layout.title[i], TEXT_SCALE);
        layout.width = layout.width > width ? layout.width : width;
    }
    return layout;
}

/* Draws a PATCH x PATCH picture, each pixel as a square of SCALE; it must fit the canvas. */
static void draw_patch(app_canvas *canvas, size_t x, size_t y, const uint8_t *pixels, size_t patch,
                       size_t scale) {
    for (size_t row = 0; row < patch; row++)
        for (size_t column = 0; column < patch; column++)
            app_canvas_fill(canvas, x + column * scale, y + row * scale, scale, scale,
                            pixels[row * patch + column]);
}

static void draw_word(app_canvas *canvas, const struct layout *layout, const struct word *word,
                      size_t patch, size_t x, size_t y) {
    char uses[32];
    snprintf(uses, sizeof uses, "%" PRIu64, word->uses);
    app_canvas_text(canvas, x + layout->label - LABEL_GAP - app_canvas_text_width(uses, TEXT_SCALE),
                    y + (layout->tile - APP_LETTER_HEIGHT * TEXT_SCALE) / 2, uses, TEXT_SCALE, INK);
    x += layout->label;
    for (size_t i = 0; i < word->found; i++, x += layout->tile + TILE_GAP) {
        app_canvas_fill(canvas, x, y, layout->tile, layout->tile, FRAME);
        draw_patch(canvas, x + 1, y + 1, word->patches + i * patch * patch, patch, layout->scale);
    }
}

static void draw(app_canvas *canvas, const struct layout *layout, const struct exemplars *words) {
    for (size_t i = 0; i < sizeof layout->title / sizeof *layout->title; i++)
        app_canvas_text(canvas, MARGIN, MARGIN + i * LINE_PITCH, layout->title[i], TEXT_SCALE,
                        TITLE_INK);
    for (size_t i = 0; i < words->count; i++) {
        size_t x = MARGIN + i / layout->rows * (layout->word_width + COLUMN_GAP);
        size_t y = MARGIN + TITLE + i % layout->rows * layout->row_pitch;
        draw_word(canvas, layout, &words->words[i], words->patch, x, y);
    }
}

/* Creates the canvas of the sheet; refuses a sheet that is too large. */
static bool open_canvas(app_canvas *canvas, const struct layout *layout, app_problem *problem) {
    if (layout->height > PIXELS_MOST / layout->width)
        return app_refuse(problem, "a picture of %zu x %zu pixels is too large", layout->width,
                          layout->height);
    return app_canvas_open(canvas, layout->width, layout->height, false, BACKGROUND, problem);
}

static bool make_sheet(const struct request *request, app_problem *problem) {
    struct exemplars words = {0};
    app_canvas canvas = {0};
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
    if (!open_canvas(&canvas, &layout, problem) ||
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
