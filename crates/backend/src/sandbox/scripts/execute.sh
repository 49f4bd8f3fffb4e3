# Runs a command of the user's in the root until it ends or standard input does. $2 the command. $3 is "made" where the
# environment is what a command is to have already.
cd "$1" 2>/dev/null || exit 70
exec 3<&0 </dev/null
s=
command -v setsid >/dev/null 2>&1 && s=setsid
l=$2
if [ "$3" = made ]; then
  unset OLDPWD
  set --
else
  # Of the environment over there what commands get here too.
  set -- env -i TERM=dumb PATH="${PATH:-/usr/local/bin:/usr/bin:/bin}" ${HOME:+HOME="$HOME"} ${LANG:+LANG="$LANG"} \
    ${LC_ALL:+LC_ALL="$LC_ALL"} ${TZ:+TZ="$TZ"} ${TMPDIR:+TMPDIR="$TMPDIR"}
fi
$s "$@" /bin/sh -c "$l" 3<&- &
c=$!
# What this shell says of the command's end is nobody's output.
exec 2>/dev/null
# Nothing ever comes on the line; that it ends means that the command is to end.
{
  cat <&3 >/dev/null
  kill -TERM -$c || kill -TERM $c
  sleep 1
  kill -KILL -$c || kill -KILL $c
} >/dev/null 2>&1 &
w=$!
exec 3<&-
wait $c
s=$?
{ kill -KILL -$c; kill $w; } 2>/dev/null
exit $s
