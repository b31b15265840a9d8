export {
  type Environment,
  EnvironmentManager,
  ExecError,
  StickySelection,
  sandboxProfiles,
} from '@waldo/environment'
export { type ConnectTarget, connect, type EnvironmentSettings, local } from './connect.ts'
export { environmentFactory } from './environment-factory.ts'
export { type ManagerSettings, openEnvironments } from './manager.ts'
