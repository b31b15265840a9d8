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
export type { ManagedNetwork, NetworkDecision, NetworkRequest, NetworkVerdict } from './managed-network.ts'
export { DeferredEnvironment } from './manager/deferred-environment.ts'
export type { EnvironmentFactory, EnvironmentOptions, RuntimePaths } from './manager/environment-factory.ts'
export {
  EnvironmentManager,
  type EnvironmentManagerOptions,
  type ListedEnvironment,
} from './manager/environment-manager.ts'
export type {
  ConfiguredEnvironment,
  EnvironmentProvider,
  EnvironmentSnapshot,
} from './manager/environment-snapshot.ts'
export {
  type CommandTransport,
  type EnvironmentTransport,
  protectsToken,
  type RemoteTransport,
  TOKEN_UNPROTECTED,
  transportFromUrl,
  type UrlTransport,
} from './manager/environment-transport.ts'
export { TomlProvider } from './manager/toml-provider.ts'
export { UrlVariableProvider } from './manager/url-variable-provider.ts'
export type {
  ExitVerdict,
  OutputOptions,
  Process,
  ProcessEvent,
  Processes,
  ProcessResult,
  StartOptions,
} from './processes.ts'
export { type ReadOnlyOptions, sandboxProfiles, type WorkspaceWriteOptions } from './sandbox-profiles.ts'
export type {
  EnvironmentCapabilities,
  EnvironmentChoice,
  EnvironmentSelection,
  KnownEnvironments,
  SelectedEnvironment,
} from './selection/environment-selection.ts'
export {
  type ReadyEnvironment,
  ReadyEnvironments,
  type UnavailableEnvironment,
} from './selection/ready-environments.ts'
export { type ConversationStart, StickySelection, type TurnRequest } from './selection/sticky-selection.ts'
export { offeredTools, requireTool, type Tool, type ToolSituation } from './selection/tools.ts'
export { abortable, linked, sleep } from './waiting.ts'
