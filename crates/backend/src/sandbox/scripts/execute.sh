# Runs a command of the user's in the root until it ends or standard input does. $2 the command, $3 a word to say before it
# and after it, with how it ended. $4 is "made" where the environment is what a command is to have already.
cd "$1" 2>/dev/null || exit 70
printf '\036%s\n' "$3"
# What this shell says of the command's end is nobody's output.
exec 3<&0 4>&1 5>&2 </dev/null 2>/dev/null
l=$2
w=$3
s=
command -v setsid >/dev/null 2>&1 && s=setsid
if [ "$4" = made ]; then
  unset OLDPWD
  set --
else
  # Of the environment over there what commands get here too.
  set -- env -i TERM=dumb PATH="${PATH:-/usr/local/bin:/usr/bin:/bin}" ${HOME:+HOME="$HOME"} ${LANG:+LANG="$LANG"} \
    ${LC_ALL:+LC_ALL="$LC_ALL"} ${TZ:+TZ="$TZ"} ${TMPDIR:+TMPDIR="$TMPDIR"}
fi
t=$(
  j=
  # A signal and an exit code above 128 are one number to a shell; what it says of the job tells them apart. Bash forgets
  # that with the end of the job.
  [ -n "$BASH_VERSION" ] && trap 'trap - CHLD; j=$(jobs %1)' CHLD
  $s "$@" /bin/sh -c "$l" >&4 2>&5 3<&- 4>&- 5>&- &
  c=$!
  exec 4>&- 5>&-
  # Nothing ever comes on the line; that it ends means that the command is to end.
  {
    cat <&3 >/dev/null
    kill -TERM -$c || kill -TERM $c
    sleep 1
    kill -KILL -$c || kill -KILL $c
  } >/dev/null &
  k=$!
  exec 3<&-
  wait $c
  e=$?
  # There the trap comes in between, and the code is told again.
  if [ -n "$BASH_VERSION" ]; then
    wait $c
    e=$?
  fi
  kill -KILL -$c
  kill $k
  printf '%s ' $e
  if [ -n "$j" ]; then printf %s "$j"; else jobs %1; fi
)
# In one piece: what other processes write cannot come in between.
printf '\036%s %s\036\n' "$w" "$t"
