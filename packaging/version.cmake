# Read by CPack when it builds the packages (CPACK_PROJECT_CONFIG_FILE): their version is the one that the programs print.
# packaging/generate writes it into the file `version`, because it changes with each commit, and CMake does not run again.
file(STRINGS "${CPACK_RATCHET_GENERATED}/version" CPACK_PACKAGE_VERSION)
set(CPACK_DEBIAN_PACKAGE_VERSION "${CPACK_PACKAGE_VERSION}")
foreach(component master regionserver tools)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_DEBUG_PACKAGE_DEPENDS "ratchet-${component} (= ${CPACK_PACKAGE_VERSION})")
endforeach()
