# Debian packages in three components: the installed files and their paths. `scripts/package` builds them.
#
# Man pages and completions are generated from the programs' own --help when the packages are built (packaging/generate).
set(generated "${PROJECT_BINARY_DIR}/packaging")
set(packaging "${PROJECT_SOURCE_DIR}/packaging")

function(ratchet_package component)
  install(FILES "${packaging}/debian/copyright" DESTINATION share/doc/ratchet-${component} COMPONENT ${component})
  install(FILES "${generated}/changelog.gz" DESTINATION share/doc/ratchet-${component} COMPONENT ${component})
endfunction()

foreach(component master regionserver)
  ratchet_package(${component})
  install(TARGETS ratchet-${component} DESTINATION sbin COMPONENT ${component})
  install(FILES "${generated}/ratchet-${component}.8.gz" DESTINATION share/man/man8 COMPONENT ${component})
  install(FILES "${packaging}/etc/${component}.conf" DESTINATION /etc/ratchet COMPONENT ${component})
  install(FILES "${packaging}/systemd/ratchet-${component}.service" DESTINATION /usr/lib/systemd/system COMPONENT ${component})
endforeach()
ratchet_package(tools)
install(TARGETS ratchet ratchet-wal ratchet-storage-check DESTINATION bin COMPONENT tools)
install(FILES "${generated}/ratchet.1.gz" "${generated}/ratchet-wal.1.gz" "${generated}/ratchet-storage-check.1.gz" DESTINATION share/man/man1 COMPONENT tools)
install(PROGRAMS scripts/ceph/mount scripts/ceph/run scripts/ceph/evict DESTINATION share/ratchet/ceph COMPONENT tools)
install(FILES scripts/ceph/common.sh scripts/ceph/evict_sessions.py DESTINATION share/ratchet/ceph COMPONENT tools)
install(FILES "${packaging}/systemd/ratchet-ceph@.service" DESTINATION /usr/lib/systemd/system COMPONENT tools)
install(FILES "${packaging}/prometheus/ratchet.rules.yml" "${packaging}/prometheus/prometheus.yml" DESTINATION share/ratchet/prometheus COMPONENT tools)
install(FILES "${packaging}/grafana/ratchet.json" DESTINATION share/ratchet/grafana COMPONENT tools)
install(FILES "${generated}/ratchet.bash" DESTINATION share/bash-completion/completions RENAME ratchet COMPONENT tools)
install(FILES "${generated}/ratchet.zsh" DESTINATION share/zsh/vendor-completions RENAME _ratchet COMPONENT tools)
install(FILES "${generated}/ratchet.fish" DESTINATION share/fish/vendor_completions.d COMPONENT tools)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ratchet)
set(CPACK_RATCHET_GENERATED "${generated}")
set(CPACK_PROJECT_CONFIG_FILE "${packaging}/version.cmake")  # the version
set(CPACK_PACKAGE_CONTACT "Ratchet maintainers <ratchet@ratchet.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_OUTPUT_FILE_PREFIX "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL master regionserver tools master_debug regionserver_debug tools_debug)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
foreach(component master regionserver tools)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ratchet-${component})
  # The debug information of the programs, found by their build ids (packaging/generate).
  install(DIRECTORY "${generated}/debug/${component}/" DESTINATION lib/debug COMPONENT ${component}_debug)
  set(CPACK_DEBIAN_${upper}_DEBUG_PACKAGE_NAME ratchet-${component}-dbgsym)
  set(CPACK_DEBIAN_${upper}_DEBUG_PACKAGE_SECTION debug)
  set(CPACK_DEBIAN_${upper}_DEBUG_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_COMPONENT_${upper}_DEBUG_DESCRIPTION "debug symbols for ratchet-${component}")
endforeach()
foreach(component master regionserver)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS adduser)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS zookeeperd)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA
    "${generated}/${component}/postinst;${generated}/${component}/prerm;${generated}/${component}/postrm;${generated}/${component}/conffiles")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endforeach()
set(CPACK_COMPONENT_MASTER_DESCRIPTION "master of a Ratchet cluster
Owns the state of the cluster (tables, regions, servers) and changes it by
procedures that survive the death of any process. Several masters run; one is
active, the others take over.")
set(CPACK_COMPONENT_REGIONSERVER_DESCRIPTION "region server of a Ratchet cluster
Serves regions of tables to HBase clients, and keeps what was acknowledged
through the death of any process.")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "command line of a Ratchet cluster
The program ratchet shows and changes a cluster; ratchet-wal prints, verifies,
queries and repairs the store of its procedures; ratchet-storage-check tells
whether a directory is fit to hold a cluster.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "ceph-fuse, ceph-common, python3-cephfs, python3-rados")
include(CPack)
