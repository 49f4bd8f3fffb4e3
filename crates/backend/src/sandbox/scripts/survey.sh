# What a delete meets. Figures, then for a folder its files, links, folders and all else, NUL after each and each part.
# $2 path.
place "$2" keep
[ -n "$Q" ] && exit 71
if [ ! -e "$T" ] && [ ! -L "$T" ]; then exit 71; fi
[ -w "$D" ] || exit 78
figures "$T"
if [ -L "$T" ]; then
  readlink "$T"
elif [ -d "$T" ]; then
  cd "$T" 2>/dev/null && [ -r . ] || exit 78
  find . -type f -print0 || exit 84
  printf '\0'
  find . -type l -print0
  printf '\0'
  find . -depth -type d -print0
  printf '\0'
  find . ! -type f ! -type l ! -type d -print0
  printf '\0'
fi
