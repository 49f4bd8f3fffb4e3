# Gives a file a mode. $2 path, $3 the mode in octal; without it the figures of the file are told.
place "$2" keep
[ -n "$Q" ] && exit 71
# From the folder that this shell is in. A link is left as it is: the mode would be that of what it leads to.
T=./$N
[ -L "$T" ] && exit 0
[ -e "$T" ] || exit 71
[ -f "$T" ] || exit 0
[ $# -lt 3 ] && { figures "$T"; exit; }
chmod "$3" "$T" || exit 78
