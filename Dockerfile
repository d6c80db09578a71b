# One image for every role of the cluster: ZooKeeper, master, region server, command line. The programs are built on the
# host (scripts/docker-image), so that the image stays small and the build uses the host's compiler cache.
FROM debian:bookworm-slim

RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends \
      libfmt9 libisal2 libprotobuf32 libre2-9 libroaring0 liblz4-1 librocksdb7.8 libsnappy1v5 libsqlite3-0 libspdlog1.10 libssl3 libzookeeper-mt2 libzstd1 zlib1g \
      libslf4j-java libzookeeper-java openjdk-17-jre-headless \
 && rm -rf /var/lib/apt/lists/*

COPY build/release/bin/ratchet build/release/bin/ratchet-master build/release/bin/ratchet-regionserver build/release/bin/ratchet-wal build/release/bin/ratchet-storage-check \
     /usr/local/bin/
COPY scripts/docker/zookeeper /usr/local/bin/ratchet-zookeeper

# The cluster directory is there before any process starts: a region server does not make it.
RUN mkdir -p /data/cluster
VOLUME /data
WORKDIR /data
