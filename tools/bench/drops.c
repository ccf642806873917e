#include "config.h"

#include "tools/bench/drops.h"

#include <math.h>
#include <stdio.h>

bool drops_count(const char *command, double *count) {
    FILE *output = popen(command, "r");
    if (!output)
        return false;
    double number = -1;
    bool good = fscanf(output, "%lf", &number) == 1 && isfinite(number) && number >= 0;
    if (pclose(output) != 0 || !good)
        return false;
    *count = number;
    return true;
}
