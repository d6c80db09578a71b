# Shared functions of the container checks. Sourced, never run: `compose` and $COMPOSE_PROJECT_NAME are the check's own.

say() { echo "compose: $((SECONDS))s $*"; }
in_cluster() { compose exec -T client "$@"; }
# container SERVICE_NUMBER: id of the container, e.g. of regionserver_2. The names of containers differ between versions
# of Compose.
container() {
  docker ps --all --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" \
    --filter "label=com.docker.compose.service=${1%_*}" --filter "label=com.docker.compose.container-number=${1##*_}"
}
# use_compose COMMAND...: Compose, as the plugin if it is installed, else Debian's docker-compose; RATCHET_COMPOSE
# chooses.
use_compose() {
  if [ -z "${RATCHET_COMPOSE:-}" ]; then
    if docker compose version >/dev/null 2>&1; then RATCHET_COMPOSE="docker compose"; else RATCHET_COMPOSE=docker-compose; fi
  fi
  $RATCHET_COMPOSE "$@"
}

# Starts a private container engine if none answers; exits with 0 and a message if that is not possible.
engine=
find_engine() {
  if ! docker info >/dev/null 2>&1; then
    engine=/var/tmp/ratchet-engine-$$
    mkdir -p build/logs
    if ! environment=$(scripts/container-engine start --dir "$engine" 2>build/logs/engine.log); then
      echo "compose: skipped: no container engine answers here, and none can be started: $(tail -n 1 build/logs/engine.log)"
      exit 77
    fi
    eval "$environment"
  fi
  trap stop_engine EXIT
  if ! use_compose version >/dev/null 2>&1; then
    echo "compose: skipped: docker-compose is not installed"
    exit 77
  fi
}
stop_engine() { [ -z "$engine" ] || scripts/container-engine stop --dir "$engine" 2>>build/logs/engine.log || true; }

# At the end: prints the logs of all containers if the check has failed, then removes everything that it made.
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
# serving N: N live servers, nothing in transition, no crash procedure unfinished. The servers are asked for first: a
# server that is given up between the two questions then shows in the second, by its crash procedure.
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
