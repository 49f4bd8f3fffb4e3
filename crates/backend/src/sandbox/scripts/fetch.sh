# Many files in one go. $2 a folder, $3 a word that no file holds, $4 "hashed" where the mode in hexadecimal and the hash of
# each come before it, "own" where what a link leads to is not taken; files in it on standard input. Behind the word is "+"
# with the bytes, "!" where there is a file that cannot be read, "-" where there is none, and "?" where the bytes before it
# are not all.
trap drain EXIT
place "$2" follow
cd "$T" 2>/dev/null || exit 71
xargs -0 sh -c 'w=$1 s=$2 R=$3 T=$4; shift 4
# Whether $1, an ignore file, is itself there and lies below the root.
own() {
  for p in "$1" "${1%/exclude}" "${1%/info/exclude}"; do [ -L "$p" ] && return 1; done
  cd -P "${1%/*}" 2>/dev/null || return 1
  case $PWD/ in "$R"/*) o=0 ;; *) o=1 ;; esac
  cd "$T" && return $o
}
for f; do
  if [ -f "$f" ] && [ -r "$f" ] && { [ "$s" != own ] || own "$f"; }; then
    printf "%s+" "$w"
    if [ "$s" = hashed ]; then
      m=$(stat -c %f "$f" 2>/dev/null || stat -f %Xp "$f" 2>/dev/null || echo 0)
      printf "%s " "$m"
      eval "$SUM" < "$f"
    fi
    cat "$f" || printf "%s?" "$w"
  elif { [ -f "$f" ] && [ ! -r "$f" ]; } || { [ ! -e "$f" ] && [ -d "${f%/*}" ] && [ ! -x "${f%/*}" ]; }; then
    printf "%s!" "$w"
  else
    printf "%s-" "$w"
  fi
done' sh "$3" "$4" "$R" "$T"
printf '%s.' "$3"
