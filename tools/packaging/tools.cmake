# The tools as packages have them: several in one program (tool_by_name.cc), by targets of their own, which make_wheels.py and
# make_debs.sh build.

# relayvm_program(TARGET TOOLS...)
function(relayvm_program target)
  add_executable(${target} EXCLUDE_FROM_ALL tool_by_name.cc)
  set(list "")
  foreach(tool ${ARGN})
    target_sources(${target} PRIVATE ../${tool}.cc)
    # Of this folder's targets alone: elsewhere each has a program to itself.
    set_property(SOURCE ../${tool}.cc PROPERTY COMPILE_DEFINITIONS RELAYVM_MAIN=${tool}_main)
    string(APPEND list " RELAYVM_TOOL(${tool})")
  endforeach()
  target_compile_definitions(${target} PRIVATE "RELAYVM_TOOLS=${list}" RELAYVM_VERSION="${PROJECT_VERSION}")
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
  target_link_options(${target} PRIVATE -Wl,--gc-sections)
endfunction()

# On the runtime's libraries, which come first, so that of its archives only what they do not export is linked here too; and without
# OpenSSL.
relayvm_program(runtime-tools vmrun vmdump vmasm relayvm)
target_sources(runtime-tools PRIVATE openssl_on_demand.cc)
target_include_directories(runtime-tools PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(runtime-tools SYSTEM PRIVATE ${CMAKE_BINARY_DIR})
set(archives relayvm_values relayvm_serve_client relayvm_serve_protocol relayvm_cli relayvm_graph_format relayvm_io relayvm_te relayvm_vm_parts
    relayvm_builtins relayvm_bytecode_parts relayvm_base)
set(files "")
foreach(archive ${archives})
  list(APPEND files $<TARGET_FILE:${archive}>)
endforeach()
target_link_libraries(runtime-tools PRIVATE $<TARGET_FILE:relayvm_graph_library> $<TARGET_FILE:relayvm> -Wl,--start-group ${files}
                      -Wl,--end-group fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json Boost::context ZLIB::ZLIB Threads::Threads)
add_dependencies(runtime-tools relayvm relayvm_graph_library ${archives})
set_target_properties(runtime-tools PROPERTIES INSTALL_RPATH "$ORIGIN/..")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(runtime-tools PRIVATE -Os)
endif()

# With LLVM's library, which the packages have for others: a second LLVM would be half of all.
relayvm_program(compiler-tools relayc relayrun)
target_link_libraries(compiler-tools PRIVATE relayvm_allocator relayvm_pass_exports relayvm_tools relayvm_aot)
if(TARGET relayvm_native_main_object)
  target_compile_definitions(compiler-tools PRIVATE RELAYVM_NATIVE_MAIN="${native_main_path}")
endif()

# In a wheel, which has no links, a script stands for each tool.
install(TARGETS runtime-tools compiler-tools vmserve vmbench RUNTIME DESTINATION relayvm/bin COMPONENT wheel EXCLUDE_FROM_ALL)
foreach(program runtime-tools compiler-tools)
  set(tools vmrun vmdump vmasm relayvm)
  if(program STREQUAL "compiler-tools")
    set(tools relayc relayrun)
  endif()
  foreach(tool ${tools})
    set(script ${CMAKE_CURRENT_BINARY_DIR}/${tool})
    file(CONFIGURE OUTPUT ${script} CONTENT "#!/bin/sh\nexec \"\${0%/*}/${program}\" ${tool} \"$@\"\n" @ONLY)
    install(PROGRAMS ${script} DESTINATION relayvm/bin COMPONENT wheel EXCLUDE_FROM_ALL)
  endforeach()
endforeach()
if(TARGET relayvm_native_main_object)
  install(FILES ${native_main} DESTINATION relayvm/${CMAKE_INSTALL_LIBDIR}/relayvm COMPONENT wheel EXCLUDE_FROM_ALL)
endif()
