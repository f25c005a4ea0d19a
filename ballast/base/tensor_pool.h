#pragma once

namespace ballast {

/// From here on, large CPU tensors of the whole process lie in one region of memory that is kept:
/// a freed block joins its free neighbours and serves the next tensor that fits it best. Small
/// tensors, and those the region has no room for, go on to libtorch's own allocator.
///
/// In the C library's heap a small block that outlives a step divides the large free ones, and the
/// process grows past what it uses at any time. The region asks for huge pages where the system
/// grants them on request. Its size is that of the machine's memory; addresses alone are taken
/// until they are used. Without such a region to be had, everything stays as it was.
///
/// For programs: a library does not choose the allocator of its host. A second call does nothing.
void pool_large_tensors();

}  // namespace ballast
