export { ExecError, type ExecErrorCode } from './errors.ts'
