#!/bin/sh
# check.sh PROGRAM: checks that the worked example succeeds, that a failure leaves nothing behind, and that it resumes after
# its process died in any step.
set -eu
program=$1
dir=$(mktemp -d)
trap 'finish' EXIT
export RATCHET_LOG_LEVEL=error

# run ARGUMENT...: prints the program's output, and keeps its log for a failure.
run() { "$program" "$@" 2>>"$dir/log"; }
finish() {
  code=$?
  [ $code -eq 0 ] || { echo "check.sh ends with $code; the program said:"; cat "$dir/log"; } >&2
  rm -rf "$dir"
  exit $code
}
expect() {  # expect WHAT ACTUAL
  [ "$1" = "$2" ] || { echo "expected '$1', got '$2'" >&2; exit 1; }
}
world() { (cd "$1/world" && echo *); }
whole="blog-address blog-live blog-replica-1 blog-replica-2 blog-replica-3"

expect "blog is live" "$(run "$dir/a" publish blog 3)"
expect "$whole" "$(world "$dir/a")"

mkdir -p "$dir/b"
touch "$dir/b/full"
expect "failed, all undone: NO_SPACE: no machine is free for blog-replica-3" "$(run "$dir/b" publish blog 3)"
expect "*" "$(world "$dir/b")"

for step in 1 2 3 4 5; do
  code=0
  (DIE_AT=$step; export DIE_AT; run "$dir/c$step" publish blog 3 >/dev/null) || code=$?
  expect 9 "$code"
  expect "blog is live" "$(run "$dir/c$step" go-on)"
  expect "$whole" "$(world "$dir/c$step")"
done
echo "the example works"
