# Runs a command of the user's in the root until it ends or standard input does. $2 the command, $3 a word to say before it
# and after it, with how it ended. $4 is "made" where the environment is what a command is to have already, and where all that
# it starts ends with this. $5 marks what it starts. $6 is which folder the root was, where that is known.
cd "$1" 2>/dev/null || exit 70
[ -z "$6" ] || [ "$(which_folder 2>/dev/null)" = "$6" ] || exit 70
printf '\036%s\n' "$3"
# What this shell says of the command's end is nobody's output.
exec 3<&0 4>&1 5>&2 </dev/null 2>/dev/null
l=$2
w=$3
v=$4
s=
command -v setsid >/dev/null 2>&1 && s=setsid
m=
p=
r=
if [ "$v" = made ]; then
  unset OLDPWD
  set --
else
  # What it starts has this, whoever adopts it.
  m=BOSUN_COMMAND=$5
  grep -q . /proc/self/environ && p=x
  # Of the environment over there what commands get here too.
  set -- env -i TERM=dumb PATH="${PATH:-/usr/local/bin:/usr/bin:/bin}" ${HOME:+HOME="$HOME"} ${LANG:+LANG="$LANG"} \
    ${LC_ALL:+LC_ALL="$LC_ALL"} ${TZ:+TZ="$TZ"} ${TMPDIR:+TMPDIR="$TMPDIR"} "$m"
fi
# What the command has started and what goes on: by its mark, or where none can be read, what has it above itself. Who has
# lost that one is not found then.
left() {
  if [ -n "$p" ]; then
    grep -s -l -F -e "$m" /proc/[0-9]*/environ | sed 's|^/proc/||;s|/environ$||'
  elif [ -n "$m" ]; then
    ps -A -o pid= -o ppid= | awk -v c="$c" '{ above[$1] = $2 } END {
      for (i in above) { q = i; n = 0; while (q > 1 && q != c && n++ < 999) q = above[q]; if (q == c) print i }
    }'
  fi
}
# Sends the signal $1 to all of that. Fails where there is nothing any more.
send() {
  g=x
  kill -$1 -$c || { [ -n "$r" ] && kill -$1 $c; } || g=
  f=$(left)
  [ -n "$f" ] && kill -$1 $f
  # Who has ended and is not waited for has no environment, and is one of its group still.
  if [ -n "$p" ]; then [ -n "$f" ]; else [ -n "$f$g" ]; fi
}
# Ends all of that: asks first, then kills, also what is started meanwhile. Fails where something does not go.
finish() {
  if send TERM; then
    send CONT
    for i in 1 2 3 4; do
      sleep 0.05 || sleep 1
      send 0 || break
    done
  fi
  for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    send KILL || return 0
    sleep 0.05 || sleep 1
  done
  return 1
}
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
    r=x
    finish
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
  printf '%s ' $e
  # Any program that is started from here takes its place in the shell's list.
  if [ -n "$j" ]; then printf %s "$j"; else jobs %1; fi
  kill $k
  # Told where nobody can say that all of it has ended.
  finish && [ -n "$p$v" ] || printf '\035'
)
# In one piece: what other processes write cannot come in between.
printf '\036%s %s\036\n' "$w" "$t"
