! The same in Fortran.
program regions
  use mpi
  use kumihimo
  implicit none
  integer :: error, p
  call MPI_Init(error)
  do p = 1, 10
    call kumihimo_begin("work", "seconds <= 100", __FILE__, __LINE__) ! the line of regions.F90
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call kumihimo_end("work")
    call kumihimo_begin("no assert")
    call kumihimo_end("no assert")
  end do
  call MPI_Finalize(error)
end program
