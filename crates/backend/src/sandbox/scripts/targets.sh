# The texts of links and the hashes of these, NUL after each. $2 a folder, links in it on standard input.
trap drain EXIT
place "$2" keep
cd "$T" 2>/dev/null || exit 71
xargs -0 sh -c 'for f; do
  t=$(readlink "$f"; echo x)
  printf "%s\0%s\0" "${t%??}" "$(readlink "$f" | eval "$SUM")"
done' sh
