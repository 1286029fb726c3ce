#!/usr/bin/env bash
# Files the issues of this folder on GitHub: an epic, one issue for each test, two comments on the epic.
#
#   ./file_issues.sh --dry-run     show what would be filed; sends nothing, writes nothing
#   ./file_issues.sh               file it, in the repository of the current folder (or GH_REPO)
#
# What is filed stands in issues/manifest.tsv, every title and body in a file of its own.
# Safe to run again at any time: what was filed is recorded in filed.tsv and skipped, and what was under way when it
# was interrupted is first looked for by the hidden marker at the end of its body.
set -euo pipefail

here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
readonly here
readonly manifest="$here/issues/manifest.tsv" # kind <TAB> key <TAB> file <TAB> marker
readonly state="$here/filed.tsv"              # begun|filed <TAB> key <TAB> url
readonly pause="${FILE_ISSUES_PAUSE:-1}"      # seconds between calls
readonly backoff="${FILE_ISSUES_BACKOFF:-60}" # seconds to wait when GitHub asks to slow down; doubled each time
readonly tries=5
readonly tab=$'\t'
readonly most=60000        # bytes of a body; GitHub takes 65536 characters
readonly per_comment=400   # links in one comment

dry_run=false
case "${1:-}" in
  "") ;;
  --dry-run) dry_run=true ;;
  *)
    printf 'usage: %s [--dry-run]\n' "${0##*/}" >&2
    exit 2
    ;;
esac

fail() {
  printf 'error: %s\n' "$1" >&2
  exit 1
}

work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT

# send WORDS: calls gh and prints its answer. Waits where GitHub asks to slow down: it has refused the call, so that it
# can be repeated. Any other failure ends the script, with a hint where there is one.
send() {
  local wait="$backoff" try
  for ((try = 1; ; try++)); do
    if gh "$@" 2>"$work/error"; then return 0; fi
    cat -- "$work/error" >&2
    if ! grep -Eiq 'rate limit|abuse detection|submitted too quickly|HTTP 429' "$work/error"; then break; fi
    ((try < tries)) || fail "GitHub still asks to slow down: run this script again later; it goes on where it stopped"
    printf 'GitHub asks to slow down: waiting %s s (%d of %d)\n' "$wait" "$try" "$((tries - 1))" >&2
    sleep "$wait"
    wait=$((wait * 2))
  done
  if grep -Eiq 'HTTP 40[134]|not accessible|permission|must have|authentication' "$work/error"; then
    fail "GitHub refused '$1 $2': the login needs write access to issues and labels of this repository (gh auth status, gh auth refresh -s repo)"
  fi
  fail "'$1 $2' failed: run this script again; it goes on where it stopped"
}

# The url recorded for a key, or nothing.
filed() {
  [[ -f "$state" ]] || return 0
  awk -F '\t' -v key="$1" '$1 == "filed" && $2 == key { print $3; exit }' "$state"
}

was_begun() {
  [[ -f "$state" ]] && grep -Fxq -- "begun$tab$1" "$state"
}

begin() { printf 'begun\t%s\n' "$1" >>"$state"; }
record() { printf 'filed\t%s\t%s\n' "$1" "$2" >>"$state"; }

# fitted FILE MARKER NAME: the file, or as much of it as can be sent
fitted() {
  if (($(wc -c <"$1") <= most)); then
    cat -- "$1"
    return 0
  fi
  head -c "$most" -- "$1" | sed '$d'
  printf '\n… cut here: the whole is in %s\n\n<!-- %s -->\n' "$3" "$2"
}

# First line of an issue file, without "# ".
title_of() {
  local first
  IFS= read -r first <"$1" || true
  [[ "$first" == "# "* ]] || fail "first line of ${1#"$here"/} is not '# <title>'"
  printf '%s' "${first#\# }"
}

# The url of an issue that holds the marker: an interrupted run may have filed it without recording it.
found_issue() {
  MARKER="$1" send issue list --state all --label "${labels[0]}" --limit 1000 --json url,body \
    --jq 'first(.[] | select(.body | contains(env.MARKER)) | .url) // empty'
}

found_comment() {
  MARKER="$2" send issue view "$1" --json comments \
    --jq 'first(.comments[] | select(.body | contains(env.MARKER)) | .url) // empty'
}

# create KEY FILE MARKER: sets $url, from the record or by filing it
create() {
  local key="$1" file="$2" marker="$3" title label
  title="$(title_of "$file")"
  url="$(filed "$key")"
  if [[ -n "$url" ]]; then
    printf 'skip     %-10s %s\n' "$key" "$url"
    return 0
  fi
  if $dry_run; then
    url="(url of $key)"
    printf 'would create  %-10s %s\n              body from %s\n' "$key" "$title" "${file#"$here"/}"
    return 0
  fi
  if was_begun "$key"; then url="$(found_issue "$marker")"; fi
  if [[ -z "$url" ]]; then
    tail -n +2 -- "$file" >"$work/whole.md"
    fitted "$work/whole.md" "$marker" "${file#"$here"/}" >"$work/body.md"
    local args=(--title "$title" --body-file "$work/body.md")
    for label in "${labels[@]}"; do args+=(--label "$label"); done
    begin "$key"
    url="$(send issue create "${args[@]}")"
    url="${url##*$'\n'}" # gh may say more above it
    sleep "$pause"
  fi
  [[ "$url" =~ /issues/[0-9]+$ ]] || fail "unexpected answer for $key: $url"
  record "$key" "$url"
  printf 'created  %-10s %s\n' "$key" "$url"
}

