#!/bin/sh
# 算出野餐一共花多少钱，每人该付多少。
cd "$(dirname "$0")" || exit 1
guests=$(grep -c . guests.txt)

# 清单的第一行是表头。
LC_ALL=C awk -F, -v guests="$guests" '
  NR > 2 { total += $2 * $3 }
  END {
    printf "合计：%.2f\n", total
    printf "%d 人，每人：%.2f\n", guests, total / guests
  }
' shopping.csv
