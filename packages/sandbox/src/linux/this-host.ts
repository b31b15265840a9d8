export { ThisHost } from '../this-host.ts'
