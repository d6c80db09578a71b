# Functions that tests/clients/run and tests/clients/hbase-suite/run share: jars by Maven, a cluster of their own.
# Sourced; the caller sets $program (for messages) and runs in the root of the project.

say() { echo "$program: $((SECONDS))s $*"; }

# The process that in_reach is running; the trap of the caller ends it.
child=

# in_reach COMMAND...: the command in the background and waited for, so that a signal is acted on at once.
in_reach() {
  "$@" &
  child=$!
  local code=0
  wait "$child" || code=$?
  child=
  return $code
}

end_child() {
  [ -n "$child" ] || return 0
  kill "$child" 2>/dev/null || true
  wait "$child" 2>/dev/null || true
  child=
}

# classpath POM FILE: has Maven bring what the POM names, with the user's settings, and writes the class path into FILE.
# Returns 3, after the beginning of Maven's words, where Maven does not bring it.
classpath() {
  local pom=$1 file=$2 log
  command -v mvn >/dev/null && command -v javac >/dev/null || { echo "$program: there is no Maven or no JDK"; return 3; }
  log=build/logs/clients-maven-$(basename "$(dirname "$pom")").log
  # An earlier run has collected the jars of this POM, and they still exist.
  if [ -s "$file" ] && [ "$file" -nt "$pom" ] && tr ':' '\n' <"$file" | xargs -d '\n' ls >/dev/null 2>&1; then return 0; fi
  rm -f "$file"
  local plugin=org.apache.maven.plugins:maven-dependency-plugin:2.8
  local flags=(-B -q -f "$pom" "$plugin:build-classpath" "-Dmdep.outputFile=$(realpath -m "$file")" -Dmdep.regenerateFile=true)
  # Offline first: repositories are asked only for what the machine does not have.
  if in_reach timeout -k 5 120 mvn -o "${flags[@]}" >"$log" 2>&1 || in_reach timeout -k 5 240 mvn -U "${flags[@]}" >"$log" 2>&1; then return 0; fi
  # A missing artifact is skipped in the same way as a missing repository; the log shows which of the two it is.
  head -n 3 "$log"
  return 3
}

# cluster_up BIN DIR FLAG...: a fresh cluster there; one that an earlier run left is taken down first.
cluster_up() {
  local bin=$1 dir=$2
  shift 2
  if [ -e "$dir/cluster.state" ]; then "$bin/ratchet-cluster" down --dir "$dir" --erase >/dev/null 2>&1 || true; fi
  rm -rf "$dir"
  RATCHET_PUBLISH_CLIENT_ZNODES=true "$bin/ratchet-cluster" up --dir "$dir" "$@" >/dev/null
}

# cluster_down BIN DIR NAME: keeps the logs in build/logs/NAME, and stops and removes the cluster.
cluster_down() {
  local bin=$1 dir=$2 name=$3
  [ -e "$dir" ] || return 0
  rm -rf "build/logs/$name"
  mkdir -p "build/logs/$name"
  cp "$dir"/logs/*.log "build/logs/$name/" 2>/dev/null || true
  "$bin/ratchet-cluster" down --dir "$dir" --erase >/dev/null 2>&1 || true
}

# addresses BIN DIR: sets zookeeper_port and masters (HOST:PORT,...) of the cluster.
addresses() {
  local status
  status=$("$1/ratchet-cluster" status --dir "$2")
  zookeeper_port=$(awk '$1 == "zookeeper" {print $4}' <<<"$status")
  masters=$(awk '$1 ~ /^master-/ {printf "%s127.0.0.1:%s", comma, $4; comma = ","}' <<<"$status")
}

# Modules that HBase's client looks into with Java 17.
java_opens=()
for module in lang nio util util.concurrent util.concurrent.atomic net lang.reflect; do
  java_opens+=(--add-opens "java.base/java.$module=ALL-UNNAMED")
done
java_opens+=(--add-opens java.base/jdk.internal.ref=ALL-UNNAMED --add-opens java.base/sun.nio.ch=ALL-UNNAMED)
java_opens+=(--add-exports java.base/jdk.internal.misc=ALL-UNNAMED)
