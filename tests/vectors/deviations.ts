/**
 * Vectors record what the reference does. On these we do something better, on purpose; each names the test that shows
 * what we do instead.
 */
export const deviations: Readonly<Record<string, string>> = {
  'process/write after exit is still accepted': 'nobody would read it: stdinClosed (processes: stdin)',
  'process/write after terminate fails': 'not a failure of the executor: stdinClosed (processes: stdin)',
  'process/tty interrupt reports exit code 1': '130, as with pipes (processes: terminals)',
  'process/tty terminate reports exit code 1': '137, as with pipes (processes: terminals)',
  'sandbox/process disabled profile still runs under the wrapper': 'nothing to enforce: none (sandboxed commands)',
  'sandbox/process managed network without proxy details fails closed':
    'refused before anything is started: -32602 (sandboxed commands)',
}
