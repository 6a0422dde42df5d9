# Debian packages by CPack. The components that users install from a build hold headers beside libraries; in packages these are apart,
# so that they are installed once more here, by components of their own that no other install has.
set(version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

install(TARGETS relayvm relayvm_graph_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT deb_runtime NAMELINK_SKIP EXCLUDE_FROM_ALL)
if(TARGET relayvm_dnnl)
  install(TARGETS relayvm_dnnl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/relayvm COMPONENT deb_runtime EXCLUDE_FROM_ALL)
endif()
install(TARGETS relayvm_compiler_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT deb_compiler NAMELINK_SKIP EXCLUDE_FROM_ALL)
# What the components for users have besides the libraries themselves.
install(CODE "
  foreach(component runtime graph compiler)
    execute_process(COMMAND \"${CMAKE_COMMAND}\" --install \"${CMAKE_BINARY_DIR}\" --component \${component} --prefix \"\${CMAKE_INSTALL_PREFIX}\"
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  file(GLOB libraries \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/*.so.*\")
  file(REMOVE \${libraries})
  file(REMOVE_RECURSE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/relayvm\")
" COMPONENT deb_development EXCLUDE_FROM_ALL)

relayvm_install_python(deb_python lib/python3/dist-packages extra)
# The runtime's library is the system's: only the compiler's own is looked for beside its module.
install(CODE "
  set(package \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages/relayvm\")
  file(GLOB modules \${package}/_native*.so)
  foreach(module \${modules} \${package}/compiler/librelayvm_aot.so.${PROJECT_VERSION})
    file(RPATH_REMOVE FILE \${module})
  endforeach()
  file(GLOB modules \${package}/compiler/_native*.so)
  foreach(module \${modules})
    file(RPATH_SET FILE \${module} NEW_RPATH \"\\\$ORIGIN\")
  endforeach()
  file(WRITE \${package}-${PROJECT_VERSION}.dist-info/METADATA \"Metadata-Version: 2.1\\nName: relayvm\\nVersion: ${PROJECT_VERSION}\\nRequires-Dist: numpy\\n\")
  file(WRITE \${package}-${PROJECT_VERSION}.dist-info/INSTALLER \"dpkg\\n\")
" COMPONENT deb_python EXCLUDE_FROM_ALL)

install(TARGETS vmrun vmdump vmasm relayvm_tool compiler-tools RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT deb_tools EXCLUDE_FROM_ALL)
install(CODE "
  set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  file(RENAME \"\${folder}/compiler-tools\" \"\${folder}/relayc\")
  file(CREATE_LINK relayc \"\${folder}/relayrun\" SYMBOLIC)
" COMPONENT deb_tools EXCLUDE_FROM_ALL)
if(TARGET relayvm_native_main_object)
  install(FILES ${native_main} DESTINATION ${CMAKE_INSTALL_LIBDIR}/relayvm COMPONENT deb_tools EXCLUDE_FROM_ALL)
endif()
install(TARGETS vmserve vmbench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT deb_server EXCLUDE_FROM_ALL)
install(FILES server/relayvm-server.service DESTINATION lib/systemd/system COMPONENT deb_server EXCLUDE_FROM_ALL)
install(FILES server/relayvm-server.default DESTINATION ../etc/default COMPONENT deb_server RENAME relayvm-server EXCLUDE_FROM_ALL)
install(DIRECTORY DESTINATION ../var/lib/relayvm-server/models COMPONENT deb_server EXCLUDE_FROM_ALL)

# What each package says of itself.
set(copyright ${CMAKE_CURRENT_BINARY_DIR}/copyright)
configure_file(debian/copyright ${copyright} COPYONLY)
execute_process(COMMAND gzip -9nc ${CMAKE_CURRENT_SOURCE_DIR}/debian/changelog OUTPUT_FILE ${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian.gz)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME relayvm)
set(CPACK_PACKAGE_VENDOR relayvm)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "relayvm developers <relayvm@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/vm ${CMAKE_BINARY_DIR}/vm/graph ${CMAKE_BINARY_DIR}/vm/aot
    ${CMAKE_BINARY_DIR}/compiler)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL "")

# relayvm_deb(COMPONENT NAME SECTION SUMMARY TEXT [DEPENDS ...] [RECOMMENDS ...] [SUGGESTS ...] [CONTROL files...])
macro(relayvm_deb component name section summary text)
  cmake_parse_arguments(deb "" "" "DEPENDS;RECOMMENDS;SUGGESTS;CONTROL" ${ARGN})
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${text}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}")
  list(JOIN deb_DEPENDS ", " CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS)
  list(JOIN deb_RECOMMENDS ", " CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS)
  list(JOIN deb_SUGGESTS ", " CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS)
  if(deb_CONTROL)
    set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${deb_CONTROL})
  endif()
  install(FILES ${copyright} ${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian.gz DESTINATION share/doc/${name} COMPONENT ${component}
          EXCLUDE_FROM_ALL)
  install(FILES debian/lintian-overrides DESTINATION share/lintian/overrides COMPONENT ${component} RENAME ${name} EXCLUDE_FROM_ALL)
endmacro()

set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(debian ${CMAKE_CURRENT_SOURCE_DIR}/debian)
set(what "relayvm compiles Relay programs and models (ONNX, PyTorch, TensorFlow,\nTensorFlow Lite, MXNet, Keras) to files, and runs them on CPUs.\n.\n")
relayvm_deb(deb_runtime librelayvm${version} libs "runtime of compiled Relay programs and models"
  "${what}This package has the libraries that run compiled programs and graphs." SUGGESTS "libdnnl2" CONTROL ${debian}/runtime/triggers)
relayvm_deb(deb_compiler librelayvm-compiler${version} libs "compiler of Relay programs and models, as a library"
  "${what}This package has the library for programs that compile." DEPENDS "librelayvm${version} ${same}" CONTROL ${debian}/runtime/triggers)
relayvm_deb(deb_development librelayvm-dev libdevel "headers for programs that run or compile Relay programs"
  "${what}This package has the headers of C and C++, what CMake and pkg-config need,\nand the archive that native programs are linked with."
  DEPENDS "librelayvm${version} ${same}" "librelayvm-compiler${version} ${same}" "libboost-context-dev" "libfmt-dev")
relayvm_deb(deb_tools relayvm-tools devel "compiler and tools of relayvm for the command line"
  "${what}This package has relayc, which compiles, vmrun, which runs what it made,\nrelayrun, vmdump, vmasm and relayvm, with their manual pages."
  SUGGESTS "librelayvm${version}")
relayvm_deb(deb_python python3-relayvm python "relayvm in Python: compiles and runs Relay programs and models"
  "${what}This package has the module relayvm for Debian's Python."
  DEPENDS "librelayvm${version} ${same}" "python3 (>= ${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR})"
          "python3 (<< ${Python3_VERSION_MAJOR}.12~)" "python3-numpy"
  SUGGESTS "relayvm-server" CONTROL ${debian}/python/postinst ${debian}/python/prerm)
relayvm_deb(deb_server relayvm-server net "server of models by the Open Inference Protocol"
  "${what}This package has vmserve, a service of systemd that runs it without any\nrights, and vmbench, which measures a server."
  RECOMMENDS "relayvm-tools"
  CONTROL ${debian}/server/postinst ${debian}/server/prerm ${debian}/server/postrm ${debian}/server/conffiles)
include(CPack)
