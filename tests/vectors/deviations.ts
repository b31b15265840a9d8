/**
 * Vectors record what the reference does. On these we do something better, on purpose; each names the test that shows
 * what we do instead.
 */
export const deviations: Readonly<Record<string, string>> = {
  'process/write after exit is still accepted': 'nobody would read it: stdinClosed (processes: stdin)',
  'process/write after terminate fails': 'not a failure of the executor: stdinClosed (processes: stdin)',
  'process/tty interrupt reports exit code 1': '130, as with pipes (processes: terminals)',
  'process/tty terminate reports exit code 1': '137, as with pipes (processes: terminals)',
}

/** Vectors of these groups that need methods which are not there yet. */
export const notYet: Readonly<Record<string, string>> = {
  'envelope/pre-initialize http': 'http/request',
  'envelope/params are decoded before the handshake check': 'fs/readFile',
  'envelope/initialize then method without initialized': 'fs/readFile',
  'envelope/unknown params members are ignored': 'fs/getMetadata',
  'session/file handles do not survive resume': 'fs/open',
  'path/rejected: http scheme': 'fs/readFile',
  'path/rejected: UNC host on posix': 'fs/readFile',
  'path/rejected: drive letter on posix': 'fs/readFile',
  'path/rejected: lower-case drive is upper-cased in the message': 'fs/readFile',
  'path/rejected: encoded NUL': 'fs/readFile',
  'path/rejected: query': 'fs/readFile',
  'path/rejected: empty string': 'fs/readFile',
  'path/accepted: single slash': 'fs/readFile',
  'stdio/fs round trip': 'fs/writeFile',
}
