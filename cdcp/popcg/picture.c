#include "config.h"

#include "cdcp/popcg/picture.h"

#include "app/agreement.h"
#include "app/drawer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 3, LAND = 96, TAG = 0 };

struct picture {
    size_t columns, rows;
    unsigned char *pixels; /* CHANNELS a pixel, all LAND at first */
};

static void paint(struct picture *picture, size_t column, size_t row, double height) {
    double strength = fmin(fabs(height), 1);
    unsigned char pale = (unsigned char)lrint(255 * (1 - strength));
    unsigned char full = (unsigned char)lrint(255 - 75 * strength);
    size_t pixel = (picture->rows - 1 - row) * picture->columns + column;
    picture->pixels[pixel * CHANNELS] = height > 0 ? full : pale;
    picture->pixels[pixel * CHANNELS + 1] = pale;
    picture->pixels[pixel * CHANNELS + 2] = height > 0 ? pale : full;
}

static void paint_block(struct picture *picture, const struct mask *mask, const struct block *block,
                        const double *field, double most) {
    struct shape shape = {block->width, block->height};
    for (size_t row = 0; row < block->height; row++)
        for (size_t column = 0; column < block->width; column++) {
            size_t i = block->first_column + column, j = block->first_row + row;
            double height = field[field_at(shape, (long)column, (long)row)];
            if (mask_is_ocean(mask, (long)i, (long)j))
                paint(picture, i, j, most > 0 ? height / most : 0);
        }
}

/* The cells of the largest block's field. */
static size_t most_cells(const struct layout *layout) {
    size_t most = 0;
    for (int rank = 0; rank < layout->blocks; rank++) {
        struct block block = layout_block(layout, rank);
        size_t cells = field_cells((struct shape){block.width, block.height});
        most = cells > most ? cells : most;
    }
    return most;
}

/* Paints the blocks of ranks 1 and up, which come one by one into FIELD. */
static bool receive_blocks(struct picture *picture, const struct layout *layout,
                           const struct mask *mask, double *field, double most, MPI_Comm comm,
                           app_problem *problem) {
    for (int rank = 1; rank < layout->blocks; rank++) {
        struct block block = layout_block(layout, rank);
        size_t cells = field_cells((struct shape){block.width, block.height});
        if (!app_mpi(problem,
                     MPI_Recv(field, (int)cells, MPI_DOUBLE, rank, TAG, comm, MPI_STATUS_IGNORE)))
            return false;
        paint_block(picture, mask, &block, field, most);
    }
    return true;
}

static bool send_block(const struct layout *layout, int rank, const double *x, MPI_Comm comm,
                       app_problem *problem) {
    struct block block = layout_block(layout, rank);
    size_t cells = field_cells((struct shape){block.width, block.height});
    return !block.width || app_mpi(problem, MPI_Send(x, (int)cells, MPI_DOUBLE, 0, TAG, comm));
}

bool picture_write(const char *path, const struct layout *layout, const struct mask *mask,
                   const double *x, double most, MPI_Comm comm, app_problem *problem) {
    int rank = app_rank(comm);
    size_t bytes = mask->columns * mask->rows * CHANNELS;
    struct picture picture = {.columns = mask->columns, .rows = mask->rows};
    struct block first = layout_block(layout, 0);
    double *field = NULL;
    if (rank == 0) {
        picture.pixels = malloc(bytes);
        field = malloc(most_cells(layout) * sizeof *field);
        if (!picture.pixels || !field)
            app_refuse(problem, "out of memory");
    }
    bool good = app_agree(problem, comm);
    if (good && rank == 0) {
        memset(picture.pixels, LAND, bytes);
        paint_block(&picture, mask, &first, x, most);
        if (receive_blocks(&picture, layout, mask, field, most, comm, problem))
            app_png_write(path, true, picture.columns, picture.rows, picture.pixels, problem);
    } else if (good) {
        send_block(layout, rank, x, comm, problem);
    }
    free(picture.pixels);
    free(field);
    return good && app_agree(problem, comm);
}
