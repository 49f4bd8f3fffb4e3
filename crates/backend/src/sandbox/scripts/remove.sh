# Removes one file, link or what is neither, where it is still as it was recorded. $2 path, $3 what is there: "file" or
# "link" with its hash, or "special".
place "$2" keep
[ -n "$Q" ] && exit 71
# From the folder that this shell is in, which stays the same one whatever others put in the way to it.
T=./$N
L=
trap let_go EXIT
trap 'exit 90' HUP INT TERM
s=$(state "$T")
n=
if [ -L "$T" ]; then
  n="link $(readlink "$T" | eval "$SUM")"
elif [ -d "$T" ]; then
  exit 77
elif [ -f "$T" ]; then
  n="file $(sum "$T")"
elif [ -e "$T" ]; then
  n=special
fi
[ "$n" = "$3" ] || exit 77
hold
# A large one took its time to be looked at.
[ "$(state "$T")" = "$s" ] || exit 77
rm -f "$T" || exit 84
let_go
sync . 2>/dev/null
exit 0
