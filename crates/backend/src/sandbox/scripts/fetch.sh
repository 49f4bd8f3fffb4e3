# Many files in one go. $2 a folder, $3 a word that no file holds, files in it on standard input.
place "$2" follow
cd "$T" 2>/dev/null || exit 71
xargs -0 sh -c 'w=$1; shift; for f; do
  if [ -f "$f" ] && [ -r "$f" ]; then printf "%s+" "$w"; cat "$f"; else printf "%s-" "$w"; fi
done' sh "$3"
printf '%s.' "$3"
