# Runs PROGRAM with OBJECT on two processes, of which rank 1 is lost (HOW: stop or kill) while rank 0 waits for it in CALL.
# The job must end by itself, soon and with an error, saying SAYS where that is given, and leave no process behind.
# ALONE: the launcher lets the others go on, or does not hear of it, so that they must end by themselves. LIMIT: the time
# limit in seconds; 0: none.
set(given LD_PRELOAD=${OBJECT} KUMIHIMO_ALGORITHM=binomial KUMIHIMO_TIMEOUT=${LIMIT})
include(${CMAKE_CURRENT_LIST_DIR}/settings.cmake)
options_of_settings(handed_on ${given})
# By this argument the job's processes are known, to who reads it in a file: else it would find itself.
string(RANDOM LENGTH 16 token)
file(WRITE ${SCRATCH} "of-job-${token}\n")
if(ALONE AND FAMILY STREQUAL openmpi)
  list(APPEND handed_on --enable-recovery)
elseif(ALONE) # Hydra tells the others by a signal, and ends them where it sees one killed
  list(APPEND handed_on -disable-auto-cleanup)
  set(PROGRAM sh -c "trap '' USR1 && \"$@\" || true" sh ${PROGRAM})
endif()
execute_process(COMMAND ${LAUNCHER} ${handed_on} -n 2 ${PROGRAM} ${CALL} ${HOW} of-job-${token}
  RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said TIMEOUT 20)
if((code EQUAL 0 AND NOT ALONE) OR code MATCHES "timeout")
  message(FATAL_ERROR "the job ended with ${code}: ${said}")
endif()
if(SAYS AND NOT said MATCHES "${SAYS}")
  message(FATAL_ERROR "nobody said ${SAYS}: ${said}")
endif()
foreach(look RANGE 50)
  execute_process(COMMAND sh -c "exec grep -l -s -f '${SCRATCH}' /proc/[0-9]*/cmdline" OUTPUT_VARIABLE left)
  if(left STREQUAL "")
    return()
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 0.1)
endforeach()
message(FATAL_ERROR "these were left running: ${left}: ${said}")
