# SPDX-License-Identifier: BSD-3-Clause
# Makes Doxygen's comments of those in a header: what stands above a declaration is said of it and of all
# that follow up to the next comment, what stands behind a member of that member.

# The file's own comment comes first.
FNR == 1 && /SPDX/ {
    next
}
FNR <= 2 && /^\/\*/ {
    print "/** @file"
    own = 1
    next
}
own {
    print
    own = !/\*\//
    next
}
/^(typedef )?(struct|enum).*\{$/ || /^extern "C" \{$/ {
    inside = 1
    if (/^extern/)
        inside = 0
    else
        print text
}
inside {
    sub(/\/\* /, "/**< ")
    inside = !/^\}/
    print
    next
}
/^\/\*/ {
    text = "/**" substr($0, 3)
    open = !/\*\//
    next
}
open {
    text = text "\n" $0
    open = !/\*\//
    next
}
# A declaration begins: not in the middle of one, and no line of the preprocessor but a definition.
/^[a-z#]/ && !/^#(if|endif|include|ifn?def|define COLL_(TOOLS_|KMEANS_)?H$)/ && !/^extern/ && text != "" {
    print text
}
{
    print
}