# comment KEY NUMBER FILE MARKER
comment() {
  local key="$1" number="$2" file="$3" marker="$4" link=""
  if [[ -n "$(filed "$key")" ]]; then
    printf 'skip     %s\n' "$key"
    return 0
  fi
  if $dry_run; then
    printf 'would comment on the epic: %s\n' "$key"
    return 0
  fi
  if was_begun "$key"; then link="$(found_comment "$number" "$marker")"; fi
  if [[ -z "$link" ]]; then
    { fitted "$file" "$marker" "${file##*/}" && printf '\n<!-- %s -->\n' "$marker"; } >"$work/comment.md"
    begin "$key"
    link="$(send issue comment "$number" --body-file "$work/comment.md")"
    link="${link##*$'\n'}"
    sleep "$pause"
  fi
  record "$key" "$link"
  printf 'commented  %s\n' "$key"
}

# --- the manifest, checked whole before anything is sent
[[ -f "$manifest" ]] || fail "issues/manifest.tsv is missing"
labels=() keys=() files=() markers=()
epic_file="" epic_marker="" analysis_file="" analysis_marker="" links_marker=""
while IFS="$tab" read -r kind key file marker || [[ -n "$kind" ]]; do
  [[ "$key" =~ ^[A-Za-z0-9._:-]+$ ]] || fail "a key of issues/manifest.tsv holds other characters than A-Z a-z 0-9 . _ : -"
  case "$kind" in
    label) labels+=("$key") && continue ;;
    links) links_marker="$marker" && continue ;;
  esac
  [[ "$file" =~ ^[A-Za-z0-9._/-]+$ && "$file" != /* && "$file" != *..* ]] || fail "issues/manifest.tsv names a file outside of this folder"
  [[ -f "$here/$file" ]] || fail "$file is missing"
  case "$kind" in
    epic) epic_file="$here/$file" epic_marker="$marker" ;;
    issue) keys+=("$key") files+=("$here/$file") markers+=("$marker") ;;
    analysis) analysis_file="$here/$file" analysis_marker="$marker" ;;
    *) fail "issues/manifest.tsv has a line of an unknown kind: $kind" ;;
  esac
done <"$manifest"
((${#keys[@]} > 0)) || fail "issues/manifest.tsv names no issue"
((${#labels[@]} > 0)) || fail "issues/manifest.tsv names no label"
[[ -n "$epic_file" && -n "$analysis_file" && -n "$links_marker" ]] || fail "issues/manifest.tsv lacks epic, analysis or links"

if ! $dry_run; then
  command -v gh >/dev/null || fail "gh is not installed: https://cli.github.com"
  gh auth status >/dev/null 2>&1 || fail "gh is not logged in: run 'gh auth login'"
  if command -v flock >/dev/null; then
    exec 9>>"$state"
    flock -n 9 || fail "another file_issues.sh is at work in this folder"
  fi
  existing="$(send label list --limit 1000 --json name --jq '.[].name')"
  for label in "${labels[@]}"; do
    if grep -Fxq -- "$label" <<<"$existing"; then continue; fi
    send label create "$label" >/dev/null
    sleep "$pause"
  done
fi

create epic "$epic_file" "$epic_marker"
epic="${url##*/}"

parts=0
for at in "${!keys[@]}"; do
  create "${keys[at]}" "${files[at]}" "${markers[at]}"
  if ((at % per_comment == 0)); then
    parts=$((parts + 1))
    printf 'Issues of this batch:\n\n' >"$work/links-$parts.md"
  fi
  # as code (\140 is a backtick): a name may look like a reference to another issue
  printf -- '- \140%s\140 %s\n' "${keys[at]}" "$url" >>"$work/links-$parts.md"
done

comment links "$epic" "$work/links-1.md" "$links_marker"
for ((part = 2; part <= parts; part++)); do
  comment "links:$part" "$epic" "$work/links-$part.md" "$links_marker:$part"
done
comment analysis "$epic" "$analysis_file" "$analysis_marker"

if $dry_run; then
  printf '\ndry run: 1 epic, %d issues, %d comments; nothing was sent\n' "${#keys[@]}" "$((parts + 1))"
else
  printf '\n1 epic, %d issues, %d comments; recorded in %s\n' "${#keys[@]}" "$((parts + 1))" "${state##*/}"
fi
