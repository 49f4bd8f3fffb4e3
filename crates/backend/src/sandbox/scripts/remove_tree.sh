# Removes what a survey found and what is still as it was recorded. $2 the folder. On standard input, NUL after each, what
# is there, a slash and its name in the folder: "file" or "link" with its hash, "special", or "folder", each of these
# after what is in it.
trap drain EXIT
place "$2" keep
[ -n "$Q" ] && exit 77
cd -P "./$N" 2>/dev/null || exit 77
d=$(pwd -P; echo x)
# A link came in its place.
[ "${d%??}" = "$T" ] || exit 77
k=$(xargs -0 sh -c 'sum() { eval "$SUM"; }
o=
V=0
for g; do
  h=${g%%/*} f=${g#*/} n=
  # As `hold` does, one folder after the other.
  if [ "${f%/*}" != "$o" ]; then
    o=${f%/*}
    if [ -r "$o" ]; then exec 9<"$o" && eval "$WAIT"; fi
  fi
  if [ -L "$f" ]; then n="link $(readlink "$f" | sum)"
  elif [ -d "$f" ]; then n=folder
  elif [ -f "$f" ]; then [ "$h" = special ] || n="file $(sum < "$f")"
  elif [ -e "$f" ]; then n=special
  fi
  if [ "$n" != "$h" ]; then echo changed; exit 255; fi
  if [ "$n" = folder ]; then rmdir "$f" || exit 255; else rm -f "$f" || exit 255; fi
done' sh)
e=$?
[ "$k" = changed ] && exit 77
[ $e = 0 ] || exit 84
cd -P .. && rmdir "./$N" || exit 84
sync . 2>/dev/null
exit 0
