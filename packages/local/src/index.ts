export { LogCursor, type LogEvent } from './output/log-cursor.ts'
export { defaultLogOptions, LogStore } from './output/log-store.ts'
export { OutputLog } from './output/output-log.ts'
export { SpillDirectory } from './output/spill-directory.ts'
