# Removes one file or link. $2 path, $3 hash of what is there; "any" asks for none.
place "$2" keep
[ -n "$Q" ] && exit 71
if [ ! -e "$T" ] && [ ! -L "$T" ]; then exit 77; fi
if [ ! -L "$T" ]; then
  [ -d "$T" ] && exit 77
  if [ "$3" != any ] && [ "$(sum "$T")" != "$3" ]; then exit 77; fi
fi
rm -f "$T" || exit 84
sync "$D" 2>/dev/null
exit 0
