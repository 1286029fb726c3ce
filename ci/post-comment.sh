#!/usr/bin/env bash
# Post a comment of `errata gate --format github`, or update the one with the same marker.
#
#   post-comment.sh FILE NUMBER     of the pull request; needs `gh`, GH_TOKEN and GITHUB_REPOSITORY
set -euo pipefail

file="$1" number="$2"
marker="$(head -n 1 "$file")"
[[ "$marker" == "<!-- errata:"* ]] || { echo "$file does not begin with a marker of errata" >&2; exit 2; }

# id and first line of every comment
comments="$(gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$number/comments?per_page=100" \
  --jq '.[] | [.id, (.body | split("\n")[0])] | @tsv')"
known=""
while IFS=$'\t' read -r id first; do
  if [[ "${first%$'\r'}" == "$marker" || "${first%\\r}" == "$marker" ]]; then
    known="$id"
    break
  fi
done <<<"$comments"

if [[ -n "$known" ]]; then
  gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" --field "body=@$file" --silent
else
  gh api --method POST "repos/$GITHUB_REPOSITORY/issues/$number/comments" --field "body=@$file" --silent
fi
