# Many files in one go. $2 a folder, $3 a word that no file holds, $4 "hashed" where a line with its hash comes before
# each; files in it on standard input.
place "$2" follow
cd "$T" 2>/dev/null || exit 71
xargs -0 sh -c 'w=$1 s=$2; shift 2; for f; do
  if [ -f "$f" ] && [ -r "$f" ]; then
    printf "%s+" "$w"
    [ "$s" = hashed ] && eval "$SUM" < "$f"
    cat "$f"
  else
    printf "%s-" "$w"
  fi
done' sh "$3" "$4"
printf '%s.' "$3"
