# libtorch. Without BALLAST_LIBTORCH it is the package that CMake finds (Debian's). With it, the
# target `torch` is made here, since the package file in PyPI's wheel insists on a CUDA toolkit.
set(BALLAST_LIBTORCH "" CACHE PATH
    "A folder with include/ and lib/ of a libtorch: PyPI's package torch; its part for the CPU is used")

# The headers of other libraries lie beside libtorch's own in a wheel (oneDNN 3, fmt) and would stand
# before those of the libraries that are linked. So only libtorch's own are made visible.
function(ballast_own_headers out folder)
  set(visible ${CMAKE_BINARY_DIR}/libtorch_headers)
  file(MAKE_DIRECTORY ${visible})
  foreach(own ATen c10 caffe2 torch)
    file(CREATE_LINK ${folder}/include/${own} ${visible}/${own} SYMBOLIC)
  endforeach()
  set(${out} ${visible} ${folder}/include/torch/csrc/api/include PARENT_SCOPE)
endfunction()

# What libtorch was compiled with decides whether a std::string can cross the border to it.
function(ballast_refuse_old_strings folder)
  file(STRINGS ${folder}/share/cmake/Torch/TorchConfig.cmake old REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(old)
    message(FATAL_ERROR "The libtorch in ${folder} was built for the C++ ABI before C++11, in which "
            "fmt, ICU and SentencePiece cannot be linked. Take a wheel of PyTorch 2.7 or newer.")
  endif()
endfunction()

# A wheel brings the OpenMP runtime too. Beside it the loader would find no other.
function(ballast_use_openmp_of folder)
  if(EXISTS ${folder}/lib/libgomp.so.1)
    set(OpenMP_gomp_LIBRARY ${folder}/lib/libgomp.so.1 CACHE FILEPATH "" FORCE)
  endif()
endfunction()

function(ballast_libtorch folder)
  ballast_refuse_old_strings(${folder})
  ballast_use_openmp_of(${folder})
  ballast_own_headers(headers ${folder})
  foreach(part c10 torch_cpu)
    find_library(BALLAST_LIB_${part} ${part} PATHS ${folder}/lib NO_DEFAULT_PATH REQUIRED)
  endforeach()
  add_library(torch SHARED IMPORTED GLOBAL)
  # A wheel's library for the CPU names two libraries of CUDA, which the linker may not find.
  set_target_properties(torch PROPERTIES
    IMPORTED_LOCATION ${BALLAST_LIB_torch_cpu}
    INTERFACE_INCLUDE_DIRECTORIES "${headers}"
    INTERFACE_LINK_LIBRARIES ${BALLAST_LIB_c10}
    INTERFACE_LINK_OPTIONS LINKER:--allow-shlib-undefined)
endfunction()

if(TARGET torch)
  return()
elseif(BALLAST_LIBTORCH)
  ballast_libtorch(${BALLAST_LIBTORCH})
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)  # the loader knows no such folder by itself
else()
  find_package(Torch REQUIRED)
endif()
