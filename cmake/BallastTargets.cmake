# ballast_sources(<out> <folder>): the sources of a folder that are no tests, modules or programs of their own.
function(ballast_sources out folder)
  file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ballast/${folder}/*.cpp)
  list(FILTER found EXCLUDE REGEX "_(test|module|program)\\.cpp$")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

function(ballast_configure target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:ballast_flags>)
endfunction()

# ballast_library(<name> [PRECOMPILED] [PLAIN ...] FOLDERS ... LINK ...): target ballast_<name>, alias
# ballast::<name>. The precompiled library owns the header that all other targets reuse.
function(ballast_library name)
  cmake_parse_arguments(arg "PRECOMPILED" "" "FOLDERS;PLAIN;LINK" ${ARGN})
  set(sources)
  foreach(folder ${arg_FOLDERS})
    ballast_sources(found ${folder})
    list(APPEND sources ${found})
    if(folder IN_LIST arg_PLAIN)
      set_source_files_properties(${found} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  add_library(ballast_${name} STATIC ${sources})
  add_library(ballast::${name} ALIAS ballast_${name})
  set_target_properties(ballast_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(ballast_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(ballast_${name} PUBLIC cxx_std_20)
  target_link_libraries(ballast_${name} PUBLIC ${arg_LINK})
  ballast_configure(ballast_${name})
  if(arg_PRECOMPILED)
    target_precompile_headers(ballast_${name} PRIVATE
      ${PROJECT_SOURCE_DIR}/ballast/base/precompiled.h)
  else()
    ballast_reuse_header(ballast_${name})
  endif()
endfunction()

# A precompiled header can be shared only by targets with the same code-generation flags.
function(ballast_reuse_header target)
  target_precompile_headers(${target} REUSE_FROM ballast_nn)
endfunction()

# ballast_program(<name> FOLDER ... VERBS ... LINK ...): the program, without libtorch, from FOLDER; and
# the module <name>_verbs from VERBS, with all of our libraries, which it opens when a verb needs them.
# The program takes our libraries as bare archives, without what they link, so that the linker refuses
# whatever would need libtorch.
function(ballast_program name)
  cmake_parse_arguments(arg "" "FOLDER;VERBS" "LINK" ${ARGN})
  ballast_sources(verbs ${arg_VERBS})
  add_library(${name}_verbs MODULE ${verbs}
              ${PROJECT_SOURCE_DIR}/ballast/${arg_VERBS}/verbs_module.cpp)
  set_target_properties(${name}_verbs PROPERTIES PREFIX "" SUFFIX ".so"
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_link_libraries(${name}_verbs PRIVATE ballast_train)
  target_link_options(${name}_verbs PRIVATE LINKER:-Bsymbolic-functions)

  ballast_sources(sources ${arg_FOLDER})
  add_library(${name}_cli OBJECT ${sources})
  target_link_libraries(${name}_cli PRIVATE ballast_train CLI11::CLI11)
  target_compile_definitions(${name}_cli PRIVATE BALLAST_VERSION="${PROJECT_VERSION}")
  add_executable(${name} $<TARGET_OBJECTS:${name}_cli>)
  add_dependencies(${name} ballast_train ${name}_verbs)
  set(archives $<TARGET_FILE:ballast_train> $<TARGET_FILE:ballast_nn>)
  target_link_libraries(${name} PRIVATE ${archives} ${arg_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
                        LINKER_LANGUAGE CXX LINK_DEPENDS "${archives}")
  foreach(target ${name}_verbs ${name}_cli)
    ballast_reuse_header(${target})
    ballast_configure(${target})
  endforeach()
endfunction()

# Where modules are looked for, for the source that looks.
function(ballast_module_folders source)
  set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_DEFINITIONS "BALLAST_BUILD_DIR=\"${PROJECT_BINARY_DIR}\";\
BALLAST_INSTALL_LIBDIR=\"${CMAKE_INSTALL_LIBDIR}\";\
BALLAST_INSTALL_FULL_LIBDIR=\"${CMAKE_INSTALL_FULL_LIBDIR}\"")
endfunction()

# ballast_sentencepiece(): the module that `load_sentencepiece` opens at run time, since SentencePiece's
# protobuf must not share a symbol scope with libtorch's, and the program beside it that learns vocabularies.
function(ballast_sentencepiece)
  pkg_check_modules(sentencepiece REQUIRED IMPORTED_TARGET sentencepiece)
  add_library(ballast_sentencepiece MODULE
    ${PROJECT_SOURCE_DIR}/ballast/data/sentencepiece_module.cpp)
  set_target_properties(ballast_sentencepiece PROPERTIES PREFIX "" SUFFIX ".so"
    CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  add_executable(ballast_learn_vocabulary
    ${PROJECT_SOURCE_DIR}/ballast/data/learn_vocabulary_program.cpp)
  set_target_properties(ballast_learn_vocabulary PROPERTIES OUTPUT_NAME ballast-learn-vocabulary
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  foreach(target ballast_sentencepiece ballast_learn_vocabulary)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE PkgConfig::sentencepiece)
    ballast_configure(${target})
  endforeach()
  add_dependencies(ballast_nn ballast_sentencepiece ballast_learn_vocabulary)
  target_link_options(ballast_nn INTERFACE
    $<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/ballast>)
  install(TARGETS ballast_sentencepiece ballast_learn_vocabulary
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ballast
          RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/ballast)
endfunction()

# ballast_folder_tests(<folder>...): one test binary per folder that has tests.
function(ballast_folder_tests)
  foreach(folder ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ballast/${folder}/*_test.cpp)
    if(found)
      add_executable(${folder}_test ${found})
      target_link_libraries(${folder}_test PRIVATE ballast_train ballast_testing GTest::gmock
                            GTest::gtest_main)
      ballast_reuse_header(${folder}_test)
      ballast_configure(${folder}_test)
      add_test(NAME ${folder} COMMAND ${folder}_test)
      set_tests_properties(${folder} PROPERTIES LABELS fast)
    endif()
  endforeach()
endfunction()

function(ballast_install)
  install(TARGETS ballast_nn ballast_train EXPORT ballast
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS ballast RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS ballast_verbs LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ballast)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/ballast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h" PATTERN cli EXCLUDE PATTERN verbs EXCLUDE)
  install(EXPORT ballast NAMESPACE ballast:: FILE ballastTargets.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ballast)
  include(CMakePackageConfigHelpers)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ballastConfig.cmake.in
    ${PROJECT_BINARY_DIR}/ballastConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ballast)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/ballastConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/ballastConfig.cmake
                ${PROJECT_BINARY_DIR}/ballastConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/BallastDependencies.cmake
                ${PROJECT_SOURCE_DIR}/cmake/BallastLibtorch.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ballast)
endfunction()
