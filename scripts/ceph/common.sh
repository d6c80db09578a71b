# Functions that the scripts of this folder share. Sourced, never run.
#
# A small Ceph cluster has one directory, $D: ceph.conf, data of its daemons, log/, asok/, mnt/NAME, pid/NAME. Only what is
# recorded in pid/ is ever ended, and only while it still names $D in its command line.

# Scripts end with this code, and a message, if the packages or /dev/fuse are missing.
readonly kSkipped=3

need_ceph() {
  local missing=()
  for program in "$@"; do command -v "$program" >/dev/null || missing+=("$program"); done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "ceph: skipped: ${missing[*]} not installed (scripts/install-deps --with-ceph)" >&2
    exit $kSkipped
  fi
}

need_fuse() {
  if [ ! -c /dev/fuse ]; then
    echo "ceph: skipped: /dev/fuse is missing, so no client can mount (in a container: --device /dev/fuse --cap-add SYS_ADMIN)" >&2
    exit $kSkipped
  fi
}

fail() { echo "ceph: $*" >&2; exit 1; }

# until_ready SECONDS WHAT COMMAND...: waits for a condition, with a limit.
until_ready() {
  local limit=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $limit ] || fail "gave up waiting for $what (logs: $D/log)"
    sleep 0.1
  done
}

# Runs Ceph's command line on the small cluster, with a limit for the wait.
ceph() { timeout -k 2 "${CEPH_LIMIT:-30}" ceph -c "$conf" --connect-timeout 10 "$@"; }

# Succeeds if the process that pid/NAME records is ours and alive.
recorded() {
  local pid
  pid=$(cat "$D/pid/$1" 2>/dev/null) && [ -n "$pid" ] && tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF -- "$D/"
}

# end NAME: ends a recorded process with SIGKILL if needed, also a stopped one.
end() {
  recorded "$1" || { rm -f "$D/pid/$1"; return 0; }
  local pid
  pid=$(cat "$D/pid/$1")
  kill -CONT "$pid" 2>/dev/null || true
  kill "${2:--TERM}" "$pid" 2>/dev/null || true
  for _ in $(seq 30); do recorded "$1" || break; sleep 0.1; done
  recorded "$1" && kill -KILL "$pid" 2>/dev/null
  rm -f "$D/pid/$1"
}

# In the order of their start.
readonly kDaemons=(mon osd0 osd1 mdsa mdsb)

# end_daemons: all at once, because a daemon waits for the others.
end_daemons() {
  local name
  for name in mdsa mdsb osd0 osd1 mon; do
    if recorded $name; then kill -CONT "$(cat "$D/pid/$name")"; kill -TERM "$(cat "$D/pid/$name")"; fi
  done
  for name in mdsa mdsb osd0 osd1 mon; do end $name; done
}

# start NAME COMMAND...: a process of its own session, recorded.
start() {
  local name=$1
  shift
  setsid "$@" >>"$D/log/$name.out" 2>&1 </dev/null &
  echo $! >"$D/pid/$name"
}

# group_of NAME: the group under which a client of a small Ceph cluster runs, which identifies its packets (cut).
group_of() { echo $((50000 + $(printf '%s' "$D/$1" | cksum | cut -d' ' -f1) % 10000)); }

# unmount DIR: removes a mount in any state of its client.
unmount() { ! grep -qF " $1 " /proc/mounts || umount -l "$1" 2>/dev/null || fusermount -uz "$1" 2>/dev/null || true; }
