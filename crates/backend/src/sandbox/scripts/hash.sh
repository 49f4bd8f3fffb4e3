# The hash of a file. $2 path.
place "$2" keep
regular "$T"
sum "$T" || exit 78
