# What a delete meets. Figures, then for a folder its files, links, folders and all else, NUL after each and each part.
# $2 path, $3 names that links must not lead to.
place "$2" keep
under_its_own_name "$2" "$3"
[ -n "$Q" ] && exit 71
if [ ! -e "$T" ] && [ ! -L "$T" ]; then exit 71; fi
changeable "${D:-/}"
figures "$T"
if [ -L "$T" ]; then
  readlink "$T" | eval "$SUM"
  readlink "$T"
elif [ -d "$T" ]; then
  cd "$T" 2>/dev/null && [ -r . ] || exit 78
  # Of a folder in which nobody may change anything nothing goes.
  k=$(find . -type d ! -perm -200 ! -perm -020 ! -perm -002 -exec sh -c 'for f; do ls -A "$f"; done' sh {} +)
  [ -n "$k" ] && exit 79
  find . -type f -print0 || exit 84
  printf '\0'
  find . -type l -print0
  printf '\0'
  find . -depth -type d -print0
  printf '\0'
  find . ! -type f ! -type l ! -type d -print0
  printf '\0'
fi
