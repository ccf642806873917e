/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/error.h"

#include "lib/base/abort.h"
#include "lib/base/c_locale.h"
#include "lib/base/reserve_alloc.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The bits that MPI_Add_error_code omits from new codes: 0, or in MPICH 4.0 the bit that marks
 * codes with texts. */
static _Atomic int missing;

int coll_error_class(int code) {
    int error_class = code;
    PMPI_Error_class(code, &error_class);
    return error_class > missing ? error_class - missing : error_class;
}

#ifdef HAVE_MPI_ADD_ERROR_CODE
/*
 * MPI error codes cannot be freed, so each thread reuses one code per class and replaces its text.
 * The codes of a thread that has ended pass to the next thread that needs some.
 */
enum { CLASSES = 128 };
typedef struct codes {
    int of_class[CLASSES]; /* the code of each class; 0 if not created yet */
    struct codes *next;
} codes;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static codes *unused;
static pthread_key_t owner;
static bool owner_made;

static void release_codes(void *thread_codes) {
    codes *given = thread_codes;
    pthread_mutex_lock(&lock);
    given->next = unused;
    unused = given;
    pthread_mutex_unlock(&lock);
}

static void make_owner(void) {
    owner_made = pthread_key_create(&owner, release_codes) == 0;
}

/* Returns this thread's codes, or NULL if out of memory. */
static codes *own_codes(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_owner);
    if (!owner_made)
        return NULL;
    codes *mine = pthread_getspecific(owner);
    if (mine)
        return mine;
    pthread_mutex_lock(&lock);
    mine = unused;
    unused = mine ? mine->next : NULL;
    pthread_mutex_unlock(&lock);
    if (!mine)
        mine = coll_reserve_calloc(1, sizeof *mine);
    if (mine && pthread_setspecific(owner, mine) != 0) {
        release_codes(mine);
        mine = NULL;
    }
    return mine;
}

/*
 * Adds a code of ERROR_CLASS. New codes must be above MPI_ERR_LASTCODE; MPICH 4.0 omits the bit
 * that puts them there.
 */
static int new_code(int error_class, int *code) {
    int error = MPI_Add_error_code(error_class, code);
    if (error == MPI_SUCCESS && *code <= MPI_ERR_LASTCODE) {
        missing = MPI_ERR_LASTCODE + 1;
        *code += missing;
    }
    return error;
}

static int code_of_class(int error_class) {
    codes *mine = error_class >= 0 && error_class < CLASSES ? own_codes() : NULL;
    if (!mine)
        return error_class;
    int *code = &mine->of_class[error_class];
    pthread_mutex_lock(&lock);
    if (!*code && new_code(error_class, code) != MPI_SUCCESS)
        *code = 0;
    pthread_mutex_unlock(&lock);
    return *code ? *code : error_class;
}
#else
static int code_of_class(int error_class) {
    return error_class;
}
#endif

static _Thread_local struct {
    char *text; /* buffer that receives texts; NULL: MPI receives them */
    size_t size;
    bool returned; /* errors are only returned: no handler is called */
} error_mode;

void coll_error_divert(char *text, size_t size) {
    error_mode.text = text;
    error_mode.size = size;
}

bool coll_error_return(bool returned) {
    bool before = error_mode.returned;
    error_mode.returned = returned;
    return before;
}

/* The longest text of an error. Open MPI 6's ABI allows 512 bytes, but its memory has 256. */
#ifdef COLL_MPI_ABI
enum { LONGEST_TEXT = 256 };
#else
enum { LONGEST_TEXT = MPI_MAX_ERROR_STRING };
#endif

int coll_error(int error_class, const char *format, ...) {
    char text[LONGEST_TEXT];
    va_list arguments;
    va_start(arguments, format);
    locale_t before = coll_c_locale_begin();
    vsnprintf(text, sizeof text, format, arguments);
    coll_c_locale_end(before);
    va_end(arguments);
    if (error_mode.text) {
        snprintf(error_mode.text, error_mode.size, "%s", text);
        return error_class;
    }

    int code = code_of_class(error_class);
#ifdef HAVE_MPI_ADD_ERROR_CODE
    if (code != error_class)
        MPI_Add_error_string(code, text);
#endif
    return code;
}

void coll_call_handler(MPI_Comm comm, int code) {
    if (!error_mode.returned)
        coll_abort_by_handler(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, code);
}

void coll_error_list(char *list, size_t size, const char *item) {
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", item);
}
