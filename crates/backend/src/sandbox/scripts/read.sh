# A file whole: figures and rights, hash, bytes, hash, figures. $2 path, $3 most bytes, $4 names that links must not lead
# to.
place "$2" follow
under_its_own_name "$2" "$4"
regular "$T"
s=$(wc -c < "$T") || exit 78
if [ "$s" -gt "$3" ]; then
  echo $s
  exit 80
fi
f=$(figures "$T") || exit 71
echo "$f $(rights "$T")"
sum "$T" || exit 78
cat "$T" || exit 84
echo
sum "$T" || exit 71
figures "$T" || exit 71
