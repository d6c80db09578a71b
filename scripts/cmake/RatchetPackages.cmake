# Libraries from Debian packages; scripts/install-deps installs them all. A project that adds this one needs the first part.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Protobuf REQUIRED)
find_package(CLI11 REQUIRED)
include(RatchetPlainLibraries)

if(ratchet_with_host)
  find_package(ZLIB REQUIRED)
  include(RatchetHostLibraries)
endif()
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
find_package(GTest REQUIRED)
find_package(RocksDB REQUIRED)
ratchet_imported_library(re2 re2 re2/re2.h)          # regular expressions of filters, in linear time
ratchet_imported_library(gssapi_krb5 gssapi_krb5 gssapi/gssapi_krb5.h)   # logins with Kerberos
