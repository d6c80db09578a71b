# What the checks of containers share. Sourced, never run: `compose` and $COMPOSE_PROJECT_NAME are the check's own.

say() { echo "compose: $((SECONDS))s $*"; }
in_cluster() { compose exec -T client "$@"; }
container() { echo "${COMPOSE_PROJECT_NAME}_$1"; }

# Starts a private container engine where none answers; ends with 0, and says so, where that is not possible.
engine=
find_engine() {
  if ! docker info >/dev/null 2>&1; then
    engine=/var/tmp/ratchet-engine-$$
    mkdir -p build/logs
    if ! environment=$(scripts/container-engine start --dir "$engine" 2>build/logs/engine.log); then
      echo "compose: skipped: no container engine answers here, and none can be started: $(tail -n 1 build/logs/engine.log)"
      exit 0
    fi
    eval "$environment"
  fi
  trap stop_engine EXIT
  if ! command -v docker-compose >/dev/null; then
    echo "compose: skipped: docker-compose is not installed"
    exit 0
  fi
}
stop_engine() { [ -z "$engine" ] || scripts/container-engine stop --dir "$engine" 2>>build/logs/engine.log || true; }

# At the end: logs of all containers of a failed check, then nothing is left of it.
finish() {
  local code=$?
  if [ $code -ne 0 ]; then
    mkdir -p build/logs
    compose logs --no-color >build/logs/compose.log 2>&1 || true
    compose logs --no-color --tail 12 >&2 || true
    compose ps >&2 || true
    echo "compose: FAILED (logs of all containers: build/logs/compose.log)" >&2
  fi
  compose down -v --timeout 5 >/dev/null 2>&1 || true
  stop_engine
  exit $code
}

# await WHAT SECONDS COMMAND...: until the command succeeds.
await() {
  local what=$1 deadline=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || { echo "compose: in vain: $what" >&2; return 1; }
    sleep 0.5
  done
  say "$what"
}

healthy() { [ "$(docker inspect -f '{{.State.Health.Status}}' "$(container client_1)")" = healthy ]; }
status() { in_cluster ratchet --json --timeout-ms 5000 status; }
# serving N: N live servers, nothing in transition, no crash procedure unfinished. The servers are asked for first: a server that is
# given up between the two questions then shows in the second, by its crash procedure.
serving() {
  local text
  [ "$(in_cluster ratchet --json --timeout-ms 5000 servers | grep -o '"state":"ONLINE"' | wc -l)" -eq "$1" ] || return 1
  text=$(status) || return 1
  grep -q '"regions_in_transition":0,' <<<"$text" && grep -q '"procedures_unfinished":0,' <<<"$text"
}
# make_rows, counted: a table with $rows rows.
make_rows() {
  in_cluster ratchet create checked f --regions 6 >/dev/null
  in_cluster sh -c "seq -f '%05g' 1 $rows | awk '{print \$1 \"\\t\" \$1}' >/tmp/rows.tsv; ratchet import checked /tmp/rows.tsv --columns row,f:v" >/dev/null
}
counted() { [ "$(in_cluster ratchet --json --timeout-ms 20000 scan checked | grep -o '"row":' | wc -l)" -eq $rows ]; }
# The container of the active master, which is known by its address.
active_master() {
  local address
  address=$(active_address) || return 1
  compose ps -q | xargs docker inspect -f '{{.Name}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' |
    awk -v address="$address" '$2 == address {print substr($1, 2)}'
}
active_address() { status | sed -n 's/.*"active_master":"\([^,"]*\).*/\1/p'; }
