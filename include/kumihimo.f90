! Regions of a Fortran program and what is asserted of them, for `kumihimo record` (kumihimo.h has the asserts).
! Compile this file with the program: it needs no library of Kumihimo. Without `record` the calls do nothing.
!
!   use kumihimo
!   call kumihimo_begin("solve", "seconds <= 0.5")
!   ...
!   call kumihimo_end("solve")
!
! A file with a preprocessor may name the place that reports show:
!   call kumihimo_begin("solve", "seconds <= 0.5", __FILE__, __LINE__)
module kumihimo
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_procpointer, c_funptr, c_int, c_null_char, &
    c_null_ptr, c_ptr
  implicit none
  private
  public :: kumihimo_begin, kumihimo_end

  abstract interface
    subroutine begin_at(name, asserts, file, line) bind(c)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*), asserts(*), file(*)
      integer(c_int), value :: line
    end subroutine
    subroutine end_of(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
  end interface

  interface
    function dlsym(handle, name) bind(c, name="dlsym")
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle ! null: any library of the process
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: dlsym
    end function
  end interface

contains

  subroutine kumihimo_begin(name, asserts, file, line)
    character(*), intent(in) :: name
    character(*), intent(in), optional :: asserts, file
    integer, intent(in), optional :: line
    procedure(begin_at), pointer :: begin
    type(c_funptr), save :: found
    logical, save :: asked = .false.
    character(:), allocatable :: expected, place
    integer(c_int) :: number

    if (.not. asked) found = dlsym(c_null_ptr, "kumihimo_region_begin_at" // c_null_char)
    asked = .true.
    if (.not. c_associated(found)) return
    expected = ""
    place = ""
    number = 0
    if (present(asserts)) expected = trim(asserts)
    if (present(file)) place = file
    if (present(line)) number = int(line, c_int)
    call c_f_procpointer(found, begin)
    call begin(trim(name) // c_null_char, expected // c_null_char, place // c_null_char, number)
  end subroutine

  subroutine kumihimo_end(name)
    character(*), intent(in) :: name
    procedure(end_of), pointer :: finish
    type(c_funptr), save :: found
    logical, save :: asked = .false.

    if (.not. asked) found = dlsym(c_null_ptr, "kumihimo_region_end" // c_null_char)
    asked = .true.
    if (.not. c_associated(found)) return
    call c_f_procpointer(found, finish)
    call finish(trim(name) // c_null_char)
  end subroutine

end module
