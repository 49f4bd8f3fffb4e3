# What the root is called, and whether it has an entry of its own by the first part of that: "own" or nothing, NUL after
# each.
q=${R#/}
[ -n "$R" ] && [ -e "$R/${q%%/*}" ] && o=own
printf '%s\0%s\0' "${R:-/}" "$o"
