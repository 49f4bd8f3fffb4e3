#!/bin/sh
# What the picnic costs, together and for each guest.
cd "$(dirname "$0")" || exit 1
guests=$(grep -c . guests.txt)

# The first line of the list is its heading.
LC_ALL=C awk -F, -v guests="$guests" '
  NR > 2 { total += $2 * $3 }
  END {
    printf "Together: %.2f\n", total
    printf "Each of %d: %.2f\n", guests, total / guests
  }
' shopping.csv
