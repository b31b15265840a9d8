export { decodeBase64 } from './base64.ts'
export { DecodeError, type Schema } from './decode.ts'
export { domainPattern } from './domain-pattern.ts'
export { DomainSet, withoutPort } from './domain-set.ts'
export { ErrorCode, ProtocolError } from './error-codes.ts'
export { canonicalHost } from './host-name.ts'
export { limits } from './limits.ts'
export type { Capabilities, EnvironmentInfo, SandboxInfo } from './methods/environment.ts'
export type { FsMetadata, FsReadBlockResult, FsWalkOptions, FsWalkResult } from './methods/fs.ts'
export type {
  FsChanged,
  FsGlobParams,
  FsGlobResult,
  FsGrepMatch,
  FsGrepParams,
  FsGrepResult,
  FsWatchResult,
} from './methods/fs-extensions.ts'
export type { HttpBodyDelta, HttpRequestParams } from './methods/http.ts'
export { type NetworkPolicyRequest, type NetworkPolicyResult, networkPolicyResult } from './methods/network.ts'
export type {
  EnvPolicy,
  LimitHit,
  OutputStream,
  ProcessClosed,
  ProcessExit,
  ProcessExited,
  ProcessLimits,
  ProcessListResult,
  ProcessOutput,
  ProcessReadParams,
  ProcessReadResult,
  ProcessStartParams,
  ProcessSummary,
  ProcessWriteResult,
  SandboxDenial,
  TerminalSize,
} from './methods/process.ts'
export { type InitializeResult, SHUTTING_DOWN } from './methods/session.ts'
export { isMethod, type Method, type MethodFamily, methods, type Params, type Result } from './methods.ts'
export {
  baseName,
  containsPath,
  conventionOf,
  fromPosixPath,
  fromWindowsPath,
  isOpaque,
  joinPath,
  type PathUri,
  parent,
  pathUri,
  samePath,
  toPosixBytes,
  toPosixPath,
} from './path-uri.ts'
export type {
  Access,
  NetworkPermission,
  PermissionEntry,
  Permissions,
  SandboxIntent,
  SandboxRequest,
  SpecialPath,
} from './sandbox-intent.ts'
