export { ExecSession, type SessionOptions } from './exec-session.ts'
export { RemoteEnvironment, type RemoteEnvironmentOptions } from './remote-environment.ts'
export { parseServerUrl, type ServerUrl } from './server-url.ts'
export { type AnyWebSocket, connectWebSocket } from './web-socket.ts'
