# Libraries without CMake modules that the endpoint for operators needs (Ratchet::host), here and where it is installed; behind
# RatchetPlainLibraries.
ratchet_imported_library(zookeeper_mt zookeeper_mt zookeeper/zookeeper.h)
# compressed cell blocks
ratchet_imported_library(lz4 lz4 lz4.h)
ratchet_imported_library(snappy snappy snappy.h)
ratchet_imported_library(zstd zstd zstd.h)
ratchet_imported_library(sqlite3 sqlite3 sqlite3.h)      # ratchet sql
ratchet_imported_library(crypto crypto openssl/evp.h)   # MD5 of region names
ratchet_imported_library(ssl ssl openssl/ssl.h)         # TLS
# Header only: JSON output of the tools.
if(NOT TARGET rapidjson)
  find_path(RATCHET_RAPIDJSON_INCLUDE rapidjson/writer.h REQUIRED)
  add_library(rapidjson INTERFACE IMPORTED GLOBAL)
  target_include_directories(rapidjson SYSTEM INTERFACE "${RATCHET_RAPIDJSON_INCLUDE}")
endif()
