export type { PlatformPolicy, PlatformPrepared, PlatformSandbox } from '../platform-sandbox.ts'
export { MacSandbox } from './mac-sandbox.ts'
export { probeSeatbelt } from './probe-seatbelt.ts'
