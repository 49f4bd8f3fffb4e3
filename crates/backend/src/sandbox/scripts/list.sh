# What is directly in a folder. $2 path, $3 a word that no name holds.
place "$2" follow
[ -n "$Q" ] && exit 71
if [ ! -d "$T" ]; then
  [ -e "$T" ] && exit 72
  exit 71
fi
cd "$T" 2>/dev/null && [ -r . ] || exit 78
if stat -c %f . >/dev/null 2>&1; then
  find . ! -name . -prune -exec stat -c "$3 %f %s %Y %h %n" {} +
elif stat -f %Xp . >/dev/null 2>&1; then
  find . ! -name . -prune -exec stat -f "$3 %Xp %z %m %l %N" {} +
else
  find . ! -name . -prune -print0 | xargs -0 sh -c 'w=$1; shift; for f; do
    l=$(ls -ldn "$f" | head -n 1); g=$f
    set -- $l
    case $1 in d*) t=4000 ;; l*) t=a000 ;; -*) t=8000 ;; *) t=1000 ;; esac
    printf "%s %s %s 0 %s %s\n" "$w" $t "$5" "$2" "$g"
  done' sh "$3"
fi
echo "$3."
