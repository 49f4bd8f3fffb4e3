# Puts standard input in the place of a file in one step. $2 path, $3 hash of what is there or "absent", $4 bytes, $5
# checksum, $6 name to wait under, $7 names that links must not lead to.
place "$2" follow
under_its_own_name "$2" "$7"
[ -z "$N" ] && exit 73
[ -z "$Q" ] && [ -d "$T" ] && exit 73
# What this user may not do is said by who tries it.
[ "$3" = absent ] && [ "$(rights "${D:-/}")" = ro ] && exit 79
B=$D
D=$D${Q:+/${Q%/}}
M=$D/$6
# What did not come leaves nothing behind, nor the folders that were made for it.
clear() {
  rm -f "$M"
  q=${Q%/}
  while [ -n "$q" ]; do
    rmdir "$B/$q" 2>/dev/null
    case $q in */*) q=${q%/*} ;; *) q= ;; esac
  done
}
trap clear EXIT
trap 'exit 90' HUP INT TERM
if [ -n "$Q" ]; then
  [ "$3" = absent ] || exit 77
  mkdir -p "$D" || exit 84
fi
if [ "$3" = absent ]; then
  if [ -e "$T" ] || [ -L "$T" ]; then exit 77; fi
else
  [ -f "$T" ] || exit 77
  changeable "$T"
  # The copy brings mode, owner and, where they can be kept, extended attributes along.
  cp -a "$T" "$M" 2>/dev/null || cp -p "$T" "$M" || exit 84
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
Q=
sync "$D" 2>/dev/null
figures "$T"
