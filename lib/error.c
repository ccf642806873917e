#include "config.h"

#include "lib/error.h"

#include "lib/plain.h"

#include <stdarg.h>
#include <stdio.h>

/* One code per class, made on first use: codes can't be given back, so their texts are replaced. */
static int code_of_class(int error_class) {
#ifdef HAVE_MPI_ADD_ERROR_CODE
    enum { KNOWN = 128 };
    static int codes[KNOWN];
    if (error_class < 0 || error_class >= KNOWN)
        return error_class;
    if (!codes[error_class] && MPI_Add_error_code(error_class, &codes[error_class]) != MPI_SUCCESS)
        codes[error_class] = 0;
    return codes[error_class] ? codes[error_class] : error_class;
#else
    return error_class;
#endif
}

int coll_error(int error_class, const char *format, ...) {
    char text[MPI_MAX_ERROR_STRING];
    va_list arguments;
    va_start(arguments, format);
    locale_t before = coll_plain_begin();
    vsnprintf(text, sizeof text, format, arguments);
    coll_plain_end(before);
    va_end(arguments);

    int code = code_of_class(error_class);
#ifdef HAVE_MPI_ADD_ERROR_CODE
    if (code != error_class)
        MPI_Add_error_string(code, text);
#endif
    return code;
}

int coll_raise(MPI_Comm comm, int code) {
    if (code != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(comm, code);
    return code;
}
