#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

// Which names in a directory are certainly those of a run. Only these are ever deleted or replaced:
// a directory that a user names may hold files of their own.

inline constexpr std::string_view lock_name = "lock";

/// What the lock of a run says inside, so that no other program's file is taken for one.
inline constexpr std::string_view lock_text = "of a ballast run\n";

/// `step-00008000`
std::string step_name(int64_t step);

/// The step that a directory is called after; nothing for any other name.
std::optional<int64_t> step_of(std::string_view name);

/// True for the files and steps that a run writes, the lock aside.
bool is_of_a_run(std::string_view name);

/// The names in a directory that a run would write to, sorted; of a folder that is not there, none.
std::vector<std::string> names_of_a_run(const std::filesystem::path& directory);

/// True for a directory that a training has written to. Throws StoreError when it cannot be read.
bool is_run(const std::filesystem::path& directory);

/// Removes the step that lies in a folder of this path, the folder too where nothing else is in it.
/// Does nothing where there is no such folder.
void remove_step_files(const std::filesystem::path& folder);

/// A name for a step that is being written or removed, which nothing has: `<step>.partial`, without
/// the files of a step that a killed run left there, or `<step>.1.partial` where a user keeps more.
std::filesystem::path unfinished_folder(const std::filesystem::path& step);

/// Removes what killed writers of a run left unfinished: steps and files under the names of a run,
/// with the ending `.partial`. Nothing of any other name. Throws StoreError.
void remove_unfinished(const std::filesystem::path& directory);

}  // namespace ballast
