# A file whole: figures, hash, bytes, hash, figures. $2 path, $3 most bytes, $4 follow or keep.
place "$2" "$4"
regular "$T"
s=$(wc -c < "$T") || exit 78
if [ "$s" -gt "$3" ]; then
  echo $s
  exit 80
fi
figures "$T" || exit 71
sum "$T" || exit 78
cat "$T" || exit 84
echo
sum "$T" || exit 71
figures "$T" || exit 71
