# What every script begins with. $1 is the root, BOSUN_ROOT which folder it was, where that is known. Exit codes are read by
# sandbox/answer.rs.
LC_ALL=C
export LC_ALL
unset CDPATH
cd "$1" 2>/dev/null || exit 70
# What has come to be called like the root is not what was worked in.
[ -z "$BOSUN_ROOT" ] || [ "$(which_folder 2>/dev/null)" = "$BOSUN_ROOT" ] || exit 70
R=$(pwd -P; echo x)
R=${R%??}
[ "$R" = / ] && R=

# Takes what standard input has left. Some engines lose what was said by whoever ends before that was read.
drain() {
  cat >/dev/null 2>&1
}

# Where $1, a path below the root, really is: D is the folder, N the name in it ('' for the folder itself), Q the folders
# that are not there yet, T all of it. With "follow" the last name is followed through links. Leads nowhere outside. This
# shell is in D then. Gives an exit code where there is no such place.
seek() {
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
      # A file, or a link whose target is none or cannot be seen from here. Where it lies comes first, then where it leads.
      within "${e%/*}/" || return $?
      [ -L "$e" ] || return 72
      led "$D/${e##*/}" "/$Q$N" || return $?
      continue
    fi
    # What is not there yet leads to nowhere but below: made, it could lead up and out.
    case /$Q in */../*) return 74 ;; esac
    within "$e" || return $?
    T=$D${Q:+/${Q%/}}${N:+/$N}
    T=${T:-/}
    if [ -n "$Q" ] || [ -z "$N" ] || [ "$2" = keep ] || [ ! -L "$T" ]; then return 0; fi
    led "$T" '' || return $?
  done
}

# Goes to the folder $1, which becomes D, where that is the root or below it.
within() {
  cd -P "$1" 2>/dev/null || return 78
  D=$PWD
  case $D in /*) ;; *) return 78 ;; esac
  [ "$D" = / ] && D=
  case $D/ in "$R"/*) ;; *) return 74 ;; esac
}

# Makes p what the link $1, in the folder D, says, with $2 behind it.
led() {
  n=$((n + 1))
  [ $n -gt 40 ] && return 75
  t=$(readlink "$1"; echo x)
  t=${t%??}
  case $t in /*) p=$t$2 ;; *) p=$D/$t$2 ;; esac
}

# As `seek`, for a script that is about that one place.
place() {
  seek "$1" "$2" || exit $?
}

# Mode in hexadecimal, size, time of change in seconds and number of names of $1 itself.
figures() {
  stat -c '%f %s %Y %h' "$1" 2>/dev/null && return
  stat -f '%Xp %z %m %l' "$1" 2>/dev/null && return
  l=$(ls -ldn "$1") || return
  f=$1
  set -- $l
  case $1 in
    d*) echo 4000 0 0 "$2" ;;
    l*) echo a000 0 0 "$2" ;;
    -*) echo 8000 "$5" 0 "$2" ;;
    *) echo 1000 0 0 "$2" ;;
  esac
}

# Which object $1 is and when it last changed, as finely as this machine tells. Only compared with itself.
state() {
  stat -c '%d %i %s %y %z' "$1" 2>/dev/null && return
  stat -f '%d %i %z %Fm %Fc' "$1" 2>/dev/null && return
  l=$(ls -lind "$1") || return
  echo "$l" | head -n 1
}

# Whether something may be put in the place of $1, which is in the folder D: "rw", "no" without the right to, "ro" where
# a mode gives nobody the right to, root as little as anybody.
rights() {
  for f in "${D:-/}" "$1"; do
    case $(ls -ldn "$f" 2>/dev/null) in ??w* | ?????w* | ????????w*) ;; *) echo ro && return ;; esac
    [ -w "$f" ] || { echo no && return; }
  done
  echo rw
}

# Who owns $1, by numbers.
owner() {
  l=$(ls -ldn "$1") || return
  set -- $l
  echo "$3:$4"
}

# The rights of $1 as they are listed.
mode() {
  l=$(ls -ld "$1") || return
  l=${l%% *}
  echo "${l%"${l#??????????}"}"
}

# Gives $2 the owner of $1 where this user may, then its mode: set-user-id and the like only where the owner stayed.
like() {
  f=$2
  l=$(ls -ldn "$1") || return
  set -- $l
  chown "$3:$4" "$f" 2>/dev/null || chgrp "$4" "$f" 2>/dev/null
  b='s/[st]/x/g;s/[ST]//g'
  [ "$(owner "$f")" = "$3:$4" ] && b='s/[st]/x&/g;s/S/s/g;s/T/t/g'
  o=${1#????}
  g=${1%"$o"}
  u=${g#?}
  o=${o%"${o#??????}"}
  g=${o%???}
  o=${o#???}
  # Who may not give the bits gives the rest.
  m=$(printf 'u=%s,g=%s,o=%s' "$u" "$g" "$o")
  chmod "$(echo "$m" | sed "s/-//g;$b")" "$f" 2>/dev/null || chmod "$(echo "$m" | sed 's/-//g;s/[st]/x/g;s/[ST]//g')" "$f"
}

# Gives $2 the extended attributes of $1, access lists among them. Says "lost" where it is known that they had to stay
# behind, "unknown" where nobody here can tell whether there were any.
attributes() {
  if command -v getfattr >/dev/null 2>&1; then
    a=$(getfattr -h -d -m - -e hex --absolute-names "$1" 2>/dev/null)
    [ -z "$a" ] && return
    printf '%s\n' "$a" | sed "1s|.*|# file: $2|" | setfattr -h --restore=- 2>/dev/null || echo lost
    return
  fi
  case $(ls -ld "$1") in ??????????[+@]*) echo lost ;; *) echo unknown ;; esac
}

# Waits for the lock of the folder that handle 9 is, for as long as `FolderLock` does; who goes on after that is where
# everybody is who does not know of the lock. V counts the twentieths of a second of all that this shell waits for; E is
# over 1 without that program.
WAIT='E=0
until flock -n 9 2>/dev/null; do
  E=$?
  [ $E = 1 ] && [ $V -lt 200 ] || break
  sleep 0.05 2>/dev/null || { sleep 1; V=$((V + 19)); }
  V=$((V + 1))
done'
export WAIT

# Waits until nobody else is between looking at what is in the folder that this shell is in and changing it. The lock goes
# with whoever holds it. Without that program it is a link beside the files, which says whose it is; what one who was ended
# left behind counts for as long as it takes to see that it stays.
hold() {
  L=
  V=0
  if [ -r . ] && exec 9<. && eval "$WAIT" && [ $E -le 1 ]; then return; fi
  i=0
  k=
  until ln -s "$$-$(date +%s)" ./.bosun-lock 2>/dev/null; do
    w=$(readlink ./.bosun-lock)
    # Nobody's: a folder in which no link can be. The check and the change are a moment, as they ever were.
    [ -z "$w" ] && [ ! -L ./.bosun-lock ] && [ $i -gt 5 ] && return
    [ "$w" = "$k" ] || i=0
    k=$w
    i=$((i + 1))
    [ $i -gt 200 ] && rm -f ./.bosun-lock
    sleep 0.05 2>/dev/null || { sleep 1; i=$((i + 19)); }
  done
  L=./.bosun-lock
}

let_go() {
  [ -n "$L" ] && rm -f "$L"
  L=
  exec 9<&-
}

# Goes on only where that may be.
changeable() {
  case $(rights "$1") in ro) exit 79 ;; no) exit 78 ;; esac
}

# Refuses a path that links made lead to a protected name. $1 the path, $2 the names, each between slashes.
under_its_own_name() {
  if [ -z "$2" ] || [ "$T" = "$R/$1" ]; then return; fi
  q=$(printf '%s/' "${T#"$R"}" | tr 'A-Z' 'a-z')
  a=
  while [ -n "$q" ]; do
    c=${q%%/*}
    q=${q#*/}
    [ -z "$c" ] && continue
    case $2 in *"/$c/"* | *"/$a>$c/"*) exit 81 ;; esac
    a=$c
  done
}

# The best hash this machine has, of standard input, also for what scripts run. Only compared with itself.
SUM='sha256sum 2>/dev/null || shasum -a 256 2>/dev/null || cksum'
export SUM
sum() {
  eval "$SUM" < "$1"
}

# Says whether $1 is a regular file, by its exit code else.
regular() {
  [ -n "$Q" ] && exit 71
  [ -d "$1" ] && exit 73
  [ -e "$1" ] || exit 71
  [ -f "$1" ] || exit 76
  [ -r "$1" ] || exit 78
}
