#!/usr/bin/env bash
# A gate for any pipeline: runs scenarios, writes reports, compares with a baseline. It ends with skewlab's own exit code.
#
#   SCENARIOS   by name or file, separated by blanks   [release-skew frame-mutants]
#   ARGUMENTS   further arguments of `skewlab matrix`  []
#   KNOWN       a known.toml                           []
#   BASELINE    what the run is compared with          []
#   OUT         folder of the result                   [target/skewlab]
set -uo pipefail

out=${OUT:-target/skewlab}
read -r -a scenarios <<<"${SCENARIOS:-release-skew frame-mutants}"
read -r -a arguments <<<"${ARGUMENTS:-}"
if [[ -n ${KNOWN:-} ]]; then
    arguments+=(--known "$KNOWN")
fi

skewlab matrix "${scenarios[@]}" ${arguments[@]+"${arguments[@]}"} --out "$out" \
    --report junit="$out/junit.xml" --report html="$out/skew.html" --report sarif="$out/skew.sarif" \
    --report markdown="$out/summary.md"
code=$?

# What is not as the scenario says is worse than what has changed; where all is as it says, a change decides.
if [[ $code -eq 0 && -n ${BASELINE:-} ]]; then
    skewlab compare "$BASELINE" "$out" --format markdown | tee "$out/changes.md"
    code=${PIPESTATUS[0]}
    if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then
        cat "$out/changes.md" >>"$GITHUB_STEP_SUMMARY"
    fi
fi

if [[ -n ${GITHUB_OUTPUT:-} ]]; then
    echo "exit-code=$code" >>"$GITHUB_OUTPUT"
fi
exit "$code"
