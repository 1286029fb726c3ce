#!/usr/bin/env bash
# Import results, gate each run, write the step summary, and keep one comment per run on the pull request.
#
#   ERRATA_RESULTS    file or folder that the harness wrote
#   ERRATA_BASELINE   RUN, branch:NAME or latest-green; empty for none
#   ERRATA_ARGUMENTS  extra `errata gate` arguments, one per line
#   ERRATA_OUTPUT     folder for the comments and JUnit files
#   ERRATA_COMMENT    true: post the comments with `gh`, which needs GH_TOKEN
#
# Exit code: 1 if a gate failed, else 4 if a run could not be compared, else 0.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
out="${ERRATA_OUTPUT:-errata-gate}"
mkdir -p "$out"

arguments=()
while IFS= read -r word; do
  [[ -z "$word" ]] || arguments+=("$word")
done <<<"${ERRATA_ARGUMENTS:-}"
[[ -z "${ERRATA_BASELINE:-}" ]] || arguments+=(--baseline "$ERRATA_BASELINE")

errata import "$ERRATA_RESULTS" --json >"$out/runs.jsonl"
runs="$(python3 -c 'import json, sys; print("\n".join(dict.fromkeys(json.loads(line)["run_id"] for line in sys.stdin)))' <"$out/runs.jsonl")"

worst=0
while IFS= read -r run; do
  code=0
  errata gate "$run" ${arguments[@]+"${arguments[@]}"} --format github -o "$out/$run.md" \
    --format junit -o "$out/$run.xml" || code=$?
  case "$code" in
    0 | 1 | 4) ;;
    *) exit "$code" ;;
  esac
  [[ -z "${GITHUB_STEP_SUMMARY:-}" ]] || cat "$out/$run.md" >>"$GITHUB_STEP_SUMMARY"
  if [[ "${ERRATA_COMMENT:-false}" == true && "${GITHUB_REF:-}" =~ ^refs/pull/([0-9]+)/ ]]; then
    "$here/post-comment.sh" "$out/$run.md" "${BASH_REMATCH[1]}" ||
      echo "::warning::the comment could not be posted; does the job have \`pull-requests: write\`?"
  fi
  if [[ "$code" == 1 || "$worst" == 0 ]]; then worst="$code"; fi
done <<<"$runs"
exit "$worst"
