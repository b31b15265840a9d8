export type { CallOptions, Environment, EnvironmentStatus } from './environment.ts'
export { ExecError, type ExecErrorCode } from './errors.ts'
export type {
  DirectoryEntry,
  EnvironmentPath,
  FileOptions,
  FileSystem,
  FollowOptions,
  WatchBatch,
} from './file-system.ts'
export type { HttpClient, HttpHeader, HttpRequestOptions, HttpResponse } from './http-client.ts'
export type { OutputOptions, Process, ProcessEvent, Processes, ProcessResult, StartOptions } from './processes.ts'
