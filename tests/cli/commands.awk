# SPDX-License-Identifier: BSD-3-Clause
# Takes the commands out of Markdown files: lines that are indented by four or more behind an empty one.
#
#   awk -v into=DIRECTORY -f commands.awk FILE.md...
#
# A block of them becomes DIRECTORY/NUMBER.sh, and a line "NUMBER FILE:LINE WHY" says where it is; WHY is
# what a comment before it gives as the reason not to run it, in "<!-- not run: WHY -->". Code of other
# languages, between lines of ```, is left out. What is said of options in the text, `--option` or
# `program --option`, goes to DIRECTORY/spans, a line "FILE:LINE TEXT" each.

function end() {
    if (number && inside)
        close(script)
    inside = 0
    why = ""
}

FNR == 1 {
    end()
    code = 0
    blank = 1
    file = FILENAME
    sub(/.*\/docs\//, "docs/", file)
    sub(/.*\//, "", file)
    if (FILENAME ~ /\/docs\//)
        file = "docs/" file
}
/^ *```/ {
    code = !code
    next
}
code {
    next
}
/^ *$/ {
    blank = 1
    next
}
/^ *<!-- not run: .* -->$/ {
    end()
    why = $0
    sub(/^ *<!-- not run: /, "", why)
    sub(/ -->$/, "", why)
    next
}
/^    / && (inside || blank) {
    if (!inside) {
        script = sprintf("%s/%02d.sh", into, ++number)
        printf "%02d %s:%d %s\n", number, file, FNR, why
        inside = 1
    }
    print >script
    next
}
{
    end()
    blank = 0
    text = $0
    while (match(text, /`[^`]+`/)) {
        span = substr(text, RSTART + 1, RLENGTH - 2)
        if (span ~ /(^| )--[a-z]/)
            print file ":" FNR " " span >(into "/spans")
        text = substr(text, RSTART + RLENGTH)
    }
}
