/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the words of text files with all ranks, and prints the most frequent.
 *
 *     mpirun -n 4 wordcount --top 10 book.txt another.txt
 *
 * Every rank reads its part of each file and adds each word to its pool: the key is a hash of the
 * word, the value its text and a count. COLL_Aggregate then combines all pools into rank 0's. The
 * program needs only MPI and coll.h.
 *
 * A word is a run of ASCII letters, ASCII digits and bytes beyond ASCII (so UTF-8 text works).
 * ASCII letters are converted to lower case. Words longer than 55 bytes are cut to 55 bytes.
 */
#include <coll.h>

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value of the pool, which has a fixed size. */
typedef struct entry {
    uint64_t count;
    char word[56]; /* padded with zeros */
} entry;

/*
 * Adds FROM's count to INTO's. Two words with the same 64-bit hash would count as one, with the
 * text that sorts first, so that the result does not depend on the order of arrival.
 */
static void add_counts(void *into, const void *from, size_t bytes, void *context) {
    (void)bytes, (void)context;
    entry *to = into;
    const entry *other = from;
    to->count += other->count;
    if (strcmp(other->word, to->word) < 0)
        memcpy(to->word, other->word, sizeof to->word);
}

/* FNV-1a. */
static uint64_t hash_of(const char *word) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *word; word++)
        hash = (hash ^ (unsigned char)*word) * UINT64_C(1099511628211);
    return hash;
}

static bool in_word(int c) {
    return c != EOF && (isalnum(c) || c >= 128);
}

/*
 * Adds the words of FILE that begin in bytes [FROM, TO) to POOL. A word that begins before FROM
 * belongs to a lower rank; a word that extends beyond TO is read to its end.
 */
static int count_range(FILE *file, long from, long to, COLL_Pool *pool) {
    long at = from;
    if (from > 0) {
        if (fseek(file, from - 1, SEEK_SET) != 0)
            return MPI_ERR_IO;
        if (in_word(getc(file)))
            while (in_word(getc(file)))
                at++;
        if (fseek(file, at, SEEK_SET) != 0)
            return MPI_ERR_IO;
    }

    while (at < to) {
        int c = getc(file);
        at++;
        if (c == EOF)
            break;
        if (!in_word(c))
            continue;
        entry found = {.count = 1};
        size_t length = 0;
        for (; in_word(c); c = getc(file), at++)
            if (length < sizeof found.word - 1)
                found.word[length++] = (char)tolower(c);
        int code = COLL_Pool_add(pool, hash_of(found.word), &found);
        if (code != MPI_SUCCESS)
            return code;
    }
    return ferror(file) ? MPI_ERR_IO : MPI_SUCCESS;
}

/* Counts this rank's part of the file at PATH. Prints a message and returns false if that fails. */
static bool count_file(const char *path, int rank, int ranks, COLL_Pool *pool) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "wordcount: %s: %s\n", path, strerror(errno));
        return false;
    }
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    int code = MPI_ERR_IO;
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        long part = size / ranks, rest = size % ranks;
        long from = part * rank + (rank < rest ? rank : rest);
        long to = from + part + (rank < rest);
        code = count_range(file, from, to, pool);
    }
    fclose(file);
    if (code == MPI_ERR_IO)
        fprintf(stderr, "wordcount: %s: can't be read; it must be a regular file\n", path);
    else if (code != MPI_SUCCESS)
        fprintf(stderr, "wordcount: %s: too many words for this machine's memory\n", path);
    return code == MPI_SUCCESS;
}

/* All the pool's entries, for sorting by count. */
typedef struct list {
    const entry **entries;
    size_t length;
} list;

static int append_entry(uint64_t key, const void *value, void *context) {
    (void)key;
    list *words = context;
    words->entries[words->length++] = value;
    return 0;
}

/* Orders words by frequency, the most frequent first, and then alphabetically. */
static int by_count(const void *a, const void *b) {
    const entry *x = *(const entry *const *)a, *y = *(const entry *const *)b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->word, y->word);
}

static bool print_top(const COLL_Pool *pool, size_t top) {
    list words = {.entries = malloc((COLL_Pool_size(pool) + 1) * sizeof *words.entries)};
    if (!words.entries || COLL_Pool_visit(pool, append_entry, &words) != 0) {
        fprintf(stderr, "wordcount: no memory to sort %zu words\n", COLL_Pool_size(pool));
        free(words.entries);
        return false;
    }
    qsort(words.entries, words.length, sizeof *words.entries, by_count);
    for (size_t i = 0; i < top && i < words.length; i++)
        printf("%10llu %s\n", (unsigned long long)words.entries[i]->count, words.entries[i]->word);
    free(words.entries);
    return true;
}

/* Returns true on every rank if MINE is true on every rank. */
static bool is_true_everywhere(bool mine) {
    int good = mine, all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all;
}

/*
 * Returns whether all files can be opened. Rank 0 checks this first, so that an error is one line,
 * not one from each rank.
 */
static bool can_read(char **paths, int count) {
    for (int i = 0; i < count; i++) {
        FILE *file = fopen(paths[i], "rb");
        if (!file) {
            fprintf(stderr, "wordcount: %s: %s\n", paths[i], strerror(errno));
            return false;
        }
        fclose(file);
    }
    return true;
}

static bool count_words(char **paths, int count, size_t top) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!is_true_everywhere(rank != 0 || can_read(paths, count)))
        return false;

    COLL_Pool *pool = NULL;
    bool good = COLL_Pool_create(sizeof(entry), add_counts, NULL, &pool) == MPI_SUCCESS;
    for (int i = 0; good && i < count; i++)
        good = count_file(paths[i], rank, ranks, pool);
    good = is_true_everywhere(good);
    if (good) {
        /* If this fails, MPI_COMM_WORLD's error handler ends the program. */
        COLL_Aggregate(pool, 0, MPI_COMM_WORLD, NULL);
        good = is_true_everywhere(rank != 0 || print_top(pool, top));
    }
    COLL_Pool_free(&pool);
    return good;
}

static const char usage[] =
    "Usage: wordcount [--top N] FILE...\n"
    "Counts the words of the files and prints the N most frequent (default 20).\n";

/* Parses the options. Returns true if there is work to do; if not, *STATUS is the exit status. */
static bool read_options(int argc, char **argv, bool talk, size_t *top, int *status) {
    static const struct option options[] = {
        {"top", required_argument, NULL, 't'}, {"help", no_argument, NULL, 'h'}, {0}};
    opterr = talk;
    *status = EXIT_FAILURE;
    for (int option; (option = getopt_long(argc, argv, "t:h", options, NULL)) != -1;) {
        char *end = NULL;
        switch (option) {
        case 't':
            errno = 0;
            *top = strtoul(optarg, &end, 10);
            if (isdigit((unsigned char)*optarg) && !*end && !errno)
                break;
            if (talk)
                fprintf(stderr, "wordcount: --top %s: give a number, as in --top 20\n", optarg);
            return false;
        case 'h':
            if (talk)
                fputs(usage, stdout);
            *status = EXIT_SUCCESS;
            return false;
        default: /* getopt has printed the error */
            return false;
        }
    }
    if (optind < argc)
        return true;
    if (talk)
        fputs("wordcount: name at least one file; --help tells more\n", stderr);
    return false;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, status;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    size_t top = 20;
    if (read_options(argc, argv, rank == 0, &top, &status))
        status = count_words(argv + optind, argc - optind, top) ? EXIT_SUCCESS : EXIT_FAILURE;
    MPI_Finalize();
    return status;
}
