# Two images, built by scripts/docker-image: `server` (the image `ratchet`: master, region server, command line), and `zookeeper` (the image
# `ratchet-zookeeper`), the only one with a Java runtime. No process in them runs as root. The programs are compiled and stripped on
# the host, so that the images stay small and the build uses the host's compiler cache.
FROM debian:bookworm-slim AS zookeeper

RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends libslf4j-java libzookeeper-java openjdk-17-jre-headless \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --system --gid 990 ratchet \
 && useradd --system --uid 990 --gid ratchet --home-dir /data --no-create-home --shell /usr/sbin/nologin ratchet \
 && install -d -o ratchet -g ratchet /data /data/zookeeper

COPY scripts/docker/zookeeper /usr/local/bin/ratchet-zookeeper
COPY scripts/docker/health /usr/local/bin/ratchet-health

USER ratchet
VOLUME /data
WORKDIR /data
CMD ["ratchet-zookeeper"]

FROM debian:bookworm-slim AS server

# A region server does not create the cluster's directory, so the image has it.
RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends \
      libfmt9 libgssapi-krb5-2 libisal2 libprotobuf32 libre2-9 libroaring0 liblz4-1 librocksdb7.8 libsnappy1v5 libsqlite3-0 libspdlog1.10 libssl3 \
      libzookeeper-mt2 libzstd1 zlib1g \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --system --gid 990 ratchet \
 && useradd --system --uid 990 --gid ratchet --home-dir /data --no-create-home --shell /usr/sbin/nologin ratchet \
 && install -d -o ratchet -g ratchet /data \
 && install -d -o ratchet -g ratchet -m 0700 /data/cluster

COPY scripts/docker/health /usr/local/bin/ratchet-health
COPY build/release/image/ratchet build/release/image/ratchet-master build/release/image/ratchet-regionserver build/release/image/ratchet-wal \
     build/release/image/ratchet-storage-check /usr/local/bin/

USER ratchet
VOLUME /data
WORKDIR /data
