# All files below a folder, then all links, NUL after each and after both; then whether that is all, and the folders in which
# something else is mounted, where this system tells. $2 path.
place "$2" follow
[ -n "$Q" ] && exit 71
[ -e "$T" ] || exit 71
if [ ! -d "$T" ]; then
  [ -f "$T" ] && printf 'F\0'
  exit 0
fi
cd "$T" 2>/dev/null || exit 78
printf 'D\0'
find . -xdev -name .git -prune -print0 -o -type f -print0
a=$?
printf '\0'
find . -xdev -name .git -prune -o -type l -print0
b=$?
printf '\0'
[ $a = 0 ] && [ $b = 0 ] && printf 'whole\0'
printf '\0'
[ -r /proc/self/mountinfo ] && d=$(stat -c %d . 2>/dev/null) || exit 0
B=${T%/}
while read -r a a a a m a; do
  case $m in
    *\\*)
      m=$(printf '%b.' "$m")
      m=${m%.}
      ;;
  esac
  case $m in "$B"/?*) ;; *) continue ;; esac
  e=$(stat -c %d "$m" 2>/dev/null) && [ -d "$m" ] && [ "$e" != "$d" ] && printf '%s\0' "${m#"$B"/}"
done </proc/self/mountinfo
exit 0
