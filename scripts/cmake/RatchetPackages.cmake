# Libraries from Debian packages; scripts/install-deps installs them all.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Protobuf REQUIRED)
find_package(GTest REQUIRED)
find_package(ZLIB REQUIRED)
find_package(RocksDB REQUIRED)
find_package(CLI11 REQUIRED)

# Debian ships these without CMake modules.
function(ratchet_imported_library target library header)
  find_library(${target}_LIBRARY ${library} REQUIRED)
  find_path(${target}_INCLUDE ${header} REQUIRED)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(${target} INTERFACE "${${target}_LIBRARY}")
  target_include_directories(${target} SYSTEM INTERFACE "${${target}_INCLUDE}")
endfunction()
ratchet_imported_library(isal isal isa-l/crc.h)
ratchet_imported_library(roaring roaring roaring/roaring.h)
ratchet_imported_library(zookeeper_mt zookeeper_mt zookeeper/zookeeper.h)
ratchet_imported_library(re2 re2 re2/re2.h)          # regular expressions of filters, in linear time
ratchet_imported_library(sqlite3 sqlite3 sqlite3.h)      # ratchet sql
ratchet_imported_library(crypto crypto openssl/evp.h)   # MD5 of region names
# Header only: JSON output of the tools.
find_path(RATCHET_RAPIDJSON_INCLUDE rapidjson/writer.h REQUIRED)
add_library(rapidjson INTERFACE IMPORTED GLOBAL)
target_include_directories(rapidjson SYSTEM INTERFACE "${RATCHET_RAPIDJSON_INCLUDE}")
