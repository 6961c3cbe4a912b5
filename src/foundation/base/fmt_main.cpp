// fmt's functions, compiled into a static library of ours. Its headers declare templates that they expect to find
// there; which ones depends on its version.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal<float>(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal<double>(double) noexcept;
template void buffer<char>::append<char>(const char*, const char*);
#if FMT_VERSION < 90000
template int snprintf_float<double>(double, int, float_specs, buffer<char>&);
template int snprintf_float<long double>(long double, int, float_specs, buffer<char>&);
template int format_float<double>(double, int, float_specs, buffer<char>&);
template int format_float<long double>(long double, int, float_specs, buffer<char>&);
#elif FMT_VERSION >= 100000 && FMT_VERSION < 120000
template void vformat_to<char>(buffer<char>&, string_view, vformat_args<>::type, locale_ref);
#endif

} // namespace detail
FMT_END_NAMESPACE
