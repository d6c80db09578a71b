# The procedure framework for other projects: Ratchet::procedure, by add_subdirectory or, once it is installed, by
# find_package(Ratchet). `cmake --install BUILD --component framework --prefix DIR` installs it; the component `host` adds
# Ratchet::host, the endpoint for operators: find_package(Ratchet COMPONENTS host).
include(CMakePackageConfigHelpers)

set(ratchet_framework ratchet_base ratchet_io ratchet_procedure_proto ratchet_procedure_api ratchet_procedure_store ratchet_procedure_core
    ratchet_procedure)
# The headers of other folders that those of procedure/api include, directly or not (tests/tidy compares the lists).
set(ratchet_api_headers
    common/base/backoff.h common/base/bits.h common/base/check.h common/base/clock.h common/base/latency.h common/base/mutex.h common/base/prng.h
    common/base/result.h common/base/strong_id.h common/base/thread_annotations.h common/base/unique_function.h common/io/disk.h)
# Likewise, what the endpoint for operators includes besides them.
set(ratchet_host_headers
    common/base/config.h common/base/live.h common/metrics/exposition.h procedure/ops/endpoint.h)
add_library(Ratchet::procedure ALIAS ratchet_procedure)
set_target_properties(ratchet_procedure PROPERTIES EXPORT_NAME procedure)
if(ratchet_with_host)
  set(ratchet_endpoint ratchet_protos ratchet_model ratchet_rights ratchet_identity ratchet_audit ratchet_metrics ratchet_trace ratchet_http ratchet_tls ratchet_sql ratchet_rpc ratchet_zk ratchet_page
      ratchet_client ratchet_cli ratchet_api ratchet_procedure_why ratchet_procedure_ops ratchet_host)
  add_library(Ratchet::host ALIAS ratchet_host)
  set_target_properties(ratchet_host PROPERTIES EXPORT_NAME host)
endif()

# Mutants change what headers declare, and belong to the tests.
if(NOT RATCHET_MUTANTS AND NOT RATCHET_SANITIZE)
  set(ratchet_cmake_folder lib/cmake/Ratchet)
  install(TARGETS ${ratchet_framework} EXPORT RatchetTargets ARCHIVE DESTINATION lib/ratchet COMPONENT framework EXCLUDE_FROM_ALL)
  install(EXPORT RatchetTargets NAMESPACE Ratchet:: DESTINATION ${ratchet_cmake_folder} COMPONENT framework EXCLUDE_FROM_ALL)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/procedure/api/" DESTINATION include/ratchet/procedure/api COMPONENT framework EXCLUDE_FROM_ALL
          FILES_MATCHING PATTERN "*.h")
  foreach(header ${ratchet_api_headers})
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION include/ratchet/${folder} COMPONENT framework EXCLUDE_FROM_ALL)
  endforeach()
  install(FILES "${PROJECT_BINARY_DIR}/generated/procedure/api/record.pb.h" DESTINATION include/ratchet/procedure/api
          COMPONENT framework EXCLUDE_FROM_ALL)
  file(STRINGS "${PROJECT_SOURCE_DIR}/common/base/version.h" ratchet_version_line REGEX "kVersionNumber = ")
  string(REGEX REPLACE ".*\"([^\"]+)\".*" "\\1" ratchet_framework_version "${ratchet_version_line}")
  configure_package_config_file("${PROJECT_SOURCE_DIR}/scripts/cmake/RatchetConfig.cmake.in" "${PROJECT_BINARY_DIR}/RatchetConfig.cmake"
                                INSTALL_DESTINATION ${ratchet_cmake_folder})
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/RatchetConfigVersion.cmake" VERSION "${ratchet_framework_version}"
                                   COMPATIBILITY ExactVersion)
  install(FILES "${PROJECT_BINARY_DIR}/RatchetConfig.cmake" "${PROJECT_BINARY_DIR}/RatchetConfigVersion.cmake"
                "${PROJECT_SOURCE_DIR}/scripts/cmake/RatchetPlainLibraries.cmake"
          DESTINATION ${ratchet_cmake_folder} COMPONENT framework EXCLUDE_FROM_ALL)
  if(ratchet_with_host)
    install(TARGETS ${ratchet_endpoint} EXPORT RatchetHostTargets ARCHIVE DESTINATION lib/ratchet COMPONENT host EXCLUDE_FROM_ALL)
    install(EXPORT RatchetHostTargets NAMESPACE Ratchet:: DESTINATION ${ratchet_cmake_folder} COMPONENT host EXCLUDE_FROM_ALL)
    install(FILES "${PROJECT_SOURCE_DIR}/scripts/cmake/RatchetHostLibraries.cmake" DESTINATION ${ratchet_cmake_folder} COMPONENT host
            EXCLUDE_FROM_ALL)
    foreach(header ${ratchet_host_headers})
      get_filename_component(folder ${header} DIRECTORY)
      install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION include/ratchet/${folder} COMPONENT host EXCLUDE_FROM_ALL)
    endforeach()
  endif()
endif()
