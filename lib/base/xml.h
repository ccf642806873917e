/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in drawings, which are SVG. */
#ifndef COLL_LIB_BASE_XML_H
#define COLL_LIB_BASE_XML_H

#include <stdio.h>

/* Writes TEXT to FILE as XML. */
static inline void coll_xml_write(FILE *file, const char *text) {
    for (; *text; text++)
        if (*text == '&' || *text == '<')
            fputs(*text == '&' ? "&amp;" : "&lt;", file);
        else
            fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
}

#endif
