# A part of a file: figures, state, bytes, state. $2 path, $3 blocks in front of it, $4 blocks of it, of a mebibyte each.
place "$2" follow
regular "$T"
figures "$T" || exit 71
state "$T" || exit 71
dd if="$T" bs=1048576 skip="$3" count="$4" 2>/dev/null || exit 84
echo
state "$T" || exit 71
