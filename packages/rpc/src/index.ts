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
