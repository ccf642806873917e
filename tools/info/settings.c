#include "config.h"

#include "tools/info/settings.h"

#include <coll.h>

#include <stdio.h>
#include <stdlib.h>

int settings_main(void) {
    for (const COLL_Setting *s = COLL_Settings(); s->name; s++)
        printf("%s\n    sets     %s\n    values   %s\n    default  %s\n", s->name, s->help,
               s->values, s->default_value);
    return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
