export { Launch } from './launch.ts'
export { LinuxSandbox, type PreparedSandbox, type SandboxNetwork } from './linux-sandbox.ts'
export { thisHost } from './this-host.ts'
