# Which files may hold a text: their names on lines. $2 a folder, $3 the text, files in it on standard input.
place "$2" follow
cd "$T" 2>/dev/null || exit 71
xargs -0 grep -s -l -F -e "$3" /dev/null
exit 0
