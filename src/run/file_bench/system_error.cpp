#include "file_bench/system_error.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>

namespace kumihimo::file_bench {
namespace {

std::string_view advice_for(int error) {
  switch (error) {
  case ENOSPC: return "make space, or measure smaller files";
  case EDQUOT: return "remove files of yours, or measure smaller files";
  case EFBIG: return "raise the limit of a file's size (ulimit -f), or measure smaller files";
  case EACCES:
  case EPERM:
  case EROFS: return "name a folder that you can write to";
  case EMFILE:
  case ENFILE: return "raise the limit of open files (ulimit -n)";
  case EIO: return "check the file system";
  case ENOENT: return "name a folder that all nodes share";
  default: return "name another folder";
  }
}

} // namespace

Error refused_by_system(const std::string& what, int error) {
  return failed(what, std::generic_category().message(error), std::string(advice_for(error)));
}

Error refused_by_system(const std::string& what, int error, bool is_direct) {
  if (is_direct && (error == EINVAL || error == EOPNOTSUPP))
    return not_applicable(what + ": this file system has no O_DIRECT", {}, "use --cache evict or --cache drop");
  return refused_by_system(what, error);
}

} // namespace kumihimo::file_bench
