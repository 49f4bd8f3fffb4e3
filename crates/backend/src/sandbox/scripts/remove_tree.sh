# Removes what a survey found: names in a folder on standard input, folders after what is in them. $2 the folder.
place "$2" keep
cd "$T" 2>/dev/null || exit 77
xargs -0 sh -c 'for f; do
  if [ "$f" != . ]; then
    if [ -d "$f" ] && [ ! -L "$f" ]; then rmdir "$f" || exit 84; else rm -f "$f" || exit 84; fi
  fi
done' sh || exit 84
cd / && rmdir "$T" || exit 84
sync "$D" 2>/dev/null
exit 0
