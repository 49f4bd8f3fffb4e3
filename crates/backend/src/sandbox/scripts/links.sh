# What links lead to: figures, or nothing where they lead out; NUL after each. $2 a folder, links in it on standard input.
# $3 the text in front of this.
xargs -0 sh -c 'c=$1; w=$2; r=$3; shift 3; set -- "$r" "$@"
eval "$c"
shift
for f; do (place "$w/$f" follow; [ -n "$Q" ] && exit 71; figures "$T"); case $? in 0) ;; 74) echo out ;; *) echo broken ;; esac; printf "\0"; done' sh "$3" "$2" "$1"
