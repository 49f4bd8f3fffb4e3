# Which files may hold a text: their names on lines, also of those that cannot be read. $2 a folder, $3 the text, files in
# it on standard input. Fails where that cannot be told: no name on a line says that a file does not hold it.
trap drain EXIT
place "$2" follow
cd "$T" 2>/dev/null || exit 71
P=$3
export P
printf '%s\n' "$P" | grep -q -F -e "$P" || exit 85
# 1 is that none holds it, 2 that one of them could not be read: where that is none of those that are known, it may be any.
xargs -0 sh -c 'u=
for f; do
  [ -r "$f" ] && continue
  u=x
  printf "%s\n" "$f"
done
grep -s -l -F -e "$P" /dev/null "$@"
case $? in
  0 | 1) ;;
  2) [ -n "$u" ] || printf "%s\n" "$@" ;;
  *) exit 1 ;;
esac' sh || exit 85
