# Puts standard input in the place of a file in one step. $2 path, $3 hash of what is there or "absent", $4 bytes, $5
# checksum, $6 name to wait under.
place "$2" follow
[ -z "$N" ] && exit 73
[ -z "$Q" ] && [ -d "$T" ] && exit 73
if [ -n "$Q" ]; then
  [ "$3" = absent ] || exit 77
  mkdir -p "$D/$Q" || exit 84
  D=$D/${Q%/}
fi
M=$D/$6
trap 'rm -f "$M"' EXIT
trap 'exit 90' HUP INT TERM
if [ "$3" = absent ]; then
  if [ -e "$T" ] || [ -L "$T" ]; then exit 77; fi
else
  [ -f "$T" ] || exit 77
  [ -w "$T" ] || exit 78
  # The copy brings mode and owner along.
  cp -p "$T" "$M" || exit 84
fi
cat > "$M" || exit 84
[ "$(($(wc -c < "$M")))" = "$4" ] || exit 83
# Most places can tell more than the length; some small ones cannot.
if k=$(cksum < "$M" 2>/dev/null); then
  [ "${k%% *}" = "$5" ] || exit 83
fi
sync "$M" 2>/dev/null
if [ "$3" = absent ]; then
  if ! ln "$M" "$T" 2>/dev/null; then
    if [ -e "$T" ] || [ -L "$T" ]; then exit 77; fi
    mv "$M" "$T" || exit 84
  fi
else
  [ "$(sum "$T")" = "$3" ] || exit 77
  mv -f "$M" "$T" || exit 84
fi
sync "$D" 2>/dev/null
figures "$T"
