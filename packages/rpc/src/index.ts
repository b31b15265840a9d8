export { LineSplitter, LineTooLongError } from './line-splitter.ts'
export {
  encodeError,
  encodeNotification,
  encodeResult,
  type IdText,
  MalformedMessageError,
  type Message,
  parseMessage,
  type Request,
} from './message.ts'
export { CallLimitError, ConnectionClosedError, Peer, type PeerEvents, RemoteError } from './peer.ts'
export { parseStrictJson } from './strict-json.ts'
export type { Connect, Transport, TransportEvents } from './transport.ts'
export { type CloseReason, encodeClosePayload } from './websocket/close-payload.ts'
export { FrameError } from './websocket/frame-error.ts'
export { type FrameEvents, FrameReader, Opcode } from './websocket/frame-reader.ts'
export { decodeUtf8 } from './websocket/utf8.ts'
