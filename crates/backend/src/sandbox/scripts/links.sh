# What links lead to: figures, or "out" where they lead out; NUL after each. $2 a folder, links in it on standard input.
# $3 the text in front of this, $4 "kinds" where only the mode counts, and of it what is a regular file.
xargs -0 sh -c 'c=$1; w=$2; k=$3; r=$4; shift 4; set -- "$r" "$@"
eval "$c"
shift
for f; do
  seek "$w/$f" follow
  case $? in
    0)
      if [ -n "$Q" ]; then
        echo broken
      elif [ "$k" != kinds ]; then
        figures "$T" || echo broken
      elif [ -f "$T" ]; then
        echo 8000 0 0 1
      else
        echo 1000 0 0 1
      fi
      ;;
    74) echo out ;;
    *) echo broken ;;
  esac
  printf "\0"
done' sh "$3" "$2" "$4" "$1"
