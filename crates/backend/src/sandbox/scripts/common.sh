# What every script begins with. $1 is the root. Exit codes are read by sandbox/answer.rs.
LC_ALL=C
export LC_ALL
unset CDPATH
cd "$1" 2>/dev/null || exit 70
R=$(pwd -P; echo x)
R=${R%??}
[ "$R" = / ] && R=

# Where $1, a path below the root, really is: D is the folder, N the name in it ('' for the folder itself), Q the folders
# that are not there yet, T all of it. With "follow" the last name is followed through links. Leads nowhere outside.
place() {
  p=$R/$1
  n=0
  while :; do
    d=${p%/*}
    N=${p##*/}
    case $N in '' | . | ..) d=$p N= ;; esac
    e=${d:-/}
    Q=
    while [ ! -e "$e" ] && [ ! -L "$e" ]; do
      Q=${e##*/}/$Q
      e=${e%/*}
      e=${e:-/}
    done
    if [ ! -d "$e" ]; then
      [ -e "$e" ] && exit 72
      exit 71
    fi
    cd -P "$e" 2>/dev/null || exit 78
    D=$(pwd -P; echo x)
    D=${D%??}
    [ "$D" = / ] && D=
    case $D/ in "$R"/*) ;; *) exit 74 ;; esac
    T=$D${Q:+/${Q%/}}${N:+/$N}
    T=${T:-/}
    if [ -n "$Q" ] || [ -z "$N" ] || [ "$2" = keep ] || [ ! -L "$T" ]; then return 0; fi
    n=$((n + 1))
    [ $n -gt 40 ] && exit 75
    t=$(readlink "$T"; echo x)
    t=${t%??}
    case $t in /*) p=$t ;; *) p=$D/$t ;; esac
  done
}

# Mode in hexadecimal, size and time of change in seconds of $1 itself.
figures() {
  stat -c '%f %s %Y' "$1" 2>/dev/null && return
  stat -f '%Xp %z %m' "$1" 2>/dev/null && return
  l=$(ls -ldn "$1") || return
  f=$1
  set -- $l
  case $1 in
    d*) echo 4000 0 0 ;;
    l*) echo a000 0 0 ;;
    -*) echo 8000 "$5" 0 ;;
    *) echo 1000 0 0 ;;
  esac
}

# The best hash this machine has. Only compared with itself.
sum() {
  sha256sum < "$1" 2>/dev/null || shasum -a 256 < "$1" 2>/dev/null || cksum < "$1"
}

# Says whether $1 is a regular file, by its exit code else.
regular() {
  [ -n "$Q" ] && exit 71
  [ -d "$1" ] && exit 73
  [ -e "$1" ] || exit 71
  [ -f "$1" ] || exit 76
  [ -r "$1" ] || exit 78
}
