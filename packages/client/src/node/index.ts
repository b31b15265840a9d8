export { type CommandOptions, connectToCommand } from './server-command.ts'
export { connectToServer, type SocketOptions } from './server-socket.ts'
