# Puts standard input in the place of a file in one step. $2 path, $3 hash of what is there or "absent", $4 bytes, $5
# checksum, $6 name to wait under, $7 names that links must not lead to. Says "handed over" where it came to belong to
# somebody else, "stripped" where bits of its mode or extended attributes could not be kept, "unclear" where nobody here can
# tell whether it had any, then its figures.
trap drain EXIT
place "$2" follow
under_its_own_name "$2" "$7"
[ -z "$N" ] && exit 73
[ -z "$Q" ] && [ -d "$T" ] && exit 73
# What this user may not do is said by who tries it.
[ "$3" = absent ] && [ "$(rights "${D:-/}")" = ro ] && exit 79
# Goes on only where $1 came onto the disk. Not every place can sync one file, and what it says of that is no failure.
kept_on_disk() {
  e=$(sync "$1" 2>&1) && return
  case $e in *[Ii]/O\ error* | *nput/output\ error* | *"o space left"* | *"uota exceeded"*) exit 84 ;; esac
}
# From the folder that this shell is in, which stays the same one whatever others put in the way to it.
M=./$6
# What did not come leaves nothing behind, nor the folders that were made for it, W.
W=
L=
clear() {
  drain
  [ -n "$L" ] && let_go
  rm -f "$M"
  while [ -n "$W" ]; do
    cd -P .. && rmdir "./${W##*/}" 2>/dev/null || break
    W=${W%/*}
  done
}
trap clear EXIT
trap 'exit 90' HUP INT TERM
if [ -n "$Q" ]; then
  [ "$3" = absent ] || exit 77
  while [ -n "$Q" ]; do
    c=${Q%%/*}
    Q=${Q#*/}
    case $c in '' | .) continue ;; esac
    mkdir "./$c" || [ -d "./$c" ] || exit 84
    cd -P "./$c" || exit 84
    d=$(pwd -P; echo x)
    if [ "${d%??}" != "$D/$c" ]; then
      # A link came in its place, and what was made cannot be gone back to.
      W=
      exit 77
    fi
    D=$D/$c
    W=$W/$c
  done
fi
T=./$N
if [ "$3" = absent ]; then
  if [ -e "$T" ] || [ -L "$T" ]; then exit 77; fi
else
  if [ -L "$T" ] || [ ! -f "$T" ]; then exit 77; fi
  changeable "$T"
  # Private until it has the mode of the other.
  umask 077
fi
h=
s=
# Made anew and by nothing but this: never what has come there already, nor what a link of that name leads to.
set -C
cat > "$M" || exit 84
set +C
[ "$(($(wc -c < "$M")))" = "$4" ] || exit 83
# Most places can tell more than the length; some small ones cannot.
if k=$(cksum < "$M" 2>/dev/null); then
  [ "${k%% *}" = "$5" ] || exit 83
fi
if [ "$3" != absent ]; then
  # Mode, owner and, where they can be kept, extended attributes come along.
  if ! cp --attributes-only --preserve=all --no-preserve=timestamps "$T" "$M" 2>/dev/null; then
    # The mode last: what comes to belong to somebody else or gets attributes can lose bits of it.
    s=$(like "$T" "$M" && attributes "$T" "$M") || exit 84
    like "$T" "$M" || exit 84
  fi
  if [ -L "$M" ] || [ ! -f "$M" ]; then exit 77; fi
  h=$(owner "$T")
  [ "$h" = "$(owner "$M")" ] && h=
  [ -z "$h" ] && [ "$(mode "$T")" != "$(mode "$M")" ] && s=lost
fi
kept_on_disk "$M"
# Under the name itself, never into a folder of that name or one that a link leads to.
name_it() {
  e=$(mv -fT "$M" "$T" 2>&1) && return
  if [ -L "$T" ] || [ -d "$T" ]; then exit 77; fi
  case $e in
    # Who does not know this one has nothing better.
    *option*) mv -f "$M" "$T" || exit 84 ;;
    *)
      echo "$e" >&2
      exit 84
      ;;
  esac
}
if [ "$3" = absent ]; then
  if ! ln -n "$M" "$T" 2>/dev/null; then
    hold
    if [ -e "$T" ] || [ -L "$T" ]; then exit 77; fi
    name_it
    let_go
  fi
else
  hold
  [ "$(sum "$T")" = "$3" ] || exit 77
  name_it
  let_go
fi
W=
kept_on_disk .
[ -n "$h" ] && echo 'handed over'
case $s in lost) echo stripped ;; unknown) echo unclear ;; esac
figures "$T"
