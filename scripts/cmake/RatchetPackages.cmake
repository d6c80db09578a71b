# Libraries from Debian packages; scripts/install-deps installs them all. A project that adds this one needs the first part.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Protobuf REQUIRED)
find_package(CLI11 REQUIRED)
include(RatchetPlainLibraries)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
find_package(GTest REQUIRED)
find_package(ZLIB REQUIRED)
find_package(RocksDB REQUIRED)

ratchet_imported_library(zookeeper_mt zookeeper_mt zookeeper/zookeeper.h)
ratchet_imported_library(re2 re2 re2/re2.h)          # regular expressions of filters, in linear time
# compressed cell blocks
ratchet_imported_library(lz4 lz4 lz4.h)
ratchet_imported_library(snappy snappy snappy.h)
ratchet_imported_library(zstd zstd zstd.h)
ratchet_imported_library(sqlite3 sqlite3 sqlite3.h)      # ratchet sql
ratchet_imported_library(crypto crypto openssl/evp.h)   # MD5 of region names
# Header only: JSON output of the tools.
find_path(RATCHET_RAPIDJSON_INCLUDE rapidjson/writer.h REQUIRED)
add_library(rapidjson INTERFACE IMPORTED GLOBAL)
target_include_directories(rapidjson SYSTEM INTERFACE "${RATCHET_RAPIDJSON_INCLUDE}")
